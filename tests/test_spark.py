"""Spark, classic, Connect and a real cluster on this machine: the counts are those of one process, workers killed too.

Starting Spark takes seconds each time, so all of it is marked slow: pytest -m slow tests/test_spark.py.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest
from test_engines import write_drifting
from trap_table import expected, table

if TYPE_CHECKING:
    from collections.abc import Iterator

HERE = Path(__file__).resolve().parent
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        importlib.util.find_spec("pyspark") is None, reason="pyspark is not installed: pip install 'credimi[spark]'"
    ),
    pytest.mark.skipif(
        shutil.which("java") is None and "JAVA_HOME" not in os.environ, reason="Spark needs Java, and there is none"
    ),
]
HOST = "127.0.0.1"
PATIENCE = 180


def environment() -> dict[str, str]:
    path = os.pathsep.join([str(HERE), str(HERE.parent / "src"), os.environ.get("PYTHONPATH", "")])
    return os.environ | {"PYTHONPATH": path, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": HOST}


def program(master: str, folder: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, HERE / "spark_program.py", master, folder],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
        cwd=folder,
    )


def answer(running: subprocess.Popen[str]) -> dict[str, str]:
    out, err = running.communicate(timeout=PATIENCE)
    assert running.returncode == 0, err[-3000:]
    found: dict[str, str] = json.loads(out.splitlines()[-1])
    return found


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    parts = write_drifting(tmp_path / "parts")
    pq.write_table(table([]), parts / "none.parquet")
    pq.write_table(table(), tmp_path / "w.parquet")
    return parts


def assert_all_the_same(found: dict[str, str]) -> None:
    assert "column 'nested' holds values of type list" in found.pop("refusal")
    assert found.pop("no rows") == "0"
    assert found == dict.fromkeys(found, expected())
    assert len(found) == 5


@pytest.mark.parametrize("master", ["local[2,4]", "connect local[2]"])
def test_one_process(folder: Path, master: str) -> None:
    if master.startswith("connect") and importlib.util.find_spec("grpc") is None:
        pytest.skip("Spark Connect needs grpcio: pip install 'pyspark[connect]'")
    assert_all_the_same(answer(program(master, folder)))


# A cluster: a master and two workers, each a process


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


class Cluster:
    """A standalone master and two workers on loopback."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        port = free_port()
        self.address = f"spark://{HOST}:{port}"
        self.processes = [self._start("master.Master", "--host", HOST, "--port", str(port), "--webui-port", "0")]
        self._wait_for("master.Master", "I have been elected leader")
        self.workers = [self.add_worker() for _ in range(2)]

    def _start(self, name: str, *arguments: str) -> subprocess.Popen[bytes]:
        import pyspark  # noqa: PLC0415

        starter = Path(pyspark.__file__).parent / "bin" / "spark-class"
        with (self.folder / f"{name}.log").open("ab") as log:
            command = [starter, f"org.apache.spark.deploy.{name}", *arguments]
            return subprocess.Popen(command, stdout=log, stderr=log, env=environment(), cwd=self.folder)

    def _wait_for(self, name: str, words: str, times: int = 1) -> None:
        deadline = time.monotonic() + 60
        while (self.folder / f"{name}.log").read_text(errors="replace").count(words) < times:
            assert time.monotonic() < deadline, (self.folder / f"{name}.log").read_text(errors="replace")[-2000:]
            time.sleep(0.1)

    def add_worker(self) -> subprocess.Popen[bytes]:
        options = [
            "--host",
            HOST,
            "--cores",
            "1",
            "--memory",
            "1g",
            "--work-dir",
            str(self.folder),
            "--webui-port",
            "0",
        ]
        worker = self._start("worker.Worker", *options, self.address)
        self.processes.append(worker)
        self._wait_for("worker.Worker", "Successfully registered with master", len(self.processes) - 1)
        return worker

    def kill(self, worker: subprocess.Popen[bytes]) -> None:
        """The worker and its executors at once, as when a machine is gone."""
        for process in [*children(worker.pid), worker.pid]:
            os.kill(process, signal.SIGKILL)
        worker.wait()

    def stop(self) -> None:
        for process in reversed(self.processes):
            process.terminate()
        for process in self.processes:
            process.wait(30)


def children(parent: int) -> list[int]:
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text().rpartition(")")[2].split()
        except OSError:  # gone since
            continue
        if int(fields[1]) == parent:
            found.append(int(status.parent.name))
    return found


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    home = tmp_path / "cluster"
    home.mkdir()
    running = Cluster(home)
    yield running
    running.stop()


def test_cluster(folder: Path, cluster: Cluster) -> None:
    assert_all_the_same(answer(program(cluster.address, folder)))


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="finds executors by /proc")
@pytest.mark.parametrize("mark", ["start *", "end *"])
def test_a_worker_is_killed(tmp_path: Path, cluster: Cluster, mark: str) -> None:
    """Once with a task running, once after a task of it is done."""
    marks = tmp_path / "slow"
    marks.mkdir()
    running = program(cluster.address, marks)
    deadline = time.monotonic() + PATIENCE
    while len(list(marks.glob(mark))) < 2 and running.poll() is None and time.monotonic() < deadline:
        time.sleep(0.05)
    assert len(list(marks.glob("end *"))) < 12
    cluster.kill(cluster.workers[0])
    assert answer(running) == {"slow": expected()}
