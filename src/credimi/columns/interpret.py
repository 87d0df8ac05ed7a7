"""Decides from its counts what a column is: categories, ranges of numbers, an identifier, or empty.

Labels are counted as they come in the data, before anything is decided. Only the complete counts show whether text is
numbers, whether numbers are many or few, and where they are cut. `interpret` decides this, and returns the `Feature`
that is ranked. In this module `counted` are the labels that were counted, and `typed` are the same labels after raw
text was read as numbers or booleans.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING

import numpy as np

from credimi.columns import labels, suspicious_values, text_types
from credimi.columns.feature import CutBy, Feature, FeatureKind, Suspicion, SuspicionKind
from credimi.columns.labels import LOOSE, MANY, NUMBER, RAW, TEXT, Labels
from credimi.columns.meaning import identifiers, meaning
from credimi.columns.meaning.meaning import CATEGORIES
from credimi.columns.numbers import discretize, ranges, target_ranges
from credimi.columns.reading_options import METHODS, ReadingOptions, quantiles_asked
from credimi.core.defaults import DISCRETIZE
from credimi.core.errors import CredimiError, NoRowsError, TooManyClassesError
from credimi.core.special import entropy
from credimi.core.tables import relabel

if TYPE_CHECKING:
    from credimi.columns.numbers.number_cells import AveragedCuts
    from credimi.columns.reading_options import Method
    from credimi.core.types import CountArray, FloatArray, IntegerArray

    Positions = IntegerArray

_QUARTERS = 4
MAX_CLASSES = 1000
_MAX_PLAUSIBLE_CLASSES = 50  # a target with more different numbers looks like a measurement
_DIGITS_AS_NAMES = (text_types.LEADING_ZEROS, text_types.MANY_DIGITS)  # in a column of text, this is not suspicious
_CUT_ADVICE = "cut it into a few ranges (target_cuts, --target-cuts), or choose another target"
_AS_USUAL = ReadingOptions()


@dataclass(frozen=True, slots=True, eq=False)
class InterpretedClasses:
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
        return entropy(self.totals)


def interpret_classes(
    target: str, counted: Labels, rows: float, min_classes: int = 2, *, settings: ReadingOptions = _AS_USUAL
) -> tuple[Labels, Positions]:
    """The target's classes, and the position of each label among them; an error if there are fewer than `min_classes`.

    With cuts, the labels are positions of ranges, and the classes their names, in the order of the ranges; those of a
    number are joined to a few.
    """
    cuts = settings.given_cuts
    classes, positions = labels.typed(counted)
    if rows == 0:
        raise NoRowsError("there are no rows: nothing can be said about the target")
    if len(classes) == 0:
        raise CredimiError(
            f"target {target!r} is missing in all {rows:,} rows: choose another target, or check "
            "what means missing (missing_values, --missing)"
        )
    if cuts is not None:
        if settings.target_as is not None:
            classes, positions = target_ranges.joined_classes(counted, cuts)
        else:
            classes = target_ranges.named_classes(counted, cuts)
        if len(classes) < min_classes:
            raise CredimiError(
                f"all values of target {target!r} lie in one range, {classes.texts[0]!r}: cut it elsewhere "
                "(target_cuts, --target-cuts)"
            )
    if len(classes) < min_classes:
        raise CredimiError(f"target {target!r} has one class only, {classes.shown()[0]!r}: nothing can inform about it")
    if len(classes) > MAX_CLASSES:
        raise TooManyClassesError(too_many_classes(target, len(classes)))
    of_categories = settings.target_as == "categories"
    if classes.kind == NUMBER and not classes.integral and len(classes) > CATEGORIES and not of_categories:
        raise CredimiError(
            f"target {target!r} holds {len(classes):,} different {classes.noun}, not classes: {_CUT_ADVICE}"
        )
    return classes, positions


def interpret(
    name: str,
    counted: Labels,
    block: CountArray,
    classes: tuple[Labels, Positions],
    *,
    settings: ReadingOptions,
    max_labels: int,
    compiled: bool = False,
) -> Feature:
    """One column as it is ranked, from its raw labels and counts; more than `max_labels` numbers are rounded."""
    method, named = settings.method(name), name in settings.named
    typed, positions, why = meaning.read(counted, block, settings, name, max_labels)
    readable = text_types.readable(counted.texts) if typed.kind == TEXT else None
    if named and method != "categories" and len(typed) and typed.kind not in (NUMBER, MANY):
        if readable is None:
            notation = suspicious_values.notation_of(counted.texts)
            dates = notation is not None and notation.kind == SuspicionKind.DATE_NOTATION
            expected = "YYYY-MM-DD" if dates else "plain numbers, such as 12.5"
            remedy = f"write them as {expected}, or remove" if notation else "remove"
            raise CredimiError(
                f"column {name!r} holds text such as {_first_text(counted.texts)!r}, and discretize has a way to cut "
                f"it: only numbers and dates can be cut; {remedy} it from discretize"
            )
        typed, positions = labels.of_numbers(
            readable[0], max_labels=max_labels, instants=readable[1] == text_types.DATES
        )
    counts = relabel(block, classes[1], positions, (len(classes[0]), len(typed)))
    are_values = typed.kind != NUMBER or plainly_categories(typed, method, named=named)
    values = typed.shown() if are_values else ()  # ranges have names of their own, and writing numbers takes long
    feature = Feature(name, counts, values, typed, np.arange(len(typed)), positions, suspicions=why)
    if len(typed) == 0:
        return replace(feature, kind=FeatureKind.EMPTY)
    if typed.kind == MANY:  # it has a text only if values cannot be counted: the text says why
        kind = FeatureKind.UNCOUNTABLE if typed.texts else FeatureKind.IDENTIFIER
        return replace(feature, values=("(many)",), kind=kind)
    if len(typed) == 1:
        return replace(feature, values=typed.shown(), kind=FeatureKind.CONSTANT)
    if typed.kind == NUMBER:
        return _interpret_numbers(feature, method, named=named, compiled=compiled)
    if typed.kind != TEXT:
        return feature
    kind = FeatureKind.CATEGORIES
    if method != "categories" and identifiers.is_identifier(len(typed), counts[:, :-1].sum()):
        kind = FeatureKind.IDENTIFIER
    suspicions = why + _suspicious_texts(counted, typed, kind, readable and readable[1])
    return replace(feature, kind=kind, suspicions=suspicions)


def _suspicious_texts(counted: Labels, typed: Labels, kind: FeatureKind, readable: str | None) -> tuple[Suspicion, ...]:
    """What the texts may be: numbers, another notation of numbers or dates, codes that mean missing."""
    if readable and kind == FeatureKind.IDENTIFIER and all(map(text_types.is_number, counted.texts)):
        return (Suspicion(SuspicionKind.NUMERALS),)
    if readable and (kind == FeatureKind.IDENTIFIER or counted.kind == RAW or readable not in _DIGITS_AS_NAMES):
        return (Suspicion(SuspicionKind(readable)),)
    if readable:
        return (Suspicion(SuspicionKind.NUMERALS),) if suspicious_values.are_numerals(typed.texts) else ()
    strays = suspicious_values.strays(counted.texts) if counted.kind == RAW else []
    if strays:
        return (Suspicion(SuspicionKind.STRAYS, tuple(strays)),)
    notation, others = suspicious_values.notation_of(typed.texts), _odd_texts(typed, compare_spellings=kind.ranked)
    return (notation, *others) if notation else others


def _odd_texts(typed: Labels, *, compare_spellings: bool = True) -> tuple[Suspicion, ...]:
    """Codes that mean missing, and two spellings of one value; an identifier has too many values to compare them."""
    codes = suspicious_values.missing_codes(typed.texts)
    alike = (
        suspicious_values.spelled_alike([text for text in typed.texts if text not in codes])
        if compare_spellings
        else []
    )
    suspects = (SuspicionKind.MISSING_TEXTS, codes), (SuspicionKind.SPELLED_ALIKE, alike)
    return tuple(Suspicion(kind, tuple(texts)) for kind, texts in suspects if texts)


def _interpret_numbers(feature: Feature, method: Method, *, named: bool, compiled: bool) -> Feature:
    name, typed, counts = feature.name, feature.labels, feature.block
    totals = counts[:, :-1].sum(axis=0)
    suspicions = _suspicious_numbers(typed, totals)
    if suspicions:
        feature = replace(feature, suspicions=feature.suspicions + suspicions)
    if feature.values:  # categories
        return feature
    if not named and identifiers.numbers_rows(name, typed, totals):
        return replace(feature, kind=FeatureKind.IDENTIFIER)
    if not named and identifiers.may_be_codes(name, typed):
        doubt = Suspicion(SuspicionKind.CODES, count=len(typed))
        feature = replace(feature, suspicions=(*feature.suspicions, doubt))
    if method is None:
        raise CredimiError(
            f"column {name!r} holds {len(typed):,} different {typed.noun}, and discretize is None: name a method "
            f"({', '.join(METHODS)}), for all columns or as {{{name!r}: ...}}, or leave the column out"
        )
    cut = _cut(typed.numbers, counts, method, compiled=compiled)
    cuts = cut.cuts
    range_of = ranges.bins_of(typed.numbers, cuts)  # in order, like the numbers
    begins = np.append(True, range_of[1:] != range_of[:-1])
    starts, bins = np.flatnonzero(begins), np.cumsum(begins) - 1
    used = range_of[starts]
    shown = replace(feature, cuts=cuts).shown_cuts
    names = ranges.named_ranges(shown) if typed.instants else ranges.interval_labels(cuts, typed.numbers)
    binned = np.concatenate([np.add.reduceat(counts[:, :-1], starts, axis=1), counts[:, -1:]], axis=1)
    kind = FeatureKind.RANGES if used.size > 1 else FeatureKind.ONE_RANGE
    values = tuple(names[index] for index in used)
    feature = replace(feature, block=binned, values=values, places=bins, kind=kind, cuts=cuts, cut_by=cut.by)
    return replace(feature, odds=cut.odds, averaged=cut.averaged)


@dataclass(frozen=True, slots=True)
class _Cut:
    """Where numbers are cut, how that was decided, and what else is known of them (see `Feature`)."""

    cuts: FloatArray
    by: CutBy
    odds: float = 1.0
    averaged: AveragedCuts | None = None


def _cut(numbers: FloatArray, counts: CountArray, method: str | list[float], *, compiled: bool) -> _Cut:
    totals = counts[:, :-1].sum(axis=0)
    if method == DISCRETIZE:
        # The posterior stands above; only this line calls it.
        found = import_module("credimi.inference.numbers.of_column").averaged(counts)
        if found is not None:
            averaged, places, odds = found
            if averaged.log_odds > 0.0:
                return _Cut(ranges.cuts_after(numbers, places - 1), CutBy.AVERAGE, odds, averaged)
            # Independence is more probable. The ranges that fit dependence best would then show noise; with others the
            # column may be informative all the same, and for that quarters, which do not look at the target, are fair.
            averaged = replace(averaged, probabilities=None)
            return _Cut(ranges.quantile_cuts(numbers, totals, _QUARTERS), CutBy.AVERAGE, averaged=averaged)
    elif method == "mdl":
        if compiled:
            counted, cut_positions, odds = discretize.cut_by_mdl(numbers, counts)
        else:
            class_counts = counts[:-1, :-1].T
            counted, cut_positions = discretize.mdl_places(numbers, class_counts)
            odds = discretize.evidence_share(class_counts, cut_positions)
        if cut_positions.size:
            return _Cut(ranges.cuts_after(counted, cut_positions), CutBy.MDL, odds)
    elif quantiles := quantiles_asked(method):
        return _Cut(ranges.quantile_cuts(numbers, totals, quantiles), CutBy.QUANTILE)
    else:
        return _Cut(np.array(method, dtype=np.float64), CutBy.GIVEN)
    # No cut passes the test of MDL, which does not prove independence; or all complete rows have one value.
    return _Cut(ranges.quantile_cuts(numbers, totals, _QUARTERS), CutBy.QUARTERS)


def _suspicious_numbers(typed: Labels, totals: CountArray) -> tuple[Suspicion, ...]:
    """Numbers that may mean missing; none if bits were dropped, as the original numbers are not known then."""
    if typed.instants or typed.dropped_bits:
        return ()
    suspects = suspicious_values.infinite(typed.numbers) or suspicious_values.sentinels(typed.numbers, totals)
    return (Suspicion(SuspicionKind.MISSING_NUMBERS, tuple(suspects)),) if suspects else ()


def suspicious_classes(classes: Labels, totals: CountArray) -> tuple[Suspicion, ...]:
    """What may be wrong with the classes of a target; `totals` is the number of rows of each class."""
    if classes.kind == TEXT:
        row_names = look_like_row_names(classes, totals.sum())
        suspicions = (Suspicion(SuspicionKind.ROW_NAMES, count=len(classes)),) if row_names else ()
        return suspicions + _odd_texts(classes)
    if classes.kind != NUMBER or classes.instants:
        return ()
    measured = (Suspicion(SuspicionKind.MEASUREMENT, count=len(classes)),) if look_measured(classes) else ()
    return measured + _suspicious_numbers(classes, totals)


def look_measured(classes: Labels) -> bool:
    """Whether the classes of a target are so many numbers that they look like a measurement."""
    return classes.kind == NUMBER and not classes.instants and len(classes) > _MAX_PLAUSIBLE_CLASSES


def is_number(values: Labels) -> bool:
    """Whether a target with these values is a number, unless the user says that they are categories."""
    return values.kind == NUMBER and not values.instants and len(values) > CATEGORIES


def look_like_row_names(classes: Labels, rows: float) -> bool:
    """Whether the classes of a target are so many texts that each names a row, as an identifier does."""
    return classes.kind == TEXT and rows >= identifiers.MIN_ROWS and 2 * len(classes) > rows


def plainly_categories(column_labels: Labels, method: Method, *, named: bool) -> bool:
    """Whether the labels are the values themselves: no text has to be read as numbers, and no numbers are cut."""
    if column_labels.kind == NUMBER:
        return method == "categories" or (len(column_labels) <= CATEGORIES and column_labels.integral and not named)
    return column_labels.kind not in (RAW, LOOSE) and (method == "categories" or not named)


def check_classes(target: str, classes: Labels) -> None:
    """Refuse a target with too many or too long values for classes."""
    if len(classes) > MAX_CLASSES:
        raise TooManyClassesError(too_many_classes(target, len(classes)))
    longest = labels.most_bytes(1)
    if labels.too_long(classes, longest):
        raise CredimiError(
            f"target {target!r} has classes of more than {longest >> 20} MiB of text in all: choose another target, or "
            "give its classes short names"
        )


def too_many_classes(target: str, classes: int) -> str:
    """The message for a target with too many values to be classes; more may follow in rows not yet read."""
    return (
        f"target {target!r} has at least {classes:,} different values, at most {MAX_CLASSES:,} are classes: "
        f"{_CUT_ADVICE}"
    )


def _first_text(texts: tuple[str, ...]) -> str:
    """A text that is neither a number nor a date, if there is one."""
    return next((text for text in texts if text_types.readable([text]) is None), texts[0])
