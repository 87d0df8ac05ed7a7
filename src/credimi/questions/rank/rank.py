"""`rank`: which features are informative about the target, how much, and how surely; best first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from credimi.core.keywords import question
from credimi.counts.reading import Reading
from credimi.inference.belief import ColumnBelief

if TYPE_CHECKING:
    from credimi.core.types import Data, Values
    from credimi.counts.counts import Counts
    from credimi.questions.rank.result import Ranking


@question(reading=Reading.but("scratch", "device"), belief=ColumnBelief)
def rank(data: Data | Counts, target: Values = None, *, reading: Reading, belief: ColumnBelief) -> Ranking:
    """Rank features by what they tell about the target.

    Parameters
    ----------
    data : Counts, or what `credimi.count` accepts
        Paths, data frames, arrays; or counts made before (or the path of their file), which include their target.
    target : str or array
        The name of the target's column, or its values beside the data.

    Returns
    -------
    Ranking
        One row per feature, best first.

    Examples
    --------
    >>> table = {"tells": list("aabb") * 25, "noise": list("abab") * 25, "class": list("ppqq") * 25}
    >>> ranking = credimi.rank(table, target="class")
    >>> ranking.columns["feature"]
    ['tells', 'noise']
    >>> ranking.columns["verdict"]
    ['keep', 'drop']
    """
    from credimi.questions.rank.answer import ranked  # noqa: PLC0415  (loads the compiler)

    return ranked(data, target, reading, belief)
