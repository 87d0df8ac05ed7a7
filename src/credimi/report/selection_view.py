"""A selection as a table for the terminal, and as a figure; from the plain data of `Selection.to_dict`."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from credimi.core.atomic_files import plain
from credimi.report.figures import new_axes, short_name
from credimi.report.terminal import probability

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.axes import Axes
    from rich.table import Table as Grid
    from rich.text import Text

    from credimi.core.types import Record

_LINES = 30  # of the columns that were not taken


def selection_text(selection: Record, *, width: int = 120) -> str:
    """The selection as plain text."""
    from rich.console import Console  # noqa: PLC0415  (rich is loaded only to print)

    console = Console(file=io.StringIO(), width=width)
    with console.capture() as capture:
        for part in selection_grids(selection):
            console.print(part)
    return "\n".join(line.rstrip() for line in capture.get().splitlines())


def selection_grids(selection: Record) -> Iterator[Grid | Text]:
    """The steps, the columns that were not taken, and a line on what was asked, for rich to print."""
    from rich.text import Text  # noqa: PLC0415  (a plain str would be read as markup, and :names: as pictures)

    settings, steps, rejected = selection["settings"], selection["steps"], selection["rejected"]
    smallest = settings["goal"] == "smallest"
    total = len(steps) + len(rejected)
    what = "The smallest set that tells about" if smallest else "Columns that matter for"
    title = f"{what} {settings['target']}: {len(steps):,} of {total:,} columns, {selection['rows']:,} rows"
    headings = ["#", "column", "adds" if smallest else "tells alone", "95 % interval"]
    headings += (
        [f"P(adds > {settings['epsilon']:g})", "tells", "of entropy", "or"] if smallest else ["P(matters)", "with"]
    )
    yield _grid(title, headings, [_step_cells(number, step, smallest=smallest) for number, step in enumerate(steps, 1)])
    if rejected:
        headings = ["not taken", "tells alone", "P(adds)" if smallest else "P(matters)", "why"]
        yield _grid("", headings, [_rejection_cells(each) for each in rejected[:_LINES]])
        if len(rejected) > _LINES:
            yield Text(f"... and {len(rejected) - _LINES:,} more")
    yield Text(f"information in nats; entropy of the target {selection['entropy']:.4f}; level {settings['level']:g}")


def _step_cells(number: int, step: Record, *, smallest: bool) -> list[str]:
    spread = step["high"] - step["low"]
    interval = f"{step['low']:.4f} to {step['high']:.4f}"
    cells = [str(number), step["feature"], f"{step['adds']:.4f}", interval, probability(step["p_adds"], spread)]
    if smallest:
        others = ", ".join(f"{name} ({chance:.2f})" for name, chance in step["substitutes"])
        return [*cells, f"{step['tells']:.4f}", f"{100 * step['share']:.1f} %", others]
    return [*cells, step["partner"] or ""]


def _rejection_cells(each: Record) -> list[str]:
    return [each["feature"], f"{each['tells']:.4f}", f"{each['p_adds']:.4f}", reason(each)]


def reason(rejection: Record) -> str:
    """Why a column was not taken, in words."""
    if rejection["reason"] == "redundant":
        return f"says what {rejection['like']} says"
    if rejection["reason"] == "unsure" and rejection["rows_to_decide"]:
        return f"unsure: about {rejection['rows_to_decide']:,} rows would decide"
    return str(rejection["reason"])


def _grid(title: str, headings: list[str], rows: list[list[str]]) -> Grid:
    from rich import box  # noqa: PLC0415  (rich is loaded only to print)
    from rich.table import Table as Grid  # noqa: PLC0415  (rich is loaded only to print)
    from rich.text import Text  # noqa: PLC0415  (rich is loaded only to print)

    grid = Grid(title=Text(plain(title)) if title else None, title_justify="left", box=box.SIMPLE_HEAD, show_edge=False)
    numbers = {"#", "adds", "tells", "tells alone", "of entropy", "P(adds)", "P(matters)"}
    for heading in headings:
        grid.add_column(heading, justify="right" if heading in numbers else "left", overflow="fold")
    for row in rows:
        grid.add_row(*(Text(plain(cell)) for cell in row))
    return grid


def steps_plot(selection: Record, ax: Axes | None) -> Axes:
    """What each step adds, with its interval, first step on top."""
    steps = selection["steps"]
    axes = new_axes(ax, (6.4, 1.1 + 0.3 * max(len(steps), 3)))
    for place, step in enumerate(steps):
        axes.plot([step["low"], step["high"]], [place, place], color="#0072b2", linewidth=1.6, solid_capstyle="round")
        axes.plot([step["adds"]], [place], marker="o", color="#0072b2", linestyle="", zorder=3)
    axes.axvline(selection["settings"]["epsilon"], color="#555555", linewidth=0.8, linestyle="--")
    axes.set_yticks(range(len(steps)), [short_name(step["feature"]) for step in steps])
    axes.set_ylim(max(len(steps), 1) - 0.4, -0.6)
    axes.set_xlim(left=0.0)
    adds = "adds to those above" if selection["settings"]["goal"] == "smallest" else "tells alone"
    axes.set_xlabel(f"what it {adds} about {short_name(selection['settings']['target'])}, nats: mean and 95 % interval")
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.grid(visible=True, axis="x", linewidth=0.3)
    return axes
