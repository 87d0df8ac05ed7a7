"""A table of many lines for rich to print, without its measuring and wrapping of every cell.

Where all columns fit side by side, nothing is left for rich to decide: it lays out the head, and the lines below are
the same cells, filled up with blanks. Otherwise it does all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import Console, ConsoleOptions, RenderResult
    from rich.table import Table as Grid

GAP = 2  # blanks between two columns of the table


class Column(NamedTuple):
    """One column of the table."""

    head: str
    cells: Sequence[str]
    right: bool = False  # whether cells are aligned at the right
    wraps: bool = False  # whether cells may take several lines

    @property
    def width(self) -> int:
        """Columns of the terminal that it takes."""
        from rich.cells import cell_len  # noqa: PLC0415  (rich is loaded only to print)

        return max(map(cell_len, (self.head, *self.cells)))


@dataclass(frozen=True, slots=True)
class ColouredLines:
    """The columns side by side, each line in its colour."""

    columns: Sequence[Column]
    colours: Sequence[str]

    def __rich_console__(self, _console: Console, options: ConsoleOptions) -> RenderResult:
        """The table as wide as its cells, or laid out by rich if that does not fit."""
        from rich.segment import Segment  # noqa: PLC0415  (rich is loaded only to print)
        from rich.style import Style  # noqa: PLC0415  (rich is loaded only to print)

        widths = [column.width for column in self.columns]
        widths[-1] = max(widths[-1], 1)  # as rich has it
        if sum(widths) + GAP * (len(widths) - 1) > options.max_width:
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
        from rich.text import Text  # noqa: PLC0415  (a plain str would be read as markup, and :names: as pictures)

        grid = self._grid([None] * len(self.columns))
        for colour, *cells in zip(self.colours, *(column.cells for column in self.columns), strict=True):
            grid.add_row(*map(Text, cells), style=colour)
        return grid

    def _grid(self, widths: Sequence[int | None]) -> Grid:
        """The head of the table, with columns of these widths."""
        from rich import box  # noqa: PLC0415  (rich is loaded only to print)
        from rich.table import Table as Grid  # noqa: PLC0415  (rich is loaded only to print)
        from rich.text import Text  # noqa: PLC0415  (rich is loaded only to print)

        grid = Grid(box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True, show_edge=False)
        for column, width in zip(self.columns, widths, strict=True):
            justify: Literal["right", "left"] = "right" if column.right else "left"
            no_wrap = not column.wraps
            grid.add_column(Text(column.head), justify=justify, no_wrap=no_wrap, overflow="fold", width=width)
        return grid


def _filled(column: Column, width: int) -> Iterator[str]:
    """The cells of one column, all of them as wide; some characters take two columns of the terminal, others none."""
    from rich.cells import cell_len  # noqa: PLC0415  (rich is loaded only to print)

    for cell in column.cells:
        blanks = " " * (width - cell_len(cell))
        yield blanks + cell if column.right else cell + blanks
