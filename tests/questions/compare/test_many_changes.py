"""The changes of many pairs at once are those of one pair after the other."""

from __future__ import annotations

from dataclasses import astuple

import numpy as np
import pytest

from credimi.core.tables import Tables
from credimi.inference.evidence import adaptive_prior
from credimi.inference.evidence.adaptive_prior import PosteriorComponents
from credimi.questions.compare import change
from credimi.questions.compare.many_changes import Samples, changes

SHAPES = ((2, 2), (2, 4), (3, 5), (4, 10))
ROWS = (0, 1, 6, 40, 300, 2_000, 30_000, 1_000_000)


def block(shape: tuple[int, int], rows: int, missing: float, generator: np.random.Generator) -> np.ndarray:
    """A random table of so many rows; some lack the feature, and some the target."""
    probabilities = generator.dirichlet(np.full(shape[0] * shape[1], 0.7)).reshape(shape)
    independent = np.outer(probabilities.sum(axis=1), probabilities.sum(axis=0))
    probabilities = independent + generator.random() ** 3 * (probabilities - independent)
    cells = generator.multinomial(rows, probabilities.ravel()).reshape(shape)
    out = np.zeros((shape[0] + 1, shape[1] + 1))
    for margin in (0, 1):
        gone = generator.binomial(cells, missing)
        cells = cells - gone
        edge = out[-1, :-1] if margin == 0 else out[:-1, -1]
        edge += gone.sum(axis=margin)
    out[:-1, :-1] = cells
    return out


def samples_of(tables: list[Tables]) -> Samples:
    first, second = (
        (
            adaptive_prior.components(each),
            change.prior_components(each),
            np.log(np.minimum(each.rows, each.columns)),
        )
        for each in tables
    )
    return Samples(*zip(first, second, strict=True))


def one_by_one(samples: Samples, epsilon: float, level: float) -> np.ndarray:
    found = []
    for pair in range(samples.upper[0].size):
        a, b, prior_a, prior_b = samples.distributions(pair)
        found.append(astuple(change.compared(a, b, (prior_a, prior_b), epsilon=epsilon, level=level)))
    return np.array(found)


def together(samples: Samples, epsilon: float, level: float, threads: int | None = None) -> np.ndarray:
    return np.array([astuple(each) for each in changes(samples, epsilon=epsilon, level=level, threads=threads)])


@pytest.fixture(scope="module")
def samples() -> Samples:
    generator = np.random.default_rng(3)
    sides: tuple[list[np.ndarray], list[np.ndarray]] = ([], [])
    for shape in SHAPES:
        for rows in ROWS:
            for missing in (0.0, 0.2):
                for side in sides:
                    side.append(block(shape, rows, missing, generator))
                if rows in {40, 2_000}:  # samples of very different sizes, and the same one twice
                    for one, other in ((40, 30_000), (rows, rows)):
                        sides[0].append(block(shape, one, missing, generator))
                        sides[1].append(sides[0][-1] if one == other else block(shape, other, missing, generator))
    return samples_of([Tables.of(side) for side in sides])


@pytest.mark.parametrize(("epsilon", "level"), [(0.0, 0.95), (0.003, 0.95), (0.05, 0.5), (0.003, 0.999)])
def test_many_changes_are_those_of_each_pair(samples: Samples, epsilon: float, level: float) -> None:
    expected = one_by_one(samples, epsilon, level)
    np.testing.assert_allclose(together(samples, epsilon, level), expected, rtol=0.0, atol=1e-9)


def test_threads_change_nothing(samples: Samples) -> None:
    np.testing.assert_array_equal(together(samples, 0.003, 0.95, 1), together(samples, 0.003, 0.95, 2))


def test_betas_that_are_not_for_the_kernels_and_atoms_alone() -> None:
    """Peaked ones, one that is nearly a coin, I = 0 for sure in one sample or in both, ranges of different ends."""
    mean = np.array([0.1, 0.3, 0.2, 0.1])
    std = np.array([0.02, 1e-5, 0.3, 0.03])
    first = PosteriorComponents(
        np.array([0.3, 0.0, 0.1, 1.0, 1.0]),
        np.arange(3),
        np.array([0.7, 1.0, 0.9]),
        *(np.array([0.1, 0.3, 0.2]), std[:3] ** 2),
    )
    second = PosteriorComponents(
        np.array([0.2, 0.0, 0.5, 0.4, 1.0]), np.arange(4), np.array([0.8, 1.0, 0.5, 0.6]), mean, np.full(4, 0.02**2)
    )
    upper = np.full(5, np.log(2.0)), np.full(5, np.log(3.0))
    priors = [
        PosteriorComponents(np.full(5, 0.5), np.arange(5), np.full(5, 0.5), np.full(5, 0.1), np.full(5, 0.01))
        for _ in range(2)
    ]
    mixed = Samples((first, second), (priors[0], priors[1]), upper)
    np.testing.assert_allclose(together(mixed, 0.003, 0.95), one_by_one(mixed, 0.003, 0.95), rtol=0.0, atol=1e-9)


def test_no_pair_has_no_change() -> None:
    assert changes(samples_of([Tables.of([]), Tables.of([])]), epsilon=0.003, level=0.95) == []
