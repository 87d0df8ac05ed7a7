"""A standalone cluster of Spark on this machine: the counts are those of one process, workers killed too.

Run by tools/bootstrap.py spark, as test_spark.py is. A cluster and a session take seconds to start: one serves all.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from spark_process import HOST, PATIENCE, Program, assert_all_the_same, assert_told, environment, written
from trap_table import expected

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.spark


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
        self.workers = [self.start_worker() for _ in range(2)]
        self.wait_for_workers()

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

    def start_worker(self) -> subprocess.Popen[bytes]:
        place = ["--host", HOST, "--webui-port", "0", "--work-dir", str(self.folder)]
        worker = self._start("worker.Worker", *place, "--cores", "1", "--memory", "1g", self.address)
        self.processes.append(worker)
        return worker

    def wait_for_workers(self) -> None:
        self._wait_for("worker.Worker", "Successfully registered with master", len(self.processes) - 1)

    def kill(self, worker: subprocess.Popen[bytes]) -> None:
        """The worker and its executors at once, as when a machine is gone; another comes in its place."""
        for process in [*children(worker.pid), worker.pid]:
            os.kill(process, signal.SIGKILL)
        worker.wait()
        self.workers.remove(worker)
        self.workers.append(self.start_worker())

    def stop(self) -> None:
        for process in reversed(self.processes):
            process.terminate()
        for process in self.processes:
            process.wait(30)


def parent(process: int) -> int:
    try:
        return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:  # gone since
        return 0


def children(process: int) -> list[int]:
    numbers = [int(place.name) for place in Path("/proc").glob("[0-9]*")]
    return [number for number in numbers if parent(number) == process]


def ancestors(process: int) -> list[int]:
    found = []
    while process := parent(process):
        found.append(process)
    return found


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    running = Cluster(tmp_path_factory.mktemp("cluster"))
    yield running
    running.stop()


@pytest.fixture(scope="module")
def program(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    running = Program(cluster.address, tmp_path_factory.mktemp("program"))
    yield running
    running.stop()


def test_cluster(tmp_path: Path, program: Program) -> None:
    program.ask("whole", written(tmp_path))
    assert_all_the_same(program.answer())


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="finds executors by /proc")
@pytest.mark.parametrize("finished", [0, 1])
def test_a_worker_is_killed(tmp_path: Path, cluster: Cluster, program: Program, finished: int) -> None:
    """Once with its first task running, once after it has finished one, whose counts are lost with it."""
    cluster.wait_for_workers()
    program.ask("slow", tmp_path)
    deadline = time.monotonic() + PATIENCE
    victims: list[subprocess.Popen[bytes]] = []
    while not victims:
        assert time.monotonic() < deadline, program.log.read_text(errors="replace")[-3000:]
        time.sleep(0.05)
        above = [ancestors(int(mark.read_text() or 0)) for mark in tmp_path.iterdir()]
        begun = {worker: sum(worker.pid in line for line in above) for worker in cluster.workers}
        victims = [worker for worker, tasks in begun.items() if tasks > finished]  # a worker has one core
    assert len(list(tmp_path.iterdir())) < 12
    cluster.kill(victims[0])
    found = program.answer()
    assert found["slow"] == expected()
    assert_told(found["told"])
    assert len(list(tmp_path.iterdir())) > 12  # something was done again
