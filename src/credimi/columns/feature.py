"""`Feature`: one column as it is ranked."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np

from credimi.columns import text_types
from credimi.columns.labels import MANY, NUMBER
from credimi.core.table import Table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from credimi.columns.labels import Labels
    from credimi.core.types import CountArray, Record

    Positions = NDArray[np.int64]

MISSING_VALUE = "(missing)"  # the name of the value, where missing is one


class FeatureKind(StrEnum):
    """What a column is, once all of its values were counted."""

    CATEGORIES = "categories"
    RANGES = "ranges"
    ONE_RANGE = "one_range"  # all numbers lie between two cuts
    CONSTANT = "constant"
    EMPTY = "empty"
    IDENTIFIER = "identifier"
    UNCOUNTABLE = "uncountable"

    @property
    def ranked(self) -> bool:
        """Whether it has several values, so that there is something to be computed."""
        return self in {FeatureKind.CATEGORIES, FeatureKind.RANGES}

    @property
    def unknown(self) -> bool:
        """Whether nothing is said of what it tells; the other kinds that are not ranked tell nothing."""
        return self in {FeatureKind.IDENTIFIER, FeatureKind.UNCOUNTABLE}


class CutBy(StrEnum):
    """How the cuts of a column of numbers were chosen."""

    MDL = "mdl"
    QUARTERS = "quarters"  # as no cut passes the MDL test
    QUANTILE = "quantile"
    GIVEN = "given"


class SuspicionKind(StrEnum):
    """What values may be that they are not taken for."""

    LEADING_ZEROS = text_types.LEADING_ZEROS  # these four are text that is cut as numbers if that is asked for
    DECIMAL_COMMAS = text_types.DECIMAL_COMMAS
    DATES = text_types.DATES
    NUMERALS = "numerals"
    DATE_NOTATION = "date_notation"  # these four are text that is not read as numbers or dates
    PERCENT_SIGNS = "percent_signs"
    CURRENCY_SIGNS = "currency_signs"
    THOUSANDS_SEPARATORS = "thousands_separators"
    STRAYS = "strays"  # a few texts among numbers
    MISSING_TEXTS = "missing_texts"
    MISSING_NUMBERS = "missing_numbers"
    MEASUREMENT = "measurement"  # of a target: very many numbers


@dataclass(frozen=True, slots=True)
class Suspicion:
    """What some values of a column may be; `values` are these, or an example of how they are written."""

    kind: SuspicionKind
    values: tuple[str, ...] = ()
    count: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Feature:
    """One column as it is ranked: its block, the values' names, its kind, and what its values may be instead.

    `labels` are those of the data, typed, and `places` says in which column of the block each of them is counted;
    `typed_as` says of each label as it was counted, which of them it has become. `odds` are what is left of even prior
    odds that it depends on the target, once its cuts were chosen for what they tell.
    """

    name: str
    block: CountArray
    values: tuple[str, ...]
    labels: Labels
    places: Positions
    typed_as: Positions
    kind: FeatureKind = FeatureKind.CATEGORIES
    cuts: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    cut_by: CutBy | None = None
    odds: float = 1.0
    suspicions: tuple[Suspicion, ...] = ()

    @property
    def table(self) -> Table:
        """The counts without those rows in which both are missing."""
        return Table.of_block(self.block)

    @property
    def shown_cuts(self) -> list[str]:
        """The cuts as text: six digits, or dates; one between two days belongs to the first."""
        if self.labels.instants:
            return [text_types.shown_date(np.floor(cut) if self.labels.integral else cut) for cut in self.cuts.tolist()]
        return [text_types.shown_number(float(f"{cut:.6g}")) for cut in self.cuts.tolist()]

    @property
    def useless(self) -> bool:
        """Whether a learner leaves the column out."""
        return not self.kind.ranked or self.cut_by == CutBy.QUARTERS

    @property
    def facts(self) -> Record:
        """What is known of the column, as plain data from which sentences are made."""
        constant, uncountable = self.kind == FeatureKind.CONSTANT, self.kind == FeatureKind.UNCOUNTABLE
        return {
            "kind": self.kind.value,
            "feature": self.name,
            "distinct": None if self.labels.kind == MANY else len(self.labels),
            "at_least": bool(self.labels.dropped_bits),
            "rows": self.block[:, :-1].sum().item(),
            "numbers": self.labels.kind == NUMBER,
            "value": self.values[0] if constant else None,
            "fault": self.labels.texts[0] if uncountable else None,
            "cut_by": self.cut_by and self.cut_by.value,
            "cuts": self.shown_cuts,
            "missing_is_value": self.missing_is_value,
            "suspicions": [{"kind": each.kind.value, "values": list(each.values)} for each in self.suspicions],
        }

    @property
    def complete(self) -> int | float:
        """Rows that have both."""
        found: int | float = self.block[:-1, :-1].sum().item()
        return found

    @property
    def missing(self) -> int | float:
        """Rows without the feature."""
        found: int | float = self.block[:, -1].sum().item()
        return found

    @property
    def missing_is_value(self) -> bool:
        """Whether the last of the values is that there is none."""
        return self.values[-1:] == (MISSING_VALUE,) and len(self.values) > len(np.unique(self.places))

    def indicator(self) -> CountArray:
        """The block of the target with whether this feature is missing, which itself is never missing: no, yes."""
        seen, gone = self.block[:, :-1].sum(axis=1), self.block[:, -1]
        return np.stack([seen, gone, np.zeros_like(gone)], axis=1)

    def with_missing_as_value(self) -> Feature:
        """The same column, missing being one more of its values; those that are not ranked stay what they are."""
        if self.missing == 0 or not self.values or self.kind.unknown:
            return self
        kind = FeatureKind.RANGES if self.cut_by else FeatureKind.CATEGORIES  # two values at least, now
        block = np.hstack([self.block, np.zeros_like(self.block[:, :1])])
        return replace(self, block=block, values=(*self.values, MISSING_VALUE), kind=kind)
