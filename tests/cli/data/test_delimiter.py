"""`credimi rank`, `select` and `count` from outside: the delimiter."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_helpers import Call, Refusal, Report, write, write_parquet


def caret(name: str = "a.csv", delimiter: str = "^", rows: int = 40) -> str:
    """A table whose header holds more commas than delimiters."""
    lines = (delimiter.join(("uv"[row % 2], str(row % 3), "pq"[row % 2])) for row in range(rows))
    return write(name, delimiter.join(("size, in cm, bare", "noise", "class")) + "\n" + "\n".join(lines) + "\n")


@pytest.mark.parametrize(
    ("delimiter", "word"),
    [("^", "^"), ("\t", "tab"), ("\t", r"\t"), ("\t", "\t"), ("\x01", r"\x01"), ("\x01", "\x01"), (":", ":")],
)
def test_delimiter_is_named_in_signs_or_words(report: Report, delimiter: str, word: str) -> None:
    found = report(caret(delimiter=delimiter), "--target", "class", "--delimiter", word)
    assert {feature["feature"] for feature in found["features"]} == {"size, in cm, bare", "noise"}


def test_delimiter_may_be_a_blank(report: Report) -> None:
    found = report(write("a.csv", "f class\n" + "a p\nb q\n" * 20), "--target", "class", "--delimiter", "space")
    assert [feature["feature"] for feature in found["features"]] == ["f"]


def test_select_writes_the_delimiter_that_it_was_told(call: Call) -> None:
    code, _, err = call("select", caret(), "--target", "class", "--delimiter", "^", "--output", "b.csv")
    assert code == 0, err
    assert Path("b.csv").read_text().splitlines()[:2] == ["size, in cm, bare^class", "u^p"]


def test_counts_are_extended_by_files_of_another_delimiter(call: Call, report: Report, refusal: Refusal) -> None:
    """Counts know of no delimiter: each call names that of its own files."""
    assert call("count", caret(), "--target", "class", "--into", "all.counts", "--delimiter", "^")[0] == 0
    said = refusal("count", caret("b.csv", ":"), "--into", "all.counts")
    assert said.startswith("there is no column 'class'")
    assert call("count", "b.csv", "--into", "all.counts", "--delimiter", ":")[0] == 0
    assert report("all.counts")["rows"] == 80
    assert "--delimiter" in refusal("rank", "all.counts", "--delimiter", ":")


@pytest.mark.parametrize(
    ("line", "shown", "asked"),
    [
        ("2 1 38.50 " * 9, "'2 1 38.50 2 1 38.50 2 1 38.50 2 1 38.50 '...", "delimiter=' ', --delimiter space"),
        ("first^second^third", "'first^second^third'", "delimiter='^', --delimiter '^'"),
    ],
)
def test_a_line_that_is_one_column_hints_at_the_delimiter(refusal: Refusal, line: str, shown: str, asked: str) -> None:
    """Whatever was asked for: a table without a line of names has no name that could be found in it."""
    write("a.data", f"{line}\n" * 30)
    several = f"if these are several columns, name the character between them ({asked})"
    assert refusal("rank", "a.data", "--target", "24") == f"there is no column '24', but only {shown}: {several}"
    write("one.csv", "name\na\nb\n")
    assert refusal("rank", "one.csv", "--target", "24") == "there is no column '24': there are 'name'"


def test_prequential_takes_a_delimiter(call: Call) -> None:
    code, out, err = call("prequential", caret(), "--target", "class", "--delimiter", "^", "--orders", "1")
    assert code == 0, err
    assert "2 features" in out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["rank", "a.csv", "--target", "class"], "name the character between them (delimiter, --delimiter)"),
        (["rank", "a.csv", "--target", "class", "--delimiter", "||"], "the delimiter '||' is 2 characters"),
        (["count", "a.csv", "--target", "class", "--into", "c", "--delimiter", ""], "the delimiter '' is 0 characters"),
        (["rank", "a.parquet", "--target", "class", "--delimiter", ";"], "a.parquet is Parquet, and has no delimiter"),
    ],
)
def test_delimiters_that_cannot_be_meant(refusal: Refusal, arguments: list[str], said: str) -> None:
    caret()
    write_parquet("a.parquet", {"f": ["a", "b"], "class": ["p", "q"]})
    assert said in refusal(*arguments)
