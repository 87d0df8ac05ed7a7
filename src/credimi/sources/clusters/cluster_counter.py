"""`ClusterCounter`: counts a DataFrame of Spark or Dask; workers count the partitions, and the counts are added.

There are two passes. The first counts each column alone, as for a ranking, without a target; these counts make the
codebook: what each column is, and where its numbers are cut. In the second pass, the worker of each partition encodes
its rows and counts all pairs. Only the tables are sent, merged as a tree.

So far it counts pairs. What asks for strata, nodes or rows fetches the codes (`sources.codes`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from credimi.core.errors import CredimiError
from credimi.counts.batch import encode_batch
from credimi.counts.local_counter import LocalCounter
from credimi.counts.rows.pair_tables import CountedPairs
from credimi.sources.codes import MAX_VALUES, comparable, request_without_target
from credimi.sources.count import cluster_of, one_class

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from credimi.core.types import FloatArray, Foreign
    from credimi.counts.batch import Batch
    from credimi.counts.codes import Codebook
    from credimi.counts.reading import Reading
    from credimi.counts.request import Plan

_MAX_CELLS = 1 << 27  # of all tables, 1 GB


@dataclass(frozen=True, slots=True, eq=False)
class ClusterCounter:
    """The part of a `Counter` that clusters have: the tables of all pairs, added up already."""

    book: Codebook
    rows: float
    flat: FloatArray

    @classmethod
    def of(cls, data: Foreign, reading: Reading, *, max_values: int = MAX_VALUES) -> ClusterCounter:
        """The pairs of a DataFrame whose rows are elsewhere."""
        engine = cluster_of(data)
        if engine is None:
            raise CredimiError(f"a {type(data).__name__} is no DataFrame of Spark or Dask: pass it to pairs as it is")
        if reading.weights is not None:
            raise CredimiError(
                f"pairs of a {type(data).__name__} have no weights: repeat its rows, or collect them into a table"
            )
        if reading.weights_are is not None:
            raise CredimiError("weights_are is given, but there are no weights: leave it out")
        progress = reading.step("reading")
        request = request_without_target(reading, progress=progress)
        plan = request.plan(engine.names(data))
        with_target = engine.with_constant(data, plan.target, plan.features)
        counts = engine.count(with_target, plan, lambda share: progress(0.5 * share))
        book = comparable(counts, reading.discretize, max_values, threads=reading.threads)
        pairs = CountedPairs(book.sizes, np.zeros(0))
        if pairs.cells(0, len(book.features)) > _MAX_CELLS:
            raise CredimiError(
                f"the tables of all pairs of {len(book.features):,} columns are too many to be added up: name fewer "
                "columns (features), or collect the rows into a table in memory"
            )
        flat = np.zeros(pairs.cells(0, len(book.features)))
        if flat.size:
            work = CountPairs(replace(plan, features=book.names), book)
            content = engine.reduce(data, list(book.names), work, added)
            flat = np.frombuffer(content) if content else flat
        progress(1.0)
        return cls(book, counts.rows, flat)

    def by_pair(self) -> CountedPairs:
        """The tables of every two columns."""
        return CountedPairs(self.book.sizes, self.flat)


@dataclass(frozen=True, slots=True, eq=False)
class CountPairs:
    """What a worker does with a partition: its rows as codes, and the tables of all pairs, as bytes."""

    plan: Plan
    book: Codebook

    def __call__(self, batches: Iterable[Batch]) -> bytes:
        """The tables of these rows."""
        return added(self._counted(batches))

    def _counted(self, batches: Iterable[Batch]) -> Iterator[bytes]:
        for batch in batches:
            with_target = replace(batch, columns={self.plan.target: one_class(batch.rows), **batch.columns})
            codes = self.book.codes(encode_batch(with_target, self.plan, threads=1), threads=1)
            yield LocalCounter(codes, threads=1).by_pair().tables().flat.tobytes()


def added(parts: Iterable[bytes]) -> bytes:
    """The sum of tables; nothing if there are none."""
    total = None
    for part in parts:
        if part:
            total = np.frombuffer(part) if total is None else total + np.frombuffer(part)
    return b"" if total is None else total.tobytes()
