"""DuckDB over Parquet files: it groups by target and feature, and only groups come back, to be counted with weights.

One query takes up to `_COLUMNS` features as grouping sets, ((target, a), (target, b), ...), in one pass over the rows;
GROUPING() tells the sets apart by the bits of one integer. A group travels once, however many rows it has, so cost is
that of the grouping: O(rows x features) in time, and the groups in memory, which DuckDB spills to disk.

CSV files go through `files`: DuckDB has other rules for quotes and empty fields, and engines must agree. So do files
with weights, which are checked row by row, and files whose columns differ in capitals only, which are one column to
DuckDB. DuckDB's own relations are streamed by `frames`: running a user's query again for every few columns may cost
more than all that grouping saves.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from credimi.core.errors import CredimiError, one_line
from credimi.core.optional import library
from credimi.counting.batch import Batch, counted, tally
from credimi.counting.engines import files
from credimi.counting.merge import beside, merged

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from credimi.core.types import ArrowStream, Foreign
    from credimi.counting.counts import Counts
    from credimi.counting.engines.data_file import DataFile
    from credimi.counting.request import Plan

_COLUMNS = (
    15  # more share a pass and cost more: of 200,000 rows x 50 columns, 60 took 1.7 s, 15 took 0.7 s, 1 took 1.9 s
)
_GROUPS = 1 << 16  # that come back at once


def tallies(
    given: Sequence[DataFile], plan: Plan, progress: Callable[[float], None], threads: int | None
) -> Iterator[tuple[Sequence[DataFile], Counts]]:
    """Each file and its counts: files may differ in their types, and DuckDB would want one for all."""
    duckdb = library("duckdb", "duckdb")
    with duckdb.connect(config={} if threads is None else {"threads": threads}) as connection:
        for done, file in enumerate(given, start=1):
            path = file.place
            plain = plan.features and plan.settings.weights is None
            if plain and isinstance(path, Path) and _is_text(path) and file.is_parquet and _apart(file.names):
                try:
                    counts = _count_file(connection, path, plan)
                except duckdb.Error as error:
                    raise CredimiError(f"DuckDB cannot count {path}: {one_line(error)}") from error
            else:
                counts = next(counts for _, counts in files.tallies([file], plan, lambda _: None, threads))
            yield [file], counts
            progress(done / len(given))


def _is_text(path: Path) -> bool:
    """Whether DuckDB can be told the name of a file: names may hold bytes that are no text."""
    return not any("\udc80" <= letter <= "\udcff" for letter in str(path))


def _apart(names: Sequence[str]) -> bool:
    """Whether names differ by more than their capitals."""
    return len({name.lower() for name in names}) == len(names)


def _count_file(connection: Foreign, path: Path, plan: Plan) -> Counts:
    blocks = []
    for start in range(0, len(plan.features), _COLUMNS):
        features = plan.features[start : start + _COLUMNS]
        groups = connection.sql(_query(path, plan.target, features))
        parts: dict[str, list[Counts]] = {name: [] for name in features}
        for chunk in _chunks(groups):
            for name, part in _counted_chunk(chunk, replace(plan, features=features)):
                parts[name].append(part)
        empty = counted([], plan)
        if not any(parts.values()):  # no rows
            return empty
        blocks += [_whole(merged(own)) for own in parts.values()]
    return beside(blocks, plan)


def _query(path: Path, target: str, features: Sequence[str]) -> str:
    """Columns get names that nobody else has: target, f0, f1, ..., which (the set), rows (of the group)."""
    fields = [f"f{index}" for index in range(len(features))]
    chosen = ", ".join(f"{_name(name)} as {field}" for name, field in zip(features, fields, strict=True))
    source = "'" + _literal(path).replace("'", "''") + "'"
    sets = ", ".join(f"(target, {field})" for field in fields)
    listed = ", ".join(fields)
    return (
        f"select target, {listed}, grouping({listed}) as which, count(*) as rows "  # noqa: S608  (names are quoted)
        f"from (select {_name(target)} as target, {chosen} from read_parquet({source}, hive_partitioning = false)) "
        f"group by grouping sets ({sets})"
    )


def _literal(path: Path) -> str:
    """A pattern that matches this file alone: to DuckDB every name is a pattern, and ~ at its start a home."""
    return re.sub(r"[*?[]", r"[\g<0>]", str(path.absolute()))


def _name(column: str) -> str:
    return '"' + column.replace('"', '""') + '"'


def _chunks(groups: ArrowStream) -> Iterator[pa.RecordBatch]:
    """Groups as Arrow, some at a time."""
    reader = pa.RecordBatchReader.from_stream(groups)
    for chunk in reader:
        for start in range(0, chunk.num_rows, _GROUPS):
            yield chunk.slice(start, _GROUPS)


def _counted_chunk(chunk: pa.RecordBatch, plan: Plan) -> Iterator[tuple[str, Counts]]:
    which = np.asarray(chunk.column("which")).astype(np.uint64)
    width = len(plan.features)
    every = (1 << width) - 1
    for index, name in enumerate(plan.features):
        own = np.flatnonzero(which == np.uint64(every ^ (1 << (width - 1 - index))))  # 0: grouped by this column
        if own.size:
            part = chunk.select(["target", f"f{index}", "rows"]).take(pa.array(own))
            weights = np.asarray(part.column("rows")).astype(np.float64)
            columns = {plan.target: part.column("target"), name: part.column(f"f{index}")}
            batch = Batch(columns, part.num_rows, weights=weights)
            yield name, tally(batch, replace(plan, features=(name,)), threads=1)


def _whole(counts: Counts | None) -> Counts:
    """Weights were numbers of rows: whole, and exact below 2^53."""
    if counts is None:
        raise CredimiError("DuckDB returned groups of some columns only: report it with the file's schema")
    return replace(counts, flat=np.rint(counts.flat).astype(np.int64), rows=round(counts.rows))
