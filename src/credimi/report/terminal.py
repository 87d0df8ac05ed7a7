"""A ranking as a table for the terminal: rank, feature, interval as a bar, P(I > epsilon), verdict."""

from __future__ import annotations

import io
import math
from typing import TYPE_CHECKING

from credimi.core.atomic_files import plain
from credimi.report import sentences

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.table import Table as Grid
    from rich.text import Text

    from credimi.core.types import Record
    from credimi.report.shown import ShownRanking

_BAR, _LONG_BAR = 12, 24
_ROOM_FOR_INTERVALS, _ROOM_FOR_TAILS = 56, 72  # columns of a terminal; a narrow one shows names and verdicts only
_ROOM_FOR_COMPLETE = 90
_ROOM_FOR_BARS = 96
_ROOM_FOR_ALL = 130
_LINES = 60  # of a ranking that is printed in Python
_COLOUR = {"keep": "green", "unsure": "yellow", "drop": "dim", "not ranked": "dim"}


def probability(value: float, std: float) -> str:
    """Four digits of P(I > epsilon). Beyond that, only a distribution without spread is certain."""
    if std > 0.0 and value > 0.9999:
        return "> 0.9999"
    return "< 0.0001" if std > 0.0 and value < 0.0001 else f"{value:.4f}"


def ranking_text(ranking: ShownRanking, *, units: str = "nats", width: int = 120) -> str:
    """The ranking as plain text."""
    from rich.console import Console  # noqa: PLC0415  (rich is loaded only to print)

    console = Console(file=io.StringIO(), width=width)
    with console.capture() as capture:
        for part in ranking_grid(ranking, units=units, width=width, top=_LINES):
            console.print(part)
    return capture.get().rstrip("\n")


def ranking_grid(
    ranking: ShownRanking,
    *,
    units: str = "nats",
    top: int | None = None,
    width: int = 120,
) -> Iterator[Grid | Text]:
    """The table and the lines below it, for rich to print."""
    from rich import box  # noqa: PLC0415  (rich is loaded only to print)
    from rich.table import Table as Grid  # noqa: PLC0415  (rich is loaded only to print)
    from rich.text import Text  # noqa: PLC0415  (a plain str would be read as markup, and :names: as pictures)

    settings = ranking.settings
    scale = 1.0 / math.log(2.0) if units == "bits" else 1.0
    grid = Grid(
        title=Text(_title(ranking, units)),
        title_justify="left",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        collapse_padding=True,
        show_edge=False,
    )
    grid.add_column("#", justify="right")
    grid.add_column("feature", overflow="fold", min_width=12)
    grid.add_column(units, justify="right", no_wrap=True)
    intervals, tails = width >= _ROOM_FOR_INTERVALS, width >= _ROOM_FOR_TAILS
    if intervals:
        grid.add_column(f"{100 * settings['level']:g} % interval", no_wrap=True)
    bars, everything = width >= _ROOM_FOR_BARS, width >= _ROOM_FOR_ALL
    if bars:
        grid.add_column("", no_wrap=True)
    if tails:
        grid.add_column(f"P(I > {settings['epsilon']:g})", justify="right", no_wrap=True)
    grid.add_column("verdict", no_wrap=True)
    complete = width >= _ROOM_FOR_COMPLETE
    if complete:
        grid.add_column("complete", justify="right", no_wrap=True)
    if everything:
        grid.add_column("values", overflow="fold")
    most = max((row["high"] for row in ranking if not math.isnan(row["high"])), default=0.0)
    facts = ranking.facts or (None,) * len(ranking)  # None for a ranking that was made by hand
    for place, (row, known_of) in enumerate(zip(ranking, facts, strict=True), 1):
        if top is not None and place > top:
            break
        known = not math.isnan(row["mi"])
        cells: list[str | Text] = [
            str(place) if known else "",
            Text(plain(row["feature"]) or "(no name)"),
            f"{row['mi'] * scale:.4f}" if known else "",
        ]
        cells += [f"{row['low'] * scale:.4f} to {row['high'] * scale:.4f}" if known else ""] if intervals else []
        cells += [_bar(row, most, _LONG_BAR if everything else _BAR) if known else ""] if bars else []
        cells += [probability(row["p_above"], row["std"]) if known else ""] if tails else []
        cells += [row["verdict"]]
        cells += [f"{row['complete']:,}"] if complete else []
        cells += [Text(plain(_values(row, known_of, ranking.reader)))] if everything else []
        grid.add_row(*cells, style=_COLOUR[row["verdict"]])
    yield grid
    for remark in _remarks(ranking, top, narrow=not everything):
        yield Text(plain(remark))


def _title(ranking: ShownRanking, units: str) -> str:
    classes = ", ".join(ranking.classes[:6]) + (", ..." if len(ranking.classes) > 6 else "")
    if not math.isnan(ranking.entropy):  # it is known if there is at least one feature
        classes += f"; entropy {ranking.entropy / (math.log(2.0) if units == 'bits' else 1.0):.4f} {units}"
    return plain(f"What informs about {ranking.target} ({classes}), {ranking.rows:,} rows")


def _values(row: Record, facts: Record | None, reader: str) -> str:
    return str(row["note"]) if facts is None else sentences.short_note(facts, row["values"], reader)


def _bar(row: Record, most: float, length: int) -> str:
    """The interval as a line on the scale of the largest, the mean as a dot on it."""
    if most <= 0.0:
        return ""
    low, mean, high = (
        min(length - 1, max(0, round(row[name] / most * (length - 1)))) for name in ("low", "mi", "high")
    )
    line = "".join("─" if low <= place <= high else " " for place in range(length))
    return line[:mean] + "●" + line[mean + 1 :]


def _remarks(ranking: ShownRanking, top: int | None, *, narrow: bool) -> Iterator[str]:
    settings = ranking.settings
    rows = list(ranking)
    verdicts = [row["verdict"] for row in rows]
    counted = ", ".join(f"{verdicts.count(each):,} {each}" for each in _COLOUR if each in verdicts)
    shown = f"; the best {top:,} shown" if top is not None and top < len(rows) else ""
    yield f"{len(rows):,} {'feature' if len(rows) == 1 else 'features'}: {counted or 'none'}{shown}"
    yield (
        f"keep: P(I > {settings['epsilon']:g} nats) >= {settings['level']:g}; drop: P(I <= {settings['epsilon']:g}) >= "
        f"{settings['level']:g}; prior {settings['prior']}, approximation {settings['approximation']}"
    )
    yield from ranking.remark_lines()
    if narrow:
        for row in rows[: top or None]:
            if row["verdict"] == "not ranked" or row["values"] < 2:
                yield f"{row['feature'] or '(no name)'}: {row['note']}"
