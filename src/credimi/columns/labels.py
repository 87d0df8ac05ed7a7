"""`Labels`: the distinct values of a column, and how the labels of two batches are merged.

    raw        text of unknown type (CSV); it is read as numbers or booleans once all of it is known
    loose      text among which some means missing: why a column of numbers became text in a data frame; read like raw
    text       text that is meant as text
    boolean    false, true
    number     sorted doubles; integers are numbers without a fraction, dates and times days since 1970 (`instants`)
    many       more distinct values than are stored: each cell counts as present or missing only; also values that
               cannot be counted, with one text that says what they are

A column stores at most `most_labels` labels, and texts of at most `most_bytes` bytes in all. If there are more, numbers
are made coarser: as few as possible of the last bits of the doubles are dropped. Values of other kinds become `many`.
The result depends only on the set of values, not on their order or on how they were split into batches. So counts of
parts add up to the counts of the whole.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from credimi.columns.text_types import DATES, NUMBER_TEXT, numbers_among, readable, shown_date, shown_number, spelled
from credimi.core.public import stored

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from credimi.columns.meaning.notations import Notation
    from credimi.core.types import BooleanArray, FloatArray, IntegerArray

    Positions = IntegerArray

RAW, LOOSE, TEXT, BOOLEAN, NUMBER, MANY = "raw", "loose", "text", "boolean", "number", "many"
MAX_LABELS = 1 << 15
EXACT = 2**53  # not all larger whole numbers are doubles
FEW_TEXTS = 255  # if a batch has at most so many raw labels, all keep their spelling, numbers too
_MAX_CELLS = 1 << 25  # of all features' blocks together, unless the features are very many: 256 MiB of counts
_MAX_BYTES = 1 << 30  # of all features' texts together, unless the features are very many
_TRUTH = {"true": "true", "True": "true", "TRUE": "true", "false": "false", "False": "false", "FALSE": "false"}


@stored
@dataclass(frozen=True, slots=True, eq=False)
class Labels:
    """The distinct values of a column, sorted: `texts`, or `numbers` if the kind is number.

    Numbers that are `instants` are shown as dates; this is their only difference from other numbers. What a column is
    read as, once all is counted, may have a `notation`, by which new rows are read, and numbers that mean missing.
    """

    kind: str
    texts: tuple[str, ...] = ()
    numbers: FloatArray = field(default_factory=lambda: np.zeros(0))
    dropped_bits: int = 0
    instants: bool = False
    notation: Notation | None = None
    missing_numbers: tuple[float, ...] = ()

    def __len__(self) -> int:
        if self.kind == MANY:
            return 1
        return self.numbers.size if self.kind == NUMBER else len(self.texts)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Labels):
            return NotImplemented
        return (
            self.kind == other.kind
            and self.texts == other.texts
            and self.dropped_bits == other.dropped_bits
            and self.instants == other.instants
            and np.array_equal(self.numbers, other.numbers)
        )

    def __hash__(self) -> int:
        return hash((self.kind, self.texts, self.numbers.tobytes()))

    @property
    def integral(self) -> bool:
        """Whether the labels are numbers, and all of them whole."""
        return self.kind == NUMBER and bool(
            (np.floor(self.numbers) == self.numbers).all() and np.isfinite(self.numbers).all()
        )

    def chosen(self, which: BooleanArray) -> Labels:
        """Some of the labels, in the same order."""
        if self.kind in (NUMBER, MANY):
            return replace(self, numbers=self.numbers[which]) if self.kind == NUMBER else self
        return replace(self, texts=tuple(text for text, kept in zip(self.texts, which.tolist(), strict=True) if kept))

    @property
    def noun(self) -> str:
        """What numbers are called in messages."""
        return "dates" if self.instants else "numbers"

    def shown(self) -> tuple[str, ...]:
        """The labels as text."""
        if self.kind != NUMBER:
            return self.texts
        return tuple(map(shown_date if self.instants else shown_number, self.numbers.tolist()))


def numbers_as(labels: Labels, texts: Sequence[str], numbers: FloatArray | None) -> FloatArray:
    """The labels of new rows, texts or numbers, as numbers of this column; NaN if they are none, or mean missing."""
    if numbers is None:
        numbers = numbers_among(texts) if labels.notation is None else labels.notation.numbers(texts)
    return np.where(np.isin(numbers, labels.missing_numbers), np.nan, numbers)


def of_texts(texts: Sequence[str], kind: str) -> tuple[Labels, Positions]:
    """Sorted labels, and the position of each text among them."""
    unique = sorted(set(texts))
    position_of = {text: position for position, text in enumerate(unique)}
    return Labels(kind, tuple(unique)), np.array([position_of[text] for text in texts], dtype=np.int64)


def most_labels(features: int, groups: int) -> int:
    """The maximum number of labels of each feature, for this number of features and of target classes (`groups`)."""
    return min(MAX_LABELS, max(1 << 10, _MAX_CELLS // max(features * groups, 1)))


def most_bytes(features: int) -> int:
    """The maximum size of the texts of each feature, in bytes of UTF-8, for this number of features: 1 to 32 MiB."""
    return min(1 << 25, max(1 << 20, _MAX_BYTES // max(features, 1)))


def too_long(labels: Labels, max_bytes: int) -> bool:
    """Whether the texts have more than `max_bytes` bytes."""
    letters = sum(map(len, labels.texts))
    if 4 * letters <= max_bytes:  # no letter has more than four bytes
        return False
    return letters > max_bytes or sum(len(text.encode(errors="surrogatepass")) for text in labels.texts) > max_bytes


def of_numbers(
    numbers: FloatArray, dropped_bits: int = 0, max_labels: int | None = None, *, instants: bool = False
) -> tuple[Labels, Positions]:
    """Sorted labels, at most `max_labels`, and the position of each number among them; bits are dropped if needed."""
    max_labels = MAX_LABELS if max_labels is None else max_labels
    unique, positions = np.unique(_coarser(np.asarray(numbers, dtype=np.float64), dropped_bits), return_inverse=True)
    positions = positions.astype(np.int64).ravel()
    if unique.size > max_labels:
        dropped_bits = bisect_left(
            range(64), 1, lo=dropped_bits, key=lambda bits: int(_distinct(_coarser(unique, bits)) <= max_labels)
        )
        coarse = _coarser(unique, dropped_bits)
        onward = np.cumsum(np.append(False, coarse[1:] != coarse[:-1]))  # dropping bits keeps the order
        unique, positions = coarse[np.append(True, coarse[1:] != coarse[:-1])], onward[positions]
    return Labels(NUMBER, numbers=unique, dropped_bits=dropped_bits, instants=instants), positions


def _distinct(ordered: FloatArray) -> int:
    return 1 + int(np.count_nonzero(ordered[1:] != ordered[:-1]))


def collapsed(labels: Labels) -> tuple[Labels, Positions]:
    """Labels of the kind `many`, which replaces all values, and the position 0 for each of the old labels."""
    return Labels(MANY), np.zeros(len(labels), dtype=np.int64)


def union(one: Labels, other: Labels, max_labels: int | None = None) -> tuple[Labels, Positions, Positions]:  # noqa: PLR0911  (one way for each pair of kinds)
    """The labels of both, and the positions of each side's labels among them; numbers are at most `max_labels`."""
    if one == other:
        same = np.arange(len(one))
        return one, same, same
    if MANY in (one.kind, other.kind):
        uncounted = sorted({text for each in (one, other) if each.kind == MANY for text in each.texts})
        return Labels(MANY, tuple(uncounted[:1])), collapsed(one)[1], collapsed(other)[1]
    if one.kind != other.kind:
        if {one.kind, other.kind} == {TEXT, LOOSE}:  # also if all texts of one of them meant missing
            return union(replace(one, kind=LOOSE), replace(other, kind=LOOSE))
        if not len(one) or not len(other):
            nonempty = one if len(one) else kindless(other)
            return nonempty, np.arange(len(one)), np.arange(len(other))
        first, second = _alike(one, other)
        if MANY in (first[0].kind, second[0].kind):
            return Labels(MANY), first[1], second[1]
        merged, from_first, from_second = union(first[0], second[0], max_labels)
        return merged, from_first[first[1]], from_second[second[1]]
    size = len(one)
    if one.kind == NUMBER:
        merged, positions = of_numbers(
            np.concatenate([one.numbers, other.numbers]),
            max(one.dropped_bits, other.dropped_bits),
            max_labels,
            instants=(one.instants or not len(one)) and (other.instants or not len(other)),
        )
    else:
        merged, positions = of_texts(one.texts + other.texts, one.kind)
    return merged, positions[:size], positions[size:]


def kindless(labels: Labels) -> Labels:
    """The same labels, without a kind if there are none: a column with only missing values has no kind."""
    return labels if len(labels) else Labels(TEXT)


def typed(labels: Labels, max_labels: int | None = None) -> tuple[Labels, Positions]:
    """Raw labels as what they look like: all numbers, all booleans, or text. Other labels stay the same.

    Text is taken literally: version 1.10 is not 1.1. If there are more than `FEW_TEXTS` labels, batches that held only
    numbers may have lost their spelling; then all numbers among the text get one spelling.
    """
    if labels.kind not in (RAW, LOOSE):
        return labels, np.arange(len(labels))
    if labels.texts and _TRUTH.keys() >= set(labels.texts):
        return of_texts([_TRUTH[text] for text in labels.texts], BOOLEAN)
    if labels.texts and all(map(NUMBER_TEXT.fullmatch, labels.texts)):  # as `is_number`, without a call for each text
        return of_numbers(np.array(list(map(float, labels.texts))), max_labels=max_labels)
    return of_texts(labels.texts if len(labels) <= FEW_TEXTS else _as_texts(labels), TEXT)


def _as_texts(labels: Labels) -> Sequence[str]:
    """The labels as text; numbers among raw labels get one spelling, as batches with only numbers have lost theirs."""
    if labels.kind != RAW:
        return labels.shown()
    return [spelled(text) for text in labels.texts]


def exceed(texts: Iterable[str], kind: str, max_labels: int) -> bool:
    """Whether there are more than `max_labels` labels."""
    distinct = set()
    for text in texts:
        distinct.add(spelled(text) if kind == RAW else text)
        if len(distinct) > max_labels:
            return True
    return False


def _alike(one: Labels, other: Labels) -> tuple[tuple[Labels, Positions], tuple[Labels, Positions]]:
    """Labels of two kinds as labels of one kind: what the raw labels look like, else text, else `many`.

    Raw dates are text on their own, but dates if the other labels are dates.
    """
    first, second = _beside(one, other), _beside(other, one)
    if first[0].kind != second[0].kind:
        if one.dropped_bits or other.dropped_bits:  # the original numbers are not known any more
            return collapsed(one), collapsed(other)
        return of_texts(_as_texts(one), TEXT), of_texts(_as_texts(other), TEXT)
    return first, second


def _beside(labels: Labels, other: Labels) -> tuple[Labels, Positions]:
    """Typed labels; raw labels that look like dates become dates if the labels on the other side are dates."""
    dates = readable(labels.texts) if labels.kind == RAW and other.instants else None
    return of_numbers(dates[0], instants=True) if dates and dates[1] == DATES else typed(labels)


def _coarser(numbers: FloatArray, dropped_bits: int) -> FloatArray:
    """The numbers, with the last bits of their significands set to 0."""
    if dropped_bits == 0:
        return numbers + 0.0  # no -0.0
    mask = np.int64(-1) << np.int64(dropped_bits)
    coarse: FloatArray = (np.ascontiguousarray(numbers).view(np.int64) & mask).view(np.float64)
    return coarse + 0.0
