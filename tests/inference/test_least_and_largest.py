"""The least and the largest I within a factor, against oracles: grids, all vertices, a general solver."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy.optimize import minimize

from credimi.inference.bounds.largest_information import largest
from credimi.inference.bounds.least_information import centres, least
from credimi.inference.sampling import information_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]
    Observed = tuple[FloatArray, FloatArray, FloatArray, FloatArray]

SIDES = ("feature", "target", "both")


def observed(generator: np.random.Generator, r: int, s: int, sides: str, most: float = 0.4) -> Observed:
    """Probabilities of what can be observed of one random table, and their centre."""
    seen = generator.dirichlet(np.full(r * s, generator.choice([0.5, 1.0, 5.0]))).reshape(1, r, s)
    row_only, column_only = np.zeros((1, r)), np.zeros((1, s))
    if sides != "target":
        row_only[0] = generator.dirichlet(np.ones(r)) * generator.uniform(0.02, most)
    if sides != "feature":
        column_only[0] = generator.dirichlet(np.ones(s)) * generator.uniform(0.02, most)
    total = seen.sum() + row_only.sum() + column_only.sum()
    seen, row_only, column_only = seen / total, row_only / total, column_only / total
    centre = np.empty_like(seen)
    centres(seen, row_only, column_only, centre)
    return seen, row_only, column_only, centre


def least_of(table: Observed, factor: float) -> float:
    found = np.empty(1)
    least(*table, float(factor), np.full(1, np.nan), found)
    return found[0]


def largest_of(table: Observed, factor: float) -> float:
    _, r, s = table[0].shape
    starts = np.random.default_rng(0).integers(0, 2, (20, 2 * r, s)).astype(np.uint8)
    found, best = np.empty(1), np.empty((1, 2 * r, s), dtype=np.uint8)
    largest(*table, float(factor), np.full(1, np.nan), starts, found, best)
    return found[0]


def blocks_of(table: Observed) -> Iterator[tuple[NDArray[np.intp], FloatArray]]:
    """What each class with missing values, and each value with missing classes, adds: its cells and their shares."""
    seen, row_only, column_only, centre = (each[0] for each in table)
    cells = np.arange(seen.size).reshape(seen.shape)
    for i in np.flatnonzero(row_only):
        yield cells[i], row_only[i] * centre[i] / centre[i].sum()
    for j in np.flatnonzero(column_only):
        yield cells[:, j], column_only[j] * centre[:, j] / centre[:, j].sum()


def vertices(share: FloatArray, factor: float) -> FloatArray:
    if factor == math.inf:
        return np.eye(share.size) * share.sum()
    tilted = share * np.array(list(itertools.product([1.0, factor], repeat=share.size)))
    return tilted * (share.sum() / tilted.sum(axis=1, keepdims=True))


def over_all(table: Observed, choices: list[FloatArray]) -> FloatArray:
    """I of all combinations of the given choices, one list for each block."""
    seen = table[0][0]
    cells = seen.reshape(1, -1)
    for (places, _), options in zip(blocks_of(table), choices, strict=True):
        added = np.zeros((len(options), seen.size))
        added[:, places] = options
        cells = (cells[:, np.newaxis] + added).reshape(-1, seen.size)
    return information_of(cells.reshape(-1, *seen.shape))


def solver(table: Observed, factor: float) -> float:
    """The least I by SLSQP, in the shares t and the bound L of each block."""
    seen, blocks = table[0][0], list(blocks_of(table))
    size = sum(places.size + 1 for places, _ in blocks)
    ends = np.cumsum([0] + [places.size + 1 for places, _ in blocks])
    sums, bounds = np.zeros((len(blocks), size)), []
    for number, (places, share) in enumerate(blocks):
        first, last = ends[number], ends[number + 1] - 1
        sums[number, first:last] = share / share.sum()
        for each in range(places.size):
            low, high = np.zeros(size), np.zeros(size)
            low[[first + each, last]], high[[first + each, last]] = [1.0, -1.0], [-1.0, factor]
            bounds += [low, high]
    limits = np.array(bounds)

    def value(x: FloatArray) -> tuple[float, FloatArray]:
        cells = seen.ravel().copy()
        for number, (places, share) in enumerate(blocks):
            cells[places] += share * x[ends[number] : ends[number + 1] - 1]
        chance = cells.reshape(seen.shape)
        ratio = chance / (chance.sum(axis=1, keepdims=True) * chance.sum(axis=0))
        slope, by_cell = np.zeros(size), np.log(ratio).ravel() - 1.0
        for number, (places, share) in enumerate(blocks):
            slope[ends[number] : ends[number + 1] - 1] = share * by_cell[places]
        return (chance * np.log(ratio)).sum(), slope

    constraints = [
        {"type": "eq", "fun": lambda x: sums @ x - 1.0, "jac": lambda _: sums},
        {"type": "ineq", "fun": lambda x: limits @ x, "jac": lambda _: limits},
    ]
    found = minimize(
        value,
        np.ones(size),
        jac=True,
        method="SLSQP",
        bounds=[(1e-9, None)] * size,
        constraints=constraints,
        options={"maxiter": 500, "ftol": 1e-14},
    )
    assert np.abs(sums @ found.x - 1.0).max() < 1e-9
    assert (limits @ found.x).min() > -1e-9
    return found.fun


@pytest.mark.parametrize("sides", SIDES)
def test_two_by_two_is_that_of_a_grid(sides: str) -> None:
    generator = np.random.default_rng(1)
    for factor in (1.3, 4.0, math.inf):
        table = observed(generator, 2, 2, sides)
        corners = [vertices(share, factor) for _, share in blocks_of(table)]
        points = 401 if len(corners) == 2 else 17
        choices = []
        for corner in corners:
            ends = corner[[corner[:, 0].argmin(), corner[:, 0].argmax()]]
            choices.append(ends[0] + np.linspace(0.0, 1.0, points)[:, np.newaxis] * (ends[1] - ends[0]))
        values = over_all(table, choices)
        assert largest_of(table, factor) == pytest.approx(values.max(), abs=1e-12)
        found = least_of(table, factor)
        assert found <= values.min() + 1e-12
        for _ in range(4):  # ever finer grids around the best point
            best = np.unravel_index(values.argmin(), [points] * len(corners))
            for block, place in enumerate(best):
                ends = choices[block][max(place - 1, 0)], choices[block][min(place + 1, points - 1)]
                choices[block] = ends[0] + np.linspace(0.0, 1.0, points)[:, np.newaxis] * (ends[1] - ends[0])
            values = over_all(table, choices)
        assert found == pytest.approx(values.min(), abs=1e-8)


@pytest.mark.parametrize(
    ("r", "s", "sides"), [(2, 2, "both"), (2, 3, "both"), (3, 3, "feature"), (3, 5, "feature"), (6, 3, "target")]
)
def test_largest_is_that_of_all_vertices(r: int, s: int, sides: str) -> None:
    generator = np.random.default_rng(r * s)
    for factor in (1.2, 2.0, 30.0, math.inf):
        table = observed(generator, r, s, sides)
        choices = [vertices(share, factor) for _, share in blocks_of(table)]
        assert largest_of(table, factor) == pytest.approx(over_all(table, choices).max(), abs=1e-12)


@pytest.mark.parametrize("sides", SIDES)
@pytest.mark.parametrize(("r", "s"), [(2, 2), (2, 4), (3, 3), (4, 6)])
def test_least_is_that_of_a_general_solver(r: int, s: int, sides: str) -> None:
    if (r, s, sides) == (4, 6, "both"):
        r, s = 2, 3  # the solver takes seconds for more
    generator = np.random.default_rng(10 * r + s)
    for factor in (1.1, 2.0, 8.0) if sides != "both" else (2.0,):
        table = observed(generator, r, s, sides)
        assert least_of(table, factor) == pytest.approx(solver(table, factor), abs=1e-7)


@pytest.mark.parametrize("sides", SIDES)
def test_bounds_widen_with_the_factor_up_to_all_completions(sides: str) -> None:
    generator = np.random.default_rng(7)
    for _ in range(20):
        table = observed(generator, 3, 4, sides)
        factors = (1.0, 1.01, 1.5, 2.0, 5.0, 50.0, 1e9, math.inf)
        low = [least_of(table, factor) for factor in factors]
        high = [largest_of(table, factor) for factor in factors]
        assert low[0] == pytest.approx(information_of(table[3])[0], abs=1e-12)
        assert high[0] == low[0]
        assert all(later <= before + 1e-9 for before, later in itertools.pairwise(low))
        assert all(later >= before - 1e-9 for before, later in itertools.pairwise(high))
        assert low[-2] == pytest.approx(low[-1], abs=1e-6)
        assert high[-2] == pytest.approx(high[-1], abs=1e-6)


def test_limits_end_the_search_on_the_right_side() -> None:
    generator = np.random.default_rng(8)
    for _ in range(30):
        table = observed(generator, 3, 4, generator.choice(SIDES))
        exact_low, exact_high = least_of(table, 2.0), largest_of(table, 2.0)
        for limit in (0.7, 0.99, 1.01, 1.4):
            found = np.empty(1)
            least(*table, 2.0, np.full(1, limit * exact_low), found)
            assert (found[0] > limit * exact_low) == (limit < 1.0)
            starts, best = np.zeros((0, 6, 4), dtype=np.uint8), np.empty((1, 6, 4), dtype=np.uint8)
            largest(*table, 2.0, np.full(1, limit * exact_high), starts, found, best)
            assert (found[0] > limit * exact_high) <= (limit < 1.0)


def test_centre_is_the_fixed_point_of_missing_at_random() -> None:
    generator = np.random.default_rng(9)
    for sides in SIDES:
        for _ in range(10):
            seen, row_only, column_only, centre = (each[0] for each in observed(generator, 3, 4, sides, most=2.0))
            again = seen + centre * (row_only / centre.sum(axis=1))[:, np.newaxis]
            again += centre * (column_only / centre.sum(axis=0))
            np.testing.assert_allclose(again, centre, atol=1e-11)
