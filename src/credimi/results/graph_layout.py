"""Where the columns of a network are drawn: forces between them, always the same for the same network.

Fruchterman and Reingold 1991: columns repel each other, edges pull, gravity holds parts together, and the steps get
smaller. O(p^2) for each step. Columns without edges are put in rows below the others.

Drawings that need no script: the network, and all pairs as a symmetric heat map. There, clusters are merged by the
largest mean association of their members, two at a time (average linkage), and columns are written as they were merged,
so that those that depend on each other stand together. O(p^3) for the p columns that are shown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from credimi.core.version import __version__
from credimi.results.names import shorten_distinctly
from credimi.results.page import filled, text
from credimi.results.palette import BLUE, heat

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from credimi.core.types import AnyArray, FloatArray, IntegerArray, Record, Value

    Positions = FloatArray

_SCRIPTS = ("network_matrix.js", "network.js")
_MAX_NAME_CHARACTERS = 200
_STEPS = 250
_GRAVITY = 0.1
_ROW_DISTANCE = 1.5  # between rows of columns without edges: names are above and below them
_MOST_COLUMNS = 40
_NAME = 22  # characters beside a drawing
_CELL, _LETTER = 16.0, 6.4
_SCALE = "0: independent; 1: one determines the other. Columns that depend on each other are side by side."
_STROKES = "Width: information; opacity: probability; an arrow: a direction that follows if no common cause is missing."
_ARROW = (
    '<defs><marker id="arrow" viewBox="0 0 8 8" refX="12" refY="4" markerWidth="11" markerHeight="11" '
    'markerUnits="userSpaceOnUse" orient="auto-start-reverse"><path d="M0 0L8 4L0 8z" fill="context-stroke"/></marker>'
    "</defs>"
)
_LETTERS = 'font-size="11" fill="currentColor"'
_STEP = 70.0  # between neighbours of the network


def column_positions(count: int, edges: Sequence[tuple[int, int, float]]) -> Positions:
    """x and y of each column, with a distance of about 1 between neighbours. Edges have ends and a weight up to 1."""
    positions = np.zeros((count, 2))
    ends = np.array([(a, b) for a, b, _ in edges], dtype=np.int64).reshape(-1, 2)
    joined = np.unique(ends)
    if joined.size:
        joined_ends = np.searchsorted(joined, ends)
        weights = np.array([weight for *_, weight in edges])
        positions[joined] = _relaxed(joined.size, joined_ends, weights)
    alone = np.setdiff1d(np.arange(count), joined)
    if alone.size:
        low, high = (positions[joined, 0].min(), positions[joined, 0].max()) if joined.size else (0.0, 0.0)
        per_row = max(int(np.ceil(np.sqrt(2.0 * alone.size))), int(high - low) + 1)
        bottom = positions[joined, 1].max() + 1.0 if joined.size else 0.0
        order = np.arange(alone.size)
        positions[alone] = np.column_stack([low + order % per_row, bottom + _ROW_DISTANCE * (order // per_row)])
    return positions


def _relaxed(count: int, ends: IntegerArray, weights: FloatArray) -> Positions:
    """The positions of columns with edges, after all steps of the simulation."""
    generator = np.random.default_rng(0)
    side = np.sqrt(count)
    angle = np.arange(count) * 2.399963  # a sunflower: no two columns at the same point
    radius = 0.6 * np.sqrt(np.arange(count) + 0.5)
    positions = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]) + generator.normal(
        0.0, 0.01, (count, 2)
    )
    pull = 0.3 + 0.7 * weights
    for step in range(_STEPS):
        differences = positions[:, np.newaxis, :] - positions[np.newaxis, :, :]
        square_distances = np.maximum((differences**2).sum(axis=2), 1e-4)
        force = (differences / square_distances[:, :, np.newaxis]).sum(axis=1)
        edge_vectors = positions[ends[:, 0]] - positions[ends[:, 1]]
        pulls = edge_vectors * (np.linalg.norm(edge_vectors, axis=1) * pull)[:, np.newaxis]
        np.add.at(force, ends[:, 0], -pulls)
        np.add.at(force, ends[:, 1], pulls)
        force -= _GRAVITY * positions * np.sqrt(side)
        force_size = np.maximum(np.linalg.norm(force, axis=1, keepdims=True), 1e-9)
        max_step = 0.25 * side * (1.0 - step / _STEPS) ** 1.5 + 0.002
        positions = positions + force / force_size * np.minimum(force_size, max_step)
    return positions


def graph_page(
    words: Record, columns: Sequence[str], drawn: Sequence[Record], *, largest: float, **facts: Value
) -> str:
    """The page that draws columns and their links; `drawn` are the links that decide where columns are.

    The largest information is `largest`; `facts` are all else that the script reads.
    """
    place_of = {name: place for place, name in enumerate(columns)}
    weighted = [(place_of[row["a"]], place_of[row["b"]], (row["mi"] / (largest or 1.0)) ** 0.5) for row in drawn]
    data = {
        "title": words["heading"],
        "words": words,
        "version": f"credimi {__version__}",
        "columns": [
            name if len(name) <= _MAX_NAME_CHARACTERS else f"{name[:_MAX_NAME_CHARACTERS]}…" for name in columns
        ],
        "places": [[round(float(x), 3), round(float(y), 3)] for x, y in column_positions(len(columns), weighted)],
    }
    return filled("network.html", ("page.css", "network.css"), _SCRIPTS, data | facts)


def clustered(matrix: FloatArray) -> list[int]:
    """The order of the columns in which those with large entries stand together."""
    groups = [[place] for place in range(len(matrix))]
    while len(groups) > 1:
        best, chosen = -1.0, (0, 1)
        for one in range(len(groups)):
            for other in range(one + 1, len(groups)):
                mean = float(matrix[np.ix_(groups[one], groups[other])].mean())
                if mean > best:
                    best, chosen = mean, (one, other)
        one, other = chosen
        groups[one] = _joined(matrix, groups[one], groups[other])
        del groups[other]
    return groups[0] if groups else []


def _joined(matrix: FloatArray, one: list[int], other: list[int]) -> list[int]:
    """Both groups side by side, turned so that the ends that meet are the most alike."""
    ways = [(a, b) for a in (one, one[::-1]) for b in (other, other[::-1])]
    first, second = max(ways, key=lambda way: matrix[way[0][-1], way[1][0]])
    return [*first, *second]


def heat_map(columns: Sequence[str], associations: AnyArray) -> Iterator[str]:
    """The association of every two columns, of those that are most associated with another."""
    matrix = np.nan_to_num(associations.astype(np.float64))
    shown = np.sort(np.argsort(-matrix.max(axis=1), kind="stable")[:_MOST_COLUMNS])
    matrix = matrix[np.ix_(shown, shown)]
    order = clustered(matrix)
    names = [columns[shown[place]] for place in order]
    short, size = shorten_distinctly(names, _NAME), _CELL * len(names)
    room = 12.0 + _LETTER * max(map(len, short))  # of the names at the left; those above are turned
    head = 8.0 + 0.88 * room
    parts = []
    for i, one in enumerate(order):
        y = head + _CELL * i
        turned = f"translate({room + _CELL * i + 12:.0f} {head - 4:.0f}) rotate(-60)"
        parts.append(f'<text {_LETTERS} x="{room - 4:.0f}" y="{y + 12:.0f}" text-anchor="end">{text(short[i])}</text>')
        parts.append(f'<text {_LETTERS} transform="{turned}">{text(short[i])}</text>')
        for j, other in enumerate(order):
            if i != j:
                said = text(f"{names[i]} and {names[j]}: {matrix[one, other]:.2f}")
                place = room + _CELL * j, y, _CELL - 1, _CELL - 1
                parts.append(_square(place, float(matrix[one, other]), f"<title>{said}</title>"))
    below = head + size + 10
    parts += [_square((room + 18 * step, below, 18, 10), step / 10) for step in range(11)]
    for end in (0, 0.5, 1):
        parts.append(
            f'<text {_LETTERS} x="{room + 198 * end:.0f}" y="{below + 24:.0f}" text-anchor="middle">{end:g}</text>'
        )
    more = f" (the {len(names)} most associated)" if len(columns) > len(names) else ""
    yield f"<h3>Association of every two columns{more}</h3>"
    yield f'<p class="said">{_SCALE}</p>'
    yield _drawn(parts, max(room + size + 0.55 * room, room + 210.0), below + 30, "Association of every two columns")


def _square(box: tuple[float, float, float, float], value: float, inside: str = "") -> str:
    x, y, width, height = box
    size = f'width="{width:.0f}" height="{height:.0f}"'
    return f'<rect x="{x:.0f}" y="{y:.0f}" {size} fill="{heat(value)[0]}">{inside}</rect>'


def _drawn(parts: Iterable[str], width: float, height: float, what: str) -> str:
    """A drawing that scrolls if it is too wide."""
    size = f'width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}"'
    label = f'aria-label="{what}; the table below has the numbers"'
    return (
        f'<div class="wide" tabindex="0" role="group" aria-label="{what}"><svg class="map" role="img" {label} {size}>'
        f"{''.join(parts)}</svg></div>"
    )


def drawing(columns: Sequence[str], edges: Sequence[Record]) -> Iterator[str]:
    """The columns that have edges, and the edges."""
    names = list(dict.fromkeys(column for edge in edges for column in (edge["a"], edge["b"])))[:_MOST_COLUMNS]
    if not names:
        return
    place_of = {column: place for place, column in enumerate(names)}
    drawn = [edge for edge in edges if edge["a"] in place_of and edge["b"] in place_of]
    largest = max(edge["mi"] for edge in drawn) or 1.0
    weighted = [(place_of[each["a"]], place_of[each["b"]], (each["mi"] / largest) ** 0.5) for each in drawn]
    points = column_positions(len(names), weighted) * _STEP
    points = points - points.min(axis=0) + np.array([90.0, 24.0])
    width, height = (points.max(axis=0) + np.array([90.0, 24.0])).tolist()
    parts = [_ARROW]
    for edge, (one, other, weight) in zip(drawn, weighted, strict=True):
        (x1, y1), (x2, y2) = points[one].tolist(), points[other].tolist()
        head = {"->": ' marker-end="url(#arrow)"', "<-": ' marker-start="url(#arrow)"'}.get(edge["direction"], "")
        said = f"{edge['a']} {edge['direction']} {edge['b']}: P(edge) {edge['probability']:.2f}, {edge['mi']:.4f} nats"
        parts.append(
            f'<line class="edge" stroke="{BLUE}" x1="{x1:.0f}" y1="{y1:.0f}" x2="{x2:.0f}" y2="{y2:.0f}" '
            f'style="stroke-width:{1.0 + 5.0 * weight:.1f};opacity:{0.25 + 0.65 * edge["probability"]:.2f}"{head}>'
            f"<title>{text(said)}</title></line>"
        )
    for column, short, (x, y) in zip(names, shorten_distinctly(names, _NAME), points.tolist(), strict=True):
        parts.append(f'<circle fill="currentColor" cx="{x:.0f}" cy="{y:.0f}" r="5"/>')
        label = f"{text(short)}<title>{text(column)}</title>"
        parts.append(f'<text {_LETTERS} x="{x:.0f}" y="{y - 9:.0f}" text-anchor="middle">{label}</text>')
    alone = len(columns) - len(names)
    more = f" {alone:,} columns without an edge are not drawn." if alone > 0 else ""
    yield f"<h3>Direct dependences: {len(drawn):,} edges among {len(names):,} columns</h3>"
    yield f'<p class="said">{_STROKES}{more}</p>'
    yield _drawn(parts, width, height, "Direct dependences as a network")
