"""Helpers of several files of tests."""

from __future__ import annotations

from strategies import table

TINY_ONE_SIDED = [
    table([[1, 0], [2, 1]], [2, 3], [0, 0], 0.5),
    table([[1, 0, 2], [0, 1, 1]], [1, 3], [0, 0, 0], 1.0),
    table([[1, 0], [2, 1], [0, 0]], [0, 0, 0], [3, 2], "perks"),
    table([[3, 1], [1, 2]], [0, 0], [0, 0], 0.25),
]
