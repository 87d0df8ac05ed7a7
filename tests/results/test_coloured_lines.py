"""Tables of many lines look as rich lays them out."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from rich.table import Table

from credimi.results.text import Cells, Lines

if TYPE_CHECKING:
    import pytest
    from rich.console import RenderableType

_CELLS = st.text("ab7 .─●漢é\u0301[]:", max_size=8).map(str.strip)


@st.composite
def _tables(draw: st.DrawFn) -> Lines:
    rows = draw(st.integers(0, 5))
    cells = st.lists(_CELLS, min_size=rows, max_size=rows)
    columns = draw(st.lists(st.builds(Cells, _CELLS, cells, st.booleans(), st.booleans()), min_size=1, max_size=4))
    return Lines(columns, draw(st.lists(st.sampled_from(["green", "dim"]), min_size=rows, max_size=rows)))


def _printed(table: RenderableType, width: int, encoding: str = "utf-8") -> list[str]:
    console = Console(file=io.TextIOWrapper(io.BytesIO(), encoding=encoding), width=width)
    with console.capture() as capture:
        console.print(table)
    return [line.rstrip(" ") for line in capture.get().split("\n")]


@given(_tables(), st.integers(4, 60), st.sampled_from(["utf-8", "ascii"]))
def test_lines_are_those_of_rich(table: Lines, width: int, encoding: str) -> None:
    """Whatever the width, the characters, and whether columns fit."""
    assert _printed(table, width, encoding) == _printed(table.laid_out(), width, encoding)


def test_lines_have_their_colours() -> None:
    """In a terminal, each line has its own."""
    console = Console(file=io.StringIO(), width=40, force_terminal=True, color_system="standard")
    with console.capture() as capture:
        console.print(Lines([Cells("name", ["one", "two"])], ["green", "dim"]))
    assert "\x1b[32mone \x1b[0m" in capture.get()
    assert "\x1b[2mtwo \x1b[0m" in capture.get()


def test_cells_that_fit_are_not_given_to_rich(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rich would measure and wrap every one of them."""
    added: list[object] = []
    monkeypatch.setattr(Table, "add_row", lambda *cells, **_: added.append(cells))
    table = Lines([Cells("name", ["one"] * 1_000), Cells("mi", ["0.1"] * 1_000, right=True)], ["dim"] * 1_000)
    assert len(_printed(table, 40)) == 1_000 + 3  # the head, the rule, and what follows the last line
    assert not added
    _printed(table, 5)
    assert len(added) == 1_000
