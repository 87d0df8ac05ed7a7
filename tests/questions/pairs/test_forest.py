"""Forests of columns, against enumeration and against arithmetic of 700 digits; draws by their frequencies."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import TYPE_CHECKING

import mpmath
import numpy as np
import pytest
from scipy import stats

from credimi.core.errors import CredimiError
from credimi.questions.pairs.forest import best_forest, draw_forests, edge_probabilities

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Matrix = NDArray[np.float64]
    Edges = tuple[tuple[int, int], ...]


def symmetric(values: Matrix) -> Matrix:
    upper = np.triu(values, 1)
    return upper + upper.T


def rooted_forests(log_weights: Matrix) -> dict[Edges, float]:
    """Every forest and its probability: the product of its weights for each choice of roots."""
    count = log_weights.shape[0]
    found: dict[Edges, float] = {}
    for size in range(count):
        for edges in combinations(combinations(range(count), 2), size):
            part = list(range(count))
            for one, other in edges:
                if part[one] == part[other]:
                    break
                part = [part[other] if each == part[one] else each for each in part]
            else:
                roots = np.prod(list(Counter(part).values()))
                found[edges] = float(roots * np.exp(sum(log_weights[edge] for edge in edges)))
    whole = sum(found.values())
    return {edges: weight / whole for edges, weight in found.items()}


@pytest.mark.parametrize("seed", range(4))
def test_probabilities_are_those_of_all_forests(seed: int) -> None:
    weights = symmetric(np.random.default_rng(seed).normal(0, 2, (5, 5)))
    forests = rooted_forests(weights)
    wanted = np.zeros((5, 5))
    for edges, probability in forests.items():
        for one, other in edges:
            wanted[one, other] += probability
    found = edge_probabilities(weights, threads=1)
    np.testing.assert_allclose(found, wanted + wanted.T, rtol=1e-12)
    expected_edges = sum(len(edges) * probability for edges, probability in forests.items())
    assert found.sum() / 2 == pytest.approx(expected_edges, rel=1e-12)


@pytest.mark.parametrize(
    ("seed", "most", "digits"), [(0, 3.0, 50), (1, 700.0, 700), (2, 12_000.0, 11_000), (3, 12_000.0, 11_000)]
)
def test_digits_hold_for_weights_of_any_size(seed: int, most: float, digits: int) -> None:
    powers = symmetric(np.round(np.random.default_rng(seed).uniform(-20, most, (9, 9)) / np.log(2.0)))
    if seed == 3:  # two firm groups, joined by next to nothing
        powers[:4, 4:] = powers[4:, :4] = -15.0
    weights, pairs = powers * np.log(2.0), list(combinations(range(9), 2))
    probability = edge_probabilities(weights, threads=1)
    with mpmath.workdps(digits):
        laplacian = mpmath.eye(9)  # the ghost's edges
        for one, other in pairs:
            weight = mpmath.ldexp(1, int(powers[one, other]))
            laplacian[one, other] = laplacian[other, one] = -weight
            laplacian[one, one] += weight
            laplacian[other, other] += weight
        inverse = laplacian**-1
        for one, other in pairs:
            resistance = inverse[one, one] + inverse[other, other] - 2 * inverse[one, other]
            wanted = float(resistance * mpmath.ldexp(1, int(powers[one, other])))
            assert probability[one, other] == pytest.approx(wanted, rel=1e-10, abs=1e-300)
    assert probability.sum() / 2 <= 9.0


def test_threads_change_nothing() -> None:
    weights = symmetric(np.random.default_rng(0).normal(-3, 3, (260, 260)))
    alone = edge_probabilities(weights, threads=1)
    for threads in (2, 9):
        assert np.array_equal(alone, edge_probabilities(weights, threads=threads))


@pytest.mark.parametrize("nodes", [*range(2, 20), 67])
def test_graphs_of_any_number_of_nodes_have_as_many_edges_as_expected(nodes: int) -> None:
    weights = symmetric(np.random.default_rng(nodes).normal(0, 2, (nodes, nodes)))
    laplacian = np.diag(1.0 + symmetric(np.exp(weights)).sum(axis=1)) - symmetric(np.exp(weights))
    expected = nodes - np.trace(np.linalg.inv(laplacian))  # a column is a root if its edge to the ghost is there
    assert edge_probabilities(weights, threads=1).sum() / 2 == pytest.approx(expected, rel=1e-10)


def test_edges_that_cannot_be_have_no_probability() -> None:
    weights = np.full((4, 4), -np.inf)
    weights[0, 1] = weights[1, 0] = 0.0
    found = edge_probabilities(weights)
    assert found[0, 1] == pytest.approx(2.0 / 3.0)
    assert np.count_nonzero(found) == 2
    assert all(len(edges) <= 1 for edges in draw_forests(weights, 50, random_state=0))


@pytest.mark.parametrize("seed", range(5))
def test_best_forest_is_the_most_probable_rooted_one(seed: int) -> None:
    weights = symmetric(np.random.default_rng(seed).normal(0, 1.5, (5, 5)))
    forests = rooted_forests(weights)
    best = max(forests, key=lambda edges: sum(weights[edge] for edge in edges))
    assert best_forest(weights).tolist() == [list(edge) for edge in best]


def test_drawn_forests_have_their_frequencies() -> None:
    weights = symmetric(np.random.default_rng(8).normal(0, 1.5, (4, 4)))
    forests, draws = rooted_forests(weights), 40_000
    drawn = Counter(tuple(sorted(map(tuple, edges.tolist()))) for edges in draw_forests(weights, draws, random_state=1))
    assert set(drawn) <= set(forests)
    observed = np.array([drawn[edges] for edges in forests])
    expected = np.array(list(forests.values())) * draws
    assert expected.min() > 5
    assert stats.chisquare(observed, expected).pvalue > 1e-3


def test_draws_hold_for_weights_of_any_size() -> None:
    weights = np.random.default_rng(5).uniform(-20, 12_000, (9, 9))
    weights[:, 6:] = np.random.default_rng(6).normal(0, 1, (9, 3))
    weights = symmetric(weights)
    found, draws = np.zeros((9, 9)), 10_000
    for edges in draw_forests(weights, draws, random_state=2, threads=1):
        found[edges[:, 0], edges[:, 1]] += 1.0 / draws
    wanted = edge_probabilities(weights)
    assert np.abs(symmetric(found) - wanted).max() < 5.0 * 0.5 / np.sqrt(draws)
    assert (wanted > 1.0 - 1e-12).sum() >= 8  # firm edges


def test_weights_that_are_none_are_refused() -> None:
    with pytest.raises(CredimiError, match="square"):
        edge_probabilities(np.zeros((2, 3)))
    with pytest.raises(CredimiError, match="between 0 and 1"):
        best_forest([[0.0, np.nan], [1.0, 0.0]])
    with pytest.raises(CredimiError, match="draws"):
        draw_forests(np.zeros((2, 2)), 0)
    assert edge_probabilities(np.zeros((1, 1))).shape == (1, 1)
    assert draw_forests(np.zeros((0, 0)), 2)[0].shape == (0, 2)
