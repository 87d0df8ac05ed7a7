"""Interactions as a table for the terminal, and as heat maps; from the plain data of `Interactions.to_dict`."""

from __future__ import annotations

import math
from importlib import import_module
from typing import TYPE_CHECKING

import numpy as np

from credimi.core.errors import CredimiError
from credimi.results import remark_sentences
from credimi.results.figures import picture_kind, require_matplotlib, save, short_name
from credimi.results.names import shorten_distinctly
from credimi.results.sentences import NO_NAME, PYTHON, counted, unranked_lines, whole_if_many
from credimi.results.terminal import and_more, printed, probability, text_line, text_table

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from matplotlib.figure import Figure
    from rich.table import Table as Grid
    from rich.text import Text

    from credimi.core.types import Record

LINES = 20  # pairs of each sign
_ALONE = ("a alone", "b alone")
_SHARED_ROWS = (
    "a pair, and what its columns tell alone, is judged by the `rows` that have both columns and the target: `rank` "
    "uses more rows, and may say otherwise of a column"
)
_GAP, _PADDING = 2, (0, 1, 0, 0)  # between the columns of the table
_MIN_NAME_CHARACTERS = 8
_MAX_LABEL_CHARACTERS, _MAX_RANGE_CHARACTERS = 14, 24  # of a value beside a heat map; both ends of ranges are shown
_MAX_CHARACTERS_BELOW = 18  # of all labels below a heat map; if there are more, the labels are turned
_MAX_VALUES_WITH_FIGURES = 6  # of each column; larger heat maps have no figures in their cells


def interactions_text(interactions: Record, *, width: int = 120, lines: int = LINES) -> str:
    """The interactions as plain text."""
    return printed(interaction_grids(interactions, lines, width), width)


def interaction_grids(interactions: Record, lines: int, width: int, reader: str = PYTHON) -> Iterator[Grid | Text]:
    """The pairs with synergy, those with redundancy, and remarks, for rich to print in this width."""
    epsilon = interactions["settings"]["epsilon"]
    for part, heading, probability_key in parts(interactions):
        yield text_line(heading)
        if not part:
            continue
        name = f"P(> {epsilon:g})" if probability_key == "p_above" else f"P(< -{epsilon:g})"
        figures = ["synergy", "interval", name, "a alone", "b alone", "rows", "verdict"]
        yield _table_that_fits(["a", "b", *figures], [cells(pair, probability_key) for pair in part[:lines]], width)
        yield from and_more(len(part), lines)
    yield from map(text_line, remarks(interactions, reader))


def _table_that_fits(headings: list[str], rows: list[list[str]], width: int) -> Grid:
    """The table in this width. Names are shortened; if they would be too short, what columns tell alone is left out."""
    names = list(dict.fromkeys(name for row in rows for name in row[:2]))

    def room() -> int:
        columns = list(zip(headings, *rows, strict=True))
        return (width - sum(max(map(len, column)) for column in columns[2:]) - _GAP * len(columns)) // 2

    if room() < min(_MIN_NAME_CHARACTERS, max(map(len, names))):
        kept_columns = [index for index, heading in enumerate(headings) if heading not in _ALONE]
        headings = [headings[index] for index in kept_columns]
        rows = [[row[index] for index in kept_columns] for row in rows]
    shown = dict(zip(names, shorten_distinctly(names, max(room(), _MIN_NAME_CHARACTERS)), strict=True))
    rows = [[shown[row[0]], shown[row[1]], *row[2:]] for row in rows]
    right = {"synergy", "rows", *_ALONE}
    return text_table("", headings, rows, right=right, unbroken=headings, overflow="ellipsis", padding=_PADDING)


def parts(interactions: Record) -> Iterator[tuple[list[Record], str, str]]:
    """The pairs of each sign with a heading, and the name of their probability."""
    target = interactions["settings"]["target"] or NO_NAME
    more = [pair for pair in interactions["pairs"] if pair["p_above"] >= pair["p_below"]]
    less = [pair for pair in interactions["pairs"] if pair["p_above"] < pair["p_below"]]
    if more or not less:
        yield more, f"Pairs that tell more about {target} together than apart: {_count(more, 'synergy')}", "p_above"
    if less:
        yield less, f"Pairs that overlap in what they tell about {target}: {_count(less, 'redundancy')}", "p_below"


def _count(pairs: list[Record], verdict: str) -> str:
    decided = sum(pair["verdict"] == verdict for pair in pairs)
    return f"{decided:,}" if decided == len(pairs) else f"{decided:,}, and {len(pairs) - decided:,} unsure"


def remarks(interactions: Record, reader: str = PYTHON) -> list[str]:
    """What was left out, what was looked at, and how many verdicts may be wrong."""
    settings, tried, all_pairs = interactions["settings"], interactions["pairs_tried"], interactions["all_pairs"]
    rows = counted(interactions["rows"], "row")
    first = f"{interactions['columns_tried']:,} columns, {tried:,} pair{'s' * (tried != 1)}, {rows}"
    lines = [first + f"; information in nats; {100 * settings['level']:g} % intervals"]
    if tried < all_pairs:
        lines.insert(0, f"interrupted: {tried:,} of {all_pairs:,} pairs were looked at")
    wrong_percent = 100.0 * (1.0 - settings["level"])
    lines.append(f"of the pairs called synergy or redundancy at most {wrong_percent:.3g} % are expected to be wrong")
    if any(pair["rows"] < interactions["rows"] for pair in interactions["pairs"]):
        lines.append(_SHARED_ROWS)
    said = remark_sentences.lines(interactions["remarks"], reader)
    return [*unranked_lines(interactions["left_out"], reader), *said, *lines]


def cells(pair: Record, probability_key: str) -> list[str]:
    """The figures of a pair as text."""
    spread = pair["high"] - pair["low"]
    return [
        pair["a"] or NO_NAME,
        pair["b"] or NO_NAME,
        f"{pair['synergy']:+.4f}",
        f"{pair['low']:+.4f} to {pair['high']:+.4f}",
        probability(pair[probability_key], spread),
        f"{pair['tells_a']:.4f}",
        f"{pair['tells_b']:.4f}",
        f"{whole_if_many(pair['rows']):,}",
        pair["verdict"],
    ]


def _short(value: str) -> str:
    line, limit = " ".join(value.split()), _MAX_RANGE_CHARACTERS if " to " in value else _MAX_LABEL_CHARACTERS
    return short_name(line if len(line) <= limit else line[: limit - 1] + "…")


def class_shares(table: Record) -> tuple[list[list[float | None]], list[list[float]], int]:
    """For every cell the share of a class, None without rows; the rows of every cell; and the index of that class.

    It is the last of two classes, or else the class whose share varies most.
    """
    counts = np.array(table["counts"], dtype=np.float64)
    rows = counts.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = counts / rows
    deviations = np.where(rows > 0.0, rows * (shares - (counts.sum(axis=(1, 2)) / rows.sum())[:, None, None]) ** 2, 0.0)
    class_index = len(counts) - 1 if len(counts) == 2 else int(deviations.sum(axis=(1, 2)).argmax())
    plain_shares = [[None if math.isnan(share) else share for share in line] for line in shares[class_index].tolist()]
    return plain_shares, rows.tolist(), class_index


def heat_maps(interactions: Record, path: str | Path | None, top: int) -> Figure:
    """The first pairs, each as a heat map of its joint table; the lighter, the larger the class's share."""
    require_matplotlib()
    if path is not None:
        picture_kind(path)
    if top < 1:
        raise CredimiError(f"top is {top!r}: plot at least one pair")
    tables = interactions["tables"][:top]
    if not tables:
        raise CredimiError("there is no pair to plot: pass top=N to `interactions` for pairs that are not sure")
    across = min(len(tables), 3)
    down = -(-len(tables) // across)
    figure: Figure = import_module("matplotlib.figure").Figure(figsize=(3.6 * across, 3.3 * down), layout="constrained")
    by_name = {(pair["a"], pair["b"]): pair for pair in interactions["pairs"]}
    for index, table in enumerate(tables):
        axes = figure.add_subplot(down, across, index + 1)
        shares, rows, class_index = class_shares(table)
        values = np.array([[np.nan if share is None else share for share in line] for line in shares])
        image = axes.imshow(values, cmap="cividis", vmin=0.0, vmax=1.0, aspect="auto")
        below = [_short(value) for value in table["values_b"]]
        turned: Record = {"rotation": 40.0, "ha": "right", "rotation_mode": "anchor"}
        axes.set_xticks(range(len(below)), below, **(turned if sum(map(len, below)) > _MAX_CHARACTERS_BELOW else {}))
        axes.set_yticks(range(len(table["values_a"])), [_short(value) for value in table["values_a"]])
        axes.tick_params(labelsize="small")
        axes.set_xlabel(short_name(table["b"] or NO_NAME))
        axes.set_ylabel(short_name(table["a"] or NO_NAME))
        pair = by_name[table["a"], table["b"]]
        axes.set_title(f"{pair['verdict']} {pair['synergy']:+.3f}", fontsize="medium")
        if max(values.shape) <= _MAX_VALUES_WITH_FIGURES:
            for row, line in enumerate(values.tolist()):
                for column, share in enumerate(line):
                    if not math.isnan(share):
                        colour = "black" if share > 0.5 else "white"
                        text = f"{100 * share:.0f} %\nof {rows[row][column]:,.0f}"
                        axes.text(column, row, text, ha="center", va="center", color=colour, fontsize="x-small")
        bar = figure.colorbar(image, ax=axes, ticks=[0.0, 0.5, 1.0], shrink=0.8)
        bar.set_label(f"share of {_short(interactions['classes'][class_index])}", fontsize="small")
    figure.suptitle(
        f"What pairs of columns tell about {short_name(interactions['settings']['target'])}", fontsize="medium"
    )
    if path is not None:
        save(figure.axes[0], path)
    return figure
