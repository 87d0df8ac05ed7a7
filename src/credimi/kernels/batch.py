"""Many tables at once: ragged shapes in one flat array, each block (r + 1) x (s + 1) with the missing ones last.

    n_11 ... n_1s | n_1?          n_i?: the class was seen, the feature not (target only)
    ...           | ...           n_?j: the feature was seen, the class not (feature only)
    n_r1 ... n_rs | n_r?          n_??: neither; carries no information and is not read
    --------------+-----
    n_?1 ... n_?s | n_??

One kernel a pattern of missingness and approximation, so that a process compiles only what it meets. Each takes
`selection`, the tables to do: threads share the arrays and split the selection.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from credimi.kernels import one_sided
from credimi.kernels.compiled import compiled, inlined
from credimi.kernels.information_matrix import carve, workspace_size
from credimi.kernels.two_sided import moments

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from credimi.kernels.compiled import FloatArray, IntegerArray, NumberArray

CONSTANT, COMPLETE, TARGET_ONLY, FEATURE_ONLY, BOTH = range(5)


@compiled
def classify(
    flat: NumberArray, offsets: IntegerArray, rows: IntegerArray, columns: IntegerArray, pattern: NDArray[np.int8]
) -> None:
    """What each table misses; CONSTANT where one side has a single value, so that I = 0."""
    for table in range(offsets.size):
        r, s, start = rows[table], columns[table], offsets[table]
        feature_only = False
        target_only = False
        for j in range(s):
            feature_only = feature_only or flat[start + r * (s + 1) + j] > 0
        for i in range(r):
            target_only = target_only or flat[start + i * (s + 1) + s] > 0
        if r < 2 or s < 2:
            pattern[table] = CONSTANT
        elif feature_only:
            pattern[table] = BOTH if target_only else FEATURE_ONLY
        else:
            pattern[table] = TARGET_ONLY if target_only else COMPLETE


@inlined
def _load(
    flat: NumberArray,
    start: int,
    r: int,
    s: int,
    pseudo_count: float,
    transpose: bool,
    counts: FloatArray,
    row_only: FloatArray,
    column_only: FloatArray,
) -> tuple[int, int]:
    """Copy one block, pseudo-counts added, rows and columns swapped if asked; returns the new (rows, columns)."""
    width = s + 1
    if transpose:
        for i in range(r):
            column_only[i] = flat[start + i * width + s]
        for j in range(s):
            row_only[j] = flat[start + r * width + j]
            target = counts[j * r : (j + 1) * r]
            for i in range(r):
                target[i] = flat[start + i * width + j] + pseudo_count
        return s, r
    for i in range(r):
        row_only[i] = flat[start + i * width + s]
        source = flat[start + i * width : start + i * width + s]
        target = counts[i * s : (i + 1) * s]
        for j in range(s):
            target[j] = source[j] + pseudo_count
    for j in range(s):
        column_only[j] = flat[start + r * width + j]
    return r, s


@inlined
def _largest(rows: IntegerArray, columns: IntegerArray, selection: IntegerArray) -> tuple[int, int]:
    cells, side = 0, 0
    for table in selection:
        cells = max(cells, rows[table] * columns[table])
        side = max(side, rows[table], columns[table])
    return cells, side


@compiled
def leading_one_sided(
    flat: NumberArray,
    offsets: IntegerArray,
    rows: IntegerArray,
    columns: IntegerArray,
    pseudo_count: FloatArray,
    pattern: NDArray[np.int8],
    selection: IntegerArray,
    mean: FloatArray,
    variance: FloatArray,
) -> None:
    """The paper's moments where at least one side is complete."""
    cells, side = _largest(rows, columns, selection)
    counts, row_only, column_only = np.empty(cells), np.empty(side), np.empty(side)
    fields, row_fields, column_fields = np.empty((2, cells)), np.empty((3, side)), np.empty((2, side))
    for table in selection:
        transpose = pattern[table] == FEATURE_ONLY
        r, s = _load(
            flat,
            offsets[table],
            rows[table],
            columns[table],
            pseudo_count[table],
            transpose,
            counts,
            row_only,
            column_only,
        )
        mean[table], variance[table] = one_sided.leading(counts, row_only, r, s, fields, row_fields, column_fields)


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
) -> None:
    """Near-exact moments where at least one side is complete. The variance is not yet checked for its sign.

    Of a complete table either side may be taken for the complete one; the two variances differ by less than the error
    of either, and are averaged, so that transposing the table changes nothing.
    """
    cells, side = _largest(rows, columns, selection)
    counts, row_only, column_only = np.empty(cells), np.empty(side), np.empty(side)
    fields, row_fields, column_fields = np.empty((3, cells)), np.empty((6, side)), np.empty((8, side))
    for table in selection:
        passes = 2 if pattern[table] == COMPLETE else 1
        transpose = pattern[table] == FEATURE_ONLY
        mean[table] = 0.0
        variance[table] = 0.0
        for _ in range(passes):
            r, s = _load(
                flat,
                offsets[table],
                rows[table],
                columns[table],
                pseudo_count[table],
                transpose,
                counts,
                row_only,
                column_only,
            )
            one_mean, one_variance = one_sided.matched(counts, row_only, r, s, fields, row_fields, column_fields)
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
    mean: FloatArray,
    variance: FloatArray,
) -> None:
    """Moments where both sides miss; also serves, with empty margins, where `matched_one_sided` fails."""
    cells, side = _largest(rows, columns, selection)
    counts, row_only, column_only = np.empty(cells), np.empty(side), np.empty(side)
    fields, slopes = np.empty(3 * cells), np.empty(2 * side)
    scratch = np.empty(_largest_workspace(rows, columns, selection))
    for table in selection:
        r, s = _load(
            flat, offsets[table], rows[table], columns[table], pseudo_count[table], columns[table] > rows[table],
            counts, row_only, column_only,
        )  # fmt: skip
        mean[table], variance[table] = moments(
            counts[: r * s].reshape(r, s), row_only, column_only, fields[: r * s].reshape(r, s), slopes[:side],
            slopes[side:], carve(scratch, r, s), fields[cells : cells + 2 * r * s].reshape(2, r, s), matched,
        )  # fmt: skip


@inlined
def _largest_workspace(rows: IntegerArray, columns: IntegerArray, selection: IntegerArray) -> int:
    size = 0
    for table in selection:
        size = max(size, workspace_size(max(rows[table], columns[table]), min(rows[table], columns[table])))
    return size
