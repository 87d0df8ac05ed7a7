"""On which side of its dot the name of a column is written: away from its lines, and not over other names."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from credimi.core.types import FloatArray

_DISTANCE = 7.0  # points from the dot to its name
_LETTER, _HEIGHT = 5.2, 10.0  # points, of letters of size 8
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
_ALONG = np.linspace(0.0, 1.0, 31)  # points of a line that names should not cover
_HEAD = np.array([6.0, 9.0, 12.0, 15.0, 18.0])  # points of an arrow head, from the dot that it points at
_OF_HEAD, _OF_DOT, _OF_NAME = 3, 5, 100  # what covering these costs; a point of a line costs 1

Side = tuple[tuple[float, float], str, str]  # the offset in points, and the alignments


def sides(where: FloatArray, edges: Sequence[tuple[int, int]], names: Sequence[str]) -> list[Side]:
    """Of each name the offset from its dot and the alignments; `where` has the dots, in points of the page.

    A side is the better, the fewer dots, lines and earlier names the name covers there; the first of equals is taken.
    """
    ends = where[np.array(edges, dtype=np.int64).reshape(-1, 2)]  # edges x 2 x 2
    towards = ends[:, 1] - ends[:, 0]
    unit = towards / np.maximum(np.linalg.norm(towards, axis=1, keepdims=True), 1e-9)
    lines = (ends[:, :1] + _ALONG[:, None] * towards[:, None]).reshape(-1, 2)
    heads = np.concatenate([ends[:, :1] + _HEAD[:, None] * unit[:, None], ends[:, 1:] - _HEAD[:, None] * unit[:, None]])
    heads = heads.reshape(-1, 2)
    taken: list[FloatArray] = []
    found: list[Side] = []
    for dot, name in zip(where, names, strict=True):
        boxes = [_box(dot, name, side) for side in _SIDES]
        costs = [
            _inside(box, lines)
            + _OF_HEAD * _inside(box, heads)
            + _OF_DOT * _inside(box, where)
            + _OF_NAME * sum(_overlap(box, other) for other in taken)
            for box in boxes
        ]
        best = int(np.argmin(costs))
        x, y, across, upright = _SIDES[best]
        taken.append(boxes[best])
        found.append(((_DISTANCE * x, _DISTANCE * y), across, upright))
    return found


def _box(dot: FloatArray, name: str, side: tuple[float, float, str, str]) -> FloatArray:
    """The left, lower, right and upper end of a name."""
    x, y, *_ = side
    half = 0.5 * np.array([_LETTER * len(name), _HEIGHT])
    middle = dot + _DISTANCE * np.array([x, y]) + np.sign([x, y]) * half
    return np.concatenate([middle - half, middle + half])


def _inside(box: FloatArray, points: FloatArray) -> int:
    return int(np.count_nonzero(np.all((points >= box[:2]) & (points <= box[2:]), axis=1)))


def _overlap(box: FloatArray, other: FloatArray) -> bool:
    return bool(np.all(box[:2] < other[2:]) and np.all(other[:2] < box[2:]))
