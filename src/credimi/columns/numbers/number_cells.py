"""A column of numbers as cells: fine ranges in order, over whose segmentations `inference.numbers` takes averages.

Cells are made from the counts of the labels, when all rows are counted. So parts, files and clusters give the same
cells, and numbers that were rounded (see `columns.labels`) are only coarser labels. There are two resolutions, see
`inference.numbers.all_cuts`: quantiles of the complete rows, N/4 of them, `FEWEST` to `CELLS`; and from `FINE_FROM`
rows on N/2 quantiles, with the borders that a greedy tree proposes. The tree looks at `FINE_CELLS` of them; if there
are more, each border is then moved to the best number in the two cells beside it. Equal numbers are never parted.

**Missing values.** Rows that lack the number are missing from their class, and rows that lack the class from their
cell. The probabilities that the paper finds (its fixed point) are, with n_ic the complete rows of class i in cell c,
f_i and u_c the rows that lack one side, and T all of them,

    pi_ic = (n_ic + f_i pi_ic/pi_i+ + u_c pi_ic/pi_+c)/T.

`class_shares` are pi_i+, and the masses of cells pi_+c. If only one side has missing values, these are (n_i+ + f_i)/T
and sum_i pi_i+ n_ic/n_i+; or (n_+c + u_c)/T and sum_c pi_+c n_ic/n_+c. Within a cell, labels share its mass like their
own rows. `lacking` is f_i/(T pi_i+), and `unclassed` u_c/T, summed below each border.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from credimi.core.types import CountArray, FloatArray, IntegerArray

SMOOTHING = 0.5  # of the class shares
FEWEST, CELLS = 8, 64
FINE_FROM, FINE_CELLS = 200.0, 1024
PROPOSED = 40  # borders of the fine cells
_STEPS = 100  # of the fixed point
_TINY = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """The counts of one number in its cells, in one resolution.

    `below` (strata, cells + 1, classes) has the counts of complete rows below each border, from 0 to all; `width`
    (cells + 1) the share of all `count` cells below each border: more than these if only some borders are summed over.
    If values are missing, `mass` (strata, cells + 1) is the share of all rows below each border, `class_shares`
    (strata, classes) those of the classes; `lacking` (strata, classes) and `unclassed` (strata, cells + 1) are as
    above. `stratum_shares` are those of all rows; None: of complete rows. `places` says after how many labels each
    border lies, if the cells are made of labels.
    """

    below: FloatArray
    width: FloatArray
    count: int
    mass: FloatArray | None = None
    class_shares: FloatArray | None = None
    lacking: FloatArray | None = None
    unclassed: FloatArray | None = None
    stratum_shares: FloatArray | None = None
    places: IntegerArray | None = None

    @property
    def rows(self) -> FloatArray:
        """The complete rows of each stratum."""
        rows: FloatArray = self.below[:, -1].sum(axis=1)
        return rows

    def shares(self) -> FloatArray:
        """What kernels need to know of the classes (4, strata, classes): see `all_cuts_kernels.weigh_cuts`."""
        totals, rows = self.below[:, -1], self.rows
        complete = (totals + SMOOTHING) / (rows + SMOOTHING * totals.shape[1])[:, np.newaxis]
        seen = complete if self.class_shares is None else self.class_shares
        lacking = np.zeros_like(complete) if self.lacking is None else self.lacking
        of_strata = rows / rows.sum() if self.stratum_shares is None else self.stratum_shares
        shares: FloatArray = np.stack(
            [complete, seen, lacking, np.broadcast_to(of_strata[:, np.newaxis], totals.shape)]
        )
        return shares

    def masses(self) -> FloatArray:
        """The share of the rows below each border."""
        if self.mass is not None:
            return self.mass
        masses: FloatArray = (self.below.sum(axis=2) + self.width) / (self.rows + 1.0)[:, np.newaxis]
        return masses

    def times(self, factor: float) -> Cells:
        """The same cells with so many times the rows."""
        return replace(self, below=self.below * factor)


@dataclass(frozen=True, slots=True, eq=False)
class TargetCells:
    """A column beside a target that is a number: (cells of the target + 1) x (values + 1), the missing last.

    `is_number` says whether the values are in order; otherwise they are categories.
    """

    block: CountArray
    is_number: bool


@dataclass(frozen=True, slots=True, eq=False)
class AveragedCuts:
    """What is known of a number when no cut was chosen.

    `components` (3, size) are the log evidence of each component relative to independence, prior weight included, and
    mean and variance of I. `probabilities` are those of a cut near each of the cuts of the most probable segmentation;
    None if the ranges are quarters.
    If the target is a number, too, `of_target` has the counts from which the components come.
    """

    cells: tuple[Cells, ...]
    components: FloatArray
    probabilities: tuple[float, ...] | None
    of_target: TargetCells | None = None

    @property
    def log_odds(self) -> float:
        """The log Bayes factor of dependence, averaged over all cuts."""
        return float(np.logaddexp.reduce(self.components[0]))


def cells_of_labels(
    block: CountArray, propose: Callable[[FloatArray, IntegerArray, int], IntegerArray], *, proposed: int = PROPOSED
) -> tuple[Cells, ...]:
    """The cells of one column in each resolution, coarse first; none if its complete rows have one value only.

    `block` is (classes + 1) x (labels + 1) with missing values last, and labels in order; `propose` is
    `propose_borders.proposed_places`.
    """
    counts = np.asarray(block, dtype=np.float64)
    complete = counts[:-1, :-1]
    below = np.zeros((complete.shape[1] + 1, complete.shape[0]))
    np.cumsum(complete.T, axis=0, out=below[1:])
    total_below = below.sum(axis=1)
    rows = float(total_below[-1])
    if not rows > 0.0:
        return ()
    wanted = int(min(CELLS, max(FEWEST, 2.0 ** round(np.log2(rows) - 2.0))))
    coarse = quantile_places(total_below, wanted)
    if coarse.size < 3:
        return ()
    missing = _Missing.of(counts, below, coarse)
    found = [_resolution(below, coarse, np.linspace(0.0, 1.0, coarse.size), coarse.size - 1, missing)]
    fine = quantile_places(total_below, int(min(FINE_CELLS, rows / 2.0))) if rows >= FINE_FROM else coarse
    if fine.size > coarse.size:
        kept = np.unique(np.concatenate([[0], propose(below, fine, proposed), coarse[4:-1:4], [fine[-1]]]))
        count = fine.size - 1 if fine.size <= FINE_CELLS else int(rows / 2.0)
        count = min(count, int(np.count_nonzero(np.diff(total_below))))
        found.append(_resolution(below, kept, total_below[kept] / rows, count, missing))
    return tuple(found)


def quantile_places(total_below: FloatArray, cells: int) -> IntegerArray:
    """After how many labels each border lies, from 0 to all: the nearest to each quantile, and none between no rows."""
    inner = total_below[1:-1]
    quantiles = total_below[-1] * np.arange(1, cells) / cells
    if not inner.size:
        return np.array([0, total_below.size - 1])
    upper = np.minimum(np.searchsorted(inner, quantiles), inner.size - 1)
    lower = np.maximum(upper - 1, 0)
    nearest = np.where(quantiles - inner[lower] <= inner[upper] - quantiles, lower, upper) + 1
    # A border after labels without complete rows is the border before them.
    nearest = np.searchsorted(total_below, total_below[nearest])
    places = np.unique(nearest)
    places = places[(total_below[places] > 0.0) & (total_below[places] < total_below[-1])]
    return np.concatenate([[0], places, [total_below.size - 1]])


@dataclass(frozen=True, slots=True, eq=False)
class _Missing:
    """What rows that lack one side tell: the share of all rows below each label, and about the classes."""

    mass_below: FloatArray
    unclassed_below: FloatArray
    class_shares: FloatArray
    lacking: FloatArray

    @classmethod
    def of(cls, counts: FloatArray, below: FloatArray, places: IntegerArray) -> _Missing | None:
        """None if nothing is missing; `places` are those of the coarse cells."""
        lacks_number, lacks_class = counts[:-1, -1], counts[-1, :-1]
        if not (lacks_number.any() or lacks_class.any()):
            return None
        starts = places[:-1]
        cells = np.diff(below[places], axis=0)  # (cells, classes)
        unclassed = np.add.reduceat(lacks_class, starts)
        total = cells.sum() + lacks_number.sum() + unclassed.sum()
        chances = _fixed_point(cells, lacks_number, unclassed)
        class_shares = chances.sum(axis=0) + SMOOTHING / total
        class_shares /= class_shares.sum()
        lacking = lacks_number / (total * class_shares)
        of_labels = counts[:-1, :-1].T @ (1.0 / np.maximum(1.0 - lacking, _TINY)) + lacks_class
        in_cells = np.add.reduceat(of_labels, starts)
        of_labels *= np.repeat(chances.sum(axis=1) / np.maximum(in_cells, _TINY), np.diff(places))
        mass_below = np.concatenate([[0.0], np.cumsum(of_labels)])
        unclassed_below = np.concatenate([[0.0], np.cumsum(lacks_class)]) / total
        return cls(mass_below, unclassed_below, class_shares, lacking)


def _fixed_point(cells: FloatArray, lacks_number: FloatArray, unclassed: FloatArray) -> FloatArray:
    """pi (cells, classes) of the module's docstring."""
    total = cells.sum() + lacks_number.sum() + unclassed.sum()
    chances = cells + 0.5 * cells.sum(axis=0) / cells.sum()  # interior
    chances /= chances.sum()
    for _ in range(_STEPS):
        of_class, of_cell = chances.sum(axis=0), chances.sum(axis=1, keepdims=True)
        filled = cells + lacks_number * chances / np.maximum(of_class, _TINY)
        following = (filled + unclassed[:, np.newaxis] * chances / np.maximum(of_cell, _TINY)) / total
        change = float(np.abs(following - chances).max())
        chances = following
        if change < _TINY:
            break
    result: FloatArray = chances
    return result


def _resolution(
    below: FloatArray, places: IntegerArray, width: FloatArray, count: int, missing: _Missing | None
) -> Cells:
    """The cells between these places; `width` is the share of all `count` cells below each."""
    cells = Cells(np.ascontiguousarray(below[np.newaxis, places]), width, count, places=places)
    if missing is None:
        return cells
    rows = float(below[-1].sum())
    mass = (missing.mass_below[places] / missing.mass_below[-1] * rows + width) / (rows + 1.0)
    return replace(
        cells,
        mass=mass[np.newaxis],
        class_shares=missing.class_shares[np.newaxis],
        lacking=missing.lacking[np.newaxis],
        unclassed=missing.unclassed_below[np.newaxis, places],
    )
