"""Interactions as a table for the terminal, and as heat maps; from the plain data of `Interactions.to_dict`."""

from __future__ import annotations

import math
from importlib import import_module
from typing import TYPE_CHECKING

import numpy as np

from credimi.core.errors import CredimiError
from credimi.report.figures import picture_kind, require_matplotlib, save, short_name
from credimi.report.names import told_apart
from credimi.report.sentences import NO_NAME, PYTHON, unranked_lines
from credimi.report.terminal import and_more, printed, probability, text_line, text_table

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from matplotlib.figure import Figure
    from rich.table import Table as Grid
    from rich.text import Text

    from credimi.core.types import Record

LINES = 20  # of each kind
_ALONE = ("a alone", "b alone")
_GAP, _PADDING = 2, (0, 1, 0, 0)  # between the columns of the table
_SHORTEST = 8  # characters of a name
_LABELS, _RANGE = 14, 24  # characters of a value beside a heat map, and of a range, whose ends both matter
_ROOM = 18  # characters below a heat map
_WRITTEN = 6  # values of both columns, up to which the cells of a heat map have figures


def interactions_text(found: Record, *, width: int = 120, lines: int = LINES) -> str:
    """The interactions as plain text."""
    return printed(interaction_grids(found, lines, width), width)


def interaction_grids(found: Record, lines: int, width: int, reader: str = PYTHON) -> Iterator[Grid | Text]:
    """The pairs with synergy, those with redundancy, and lines on what was asked, for rich to print in this width."""
    epsilon = found["settings"]["epsilon"]
    for part, heading, chance in parts(found):
        yield text_line(heading)
        if not part:
            continue
        name = f"P(> {epsilon:g})" if chance == "p_above" else f"P(< -{epsilon:g})"
        figures = ["synergy", "interval", name, "a alone", "b alone", "verdict"]
        yield _fitting(["a", "b", *figures], [cells(pair, chance) for pair in part[:lines]], width)
        yield from and_more(len(part), lines)
    yield from map(text_line, remarks(found, reader))


def _fitting(headings: list[str], rows: list[list[str]], width: int) -> Grid:
    """The table in this width: names are shortened, and what columns tell alone is left out where they would vanish."""
    names = list(dict.fromkeys(name for row in rows for name in row[:2]))

    def room() -> int:
        columns = list(zip(headings, *rows, strict=True))
        return (width - sum(max(map(len, column)) for column in columns[2:]) - _GAP * len(columns)) // 2

    if room() < min(_SHORTEST, max(map(len, names))):
        kept = [place for place, heading in enumerate(headings) if heading not in _ALONE]
        headings, rows = [headings[place] for place in kept], [[row[place] for place in kept] for row in rows]
    shown = dict(zip(names, told_apart(names, max(room(), _SHORTEST)), strict=True))
    rows = [[shown[row[0]], shown[row[1]], *row[2:]] for row in rows]
    right = {"synergy", *_ALONE}
    return text_table("", headings, rows, right=right, unbroken=headings, overflow="ellipsis", padding=_PADDING)


def parts(found: Record) -> Iterator[tuple[list[Record], str, str]]:
    """The pairs of each sign with a heading, and the name of their probability."""
    target = found["settings"]["target"] or NO_NAME
    more = [pair for pair in found["pairs"] if pair["p_above"] >= pair["p_below"]]
    less = [pair for pair in found["pairs"] if pair["p_above"] < pair["p_below"]]
    if more or not less:
        yield more, f"Pairs that tell more about {target} together than apart: {_count(more, 'synergy')}", "p_above"
    if less:
        yield less, f"Pairs that overlap in what they tell about {target}: {_count(less, 'redundancy')}", "p_below"


def _count(pairs: list[Record], verdict: str) -> str:
    sure = sum(pair["verdict"] == verdict for pair in pairs)
    return f"{sure:,}" if sure == len(pairs) else f"{sure:,}, and {len(pairs) - sure:,} unsure"


def remarks(found: Record, reader: str = PYTHON) -> list[str]:
    """What was looked at, and what was left out, in words."""
    settings, tried, every = found["settings"], found["pairs_tried"], found["all_pairs"]
    rows = f"{found['rows']:,.1f}".removesuffix(".0")  # the sum of weights may have many digits
    first = f"{found['columns_tried']:,} columns, {tried:,} pair{'s' * (tried != 1)}, {rows} rows"
    lines = [first + f"; information in nats; {100 * settings['level']:g} % intervals"]
    if tried < every:
        lines.insert(0, f"interrupted: {tried:,} of {every:,} pairs were looked at")
    wrong = 100.0 * (1.0 - settings["level"])
    lines.append(f"of the pairs called synergy or redundancy at most {wrong:.3g} % are expected to be wrong")
    return unranked_lines(found["left_out"], reader) + lines


def cells(pair: Record, chance: str) -> list[str]:
    """The figures of a pair as text."""
    spread = pair["high"] - pair["low"]
    return [
        pair["a"],
        pair["b"],
        f"{pair['synergy']:+.4f}",
        f"{pair['low']:+.4f} to {pair['high']:+.4f}",
        probability(pair[chance], spread),
        f"{pair['tells_a']:.4f}",
        f"{pair['tells_b']:.4f}",
        pair["verdict"],
    ]


def _short(value: str) -> str:
    shown, room = short_name(value), _RANGE if " to " in value else _LABELS
    return shown if len(shown) <= room else shown[: room - 1] + "…"


def class_shares(table: Record) -> tuple[list[list[float | None]], list[list[float]], int]:
    """Of every cell the share of a class, None without rows; its rows; and which class that is.

    It is the last of two, or else the one whose share varies most.
    """
    counts = np.array(table["counts"], dtype=np.float64)
    rows = counts.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = counts / rows
    apart = np.where(rows > 0.0, rows * (shares - (counts.sum(axis=(1, 2)) / rows.sum())[:, None, None]) ** 2, 0.0)
    shown = len(counts) - 1 if len(counts) == 2 else int(apart.sum(axis=(1, 2)).argmax())
    plain_shares = [[None if math.isnan(each) else each for each in line] for line in shares[shown].tolist()]
    return plain_shares, rows.tolist(), shown


def heat_maps(found: Record, path: str | Path | None, top: int) -> Figure:
    """The first pairs, each as a heat map of its joint table; the darker the larger the class's share."""
    require_matplotlib()
    if path is not None:
        picture_kind(path)
    if top < 1:
        raise CredimiError(f"top is {top!r}: plot at least one pair")
    tables = found["tables"][:top]
    if not tables:
        raise CredimiError("there is no pair to plot: pass top=N to `interactions` for pairs that are not sure")
    across = min(len(tables), 3)
    down = -(-len(tables) // across)
    figure: Figure = import_module("matplotlib.figure").Figure(figsize=(3.6 * across, 3.3 * down), layout="constrained")
    by_name = {(pair["a"], pair["b"]): pair for pair in found["pairs"]}
    for place, table in enumerate(tables):
        axes = figure.add_subplot(down, across, place + 1)
        shares, rows, shown = class_shares(table)
        values = np.array([[np.nan if each is None else each for each in line] for line in shares])
        image = axes.imshow(values, cmap="cividis", vmin=0.0, vmax=1.0, aspect="auto")
        below = [_short(each) for each in table["values_b"]]
        turned: Record = {"rotation": 40.0, "ha": "right", "rotation_mode": "anchor"}
        axes.set_xticks(range(len(below)), below, **(turned if sum(map(len, below)) > _ROOM else {}))
        axes.set_yticks(range(len(table["values_a"])), [_short(each) for each in table["values_a"]])
        axes.tick_params(labelsize="small")
        axes.set_xlabel(short_name(table["b"]))
        axes.set_ylabel(short_name(table["a"]))
        pair = by_name[table["a"], table["b"]]
        axes.set_title(f"{pair['verdict']} {pair['synergy']:+.3f}", fontsize="medium")
        if max(values.shape) <= _WRITTEN:
            for row, line in enumerate(values.tolist()):
                for column, share in enumerate(line):
                    if not math.isnan(share):
                        colour = "black" if share > 0.5 else "white"
                        text = f"{100 * share:.0f} %\nof {rows[row][column]:,.0f}"
                        axes.text(column, row, text, ha="center", va="center", color=colour, fontsize="x-small")
        bar = figure.colorbar(image, ax=axes, ticks=[0.0, 0.5, 1.0], shrink=0.8)
        bar.set_label(f"share of {_short(found['classes'][shown])}", fontsize="small")
    figure.suptitle(f"What pairs of columns tell about {short_name(found['settings']['target'])}", fontsize="medium")
    if path is not None:
        save(figure.axes[0], path)
    return figure
