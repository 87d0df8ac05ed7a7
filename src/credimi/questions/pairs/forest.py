"""Forests of columns: which edges they have, over all forests at once, given that a forest holds.

In a forest F, each column depends on at most one other, once a root is chosen in each tree. The evidence of the data is
then prod_v m_v prod_(uv in F) B_uv, with m_v the evidence of a column alone, and B_uv the Bayes factor of dependence of
a pair (Meila and Jaakkola 2000). So the weight of F is prod w_uv, with w_uv = B_uv times the prior odds of an edge. One
more node, the ghost, is joined to each column with weight 1. It turns forests into spanning trees: each tree of the
forest has one edge to the ghost, at its root. The sums are over all **rooted forests**: a forest counts once for each
choice of its roots.

By the matrix-tree theorem, the probability that an edge is in the tree is its weight divided by the conductance between
its ends. `questions.pairs.star_mesh` computes the conductance of all pairs in O(p^3), to nearly all digits for weights
from e^-12000 to e^12000, where inverses of matrices fail.

**Meaning.** These are probabilities *given that a forest holds*. Most data do not follow a forest: among three columns
that all depend on each other, a forest misses one edge, perhaps with certainty. The probabilities tell which skeleton
of p - 1 edges is best, and how sure it is among forests; `credimi.network` does more.

Memory: for p columns, about 32 p^2 bytes for weights and results, and 25 p^2 more for each thread; with two threads
0.7 GB for 3,000 columns, 2 GB for 5,000.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from credimi.core.arguments import make_generator, require_whole
from credimi.core.errors import CredimiError
from credimi.core.threads import cores, share
from credimi.questions.pairs import star_mesh

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from credimi.core.types import FloatArray, IntegerArray

    Graph = tuple[FloatArray, FloatArray]

_LOG_TWO_HIGH, _LOG_TWO_LOW = 0.693147180369123816490, 1.90821492927058770002e-10  # the first has few bits
_MAX_LOG_WEIGHT = 1e9
_MIN_NODES_FOR_THREADS = 200
_DRAWS_AT_ONCE = 64


def edge_probabilities(log_weights: ArrayLike, *, threads: int | None = None) -> FloatArray:
    """The probability of each edge, (p, p), over all rooted forests, each in proportion to the product of its weights.

    Parameters
    ----------
    log_weights : (p, p) array
        The logarithm of each pair's weight: log Bayes factor of dependence plus log prior odds of an edge. Symmetric;
        the diagonal is not read. -inf: no edge.
    threads : int, optional
        Default: all cores.

    Returns
    -------
    (p, p) array
        Symmetric, 0 on the diagonal. Half its sum is the expected number of edges.

    Examples
    --------
    Two columns: a forest of no edge, and two rooted forests of one edge of weight 3.

    >>> edge_probabilities([[0.0, math.log(3.0)], [math.log(3.0), 0.0]])
    array([[0.        , 0.85714286],
           [0.85714286, 0.        ]])
    """
    weights = _checked(log_weights)
    count = weights.shape[0]
    if count < 2:
        return np.zeros((count, count))
    log_conductance = np.full((count + 1, count + 1), np.inf)
    graph = _graph(weights)
    _solve(graph, np.arange(count + 1), (count + 1, 0), cores(threads), log_conductance)
    probabilities = np.exp(np.minimum(weights - log_conductance[:count, :count], 0.0))
    probabilities[np.diag_indices(count)] = 0.0
    return probabilities


def best_forest(log_weights: ArrayLike) -> IntegerArray:
    """The edges, (edges, 2), of the most probable rooted forest: the largest spanning tree without the ghost's edges.

    An edge of weight 1 or less is never in it. O(p^2).

    Examples
    --------
    >>> best_forest([[0.0, 2.0, -1.0], [2.0, 0.0, 3.0], [-1.0, 3.0, 0.0]]).tolist()
    [[0, 1], [1, 2]]
    """
    weights = _checked(log_weights)
    count = weights.shape[0]
    best_weight, best_neighbour = np.zeros(count), np.full(count, -1)  # from the ghost, with weight 1
    outside = np.ones(count, dtype=bool)
    edges = []
    for _ in range(count):
        node = int(np.argmax(np.where(outside, best_weight, -np.inf)))
        outside[node] = False
        if best_neighbour[node] >= 0:
            edges.append(sorted((int(best_neighbour[node]), node)))
        better = outside & (weights[node] > best_weight)
        best_weight[better], best_neighbour[better] = weights[node, better], node
    return np.array(sorted(edges), dtype=np.int64).reshape(-1, 2)


def draw_forests(
    log_weights: ArrayLike,
    draws: int,
    *,
    random_state: int | np.random.Generator | None = None,
    threads: int | None = None,
) -> list[IntegerArray]:
    """Draw rooted forests with probabilities in proportion to the products of their weights; the edges of each.

    The draws are independent and exact, whatever the weights (see `questions.pairs.star_mesh.draw_trees`).

    Parameters
    ----------
    log_weights : (p, p) array
        As in `edge_probabilities`.
    draws : int
        How many.
    random_state : int or numpy Generator, optional
        The seed.
    threads : int, optional
        Default: all cores.

    Examples
    --------
    >>> drawn = draw_forests([[0.0, 1.0], [1.0, 0.0]], 1000, random_state=0)
    >>> drawn[0].shape[1], 0.7 < np.mean([len(edges) for edges in drawn]) < 0.95
    (2, True)
    """
    require_whole("draws", draws, 1)
    weights = _checked(log_weights)
    count, generator = weights.shape[0], make_generator(random_state)
    if count < 2:
        return [np.zeros((0, 2), dtype=np.int64) for _ in range(draws)]
    graph = _graph(weights)
    without_ghost = graph[0].copy(), graph[1].copy()
    sums, powers = np.empty(count), np.empty(count)
    star_mesh.take_out(*without_ghost, count + 1, count, sums, powers)
    seeds = generator.integers(0, 2**64, draws, dtype=np.uint64)
    trees = np.empty((draws, count, 2), dtype=np.int64)

    def draw(start: int) -> None:
        part = slice(start, start + _DRAWS_AT_ONCE)
        star_mesh.draw_trees(*graph, *without_ghost, sums, powers, seeds[part], trees[part])

    share(draw, range(0, draws, _DRAWS_AT_ONCE), threads)
    return [np.sort(tree[(tree < count).all(axis=1)], axis=1) for tree in trees]  # the ghost is the last node


def _checked(log_weights: ArrayLike) -> FloatArray:
    weights = np.array(log_weights, dtype=np.float64)
    if weights.ndim != 2 or weights.shape[0] != weights.shape[1]:
        raise CredimiError(f"the weights have the shape {weights.shape}: pass a square matrix, one row for each node")
    weights[np.diag_indices(weights.shape[0])] = -np.inf
    wrong = np.isnan(weights) | (weights > _MAX_LOG_WEIGHT) | (weights != weights.T)
    if wrong.any():
        one, other = (int(node) for node in np.argwhere(wrong)[0])
        pair = f"{weights[one, other]} and {weights[other, one]}"
        raise CredimiError(
            f"the log weights between {one} and {other} are {pair}: they must be equal, at most {_MAX_LOG_WEIGHT:g}, "
            "and no NaN"
        )
    return weights


def _graph(weights: FloatArray) -> Graph:
    """The upper triangle of the weights, with weight 1 for the ghost (the last node), as mantissas and powers of 2."""
    count = weights.shape[0]
    upper = np.triu(np.ones((count + 1, count + 1), dtype=bool), 1)
    logs = np.zeros((count + 1, count + 1))
    logs[:count, :count] = weights
    flat = logs[upper]
    absent = flat == -np.inf
    flat[absent] = 0.0
    power = np.floor(flat * (1.0 / np.log(2.0)))
    mantissa = np.exp((flat - power * _LOG_TWO_HIGH) - power * _LOG_TWO_LOW)
    mantissa[absent], power[absent] = 0.0, star_mesh.NOTHING
    return mantissa, power


def _solve(
    graph: Graph, names: IntegerArray, sizes: tuple[int, int], threads: int, log_conductance: FloatArray
) -> None:
    """Compute the conductance of all pairs of a graph, into `log_conductance`; large graphs in parts, by threads.

    `names` are the indices of the nodes in `log_conductance`. `sizes` are those of two groups of nodes: all pairs
    between the groups are computed, or all pairs of the first if the second is empty.
    """
    first, second = sizes
    nodes = first + second
    if threads < 2 or nodes < _MIN_NODES_FOR_THREADS:
        cells = _scratch_size(first, second)
        star_mesh.conductances(*graph, first, second, names, np.empty(cells), np.empty(cells), log_conductance)
        return
    tasks: list[Callable[[int], None]] = []

    def add_task(start: int, stop: int, sizes_left: tuple[int, int]) -> None:
        """Add a task for the graph without the nodes from `start` to `stop`; `sizes_left` are those of its groups."""

        def task(task_threads: int) -> None:
            eliminated = np.arange(start, stop)
            order = np.concatenate([eliminated, np.arange(start), np.arange(stop, nodes)])
            eliminated_graph = np.empty_like(graph[0]), np.empty_like(graph[1])
            star_mesh.keep(*graph, nodes, order, eliminated.size, *eliminated_graph)
            offset = eliminated.size * (2 * nodes - eliminated.size - 1) // 2
            smaller = eliminated_graph[0][offset:], eliminated_graph[1][offset:]
            _solve(smaller, names[order[eliminated.size :]], sizes_left, task_threads, log_conductance)

        tasks.append(task)

    if second == 0:
        half = first // 2
        add_task(half, first, (half, 0))
        add_task(0, half, (first - half, 0))
        first, second = half, first - half
    if first >= second:
        add_task(first // 2, first, (first // 2, second))
        add_task(0, first // 2, (first - first // 2, second))
    else:
        half = second // 2
        add_task(first + half, nodes, (first, half))
        add_task(first, first + half, (first, second - half))
    threads_per_task = max(1, threads // len(tasks))
    share(lambda task: task(threads_per_task), tasks, threads)


def _scratch_size(first: int, second: int) -> int:
    """How many numbers `conductances` needs: for the graph, and for a copy of each smaller one on the way down."""
    one, other = (first // 2, first - first // 2) if second == 0 else (first, second)
    cells = (one + other) * (one + other - 1) // 2
    while one + other > 2:
        cells += (one + other) * (one + other - 1) // 2
        one, other = (one - one // 2, other) if one >= other else (one, other - other // 2)
    return cells + 1
