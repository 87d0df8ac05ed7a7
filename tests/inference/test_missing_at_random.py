"""Both sides missing at random: weights, moments and draws use all rows, whatever order the table comes in."""

from __future__ import annotations

import warnings
from itertools import permutations, product
from typing import TYPE_CHECKING

import numpy as np
import oracle
import pytest
from allocation_oracle import exact
from scipy.special import gammaln

from credimi import conditional_information, mutual_information
from credimi.core.table import Table
from credimi.core.tables import Tables
from credimi.inference.evidence import adaptive_prior
from credimi.inference.posterior import Posterior

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]

# Complete rows look independent, but classes and values go missing at different rates, so that they depend.
LOOKS_INDEPENDENT = [[1366, 1366], [1366, 1366]]
ONLY_FIRST = [7267, 0]


def random_table(
    shape: tuple[int, int], rows: int, concentration: float, most_missing: float, generator: np.random.Generator
) -> Table:
    """The feature is missing by class, the target by the feature's value."""
    chances = generator.dirichlet(np.full(shape[0] * shape[1], concentration))
    full = generator.multinomial(rows, chances).reshape(shape)
    no_feature = generator.binomial(full, generator.uniform(0.0, most_missing, shape[0])[:, np.newaxis])
    no_target = generator.binomial(full - no_feature, generator.uniform(0.0, most_missing, shape[1]))
    return Table.of(full - no_feature - no_target, no_feature.sum(axis=1), no_target.sum(axis=0))


def both_miss(count: int, seed: int, shapes: list[tuple[int, int]], sizes: list[int]) -> list[Table]:
    generator = np.random.default_rng(seed)
    found: list[Table] = []
    while len(found) < count:
        shape, rows = shapes[len(found) % len(shapes)], int(generator.choice(sizes))
        table = random_table(shape, rows, float(generator.choice([0.5, 3.0, 30.0])), 0.8, generator)
        if table.misses_feature and table.misses_target:
            found.append(table)
    return found


# The posterior of what looks independent


def test_complete_rows_that_look_independent_are_not_believed() -> None:
    """The chances at which the likelihood of all rows is highest have I = 0.0180, by plain EM."""
    cells, only = np.array(LOOKS_INDEPENDENT, float), np.array(ONLY_FIRST, float)
    mode = oracle.em_mode(cells, only, only)
    information = oracle.mutual_information(mode)
    assert information == pytest.approx(0.0180, abs=5e-5)
    margins = {"target_only": ONLY_FIRST, "feature_only": ONLY_FIRST}
    found = mutual_information(LOOKS_INDEPENDENT, **margins)
    fixed = mutual_information(LOOKS_INDEPENDENT, prior="jeffreys", **margins)
    assert found.mean() == pytest.approx(information, rel=0.03)
    assert found.p_zero < 1e-6
    assert found.mean() == pytest.approx(fixed.mean(), rel=0.02)
    assert found.std() == pytest.approx(fixed.std(), rel=0.03)


# Weights of the adaptive prior


def margins_evidence(counts: FloatArray, parameters: FloatArray) -> float:
    """Of a Dirichlet-multinomial."""
    total = parameters.sum()
    terms = gammaln(parameters + counts) - gammaln(parameters)
    return float(gammaln(total) - gammaln(total + counts.sum()) + terms.sum())


def weights(table: Table, log_integral: Callable[[FloatArray, FloatArray, FloatArray], float]) -> FloatArray:
    """Of independence and of every point of the grid: evidence of all rows, less that of both margins."""
    joint = table.joint
    by_class, by_value = joint.sum(axis=1) + table.target_only, joint.sum(axis=0) + table.feature_only
    classes, values = (by_class + 0.5) / (by_class + 0.5).sum(), (by_value + 0.5) / (by_value + 0.5).sum()
    scores = [np.log(0.5)]
    for strength in grid(table):
        pseudo = strength * np.outer(classes, values)
        score = log_integral(joint + pseudo, table.target_only, table.feature_only)
        score -= oracle.log_dirichlet_integral(pseudo)
        score -= margins_evidence(by_class, strength * classes) + margins_evidence(by_value, strength * values)
        scores.append(score + np.log(0.5 / grid(table).size))
    found = np.exp(np.array(scores) - max(scores))
    found /= found.sum()
    found[1:][found[1:] < adaptive_prior.NEGLIGIBLE] = 0.0
    return found / found.sum()


def grid(table: Table) -> FloatArray:
    (rows, columns), complete = table.shape, table.joint.sum()
    points = 18 if (rows - 1) * (columns - 1) >= 16 else 12
    return np.geomspace(4.0, 50.0 * min(rows, columns) * max(complete, rows * columns), points)


def found_weights(table: Table) -> FloatArray:
    mixed = adaptive_prior.mixtures(Tables.of([table.block()]))
    (rows, columns), strengths = table.shape, grid(table)
    blocks = mixed.blocks.flat.reshape(-1, rows + 1, columns + 1)
    found = np.zeros(1 + strengths.size)
    found[0] = mixed.p_zero[0]
    for block, weight in zip(blocks, mixed.weight, strict=True):
        strength = block[:-1, :-1].sum() - table.joint.sum()
        point = int(np.argmin(np.abs(np.log(strengths / strength))))
        assert strength == pytest.approx(strengths[point], rel=1e-9)
        found[1 + point] = weight
    return found


def laplace(cells: FloatArray, row_only: FloatArray, column_only: FloatArray) -> float:
    return Posterior(Table.of(cells, row_only, column_only), 0.0).log_evidence


SHAPES = [(2, 2), (2, 3), (3, 4), (4, 3), (2, 9), (5, 6)]


def test_weights_are_those_of_the_evidence_of_all_rows() -> None:
    """Against the same integral at every point of the grid, from the posterior of the chances.

    Where they differ, some points have exact sums instead, and P(independent) is nearer to that of sums alone.
    """
    summed = 0
    for table in both_miss(60, 5, SHAPES, [30, 100, 400, 2000]):
        found, expected = found_weights(table), weights(table, laplace)
        if np.abs(found - expected).max() > 1e-4:
            summed += 1
            if table.feature_only.sum() < 40:  # a short sum
                by_sum = exact(table.joint, table.target_only, table.feature_only)
                assert abs(found[0] - by_sum) < abs(expected[0] - by_sum), table
        else:
            np.testing.assert_allclose(found, expected, atol=1e-4, err_msg=str(table))
    assert 0 < summed < 30  # of 60: these tables are thin, and miss much


@pytest.mark.long
def test_weights_are_near_those_of_the_exact_evidence() -> None:
    """Laplace's formula is near, not exact: of 149 such tables P(independent) was off by up to 0.0033."""
    off = []
    for table in both_miss(60, 6, [(2, 2)], [20, 50, 150, 500, 1500]):
        found, exact = found_weights(table), weights(table, oracle.log_evidence)
        off.append(abs(found[0] - exact[0]))
        np.testing.assert_allclose(found, exact, atol=0.02, err_msg=str(table))
    assert max(off) <= 0.01
    assert np.median(off) <= 0.001


@pytest.mark.parametrize("seed", range(20))
def test_weights_of_cells_without_any_count_are_near_those_of_the_exact_evidence(seed: int) -> None:
    """There Laplace's formula is roughest: of 65 such tables P(independent) was off by up to 0.033."""
    generator = np.random.default_rng(seed)
    rows, columns = generator.integers(2, 5), generator.integers(2, 4)
    joint = generator.choice([0, 0, 1, 2, 3, 7, 40], (rows, columns))
    row_only, column_only = generator.choice([0, 1, 2, 7, 40, 1000], rows), generator.choice([0, 1, 2, 3], columns)
    row_only[0], column_only[0] = row_only[0] + 1, 1
    table = Table.of(joint, row_only, column_only)
    exact = weights(table, oracle.log_evidence)
    assert found_weights(table)[0] == pytest.approx(exact[0], abs=0.05)


@pytest.mark.parametrize("large", [1e4, 1e6, 1e9])
def test_margins_that_alone_hold_a_cell(large: float) -> None:
    """A class is seen in one row only, which lacks the feature, and a value in one row only, which lacks the target.

    Laplace's formula is poor there, and with very many other rows rounding leaves no digit of it: then it is not used.
    """
    joint, row_only, column_only = np.array([[0, large], [0, 0], [0, 1], [0, 1]]), np.eye(4)[1], np.eye(2)[0]
    exact = weights(Table.of(joint, row_only, column_only), oracle.log_evidence)
    said = set()
    for order in permutations(range(4)):
        table = Table.of(joint[list(order)], row_only[list(order)], column_only)
        found = mutual_information(table.joint, target_only=table.target_only, feature_only=table.feature_only)
        said.add((round(found.p_zero, 6), float(f"{found.mean():.5e}"), float(f"{found.std():.5e}")))
    assert len(said) == 1
    assert found.p_zero == pytest.approx(exact[0], abs=0.05 if large > 1e8 else 0.15)


@pytest.mark.parametrize("approximation", ["leading", "leading-beta", "matched"])
def test_margins_far_larger_than_the_complete_rows_have_a_distribution(approximation: str) -> None:
    """Margins alone hold a cell, and the closed form for one side has a variance below 0: another one is taken."""
    found = mutual_information(
        [[0, 0, 1e9], [0, 5, 1]], target_only=[0, 50], feature_only=[1e10, 1e10, 0], approximation=approximation
    )
    assert np.isfinite(found.std())
    assert 0.0 < found.mean() < np.log(2.0)


# Moments of the components


@pytest.fixture(scope="module")
def wide_table() -> Table:
    """5 x 50, 3,000 rows, most cells with less than ten complete ones."""
    generator = np.random.default_rng(11)
    classes, values = generator.dirichlet(np.full(5, 3.0)), generator.dirichlet(np.full(50, 2.0))
    chances = generator.dirichlet(np.outer(classes, values).ravel() * 400.0).reshape(5, 50)
    full = generator.multinomial(3_000, chances.ravel()).reshape(5, 50)
    by_class = np.linspace(0.5, 0.05, 5)[:, np.newaxis]
    no_feature = generator.binomial(full, by_class)
    no_target = generator.binomial(full - no_feature, np.linspace(0.475, 0.0, 50) / (1.0 - by_class))
    return Table.of(full - no_feature - no_target, no_feature.sum(axis=1), no_target.sum(axis=0))


def test_moments_of_many_values_are_those_of_gibbs_draws(wide_table: Table) -> None:
    blocks = Tables.of([wide_table.block()])
    mixed, found = adaptive_prior.mixtures(blocks), adaptive_prior.components(blocks)
    assert found.mean.size == mixed.weight.size
    generator = np.random.default_rng(12)
    for number in np.argsort(mixed.weight)[-3:]:
        block = mixed.blocks.flat.reshape(-1, 6, 51)[number]
        counts = block[:-1, :-1], wide_table.target_only, wide_table.feature_only
        trace = oracle.gibbs_draws(*counts, chains=60, steps=60, burn_in=60, generator=generator)
        draws = oracle.informations(np.maximum(trace.reshape(-1, 5, 50), 1e-300))  # gammas of small shape underflow
        assert abs(found.mean[number] - draws.mean()) <= 0.3 * draws.std()
        assert np.sqrt(found.variance[number]) == pytest.approx(draws.std(), rel=0.15)


def test_no_margin_is_left_out(wide_table: Table) -> None:
    mixed = adaptive_prior.mixtures(Tables.of([wide_table.block()]))
    for number in range(mixed.weight.size):
        block = mixed.blocks.flat.reshape(-1, 6, 51)[number]
        np.testing.assert_array_equal(block[:-1, -1], wide_table.target_only)
        np.testing.assert_array_equal(block[-1, :-1], wide_table.feature_only)


# Order


def sparse_tables() -> list[Table]:
    """Few rows, so that closed forms give way to draws and mixtures for some; a third misses one side only."""
    generator = np.random.default_rng(17)
    found = []
    for number in range(24):
        shape = [(2, 2), (2, 3), (3, 3), (2, 5), (4, 3), (3, 6)][number % 6]
        table = random_table(shape, int(generator.choice([6, 15, 40, 120])), 0.5, 0.95, generator)
        only_class = Table.of(table.joint, table.target_only)
        found.append([table, table, only_class][number // 6 % 3])
    return found


@pytest.mark.long
@pytest.mark.parametrize("prior", ["adaptive", "perks", 0.01, "jeffreys"])
def test_neither_order_nor_transposition_changes_anything(prior: str | float) -> None:
    generator = np.random.default_rng(18)
    for table in sparse_tables():
        rows, columns = generator.permutation(table.shape[0]), generator.permutation(table.shape[1])
        permuted = Table.of(table.joint[np.ix_(rows, columns)], table.target_only[rows], table.feature_only[columns])
        law = mutual_information(table, prior=prior)
        for other in (permuted, permuted.transposed()):
            same = mutual_information(other, prior=prior)
            assert same.mean() == pytest.approx(law.mean(), rel=1e-9, abs=1e-15), table
            assert same.std() == pytest.approx(law.std(), rel=1e-9, abs=1e-15), table
            assert same.p_zero == pytest.approx(law.p_zero, rel=1e-9), table


@pytest.mark.parametrize(
    ("target_only", "feature_only"),
    [([1, 1, 1], [1, 1e9, 1, 5]), ([1e9, 1e9, 1e6], [1e6, 1e6]), ([1e9, 1e9], [1e6, 1, 1e9])],
)
def test_order_does_not_decide_which_components_are_exactly_zero(
    target_only: list[float], feature_only: list[float]
) -> None:
    """Without a complete row all means of the leading order are 0; rounding makes 1e-17 of some of them."""
    joint = np.zeros((len(target_only), len(feature_only)))
    orders = [
        {"target_only": of_rows, "feature_only": of_columns}
        for of_rows, of_columns in product(permutations(target_only), permutations(feature_only))
    ]
    for approximation in ("leading", "leading-beta"):
        said = [mutual_information(joint, approximation=approximation, **margins).p_zero for margins in orders]
        np.testing.assert_allclose(said, mutual_information(joint, **orders[0]).p_zero, rtol=1e-6)


@pytest.mark.parametrize("approximation", ["leading", "leading-beta", "matched"])
def test_components_near_zero_are_no_part_of_the_atom(approximation: str) -> None:
    """One value has nearly all rows, so that means are rounding errors; P(independent) is what `rank` says."""
    joint = np.array([[0.0, 1.0], [0.0, 1.0], [0.0, 1e9]])
    exact = adaptive_prior.independence(Tables.of([Table.of(joint, feature_only=[0, 3]).block()]))[0]
    for order in permutations(range(3)):
        law = mutual_information(joint[list(order)], feature_only=[0, 3], approximation=approximation)
        assert law.p_zero == pytest.approx(exact, rel=1e-6)


# Few complete rows beside large margins


def mean_given_large_margins(first: float, second: float, rows: int, size: int = 4_000) -> float:
    """E[I] of cells [[first, second], [second, first]], second = 1/2, and `rows` in each cell of both margins.

    The margins x, y are drawn from their Betas. Given them, the density along the table with these margins has a
    singularity at its end: with t the smaller of the two cells off the diagonal and u = |x - y| their difference,
    dt/sqrt(t (t + u)) = 2 dz for t = u sinh(z)^2, and the rest is smooth.
    """
    assert second == 0.5
    generator = np.random.default_rng(0)
    x, y = generator.beta(rows + 1.0, rows + 1.0, (2, size, 1))
    apart, most = np.abs(x - y), np.minimum(np.minimum(x, y), 1.0 - np.maximum(x, y))
    steps = (np.arange(400) + 0.5) / 400
    end = np.arcsinh(np.sqrt(most / apart))
    less = apart * np.sinh(end * steps) ** 2
    diagonal = np.minimum(x, y) - less, 1.0 - np.maximum(x, y) - less
    weight = 2.0 * end * (np.maximum(diagonal[0], 0.0) * np.maximum(diagonal[1], 0.0)) ** (first - 1.0)
    other = np.where(x < y, less, less + apart), np.where(x < y, less + apart, less)
    chances = np.maximum(np.stack([diagonal[0], other[0], other[1], diagonal[1]], axis=-1), 1e-300)
    information = oracle.informations(chances.reshape(-1, 2, 2)).reshape(weight.shape)
    return float((weight * information).sum() / weight.sum())


@pytest.mark.parametrize("approximation", ["matched", "sampled"])
def test_few_complete_rows_beside_large_margins(approximation: str) -> None:
    exact = mean_given_large_margins(5.5, 0.5, 50_000)
    assert exact == pytest.approx(0.610, abs=0.003)
    only = {"target_only": [50_000, 50_000], "feature_only": [50_000, 50_000]}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        law = mutual_information(
            [[5, 0], [0, 5]], prior="jeffreys", approximation=approximation, random_state=0, **only
        )
    assert law.mean() == pytest.approx(exact, abs=0.02)


def test_strata_in_which_values_are_missing_at_random_hold_the_truth() -> None:
    """More often missing in one class, and for one value: complete rows have other margins than all rows."""
    generator = np.random.default_rng(11)
    population = np.array([[0.28, 0.22], [0.22, 0.28]])
    truth = float((population * np.log(population / 0.25)).sum())
    lack_feature, lack_target = np.array([0.4, 0.1])[:, None], np.array([0.4, 0.1])[None, :]
    patterns = np.stack(
        [np.broadcast_to(1 - lack_feature - lack_target, (2, 2)), *np.broadcast_arrays(lack_feature, lack_target)]
    )
    held, means = 0, []
    for _ in range(100):
        rows = generator.multinomial(4000, (patterns * population).ravel(), 3).reshape(3, 3, 2, 2)
        law = conditional_information(
            rows[:, 0], target_only=rows[:, 1].sum(axis=2), feature_only=rows[:, 2].sum(axis=1)
        )
        low, high = law.interval(0.95)
        held += low <= truth <= high
        means.append(law.mean())
    assert held >= 90
    assert np.mean(means) == pytest.approx(truth, rel=0.08)
