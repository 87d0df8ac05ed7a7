"""Tables for which the closed forms of the moments do not hold, and what is used instead: draws from the posterior.

**Thin classes**, if the target is complete: class i has few complete counts c_i. but many rows a_i, most of which lack
the feature (a test ordered only in suspected cases). Then q_i. ~ Dirichlet(c_i.) is hardly known but matters much, and
the posterior of I is not a Beta, not even with the right moments. The same is true of **tables whose both sides have
missing values** if the closed form does not hold (see `inference.moments.two_sided`), and of tables with missing values
that have **almost no complete counts**. The draws are sorted and cut into `PARTS` of equal size, and the posterior is
the mixture of Betas with their moments. It follows the draws, whatever their shape. Their number (8,000 independent
draws, or 4,000 of Gibbs sampling if both sides have missing values) limits the Kolmogorov distance to about 0.01, and
the error of the mean to about 0.01 deviations.

A component of a mixture that has the weight w gets only twice to four times its share of these draws, rounded up to
n/2, n/4, n/8 ..., so that equal components of different mixtures are drawn once. The error of n draws is about
n^(-1/2), and that of the mixture is the root of sum w_k^2/n_k. With n_k >= 2 n w_k it is at most (2n)^(-1/2), less than
if the mixture itself had been drawn. This matters if a class is rare: then each of many columns has several loose
components with thin classes, most of them with a weight of a few per cent. Each part has twenty draws at least.

**Complete tables with almost no counts**, and callers who need no more than two moments: the moments of the draws.

**Thin tables with a fixed pseudo-count**, if the caller asks for the shape of the posterior: see `shapes`. The parts of
the last thousand tables are kept, since wide data have many equal tables.

The draws always have the same seed, and each table is first arranged by its counts: neither the order of rows and
columns matters, nor which of the two is the target.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, groupby, permutations, product
from typing import TYPE_CHECKING, Any

import numpy as np

from credimi.core.table import Table
from credimi.inference.sampling import draw_information

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from credimi.core.types import FloatArray

PARTS = 32
_KEPT = 1_024  # tables whose parts are kept
_FEWEST = 20 * PARTS  # draws, whatever the weight
_MAX_ORDERS = 24


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
    """Mean and variance of draws."""
    if pseudo == 0.0 and not block[:-1, :-1].any():
        return 0.0, 0.0  # no row has both: nothing suggests dependence
    information = _draws(block, pseudo)
    return float(information.mean()), float(information.var())


def drawn_parts(block: NDArray[np.number], pseudo: float, weight: float = 1.0) -> FloatArray:
    """Means and variances of the mixture that follows the draws, (2, parts); `weight` is that in a larger mixture."""
    if pseudo == 0.0:  # classes and values that never occur are not there
        rows, columns = np.flatnonzero(block[:-1].any(axis=1)), np.flatnonzero(block[:, :-1].any(axis=0))
        if min(rows.size, columns.size) == 1:  # I is 0
            return as_betas(np.zeros(PARTS), np.zeros(PARTS), float(np.log(min(block.shape) - 1)))
        block = _in_order(block, rows.tolist(), columns.tolist())
    arranged = Arrangement.of(block).applied(block).astype(np.float64)
    share = 1.0 if weight >= 0.5 else 2.0 ** math.ceil(math.log2(2.0 * max(weight, 1e-9)))
    return _parts_of(arranged.tobytes(), arranged.shape, float(pseudo), share)


@lru_cache(maxsize=_KEPT)
def _parts_of(arranged: bytes, shape: tuple[int, int], pseudo: float, share: float) -> FloatArray:
    """The same for an arranged block."""
    block = np.frombuffer(arranged).reshape(shape)
    information, upper = _draws_of_arranged(block, pseudo, share), float(np.log(min(shape) - 1))
    slices = np.sort(information[: information.size // PARTS * PARTS]).reshape(PARTS, -1)
    parts = as_betas(slices.mean(axis=1), slices.var(axis=1), upper)
    parts.setflags(write=False)
    return parts


def as_betas(mean: FloatArray, variance: FloatArray, upper: float) -> FloatArray:
    """Means and variances, (2, ...), moved so little that they are possible for Betas on [0, upper].

    The least variance is relative to the mean, since I near 0 is as uncertain as it is small; and no sum of parameters
    is above 1e24, where `beta_tails` ends.
    """
    mean = np.clip(mean, 1e-300, upper * (1.0 - 1e-9))
    most = mean * (upper - mean)
    least = np.maximum(1e-9 * mean * np.minimum(mean, upper - mean), 1e-24 * most)
    return np.stack([mean, np.clip(variance, least, (1.0 - 1e-9) * most)])


def _draws(block: NDArray[np.number], pseudo: float) -> FloatArray:
    return _draws_of_arranged(Arrangement.of(block).applied(block), pseudo)


def _draws_of_arranged(block: NDArray[np.number], pseudo: float, share: float = 1.0) -> FloatArray:
    table = Table.of_block(block)
    most = 4_000 if table.misses_feature and table.misses_target else 8_000  # steps of a chain take longer
    size = max(200, min(most, 500 * most // table.joint.size))  # large tables have a narrow posterior
    size = max(min(size, _FEWEST), math.ceil(size * share))
    generator = np.random.default_rng(0)
    return draw_information(table, float(pseudo), size, generator, chains=size // 10, burn_in=60, thin=3).information
