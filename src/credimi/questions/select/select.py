"""`select`: which columns to take, together or each by itself, how many, and how sure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from credimi.core.keywords import question
from credimi.counts.reading import CLUSTERS, Reading
from credimi.inference.belief import Belief

if TYPE_CHECKING:
    from credimi.core.types import Data, Values
    from credimi.questions.select.result import Selection


@question(reading=Reading.but("device", *CLUSTERS), belief=Belief.but("level"))
def select(
    data: Data,
    target: Values,
    *,
    rule: str | None = None,
    level: float | None = None,
    max_features: int | None = None,
    min_features: int = 0,
    reading: Reading,
    belief: Belief,
) -> Selection:
    """Select columns that tell about the target together: which, how many, and how sure.

    Parameters
    ----------
    data : what `credimi.count` takes
        Data frames, arrays, files. Data frames of Spark and Dask are read twice: their rows become codes where they
        are, and are counted there; with `scratch` the codes come here, one byte a cell.
    target : str or array
        The target's column, or its values beside the data.
    rule : "distinct", "relevant", "informative", "forward", "backward", "plugin" or "fdr", optional
        Default: "distinct", or "forward" if a `method` is named: it judges each column alone. The first two look at
        columns together: informative columns, but for those that surely add nothing to a single other one; or all
        columns that matter, alone or with a partner. The others look at each column alone, as in `rank`: what is not
        more probably independent of the target than not; what is surely informative; what is not surely uninformative;
        what is by the estimate; and as many as a share `fdr` of errors allows. Only these take another prior,
        approximation, method, missing_as, fdr and robust_factor.
    level : float, optional
        How probable it has to be that a column is worth having; with "distinct", that one adds nothing, to be left out:
        0.5 takes few columns, to read. Default: 0.95. "informative" has none.
    max_features : int, optional
        The maximum number of columns to take.
    min_features : int
        The minimum number of columns to take. If fewer are credible, the most probable others are taken, for pipelines
        that need columns. They are no claim, and their steps are marked as `forced`. Columns that cannot tell anything
        are not added.

    Returns
    -------
    Selection
        The columns in the order taken, what each tells alone, and why the others were not taken. Ctrl-C ends the rule
        "distinct" with the columns so far, once there are any.

    Examples
    --------
    >>> table = {"tells": list("aabb") * 25, "the same": list("ccdd") * 25, "noise": list("abab") * 25}
    >>> chosen = credimi.select(table | {"class": list("ppqq") * 25}, "class")
    >>> chosen.features
    ('tells',)
    >>> [(each.feature, each.reason, each.like) for each in chosen.rejected]
    [('the same', 'redundant', 'tells'), ('noise', 'tells nothing', None)]
    """
    from credimi.questions.select.answer import Asked, selection_from  # noqa: PLC0415  (loads the compiler)

    if rule is None:
        rule = "distinct" if belief.method is None else "forward"  # FF is the paper's
    asked = Asked(rule=rule, level=level, max_features=max_features, min_features=min_features)
    return selection_from(data, target, asked, reading, belief)
