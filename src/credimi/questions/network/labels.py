"""On which side of its dot the name of a column is written: away from its lines, and not over other names."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from credimi.core.types import FloatArray

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
