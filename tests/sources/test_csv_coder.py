"""Plain CSV from its bytes to codes: cell by cell what pyarrow parses, or refused."""

from __future__ import annotations

import csv
import io
import random
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.csv
import pytest

from credimi import CredimiError, count
from credimi.columns.column import Column
from credimi.counts import tabulate
from credimi.sources.csv import csv_coder, csv_files
from credimi.sources.csv.csv_coder import FieldCoders

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

LENGTHS = (0, 1, 2, 7, 8, 9, 15, 16, 17, 23, 24, 25, 63, 64)
PLAIN: dict[str, tuple[str, dict[str, Any]]] = {
    "few": ("a,b\nc,d\n", {}),
    "no end": ("a,b\nc,d", {}),
    "one row": ("a,b", {}),
    "CR LF": ("a,b\r\nc,d\r\n", {"line_end": "\r\n"}),
    "CR LF, no end": ("a,b\r\nc,d", {"line_end": "\r\n"}),
    "CR LF, an empty last field": ("a,\r\nc,\r\n", {"line_end": "\r\n"}),
    "empty fields": (",\na,\n,b\n,\n", {}),
    "an empty last field, no end": ("a,b\nc,", {}),
    "all missing": ("a,\nb,\nc,\n", {}),
    "blanks": (" a,b \n a ,\tb\n ,  \n", {}),
    "unicode": ("é,日本\n\U0001f600,x\u2028y\n\x85,\u00a0\n", {}),
    "NUL": ("a,a\0\na\0,a\0\0\n\0,\0\0\n,\0\n", {}),
    "a mark of byte order": ("\ufeffa,b\n\ufeff,b\n", {}),
    "a comment": ("#a,b\n#,'b'\n", {}),
    "semicolons": ("a;b,c\n1,5;2\n", {"delimiter": ";"}),
    "tabs": ("a\tb\n\t\n", {"delimiter": "\t"}),
    "bars": ("a|b\n|\n", {"delimiter": "|"}),
    "spaces": ("a b\n b\n", {"delimiter": " "}),
    "lengths": ("".join(f"{'x' * one},{'y' * other}\n" for one in LENGTHS for other in LENGTHS), {}),
    "alike but for one letter": (
        "".join(f"{'x' * place}-{'x' * (40 - place)},{'y' * place}z\n" for place in range(40)),
        {},
    ),
    "three columns": ("".join(f"{row % 3},{row % 5},{row % 7}\n" for row in range(1000)), {"names": ("x", "y", "z")}),
    "255 texts": ("".join(f"{row},{row % 255}\n" for row in range(600)), {}),
    "256 texts": ("".join(f"{row % 256},{row % 256}\n" for row in range(600)), {}),
    "256 texts, CR LF": ("".join(f"{row % 256},{row % 256}\r\n" for row in range(600)), {"line_end": "\r\n"}),
    "70,000 texts": ("".join(f"{row},a\n" for row in range(70_000)), {}),
    "quotes": ('a,b\n"c",d\ne,"f"\n"g","h"\n', {}),
    "quotes, no end": ('"a","b"\n"c","d"', {}),
    "quotes, CR LF": ('"a","b"\r\n"c","d"\r\n', {"line_end": "\r\n"}),
    "empty quotes": ('"",""\n,""\n"",\n', {}),
    "delimiters in quotes": ('"a,b",","\n",,",c\n', {}),
    "line ends in quotes": ('"a\nb","\n"\n"\r\n\r","c\rd"\n', {}),
    "line ends in quotes, CR LF": ('"a\nb","\n"\r\n"\r\n\r","c\rd"\r\n', {"line_end": "\r\n"}),
    "all in quotes": ("".join(f'"{row % 7}","{"x" * (row % 80)}"\n' for row in range(500)), {}),
    "many texts in quotes": ("".join(f'"{row},{row}","{row % 256}"\r\n' for row in range(600)), {"line_end": "\r\n"}),
    "long texts": ("".join(f"{'x' * size},{'y' * (size // 2)}\n" for size in (65, 66, 1000, 100_000, 3)), {}),
}
ODD: dict[str, tuple[str, dict[str, Any]]] = {
    "two quotes in quotes": ('a,b\n"c""d",d\n', {}),
    "two quotes in quotes, alone": ('a,b\n"""",d\n', {}),
    "text behind quotes": ('a,b\n"c"d,d\n', {}),
    "text before quotes": ('a,b\n "c",d\n', {}),
    "a quote that is never closed": ('a,b\n"c,d\n', {}),
    "a quote that is never closed, last": ('a,b\nc,"d', {}),
    "a quote alone": ('a,b\n",d\n', {}),
    "a quote inside": ('a,b\n5" pipe,d\n', {}),
    "CR": ("a,b\rc,d\n", {}),
    "CR at the end": ("a,b\nc,d\r", {}),
    "CR LF where the header ends in LF": ("a,b\r\nc,d\r\n", {}),
    "LF where the header ends in CR LF": ("a,b\r\nc,d\n", {"line_end": "\r\n"}),
    "CR alone among CR LF": ("a,b\rc\r\nc,d\r\n", {"line_end": "\r\n"}),
    "CR twice": ("a,b\r\r\n", {"line_end": "\r\n"}),
    "CR at the end among CR LF": ("a,b\r\nc,d\r", {"line_end": "\r\n"}),
    "blank line": ("a,b\n\nc,d\n", {}),
    "blank line first": ("\na,b\n", {}),
    "blank line last": ("a,b\n\n", {}),
    "blank line of CR LF": ("a,b\r\n\r\n", {"line_end": "\r\n"}),
    "a field less": ("a,b\nc\nd,e\n", {}),
    "a field more": ("a,b\nc,d,e\n", {}),
    "a field less, then one more": ("a,b\nc\nd,e,f\n", {}),
    "a field less, no end": ("a,b\nc", {}),
    "a single column": ("a\nb\n", {"names": ("x",)}),
}


def coders(*, names: Sequence[str] = ("x", "y"), delimiter: str = ",", line_end: str = "\n") -> FieldCoders:
    return FieldCoders(names, names, delimiter, line_end)


def cells(values: Any) -> list[str]:  # noqa: ANN401
    if isinstance(values, Column):
        return [values.texts[code] for code in values.codes.tolist()]
    values.validate(full=True)
    return values.to_pylist()


def coded(content: bytes, own: FieldCoders) -> list[list[str]] | None:
    found = own.coded(pa.py_buffer(content), 0)
    if found is None:
        return None
    columns = [cells(each) for each in found.columns.values()]
    assert all(len(each) == found.rows for each in columns)
    return columns


def parsed(content: bytes, names: Sequence[str] = ("x", "y"), delimiter: str = ",") -> list[list[str]] | None:
    """What pyarrow parses, as all was parsed before; None if it refuses."""
    read = pa.csv.ReadOptions(column_names=list(names), block_size=max(len(content), 1))
    convert = pa.csv.ConvertOptions(
        column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False, check_utf8=False
    )
    mark = b"\xef\xbb\xbf" if content.startswith(b"\xef\xbb\xbf") else b""  # pyarrow would take it away
    try:
        parse = pa.csv.ParseOptions(delimiter=delimiter, newlines_in_values=True)
        table = pa.csv.read_csv(pa.BufferReader(mark + content), read, parse, convert)
    except pa.ArrowInvalid:
        return None
    return [each.to_pylist() for each in table.columns]


@pytest.mark.parametrize("name", PLAIN)
def test_plain_text_is_what_pyarrow_parses(name: str) -> None:
    text, how = PLAIN[name]
    names, delimiter = how.get("names", ("x", "y")), how.get("delimiter", ",")
    found = coded(text.encode(), coders(**how))
    assert found == parsed(text.encode(), names, delimiter)
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    assert found == [list(each) for each in zip(*rows, strict=True)]


@pytest.mark.parametrize("name", PLAIN)
def test_any_part_of_the_lines_is_as_good(name: str) -> None:
    """Parts end anywhere in a word of 64 bytes; what was shown before does not matter."""
    text, how = PLAIN[name]
    own, end = coders(**how), how.get("line_end", "\n")
    lines = text.split(end) if '"' not in text else [text]
    sizes = random.Random(1)  # noqa: S311
    while lines:
        size = sizes.randint(1, max(1, len(lines) // 3))
        part = end.join(lines[:size])
        del lines[:size]
        if part:
            assert coded(part.encode(), own) == parsed(
                part.encode(), how.get("names", ("x", "y")), how.get("delimiter", ",")
            )


@pytest.mark.parametrize("name", ODD)
def test_what_is_not_plain_is_refused(name: str) -> None:
    text, how = ODD[name]
    for before in ("", "pp,qq" + how.get("line_end", "\n")):
        for times in range(40):  # wherever it stands among 64 bytes
            assert coded((before * times + text).encode(), coders(**how)) is None


@pytest.mark.parametrize("seed", range(4))
def test_random_bytes_are_refused_or_what_pyarrow_parses(seed: int) -> None:
    generator = random.Random(seed)  # noqa: S311
    accepted = 0
    for _ in range(1500):
        names = ("x", "y", "z")[: generator.randint(2, 3)]
        row = len(names) * [generator.choice(["a", "bb", "", " ", "é", "\0", "x" * 17, "1.5", '"', "\r"])]
        lines = []
        for _ in range(generator.randint(1, 40)):
            for place in range(len(row)):
                if generator.random() < 0.5:
                    letters = 'ab \0é,\n\r"' if generator.random() < 0.02 else "ab \0é"
                    row[place] = "".join(generator.choices(letters, k=generator.choice([0, 1, 2, 8, 9, 16, 17, 70])))
                elif '"' in row[place] or "\r" in row[place]:
                    row[place] = "z"
            lines.append(",".join(row if generator.random() < 0.999 else row[1:]))
        end = generator.choice(["\n", "\n", "\r\n"])
        content = (end.join(lines) + generator.choice(["", end])).encode()
        if not content:
            continue
        found = coded(content, coders(names=names, line_end=end))
        if found is not None:
            accepted += 1
            assert found == parsed(content, names)
    assert accepted > 300


def test_a_column_of_many_texts_stays_text_and_the_others_are_codes() -> None:
    own = coders()
    many = "".join(f"{row},{row % 3}\n" for row in range(300))
    first = own.coded(pa.py_buffer(many.encode()), 0)
    again = own.coded(pa.py_buffer(b"1,2\n"), 0)
    assert first is not None
    assert again is not None
    assert [isinstance(each, Column) for each in first.columns.values()] == [False, True]
    assert [cells(each) for each in again.columns.values()] == [["1"], ["2"]]


def test_parts_of_few_rows_are_left_to_be_gathered() -> None:
    own = coders()
    assert own.coded(pa.py_buffer(b"a,b\nc,d\n"), 3) is None
    assert own.coded(pa.py_buffer(b"a,b\nc,d\n"), 0) is None, "nor is it tried again: the table is wide"


WORDS = ("a", " a", "true", "", "?", "x" * 30)
TABLE = "".join(
    f"{('', 'NA', 'no', 'yes')[row % 4]},{row % 7},{row % 300},{row / 8},{WORDS[row % 6]},{row}x\n"
    for row in range(5_000)
)
NAMES = ["class", "few", "more", "real", "text", "id"]


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tabulate, "CELLS_WORTH_COMPILING", 0)
    monkeypatch.setattr(csv_files, "_PART", 1 << 14)
    monkeypatch.setattr(csv_files, "_ROWS", 16)


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("odd", ["", '"no",1,1,1,a,"1""x"\n', "\n\n", "quoted"])
def test_counts_are_those_of_pyarrow(
    odd: str, end: str, threads: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "table.csv"
    text = ",".join(NAMES) + "\n" + TABLE[: len(TABLE) // 2] + TABLE[len(TABLE) // 2 :].replace("\n", "\n" + odd, 1)
    if odd == "quoted":
        rows = csv.reader(io.StringIO(text.replace(odd, "")))
        file = io.StringIO()
        csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(rows)
        text = file.getvalue()
    path.write_bytes(text.replace("\n", end).encode())
    used: list[bool] = []
    own = FieldCoders.coded
    monkeypatch.setattr(FieldCoders, "coded", lambda *given: used.append((found := own(*given)) is not None) or found)
    found = count(path, "class", missing_values=["NA", 6, "?"], threads=threads)
    assert sum(used) > 5, "the parts that are plain"
    assert found.rows == 5_000 + (odd.startswith('"'))
    monkeypatch.setattr(csv_coder, "MAX_COLUMNS", 0)
    used.clear()
    plain = count(path, "class", missing_values=["NA", 6, "?"], threads=threads)
    assert not any(used)
    assert found.to_bytes() == plain.to_bytes()
    some = count(path, "text", features=["id", "few"], threads=threads)
    assert some.features == ("id", "few")


@pytest.mark.usefixtures("small_parts")
def test_bytes_that_are_no_text_are_told_by_their_line(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    content = ",".join(NAMES).encode() + b"\n" + TABLE.encode()
    at = content.index(b"\nyes,", 1 << 16)  # the first bytes show the encoding
    content = content[: at + 1] + b"\xff" + content[at + 2 :]
    path.write_bytes(content)
    line = content[: content.index(b"\xff")].count(b"\n") + 1
    with pytest.raises(CredimiError, match=f"line {line}: byte 0xff is not UTF-8"):
        count(path, "class")
    assert count(path, "text", features=["few"]).rows == 5_000, "columns that nobody asks for may hold them"


@pytest.mark.usefixtures("small_parts")
def test_a_row_of_too_few_fields_is_told_by_its_line(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    lines = TABLE.splitlines(keepends=True)
    lines[3_000] = "yes,1\n"
    path.write_text(",".join(NAMES) + "\n" + "".join(lines))
    with pytest.raises(CredimiError, match="line 3002: 2 fields, the header has 6"):
        count(path, "class")
