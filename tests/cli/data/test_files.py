"""`credimi rank`, `select` and `count` from outside: files of all kinds."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import random
import re
import time
from pathlib import Path

import pytest
from command_helpers import AS_ROOT, CLINIC, Call, Refusal, Report, base, by_name, columns, write, write_parquet

from credimi.sources.csv import csv_files


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("semicolon.csv", base(delimiter=";")),
        ("tab.csv", base(delimiter="\t")),
        ("tab.tsv", base(delimiter="\t")),
        ("bar.csv", base(delimiter="|")),
        ("bom.csv", "\ufeff" + base()),
        ("crlf.csv", base(end="\r\n")),
        ("bom-crlf.csv", "\ufeff" + base(end="\r\n")),
        ("blank-first.csv", "\n\r\n" + base()),
        ("bom-blank-first.csv", "\ufeff\n" + base()),
        ("blank-within.csv", base() + "\n\n"),
        ("no-last-end.csv", base().rstrip("\n")),
        ("quoted.csv", re.sub(r"\w+", r'"\g<0>"', base())),
        ("capital.CSV", base()),
        ("no-suffix", base()),
        ("na[1]me.csv", base()),
        ("packed.csv.gz", gzip.compress(base().encode(), mtime=0)),
        ("really-csv.parquet", base()),
    ],
)
def test_same_answer_from(report: Report, name: str, content: str | bytes) -> None:
    write("plain.csv", base())
    write(name, content)
    assert report(name, "--target", "y") == report("plain.csv", "--target", "y")


def test_csv_that_is_really_parquet(report: Report) -> None:
    rows = list(csv.reader(io.StringIO(base())))
    write_parquet("data.csv", dict(zip(rows[0], map(list, zip(*rows[1:], strict=True)), strict=True)))
    write("plain.csv", base())
    assert report("data.csv", "--target", "y") == report("plain.csv", "--target", "y")


@pytest.mark.parametrize("size", [1, 7, 40, 1000])
@pytest.mark.parametrize("start", ["", "\ufeff", "\ufeff\n\r\n"])
def test_small_parts(report: Report, monkeypatch: pytest.MonkeyPatch, size: int, start: str) -> None:
    """As in files that are larger than a part; also where the header alone is."""
    rows = [(f"{i % 2}\nk", f"{i % 3}, q") for i in range(40)]
    write("data.csv", start + columns("y", "a\n\nb", rows=rows))
    whole = report("data.csv", "--target", "y")
    monkeypatch.setattr(csv_files, "_PART", size)
    monkeypatch.setattr(csv_files, "_GATHERED", 0)
    assert report("data.csv", "--target", "y") == whole


def test_identifiers_that_come_back_are_pointed_out(call: Call) -> None:
    """Each patient has one class and five rows: the name tells all, of these patients only."""
    patients = [(row // 5, f"P{row // 5:03}", "pq"[row // 5 % 2]) for row in range(600)]
    rows = [(name, town, "yn"[number % 3 == 0]) for number, name, town in patients]
    write("data.csv", columns("patient", "town", "y", rows=rows))
    out = call("rank", "data.csv", "--target", "y")[1]
    told = " ".join(out.split())
    assert "possible identifiers (many values, few rows each): patient (120 values, 5 rows each);" in told
    write("few.csv", columns("town", "y", rows=[row[1:] for row in rows]))
    assert "possible identifiers" not in call("rank", "few.csv", "--target", "y")[1]


@pytest.mark.parametrize(
    ("start", "said"),
    [
        (
            b"PK\x03\x04\x14\x00",
            "no CSV but a zip archive: give it a name that ends in .zip if it holds one file of text, or unpack it",
        ),
        (b"\xd0\xcf\x11\xe0\xa1\xb1", "no readable Excel workbook: Cannot detect file format"),
        (b"SQLite format 3\x00", "no readable SQLite database: file is not a database"),
        (b"%PDF-1.4", "no CSV but a PDF document: save its table as CSV"),
        (b"FEA1\x00\x00", "no CSV but a Feather file of version 1: read it with pandas, and write it again"),
    ],
)
def test_files_of_other_programs_are_called_what_they_are(refusal: Refusal, start: bytes, said: str) -> None:
    write("data.csv", start + bytes(range(256)) * 10)
    assert refusal("rank", "data.csv", "--target", "y") == f"data.csv is {said}"


def test_line_for_excel_alone(refusal: Refusal) -> None:
    write("data.csv", "sep=;\n" + base(delimiter=";"))
    assert "starts with the line 'sep=;'" in refusal("rank", "data.csv", "--target", "y")


@pytest.mark.parametrize("width", [40, 56, 60, 71, 72, 80])
def test_names_and_verdicts_are_whole_in_narrow_windows(
    call: Call, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    lines = call("rank", CLINIC, "--target", "diabetes")[1].splitlines()
    complete = any(line.endswith("  complete") for line in lines)
    (glucose,) = [line.split() for line in lines if " glucose " in line]
    (patient,) = [line.split() for line in lines if line.split()[:1] == ["patient"]]
    assert glucose[-2 if complete else -1] == "keep"
    assert patient[1:3] == ["not", "ranked"]


def test_cuts_that_are_dates(report: Report) -> None:
    write("data.csv", "y,day\n" + "".join(f"{row % 2},2024-02-{row % 29 + 1:02}\n" for row in range(290)))
    found = by_name(report("data.csv", "--target", "y", "--discretize", "day=2024-02-10,2024-02-20"))
    assert found["day"]["note"] == "given cuts, 2 cuts: 2024-02-10, 2024-02-20"
    assert found["day"]["values"] == 3


def test_cuts_that_are_no_dates(refusal: Refusal) -> None:
    write("data.csv", "y,day\n" + "".join(f"{row % 2},2024-02-{row % 29 + 1:02}\n" for row in range(290)))
    assert "is no list of cuts" in refusal("rank", "data.csv", "--target", "y", "--discretize", "day=2024-02-30")


def test_delimiters_in_quotes_do_not_count(report: Report) -> None:
    write("data.csv", 'y;"a, b, c, d"\n' + "0;0\n1;1\n" * 10)
    assert list(by_name(report("data.csv", "--target", "y"))) == ["a, b, c, d"]


@pytest.mark.long
def test_wide_file(report: Report) -> None:
    """It takes about a second; minutes would mean that something is done for each column anew."""
    rng = random.Random(1)  # noqa: S311  (no secret)
    rows = [tuple(rng.randint(0, 2) for _ in range(3000)) for _ in range(20)]
    write("data.csv", columns("y", *(f"c{i}" for i in range(2999)), rows=rows))
    start = time.perf_counter()
    assert len(report("data.csv", "--target", "y")["features"]) == 2999
    assert time.perf_counter() - start < 20.0


def test_top_prints_the_best_only(call: Call) -> None:
    out = call("rank", CLINIC, "--target", "diabetes", "--top", "3")[1]
    assert "the first 3 shown" in out
    assert re.findall(r"^ *(\d+)  ", out, re.MULTILINE) == ["1", "2", "3"]
    answer = json.loads(call("rank", CLINIC, "--target", "diabetes", "--top", "3", "--format", "json")[1])
    assert len(answer["features"]) == 20


def test_several_files_a_directory_and_a_pattern(report: Report) -> None:
    write("all.csv", base(120))
    lines = base(120).splitlines(keepends=True)
    write("data/1.csv", "".join(lines[:50]))
    write("data/deep/2.csv", lines[0] + "".join(lines[50:]))
    write("data/.hidden.csv", "junk\n")
    write("data/notes.md", "notes\n")
    whole = report("all.csv", "--target", "y")
    assert report("data/1.csv", "data/deep/2.csv", "--target", "y") == whole
    assert report("data", "--target", "y") == whole
    assert report("data/**/*.csv", "--target", "y") == whole


def test_columns_in_another_order(report: Report) -> None:
    write("1.csv", columns("y", "a", rows=[(i % 2, i % 3) for i in range(30)]))
    write("2.csv", columns("a", "y", rows=[(i % 3, i % 2) for i in range(30)]))
    write("3.csv", columns("y", "a", rows=[(i % 2, i % 3) for i in range(30)] * 2))
    assert report("1.csv", "2.csv", "--target", "y") == report("3.csv", "--target", "y")


def test_two_files_of_different_columns(refusal: Refusal) -> None:
    write("1.csv", base())
    write("2.csv", base().replace("b", "z", 1))
    said = refusal("rank", "1.csv", "2.csv", "--target", "y")
    assert said == "1.csv and 2.csv differ: only one of them has the column 'b'"


def test_bytes_that_are_not_text_in_the_header(refusal: Refusal) -> None:
    write("data.csv", b"y,a\xff,b\n1,2,3\n0,3,2\n\0")
    said = refusal("rank", "data.csv", "--target", "y")
    assert said.startswith("data.csv, line 1: byte 0xff at position 4 is not UTF-8: convert the file")


@pytest.mark.parametrize("command", [["rank"], ["select", "--output", "new.csv"], ["count", "--into", "new.counts"]])
def test_bytes_that_are_not_text_in_a_late_line(refusal: Refusal, command: list[str]) -> None:
    """What the first 64 KB show is known; a file of cp1252 that looks like UTF-8 for so long is refused."""
    write("data.csv", base().encode() + b"y,p,1\n" * 20_000 + b"y,\xe9,1\n")
    said = refusal(command[0], "data.csv", "--target", "y", *command[1:])
    assert said.startswith("data.csv, line 20062: byte 0xe9 is not UTF-8: convert the file")


def test_utf_16(report: Report) -> None:
    write("data.csv", base().encode("utf-16"))
    write("plain.csv", base())
    assert report("data.csv", "--target", "y")["features"] == report("plain.csv", "--target", "y")["features"]


def test_lines_that_end_with_cr_alone(refusal: Refusal) -> None:
    write("data.csv", base(end="\r"))
    assert refusal("rank", "data.csv", "--target", "y").startswith("data.csv ends its lines with CR alone: convert")


@pytest.mark.parametrize(("line", "fields"), [("y,p,1,9", 4), ("y,p", 2), ("y", 1)])
@pytest.mark.parametrize(
    ("before", "number"),
    [
        (base(), 62),
        ("\ufeff" + base(end="\r\n"), 62),
        ("\n" + base(), 63),
        ("y,a,b\n" + 'y,"x\nz",1\nn,"x\n\nz",2\n' * 10, 52),
    ],
)
def test_line_with_too_many_or_few_fields(refusal: Refusal, before: str, number: int, line: str, fields: int) -> None:
    write("data.csv", before + line + "\n" + "y,p,1\n" * 5)
    said = refusal("rank", "data.csv", "--target", "y")
    assert said.startswith(f"data.csv, line {number}: {fields} field{'s' * (fields != 1)}, the header has 3: correct")


def test_quote_that_is_never_closed(refusal: Refusal) -> None:
    write("data.csv", 'y,"a\n' + "0,0\n1,1\n" * 10)
    assert refusal("rank", "data.csv", "--target", "y").startswith("data.csv: a quote in the header is never closed")
    write("data.csv", 'y,a\n0,0\n1,"1\n' + "0,0\n1,1\n" * 10 + '0,"x",1\n')
    assert refusal("rank", "data.csv", "--target", "y").startswith("data.csv, line 3: ")
    write("data.csv", 'y,a\n0,0\n1,"1\n' + "0,0\n1,1\n" * 10)  # which is a row like others, of a long last field
    assert refusal("rank", "data.csv", "--target", "y").startswith("data.csv, line 3: a quote is never closed")


@pytest.mark.parametrize("command", [["rank"], ["select", "--output", "new.csv"], ["count", "--into", "new.counts"]])
@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("absent.csv", "cannot read absent.csv: No such file or directory"),
        ("absent/data.csv", "cannot read absent/data.csv: No such file or directory"),
        ("data.csv/deeper", "cannot read data.csv/deeper: Not a directory"),
        ("x" * 300, f"cannot read {'x' * 300}: File name too long"),
        ("folder", "the directory folder holds no file that ends in .csv, .tsv, .parquet, .pq, .arrow, .feather,"),
        ("*.nothing", "no file matches *.nothing"),
        ("fold*", "no file matches fold*"),
        ("", "a path is empty: name a file, a directory or a pattern"),
        ("/dev/null", "/dev/null is empty"),
    ],
)
def test_path_that_leads_nowhere(refusal: Refusal, command: list[str], path: str, said: str) -> None:
    write("data.csv", base())
    write("folder/readme.md", "nothing here\n")
    assert refusal(command[0], path, "--target", "y", *command[1:]).startswith(said)


def test_pipe_is_refused_rather_than_read_in_part(refusal: Refusal) -> None:
    os.mkfifo("pipe")
    assert refusal("rank", "pipe", "--target", "y").startswith("pipe is a pipe, and data are read more than once")


@pytest.mark.skipif(AS_ROOT, reason="root may read everything")
def test_file_that_may_not_be_read(refusal: Refusal) -> None:
    write("data.csv", base())
    Path("data.csv").chmod(0)
    assert refusal("rank", "data.csv", "--target", "y") == "cannot read data.csv: Permission denied"


def test_compressed_file_cut_short(refusal: Refusal) -> None:
    noise = random.Random(1)  # noqa: S311  (no secret)
    packed = gzip.compress(columns("y", "a", rows=[(i % 2, noise.random()) for i in range(20_000)]).encode(), mtime=0)
    write("data.csv.gz", packed[: len(packed) // 2])
    assert refusal("rank", "data.csv.gz", "--target", "y").startswith("cannot read data.csv.gz: ")


def test_compressed_by_name_only(refusal: Refusal) -> None:
    write("data.csv.gz", base())
    assert refusal("rank", "data.csv.gz", "--target", "y").startswith("cannot read data.csv.gz: ")


def test_parquet_cut_short(refusal: Refusal) -> None:
    content = Path(write_parquet("data.parquet", {"y": ["p", "q"] * 500, "a": list(range(1000))})).read_bytes()
    write("data.parquet", content[: len(content) // 2])
    assert refusal("rank", "data.parquet", "--target", "y").startswith("data.parquet is no readable Parquet file: ")
