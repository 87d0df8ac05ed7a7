"""`credimi rank` of a file, from its start to its end, beside readers that only read it: each a process of its own.

1,000,000 rows x 101 columns of texts of 4 to 10 letters, 2 to 60 distinct in a column, 5 % missing: 780 MB of CSV, and
the same as Parquet. All take turns, and the shortest run of each counts: the others were disturbed. CPU and memory are
those the system tells of the ended process (not on Windows). `times` is the wall time over that of polars.

    python benchmarks/reading.py                       as in docs/performance.md; needs polars
    python benchmarks/reading.py --rows 100000         a quick look
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

READERS = {
    "csv": {
        "polars.read_csv": "import polars; polars.read_csv({path!r})",
        "pyarrow.csv.read_csv": "import pyarrow.csv; pyarrow.csv.read_csv({path!r})",
    },
    "parquet": {
        "polars.read_parquet": "import polars; polars.read_parquet({path!r})",
        "pyarrow.parquet.read_table": "import pyarrow.parquet; pyarrow.parquet.read_table({path!r})",
    },
}


class Run(NamedTuple):
    """What one process took: seconds, seconds of its processors, megabytes."""

    wall: float
    cpu: float
    peak: float


def make(text: Path, parquet: Path, rows: int) -> None:
    """Write both files; seeded, so that every machine has the same."""
    import numpy as np  # noqa: PLC0415  (not needed by what is measured)
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.csv as pc  # noqa: PLC0415
    import pyarrow.parquet as pq  # noqa: PLC0415

    generator = np.random.default_rng(0)
    target = generator.integers(0, 3, rows)
    columns = {}
    for column in range(100):
        size = (2, 4, 8, 20, 60)[column % 5]
        lengths = generator.integers(2, 9, size)
        words = [f"{'abcdefgh'[code % 8]}wordword"[: lengths[code]] + f"{code:02d}" for code in range(size)]
        codes = generator.integers(0, size, rows)
        codes = np.where(generator.random(rows) < 0.03 * (column % 10), target % size, codes).astype(np.int8)
        array = pa.DictionaryArray.from_arrays(pa.array(codes, mask=generator.random(rows) < 0.05), words)
        columns[f"feature {column:03d}"] = array.cast(pa.string())
    classes = pa.DictionaryArray.from_arrays(pa.array(target.astype(np.int8)), ["no", "yes", "maybe"])
    table = pa.table(columns | {"target": classes.cast(pa.string())})
    pc.write_csv(table, text, pc.WriteOptions(quoting_style="none"))
    pq.write_table(table, parquet)


def measured(arguments: list[str]) -> Run:
    """One process, from its start to its end."""
    start = time.perf_counter()
    process = subprocess.Popen([sys.executable, *arguments], stdout=subprocess.DEVNULL)  # noqa: S603
    if not hasattr(os, "wait4"):
        code, cpu, peak = process.wait(), 0.0, 0.0
    else:
        _, status, usage = os.wait4(process.pid, 0)
        code = process.returncode = os.waitstatus_to_exitcode(status)
        cpu = usage.ru_utime + usage.ru_stime
        peak = usage.ru_maxrss / (1 << 10 if sys.platform == "linux" else 1 << 20)
    if code:
        raise SystemExit(f"{' '.join(arguments)} failed")
    return Run(time.perf_counter() - start, cpu, peak)


def main() -> None:
    """Print one line a process."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000, help="(default: %(default)s)")
    parser.add_argument("--repeats", type=int, default=7, help="(default: %(default)s)")
    options = parser.parse_args()
    print("| file | what | wall, s | CPU, s | peak, MB | times |\n|---|---|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as folder:
        paths = Path(folder) / "table.csv", Path(folder) / "table.parquet"
        # In a process of its own: what this one holds the system would count as the peak of those that it starts.
        maker = multiprocessing.get_context("spawn").Process(target=make, args=(*paths, options.rows))
        maker.start()
        maker.join()
        for path in paths:
            kind = path.suffix[1:]
            rank = ["-m", "credimi.cli", "rank", str(path), "--target", "target", "--format", "csv"]
            ways = {"credimi rank": rank}
            ways |= {name: ["-c", program.format(path=str(path))] for name, program in READERS[kind].items()}
            measured(rank)  # compiles
            runs: dict[str, list[Run]] = {name: [] for name in ways}
            for _ in range(options.repeats):
                for name, arguments in ways.items():
                    runs[name].append(measured(arguments))
            best = {name: Run(*map(min, zip(*own, strict=True))) for name, own in runs.items()}
            peer = best[f"polars.read_{kind}"].wall
            size = f"{kind}, {path.stat().st_size / 1e6:.0f} MB"
            for name, own in best.items():
                print(f"| {size} | {name} | {own.wall:.2f} | {own.cpu:.2f} | {own.peak:.0f} | {own.wall / peer:.2f} |")


if __name__ == "__main__":
    main()
