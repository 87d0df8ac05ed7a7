"""Decides from its counts what a column is: categories, ranges of numbers, an identifier, or empty.

Counts are kept raw. Only the complete counts show whether text is numbers, whether numbers are many or few, and where
they are cut. `settle` decides this, and returns the `Feature` that is ranked.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from credimi.columns import labels, suspicious_values, text_types
from credimi.columns.feature import CutBy, Feature, FeatureKind, Suspicion, SuspicionKind
from credimi.columns.labels import MANY, NUMBER, RAW, TEXT, Labels
from credimi.columns.numbers import discretize, mdl_counts, target_ranges
from credimi.columns.reading_options import METHODS, quantiles_asked
from credimi.core.errors import CredimiError
from credimi.core.tables import relabel

if TYPE_CHECKING:
    from credimi.columns.numbers.target_ranges import Cuts
    from credimi.columns.reading_options import Method, ReadingOptions
    from credimi.core.types import BooleanArray, CountArray, IntegerArray

    Positions = IntegerArray

CATEGORIES = 20  # whole numbers of at most so many distinct values are categories
_QUARTERS = 4
MOST_CLASSES = 1000
_MANY_CLASSES = 50  # a target with more different numbers looks like a measurement
_ENOUGH = 20  # values seen before a column may be called an identifier
_FEW = 100  # the same for whole numbers, which may be measurements
_NEARLY_ALL = 0.9
_NAMES = (text_types.LEADING_ZEROS, text_types.MANY_DIGITS)  # text that is no more than that in a column of text
_SHORT, _LETTERS = 256, 1 << 12  # the most labels that are remembered, and their letters
_CUT_IT = "cut it into a few ranges (target_cuts, --target-cuts), or choose another target"


@dataclass(frozen=True, slots=True, eq=False)
class SettledClasses:
    """The target's classes, the position of each counted label among them, and the number of rows of each class."""

    labels: Labels
    positions: Positions
    totals: CountArray

    @property
    def suspicions(self) -> tuple[Suspicion, ...]:
        """What may be wrong with the classes."""
        return suspicious_classes(self.labels, self.totals)

    @property
    def entropy(self) -> float:
        """The entropy of the classes in nats; NaN if there is no feature to compare with the target."""
        if not self.totals.sum() > 0:
            return math.nan
        shares = self.totals[self.totals > 0] / self.totals.sum()
        return float(-(shares * np.log(shares)).sum())


def settle_classes(
    target: str, own: Labels, rows: float, least: int = 2, *, cuts: Cuts | None = None
) -> tuple[Labels, Positions]:
    """The target's classes, and the position of each label among them; an error if there are fewer than `least`.

    With `cuts`, the labels are positions of ranges, and the classes their names, in the order of the ranges.
    """
    classes, positions = labels.typed(own)
    if rows == 0:
        raise CredimiError("there are no rows: nothing can be said about the target")
    if len(classes) == 0:
        raise CredimiError(
            f"target {target!r} is missing in all {rows:,} rows: choose another target, or check "
            "what means missing (missing_values, --missing)"
        )
    if cuts is not None:
        classes = target_ranges.named_classes(own, cuts)
        if len(classes) < least:
            raise CredimiError(
                f"all values of target {target!r} lie in one range, {classes.texts[0]!r}: cut it elsewhere "
                "(target_cuts, --target-cuts)"
            )
    if len(classes) < least:
        raise CredimiError(f"target {target!r} has one class only, {classes.shown()[0]!r}: nothing can inform about it")
    if len(classes) > MOST_CLASSES:
        raise CredimiError(too_many_classes(target, len(classes)))
    if classes.kind == NUMBER and not classes.integral and len(classes) > CATEGORIES:
        raise CredimiError(f"target {target!r} holds {len(classes):,} different numbers, not classes: {_CUT_IT}")
    return classes, positions


def settle(
    name: str,
    own: Labels,
    block: CountArray,
    classes: tuple[Labels, Positions],
    *,
    settings: ReadingOptions,
    max_labels: int,
    compiled: bool = False,
) -> Feature:
    """One column as it is ranked, from its raw labels and counts; more than `max_labels` numbers are rounded."""
    method, named = settings.method(name), name in settings.named
    if not named and isinstance(method, str) and len(own) <= _SHORT and sum(map(len, own.texts)) <= _LETTERS:
        found = _plain(own, method, max_labels)
        if found is not None:
            counts = relabel(block, classes[1], found.positions, (len(classes[0]), len(found.kept)))
            if not (found.may_name_rows and names_rows(len(found.kept), counts[:, :-1].sum())):
                alike = found.values, found.kept, found.places, found.positions
                return Feature(name, counts, *alike, suspicions=found.suspicions)
    return _settle_by_counts(name, own, block, classes, (method, named, max_labels), compiled=compiled)


def _settle_by_counts(
    name: str,
    own: Labels,
    block: CountArray,
    classes: tuple[Labels, Positions],
    asked: tuple[Method, bool, int],
    *,
    compiled: bool,
) -> Feature:
    """The same of a column whose counts say what it is."""
    method, named, max_labels = asked
    kept, positions = labels.typed(own, max_labels)
    readable = text_types.readable(own.texts) if kept.kind == TEXT else None
    if named and method != "categories" and len(kept) and kept.kind not in (NUMBER, MANY):
        if readable is None:
            notation = suspicious_values.notation_of(own.texts)
            dates = notation is not None and notation.kind == SuspicionKind.DATE_NOTATION
            plain = "YYYY-MM-DD" if dates else "plain numbers, such as 12.5"
            remedy = f"write them as {plain}, or remove" if notation else "remove"
            raise CredimiError(
                f"column {name!r} holds text such as {_first_text(own.texts)!r}, and discretize has a way to cut it: "
                f"only numbers and dates can be cut; {remedy} it from discretize"
            )
        kept, positions = labels.of_numbers(
            readable[0], max_labels=max_labels, instants=readable[1] == text_types.DATES
        )
    counts = relabel(block, classes[1], positions, (len(classes[0]), len(kept)))
    as_they_are = kept.kind != NUMBER or plainly_categories(kept, method, named=named)
    values = kept.shown() if as_they_are else ()  # ranges have names of their own, and writing numbers takes long
    feature = Feature(name, counts, values, kept, np.arange(len(kept)), positions)
    if len(kept) == 0:
        return replace(feature, kind=FeatureKind.EMPTY)
    if kept.kind == MANY:  # it has a text only if values cannot be counted: the text says why
        kind = FeatureKind.UNCOUNTABLE if kept.texts else FeatureKind.IDENTIFIER
        return replace(feature, values=("(many)",), kind=kind)
    if len(kept) == 1:
        return replace(feature, values=kept.shown(), kind=FeatureKind.CONSTANT)
    if kept.kind == NUMBER:
        return _settle_numbers(feature, method, named=named, compiled=compiled)
    if kept.kind != TEXT:
        return feature
    kind = FeatureKind.CATEGORIES
    if method != "categories" and names_rows(len(kept), counts[:, :-1].sum()):
        kind = FeatureKind.IDENTIFIER
    return replace(feature, kind=kind, suspicions=_suspicious_texts(own, kept, kind, readable and readable[1]))


class _Plain(NamedTuple):
    """Labels that are the values of a column, whatever their counts; unless they name rows, as texts may."""

    kept: Labels
    positions: Positions
    places: Positions
    values: tuple[str, ...]
    suspicions: tuple[Suspicion, ...]
    may_name_rows: bool


@lru_cache(maxsize=1 << 9)
def _plain(own: Labels, method: str, max_labels: int) -> _Plain | None:
    """The same with a cache, as many columns of a wide table have the same labels; None if counts have to decide."""
    kept, positions = labels.typed(own, max_labels)
    if len(kept) < 2 or kept.kind == MANY:
        return None
    suspicions: tuple[Suspicion, ...] = ()
    if kept.kind == NUMBER:
        ends = kept.numbers[0], kept.numbers[-1]
        if not plainly_categories(kept, method, named=False) or any(map(suspicious_values.is_code, ends)):
            return None
    elif kept.kind == TEXT:
        readable = text_types.readable(own.texts)
        suspicions = _suspicious_texts(own, kept, FeatureKind.CATEGORIES, readable and readable[1])
    places = np.arange(len(kept))
    for shared in (positions, places):
        shared.flags.writeable = False
    return _Plain(kept, positions, places, kept.shown(), suspicions, kept.kind == TEXT and method != "categories")


def _suspicious_texts(own: Labels, kept: Labels, kind: FeatureKind, readable: str | None) -> tuple[Suspicion, ...]:
    """What texts may be: numbers, another notation of numbers or dates, codes that mean missing."""
    if readable and kind == FeatureKind.IDENTIFIER and all(map(text_types.is_number, own.texts)):
        return (Suspicion(SuspicionKind.NUMERALS),)
    if readable and (kind == FeatureKind.IDENTIFIER or own.kind == RAW or readable not in _NAMES):
        return (Suspicion(SuspicionKind(readable)),)
    if readable:
        return (Suspicion(SuspicionKind.NUMERALS),) if suspicious_values.are_numerals(kept.texts) else ()
    strays = suspicious_values.strays(own.texts) if own.kind == RAW else []
    if strays:
        return (Suspicion(SuspicionKind.STRAYS, tuple(strays)),)
    notation, others = suspicious_values.notation_of(kept.texts), _odd_texts(kept, alike=kind.ranked)
    return (notation, *others) if notation else others


def _odd_texts(kept: Labels, *, alike: bool = True) -> tuple[Suspicion, ...]:
    """Codes that mean missing, and two spellings of one value; an identifier has too many values to compare them."""
    codes = suspicious_values.missing_codes(kept.texts)
    same = suspicious_values.spelled_alike([text for text in kept.texts if text not in codes]) if alike else []
    found = (SuspicionKind.MISSING_TEXTS, codes), (SuspicionKind.SPELLED_ALIKE, same)
    return tuple(Suspicion(kind, tuple(texts)) for kind, texts in found if texts)


def _settle_numbers(feature: Feature, method: Method, *, named: bool, compiled: bool) -> Feature:
    name, kept, counts = feature.name, feature.labels, feature.block
    totals = counts[:, :-1].sum(axis=0)
    suspicions = _suspicious_numbers(kept, totals)
    if suspicions:
        feature = replace(feature, suspicions=suspicions)
    if feature.values:  # categories
        return feature
    seen = counts[:, :-1].sum()
    if not named and seen >= _FEW and _is_key(kept, totals):
        return replace(feature, kind=FeatureKind.IDENTIFIER)
    if method is None:
        raise CredimiError(
            f"column {name!r} holds {len(kept):,} different numbers, and discretize is None: name a method "
            f"({', '.join(METHODS)}), for all columns or as {{{name!r}: ...}}, or leave the column out"
        )
    quantiles, odds = quantiles_asked(method), 1.0
    cut_by = CutBy.QUANTILE if quantiles else CutBy(method) if isinstance(method, str) else CutBy.GIVEN
    if method == "mdl":
        if compiled:
            numbers, places, odds = mdl_counts.cut_by_mdl(kept.numbers, counts)
        else:
            of_classes = counts[:-1, :-1].T
            numbers, places = discretize.mdl_places(kept.numbers, of_classes)
            odds = discretize.evidence_share(of_classes, places)
        cuts = discretize.cuts_after(numbers, places)
        if not cuts.size:  # this does not prove independence: with few rows no cut passes the test
            cut_by = CutBy.QUARTERS
            cuts = discretize.quantile_cuts(kept.numbers, totals, _QUARTERS)
    elif quantiles:
        cuts = discretize.quantile_cuts(kept.numbers, totals, quantiles)
    else:
        cuts = np.array(method, dtype=np.float64)
    ranges = discretize.bins_of(kept.numbers, cuts)  # in order, like the numbers
    begins = np.append(True, ranges[1:] != ranges[:-1])
    starts, bins = np.flatnonzero(begins), np.cumsum(begins) - 1
    used = ranges[starts]
    shown = replace(feature, cuts=cuts).shown_cuts
    names = discretize.named_ranges(shown) if kept.instants else discretize.interval_labels(cuts, kept.numbers)
    binned = np.concatenate([np.add.reduceat(counts[:, :-1], starts, axis=1), counts[:, -1:]], axis=1)
    kind = FeatureKind.RANGES if used.size > 1 else FeatureKind.ONE_RANGE
    values = tuple(names[index] for index in used)
    return replace(feature, block=binned, values=values, places=bins, kind=kind, cuts=cuts, cut_by=cut_by, odds=odds)


def _suspicious_numbers(own: Labels, totals: CountArray) -> tuple[Suspicion, ...]:
    """Numbers that may mean missing; none if the numbers were made coarser, as the originals are not known."""
    if own.instants or own.dropped_bits:
        return ()
    found = suspicious_values.infinite(own.numbers) or suspicious_values.sentinels(own.numbers, totals)
    return (Suspicion(SuspicionKind.MISSING_NUMBERS, tuple(found)),) if found else ()


def suspicious_classes(classes: Labels, totals: CountArray) -> tuple[Suspicion, ...]:
    """What may be wrong with the classes of a target; `totals` is how many rows have each."""
    if classes.kind == TEXT:
        named = (
            (Suspicion(SuspicionKind.ROW_NAMES, count=len(classes)),) if look_like_names(classes, totals.sum()) else ()
        )
        return named + _odd_texts(classes)
    if classes.kind != NUMBER or classes.instants:
        return ()
    measured = (Suspicion(SuspicionKind.MEASUREMENT, count=len(classes)),) if look_measured(classes) else ()
    return measured + _suspicious_numbers(classes, totals)


def look_measured(classes: Labels) -> bool:
    """Whether the classes of a target are so many numbers that they look like a measurement."""
    return classes.kind == NUMBER and not classes.instants and len(classes) > _MANY_CLASSES


def look_like_names(classes: Labels, rows: float) -> bool:
    """Whether the classes of a target are so many texts that each names a row, as an identifier does."""
    return classes.kind == TEXT and bool(names_rows(len(classes), rows))


def plainly_categories(own: Labels, method: Method, *, named: bool) -> bool:
    """Whether the labels are the values themselves: nothing has to be read as numbers, and no numbers to be cut."""
    if own.kind == NUMBER:
        return method == "categories" or (len(own) <= CATEGORIES and own.integral and not named)
    return own.kind != RAW and (method == "categories" or not named)


def names_rows(texts: int | Positions, seen: float | CountArray) -> BooleanArray:
    """Whether there are so many different texts that each names a row, not a value; for one column or an array."""
    return np.asarray((seen >= _ENOUGH) & (2 * texts > seen))


def check_classes(target: str, classes: Labels) -> None:
    """Refuse a target with too many or too long values for classes."""
    if len(classes) > MOST_CLASSES:
        raise CredimiError(too_many_classes(target, len(classes)))
    longest = labels.most_bytes(1)
    if labels.too_long(classes, longest):
        raise CredimiError(
            f"target {target!r} has classes of more than {longest >> 20} MiB of text in all: choose another target, or "
            "give its classes short names"
        )


def too_many_classes(target: str, classes: int) -> str:
    """The message for a target with too many values to be classes; more may follow in rows not yet read."""
    return (
        f"target {target!r} has at least {classes:,} different values, at most {MOST_CLASSES:,} are classes: {_CUT_IT}"
    )


def _is_key(kept: Labels, totals: CountArray) -> bool:
    """Whether whole numbers, nearly all different and without large gaps, number the rows.

    A label that has lost b bits stands for all whole numbers up to 2^b units in the last place away: so many rows may
    share it, and still each have a number of their own.
    """
    if not kept.integral or kept.numbers[-1] - kept.numbers[0] >= 2 * (seen := totals.sum()):
        return False
    numbers = np.maximum(np.spacing(np.abs(kept.numbers)) * 2.0**kept.dropped_bits, 1.0)
    return bool(np.minimum(totals, numbers).sum() > _NEARLY_ALL * seen)


def _first_text(texts: tuple[str, ...]) -> str:
    """A text that is neither a number nor a date, if there is one."""
    return next((text for text in texts if text_types.readable([text]) is None), texts[0])
