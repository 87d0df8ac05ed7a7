"""Workbooks, databases, JSON arrays, files of Stata, SPSS and SAS, and packed text: each against what pandas reads."""

from __future__ import annotations

import datetime as dt
import json
import lzma
import sqlite3
import zipfile
from contextlib import closing, nullcontext
from typing import TYPE_CHECKING

import pandas as pd
import pytest

from credimi import CredimiError, count, rank

if TYPE_CHECKING:
    from pathlib import Path

    from credimi import Counts

ROWS = 60
FRAME = pd.DataFrame(
    {
        "class": ["yes", "no", "no"] * 20,
        "age": [None if row % 7 == 0 else 20 + row * 37 % 61 + 0.5 for row in range(ROWS)],
        "town": [None if row % 11 == 0 else f"town {row % 5}" for row in range(ROWS)],
    }
)


def figures(counts: Counts) -> dict[str, object]:
    features = [counts.feature(name) for name in counts.features]
    return {each.name: (each.values, each.block.tolist()) for each in features}  # noqa: PD011


EXPECTED = figures(count(FRAME, "class"))


def test_a_sheet_is_read_by_name_and_the_first_without(tmp_path: Path) -> None:
    path = tmp_path / "book.xlsx"
    with pd.ExcelWriter(path, engine="openpyxl") as book:
        FRAME.to_excel(book, sheet_name="people", index=False)
        FRAME.head(6).to_excel(book, sheet_name="few", index=False)
    assert figures(count(path, "class")) == EXPECTED
    assert figures(count(f"{path}::people", "class")) == EXPECTED
    assert figures(count(f"{path}::few", "class")) == figures(
        count(pd.read_excel(path, sheet_name="few", engine="openpyxl"), "class")
    )
    assert count([f"{path}::few", f"{path}::people"], "class").rows == ROWS + 6
    with pytest.raises(CredimiError, match=r"no sheet 'other': it has 'people', 'few'"):
        count(f"{path}::other", "class")
    with pytest.raises(CredimiError, match="twice"):
        count([f"{path}::few", f"{path}::few"], "class")


def test_titles_dates_and_mixed_cells_of_a_sheet(tmp_path: Path) -> None:
    path = tmp_path / "book.xlsx"
    days = [dt.datetime(2024, 1, 1) + dt.timedelta(days=3 * row) for row in range(ROWS)]  # noqa: DTZ001
    cells = [["All people of the survey", None, None], [None, None, None], ["class", "day", "age"]]
    cells += [
        [label, day, "N/A" if row % 5 == 0 else row * 37 % 61]
        for row, (label, day) in enumerate(zip(FRAME["class"], days, strict=True))
    ]
    pd.DataFrame(cells).to_excel(path, header=False, index=False, engine="openpyxl")
    counts = count(path, "class")
    assert counts.features == ("day", "age")
    assert counts.feature("day").labels.instants
    assert counts.feature("age").missing == ROWS // 5
    assert counts.feature("age").kind == "ranges"


def test_a_json_array_is_read_as_pandas_reads_it(tmp_path: Path) -> None:
    path = tmp_path / "data.json"
    FRAME.to_json(path, orient="records")
    assert figures(count(path, "class")) == EXPECTED
    packed = tmp_path / "data.json.xz"
    packed.write_bytes(lzma.compress(path.read_bytes()))
    assert figures(count(packed, "class")) == EXPECTED
    path.write_text(json.dumps([1, 2]))
    with pytest.raises(CredimiError, match="JSON"):
        count(path, "class")
    path.write_text('[{"a": 1}, 3]')
    with pytest.raises(CredimiError, match="no object at position 1"):
        count(path, "a")
    path.write_text("[]")
    with pytest.raises(CredimiError, match="the array is empty"):
        count(path, "a")


@pytest.mark.parametrize("ending", ["dta", "sav", "xpt"])
def test_files_of_statistics_programs(ending: str, tmp_path: Path) -> None:
    pyreadstat = pytest.importorskip("pyreadstat")
    path = tmp_path / f"data.{ending}"
    writers = {"dta": pyreadstat.write_dta, "sav": pyreadstat.write_sav, "xpt": pyreadstat.write_xport}
    writers[ending](FRAME, path)
    assert figures(count(path, "class")) == EXPECTED


def test_labels_and_missing_values_of_spss(tmp_path: Path) -> None:
    pyreadstat = pytest.importorskip("pyreadstat")
    path = tmp_path / "data.sav"
    frame = pd.DataFrame({"class": [1.0, 2.0] * 30, "answer": [1.0, 2.0, 9.0] * 20})
    labels = {"class": {1: "yes", 2: "no"}, "answer": {1: "agree", 2: "disagree", 9: "refused"}}
    pyreadstat.write_sav(frame, path, variable_value_labels=labels, missing_ranges={"answer": [9]})
    counts = count(path, "class")
    assert counts.class_names() == ("no", "yes")
    assert counts.feature("answer").values == ("agree", "disagree")  # noqa: PD011
    assert counts.feature("answer").missing == 20


@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
def test_tables_of_databases(kind: str, tmp_path: Path) -> None:
    path = tmp_path / f"data.{kind}"
    if kind == "sqlite":
        with closing(sqlite3.connect(path)) as database:
            FRAME.to_sql("people", database, index=False)
    else:
        duckdb = pytest.importorskip("duckdb")
        with closing(duckdb.connect(str(path))) as database:
            database.register("frame", FRAME)
            database.execute("CREATE TABLE people AS SELECT * FROM frame")
    assert figures(count(path, "class")) == EXPECTED  # the only table
    with closing(
        sqlite3.connect(path) if kind == "sqlite" else pytest.importorskip("duckdb").connect(str(path))
    ) as database:
        database.execute("CREATE TABLE others (a INTEGER)")
    assert figures(count(f"{path}::people", "class")) == EXPECTED
    with pytest.raises(CredimiError, match=r"has 2 tables \('.*name one, as in data"):
        count(path, "class")
    with pytest.raises(CredimiError, match="has no table 'nobody'"):
        count(f"{path}::nobody", "class")


@pytest.mark.parametrize("packed", ["zip", "xz"])
def test_packed_text(packed: str, tmp_path: Path) -> None:
    plain, path = tmp_path / "data.csv", tmp_path / f"data.csv.{packed}"
    FRAME.to_csv(plain, index=False)
    if packed == "zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.write(plain, "data.csv")
    else:
        path.write_bytes(lzma.compress(plain.read_bytes()))
    assert figures(count(path, "class")) == EXPECTED
    assert rank(path, "class").rows == ROWS


def test_archives_of_several_files_and_damaged_ones_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "data.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.csv", "a,b\n1,2\n")
        archive.writestr("b.csv", "a,b\n1,2\n")
    with pytest.raises(CredimiError, match=r"holds 2 files \('a.csv', 'b.csv'\)"):
        count(path, "a")
    (tmp_path / "data.xlsx").write_bytes(b"PK\x03\x04" + b"xl/workbook.xml" * 20)
    with pytest.raises(CredimiError, match="no readable Excel workbook"):
        count(tmp_path / "data.xlsx", "a")
    (tmp_path / "data.sav").write_bytes(b"$FL2" + bytes(300))
    with pytest.raises(CredimiError, match="no readable file of Stata, SPSS or SAS"):
        count(tmp_path / "data.sav", "a")
    (tmp_path / "a.csv").write_text("a,b\n1,2\n")
    with pytest.raises(CredimiError, match="no workbook and no database"):
        count(f"{tmp_path / 'a.csv'}::b", "a")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252", "latin-1"])
@pytest.mark.parametrize(
    "above", ["", "# made by a program\n# in 2024\n", "All people\n\nof the survey\n\n", "# one, two\n"]
)
@pytest.mark.parametrize("rows", [20, 20_000])
def test_encodings_and_lines_above_the_header(encoding: str, above: str, rows: int, tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    lines = [f"{('Größe', 'klein', 'Æ')[row % 3]},{'pq'[row % 2]},{row % 7}" for row in range(rows)]
    text = above + "Maß,class,x\n" + "\n".join(lines) + "\n"
    path.write_text(text, encoding=encoding, newline="")
    guessed = pytest.warns(UserWarning, match=r"data\.csv is not UTF-8: it is read as Windows-1252 \(cp1252\)")
    with guessed if encoding in {"cp1252", "latin-1"} else nullcontext():
        counts = count(path, "class")
    expected = {"Maß": [line.split(",")[0] for line in lines], "x": [row % 7 for row in range(rows)]}
    assert figures(counts) == figures(count(expected | {"class": ["pq"[row % 2] for row in range(rows)]}, "class"))
    assert counts.rows == rows


@pytest.mark.parametrize("row", [b"\x81,p", b"\xe9\x01,p", b"\xfe\0,p", "Größe, ".strip().encode() + b"p\xe9"])
def test_what_is_no_text_of_windows_is_refused_with_its_line(row: bytes, tmp_path: Path) -> None:
    """A byte that cp1252 does not know; control characters; a fault in text that is UTF-8 otherwise."""
    path = tmp_path / "data.csv"
    path.write_bytes(b"a,class\n1,p\n" + row + b"\n2,q\n")
    with pytest.raises(CredimiError, match=r"data\.csv, line 3: byte 0x[0-9a-f]{2} is not UTF-8"):
        count(path, "class")


def test_what_looks_like_a_title_or_a_comment_may_be_the_header(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    for text, names in (
        ("#id,class\n1,p\n2,q\n", ("#id",)),
        ("class\np\nq\n", ()),
        ('"a\nb",class\n1,p\n2,q\n', ("a\nb",)),
        ("a,class\n1,p\n2,q\n", ("a",)),
        ("\n\na,class\n1,p\n2,q\n", ("a",)),
    ):
        path.write_text(text)
        assert count(path, "class").features == names, text
