"""A tree as a figure, with matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING

from credimi.core.atomic_files import plain
from credimi.questions.tree.tree_text import colour_of, predicted, rows, short_conditions
from credimi.results.figures import MAX_NAME_CHARACTERS, new_axes, one_line, short_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from credimi.core.types import Record

_COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#7a828c")


def tree_plot(tree: Record, ax: Axes | None, *, max_depth: int | None = None) -> Axes:
    """The tree from left to right; the colour of a dot is the class, its opacity the probability of the class."""
    nodes = [node for node in tree["nodes"] if max_depth is None or node["depth"] <= max_depth]
    colours = colour_of(tree, len(_COLOURS))
    conditions = short_conditions(tree, MAX_NAME_CHARACTERS)
    inner = {node["parent"] for node in nodes}
    height: dict[int, float] = {}
    heights_below: dict[int | None, list[float]] = {}
    leaves = 0
    for node in reversed(nodes):  # the branches of a node come after it
        if node["node"] not in inner:
            height[node["node"]] = float(leaves)
            leaves += 1
        else:
            below = heights_below[node["node"]]
            height[node["node"]] = sum(below) / len(below)
        heights_below.setdefault(node["parent"], []).append(height[node["node"]])
    depth = max(node["depth"] for node in nodes)
    axes = new_axes(ax, (3.0 + 2.3 * depth, 1.2 + 0.45 * leaves))
    for node in nodes:
        point = node["depth"], height[node["node"]]
        if node["parent"] is not None:
            parent_point = node["depth"] - 1, height[node["parent"]]
            axes.plot(
                [parent_point[0], point[0]], [parent_point[1], point[1]], color="#9aa2ab", linewidth=1.0, zorder=1
            )
        probabilities = node["probabilities"]
        colour = _COLOURS[colours[probabilities.index(max(probabilities))]]
        axes.plot(*point, marker="o", markersize=9, color=colour, alpha=0.35 + 0.65 * max(probabilities), zorder=2)
        lines = [one_line(conditions[node["node"]]), one_line(f"{predicted(tree, node)} ({rows(node)})")]
        if node["feature"] is not None and node["node"] in inner:
            lines.append(f"{short_name(node['feature'])}?")
        axes.annotate(
            "\n".join(map(plain, lines)),
            point,
            xytext=(8, 0),
            textcoords="offset points",
            fontsize=7,
            va="center",
            bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 0.8},
        )
    axes.set_xlim(-0.2, depth + 0.9)
    axes.set_ylim(-0.8, max(leaves - 0.2, 0.8))
    axes.axis("off")
    return axes
