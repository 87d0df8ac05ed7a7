"""Tables with a fixed pseudo-count whose I is not distributed like one Beta, and the mixtures that stand for them.

A Beta with the right mean and variance is within a Kolmogorov distance of .05 of the posterior of most tables. In two
cases it may be further away, and a caller who shows the posterior asks for a mixture of `PARTS` Betas instead.

**Thin tables.** If a cell has hardly any count, or is expected to have hardly any, its probability is anything but
normal, and much of I hangs on it: [[53, 1], [7, 0]] is .15 away, and .3 if the pseudo-count is smaller. With c_ij the
complete counts plus pseudo-counts, c_i+ c_+j / c what independence expects, and m and d the mean and the deviation of
I, a table is drawn (see `tables_without_closed_form`) if

    min over cells of min(c_ij, c_i+ c_+j / c) < 2      and      min(m, log min(r, s) - m) < 2.5 d,

that is, if I lies near one of its ends. With a pseudo-count below .4, the limit is 3.5 d, and thin tables with fewer
than 5 (r + s) complete rows are all drawn. Thin tables in which many cells share I stay as they are: a sum of many is
nearly normal.

**2 x 2 tables near independence.** I is nearly the square of a normal variable, however many rows there are: along the
one degree of freedom, I grows with the square of the distance from independence. So I = (mu + sigma z)^2, with

    sigma^2 = m - sqrt(m^2 - d^2/2),      mu^2 = m - sigma^2,

which have mean m and variance 2 sigma^4 + 4 mu^2 sigma^2 = d^2. This needs m > d/sqrt(2), and matters as long as
m < 2.2 d. The law of z is cut into `_BINS` equal parts, whose means of I and of I^2 follow from the moments of z in
them; in the order of I, 16 of them make a part of the mixture. Mean and variance stay exact.

Limits and figures: `studies/thin_tables.py`. Cost: 30 microseconds for a folded table, milliseconds for a drawn one.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from credimi.core.special import normal_quantile
from credimi.inference.moments.tables_without_closed_form import PARTS, as_betas

if TYPE_CHECKING:
    from credimi.core.tables import Tables
    from credimi.core.types import BooleanArray, FloatArray, IntegerArray

_THIN = 2.0  # counts, pseudo-counts included
_NEAR_AN_END, _NEAR_IF_SMALL = 2.5, 3.5  # deviations; the second if the pseudo-count is small
_SMALL_PSEUDO_COUNT = 0.4
_FEW_ROWS_PER_LINE = 5.0  # complete rows for each class and value
_FOLDED_BELOW = 2.2  # deviations
_BINS = 16 * PARTS
_TABLES_AT_ONCE = 1_024


def occupied(blocks: Tables, pseudo: FloatArray) -> IntegerArray:
    """The shape of each table, (2, tables); without pseudo-counts, classes and values that never occur do not count."""
    shapes: IntegerArray = np.stack([blocks.rows, blocks.columns])
    for table in np.flatnonzero(pseudo == 0.0).tolist():
        block = blocks.block(table)
        shapes[:, table] = block[:-1].any(axis=1).sum(), block[:, :-1].any(axis=0).sum()
    return shapes


def thin(
    blocks: Tables, pseudo: FloatArray, mean: FloatArray, variance: FloatArray, lines: IntegerArray
) -> BooleanArray:
    """Mask of the tables with thin cells whose posterior may be unlike a Beta; for `lines` see `occupied`."""
    upper, deviation = np.log(np.maximum(lines.min(axis=0), 1)), np.sqrt(np.maximum(variance, 0.0))
    is_small = pseudo < _SMALL_PSEUDO_COUNT
    near_an_end = np.minimum(mean, upper - mean) < np.where(is_small, _NEAR_IF_SMALL, _NEAR_AN_END) * deviation
    result = np.zeros(mean.size, dtype=np.bool_)
    doubtful = np.flatnonzero((near_an_end | is_small) & (upper > 0.0))
    shapes = np.stack([blocks.rows[doubtful], blocks.columns[doubtful]], axis=1)
    for r, s in np.unique(shapes, axis=0).tolist():
        same = doubtful[(shapes == (r, s)).all(axis=1)]
        for start in range(0, same.size, _TABLES_AT_ONCE):
            tables = same[start : start + _TABLES_AT_ONCE]
            counts = _complete(blocks, tables, r, s)
            few = counts.sum(axis=(1, 2)) < _FEW_ROWS_PER_LINE * lines[:, tables].sum(axis=0)
            cells = counts + pseudo[tables, np.newaxis, np.newaxis]
            total = np.maximum(cells.sum(axis=(1, 2), keepdims=True), np.finfo(np.float64).tiny)
            expected = cells.sum(axis=2, keepdims=True) * (cells.sum(axis=1, keepdims=True) / total)
            least = np.where(expected > 0.0, np.minimum(cells, expected), np.inf)
            has_thin_cell = least.min(axis=(1, 2)) < _THIN
            result[tables] = has_thin_cell & (near_an_end[tables] | (few & is_small[tables]))
    return result


def _complete(blocks: Tables, tables: IntegerArray, r: int, s: int) -> FloatArray:
    """The complete counts of tables of one shape, (tables, r, s)."""
    cells = blocks.offsets[tables][:, np.newaxis] + np.arange((r + 1) * (s + 1))
    counts: FloatArray = blocks.flat[cells].reshape(-1, r + 1, s + 1)[:, :-1, :-1].astype(np.float64)
    return counts


def folded(mean: FloatArray, variance: FloatArray, lines: IntegerArray) -> BooleanArray:
    """Mask of the 2 x 2 tables near independence, in which I is nearly the square of a normal variable."""
    deviation = np.sqrt(np.maximum(variance, 0.0))
    near_independence = (2.0 * mean**2 > variance) & (mean < _FOLDED_BELOW * deviation)
    result: BooleanArray = (lines == 2).all(axis=0) & near_independence
    return result


def folded_parts(mean: FloatArray, variance: FloatArray, upper: float) -> tuple[FloatArray, FloatArray]:
    """Means and variances of the parts of such tables, (tables, parts) each."""
    parts = []
    for start in range(0, mean.size, _TABLES_AT_ONCE):
        chunk = slice(start, start + _TABLES_AT_ONCE)
        parts.append(_folded_parts(mean[chunk], variance[chunk], upper))
    means, variances = np.concatenate(parts, axis=1)
    return means, variances


def _folded_parts(mean: FloatArray, variance: FloatArray, upper: float) -> FloatArray:
    square_of_spread = mean - np.sqrt(np.maximum(mean**2 - 0.5 * variance, 0.0))
    spread = np.sqrt(square_of_spread)[:, np.newaxis]
    centre = np.sqrt(np.maximum(mean - square_of_spread, 0.0))[:, np.newaxis]
    one, two, three, four = _moments_in_bins()
    first = centre**2 + 2.0 * centre * spread * one + spread**2 * two
    second = centre**4 + 4.0 * centre**3 * spread * one + 6.0 * centre**2 * spread**2 * two
    second += 4.0 * centre * spread**3 * three + spread**4 * four
    order = np.argsort(first, axis=1, kind="stable")
    means, squares = (
        np.take_along_axis(each, order, axis=1).reshape(mean.size, PARTS, -1).mean(axis=2) for each in (first, second)
    )
    return as_betas(means, squares - means**2, upper)


@cache
def _moments_in_bins() -> FloatArray:
    """E[z], E[z^2], E[z^3] and E[z^4] in each of the equal parts of a standard normal variable, (4, bins)."""
    inner = normal_quantile(np.arange(1, _BINS) / _BINS)
    density = np.concatenate([[0.0], np.exp(-0.5 * inner**2) / np.sqrt(2.0 * np.pi), [0.0]])
    edges = np.concatenate([[0.0], inner, [0.0]])  # an infinite edge times its density is 0
    below = [density * edges**power for power in range(4)]
    one = -np.diff(below[0]) * _BINS
    two = 1.0 - np.diff(below[1]) * _BINS
    three = 2.0 * one - np.diff(below[2]) * _BINS
    four = 3.0 * two - np.diff(below[3]) * _BINS
    return np.stack([one, two, three, four])
