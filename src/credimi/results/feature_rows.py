"""`FeatureRows`: what rankings and comparisons have in common: one row for each feature, access by name or index."""

from __future__ import annotations

import math
from numbers import Integral
from typing import TYPE_CHECKING, ClassVar, overload

from credimi.core.errors import CredimiError
from credimi.core.optional import frame_library

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import pyarrow as pa

    from credimi.core.types import Foreign, Record, Value


def finite(value: Value) -> Value:
    """A value as JSON has it: NaN as None, infinity as text."""
    if not isinstance(value, float) or math.isfinite(value):
        return value
    return None if math.isnan(value) else str(value)


class FeatureRows:
    """Columns of equal length; the column "feature" names the rows."""

    columns: dict[str, list[Value]]
    _names: Mapping[str, Value] = {}  # the names in the data, if they are not text
    _whole_numbers: ClassVar[tuple[str, ...]] = ()  # columns that may hold only None, which has no type
    _called: ClassVar[str] = "table"

    def __len__(self) -> int:
        return len(self.columns["feature"])

    def __iter__(self) -> Iterator[Record]:
        """The rows as dictionaries."""
        for row in zip(*self.columns.values(), strict=True):
            yield dict(zip(self.columns, row, strict=True))

    def __contains__(self, feature: object) -> bool:
        """Whether there is a feature of this name, as text or as the data have it; or such a row."""
        if isinstance(feature, dict):
            return any(row == feature for row in self)
        return feature in self.columns["feature"] or feature in self._names.values()

    @overload
    def __getitem__(self, feature: slice) -> list[Record]: ...

    @overload
    def __getitem__(self, feature: Value) -> Record: ...

    def __getitem__(self, feature: Value) -> Record | list[Record]:
        """The row of one feature: by its name in the data, by this name as text, or by its index, 0 for the first.

        If columns are named by numbers, as those of arrays are, a number is a name. A slice gives a list of rows.
        """
        rows = list(self)
        if isinstance(feature, slice):
            return rows[feature]
        for row in rows:
            if row["feature"] == str(feature) or self._names.get(row["feature"], row["feature"]) == feature:
                return row
        whole = isinstance(feature, Integral) and not isinstance(feature, bool)
        if whole and -len(rows) <= feature < len(rows):
            return rows[int(feature)]
        if whole:
            raise CredimiError(
                f"the {self._called} has no feature {feature}, and has {len(rows):,} rows, counted from 0"
            )
        raise CredimiError(f"the {self._called} has no feature {feature!r}")

    def _plain_rows(self) -> list[Record]:
        """The rows as JSON has them: NaN as None, infinity as text."""
        return [{name: finite(value) for name, value in row.items()} for row in self]

    def to_arrow(self) -> pa.Table:
        """A pyarrow Table."""
        import pyarrow as pa  # noqa: PLC0415  (pyarrow takes a while to load)

        typed = {name: pa.array(self.columns[name], pa.int64()) for name in self._whole_numbers}
        return pa.table(self.columns | typed)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def to_pandas(self) -> Foreign:
        """A pandas DataFrame."""
        frame_library("pandas")
        return self.to_arrow().to_pandas()

    def to_polars(self) -> Foreign:
        """A polars DataFrame."""
        return frame_library("polars").from_arrow(self.to_arrow())
