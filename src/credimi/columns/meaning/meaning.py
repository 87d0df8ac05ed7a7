"""What the labels of a column are read as, where all of them together make it plain: numbers, dates, missing values.

* Text that is written in one notation of numbers or dates (`notations`) becomes numbers, if these are to be cut: a few
  whole numbers are categories anyway, and keep their names.
* Words that surveys and programs use for "no value" are missing if all other labels are numbers. A dash or dots are
  missing among words, too, unless a plus shows that they have a meaning.
* Numbers that surveys use for "no value" (98, 99, -9, 999) are missing if they are far from the narrow range of all
  others (`suspicious_values.sentinels`).

Each of these is a remark of the column. Nothing is done to a column that `discretize` makes categories; its numbers
stay if `discretize` names it at all; and no value is taken as missing if the user replaced the list of those that are.
The cost is one look at the distinct labels.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from credimi.columns import labels, suspicious_values
from credimi.columns.feature import Suspicion, SuspicionKind
from credimi.columns.labels import LOOSE, NUMBER, RAW, TEXT, Labels
from credimi.columns.text_types import is_number, shown_date, shown_number
from credimi.core.defaults import MISSING_VALUES

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from credimi.columns.meaning.notations import Notation
    from credimi.columns.reading_options import ReadingOptions
    from credimi.core.types import CountArray, IntegerArray

    Positions = IntegerArray

CATEGORIES = 20  # whole numbers of at most so many distinct values are categories
DASHES = frozenset(("-", "--", "---", "\u2013", "\u2014", ".", "..", "..."))
_WORDS = DASHES | {
    *("n.a.", "n. a.", "na", "n/a", "null", "nan", "nat", "missing", "unknown", "not known", "not available"),
    *("don't know", "dont know", "don\u2019t know", "do not know", "dk", "refused", "refuse", "prefer not to say"),
    *("prefer not to answer", "no answer", "not answered", "not applicable", "not asked", "not stated", "no data"),
}
_MIN_NUMBERS = 2  # beside words that mean missing
_MIN_WORDS, _MIN_LETTERS = 2, 2  # beside a dash that means missing


def read(
    counted: Labels, block: CountArray, settings: ReadingOptions, name: str, max_labels: int
) -> tuple[Labels, Positions, tuple[Suspicion, ...]]:
    """The labels as they are meant, the position of each counted label (their number if it is missing), and why."""
    typed, positions = labels.typed(counted, max_labels)
    as_they_are = typed, positions, ()
    if settings.method(name) == "categories":
        return as_they_are
    named, may_miss = name in settings.named, set(MISSING_VALUES) <= set(settings.missing_values)
    if typed.kind == TEXT:
        meant = _of_texts(counted, typed, named=named, may_miss=may_miss, max_labels=max_labels)
    elif typed.kind == NUMBER and may_miss and not (named or typed.instants or typed.dropped_bits):
        meant = _of_numbers(typed, positions, block)
    else:
        return as_they_are
    if meant is None:
        return (*as_they_are[:2], _loosely_read(counted, typed))
    return meant[0], np.append(meant[1], len(meant[0]))[positions], meant[2]


def may_differ(glimpse: Labels, all_labels: Collection[object]) -> bool:
    """Whether labels may be read as something else: for a stream, which looks at some of its labels only."""
    if glimpse.kind == NUMBER:
        return any(map(suspicious_values.is_code, glimpse.numbers.tolist()))
    from credimi.columns.meaning.notations import may_be_one  # noqa: PLC0415  (it compiles patterns)

    plain = any(not may_be_one(text.strip()) and text.strip().lower() not in _WORDS for text in glimpse.texts)
    return glimpse.kind == TEXT and (not plain or any(word in all_labels for word in DASHES))


def _loosely_read(counted: Labels, typed: Labels) -> tuple[Suspicion, ...]:
    """What is said of numbers that were text in data with types, because some of it means missing."""
    if counted.kind != LOOSE or typed.kind != NUMBER or (len(typed) <= CATEGORIES and typed.integral):
        return ()
    return (_held_as_text(counted.texts[-1]),)


def _held_as_text(text: str) -> Suspicion:
    return Suspicion(SuspicionKind.READ_AS, ("text", text, text))


def _of_texts(
    counted: Labels, typed: Labels, *, named: bool, may_miss: bool, max_labels: int
) -> tuple[Labels, Positions, tuple[Suspicion, ...]] | None:
    words = [text for text in typed.texts if text.strip().lower() in _WORDS] if may_miss else []
    left_out = set(words)
    others = [text for text in typed.texts if text not in left_out] if words else typed.texts
    if len(others) < _MIN_NUMBERS:
        return None
    missing = (Suspicion(SuspicionKind.TAKEN_AS_MISSING, tuple(words)),) if words else ()
    if all(map(is_number, others)):
        many_measured = suspicious_values.are_numerals(others)
        if not words and counted.kind == TEXT and not many_measured:
            return None  # whole numbers that are text on purpose, in data with types
        numbers = np.array(list(map(float, others)))
        shown = () if named or counted.kind == RAW else (_held_as_text(others[-1]),)
        return _numbers(typed, others, numbers, None, max_labels, why=(*shown, *missing))
    notation = _notation_of(others)
    if notation is not None:
        numbers = notation.numbers(others)
        few = len(np.unique(numbers)) <= CATEGORIES and bool((numbers == np.floor(numbers)).all())
        if not np.isnan(numbers).any() and (named or not few):
            example = max(others, key=len)
            number = numbers[others.index(example)]
            written = shown_date(float(number)) if notation.instants else shown_number(float(number))
            read_as = (Suspicion(SuspicionKind.READ_AS, (notation.kind, example, written)),)
            why = () if named else read_as  # who names a way to cut it knows that it is numbers
            return _numbers(typed, others, numbers, notation, max_labels, why=(*why, *missing))
    return _without_dashes(typed) if words else None


def _notation_of(texts: Sequence[str]) -> Notation | None:
    """The notation of all texts. Nearly all columns of text have none, as some text has no digit."""
    if not all(any(map(str.isdigit, texts[place])) for place in (0, len(texts) // 2, -1)):
        return None
    from credimi.columns.meaning.notations import notation_of  # noqa: PLC0415  (it compiles patterns)

    return notation_of(texts)


def _numbers(
    typed: Labels,
    others: Sequence[str],
    numbers: np.ndarray,
    notation: Notation | None,
    max_labels: int,
    *,
    why: tuple[Suspicion, ...],
) -> tuple[Labels, Positions, tuple[Suspicion, ...]]:
    """The numbers of the texts that are some, as labels; the other texts are missing."""
    read_labels, places = labels.of_numbers(
        numbers, max_labels=max_labels, instants=notation is not None and notation.instants
    )
    place_of = dict(zip(others, places.tolist(), strict=True))
    positions = np.array([place_of.get(text, len(read_labels)) for text in typed.texts], dtype=np.int64)
    return replace(read_labels, notation=notation), positions, why


def _without_dashes(typed: Labels) -> tuple[Labels, Positions, tuple[Suspicion, ...]] | None:
    """The words without the dashes among them; None if there is none, or if it may be a value like others."""
    dashes = [text for text in typed.texts if text in DASHES]
    words = [text for text in typed.texts if sum(map(str.isalpha, text)) >= _MIN_LETTERS]
    signs = any(sign in text for text in typed.texts for sign in "+\u00b1")
    if not dashes or signs or len(words) < _MIN_WORDS:
        return None
    keep = np.array([text not in DASHES for text in typed.texts])
    return _chosen(typed, keep, tuple(dashes))


def _of_numbers(
    typed: Labels, positions: Positions, block: CountArray
) -> tuple[Labels, Positions, tuple[Suspicion, ...]] | None:
    totals = np.zeros(len(typed), dtype=block.dtype)
    np.add.at(totals, positions, block[:, :-1].sum(axis=0))
    if suspicious_values.infinite(typed.numbers):
        return None
    codes = suspicious_values.sentinels(typed.numbers, totals)
    if not codes or len(typed) - len(codes) < _MIN_NUMBERS:
        return None
    keep = ~np.isin(typed.numbers, list(map(float, codes)))
    chosen, places, why = _chosen(typed, keep, tuple(codes))
    return replace(chosen, missing_numbers=tuple(map(float, codes))), places, why


def _chosen(
    typed: Labels, keep: np.ndarray, left_out: tuple[str, ...]
) -> tuple[Labels, Positions, tuple[Suspicion, ...]]:
    positions = np.where(keep, np.cumsum(keep) - 1, int(keep.sum()))
    return typed.chosen(keep), positions, (Suspicion(SuspicionKind.TAKEN_AS_MISSING, left_out),)
