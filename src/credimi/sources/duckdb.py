"""DuckDB over Parquet files: it groups by target and feature, and returns only groups, which are counted with weights.

One query takes up to `_COLUMNS` features as grouping sets, ((target, a), (target, b), ...), in one pass over the rows;
GROUPING() says by the bits of one integer to which set a group belongs. A group is returned once, however many rows it
has. So the cost is that of grouping: O(rows x features) in time, and the groups in memory, which DuckDB spills to disk.

`files` counts CSV files: DuckDB has other rules for quotes and empty fields, and engines must agree. It also counts
files with weights, which are checked row by row, and files in which names of columns differ only in capitals, which
are one column to DuckDB. `frames` reads DuckDB's own relations as streams: running a user's query again for every few
columns may cost more than grouping saves.
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
from credimi.counts.batch import Batch, counted, tally
from credimi.counts.counts import merged
from credimi.counts.merge import beside
from credimi.sources import files

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from credimi.core.types import ArrowStream, Foreign
    from credimi.counts.counts import Counts
    from credimi.counts.request import Plan
    from credimi.sources.data_file import DataFile

_COLUMNS = (
    15  # more share a pass and cost more: of 200,000 rows x 50 columns, 60 took 1.7 s, 15 took 0.7 s, 1 took 1.9 s
)
_GROUPS_PER_BATCH = 1 << 16  # that are counted at once


def tallies(
    given: Sequence[DataFile], plan: Plan, progress: Callable[[float], None], threads: int | None
) -> Iterator[tuple[Sequence[DataFile], Counts]]:
    """Each file and its counts; one query per file, as types may differ between files, which DuckDB does not allow."""
    duckdb = library("duckdb", "duckdb")
    with duckdb.connect(config={} if threads is None else {"threads": threads}) as connection:
        for done, file in enumerate(given, start=1):
            path = file.place
            plain = plan.features and plan.settings.weights is None
            if (
                plain
                and isinstance(path, Path)
                and _is_text(path)
                and file.kind == "Parquet"
                and _differ_in_lower_case(file.names)
            ):
                try:
                    counts = _count_file(connection, path, plan)
                except duckdb.Error as error:
                    raise CredimiError(f"DuckDB cannot count {path}: {one_line(error)}") from error
            else:
                counts = next(counts for _, counts in files.tallies([file], plan, lambda _: None, threads))
            yield [file], counts
            progress(done / len(given))


def _is_text(path: Path) -> bool:
    """Whether the name of a file is text, as DuckDB needs it: names may contain bytes that are no text."""
    return not any("\udc80" <= letter <= "\udcff" for letter in str(path))


def _differ_in_lower_case(names: Sequence[str]) -> bool:
    """Whether all names are different even without capitals."""
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
        blocks += [_whole(merged(column_parts)) for column_parts in parts.values()]
    return beside(blocks, plan)


def _query(path: Path, target: str, features: Sequence[str]) -> str:
    """The query; its columns are target, f0, f1, ..., which (the grouping set) and rows (of the group)."""
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
    """A pattern that matches only this file: DuckDB reads every name as a pattern, and a ~ at its start as a home."""
    return re.sub(r"[*?[]", r"[\g<0>]", str(path.absolute()))


def _name(column: str) -> str:
    return '"' + column.replace('"', '""') + '"'


def _chunks(groups: ArrowStream) -> Iterator[pa.RecordBatch]:
    """The groups as Arrow batches of limited size."""
    reader = pa.RecordBatchReader.from_stream(groups)
    for chunk in reader:
        for start in range(0, chunk.num_rows, _GROUPS_PER_BATCH):
            yield chunk.slice(start, _GROUPS_PER_BATCH)


def _counted_chunk(chunk: pa.RecordBatch, plan: Plan) -> Iterator[tuple[str, Counts]]:
    grouping = np.asarray(chunk.column("which")).astype(np.uint64)
    width = len(plan.features)
    all_bits = (1 << width) - 1
    for index, name in enumerate(plan.features):
        # A bit is 0 if the group is by that column.
        rows_of_set = np.flatnonzero(grouping == np.uint64(all_bits ^ (1 << (width - 1 - index))))
        if rows_of_set.size:
            part = chunk.select(["target", f"f{index}", "rows"]).take(pa.array(rows_of_set))
            weights = np.asarray(part.column("rows")).astype(np.float64)
            columns = {plan.target: part.column("target"), name: part.column(f"f{index}")}
            batch = Batch(columns, part.num_rows, weights=weights)
            yield name, tally(batch, replace(plan, features=(name,)), threads=1)


def _whole(counts: Counts | None) -> Counts:
    """The counts as whole numbers: the weights were numbers of rows, which are exact below 2^53."""
    if counts is None:
        raise CredimiError("DuckDB returned groups of some columns only: report it with the file's schema")
    return replace(counts, flat=np.rint(counts.flat).astype(np.int64), rows=round(counts.rows))
