"""`report`: all questions about a table and its target, answered in one page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from credimi.core.keywords import question
from credimi.counts.reading import CLUSTERS, Reading
from credimi.inference.belief import Belief

if TYPE_CHECKING:
    from credimi.core.types import Data, Values
    from credimi.questions.report.result import Report


@question(
    reading=Reading.but("missing_as", "scratch", "device", *CLUSTERS),
    belief=Belief.only("epsilon", "threads", "random_state"),
)
def report(data: Data, target: Values, *, seconds: float = 60.0, reading: Reading, belief: Belief) -> Report:
    """Ask all questions about a table and its target, and put the answers on one page.

    The parts are those of `rank`, `select`, `tree`, `interactions`, `pairs` and `network`, in this order. The ranking
    is always whole. The others share the time: what was cut, or left out, is said. Of wide tables, pairs and networks
    have the most informative columns. A part that fails leaves the others, and says why.

    Parameters
    ----------
    data : what `credimi.count` takes, if it fits into memory and can be read again
        Data frames, arrays, files.
    target : str or array
        The target's column, or its values beside the data.
    seconds : float
        About how long all parts may take. The first use compiles code, which takes longer.

    Returns
    -------
    Report
        The results of all parts; `to_html("report.html")` writes the page.

    Examples
    --------
    >>> table = {"tells": list("aabb") * 25, "noise": list("abab") * 25, "class": list("ppqq") * 25}
    >>> report = credimi.report(table, "class")
    >>> report["tells"]["verdict"], report["tells"]["taken"], report.selection.features
    ('keep', 1, ('tells',))
    """
    from credimi.questions.report.answer import reported  # noqa: PLC0415  (loads the compiler)

    return reported(data, target, seconds, reading, belief)
