"""Star-mesh elimination of nodes of a weighted graph, for weights of any size, and the conductance of every pair.

Eliminating node v of a graph joins all its neighbours: w_ij <- w_ij + w_iv w_jv / sum_k w_vk. When all nodes but i and
j are eliminated, the remaining weight is the conductance between them. Numbers are positive, and are only added,
multiplied and divided. So the relative error stays near that of one operation, even if the weights differ by many
orders of magnitude. The inverse of the Laplacian would then be wrong in all digits.

**Numbers.** Weights from e^-12000 to e^12000 do not fit into a double. A number is m 2^e, stored as two doubles; e
is a whole number. A sum takes the larger e, and scales the other m by a power of two that is made from its bits. So
loops have no branch, and vectorise. m need not lie in [1, 2): only the row of an eliminated node is normalised. The
number 0 has m = 0 and e = `NOTHING`.

**Graphs** of K nodes are stored as upper triangles, row after row: (0, 1) ... (0, K - 1), (1, 2) ... After the first q
nodes are eliminated, the end of the triangle is the graph of the other nodes. Nodes are eliminated `_PANEL` at a time:
first the rows of the panel are updated, then all others, in parts of a row that fit into the fastest cache.

**All pairs** take O(K^3) together, instead of O(K^3) each. The pairs inside a set S of nodes are those inside each half
of S, with the other half eliminated, and those between the halves. For pairs between A and B: halve the larger of the
two, and eliminate one half, then the other. This takes about 1.4 K^3 updates.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from credimi.compile.jit import FloatArray, IntegerArray, NDArray, compiled, inlined, intrinsic, ir, types
from credimi.inference.random_numbers import uniform

NOTHING = -1e12  # the exponent of 0
_PANEL = 32
_TILE = 128  # numbers of a row that are updated at a time
_MIN_EXPONENT = -1022.0  # the exponent of the smallest normal double
_BIAS = 1023.0 + 1.5 * 2.0**52  # the last bits of its sum with a whole number hold that number
_LOG_TWO = math.log(2.0)
_MAX_DEPTH = 64


@intrinsic
def _power_of_two(_typing: Any, exponent: Any) -> Any:
    """2^exponent; the exponent is a whole number from -1022 to 1023."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        (exponent,) = arguments
        integer, double = ir.IntType(64), ir.DoubleType()
        bits = builder.bitcast(builder.fadd(exponent, ir.Constant(double, _BIAS)), integer)
        return builder.bitcast(builder.shl(bits, ir.Constant(integer, 52)), double)

    return types.float64(exponent), generate


@inlined
def _sum(m: float, e: float, n: float, f: float) -> tuple[float, float]:
    """m 2^e + n 2^f."""
    difference = f - e
    n_shift = max(min(difference, 0.0), _MIN_EXPONENT)
    m_shift = max(min(-difference, 0.0), _MIN_EXPONENT)
    return m * _power_of_two(m_shift) + n * _power_of_two(n_shift), f if difference > 0.0 else e


@inlined
def start(row: int, nodes: int) -> int:
    """The index at which a row of the triangle starts."""
    return row * (2 * nodes - row - 1) // 2


@inlined
def _weight_index(one: int, other: int, nodes: int) -> int:
    """The index of the weight between two nodes."""
    first, second = min(one, other), max(one, other)
    return start(first, nodes) + second - first - 1


@inlined
def _add_multiple(m: FloatArray, e: FloatArray, factor: float, power: float, n: FloatArray, f: FloatArray) -> None:
    """Add a multiple of one section of a row, (n, f), to another, (m, e)."""
    for j in range(m.size):
        m[j], e[j] = _sum(m[j], e[j], factor * n[j], power + f[j])


@inlined
def _add_four_multiples(
    m: FloatArray,
    e: FloatArray,
    factors: FloatArray,
    powers: FloatArray,
    rows: IntegerArray,
    all_m: FloatArray,
    all_e: FloatArray,
) -> None:
    """Add multiples of sections of four rows; the sections start at the indices `rows`."""
    size = m.size
    m0, m1 = all_m[rows[0] : rows[0] + size], all_m[rows[1] : rows[1] + size]
    m2, m3 = all_m[rows[2] : rows[2] + size], all_m[rows[3] : rows[3] + size]
    e0, e1 = all_e[rows[0] : rows[0] + size], all_e[rows[1] : rows[1] + size]
    e2, e3 = all_e[rows[2] : rows[2] + size], all_e[rows[3] : rows[3] + size]
    f0, f1, f2, f3 = factors[0], factors[1], factors[2], factors[3]
    p0, p1, p2, p3 = powers[0], powers[1], powers[2], powers[3]
    for j in range(size):
        a, b = _sum(m[j], e[j], f0 * m0[j], p0 + e0[j])
        c, d = _sum(f1 * m1[j], p1 + e1[j], f2 * m2[j], p2 + e2[j])
        a, b = _sum(a, b, f3 * m3[j], p3 + e3[j])
        m[j], e[j] = _sum(a, b, c, d)


@inlined
def _normalise(m: FloatArray, e: FloatArray) -> tuple[float, float]:
    """Bring each m of a row into [1/2, 1), and return the sum of the row."""
    total, power = 0.0, NOTHING
    for j in range(m.size):
        if m[j] > 0.0:
            shift = np.floor(np.log2(m[j])) + 1.0  # frexp would need Numba at run time
            m[j] *= 2.0**-shift
            e[j] += shift
            total, power = _sum(total, power, m[j], e[j])
    return total, power


@inlined
def _eliminate(m: FloatArray, e: FloatArray, nodes: int, eliminated: int, sums: FloatArray, powers: FloatArray) -> None:
    """Eliminate the first nodes; `sums` and `powers` receive the sum of the weights of each."""
    factors, exponents, rows = np.empty(4), np.empty(4), np.empty(4, dtype=np.int64)
    for begin in range(0, eliminated, _PANEL):
        end = min(begin + _PANEL, eliminated)
        for v in range(begin, end):
            target = start(v, nodes)
            for u in range(begin, v):
                at = start(u, nodes) + v - u - 1
                if m[at] > 0.0:
                    _add_multiple(
                        m[target : target + nodes - 1 - v],
                        e[target : target + nodes - 1 - v],
                        m[at] / sums[u],
                        e[at] - powers[u],
                        m[at + 1 : at + nodes - v],
                        e[at + 1 : at + nodes - v],
                    )
            sums[v], powers[v] = _normalise(m[target : target + nodes - 1 - v], e[target : target + nodes - 1 - v])
        for left in range(end, nodes, _TILE):
            right = min(left + _TILE, nodes)
            for i in range(end, right):
                first = max(left, i + 1)
                target = start(i, nodes) + first - i - 1
                waiting = 0
                for v in range(begin, end):
                    at = start(v, nodes) - v - 1
                    if m[at + i] == 0.0:
                        continue
                    factors[waiting], exponents[waiting] = m[at + i] / sums[v], e[at + i] - powers[v]
                    rows[waiting] = at + first
                    waiting += 1
                    if waiting == 4:
                        stretch = slice(target, target + right - first)
                        _add_four_multiples(m[stretch], e[stretch], factors, exponents, rows, m, e)
                        waiting = 0
                for term in range(waiting):
                    stretch = slice(rows[term], rows[term] + right - first)
                    _add_multiple(
                        m[target : target + right - first],
                        e[target : target + right - first],
                        factors[term],
                        exponents[term],
                        m[stretch],
                        e[stretch],
                    )


@inlined
def _copy_reordered(
    m: FloatArray, e: FloatArray, nodes: int, order: IntegerArray, to_m: FloatArray, to_e: FloatArray
) -> None:
    """Copy a graph with its nodes in another order."""
    at = 0
    for i in range(nodes):
        for j in range(i + 1, nodes):
            index = _weight_index(order[i], order[j], nodes)
            to_m[at], to_e[at] = m[index], e[index]
            at += 1


@compiled
def take_out(m: FloatArray, e: FloatArray, nodes: int, eliminated: int, sums: FloatArray, powers: FloatArray) -> None:
    """Eliminate the first nodes in place: each row keeps the weights of its node at the moment of its elimination."""
    _eliminate(m, e, nodes, eliminated, sums, powers)


@compiled
def keep(
    m: FloatArray, e: FloatArray, nodes: int, order: IntegerArray, eliminated: int, to_m: FloatArray, to_e: FloatArray
) -> None:
    """Copy a graph with its nodes in another order, and eliminate the first nodes of the copy."""
    _copy_reordered(m, e, nodes, order, to_m, to_e)
    _eliminate(to_m, to_e, nodes, eliminated, np.empty(eliminated), np.empty(eliminated))


@compiled
def conductances(
    m: FloatArray,
    e: FloatArray,
    first: int,
    second: int,
    matrix_index: IntegerArray,
    scratch_m: FloatArray,
    scratch_e: FloatArray,
    log_conductance: FloatArray,
) -> None:
    """Fill the logarithm of the conductance between all pairs of the first nodes and the `second` ones.

    The graph has `first + second` nodes. If `second` is 0, the pairs are those of the first nodes. `matrix_index` has
    each node's index in the square `log_conductance`; both halves of the square are filled.
    """
    # A problem has its number of first nodes and of second nodes, its next part, and the start of its graph.
    problems = np.zeros((_MAX_DEPTH, 4), dtype=np.int64)
    members = np.empty((_MAX_DEPTH, matrix_index.size), dtype=np.int64)
    order = np.empty(matrix_index.size, dtype=np.int64)
    sums, powers = np.empty(matrix_index.size), np.empty(matrix_index.size)
    for k in range(m.size):  # a loop, here and below: assigning slices would need Python for errors
        scratch_m[k], scratch_e[k] = m[k], e[k]
    for k in range(matrix_index.size):
        members[0, k] = matrix_index[k]
    problems[0, 0], problems[0, 1] = first, second
    depth = 0
    while depth >= 0:
        a, b, part, at = problems[depth, 0], problems[depth, 1], problems[depth, 2], problems[depth, 3]
        nodes = a + b
        graph_m, graph_e = scratch_m[at : at + start(nodes, nodes)], scratch_e[at : at + start(nodes, nodes)]
        problems[depth, 2] = part + 1
        if a == 1 and b == 1:
            one, other = members[depth, 0], members[depth, 1]
            log_value = math.log(graph_m[0]) + graph_e[0] * _LOG_TWO if graph_m[0] > 0.0 else -np.inf
            log_conductance[one, other] = log_value
            log_conductance[other, one] = log_value
            depth -= 1
            continue
        if nodes < 2 or part == (3 if b == 0 else 2):
            depth -= 1
            continue
        if b == 0 and part == 2:  # pairs between the halves: the same graph
            problems[depth + 1, 0], problems[depth + 1, 1] = a // 2, a - a // 2
            problems[depth + 1, 2], problems[depth + 1, 3] = 0, at
            for k in range(nodes):
                members[depth + 1, k] = members[depth, k]
            depth += 1
            continue
        # eliminate the nodes from `begin` up to `end`
        halved_size, halved_start = (a, 0) if a >= b else (b, a)
        begin, end = (
            (halved_start + halved_size // 2, halved_start + halved_size)
            if part == 0
            else (halved_start, halved_start + halved_size // 2)
        )
        eliminated = end - begin
        remaining = 0
        for node in range(nodes):
            if begin <= node < end:
                order[node - begin] = node
            else:
                order[eliminated + remaining] = node
                members[depth + 1, remaining] = members[depth, node]
                remaining += 1
        free = at + start(nodes, nodes)
        to_m, to_e = scratch_m[free : free + graph_m.size], scratch_e[free : free + graph_m.size]
        _copy_reordered(graph_m, graph_e, nodes, order[:nodes], to_m, to_e)
        _eliminate(to_m, to_e, nodes, eliminated, sums, powers)
        problems[depth + 1, 0] = a - eliminated if a >= b else a
        problems[depth + 1, 1] = b if a >= b else b - eliminated
        problems[depth + 1, 2] = 0
        problems[depth + 1, 3] = free + start(eliminated, nodes)
        depth += 1


@inlined
def _root(parent: IntegerArray, node: int) -> int:
    """The node that represents the component of a node."""
    while parent[node] != node:
        parent[node] = parent[parent[node]]
        node = parent[node]
    return node


@inlined
def _ratio(m: float, e: float, n: float, f: float) -> float:
    """(m 2^e) / (n 2^f), which is at most about 1; 0 if it is too small for a double."""
    difference = e - f
    return m / n * 2.0**difference if difference > _MIN_EXPONENT else 0.0


@inlined
def _origin(
    before_m: FloatArray,
    before_e: FloatArray,
    m: FloatArray,
    e: FloatArray,
    sums: FloatArray,
    powers: FloatArray,
    nodes: int,
    v: int,
    i: int,
    state: NDArray[np.uint64],
) -> int:
    """Draw the origin of an edge between v and i: -1 for an edge of the graph, or the eliminated node that made it."""
    edge = _weight_index(v, i, nodes)
    remainder = uniform(state) - _ratio(before_m[edge], before_e[edge], m[edge], e[edge])
    origin = -1
    u = 0
    while remainder >= 0.0 and u < v:
        row_base = start(u, nodes) - u - 1
        if m[row_base + v] > 0.0 and m[row_base + i] > 0.0:
            share = m[row_base + v] / sums[u] * m[row_base + i]
            remainder -= _ratio(share, e[row_base + v] + e[row_base + i] - powers[u], m[edge], e[edge])
            origin = u
        u += 1
    if remainder < 0.0:
        return origin if u > 0 else -1
    return origin if before_m[edge] == 0.0 else -1  # the remainder is rounding error


@compiled
def draw_trees(
    before_m: FloatArray,
    before_e: FloatArray,
    m: FloatArray,
    e: FloatArray,
    sums: FloatArray,
    powers: FloatArray,
    seeds: NDArray[np.uint64],
    trees: NDArray[np.int64],
) -> None:
    """Draw spanning trees with probabilities in proportion to the products of their weights, one for each seed.

    `before_m` and `before_e` are the graph. `m`, `e`, `sums` and `powers` are what `take_out` leaves of it when all
    nodes but the last are eliminated. `trees` (draws, nodes - 1, 2) receives the edges.

    Nodes return in the opposite order. A tree on the later nodes has edges of the graph, and edges that stand for a
    path through v. When v returns, the latter are removed, and v is joined to one node of each remaining component, in
    proportion to its weights. By Cayley's formula the probabilities are those of trees with v. A random walk would take
    e^12000 steps between two nodes that are joined by such a weight. O(nodes^2) a tree, or somewhat more.
    """
    nodes = sums.size + 1
    parent, origin = np.empty(nodes, dtype=np.int64), np.empty(nodes, dtype=np.int64)
    highest, total, threshold = np.empty(nodes), np.empty(nodes), np.empty(nodes)
    chosen = np.empty(nodes, dtype=np.int64)
    state = np.empty(1, dtype=np.uint64)
    for draw in range(seeds.size):
        state[0] = seeds[draw]
        edges = trees[draw]
        count = 0
        for v in range(nodes - 2, -1, -1):
            for node in range(v + 1, nodes):
                parent[node], highest[node], total[node], chosen[node] = node, 2.0 * NOTHING, 0.0, -1
            remaining = 0
            for edge in range(count):
                if origin[edge] != v:
                    edges[remaining, 0], edges[remaining, 1], origin[remaining] = (
                        edges[edge, 0],
                        edges[edge, 1],
                        origin[edge],
                    )
                    parent[_root(parent, edges[remaining, 0])] = _root(parent, edges[remaining, 1])
                    remaining += 1
            count = remaining
            row_base = start(v, nodes) - v - 1
            for node in range(v + 1, nodes):
                component = _root(parent, node)
                if m[row_base + node] > 0.0:
                    highest[component] = max(highest[component], e[row_base + node])
            for node in range(v + 1, nodes):
                component = _root(parent, node)
                if m[row_base + node] > 0.0:
                    total[component] += _ratio(m[row_base + node], e[row_base + node], 1.0, highest[component])
            for node in range(v + 1, nodes):
                if parent[node] == node:
                    threshold[node] = uniform(state) * total[node]
            for node in range(v + 1, nodes):
                component = _root(parent, node)
                if m[row_base + node] > 0.0 and threshold[component] >= 0.0:
                    threshold[component] -= _ratio(m[row_base + node], e[row_base + node], 1.0, highest[component])
                    chosen[component] = node
            for node in range(v + 1, nodes):
                if parent[node] == node:
                    edges[count, 0], edges[count, 1] = v, chosen[node]
                    origin[count] = _origin(before_m, before_e, m, e, sums, powers, nodes, v, chosen[node], state)
                    count += 1
