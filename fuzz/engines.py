"""Engines: one table through files and frames, engines and threads; the counts are always those of a naive count."""

from __future__ import annotations

import csv
import datetime as dt
import shutil
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from credimi import count
from credimi.counts import tabulate
from credimi.sources.csv import csv_files
from credimi.sources.parquet import parquet_files
from fuzz.common import cells_of, counted, expect, expect_cells, patched, refusal, shorter, shown_number

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from random import Random

KINDS = {
    "text": (pa.string(), ("a", "b", "é", "x y", "two\nlines", 'say "x"', "a,b", "", "NA", "?", "A")),
    "whole": (pa.int64(), (0, 1, 2, -7, 300, 70_000, 2**53, 2**53 + 1, -(2**63))),
    "real": (pa.float64(), (0.5, 0.1, -2.5, 1e300, 3.0, -0.0, float("inf"))),
    "truth": (pa.bool_(), (True, False)),
    "single": (pa.float32(), (0.5, 1.25, -3.0)),
    "day": (pa.date32(), tuple(dt.date(year, 2, 28) for year in (1899, 1970, 2024))),
    "small": (pa.int8(), (0, 1, -128, 127)),
}
NAMES = ("f", "G", "g h", "é", "'q'", "x[1]", "target", "f0", "rows", "a.b", "which")
HERE = (
    "memory",
    "stream",
    "csv",
    "parquet",
    "two files",
    "mixed files",
    "duckdb file",
    "duckdb relation",
    "dask frame",
)
ELSEWHERE = ("dask files",)  # starts a cluster of threads
STORED: list[dict[str, Any]] = [
    {},
    {"data_page_version": "2.0"},
    {"compression": "zstd"},
    {"data_page_size": 20, "write_batch_size": 3},
]


def make(random: Random) -> dict[str, Any]:
    """Typed columns, and sizes of what is read at once."""
    rows = random.choice([1, 2, 7, 30, 90])
    names = ["class", *random.sample(NAMES, random.randint(1, 4))]
    kinds = [random.choice(["text", "whole", "truth"]), *(random.choice(list(KINDS)) for _ in names[1:])]
    columns = {}
    for name, kind in zip(names, kinds, strict=True):
        pool = random.choices(KINDS[kind][1], k=random.randint(1, 5))
        pool = [*pool, "words"] if kind == "text" else pool  # text that cannot be taken for something else
        gaps = random.choice([0.0, 0.2, 0.9])
        columns[name] = [None if random.random() < gaps else random.choice(pool) for _ in range(rows)]
    ways = [*HERE, *(ELSEWHERE if random.random() < 0.02 else ())]
    return {
        "kinds": dict(zip(names, kinds, strict=True)),
        "columns": columns,
        "ways": random.sample(ways, 3),
        "group": random.choice([1, 3, 10, 1000]),
        "part": random.choice([1, 16, 64, 1 << 20]),
        "cells": random.choice([1, 16, 1 << 20]),
        "block": random.choice([2, 3, 17]),
        "cut": random.random(),
        "compiled": random.random() < 0.5,
        "dictionaries": random.choice([1, 1 << 13]),  # rows of a group from which on its dictionaries are read
        "stored": random.choice(STORED),
        "threads": random.choice([1, 2]),
    }


def expected(case: dict[str, Any]) -> Any:  # noqa: ANN401
    """The cells of a naive count."""

    def named(value: Any, kind: str) -> str | None:  # noqa: ANN401
        if value is None or value in ("", "?", "NA"):
            return None
        if kind == "truth":
            return str(value).lower()
        return str(value) if kind in {"text", "day", "whole"} else shown_number(value)

    columns = {
        name: [named(value, case["kinds"][name]) for value in values] for name, values in case["columns"].items()
    }
    return counted(columns, "class")


def write_csv(table: Any, path: Path) -> Path:  # noqa: ANN401
    """The same rows as text."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(table.schema.names)
        writer.writerows(["" if each is None else each for each in row.values()] for row in table.to_pylist())
    return path


def write_parquet(table: Any, path: Path, case: dict[str, Any]) -> Path:  # noqa: ANN401
    """The same rows in groups of few."""
    pq.write_table(table, path, row_group_size=case["group"], **case["stored"])
    return path


def brought(way: str, table: Any, folder: Path, case: dict[str, Any]) -> tuple[Any, dict[str, Any]]:  # noqa: ANN401
    """The table as data for `count`, and what else to say."""
    cut = int(case["cut"] * (table.num_rows + 1))
    if way == "stream":
        return pa.RecordBatchReader.from_batches(table.schema, table.to_batches(case["group"])), {}
    if way == "csv":
        return write_csv(table, folder / "whole.csv"), {}
    if way in {"parquet", "duckdb file"}:
        return write_parquet(table, folder / "whole.parquet", case), {
            "engine": "duckdb"
        } if way == "duckdb file" else {}
    if way == "duckdb relation":
        import duckdb  # noqa: PLC0415

        connection = duckdb.connect()
        return connection.from_arrow(table), {}
    if way == "dask frame":
        import dask.dataframe  # noqa: PLC0415
        import pandas as pd  # noqa: PLC0415

        frame = table.to_pandas(types_mapper=pd.ArrowDtype)  # of truth values and None dask would make text
        return dask.dataframe.from_pandas(frame, npartitions=3, sort=False), {}
    if way in {"two files", "dask files"}:
        first = write_parquet(table[:cut], folder / "a.parquet", case)
        return [first, write_parquet(table[cut:], folder / "b.parquet", case)], (
            {"engine": "dask"} if way == "dask files" else {}
        )
    if way == "mixed files":
        return [write_csv(table[:cut], folder / "a.csv"), write_parquet(table[cut:], folder / "b.parquet", case)], {}
    return table, {}


def check(case: dict[str, Any], folder: Path) -> None:
    """Count in each way and compare."""
    import dask  # noqa: PLC0415

    engine_folder = folder / "engines"
    shutil.rmtree(engine_folder, ignore_errors=True)
    engine_folder.mkdir()
    table = pa.table({name: pa.array(case["columns"][name], KINDS[kind][0]) for name, kind in case["kinds"].items()})
    expected_cells = expected(case)
    min_cells = 0 if case["compiled"] else tabulate.CELLS_WORTH_COMPILING
    for way in case["ways"]:
        data, options = brought(way, table, engine_folder, case)
        if way not in {"duckdb relation", "dask frame", "dask files"}:
            options["threads"] = case["threads"]
        with (
            patched(csv_files, _PART=case["part"], _ROWS=2),
            patched(parquet_files, _CELLS=case["cells"], COLUMNS=case["block"], _GROUP=case["dictionaries"]),
            patched(tabulate, CELLS_WORTH_COMPILING=min_cells),
            dask.config.set(scheduler="synchronous") if way == "dask frame" else nullcontext(),
        ):
            counts, error = refusal(lambda data=data, options=options: count(data, "class", **options))
        expect(error is None, f"a proper table is counted: {way}", error)
        expect(counts.rows == table.num_rows, f"all rows are counted: {way}", counts.rows)
        expect_cells(cells_of(counts), expected_cells, f"the cells are those of a naive count: {way}")


def smaller(case: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """One way, fewer rows and columns."""
    if len(case["ways"]) > 1:
        for way in case["ways"]:
            yield case | {"ways": [way]}
    names = list(case["columns"])
    for rows in shorter(list(zip(*case["columns"].values(), strict=True))):
        if rows:
            shorter_columns = zip(*rows, strict=True)
            yield case | {"columns": {name: list(values) for name, values in zip(names, shorter_columns, strict=True)}}
    for name in names[1:] if len(names) > 2 else ():
        fewer_columns = {each: values for each, values in case["columns"].items() if each != name}
        yield case | {"columns": fewer_columns, "kinds": {each: case["kinds"][each] for each in fewer_columns}}
    for name, value in {
        "compiled": False,
        "threads": 1,
        "part": 1 << 20,
        "cells": 1 << 20,
        "block": 17,
        "group": 1000,
    }.items():
        if case[name] != value:
            yield case | {name: value}
