"""Counts of the partitions of Spark and Dask: what the driver receives, and how long it takes, by number of partitions.

20,000 rows of 40 columns of numbers with two decimals, so that the counts of a partition are large, are divided into
more and more partitions. `to the driver` is the size of all rows or results that come back from the workers. Each
number of partitions is counted several times, in turns, and the shortest time counts.

    python benchmarks/merging.py                                needs pyspark, Java and Dask
    python benchmarks/merging.py --only dask --partitions 8 64  a quick look
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import sys
import time
from typing import TYPE_CHECKING, Any

import numpy as np

import credimi

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd


def made(rows: int, columns: int) -> pd.DataFrame:
    """The table; seeded, so that every machine has the same."""
    import pandas as pd  # noqa: PLC0415  (not needed for --help)

    generator = np.random.default_rng(0)
    table = {f"x{column}": generator.normal(0.0, 30.0, rows).round(2) for column in range(columns)}
    return pd.DataFrame(table | {"class": np.where(generator.random(rows) < 0.3, "yes", "no")})


class Received:
    """Adds up the bytes that come to the driver."""

    def __init__(self) -> None:
        self.bytes = 0

    def rows(self, collect: Callable[[Any], list[Any]]) -> Callable[[Any], list[Any]]:
        """The same method of a DataFrame of Spark, which notes the size of what it returns."""

        def noted(frame: Any) -> list[Any]:  # noqa: ANN401  (any DataFrame)
            found = collect(frame)
            self.bytes += sum(len(row["counts"] or b"") for row in found)
            return found

        return noted

    def result(self, compute: Callable[..., bytes]) -> Callable[..., bytes]:
        """The same method of a task of Dask."""

        def noted(*arguments: Any, **options: Any) -> bytes:  # noqa: ANN401  (any)
            found = compute(*arguments, **options)
            self.bytes += len(found)
            return found

        return noted


def with_spark(table: pd.DataFrame, received: Received) -> Callable[[int], object]:
    """What divides the table into partitions of Spark."""
    from pyspark.sql import SparkSession  # noqa: PLC0415

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    quiet = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.driver.memory": "3g"}
    session = SparkSession.builder.master("local[2]").config(map=quiet).getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    frame = session.createDataFrame(table)
    kind = type(frame)
    kind.collect = received.rows(kind.collect)
    divided: Callable[[int], object] = frame.repartition
    return divided


def with_dask(table: pd.DataFrame, received: Received) -> Callable[[int], object]:
    """What divides the table into partitions of Dask."""
    from dask import dataframe  # noqa: PLC0415
    from dask.delayed import Delayed  # noqa: PLC0415

    Delayed.compute = received.result(Delayed.compute)
    return lambda partitions: dataframe.from_pandas(table, npartitions=partitions)


ENGINES = {"spark": ("pyspark", with_spark), "dask": ("dask", with_dask)}


def main() -> None:
    """Print one line a number of partitions."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=20_000, help="(default: %(default)s)")
    parser.add_argument("--columns", type=int, default=40, help="(default: %(default)s)")
    parser.add_argument("--partitions", type=int, nargs="+", default=[8, 16, 64, 256], help="(default: %(default)s)")
    parser.add_argument("--repeats", type=int, default=3, help="the shortest counts (default: %(default)s)")
    parser.add_argument("--only", choices=list(ENGINES), help="(default: both, if they are installed)")
    options = parser.parse_args()
    table = made(options.rows, options.columns)
    print("| engine | partitions | to the driver, MB | wall, s |\n|---|---:|---:|---:|")
    for name, (library, divided_by) in ENGINES.items():
        if options.only not in (None, name) or importlib.util.find_spec(library) is None:
            continue
        received = Received()
        divided = divided_by(table, received)
        credimi.count(divided(2), "class")  # the workers load their modules
        sizes: dict[int, int] = {}
        times: dict[int, list[float]] = {number: [] for number in options.partitions}
        for _ in range(options.repeats):
            for number in options.partitions:
                frame, before, start = divided(number), received.bytes, time.perf_counter()
                credimi.count(frame, "class")
                times[number].append(time.perf_counter() - start)
                sizes[number] = received.bytes - before
        for number in options.partitions:
            print(f"| {name} | {number} | {sizes[number] / 1e6:.1f} | {min(times[number]):.1f} |", flush=True)


if __name__ == "__main__":
    main()
