"""How much the columns of a tree tell: a law of strengths, learned from all columns in all its nodes.

Each column in each node has a strength K, as in the adaptive prior (see `adaptive_prior`): the class probabilities of
its value v, of share b_v, have a Dirichlet prior with the parameters K b_v a around the class shares a of the node. K
is small where values differ much; with a large K they hardly differ. What one column says of its own K is not enough:
the column that splits a node was chosen because it looks best there, among many columns and many cuts. So log2 K has a
normal law, on a grid, whose centre and width are learned from all columns in all tested nodes, split or not:

    P(centre, width | data)  ~  prod_c  sum_K P(K | centre, width) B_K(c),

with the same prior for each centre and width of the grid. Nothing is maximised: the weights of K for one column are
averaged over centres and widths. Given the law, the choice needs no further correction.

**Sizes.** B_K is not Dirichlet's but that of differences of a known size (see `questions.tree.strength_evidence`):
where all columns tell equally much, the best one must not be taken for one of a few that tell much.

**Cuts.** B_K of a column of numbers is the mean over its cuts, up to `CUTS` of them, evenly spaced by rows; it is not
that of the best one.

O(cuts x classes) for each K and column (see `questions.tree.strength_evidence`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from credimi.core.types import FloatArray, IntegerArray

_LOG2_STRENGTHS = np.arange(-1.0, 17.0)
STRENGTHS = 2.0**_LOG2_STRENGTHS
_WIDTHS = (0.3, 1.0, 2.0, 4.0)  # of the law of log2 K: from one K for all columns to a law that says little
CUTS = 32  # of each column of numbers that is tested
_SMALLEST = 1e-300  # so that logarithms are finite


def cut_places(counts: FloatArray, limit: int) -> IntegerArray:
    """The values after which a column of numbers may be cut, at most `limit` of them, from counts (values, classes)."""
    below = counts.sum(axis=1).cumsum()
    cuts = below.size - 1
    if cuts <= limit:
        return np.arange(cuts)
    places = np.searchsorted(below, below[-1] * np.arange(1, limit + 1) / (limit + 1.0))
    return np.unique(np.minimum(places, cuts - 1)).astype(np.int64)


class Evidence(NamedTuple):
    """log B_K for each K (last axis), and the part of the differences between values that is kept if that is K."""

    log_factor: FloatArray
    kept: FloatArray


def table_evidence(counts: FloatArray) -> Evidence:
    """The evidence of the values, from counts (values, classes)."""
    from credimi.questions.tree import strength_evidence  # noqa: PLC0415  (loads compiled code)

    evidence = Evidence(np.empty(STRENGTHS.size), np.empty(STRENGTHS.size))
    strength_evidence.table_evidence(np.ascontiguousarray(counts), STRENGTHS, *evidence)
    return evidence


def cut_evidence(counts: FloatArray, places: IntegerArray) -> Evidence:
    """The evidence of each cut, (cuts, strengths)."""
    from credimi.questions.tree import strength_evidence  # noqa: PLC0415  (loads compiled code)

    shape = (places.size, STRENGTHS.size)
    evidence = Evidence(np.empty(shape), np.empty(shape))
    strength_evidence.cut_evidence(np.ascontiguousarray(counts), places, STRENGTHS, *evidence)
    return evidence


def column_evidence(counts: FloatArray, *, numbers: bool) -> FloatArray:
    """log B_K of a column, from counts (values, classes) of the values that occur; of numbers the mean over cuts."""
    if not numbers:
        return table_evidence(counts).log_factor
    return mean_of_logs(cut_evidence(counts, cut_places(counts, CUTS)).log_factor)


def mean_of_logs(evidence: FloatArray) -> FloatArray:
    """The logarithm of the mean over the first axis."""
    largest = evidence.max(axis=0)
    result: FloatArray = largest + np.log(np.exp(evidence - largest).mean(axis=0))
    return result


class StrengthLaw:
    """The law of K: the posterior of its centre and width."""

    def __init__(self, evidence: Sequence[FloatArray]) -> None:
        """Learn from log B_K of all columns, (columns, strengths) for each node."""
        laws = [
            np.exp(-0.5 * ((_LOG2_STRENGTHS - centre) / width) ** 2) for centre in _LOG2_STRENGTHS for width in _WIDTHS
        ]
        self.laws = np.array([law / law.sum() for law in laws])
        log_posterior = np.zeros(self.laws.shape[0])
        for of_node in evidence:
            largest = of_node.max(axis=1, keepdims=True)
            inside = np.exp(of_node - largest) @ self.laws.T
            log_posterior += (np.log(np.maximum(inside, _SMALLEST)) + largest).sum(axis=0)
        posterior = np.exp(log_posterior - log_posterior.max())
        self.posterior = posterior / posterior.sum()

    def weights(self, evidence: FloatArray) -> FloatArray:
        """The weight of each K for a column with this log B_K."""
        joint = self.laws * np.exp(evidence - evidence.max())
        of_law = joint / np.maximum(joint.sum(axis=1, keepdims=True), _SMALLEST)
        weights = self.posterior @ of_law
        return np.asarray(weights / weights.sum())
