"""Files that are replaced: with the permissions of any new file, and on the disk before the old one is gone."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from credimi import count
from credimi.core.atomic_files import replacing, write, write_bytes
from credimi.core.errors import CredimiError

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.skipif(os.name != "posix", reason="permissions and inodes are those of POSIX")


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def mask(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A mask of the process, which nobody may touch while it is there: other threads make files, too."""
    before = os.umask(0o027)
    found = os.umask

    def refuse(_mask: int) -> int:
        raise AssertionError("the mask of the process is not ours")

    monkeypatch.setattr(os, "umask", refuse)
    yield
    found(before)


@pytest.mark.usefixtures("mask")
def test_a_new_file_has_the_permissions_that_the_mask_leaves(tmp_path: Path) -> None:
    write_bytes(b"new", tmp_path / "new")
    assert mode(tmp_path / "new") == 0o640
    count({"x": ["a"], "y": ["p"]}, "y").save(tmp_path / "counts")
    assert mode(tmp_path / "counts") == 0o640


@pytest.mark.usefixtures("mask")
@pytest.mark.parametrize("permissions", [0o600, 0o644, 0o666, 0o755])
def test_a_file_keeps_its_permissions_and_is_private_until_then(tmp_path: Path, permissions: int) -> None:
    path = tmp_path / "old"
    path.write_bytes(b"old")
    path.chmod(permissions)
    with replacing(path) as temporary:
        assert mode(temporary) == 0o600
        temporary.write_bytes(b"new")
    assert mode(path) == permissions
    assert path.read_bytes() == b"new"
    assert [each.name for each in tmp_path.iterdir()] == ["old"]


def test_file_and_directory_are_on_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[tuple[str, int]] = []
    fsync, replace = os.fsync, Path.replace

    def sync(handle: int) -> None:
        done.append(("sync", os.fstat(handle).st_ino))
        fsync(handle)

    def rename(path: Path, target: Path) -> Path:
        done.append(("replace", path.stat().st_ino))
        return replace(path, target)

    monkeypatch.setattr(os, "fsync", sync)
    monkeypatch.setattr(Path, "replace", rename)
    write_bytes(b"new", tmp_path / "new")
    own, folder = (tmp_path / "new").stat().st_ino, tmp_path.stat().st_ino
    assert done == [("sync", own), ("replace", own), ("sync", folder)]


def test_what_fails_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")

    def full(_handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(CredimiError, match="a cannot be written: No space left on device"):
        write_bytes(b"new", path)
    assert path.read_bytes() == b"old"
    assert [each.name for each in tmp_path.iterdir()] == ["a"]


@pytest.mark.parametrize("name", ["a" * 255, "é" * 127, "年" * 85])
def test_a_name_as_long_as_names_may_be(tmp_path: Path, name: str) -> None:
    write("text", str(tmp_path / name))
    assert [each.name for each in tmp_path.iterdir()] == [name]
