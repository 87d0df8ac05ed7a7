"""Processes that hold a session of Spark, for the tests, and what has to come out of them."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
from test_engines import write_drifting
from trap_table import expected, table

if TYPE_CHECKING:
    from collections.abc import Iterator

HERE = Path(__file__).resolve().parent
HOST = "127.0.0.1"
PATIENCE = 180
SHORT_LIVED = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"  # what Java need not do for a minute's work: half of its time


def environment() -> dict[str, str]:
    path = os.pathsep.join([str(HERE), str(HERE.parent / "src"), os.environ.get("PYTHONPATH", "")])
    own = {"PYTHONPATH": path, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": HOST}
    return os.environ | own | {"JDK_JAVA_OPTIONS": SHORT_LIVED}


class Program:
    """A process with one session of Spark, which is asked for things."""

    def __init__(self, master: str, folder: Path) -> None:
        self.log = folder / "program.log"
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, HERE / "spark_program.py", master],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                env=environment(),
                cwd=folder,
            )

    def ask(self, task: str, folder: Path) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{task} {folder}\n")
        self.process.stdin.flush()

    def answer(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        with patience(self.process):
            line = self.process.stdout.readline()
        assert line, self.log.read_text(errors="replace")[-3000:]
        found: dict[str, Any] = json.loads(line)
        return found

    def stop(self) -> None:
        with patience(self.process):
            self.process.communicate()


@contextlib.contextmanager
def patience(process: subprocess.Popen[str]) -> Iterator[None]:
    timer = threading.Timer(PATIENCE, process.kill)
    timer.start()
    yield
    timer.cancel()


def written(tmp_path: Path) -> Path:
    """The table as files that differ, and as one file beside them."""
    parts = write_drifting(tmp_path / "parts")
    pq.write_table(table([]), parts / "none.parquet")
    pq.write_table(table(), tmp_path / "w.parquet")
    return parts


def assert_all_the_same(found: dict[str, Any]) -> None:
    assert "column 'nested' holds values of type list" in found.pop("refusal")
    assert found.pop("no rows") == "0"
    assert found.pop("selection") is True  # that of the same rows here
    assert found.pop("limit") is None  # what is changed of the session is changed back
    assert found == dict.fromkeys(found, expected())
    assert len(found) == 5


def assert_told(told: list[float]) -> None:
    assert told == sorted(told)
    assert told[-1] == 1.0
    assert len([share for share in told if 0.0 < share < 1.0]) >= 2  # of twelve partitions
