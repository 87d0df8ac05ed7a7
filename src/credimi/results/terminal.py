"""Tables and lines for the terminal, laid out by rich."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Literal

from credimi.core.atomic_files import plain
from credimi.results.section import probability
from credimi.results.text import without_trailing_blanks

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Mapping, Sequence

    from rich.table import Table as Grid
    from rich.text import Text

    from credimi.core.types import Value

__all__ = ["and_more", "printed", "probability", "text_line", "text_table"]


def printed(parts: Iterable[Grid | Text], width: int) -> str:
    """Tables and lines as plain text."""
    from rich.console import Console  # noqa: PLC0415  (rich is loaded only to print)

    console = Console(file=io.StringIO(), width=width)
    with console.capture() as capture:
        for part in parts:
            console.print(part)
    return without_trailing_blanks(capture.get()).rstrip("\n")


def text_line(words: str) -> Text:
    """One line as it is: in a plain str, rich would read markup, and :names: as pictures."""
    from rich.text import Text  # noqa: PLC0415  (rich is loaded only to print)

    return Text(plain(words))


def text_table(
    title: str,
    headings: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    right: Container[str] = (),
    unbroken: Container[str] = (),
    widths: Mapping[str, int] | None = None,
    overflow: Literal["fold", "ellipsis"] = "fold",
    **layout: Value,
) -> Grid:
    """A table. `right`: columns aligned at the right; `unbroken`: columns on one line; `widths`: minimum widths."""
    from rich import box  # noqa: PLC0415  (rich is loaded only to print)
    from rich.table import Table as Grid  # noqa: PLC0415  (rich is loaded only to print)

    title_line = text_line(title) if title else None
    grid = Grid(title=title_line, title_justify="left", box=box.SIMPLE_HEAD, show_edge=False, **layout)
    for heading in headings:
        grid.add_column(
            heading,
            justify="right" if heading in right else "left",
            no_wrap=heading in unbroken,
            overflow=overflow,
            min_width=(widths or {}).get(heading),
        )
    for row in rows:
        grid.add_row(*map(text_line, row))
    return grid


def and_more(total: int, shown: int) -> Iterator[Text]:
    """A line that says how many are not shown, if any."""
    if total > shown:
        yield text_line(f"... and {total - shown:,} more")
