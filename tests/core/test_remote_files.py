"""Files behind URLs: counted as if they were here; what is not there is named."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from trap_table import digest, expected, table

from credimi import Counts, CredimiError, count
from credimi.cli import main
from credimi.core.remote_files import Remote, is_remote
from credimi.counts.saved.counted_files import CountedFile
from credimi.sources import files

if TYPE_CHECKING:
    from collections.abc import Iterator

CSV = b"class,a,b\n" + b"".join(b"%d,%d,x y\n" % (row % 2, row % 3) for row in range(90))


@pytest.fixture(params=["file", "memory"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Of a directory, by pyarrow's own filesystem, or by fsspec's."""
    if request.param == "file":
        yield f"file://{tmp_path}"
        return
    memory = pytest.importorskip("fsspec", reason="fsspec is not installed").filesystem("memory")
    memory.makedirs("/data", exist_ok=True)
    yield "memory://data"
    memory.rm("/data", recursive=True)


def put(address: str, name: str, content: bytes) -> str:
    scheme, _, folder = address.partition("://")
    if scheme == "file":
        path = Path(folder, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    else:
        import fsspec  # noqa: PLC0415

        fsspec.filesystem("memory").pipe(f"/{folder}/{name}", content)
    return f"{address}/{name}"


def parquet_of(data: pa.Table, **options: Any) -> bytes:  # noqa: ANN401
    sink = pa.BufferOutputStream()
    pq.write_table(data, sink, **options)
    return bytes(sink.getvalue())


def local(tmp_path: Path, content: bytes) -> Path:
    path = tmp_path / "local copy"
    path.write_bytes(content)
    return path


def test_parquet(address: str) -> None:
    counts = count(put(address, "a.parquet", parquet_of(table(), row_group_size=50)), "class")
    assert digest(counts) == expected()
    assert [source.path for source in counts.sources] == [f"{address}/a.parquet"]


@pytest.mark.parametrize("packed", [False, True])
def test_csv(address: str, tmp_path: Path, *, packed: bool) -> None:
    url = put(address, "a.csv.gz" if packed else "a.csv", gzip.compress(CSV) if packed else CSV)
    assert count(url, "class") == count(local(tmp_path, CSV), "class")


def test_directory_pattern_and_list(address: str, tmp_path: Path) -> None:
    one, two = put(address, "year=1/a.csv", CSV), put(address, "year=2/b.csv", CSV)
    put(address, "year=2/notes.txt", b"no table")
    put(address, "year=2/.hidden.csv", b"no table")
    once = count(local(tmp_path, CSV), "class")
    both = once + once
    assert count(address, "class") == both
    assert count([one, two], "class") == both
    assert count(f"{address}/year=*/*.csv", "class", features=["a", "b"]).rows == 180
    assert [str(each.place) for each in files.find(f"{address}/**/[ab].csv")] == [one, two]
    assert [str(each.place) for each in files.find(f"{address}/**/[!a].csv")] == [two]
    assert [str(each.place) for each in files.find(f"{address}/year=?/a.csv")] == [one]


def test_what_is_not_there(address: str) -> None:
    put(address, "deep/notes.txt", b"no table")
    with pytest.raises(CredimiError, match=r"cannot read .*/gone\.csv: there is no such file or directory"):
        count(f"{address}/gone.csv", "class")
    with pytest.raises(CredimiError, match=r"no file matches .*/\*\.csv"):
        count(f"{address}/*.csv", "class")
    with pytest.raises(CredimiError, match=r"the directory .*/deep holds no file that ends in .csv"):
        count(f"{address}/deep", "class")


def test_broken_files_are_named(address: str) -> None:
    whole = parquet_of(table())
    with pytest.raises(CredimiError, match=r"/cut\.parquet is no readable Parquet file"):
        count(put(address, "cut.parquet", whole[:-9]), "class")
    with pytest.raises(CredimiError, match=r"/a\.csv, line 3: 1 field, the header has 2"):
        count(put(address, "a.csv", b"class,a\n1,2\n3\n"), "class")


def test_a_scheme_that_nobody_knows() -> None:
    with pytest.raises(CredimiError, match=r"cannot read nobody://bucket/a\.csv: "):
        count("nobody://bucket/a.csv", "class")


def test_the_same_file_is_not_counted_twice(address: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    url, into = put(address, "a.csv", CSV), str(tmp_path / "all.counts")
    assert main(["count", url, "--target", "class", "--into", into]) == 0
    assert main(["count", url, "--target", "class", "--into", into]) == 2
    assert f"{url} was counted into {into} before" in capsys.readouterr().err
    assert Counts.load(into).rows == 90
    assert main(["rank", into]) == 0


def test_a_path_and_its_url_are_one_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(CSV)
    command = ["count", str(path), f"file://{path}", "--target", "class", "--into", str(tmp_path / "all.counts")]
    assert main(command) == 2
    assert f"a.csv is named twice, as file://{path}, too: name it once" in capsys.readouterr().err
    assert main([*command, "--force"]) == 0


def test_rank_and_select(address: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    url = put(address, "a.csv", CSV)
    assert main(["rank", url, "--target", "class", "--format", "csv"]) == 0
    assert "\nfeature,values," in capsys.readouterr().out
    output = tmp_path / "less.csv"
    assert main(["select", url, "--target", "class", "--rule", "backward", "--output", str(output)]) == 0
    assert output.read_text(encoding="utf-8").startswith("class")


def test_what_a_remote_file_tells(address: str) -> None:
    url = put(address, "some.csv.gz", gzip.compress(CSV))
    ((path, *_),) = files.find(url)
    assert isinstance(path, Remote)
    assert (str(path), path.name, path.suffix, path.suffixes) == (url, "some.csv.gz", ".gz", [".csv", ".gz"])
    assert path.absolute() is path
    assert CountedFile.of(path).size == len(gzip.compress(CSV))
    with pytest.raises(ValueError, match="mode 'w'"):
        path.open("w")
    with path.open() as file:
        assert file.read(2) == b"\x1f\x8b"


@pytest.mark.parametrize("text", ["C:/data/a.csv", "C://data", "a.csv", "/data/a.csv", "a:b.csv", "://x"])
def test_paths_are_no_urls(text: str) -> None:
    assert not is_remote(text)
