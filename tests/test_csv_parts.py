"""Parts of a CSV file hold what the whole file holds, whatever letter a part begins with."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from credimi import count
from credimi.engines import delimited

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("part", [1, 4, 11, 1 << 20])
def test_a_mark_of_byte_order_is_a_letter_behind_the_header(
    part: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delimited, "_PART", part)
    monkeypatch.setattr(delimited, "_ROWS", 1)
    path = tmp_path / "data.csv"
    path.write_text("\ufeffx,y\n\ufeffa,p\na,q\n\ufeff,p\n\ufeff\ufeff,q\n", encoding="utf-8")
    counts = count(path, "y")
    assert counts.rows == 4
    assert counts.feature("x").values == ("a", "\ufeff", "\ufeffa", "\ufeff\ufeff")


def test_a_part_shorter_than_a_mark_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delimited, "_PART", 1)
    path = tmp_path / "data.csv"
    path.write_text("y\na\n\nb\na", encoding="utf-8")
    assert count(path, "y").rows == 3
