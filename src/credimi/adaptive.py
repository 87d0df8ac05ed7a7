"""The prior "adaptive": how far from independence the chances are is learned from the table itself.

A fixed pseudo-count in every cell says that strong dependence is as likely as any; few rows then look informative, by
(r - 1)(s - 1)/2N nats, whatever the truth. Here the prior is a mixture. Around independent chances a_i b_j,

    pi ~ Dirichlet(K a_i b_j),          K from loose (dependence of any strength) to tight (hardly any),

with K on a grid of `GRID` values, evenly spaced in log K from rs/2 (half a pseudo-count a cell on average) to
10 N min(r, s), and equal weights; and with probability `P_ZERO` = 1/2 exact independence, the limit of K, an atom at
I = 0. a and b are the margins: all rows that have the class, or the value, plus half a count each.

**The weights** are those of the counts n_ij given their margins. A multinomial with a Dirichlet(alpha) prior has the
evidence

    L(n; alpha) = log [Gamma(A)/Gamma(A + n)] + sum log [Gamma(alpha + n)/Gamma(alpha)],      A, n the sums,

and relative to independence the table has log B_K = L(n_ij; K a_i b_j) - L(n_i+; K a_i) - L(n_+j; K b_j): the evidence
of the whole less that of its margins, which say nothing about dependence, and from which a and b were learned already.
It is symmetric in target and feature and tends to 0 as K grows. Rows in which one of the two is missing inform about
one margin, hence through a and b.

**The components** are posteriors as with fixed pseudo-counts, of the counts n_ij + K a_i b_j with the same margins: for
all patterns of missingness the moments of `information` apply as they are. Components of less than `NEGLIGIBLE` weight
are left out, which for most tables leaves two to seven. O(rs GRID) for the weights, and that many times the moments.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from credimi.information import Blocks, moments

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]
    IntegerArray = NDArray[np.int64]

GRID = 12
P_ZERO = 0.5
NEGLIGIBLE = 1e-4
_SMOOTHING = 0.5
_SPARSE = 0.3  # as in kernels.two_sided
_CELLS_AT_ONCE = 4_000_000


@dataclass(frozen=True, slots=True, eq=False)
class Mixtures:
    """Of each table the weight of independence, and all components in any order: their table, weight and block."""

    p_zero: FloatArray
    table: IntegerArray
    weight: FloatArray
    blocks: Blocks


@dataclass(frozen=True, slots=True, eq=False)
class Components:
    """The components of many tables with their moments."""

    p_zero: FloatArray
    table: IntegerArray
    weight: FloatArray
    mean: FloatArray
    variance: FloatArray


def components(blocks: Blocks, *, matched: bool = True, threads: int | None = None) -> Components:
    """Weights and moments of every table's components."""
    mixed = mixtures(blocks)
    found = moments(mixed.blocks, 0.0, matched=matched, threads=threads)
    upper = np.log(np.minimum(mixed.blocks.rows, mixed.blocks.columns))
    return Components(mixed.p_zero, mixed.table, mixed.weight, np.minimum(found.mean, upper), found.variance)


def mixtures(blocks: Blocks) -> Mixtures:
    """The weights of every table, and the counts with pseudo-counts of its components."""
    count = blocks.rows.size
    p_zero = np.ones(count)
    table: list[IntegerArray] = []
    weight: list[FloatArray] = []
    flat: list[FloatArray] = []
    for rows, columns in sorted({*zip(blocks.rows.tolist(), blocks.columns.tolist(), strict=True)}):
        if min(rows, columns) < 2:
            continue  # nothing can depend: independent for sure
        members = np.flatnonzero((blocks.rows == rows) & (blocks.columns == columns))
        step = max(1, _CELLS_AT_ONCE // (GRID * rows * columns))
        for start in range(0, members.size, step):
            part = members[start : start + step]
            size = (rows + 1) * (columns + 1)
            own = blocks.flat[blocks.offsets[part][:, None] + np.arange(size)].reshape(-1, rows + 1, columns + 1)
            zero, shares, pseudo = _weigh(own.astype(np.float64))
            p_zero[part] = zero
            which, point = np.nonzero(shares)
            augmented = own[which].astype(np.float64)
            augmented[:, :-1, :-1] += pseudo(which, point)
            _forget_small_margins(augmented)
            table.append(part[which])
            weight.append(shares[which, point])
            flat.append(augmented.ravel())
    owner = np.concatenate([np.zeros(0, dtype=np.int64), *table])
    joined = Blocks(np.concatenate([np.zeros(0), *flat]), blocks.rows[owner], blocks.columns[owner])
    return Mixtures(p_zero, owner, np.concatenate([np.zeros(0), *weight]), joined)


def _weigh(
    blocks: FloatArray,
) -> tuple[FloatArray, FloatArray, Callable[[IntegerArray, IntegerArray], FloatArray]]:
    """Of tables of one shape: the weight of independence, the weights on the grid, and the pseudo-counts there."""
    counts = blocks[:, :-1, :-1]
    rows, columns = counts.shape[1:]
    by_class, by_value = counts.sum(axis=2), counts.sum(axis=1)
    classes = _shares(by_class + blocks[:, :-1, -1])
    values = _shares(by_value + blocks[:, -1, :-1])
    total = counts.sum(axis=(1, 2))
    least, most = np.log(rows * columns / 2.0), np.log(10.0 * min(rows, columns) * np.maximum(total, rows * columns))
    strength = np.exp(least + (most - least)[:, None] * np.arange(GRID) / (GRID - 1.0))  # K, tables x grid
    base = classes[:, :, None] * values[:, None, :]
    evidence = np.empty_like(strength)
    for point in range(GRID):
        scale = strength[:, point, None]
        evidence[:, point] = (
            _log_evidence(counts.reshape(len(counts), -1), scale * base.reshape(len(base), -1))
            - _log_evidence(by_class, scale * classes)
            - _log_evidence(by_value, scale * values)
        )
    scores = np.column_stack([np.full(len(counts), np.log(P_ZERO)), evidence + np.log((1.0 - P_ZERO) / GRID)])
    shares = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    shares[shares < NEGLIGIBLE] = 0.0
    shares /= shares.sum(axis=1, keepdims=True)

    def pseudo(which: IntegerArray, point: IntegerArray) -> FloatArray:
        return np.asarray(strength[which, point][:, None, None] * base[which])

    return shares[:, 0], shares[:, 1:], pseudo


def _forget_small_margins(blocks: FloatArray) -> None:
    """Where both sides miss and many cells are nearly empty, leave out the rows that miss what fewer miss; in place.

    The closed form for both does not hold there (see `kernels.two_sided`), and draws for each component would take
    seconds a table. These rows inform about one margin only, which the prior has learned from them already.
    """
    both = blocks[:, :-1, -1].any(axis=1) & blocks[:, -1, :-1].any(axis=1)
    cells = blocks[:, :-1, :-1]
    sparse = np.where(cells < _SPARSE, cells, 0.0).sum(axis=(1, 2)) > 0.01 * cells.sum(axis=(1, 2))
    fewer = blocks[:, -1, :-1].sum(axis=1) <= blocks[:, :-1, -1].sum(axis=1)
    blocks[both & sparse & fewer, -1, :-1] = 0.0
    blocks[both & sparse & ~fewer, :-1, -1] = 0.0


def _shares(counts: FloatArray) -> FloatArray:
    smooth = counts + _SMOOTHING
    return np.asarray(smooth / smooth.sum(axis=1, keepdims=True))


def _log_evidence(counts: FloatArray, parameters: FloatArray) -> FloatArray:
    """L of the module's docstring, along the last axis."""
    from scipy.special import gammaln  # noqa: PLC0415

    total, sum_of_counts = parameters.sum(axis=1), counts.sum(axis=1)
    ratios = (gammaln(parameters + counts) - gammaln(parameters)).sum(axis=1)
    return np.asarray(gammaln(total) - gammaln(total + sum_of_counts) + ratios)
