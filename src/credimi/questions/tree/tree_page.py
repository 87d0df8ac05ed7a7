"""A tree as one HTML page: nodes that fold, each with its table and its posterior. No script, nothing from elsewhere.

All names come from the user's data; each passes through `still_page.text`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from credimi.core.atomic_files import write_bytes
from credimi.questions.tree.tree_text import branch_of, colour_of, predicted, reason, rows, stand_ins, title
from credimi.results.page import (
    WIDTH,
    document,
    headings,
    name,
    numbers,
    paragraphs,
    root_scale_x,
    row_heading,
    table,
    text,
)
from credimi.results.remark_sentences import lines
from credimi.results.sentences import unranked_lines

if TYPE_CHECKING:
    from pathlib import Path

    from credimi.core.types import Record

_COLOURS = 8  # the rarer classes share the last
_OPEN_LEVELS = 2  # the others are folded


def write_page(tree: Record, path: str | Path) -> None:
    """Write the page to a file, which is complete or absent."""
    write_bytes(page(tree).encode(errors="backslashreplace"), path)


def page(tree: Record) -> str:
    """The HTML."""
    heading, settings = text(title(tree)), tree["settings"]
    body = f"""<p class="said">A node is split by the column that tells most there, if P(I &gt; {settings["epsilon"]:g})
is at least {settings["level"]:g}, and more in nodes of many rows, allowing for the number of columns tried.
Open a node to see its table and why it was split or not. Information in nats.</p>
<p class="key">{_key(tree)}</p>
{_importances(tree)}
<h2>The tree</h2>
{_nodes(tree)}
<div class="said">{paragraphs([*unranked_lines(tree["left_out"]), *lines(tree["remarks"])])}</div>"""
    return document(heading, heading, ("tree.css",), body)


def _key(tree: Record) -> str:
    colours = colour_of(tree, _COLOURS)
    entries = [(colour, name(label)) for label, colour in zip(tree["classes"], colours, strict=True)]
    if len(entries) > _COLOURS:  # the rarer classes share the last
        other_classes = colours.count(_COLOURS - 1)
        entries = [(colour, shown) for colour, shown in entries if colour < _COLOURS - 1]
        entries.append((_COLOURS - 1, f"{other_classes:,} other classes"))
    return " ".join(f'<span><i class="c{colour}"></i>{shown}</span>' for colour, shown in entries)


def _importances(tree: Record) -> str:
    if not tree["importances"]:
        return ""
    largest = max(importance["high"] for importance in tree["importances"])
    head = headings("column", "") + headings("tells", "95 % interval", number=True)
    rows = [
        f"<tr>{row_heading(importance['feature'])}<td>{_interval(importance, largest, None)}</td>"
        + numbers(f"{importance['mi']:.4f}", f"{importance['low']:.4f} to {importance['high']:.4f}")
        + "</tr>"
        for importance in tree["importances"]
    ]
    return f"<h2>What the columns tell in this tree</h2>\n{table(head, rows)}"


def _nodes(tree: Record) -> str:
    """All nodes, each before its branches; elements are closed where the depth falls."""
    features = {node["node"]: node["feature"] for node in tree["nodes"]}
    parts: list[str] = []
    for index, node in enumerate(tree["nodes"]):
        open_attribute = " open" if node["depth"] < _OPEN_LEVELS and node["feature"] is not None else ""
        css_class = "split" if node["feature"] is not None else "leaf"
        parts.append(
            f'<details class="{css_class}"{open_attribute}><summary>{_bar(tree, node)}<span>'
            f"<bdi>{text(branch_of(node, features))}</bdi> <small>{rows(node)} rows</small> "
            f"<b><bdi>{text(predicted(tree, node))}</bdi></b>"
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
    for colour, probability in zip(colour_of(tree, _COLOURS), node["probabilities"], strict=True):
        if probability >= 0.002:
            parts.append(f'<rect class="c{colour}" x="{100 * start:.1f}" width="{100 * probability:.1f}" height="12"/>')
        start += probability
    return f'<svg class="bar" viewBox="0 0 100 12" preserveAspectRatio="none" aria-hidden="true">{"".join(parts)}</svg>'


def _detail(tree: Record, node: Record) -> str:
    explanation = f'<p class="said">{text(reason(tree, node))}</p>'
    return f'<div class="detail">{explanation}{_posterior(tree, node)}{_table(tree, node)}</div>'


def _posterior(tree: Record, node: Record) -> str:
    best = node["best"]
    if best is None:
        return ""
    drawn = _interval(best, max(best["high"], 4.0 * tree["settings"]["epsilon"]), tree["settings"]["epsilon"])
    caption = f"I of {name(best['feature'])}: mean, 95 % interval, and epsilon as a line"
    return f'<p class="posterior">{drawn}<small>{caption}</small></p>'


def _interval(figures: Record, largest: float, epsilon: float | None) -> str:
    low, mean, high = (root_scale_x(figures[end], largest) for end in ("low", "mi", "high"))
    line = f'<line x1="{low:.1f}" x2="{high:.1f}" y1="10" y2="10"/><circle cx="{mean:.1f}" cy="10" r="4"/>'
    epsilon_line = "" if epsilon is None else f'<path d="M{root_scale_x(epsilon, largest):.1f} 1V19"/>'
    label = f"{figures['mi']:.4f} ({figures['low']:.4f} to {figures['high']:.4f})"
    return (
        f'<svg class="interval" viewBox="0 0 {WIDTH:g} 20" role="img" aria-label="{label}">{epsilon_line}{line}</svg>'
    )


def _table(tree: Record, node: Record) -> str:
    """The rows of each class, by branch and in all; classes that the node does not have are left out."""
    branches = node.get("branches", [])
    columns = [*(name(branch["name"]) for branch in branches), "all", "probability"]
    head = headings("class") + headings(*columns, number=True)
    lines = []
    colours = colour_of(tree, _COLOURS)
    for number, label in enumerate(tree["classes"]):
        if node["counts"][number] > 0.0:
            cells = [branch["counts"][number] for branch in branches] + [node["counts"][number]]
            figures = numbers(*map(_count, cells), f"{node['probabilities'][number]:.3f}")
            heading = f'<th scope="row"><i class="c{colours[number]}"></i>{name(label)}</th>'
            lines.append(f"<tr>{heading}{figures}</tr>")
    missing = node["best"]["missing"] if node["best"] is not None and branches else 0.0
    weighted = f", weighted by <bdi>{text(stand_ins(node))}</bdi>" if branches and node["stand_ins"] else ""
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
