"""Counting Parquet files: this process, DuckDB, polars, Dask and Spark, each in a process of its own.

Data: a tall table (5,000,000 rows x 50 columns: text, whole numbers, doubles of few values, truth values; 10 % null;
20 files) and a wide one (100,000 x 2,000). One run, one machine: read the ratios. `reading` only decodes, with
dictionaries; `Spark start` only starts a session and runs a job of no work in its Python workers, which is part of all
that Spark does here.

CPU and memory are those the system tells of the ended process. Of what that started (Java, the workers of Spark) it
does not always tell: on Linux /proc is looked at every tenth of a second, too, and the larger figure is printed. Memory
is the largest sum over all processes, what they share divided among them. Executors of a cluster are not in it.

    python benchmarks/engines.py                                          as docs/scale.md wants it
    python benchmarks/engines.py --rows 100000 --wide-rows 2000           a quick look
    python benchmarks/engines.py --rows 20000000 --only files --no-wide   how memory grows with rows
    python benchmarks/engines.py --master spark://host:7077 --only "Spark start" "spark DataFrame" "Spark unpivot"
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

TARGET = "target"
FILES = 20
MASTER = "ENGINES_SPARK_MASTER"  # how the measured processes are told of it


def make(folder: Path, rows: int, columns: int, files: int) -> None:
    """Write the table; seeded, so that every machine has the same."""
    import numpy as np  # noqa: PLC0415  (the measured processes start lean)
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.parquet as pq  # noqa: PLC0415

    words = np.array([f"value {index}" for index in range(40)])
    for number in range(files):
        generator = np.random.default_rng(number)
        size = rows // files
        data = {TARGET: pa.array(np.array(["no", "yes", "maybe"])[generator.integers(0, 3, size)])}
        for index in range(columns - 1):
            codes = generator.integers(0, (2, 5, 10, 40)[index % 4], size)
            values = (words[codes], codes, codes / 4.0, codes % 2 == 0)[index // 4 % 4]
            data[f"column {index}"] = pa.array(values, mask=generator.random(size) < 0.1)
        pq.write_table(pa.table(data), folder / f"{number:03}.parquet")


def reading(folder: Path) -> None:
    """Decode all cells, text as dictionaries, and forget them."""
    import pyarrow.parquet as pq  # noqa: PLC0415

    for path in sorted(folder.iterdir()):
        texts = [field.name for field in pq.read_schema(path) if str(field.type) == "string"]
        with pq.ParquetFile(path, read_dictionary=texts, memory_map=True) as file:
            for _ in file.iter_batches(batch_size=max(1, (1 << 24) // len(file.schema_arrow))):
                pass


def ours(folder: Path, engine: str) -> None:
    """Counts by one of our engines."""
    import credimi  # noqa: PLC0415

    credimi.count(folder, TARGET, engine=engine)


def command(folder: Path) -> None:
    """Counts by the command, whose process has another pool for Arrow's memory (`credimi.cli.command`)."""
    from credimi.cli import command  # noqa: PLC0415

    with tempfile.TemporaryDirectory() as temporary:
        into = str(Path(temporary, "all.counts"))
        sys.argv = ["credimi", "count", str(folder), "--target", TARGET, "--into", into]
        command()


def duckdb_relation(folder: Path) -> None:
    """Counts of a relation, whose rows come as an Arrow stream."""
    import duckdb  # noqa: PLC0415

    import credimi  # noqa: PLC0415

    credimi.count(duckdb.sql(f"select * from read_parquet('{folder}/*.parquet')"), TARGET)  # noqa: S608


def duckdb_group_by(folder: Path) -> None:
    """One GROUP BY a column."""
    import duckdb  # noqa: PLC0415

    source = f"read_parquet('{folder}/*.parquet')"
    names = [row[0] for row in duckdb.sql(f"describe select * from {source}").fetchall()]  # noqa: S608
    for name in names:
        if name != TARGET:
            duckdb.sql(f'select {TARGET}, "{name}", count(*) from {source} group by all').fetchall()  # noqa: S608


def polars_group_by(folder: Path) -> None:
    """One group_by a column, all of them collected together, streaming."""
    import polars as pl  # noqa: PLC0415

    frame = pl.scan_parquet(folder)
    names = [name for name in frame.collect_schema().names() if name != TARGET]
    pl.collect_all([frame.group_by(TARGET, name).len() for name in names], engine="streaming")


def session() -> Any:  # noqa: ANN401
    """A session of Spark, as it comes but for its noise, of the master that was asked for."""
    from pyspark.sql import SparkSession  # noqa: PLC0415

    quiet = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.log.level": "ERROR"}
    return SparkSession.builder.master(os.environ[MASTER]).config(map=quiet).getOrCreate()


def spark_start(_: Path) -> None:
    """Rows through a Python worker, and no work."""
    session().range(0, 2, 1, 2).mapInArrow(lambda batches: batches, "id long").collect()


def spark_frame(folder: Path) -> None:
    """Counts of a DataFrame, ours."""
    import credimi  # noqa: PLC0415

    credimi.count(session().read.parquet(str(folder)), TARGET)


def spark_files(folder: Path) -> None:
    """Counts of files, ours; Spark is the scheduler."""
    session()
    ours(folder, "spark")


def spark_unpivot(folder: Path) -> None:
    """What Spark has of its own: one row a cell, grouped."""
    from pyspark.sql import functions  # noqa: PLC0415

    frame = session().read.parquet(str(folder))
    names = [name for name in frame.columns if name != TARGET]
    text = frame.select(TARGET, *(functions.col(name).cast("string").alias(name) for name in names))
    text.unpivot([TARGET], names, "variable", "value").groupBy(TARGET, "variable", "value").count().collect()


CONTENDERS = {
    "reading": (reading, None),
    "files": (lambda folder: ours(folder, "files"), None),
    "the command": (command, None),
    "duckdb": (lambda folder: ours(folder, "duckdb"), "duckdb"),
    "duckdb relation": (duckdb_relation, "duckdb"),
    "dask": (lambda folder: ours(folder, "dask"), "distributed"),
    "DuckDB GROUP BY": (duckdb_group_by, "duckdb"),
    "polars group_by": (polars_group_by, "polars"),
    "Spark start": (spark_start, "pyspark"),
    "spark DataFrame": (spark_frame, "pyspark"),
    "spark files": (spark_files, "pyspark"),
    "Spark unpivot": (spark_unpivot, "pyspark"),
}


class Tree:
    """What a process and all that it started take, looked at again and again; nothing where there is no /proc."""

    def __init__(self, root: int) -> None:
        self.root = root
        self.bytes = 0
        self._ticks: dict[int, int] = {}

    @property
    def cpu(self) -> float:
        """Seconds, up to the last look."""
        return sum(self._ticks.values()) / os.sysconf("SC_CLK_TCK")

    def look(self) -> None:
        """Add up once."""
        parents: dict[int, int] = {}
        ticks: dict[int, int] = {}
        for place in Path("/proc").glob("[0-9]*/stat"):
            with contextlib.suppress(OSError):  # gone since
                fields = place.read_text().rpartition(")")[2].split()
                number = int(place.parent.name)
                parents[number], ticks[number] = int(fields[1]), int(fields[11]) + int(fields[12])
        family, more = set[int](), {self.root} & set(parents)
        while more:
            family |= more
            more = {number for number, parent in parents.items() if parent in more}
        self._ticks |= {number: ticks[number] for number in family}
        self.bytes = max(self.bytes, sum(map(_own_bytes, family)))


def _own_bytes(process: int) -> int:
    with contextlib.suppress(OSError):  # gone since
        for line in Path(f"/proc/{process}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    return 0


def measured(name: str, folder: Path) -> tuple[float, float, float]:
    """Seconds on the wall, of CPU, and the peak of memory in MB of a process that does it, and of what it starts."""
    began = time.perf_counter()
    process = subprocess.Popen([sys.executable, __file__, "--child", name, str(folder)])  # noqa: S603
    tree = Tree(process.pid)
    ended = 0
    while not ended:
        time.sleep(0.1)
        tree.look()
        ended, status, usage = os.wait4(process.pid, os.WNOHANG)
    wall = time.perf_counter() - began
    if status:
        raise SystemExit(f"{name} failed")
    unit = 1 if sys.platform == "darwin" else 1024  # bytes there, kilobytes elsewhere
    return wall, max(usage.ru_utime + usage.ru_stime, tree.cpu), max(usage.ru_maxrss * unit, tree.bytes) / 1e6


def main() -> None:
    """Print one line a contender and table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=5_000_000, help="of the tall table (default: %(default)s)")
    parser.add_argument("--columns", type=int, default=50, help="of the tall table (default: %(default)s)")
    parser.add_argument("--files", type=int, default=FILES, help="of the tall table (default: %(default)s)")
    parser.add_argument("--wide-rows", type=int, default=100_000, help="(default: %(default)s)")
    parser.add_argument("--wide-columns", type=int, default=2_000, help="(default: %(default)s)")
    parser.add_argument("--no-wide", action="store_true", help="leave the wide table out")
    parser.add_argument("--only", nargs="+", choices=list(CONTENDERS), help="(default: all that are installed)")
    parser.add_argument("--master", default="local[2]", help="of Spark (default: %(default)s)")
    parser.add_argument("--repeats", type=int, default=1, help="all of them again, so often (default: %(default)s)")
    parser.add_argument("--child", nargs=2, metavar=("NAME", "FOLDER"), help=argparse.SUPPRESS)
    parser.add_argument(
        "--make", nargs=4, metavar=("FOLDER", "ROWS", "COLUMNS", "FILES"), help="write a table, no more"
    )
    options = parser.parse_args()
    if options.child:
        CONTENDERS[options.child[0]][0](Path(options.child[1]))
        return
    if options.make:
        make(Path(options.make[0]), *map(int, options.make[1:]))
        return
    os.environ[MASTER] = options.master
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    tables = [("tall", options.rows, options.columns, options.files)]
    tables += [] if options.no_wide else [("wide", options.wide_rows, options.wide_columns, 2)]
    print("| table | who counts | wall, s | CPU, s | peak memory, MB |")
    print("|---|---|---:|---:|---:|")
    for table, rows, columns, files in tables:
        with tempfile.TemporaryDirectory() as place:
            # In another process, too: a child's peak starts from the memory of the parent that it is forked from.
            size = [str(number) for number in (rows, columns, files)]
            subprocess.run([sys.executable, __file__, "--make", place, *size], check=True)  # noqa: S603
            for name, (_, library) in list(CONTENDERS.items()) * options.repeats:
                if (options.only and name not in options.only) or (library and not importlib.util.find_spec(library)):
                    continue
                wall, cpu, memory = measured(name, Path(place))
                shape = f"{table}, {rows:,} x {columns:,}"
                print(f"| {shape} | {name} | {wall:.1f} | {cpu:.1f} | {memory:,.0f} |", flush=True)


if __name__ == "__main__":
    main()
