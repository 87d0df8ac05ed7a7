"""`InterpretedCodes`: rows as interpreted codes, and the counts of all columns against target and stratum in one pass.

A stratum and a class make one composite class: with R = r + 1 classes, the last of which is "missing", row number
z R + i of a block counts class i of stratum z. So the blocks of the strata, (r + 1) x (s + 1) each with the missing
counts last, follow each other as in `Tables`, and the kernels that count a target count strata as well. Each stratum
has its own counts of missing targets and missing features.

**Rows whose stratum is missing are left out.** They say nothing about what a feature tells given the stratum. As a
separate stratum they would answer another question: a copy of the given column, with missing values in other rows,
would seem to add information, because it has values where the given column has none.

One pass reads all codes once, one byte per cell for columns of up to 255 values; blocks have (strata)(r + 1)(s + 1)
cells per column.

**Wide tables.** Columns of up to 255 values are the rows of one matrix of bytes. If there are many columns of few rows,
one call of a kernel counts many columns.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from credimi.core.errors import CredimiError
from credimi.core.tables import Tables
from credimi.core.threads import share
from credimi.counts import tabulate
from credimi.counts.rows.coded_table import MISSING, interpreted_by_code
from credimi.counts.rows.row_keys import evenly_chosen
from credimi.counts.rows.storage import Storage
from credimi.counts.survey_rows import scaled

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from credimi.columns.column import Column
    from credimi.columns.feature import Feature
    from credimi.columns.labels import Labels
    from credimi.columns.missing import MissingValues
    from credimi.core.types import FloatArray, IntegerArray, Record
    from credimi.counts.rows.coded_table import CodedTable

    Codes = NDArray[np.unsignedinteger]

_CELLS_WORTH_COMPILING = 2_000_000  # less than for a single pass, as several passes are made
_MAX_VALUES_IN_BYTE, _MAX_VALUES_IN_TWO_BYTES = 255, 65_535
_FEW_ROWS, _MANY_COLUMNS = 16_384, 1_000  # for such tables, calls of the other kernels would take most of the time
_COLUMNS_PER_CALL = 8_192


@dataclass(frozen=True, eq=False)
class InterpretedCodes:
    """Class and values of all rows as codes from 0 up; the code of a missing value follows the largest.

    `features` are the columns that `rank` would rank, and `codes` has the interpreted codes of each, row by row.
    """

    target: str
    classes: tuple[str, ...]
    groups: Codes
    features: tuple[Feature, ...]
    codes: tuple[Codes, ...]
    weights: FloatArray | None = None
    left_out: tuple[Feature, ...] = ()  # columns that are not ranked: identifiers, columns of one value
    bytes: NDArray[np.uint8] | None = None  # the same codes as one matrix, one row per column, if all fit into a byte
    storage: Storage = field(default_factory=Storage)  # where further arrays of the length of the table are stored
    is_survey: bool = False  # whether the weights are survey weights

    @classmethod
    def of(cls, table: CodedTable, threads: int | None = None) -> InterpretedCodes:
        """Interpret the codes of a table once, for many passes."""
        interpreted_classes = table.counts.interpreted_classes()
        features, left_out = split_by_ranked(table.counts.interpreted(classes=interpreted_classes))
        classes, groups = table.classes(interpreted_classes)
        fits_byte = max((len(feature.values) for feature in features), default=0) <= _MAX_VALUES_IN_BYTE
        matrix = np.empty((len(features), groups.size), dtype=np.uint8) if fits_byte else None
        codes: list[Codes] = [np.zeros(0, dtype=np.uint8)] * len(features) if matrix is None else list(matrix)
        missing, columns = table.coded.missing, table.coded.columns

        def work(indices: range) -> None:
            # Most columns have the same codes as the previous one.
            previous, interpreted_codes, is_identity = None, np.zeros(0, dtype=np.uint8), False
            for index in indices:
                feature = features[index]
                column = columns[feature.name]
                signed_codes = interpreted_by_code(column, missing, table.labels[feature.name], feature)
                if signed_codes is not previous:
                    previous, interpreted_codes = signed_codes, unsigned_codes(signed_codes, len(feature.values))
                    is_identity = np.array_equal(interpreted_codes, np.arange(interpreted_codes.size))
                if matrix is None:
                    codes[index] = np.take(interpreted_codes, column.codes, mode="clip")
                elif column.codes.dtype == np.uint8 and is_identity:
                    np.minimum(column.codes, np.uint8(interpreted_codes.size - 1), out=matrix[index])
                else:
                    np.take(interpreted_codes, column.codes, out=matrix[index], mode="clip")

        share(work, [range(start, min(start + 64, len(features))) for start in range(0, len(features), 64)], threads)
        class_codes, weights = unsigned_codes(groups, len(classes)), table.coded.weights
        columns_of_codes = features, tuple(codes), weights, left_out, matrix
        return cls(table.coded.target, classes, class_codes, *columns_of_codes, is_survey=table.is_survey)

    @cached_property
    def values(self) -> IntegerArray:
        """How many values each feature has."""
        return np.array([len(feature.values) for feature in self.features], dtype=np.int64)

    @cached_property
    def odds(self) -> FloatArray:
        """The prior odds of dependence of each feature."""
        return np.array([feature.odds for feature in self.features], dtype=np.float64)

    def sampled(self, max_rows: int = 65_536) -> InterpretedCodes:
        """A sample of at most `max_rows` rows, the same for every order of the rows; all rows if there are no more."""
        if self.groups.size <= max_rows:
            return self
        rows = evenly_chosen(self, max_rows)
        weights = None if self.weights is None else self.weights[rows]
        codes = tuple(column_codes[rows] for column_codes in self.codes)
        return replace(self, groups=self.groups[rows], codes=codes, weights=weights, bytes=None, storage=Storage())

    def stratified(
        self,
        strata: NDArray[np.integer],
        count: int,
        *,
        features: Sequence[int] | None = None,
        threads: int | None = None,
    ) -> tuple[Tables, IntegerArray]:
        """The tables of some features, or all, with `count` strata each, and where the tables of each feature start.

        `strata` has a number below `count` for each row; any other number means that the stratum is missing.
        """
        if strata.shape != self.groups.shape:
            raise CredimiError(f"there are {strata.size} strata for {self.groups.size} rows: give one a row")
        chosen = list(range(len(self.features)) if features is None else features)
        height = len(self.classes) + 1
        known = (strata >= 0) & (strata < count)
        dtype = _code_dtype(count * height)
        groups: Codes = np.where(known, strata, 0).astype(dtype) * dtype(height) + self.groups.astype(dtype)
        groups[~known] = count * height
        values = self.values[chosen]
        is_wide = groups.size < _FEW_ROWS and len(chosen) >= _MANY_COLUMNS
        if is_wide and self.weights is None and self.bytes is not None:
            flat = _count_wide(self.bytes, groups, (count * height, chosen, values), threads)
        else:
            flat = self._counted(groups, count * height, chosen, threads)
        rows, starts = np.full(count * len(chosen), len(self.classes)), np.arange(len(chosen) + 1) * count
        tables = Tables(flat, rows, np.repeat(values, count), self.odds[chosen])
        if self.is_survey and self.weights is not None:
            of_squares = replace(self, weights=self.weights**2)
            squares = of_squares._counted(groups, count * height, chosen, threads)  # noqa: SLF001  (of the same class)
            tables = scaled(tables, squares.astype(np.float64), starts)
        return tables, starts

    def _counted(self, groups: Codes, height: int, chosen: list[int], threads: int | None) -> NDArray[np.number]:
        """The counts of some columns with the groups below `height`."""
        codes, values = [self.codes[index] for index in chosen], [len(self.features[index].values) for index in chosen]
        cells = groups.size * len(codes)
        ready = cells >= tabulate.CELLS_WORTH_CALLING and tabulate.kernels_are_ready()
        compiled = ready or cells >= _CELLS_WORTH_COMPILING
        options: Record = {"weights": self.weights, "compiled": compiled, "threads": threads}
        counted = tabulate.cross_counts(groups, height + 1, codes, values, **options)
        return np.concatenate([np.zeros(0), *(block[:height].ravel() for block in counted)])


def split_by_ranked(features: Iterable[Feature]) -> tuple[tuple[Feature, ...], tuple[Feature, ...]]:
    """The columns that are ranked, and the others."""
    columns = tuple(features)
    return tuple(feature for feature in columns if feature.kind.ranked), tuple(
        feature for feature in columns if not feature.kind.ranked
    )


def _count_wide(
    matrix: NDArray[np.uint8],
    groups: Codes,
    selection: tuple[int, list[int], IntegerArray],
    threads: int | None,
) -> NDArray[np.number]:
    """The counts of many columns with the groups below a height.

    `selection` has this height, the indices of the columns, and their numbers of values.
    """
    from credimi.counts.rows import wide_counts  # noqa: PLC0415  (loads compiled code)

    height, chosen, values = selection
    known = groups < height
    known_groups = groups if known.all() else groups[known]
    matrix = matrix if known.all() else np.ascontiguousarray(matrix[:, known])
    offsets = np.concatenate([[0], np.cumsum(height * (values + 1))])
    flat, columns = np.zeros(offsets[-1], dtype=np.int64), np.array(chosen, dtype=np.int64)

    def work(part: slice) -> None:
        wide_counts.count_columns(matrix, known_groups, columns[part], values[part], offsets[:-1][part], flat)

    share(
        work, [slice(start, start + _COLUMNS_PER_CALL) for start in range(0, columns.size, _COLUMNS_PER_CALL)], threads
    )
    return flat.astype(np.float64)


def interpreted_codes(column: Column, missing: MissingValues, counted_labels: Labels, feature: Feature) -> Codes:
    """The interpreted code of each row of an encoded column; `counted_labels` are its labels in the counts."""
    interpreted_code_of = unsigned_codes(
        interpreted_by_code(column, missing, counted_labels, feature), len(feature.values)
    )
    row_codes: Codes = np.take(interpreted_code_of, column.codes, mode="clip")
    return row_codes


def unsigned_codes(codes: NDArray[np.integer], missing: int) -> Codes:
    """The codes in the smallest unsigned type; MISSING becomes `missing`, the number that follows the others."""
    result: Codes = np.where(codes == MISSING, missing, codes).astype(_code_dtype(missing))
    return result


def _code_dtype(largest: int) -> type[np.unsignedinteger]:
    return (
        np.uint8 if largest <= _MAX_VALUES_IN_BYTE else np.uint16 if largest <= _MAX_VALUES_IN_TWO_BYTES else np.uint32
    )
