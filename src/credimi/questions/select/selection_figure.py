"""A selection as figures, with matplotlib: what each step adds, and which columns say the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from credimi.core.errors import CredimiError
from credimi.questions.select.selection_view import redundancy, shown_of_all
from credimi.results.figures import mark_epsilon, new_axes, picture_kind, save, short_name, short_names

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes

    from credimi.core.types import Record

_BLUE = "#0072b2"
_WIDTH = 6.4  # of a figure, inches
_DARK = 0.6  # above this, figures in the matrix are white


def selection_plot(selection: Record, path: str | Path | None, what: str | None, ax: Axes | None) -> Axes:
    """Draw the steps, the matrix of redundancy, or both; return the axes, of the steps if both are drawn."""
    if what not in (None, "steps", "redundancy"):
        raise CredimiError(f'what is {what!r}: plot "steps" or "redundancy", or leave it out for both')
    if path is not None:
        picture_kind(path)
    names, given, _ = redundancy(selection)
    if what == "redundancy" and not names:
        raise CredimiError("there is no matrix of redundancy: it needs a taken column and another that tells something")
    heights = 1.1 + 0.3 * max(len(selection["steps"]), 3), 1.6 + 0.28 * len(names)
    if what == "redundancy":
        axes = _matrix(selection, new_axes(ax, (_width(given), heights[1])))
    elif what == "steps" or ax is not None or not names:
        axes = _steps(selection, new_axes(ax, (_WIDTH, heights[0])))
    else:
        first = new_axes(None, (_width(given), sum(heights)))
        figure = first.get_figure()
        first.remove()
        above, below = figure.subplots(2, 1, height_ratios=heights)  # type: ignore[union-attr]
        axes = _steps(selection, above)
        _matrix(selection, below)
    if path is not None:
        save(axes, path)
    return axes


def _width(given: list[str]) -> float:
    return max(_WIDTH, 3.2 + 0.45 * len(given))


def _steps(selection: Record, axes: Axes) -> Axes:
    """What each step adds, with its interval, first step on top."""
    steps = selection["steps"]
    for line, step in enumerate(steps):
        axes.plot([step["low"], step["high"]], [line, line], color=_BLUE, linewidth=1.6, solid_capstyle="round")
        fill = "white" if step["forced"] else _BLUE
        axes.plot([step["adds"]], [line], marker="o", color=_BLUE, markerfacecolor=fill, linestyle="", zorder=3)
    mark_epsilon(axes, selection["settings"]["epsilon"])
    axes.set_yticks(range(len(steps)), short_names(step["feature"] for step in steps))
    axes.set_ylim(max(len(steps), 1) - 0.4, -0.6)
    axes.set_xlim(left=0.0)
    adds = "adds to those above" if selection["settings"]["goal"] == "smallest" else "tells alone"
    target = short_name(selection["settings"]["target"])
    forced = "; hollow: not credible" if any(step["forced"] for step in steps) else ""
    axes.set_xlabel(f"what it {adds} about {target}\nnats: mean and 95 % interval{forced}")
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.grid(visible=True, axis="x", linewidth=0.3)
    return axes


def _matrix(selection: Record, axes: Axes) -> Axes:
    """Dark where a column, on the left, adds nothing to a taken one."""
    names, given, figures = redundancy(selection)
    probabilities = np.array(
        [[np.nan if probability is None else probability for probability in row] for row in figures]
    )
    axes.imshow(np.ma.masked_invalid(probabilities), cmap="Blues", vmin=0.0, vmax=1.0, aspect="auto")
    for row, column in np.argwhere(~np.isnan(probabilities)).tolist():
        colour = "white" if probabilities[row, column] > _DARK else "black"
        axes.text(column, row, f"{probabilities[row, column]:.2f}", ha="center", va="center", color=colour, fontsize=7)
    axes.set_xticks(range(len(given)), short_names(given), rotation=40, ha="right")
    axes.set_yticks(range(len(names)), short_names(names))
    axes.set_xticks(np.arange(len(given) + 1) - 0.5, minor=True)
    axes.set_yticks(np.arange(len(names) + 1) - 0.5, minor=True)
    axes.grid(visible=True, which="minor", color="#d8dde3", linewidth=0.6)
    axes.tick_params(which="minor", length=0)
    title = f"P(adds at most {selection['settings']['epsilon']:g} to the column below)"
    part = shown_of_all(selection)
    axes.set_title(f"{title}\n{part}" if part else title, fontsize=10, loc="left")
    axes.spines[:].set_visible(False)
    return axes
