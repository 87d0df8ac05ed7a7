"""Text of Parquet files from its pages to codes: cell by cell what pyarrow reads, or left to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from credimi import CredimiError, count
from credimi.counts import tabulate
from credimi.sources.parquet import parquet_codes, parquet_files

if TYPE_CHECKING:
    from pathlib import Path

ROWS = 5_000
WORDS = ["", "a", "é", "日本", "NA", "1.0", "true", "x" * 300, " blank "]


def texts(distinct: int, missing: float, rows: int = ROWS, *, runs: int = 1) -> pa.Array:
    generator = np.random.default_rng(distinct)
    codes = np.repeat(generator.integers(0, distinct, rows // runs + 1), runs)[:rows]
    known = [*WORDS, *map(str, range(1_000))][:distinct]
    mask = np.repeat(generator.random(rows // runs + 1) < missing, runs)[:rows]
    return pa.DictionaryArray.from_arrays(pa.array(codes, mask=mask), known).cast(pa.string())


TABLE = pa.table(
    {
        "class": texts(3, 0.1),
        "one": texts(1, 0.0),
        "one or missing": texts(1, 0.5),
        "missing": pa.nulls(ROWS, pa.string()),
        "no null": texts(5, 0.0),
        "runs": texts(7, 0.3, runs=100),
        "short runs": texts(7, 0.3, runs=9),
        "most": texts(255, 0.2),
        "large": texts(20, 0.1).cast(pa.large_string()),
    }
)
WAYS: dict[str, dict[str, Any]] = {
    "as usual": {},
    "zstd": {"compression": "zstd"},
    "gzip": {"compression": "gzip"},
    "not packed": {"compression": "none"},
    "pages of the second version": {"data_page_version": "2.0"},
    "the second version, not packed": {"data_page_version": "2.0", "compression": "none"},
    "small pages": {"data_page_size": 100, "write_batch_size": 37},
    "small pages of the second version": {"data_page_size": 100, "write_batch_size": 37, "data_page_version": "2.0"},
    "groups": {"row_group_size": 701},
    "with checksums": {"write_page_checksum": True},
    "an old version": {"version": "1.0"},
}


def read(path: Path, group: int) -> dict[str, list[str | None]] | None:
    """The columns of a group of rows as codes tell them."""
    with pa.OSFile(str(path)) as source, pq.ParquetFile(source) as file:
        schema = file.schema_arrow
        columns = parquet_codes.TextColumns.of(file, source, schema)
        if columns is None or columns.readable(schema.names) != schema.names:
            return None
        found = columns.coded(group, schema.names)
    if found is None:
        return None
    return {name: [(*own.texts, *[None] * 256)[code] for code in own.codes.tolist()] for name, own in found.items()}


@pytest.mark.parametrize("required", [False, True])
@pytest.mark.parametrize("way", WAYS)
def test_codes_are_what_pyarrow_reads(way: str, required: bool, tmp_path: Path) -> None:  # noqa: FBT001
    path = tmp_path / "table.parquet"
    table = TABLE
    if required:
        full = [name for name in table.column_names if not table[name].null_count]
        fields = [pa.field(name, table.schema.field(name).type, nullable=False) for name in full]
        table = table.select(full).cast(pa.schema(fields))
    pq.write_table(table, path, **WAYS[way])
    with pq.ParquetFile(path) as file:
        for group in range(file.metadata.num_row_groups):
            assert read(path, group) == file.read_row_group(group).to_pydict()


@pytest.mark.parametrize(
    ("column", "way"),
    [
        (texts(256, 0.1), {}),
        (texts(1_000, 0.0), {}),
        (texts(200, 0.1), {"use_dictionary": False}),
        (texts(200, 0.1), {"dictionary_pagesize_limit": 64}),  # places in a dictionary first, then plain text
        (texts(5, 0.0), {"compression": "brotli"}),
        (pa.array([["a"], ["b"]] * 20), {}),
        (pa.array([{"a": "b"}] * 20), {}),
        (pa.array([1, 2] * 20), {}),
        (pa.array([b"a", b"\xff"] * 20), {}),
    ],
)
def test_what_is_stored_in_another_way_is_left_to_pyarrow(
    column: pa.Array, way: dict[str, Any], tmp_path: Path
) -> None:
    path = tmp_path / "table.parquet"
    pq.write_table(pa.table({"class": texts(2, 0.0, len(column)), "x": column}), path, **way)
    assert read(path, 0) is None


@pytest.mark.parametrize("writer", ["polars", "duckdb"])
@pytest.mark.parametrize("rows", [20, ROWS])
def test_files_of_other_writers(writer: str, rows: int, tmp_path: Path) -> None:
    path = tmp_path / "table.parquet"
    written = TABLE.slice(0, rows).select([name for name in TABLE.column_names if name != "missing"])
    if writer == "polars":
        pytest.importorskip("polars").from_arrow(written).write_parquet(path)
    else:
        pytest.importorskip("duckdb").sql(f"copy (from written) to '{path}' (format parquet)")
    found = read(path, 0)
    assert found in (None, pq.read_table(path).to_pydict())
    assert found is not None or rows == 20, "few rows are stored without a dictionary"


def test_a_broken_page_is_left_to_pyarrow_or_read_as_it_is(tmp_path: Path) -> None:
    """Whatever the bytes are, nothing is read or written beyond the arrays, and no code beyond the dictionary."""
    path = tmp_path / "table.parquet"
    pq.write_table(TABLE.slice(0, 400).select(["class", "runs", "most"]), path, compression="none")
    content = path.read_bytes()
    generator = np.random.default_rng(1)
    refused = 0
    for _ in range(300):
        broken = bytearray(content)
        for place in generator.integers(4, len(content) * 2 // 3, generator.integers(1, 4)).tolist():
            broken[place] = int(generator.integers(0, 256))
        path.write_bytes(broken)
        try:
            found = read(path, 0)
        except (pa.ArrowException, OSError):  # the footer is broken
            continue
        refused += found is None
    assert refused > 30


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("columns", [3, 17])
def test_counts_are_those_of_pyarrow(
    columns: int, threads: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "table.parquet"
    mixed = TABLE.append_column("number", pa.array(np.arange(ROWS) % 50)).append_column("many", texts(300, 0.1))
    pq.write_table(mixed, path, row_group_size=1_500)
    monkeypatch.setattr(tabulate, "CELLS_WORTH_COMPILING", 0)
    monkeypatch.setattr(parquet_files, "_GROUP", 100)
    monkeypatch.setattr(parquet_files, "COLUMNS", columns)
    used: list[bool] = []
    own = parquet_codes.TextColumns.coded
    monkeypatch.setattr(
        parquet_codes.TextColumns, "coded", lambda *given: used.append((found := own(*given)) is not None) or found
    )
    names = [name for name in mixed.column_names if name != "class"]
    for features in (names, names[:-2]):
        used.clear()
        found = count(path, "class", features=features, threads=threads)
        assert any(used) or (columns == 17 and features is names), "a block with other columns is left to pyarrow"
        with monkeypatch.context() as patched:
            patched.setattr(parquet_codes, "MAX_CELLS", 0)
            plain = count(path, "class", features=features, threads=threads)
        assert found.to_bytes() == plain.to_bytes()


def test_bytes_that_are_no_text_are_refused_as_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "table.parquet"
    bad = pa.Array.from_buffers(pa.string(), 2, [None, *pa.array([b"a", b"\xff"]).buffers()[1:]])
    pq.write_table(pa.table({"class": pa.array(["p", "q"]), "x": bad}), path)
    monkeypatch.setattr(parquet_files, "_GROUP", 1)
    with pytest.raises(CredimiError) as before:
        count(path, "class")
    monkeypatch.setattr(tabulate, "CELLS_WORTH_COMPILING", 0)
    with pytest.raises(CredimiError) as after:
        count(path, "class")
    assert str(after.value) == str(before.value)
