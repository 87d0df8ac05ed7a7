"""`ClusterPairs`: the pairs of a DataFrame of Spark or Dask; workers count the partitions, and the counts are added.

There are two passes. The first counts each column alone, as for a ranking, without a target; these counts say what each
column is and where its numbers are cut. In the second pass, the worker of each partition encodes its rows and counts
all pairs. Only the tables are sent, merged as a tree.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from credimi.core.errors import CredimiError
from credimi.counts.batch import encode_batch
from credimi.counts.rows.pair_tables import CountedPairs, PairCounter
from credimi.counts.rows.stratified_counts import interpreted_codes
from credimi.sources.count import cluster_of, one_class
from credimi.sources.interpreted_columns import (
    MAX_VALUES,
    request_without_target,
    split_comparable,
    with_ranges_for_rows,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from credimi.columns.feature import Feature
    from credimi.columns.labels import Labels
    from credimi.core.types import Foreign
    from credimi.counts.batch import Batch
    from credimi.counts.reading import Reading
    from credimi.counts.request import Plan

_MAX_CELLS = 1 << 27  # of all tables, 1 GB


@dataclass(frozen=True, slots=True, eq=False)
class ClusterPairs:
    """Like `InterpretedColumns`, with the tables of all pairs instead of codes."""

    features: tuple[Feature, ...]
    left_out: tuple[Feature, ...]
    rows: float
    flat: np.ndarray[tuple[int], np.dtype[np.float64]]

    @classmethod
    def of(cls, data: Foreign, reading: Reading, *, max_values: int = MAX_VALUES) -> ClusterPairs:
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
        counts = with_ranges_for_rows(counts, reading.discretize)
        comparable, left_out = split_comparable(counts, max_values, reading.threads)
        labels_of_column = dict(zip(counts.features, counts.labels, strict=True))
        names = tuple(feature.name for feature in comparable)
        pairs = CountedPairs([len(feature.values) for feature in comparable], np.zeros(0))
        if pairs.cells(0, len(comparable)) > _MAX_CELLS:
            raise CredimiError(
                f"the tables of all pairs of {len(comparable):,} columns are too many to be added up: name fewer "
                "columns (features), or collect the rows into a table in memory"
            )
        flat = np.zeros(pairs.cells(0, len(comparable)))
        if flat.size:
            work = CountPairs(
                replace(plan, features=names), comparable, tuple(labels_of_column[name] for name in names)
            )
            content = engine.reduce(data, list(names), work, added)
            flat = np.frombuffer(content) if content else flat
        progress(1.0)
        return cls(comparable, left_out, counts.rows, flat)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns that can be compared."""
        return tuple(feature.name for feature in self.features)

    def counter(self, _threads: int | None = None) -> CountedPairs:
        """The tables of all pairs."""
        return CountedPairs([len(feature.values) for feature in self.features], self.flat)


@dataclass(frozen=True, slots=True, eq=False)
class CountPairs:
    """What a worker does with a partition: its rows as codes, and the tables of all pairs, as bytes."""

    plan: Plan
    features: tuple[Feature, ...]
    labels: tuple[Labels, ...]

    def __call__(self, batches: Iterable[Batch]) -> bytes:
        """The tables of these rows."""
        return added(self._counted(batches))

    def _counted(self, batches: Iterable[Batch]) -> Iterator[bytes]:
        plan = self.plan
        for batch in batches:
            with_target = replace(batch, columns={plan.target: one_class(batch.rows), **batch.columns})
            coded = encode_batch(with_target, plan, threads=1)
            codes = [
                interpreted_codes(coded.columns[feature.name], coded.missing, counted_labels, feature)
                for feature, counted_labels in zip(self.features, self.labels, strict=True)
            ]
            yield (
                PairCounter(codes, [len(feature.values) for feature in self.features], threads=1)
                .tables()
                .flat.tobytes()
            )


def added(parts: Iterable[bytes]) -> bytes:
    """The sum of tables; nothing if there are none."""
    total = None
    for part in parts:
        if part:
            total = np.frombuffer(part) if total is None else total + np.frombuffer(part)
    return b"" if total is None else total.tobytes()
