"""Forests of columns: which edges they have, over all forests at once, given that a forest holds.

If the columns depend on each other as a forest F says (each column on one other at most, once a root is chosen in each
tree), the evidence of the data is prod_v m_v prod_(uv in F) B_uv, with B_uv the Bayes factor of dependence of the pair
(Meila and Jaakkola 2000). So F has the weight prod w_uv, w_uv = B_uv times the prior odds of an edge. One more node,
the ghost, joined to each column with weight 1, makes forests spanning trees: each tree of the forest has one edge to
the ghost, at its root. All **rooted forests** are summed over: a forest counts once for each choice of its roots.

By the matrix-tree theorem the probability that an edge is in the tree is its weight over the conductance between its
ends. `kernels.pairs.star_mesh` finds the conductance of all pairs, in O(p^3), to nearly all digits for weights from
e^-12000 to e^12000, where inverses of matrices fail.

**What these are.** Probabilities *given that a forest holds*. Most data are no forest: of two neighbours with a common
neighbour, one edge too few may be found with certainty. They tell what the best skeleton of p - 1 edges is, and how
sure it is among forests; `credimi.network` asks for more.

Memory: of p columns, about 32 p^2 bytes for weights and results, and 25 p^2 more for each thread; with two threads
0.7 GB for 3,000 columns, 2 GB for 5,000.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from credimi.core.arguments import make_generator, require_whole
from credimi.core.errors import CredimiError
from credimi.core.threads import cores, share
from credimi.kernels.pairs import star_mesh

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from credimi.core.types import FloatArray, IntegerArray

    Graph = tuple[FloatArray, FloatArray]

_LOG_TWO_HIGH, _LOG_TWO_LOW = 0.693147180369123816490, 1.90821492927058770002e-10  # the first has few bits
_MOST = 1e9  # of the logarithm of a weight
_WORTH_THREADS = 200  # nodes
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
    found = np.exp(np.minimum(weights - log_conductance[:count, :count], 0.0))
    found[np.diag_indices(count)] = 0.0
    return found


def best_forest(log_weights: ArrayLike) -> IntegerArray:
    """The edges, (edges, 2), of the most probable rooted forest: the largest spanning tree, less the ghost's edges.

    An edge of weight 1 or less is never in it. O(p^2).

    Examples
    --------
    >>> best_forest([[0.0, 2.0, -1.0], [2.0, 0.0, 3.0], [-1.0, 3.0, 0.0]]).tolist()
    [[0, 1], [1, 2]]
    """
    weights = _checked(log_weights)
    count = weights.shape[0]
    reach, via = np.zeros(count), np.full(count, -1)  # from the ghost, with weight 1
    left = np.ones(count, dtype=bool)
    found = []
    for _ in range(count):
        node = int(np.argmax(np.where(left, reach, -np.inf)))
        left[node] = False
        if via[node] >= 0:
            found.append(sorted((int(via[node]), node)))
        nearer = left & (weights[node] > reach)
        reach[nearer], via[nearer] = weights[node, nearer], node
    return np.array(sorted(found), dtype=np.int64).reshape(-1, 2)


def draw_forests(
    log_weights: ArrayLike,
    draws: int,
    *,
    random_state: int | np.random.Generator | None = None,
    threads: int | None = None,
) -> list[IntegerArray]:
    """Draw rooted forests with probabilities in proportion to the products of their weights; the edges of each.

    The draws are independent and exact, whatever the weights (see `kernels.pairs.star_mesh.draw_trees`).

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
    before = _graph(weights)
    after = before[0].copy(), before[1].copy()
    sums, powers = np.empty(count), np.empty(count)
    star_mesh.take_out(*after, count + 1, count, sums, powers)
    seeds = generator.integers(0, 2**64, draws, dtype=np.uint64)
    trees = np.empty((draws, count, 2), dtype=np.int64)

    def draw(begin: int) -> None:
        part = slice(begin, begin + _DRAWS_AT_ONCE)
        star_mesh.draw_trees(*before, *after, sums, powers, seeds[part], trees[part])

    share(draw, range(0, draws, _DRAWS_AT_ONCE), threads)
    return [np.sort(tree[(tree < count).all(axis=1)], axis=1) for tree in trees]  # the ghost is the last node


def _checked(log_weights: ArrayLike) -> FloatArray:
    weights = np.array(log_weights, dtype=np.float64)
    if weights.ndim != 2 or weights.shape[0] != weights.shape[1]:
        raise CredimiError(f"the weights have the shape {weights.shape}: pass a square matrix, one row for each node")
    weights[np.diag_indices(weights.shape[0])] = -np.inf
    wrong = np.isnan(weights) | (weights > _MOST) | (weights != weights.T)
    if wrong.any():
        one, other = (int(place) for place in np.argwhere(wrong)[0])
        pair = f"{weights[one, other]} and {weights[other, one]}"
        raise CredimiError(
            f"the log weights between {one} and {other} are {pair}: they must be equal, at most {_MOST:g}, and no NaN"
        )
    return weights


def _graph(weights: FloatArray) -> Graph:
    """The triangle of the weights, and of 1 for the ghost, the last node, as `star_mesh` has numbers."""
    count = weights.shape[0]
    upper = np.triu(np.ones((count + 1, count + 1), dtype=bool), 1)
    logs = np.zeros((count + 1, count + 1))
    logs[:count, :count] = weights
    flat = logs[upper]
    nothing = flat == -np.inf
    flat[nothing] = 0.0
    power = np.floor(flat * (1.0 / np.log(2.0)))
    share_ = np.exp((flat - power * _LOG_TWO_HIGH) - power * _LOG_TWO_LOW)
    share_[nothing], power[nothing] = 0.0, star_mesh.NOTHING
    return share_, power


def _solve(
    graph: Graph, names: IntegerArray, sizes: tuple[int, int], threads: int, log_conductance: FloatArray
) -> None:
    """Fill the conductance of the pairs of a graph; large ones in parts, among threads."""
    first, second = sizes
    nodes = first + second
    if threads < 2 or nodes < _WORTH_THREADS:
        cells = _room(first, second)
        star_mesh.conductances(*graph, first, second, names, np.empty(cells), np.empty(cells), log_conductance)
        return
    tasks: list[Callable[[int], None]] = []

    def keeping(begin: int, end: int, left: tuple[int, int]) -> None:
        """A task for the graph without the nodes from `begin` up to `end`."""

        def task(own_threads: int) -> None:
            gone = np.arange(begin, end)
            order = np.concatenate([gone, np.arange(begin), np.arange(end, nodes)])
            whole = np.empty_like(graph[0]), np.empty_like(graph[1])
            star_mesh.keep(*graph, nodes, order, gone.size, *whole)
            place = gone.size * (2 * nodes - gone.size - 1) // 2
            smaller = whole[0][place:], whole[1][place:]
            _solve(smaller, names[order[gone.size :]], left, own_threads, log_conductance)

        tasks.append(task)

    if second == 0:
        half = first // 2
        keeping(half, first, (half, 0))
        keeping(0, half, (first - half, 0))
        first, second = half, first - half
    if first >= second:
        keeping(first // 2, first, (first // 2, second))
        keeping(0, first // 2, (first - first // 2, second))
    else:
        half = second // 2
        keeping(first + half, nodes, (first, half))
        keeping(first, first + half, (first, second - half))
    each = max(1, threads // len(tasks))
    share(lambda task: task(each), tasks, threads)


def _room(first: int, second: int) -> int:
    """How many numbers `conductances` needs: the graph, and a copy of each smaller one on the way down."""
    one, other = (first // 2, first - first // 2) if second == 0 else (first, second)
    cells = (one + other) * (one + other - 1) // 2
    while one + other > 2:
        cells += (one + other) * (one + other - 1) // 2
        one, other = (one - one // 2, other) if one >= other else (one, other - other // 2)
    return cells + 1
