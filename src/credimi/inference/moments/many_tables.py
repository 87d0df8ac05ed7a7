"""Many tables at once, of any shapes, in one flat array: each is a block (r + 1) x (s + 1), with missing counts last.

    n_11 ... n_1s | n_1?          n_i?: the class is known, the feature is missing (target only)
    ...           | ...           n_?j: the feature is known, the class is missing (feature only)
    n_r1 ... n_rs | n_r?          n_??: both are missing; carries no information and is not read
    --------------+-----
    n_?1 ... n_?s | n_??

There is one kernel for each pattern of missing values and approximation, so that a process compiles only what it needs.
Each takes `selection`, the tables to do: threads share the arrays and split the selection.
"""

from __future__ import annotations

import numpy as np

from credimi.compile.jit import (
    BooleanArray,
    FloatArray,
    IntegerArray,
    NDArray,
    NumberArray,
    Workspace,
    compiled,
    inlined,
)
from credimi.core.table_patterns import COMPLETE, FEATURE_ONLY
from credimi.inference.mode.find import find_mode
from credimi.inference.moments import information_matrix as at
from credimi.inference.moments import one_sided
from credimi.inference.moments.information_matrix import workspace
from credimi.inference.moments.two_sided import moments_at_mode


@inlined
def load(
    flat: NumberArray,
    start: int,
    pseudo_count: float,
    transpose: bool,
    r: int,
    s: int,
    counts: FloatArray,
    row_only: FloatArray,
    column_only: FloatArray,
) -> None:
    """Copy one block into r x s `counts`, and add pseudo-counts; `transpose` swaps rows and columns."""
    if transpose:
        for i in range(r):
            target = counts[i * s : (i + 1) * s]
            for j in range(s):
                target[j] = flat[start + j * (r + 1) + i] + pseudo_count
            row_only[i] = flat[start + s * (r + 1) + i]
        for j in range(s):
            column_only[j] = flat[start + j * (r + 1) + r]
        return
    for i in range(r):
        source = flat[start + i * (s + 1) : start + (i + 1) * (s + 1)]
        target = counts[i * s : (i + 1) * s]
        for j in range(s):
            target[j] = source[j] + pseudo_count
        row_only[i] = source[s]
    source = flat[start + r * (s + 1) : start + r * (s + 1) + s]
    for j in range(s):
        column_only[j] = source[j]


@inlined
def load_into(
    work: Workspace, flat: NumberArray, start: int, pseudo_count: float, rows: int, columns: int
) -> Workspace:
    """Copy one block into a workspace, transposed if it is wide; a new workspace if this one has another shape."""
    transpose = columns > rows
    r, s = (columns, rows) if transpose else (rows, columns)
    if work.cells.shape[1] != r or work.cells.shape[2] != s:
        work = workspace(r, s)
    counts = work.cells[at.COUNTS].reshape(r * s)
    load(flat, start, pseudo_count, transpose, r, s, counts, work.rows[at.ROW_ONLY], work.columns[at.COLUMN_ONLY])
    return work


@inlined
def _largest_shape(rows: IntegerArray, columns: IntegerArray, selection: IntegerArray) -> tuple[int, int]:
    """The maximum number of cells, and the maximum number of rows or columns."""
    cells, side = 0, 0
    for table in selection:
        cells = max(cells, rows[table] * columns[table])
        side = max(side, rows[table], columns[table])
    return cells, side


@compiled
def matched_one_sided(
    flat: NumberArray,
    offsets: IntegerArray,
    rows: IntegerArray,
    columns: IntegerArray,
    pseudo_count: FloatArray,
    pattern: NDArray[np.int8],
    selection: IntegerArray,
    mean: FloatArray,
    variance: FloatArray,
    thin: BooleanArray,
) -> None:
    """Near-exact moments of tables with at least one complete side, and which of them have a thin class.

    The sign of the variance is not yet checked.

    In a complete table either side may be taken as the complete one. The two variances differ by less than the error
    of either, and are averaged, so that transposing the table changes nothing.
    """
    cells, side = _largest_shape(rows, columns, selection)
    counts, row_only, column_only = np.empty(cells), np.empty(side), np.empty(side)
    fields, row_fields, column_fields = np.empty((3, cells)), np.empty((5, side)), np.empty((7, side))
    for table in selection:
        passes = 2 if pattern[table] == COMPLETE else 1
        transpose = pattern[table] == FEATURE_ONLY
        mean[table] = 0.0
        variance[table] = 0.0
        for _ in range(passes):
            r, s = (columns[table], rows[table]) if transpose else (rows[table], columns[table])
            load(flat, offsets[table], pseudo_count[table], transpose, r, s, counts, row_only, column_only)
            one_mean, one_variance, thin[table] = one_sided.matched(
                counts, row_only, r, s, fields, row_fields, column_fields
            )
            mean[table] += one_mean / passes
            variance[table] += one_variance / passes
            transpose = not transpose


@compiled
def two_sided(
    flat: NumberArray,
    offsets: IntegerArray,
    rows: IntegerArray,
    columns: IntegerArray,
    pseudo_count: FloatArray,
    selection: IntegerArray,
    matched: bool,
    reliable: bool,
    mean: FloatArray,
    variance: FloatArray,
) -> None:
    """Moments if both sides have missing values; if `reliable`, NaN where matched moments do not hold."""
    r, s = rows[:0].size, columns[:0].size  # 0, but not a literal: Numba would compile `workspace` once more
    work = workspace(r, s)
    for table in selection:
        work = load_into(work, flat, offsets[table], pseudo_count[table], rows[table], columns[table])
        find_mode(work)
        mean[table], variance[table] = moments_at_mode(work, matched, reliable)
