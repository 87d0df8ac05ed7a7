"""What all features together say of dependence: how rare it is, and how strong.

Each posterior starts from even odds that its feature is independent of the target, and from equal weights for every
strength K of dependence (see `adaptive`). One table says little about either; thousands do. Of 5,000 columns of noise a
few look well by chance, and even odds would believe them; and where dependence is never stronger than so much, weights
for more are wasted. The rule fdr lets all features say what the odds are; here they also say what the weights are. The
library does not do this: `discoveries.py` measures why.

The prior of all is s for independence and 1 - s for dependence, of which the knot j has the share pi_j. Knots are a
factor of `_FACTOR` apart in K, and a point of a table's grid between two knots belongs to both, by its distance in
log K (hat functions h_j). The grid of a table with few rows ends at a lesser K than that of one with many; what lies
beyond is independence, for that table: of the knot j the share 1 - r_j. With the weights w_c that a table gives its
components from even odds, and f_j the flat prior's share of the knot j on its grid, the likelihood is, up to a factor,

    p_zero [s + (1 - s) sum_j pi_j (1 - r_j)]  +  (1 - s) sum_j pi_j r_j sum_c w_c h_j(K_c)/f_j.

s and pi are found by EM where the product over all tables times s (1 - s) times prod pi_j^(`_FLAT_COUNTS` f_j) is
largest: few tables hardly move the weights away from flat ones. s is never below 1/2: there is less to fear from too
few. O(tables x knots) a step.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from credimi.inference.evidence import adaptive_prior
from credimi.inference.evidence.adaptive_prior import GRID, LOOSEST, TIGHTEST

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from credimi.core.tables import Tables

    FloatArray = NDArray[np.float64]
    IntegerArray = NDArray[np.int64]

_FACTOR = 4.0  # of K from knot to knot: finer, tables could not tell them apart
FEW_CELLS = 16  # degrees of freedom below which a table's grid has two thirds of the points (kernels.adaptive_weights)
_MIN_INDEPENDENT = 0.5
_FLAT_COUNTS = 2.0
_MAX_STEPS, _SETTLED = 300, 1e-6


def pooled_weights(
    blocks: Tables, heard: NDArray[np.bool_] | None = None, threads: int | None = None
) -> tuple[IntegerArray, FloatArray]:
    """The components of `mixtures`, their tables and weights, from odds and strengths that all say together.

    Parameters
    ----------
    blocks : Blocks
        The tables.
    heard : array of bool, optional
        Which of them have a say. All, unless said.
    threads : int, optional
        All cores, unless said.
    """
    mixture = adaptive_prior.mixtures(blocks, threads=threads)
    complete = _complete(blocks)
    strength = np.maximum(_complete(mixture.blocks) - complete[mixture.table], LOOSEST)
    size = np.maximum(complete, blocks.rows * blocks.columns) * np.minimum(blocks.rows, blocks.columns)
    reach = np.log(np.maximum(TIGHTEST * size / LOOSEST, _FACTOR)) / math.log(_FACTOR)
    knot_position = np.log(strength / LOOSEST) / math.log(_FACTOR)
    has_few_cells = (blocks.rows - 1) * (blocks.columns - 1) < FEW_CELLS
    grids = _Grids(reach, np.where(has_few_cells, GRID * 2 // 3, GRID))
    return mixture.table, learned(mixture.p_zero, mixture.table, mixture.weight, knot_position, grids, heard=heard)


@dataclass(frozen=True, slots=True, eq=False)
class _Grids:
    """For each table the tightest strength on its grid, in knots from the loosest on, and the number of points."""

    reach: FloatArray
    points: IntegerArray

    def shares(self, knots: int) -> tuple[FloatArray, FloatArray]:
        """For each table what the flat prior gives to each knot, f, and how much of the knot is on the grid, r."""
        count = self.reach.size
        flat = np.zeros((count, knots))
        all_tables = np.arange(count)
        for point in range(int(self.points.max())):
            knot_position = self.reach * point / np.maximum(self.points - 1, 1)
            lower, near = _between(knot_position, knots)
            share = np.where(point < self.points, 1.0 / self.points, 0.0)
            flat[all_tables, lower] += share * (1.0 - near)
            flat[all_tables, lower + 1] += share * near
        end = self.reach + 0.5 * self.reach / np.maximum(self.points - 1, 1)  # a point stands for what is around it
        along = np.clip(end[:, np.newaxis] - np.arange(-1, knots - 1), 0.0, 2.0)
        area = np.where(along <= 1.0, 0.5 * along**2, 1.0 - 0.5 * (2.0 - along) ** 2)
        reached = np.where(flat > 0.0, area / area.max(axis=0), 0.0)
        return flat, reached


def learned(
    p_zero: FloatArray,
    table: IntegerArray,
    weight: FloatArray,
    knot_position: FloatArray,
    grids: _Grids,
    *,
    heard: NDArray[np.bool_] | None = None,
) -> FloatArray:
    """The weights of components at `knot_position`, in knots from the loosest on."""
    if not weight.size or (heard is not None and not heard.any()):
        return weight
    knots = math.ceil(grids.reach.max()) + 1
    lower, near = _between(knot_position, knots)
    cell, cells = table * knots + lower, p_zero.size * knots
    mass = np.bincount(cell, weight * (1.0 - near), cells) + np.bincount(cell + 1, weight * near, cells)
    flat, reached = grids.shares(knots)
    scale = np.divide(reached, flat, where=flat > 0.0, out=np.zeros(flat.shape))
    evidence: FloatArray = scale * mass.reshape(-1, knots)
    chosen = np.arange(p_zero.size) if heard is None else np.flatnonzero(heard)
    widest = chosen[np.argmax(grids.reach[chosen])]
    share, strengths = _fitted(p_zero[chosen], evidence[chosen], 1.0 - reached[chosen], flat[widest])
    total = p_zero * (share + (1.0 - share) * (1.0 - reached) @ strengths) + (1.0 - share) * evidence @ strengths
    factor = scale * strengths
    factor_of_component = (1.0 - near) * factor[table, lower] + near * factor[table, lower + 1]
    weights: FloatArray = weight * factor_of_component * ((1.0 - share) / total)[table]
    return weights


def _between(knot_position: FloatArray, knots: int) -> tuple[IntegerArray, FloatArray]:
    """The knot below, and how near the next one is, from 0 to 1."""
    lower = np.minimum(knot_position.astype(np.int64), knots - 2)
    return lower, np.minimum(knot_position - lower, 1.0)


def _fitted(p_zero: FloatArray, evidence: FloatArray, beyond: FloatArray, flat: FloatArray) -> tuple[float, FloatArray]:
    """The share s of independence, and the shares pi of the knots."""
    share, strengths = _MIN_INDEPENDENT, flat
    likelihood = np.ascontiguousarray((evidence + p_zero[:, np.newaxis] * beyond).T)
    # einsum and not @, which would call on all cores for vectors as short as these, and sum in an order of its own
    for _ in range(_MAX_STEPS):
        inverse = 1.0 / (share * p_zero + (1.0 - share) * np.einsum("jk,j->k", likelihood, strengths))
        counts = (1.0 - share) * strengths * np.einsum("jk,k->j", likelihood, inverse) + _FLAT_COUNTS * flat
        before, share = (
            share,
            max(_MIN_INDEPENDENT, (share * float((inverse * p_zero).sum()) + 1.0) / (p_zero.size + 2.0)),
        )
        moved, strengths = strengths, counts / counts.sum()
        if abs(share - before) < _SETTLED and np.abs(strengths - moved).max() < _SETTLED:
            break
    return share, strengths


def _complete(blocks: Tables) -> FloatArray:
    """The sum of the cells of each table, without the missing counts."""
    table = np.repeat(np.arange(blocks.rows.size), (blocks.rows + 1) * (blocks.columns + 1))
    cell = np.arange(table.size) - blocks.offsets[table]
    width = blocks.columns[table] + 1
    is_complete = (cell % width < width - 1) & (cell < blocks.rows[table] * width)
    return np.bincount(table, np.where(is_complete, blocks.flat, 0.0), blocks.rows.size).astype(np.float64)
