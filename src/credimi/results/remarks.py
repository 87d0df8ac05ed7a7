"""Remarks on a result: records with fields, made once; `results.remark_sentences` puts them into words."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from credimi.core.public import stored
from credimi.results import remark_sentences

if TYPE_CHECKING:
    from collections.abc import Sequence

    from credimi.core.types import Record


@stored
class RemarkKind(StrEnum):
    """The kinds of remarks; of equal weight, the first matters most."""

    TARGET_MEASURED = "target_measured"
    TARGET_IDENTIFIER = "target_identifier"
    TARGET_MISSING_CODES = "target_missing_codes"
    TARGET_SPELLED_ALIKE = "target_spelled_alike"
    EPSILON_ABOVE_ENTROPY = "epsilon_above_entropy"
    NEARLY_TARGET = "nearly_target"
    PARTS_OF_TARGET = "parts_of_target"
    MUCH_OF_TARGET = "much_of_target"
    ONLY_TOGETHER = "only_together"
    MAYBE_NOISE = "maybe_noise"
    NO_SPREAD = "no_spread"
    POSSIBLE_IDENTIFIER = "possible_identifier"
    MISSING_TELLS = "missing_tells"
    TARGET_MISSING_DEPENDS = "target_missing_depends"
    TIPS_EARLY = "tips_early"
    APPROXIMATE = "approximate"
    COPY = "copy"
    TIME = "time"
    MANY_CUTS = "many_cuts"
    TAKEN_AS_MISSING = "taken_as_missing"
    MAY_MEAN_MISSING = "may_mean_missing"
    MAY_BE_CODES = "may_be_codes"
    SPELLED_ALIKE = "spelled_alike"
    READABLE_TEXT = "readable_text"
    OTHER_NOTATION = "other_notation"
    READ_AS = "read_as"
    NOTHING_TOGETHER = "nothing_together"
    ROWS_TO_DECIDE = "rows_to_decide"
    AT_EPSILON = "at_epsilon"
    AVERAGED_OVER_CUTS = "averaged_over_cuts"
    CUT_INTO_RANGES = "cut_into_ranges"
    WEIGHTS_LARGE = "weights_large"
    WEIGHTS_TOO_LARGE = "weights_too_large"
    WEIGHTS_SCALED = "weights_scaled"

    @property
    def caution(self) -> bool:
        """Whether the ranking may mislead; the other kinds explain the ranking, or say what would decide."""
        return self not in {
            RemarkKind.READ_AS,
            RemarkKind.NOTHING_TOGETHER,
            RemarkKind.ROWS_TO_DECIDE,
            RemarkKind.AT_EPSILON,
            RemarkKind.AVERAGED_OVER_CUTS,
            RemarkKind.CUT_INTO_RANGES,
            RemarkKind.WEIGHTS_SCALED,
        }


@stored
@dataclass(frozen=True, slots=True)
class Remark:
    """One remark on a feature, on the target, or on the whole ranking; fields that do not apply are None or empty.

    `codes` are values as in the data, and `notation` is their kind; `values` is the number of different values, or
    classes. `stake` is how much information is in question, in nats: it says which cautions come first. `nats` is
    what it tells. `mi` and `mi_with_target` are what the feature tells by all rows, and by those that have the target.
    `other` is the name of a better feature that says the same. `factor` is the one at which the verdict falls.
    `least_rows` and `most_rows` are the numbers of rows that single tables are worth, or the quartiles of those needed.
    `share` is that of the target's entropy.
    """

    kind: RemarkKind
    feature: str | None = None
    target: str | None = None
    notation: StrEnum | None = None
    codes: tuple[str, ...] = ()
    values: int | None = None
    rows: int | None = None
    rows_each: float | None = None
    nats: float | None = None
    stake: float = 0.0
    mi: float | None = None
    mi_with_target: float | None = None
    other: str | None = None
    factor: float | None = None
    least_rows: int | None = None
    most_rows: int | None = None
    share: float | None = None

    @property
    def caution(self) -> bool:
        """Whether the ranking may mislead."""
        return self.kind.caution

    def to_dict(self, units: str = "nats") -> Record:
        """The record as plain data: kind, caution, feature and stake, and the other fields that apply.

        Information is in these units, and the field `nats` is named after them.
        """
        scale = math.log(2.0) if units == "bits" else 1.0

        def in_units(nats: float | None) -> float | None:
            return None if nats is None else nats / scale

        optional = {
            "target": self.target,
            "notation": self.notation and self.notation.value,
            "codes": list(self.codes) or None,
            "values": self.values,
            "rows": self.rows,
            "rows_each": self.rows_each,
            "least_rows": self.least_rows,
            "most_rows": self.most_rows,
            units: in_units(self.nats),
            "other": self.other,
            "factor": self.factor,
            "share": self.share,
            "mi": in_units(self.mi),
            "mi_with_target": in_units(self.mi_with_target),
        }
        present = {name: value for name, value in optional.items() if value is not None}
        always = {
            "kind": self.kind.value,
            "caution": self.caution,
            "feature": self.feature,
            "stake": in_units(self.stake),
        }
        return always | present


def approximate(feature: str, mi: float, epsilon: float, other: str | None = None) -> Remark:
    """P(independent) of a feature and the target, or of two columns, may be off."""
    return Remark(RemarkKind.APPROXIMATE, feature, other=other, stake=max(mi, epsilon))


def worded(
    remarks: Sequence[Remark], reader: str, units: str = "nats", *, of: str = remark_sentences.RANKING
) -> list[Record]:
    """The records as plain data, each with its sentence; `of` is what is remarked on, a ranking or a selection."""
    records = [remark.to_dict(units) for remark in remarks]
    return [record | {"text": remark_sentences.remark([record], reader, of)} for record in records]
