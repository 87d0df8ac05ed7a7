"""`pairs`: what every two columns tell about each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from credimi.core.keywords import question
from credimi.counts.reading import CLUSTERS, Reading
from credimi.inference.belief import Belief

if TYPE_CHECKING:
    from pathlib import Path

    from credimi.core.types import Data
    from credimi.questions.pairs.result import Pairs

_NEEDS_TARGET = ("target_cuts", "missing_as")


@question(
    reading=Reading.but(*_NEEDS_TARGET, *CLUSTERS, "max_values", discretize="equal"),
    belief=Belief.but("fdr", "method", "robust_factor"),
)
def pairs(
    data: Data,
    *,
    max_values: int = 1000,
    top: int | None = None,
    p_dependent: float | None = None,
    into: str | Path | None = None,
    refine: str | None = None,
    imputations: int = 10,
    reading: Reading,
    belief: Belief,
) -> Pairs:
    """What every two columns tell about each other: the posterior of the mutual information of each pair.

    Only the adaptive prior gives independence a probability. With weights, pairs are counted one at a time, which takes
    longer; survey weights scale each pair to as many rows as it is worth.

    Parameters
    ----------
    data : what `credimi.count` takes
        Data frames, arrays, files. The partitions of a DataFrame of Spark or Dask are counted where they are, and the
        counts are added. No column is a target.
    max_values : int
        Columns of more values are left out.
    top : int, optional
        Only the pairs with the largest `mi`.
    p_dependent : float, optional
        Only pairs that depend with at least this probability, 1 - `p_independent`.
    into : path, optional
        A .npy file for the figures of all pairs, mi, low, high, p_above, p_independent, log_evidence, complete
        and approximate, a row each. They are read from there when they are needed, and may be larger than the memory.
    refine : "forest", optional
        Allow for values that are missing because of a third column. Missing values are drawn from forests of the
        columns, given all that is seen in their row, and what the completed tables say is averaged.
    imputations : int
        How many completed tables are averaged, if `refine` is asked for.

    Returns
    -------
    Pairs
        Every pair: a, b, mi, low, high, p_above, p_independent, p_linked and more; best first.

    Examples
    --------
    >>> table = {"x": list("aabb") * 25, "y": list("ccdd") * 25, "noise": list("abab") * 25}
    >>> pairs = credimi.pairs(table)
    >>> [(row["a"], row["b"], round(row["mi"], 2)) for row in pairs]
    [('x', 'y', 0.6), ('x', 'noise', 0.0), ('y', 'noise', 0.0)]
    >>> pairs.matrix("p_independent").round(2)
    array([[ nan, 0.  , 0.59],
           [0.  ,  nan, 0.59],
           [0.59, 0.59,  nan]])
    """
    from credimi.questions.pairs.answer import pairs_in  # noqa: PLC0415  (loads the compiler)
    from credimi.questions.pairs.pair_request import PairRequest  # noqa: PLC0415  (as above)

    request = PairRequest(reading.device, top, p_dependent, into, refine, imputations, belief.random_state)
    return pairs_in(data, request, max_values, reading, belief)
