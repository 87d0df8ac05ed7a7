"""What the tests of Spark run in a process of its own: spark_program.py MASTER; one session for all that is asked.

A process has one session, and classic and Connect do not go together in one; so each master has its own. Each line that
comes in names a task and its folder, and is answered by one line of JSON. `whole` counts one table in every way that
Spark has. In `slow`, rows come slowly, and each task leaves a file that says in which process it starts. `damaged`
asks for folders in which one file is not like the others, and answers what is told of each. `received` says how many
rows come back for forty partitions.
"""

from __future__ import annotations

import json
import os
import sys
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

warnings.simplefilter("ignore")  # Spark's own

from pyspark.sql import SparkSession  # noqa: E402  (warnings first)
from trap_table import ROWS, SCHEMA, digest, table  # noqa: E402

from credimi import CredimiError, compare, count, interactions, pairs, rank, select  # noqa: E402
from credimi.sources.clusters import spark  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_NAMES = "word string, whole long, real double, truth boolean, one long, `one.real` double, holes string, late string"


def started(master: str) -> SparkSession:
    """A session there."""
    builder = SparkSession.builder.appName("tests")
    if master.startswith(("sc://", "connect ")):
        return builder.remote(master.removeprefix("connect ")).getOrCreate()
    quiet = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.sql.shuffle.partitions": "4"}
    return builder.master(master).config(map=quiet).getOrCreate()


def whole(session: SparkSession, folder: Path) -> dict[str, Any]:
    """The same table in every way."""
    frame = session.createDataFrame(table())
    found: dict[str, Any] = {
        "frame": digest(count(frame, "class")),
        "many partitions": digest(count(frame.repartition(20), "class")),
        "files": digest(count(folder, "class", engine="spark")),
        "read by Spark": digest(count(session.read.parquet(str(folder.parent / "w.parquet")), "class")),
        "no rows": str(count(frame.limit(0), "class").rows),
    }
    block, spark._COLUMNS_PER_PASS = spark._COLUMNS_PER_PASS, 4  # noqa: SLF001  (three features at a time)
    found["in blocks"] = digest(count(frame.repartition(3), "class"))
    spark._COLUMNS_PER_PASS = block  # noqa: SLF001
    try:
        count(session.sql("select array(1) as nested, 'x' as class"), "class", features=["nested"])
    except CredimiError as error:
        found["refusal"] = str(error)
    parts = frame.repartition(3)
    chosen = [select(each, "class", max_features=1).to_dict() for each in (parts, parts.toArrow())]
    found["selection"] = chosen[0] == chosen[1]
    found["limit"] = session.conf.get("spark.sql.execution.arrow.maxBytesPerBatch", None)
    return found


def slow(session: SparkSession, folder: Path) -> dict[str, Any]:
    """Twelve partitions of twenty rows, most of a second each."""
    marks = str(folder)

    def rows(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                Path(marks, f"{number} {time.monotonic_ns()}").write_text(str(os.getpid()))
                time.sleep(0.7)
                yield from table(ROWS[20 * number : 20 * number + 20]).cast(SCHEMA).to_batches()

    told: list[float] = []
    frame = session.range(0, 12, 1, 12).mapInArrow(rows, _NAMES + ", class string")
    return {"slow": digest(count(frame, "class", progress=lambda share, _: told.append(share))), "told": told}


def refused(ask: Callable[[], object]) -> list[str]:
    """The message of our error, and the kind of its cause."""
    try:
        ask()
    except CredimiError as error:
        return [str(error), type(error.__cause__).__module__.split(".")[0]]
    return ["nothing is refused", ""]


def damaged(session: SparkSession, folder: Path) -> dict[str, Any]:
    """One file that is not like the others, or a query that fails, for every question that counts on clusters."""

    def read(name: str) -> Any:  # noqa: ANN401  (a DataFrame, classic or of Connect)
        return session.read.schema("x long, y string").parquet(str(folder / name))

    good = read("good")
    return {
        "typed": refused(lambda: rank(read("typed"), "y")),
        "text": refused(lambda: count(read("text"), "y")),
        "short": refused(lambda: compare(good, read("short"), "y")),
        "pairs": refused(lambda: pairs(read("typed"))),
        "select": refused(lambda: select(read("typed"), "y")),
        "interactions": refused(lambda: interactions(read("typed"), "y")),
        "cast": refused(lambda: count(good.selectExpr("y", "cast(concat('a', y) as int) as x"), "y")),
        "worker": refused(lambda: count(good.mapInArrow(_fail, "x long, y string"), "y")),
        "files": refused(lambda: count(folder / "listed", "y", engine="spark")),
    }


def _fail(_batches: Iterator[Any]) -> Iterator[Any]:
    raise ZeroDivisionError("a fault of the user's own function")


def received(session: SparkSession, _folder: Path) -> dict[str, Any]:
    """The rows that come back, if Spark does not join small partitions by itself."""
    session.conf.set("spark.sql.adaptive.enabled", "false")
    frame = session.createDataFrame(table()).repartition(40)
    kind, numbers = type(frame), list[int]()
    collect = kind.collect

    def noted(asked: Any) -> Any:  # noqa: ANN401  (a DataFrame; its rows)
        rows = collect(asked)
        numbers.append(len(rows))
        return rows

    kind.collect = noted
    try:
        found = digest(count(frame, "class"))
    finally:
        kind.collect = collect
        session.conf.unset("spark.sql.adaptive.enabled")
    return {"digest": found, "rows": numbers}


TASKS = {"whole": whole, "slow": slow, "damaged": damaged, "received": received}

if __name__ == "__main__":
    running = started(sys.argv[1])
    for line in sys.stdin:
        task, _, where = line.rstrip("\n").partition(" ")
        sys.stdout.write(json.dumps(TASKS[task](running, Path(where))) + "\n")
        sys.stdout.flush()
    running.stop()
