"""`SettledCodes`: rows as settled codes, and the counts of all columns against target and stratum in one pass.

A stratum and a class make one composite class: with R = r + 1 classes, the last of which is "missing", row number
z R + i of a block counts class i of stratum z. So the blocks of the strata, (r + 1) x (s + 1) each with the missing
counts last, follow each other as `Tables` have them, and the kernels that count a target count strata as well: what is
missing of target and feature is kept for each stratum.

**Rows whose stratum is missing are left out.** They say nothing of what a feature tells once the stratum is known. As a
stratum of their own they would answer another question: a copy of the given column, with missing values elsewhere,
would seem to add to it, because it speaks where the column is silent.

One pass reads all codes once, one byte a cell for columns of up to 255 values; blocks have (strata)(r + 1)(s + 1) cells
a column.

**Wide tables.** Columns of up to 255 values are the rows of one matrix of bytes. If there are many columns of few rows,
one call of a kernel counts all of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from credimi.core.errors import CredimiError
from credimi.core.tables import Tables
from credimi.core.threads import share
from credimi.counting import tabulate
from credimi.counting.rows.coded_table import MISSING, settled_places
from credimi.counting.rows.room import Room

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from credimi.columns.column import Column
    from credimi.columns.feature import Feature
    from credimi.columns.labels import Labels
    from credimi.columns.missing import MissingValues
    from credimi.core.types import FloatArray, IntegerArray, Record
    from credimi.counting.rows.coded_table import CodedTable

    Codes = NDArray[np.unsignedinteger]

_CELLS_WORTH_COMPILING = 2_000_000  # less than for one pass: several are made
_MOST_OF_A_BYTE, _MOST_OF_TWO = 255, 65_535
_FEW_ROWS, _MANY_COLUMNS = 16_384, 1_000  # for which the calls of the other kernels would cost most
_COLUMNS_A_CALL = 8_192


@dataclass(frozen=True, eq=False)
class SettledCodes:
    """Class and values of all rows, as numbers from 0 up; one more than the largest where they are missing.

    `features` are the columns that can tell something, as `rank` sees them, and `codes` their values, row by row.
    """

    target: str
    classes: tuple[str, ...]
    groups: Codes
    features: tuple[Feature, ...]
    codes: tuple[Codes, ...]
    weights: FloatArray | None = None
    left_out: tuple[Feature, ...] = ()  # columns that cannot tell anything: identifiers, those of one value
    bytes: NDArray[np.uint8] | None = None  # the same codes as one matrix, a row a column, if a byte is enough for all
    room: Room = field(default_factory=Room)  # where further arrays of all rows belong

    @classmethod
    def of(cls, table: CodedTable, threads: int | None = None) -> SettledCodes:
        """Settle the codes of a table once, for many passes."""
        settled = table.counts.settled_classes()
        features, left_out = told_apart(table.counts.settled(classes=settled))
        classes, groups = table.classes(settled)
        narrow = max((len(feature.values) for feature in features), default=0) <= _MOST_OF_A_BYTE
        matrix = np.empty((len(features), groups.size), dtype=np.uint8) if narrow else None
        found: list[Codes] = [np.zeros(0, dtype=np.uint8)] * len(features) if matrix is None else list(matrix)
        missing, columns = table.coded.missing, table.coded.columns

        def work(numbers: range) -> None:
            before, settled, as_they_are = None, np.zeros(0, dtype=np.uint8), False  # columns are mostly alike
            for number in numbers:
                feature = features[number]
                column = columns[feature.name]
                moved = settled_places(column, missing, table.labels[feature.name], feature)
                if moved is not before:
                    before, settled = moved, unsigned(moved, len(feature.values))
                    as_they_are = np.array_equal(settled, np.arange(settled.size))
                if matrix is None:
                    found[number] = np.take(settled, column.codes, mode="clip")
                elif column.codes.dtype == np.uint8 and as_they_are:
                    np.minimum(column.codes, np.uint8(settled.size - 1), out=matrix[number])
                else:
                    np.take(settled, column.codes, out=matrix[number], mode="clip")

        share(work, [range(start, min(start + 64, len(features))) for start in range(0, len(features), 64)], threads)
        known, weights = unsigned(groups, len(classes)), table.coded.weights
        return cls(table.coded.target, classes, known, features, tuple(found), weights, left_out, matrix)

    @cached_property
    def values(self) -> IntegerArray:
        """How many values each feature has."""
        return np.array([len(feature.values) for feature in self.features], dtype=np.int64)

    @cached_property
    def odds(self) -> FloatArray:
        """The prior odds of dependence of each feature."""
        return np.array([feature.odds for feature in self.features], dtype=np.float64)

    def sampled(self, most: int = 65_536) -> SettledCodes:
        """Some rows, at most so many, by chance and always the same; all rows if they are no more."""
        if self.groups.size <= most:
            return self
        rows = np.sort(np.random.default_rng(0).choice(self.groups.size, most, replace=False))
        weights = None if self.weights is None else self.weights[rows]
        codes = tuple(each[rows] for each in self.codes)
        return replace(self, groups=self.groups[rows], codes=codes, weights=weights, bytes=None, room=Room())

    def stratified(
        self,
        strata: NDArray[np.integer],
        count: int,
        *,
        features: Sequence[int] | None = None,
        threads: int | None = None,
    ) -> tuple[Tables, IntegerArray]:
        """The tables of some features, or all, `count` strata each, and where each feature's start.

        `strata` has of each row a number from 0 up to `count`, or another where its stratum is missing.
        """
        if strata.shape != self.groups.shape:
            raise CredimiError(f"there are {strata.size} strata for {self.groups.size} rows: give one a row")
        chosen = list(range(len(self.features)) if features is None else features)
        height = len(self.classes) + 1
        known = (strata >= 0) & (strata < count)
        kind = _kind(count * height)
        groups: Codes = np.where(known, strata, 0).astype(kind) * kind(height) + self.groups.astype(kind)
        groups[~known] = count * height
        values = self.values[chosen]
        many = groups.size < _FEW_ROWS and len(chosen) >= _MANY_COLUMNS
        if many and self.weights is None and self.bytes is not None:
            flat = _count_wide(self.bytes, groups, (count * height, chosen, values), threads)
        else:
            flat = self._counted(groups, count * height, chosen, threads)
        rows = np.full(count * len(chosen), len(self.classes))
        odds = self.odds[chosen]
        return Tables(flat, rows, np.repeat(values, count), odds), np.arange(len(chosen) + 1) * count

    def _counted(self, groups: Codes, height: int, chosen: list[int], threads: int | None) -> NDArray[np.number]:
        """The counts of some columns with the groups below `height`."""
        codes, values = [self.codes[each] for each in chosen], [len(self.features[each].values) for each in chosen]
        cells = groups.size * len(codes)
        ready = cells >= tabulate.CELLS_WORTH_CALLING and tabulate.kernels_are_ready()
        compiled = ready or cells >= _CELLS_WORTH_COMPILING
        how: Record = {"weights": self.weights, "compiled": compiled, "threads": threads}
        counted = tabulate.cross_counts(groups, height + 1, codes, values, **how)
        return np.concatenate([np.zeros(0), *(block[:height].ravel() for block in counted)])


def told_apart(features: Iterable[Feature]) -> tuple[tuple[Feature, ...], tuple[Feature, ...]]:
    """The columns that can tell something, and the others."""
    every = tuple(features)
    return tuple(each for each in every if each.kind.ranked), tuple(each for each in every if not each.kind.ranked)


def _count_wide(
    matrix: NDArray[np.uint8],
    groups: Codes,
    asked: tuple[int, list[int], IntegerArray],
    threads: int | None,
) -> NDArray[np.number]:
    """The counts of many columns with the groups below a height: which, and how many values they have."""
    from credimi.kernels import wide_counts  # noqa: PLC0415  (loads compiled code)

    height, chosen, values = asked
    known = groups < height
    rows = groups if known.all() else groups[known]
    matrix = matrix if known.all() else np.ascontiguousarray(matrix[:, known])
    offsets = np.concatenate([[0], np.cumsum(height * (values + 1))])
    flat, columns = np.zeros(offsets[-1], dtype=np.int64), np.array(chosen, dtype=np.int64)

    def work(part: slice) -> None:
        wide_counts.count_columns(matrix, rows, columns[part], values[part], offsets[:-1][part], flat)

    share(work, [slice(start, start + _COLUMNS_A_CALL) for start in range(0, columns.size, _COLUMNS_A_CALL)], threads)
    return flat.astype(np.float64)


def settled_codes(column: Column, missing: MissingValues, counted_labels: Labels, feature: Feature) -> Codes:
    """The value of a settled feature in each row of an encoded column, whose labels in the counts are known."""
    places = unsigned(settled_places(column, missing, counted_labels, feature), len(feature.values))
    found: Codes = np.take(places, column.codes, mode="clip")
    return found


def unsigned(codes: NDArray[np.integer], missing: int) -> Codes:
    """In the fewest bytes; MISSING becomes the number that follows the others."""
    found: Codes = np.where(codes == MISSING, missing, codes).astype(_kind(missing))
    return found


def _kind(largest: int) -> type[np.unsignedinteger]:
    return np.uint8 if largest <= _MOST_OF_A_BYTE else np.uint16 if largest <= _MOST_OF_TWO else np.uint32
