"""A file that was counted is known under every name it has or gets; one that is merely alike is another."""

from __future__ import annotations

import hashlib
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from credimi import Counts, CredimiError, count
from credimi.counts.saved import counts_file
from credimi.counts.saved.counted_files import CountedFile, finished, fresh

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(name: str, rows: int = 4) -> Path:
    path = Path(name)
    path.write_text("y,x\n" + "p,1\nq,2\n" * (rows // 2))
    return path


def test_a_renamed_file_is_not_counted_again(said: Callable[..., str]) -> None:
    write("log")
    said("log")
    Path("log").rename("log.1")
    was = Path("log").resolve()
    assert f"log.1 was counted into all.counts before as {was}: leave it out" in said("log.1", code=2)
    assert "8 rows, 4 of them new" in said("log.1", "--force")


def test_logs_that_are_rotated(said: Callable[..., str]) -> None:
    write("log", rows=4)
    said("log")
    Path("log").rename("log.1")
    write("log", rows=6)  # another file, where the first was
    assert "log.1 was counted into all.counts before" in said("log.1", code=2)
    assert "has changed since" in said("log", code=2)
    assert "10 rows, 6 of them new" in said("log", "--force")
    Path("log.1").rename("log.2")
    Path("log").rename("log.1")
    write("log", rows=8)
    for name in ("log.1", "log.2"):
        assert f"{name} was counted into all.counts before" in said(name, code=2)


def test_the_latest_file_of_a_path_is_known(said: Callable[..., str]) -> None:
    write("log", rows=4)
    said("log")
    write("log", rows=6)
    said("log", "--force")
    assert "log was counted into all.counts before: leave it out" in said("log", code=2)


def test_a_hard_link_is_the_file(said: Callable[..., str]) -> None:
    os.link(write("a.csv"), "b.csv")
    assert f"a.csv is named twice, as {Path('b.csv').resolve()}, too" in said("a.csv", "b.csv", code=2)
    said("a.csv")
    assert "b.csv was counted into all.counts before as" in said("b.csv", code=2)
    assert "b.csv was counted into all.counts before as" in said(f"file://{Path('b.csv').resolve()}", code=2)


def test_a_hard_link_is_the_file_without_counts_that_are_kept() -> None:
    os.link(write("a.csv"), "b.csv")
    url = f"file://{Path('a.csv').resolve()}"
    for twice in (["a.csv", "b.csv"], ["a.csv", url], ["b.csv", url]):
        with pytest.raises(CredimiError, match=r"is named twice, as .*: its rows would count twice; name it once"):
            count(twice, "y")


def test_copies_of_other_names_are_other_files(said: Callable[..., str]) -> None:
    """Parts that hold a header only, unpacked within one second, are alike in all but their names."""
    Path("part1.csv").write_text("y,x\n")
    write("rows.csv")
    shutil.copy2("part1.csv", "part2.csv")
    shutil.copy2("part1.csv", "part3.csv")
    said("part1.csv", "part2.csv", "rows.csv")
    said("part3.csv")
    assert "was counted into" in said("part2.csv", code=2)
    Path("part1.csv").unlink()
    shutil.copy2("part2.csv", "part4.csv")
    assert "part4.csv was counted into all.counts before as" in said("part4.csv", code=2)  # as part 1 is gone


def test_a_file_elsewhere_is_the_same_under_its_name_only() -> None:
    kept = CountedFile("s3://bucket/a.csv", 1, 1, "x")
    other = CountedFile("s3://bucket/b.csv", 1, 1, "x")
    assert fresh([other], [kept], "c") == [other]
    with pytest.raises(CredimiError, match=r"was counted into c before as s3://bucket/a\.csv"):
        fresh([CountedFile("s3://other/a.csv", 1, 1, "x")], [kept], "c")


def test_a_call_that_was_killed_goes_on_after_a_file_was_renamed() -> None:
    Path("a.csv").write_text("y,x\np,1\n")
    before = CountedFile.of(Path("a.csv"))
    unfinished = CountedFile(before.path, before.size, before.modified, before.digest, unfinished=True)
    Path("a.csv").rename("b.csv")
    now = CountedFile.of(Path("b.csv"))
    assert fresh([now], [unfinished], "c") == []
    assert finished([unfinished], [now]) == (before,)


def test_counts_of_version_0_1_know_their_files(said: Callable[..., str]) -> None:
    """As that version wrote them: path, size, time and digest."""
    write("a.csv")
    said("a.csv")
    header, arrays = counts_file.load("all.counts")
    status = Path("a.csv").stat()
    assert header["sources"] == [
        {
            "path": str(Path("a.csv").resolve()),
            "size": status.st_size,
            "modified": status.st_mtime_ns,
            "digest": hashlib.sha256(2 * Path("a.csv").read_bytes()).hexdigest(),  # of both ends
        }
    ]
    assert set(arrays) == {"numbers", "counts"}
    assert Counts.load("all.counts").rows == 4
    assert "a.csv was counted into all.counts before" in said("a.csv", code=2)
    Path("a.csv").rename("b.csv")
    assert "b.csv was counted into all.counts before as" in said("b.csv", code=2)
