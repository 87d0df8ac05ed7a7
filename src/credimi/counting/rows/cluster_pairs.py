"""`ClusterPairs`: the pairs of a DataFrame of Spark or Dask, whose partitions count, and whose counts are added.

Two passes. The first counts each column alone, as for a ranking, without a target; from these counts it is known what
each column is and where its numbers are cut. In the second every partition has its rows as codes, and counts all pairs:
only the tables travel, merged as a tree.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from credimi.core.errors import CredimiError
from credimi.counting.batch import encode_batch
from credimi.counting.count import cluster_of, one_class
from credimi.counting.rows.pair_tables import CountedPairs, PairCounter
from credimi.counting.rows.settled_columns import EQUAL_COUNTS, MOST_VALUES, compared, requested, settings_for
from credimi.counting.rows.stratified_counts import settled_codes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from credimi.columns.feature import Feature
    from credimi.columns.labels import Labels
    from credimi.core.types import Foreign, Option
    from credimi.counting.batch import Batch
    from credimi.counting.request import Plan

_MOST_CELLS = 1 << 27  # of all tables, 1 GB


@dataclass(frozen=True, slots=True, eq=False)
class ClusterPairs:
    """As `SettledColumns`, with the tables of all pairs instead of codes."""

    features: tuple[Feature, ...]
    left_out: tuple[Feature, ...]
    rows: float
    flat: np.ndarray[tuple[int], np.dtype[np.float64]]

    @classmethod
    def of(
        cls,
        data: Foreign,
        *,
        columns: Option = None,
        discretize: Option = EQUAL_COUNTS,
        most_values: int = MOST_VALUES,
        threads: int | None = None,
        progress: Callable[[float], None] = lambda _share: None,
        **counting: Option,
    ) -> ClusterPairs:
        """The pairs of a DataFrame whose rows are elsewhere."""
        engine = cluster_of(data)
        if engine is None:
            raise CredimiError(f"a {type(data).__name__} is no DataFrame of Spark or Dask: pass it to pairs as it is")
        if counting.pop("weights", None) is not None:
            raise CredimiError(
                f"pairs of a {type(data).__name__} have no weights: repeat its rows, or collect them into a table"
            )
        request = requested(columns=columns, discretize=discretize, threads=threads, **counting)
        plan = request.plan(engine.names(data))
        wider = engine.with_constant(data, plan.target, plan.features)
        counts = engine.count(wider, plan, lambda share: progress(0.5 * share))
        counts = settings_for(counts, discretize)
        kept, left_out = compared(counts, most_values, threads)
        own = dict(zip(counts.features, counts.labels, strict=True))
        names = tuple(feature.name for feature in kept)
        pairs = CountedPairs([len(feature.values) for feature in kept], np.zeros(0))
        if pairs.cells(0, len(kept)) > _MOST_CELLS:
            raise CredimiError(
                f"the tables of all pairs of {len(kept):,} columns are too many to be added up: name fewer columns "
                "(columns), or collect the rows into a table in memory"
            )
        flat = np.zeros(pairs.cells(0, len(kept)))
        if flat.size:
            work = CountPairs(replace(plan, features=names), kept, tuple(own[name] for name in names))
            content = engine.reduce(data, list(names), work, added)
            flat = np.frombuffer(content) if content else flat
        progress(1.0)
        return cls(kept, left_out, counts.rows, flat)

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
            whole = replace(batch, columns={plan.target: one_class(batch.rows), **batch.columns})
            coded = encode_batch(whole, plan, threads=1)
            codes = [
                settled_codes(coded.columns[feature.name], coded.missing, own, feature)
                for feature, own in zip(self.features, self.labels, strict=True)
            ]
            yield PairCounter(codes, [len(each.values) for each in self.features], threads=1).tables().flat.tobytes()


def added(parts: Iterable[bytes]) -> bytes:
    """The sum of tables; nothing if there are none."""
    total = None
    for part in parts:
        if part:
            total = np.frombuffer(part) if total is None else total + np.frombuffer(part)
    return b"" if total is None else total.tobytes()
