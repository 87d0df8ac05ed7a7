"""`SampledRows`: a few rows as codes, kept in memory beside their counts, for callers that need two columns at once.

Counts show each column only with the target. Whether two columns say the same can be seen only in rows, and a few
thousand rows are enough. They are rows of the first batch: all of them if there are no more than `_ALL_ROWS`, so that
their order decides nothing; otherwise one from each of as many equal stretches, at a place that is drawn once for all
tables, because rows at equal distances may be all alike. No file and no pickle stores them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from credimi.columns.encode import encode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from credimi.columns.column import Column
    from credimi.columns.labels import Labels
    from credimi.columns.missing import MissingValues
    from credimi.core.types import AnyArray, Foreign, IntegerArray
    from credimi.counts.batch import Batch, CodedBatch

_ALL_ROWS = 4096  # of smaller tables all rows are looked at: twice as many would take a quarter of the time of `rank`
_MAX_ROWS, _MAX_CELLS = 2048, 1 << 21
_MIN_ROWS = 128  # if a table is so wide that fewer rows fit, none are sampled


@dataclass(frozen=True, slots=True, eq=False)
class SampledRows:
    """Up to `most` of the `rows` of a batch. `columns` are to be called: most are never used, so some wait.

    `classes` are the target's labels in this batch, and `groups` the class of each row, `len(classes)` if it has none.
    """

    columns: Mapping[str, Callable[[], Column]]
    missing: MissingValues
    rows: int
    most: int
    classes: Labels
    groups: AnyArray

    @classmethod
    def of(cls, coded: CodedBatch, batch: Batch) -> SampledRows | None:
        """Some rows of a batch; None if the table is sparse, or too wide for enough rows."""
        most = min(_ALL_ROWS if coded.rows <= _ALL_ROWS else _MAX_ROWS, _MAX_CELLS // max(len(coded.features), 1))
        if most < _MIN_ROWS or any(column.at is not None for column in coded.columns.values()):
            return None
        rows = _chosen(coded.rows, most)
        columns: dict[str, Callable[[], Column]] = {
            name: partial(_same, replace(column, codes=column.codes[rows])) for name, column in coded.columns.items()
        }
        for name in coded.counted:  # without codes
            values: Foreign = batch.columns[name]
            some = values[rows] if isinstance(values, np.ndarray) else values.take(pa.array(rows))
            columns[name] = partial(encode, some, name, missing=coded.missing, raw=batch.raw, compiled=False)
        return cls(columns, coded.missing, coded.rows, most, coded.classes, coded.groups[rows])


@lru_cache(maxsize=8)  # blocks of columns, and batches, have about as many rows
def _chosen(rows: int, most: int) -> IntegerArray:
    """The numbers of so many of the rows, in order; of all rows if there are no more."""
    stretches = np.arange(min(rows, most))
    if rows <= most:
        return stretches
    return ((stretches + np.random.default_rng(0).random(most)) * (rows / most)).astype(np.int64)


def _same(column: Column) -> Column:
    return column


def beside(parts: Iterable[SampledRows | None]) -> SampledRows | None:
    """One sample with the columns of all parts; None if the parts may be of different rows."""
    samples = [part for part in parts if part is not None]
    if len({(part.rows, min(part.rows, part.most)) for part in samples}) != 1:
        return None
    return replace(samples[0], columns={name: each for part in samples for name, each in part.columns.items()})
