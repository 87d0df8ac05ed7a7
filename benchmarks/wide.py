"""`credimi rank` of tables with many more columns than rows, as genomics has them, from the command's start to its end.

5 % of the cells are missing, the target has two classes. CPU is that of all threads, Python's start included.

    python benchmarks/wide.py                              as docs/performance.md wants it
    python benchmarks/wide.py --rows 100 --columns 500     a quick look
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

KINDS = ("six decimals", "0 to 999", "0 or 1")


def make(rows: int, columns: int, kind: str) -> pa.Table:
    """The table; seeded, so that every machine has the same."""
    generator = np.random.default_rng(1)
    data = {"class": pa.array(np.array(["case", "control"])[generator.integers(0, 2, rows)])}
    for index in range(columns):
        if kind == "six decimals":
            values = np.round(generator.normal(size=rows), 6)
        else:
            values = generator.integers(0, 1000 if kind == "0 to 999" else 2, rows)
        data[f"g{index}"] = pa.array(values, mask=generator.random(rows) < 0.05)
    return pa.table(data)


def measured(path: Path) -> tuple[float, float]:
    """Wall and CPU time of the command, in seconds."""
    start, before = time.perf_counter(), os.times()
    command = [sys.executable, "-m", "credimi.cli", "rank", str(path), "--target", "class", "--format", "json"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)  # noqa: S603  (our own)
    after = os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return time.perf_counter() - start, cpu


def main() -> None:
    """Print one line a kind of column and format."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=300)
    parser.add_argument("--columns", type=int, default=20_000)
    parser.add_argument("--repeats", type=int, default=3, help="the shortest counts")
    options = parser.parse_args()
    print("| columns | file | size, MB | wall, s | CPU, s |")
    print("|---|---|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as folder:
        for kind in KINDS:
            table = make(options.rows, options.columns, kind)
            pa.csv.write_csv(table, Path(folder, "wide.csv"))
            pa.parquet.write_table(table, Path(folder, "wide.parquet"))
            for name, path in (("CSV", Path(folder, "wide.csv")), ("Parquet", Path(folder, "wide.parquet"))):
                wall, cpu = min(measured(path) for _ in range(options.repeats))
                print(f"| {kind} | {name} | {path.stat().st_size / 1e6:.0f} | {wall:.1f} | {cpu:.1f} |")


if __name__ == "__main__":
    main()
