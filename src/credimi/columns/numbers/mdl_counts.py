"""Cuts by MDL, and their share of the evidence, from integer counts; compiled code, so that other threads can run.

The result is that of `discretize.mdl_places` and `discretize.evidence_share`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from credimi.columns.numbers.discretize import ROUNDING, bits_of_sides, logarithm_table, share_at

if TYPE_CHECKING:
    from credimi.core.types import CountArray, FloatArray, IntegerArray


def cut_by_mdl(values: FloatArray, block: CountArray) -> tuple[FloatArray, IntegerArray, float]:
    """The values that have counts, the positions of the values after which to cut, and the share of the evidence.

    `values` ascend; `block` has integer counts, classes x values, with the missing ones last.
    """
    from credimi.columns.numbers import mdl_splits, sort_numbers  # noqa: PLC0415  (loads compiled code)

    classes = block.shape[0] - 1
    below = np.empty((values.size + 1, classes), dtype=np.int64)
    counted_values, edges = np.empty(values.size, dtype=np.int64), np.empty(values.size + 2, dtype=np.int64)
    count = mdl_splits.sums_below(np.ascontiguousarray(block, dtype=np.int64), below, counted_values)
    numbers, below = values if count == values.size else values[counted_values[:count]], below[: count + 1]
    edges = edges[: mdl_splits.run_edges(below, count, edges)]
    logarithms = logarithm_table(int(below[-1].sum()).bit_length())
    entropies, accepted_edges = np.empty(count + 1), np.empty(3 * edges.size + 4, dtype=np.int64)
    bits_by_classes = np.array([np.nan, *(bits_of_sides(present) for present in range(1, classes + 1))])
    cut_count = mdl_splits.split_all(below[edges], logarithms, bits_by_classes, ROUNDING, entropies, accepted_edges)
    cut_positions = np.sort(edges[accepted_edges[:cut_count]]) - 1
    if not cut_count:
        return numbers, cut_positions, 1.0

    def entropy_left(first: int, last: int) -> FloatArray:
        sort_numbers.entropy_left(below, first, last, logarithms, entropies)
        return entropies[first + 1 : last].copy()

    return numbers, cut_positions, share_at(entropy_left, cut_positions, count)
