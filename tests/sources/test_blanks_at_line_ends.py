"""A blank between the fields, and more of them at the ends of lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import credimi
from credimi.sources.csv import csv_files

if TYPE_CHECKING:
    from pathlib import Path

WAYS = {
    "rows only": ("y a b", "{} "),
    "header only": ("y a b ", "{}"),
    "both": ("y a b ", "{} "),
    "several": ("y a b  ", "{}   "),
}
LINES = ["p 1 u", "q 2 ", "p 1 v", 'q "2 2" u', 'p "3 ""x"" " v']  # of the second, the last field is missing


def _file(path: Path, header: str, form: str, end: str = "\n", times: int = 8) -> Path:
    lines = [header, *(form.format(line) if place % 3 else line for place, line in enumerate(LINES * times))]
    path.write_text(end.join(lines) + end, encoding="utf-8", newline="")
    return path


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("way", WAYS)
def test_blanks_at_the_ends_of_lines_are_no_fields(tmp_path: Path, way: str, end: str) -> None:
    plain = credimi.count(_file(tmp_path / "plain.txt", "y a b", "{}", end), "y", delimiter=" ")
    found = credimi.count(_file(tmp_path / "blanks.txt", *WAYS[way], end), "y", delimiter=" ")
    assert found == plain
    assert found.features == ("a", "b")


def test_so_are_those_of_many_parts_that_become_codes_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_files, "_PART", 1_000)
    monkeypatch.setattr(csv_files.tabulate, "CELLS_WORTH_COMPILING", 1)
    plain = credimi.count(_file(tmp_path / "plain.txt", "y a b", "{}", times=400), "y", delimiter=" ")
    found = credimi.count(_file(tmp_path / "blanks.txt", "y a b", "{} ", times=400), "y", delimiter=" ")
    assert found == plain


def test_a_line_without_an_end_is_the_last(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("y a b \np 1 u \nq 2 v ", encoding="utf-8")
    assert credimi.count(tmp_path / "a.txt", "y", delimiter=" ").rows == 2


@pytest.mark.parametrize("line", ["p  1 u", "p 1 u v", "p 1"])
def test_other_numbers_of_fields_are_refused_by_their_line(tmp_path: Path, line: str) -> None:
    (tmp_path / "a.txt").write_text(f"y a b\nq 2 u \n{line}\n", encoding="utf-8")
    with pytest.raises(credimi.CredimiError, match=r"a.txt, line 3: \d fields, the header has 3.*is one blank"):
        credimi.count(tmp_path / "a.txt", "y", delimiter=" ")
