"""Pairs of columns as a table for the terminal, and as a heat map; from plain data."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from credimi.report import sentences
from credimi.report.figures import new_axes, save, short_names
from credimi.report.names import told_apart
from credimi.report.terminal import and_more, printed, probability, text_line, text_table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from matplotlib.axes import Axes
    from rich.table import Table as Grid
    from rich.text import Text

    from credimi.core.types import FloatArray, Record

_NAMED = 60  # columns whose names fit beside a heat map
_BESIDE, _BESIDE_EDGES = 64, 34  # characters of a line beside its two names
_SHORTEST = 7  # characters of a name
_LISTED = 3  # columns that a remark names
_PADDING = (0, 1, 0, 0)
_WHAT = {
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
    """How pairs were refined, which columns were left out and why, which values look suspicious, or are missing why."""
    lines: dict[str, list[str]] = {}
    for each in facts:
        if each["feature"] not in names:
            lines.setdefault(f"left out: {_why(each, reader)}", []).append(each["feature"])
        elif each["suspicions"]:
            lines.setdefault(sentences.short_note(each, each["values"], reader), []).append(each["feature"])
    by_column = [f"{_some(columns)}: {what}" for what, columns in lines.items()]
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
    """Columns that are missing more often under some values of another, and what helps."""
    found = [each for each in facts if "missing_depends" in each]
    if not found:
        return []
    listed = [f"{each['feature']} (on {each['missing_depends']})" for each in found]
    what = "caution: whether values are missing depends on another column"
    if settings.get("refine"):
        return [f"{what}: {_some(listed)}; that is allowed for as far as a forest tells how columns depend"]
    asked = "--refine forest" if reader == sentences.COMMAND_LINE else "refine='forest'"
    return [f"{what}: {_some(listed)}; their pairs with third columns may mislead: {asked} allows for that"]


def _why(facts: Record, reader: str) -> str:
    if facts["kind"] in ("categories", "ranges"):
        return f"{facts['values']:,} values are too many for a table of two columns (max_values, --max-values)"
    return sentences.note(facts, reader)


def _some(columns: Sequence[str]) -> str:
    listed = ", ".join(name or sentences.NO_NAME for name in columns[:_LISTED])
    return listed + (f" and {len(columns) - _LISTED:,} more" if len(columns) > _LISTED else "")


def pairs_text(found: Record, *, width: int = 120) -> str:
    """The best pairs as plain text."""
    return printed(pairs_grids(found, width), width)


def pairs_grids(found: Record, width: int) -> Iterator[Grid | Text]:
    """The pairs of `Pairs.to_dict`, of `count` in all, and what there is to say, for rich to print in this width."""
    settings, rows = found["settings"], found["pairs"]
    numbers = ((found["count"], "pair"), (len(found["columns"]), "column"), (found["rows"], "row"))
    title = "{} of {}, {}".format(*(sentences.counted(number, noun) for number, noun in numbers))
    interval = f"{100 * settings['level']:g} % interval"
    room = max((width - _BESIDE) // 2, _SHORTEST)
    cells, shown = [], _names(rows, room)
    for row in rows:
        ends, spread = f"{row['low']:.4f} to {row['high']:.4f}", row["high"] - row["low"]
        chances = [probability(row[name], spread) for name in ("p_above", "p_independent")]
        cells.append(
            [shown[row["a"]], shown[row["b"]], f"{row['mi']:.4f}", ends, *chances, "yes" if row["linked"] else ""]
        )
    headings = ["a", "b", "mi", interval, f"P(I > {settings['epsilon']:g})", "P(indep.)", "linked"]
    unbroken = {*headings} - {"mi"}
    yield text_line(title)
    yield text_table("", headings, cells, right={"mi"}, unbroken=unbroken, overflow="ellipsis", padding=_PADDING)
    yield from and_more(found["count"], len(rows))
    if found["independent"] is not None and found["count"]:
        share = found["independent"]
        many = "At most 50 %" if share == 0.5 else "More than 99 %" if share > 0.99 else f"About {100 * share:.2g} %"
        yield text_line(
            f"{many} of the pairs seem independent. `linked` uses this; P(indep.) and the interval assume 50 %."
        )
    yield from map(text_line, found["remarks"])


def forest_grids(report: Record, top: int, width: int) -> Iterator[Grid | Text]:
    """The edges of forests, and under which condition they hold, for rich to print in this width."""
    edges = report["edges"]
    yield text_line(
        f"Edges of forests of {len(report['columns']):,} columns, {report['rows']:,} rows, assuming that the "
        "dependences form a forest (no cycles)"
    )
    room = max((width - _BESIDE_EDGES) // 2, _SHORTEST)
    shown = _names(edges[:top], room)
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


def _names(pairs: Sequence[Record], room: int) -> dict[str, str]:
    """The names of the columns of these pairs, as they are shown."""
    names = list(dict.fromkeys(pair[name] for pair in pairs for name in ("a", "b")))
    return dict(zip(names, told_apart([name or sentences.NO_NAME for name in names], room), strict=True))


def heat_map(values: FloatArray, names: Sequence[str], name: str, path: str | Path | None, ax: Axes | None) -> Axes:
    """A matrix as a heat map, one cell a pair."""
    side = min(max(3.0, 0.22 * len(names) + 1.5), 12.0)
    axes = new_axes(ax, (side + 1.2, side))
    low = 0.0 if np.nanmin(values, initial=0.0) >= 0.0 else None
    high = 1.0 if name.startswith("p_") or name in ("linked", "share") else None
    image = axes.imshow(values, cmap="viridis", vmin=low, vmax=high, interpolation="nearest")
    if len(names) <= _NAMED:
        shown = short_names(names)
        axes.set_xticks(range(len(names)), shown, rotation=90, fontsize=7)
        axes.set_yticks(range(len(names)), shown, fontsize=7)
    figure = axes.figure
    figure.colorbar(image, ax=axes, label=_WHAT[name], fraction=0.046, pad=0.04)
    if path is not None:
        save(axes, path)
    return axes
