"""A comparison as a table for the terminal: feature, I in both samples, the change, P(change), verdict."""

from __future__ import annotations

import io
import math
from typing import TYPE_CHECKING

from credimi.core.atomic_files import plain
from credimi.report.terminal import ranking_grid

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rich.table import Table as Grid
    from rich.text import Text

    from credimi.report.shown import ShownComparison, ShownGroups

_COLOUR = {"more": "green", "less": "red", "unsure": "yellow", "same": "dim", "not compared": "dim"}
_ROOM_FOR_INTERVALS, _ROOM_FOR_CHANGE = 96, 60
_LINES = 60  # of a comparison that is printed in Python
_LONGEST_NAME = 18  # of a sample, as the heading of a column
_SHOWN = 10  # columns that only one of the two has


def comparison_text(comparison: ShownComparison, *, width: int = 120) -> str:
    """The comparison as plain text."""
    return _printed(comparison_grid(comparison, width=width, top=_LINES), width)


def grouped_text(grouped: ShownGroups, *, width: int = 120) -> str:
    """All rankings and comparisons of groups as plain text."""
    return _printed(grouped_grid(grouped, width=width, top=_LINES), width)


def _printed(parts: Iterable[Grid | Text], width: int) -> str:
    from rich.console import Console  # noqa: PLC0415  (rich is loaded only to print)

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
    from rich.text import Text  # noqa: PLC0415  (rich is loaded only to print)

    for name, ranking in grouped.rankings.items():
        yield Text(plain(f"== {grouped.by} {name} =="))
        yield from ranking_grid(ranking, units=units, top=top, width=width)
        yield Text("")
    if grouped.ungrouped:
        yield Text(plain(f"{grouped.ungrouped:,} rows have no {grouped.by} and are in no group"))
    for comparison in grouped.comparisons:
        yield from comparison_grid(comparison, units=units, top=top, width=width)
        yield Text("")


def comparison_grid(
    comparison: ShownComparison,
    *,
    units: str = "nats",
    top: int | None = None,
    width: int = 120,
) -> Iterator[Grid | Text]:
    """The table and the lines below it, for rich to print."""
    from rich import box  # noqa: PLC0415  (rich is loaded only to print)
    from rich.table import Table as Grid  # noqa: PLC0415  (rich is loaded only to print)
    from rich.text import Text  # noqa: PLC0415  (a plain str would be read as markup, and :names: as pictures)

    settings = comparison.settings
    scale = 1.0 / math.log(2.0) if units == "bits" else 1.0
    grid = Grid(
        title=Text(plain(title(comparison))),
        title_justify="left",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        collapse_padding=True,
        show_edge=False,
    )
    intervals, changes = width >= _ROOM_FOR_INTERVALS, width >= _ROOM_FOR_CHANGE
    grid.add_column("feature", overflow="fold", min_width=12)
    for name in comparison.names:
        grid.add_column(Text(plain(_short(name))), justify="right", no_wrap=True)
    grid.add_column("change", justify="right", no_wrap=True)
    if intervals:
        grid.add_column(f"{100 * settings['level']:g} % interval", no_wrap=True)
    if changes:
        grid.add_column(f"P(change > {settings['epsilon']:g})", justify="right", no_wrap=True)
    grid.add_column("verdict", no_wrap=True)
    for row in list(comparison)[:top]:
        known = row["verdict"] != "not compared"
        cells: list[str | Text] = [Text(plain(row["feature"]) or "(no name)")]
        cells += [f"{row[name] * scale:.4f}" if known else "" for name in ("mi_a", "mi_b")]
        cells += [signed(row["change"] * scale) if known else ""]
        cells += [f"{signed(row['low'] * scale)} to {signed(row['high'] * scale)}" if known else ""] * intervals
        cells += [chance(row["p_change"]) if known else ""] if changes else []
        grid.add_row(*cells, row["verdict"], style=_COLOUR[row["verdict"]])
    yield grid
    for line in lines(comparison, top):
        yield Text(plain(line))


def title(comparison: ShownComparison) -> str:
    """What is compared."""
    (first, second), (one, other) = comparison.names, comparison.rows
    return f"What informs about {comparison.target} in {second} ({other:,} rows), against {first} ({one:,} rows)"


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
    shown = f"; the first {top:,} shown" if top is not None and top < len(verdicts) else ""
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
            yield f"{row['feature'] or '(no name)'}: {row['note']}"


def _short(name: str) -> str:
    """A name that fits above its column; its end is kept, as it distinguishes files."""
    return name if len(name) <= _LONGEST_NAME else "…" + name[1 - _LONGEST_NAME :]
