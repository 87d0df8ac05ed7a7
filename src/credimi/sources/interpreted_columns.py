"""`InterpretedColumns`: all columns of a table as interpreted codes, without a target.

Columns are interpreted as in `rank`: categories, ranges of numbers, identifiers. Without a target, numbers are cut into
ranges of about equal counts. Their number, from 3 to 10, is chosen so that a table of as many such columns as are
looked at `together` has `_ROWS_PER_CELL` rows per cell. Identifiers, and columns with one value, none, or more than
`max_values`, are left out.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from credimi.columns.reading_options import QUANTILES, ReadingOptions
from credimi.core.errors import CredimiError, NoRowsError
from credimi.core.threads import share
from credimi.counts.reading import Reading
from credimi.counts.request import CountRequest, NoTarget
from credimi.counts.rows.pair_tables import PairCounter
from credimi.counts.rows.stratified_counts import interpreted_codes
from credimi.sources.rows import coded_table

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from credimi.columns.feature import Feature
    from credimi.core.types import Data, FloatArray, Option, Record
    from credimi.counts.counts import Counts

    Codes = NDArray[np.unsignedinteger]

EQUAL_COUNTS = "equal"  # as many ranges of equal counts as the rows allow
_WITHOUT_TARGET = Reading(discretize=EQUAL_COUNTS)
MAX_VALUES = 1_000  # of a column: a table of two such columns has a million cells
_ROWS_PER_CELL = 20
_MIN_RANGES = 3
_ROOT_SLACK = 1e-9  # so that a root that is a whole number is not rounded down


@dataclass(frozen=True, slots=True, eq=False)
class InterpretedColumns:
    """The columns that can be compared, and their interpreted codes, row by row, from 0 up.

    The code of a missing value follows the largest. `left_out` are the other columns. `rows` is the number of rows, or
    the sum of their weights.
    """

    features: tuple[Feature, ...]
    codes: tuple[Codes, ...]
    left_out: tuple[Feature, ...]
    rows: float
    settings: ReadingOptions
    weights: FloatArray | None = None
    is_survey: bool = False

    @classmethod
    def of(
        cls,
        data: Data,
        reading: Reading = _WITHOUT_TARGET,
        *,
        max_values: int = MAX_VALUES,
        together: int = 2,
    ) -> InterpretedColumns:
        """The columns of what `credimi.count` accepts, if it fits into memory.

        `together` is how many columns share a table: two, or three if a pair is looked at given a third.

        Examples
        --------
        >>> table = InterpretedColumns.of({"x": ["a", "b", None], "y": [1, 2, 2], "one": [1, 1, 1]})
        >>> [feature.name for feature in table.features], [codes.tolist() for codes in table.codes]
        (['x', 'y'], [[0, 1, 2], [0, 1, 1]])
        >>> [feature.name for feature in table.left_out]
        ['one']
        """
        table, threads = coded_table(data, request_without_target(reading)), reading.threads
        counts = with_ranges_for_rows(table.counts, reading.discretize, together)
        table = replace(table, counts=counts)
        comparable, left_out = split_comparable(counts, max_values, threads)
        codes_of: dict[int, Codes] = {}

        def work(index: int) -> None:
            feature = comparable[index]
            column, labels = table.coded.columns[feature.name], table.labels[feature.name]
            codes_of[index] = interpreted_codes(column, table.coded.missing, labels, feature)

        share(work, range(len(comparable)), threads)
        codes = tuple(codes_of[index] for index in range(len(comparable)))
        return cls(comparable, codes, left_out, counts.rows, counts.settings, table.coded.weights, table.is_survey)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns that can be compared."""
        return tuple(feature.name for feature in self.features)

    @property
    def values(self) -> tuple[int, ...]:
        """The number of values of each of these columns."""
        return tuple(len(feature.values) for feature in self.features)

    def by_name(self) -> InterpretedColumns:
        """The same with the comparable columns in the order of their names, for what must not depend on their order."""
        order = sorted(range(len(self.features)), key=lambda column: self.features[column].name)
        features, codes = tuple(self.features[each] for each in order), tuple(self.codes[each] for each in order)
        return replace(self, features=features, codes=codes)

    def counter(self, threads: int | None = None) -> PairCounter:
        """The object that counts all pairs of the columns."""
        options: Record = {"weights": self.weights, "is_survey": self.is_survey, "threads": threads}
        return PairCounter(self.codes, self.values, **options)


def request_without_target(reading: Reading, *, progress: Callable[[float], None] | None = None) -> CountRequest:
    """The request for all columns, or some, without a target."""
    methods = _with_default(reading.discretize, "quantile")
    if "mdl" in (methods.values() if isinstance(methods, dict) else [methods]):
        raise CredimiError(
            "discretize='mdl' cuts numbers by what they tell about a target, and here is none: leave it out, or choose "
            "quantile, quantile:4, categories or cuts"
        )
    return CountRequest.of(NoTarget(), replace(reading, discretize=methods), progress=progress)


def _with_default(discretize: Option, default: str) -> Option:
    """How numbers become categories: as the user says, otherwise by the default."""
    if hasattr(discretize, "items"):
        return {"*": default} | {
            name: default if method == EQUAL_COUNTS else method for name, method in discretize.items()
        }
    return default if discretize == EQUAL_COUNTS else discretize


def with_ranges_for_rows(counts: Counts, discretize: Option, together: int = 2) -> Counts:
    """The same counts, with as many ranges as the number of rows allows, unless the user asks for other ranges."""
    if counts.rows == 0:
        raise NoRowsError("there are no rows: nothing can be said about the columns")
    affordable = int((counts.rows / _ROWS_PER_CELL) ** (1.0 / together) + _ROOT_SLACK)
    ranges = min(QUANTILES, max(_MIN_RANGES, affordable))
    methods = ReadingOptions.of((), _with_default(discretize, f"quantile:{ranges}")).discretize
    return replace(counts, settings=replace(counts.settings, discretize=methods))


def split_comparable(
    counts: Counts, max_values: int = MAX_VALUES, threads: int | None = None
) -> tuple[tuple[Feature, ...], tuple[Feature, ...]]:
    """The columns that can be compared, and the others."""
    features = counts.interpreted(1, threads=threads)
    comparable_names = {
        feature.name for feature in features if feature.kind.ranked and len(feature.values) <= max_values
    }
    comparable = tuple(feature for feature in features if feature.name in comparable_names)
    return comparable, tuple(feature for feature in features if feature.name not in comparable_names)
