"""Two calls that add to one file of counts: no update is lost, and none is said to be there that is not."""

from __future__ import annotations

import os
import platform
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import credimi
from credimi import Counts, CredimiError, count
from credimi.cli import main
from credimi.core import atomic_files
from credimi.core.atomic_files import locked

WAITS = """
import sys, time
from pathlib import Path
from credimi.cli import main
from credimi.sources import files
read = files.batches
def waiting(*arguments, **settings):
    Path("{name}.ready").touch()
    while not Path("go").exists():
        time.sleep(0.01)
    yield from read(*arguments, **settings)
files.batches = waiting
sys.exit(main(["count", "{name}.csv", "--target", "y", "--into", "all.counts"]))
"""


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, rows in (("one", 3), ("two", 5)):
        Path(f"{name}.csv").write_text("y,x\n" + "p,1\nq,2\n" * rows)


def start(*command: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, *command],
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(Path(credimi.__file__).parents[1])},
    )


def counting(name: str) -> subprocess.Popen[str]:
    """A call that has read the counts, and waits for a file "go" before it counts."""
    running = start("-c", WAITS.format(name=name))
    until = time.monotonic() + 60.0
    while not Path(f"{name}.ready").exists() and running.poll() is None:
        assert time.monotonic() < until
        time.sleep(0.01)
    return running


def call(name: str) -> tuple[int, str]:
    with start("-m", "credimi.cli", "count", f"{name}.csv", "--target", "y", "--into", "all.counts") as running:
        _, said = running.communicate(timeout=60)
    return running.returncode, said


def test_two_calls_at_once_lose_nothing() -> None:
    """Both read the file before either has written it, unless one is refused."""
    with counting("one") as first, counting("two") as second:
        Path("go").touch()
        said = {"one": first.communicate(timeout=60)[1], "two": second.communicate(timeout=60)[1]}
        codes = {"one": first.returncode, "two": second.returncode}
    succeeded = [name for name, code in codes.items() if code == 0]
    assert sorted(Path(source.path).stem for source in Counts.load("all.counts").sources) == succeeded == ["one"]
    assert codes["two"] == 2
    where = f"process {first.pid} on {platform.node()}"
    assert f"all.counts is being changed by {where}: wait until it has ended, and try again" in said["two"]
    assert call("two")[0] == 0
    assert Counts.load("all.counts") == count("one.csv", "y") + count("two.csv", "y")
    assert not list(Path().glob(".*"))  # no lock is left


@pytest.mark.skipif(os.name != "posix", reason="needs kill -9")
def test_a_call_that_was_killed_holds_no_lock() -> None:
    with counting("one") as first:
        first.send_signal(signal.SIGKILL)
    assert Path(".all.counts.lock").read_text() == f"{platform.node()} {first.pid}\n"
    assert call("two")[0] == 0
    assert Counts.load("all.counts") == count("two.csv", "y")
    assert not Path(".all.counts.lock").exists()


def test_a_lock_of_another_machine_is_left_alone() -> None:
    Path(".all.counts.lock").write_text("elsewhere 42\n")
    code, said = call("one")
    assert code == 2
    assert "all.counts is being changed by process 42 on elsewhere, or was when that process was killed" in said
    assert f"delete {Path('.all.counts.lock').resolve()} if it no longer runs" in said
    assert not Path("all.counts").exists()
    Path(".all.counts.lock").unlink()
    assert call("one")[0] == 0


@pytest.mark.skipif(os.name != "posix", reason="a question of processes")
def test_a_disk_without_locks(monkeypatch: pytest.MonkeyPatch) -> None:
    """There the owner's name is all that is known; whether it is at work can be asked on the same machine."""
    monkeypatch.setattr(atomic_files, "try_lock", lambda _: None)
    with locked("all.counts"), pytest.raises(CredimiError, match=f"changed by process {os.getpid()} on"):
        locked("all.counts").__enter__()
    with start("-c", "") as ended:
        pass
    Path(".all.counts.lock").write_text(f"{platform.node()} {ended.pid}\n")
    with locked("all.counts"):
        assert Path(".all.counts.lock").read_text() == f"{platform.node()} {os.getpid()}\n"


def test_a_lock_that_goes_while_it_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its owner takes the file away between our look at it and our lock: another one is made."""
    look = atomic_files.try_lock

    def late(descriptor: int) -> bool | None:
        monkeypatch.setattr(atomic_files, "try_lock", look)
        Path(".all.counts.lock").unlink()
        return look(descriptor)

    monkeypatch.setattr(atomic_files, "try_lock", late)
    with locked("all.counts"):
        assert Path(".all.counts.lock").read_text().split() == [platform.node(), str(os.getpid())]


def test_names_of_one_file_have_one_lock() -> None:
    Path("link.counts").symlink_to("all.counts")
    with locked("all.counts"), pytest.raises(CredimiError, match="is being changed by"):
        locked("link.counts").__enter__()


@pytest.mark.parametrize("letter", ["a", "é"])
def test_a_name_as_long_as_names_may_be(letter: str) -> None:
    """Names differ at their ends: each has a lock of its own."""
    names = [letter * (254 // len(letter.encode())) + end for end in "xy"]
    with locked(names[0]):
        with pytest.raises(CredimiError, match="is being changed by"), locked(names[0]):
            pass
        assert main(["count", "one.csv", "--target", "y", "--into", names[1]]) == 0
    assert Counts.load(names[1]).rows == 6
