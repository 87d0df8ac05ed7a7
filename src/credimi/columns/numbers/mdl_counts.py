"""Cuts by MDL, and their share of the evidence, from whole counts in compiled code, which lets other threads run.

The result is that of `discretize.mdl_places` and `discretize.evidence_share`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from credimi.columns.numbers.discretize import ROUNDING, bits_of_sides, logarithm_table, share_at

if TYPE_CHECKING:
    from credimi.core.types import CountArray, FloatArray, IntegerArray


def cut_by_mdl(values: FloatArray, block: CountArray) -> tuple[FloatArray, IntegerArray, float]:
    """The values that have counts, after which of them to cut, and the share of the evidence.

    `values` are in order; `block` are whole counts, classes x values, missing ones last.
    """
    from credimi.kernels.reading import mdl_splits, sort_numbers  # noqa: PLC0415  (loads compiled code)

    classes = block.shape[0] - 1
    below = np.empty((values.size + 1, classes), dtype=np.int64)
    kept, edges = np.empty(values.size, dtype=np.int64), np.empty(values.size + 2, dtype=np.int64)
    number = mdl_splits.sums_below(np.ascontiguousarray(block, dtype=np.int64), below, kept)
    numbers, below = values if number == values.size else values[kept[:number]], below[: number + 1]
    edges = edges[: mdl_splits.run_edges(below, number, edges)]
    table = logarithm_table(int(below[-1].sum()).bit_length())
    left, places = np.empty(number + 1), np.empty(3 * edges.size + 4, dtype=np.int64)
    sides = np.array([np.nan, *(bits_of_sides(present) for present in range(1, classes + 1))])
    found = mdl_splits.split_all(below[edges], table, sides, ROUNDING, left, places)
    chosen = np.sort(edges[places[:found]]) - 1
    if not found:
        return numbers, chosen, 1.0

    def remaining(first: int, last: int) -> FloatArray:
        sort_numbers.entropy_left(below, first, last, table, left)
        return left[first + 1 : last].copy()

    return numbers, chosen, share_at(remaining, chosen, number)
