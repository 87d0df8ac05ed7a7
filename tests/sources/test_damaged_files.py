"""Damaged files of columns: whatever bytes are changed, the counts are those that pyarrow reads, or it is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

from credimi import Counts, CredimiError, count
from credimi.counts import tabulate
from credimi.sources.parquet import parquet_files

if TYPE_CHECKING:
    from pathlib import Path

WORDS = ["a", "b", None, "c", "a", "a", "a", "a", "a", "a", "a", "a", "b", "c", "e", "d", None, None]
TABLE = pa.table({"class": ["p", "q", "q"] * 6, "x": WORDS, "n": [1, 2, 3, 1, 2, None] * 3})
STORED: dict[str, dict[str, Any]] = {
    "plain": {"compression": "none"},
    "plain, second version": {"compression": "none", "data_page_version": "2.0"},
    "packed": {"compression": "snappy", "row_group_size": 9},
}


@pytest.fixture(autouse=True)
def _as_large_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small files are read as large ones are."""
    monkeypatch.setattr(tabulate, "CELLS_WORTH_COMPILING", 0)
    monkeypatch.setattr(parquet_files, "_GROUP", 1)


def read_by_pyarrow(path: Path) -> pa.Table | None:
    try:
        with pq.ParquetFile(path) as file:
            return file.read()
    except (pa.ArrowException, OSError, ValueError):
        return None


def same_or_refused(path: Path) -> Counts | None:
    """The counts of a file, None if it is refused; other counts than those of pyarrow's table are a fault."""
    try:
        found = count(path, "class")
    except CredimiError:
        return None
    table = read_by_pyarrow(path)
    assert table is not None, "pyarrow refuses this file"
    expected = count(table, "class")
    assert found.rows == expected.rows
    assert found == expected
    return found


def changed(content: bytes, at: int, number: int) -> bytes:
    return content[:at] + bytes([number]) + content[at + 1 :]


def pages_of(content: bytes) -> range:
    """Where the pages of a Parquet file are."""
    return range(4, len(content) - 8 - int.from_bytes(content[-8:-4], "little"))


@pytest.mark.parametrize("stored", STORED)
def test_every_changed_byte_of_the_pages(stored: str, tmp_path: Path) -> None:
    path = tmp_path / "table.parquet"
    pq.write_table(TABLE, path, **STORED[stored])
    content = path.read_bytes()
    refused = 0
    for at in pages_of(content)[::2]:
        path.write_bytes(changed(content, at, content[at] ^ (1 << at % 8)))
        refused += same_or_refused(path) is None
    assert refused > 20


def one_text_column(path: Path, **stored: Any) -> bytes:  # noqa: ANN401
    """A file in which the last page has runs of indices of few bits."""
    table = pa.table({"class": pa.array(["a"] * 20 + ["b"] * 20 + ["c"] * 24)})
    required = pa.schema([pa.field("class", pa.string(), nullable=False)])
    pq.write_table(table.cast(required), path, compression="none", **stored)
    return path.read_bytes()


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("index", [3, 5, 130])
def test_an_index_outside_the_dictionary_is_no_missing_value(
    index: int,
    compiled: bool,  # noqa: FBT001
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """There are three texts, whose indices have two bits. 5 and 130 have more, which is no index of two bits."""
    path = tmp_path / "table.parquet"
    content = one_text_column(path)
    if not compiled:
        monkeypatch.setattr(tabulate, "CELLS_WORTH_COMPILING", 1 << 40)
    runs = bytes([2, 20 << 1, 0, 20 << 1, 1, 24 << 1, 2])  # two bits; the length of each run, and its index
    assert content.count(runs) == 1
    path.write_bytes(changed(content, content.index(runs) + 4, index))
    assert read_by_pyarrow(path) is None
    with pytest.raises(CredimiError, match=r"table\.parquet is no readable Parquet file: "):
        count(path, "class")


@pytest.mark.parametrize("size", [23, 25, 63])
def test_a_run_has_to_be_as_long_as_the_page_says(size: int, tmp_path: Path) -> None:
    path = tmp_path / "table.parquet"
    content = one_text_column(path)
    at = content.index(bytes([24 << 1, 2]), content.index(bytes([2, 20 << 1, 0])))
    path.write_bytes(changed(content, at, size << 1))
    same_or_refused(path)


def test_rows_are_those_of_the_footer(tmp_path: Path) -> None:
    """A file of 64 rows whose one group of rows has none, by its footer."""
    path = tmp_path / "table.parquet"
    content = one_text_column(path)
    rows = b"\x16\x80\x01"  # the number 64 of eight bytes
    places = [at for at in range(pages_of(content).stop, len(content)) if content.startswith(rows, at)]
    assert len(places) >= 3  # of the file, of the values, of the group of rows
    for at in places:
        path.write_bytes(content[:at] + b"\x16\x80\x00" + content[at + 3 :])
        same_or_refused(path)


@pytest.mark.parametrize("codec", ["snappy", "gzip", "zstd", "lz4"])
def test_a_page_has_to_be_as_large_as_its_header_says(codec: str, tmp_path: Path) -> None:
    path = tmp_path / "table.parquet"
    pq.write_table(TABLE, path, compression=codec)
    content = path.read_bytes()
    with pq.ParquetFile(path) as file:
        starts = [file.metadata.row_group(0).column(index).dictionary_page_offset for index in range(3)]
    for start in starts:
        for more in (2, 8, 40):  # twice as many bytes more: numbers are stored with their sign in the last bit
            path.write_bytes(changed(content, start + 3, content[start + 3] + more))
            same_or_refused(path)


def test_an_unknown_codec_is_refused(tmp_path: Path) -> None:
    """To ask pyarrow for the codec of such a column ends the process."""
    path = tmp_path / "table.parquet"
    content = one_text_column(path)
    kind = b"\x15\x0c"  # the type of text
    places = [at for at in range(pages_of(content).stop, len(content)) if content.startswith(kind, at)]
    found = [content.index(b"class\x15\x00", at) + 6 for at in places if b"class\x15\x00" in content[at:]]
    for at in found:
        path.write_bytes(changed(content, at, 3))
        with pytest.raises(CredimiError, match=r"table\.parquet is no readable Parquet file: "):
            count(path, "class")
    assert found


def test_a_name_that_is_no_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "table.parquet"
    pq.write_table(TABLE, path, store_schema=False)
    content = path.read_bytes()
    path.write_bytes(content.replace(b"class", b"cl\xffss"))
    with pytest.raises(CredimiError, match=r"table\.parquet is no readable Parquet file: a name in it is not UTF-8"):
        count(path, "class")


@pytest.mark.parametrize("encoding", ["PLAIN", "DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY"])
@pytest.mark.parametrize("size", [1, 5, 1 << 20])
def test_text_of_every_encoding_is_counted(
    encoding: str, size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """pyarrow makes no dictionaries of some encodings."""
    path = tmp_path / "table.parquet"
    encodings = {"class": encoding, "x": encoding}
    pq.write_table(TABLE, path, use_dictionary=["n"], column_encoding=encodings, row_group_size=7)
    monkeypatch.setattr(parquet_files, "_CELLS", size)
    assert count(path, "class") == count(TABLE, "class")


def test_columns_of_codes_and_others_are_counted_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "table.parquet"
    pq.write_table(TABLE, path, row_group_size=7)
    for size in (1, 9, 1 << 20):
        monkeypatch.setattr(parquet_files, "_CELLS", size)
        assert count(path, "class") == count(TABLE, "class")


@pytest.mark.parametrize("kind", ["text", "dictionary"])
def test_positions_in_arrow_files_are_checked(kind: str, tmp_path: Path) -> None:
    """Ends of texts and places in a dictionary come from the file as they are: beyond its end is other memory."""
    path = tmp_path / "table.arrow"
    x = pa.array(["aa", "bb", "cc", "dd"] * 4)
    table = pa.table({"class": pa.array([0, 1] * 8), "x": x if kind == "text" else x.dictionary_encode()})
    pyarrow.feather.write_feather(table, path, compression="uncompressed")
    content = path.read_bytes()
    numbers = range(0, 34, 2) if kind == "text" else [0, 1, 2, 3] * 4
    stored = b"".join(number.to_bytes(4, "little") for number in numbers)
    assert content.count(stored) == 1
    for wrong in (2**31 - 1, 2**32 - 1, 50_000):
        at = content.index(stored) + 4 * 5
        path.write_bytes(content[:at] + wrong.to_bytes(4, "little") + content[at + 4 :])
        with pytest.raises(CredimiError, match=r"table\.arrow is no readable Arrow file: "):
            count(path, "class")


def test_a_column_that_pyarrow_leaves_out_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As it does with a column that a changed schema makes a group without columns."""
    path, read = tmp_path / "table.parquet", pq.ParquetFile.iter_batches
    pq.write_table(TABLE.select(["class", "n"]), path)
    monkeypatch.setattr(
        pq.ParquetFile,
        "iter_batches",
        lambda *asked, **options: (
            batch.rename_columns([f"other {name}" for name in batch.schema.names]) for batch in read(*asked, **options)
        ),
    )
    with pytest.raises(CredimiError, match="a column of its schema has no pages"):
        count(path, "class")
