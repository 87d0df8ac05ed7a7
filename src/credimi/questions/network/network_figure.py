"""A network as a figure, with matplotlib."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

import numpy as np

from credimi.questions.network.network_labels import label_sides
from credimi.results.figures import new_axes, picture_kind, save, short_names
from credimi.results.graph_layout import column_positions

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes

    from credimi.core.types import Record

_COLOUR = "#0072b2"
_MAX_NAMES = 120  # with more columns, no names are written


def network_plot(network: Record, path: str | Path | None, ax: Axes | None) -> Axes:
    """Columns as dots, edges as lines: width is information, opacity probability, arrow heads are directions."""
    if path is not None:
        picture_kind(path)
    index_of = {name: index for index, name in enumerate(network["columns"])}
    edges = network["edges"]
    largest = max((edge["mi"] for edge in edges), default=0.0) or 1.0
    positions = column_positions(
        len(index_of), [(index_of[edge["a"]], index_of[edge["b"]], (edge["mi"] / largest) ** 0.5) for edge in edges]
    )
    positions[:, 1] *= -1.0
    side = 5.0 + 0.25 * np.sqrt(len(index_of)) * 2.0
    axes = new_axes(ax, (side * 1.3, side))
    for edge in edges:
        ends = [positions[index_of[edge[name]]] for name in ("a", "b")]
        if edge["direction"] == "<-":
            ends.reverse()
        shape = {
            "arrowstyle": "-" if edge["direction"] == "--" else "-|>",
            "color": _COLOUR,
            "shrinkA": 5,
            "shrinkB": 5,
        }
        width = 0.5 + 4.0 * (edge["mi"] / largest) ** 0.5
        shape |= {"linewidth": width, "alpha": 0.15 + 0.85 * edge["probability"], "mutation_scale": 9.0 + 2.0 * width}
        axes.annotate("", xytext=ends[0], xy=ends[1], arrowprops=shape, zorder=1)
    halo = [import_module("matplotlib.patheffects").withStroke(linewidth=3.0, foreground="white")]
    axes.plot(positions[:, 0], positions[:, 1], "o", color="#333333", markersize=5, zorder=3)
    axes.margins(0.1)
    axes.autoscale_view()
    points = axes.transData.transform(positions) * 72.0 / axes.get_figure(root=True).dpi  # type: ignore[union-attr]
    pairs = [(index_of[edge["a"]], index_of[edge["b"]]) for edge in edges]
    names = short_names(index_of) if len(index_of) <= _MAX_NAMES else []
    for index, (offset, horizontal, vertical) in enumerate(label_sides(points, pairs, names) if names else ()):
        side_of_dot: Record = {"xytext": offset, "textcoords": "offset points", "ha": horizontal, "va": vertical}
        label = axes.annotate(names[index], positions[index], fontsize=8, **side_of_dot)
        label.set(zorder=4, path_effects=halo)  # so that lines do not run through it
    axes.set_axis_off()
    axes.set_title(f"P(edge) >= {network['settings']['level']:g}; width: information, opacity: probability", fontsize=9)
    if path is not None:
        save(axes, path)
    return axes
