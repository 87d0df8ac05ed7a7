"""What a tree shows: one line for each node, and why it was split or not; a page of nodes that fold; a figure.

All of it is made of the plain data of `Tree.to_dict`. The page has no script, and all names, which come from the user's
data, pass through `page.text`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from credimi.core.atomic_files import plain
from credimi.results import section as kinds
from credimi.results.figures import MAX_NAME_CHARACTERS, new_axes, one_line, short_name
from credimi.results.names import shorten_distinctly
from credimi.results.page import drawn, headings, name, numbers, picture, table, text
from credimi.results.palette import CLASSES, LINE
from credimi.results.section import Section, Shown, probability
from credimi.results.sentences import NO_NAME, counted, numeric_named, unranked_lines, whole_if_many
from credimi.results.sentences import name as named

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.axes import Axes

    from credimi.core.types import Record
    from credimi.questions.tree.result import Tree

_PAGE_COLOURS = 8  # the rarer classes share the last
_OPEN_LEVELS = 2  # the others are folded
_MAX_BRANCH_CHARACTERS = 60
_MAX_STAND_INS_NAMED = 2
_STOPS = {
    "pure": "all rows have one class",
    "no column": "no column has two values here",
    "tells nothing": "no column tells more here",
    "depth": "as deep as allowed",
    "interrupted": "interrupted before it was looked at",
}


def sections(grown: Tree, shown: Shown) -> Iterator[Section]:
    """The title, then each node before its branches; with reasons also why columns were left out."""
    tree = grown.to_dict()
    yield Section(_title(tree), wraps=False, picture=lambda: f"<p>{_key(tree)}</p>{_nodes(tree)}")
    conditions = short_conditions(tree, _MAX_BRANCH_CHARACTERS)
    lines = []
    for node in tree["nodes"]:
        start = "" if node["depth"] == 0 else "|   " * (node["depth"] - 1) + "|-- "
        line = f"{start}{conditions[node['node']]} ({_rows(node)}): {_predicted(tree, node)}"
        lines.append(f"{line}; {_reason(tree, node)}" if shown.reasons else line)
    said = _said(grown, shown) if shown.reasons else grown.remark_lines(reader=shown.reader)
    yield Section(lines=[*lines, *said], wraps=False)


def _title(tree: Record) -> str:
    """What the tree is of, and how large it is."""
    target = numeric_named(tree["settings"]["target"] or NO_NAME, tree["settings"], len(tree["classes"]))
    size = f"{counted(tree['leaves'], 'leaf').replace('leafs', 'leaves')}, depth {tree['depth']}"
    partial = " (interrupted)" if tree["interrupted"] else ""
    return f"Tree for {target}: {size}, {counted(tree['rows'], 'row')}{partial}"


def _branch_of(node: Record, features: dict[int, str | None]) -> str:
    """The condition by which rows come to a node: "age <= 30.5", "colour: blue, red"."""
    if node["parent"] is None:
        return "all"
    return _condition(str(features[node["parent"]]), node["branch"])


def _condition(name: str, branch: str) -> str:
    shown = name or NO_NAME
    return f"{shown} {branch}" if _is_cut(branch) else f"{shown}: {branch}"


def _is_cut(branch: str) -> bool:
    return branch.startswith(("<= ", "> ", "< ", ">= "))


def _rows(node: Record) -> str:
    """How many rows a node has; parts of rows are rounded."""
    return f"{whole_if_many(node['rows']):,}"


def _predicted(tree: Record, node: Record) -> str:
    """The most probable class and its probability."""
    probabilities = node["probabilities"]
    return f"{tree['classes'][probabilities.index(max(probabilities))]} {max(probabilities):.2f}"


def _reason(tree: Record, node: Record) -> str:
    """Why a node was split, or why it was not."""
    best, above = node["best"], kinds.above(tree["settings"])
    if node["feature"] is not None:
        information = f"tells {best['mi']:.4f} ({best['low']:.4f} to {best['high']:.4f})"
        p_above = f"{above} {probability(best['p_above'], best['high'] - best['low'])}"
        runner_up = node["runner_up"]
        following = "" if runner_up is None else f"; next {named(runner_up)}, {runner_up['mi']:.4f}"
        if_missing = f"; if missing, by {_stand_ins(node)}" if node["stand_ins"] else ""
        return f"by {named(best)}: {information}, {p_above}{following}{if_missing}"
    if node["stop"] == "unsure":
        about = f"about {node['rows_to_decide']:,} rows here would decide" if node["rows_to_decide"] else "undecided"
        return f"unsure: {about} on {named(best)}, {above} {_not_enough(tree, best)}"
    return _STOPS[node["stop"]]


def _not_enough(tree: Record, best: Record) -> str:
    """The probability of the best column of an unsure leaf; and, if it reaches the level, why that is not enough."""
    p_above = best["p_above"]
    if p_above < tree["settings"]["level"]:
        return f"{p_above:.2f}"
    if p_above >= best["p_required"]:
        return f"{p_above:.2f}, but not by these rows alone"
    return f"{probability(p_above, best['high'] - best['low'])}, but a split here needs more"


def colour_of(tree: Record, colours: int) -> list[int]:
    """The number of each class's colour: if there are too many classes, the rarer ones share the last."""
    classes, counts = range(len(tree["classes"])), tree["nodes"][0]["counts"]
    if len(classes) <= colours:
        return list(classes)
    common = sorted(sorted(classes, key=lambda class_index: -counts[class_index])[: colours - 1])
    return [common.index(class_index) if class_index in common else colours - 1 for class_index in classes]


def _stand_ins(node: Record) -> str:
    """The columns that say where a row without the value goes: the first ones, and how many more there are."""
    names = [named(stand_in) for stand_in in node["stand_ins"]]
    more = [f"{len(names) - _MAX_STAND_INS_NAMED:,} more"] if len(names) > _MAX_STAND_INS_NAMED else []
    return " and ".join([", ".join(names[:_MAX_STAND_INS_NAMED]), *more])


def short_conditions(tree: Record, room: int) -> dict[int, str]:
    """The condition of each node in `room` characters: names are shortened, cuts are not, and branches stay different.

    A branch may have hundreds of values, and values may be long texts, so these are shortened, too.
    """
    features = {node["node"]: node["feature"] for node in tree["nodes"]}
    used = sorted({name for name in features.values() if name is not None})
    children: dict[int, list[Record]] = {}
    for node in tree["nodes"]:
        if node["parent"] is not None:
            children.setdefault(node["parent"], []).append(node)
    conditions = {node["node"]: _branch_of(node, features) for node in tree["nodes"]}
    for parent, nodes in children.items():
        branches = [node["branch"] for node in nodes]
        if max(len(conditions[node["node"]]) for node in nodes) <= room:
            continue
        if not _is_cut(branches[0]):
            name_room = max(room // 2, room - max(map(len, branches)))
            branches = shorten_distinctly(branches, room - min(len(str(features[parent])), name_room) - 2)
        else:
            name_room = room - max(map(len, branches)) - 1
        names = dict(zip(used, shorten_distinctly(used, name_room), strict=True))
        for node, branch in zip(nodes, branches, strict=True):
            conditions[node["node"]] = _condition(names[str(features[parent])], branch)
    return conditions


def page_sections(grown: Tree, shown: Shown) -> Iterator[Section]:
    """What the page shows: what the columns tell, all nodes, and why columns were left out."""
    tree = grown.to_dict()
    yield Section(html=lambda: f'<p class="said">{_how_split(tree["settings"])}</p>\n<p class="key">{_key(tree)}</p>')
    if tree["importances"]:
        largest = max(each["high"] for each in tree["importances"])
        columns = (
            kinds.name(heading="column"),
            picture(lambda row: [("b", row["low"], row["mi"], row["high"])], largest),
            kinds.nats("mi", "tells"),
            kinds.interval("95 % interval"),
        )
        yield Section("", columns, tree["importances"], heading="What the columns tell in this tree")
    yield Section(heading="The tree", html=lambda: _nodes(tree), lines=_said(grown, shown))


def _how_split(settings: Record) -> str:
    return f"""A node is split by the column that tells most there, if {text(kinds.above(settings))} is at least
{settings["level"]:g}, and more in nodes of many rows, allowing for the number of columns tried. Open a node to see its
table and why it was split or not. {_units(settings)}"""


def _units(settings: Record) -> str:
    share = kinds.meaning_of_share(settings)
    return f"Information is in nats; {share}." if share else "Information is in nats."


def _said(grown: Tree, shown: Shown) -> list[str]:
    return [*unranked_lines(grown.left_out, shown.reader), *grown.remark_lines(reader=shown.reader)]


def _key(tree: Record) -> str:
    colours = colour_of(tree, _PAGE_COLOURS)
    entries = [(colour, name(label)) for label, colour in zip(tree["classes"], colours, strict=True)]
    if len(entries) > _PAGE_COLOURS:  # the rarer classes share the last
        other_classes = colours.count(_PAGE_COLOURS - 1)
        entries = [(colour, shown) for colour, shown in entries if colour < _PAGE_COLOURS - 1]
        entries.append((_PAGE_COLOURS - 1, f"{other_classes:,} other classes"))
    return " ".join(f'<span><i class="c{colour}"></i>{shown}</span>' for colour, shown in entries)


def _nodes(tree: Record) -> str:
    """All nodes, each before its branches; elements are closed where the depth falls."""
    features = {node["node"]: node["feature"] for node in tree["nodes"]}
    parts: list[str] = []
    for index, node in enumerate(tree["nodes"]):
        open_attribute = " open" if node["depth"] < _OPEN_LEVELS and node["feature"] is not None else ""
        css_class = "split" if node["feature"] is not None else "leaf"
        parts.append(
            f'<details class="{css_class}"{open_attribute}><summary>{_bar(tree, node)}<span>'
            f"<bdi>{text(_branch_of(node, features))}</bdi> <small>{_rows(node)} rows</small> "
            f"<b><bdi>{text(_predicted(tree, node))}</bdi></b>"
            f"{_split_column(node)}</span></summary>{_detail(tree, node)}"
        )
        following = tree["nodes"][index + 1]["depth"] if index + 1 < len(tree["nodes"]) else 0
        parts.append("</details>" * (node["depth"] - following + 1))
    return "\n".join(parts)


def _split_column(node: Record) -> str:
    return "" if node["feature"] is None else f" <small>by {name(node['feature'])}</small>"


def _bar(tree: Record, node: Record) -> str:
    """The class probabilities as a bar, without text."""
    parts, start = [], 0.0
    for colour, chance in zip(colour_of(tree, _PAGE_COLOURS), node["probabilities"], strict=True):
        if chance >= 0.002:
            parts.append(f'<rect class="c{colour}" x="{100 * start:.1f}" width="{100 * chance:.1f}" height="12"/>')
        start += chance
    return f'<svg class="bar" viewBox="0 0 100 12" preserveAspectRatio="none" aria-hidden="true">{"".join(parts)}</svg>'


def _detail(tree: Record, node: Record) -> str:
    explanation = f'<p class="said">{text(_reason(tree, node))}</p>'
    return f'<div class="detail">{explanation}{_posterior(tree, node)}{_table(tree, node)}</div>'


def _posterior(tree: Record, node: Record) -> str:
    best, epsilon = node["best"], tree["settings"]["epsilon"]
    if best is None:
        return ""
    figures = [("b", best["low"], best["mi"], best["high"])]
    caption = f"I of {name(best['feature'])}: mean, 95 % interval, and epsilon as a line"
    drawing = drawn(figures, max(best["high"], 4.0 * epsilon), epsilon)
    return f'<p class="posterior">{drawing}<small>{caption}</small></p>'


def _table(tree: Record, node: Record) -> str:
    """The rows of each class, by branch and in all; classes that the node does not have are left out."""
    branches = node.get("branches", [])
    columns = [*(name(branch["name"]) for branch in branches), "all", "probability"]
    head = headings("class") + headings(*columns, number=True)
    lines = []
    colours = colour_of(tree, _PAGE_COLOURS)
    for number, label in enumerate(tree["classes"]):
        if node["counts"][number] > 0.0:
            cells = [branch["counts"][number] for branch in branches] + [node["counts"][number]]
            figures = numbers(*map(_count, cells), f"{node['probabilities'][number]:.3f}")
            heading = f'<th scope="row"><i class="c{colours[number]}"></i>{name(label)}</th>'
            lines.append(f"<tr>{heading}{figures}</tr>")
    missing = node["best"]["missing"] if node["best"] is not None and branches else 0.0
    weighted = f", weighted by <bdi>{text(_stand_ins(node))}</bdi>" if branches and node["stand_ins"] else ""
    notes = []
    if missing:
        notes.append(f"{_count(missing)} rows without a value went down all branches{weighted}.")
        if sum(sum(branch["counts"]) for branch in branches) < sum(node["counts"]) - 0.05:
            notes.append("Parts below a fifth of a row are left out: together the branches have fewer rows.")
    if node["rows"] - sum(node["counts"]) > 0.05:
        notes.append(f"{_count(node['rows'] - sum(node['counts']))} rows without a class are not in the table.")
    return table(head, lines) + "".join(f'<p class="said">{line}</p>' for line in notes)


def _count(number: float) -> str:
    return f"{round(number, 1):,.1f}".removesuffix(".0")


def plot(grown: Tree, ax: Axes | None, *, max_depth: int | None) -> Axes:
    """The tree from left to right; the colour of a dot is the class, its opacity the probability of the class."""
    tree = grown.to_dict()
    nodes = [node for node in tree["nodes"] if max_depth is None or node["depth"] <= max_depth]
    colours = colour_of(tree, len(CLASSES))
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
            axes.plot([parent_point[0], point[0]], [parent_point[1], point[1]], color=LINE, linewidth=1.0, zorder=1)
        probabilities = node["probabilities"]
        colour = CLASSES[colours[probabilities.index(max(probabilities))]]
        axes.plot(*point, marker="o", markersize=9, color=colour, alpha=0.35 + 0.65 * max(probabilities), zorder=2)
        lines = [one_line(conditions[node["node"]]), one_line(f"{_predicted(tree, node)} ({_rows(node)})")]
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
