"""SIGTERM ends a command as an error does: nothing is left. After SIGKILL the next command deletes what was left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import credimi

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has no such signals")

RANK = [sys.executable, "-m", "credimi.cli", "rank", "-", "--target", "y"]
WRITES = """
import sys, time
from credimi.core import atomic_files
def wait(path):
    print("inside", flush=True)
    time.sleep(60)
atomic_files._sync = wait
from credimi.cli import command
sys.argv[0] = "credimi"
command()
"""
DATA = b"x,y\n1,p\n2,q\n" * 9


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return dict(os.environ) | {"TMPDIR": str(tmp_path), "PYTHONPATH": str(Path(credimi.__file__).parents[1])}


@pytest.fixture
def reading(tmp_path: Path, environment: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """A command that reads standard input."""
    with subprocess.Popen(RANK, stdin=subprocess.PIPE, stderr=subprocess.PIPE, env=environment) as process:
        assert process.stdin is not None
        process.stdin.write(b"x,y\n1,2\n")
        process.stdin.flush()
        end = time.monotonic() + 30
        while not list(tmp_path.glob("credimi-*/*")) and time.monotonic() < end:
            time.sleep(0.02)
        assert list(tmp_path.glob("credimi-*/*"))
        yield process


def test_standard_input_is_deleted(tmp_path: Path, reading: subprocess.Popen[bytes]) -> None:
    reading.send_signal(signal.SIGTERM)
    assert reading.wait(30) == 143
    assert not list(tmp_path.iterdir())


@pytest.mark.long
def test_the_next_command_deletes_standard_input(
    tmp_path: Path, environment: dict[str, str], reading: subprocess.Popen[bytes]
) -> None:
    before = sorted(tmp_path.iterdir())
    subprocess.run(RANK, input=DATA, env=environment, check=True, capture_output=True, timeout=60)
    assert sorted(tmp_path.iterdir()) == before  # while the first one reads
    reading.kill()
    reading.wait(30)
    assert sorted(tmp_path.iterdir()) == before
    subprocess.run(RANK, input=DATA, env=environment, check=True, capture_output=True, timeout=60)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("output", ["--into", pytest.param("--output", marks=pytest.mark.long)])
@pytest.mark.parametrize(("end", "code"), [(signal.SIGTERM, 143), (signal.SIGKILL, -9)])
def test_a_command_that_writes(
    tmp_path: Path, environment: dict[str, str], output: str, end: signal.Signals, code: int
) -> None:
    (tmp_path / "data.csv").write_bytes(DATA)
    command = ["count" if output == "--into" else "rank", "data.csv", "--target", "y", output, "out"]
    with subprocess.Popen(
        [sys.executable, "-c", WRITES, *command], stdout=subprocess.PIPE, env=environment, cwd=tmp_path
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"inside\n"
        assert len(list(tmp_path.glob(".out.credimi-*"))) == 2
        process.send_signal(end)
        assert process.wait(30) == code
    if end is signal.SIGTERM:
        assert [path.name for path in tmp_path.iterdir()] == ["data.csv"]
    else:
        assert len(list(tmp_path.glob(".out.credimi-*"))) == 2
    subprocess.run([sys.executable, "-m", "credimi.cli", *command], env=environment, cwd=tmp_path, check=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data.csv", "out"]
