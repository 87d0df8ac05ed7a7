"""What comes to this process when a cluster answers: for each question, by the number of rows and of partitions.

The rows are made where they are counted, each partition from a seed of its own: 20 columns of 2 to 8 values and of 200
numbers, a tenth of the cells missing, a target of two classes that depends on six of them. Columns per line:

* asks: how often the workers were asked, counts of all columns included (`rank_by` is one);
* largest rule: the most bytes sent with one ask, packed as the engines do, without the codebook of the second pass;
* received: all bytes of answers that came here, and the largest of them;
* seconds, and by how much the largest memory of this process grew; with Dask the workers are threads of it.

    python benchmarks/clusters.py                                         as docs/scale.md wants it
    python benchmarks/clusters.py --engine spark --rows 1000000 --master "local[2]"
"""

from __future__ import annotations

import argparse
import os
import resource
import sys
import time
from typing import TYPE_CHECKING, Any

import cloudpickle
import numpy as np
import pandas as pd

import credimi
from credimi.sources.clusters import asked, dask, spark

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

COLUMNS = 20
GROUP, TARGET = "x1", "y"
QUESTIONS: dict[str, Callable[[Any], object]] = {
    "rank": lambda data: credimi.rank(data, TARGET),
    "rank, robust": lambda data: credimi.rank(data, TARGET, robust_factor=2.0),
    "rank_by": lambda data: credimi.rank_by(data, TARGET, GROUP),
    "select, distinct": lambda data: credimi.select(data, TARGET, max_features=4),
    "select, relevant": lambda data: credimi.select(data, TARGET, rule="relevant"),
    "interactions": lambda data: credimi.interactions(data, TARGET, top=5),
    "pairs": credimi.pairs,
    "tree, depth 3": lambda data: credimi.tree(data, TARGET, max_depth=3),
    "network, 6 columns": lambda data: credimi.network(data, features=[f"x{i}" for i in range(6)], imputations=1),
}


def part(number: int, rows: int) -> pd.DataFrame:
    """One partition."""
    generator = np.random.default_rng(number)
    columns: dict[str, Any] = {}
    score = np.zeros(rows)
    for index in range(COLUMNS):
        values = 200 if index % 5 == 4 else 2 + index % 4 * 2
        codes = generator.integers(0, values, rows)
        score += (codes / values - 0.5) * (index < 6)
        columns[f"x{index}"] = np.where(generator.random(rows) < 0.1, np.nan, codes / 4.0)
    columns[TARGET] = np.where(score + generator.normal(size=rows) > 0.0, "yes", "no")
    return pd.DataFrame(columns)


def of_dask(rows: int, partitions: int) -> Any:  # noqa: ANN401  (a DataFrame)
    """The rows as a DataFrame of Dask."""
    import dask.dataframe  # noqa: PLC0415  (not where Spark is measured)

    return dask.dataframe.from_map(part, range(partitions), rows=rows // partitions, meta=part(0, 1))


def of_spark(session: Any, rows: int, partitions: int) -> Any:  # noqa: ANN401  (a session; a DataFrame)
    """The same as a DataFrame of Spark."""
    size = rows // partitions

    def made(batches: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        for batch in batches:
            for number in batch["id"]:
                yield part(number, size)

    schema = ", ".join([f"x{index} double" for index in range(COLUMNS)] + [f"{TARGET} string"])
    return session.range(0, partitions, 1, partitions).mapInPandas(made, schema)


class Noted:
    """What was asked and received."""

    def __init__(self) -> None:
        self.answers: list[int] = []
        self.rules = [0]

    def answer(self, content: bytes) -> bytes:
        """Note an answer, and hand it on."""
        self.answers.append(len(content))
        return content


def watched() -> Noted:
    """Note all answers from now on."""
    noted = Noted()
    joined, tree, at_rows = spark._joined, dask._merge_tree, asked.AtRows.__init__  # noqa: SLF001  (where all answers pass)

    def note_rule(self: asked.AtRows, *arguments: Any) -> None:  # noqa: ANN401  (as they are)
        at_rows(self, *arguments)
        noted.rules.append(len(cloudpickle.dumps(self)))

    class Root:
        def __init__(self, root: Any) -> None:  # noqa: ANN401  (of Dask)
            self.root, self.key = root, root.key

        def compute(self) -> bytes:
            return noted.answer(self.root.compute())

    spark._joined = lambda *arguments: noted.answer(joined(*arguments))  # noqa: SLF001
    dask._merge_tree = lambda *arguments: Root(tree(*arguments))  # type: ignore[assignment]  # noqa: SLF001
    asked.AtRows.__init__ = note_rule  # type: ignore[method-assign]
    return noted


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[100_000, 1_000_000], help="(default: %(default)s)")
    parser.add_argument("--partitions", type=int, nargs="+", default=[8, 64], help="(default: %(default)s)")
    parser.add_argument("--engine", choices=["dask", "spark"], default="dask", help="(default: %(default)s)")
    parser.add_argument("--master", default="local[2]", help="of Spark (default: %(default)s)")
    parser.add_argument("--only", nargs="+", choices=QUESTIONS, default=list(QUESTIONS), help="(default: all)")
    given = parser.parse_args()
    session: Any = None
    if given.engine == "spark":
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        from pyspark.sql import SparkSession  # noqa: PLC0415  (only where it is measured)

        session = SparkSession.builder.master(given.master).config("spark.ui.enabled", "false").getOrCreate()
        session.sparkContext.setLogLevel("ERROR")
    noted = watched()
    print("| question | rows | partitions | asks | largest rule | received | largest | seconds | MB more |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|")
    for name in given.only:
        for rows in given.rows:
            for partitions in given.partitions:
                data = of_dask(rows, partitions) if session is None else of_spark(session, rows, partitions)
                noted.answers, noted.rules = [], [0]
                before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.perf_counter()
                QUESTIONS[name](data)
                seconds = time.perf_counter() - start
                more = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
                figures = (
                    f"{len(noted.answers)} | {max(noted.rules):,} | {sum(noted.answers):,} | {max(noted.answers):,}"
                )
                print(f"| {name} | {rows:,} | {partitions} | {figures} | {seconds:.1f} | {more:,.0f} |", flush=True)
    if session is not None:
        session.stop()


if __name__ == "__main__":
    main()
