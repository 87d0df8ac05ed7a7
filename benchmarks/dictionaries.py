"""`credimi.rank` of Parquet files with and without reading pages of text itself, which pyarrow could read as well.

The table of `reading.py`, as several writers store it; then with a target of 0 and 1, and with a number in each tenth
column. Both ways take turns in one process, on one thread; the shortest time of the process counts, which other work on
the machine disturbs least. `times` is the time without over the time with.

    python benchmarks/dictionaries.py                  as in docs/performance.md; needs polars and duckdb
    python benchmarks/dictionaries.py --rows 50000     a quick look
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING
from unittest.mock import patch

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from reading import make

import credimi
from credimi.sources.parquet.parquet_codes import TextColumns

if TYPE_CHECKING:
    from collections.abc import Iterator


def files(folder: Path, rows: int) -> Iterator[tuple[str, Path]]:
    """The table in several files."""
    path = folder / "pyarrow.parquet"
    make(folder / "table.csv", path, rows)
    yield "pyarrow", path
    table = pq.read_table(path)
    pl.from_arrow(table).write_parquet(folder / "polars.parquet")
    yield "polars", folder / "polars.parquet"
    with duckdb.connect() as connection:
        connection.register("written", table)
        connection.sql(f"copy (from written) to '{folder / 'duckdb.parquet'}' (format parquet)")
    yield "DuckDB", folder / "duckdb.parquet"
    pq.write_table(table, folder / "second.parquet", data_page_version="2.0", compression="zstd")
    yield "pyarrow, pages of the second version, zstd", folder / "second.parquet"
    generator = np.random.default_rng(1)
    target = pa.array(generator.integers(0, 2, rows))
    pq.write_table(table.set_column(100, "target", target), folder / "target.parquet")
    yield "pyarrow, the target 0 or 1", folder / "target.parquet"
    for column in range(0, 100, 10):
        table = table.set_column(column, f"number {column}", pa.array(generator.normal(size=rows).round(2)))
    pq.write_table(table, folder / "numbers.parquet")
    yield "pyarrow, numbers in a tenth of the columns", folder / "numbers.parquet"


def seconds(path: Path) -> float:
    """The processor time of one ranking."""
    start = time.process_time()
    credimi.rank(path, "target", threads=1)
    return time.process_time() - start


def main() -> None:
    """Print one line a file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=400_000, help="(default: %(default)s)")
    parser.add_argument("--repeats", type=int, default=5, help="(default: %(default)s)")
    options = parser.parse_args()
    print("| file | with, s | without, s | times |\n|---|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as folder:
        for name, path in files(Path(folder), options.rows):
            seconds(path)  # compiles
            with_it, without = [], []
            for _ in range(options.repeats):
                with_it.append(seconds(path))
                with patch.object(TextColumns, "readable", lambda *_: []):
                    without.append(seconds(path))
            first, other = min(with_it), min(without)
            print(f"| {name} | {first:.2f} | {other:.2f} | {other / first:.1f} |", flush=True)


if __name__ == "__main__":
    main()
