"""The least and the largest information of draws, within a factor: which kernel, and where its search starts.

If one side is complete, the least I is a convex program, and the largest is at a vertex: `least_information` and
`largest_information`. If both sides have missing values, or rows lack both, `both_missing` searches a box. Two things
are exceptions:

* *An infinite factor.* Then the missing values of every class, and the missing classes of every value, may have any
  distribution, which is what the first two kernels have at an infinite factor. From `_ANY` on the two are the same. If
  rows lack both, the factor is `_ANY` at most.
* *Large tables.* From `_MANY_CELLS` cells on, the search would take too long. Then the missing values may be anything,
  whatever the factor: bounds that are further apart. Rows that lack both are a share h of all. Whether a row is one of
  them has an entropy of H(h), and knowing it changes the information by no more, so

      (1 - h) least - H(h) <= I <= (1 - h) largest + h log min(r, s) + H(h) .

**Rows that lack both.** The largest I is then often where in some cells all that lack one side lack both, an edge along
which the search moves badly. At G = 5 it fell short of a general solver by more than a hundredth of its distance to the
centre in one of five small tables, by an eighth in the worst (docs/accuracy.md). So this distance is raised by a tenth.

**Starts.** I has several peaks in the box, and draws of one table have theirs at similar places. So the search at the
mean of the draws starts from many places, and each draw starts from the best few that were found there.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from credimi.inference.bounds.both_missing import search
from credimi.inference.bounds.largest_information import largest
from credimi.inference.bounds.least_information import least

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    from credimi.core.types import FloatArray
    from credimi.inference.bounds.observed_draws import ObservedDraws

    Starts = NDArray[Any]  # numbers in the box, or patterns of high and low cells

_ANY = 1e6  # a factor that is as good as infinite
_MANY_CELLS = 150
_START_PATTERNS = 20  # with which the search at the mean of the draws starts
_STARTS_IF_ROWS_LACK_BOTH = 40
_STARTS_OF_LEAST = 4
_KEPT_STARTS = 3
_MIDDLE = 0.5  # of the box: at random
_DIFFERENT = 1e-7  # I of two peaks
_FIRST_TIES, _TIES = 1e4, 1e6  # how far ties may be from those at random, in the first search and at last
_RAISED = 1.1
_JUMPS = 20  # steps to the ends of the box


def starts_of(drawn: ObservedDraws, factor: float, *, upward: bool) -> Starts:
    """Where the search for the largest I of each draw starts, or for the least."""
    mean = drawn.mean()
    if not _is_searched(drawn, factor):
        return np.zeros(0, dtype=np.uint8) if drawn.both_missing or not upward else _patterns(mean, factor)
    r, s = drawn.seen.shape[1:]
    generator = np.random.default_rng(20)
    lacking_both = bool(drawn.neither.any())
    number = (_STARTS_IF_ROWS_LACK_BOTH if lacking_both else _START_PATTERNS) if upward else _STARTS_OF_LEAST
    tried = [np.full((3 * r, s), _MIDDLE), *generator.integers(0, 2, (number, 3 * r, s)).astype(np.float64)]
    found = [_first_search(mean, factor, start[np.newaxis], upward=upward) for start in tried]
    values = np.array([value for value, _ in found])
    kept: list[int] = []
    for index in np.argsort(-values if upward else values, kind="stable").tolist():
        if len(kept) < _KEPT_STARTS and all(abs(values[index] - values[other]) > _DIFFERENT for other in kept):
            kept.append(index)
    places = [found[index][1] for index in kept[: 2 if lacking_both else _KEPT_STARTS]]
    if upward:
        return np.stack(places if lacking_both else [*places, 1.0 - places[0]])
    return np.stack([*places[:2], tried[0]])


def _first_search(
    mean: ObservedDraws, factor: float, start: FloatArray, *, upward: bool
) -> tuple[float, NDArray[np.float64]]:
    """What is found from one start: with jumps, and ties that become narrower to their final range."""
    limit = np.full(1, np.nan)
    if not mean.neither.any():
        value, place = _searched(mean, factor, limit, start, upward=upward, jumps=_JUMPS)
        return float(value[0]), place[0]
    _, place = _searched(mean, factor, limit, start, upward=upward, jumps=_JUMPS, ties=_FIRST_TIES)
    ties = slice(2 * mean.seen.shape[1], None)
    place[:, ties] = _MIDDLE + (place[:, ties] - _MIDDLE) * (math.log(_FIRST_TIES) / math.log(_TIES))
    value, place = _searched(mean, factor, limit, np.clip(place, 0.0, 1.0), upward=upward, jumps=_JUMPS)
    return float(value[0]), place[0]


def least_of(drawn: ObservedDraws, factor: float, starts: Starts, limit: FloatArray | None = None) -> FloatArray:
    """The least I of each draw; with a limit, only whether it is above the limit is known."""
    limit = np.full(drawn.size, np.nan) if limit is None else limit
    if _is_searched(drawn, factor):
        return _searched(drawn, factor, limit, starts, upward=False)[0]
    if drawn.both_missing:
        return _whatever_is_missing(drawn, upward=False)
    found = np.empty(drawn.size)
    least(*drawn.probabilities, factor, limit, found)
    return found


def largest_of(drawn: ObservedDraws, factor: float, starts: Starts, limit: FloatArray | None = None) -> FloatArray:
    """The largest I of each draw; with a limit, only whether it is above the limit is known."""
    limit = np.full(drawn.size, np.nan) if limit is None else limit
    if _is_searched(drawn, factor):
        if not drawn.neither.any():
            return _searched(drawn, factor, limit, starts, upward=True, jumps=_JUMPS)[0]
        limit = drawn.centre_information + (limit - drawn.centre_information) / _RAISED
        found, _ = _searched(drawn, factor, limit, starts, upward=True)
        raised = drawn.centre_information + _RAISED * np.maximum(found - drawn.centre_information, 0.0)
        return np.minimum(raised, math.log(min(drawn.seen.shape[1:])))
    if drawn.both_missing:
        return _whatever_is_missing(drawn, upward=True)
    return _at_vertices(drawn, factor, limit, starts)[0]


def _whatever_is_missing(drawn: ObservedDraws, *, upward: bool) -> FloatArray:
    """Bounds of I at an infinite factor."""
    limit, found = np.full(drawn.size, np.nan), np.empty(drawn.size)
    if upward:
        found = _at_vertices(drawn, math.inf, limit, _patterns(drawn.mean(), math.inf))[0]
    else:
        least(*drawn.probabilities, math.inf, limit, found)
    share = drawn.neither / (1.0 + drawn.neither)
    safe = np.clip(share, 1e-300, 1.0)
    entropy = -safe * np.log(safe) - (1.0 - share) * np.log1p(-share)
    upper = math.log(min(drawn.seen.shape[1:]))
    if upward:
        return np.minimum((1.0 - share) * found + share * upper + entropy, upper)
    return np.maximum((1.0 - share) * found - entropy, 0.0)


def _is_searched(drawn: ObservedDraws, factor: float) -> bool:
    """Whether the search in the box finds the bounds."""
    few = drawn.seen[0].size <= _MANY_CELLS if drawn.size else False
    return drawn.both_missing and few and (factor < _ANY or bool(drawn.neither.any()))


def _searched(
    drawn: ObservedDraws,
    factor: float,
    limit: FloatArray,
    starts: Starts,
    *,
    upward: bool,
    jumps: int = 0,
    ties: float = _TIES,
) -> tuple[FloatArray, FloatArray]:
    """What the search in the box finds from these starts, and where; at any factor, if it finds nothing."""
    found, best = np.empty(drawn.size), np.zeros((drawn.size, 3 * drawn.seen.shape[1], drawn.seen.shape[2]))
    factor = min(factor, _ANY)
    search(*drawn.probabilities, drawn.neither, factor, ties, upward, jumps, limit, starts, found, best)
    lost = ~np.isfinite(found)
    if lost.any():
        found[lost] = _whatever_is_missing(drawn.of(lost), upward=upward)
    return found, best


def _at_vertices(
    drawn: ObservedDraws, factor: float, limit: FloatArray, starts: Starts
) -> tuple[FloatArray, NDArray[np.uint8]]:
    """What the search among vertices finds from these starts, and which vertices."""
    found, best = np.empty(drawn.size), np.zeros((drawn.size, *starts.shape[1:]), dtype=np.uint8)
    largest(*drawn.probabilities, factor, limit, starts, found, best)
    return found, best


def _patterns(mean: ObservedDraws, factor: float) -> NDArray[np.uint8]:
    """The best pattern of high and low cells for the mean of the draws, and its opposite."""
    r, s = mean.seen.shape[1:]
    starts = np.random.default_rng(20).integers(0, 2, (_START_PATTERNS, 2 * r, s)).astype(np.uint8)
    _, best = _at_vertices(mean, factor, np.full(1, np.nan), starts)
    return np.concatenate([best, 1 - best])
