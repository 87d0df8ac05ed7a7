"""Sections as text: tables that fit into a terminal, and lines.

Where not all columns of a table fit, names are shortened to `_NAME_WIDTH`, then columns are left out, the least
important first. Where all fit side by side, nothing is left for rich to decide: it lays out the head, and the lines
below are the same cells, filled up with blanks. Otherwise it wraps the cells.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

from credimi.core.atomic_files import plain
from credimi.results.names import shorten_distinctly
from credimi.results.section import IN_PYTHON

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rich.console import Console, ConsoleOptions, RenderResult
    from rich.table import Table as Grid
    from rich.text import Text

    from credimi.core.types import Record
    from credimi.results.section import Column, Section, Shown

GAP = 2  # blanks between two columns of a table
_BARS, _WIDE_BARS = (6, 12), (6, 24)  # the least and the largest length of bars
_NAME_WIDTH = 14  # columns of the terminal for long names; other columns of a table are left out first
_ONE_OF_TWO = 8  # the same where a row has two names
_SHORTEST_NAME = 7
_WORDS_WIDTH = 20  # columns of the terminal that sentences in a table need at least


def printed(sections: Iterable[Section], shown: Shown = IN_PYTHON) -> str:
    """The sections as plain text."""
    from rich.console import Console

    console = Console(file=io.StringIO(), width=shown.width, force_jupyter=False)  # it would show an empty output
    with console.capture() as capture:
        for part in parts(sections, shown):
            put(part, console)
    return without_trailing_blanks(capture.get()).rstrip("\n")


def parts(sections: Iterable[Section], shown: Shown) -> Iterator[Lines | Text]:
    """Tables and lines for rich to print."""
    for section in sections:
        limit = section.limit(shown)
        if section.lead:
            yield line(section.lead, wraps=section.wraps)
        yield from (line(each, wraps=section.wraps) for each in section.above)
        if section.columns:
            rows = section.rows[:limit]
            colours = [section.colours.get(row.get("verdict", ""), "") for row in rows]
            yield Lines(fitted([each for each in section.columns if "text" in each.media], rows, shown), colours)
        if section.more and section.columns and section.total > limit:
            yield line(f"... and {section.total - limit:,} more")
        yield from (line(each, wraps=section.wraps) for each in section.lines)


def line(words: str, *, wraps: bool = True) -> Text:
    """One line as it is: in a plain str, rich would read markup, and :names: as pictures."""
    from rich.text import Text

    return Text(plain(words), no_wrap=not wraps)


def put(part: Lines | Text, console: Console) -> None:
    """Print a table, or a line, which may be longer than the terminal is wide."""
    whole = bool(getattr(part, "no_wrap", False))
    console.print(part, no_wrap=whole, overflow="ignore" if whole else None, crop=not whole)


def without_trailing_blanks(text: str) -> str:
    """The same lines; those of tables are padded with blanks."""
    return "\n".join(each.rstrip(" ") for each in text.split("\n"))


class Cells(NamedTuple):
    """One column of a table as text."""

    head: str
    cells: Sequence[str]
    right: bool = False  # whether cells are aligned at the right
    wraps: bool = False  # whether cells may take several lines

    @property
    def width(self) -> int:
        """Columns of the terminal that it takes."""
        from rich.cells import cell_len

        return max(map(cell_len, (self.head, *self.cells)))


def fitted(columns: Sequence[Column], rows: Sequence[Record], shown: Shown) -> list[Cells]:
    """The columns that fit into the width. Names are shortened to the room that is left; bars come last."""
    cells = {
        column: Cells(column.heading, [plain(column.text(row)) for row in rows], column.right, column.kind == "words")
        for column in columns
        if column.sized is None
    }
    longest = {column: each.width for column, each in cells.items()}
    named = [column for column in cells if column.kind == "name"]
    needed = longest | {
        column: min(longest[column], _NAME_WIDTH if len(named) == 1 else _ONE_OF_TWO) for column in named
    }
    needed |= {column: min(longest[column], _WORDS_WIDTH) for column in cells if column.kind == "words"}
    room = shown.width + GAP - sum(needed[column] + GAP for column in cells if not column.importance)
    chosen = {column for column in cells if not column.importance}
    for importance in sorted({column.importance for column in cells} - {0}):
        together = [column for column in cells if column.importance == importance]
        if (taken := sum(needed[column] + GAP for column in together)) > room:
            break
        chosen.update(together)
        room -= taken
    else:
        for column in columns:
            least, most = _WIDE_BARS if shown.wide else _BARS
            whole_names = sum(longest[each] - needed[each] for each in chosen if each.kind == "name")
            if column.sized is not None and room >= least + GAP:
                length = max(min(room - GAP - whole_names, most), least)
                cells[column] = Cells(column.heading, [column.sized(row, length) for row in rows])
                chosen.add(column)
                room -= length + GAP
    names = [column for column in columns if column in chosen and column.kind == "name"]
    for place, column in enumerate(names):  # those that need less leave more to the others
        share = max(room // (len(names) - place), _SHORTEST_NAME - needed[column])
        cells[column] = cells[column]._replace(cells=shorten_distinctly(cells[column].cells, needed[column] + share))
        room -= cells[column].width - needed[column]
    return [cells[column] for column in columns if column in chosen]


@dataclass(frozen=True, slots=True)
class Lines:
    """Columns side by side, each line in its colour."""

    columns: Sequence[Cells]
    colours: Sequence[str]

    def __rich_console__(self, _console: Console, options: ConsoleOptions) -> RenderResult:
        """The table as wide as its cells, or laid out by rich if that does not fit."""
        from rich.segment import Segment
        from rich.style import Style

        widths = [column.width for column in self.columns]
        only_marks = any(not width and any(column.cells) for column, width in zip(self.columns, widths, strict=True))
        widths[-1] = max(widths[-1], 1)  # as rich has it
        if only_marks or sum(widths) + GAP * (len(widths) - 1) > options.max_width:
            yield self.laid_out()
            return
        yield self._grid(widths)
        styles = {colour: Style.parse(colour) for colour in set(self.colours)}
        filled = [_filled(column, width) for column, width in zip(self.columns, widths, strict=True)]
        gap = " |" if options.ascii_only else " " * GAP
        for colour, *cells in zip(self.colours, *filled, strict=True):
            yield Segment(gap.join(cells), styles[colour])
            yield Segment.line()

    def laid_out(self) -> Grid:
        """The table with each cell measured and wrapped by rich."""
        from rich.text import Text  # a plain str would be read as markup, and :names: as pictures

        grid = self._grid([None] * len(self.columns))
        for colour, *cells in zip(self.colours, *(column.cells for column in self.columns), strict=True):
            grid.add_row(*map(Text, cells), style=colour)
        return grid

    def _grid(self, widths: Sequence[int | None]) -> Grid:
        """The head of the table, with columns of these widths."""
        from rich import box
        from rich.table import Table as Grid
        from rich.text import Text

        grid = Grid(box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True, show_edge=False)
        for column, width in zip(self.columns, widths, strict=True):
            justify: Literal["right", "left"] = "right" if column.right else "left"
            no_wrap = not column.wraps
            grid.add_column(Text(column.head), justify=justify, no_wrap=no_wrap, overflow="fold", width=width)
        return grid


def _filled(column: Cells, width: int) -> Iterator[str]:
    """The cells of one column, all of them as wide; some characters take two columns of the terminal, others none."""
    from rich.cells import cell_len

    for cell in column.cells:
        blanks = " " * (width - cell_len(cell))
        yield blanks + cell if column.right else cell + blanks
