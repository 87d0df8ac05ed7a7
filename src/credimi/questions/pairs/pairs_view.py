"""Pairs of columns as a table for the terminal, and as a heat map; from plain data."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from credimi.results import sentences
from credimi.results.figures import new_axes, save, short_names
from credimi.results.names import shorten_distinctly
from credimi.results.terminal import and_more, printed, probability, text_line, text_table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from matplotlib.axes import Axes
    from rich.table import Table as Grid
    from rich.text import Text

    from credimi.core.types import FloatArray, Record

_MAX_NAMES_BESIDE_MAP = 60  # so many names fit beside a heat map
_BESIDE_NAMES, _BESIDE_EDGE_NAMES = 64, 34  # characters of a line that are not names
_MIN_NAME_CHARACTERS = 7
_MAX_COLUMNS_NAMED = 3  # in a remark
_PADDING = (0, 1, 0, 0)
_FIGURE_TITLES = {
    "mi": "mutual information, nats",
    "low": "lower end of the interval, nats",
    "high": "upper end of the interval, nats",
    "p_above": "P(I > epsilon)",
    "p_independent": "P(independent)",
    "p_linked": "P(linked)",
    "linked": "linked",
    "share": "share of the smaller entropy",
    "log_evidence": "log Bayes factor of dependence",
    "complete": "rows with both",
}


def remarks(names: Sequence[str], facts: Sequence[Record], settings: Record, reader: str) -> list[str]:
    """How pairs were refined, which columns were left out and why, suspicious values, missing values that depend."""
    lines: dict[str, list[str]] = {}
    for column in facts:
        if column["feature"] not in names:
            lines.setdefault(f"left out: {_why_left_out(column, reader)}", []).append(column["feature"])
        elif column["suspicions"]:
            lines.setdefault(sentences.short_note(column, column["values"], reader), []).append(column["feature"])
    by_column = [f"{_first_few(columns)}: {remark}" for remark, columns in lines.items()]
    return [*_refinement(settings), *_missing_by_others(facts, settings, reader), *by_column]


def _refinement(settings: Record) -> list[str]:
    """How often the missing values were completed."""
    if not settings.get("refine"):
        return []
    if not settings["imputations"]:
        return ["no values are missing: there was nothing to refine"]
    times = sentences.counted(settings["imputations"], "time")
    rounds = sentences.counted(settings["rounds"], "round")
    lines = [
        f"missing values were completed {times} from forests of the columns, in {rounds}, and the results averaged"
    ]
    if not settings["settled"]:
        lines.append("caution: the rounds had not settled: try another seed and compare, or leave out columns")
    return lines


def _missing_by_others(facts: Sequence[Record], settings: Record, reader: str) -> list[str]:
    """Columns whose missing values depend on another column, and what helps."""
    dependent = [column for column in facts if "missing_depends" in column]
    if not dependent:
        return []
    listed = [f"{column['feature']} (on {column['missing_depends']})" for column in dependent]
    what = "caution: whether values are missing depends on another column"
    if settings.get("refine"):
        return [f"{what}: {_first_few(listed)}; that is allowed for as far as a forest tells how columns depend"]
    advice = "--refine forest" if reader == sentences.COMMAND_LINE else "refine='forest'"
    return [f"{what}: {_first_few(listed)}; their pairs with third columns may mislead: {advice} allows for that"]


def _why_left_out(facts: Record, reader: str) -> str:
    if facts["kind"] in ("categories", "ranges"):
        return f"{facts['values']:,} values are too many for a table of two columns (max_values, --max-values)"
    return sentences.note(facts, reader)


def _first_few(columns: Sequence[str]) -> str:
    listed = ", ".join(name or sentences.NO_NAME for name in columns[:_MAX_COLUMNS_NAMED])
    return listed + (f" and {len(columns) - _MAX_COLUMNS_NAMED:,} more" if len(columns) > _MAX_COLUMNS_NAMED else "")


def pairs_text(report: Record, *, width: int = 120) -> str:
    """The best pairs as plain text."""
    return printed(pairs_grids(report, width), width)


def pairs_grids(report: Record, width: int) -> Iterator[Grid | Text]:
    """The pairs of `Pairs.to_dict` and remarks, for rich to print in this width; `count` is the number of all pairs."""
    settings, rows = report["settings"], report["pairs"]
    numbers = ((report["count"], "pair"), (len(report["columns"]), "column"), (report["rows"], "row"))
    title = "{} of {}, {}".format(*(sentences.counted(number, noun) for number, noun in numbers))
    interval = f"{100 * settings['level']:g} % interval"
    room = max((width - _BESIDE_NAMES) // 2, _MIN_NAME_CHARACTERS)
    cells, shown = [], _shown_names(rows, room)
    for row in rows:
        interval_text, spread = f"{row['low']:.4f} to {row['high']:.4f}", row["high"] - row["low"]
        probabilities = [probability(row[name], spread) for name in ("p_above", "p_independent")]
        cells.append(
            [
                shown[row["a"]],
                shown[row["b"]],
                f"{row['mi']:.4f}",
                interval_text,
                *probabilities,
                "yes" if row["linked"] else "",
            ]
        )
    headings = ["a", "b", "mi", interval, f"P(I > {settings['epsilon']:g})", "P(indep.)", "linked"]
    unbroken = {*headings} - {"mi"}
    yield text_line(title)
    yield text_table("", headings, cells, right={"mi"}, unbroken=unbroken, overflow="ellipsis", padding=_PADDING)
    yield from and_more(report["count"], len(rows))
    if report["independent"] is not None and report["count"]:
        share = report["independent"]
        share_text = (
            "At most 50 %" if share == 0.5 else "More than 99 %" if share > 0.99 else f"About {100 * share:.2g} %"
        )
        yield text_line(
            f"{share_text} of the pairs seem independent. `linked` uses this; P(indep.) and the interval assume 50 %."
        )
    yield from map(text_line, report["remarks"])


def forest_grids(report: Record, top: int, width: int) -> Iterator[Grid | Text]:
    """The edges of forests, and the condition under which they hold, for rich to print in this width."""
    edges = report["edges"]
    yield text_line(
        f"Edges of forests of {len(report['columns']):,} columns, {sentences.counted(report['rows'], 'row')}, assuming "
        "that the dependences form a forest (no cycles)"
    )
    room = max((width - _BESIDE_EDGE_NAMES) // 2, _MIN_NAME_CHARACTERS)
    shown = _shown_names(edges[:top], room)
    cells = [
        [shown[edge["a"]], shown[edge["b"]], probability(edge["probability"], 1.0), "yes" if edge["in_best"] else ""]
        for edge in edges[:top]
    ]
    headings = ["a", "b", "P(edge)", "in the best forest"]
    yield text_table("", headings, cells, unbroken=headings, overflow="ellipsis", padding=_PADDING)
    yield from and_more(len(edges), top)
    yield text_line(
        f"{report['expected_edges']:.2f} edges are expected, from prior odds of {report['odds']:.3g} for each"
    )
    yield from map(text_line, report["remarks"])


def _shown_names(pairs: Sequence[Record], room: int) -> dict[str, str]:
    """The names of the columns of these pairs, shortened to `room` characters."""
    names = list(dict.fromkeys(pair[name] for pair in pairs for name in ("a", "b")))
    return dict(zip(names, shorten_distinctly([name or sentences.NO_NAME for name in names], room), strict=True))


def heat_map(values: FloatArray, names: Sequence[str], name: str, path: str | Path | None, ax: Axes | None) -> Axes:
    """A matrix as a heat map, with one cell for each pair."""
    side = min(max(3.0, 0.22 * len(names) + 1.5), 12.0)
    axes = new_axes(ax, (side + 1.2, side))
    low = 0.0 if np.nanmin(values, initial=0.0) >= 0.0 else None
    high = 1.0 if name.startswith("p_") or name in ("linked", "share") else None
    image = axes.imshow(values, cmap="viridis", vmin=low, vmax=high, interpolation="nearest")
    if len(names) <= _MAX_NAMES_BESIDE_MAP:
        shown = short_names(names)
        axes.set_xticks(range(len(names)), shown, rotation=90, fontsize=7)
        axes.set_yticks(range(len(names)), shown, fontsize=7)
    figure = axes.figure
    figure.colorbar(image, ax=axes, label=_FIGURE_TITLES[name], fraction=0.046, pad=0.04)
    if path is not None:
        save(axes, path)
    return axes
