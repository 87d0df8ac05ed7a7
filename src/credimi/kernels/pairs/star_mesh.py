"""Star-mesh elimination of nodes of a weighted graph, for weights of any size, and what remains between all pairs.

Taking out node v of a graph joins all its neighbours: w_ij <- w_ij + w_iv w_jv / sum_k w_vk. If all nodes but i and j
are out, what is left is the conductance between them. Only positive numbers are added, multiplied and divided, so that
the relative error stays near that of one operation, however far the weights are apart: an inverse of the Laplacian is
wrong in all digits there.

**Numbers.** Weights from e^-12000 to e^12000 do not fit into a double. A number is m 2^e with two doubles, e whole. A
sum takes the larger e, and scales the other m by a power of two that is made from its bits; so loops have no branch,
and vectorise. m need not lie in [1, 2): only the row of a node that is taken out is normalised. 0 has m = 0 and
e = `NOTHING`.

**Graphs** of K nodes are upper triangles, row after row: (0, 1) ... (0, K - 1), (1, 2) ... If the first q nodes are
taken out, the end of the triangle is that of the other nodes. Nodes are taken out `_PANEL` at a time: first each row of
the panel is brought up to date, then all others, a part of a row that stays in the fastest cache at a time.

**All pairs** in O(K^3), instead of O(K^3) for each: pairs inside a set S of nodes are those inside each half of S, with
the other half out, and those between the halves. Pairs between A and B: halve the larger of the two, and take out one
half, then the other. About 1.4 K^3 updates.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from credimi.kernels.jit import compiled, inlined, intrinsic, ir, types

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from credimi.kernels.jit import FloatArray, IntegerArray

NOTHING = -1e12  # the exponent of 0
_PANEL = 32
_TILE = 128  # of a row
_LEAST = -1022.0  # the exponent of the smallest normal double
_BIAS = 1023.0 + 1.5 * 2.0**52  # a whole number added to it is in the last bits of the sum
_LOG_TWO = math.log(2.0)
_DEEPEST = 64


@intrinsic
def _power_of_two(_typing: Any, exponent: Any) -> Any:
    """2^exponent, of a whole number from -1022 to 1023."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        (exponent,) = arguments
        integer, double = ir.IntType(64), ir.DoubleType()
        bits = builder.bitcast(builder.fadd(exponent, ir.Constant(double, _BIAS)), integer)
        return builder.bitcast(builder.shl(bits, ir.Constant(integer, 52)), double)

    return types.float64(exponent), generate


@inlined
def _sum(m: float, e: float, n: float, f: float) -> tuple[float, float]:
    """m 2^e + n 2^f."""
    apart = f - e
    up = max(min(apart, 0.0), _LEAST)
    down = max(min(-apart, 0.0), _LEAST)
    return m * _power_of_two(down) + n * _power_of_two(up), f if apart > 0.0 else e


@inlined
def start(row: int, nodes: int) -> int:
    """Where a row of the triangle starts."""
    return row * (2 * nodes - row - 1) // 2


@inlined
def _place(one: int, other: int, nodes: int) -> int:
    """Where the weight between two nodes is."""
    first, second = min(one, other), max(one, other)
    return start(first, nodes) + second - first - 1


@inlined
def _add(m: FloatArray, e: FloatArray, factor: float, power: float, n: FloatArray, f: FloatArray) -> None:
    """Add a multiple of one stretch of a row to another."""
    for j in range(m.size):
        m[j], e[j] = _sum(m[j], e[j], factor * n[j], power + f[j])


@inlined
def _add_four(
    m: FloatArray,
    e: FloatArray,
    factors: FloatArray,
    powers: FloatArray,
    rows: IntegerArray,
    all_m: FloatArray,
    all_e: FloatArray,
) -> None:
    """Add multiples of four rows, the stretches of which start at `rows`."""
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
def _take_out(m: FloatArray, e: FloatArray, nodes: int, out: int, sums: FloatArray, powers: FloatArray) -> None:
    """Take out the first `out` nodes; `sums` and `powers` get the sum of the weights of each."""
    factors, exponents, rows = np.empty(4), np.empty(4), np.empty(4, dtype=np.int64)
    for begin in range(0, out, _PANEL):
        end = min(begin + _PANEL, out)
        for v in range(begin, end):
            own = start(v, nodes)
            for u in range(begin, v):
                at = start(u, nodes) + v - u - 1
                if m[at] > 0.0:
                    _add(
                        m[own : own + nodes - 1 - v],
                        e[own : own + nodes - 1 - v],
                        m[at] / sums[u],
                        e[at] - powers[u],
                        m[at + 1 : at + nodes - v],
                        e[at + 1 : at + nodes - v],
                    )
            sums[v], powers[v] = _normalise(m[own : own + nodes - 1 - v], e[own : own + nodes - 1 - v])
        for left in range(end, nodes, _TILE):
            right = min(left + _TILE, nodes)
            for i in range(end, right):
                first = max(left, i + 1)
                own = start(i, nodes) + first - i - 1
                waiting = 0
                for v in range(begin, end):
                    at = start(v, nodes) - v - 1
                    if m[at + i] == 0.0:
                        continue
                    factors[waiting], exponents[waiting] = m[at + i] / sums[v], e[at + i] - powers[v]
                    rows[waiting] = at + first
                    waiting += 1
                    if waiting == 4:
                        stretch = slice(own, own + right - first)
                        _add_four(m[stretch], e[stretch], factors, exponents, rows, m, e)
                        waiting = 0
                for each in range(waiting):
                    stretch = slice(rows[each], rows[each] + right - first)
                    _add(
                        m[own : own + right - first],
                        e[own : own + right - first],
                        factors[each],
                        exponents[each],
                        m[stretch],
                        e[stretch],
                    )


@inlined
def _copy(m: FloatArray, e: FloatArray, nodes: int, order: IntegerArray, to_m: FloatArray, to_e: FloatArray) -> None:
    """Copy a graph with its nodes in another order."""
    at = 0
    for i in range(nodes):
        for j in range(i + 1, nodes):
            place = _place(order[i], order[j], nodes)
            to_m[at], to_e[at] = m[place], e[place]
            at += 1


@compiled
def take_out(m: FloatArray, e: FloatArray, nodes: int, out: int, sums: FloatArray, powers: FloatArray) -> None:
    """Take out the first `out` nodes, in place: each row becomes that of its node at the moment it is taken out."""
    _take_out(m, e, nodes, out, sums, powers)


@compiled
def keep(
    m: FloatArray, e: FloatArray, nodes: int, order: IntegerArray, out: int, to_m: FloatArray, to_e: FloatArray
) -> None:
    """Copy a graph with its nodes in another order, and take the first `out` of them out."""
    _copy(m, e, nodes, order, to_m, to_e)
    _take_out(to_m, to_e, nodes, out, np.empty(out), np.empty(out))


@compiled
def conductances(
    m: FloatArray,
    e: FloatArray,
    first: int,
    second: int,
    names: IntegerArray,
    room_m: FloatArray,
    room_e: FloatArray,
    log_conductance: FloatArray,
) -> None:
    """Fill the logarithm of the conductance between all pairs of the first nodes and the `second` ones.

    The graph has `first + second` nodes; with no second ones, the pairs are those of the first. `names` are the nodes'
    places in the square `log_conductance`, of which both halves are filled.
    """
    sizes = np.zeros((_DEEPEST, 4), dtype=np.int64)  # of a problem: first nodes, second nodes, next part, its graph
    listed = np.empty((_DEEPEST, names.size), dtype=np.int64)
    order = np.empty(names.size, dtype=np.int64)
    sums, powers = np.empty(names.size), np.empty(names.size)
    for place in range(m.size):  # by hand, as below: an assignment of slices would need Python for its errors
        room_m[place], room_e[place] = m[place], e[place]
    for place in range(names.size):
        listed[0, place] = names[place]
    sizes[0, 0], sizes[0, 1] = first, second
    depth = 0
    while depth >= 0:
        a, b, part, at = sizes[depth, 0], sizes[depth, 1], sizes[depth, 2], sizes[depth, 3]
        nodes = a + b
        own_m, own_e = room_m[at : at + start(nodes, nodes)], room_e[at : at + start(nodes, nodes)]
        sizes[depth, 2] = part + 1
        if a == 1 and b == 1:
            one, other = listed[depth, 0], listed[depth, 1]
            found = math.log(own_m[0]) + own_e[0] * _LOG_TWO if own_m[0] > 0.0 else -np.inf
            log_conductance[one, other] = found
            log_conductance[other, one] = found
            depth -= 1
            continue
        if nodes < 2 or part == (3 if b == 0 else 2):
            depth -= 1
            continue
        if b == 0 and part == 2:  # pairs between the halves: the same graph
            sizes[depth + 1, 0], sizes[depth + 1, 1] = a // 2, a - a // 2
            sizes[depth + 1, 2], sizes[depth + 1, 3] = 0, at
            for place in range(nodes):
                listed[depth + 1, place] = listed[depth, place]
            depth += 1
            continue
        # the nodes from `begin` up to `end` go
        halved, before = (a, 0) if a >= b else (b, a)
        begin, end = (before + halved // 2, before + halved) if part == 0 else (before, before + halved // 2)
        gone = end - begin
        kept = 0
        for node in range(nodes):
            if begin <= node < end:
                order[node - begin] = node
            else:
                order[gone + kept] = node
                listed[depth + 1, kept] = listed[depth, node]
                kept += 1
        behind = at + start(nodes, nodes)
        to_m, to_e = room_m[behind : behind + own_m.size], room_e[behind : behind + own_m.size]
        _copy(own_m, own_e, nodes, order[:nodes], to_m, to_e)
        _take_out(to_m, to_e, nodes, gone, sums, powers)
        sizes[depth + 1, 0] = a - gone if a >= b else a
        sizes[depth + 1, 1] = b if a >= b else b - gone
        sizes[depth + 1, 2] = 0
        sizes[depth + 1, 3] = behind + start(gone, nodes)
        depth += 1


@inlined
def _uniform(state: NDArray[np.uint64]) -> float:
    """The next number in [0, 1) of SplitMix64."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.float64((z ^ (z >> np.uint64(31))) >> np.uint64(11)) * 2.0**-53


@inlined
def _find(parent: IntegerArray, node: int) -> int:
    """The node that stands for a part of the tree."""
    while parent[node] != node:
        parent[node] = parent[parent[node]]
        node = parent[node]
    return node


@inlined
def _ratio(m: float, e: float, n: float, f: float) -> float:
    """m 2^e / n 2^f, where that is at most about 1."""
    apart = e - f
    return m / n * 2.0**apart if apart > _LEAST else 0.0


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
    """What an edge between v and i stands for: -1 for itself, or the node that was taken out between the two."""
    place = _place(v, i, nodes)
    left = _uniform(state) - _ratio(before_m[place], before_e[place], m[place], e[place])
    likely = -1
    u = 0
    while left >= 0.0 and u < v:
        own = start(u, nodes) - u - 1
        if m[own + v] > 0.0 and m[own + i] > 0.0:
            share = m[own + v] / sums[u] * m[own + i]
            left -= _ratio(share, e[own + v] + e[own + i] - powers[u], m[place], e[place])
            likely = u
        u += 1
    if left < 0.0:
        return likely if u > 0 else -1
    return likely if before_m[place] == 0.0 else -1  # only rounding is left


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

    `before_m` and `before_e` are the graph, `m` and `e` the same with all nodes but the last taken out by `take_out`,
    with its `sums` and `powers`. `trees` (draws, nodes - 1, 2) gets the edges.

    Nodes come back in the opposite order. A tree on the later nodes has edges that stand for themselves and edges that
    stand for a way through v. When v comes back, the latter go, and v is joined to one node of each part that is left,
    in proportion to its weights: by Cayley's formula the probabilities are those of trees with v. No walk is needed,
    which would take e^12000 steps between two nodes that are joined so firmly. O(nodes^2) a tree, or somewhat more.
    """
    nodes = sums.size + 1
    parent, origin = np.empty(nodes, dtype=np.int64), np.empty(nodes, dtype=np.int64)
    highest, total, aim = np.empty(nodes), np.empty(nodes), np.empty(nodes)
    chosen = np.empty(nodes, dtype=np.int64)
    state = np.empty(1, dtype=np.uint64)
    for draw in range(seeds.size):
        state[0] = seeds[draw]
        edges = trees[draw]
        count = 0
        for v in range(nodes - 2, -1, -1):
            for node in range(v + 1, nodes):
                parent[node], highest[node], total[node], chosen[node] = node, 2.0 * NOTHING, 0.0, -1
            kept = 0
            for edge in range(count):
                if origin[edge] != v:
                    edges[kept, 0], edges[kept, 1], origin[kept] = edges[edge, 0], edges[edge, 1], origin[edge]
                    parent[_find(parent, edges[kept, 0])] = _find(parent, edges[kept, 1])
                    kept += 1
            count = kept
            own = start(v, nodes) - v - 1
            for node in range(v + 1, nodes):
                part = _find(parent, node)
                if m[own + node] > 0.0:
                    highest[part] = max(highest[part], e[own + node])
            for node in range(v + 1, nodes):
                part = _find(parent, node)
                if m[own + node] > 0.0:
                    total[part] += _ratio(m[own + node], e[own + node], 1.0, highest[part])
            for node in range(v + 1, nodes):
                if parent[node] == node:
                    aim[node] = _uniform(state) * total[node]
            for node in range(v + 1, nodes):
                part = _find(parent, node)
                if m[own + node] > 0.0 and aim[part] >= 0.0:
                    aim[part] -= _ratio(m[own + node], e[own + node], 1.0, highest[part])
                    chosen[part] = node
            for node in range(v + 1, nodes):
                if parent[node] == node:
                    edges[count, 0], edges[count, 1] = v, chosen[node]
                    origin[count] = _origin(before_m, before_e, m, e, sums, powers, nodes, v, chosen[node], state)
                    count += 1
