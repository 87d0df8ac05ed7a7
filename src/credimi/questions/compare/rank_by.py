"""`rank_by`: a ranking of each group of rows, and a comparison of the groups."""

from __future__ import annotations

from typing import TYPE_CHECKING

from credimi.core.defaults import P_SAME
from credimi.core.keywords import question
from credimi.counts.reading import Reading
from credimi.inference.belief import Belief

if TYPE_CHECKING:
    from credimi.core.types import Data, Option, Values
    from credimi.questions.compare.groups import GroupedRanking


@question(
    reading=Reading.but("scratch", "device", "engine", "master", "scheduler"),
    belief=Belief.but("prior", "approximation", "method", "random_state"),
)
def rank_by(
    data: Data,
    target: Values,
    by: str,
    *,
    by_cuts: Option = None,
    p_same: float = P_SAME,
    reading: Reading,
    belief: Belief,
) -> GroupedRanking:
    """Rank the features in each group of rows, and compare the groups.

    All groups have the same values and cuts, found from all rows. Two groups are compared with each other, the second
    against the first in the order of their names; with more groups, each is compared with all others together. Only a
    change of more than epsilon counts. With a `robust_factor` the rankings are robust, the comparisons are not.

    Parameters
    ----------
    data : what `credimi.count` accepts
        Except counts, which have no rows. Partitions of Spark and Dask are counted where they are.
    target : str or array
        The name of the target's column, or its values beside the data.
    by : str
        The column that names the groups, with at most 50 values. For an array, its position works, too.
    by_cuts : numbers, dates or text, optional
        Cuts of the column `by`, if its ranges are the groups: numbers, dates such as "2024-07-01", or "quantile:2" for
        halves of about equal size. With a column of time: did it hold in both halves? Default: each value is a group.
    p_same : float
        The prior probability that a column tells as much in both groups that are compared, as in `compare`.

    Returns
    -------
    GroupedRanking
        Rankings and comparisons.

    Examples
    --------
    >>> table = {"x": list("aabbabab") * 50, "site": list("1111" "2222") * 50, "class": list("ppqq") * 100}
    >>> grouped = credimi.rank_by(table, "class", by="site")
    >>> list(grouped.rankings), grouped.comparisons[0]["x"]["verdict"]
    (['1', '2'], 'less')
    """
    from credimi.questions.compare.groups import ranked_by  # noqa: PLC0415  (loads the compiler)

    return ranked_by(data, target, by, by_cuts=by_cuts, reading=reading, belief=belief, p_same=p_same)
