"""What a killed process left is deleted by the next one that writes there, and nothing that may be in use."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import credimi
from credimi.core import temporary_files
from credimi.core.atomic_files import locked, write_bytes
from credimi.core.temporary_files import delete_leftovers, owned

if TYPE_CHECKING:
    from collections.abc import Iterator

INSIDE = """
import sys
from credimi.core import temporary_files
from credimi.core.atomic_files import replacing
if "no locks" in sys.argv:
    temporary_files.try_lock = lambda _: None
with replacing(sys.argv[1]) as temporary:
    temporary.write_bytes(b"of the child")
    print("inside", flush=True)
    sys.stdin.readline()
"""
FOLDER = """
import sys
from pathlib import Path
from credimi.core.temporary_files import owned
with owned(Path(sys.argv[1])) as folder:
    folder.mkdir()
    (folder / "one").touch()
    (folder / "link").symlink_to(sys.argv[2])
    print("inside", flush=True)
    sys.stdin.readline()
"""
SCRATCH = """
import sys
from credimi.counts.rows.storage import Storage
import numpy as np
codes = Storage.of(sys.argv[1]).zeros((1000, 1000), np.uint8)
codes += 1
print("inside", flush=True)
sys.stdin.readline()
"""
linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells which process an owner was")


@contextmanager
def inside(program: str, *arguments: object) -> Iterator[subprocess.Popen[str]]:
    """A process in the middle of its work; it goes on after a line."""
    with subprocess.Popen(
        [sys.executable, "-c", program, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(Path(credimi.__file__).parents[1])},
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "inside\n"
            yield process
        finally:
            process.kill()


def killed(program: str, *arguments: object) -> None:
    with inside(program, *arguments) as process:
        process.kill()
        process.wait(30)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def temporaries(folder: Path) -> list[Path]:
    return sorted(folder.glob(".*credimi-*"))


def owner(folder: Path, *parts: str, name: str = ".out.credimi-0123456789abcdef") -> Path:
    """A temporary file and its owner, as an earlier process would have written them."""
    (folder / name).touch()
    path = folder / f"{name}.owner"
    path.write_text("\n".join(["credimi owner 1", *parts, ""]))
    return path


def us(folder: Path) -> temporary_files._Owner:
    with (folder / "any").open("w") as file:
        found = temporary_files._Owner.us(file.fileno())  # noqa: SLF001  (what the module knows of this process)
    (folder / "any").unlink()
    return found


@pytest.mark.parametrize("name", ["out.npy", "another.csv"])
def test_the_next_writer_deletes_what_a_killed_one_left(tmp_path: Path, name: str) -> None:
    killed(INSIDE, tmp_path / "out.npy")
    temporary, record = temporaries(tmp_path)
    assert temporary.read_bytes() == b"of the child"
    assert record.name == f"{temporary.name}.owner"
    write_bytes(b"ours", tmp_path / name)
    assert names(tmp_path) == [name]


def test_a_lock_deletes_it_as_well(tmp_path: Path) -> None:
    killed(INSIDE, tmp_path / "out.npy")
    with locked(tmp_path / "some.counts"):
        assert names(tmp_path) == [".some.counts.lock"]


def test_what_a_process_that_runs_writes_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "out.npy"
    with inside(INSIDE, path) as process:
        before = temporaries(tmp_path)
        write_bytes(b"ours", path)
        delete_leftovers(tmp_path)
        assert temporaries(tmp_path) == before
        assert path.read_bytes() == b"ours"
        process.communicate("\n", timeout=30)
    assert names(tmp_path) == ["out.npy"]
    assert path.read_bytes() == b"of the child"


def test_our_own_is_left_alone(tmp_path: Path) -> None:
    with owned(tmp_path) as one, owned(tmp_path) as other:
        one.touch()
        other.touch()
        delete_leftovers(tmp_path)
        assert len(names(tmp_path)) == 4
    assert names(tmp_path) == []


def test_a_folder_goes_with_what_is_in_it_but_not_what_its_links_name(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "kept").touch()
    killed(FOLDER, tmp_path, tmp_path / "data")
    assert len(names(tmp_path)) == 3
    delete_leftovers(tmp_path)
    assert names(tmp_path) == ["data"]
    assert names(tmp_path / "data") == ["kept"]


def test_scratch_files_have_no_names(tmp_path: Path) -> None:
    with inside(SCRATCH, tmp_path) as process:
        if os.name == "posix":
            assert names(tmp_path) == []
        process.kill()
        process.wait(30)
    assert names(tmp_path) == []


@linux
def test_a_disk_without_locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(temporary_files, "try_lock", lambda _: None)
    with inside(INSIDE, tmp_path / "out", "no locks") as process:
        delete_leftovers(tmp_path)
        assert len(temporaries(tmp_path)) == 2
        process.kill()
        process.wait(30)
    delete_leftovers(tmp_path)
    assert names(tmp_path) == []


@pytest.mark.skipif(os.name == "nt", reason="locks of Windows are of a process")
def test_a_killed_process_that_nobody_waited_for(tmp_path: Path) -> None:
    with inside(INSIDE, tmp_path / "out") as process:
        process.kill()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        delete_leftovers(tmp_path)
        assert names(tmp_path) == []


@linux
@pytest.mark.parametrize(
    ("changed", "deleted"),
    [
        ({}, []),  # it is we
        ({"start": "1"}, [True, None]),  # another process has our number now
        ({"process": "4194999"}, [True, None]),  # no process has this number
        ({"process": "4194999", "start": ""}, [True]),  # whoever it was: the kernel's lock is free
        ({"process": "no", "start": "1"}, [True]),
        ({"namespace": "of a container"}, [True]),
        ({"namespace": "of a container", "device": "other"}, []),  # another mount may have locks of its own
        ({"namespace": ""}, [True]),
        ({"boot": "other"}, [True]),  # this machine was started again
        ({"boot": "other", "machine": "other"}, []),  # another machine, whose locks may not be seen here
        ({"boot": "other", "machine": ""}, []),
        ({"boot": ""}, [True]),
        ({"boot": "", "machine": ""}, []),
    ],
)
def test_only_what_has_ended_for_sure(tmp_path: Path, changed: dict[str, str], deleted: list[bool | None]) -> None:
    here = us(tmp_path)._replace(machine="this one")
    found = [free for free in (True, None, False) if here._replace(**changed).has_ended(here, free=free)]
    assert found == deleted


@linux
def test_an_unknown_machine_is_not_another_one(tmp_path: Path) -> None:
    here = us(tmp_path)._replace(machine="")
    assert not here._replace(boot="other").has_ended(here, free=True)


def test_files_of_others_are_left_alone(tmp_path: Path) -> None:
    here = us(tmp_path)
    ended = here._replace(process="4194999", start="1")
    made = [
        ".out.0123abcd",  # a temporary file of another program
        ".out.credimi-fedcba9876543210",  # no owner
        ".out.credimi-0123.owner",
        "out.credimi-0123456789abcdef.owner",
        "credimi-0123456789ABCDEF.owner",
        "credimi-0123456789abcdef.owner.txt",
    ]
    for name in made:
        (tmp_path / name).touch()
    owner(tmp_path, *ended, "more", name=".a.credimi-0000000000000001")
    owner(tmp_path, *ended[:-1], name=".a.credimi-0000000000000002")
    owner(tmp_path, name=".a.credimi-0000000000000003").write_bytes(b"\xff\xfe")
    owner(tmp_path, name=".a.credimi-0000000000000004").write_text("my notes\n")
    (tmp_path / ".a.credimi-0000000000000005.owner").mkdir()
    if os.name == "posix":
        real = owner(tmp_path, *ended, name="real")
        (tmp_path / ".a.credimi-0000000000000006").touch()
        (tmp_path / ".a.credimi-0000000000000006.owner").symlink_to(real)
        os.mkfifo(tmp_path / ".a.credimi-0000000000000007.owner")
    before = names(tmp_path)
    write_bytes(b"ours", tmp_path / "out")
    assert names(tmp_path) == sorted([*before, "out"])


@pytest.mark.skipif(os.name != "posix", reason="Windows has no such owners")
def test_files_of_another_user_are_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    killed(INSIDE, tmp_path / "out")
    with monkeypatch.context() as patch:
        patch.setattr(os, "geteuid", lambda: os.getuid() + 1)
        delete_leftovers(tmp_path)
    assert len(names(tmp_path)) == 2
    delete_leftovers(tmp_path)
    assert names(tmp_path) == []


@pytest.mark.parametrize("refused", ["unlink", "open", "scandir", "lstat"])
def test_a_folder_that_refuses_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refused: str) -> None:
    killed(INSIDE, tmp_path / "out")

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as patch:
        patch.setattr(os, refused, refuse)
        if refused in {"unlink", "lstat"}:
            patch.setattr(Path, refused, refuse)
        delete_leftovers(tmp_path)
    assert len(names(tmp_path)) == 2
    delete_leftovers(tmp_path / "absent")
    delete_leftovers(tmp_path)
    assert names(tmp_path) == []


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="it needs a user that may be refused")
def test_a_read_only_folder_is_no_error(tmp_path: Path) -> None:
    killed(INSIDE, tmp_path / "out")
    tmp_path.chmod(stat.S_IRUSR | stat.S_IXUSR)
    delete_leftovers(tmp_path)
    tmp_path.chmod(stat.S_IRWXU)
    assert len(names(tmp_path)) == 2


def test_an_owner_that_was_killed_before_it_wrote_its_name(tmp_path: Path) -> None:
    path = tmp_path / ".out.credimi-0123456789abcdef.owner"
    path.touch()
    delete_leftovers(tmp_path)
    assert names(tmp_path) == []


@pytest.mark.parametrize("moment", ["before the lock", "while it is tried"])
def test_an_owner_that_is_taken_for_one_that_was_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    """Another process deletes the file between our making and our locking it: we make another one."""
    lock = temporary_files.try_lock

    def late(descriptor: int) -> bool | None:
        monkeypatch.setattr(temporary_files, "try_lock", lock)
        if moment == "while it is tried":
            return False
        delete_leftovers(tmp_path)
        return lock(descriptor)

    monkeypatch.setattr(temporary_files, "try_lock", late)
    with owned(tmp_path) as temporary:
        assert names(tmp_path) == [f"{temporary.name}.owner"]
    assert names(tmp_path) == []


def test_a_disk_that_refuses_all_locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(temporary_files, "try_lock", lambda _: False)
    write_bytes(b"ours", tmp_path / "out")
    assert names(tmp_path) == ["out"]
