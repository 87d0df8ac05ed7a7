"""What the tests of Spark run in a process of its own: spark_program.py MASTER FOLDER; prints digests by name.

A process has one session, and classic and Connect do not go together in one; so each master has its own. With the
folder's name ending in "slow", rows come slowly, and each task leaves a file there when it starts and when it ends.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

warnings.simplefilter("ignore")  # Spark's own

from pyspark.sql import SparkSession  # noqa: E402  (warnings first)
from trap_table import ROWS, SCHEMA, digest, table  # noqa: E402

from credimi import CredimiError, count  # noqa: E402
from credimi.engines import spark  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterator

_NAMES = "word string, whole long, real double, truth boolean, one long, `one.real` double, holes string, late string"


def started(master: str) -> SparkSession:
    """A session there."""
    builder = SparkSession.builder.appName("tests")
    if master.startswith(("sc://", "connect ")):
        return builder.remote(master.removeprefix("connect ")).getOrCreate()
    quiet = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.sql.shuffle.partitions": "4"}
    return builder.master(master).config(map=quiet).getOrCreate()


def whole(session: SparkSession, folder: Path) -> dict[str, str]:
    """The same table in every way that Spark has."""
    frame = session.createDataFrame(table())
    found = {
        "frame": digest(count(frame, "class")),
        "many partitions": digest(count(frame.repartition(20), "class")),
        "files": digest(count(folder, "class", engine="spark")),
        "read by Spark": digest(count(session.read.parquet(str(folder.parent / "w.parquet")), "class")),
        "no rows": str(count(frame.limit(0), "class").rows),
    }
    spark._BLOCK = 4  # noqa: SLF001  (three features at a time)
    found["in blocks"] = digest(count(frame.repartition(3), "class"))
    try:
        count(session.sql("select array(1) as nested, 'x' as class"), "class")
    except CredimiError as error:
        found["refusal"] = str(error)
    return found


def slow(session: SparkSession, folder: Path) -> dict[str, str]:
    """Twelve partitions of twenty rows, one second each."""
    marks = str(folder)

    def rows(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                Path(marks, f"start {number}").touch()
                time.sleep(1.0)
                yield from table(ROWS[20 * number : 20 * number + 20]).cast(SCHEMA).to_batches()
                Path(marks, f"end {number}").touch()

    numbers = session.range(0, 12, 1, 12)
    return {"slow": digest(count(numbers.mapInArrow(rows, _NAMES + ", class string"), "class"))}


if __name__ == "__main__":
    where = Path(sys.argv[2])
    running = started(sys.argv[1])
    found = slow(running, where) if where.name.endswith("slow") else whole(running, where)
    sys.stdout.write(json.dumps(found) + "\n")
    sys.stdout.flush()
    running.stop()
