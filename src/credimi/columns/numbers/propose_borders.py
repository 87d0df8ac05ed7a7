"""Borders between cells at which a greedy tree splits: where it is worth looking for sharp edges.

The tree splits the leaf whose best split gains most likelihood, sum n log n over classes and sides as in `discretize`,
until there are so many borders as asked for. What is proposed is no decision: `inference.numbers.all_cuts` pays for it.
The cost is O(cells r) a level of the tree.
"""

from __future__ import annotations

import numpy as np

from credimi.compile.jit import FloatArray, IntegerArray, compiled, inlined

_LEAST_GAIN = 1e-9


def proposed_places(below: FloatArray, cells: IntegerArray, most: int) -> IntegerArray:
    """After how many labels there are such borders; `below` (labels + 1, classes), `cells` are those between places.

    If cells hold several labels, each border is moved to the best of the labels in the two cells beside it.
    """
    borders = proposed_borders(below[np.newaxis, cells], most)
    places = cells[borders]
    if borders.size and (cells[-1] > cells.size - 1):
        ends = np.concatenate([[0], places, [cells[-1]]])
        windows = np.stack([ends[:-2], cells[borders - 1], cells[borders + 1], ends[2:]], axis=1)
        refine(below, np.ascontiguousarray(windows), places)
    return np.unique(places)


@compiled
def refine(below: FloatArray, windows: IntegerArray, places: IntegerArray) -> None:
    """Move each border between the inner two of four places to where the sides, up to the outer two, are most alike."""
    classes = below.shape[1]
    for border in range(places.size):
        start, low, high, stop = windows[border, 0], windows[border, 1], windows[border, 2], windows[border, 3]
        best_score = -np.inf
        for at in range(low + 1, high):
            left, right, score = 0.0, 0.0, 0.0
            for i in range(classes):
                n, m = below[at, i] - below[start, i], below[stop, i] - below[at, i]
                left += n
                right += m
                score += _times_logarithm(n) + _times_logarithm(m)
            score -= _times_logarithm(left) + _times_logarithm(right)
            if left * right > 0.0 and score > best_score:
                places[border], best_score = at, score


def proposed_borders(below: FloatArray, most: int) -> IntegerArray:
    """The borders of cells with these counts below each border (strata, cells + 1, classes), in order."""
    chosen = np.empty(most, dtype=np.int64)
    count = propose(np.ascontiguousarray(below, dtype=np.float64), most, chosen)
    return np.sort(chosen[:count])


@compiled
def propose(below: FloatArray, most: int, chosen: IntegerArray) -> int:
    """Fill in the borders in the order in which the tree splits; return how many there are, at most `most`."""
    cells = below.shape[1] - 1
    start, stop = np.empty(most + 1, dtype=np.int64), np.empty(most + 1, dtype=np.int64)
    place, gain = np.empty(most + 1, dtype=np.int64), np.empty(most + 1)
    start[0], stop[0] = 0, cells
    place[0], gain[0] = best_border(below, 0, cells)
    leaves = 1
    while leaves <= most:
        best = 0
        for leaf in range(1, leaves):
            if gain[leaf] > gain[best]:
                best = leaf
        if gain[best] <= _LEAST_GAIN:
            break
        at = place[best]
        chosen[leaves - 1] = at
        start[leaves], stop[leaves], stop[best] = at, stop[best], at
        if leaves < most:
            place[best], gain[best] = best_border(below, start[best], at)
            place[leaves], gain[leaves] = best_border(below, at, stop[leaves])
        leaves += 1
    return leaves - 1


@compiled
def best_border(below: FloatArray, start: int, stop: int) -> tuple[int, float]:
    """The border with the largest gain of log likelihood within [start, stop), and this gain."""
    strata, classes = below.shape[0], below.shape[2]
    best, best_gain, whole = start, 0.0, 0.0
    for a in range(strata):
        total = 0.0
        for i in range(classes):
            n = below[a, stop, i] - below[a, start, i]
            total += n
            whole += _times_logarithm(n)
        whole -= _times_logarithm(total)
    for at in range(start + 1, stop):
        score = -whole
        for a in range(strata):
            left, right = 0.0, 0.0
            for i in range(classes):
                low, high = below[a, at, i] - below[a, start, i], below[a, stop, i] - below[a, at, i]
                left += low
                right += high
                score += _times_logarithm(low) + _times_logarithm(high)
            score -= _times_logarithm(left) + _times_logarithm(right)
        if score > best_gain:
            best, best_gain = at, score
    return best, best_gain


@inlined
def _times_logarithm(n: float) -> float:
    return n * np.log(n) if n > 0.0 else 0.0
