"""polars' LazyFrame: the query runs in its streaming engine, and its chunks are counted as they come.

The query selects only the columns that are counted, so that polars reads no others. Memory holds one batch (see
`sources.frames.gathered`) and what polars itself needs, whatever the number of rows. If this version of polars
cannot return chunks, the columns are collected first.
"""

from __future__ import annotations

from itertools import chain, islice
from typing import TYPE_CHECKING

from credimi.sources import frames as frames_engine

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from credimi.core.types import Foreign
    from credimi.counts.batch import Batch


def reads(data: object) -> bool:
    """Whether this is a LazyFrame; checked without importing polars."""
    return type(data).__module__.split(".")[0] == "polars" and type(data).__name__ == "LazyFrame"


def names(data: Foreign) -> list[str]:
    """The columns' names; nothing is computed for them."""
    return list(data.collect_schema().names())


def batches(data: Foreign, wanted: Sequence[str]) -> Iterator[Batch]:
    """The wanted columns, batch by batch."""
    from polars import selectors  # noqa: PLC0415  (a LazyFrame means that polars is installed)

    chosen = data.select(selectors.by_name(*wanted))  # a mere string may mean a pattern
    if hasattr(chosen, "collect_batches"):
        frames = iter(chosen.collect_batches(maintain_order=False))
    else:
        frames = iter([chosen.collect(engine="streaming")])
    first = list(islice(frames, 1))
    if first and frames_engine.has_unsupported_type(first[0]):
        yield from (frames_engine.column_by_column(frame, wanted) for frame in chain(first, frames))
        return
    chunks = (chunk for frame in chain(first, frames) for chunk in frames_engine.reader_of(frame))
    yield from frames_engine.gathered(chunks, wanted)
