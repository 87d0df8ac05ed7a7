"""Names of files that are no text, and threads that read: what the process has is left as it was."""

from __future__ import annotations

import csv
import gzip
import os
from pathlib import Path
from threading import Event, Thread

import pyarrow as pa
import pyarrow.parquet
import pytest

from credimi import count
from credimi.cli import main
from credimi.counts.counts import Counts
from credimi.sources.csv import csv_files

ROWS = "x,y\n" + "a,p\nb,q\n" * 20
ODD = os.fsdecode(b"\xff\xfe caf\xe9")  # bytes that are no UTF-8


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder whose own name is no text."""
    folder = tmp_path / ODD
    try:
        folder.mkdir()
    except OSError:  # macOS
        pytest.skip("this system has no such names")
    monkeypatch.chdir(folder)
    Path(f"{ODD}.csv").write_text(ROWS)
    Path(f"{ODD}.csv.gz").write_bytes(gzip.compress(ROWS.encode()))
    pa.parquet.write_table(pa.table({"x": ["a", "b"] * 20, "y": ["p", "q"] * 20}), "plain.parquet")
    Path("plain.parquet").rename(f"{ODD}.parquet")
    return folder


KINDS = [".csv", ".csv.gz", ".parquet"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("engine", ["files", "duckdb"])
def test_files_whose_names_are_no_text_are_counted(folder: Path, kind: str, engine: str) -> None:
    if engine == "duckdb":
        pytest.importorskip("duckdb")
    counts = count(folder / f"{ODD}{kind}", "y", engine=engine)
    assert counts.rows == 40
    assert counts["x"].joint.tolist() == [[20, 0], [0, 20]]


@pytest.mark.parametrize("kind", KINDS)
def test_commands_take_such_names(folder: Path, kind: str, capfd: pytest.CaptureFixture[str]) -> None:
    name = f"{ODD}{kind}"
    page = f"{ODD}.html"
    assert main(["rank", name, "--target", "y", "--html", page, "--output", f"{ODD}.txt"]) == 0
    assert rb"\udcff" in (folder / page).read_bytes()
    assert main(["select", name, "--target", "y", "--output", f"new{name}"]) == 0
    assert count(folder / f"new{name}", "y") == count(folder / name, "y")
    assert main(["count", name, "--target", "y", "--into", f"{ODD}.counts"]) == 0
    assert Counts.load(folder / f"{ODD}.counts").rows == 40
    assert main(["count", name, "--target", "y", "--into", f"{ODD}.counts"]) == 2
    assert main(["prequential", name, "--target", "y", "--orders", "2", "--keep", ODD]) == 0
    assert main(["rank", f"no{ODD}", "--target", "y"]) == 2
    err = capfd.readouterr().err
    assert r"credimi: cannot read no\udcff\udcfe caf\udce9: No such file or directory" in err


def test_threads_leave_the_limit_of_fields_as_it_was(tmp_path: Path) -> None:
    """One reads long fields while another begins, and ends before it."""
    before = csv.field_size_limit()
    began, end = Event(), Event()

    def other() -> None:
        with csv_files._long_fields():  # noqa: SLF001
            began.set()
            end.wait(10)
            assert csv.field_size_limit() > before

    thread = Thread(target=other)
    with csv_files._long_fields():  # noqa: SLF001
        thread.start()
        assert began.wait(10)
    assert csv.field_size_limit() > before  # the other still reads
    end.set()
    thread.join(10)
    assert csv.field_size_limit() == before
    path = tmp_path / "a.csv"
    path.write_text(f'{"x" * 200_000},y\n"a",p\n')
    assert count(path, "y").rows == 1
    assert csv.field_size_limit() == before
