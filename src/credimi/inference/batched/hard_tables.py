"""Tables for which the closed forms of the moments do not hold, and what is used instead.

**Almost no counts**: moments of draws, always with the same seed.

**Both sides have missing values**, and the closed form does not hold (see `kernels.moments.two_sided`): no Beta does.
The draws are sorted and cut into `PARTS` of equal size, and the posterior is the mixture of Betas with their moments.

**Thin classes**, if the target is complete: class i has few complete counts c_i. but many rows a_i, most of which lack
the feature (a test ordered only in suspected cases). Then q_i. ~ Dirichlet(c_i.) is hardly known but matters much, and
the posterior of I is not a Beta, not even with the right moments. For a known q_i. it is. So the posterior is
approximated by a mixture over `_NODES` values of q_i. (all thin classes together) of equal weight, each a table in
which class i has exactly that q_i. and still the weight a_i. A Dirichlet with parameters `_SURE` q_i. is practically
exact, and a margin a_i - `_SURE` gives the class its weight; the moments of `kernels.moments.one_sided` apply to it.
Parts with nearly the same mean are joined: `PARTS` remain.

The values of q_i. are quantiles: of a Beta if the feature has two values, otherwise of independent Gammas, of which
q_i. are the shares. The quantiles are taken at the points of an evenly spread sequence: with g the positive root of
g^(d + 1) = g + 1, the k-th point is the fractional part of 1/2 + k (g^-1, ..., g^-d).

The result does not depend on the order of the rows or columns: each table is first sorted.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass
from itertools import chain, groupby, permutations, product
from typing import TYPE_CHECKING, Any

import numpy as np

from credimi.core.special import digamma, trigamma
from credimi.core.table import Table
from credimi.inference.distributions.beta_tails import Betas, shares_of
from credimi.inference.distributions.gamma_tails import gamma_quantile
from credimi.inference.sampling import draw_information
from credimi.kernels.moments.one_sided import THIN_COUNTS, THIN_COUPLING, THIN_SHARE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from credimi.core.types import FloatArray, IntegerArray

PARTS = 32
_NODES = 16 * PARTS
_SURE = 1e8
_MAX_ORDERS = 24
_LEAST_SHARE = 1e-15  # of a value in q_i.: a cell without any count would drop out


@dataclass(frozen=True, slots=True)
class Arrangement:
    """An order of rows and columns, and whether target and feature are exchanged; margins stay last."""

    turned: bool
    rows: list[int]
    columns: list[int]

    @classmethod
    def of(cls, block: NDArray[np.number]) -> Arrangement:
        """The arrangement that makes equal tables equal, whatever their order, and whichever side is the target."""
        both = [cls(turned, *_own_order(block.T if turned else block)) for turned in (False, True)]
        return min(both, key=lambda each: (len(each.rows), each.applied(block).tolist()))

    def applied(self, block: NDArray[np.number]) -> NDArray[np.number]:
        """The block, or another of the same rows and columns, in this arrangement."""
        return _in_order(block.T if self.turned else block, self.rows, self.columns)


def in_own_order(block: NDArray[np.number]) -> NDArray[np.number]:
    """The block with rows and columns sorted by their counts, so that their original order does not matter."""
    return _in_order(block, *_own_order(block))


def _in_order(block: NDArray[np.number], rows: list[int], columns: list[int]) -> NDArray[np.number]:
    return block[np.ix_([*rows, -1], [*columns, -1])]


def _own_order(block: NDArray[np.number]) -> tuple[list[int], list[int]]:
    """The order of rows and columns, by their counts.

    Rows and columns that nothing tells apart may come in several orders. All orders of the side that has fewer of them
    are tried, the other side is sorted for each, and the least block is taken. Only if both sides have more than
    `_MAX_ORDERS`, the original order decides.
    """
    row_ranks, column_ranks = _ranks(block)
    rows, columns = _bundled(row_ranks, block[:-1]), _bundled(column_ranks, block.T[:-1])
    if _orders(columns) < _orders(rows):
        column_order, row_order = _least(block.T, columns, row_ranks)
        return row_order, column_order
    return _least(block, rows, column_ranks)


def _ranks(block: NDArray[np.number]) -> tuple[list[int], list[int]]:
    """The place of each row, and of each column, among its like: by its counts, then by the places these stand at."""
    rows, columns = _placed(block[:-1, -1].tolist()), _placed(block[-1, :-1].tolist())
    lines, across = block[:-1, :-1].tolist(), block[:-1, :-1].T.tolist()
    while True:
        before = max(rows), max(columns)
        rows = _placed([(old, sorted(zip(line, columns, strict=True))) for old, line in zip(rows, lines, strict=True)])
        columns = _placed(
            [(old, sorted(zip(each, rows, strict=True))) for old, each in zip(columns, across, strict=True)]
        )
        if (max(rows), max(columns)) == before:
            return rows, columns


def _placed(keys: list[Any]) -> list[int]:
    ordered = [key for key, _ in groupby(sorted(keys))]
    return [bisect_left(ordered, key) for key in keys]


def _bundled(ranks: list[int], lines: NDArray[np.number]) -> list[list[list[int]]]:
    """Lines of the same rank together, and among them those that are equal: their order does not matter."""
    found = []
    for _, same in groupby(sorted(range(len(ranks)), key=ranks.__getitem__), key=ranks.__getitem__):
        bundles: dict[tuple[float, ...], list[int]] = {}
        for line in same:
            bundles.setdefault(tuple(lines[line].tolist()), []).append(line)
        found.append(list(bundles.values()))
    return found


def _orders(alike: list[list[list[int]]]) -> int:
    return math.prod(math.factorial(len(bundles)) for bundles in alike)


def _least(
    block: NDArray[np.number], alike: list[list[list[int]]], column_ranks: list[int]
) -> tuple[list[int], list[int]]:
    """Rows and columns of the least block of all orders of its rows; the columns are sorted for each."""
    if _orders(alike) > _MAX_ORDERS:
        orders = [list(chain(*chain(*alike)))]
    else:
        orders = [list(chain(*chain(*order))) for order in product(*map(permutations, alike))]

    def with_columns(rows: list[int]) -> tuple[list[int], list[int]]:
        return rows, sorted(range(len(column_ranks)), key=lambda j: (column_ranks[j], block[rows, j].tolist()))

    return min(map(with_columns, orders), key=lambda order: _in_order(block, *order).tolist())


def drawn_moments(block: NDArray[np.number], pseudo: float) -> tuple[float, float]:
    """Mean and variance of up to 4,000 draws."""
    if pseudo == 0.0 and not block[:-1, :-1].any():
        return 0.0, 0.0  # no row has both: nothing suggests dependence
    information = _draws(block, pseudo)
    return float(information.mean()), float(information.var())


def drawn_parts(block: NDArray[np.number], pseudo: float) -> FloatArray:
    """Means and variances of the mixture that replaces a table whose both sides have missing values."""
    information, upper = _draws(block, pseudo), float(np.log(min(block.shape) - 1))
    parts = np.sort(information[: information.size // PARTS * PARTS]).reshape(PARTS, -1)
    mean = np.clip(parts.mean(axis=1), 1e-300, upper * (1.0 - 1e-9))
    return np.stack([mean, np.maximum(parts.var(axis=1), 1e-9 * mean * (upper - mean))])


def _draws(block: NDArray[np.number], pseudo: float) -> FloatArray:
    table = Table.of_block(Arrangement.of(block).applied(block))
    generator = np.random.default_rng(0)
    size = max(200, min(4000, 2_000_000 // table.joint.size))  # large tables have a narrow posterior: fewer are enough
    return draw_information(table, float(pseudo), size, generator, chains=size // 10, burn_in=60, thin=3).information


def split_thin_classes(block: NDArray[np.number], pseudo: float) -> FloatArray:
    """The mixture that replaces a table with a thin class: many blocks of equal weight, pseudo-counts included.

    Some rows of the block lack the feature. If none do and some lack the target, the block is transposed.
    """
    ordered = in_own_order(block.T if block[-1, :-1].any() else block).astype(np.float64)
    cells, margin = ordered[:-1, :-1] + pseudo, ordered[:-1, -1]
    thin = _thin_classes(cells, margin)
    columns = cells.shape[1]
    points = _spread_points(_NODES, thin.size * (1 if columns == 2 else columns))
    nodes = np.zeros((_NODES, cells.shape[0] + 1, columns + 1))
    nodes[:, :-1, :-1], nodes[:, :-1, -1] = cells, margin
    for number, i in enumerate(thin.tolist()):
        seen = cells[i] > 0.0  # a cell without any count or pseudo-count has probability 0
        if columns == 2 and seen.all():
            one, other, at = float(cells[i, 0]), float(cells[i, 1]), points[:, number]
            log_odds = Betas.of(one, other).quantile(np.ones(1), at, upper_tail=False)
            shares = np.stack(shares_of(log_odds), axis=1)
        else:
            size = points.shape[1] // thin.size
            at = np.broadcast_to(points[:, number * size : (number + 1) * size], (_NODES, columns))
            shares = np.where(seen, gamma_quantile(np.where(seen, cells[i], 1.0), at), 0.0)
        shares = shares / np.maximum(shares.sum(axis=1, keepdims=True), 1e-300)
        sure = np.where(seen, _SURE * np.maximum(shares, _LEAST_SHARE), 0.0)
        nodes[:, i, :-1], nodes[:, i, -1] = sure, cells[i].sum() + margin[i] - sure.sum(axis=1)
    return nodes


def _thin_classes(cells: FloatArray, margin: FloatArray) -> IntegerArray:
    """The classes for which `kernels.moments.one_sided` reported the table as thin, by the same criteria."""
    counts = cells.sum(axis=1)
    filled = counts > 0.0
    cells, counts = np.where(filled[:, None], cells, 1.0), np.where(filled, counts, 1.0)
    rows = counts + margin
    total = rows[filled].sum()
    weight = rows / total
    shares = cells / counts[:, None]
    value = (weight[filled, None] * shares[filled]).sum(axis=0)
    seen = cells > 0.0
    level = digamma(cells + 1.0) - digamma(counts + 1.0)[:, None]
    level = np.where(seen, level - np.log(np.where(value > 0.0, value, 1.0)), 0.0)
    deviation = level - (shares * level).sum(axis=1, keepdims=True)
    spread = (cells * deviation**2).sum(axis=1) + _log_spread(cells).sum(axis=1) - _log_spread(counts)
    variance = weight * (total * weight + 1.0) / (total + 1.0) * spread / (counts * (counts + 1.0))
    coupling = weight * margin / ((total + 1.0) * (counts + 1.0))
    doubtful = filled & ((counts < THIN_COUNTS) | (rows >= 2.0 * counts))
    most = variance[doubtful].max(initial=0.0)
    return np.flatnonzero(filled & ((coupling > THIN_COUPLING) | (doubtful & (variance >= THIN_SHARE * most))))


def _log_spread(c: FloatArray) -> FloatArray:
    spread: FloatArray = c * (c + 1.0) * trigamma(c + 1.0) - c
    return spread


def _spread_points(count: int, dimensions: int) -> FloatArray:
    """Points that fill the unit cube evenly; in one dimension the midpoints of equal parts."""
    if dimensions == 1:
        return ((np.arange(count) + 0.5) / count)[:, np.newaxis]
    root = 2.0
    for _ in range(64):
        root = (1.0 + root) ** (1.0 / (dimensions + 1.0))
    steps = root ** -np.arange(1.0, dimensions + 1.0)
    points: FloatArray = (0.5 + np.arange(1.0, count + 1.0)[:, np.newaxis] * steps) % 1.0
    return points
