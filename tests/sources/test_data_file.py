"""What a file is, is found once: how often it is opened and asked for its size; elsewhere each is a request."""

from __future__ import annotations

import gzip
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from credimi import CredimiError, count, prequential, rank
from credimi.cli import main
from credimi.core import remote_files
from credimi.sources.files import data_files

if TYPE_CHECKING:
    from collections.abc import Iterator

CSV = b"class,a,b\n" + b"".join(b"%d,%d,x y\n" % (row % 2, row % 3) for row in range(90))


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often which file was opened, and asked for its size."""
    found: Counter[str] = Counter()
    native, python, status = pa.OSFile, Path.open, Path.stat

    def opened(path: Any, *mode: str) -> Any:  # noqa: ANN401
        if not mode:
            found[f"open {Path(path.decode()).name}"] += 1
        return native(path, *mode)

    def opened_by_python(path: Path, *arguments: Any, **options: Any) -> Any:  # noqa: ANN401
        found[f"open {path.name}"] += 1
        return python(path, *arguments, **options)

    def told(path: Path, **options: Any) -> Any:  # noqa: ANN401
        found[f"size {path.name}"] += 1
        return status(path, **options)

    monkeypatch.setattr(pa, "OSFile", opened)
    monkeypatch.setattr(Path, "open", opened_by_python)
    monkeypatch.setattr(Path, "stat", told)
    return found


@pytest.fixture(params=["a.csv", "a.csv.gz", "a.parquet"])
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path = tmp_path / request.param
    if path.suffix == ".parquet":
        pq.write_table(pa.table({"class": ["p", "q"] * 40, "a": ["x", "y"] * 40}), path)
    else:
        path.write_bytes(gzip.compress(CSV) if path.suffix == ".gz" else CSV)
    return path


@pytest.mark.parametrize("named", ["file", "directory", "pattern"])
def test_a_file_is_opened_twice_and_asked_for_its_size_once(path: Path, asked: Counter[str], named: str) -> None:
    data = {"file": path, "directory": path.parent, "pattern": str(path.parent / "a.*")}[named]
    rank(data, target="class")
    assert (asked[f"open {path.name}"], asked[f"size {path.name}"]) == (2, 1)


def test_the_same_of_the_other_ways_to_read_it(path: Path, asked: Counter[str]) -> None:
    for way in (count, prequential):
        asked.clear()
        way(path, "class")
        assert (asked[f"open {path.name}"], asked[f"size {path.name}"]) == (2, 1), way


@pytest.mark.parametrize("command", ["rank", "count", "prequential"])
def test_the_same_of_the_command_line(path: Path, asked: Counter[str], command: str, tmp_path: Path) -> None:
    into = ["--into", str(tmp_path / "some.counts")] if command == "count" else []
    assert main([command, str(path), "--target", "class", *into]) == 0
    assert (asked[f"open {path.name}"], asked[f"size {path.name}"]) == (2, 1)


def test_what_is_selected_is_read_once_more(path: Path, asked: Counter[str], tmp_path: Path) -> None:
    output = tmp_path / ("less" + path.suffixes[0])
    assert main(["select", str(path), "--target", "class", "--rule", "backward", "--output", str(output)]) == 0
    assert (asked[f"open {path.name}"], asked[f"size {path.name}"]) == (3, 1)


@pytest.fixture
def requests(monkeypatch: pytest.MonkeyPatch) -> Iterator[Counter[str]]:
    """What a filesystem elsewhere was asked for."""
    memory = pytest.importorskip("fsspec", reason="fsspec is not installed").filesystem("memory")
    memory.pipe("/requests/a.csv", CSV)
    found: Counter[str] = Counter()
    own = remote_files._filesystem_of  # noqa: SLF001

    class Counting:
        def __init__(self, filesystem: Any) -> None:  # noqa: ANN401
            self.filesystem = filesystem

        def __getattr__(self, name: str) -> Any:  # noqa: ANN401
            found[name] += 1
            return getattr(self.filesystem, name)

    def counting(url: str, fs: Any) -> tuple[Any, str]:  # noqa: ANN401
        filesystem, inside = own(url, fs)
        return Counting(filesystem), inside

    monkeypatch.setattr(remote_files, "_filesystem_of", counting)
    yield found
    memory.rm("/requests", recursive=True)


def test_a_url_costs_one_look_and_two_opens(requests: Counter[str]) -> None:
    rank("memory://requests/a.csv", target="class")
    assert requests == {"get_file_info": 1, "open_input_file": 1, "open_input_stream": 1}


def test_what_a_file_is(path: Path) -> None:
    (file,) = data_files([path])
    assert str(file) == str(path)
    assert file.size == path.stat().st_size == file.source.size
    assert file.names[:2] == ["class", "a"]
    assert file.kind == ("Parquet" if path.suffix == ".parquet" else "CSV")
    assert not file.is_counts
    assert data_files([file]) == [file]
    with pytest.raises(AttributeError):
        file.layout = None  # type: ignore[misc]


def test_files_that_are_alike_keep_names_and_types_once(path: Path) -> None:
    other = path.with_name("b" + path.name)
    other.write_bytes(path.read_bytes())
    one, two = data_files([path, other])
    if one.kind == "Parquet":
        assert one.layout.schema is two.layout.schema  # type: ignore[union-attr]
    else:
        assert one.layout is two.layout


def test_counts_are_no_data(path: Path, tmp_path: Path) -> None:
    kept = tmp_path / "some.counts"
    count(path, "class").save(kept)
    assert data_files(kept)[0].is_counts
    assert rank(kept).rows == rank(path, "class").rows
    with pytest.raises(CredimiError, match=r"some\.counts holds counts, not data: load it"):
        count(kept, "class")
