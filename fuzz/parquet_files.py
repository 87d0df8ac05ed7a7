"""Parquet files of several writers, whole and with changed bytes: the counts are pyarrow's, or the file is refused."""

from __future__ import annotations

import datetime as dt
import re
from contextlib import suppress
from decimal import Decimal
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from credimi import count
from credimi.counts import tabulate
from credimi.sources.parquet import parquet_files
from fuzz.common import cells_of, expect, expect_cells, patched, refusal, shorter

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from random import Random

TEXTS = ("a", "b", "é", "日本", "", "NA", "1", "x" * 40, "true", " y")
POOLS: dict[str, tuple[pa.DataType, tuple[Any, ...]]] = {
    "text": (pa.string(), TEXTS),
    "long text": (pa.large_string(), TEXTS),
    "texts": (pa.string(), tuple(f"text {number}" for number in range(300))),
    "category": (pa.dictionary(pa.int32(), pa.string()), TEXTS),
    "whole": (pa.int64(), (0, 1, 2, -7, 300, 70_000)),
    "small": (pa.int8(), (0, 1, -128, 127)),
    "real": (pa.float64(), (0.5, 0.1, -2.5, 1e300)),
    "truth": (pa.bool_(), (True, False)),
    "day": (pa.date32(), tuple(dt.date(year, 2, 28) for year in (1899, 1970, 2024))),
    "decimal": (pa.decimal128(9, 2), (Decimal("1.25"), Decimal("-3.50"))),
}
FEW = ("text", "text", "text", "long text", "truth")  # kinds of a target
PACKED = {
    "pyarrow": ("none", "snappy", "gzip", "zstd", "brotli", "lz4"),
    "polars": ("uncompressed", "snappy", "gzip", "zstd", "brotli", "lz4"),
    "duckdb": ("uncompressed", "snappy", "gzip", "zstd", "brotli", "lz4_raw"),
    "fastparquet": ("UNCOMPRESSED", "SNAPPY", "GZIP", "ZSTD"),
}
ENCODINGS = ("PLAIN", "DELTA_BYTE_ARRAY", "DELTA_LENGTH_BYTE_ARRAY")  # of text without a dictionary
MAX_CHANGES = 5
DAMAGED_FILES = 12  # of one file that was written
UNNAMED = re.compile(r"there is no column|two columns are called")  # a name was changed: the footer says nothing else
FOOTER = 8  # bytes after the footer: its length and a mark


@cache
def writers() -> tuple[str, ...]:
    """The writers that are installed."""
    found = []
    for name in PACKED:
        with suppress(ImportError):
            import_module(name)
            found.append(name)
    return tuple(found)


def make(random: Random) -> dict[str, Any]:
    """A table, how it is written, and which bytes are changed."""
    rows = random.choice([0, 1, 2, 8, 9, 30, 120, 600])
    names = ["class", *"fghi"[: random.randint(1, 4)]]
    kinds = {name: random.choice(FEW if name == "class" or random.random() < 0.5 else list(POOLS)) for name in names}
    writer = random.choice(writers())
    return {
        "kinds": kinds,
        "columns": {name: values_of(kind, rows, random) for name, kind in kinds.items()},
        "nested": writer == "pyarrow" and random.random() < 0.1,
        "writer": writer,
        "packed": random.choice(PACKED[writer]),
        "group": random.choice([3, 40, 1000]),
        "page": random.choice([20, 100, 1 << 20]),
        "version": random.choice([1, 2]),
        "dictionary": random.choice([0, 100, 1 << 20, 1 << 20]),  # bytes of it
        "encoding": random.choice(ENCODINGS),
        "checksums": random.random() < 0.2,
        "changes": [changes(random) for _ in range(DAMAGED_FILES)],
        "compiled": random.random() < 0.8,
        "cells": random.choice([1, 16, 1 << 20]),
        "block": random.choice([2, 3, 17]),
        "threads": random.choice([1, 2]),
    }


def values_of(kind: str, rows: int, random: Random) -> list[Any]:
    """Values of one kind, in runs or mixed; missing are none, some, all, or the first and the last."""
    pool = random.choices(POOLS[kind][1], k=random.choice([1, 2, 5, 300]))
    run, gaps = random.choice([1, 1, 9, 100]), random.choice([0.0, 0.0, 0.2, 0.9, 1.0])
    values: list[Any] = []
    while len(values) < rows:
        values += [None if random.random() < gaps else random.choice(pool)] * run
    ends = random.choice([0, 0, 1, 10])
    return [None if row < ends or row >= rows - ends else value for row, value in enumerate(values[:rows])]


def changes(random: Random) -> list[tuple[str, float, str, int]]:
    """Where some bytes are changed, and how."""
    return [
        (random.choice(["file", "pages", "footer"]), random.random(), random.choice(["set", "bit", "add"]), number)
        for number in (random.choice([random.randrange(256), 1, 255]) for _ in range(random.randint(1, MAX_CHANGES)))
    ]


def damaged(content: bytes, changed: list[tuple[str, float, str, int]]) -> bytes:
    """The file with these bytes changed."""
    letters = bytearray(content)
    footer = max(4, len(content) - FOOTER - int.from_bytes(content[-FOOTER:-4], "little"))
    parts = {"file": (0, len(content)), "pages": (4, footer), "footer": (footer, len(content) - 4)}
    for part, place, how, number in changed:
        first, stop = parts[part]
        at = min(first + int(place * (stop - first)), len(content) - 1)
        new = {"set": number, "bit": letters[at] ^ (1 << number % 8), "add": letters[at] + number}[how]
        letters[at] = new % 256
    return bytes(letters)


def table_of(case: dict[str, Any]) -> pa.Table:
    """The rows; a column without missing values is required by its schema, if the writer keeps that."""
    columns = {name: pa.array(case["columns"][name], POOLS[kind][0]) for name, kind in case["kinds"].items()}
    fields = [pa.field(name, column.type, nullable=bool(column.null_count)) for name, column in columns.items()]
    table = pa.table(list(columns.values()), pa.schema(fields))
    return table.append_column("list", pa.array([["a"]] * table.num_rows)) if case["nested"] else table


def write(case: dict[str, Any], path: Path) -> None:
    """One file, by the writer of the case."""
    table, writer, packed = table_of(case), case["writer"], case["packed"]
    if writer == "pyarrow":
        encoded = {} if case["dictionary"] else {"column_encoding": {}, "use_dictionary": False}
        if not case["dictionary"]:
            kinds = {name: case["encoding"] for name, kind in case["kinds"].items() if "text" in kind}
            encoded["column_encoding"] = kinds or None
        pq.write_table(
            table,
            path,
            row_group_size=case["group"],
            compression=packed,
            data_page_version=f"{case['version']}.0",
            data_page_size=case["page"],
            write_batch_size=max(1, case["page"] // 10),
            dictionary_pagesize_limit=max(1, case["dictionary"]),
            write_page_checksum=case["checksums"],
            **encoded,
        )
    elif writer == "polars":
        import polars as pl  # noqa: PLC0415

        sizes = {"row_group_size": case["group"], "data_page_size": case["page"]}
        pl.from_arrow(table).write_parquet(path, compression=packed, **sizes)
    elif writer == "duckdb":
        import duckdb  # noqa: PLC0415

        options = (
            f"format parquet, codec '{packed}', parquet_version 'v{case['version']}', row_group_size {case['group']}"
        )
        with duckdb.connect() as connection:
            connection.register("written", table)
            connection.sql(f"copy (from written) to '{path}' ({options})")
    else:
        import fastparquet  # noqa: PLC0415

        frame = table.to_pandas()
        for name, kind in case["kinds"].items():
            if kind in {"text", "long text", "texts"}:
                frame[name] = frame[name].astype("object")
            elif kind in {"day", "decimal"}:
                frame[name] = frame[name].astype("datetime64[ms]" if kind == "day" else "float64")
        fastparquet.write(str(path), frame, compression=packed, row_group_offsets=case["group"])


def counts_of(data: Any, **options: Any) -> Any:  # noqa: ANN401
    """The counts of a file or a table, or a refusal."""
    return refusal(lambda: count(data, "class", **options))


def read_by_pyarrow(path: Path) -> pa.Table | None:
    """What pyarrow reads; None if it refuses the file."""
    try:
        with pq.ParquetFile(path) as file:
            return file.read()
    except (pa.ArrowException, OSError, ValueError, MemoryError):
        return None


def check(case: dict[str, Any], folder: Path) -> None:
    """Count the file, then the same file with changed bytes."""
    path = folder / "table.parquet"
    write(case, path)
    content = path.read_bytes()
    for changed in [[], *case["changes"]]:
        path.write_bytes(damaged(content, changed))
        with (
            patched(parquet_files, _CELLS=case["cells"], COLUMNS=case["block"], _GROUP=1),
            patched(tabulate, CELLS_WORTH_COMPILING=0 if case["compiled"] else tabulate.CELLS_WORTH_COMPILING),
        ):
            found, error = counts_of(path, threads=case["threads"])
        expect(bool(changed) or error is None, "a whole file is counted", error)
        if error is not None:
            named = str(path) in str(error) or UNNAMED.match(str(error))
            expect(bool(named) and "\n" not in str(error), "a refusal is one line that names the file", error)
            continue
        table = read_by_pyarrow(path)
        expect(table is not None, "what pyarrow refuses is refused", (changed, found))
        expected, error = counts_of(table)
        expect(error is None, "what cannot be counted is refused", (changed, error))
        expect(found.rows == expected.rows, "all rows are counted", (changed, found.rows, expected.rows))
        expect_cells(cells_of(found), cells_of(expected), "the cells are those that pyarrow reads")


def smaller(case: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """One damaged file, fewer changes, rows and columns."""
    fewer_changes = [[changed] for changed in case["changes"]]
    if len(case["changes"]) == 1:
        fewer_changes = [[fewer] for fewer in shorter(case["changes"][0]) if fewer] + [[]]
    yield from (case | {"changes": fewer} for fewer in fewer_changes)
    names = list(case["columns"])
    for rows in shorter(list(zip(*case["columns"].values(), strict=True))):
        if rows:
            columns = zip(*rows, strict=True)
            yield case | {"columns": {name: list(values) for name, values in zip(names, columns, strict=True)}}
    for name in names[1:] if len(names) > 2 else ():
        fewer_columns = {each: values for each, values in case["columns"].items() if each != name}
        yield case | {"columns": fewer_columns, "kinds": {each: case["kinds"][each] for each in fewer_columns}}
    plain = {"threads": 1, "cells": 1 << 20, "block": 17, "group": 1000, "nested": False, "checksums": False}
    for name, value in plain.items():
        if case[name] != value:
            yield case | {name: value}
