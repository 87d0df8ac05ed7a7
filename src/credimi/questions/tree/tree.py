"""`tree`: a classification tree that splits only where it is credible."""

from __future__ import annotations

from typing import TYPE_CHECKING

from credimi.core.defaults import PREDICTION_LEVEL
from credimi.core.keywords import question
from credimi.counts.reading import CLUSTERS, Reading
from credimi.inference.belief import Belief

if TYPE_CHECKING:
    from credimi.core.types import Data, Values
    from credimi.questions.tree.result import Tree


@question(
    reading=Reading.but("missing_as", "device", *CLUSTERS),
    belief=Belief.only("epsilon", "threads", level=PREDICTION_LEVEL),
)
def tree(data: Data, target: Values, *, max_depth: int | None = None, reading: Reading, belief: Belief) -> Tree:
    """Grow a classification tree that splits only where it is credible.

    A node is split by the column that tells most about the target there, if it is credible that the column tells
    something: P(I > epsilon) >= level, allowing for the number of columns and cuts tried. In nodes of more than 200
    rows the doubt 1 - level falls with the square of the rows, and the root always needs 0.95. Nothing is pruned or
    tuned. A row without a value goes down all branches with weights. To predict, use `credimi.CredibleTreeClassifier`.

    Parameters
    ----------
    data : what `credimi.count` takes
        Data frames, arrays, files. Data frames of Spark and Dask are read twice: their rows become codes where they
        are, and are counted there.
    target : str or array
        The target's column, or its values beside the data.
    max_depth : int, optional
        The most splits between the root and a leaf.

    Returns
    -------
    Tree
        The nodes as records. An interrupt (Ctrl-C) ends the growth with the nodes so far.

    Examples
    --------
    >>> table = {"colour": ["red", "green"] * 40, "size": [1, 2, None, 3] * 20, "fruit": ["cherry", "lime"] * 40}
    >>> credimi.tree(table, "fruit").features
    ('colour',)
    """
    from credimi.questions.tree.answer import grown  # noqa: PLC0415  (loads the compiler)

    return grown(data, target, max_depth, reading, belief)
