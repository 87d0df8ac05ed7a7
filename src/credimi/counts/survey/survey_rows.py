"""How many rows a table of survey weights is worth: each table has a number of its own.

Weights that say "this row stands for w people" are no counts: their sum W shows how they were scaled. Equal weights
would be worth their rows. Unequal ones are worth fewer or more, and how many depends on the question: the rows that
decide it may have larger weights than others. So a table has the number of rows n with which the posterior of I has the
variance that I has in such samples. Beside the sums W of the weights this takes the sums Q of their squares, in each
cell and margin. `counts.survey.one_sided` derives two numbers from them, with T all weights of the table:

    n_linear = T sum(W psi^2) / sum(Q psi^2)    where target and feature depend: the sandwich variance of I
    n_null   = T sum(W k) / sum(Q k)            near independence: the mean of I (Rao and Scott, first order)

n has the sum of both variances of I, of first and of second order:

    A/n + D/(2 n^2) = A/n_linear + D/(2 n_null^2),    A = max(0, sum(W psi^2)/T - D/n_null)

with D = (r - 1)(s - 1) where no value is missing, and otherwise D = K^2/((r - 1)(s - 1)), where K is the mean of 2 n I
near independence. The table, margins included, is multiplied by n/T.

**Whole numbers of repeated rows** have Q = W, so n = T exactly. Multiplying all weights by a number changes no n.

**Strata.** I given a third column is the mean over strata z of their I_z, with weights T_z/T. A row of stratum z then
has psi + I_z - I, its k is divided by T_z, and D and A are those of the sums; all strata of a candidate get one n, so
that their shares remain.

What weights cannot say is which rows were drawn together: rows of one cluster are taken for independent ones.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from credimi.core.tables import Tables

if TYPE_CHECKING:
    from collections.abc import Sequence

    from credimi.core.types import BooleanArray, FloatArray, IntegerArray

_SMALLEST = 1e-300


def own_rows(tables: Tables, squares: FloatArray, starts: IntegerArray | None = None) -> tuple[FloatArray, FloatArray]:
    """The number of rows of each table, and its weights T; `squares` are the sums of squared weights, cell by cell.

    With `starts`, the tables from each start up to the next are strata of one candidate, which have one number.
    """
    from credimi.counts.survey import one_sided  # noqa: PLC0415  (loads compiled code)

    sums = _sums(tables, squares)
    if starts is None:
        starts = np.arange(tables.rows.size + 1)
    candidates = starts.size - 1
    candidate = np.repeat(np.arange(candidates), np.diff(starts))

    def total(figures: FloatArray) -> FloatArray:
        return np.bincount(candidate, figures, minlength=candidates).astype(np.float64)

    weights, information = sums[:, one_sided.TOTAL], sums[:, one_sided.INFORMATION]
    all_weights = np.maximum(total(weights), _SMALLEST)
    between = information - (total(weights * information) / all_weights)[candidate]
    linear = total(sums[:, one_sided.WEIGHTS] + weights * between**2)
    once, only = sums[:, one_sided.SQUARES_ONCE], sums[:, one_sided.SQUARES_ONLY]
    linear_squares = total(sums[:, one_sided.SQUARES] + 2.0 * between * once + between**2 * only)
    null, null_squares = total(sums[:, one_sided.NULL_WEIGHTS]), total(sums[:, one_sided.NULL_SQUARES])
    freedom, inflated = total(sums[:, one_sided.FREEDOM]), total(sums[:, one_sided.INFLATED])
    second = inflated**2 / np.maximum(freedom, 1.0)
    kish = all_weights**2 / np.maximum(total(only), _SMALLEST)
    n_linear = np.where(linear_squares > 0.0, all_weights * linear / np.maximum(linear_squares, _SMALLEST), kish)
    n_null = np.where(null_squares > 0.0, all_weights * null / np.maximum(null_squares, _SMALLEST), kish)
    with np.errstate(divide="ignore", invalid="ignore"):  # tables without rows; Kish's number where nothing can depend
        first = np.maximum(linear / all_weights - second / n_null, 0.0)
        variance = np.where(first > 0.0, first / n_linear, 0.0) + second / (2.0 * n_null**2)
        rows = (first + np.sqrt(first**2 + 2.0 * second * variance)) / (2.0 * variance)
    own: FloatArray = np.where(np.isfinite(rows) & (rows > 0.0), rows, kish)
    return own, all_weights


def scaled(tables: Tables, squares: FloatArray, starts: IntegerArray | None = None) -> Tables:
    """The same tables, each multiplied so that its sum is its number of rows."""
    if not tables.rows.size:
        return tables
    rows, weights = own_rows(tables, squares, starts)
    factors = rows / weights
    if starts is not None:
        factors = np.repeat(factors, np.diff(starts))
    return replace(tables, flat=tables.flat * np.repeat(factors, (tables.rows + 1) * (tables.columns + 1)))


def scaled_blocks(blocks: Sequence[FloatArray], squares: Sequence[FloatArray | None]) -> list[FloatArray]:
    """The same for single blocks; those without squares stay as they are."""
    chosen = [index for index, block_squares in enumerate(squares) if block_squares is not None]
    result = list(blocks)
    if chosen:
        tables = Tables.of([np.asarray(blocks[index], dtype=np.float64) for index in chosen])
        flat = np.concatenate([block.ravel() for block in squares if block is not None])
        whole = scaled(tables, flat)
        for number, index in enumerate(chosen):
            result[index] = whole.block(number).astype(np.float64)
    return result


def _sums(tables: Tables, squares: FloatArray) -> FloatArray:
    """The figures of all tables (see `counts.survey.one_sided`)."""
    from credimi.core import table_patterns  # noqa: PLC0415  (loads compiled code)
    from credimi.counts.survey import one_sided, two_sided  # noqa: PLC0415  (loads compiled code)

    flat, squares = (np.ascontiguousarray(cells, dtype=np.float64) for cells in (tables.flat, squares))
    rows, columns = (np.ascontiguousarray(sizes, dtype=np.int64) for sizes in (tables.rows, tables.columns))
    layout = flat, tables.offsets, rows, columns
    pattern, complete = np.empty(rows.size, dtype=np.int8), np.empty(rows.size)
    table_patterns.classify(*layout, pattern, complete)
    both = (pattern == table_patterns.BOTH) & (complete > 0.0)
    figures = np.zeros((rows.size, one_sided.FIGURES))

    def sizes(chosen: BooleanArray) -> tuple[int, int]:
        return int((rows * columns)[chosen].max(initial=0)), int((rows + columns)[chosen].max(initial=0))

    work = np.empty((3, sizes(~both)[1]))
    one_sided.one_sided_sums(*layout, squares, np.flatnonzero(~both), work, figures)
    if both.any():
        cells, margins = sizes(both)
        work = np.empty((two_sided.LINES, cells + margins))
        selection = np.flatnonzero(both)
        two_sided.two_sided_sums(*layout, squares, selection, work, np.empty(margins), figures)
    return figures
