"""Directories that hold more than files that can be read: links, folders and names of all kinds."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from credimi import CredimiError, count
from credimi.sources.files import find

ROWS = "x,y\na,p\nb,q\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.csv").write_text(ROWS)
    return tmp_path


@pytest.mark.parametrize("asked", ["", "*", "**/*.csv"])
def test_a_link_that_leads_nowhere_is_named(folder: Path, asked: str) -> None:
    (folder / "gone.csv").symlink_to("nothing.csv")
    with pytest.raises(CredimiError, match=r"cannot read .*gone\.csv: No such file or directory \(it is a link that"):
        find(str(folder / asked))


def test_a_link_to_itself_is_named(folder: Path) -> None:
    (folder / "loop.csv").symlink_to("loop.csv")
    with pytest.raises(CredimiError, match=r"cannot read .*loop\.csv: "):
        find(folder)


def test_broken_links_that_are_no_tables_do_not_matter(folder: Path) -> None:
    for name in (".#a.csv", "notes.txt"):  # an editor's lock is such a link
        (folder / name).symlink_to("nothing")
    assert [each.place for each in find(folder)] == [folder / "a.csv"]


@pytest.mark.parametrize("asked", ["", "*.csv"])
def test_a_file_that_may_not_be_looked_at_is_named(folder: Path, asked: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "secret.csv").write_text(ROWS)
    found = Path.stat

    def stat(path: Path, **rest: Any) -> os.stat_result:  # noqa: ANN401
        if path.name == "secret.csv":
            raise PermissionError(13, "Permission denied", str(path))
        return found(path, **rest)

    monkeypatch.setattr(Path, "stat", stat)
    with pytest.raises(CredimiError, match=r"cannot read .*secret\.csv: Permission denied"):
        find(str(folder / asked))


def test_a_folder_that_may_not_be_looked_at_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And not passed over, as if it held no rows."""
    (folder / "secret").mkdir()
    found = os.scandir

    def scandir(path: Any = ".") -> Any:  # noqa: ANN401
        if os.fspath(path).endswith("secret"):
            raise PermissionError(13, "Permission denied", str(path))
        return found(path)

    monkeypatch.setattr(os, "scandir", scandir)
    with pytest.raises(CredimiError, match=r"cannot read the directory .*secret: Permission denied"):
        count(folder, "y")
