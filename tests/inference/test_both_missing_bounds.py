"""Bounds where both sides have missing values, against definitions worked out by hand, grids and a general solver."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy.optimize import minimize

import credimi
from credimi.inference.bounds.both_missing import search
from credimi.inference.bounds.extremes import largest_of, least_of, starts_of
from credimi.inference.bounds.least_information import centres
from credimi.inference.bounds.observed_draws import ObservedDraws
from credimi.inference.sampling import information_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]
    Observed = tuple[FloatArray, FloatArray, FloatArray]


def information(cells: FloatArray) -> float:
    return float(information_of(cells[np.newaxis] / cells.sum())[0])


def observed(generator: np.random.Generator, r: int, s: int) -> Observed:
    """What can be observed of a random table without rows that lack both."""
    seen = np.maximum(generator.dirichlet(np.ones(r * s)).reshape(r, s), 0.02)
    row_only = generator.dirichlet(np.full(r, 3.0)) * generator.uniform(0.1, 0.6)
    column_only = generator.dirichlet(np.full(s, 3.0)) * generator.uniform(0.1, 0.6)
    total = seen.sum() + row_only.sum() + column_only.sum()
    return seen / total, row_only / total, column_only / total


def one_draw(table: Observed, neither: float = 0.0) -> ObservedDraws:
    seen, row_only, column_only = (each[np.newaxis] for each in table)
    centre = np.empty_like(seen)
    centres(seen, row_only, column_only, centre)
    value = information_of(centre)
    return ObservedDraws(seen, row_only, column_only, centre, np.array([neither]), value, value, 1.0, both_missing=True)


def bounds(table: Observed, factor: float, neither: float = 0.0) -> tuple[float, float]:
    drawn = one_draw(table, neither)
    low = least_of(drawn, factor, starts_of(drawn, factor, upward=False))
    high = largest_of(drawn, factor, starts_of(drawn, factor, upward=True))
    return float(low[0]), float(high[0])


def ratios(n: FloatArray, f: FloatArray, t: FloatArray, z: FloatArray | float = 0.0) -> float:
    """The largest ratio of odds within a class or a value."""
    of_value, of_class = (f + z) / (n + t), (t + z) / (n + f)
    within_class, within_value = np.ptp(np.log(of_value), axis=1).max(), np.ptp(np.log(of_class), axis=0).max()
    return math.exp(max(within_class, within_value))


def solver(table: Observed, factor: float, neither: float = 0.0) -> tuple[float, float]:
    """The least and the largest I by SLSQP in f, t, z and the lowest odds, from several starts."""
    n, of_rows, of_columns = table
    (r, s), size = n.shape, n.size
    drawn = one_draw(table)
    p = drawn.centre[0]
    parts, generator = np.cumsum([size, size, size, r]), np.random.default_rng(0)

    def split(x: FloatArray) -> list[FloatArray]:
        f, t, z, low_f, low_t = np.split(x, parts)
        return [f.reshape(r, s), t.reshape(r, s), z.reshape(r, s), low_f[:, np.newaxis], low_t[np.newaxis]]

    def equal(x: FloatArray) -> FloatArray:
        f, t, z, _, _ = split(x)
        return np.concatenate([f.sum(axis=1) - of_rows, t.sum(axis=0) - of_columns, [z.sum() - neither]])

    def positive(x: FloatArray) -> FloatArray:
        f, t, z, a, b = split(x)
        low_f, low_t = a * (n + t), b * (n + f)
        limits = f + z - low_f, factor * low_f - f - z, t + z - low_t, factor * low_t - t - z
        return np.concatenate([each.ravel() for each in limits])

    found = [information(p), information(p)]
    for number in range(5):
        tilt = [factor ** (generator.uniform(-0.5, 0.5, (r, s)) * (number > 0)) for _ in range(2)]
        f, t = p / p.sum(axis=1, keepdims=True) * tilt[0], p / p.sum(axis=0) * tilt[1]
        f, t = f * (of_rows / f.sum(axis=1))[:, np.newaxis], t * (of_columns / t.sum(axis=0))
        z = p * neither
        start = np.concatenate(
            [f.ravel(), t.ravel(), z.ravel(), ((f + z) / (n + t)).min(axis=1), ((t + z) / (n + f)).min(axis=0)]
        )
        for side, sign in enumerate((1.0, -1.0)):
            result = minimize(
                lambda x, sign=sign: sign * information(n + sum(split(x)[:3])),
                start,
                method="SLSQP",
                bounds=[(0.0, None)] * start.size,
                constraints=[{"type": "eq", "fun": equal}, {"type": "ineq", "fun": positive}],
                options={"maxiter": 150, "ftol": 1e-11},
            )
            if np.abs(equal(result.x)).max() < 1e-7 and positive(result.x).min() > -1e-7:
                found[side] = min(found[side], result.fun) if sign > 0.0 else max(found[side], -result.fun)
    return found[0], found[1]


@pytest.mark.parametrize("factor", [1.3, 3.0])
def test_two_by_two_is_that_of_a_grid(factor: float) -> None:
    """Four numbers are free: one of f in each class, one of t in each value.

    The grid within the factor has no more than the bounds; within a factor larger by its meshes it has no less.
    """
    generator = np.random.default_rng(11)
    tilts = np.exp(np.linspace(-3.0, 3.0, 33) * math.log(factor))
    for _ in range(2):
        n, of_rows, of_columns = table = observed(generator, 2, 2)
        centre = one_draw(table).centre[0]
        all_odds = (*(centre[:, 0] / centre[:, 1]), *(centre[0] / centre[1]))
        shares = [tilts * odds / (1.0 + tilts * odds) for odds in all_odds]
        a, b, c, d = np.meshgrid(*[share * sum_ for share, sum_ in zip(shares, (*of_rows, *of_columns), strict=True)])
        f = np.stack([a, of_rows[0] - a, b, of_rows[1] - b], axis=-1).reshape(-1, 2, 2)
        t = np.stack([c, d, of_columns[0] - c, of_columns[1] - d], axis=-1).reshape(-1, 2, 2)
        of_value, of_class = np.log(f / (n + t)), np.log(t / (n + f))
        within_class, within_value = np.abs(np.diff(of_value, axis=2)), np.abs(np.diff(of_class, axis=1))
        within = np.maximum(within_class.max(axis=(1, 2)), within_value.max(axis=(1, 2)))
        values, inside = information_of(n + f + t), within <= math.log(factor)
        low, high = bounds(table, factor)
        assert low <= values[inside].min() + 1e-7
        assert high >= values[inside].max() - 1e-7
        near = within <= 1.5 * math.log(factor)
        assert low >= values[near].min() - 1e-6
        assert high <= values[near].max()


@pytest.mark.parametrize(("r", "s"), [(2, 2), (2, 3), pytest.param(3, 3, marks=pytest.mark.long)])
def test_no_general_solver_finds_more(r: int, s: int) -> None:
    generator = np.random.default_rng(10 * r + s)
    for factor in (1.5, 4.0):
        table = observed(generator, r, s)
        low, high = bounds(table, factor)
        solved = solver(table, factor)
        assert low <= solved[0] + 1e-5
        assert high >= solved[1] - 1e-5
        assert low == pytest.approx(solved[0], abs=1e-4)


@pytest.mark.long
@pytest.mark.parametrize("factor", [1.001, 2.0])
def test_no_general_solver_finds_more_if_rows_lack_both(factor: float) -> None:
    generator = np.random.default_rng(5)
    for _ in range(3):
        table = observed(generator, 2, 2)
        neither = generator.uniform(0.02, 0.15)
        low, high = bounds(table, factor, neither)
        solved = solver(table, factor, neither)
        assert low <= solved[0] + 2e-4
        assert high >= solved[1] - 2e-4


@pytest.mark.parametrize("upward", [False, True])
@pytest.mark.parametrize("factor", [1.5, 6.0])
def test_what_is_found_is_a_mechanism_within_the_factor(factor: float, *, upward: bool) -> None:
    """The cells for the tilts found, by iteration alone: their sums, odds and I are right."""
    generator = np.random.default_rng(3)
    for r, s in ((2, 3), (3, 4)):
        table = observed(generator, r, s)
        n, of_rows, of_columns = table
        drawn = one_draw(table)
        found, best = np.empty(1), np.empty((1, 3 * r, s))
        starts = starts_of(drawn, factor, upward=upward)
        search(*drawn.probabilities, np.zeros(1), factor, 1e6, upward, 20, np.full(1, np.nan), starts, found, best)
        rho, sigma = factor ** best[0, :r], factor ** best[0, r : 2 * r]
        t = np.zeros((r, s))
        for _ in range(3_000):
            f = rho * (n + t)
            f *= (of_rows / f.sum(axis=1))[:, np.newaxis]
            t = sigma * (n + f)
            t *= of_columns / t.sum(axis=0)
        assert best[0, : 2 * r].min() >= 0.0
        assert best[0, : 2 * r].max() <= 1.0
        assert ratios(n, f, t) <= factor * (1.0 + 1e-6)
        assert information(n + f + t) == pytest.approx(found[0], abs=1e-7)


def test_at_random_is_the_centre_and_bounds_widen_with_the_factor() -> None:
    generator = np.random.default_rng(6)
    for shape in ((2, 2), (3, 4)):
        table = observed(generator, *shape)
        centre = information(one_draw(table).centre[0])
        found = [bounds(table, factor) for factor in (1.0, 1.0001, 1.3, 2.0, 10.0, 1e4, math.inf)]
        assert found[0] == pytest.approx((centre, centre), abs=1e-8)
        assert found[1] == pytest.approx((centre, centre), abs=1e-3)
        for (low, high), (lower, higher) in itertools.pairwise(found):
            assert lower <= low + 1e-5
            assert higher >= high - 1e-5


def population(
    generator: np.random.Generator, shape: tuple[int, int], factor: float, *, lack_both: bool
) -> list[FloatArray]:
    """Cells n, f, t and z of a population whose odds differ by the factor."""
    r, s = shape
    p = np.maximum(generator.dirichlet(np.ones(r * s)).reshape(r, s), 5e-3)
    signs = np.linspace(-1.0, 1.0, r)[:, np.newaxis] * np.linspace(-1.0, 1.0, s) > 0.0
    signs = signs if generator.random() < 0.5 else ~signs
    theta = generator.uniform(0.1, 0.4, (r, 1)) * np.where(signs, factor, 1.0)
    phi = generator.uniform(0.1, 0.4, (1, s)) * np.where(signs, factor, 1.0)
    if lack_both:
        x, y = theta / (1.0 + theta), phi / (1.0 + phi)
        return [p * (1 - x) * (1 - y), p * x * (1 - y), p * (1 - x) * y, p * x * y]
    phi = phi * min(1.0, 0.8 / (theta * phi).max())
    missing = 1.0 - theta * phi
    return [p, p * theta * (1.0 + phi) / missing, p * phi * (1.0 + theta) / missing, np.zeros((r, s))]


@pytest.mark.parametrize("lack_both", [False, True])
@pytest.mark.parametrize("factor", [2.0, 4.0])
def test_the_band_holds_populations_whose_odds_differ_by_the_factor(factor: float, *, lack_both: bool) -> None:
    """Around the fit at random, the band missed several of these by more than a hundredth."""
    generator = np.random.default_rng(8)
    for _ in range(5):
        n, f, t, z = population(generator, (2, 3), factor, lack_both=lack_both)
        assert ratios(n, f, t, z) <= factor * (1.0 + 1e-9)
        scale = 1e8 / (n + f + t + z).sum()
        least, largest = credimi.information_bounds(
            scale * n,
            target_only=scale * f.sum(axis=1),
            feature_only=scale * t.sum(axis=0),
            neither=scale * z.sum() if lack_both else None,
            robust_factor=factor,
        )
        true = information(n + f + t + z)
        assert least.ppf(0.01) - 2e-4 <= true <= largest.ppf(0.99) + 2e-4


def test_rows_that_lack_both_widen_the_band_and_no_more_than_they_can() -> None:
    joint, margins = [[160, 60, 30], [50, 90, 70]], {"target_only": [60, 45], "feature_only": [12, 20, 9]}
    counted = credimi.information_bounds(joint, **margins)
    assert credimi.information_bounds(joint, neither=0, **margins) == counted
    before = counted
    for neither in (1, 10, 60):
        laws = credimi.information_bounds(joint, neither=neither, **margins)
        assert laws[0].mean() < before[0].mean()
        assert laws[1].mean() > before[1].mean()
        before = laws
    one = credimi.information_bounds(joint, target_only=[60, 45], neither=5)
    assert one[0].mean() < credimi.information_bounds(joint, target_only=[60, 45])[0].mean()
    plain = credimi.mutual_information(joint, **margins)
    assert credimi.information_bounds(joint, neither=60, robust_factor=1, **margins) == (plain, plain)
    anything = credimi.information_bounds(joint, neither=60, robust_factor=math.inf, **margins)
    assert anything[0].mean() <= before[0].mean()
    assert before[1].mean() <= anything[1].mean() <= math.log(2)


@pytest.mark.parametrize("neither", [-1, math.nan, math.inf, "many", [1, 2]])
def test_bad_numbers_of_rows_that_lack_both_are_refused(neither: object) -> None:
    with pytest.raises(credimi.CredimiError, match="neither is"):
        credimi.information_bounds([[5, 2], [3, 4]], target_only=[1, 2], neither=neither)


def test_large_tables_have_the_bounds_of_anything() -> None:
    generator = np.random.default_rng(1)
    table = observed(generator, 13, 13)
    assert bounds(table, 1.5) == bounds(table, math.inf)
    wider = bounds(table, 1.5, 0.1)
    assert wider[0] <= bounds(table, math.inf)[0]
    assert wider[1] >= bounds(table, math.inf)[1]


def test_rankings_count_the_rows_that_lack_both() -> None:
    generator, rows = np.random.default_rng(2), 1_500
    target = generator.integers(0, 2, rows)
    feature = np.where(generator.random(rows) < 0.7, target, 1 - target)
    without = generator.random((2, rows)) < 0.2
    table = {
        "x": [None if gone else "ab"[value] for value, gone in zip(feature, without[0], strict=True)],
        "y": [None if gone else "pq"[value] for value, gone in zip(target, without[1], strict=True)],
    }
    row = credimi.rank(table, "y", robust_factor=2)["x"]
    both = ~without[0] & ~without[1]
    joint = [[int((both & (target == i) & (feature == j)).sum()) for j in (0, 1)] for i in (0, 1)]
    margins = {
        "target_only": [int((without[0] & ~without[1] & (target == i)).sum()) for i in (0, 1)],
        "feature_only": [int((without[1] & ~without[0] & (feature == j)).sum()) for j in (0, 1)],
    }
    least, largest = credimi.information_bounds(joint, neither=int((without[0] & without[1]).sum()), **margins)
    assert row["robust_low"] == pytest.approx(least.ppf(0.025), rel=1e-3)
    assert row["robust_high"] == pytest.approx(largest.ppf(0.975), rel=1e-3)
    counted, _ = credimi.information_bounds(joint, **margins)
    assert row["robust_low"] < counted.ppf(0.025) - 1e-3
