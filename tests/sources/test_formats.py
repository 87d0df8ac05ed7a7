"""JSON lines and Arrow's files: the same counts as of the table; ARFF and JSON documents are refused by their names."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pytest

import credimi
from credimi.sources import arrow_files, json_lines
from credimi.sources.files import data_files

if TYPE_CHECKING:
    from pathlib import Path

RANDOM = np.random.default_rng(3)
ROWS: list[dict[str, Any]] = [
    {
        "y": str(RANDOM.choice(["p", "q"])),
        "text": None if row % 7 == 0 else str(RANDOM.choice(["a", "b", "c"])),
        "number": float(RANDOM.normal()),
        "whole": int(RANDOM.integers(0, 5)),
        "truth": bool(row % 3),
        "day": "2024-01-01 00:00:00" if row % 2 else "2024-01-02 00:00:00",
        "list": [1, 2],
    }
    for row in range(500)
]
COLUMNS = [name for name in ROWS[0] if name != "list"]


def lines(rows: list[Any]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def _nested(levels: int, opening: str = "[", closing: str = "]") -> str:
    return '{"y": "p", "x": ' + opening * levels + "1" + closing * levels + "}\n"


@pytest.mark.parametrize("nested", [_nested(100_000), _nested(100_000, '{"x": ', "}"), _nested(100_000, "[\n", "\n]")])
def test_values_nested_without_end_are_refused(tmp_path: Path, nested: str) -> None:
    """pyarrow calls itself for each level: the process crashed."""
    path = tmp_path / "deep.jsonl"
    path.write_text('{"y": "p", "x": 1}\n' + nested, encoding="utf-8")
    with pytest.raises(credimi.CredimiError, match=r"deep\.jsonl, line 2 is no JSON: "):
        credimi.count(path, "y")


def test_how_deep_values_are_nested() -> None:
    hidden = '{"k": "}",\n"x": ' * 201 + "1" + ', "k": "{"}' * 201  # brackets in texts, and lines inside an object
    for line_end in ("\n", "\r\n"):
        rows = '{"a": "["}\n' + _nested(199) + '{"a": "' + "[" * 999 + '"}\n' + '{"a": [' + "[1]," * 999 + "[1]]}\n"
        assert not json_lines.is_deep((rows * 2).replace("\n", line_end).encode())
        for deep in (_nested(201), rows + _nested(201), hidden, '{"a":\n' * 201):
            assert json_lines.is_deep(deep.replace("\n", line_end).encode())
    assert not any(map(json_lines.is_deep, (b"", b"\n", b"{}", b"{}\n{}", b"\n\n{}")))


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Several parts and batches."""
    monkeypatch.setattr(json_lines, "_PART", 1 << 10)
    monkeypatch.setattr(arrow_files, "_CELLS", 1 << 8)


@pytest.mark.parametrize("name", ["rows.jsonl", "rows.ndjson", "rows.json", "rows", "rows.jsonl.gz"])
@pytest.mark.usefixtures("small")
def test_json_lines_are_the_rows(tmp_path: Path, name: str) -> None:
    content = lines(ROWS).encode()
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    (file,) = data_files(tmp_path / name)
    assert file.kind == "JSON lines"
    found = credimi.count(tmp_path / name, "y")
    assert found == credimi.count(ROWS, "y")
    assert credimi.rank(found)["list"]["verdict"] == "not ranked"


def test_fields_may_lack_and_lines_may_be_blank(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [{"y": "p"}, {"x": "a"}, {"y": "q", "x": None, "z": 1}, {}]
    path = tmp_path / "rows.jsonl"
    path.write_text("\ufeff" + lines(rows).replace("}\n", "}\r\n\n"), encoding="utf-8")
    found = credimi.count(path, "y")
    assert found.features == ("x", "z")
    assert found == credimi.count(rows, "y")


@pytest.mark.parametrize(
    "values",
    [
        [1, "a", 2.5, None],
        [True, 1, None, 0],
        [12345678901234567890, 1, 12345678901234567891, 2],
        ["2024-01-01", "2024-01-02 10:00:00", "x", None],
        [1.5, 2, 3, float("nan")],
    ],
)
def test_parts_do_not_matter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, values: list[Any]) -> None:
    path = tmp_path / "rows.jsonl"
    rows = [{"y": "pq"[place % 2], "x": values[place % 4]} for place in range(40)]
    path.write_text(lines(sorted(rows, key=lambda row: repr(row["x"]))), encoding="utf-8")
    whole = credimi.count(path, "y")
    monkeypatch.setattr(json_lines, "_PART", 20)
    assert credimi.count(path, "y") == whole
    assert whole["x"].rows == 40


def test_a_field_that_comes_late_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_lines, "_PART", 1 << 8)
    monkeypatch.setattr(json_lines, "_FIRST_BYTES", 1 << 9)
    path = tmp_path / "rows.jsonl"
    path.write_text(lines([*ROWS, {"y": "p", "late": 1}]), encoding="utf-8")
    with pytest.raises(
        credimi.CredimiError, match=r"comes the field 'late', which none of the first lines has: give it"
    ):
        credimi.count(path, "y")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ('{"y": 1}\n{"y": \n', r"rows.jsonl, line 2 is no JSON: Expecting value, at letter 7"),
        ('{"y": 1}\n\n[1]\n', r"rows.jsonl, line 3 holds '\[1\]', and no object: correct it"),
        ("", "has no fields"),
        ("{}\n{}\n", "has no fields"),
        (b'{"y": "\xff"}\n{"y": "a", "x": 1}\n', "not UTF-8"),
    ],
)
def test_broken_lines_are_refused(tmp_path: Path, content: str | bytes, words: str) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(credimi.CredimiError, match=words):
        credimi.count(path, "y")


def write_arrow(path: Path, form: str) -> None:
    table = pa.Table.from_pylist(ROWS)
    if form == "feather":
        pyarrow.feather.write_feather(table, path, chunksize=100)
    else:
        opened = pa.ipc.new_stream if form == "stream" else pa.ipc.new_file
        with opened(path, table.schema) as writer:
            writer.write_table(table, max_chunksize=90)


@pytest.mark.parametrize("form", ["feather", "file", "stream"])
@pytest.mark.usefixtures("small")
def test_arrow_files_are_the_table(tmp_path: Path, form: str) -> None:
    for name in ("rows.arrow", "rows.feather", "rows"):
        write_arrow(tmp_path / name, form)
        (file,) = data_files(tmp_path / name)
        assert file.kind == "Arrow"
        assert credimi.count(tmp_path / name, "y") == credimi.count(pa.Table.from_pylist(ROWS), "y")
        assert credimi.count(tmp_path / name, "y", features=["whole"]).features == ("whole",)


def test_a_directory_of_all_formats(tmp_path: Path) -> None:
    table = pa.Table.from_pylist(ROWS).select(COLUMNS)
    (tmp_path / "1.jsonl").write_text(lines([{name: row[name] for name in COLUMNS} for row in ROWS]), encoding="utf-8")
    pyarrow.feather.write_feather(table, tmp_path / "2.feather")
    assert credimi.count(tmp_path, "y") == credimi.count(pa.concat_tables([table, table]), "y")


@pytest.mark.parametrize("content", [b"ARROW1\0\0", b"\xff\xff\xff\xff\x10\0\0\0abc", b""])
def test_broken_arrow_files_are_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "rows.arrow"
    path.write_bytes(content)
    with pytest.raises(
        credimi.CredimiError, match=r"rows.arrow is (no readable Arrow file|empty, which no Arrow file is)"
    ):
        credimi.count(path, "y")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.arff", "@RELATION iris\n@ATTRIBUTE x REAL\n@DATA\n1\n"),
        ("a.arff", "% only a remark\n"),
        ("a.txt", "% a remark\n\n@relation iris\n"),
        ("a.csv", "@relation iris\n@attribute x real\n"),
    ],
)
def test_arff_is_refused_by_its_name(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    with pytest.raises(
        credimi.CredimiError, match=rf"{name} is ARFF, the format of Weka, which is not read: write it as"
    ):
        credimi.count(tmp_path / name, "y")


@pytest.mark.parametrize("name", ["a.json", "a", "a.txt"])
@pytest.mark.parametrize("document", [{"y": {"0": 1, "1": 2}}])
@pytest.mark.parametrize("indent", [None, 2])
def test_json_documents_are_refused_by_their_name(
    tmp_path: Path, name: str, document: object, indent: int | None
) -> None:
    (tmp_path / name).write_text(json.dumps(document, indent=indent), encoding="utf-8")
    with pytest.raises(
        credimi.CredimiError, match=rf"{name} is a JSON document, which is not read: write an object a line"
    ):
        credimi.count(tmp_path / name, "y")


def test_csv_that_looks_odd_is_csv(tmp_path: Path) -> None:
    for name, header in {"a.csv": '{"y",x', "b": "[y],[x]", "c": "@relation_y,x"}.items():
        path = tmp_path / name
        path.write_text(f"{header}\n1,2\n", encoding="utf-8")
        (file,) = data_files(path, ",")
        assert file.kind == "CSV"


@pytest.mark.parametrize("name", ["table.json", "table.jsonl", "table"])
@pytest.mark.parametrize("rows", [20, 20_000])
@pytest.mark.parametrize("end", ["", "\n"])
def test_a_table_written_column_by_column_is_a_document(tmp_path: Path, name: str, rows: int, end: str) -> None:
    """As pandas writes one by `to_json`; also where it is longer than the bytes by which formats are told."""
    columns = {column: {str(row): f"v{row % 3}" for row in range(rows)} for column in ("x", "y")}
    (tmp_path / name).write_text(json.dumps(columns) + end)
    with pytest.raises(credimi.CredimiError, match=r"is a JSON document.*orient=\"records\", lines=True") as refused:
        credimi.rank(tmp_path / name, "y")
    assert len(str(refused.value)) < 400


def test_a_long_first_line_is_a_line(tmp_path: Path) -> None:
    rows = [{"y": "pq"[row % 2], "text": "long" * 20_000 if row == 0 else "b", "c": row % 3} for row in range(9)]
    (tmp_path / "rows.json").write_text(lines(rows))
    assert credimi.count(tmp_path / "rows.json", "y") == credimi.count(rows, "y")


def test_types_in_messages_are_short(tmp_path: Path) -> None:
    rows = [{"x": {f"field {number}": 1 for number in range(1_000)}, "y": "p"}] * 2
    (tmp_path / "rows.jsonl").write_text(lines(rows))
    for data in (tmp_path / "rows.jsonl", pa.Table.from_pylist(rows)):
        with pytest.raises(credimi.CredimiError, match="column 'x' holds values of type struct<") as refused:
            credimi.count(data, "x")
        assert len(str(refused.value)) < 400
