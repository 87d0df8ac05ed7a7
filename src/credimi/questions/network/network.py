"""`network`: which columns depend on each other directly, with the probability of every edge."""

from __future__ import annotations

from typing import TYPE_CHECKING

from credimi.core.defaults import PREDICTION_LEVEL
from credimi.core.keywords import question
from credimi.counts.reading import CLUSTERS, Reading
from credimi.inference.belief import Belief

if TYPE_CHECKING:
    from credimi.core.types import Data
    from credimi.questions.network.result import Network


@question(
    reading=Reading.but("target_cuts", "missing_as", *CLUSTERS, "max_values", "scratch", "device", discretize="equal"),
    belief=Belief.only("random_state", "threads"),
)
def network(
    data: Data,
    *,
    level: float = PREDICTION_LEVEL,
    degree: float | None = None,
    max_parents: int = 8,
    imputations: int = 4,
    max_values: int = 200,
    reading: Reading,
    belief: Belief,
) -> Network:
    """Learn which columns depend on each other directly: a network, with the probability of every edge.

    Two columns have an edge if they depend whatever other columns are given. Networks are sampled in proportion to
    their evidence, and their edges are averaged, so that an edge has a probability rather than a verdict. Rows with
    missing values are used with all their observed values: tables are completed by draws from the learned network, and
    the networks of several completed tables are averaged.

    Numbers are cut into fewer ranges than in `pairs` by default, as most pairs are tested given a third column.

    Parameters
    ----------
    data : what `credimi.count` takes, if it fits into memory
        Data frames, arrays, files. Of data frames of Spark and Dask, the different rows come here.
    level : float
        The probability from which a pair is called an edge.
    degree : float, optional
        How many neighbours a column is expected to have, before the data are seen. Default: 2, or fewer if the data
        show fewer.
    max_parents : int
        The maximum number of columns that one column may depend on directly, in one network.
    imputations : int
        How many completed tables are averaged, if values are missing. 0: complete none; each test then uses only the
        rows that have all of its columns. This is fast, and less sure than the probabilities say.
    max_values : int
        Columns of more values are left out.

    Returns
    -------
    Network
        The edges, their directions where these follow, and what separates the other pairs.

    Examples
    --------
    >>> smoking = [0, 0, 0, 1] * 100
    >>> cough = [s if i % 5 else 1 - s for i, s in enumerate(smoking)]
    >>> noise = [i * i % 7 % 2 for i in range(400)]
    >>> network = credimi.network({"smoking": smoking, "cough": cough, "noise": noise})
    >>> [(edge.a, edge.b, edge.direction) for edge in network.edges]
    [('smoking', 'cough', '--')]
    """
    from credimi.questions.network.answer import network_of  # noqa: PLC0415  (loads the compiler)

    return network_of(
        data,
        level=level,
        degree=degree,
        max_parents=max_parents,
        imputations=imputations,
        max_values=max_values,
        reading=reading,
        belief=belief,
    )
