"""Networks sampled by orders: probabilities as by enumeration, directions as in all networks that are equivalent."""

from __future__ import annotations

from itertools import combinations, permutations, product

import numpy as np

from credimi.questions.network.orders import Sampled, sampled
from credimi.questions.network.pair_set import PairSet
from credimi.questions.network.parent_sets import ParentSets
from credimi.questions.pairs.imputation import draw_missing

COLUMNS = 4


def random_sets(seed: int) -> list[ParentSets]:
    generator = np.random.default_rng(seed)
    found = []
    for column in range(COLUMNS):
        others = np.array([each for each in range(COLUMNS) if each != column])
        found.append(ParentSets(others, {mask: float(generator.normal(0.0, 3.0)) * (mask > 0) for mask in range(8)}))
    return found


def enumerated(sets: list[ParentSets]) -> np.ndarray:
    """P(arc) by a sum over all orders."""
    total, arcs = 0.0, np.zeros((COLUMNS, COLUMNS))
    for order in permutations(range(COLUMNS)):
        weight, here = 1.0, np.zeros((COLUMNS, COLUMNS))
        for place, column in enumerate(order):
            before, own = set(order[:place]), sets[column]
            masks = [mask for mask in own.evidence if all(own.candidates[at] in before for at in bits(mask))]
            weights = np.exp([own.evidence[mask] for mask in masks])
            for mask, share in zip(masks, weights / weights.sum(), strict=True):
                here[own.candidates[bits(mask)], column] += share
            weight *= weights.sum()
        total += weight
        arcs += weight * here
    return arcs / total


def as_matrix(found: Sampled, figures: np.ndarray) -> np.ndarray:
    """Row a, column b: the figure of a -> b."""
    matrix = np.zeros((len(found.candidates), len(found.candidates)))
    for child, own in enumerate(found.candidates.tolist()):
        matrix[own, child] = figures[child]
    return matrix


def bits(mask: int) -> list[int]:
    return [at for at in range(COLUMNS) if mask >> at & 1]


def test_arcs_have_the_probabilities_of_all_orders() -> None:
    for seed in range(3):
        sets = random_sets(seed)
        found = sampled(sets, 0.0, seed=seed, effort=5.0, threads=1)
        np.testing.assert_allclose(as_matrix(found, found.arcs), enumerated(sets), atol=0.05)


def test_one_seed_gives_one_answer_on_any_number_of_threads() -> None:
    sets = random_sets(9)
    one, two = (sampled(sets, -1.0, seed=3, threads=threads) for threads in (1, 2))
    np.testing.assert_array_equal(one.arcs, two.arcs)
    np.testing.assert_array_equal(one.forced, two.forced)


def test_figures_of_arcs_are_those_of_their_pairs_both_ways() -> None:
    found = sampled(random_sets(2), 0.0, seed=2, effort=0.2, threads=1)
    pairs = PairSet(COLUMNS, *np.triu_indices(COLUMNS, 1))
    matrix = as_matrix(found, found.arcs)
    both = found.of_pairs(pairs, found.arcs)
    np.testing.assert_array_equal(both, [(matrix[a, b], matrix[b, a]) for a, b in combinations(range(COLUMNS), 2)])


def colliders(arcs: set[tuple[int, int]]) -> set[tuple[int, int, int]]:
    joined = {frozenset(arc) for arc in arcs}
    pairs = [(a, b) for a, b in combinations(range(COLUMNS + 1), 2) if frozenset((a, b)) not in joined]
    return {(a, c, b) for a, b in pairs for c in range(COLUMNS + 1) if {(a, c), (b, c)} <= arcs}


def is_acyclic(arcs: set[tuple[int, int]]) -> bool:
    left = set(range(COLUMNS + 1))
    while left:
        free = {each for each in left if not any(b == each and a in left for a, b in arcs)}
        if not free:
            return False
        left -= free
    return True


def compelled(arcs: set[tuple[int, int]]) -> set[tuple[int, int]]:
    """The arcs that all networks with the same edges and the same colliders have."""
    edges = sorted(arcs)
    ways = product(*[(edge, edge[::-1]) for edge in edges])
    same = [set(way) for way in ways if is_acyclic(set(way)) and colliders(set(way)) == colliders(arcs)]
    return set.intersection(*same) if same else set()


def test_directions_are_those_of_all_equivalent_networks() -> None:
    columns = COLUMNS + 1
    for seed in range(60):
        generator = np.random.default_rng(seed)
        order = generator.permutation(columns).tolist()
        arcs = {(order[i], order[j]) for i, j in combinations(range(columns), 2) if generator.random() < 0.5}
        sets = []
        for column in range(columns):
            others = np.array([each for each in range(columns) if each != column])
            own = sum(1 << at for at, other in enumerate(others.tolist()) if (other, column) in arcs)
            sets.append(ParentSets(others, {0: 0.0, own: 1000.0 if own else 0.0}))
        found = sampled(sets, 0.0, seed=seed, effort=0.2, threads=1)
        if not np.isclose(found.arcs.sum(), len(arcs)):
            continue  # another place was found: this network has the largest evidence, but the walk is short
        assert {
            (int(a), int(b)) for a, b in zip(*np.nonzero(as_matrix(found, found.forced) > 0.5), strict=True)
        } == compelled(arcs)


def test_missing_cells_have_their_probabilities_given_the_row() -> None:
    # a -> b -> c, b missing in all rows: P(b | a, c) is in proportion to P(b | a) P(c | b)
    rows = 40_000
    generator = np.random.default_rng(0)
    codes = np.array([generator.integers(0, 2, rows), np.zeros(rows), generator.integers(0, 3, rows)], dtype=np.uint16)
    of_a, of_b = np.array([0.3, 0.7]), np.array([[0.9, 0.1], [0.4, 0.6]])
    of_c = np.array([[0.2, 0.3, 0.5], [0.7, 0.2, 0.1]])
    chances = np.concatenate([of_a, of_b.ravel(), of_c.ravel()])
    parents, strides = np.array([[-1], [0], [1]]), np.array([[0], [1], [1]])
    cells = 1, np.arange(rows), np.ones(rows, dtype=np.int64)
    state = np.array([5], dtype=np.uint64)
    starts, child_starts, children = np.array([0, 2, 6]), np.array([0, 1, 2, 2]), np.array([1, 2])
    network = parents, strides, child_starts, children, starts, chances, state
    draw_missing(codes, np.array([2, 2, 3]), *cells, *network, np.empty((0, 2)))
    for a, c in product(range(2), range(3)):
        here = codes[1, (codes[0] == a) & (codes[2] == c)]
        weights = of_b[a] * of_c[:, c]
        assert abs(here.mean() - weights[1] / weights.sum()) < 4.0 * np.sqrt(0.25 / here.size)
    units = np.full(rows, 3)  # nothing is drawn where a row stands for several, but the probabilities are returned
    told = np.empty((rows, 2))
    draw_missing(codes.copy(), np.array([2, 2, 3]), 1, np.arange(rows), units, *network, told)
    weights = of_b[codes[0]] * of_c[:, codes[2]].T
    np.testing.assert_allclose(told, weights / weights.sum(axis=1, keepdims=True), atol=1e-12)
