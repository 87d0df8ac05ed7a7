"""What a network shows: edges and what separates other pairs as tables, a graph on a page and as a figure."""

from __future__ import annotations

from dataclasses import asdict
from importlib import import_module
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np

from credimi.questions.pairs.view import left_out, missing_depends
from credimi.results import graph_layout, remark_sentences, sentences
from credimi.results import section as kinds
from credimi.results.figures import new_axes, short_names
from credimi.results.graph_layout import column_positions, graph_page
from credimi.results.palette import BLUE
from credimi.results.section import Column, Section, Shown
from credimi.results.sentences import NO_NAME, PYTHON, counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from matplotlib.axes import Axes

    from credimi.core.types import CountArray, Record
    from credimi.counts.codes import Codebook
    from credimi.questions.network.result import Network

    Facts = Mapping[str, Any]

    from credimi.core.types import FloatArray

ARROW_MEANS = "a direction that follows from what is independent of what, if no common cause is missing"
_MAX_EDGES, _MAX_SEPARATED = 60, 20  # lines
_MAX_NAMED = 5
_MAX_NAMES = 120  # of a figure: with more columns, no names are written
_NO_DIRECTION = "--"
_MAX_SHOWN_VALUES = 12  # rows and columns of a table
_DISTANCE = 7.0  # points from the dot to its name
_LETTER_WIDTH, _LETTER_HEIGHT = 5.2, 10.0  # points, at font size 8
_SIDES = (  # x and y from the dot, and the alignments that go with them
    (0.0, 1.0, "center", "bottom"),
    (0.0, -1.0, "center", "top"),
    (1.0, 0.0, "left", "center"),
    (-1.0, 0.0, "right", "center"),
    (0.7, 0.7, "left", "bottom"),
    (-0.7, 0.7, "right", "bottom"),
    (0.7, -0.7, "left", "top"),
    (-0.7, -0.7, "right", "top"),
)
_LINE_SHARES = np.linspace(0.0, 1.0, 31)  # of the way along a line: points that names should not cover
_HEAD_POINTS = np.array([6.0, 9.0, 12.0, 15.0, 18.0])  # of an arrow head, in points from the dot that it points at
_HEAD_COST, _DOT_COST, _NAME_COST = 3, 5, 100  # of covering a point of these; a point of a line costs 1

Side = tuple[tuple[float, float], str, str]  # the offset in points, and the alignments
_WORDS = {
    "heading": "Which columns hang together",
    "one": "an edge",
    "edge": "edge",
    "edges": "edges",
    "probability": "P(edge)",
}


def sections(network: Network, shown: Shown) -> Iterator[Section]:
    """The edges, what separates other pairs, and remarks."""
    edges, separated = list(network), [asdict(pair) for pair in network.separated]
    size = f"{counted(len(edges), 'edge')} among {counted(len(network.names), 'column')}"
    columns = (
        kinds.name("a"),
        Column("", lambda edge: edge["direction"], right=False),
        kinds.name("b"),
        Column("P(edge)", lambda edge: probability_text(edge["probability"])),
        Column("P(arrow)", _p_arrow, importance=1),
        kinds.nats("mi", shown.units, shown.scale),
        kinds.interval("95 % interval", scale=shown.scale, importance=2),
    )
    lead = f"{size} of {counted(network.rows, 'row')}: P(edge) >= {network.level:g}"
    yield Section(
        lead,
        columns if edges else (),
        edges,
        most=_MAX_EDGES,
        picture=lambda: "".join(graph_layout.drawing(network.names, edges)),
    )
    if separated:
        by_others = (
            kinds.name("a"),
            kinds.name("b"),
            kinds.nats("mi", shown.units, shown.scale),
            kinds.words("separated by", lambda pair: ", ".join(name or NO_NAME for name in pair["separated_by"])),
            Column("P(independent then)", lambda pair: probability_text(pair["p_separated"]), importance=1),
        )
        yield Section("depend, but not directly:", by_others, separated, most=_MAX_SEPARATED)
    lines = [direction_line([edge["direction"] for edge in edges]), *network.remark_lines(reader=shown.reader)]
    if network.settings["imputations"]:
        times = f"{network.settings['imputations']} times"
        lines.append(f"missing values were completed {times} from the network, and the results averaged")
    yield Section(lines=lines)


def _p_arrow(edge: Record) -> str:
    p_arrow = {"->": edge["p_forward"], "<-": edge["p_backward"]}.get(edge["direction"])
    return "" if p_arrow is None else probability_text(p_arrow)


def direction_line(directions: Sequence[str]) -> str:
    """How many edges have a direction, and what arrows mean."""
    undirected, edges = directions.count(_NO_DIRECTION), len(directions)
    if not edges:
        return "no two columns hang together as far as these rows tell"
    if undirected == edges:
        return "no edge has a direction; --: the direction cannot be told"
    arrow = f"->: {ARROW_MEANS}"
    if not undirected:
        return f"all edges have a direction; {arrow}"
    counted_edges = f"{undirected:,} of {edges:,} edges {'has' if undirected == 1 else 'have'} no direction"
    return f"{counted_edges}; {arrow}; --: the direction cannot be told"


def probability_text(probability: float) -> str:
    """A probability in two digits: it is an average over a few hundred networks, so more would not be exact."""
    if probability > 0.995:
        return "> 0.99"
    return "< 0.01" if probability < 0.005 else f"{probability:.2f}"


def remark_lines(remarks: Sequence[Facts], reader: str = PYTHON) -> list[str]:
    """The remarks in words; columns that were left out are worded as those of pairs."""
    lines = []
    for kind, group in groupby(remarks, lambda each: str(each["kind"])):
        alike = list(group)
        if kind in _SENTENCES:
            lines += [_SENTENCES[kind](each) for each in alike[:_MAX_NAMED]]
            if len(alike) > _MAX_NAMED:
                lines.append(f"... and {len(alike) - _MAX_NAMED:,} more columns of which the same holds")
        elif kind == "missing_depends":
            named = missing_depends([(each["column"], each["others"][0]) for each in alike])
            lines.append(f"{named}; that is allowed for as far as it depends on what is seen in the row")
        elif kind == "left_out":
            lines += left_out([each["facts"] | {"values": each["values"]} for each in alike], reader)
        else:  # as in a ranking
            lines += remark_sentences.lines([each["facts"] for each in alike], reader)
    return lines


def _determined(remark: Facts) -> str:
    column, *others = map(_quoted, (remark["column"], *remark["others"]))
    return f"{column} is a function of {' and '.join(others)} in these rows: what it tells of others, they tell too"


def _lost(remark: Facts) -> str:
    named = sentences.first_few([name or NO_NAME for name in remark["others"]])
    return (
        f"caution: {_quoted(remark['column'])} depends on {named}, but too many of its values are missing to say "
        "whether directly: no edge does not mean independent here"
    )


def _walks_disagree(remark: Facts) -> str:
    return (
        f"caution: only {remark['walks']} of the searches ended among the best networks: probabilities are less sure "
        "than they look; fewer columns, or another seed, show how much"
    )


_SENTENCES = {"determined": _determined, "lost": _lost, "walks_disagree": _walks_disagree}


def _quoted(name: str) -> str:
    """The name of a column within a sentence."""
    return repr(name) if name else NO_NAME


def page(network: Network, source: str | None, reader: str) -> str:
    """The page of the graph; positions are computed here, and the script lets readers move them."""
    place_of = {name: place for place, name in enumerate(network.names)}
    pairs = [asdict(pair) | {"depends": pair.depends} for pair in network.pairs]
    return graph_page(
        _WORDS,
        network.names,
        [pair for pair in pairs if pair["probability"] >= min(network.level, 0.5)],
        largest=max((pair["mi"] for pair in pairs), default=0.0),
        direct=True,
        directions=f"an arrow: {ARROW_MEANS}; none: the direction cannot be told",
        source=source,
        level=network.level,
        settings=network.settings,
        remarks=network.remark_lines(reader=reader),
        all_columns=len(network.names),
        missing=list(network.missing),
        rows=network.rows,
        pairs=[_pair(pair, place_of) for pair in pairs],
        tables=list(network.tables),
    )


def _pair(pair: Record, place_of: dict[str, int]) -> list[object]:
    """A pair as the script reads it, by position.

    These are the ends, the probability, figures to five digits, the direction, what separates the pair, its rows,
    nothing (the share of entropy on the page of pairs), and whether the two surely depend.
    """
    figures = [pair[name] for name in ("mi", "low", "high", "p_forward", "p_backward", "p_separated")]
    given = pair["separated_by"]
    return [
        place_of[pair["a"]],
        place_of[pair["b"]],
        pair["probability"],  # not rounded: the script compares it with the level, as Python does, and counts
        *(float(f"{figure:.5g}") for figure in figures),
        pair["direction"],
        None if given is None else [place_of[name] for name in given],
        pair["rows"],
        None,
        pair["depends"],
    ]


def shown_table(block: CountArray, book: Codebook, one: int, other: int) -> Record:
    """A table for the page: the most frequent values, the other values merged, missing values last."""
    value_names = [book.features[each].values for each in (one, other)]
    counts, labels = block, []
    for axis in (0, 1):
        values = [*value_names[axis]]
        if len(values) > _MAX_SHOWN_VALUES:
            totals = counts.sum(axis=1 - axis)[: len(values)]
            frequent = np.sort(np.argsort(-totals, kind="stable")[: _MAX_SHOWN_VALUES - 1])
            rest = np.setdiff1d(np.arange(len(values)), frequent)
            frequent_counts = np.take(counts, frequent, axis=axis)
            rest_counts = np.take(counts, rest, axis=axis).sum(axis=axis, keepdims=True)
            counts = np.concatenate(
                [frequent_counts, rest_counts, np.take(counts, [len(values)], axis=axis)], axis=axis
            )
            values = [*(values[each] for each in frequent), f"({rest.size} others)"]
        labels.append(values)
    return {"rows": labels[0], "columns": labels[1], "counts": np.round(counts, 3).tolist()}


def plot(network: Network, ax: Axes | None) -> Axes:
    """Columns as dots, edges as lines: width is information, opacity probability, arrow heads are directions."""
    index_of = {name: index for index, name in enumerate(network.names)}
    edges = list(network)
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
            "color": BLUE,
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
    axes.set_title(f"P(edge) >= {network.level:g}; width: information, opacity: probability", fontsize=9)
    return axes


def label_sides(dots: FloatArray, edges: Sequence[tuple[int, int]], names: Sequence[str]) -> list[Side]:
    """For each name, the offset from its dot, and the alignments; `dots` has the positions, in points of the page.

    A name stands on the side where it covers the fewest dots, lines and earlier names; on the first of equal ones.
    """
    ends = dots[np.array(edges, dtype=np.int64).reshape(-1, 2)]  # edges x 2 x 2
    vectors = ends[:, 1] - ends[:, 0]
    unit = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    lines = (ends[:, :1] + _LINE_SHARES[:, None] * vectors[:, None]).reshape(-1, 2)
    from_dots = _HEAD_POINTS[:, None] * unit[:, None]
    heads = np.concatenate([ends[:, :1] + from_dots, ends[:, 1:] - from_dots]).reshape(-1, 2)
    earlier_boxes: list[FloatArray] = []
    sides: list[Side] = []
    for dot, name in zip(dots, names, strict=True):
        boxes = [_box(dot, name, side) for side in _SIDES]
        costs = [
            _inside(box, lines)
            + _HEAD_COST * _inside(box, heads)
            + _DOT_COST * _inside(box, dots)
            + _NAME_COST * sum(_overlap(box, other) for other in earlier_boxes)
            for box in boxes
        ]
        best = int(np.argmin(costs))
        x, y, horizontal, vertical = _SIDES[best]
        earlier_boxes.append(boxes[best])
        sides.append(((_DISTANCE * x, _DISTANCE * y), horizontal, vertical))
    return sides


def _box(dot: FloatArray, name: str, side: tuple[float, float, str, str]) -> FloatArray:
    """The left, lower, right and upper end of a name."""
    x, y, *_ = side
    half = 0.5 * np.array([_LETTER_WIDTH * len(name), _LETTER_HEIGHT])
    middle = dot + _DISTANCE * np.array([x, y]) + np.sign([x, y]) * half
    return np.concatenate([middle - half, middle + half])


def _inside(box: FloatArray, points: FloatArray) -> int:
    return int(np.count_nonzero(np.all((points >= box[:2]) & (points <= box[2:]), axis=1)))


def _overlap(box: FloatArray, other: FloatArray) -> bool:
    return bool(np.all(box[:2] < other[2:]) and np.all(other[:2] < box[2:]))
