"""Lack of memory is called what it is, in every reader, with the remedy; no file is called unreadable for it."""

from __future__ import annotations

import errno
import json
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.csv
import pyarrow.ipc
import pyarrow.json
import pyarrow.parquet as pq
import pytest
from pyarrow import feather

import credimi
from credimi import CredimiError
from credimi.cli import main
from credimi.core.errors import lacks_memory

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SENTENCE = r"too little memory to read .*malloc of size 64 failed.*--scratch.*--features.*in parts"


def fail(*_: object, **__: object) -> None:
    raise pa.lib.ArrowMemoryError("malloc of size 64 failed")


class FailingFile(pq.ParquetFile):
    """A file whose pages do not fit."""

    def iter_batches(self, *_: object, **__: object) -> Iterator[pa.RecordBatch]:
        fail()
        yield from ()


def failing_reader(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let pyarrow find no memory for the rows of such files."""
    if kind == "csv":
        monkeypatch.setattr(pa.csv, "read_csv", fail)
    elif kind == "jsonl":
        monkeypatch.setattr(pa.json, "read_json", fail)
    elif kind == "parquet":
        monkeypatch.setattr(pq, "ParquetFile", FailingFile)
    else:
        monkeypatch.setattr("credimi.sources.arrow_files.check", fail)


@pytest.fixture
def table() -> pa.Table:
    return pa.table({"x": ["a", "b"] * 20, "y": ["p", "q"] * 20})


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet", "arrow"])
def test_every_reader_names_it(
    table: pa.Table, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / f"data.{kind}"
    if kind == "csv":
        pa.csv.write_csv(table, path)
    elif kind == "jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in table.to_pylist()))
    elif kind == "parquet":
        pq.write_table(table, path)
    else:
        feather.write_feather(table, path)
    failing_reader(kind, monkeypatch)
    with pytest.raises(CredimiError, match=SENTENCE):
        credimi.count(path, "y")
    assert main(["rank", str(path), "--target", "y"]) == 2
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert "too little memory" in told
    assert "readable" not in told


@pytest.mark.parametrize("error", [MemoryError(), pa.lib.ArrowMemoryError("malloc of size 64 failed")])
def test_the_command_tells_it_wherever_it_occurs(
    error: Exception, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail_here(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("credimi.inference.mutual_information.mutual_information", fail_here)
    assert main(["table", "10 2; 3 15"]) == 2
    assert "too little memory for this command" in capsys.readouterr().err


def test_what_a_library_says() -> None:
    assert lacks_memory(OSError(errno.ENOMEM, "Cannot allocate memory"))
    assert lacks_memory(OSError("ZSTD decompress failed: Allocation error : not enough memory"))
    assert lacks_memory(pa.ArrowInvalid("malloc of size 64 failed"))
    assert not lacks_memory(pa.ArrowInvalid("CSV parse error: Expected 2 columns, got 3: out of memory,a,b"))
    assert not lacks_memory(OSError(errno.ENOSPC, "No space left on device"))
