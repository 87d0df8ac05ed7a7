"""`SettledColumns`: all columns of a table as codes, each for itself, without a target.

Columns are what `rank` would call them: categories, ranges of numbers, identifiers. Without a target, numbers are cut
into ranges of about equal counts: as many, from 3 to 10, as leave `_ROWS_A_CELL` rows to each cell of a table of so
many such columns as are looked at `together`. Columns that name rows, or have one value or none, or more than
`most_values`, are left out.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from credimi.columns.reading_options import QUANTILES, ReadingOptions
from credimi.core.errors import CredimiError
from credimi.core.threads import share
from credimi.counting.request import CountRequest, NoTarget
from credimi.counting.rows.coded_table import CodedTable
from credimi.counting.rows.pair_tables import PairCounter
from credimi.counting.rows.stratified_counts import settled_codes

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from credimi.columns.feature import Feature
    from credimi.core.types import Data, FloatArray, Option
    from credimi.counting.counts import Counts

    Codes = NDArray[np.unsignedinteger]

EQUAL_COUNTS = "equal"  # as many ranges of equal counts as the rows allow
MOST_VALUES = 1_000  # of a column: a table of two such columns has a million cells
_ROWS_A_CELL = 20
_FEWEST_RANGES = 3
_ROUNDING = 1e-9  # of a root that is a whole number


@dataclass(frozen=True, slots=True, eq=False)
class SettledColumns:
    """The columns that can be compared, and their values, row by row, as numbers from 0 up.

    The number that follows the largest is that of a missing value. `left_out` are the other columns. `rows` is their
    number, or the sum of their weights.
    """

    features: tuple[Feature, ...]
    codes: tuple[Codes, ...]
    left_out: tuple[Feature, ...]
    rows: float
    weights: FloatArray | None = None

    @classmethod
    def of(
        cls,
        data: Data,
        *,
        columns: Option = None,
        discretize: Option = EQUAL_COUNTS,
        most_values: int = MOST_VALUES,
        together: int = 2,
        threads: int | None = None,
        **counting: Option,
    ) -> SettledColumns:
        """The columns of what `credimi.count` accepts, if it fits into memory; `columns` names some of them.

        `together` is how many columns share a table: two, or three if a pair is looked at given a third.

        Examples
        --------
        >>> table = SettledColumns.of({"x": ["a", "b", None], "y": [1, 2, 2], "one": [1, 1, 1]})
        >>> [feature.name for feature in table.features], [codes.tolist() for codes in table.codes]
        (['x', 'y'], [[0, 1, 2], [0, 1, 1]])
        >>> [feature.name for feature in table.left_out]
        ['one']
        """
        table = CodedTable.of(data, requested(columns=columns, discretize=discretize, threads=threads, **counting))
        own = settings_for(table.counts, discretize, together)
        table = replace(table, counts=own)
        kept, left_out = compared(own, most_values, threads)
        found: dict[int, Codes] = {}

        def work(number: int) -> None:
            feature = kept[number]
            column, labels = table.coded.columns[feature.name], table.labels[feature.name]
            found[number] = settled_codes(column, table.coded.missing, labels, feature)

        share(work, range(len(kept)), threads)
        codes = tuple(found[number] for number in range(len(kept)))
        return cls(kept, codes, left_out, own.rows, table.coded.weights)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns that can be compared."""
        return tuple(feature.name for feature in self.features)

    @property
    def values(self) -> tuple[int, ...]:
        """The number of values of each."""
        return tuple(len(feature.values) for feature in self.features)

    def counter(self, threads: int | None = None) -> PairCounter:
        """Counts all pairs of the columns."""
        return PairCounter(self.codes, self.values, weights=self.weights, threads=threads)


def requested(*, columns: Option = None, discretize: Option = EQUAL_COUNTS, **counting: Option) -> CountRequest:
    """The request for all columns, or some, without a target."""
    methods = _with_default(discretize, "quantile")
    if "mdl" in (methods.values() if isinstance(methods, dict) else [methods]):
        raise CredimiError(
            "discretize='mdl' cuts numbers by what they tell about a target, and here is none: leave it out, or choose "
            "quantile, quantile:4, categories or cuts"
        )
    return CountRequest.of(NoTarget(), features=columns, discretize=methods, **counting)


def _with_default(discretize: Option, default: str) -> Option:
    """How numbers become categories, where nothing else is asked for by the default."""
    if hasattr(discretize, "items"):
        return {"*": default} | {name: default if each == EQUAL_COUNTS else each for name, each in discretize.items()}
    return default if discretize == EQUAL_COUNTS else discretize


def settings_for(counts: Counts, discretize: Option, together: int = 2) -> Counts:
    """The same counts, with ranges as the number of rows allows them, where nothing else is asked for."""
    if counts.rows == 0:
        raise CredimiError("there are no rows: nothing can be said about the columns")
    many = int((counts.rows / _ROWS_A_CELL) ** (1.0 / together) + _ROUNDING)
    ranges = min(QUANTILES, max(_FEWEST_RANGES, many))
    asked = ReadingOptions.of((), _with_default(discretize, f"quantile:{ranges}")).discretize
    return replace(counts, settings=replace(counts.settings, discretize=asked))


def compared(
    counts: Counts, most_values: int = MOST_VALUES, threads: int | None = None
) -> tuple[tuple[Feature, ...], tuple[Feature, ...]]:
    """The columns that can be compared, and the others."""
    features = counts.settled(1, threads=threads)
    able = {each.name for each in features if each.kind.ranked and len(each.values) <= most_values}
    kept = tuple(each for each in features if each.name in able)
    return kept, tuple(each for each in features if each.name not in able)
