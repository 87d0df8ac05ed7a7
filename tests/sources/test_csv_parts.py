"""Parts of a CSV file hold what the whole file holds, whatever letter a part begins with."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from credimi import CredimiError, count
from credimi.sources.csv import csv_files

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("part", [1, 4, 11, 1 << 20])
def test_a_mark_of_byte_order_is_a_letter_behind_the_header(
    part: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(csv_files, "_PART", part)
    monkeypatch.setattr(csv_files, "_ROWS", 1)
    path = tmp_path / "data.csv"
    path.write_text("\ufeffx,y\n\ufeffa,p\na,q\n\ufeff,p\n\ufeff\ufeff,q\n", encoding="utf-8")
    counts = count(path, "y")
    assert counts.rows == 4
    assert counts.feature("x").values == ("a", "\ufeff", "\ufeffa", "\ufeff\ufeff")


def test_a_part_shorter_than_a_mark_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_files, "_PART", 1)
    path = tmp_path / "data.csv"
    path.write_text("y\na\n\nb\na", encoding="utf-8")
    assert count(path, "y").rows == 3


@pytest.mark.parametrize("part", [1, 5, 16, 1 << 20])
def test_a_quote_opens_behind_a_line_that_ends_with_cr_alone(
    part: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(csv_files, "_PART", part)
    monkeypatch.setattr(csv_files, "_ROWS", 1)
    path = tmp_path / "data.csv"
    path.write_bytes(b'x,y\na,p\r"two\nlines",q\r"b",p\n5" pipe,q\r"c\n",p\n')
    counts = count(path, "y")
    assert counts.rows == 5
    assert counts.feature("x").values == ('5" pipe', "a", "b", "c\n", "two\nlines")
    path.write_bytes(b'y\np\r"q\np\n')
    with pytest.raises(CredimiError, match="a quote is never closed"):
        count(path, "y")
