"""`interactions`: pairs of columns that tell more about the target together than apart, or that say the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

from credimi.core.keywords import question
from credimi.counts.reading import CLUSTERS, Reading
from credimi.inference.belief import Belief

if TYPE_CHECKING:
    from credimi.core.types import Data, Values
    from credimi.questions.interactions.result import Interactions


@question(reading=Reading.but("missing_as", *CLUSTERS), belief=Belief.only("epsilon", "level", "threads"))
def interactions(
    data: Data, target: Values, *, top: int | None = None, reading: Reading, belief: Belief
) -> Interactions:
    """Find pairs of columns that tell more about the target together than apart, or that say the same.

    The synergy of a pair has to exceed epsilon. At most a share of 1 - level of the reported pairs is expected to be
    wrong. An interrupt (Ctrl-C) ends the search with the pairs so far. On a GPU, rows have no weights; the pairs that
    are left are weighed as otherwise, so that the answer is the same.

    Parameters
    ----------
    data : what `credimi.count` takes
        Data frames, arrays, files. Data frames of Spark and Dask are read twice: their rows become codes where they
        are, and are counted there; with `scratch` the codes come here, one byte a cell.
    target : str or array
        The target's column, or its values beside the data.
    top : int, optional
        List so many pairs of each kind, sure or not. Default: the pairs that are more probable than not.

    Returns
    -------
    Interactions
        The pairs, with synergy above 0 or redundancy below it, interval and probabilities.

    Examples
    --------
    >>> table = {"x": list("aabb") * 50, "z": list("abab") * 50, "y": list("pqqp") * 50}
    >>> credimi.interactions(table, "y")["x", "z"]["verdict"]
    'synergy'
    """
    from credimi.questions.interactions.answer import interactions_in  # noqa: PLC0415  (loads the compiler)

    return interactions_in(data, target, top, reading, belief)
