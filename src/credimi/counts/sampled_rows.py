"""`SampledRows`: a few rows as codes, kept in memory beside their counts, for callers that need two columns at once.

Counts show each column only with the target. Whether two columns say the same can be seen only in rows, and a few
thousand rows are enough. They are rows of the first batch, one from each of as many equal stretches, at a place
that is drawn once for all tables: rows at equal distances may be all alike, if the data repeat themselves. No file and
no pickle stores them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from credimi.columns.column import Column
    from credimi.columns.missing import MissingValues
    from credimi.core.types import IntegerArray
    from credimi.counts.batch import CodedBatch

_MAX_ROWS, _MAX_CELLS = 2048, 1 << 21
_MIN_ROWS = 128  # if a table is so wide that fewer rows fit, none are sampled


@dataclass(frozen=True, slots=True, eq=False)
class SampledRows:
    """Codes of some rows, and their labels; `batch` is the number of rows of the batch from which they were taken."""

    columns: Mapping[str, Column]
    missing: MissingValues
    batch: int

    @classmethod
    def of(
        cls, coded: CodedBatch, take: Callable[[Iterable[str], IntegerArray], dict[str, Callable[[], Column]]]
    ) -> SampledRows | None:
        """Some rows of a batch; None if the table is sparse, or too wide for enough rows.

        `take` copies these rows of columns that are not encoded in the batch; it returns functions that encode them.
        """
        count = min(_MAX_ROWS, _MAX_CELLS // max(len(coded.features), 1))
        if count < _MIN_ROWS or any(column.at is not None for column in coded.columns.values()):
            return None
        rows = _chosen(coded.rows, count)
        columns = {name: replace(column, codes=column.codes[rows]) for name, column in coded.columns.items()}
        encoders = take(coded.counted, rows)
        return cls(_LazyColumns(columns, encoders) if encoders else columns, coded.missing, coded.rows)


@lru_cache(maxsize=8)  # blocks of columns, and batches, have about as many rows
def _chosen(rows: int, count: int) -> IntegerArray:
    """The numbers of `count` of the rows, in order; of all rows if there are no more."""
    stretches = np.arange(min(rows, count))
    if rows <= count:
        return stretches
    places = np.random.default_rng(0).random(count)  # drawn once, the same for all blocks of columns
    return ((stretches + places) * (rows / count)).astype(np.int64)


class _LazyColumns(Mapping[str, "Column"]):
    """Columns by name; some are encoded on first use, as most are never used."""

    def __init__(self, columns: dict[str, Column], encoders: dict[str, Callable[[], Column]]) -> None:
        self._columns, self._encoders = columns, encoders

    def __getitem__(self, name: str) -> Column:
        if name not in self._columns:
            self._columns[name] = self._encoders[name]()
        return self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys([*self._columns, *self._encoders]))

    def __len__(self) -> int:
        return len(self._columns.keys() | self._encoders.keys())


def beside(parts: Iterable[SampledRows | None]) -> SampledRows | None:
    """One sample with the columns of all parts; None if the parts may be of different rows."""
    samples = [part for part in parts if part is not None]
    if not samples or len({part.batch for part in samples}) > 1:
        return None
    columns = {name: column for part in samples for name, column in part.columns.items()}
    lengths = {column.codes.size for column in columns.values()}
    return replace(samples[0], columns=columns) if len(lengths) == 1 else None
