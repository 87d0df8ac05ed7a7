"""A tree as records: what each node has, why it was split, or why it was not."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np

from credimi.columns.numbers.ranges import cuts_after
from credimi.core.public import stored

if TYPE_CHECKING:
    from credimi.core.types import FloatArray, IntegerArray
    from credimi.counts.nodes.node_counter import TreeColumn

_FEW_ROWS = 200.0  # from which on a split needs more than the level
SURE = 0.95  # level of claims: the split of the root, intervals, and that a column tells nothing


@stored
class TreeStop(StrEnum):
    """Why a node is a leaf."""

    PURE = "pure"  # all rows have one class
    NO_COLUMN = "no column"  # no column has two values
    NOTHING = "tells nothing"  # no column tells anything, and that is sure
    UNSURE = "unsure"
    DEPTH = "depth"  # as deep as allowed
    INTERRUPTED = "interrupted"  # before it was tested


@stored
@dataclass(frozen=True, slots=True, eq=False)
class TreeCandidate:
    """A column that was tested in a node; `p_above` is P(I > epsilon), corrected for the number of tested columns.

    `p_alone` and `p_independent` are P(I > epsilon) and P(independent) of the column alone, from even odds. `table` is
    its block of counts, without classes and values that do not occur; `odds` are its prior odds, which are lower if a
    cut was chosen. `approximate` says that `p_independent` may be off (see `allocation_sum`).
    """

    column: int
    mean: float
    p_above: float
    p_alone: float
    p_independent: float
    table: FloatArray
    odds: float
    approximate: bool = False


@stored
@dataclass(frozen=True, slots=True, eq=False)
class TreeStandIn:
    """A column that says where a row goes if its value of the split is missing.

    `place_of` has, for each code, its line in `gains`, -1 if the value did not occur; numbers up to the `cut` have the
    first line. `gains[line, branch]` is log P(branch | value) / P(branch).
    """

    column: int
    cut: float | None
    place_of: IntegerArray
    gains: FloatArray
    mean: float
    p_above: float


@stored
@dataclass(frozen=True, slots=True, eq=False)
class TreeSplit:
    """How a node is split: by a cut (numbers up to it go to the first branch), or by values.

    `branch_of` has the branch of each code, -1 if the value did not occur in the node. Rows without a value go down
    all branches, with weights: the `shares` of the branches, changed by the columns that stand in.
    """

    column: int
    cut: float | None
    branch_of: IntegerArray
    shares: FloatArray
    children: tuple[int, ...]
    stand_ins: tuple[TreeStandIn, ...] = ()


@stored
@dataclass(frozen=True, slots=True, eq=False)
class TreeNode:
    """A node of a tree: `counts` are its rows by class; `rows` includes rows without a class.

    `looked_at` is the number of candidate columns, `best` the one that the node is split by or, in a leaf, the most
    credible one, and `runner_up` the next best.
    """

    number: int
    parent: int
    branch: int
    depth: int
    rows: float
    counts: FloatArray
    looked_at: int = 0
    best: TreeCandidate | None = None
    runner_up: TreeCandidate | None = None
    split: TreeSplit | None = None
    stop: TreeStop | None = None


def required_probability(node: TreeNode, level: float) -> float:
    """The probability that a column tells something which is required for a split of this node."""
    doubt = (1.0 - level) * (_FEW_ROWS / max(node.rows, _FEW_ROWS)) ** 2
    return max(1.0 - doubt, SURE) if node.number == 0 else 1.0 - doubt


def cut_between(column: TreeColumn, codes: IntegerArray) -> tuple[float, IntegerArray]:
    """The cut between two codes of a column of numbers, and the side (0 or 1) of each code of the column.

    The sides are those to which rows go in a prediction. Coarse numbers have lost bits, and stand for all numbers up to
    the next that are farther from 0.
    """
    numbers = column.labels.numbers
    low, high = numbers[codes].tolist()
    if column.labels.dropped_bits:
        cut = float(np.nextafter(high, -np.inf)) if high > 0.0 else low
    else:
        cut = float(cuts_after(np.array([low, high]), np.zeros(1, dtype=np.int64))[0])
    return cut, (numbers > cut).astype(np.int64)
