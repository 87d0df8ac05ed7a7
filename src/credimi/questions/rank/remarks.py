"""What is remarked on a ranking or a selection.

`columns.interpret` decides which columns are identifiers and not ranked at all.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from credimi.columns.feature import FeatureKind, SuspicionKind
from credimi.columns.meaning.meaning import CATEGORIES
from credimi.inference.information import NO_SPREAD
from credimi.results import remark_sentences
from credimi.results.remarks import Remark, RemarkKind
from credimi.results.remarks import approximate as approximate_remark

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from credimi.columns.feature import Feature, Suspicion
    from credimi.core.types import Record, Value

_NEARLY_ALL, _MUCH = 0.9, 0.5  # of the target's entropy
_ROWS_PER_VALUE, _MIN_CLASS_ROWS = 10, 5  # with so many rows, a pure column is no accident
_MIN_GROUPS, _MAX_ROWS_PER_GROUP = 50, 20  # of a column that looks like an identifier of groups
_EARLY_TIPPING_FACTOR = 1.5  # below this a remark is made
_MANY_CUTS = 100  # from which a remark is made
_MANY_AVERAGED = 40  # the same, where no more than these are proposed
_USED_COLUMNS = (
    "values",
    "complete",
    "mi",
    "std",
    "low",
    "verdict",
    "keep_forward",
    "missing_mi",
    "missing_p_above",
    "target_missing_mi",
    "rows_to_decide",
    "rows_to_decide_low",
    "rows_to_decide_high",
    "at_epsilon",
    "tipping_factor",
)
_MAY_MEAN_MISSING = (SuspicionKind.STRAYS, SuspicionKind.MISSING_TEXTS, SuspicionKind.MISSING_NUMBERS)
_READABLE = (
    SuspicionKind.LEADING_ZEROS,
    SuspicionKind.MANY_DIGITS,
    SuspicionKind.DECIMAL_COMMAS,
    SuspicionKind.DATES,
    SuspicionKind.NUMERALS,
)
_MAY_BE_NAMES = (SuspicionKind.LEADING_ZEROS, SuspicionKind.MANY_DIGITS)
_OTHER_NOTATIONS = (
    SuspicionKind.DATE_NOTATION,
    SuspicionKind.PERCENT_SIGNS,
    SuspicionKind.CURRENCY_SIGNS,
    SuspicionKind.THOUSANDS_SEPARATORS,
)


_TOO_MANY_CLASSES = {
    SuspicionKind.MEASUREMENT: RemarkKind.TARGET_MEASURED,
    SuspicionKind.ROW_NAMES: RemarkKind.TARGET_IDENTIFIER,
}


def remarks_on(
    features: Sequence[Feature],
    columns: Mapping[str, Sequence[Value]],
    settings: Mapping[str, Value],
    target: tuple[str, int, float, Sequence[Suspicion]],
    on_weights: Sequence[Remark] = (),
    *,
    with_target: Mapping[str, float],
    copies: Mapping[str, str],
    parts: Collection[str] = (),
    approximate: Collection[str] = (),
) -> tuple[Remark, ...]:
    """All remarks on a ranking, most important first; `target`: name, classes, entropy, suspicions.

    `on_weights` are the remarks on the weights of the rows.
    `with_target` has the features on which it depends whether the target is missing, and the mean of I from only the
    rows that have the target. `copies` maps features that say the same as a better one to the name of that one.
    `parts` are the features that together make up the target. `approximate` are the features whose P(independent) may
    be off.
    """
    used_columns = [name for name in _USED_COLUMNS if name in columns]
    rows = zip(*(columns[name] for name in used_columns), strict=True)
    remarks = [*_target_remarks(target[0], target[2], target[3])]
    if 0.0 < target[2] <= settings["epsilon"]:
        kind = RemarkKind.EPSILON_ABOVE_ENTROPY
        remarks.append(Remark(kind, target=target[0], nats=target[2], stake=target[2]))
    for feature, row in zip(features, rows, strict=True):
        figures = dict(zip(used_columns, row, strict=True))
        if str(settings.get("approximation")).startswith("leading") and _lacks_spread(feature, figures):
            stake = max(figures["mi"], settings["epsilon"])
            remarks.append(Remark(RemarkKind.NO_SPREAD, feature.name, stake=stake))
        remarks += [
            *_suspicion_remarks(feature, figures),
            *_row_remarks(feature, figures, settings, target[1], target[2]),
        ]
        if feature.name in copies:
            remarks.append(Remark(RemarkKind.COPY, feature.name, other=copies[feature.name], stake=figures["mi"]))
        if feature.name in parts:
            remarks.append(Remark(RemarkKind.PARTS_OF_TARGET, feature.name, stake=target[2]))
        if feature.name in approximate:
            remarks.append(approximate_remark(feature.name, figures["mi"], settings["epsilon"]))
        if feature.name in with_target:
            nats = figures["target_missing_mi"]
            means = {"mi": figures["mi"], "mi_with_target": with_target[feature.name]}
            remarks.append(Remark(RemarkKind.TARGET_MISSING_DEPENDS, feature.name, nats=nats, stake=nats, **means))
    averaged = sum(feature.averaged is not None for feature in features)
    remarks += [Remark(RemarkKind.AVERAGED_OVER_CUTS, values=averaged)] if averaged else []
    cut_columns = sum(feature.kind == FeatureKind.RANGES for feature in features) - averaged
    remarks += [Remark(RemarkKind.CUT_INTO_RANGES, values=cut_columns)] if cut_columns else []
    return _by_stake([*remarks, *on_weights])


def _by_stake(remarks: Sequence[Remark]) -> tuple[Remark, ...]:
    """Cautions come first. Remarks of one line stay together; lines, and remarks within a line, are sorted by stake."""
    order = {kind: rank for rank, kind in enumerate(RemarkKind)}
    largest: dict[object, float] = {}
    for remark in remarks:
        line = remark_sentences.line_of(remark.kind, remark.notation)
        largest[line] = max(remark.stake, largest.get(line, 0.0))

    def weight(remark: Remark) -> tuple[Value, ...]:
        line = remark_sentences.line_of(remark.kind, remark.notation)
        return not remark.caution, -largest[line], order[remark.kind], str(line), -remark.stake

    return tuple(sorted(remarks, key=weight))


def _target_remarks(name: str, entropy: float, suspicions: Sequence[Suspicion]) -> Iterator[Remark]:
    stake = 0.0 if math.isnan(entropy) else entropy
    for suspicion in suspicions:
        if suspicion.kind in _TOO_MANY_CLASSES:
            yield Remark(_TOO_MANY_CLASSES[suspicion.kind], target=name, values=suspicion.count, stake=stake)
        else:
            alike = suspicion.kind == SuspicionKind.SPELLED_ALIKE
            kind = RemarkKind.TARGET_SPELLED_ALIKE if alike else RemarkKind.TARGET_MISSING_CODES
            yield Remark(kind, target=name, notation=suspicion.kind, codes=suspicion.values, stake=stake)


def _suspicion_remarks(feature: Feature, row: Record) -> Iterator[Remark]:
    """Remarks on the values of a ranked feature."""
    for suspicion in feature.suspicions if feature.kind.ranked else ():
        for kind, notations in (
            (RemarkKind.MAY_MEAN_MISSING, _MAY_MEAN_MISSING),
            (RemarkKind.SPELLED_ALIKE, (SuspicionKind.SPELLED_ALIKE,)),
            (RemarkKind.READABLE_TEXT, _READABLE),
            (RemarkKind.OTHER_NOTATION, _OTHER_NOTATIONS),
            (RemarkKind.MAY_BE_CODES, (SuspicionKind.CODES,)),
            (RemarkKind.READ_AS, (SuspicionKind.READ_AS,)),
            (RemarkKind.TAKEN_AS_MISSING, (SuspicionKind.TAKEN_AS_MISSING,)),
        ):
            few_names = suspicion.kind in _MAY_BE_NAMES and row["values"] <= CATEGORIES
            if suspicion.kind in notations and not few_names:
                values = suspicion.count or None
                told: Record = {"notation": suspicion.kind, "codes": suspicion.values, "values": values}
                yield Remark(kind, feature.name, stake=row["mi"], **told)


def _row_remarks(
    feature: Feature, row: Record, settings: Mapping[str, Value], classes: int, entropy: float
) -> Iterator[Remark]:
    """Remarks on the figures of a feature."""
    name = feature.name
    yield from _leaks(feature, row, entropy)
    if settings["prior"] != "adaptive" and row["keep_forward"] and _may_be_noise(row, classes, settings["epsilon"]):
        yield Remark(RemarkKind.MAYBE_NOISE, name, values=row["values"], stake=row["mi"])
    if row["verdict"] == "keep" and feature.kind == FeatureKind.CATEGORIES and _may_name_groups(row):
        rows_each = row["complete"] / row["values"]
        kind = RemarkKind.POSSIBLE_IDENTIFIER
        yield Remark(kind, name, values=row["values"], rows_each=rows_each, stake=row["mi"])
    if row["verdict"] != "drop" and _is_time(feature):  # an identifier, too: rows in time
        yield Remark(RemarkKind.TIME, name, stake=0.0 if math.isnan(row["mi"]) else row["mi"])
    many = _MANY_CUTS if feature.averaged is None else _MANY_AVERAGED
    if row["verdict"] != "drop" and feature.kind == FeatureKind.RANGES and feature.cuts.size >= many:
        yield Remark(RemarkKind.MANY_CUTS, name, values=feature.cuts.size, stake=row["mi"])
    missing_is_ignored = settings["missing"] == "ignore" and not feature.kind.unknown
    if missing_is_ignored and row["missing_p_above"] >= settings["level"]:
        yield Remark(RemarkKind.MISSING_TELLS, name, nats=row["missing_mi"], stake=row["missing_mi"])
    if row["verdict"] == "keep" and row.get("tipping_factor", math.inf) < _EARLY_TIPPING_FACTOR:
        yield Remark(RemarkKind.TIPS_EARLY, name, factor=row["tipping_factor"], stake=row["mi"])
    if row["rows_to_decide"]:
        quartiles = {"least_rows": row["rows_to_decide_low"], "most_rows": row["rows_to_decide_high"]}
        yield Remark(RemarkKind.ROWS_TO_DECIDE, name, rows=row["rows_to_decide"], **quartiles)
    if row["at_epsilon"]:
        yield Remark(RemarkKind.AT_EPSILON, name)


def _leaks(feature: Feature, row: Record, entropy: float) -> Iterator[Remark]:
    """Whether the feature has so much of the target's entropy that it may be made from the target."""
    if row["low"] > _NEARLY_ALL * entropy or (row["verdict"] == "keep" and _is_pure(feature, entropy)):
        yield Remark(RemarkKind.NEARLY_TARGET, feature.name, nats=row["low"], stake=row["mi"])
    elif row["low"] > _MUCH * entropy:
        yield Remark(RemarkKind.MUCH_OF_TARGET, feature.name, share=row["mi"] / entropy, stake=row["mi"])


def _is_pure(feature: Feature, entropy: float) -> bool:
    """Whether no value has two classes, in rows that contain nearly all of the target's entropy.

    With few rows, even the interval of a copy of the target reaches far below the entropy. If two classes have five
    rows each, and a value ten on average, categories that tell nothing are pure with a probability of at most 6.5e-5:
    1 of 15,504, if 5 of 20 rows have a value of their own. For ranges, which have two ends, it is twice as much.
    """
    counts = feature.block[:-1, :-1]
    values, classes = counts.any(axis=0).sum(), counts.sum(axis=1)
    if (
        classes.sum() < _ROWS_PER_VALUE * values
        or (classes >= _MIN_CLASS_ROWS).sum() < 2
        or (counts > 0).sum(axis=0).max() > 1
    ):
        return False
    shares = classes[classes > 0] / classes.sum()
    return bool(-(shares * np.log(shares)).sum() > _NEARLY_ALL * entropy)


def _lacks_spread(feature: Feature, row: Record) -> bool:
    """Whether a deviation of 0 is one of leading order alone: with one class, or one value, I is 0 for certain."""
    counted = feature.block[:-1, :-1]
    several = min(counted.any(axis=0).sum(), counted.any(axis=1).sum()) > 1
    return bool(feature.kind.ranked and several and row["std"] <= NO_SPREAD)


def _is_time(feature: Feature) -> bool:
    """Whether values are dates or times, as ranges or texts: later rows have other ones."""
    dates = {SuspicionKind.DATES, SuspicionKind.DATE_NOTATION}
    return feature.labels.instants or any(suspicion.kind in dates for suspicion in feature.suspicions)


def _may_name_groups(row: Record) -> bool:
    """Whether categories look like identifiers of groups: many values with a few rows each."""
    return bool(row["values"] >= _MIN_GROUPS and row["complete"] < _MAX_ROWS_PER_GROUP * row["values"])


def _may_be_noise(row: Record, classes: int, epsilon: float) -> bool:
    """Whether an independent column of this shape would show as much: (r - 1)(s - 1)/2N against epsilon and the mean.

    2N times the information of an independent sample follows a chi-square distribution with deviation sqrt(2 freedom).
    """
    freedom = (classes - 1) * (row["values"] - 1)
    noise = (freedom + 2.0 * math.sqrt(2.0 * freedom)) / (2.0 * max(row["complete"], 1))
    return bool(noise > epsilon and row["mi"] < 2.0 * noise)
