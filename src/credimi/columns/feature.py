"""`Feature`: one column as it is ranked."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np

from credimi.columns import text_types
from credimi.columns.labels import MANY, NUMBER
from credimi.core.public import stored
from credimi.core.table import Table
from credimi.core.tables import relabel

if TYPE_CHECKING:
    from credimi.columns.labels import Labels
    from credimi.columns.numbers.number_cells import AveragedCuts
    from credimi.core.types import CountArray, FloatArray, IntegerArray, Record

    Positions = IntegerArray

MISSING_VALUE = "(missing)"  # the name of the value if missing is treated as a value


@stored
class FeatureKind(StrEnum):
    """What a column is, decided when all of its values were counted."""

    CATEGORIES = "categories"
    RANGES = "ranges"
    ONE_RANGE = "one_range"  # all numbers lie between two cuts
    CONSTANT = "constant"
    EMPTY = "empty"
    IDENTIFIER = "identifier"
    UNCOUNTABLE = "uncountable"

    @property
    def ranked(self) -> bool:
        """Whether the column is ranked: it has several values."""
        return self in {FeatureKind.CATEGORIES, FeatureKind.RANGES}

    @property
    def unknown(self) -> bool:
        """Whether it is unknown what the column tells; the other kinds that are not ranked tell nothing."""
        return self in {FeatureKind.EMPTY, FeatureKind.IDENTIFIER, FeatureKind.UNCOUNTABLE}


@stored
class CutBy(StrEnum):
    """How the cuts of a column of numbers were chosen."""

    AVERAGE = "average"  # the most probable ones, or quarters, though all were averaged over
    MDL = "mdl"
    QUARTERS = "quarters"  # as no cut passes the MDL test
    QUANTILE = "quantile"
    GIVEN = "given"


@stored
class SuspicionKind(StrEnum):
    """What values may mean, other than what they are read as."""

    LEADING_ZEROS = text_types.LEADING_ZEROS  # these five are text that is cut as numbers if the user asks for it
    MANY_DIGITS = text_types.MANY_DIGITS
    DECIMAL_COMMAS = text_types.DECIMAL_COMMAS
    DATES = text_types.DATES
    NUMERALS = "numerals"
    DATE_NOTATION = "date_notation"  # these four are text that is not read as numbers or dates
    PERCENT_SIGNS = "percent_signs"
    CURRENCY_SIGNS = "currency_signs"
    THOUSANDS_SEPARATORS = "thousands_separators"
    STRAYS = "strays"  # a few texts in a column of numbers
    MISSING_TEXTS = "missing_texts"
    SPELLED_ALIKE = "spelled_alike"  # but for case, or for blanks at the ends
    MISSING_NUMBERS = "missing_numbers"
    CODES = "codes"  # numbers whose order may mean nothing
    MEASUREMENT = "measurement"  # of a target with very many numbers
    ROW_NAMES = "row_names"  # of a target with nearly as many texts as rows
    READ_AS = "read_as"  # these two say what was done: text that was read as numbers, and how it was written
    TAKEN_AS_MISSING = "taken_as_missing"


@dataclass(frozen=True, slots=True)
class Suspicion:
    """What some values of a column may mean; `values` are these values, or an example of how they are written."""

    kind: SuspicionKind
    values: tuple[str, ...] = ()
    count: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Feature:
    """One column as it is ranked: its block, the names of its values, its kind, and what its values may mean instead.

    `labels` are the labels of the data, typed. `places` has, for each of them, the column of the block in which it is
    counted. `typed_as` has, for each label as it was counted, the position of its typed label, or the number of these
    if it was taken as missing. `odds` are the prior
    odds of dependence: less than even odds if the cuts were chosen because of what they tell about the target.
    `squares` are the sums of squared weights, cell by cell like `block`, if the block counts survey weights.
    `averaged` is what is known of numbers of which no cut was chosen.
    """

    name: str
    block: CountArray
    values: tuple[str, ...]
    labels: Labels
    places: Positions
    typed_as: Positions
    kind: FeatureKind = FeatureKind.CATEGORIES
    cuts: FloatArray = field(default_factory=lambda: np.zeros(0))
    cut_by: CutBy | None = None
    odds: float = 1.0
    suspicions: tuple[Suspicion, ...] = ()
    squares: FloatArray | None = None
    averaged: AveragedCuts | None = None

    @property
    def table(self) -> Table:
        """The counts without the rows in which both are missing."""
        return Table.of_block(self.block)

    @property
    def counted_places(self) -> Positions:
        """The column of the block of each label as it was counted; the number of values if it was taken as missing."""
        return np.append(self.places, len(self.values))[self.typed_as]

    @property
    def shown_cuts(self) -> list[str]:
        """The cuts as text: six digits, or dates; a cut between two days is named after the first."""
        if self.labels.instants:
            return [text_types.shown_date(np.floor(cut) if self.labels.integral else cut) for cut in self.cuts.tolist()]
        return [text_types.shown_number(float(f"{cut:.6g}")) for cut in self.cuts.tolist()]

    @property
    def useless(self) -> bool:
        """Whether learners leave the column out."""
        if self.averaged is not None:
            return self.averaged.log_odds <= 0.0
        return not self.kind.ranked or self.cut_by == CutBy.QUARTERS

    @property
    def components(self) -> FloatArray | None:
        """The posterior of numbers that were averaged over all cuts, as `Tables.averaged` has it."""
        return None if self.averaged is None else self.averaged.components

    @property
    def facts(self) -> Record:
        """The facts about the column, as plain data for sentences."""
        probabilities = None if self.averaged is None else self.averaged.probabilities
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
            "p_cuts": None if probabilities is None else list(probabilities),
            "missing_is_value": self.missing_is_value,
            "suspicions": [
                {"kind": suspicion.kind.value, "values": list(suspicion.values)} for suspicion in self.suspicions
            ],
        }

    @property
    def complete(self) -> int | float:
        """Rows that have both target and feature."""
        rows: int | float = self.block[:-1, :-1].sum().item()
        return rows

    @property
    def missing(self) -> int | float:
        """Rows without the feature."""
        rows: int | float = self.block[:, -1].sum().item()
        return rows

    @property
    def missing_is_value(self) -> bool:
        """Whether the last of the values is "missing"."""
        return self.values[-1:] == (MISSING_VALUE,) and len(self.values) > len(np.unique(self.places))

    def with_squares(self, counted: FloatArray, classes: Positions) -> Feature:
        """The same column with the squares of its weights; `counted` has those of each label, as it was counted."""
        size = self.block.shape[0] - 1, self.block.shape[1] - 1
        return replace(self, squares=relabel(counted, classes, self.counted_places, size))

    def with_missing_as_value(self) -> Feature:
        """The same column with missing as one more value; columns that are not ranked stay the same."""
        if self.missing == 0 or not self.values or self.kind.unknown:
            return self
        kind = FeatureKind.RANGES if self.cut_by else FeatureKind.CATEGORIES  # there are at least two values now
        squares = None if self.squares is None else _with_value(self.squares)
        block = _with_value(self.block)
        values = (*self.values, MISSING_VALUE)
        return replace(self, block=block, squares=squares, values=values, kind=kind, averaged=None)


def _with_value(block: CountArray) -> CountArray:
    """The block with what is missing as its last value."""
    return np.hstack([block, np.zeros_like(block[:, :1])])


def indicator(block: CountArray) -> CountArray:
    """Counts of the target by missingness of the feature (present, missing), from a block of either."""
    seen, missing = block[:, :-1].sum(axis=1), block[:, -1]
    return np.stack([seen, missing, np.zeros_like(missing)], axis=1)


def target_indicator(block: CountArray) -> CountArray:
    """Counts of missingness of the target (present, missing) by the feature, as a block."""
    return np.stack([block[:-1].sum(axis=0), block[-1], np.zeros_like(block[-1])])
