"""A tree as text: one line for each node, and why it was split or not; from the plain data of `Tree.to_dict`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from credimi.core.atomic_files import plain
from credimi.results import remark_sentences
from credimi.results.names import shorten_distinctly
from credimi.results.sentences import NO_NAME, PYTHON, counted, unranked_lines, whole_if_many
from credimi.results.sentences import name as named
from credimi.results.terminal import probability

if TYPE_CHECKING:
    from collections.abc import Iterator

    from credimi.core.types import Record

_MAX_BRANCH_CHARACTERS = 60
_MAX_STAND_INS_NAMED = 2
_STOPS = {
    "pure": "all rows have one class",
    "no column": "no column has two values here",
    "tells nothing": "no column tells more here",
    "depth": "as deep as allowed",
    "interrupted": "interrupted before it was looked at",
}


def tree_text(tree: Record, *, reasons: bool = True) -> str:
    """The whole tree as text."""
    return "\n".join(tree_lines(tree, reasons=reasons))


def tree_lines(tree: Record, *, reasons: bool = True, reader: str = PYTHON) -> Iterator[str]:
    """The title, then each node before its branches; with reasons also why columns were left out."""
    yield plain(title(tree))
    conditions = short_conditions(tree, _MAX_BRANCH_CHARACTERS)
    for node in tree["nodes"]:
        start = "" if node["depth"] == 0 else "|   " * (node["depth"] - 1) + "|-- "
        text = f"{start}{conditions[node['node']]} ({rows(node)}): {predicted(tree, node)}"
        yield plain(f"{text}; {reason(tree, node)}" if reasons else text)
    if reasons:
        yield from map(plain, unranked_lines(tree["left_out"], reader))
    yield from map(plain, remark_sentences.lines(tree["remarks"], reader))


def title(tree: Record) -> str:
    """What the tree is of, and how large it is."""
    target = tree["settings"]["target"] or NO_NAME
    size = f"{counted(tree['leaves'], 'leaf').replace('leafs', 'leaves')}, depth {tree['depth']}"
    partial = " (interrupted)" if tree["interrupted"] else ""
    return f"Tree for {target}: {size}, {counted(tree['rows'], 'row')}{partial}"


def branch_of(node: Record, features: dict[int, str | None]) -> str:
    """The condition by which rows come to a node: "age <= 30.5", "colour: blue, red"."""
    if node["parent"] is None:
        return "all"
    return _condition(str(features[node["parent"]]), node["branch"])


def _condition(name: str, branch: str) -> str:
    shown = name or NO_NAME
    return f"{shown} {branch}" if _is_cut(branch) else f"{shown}: {branch}"


def _is_cut(branch: str) -> bool:
    return branch.startswith(("<= ", "> ", "< ", ">= "))


def rows(node: Record) -> str:
    """How many rows a node has; parts of rows are rounded."""
    return f"{whole_if_many(node['rows']):,}"


def predicted(tree: Record, node: Record) -> str:
    """The most probable class and its probability."""
    probabilities = node["probabilities"]
    return f"{tree['classes'][probabilities.index(max(probabilities))]} {max(probabilities):.2f}"


def reason(tree: Record, node: Record) -> str:
    """Why a node was split, or why it was not."""
    best, epsilon = node["best"], tree["settings"]["epsilon"]
    if node["feature"] is not None:
        information = f"tells {best['mi']:.4f} ({best['low']:.4f} to {best['high']:.4f})"
        p_above = f"P(I > {epsilon:g}) {probability(best['p_above'], best['high'] - best['low'])}"
        runner_up = node["runner_up"]
        following = "" if runner_up is None else f"; next {named(runner_up)}, {runner_up['mi']:.4f}"
        if_missing = f"; if missing, by {stand_ins(node)}" if node["stand_ins"] else ""
        return f"by {named(best)}: {information}, {p_above}{following}{if_missing}"
    if node["stop"] == "unsure":
        about = f"about {node['rows_to_decide']:,} rows here would decide" if node["rows_to_decide"] else "undecided"
        return f"unsure: {about} on {named(best)}, P(I > {epsilon:g}) {_not_enough(tree, best)}"
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


def stand_ins(node: Record) -> str:
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
    conditions = {node["node"]: branch_of(node, features) for node in tree["nodes"]}
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
