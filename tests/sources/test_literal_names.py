"""Names that look like patterns: a file that is named is the one that is counted, whoever counts it."""

from __future__ import annotations

import gzip
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from credimi import CredimiError, count
from credimi.columns.reading_options import ReadingOptions
from credimi.counts.request import Plan
from credimi.sources.files import count_file, find

# the name, and one that it matches as a pattern
NAMES = [("data[1]", "data1"), ("data[!1]", "datax"), ("a*b", "axb"), ("q?", "qq"), ("[[]", "["), ("{a,b}", "a")]


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(name: str, rows: int) -> str:
    path = Path(f"{name}.parquet")
    path.parent.mkdir(exist_ok=True)
    pq.write_table(
        pa.table({"y": ["p", "q"] * rows, "x": ["a", "b"] * rows}), path.absolute()
    )  # a ~ of its own is a home to pyarrow, too
    return str(path)


@pytest.mark.parametrize("engine", ["files", "duckdb"])
def test_a_name_that_looks_like_a_pattern_is_a_name(engine: str) -> None:
    if engine != "files":
        pytest.importorskip(engine)
    for name, other in NAMES:
        own, _ = write(name, 3), write(other, 5)
        assert count(own, "y", engine=engine).rows == 6, name
        assert count([own, f"{other}.parquet"], "y", engine=engine).rows == 16, name


@pytest.mark.parametrize("engine", ["files", "duckdb"])
def test_a_folder_may_be_called_as_a_home_is(engine: str) -> None:
    if engine != "files":
        pytest.importorskip(engine)
    for path in (Path("~/a.csv"), Path("~/b.csv.gz")):
        path.parent.mkdir(exist_ok=True)
        path.write_bytes((gzip.compress if path.suffix == ".gz" else bytes)(b"y,x\np,1\nq,2\n"))
        assert count(str(path), "y", engine=engine).rows == 2
    assert count(write("~/data", 3), "y", engine=engine).rows == 6


def test_a_url_that_looks_like_a_pattern_is_a_name(tmp_path: Path) -> None:
    for name, other in NAMES:
        url = f"file://{tmp_path}/{write(name, 3)}"
        write(other, 5)
        assert [str(each.place) for each in find(url)] == [url], name
        assert count(url, "y").rows == 6, name


def test_a_url_of_fsspec_that_looks_like_a_pattern_is_a_name() -> None:
    memory = pytest.importorskip("fsspec", reason="fsspec is not installed").filesystem("memory")
    memory.pipe("/names/a[1].csv", b"y,x\np,1\nq,2\n")
    memory.pipe("/names/a1.csv", b"y,x\np,1\n")
    assert count("memory://names/a[1].csv", "y").rows == 2
    memory.rm("/names", recursive=True)


@pytest.mark.parametrize("address", ["{}/", "file://{}/"])
def test_a_worker_that_does_not_see_the_file_counts_no_other(tmp_path: Path, address: str) -> None:
    write("data1", 5)
    plan = Plan("y", ("x",), ReadingOptions())
    with pytest.raises(CredimiError, match="there is no such file where it is counted"):
        count_file(address.format(tmp_path) + "data[1].parquet", plan)
