"""Remarks on a ranking: records with fields, made once; `report.sentences` puts them into words."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from credimi.columns.feature import FeatureKind, SuspicionKind
from credimi.core.public import stored
from credimi.report import sentences

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from credimi.columns.feature import Feature, Suspicion
    from credimi.core.types import Record, Value

_NEARLY_ALL = 0.9  # of the target's entropy
_MANY, _FEW_ROWS = 50, 20  # values, and rows of each, that look like identifiers of groups
_LOOKED_AT = (
    "values",
    "complete",
    "mi",
    "low",
    "verdict",
    "keep_forward",
    "missing_mi",
    "missing_p_above",
    "rows_to_decide",
    "at_epsilon",
)
_MAY_MEAN_MISSING = (SuspicionKind.STRAYS, SuspicionKind.MISSING_TEXTS, SuspicionKind.MISSING_NUMBERS)
_READABLE = (SuspicionKind.DECIMAL_COMMAS, SuspicionKind.DATES, SuspicionKind.NUMERALS)
_OTHER_NOTATIONS = (
    SuspicionKind.DATE_NOTATION,
    SuspicionKind.PERCENT_SIGNS,
    SuspicionKind.CURRENCY_SIGNS,
    SuspicionKind.THOUSANDS_SEPARATORS,
)


@stored
class RemarkKind(StrEnum):
    """The kinds of remarks, most important first."""

    TARGET_MEASURED = "target_measured"
    TARGET_MISSING_CODES = "target_missing_codes"
    NEARLY_TARGET = "nearly_target"
    MAYBE_NOISE = "maybe_noise"
    POSSIBLE_IDENTIFIER = "possible_identifier"
    MISSING_TELLS = "missing_tells"
    MAY_MEAN_MISSING = "may_mean_missing"
    READABLE_TEXT = "readable_text"
    OTHER_NOTATION = "other_notation"
    ROWS_TO_DECIDE = "rows_to_decide"
    AT_EPSILON = "at_epsilon"
    CUT_INTO_RANGES = "cut_into_ranges"

    @property
    def caution(self) -> bool:
        """Whether the ranking may mislead; the other kinds explain the ranking, or say what would decide."""
        return self not in {RemarkKind.ROWS_TO_DECIDE, RemarkKind.AT_EPSILON, RemarkKind.CUT_INTO_RANGES}


@stored
@dataclass(frozen=True, slots=True)
class Remark:
    """One remark on a feature, on the target, or on the whole ranking; fields that do not apply are None or empty.

    `codes` are values as in the data, and `notation` is their kind; `values` is the number of different values, or
    classes.
    """

    kind: RemarkKind
    feature: str | None = None
    target: str | None = None
    notation: SuspicionKind | None = None
    codes: tuple[str, ...] = ()
    values: int | None = None
    rows: int | None = None
    rows_each: float | None = None
    nats: float | None = None

    @property
    def caution(self) -> bool:
        """Whether the ranking may mislead."""
        return self.kind.caution

    def to_dict(self) -> Record:
        """The record as plain data: kind, caution and feature, and the other fields that apply."""
        rest = {
            "target": self.target,
            "notation": self.notation and self.notation.value,
            "codes": list(self.codes) or None,
            "values": self.values,
            "rows": self.rows,
            "rows_each": self.rows_each,
            "nats": self.nats,
        }
        told = {name: value for name, value in rest.items() if value is not None}
        return {"kind": self.kind.value, "caution": self.caution, "feature": self.feature} | told


def worded(remarks: Sequence[Remark], reader: str) -> list[Record]:
    """The records as plain data, each with its sentence."""
    found = [remark.to_dict() for remark in remarks]
    return [each | {"text": sentences.remark([each], reader)} for each in found]


def remarks_on(
    features: Sequence[Feature],
    columns: Mapping[str, Sequence[Value]],
    settings: Mapping[str, Value],
    target: tuple[str, int, float, Sequence[Suspicion]],
) -> tuple[Remark, ...]:
    """All remarks on a ranking, most important first; `target`: name, classes, entropy, suspicions."""
    rows = zip(*(columns[name] for name in _LOOKED_AT), strict=True)
    found = [*_of_target(target[0], target[3]), *_of_suspicions(features)]
    for feature, row in zip(features, rows, strict=True):
        found += _of_row(feature, dict(zip(_LOOKED_AT, row, strict=True)), settings, target[1], target[2])
    cut = sum(feature.kind == FeatureKind.RANGES for feature in features)
    found += [Remark(RemarkKind.CUT_INTO_RANGES, values=cut)] if cut else []
    order = {kind: place for place, kind in enumerate(RemarkKind)}
    return tuple(sorted(found, key=lambda each: order[each.kind]))  # within a kind in the order of finding


def _of_target(name: str, suspicions: Sequence[Suspicion]) -> Iterator[Remark]:
    for each in suspicions:
        if each.kind == SuspicionKind.MEASUREMENT:
            yield Remark(RemarkKind.TARGET_MEASURED, target=name, values=each.count)
        else:
            yield Remark(RemarkKind.TARGET_MISSING_CODES, target=name, notation=each.kind, codes=each.values)


def _of_suspicions(features: Sequence[Feature]) -> Iterator[Remark]:
    """Remarks on the values of ranked features; one kind of notation after the other."""
    for kind, notations in (
        (RemarkKind.MAY_MEAN_MISSING, (_MAY_MEAN_MISSING,)),
        (RemarkKind.READABLE_TEXT, ((each,) for each in _READABLE)),
        (RemarkKind.OTHER_NOTATION, ((each,) for each in _OTHER_NOTATIONS)),
    ):
        for wanted in notations:
            for feature in features:
                for each in feature.suspicions if feature.kind.ranked else ():
                    if each.kind in wanted:
                        yield Remark(kind, feature.name, notation=each.kind, codes=each.values)


def _of_row(
    feature: Feature, row: Record, settings: Mapping[str, Value], classes: int, entropy: float
) -> Iterator[Remark]:
    """Remarks on what a feature tells."""
    name = feature.name
    if row["low"] > _NEARLY_ALL * entropy:
        yield Remark(RemarkKind.NEARLY_TARGET, name, nats=row["low"])
    if settings["prior"] != "adaptive" and row["keep_forward"] and _may_be_noise(row, classes, settings["epsilon"]):
        yield Remark(RemarkKind.MAYBE_NOISE, name, values=row["values"])
    if row["verdict"] == "keep" and feature.kind == FeatureKind.CATEGORIES and _may_name_groups(row):
        yield Remark(
            RemarkKind.POSSIBLE_IDENTIFIER, name, values=row["values"], rows_each=row["complete"] / row["values"]
        )
    told = settings["missing"] == "ignore" and not feature.kind.unknown
    if told and row["missing_p_above"] >= settings["level"]:
        yield Remark(RemarkKind.MISSING_TELLS, name, nats=row["missing_mi"])
    if row["rows_to_decide"]:
        yield Remark(RemarkKind.ROWS_TO_DECIDE, name, rows=row["rows_to_decide"])
    if row["at_epsilon"]:
        yield Remark(RemarkKind.AT_EPSILON, name)


def _may_name_groups(row: Record) -> bool:
    """Whether categories look like identifiers of groups: many values with a few rows each."""
    return bool(row["values"] >= _MANY and row["complete"] < _FEW_ROWS * row["values"])


def _may_be_noise(row: Record, classes: int, epsilon: float) -> bool:
    """Whether an independent column of this shape would show as much: (r - 1)(s - 1)/2N against epsilon and the mean.

    2N times the information of an independent sample follows a chi-square distribution with deviation sqrt(2 freedom).
    """
    freedom = (classes - 1) * (row["values"] - 1)
    noise = (freedom + 2.0 * math.sqrt(2.0 * freedom)) / (2.0 * max(row["complete"], 1))
    return bool(noise > epsilon and row["mi"] < 2.0 * noise)
