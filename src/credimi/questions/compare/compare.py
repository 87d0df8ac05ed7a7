"""`compare`: which features are more or less informative in a second sample than in the first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from credimi.core.defaults import P_SAME
from credimi.core.keywords import question
from credimi.counts.reading import Reading
from credimi.inference.belief import Belief

if TYPE_CHECKING:
    from collections.abc import Sequence

    from credimi.core.types import Data, Values
    from credimi.counts.counts import Counts
    from credimi.questions.compare.result import Comparison
    from credimi.questions.rank.result import Ranking


@question(reading=Reading.but("scratch", "device"), belief=Belief.only("epsilon", "level", "threads"))
def compare(
    a: Data | Counts | Ranking,
    b: Data | Counts | Ranking,
    target: Values = None,
    *,
    p_same: float = P_SAME,
    names: Sequence[str] = ("A", "B"),
    reading: Reading,
    belief: Belief,
) -> Comparison:
    """Which features are more or less informative about the target in b than in a, and how surely.

    The rows of a and b must be different rows: two periods, sites or groups. The mutual information I itself is
    compared. It changes if a feature's values tell other things than before, and also if classes or values have become
    more or less frequent.

    Both are read in the same way: classes and values are those of both together, and numbers are cut where that tells
    most in both together. So figures may differ a little from those of `rank`, which cuts each table separately. Only
    a change of more than epsilon counts.

    Parameters
    ----------
    a, b : Counts, Ranking, or what `credimi.count` accepts
        Data, counts, or paths of their files. Rankings, and files of `credimi rank --format json`, have no counts: then
        the posterior of each column is approximated by one Beta distribution, and columns with different cuts are not
        compared.
    target : str
        The name of the target's column, if data are given.
    p_same : float
        The prior probability that a column tells as much in both. With .95, the same data twice show a change with
        less than .05 probability, however few rows there are.
    names : two texts
        The names of a and b where the result is shown.

    Returns
    -------
    Comparison
        One row per feature: surely changed, surely the same, unsure.

    Examples
    --------
    >>> before = {"x": list("aabb") * 100, "z": list("abab") * 100, "class": list("ppqq") * 100}
    >>> after = {"x": list("abba") * 100, "z": list("abab") * 100, "class": list("ppqq") * 100}
    >>> comparison = credimi.compare(before, after, "class")
    >>> comparison.columns["feature"], comparison.columns["verdict"]
    (['x', 'z'], ['less', 'same'])
    """
    from credimi.questions.compare.answer import changes_between  # noqa: PLC0415  (loads the compiler)

    return changes_between(a, b, target, names=names, reading=reading, belief=belief, p_same=p_same)
