"""A comparison as a table for the terminal: feature, I in both samples, the change, P(change), verdict."""

from __future__ import annotations

import io
import math
from typing import TYPE_CHECKING

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from credimi.core.atomic_files import plain
from credimi.report import sentences
from credimi.report.terminal import GAP, LEAST_NAME, Column, ranking_grid, shortened, threshold

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from credimi.core.types import Record
    from credimi.report.shown import ShownComparison, ShownGroups

_COLOUR = {"more": "green", "less": "red", "unsure": "yellow", "same": "dim", "not compared": "dim"}
_LINES = 60  # of a comparison that is printed in Python
_SHORT_NAME, _LONGEST_NAME = 8, 18  # of a sample, as the heading of a column
_LETTERS = ("A", "B")  # the headings of samples whose names look the same
_SHOWN = 10  # columns that only one of the two has


def comparison_text(comparison: ShownComparison, *, width: int = 120) -> str:
    """The comparison as plain text."""
    return _printed(comparison_grid(comparison, width=width, top=_LINES), width)


def grouped_text(grouped: ShownGroups, *, width: int = 120) -> str:
    """All rankings and comparisons of groups as plain text."""
    return _printed(grouped_grid(grouped, width=width, top=_LINES), width)


def _printed(parts: Iterable[Grid | Text], width: int) -> str:

    console = Console(file=io.StringIO(), width=width)
    with console.capture() as capture:
        for part in parts:
            console.print(part)
    return "\n".join(line.rstrip() for line in capture.get().rstrip("\n").split("\n"))


def grouped_grid(
    grouped: ShownGroups,
    *,
    units: str = "nats",
    top: int | None = None,
    width: int = 120,
) -> Iterator[Grid | Text]:
    """The ranking of each group, then the comparisons."""
    for name, ranking in grouped.rankings.items():
        yield Text(plain(f"== {grouped.by} {name} =="))
        yield from ranking_grid(ranking, units=units, top=top, width=width)
        yield Text("")
    if grouped.ungrouped:
        yield Text(plain(_ungrouped(grouped)))
    for comparison in grouped.comparisons:
        yield from comparison_grid(comparison, units=units, top=top, width=width)
        yield Text("")


def _ungrouped(grouped: ShownGroups) -> str:
    have, are = ("has", "is") if grouped.ungrouped == 1 else ("have", "are")
    return f"{sentences.counted(grouped.ungrouped, 'row')} {have} no {grouped.by} and {are} in no group"


def comparison_grid(
    comparison: ShownComparison,
    *,
    units: str = "nats",
    top: int | None = None,
    width: int = 120,
) -> Iterator[Grid | Text]:
    """The table and the lines below it, for rich to print."""
    columns, headings = _fitting(comparison, list(comparison)[:top], units, width)
    yield Text(plain(title(comparison, headings)) + (", in bits" if units == "bits" else ""))
    grid = Grid(box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True, show_edge=False)
    for column in columns:
        grid.add_column(Text(column.head), justify="right" if column.right else "left", no_wrap=True)
    for cells in zip(*(column.cells for column in columns), strict=True):
        grid.add_row(*map(Text, cells), style=_COLOUR[cells[-1]])
    yield grid
    for line in lines(comparison, top):
        yield Text(plain(line))


def _fitting(
    comparison: ShownComparison, rows: Sequence[Record], units: str, width: int
) -> tuple[list[Column], tuple[str, str]]:
    """The columns that there is room for, first of all names, changes and verdicts; and the headings of the samples."""
    settings, scale = comparison.settings, 1.0 / math.log(2.0) if units == "bits" else 1.0

    def column(head: str, text: Callable[[Record], str], *, right: bool = True) -> Column:
        return Column(head, [text(row) if row["verdict"] != "not compared" else "" for row in rows], right)

    names = [plain(row["feature"]) or sentences.NO_NAME for row in rows]
    longest = max(map(cell_len, [*names, "feature"]))
    first = column("", lambda row: f"{row['mi_a'] * scale:.4f}")
    second = column("", lambda row: f"{row['mi_b'] * scale:.4f}")
    change = column("change", lambda row: signed(row["change"] * scale))
    interval = column(
        f"{100 * settings['level']:g} % interval",
        lambda row: f"{signed(row['low'] * scale)} to {signed(row['high'] * scale)}",
        right=False,
    )
    tail = column(f"P(change > {threshold(settings, units)})", lambda row: chance(row["p_change"]))
    verdict = Column("verdict", [row["verdict"] for row in rows])
    room = width - min(longest, LEAST_NAME) - change.width - verdict.width - 2 * GAP
    chosen, samples = [change], 2 * (max(_SHORT_NAME, first.width, second.width) + GAP)
    headings = comparison.names
    if samples <= room:
        room -= samples
        for extra, before in ((tail, len(chosen)), (interval, 1)):
            if extra.width + GAP > room:
                break
            chosen.insert(before, extra)
            room -= extra.width + GAP
        spare = max(room - max(longest - LEAST_NAME, 0), 0)  # once names are whole
        headings = _headings(comparison.names, min(_SHORT_NAME + spare // 2, _LONGEST_NAME))
        first, second = first._replace(head=headings[0]), second._replace(head=headings[1])
        room -= first.width + second.width + 2 * GAP - samples
        chosen = [first, second, *chosen]
    shown = [shortened(name, min(longest, LEAST_NAME) + max(room, 0)) for name in names]
    return [Column("feature", shown), *chosen, verdict], headings


def title(comparison: ShownComparison, headings: tuple[str, str] | None = None) -> str:
    """What is compared, and which of the two is which where letters stand above the table."""
    (first, second), (one, other) = comparison.names, comparison.rows
    if headings == _LETTERS:
        first, second = f"A, {first}", f"B, {second}"
    target = comparison.target or sentences.NO_NAME
    return f"What informs about {target} in {second} ({other:,} rows), against {first} ({one:,} rows)"


def signed(value: float) -> str:
    """Four digits with a sign, unless all are 0."""
    shown = f"{value:+.4f}"
    return shown if float(shown) else "0.0000"


def chance(value: float) -> str:
    """Four digits of a probability."""
    return "> 0.9999" if value > 0.9999 else "< 0.0001" if value < 0.0001 else f"{value:.4f}"


def lines(comparison: ShownComparison, top: int | None = None) -> Iterator[str]:
    """The lines below the table."""
    settings, verdicts = comparison.settings, comparison.columns["verdict"]
    counted = ", ".join(f"{verdicts.count(each):,} {each}" for each in _COLOUR if each in verdicts)
    number = f" {top:,}" if top is not None and top > 1 else ""
    shown = f"; the first{number} shown" if top is not None and top < len(verdicts) else ""
    yield f"{len(verdicts):,} {'feature' if len(verdicts) == 1 else 'features'}: {counted}{shown}"
    epsilon, level = f"{settings['epsilon']:g}", f"{settings['level']:g}"
    yield (
        f"more, less: P(change > {epsilon} nats) >= {level}, where no change has probability {settings['p_same']:g} "
        f"beforehand; same: at most {epsilon}, as surely, by these rows alone; unsure: neither"
    )
    if settings.get("counts") is False:
        yield "from rankings without their counts: less exact; give counts files or data to be sure"
    for name, only in zip(comparison.names, comparison.only, strict=True):
        if only:
            listed = ", ".join(only[:_SHOWN]) + (", ..." if len(only) > _SHOWN else "")
            yield f"only in {name}, not compared: {listed}"
    for row in list(comparison)[: top or None]:
        if row["verdict"] == "not compared":
            yield f"{row['feature'] or sentences.NO_NAME}: {row['note']}"


def _headings(names: tuple[str, str], room: int) -> tuple[str, str]:
    """The ends of the samples' names, which tell files apart, as they fit above columns; letters where they do not."""
    first, second = (_ending(plain(name), room) for name in names)
    return (first, second) if first != second else _LETTERS


def _ending(name: str, room: int) -> str:

    if cell_len(name) <= room:
        return name
    while cell_len(name) > room - 1:
        name = name[1:]
    return "…" + name
