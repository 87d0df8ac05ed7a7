"""The posterior of the chances against dense algebra, EM, enumeration, quadrature and independent draws."""

import copy
import math
import pickle
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import mpmath
import numpy as np
import oracle
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from strategies import BOTH, ORDINARY, PROPER, incomplete_tables, missing_at_random, table
from strategies import IncompleteTable as Table

import credimi
from credimi import CredimiError, posterior


def correlation_error(found: np.ndarray, truth: np.ndarray) -> float:
    """Largest error of a covariance matrix, each entry relative to the two standard deviations that it belongs to."""
    deviation = np.sqrt(np.diag(truth))
    return float(np.abs((found - truth) / np.outer(deviation, deviation)).max())


# The oracles agree with each other


@pytest.mark.parametrize(
    ("cells", "row_only", "column_only"),
    [([[1.5, 0.5], [2.5, 3.5]], [2, 1], [3, 2]), ([[1.0, 4.0], [2.0, 0.25]], [0, 5], [1, 4])],
)
def test_enumeration_and_quadrature_agree(cells: list, row_only: list, column_only: list) -> None:
    counts = np.array(cells), np.array(row_only, float), np.array(column_only, float)
    evidence, mean, square = oracle.enumerated(*counts)
    by_quadrature, expectations = oracle.quadrature(*counts, [lambda chances: chances, np.square], nodes=8)
    assert by_quadrature == pytest.approx(evidence, abs=1e-12)
    np.testing.assert_allclose(expectations, [mean, square], rtol=1e-12)


def test_em_stops_at_the_papers_wrong_point_from_the_papers_start() -> None:
    counts = np.eye(2), np.array([100.0, 1.0]), np.array([1.0, 100.0])
    stuck = oracle.em_mode(*counts, start=counts[0] / 204.0)
    assert oracle.log_likelihood(*counts, stuck) == pytest.approx(-141.402, abs=5e-4)


# Mode


def test_mode_of_the_table_on_which_em_fails_from_the_counts() -> None:
    # pi_21 = 0; then pi_11 = pi_22 = 1/51 by symmetry and 50/51 is in the first row and in the second column.
    counted = table([[1, 0], [0, 1]], [100, 1], [1, 100], "haldane")
    mode = posterior(**counted.arguments()).mode
    np.testing.assert_allclose(mode, [[1 / 51, 49 / 51], [0, 1 / 51]], rtol=1e-10, atol=1e-15)
    assert mode[0, 1] == pytest.approx(0.9608, abs=5e-5)
    likelihood = oracle.log_likelihood(*counted.counts, mode)
    assert likelihood == pytest.approx(200 * math.log(50 / 51) - 4 * math.log(51), abs=204 * 1e-10)
    assert likelihood == pytest.approx(-19.688, abs=5e-4)


@settings(max_examples=150, deadline=None)
@given(incomplete_tables(priors=(*PROPER, 0.0)))
def test_mode_maximises(counted: Table) -> None:
    mode = posterior(**counted.arguments()).mode
    assert np.all(mode > 0.0)
    assert mode.sum() == pytest.approx(1.0, abs=1e-12)
    assert oracle.kkt_violation(*counted.counts, mode) <= 1e-10


@settings(max_examples=150, deadline=None)
@given(incomplete_tables(magnitudes=ORDINARY, priors=(*PROPER, 0.0)))
def test_mode_is_right_in_every_cell(counted: Table) -> None:
    mode = posterior(**counted.arguments()).mode
    np.testing.assert_allclose(mode, oracle.dense_mode(*counted.counts), rtol=1e-10)


@settings(max_examples=60, deadline=None)
@given(incomplete_tables(magnitudes=("small", "real"), priors=(0.5, 1.0, 0.0), longest=4))
def test_mode_is_where_em_ends(counted: Table) -> None:
    mode = posterior(**counted.arguments()).mode
    np.testing.assert_allclose(mode, oracle.em_mode(*counted.counts), rtol=1e-10)


@pytest.mark.parametrize("prior", [*PROPER, "haldane"])
@pytest.mark.parametrize("shapes", [[(r, s) for r in range(2, 9) for s in range(2, 9)], [(30, 20)] * 10])
def test_newton_takes_at_most_fifteen_steps_where_nine_tenths_are_incomplete(
    shapes: list[tuple[int, int]], prior: float | str
) -> None:
    generator = np.random.default_rng(1)
    steps = {}
    for shape in shapes:
        for rows in (30, 100, 300, 1_000, 3_000, 30_000):
            counted = missing_at_random(shape, rows, (0.45, 0.45), prior, generator)
            if prior == "haldane" and not counted.joint.any():
                continue
            found = posterior(**counted.arguments())
            steps[shape, rows] = max(found.steps, steps.get((shape, rows), 0))
            assert oracle.kkt_violation(*counted.counts, found.mode) <= 1e-10
    assert {case: most for case, most in steps.items() if most > 15} == {}


def test_newton_needs_no_help_from_em() -> None:
    # Sampled with nine tenths incomplete, as above, at N = 10^6.
    joint = [[3178, 12, 25783, 61, 374], [0, 3557, 0, 66630, 24]]
    counted = table(joint, [132845, 317524], [14658, 15822, 116069, 301675, 1788], 0.5)
    assert posterior(**counted.arguments()).steps <= 15


@pytest.mark.parametrize("prior", PROPER)
@pytest.mark.parametrize("shape", [(2, 2), (3, 5), (6, 5), (8, 8), (30, 20)])
def test_newton_ends_where_very_many_steps_of_em_end(shape: tuple[int, int], prior: float | str) -> None:
    counted = missing_at_random(shape, 40 * shape[0] * shape[1], (0.6, 0.3), prior, np.random.default_rng(2))
    mode = posterior(**counted.arguments()).mode
    np.testing.assert_allclose(mode, oracle.em_mode(*counted.counts), rtol=1e-9)


UNSEEN = {"target_only": [1, 0, 0, 1], "feature_only": [95, 71, 112]}


def test_many_tables_with_zero_cells_and_margins_have_their_optimum() -> None:
    generator = np.random.default_rng(20)
    for _ in range(2_000):
        rows, columns = generator.integers(2, 6, 2)
        joint = generator.poisson(generator.gamma(0.5, 10.0 ** generator.uniform(-1, 1), (rows, columns)))
        margins = [np.floor(10.0 ** generator.uniform(-1, 3.5, side)) for side in (rows, columns)]
        for margin in margins:
            margin[generator.random(margin.size) < 0.5] = 0.0
        if joint.any() and margins[0].any() and margins[1].any():
            found = posterior(joint, target_only=margins[0], feature_only=margins[1], prior="haldane")
            assert oracle.kkt_violation(joint, *margins, found.mode) <= 1e-10
            assert np.all(np.isfinite(found.mean))


@pytest.mark.parametrize(
    ("counted", "cell", "expected"),
    [
        (table([[20, 5], [7, 0]], [10, 20], [20, 20], "haldane"), (1, 1), 0.08305),
        (table([[0, 1], [0, 0]], [1, 0], [1, 0], "haldane"), (0, 0), 0.35355),
        (table([[0, 0], [1, 0]], [0, 1], [1, 1], "haldane"), (1, 1), 0.27217),
        (table([[0, 0], [20, 0]], [0, 20], [20, 20], 1e-9), (1, 1), 0.06086),
    ],
)
def test_deviation_of_a_cell_that_the_margins_alone_hold(
    counted: Table, cell: tuple[int, int], expected: float
) -> None:
    """Figures of a Hessian projected by hand; and the root of the covariance's diagonal, as it should be."""
    found = posterior(**counted.arguments())
    assert found.std[cell] == pytest.approx(expected, rel=1e-4)
    np.testing.assert_allclose(found.std.ravel() ** 2, np.diag(found.covariance()), rtol=1e-5, atol=1e-12)


def test_covariance_of_a_class_without_a_conditional_of_its_own_is_that_of_its_share() -> None:
    """Haldane's hole: w is Dirichlet whatever the hole, and the pooled conditional is taken as it is."""
    found = posterior([[10, 20], [0, 0]], target_only=[10, 20], prior="haldane")
    covariance = found.covariance()
    assert covariance[:2, :2].sum() == pytest.approx((2 / 3) * (1 / 3) / 60, rel=1e-12)
    assert covariance[2:, 2:].sum() == pytest.approx((2 / 3) * (1 / 3) / 60, rel=1e-12)
    np.testing.assert_allclose(np.diag(covariance), found.std.ravel() ** 2, rtol=1e-12)


def test_a_class_that_no_one_saw_leaves_nothing_behind() -> None:
    with_it = posterior([[0, 1, 0], [0, 0, 0], [1, 0, 0], [0, 0, 0]], **UNSEEN, prior="haldane")
    assert np.all(with_it.mode[1] == 0.0)
    assert np.all(np.isfinite(with_it.mean))
    assert with_it.kkt_residual <= 1e-10


# Found by hypothesis: a class seen only without the feature, beside counts of very different sizes.
SEEN_ONLY_IN_THE_MARGIN = table([[20000, 500000], [0, 0]], [100000, 4], [4, 5], "haldane")
SLOW_FOR_EM = table([[2232, 5], [0, 0]], [2, 210954], [210954, 5], "haldane")
# A class that no one ever saw, beside cells that end on the boundary with next to no slack.
NEVER_SEEN = (
    table([[0, 0], [0, 5], [2, 0]], [0, 187, 28], [31, 188], "haldane"),
    table([[0, 0, 0], [0, 1, 0], [0, 1, 1]], [0, 5, 5], [2, 11, 1], "haldane"),
    table([[0, 1, 0], [0, 0, 0], [0, 1, 1]], [6, 0, 6], [2, 9, 1], "haldane"),
    table([[0, 0, 0], [3, 0, 0], [0, 4, 0]], [0, 3, 1], [30, 10, 9], "haldane"),
)
# Both cells of a class that was seen without the feature only looked like ending on the boundary.
NEARLY_LOST = table([[0, 0], [0, 2], [0, 2]], [1, 3, 0], [977, 0], "haldane")


@settings(max_examples=150, deadline=None)
@given(incomplete_tables(patterns=BOTH, priors=("haldane",)))
@example(SEEN_ONLY_IN_THE_MARGIN)
@example(SLOW_FOR_EM)
@example(NEVER_SEEN[0])
@example(NEVER_SEEN[1])
@example(NEVER_SEEN[2])
@example(NEVER_SEEN[3])
@example(NEARLY_LOST)
def test_mode_of_a_table_with_zero_cells_is_optimal(counted: Table) -> None:
    found = posterior(**counted.arguments())
    violation = oracle.kkt_violation(*counted.counts, found.mode)
    assert violation <= 1e-10
    assert found.kkt_residual == pytest.approx(violation, abs=1e-11)
    assert np.all(found.mode >= 0.0)
    assert found.mode.sum() == pytest.approx(1.0, abs=1e-10)
    by_em = oracle.log_likelihood(*counted.counts, oracle.em_mode(*counted.counts, steps=300))
    assert oracle.log_likelihood(*counted.counts, found.mode) >= by_em - 1e-12 * abs(by_em)


@pytest.mark.parametrize("rows", [1e13, 1e14, 1e15])
@pytest.mark.parametrize("shape", [(2, 2), (3, 2), (3, 4)])
def test_class_seen_once_among_very_many_rows_keeps_its_chance(shape: tuple[int, int], rows: float) -> None:
    joint = np.zeros(shape)
    joint[0, 0] = rows
    counted = table(joint, np.ones(shape[0]), np.ones(shape[1]), "haldane")
    found = posterior(**counted.arguments())
    assert np.all(found.mode.sum(axis=1) * rows > 0.99)
    assert np.all(found.mode.sum(axis=0) * rows > 0.99)
    for array in (found.mean, found.std):
        assert np.all(np.isfinite(array))


def test_class_without_complete_count_takes_the_pooled_conditional() -> None:
    found = posterior([[3, 1], [0, 0], [1, 3]], target_only=[0, 4, 0], prior="haldane")
    np.testing.assert_allclose(found.mode, np.array([[3, 1], [2, 2], [1, 3]]) / 12, rtol=1e-14)


@settings(max_examples=60, deadline=None)
@given(incomplete_tables(priors=(*PROPER, 0.0)))
def test_transposing_the_table_transposes_the_posterior(counted: Table) -> None:
    found, turned = (posterior(**one.arguments()) for one in (counted, counted.transposed()))
    np.testing.assert_allclose(turned.mode.T, found.mode, rtol=1e-10)
    np.testing.assert_allclose(turned.mean.T, found.mean, rtol=1e-8)
    assert turned.log_evidence == pytest.approx(found.log_evidence, rel=1e-10, abs=1e-9)


# Covariance


@settings(max_examples=100, deadline=None)
@given(incomplete_tables(magnitudes=ORDINARY, priors=(*PROPER, 0.0)))
def test_covariance_is_that_of_the_dense_inverse(counted: Table) -> None:
    found = posterior(**counted.arguments())
    truth = oracle.dense_covariance(*counted.counts, found.mode)
    assert correlation_error(found.covariance(), truth) <= 1e-10


@settings(max_examples=25, deadline=None)
@given(incomplete_tables(magnitudes=("large",), priors=(*PROPER, 0.0), longest=4))
def test_covariance_of_large_counts_is_that_of_many_digits(counted: Table) -> None:
    """Digits are lost only as the condition of A grows: all counts over the least of a cell, in units of rounding."""
    found = posterior(**counted.arguments())
    cells, row_only, column_only = counted.counts
    truth = oracle.precise_covariance(cells, row_only, column_only, found.mode)
    condition = (cells.sum() + row_only.sum() + column_only.sum()) / cells[cells > 0.0].min()
    assert correlation_error(found.covariance(), truth) <= max(1e-10, 2.0**-52 * condition)


@settings(max_examples=60, deadline=None)
@given(incomplete_tables(magnitudes=ORDINARY, priors=(*PROPER, 0.0)), st.integers(0, 2**32 - 1))
def test_covariance_times_a_field(counted: Table, seed: int) -> None:
    found = posterior(**counted.arguments())
    field = np.random.default_rng(seed).normal(size=counted.joint.shape)
    truth = oracle.dense_covariance(*counted.counts, found.mode)
    expected = (truth @ field.ravel()).reshape(field.shape)
    # By Cauchy and Schwarz |Cov[pi, field]| is at most the product of the two standard deviations.
    scale = np.sqrt(np.diag(truth).reshape(field.shape) * (field.ravel() @ truth @ field.ravel()))
    assert np.all(np.abs(found.covariance_times(field) - expected) <= 1e-10 * scale)


@pytest.mark.parametrize("feature_only", [[0, 0, 0], [1, 2, 3]])
def test_covariance_times_leaves_its_argument_alone(feature_only: list[float]) -> None:
    field = np.arange(12.0).reshape(4, 3)
    posterior(np.ones((4, 3)), target_only=[1, 2, 3, 4], feature_only=feature_only).covariance_times(field)
    assert field.flags.writeable
    np.testing.assert_array_equal(field, np.arange(12.0).reshape(4, 3))


@pytest.mark.parametrize(
    ("field", "said"),
    [
        (np.ones((2, 3)), "shape"),
        (np.ones(4), "shape"),
        (1.0, "shape"),
        ("a", "array of numbers: pass real numbers"),
        ([[1, 2], [3]], "array of numbers: pass real numbers"),
        ([["a", "b"], ["c", "d"]], "array of numbers: pass real numbers"),
        (None, "array of numbers: pass real numbers"),
        ([[1, 2], [3, 4j]], "array of numbers: pass real numbers"),
        ([[1, 2], [3, None]], "array of numbers: pass real numbers"),
        ([[1, 2], [3, math.nan]], "not finite"),
        ([[1, 2], [3, math.inf]], "not finite"),
    ],
)
@pytest.mark.parametrize("feature_only", [[0, 0], [1, 2]])
def test_covariance_times_refuses_what_is_no_field(field: object, said: str, feature_only: list[float]) -> None:
    found = posterior([[1, 2], [3, 4]], target_only=[1, 1], feature_only=feature_only)
    with pytest.raises(CredimiError, match=said):
        found.covariance_times(field)


@settings(max_examples=60, deadline=None)
@given(incomplete_tables(magnitudes=ORDINARY, priors=(*PROPER, 0.0)))
def test_std_is_the_root_of_the_diagonal(counted: Table) -> None:
    found = posterior(**counted.arguments())
    truth = np.sqrt(np.diag(oracle.dense_covariance(*counted.counts, found.mode)))
    np.testing.assert_allclose(found.std.ravel(), truth, rtol=1e-10)


@pytest.mark.parametrize("feature_only", [[0, 0], [20, 3]])
def test_std_of_a_chance_close_to_one(feature_only: list[float]) -> None:
    counted = table([[1e12, 1], [2, 5]], [50, 10], feature_only, 1.0)
    found = posterior(**counted.arguments())
    truth = np.sqrt(np.diag(oracle.precise_covariance(*counted.counts, found.mode)))
    np.testing.assert_allclose(found.std.ravel(), truth, rtol=1e-10)


@settings(max_examples=60, deadline=None)
@given(incomplete_tables(patterns=("target_only",), magnitudes=ORDINARY, priors=PROPER))
def test_closed_form_covariance_of_missing_features(counted: Table) -> None:
    cells, row_only, _ = counted.counts
    total, rows = counted.total, cells.sum(axis=1)
    full = rows + row_only
    mode = (full / total)[:, None] * cells / rows[:, None]
    rho = total * mode**2 / cells
    rho_row = rho.sum(axis=1)
    inverse_rho_missing = row_only / (total * mode.sum(axis=1) ** 2)
    share = 1.0 / (1.0 + rho_row * inverse_rho_missing)
    np.testing.assert_allclose(rho_row, full**2 / (total * rows), rtol=1e-12)
    np.testing.assert_allclose(share, rows / full, rtol=1e-12)
    assert (rho_row * share).sum() == pytest.approx(1.0, rel=1e-12)
    expected = np.zeros((cells.size, cells.size))
    indices = list(np.ndindex(*cells.shape))
    for first, (i, j) in enumerate(indices):
        for second, (k, m) in enumerate(indices):
            value = -rho[i, j] * share[i] * rho[k, m] * share[k]
            if i == k:  # 1/(rho_i+ + rho_i?), written with the inverse of rho_i?, which may be infinite
                value -= rho[i, j] * rho[i, m] * inverse_rho_missing[i] * share[i]
            if i == k and j == m:
                value += rho[i, j]
            expected[first, second] = value / total
    found = posterior(**counted.arguments())
    np.testing.assert_allclose(found.mode, mode, rtol=1e-12)
    assert correlation_error(found.covariance(), expected) <= 1e-10


def test_covariance_of_complete_data_is_that_of_a_multinomial_by_hand() -> None:
    # c = (1, 2, 3, 4)/10: variances p(1-p)/10, covariances -p q/10.
    chance = np.array([0.1, 0.2, 0.3, 0.4])
    expected = (np.diag(chance) - np.outer(chance, chance)) / 10.0
    np.testing.assert_allclose(posterior([[0, 1], [2, 3]], prior=1.0).covariance(), expected, rtol=1e-13)


# Mean

TINY_ONE_SIDED = [
    table([[1, 0], [2, 1]], [2, 3], [0, 0], 0.5),
    table([[1, 0, 2], [0, 1, 1]], [1, 3], [0, 0, 0], 1.0),
    table([[1, 0], [2, 1], [0, 0]], [0, 0, 0], [3, 2], "perks"),
    table([[3, 1], [1, 2]], [0, 0], [0, 0], 0.25),
]
TINY_BOTH = [
    table([[1, 0], [2, 1]], [2, 3], [2, 1], 0.5),
    table([[4, 1], [0, 3]], [1, 2], [3, 3], 1.0),
    table([[2, 2], [1, 5]], [3, 0], [0, 3], 0.5),
    table([[1, 6], [4, 0]], [2, 2], [1, 4], "perks"),
    table([[3, 0, 2], [0, 4, 1]], [2, 1], [1, 1, 2], 1.0),
    table([[0, 0], [5, 1], [2, 3]], [1, 1, 2], [2, 2], 0.5),
]


@pytest.mark.parametrize("counted", TINY_ONE_SIDED)
def test_mean_is_exact_where_one_side_is_complete(counted: Table) -> None:
    _, mean, _ = oracle.enumerated(*counted.counts)
    np.testing.assert_allclose(posterior(**counted.arguments()).mean, mean, rtol=1e-12)


def test_mean_of_incomplete_tables_is_closer_to_the_truth_than_the_mode() -> None:
    errors = []
    for counted in TINY_BOTH:
        _, mean, square = oracle.enumerated(*counted.counts)
        found = posterior(**counted.arguments())
        deviation = np.sqrt(square - mean**2)
        errors.append([np.abs((guess - mean) / deviation).max() for guess in (found.mean, found.mode)])
    of_mean, of_mode = np.array(errors).T
    assert np.sum(of_mean < of_mode) > len(TINY_BOTH) / 2
    assert of_mean.sum() < of_mode.sum()


@pytest.mark.parametrize("rows", [100, 1000])
def test_mean_is_right_to_first_order(rows: int) -> None:
    # The mode is off by order 1/N of chances whose deviation is of order N^-1/2, the mean by order 1/N^2.
    generator = np.random.default_rng(3)
    errors = []
    for _ in range(12):
        counted = missing_at_random((2, 2), rows, (0.25, 0.25), 0.5, generator, concentration=3.0)
        _, (mean, square) = oracle.quadrature(*counted.counts, [lambda chances: chances, np.square])
        found = posterior(**counted.arguments())
        deviation = np.sqrt(square - mean**2)
        errors.append([np.abs((guess - mean) / deviation).max() for guess in (found.mean, found.mode)])
    of_mean, of_mode = np.array(errors).T
    assert np.all(of_mean < of_mode)
    assert of_mean.max() < 10.0 / rows


def test_mean_is_positive_where_the_correction_would_pass_zero() -> None:
    counted = table([[0, 0, 3], [0, 2, 0]], [20, 1], [9, 1, 1], "perks")
    mean = posterior(**counted.arguments()).mean
    assert np.all(mean > 0.0)
    assert mean.sum() == pytest.approx(1.0, abs=1e-14)


# Evidence


@pytest.mark.parametrize("counted", TINY_ONE_SIDED)
def test_evidence_is_exact_where_one_side_is_complete(counted: Table) -> None:
    evidence, _, _ = oracle.enumerated(*counted.counts)
    assert posterior(**counted.arguments()).log_evidence == pytest.approx(evidence, abs=1e-11)


@pytest.mark.parametrize(
    ("target_only", "feature_only"), [([2.7, 3.1], [0, 0]), ([0, 0], [0.4, 5.5]), ([0, 0], [0, 0])]
)
def test_evidence_of_weights_is_the_integral(target_only: list[float], feature_only: list[float]) -> None:
    counted = table([[1.5, 0.3], [2.2, 4.1]], target_only, feature_only, 0.5)
    evidence, _ = oracle.quadrature(*counted.counts, [], nodes=60)
    assert posterior(**counted.arguments()).log_evidence == pytest.approx(evidence, abs=1e-9)


@pytest.mark.parametrize("rows", [20, 60, 200, 1000])
def test_evidence_of_incomplete_tables_is_right_to_three_over_n(rows: int) -> None:
    # Half the data rows incomplete, pseudo-counts down to 1/4: .15 nats at N = 20, .003 at N = 1000.
    generator = np.random.default_rng(4)
    for prior in (0.25, 0.5, 1.0) * 6:
        counted = missing_at_random((2, 2), rows, (0.25, 0.25), prior, generator)
        evidence, _ = oracle.quadrature(*counted.counts, [], nodes=40)
        assert abs(posterior(**counted.arguments()).log_evidence - evidence) <= 3.0 / rows, counted


def test_evidence_without_count_and_pseudo_count_is_infinite() -> None:
    for feature_only in ([0, 0], [1, 2]):
        empty = posterior([[3, 0], [1, 2]], target_only=[1, 1], feature_only=feature_only, prior="haldane")
        assert empty.log_evidence == math.inf
        filled = posterior([[3, 1], [1, 2]], target_only=[1, 1], feature_only=feature_only, prior="haldane")
        assert math.isfinite(filled.log_evidence)


def precise_evidence(cells: np.ndarray, row_only: list[float]) -> float:
    """The closed form where the columns' side is complete, with digits to spare."""
    with mpmath.workdps(50):
        c = [[mpmath.mpf(float(value)) for value in row] for row in cells]
        full = [mpmath.fsum([*row, mpmath.mpf(float(only))]) for row, only in zip(c, row_only, strict=True)]
        inner = [mpmath.fsum(map(mpmath.loggamma, row)) - mpmath.loggamma(mpmath.fsum(row)) for row in c]
        outer = mpmath.fsum(map(mpmath.loggamma, full)) - mpmath.loggamma(mpmath.fsum(full))
        return float(mpmath.fsum(inner) + outer)


@pytest.mark.parametrize("row_only", [[0.0, 0.0], [1.0, 2.0], [1e15, 3e14]])
@pytest.mark.parametrize(
    "joint",
    [
        [[1e-100, 2.0], [3.0, 4.0]],
        [[1e-100, 1e-100], [1e-100, 1e-100]],
        [[1e15, 2e14], [3e14, 4e14]],
        [[1e15, 1e-100], [1e-100, 1.0]],
    ],
)
def test_evidence_of_extreme_counts(joint: list[list[float]], row_only: list[float]) -> None:
    truth = precise_evidence(np.array(joint), row_only)
    found = posterior(joint, target_only=row_only, prior="haldane").log_evidence
    assert found == pytest.approx(truth, rel=1e-15, abs=1e-11)
    turned = posterior(np.transpose(joint), feature_only=row_only, prior="haldane").log_evidence
    assert turned == pytest.approx(truth, rel=1e-15, abs=1e-11)


@pytest.mark.parametrize("pseudo", [1e-100, 1e-30, 1e6])
def test_marginal_likelihood_of_extreme_priors(pseudo: float) -> None:
    joint, row_only = np.array([[3.0, 0.0], [1.0, 4.0]]), [1.0, 2.0]
    flat = np.full((1, 4), pseudo)
    truth = precise_evidence(joint + pseudo, row_only) - precise_evidence(flat, [0.0])
    found = posterior(joint, target_only=row_only, prior=pseudo).log_marginal_likelihood
    assert found == pytest.approx(truth, rel=1e-13, abs=1e-8)


@pytest.mark.parametrize(
    ("joint", "feature_only"),
    [([[1e-100, 2], [3, 4]], [2, 1]), ([[1e-3, 2], [3, 4]], [2, 1]), ([[1e12, 2e12], [3e12, 4e12]], [2, 1])],
)
def test_evidence_of_extreme_counts_with_both_sides_missing(joint: list[list[float]], feature_only: list[int]) -> None:
    evidence = [  # each way in which the rows without target may fall, weighted by their number
        precise_evidence(np.array(joint) + np.array([[left, right], [2 - left, 1 - right]]), [1, 2])
        + math.log(math.comb(2, left))
        for left in range(feature_only[0] + 1)
        for right in range(feature_only[1] + 1)
    ]
    found = posterior(joint, target_only=[1, 2], feature_only=feature_only, prior="haldane").log_evidence
    assert found == pytest.approx(np.logaddexp.reduce(evidence), rel=2e-15, abs=0.005)


def test_evidence_lost_to_rounding_is_refused() -> None:
    found = posterior([[1e-100, 1e-100], [3, 4]], target_only=[1, 2], feature_only=[2, 1], prior="haldane")
    with pytest.raises(CredimiError, match="lost to rounding"):
        _ = found.log_evidence


def sequence_probability(rows: list[list[tuple[int, int]]], shape: tuple[int, int], pseudo: float) -> float:
    """Probability of a sequence of data rows by the chain rule; each row is given as the cells it may lie in."""

    def follow(index: int, counts: np.ndarray) -> float:
        if index == len(rows):
            return 1.0
        total = 0.0
        for cell in rows[index]:
            predictive = (counts[cell] + pseudo) / (counts.sum() + counts.size * pseudo)
            after = counts.copy()
            after[cell] += 1.0
            total += predictive * follow(index + 1, after)
        return total

    return follow(0, np.zeros(shape))


@pytest.mark.parametrize("prior", [0.5, 1.0, 0.1])
def test_marginal_likelihood_is_the_chain_rule_of_predictions(prior: float) -> None:
    complete = [[(0, 0)], [(1, 2)], [(0, 0)], [(1, 1)], [(0, 1)], [(1, 2)]]
    found = posterior([[2, 1, 0], [0, 1, 2]], prior=prior).log_marginal_likelihood
    assert found == pytest.approx(math.log(sequence_probability(complete, (2, 3), prior)), abs=1e-11)
    without_feature = [[(0, 0), (0, 1), (0, 2)], [(1, 0), (1, 1), (1, 2)], [(1, 0), (1, 1), (1, 2)]]
    found = posterior([[2, 1, 0], [0, 1, 2]], target_only=[1, 2], prior=prior).log_marginal_likelihood
    assert found == pytest.approx(math.log(sequence_probability(complete + without_feature, (2, 3), prior)), abs=1e-11)
    without_target = [[(0, 2), (1, 2)], [(0, 0), (1, 0)]]
    found = posterior([[2, 1, 0], [0, 1, 2]], feature_only=[1, 0, 1], prior=prior).log_marginal_likelihood
    assert found == pytest.approx(math.log(sequence_probability(complete + without_target, (2, 3), prior)), abs=1e-11)


def test_first_data_row_by_hand() -> None:
    assert posterior([[1, 0], [0, 0]], prior=1.0).log_marginal_likelihood == pytest.approx(math.log(1 / 4))
    assert posterior([[1, 1], [0, 0]], prior=1.0).log_marginal_likelihood == pytest.approx(math.log(1 / 4 * 1 / 5))
    one_side = posterior([[0, 0], [0, 0]], target_only=[1, 0], prior=1.0)
    assert one_side.log_marginal_likelihood == pytest.approx(math.log(1 / 2))


def test_marginal_likelihood_of_an_improper_prior_is_refused() -> None:
    with pytest.raises(CredimiError, match="improper"):
        _ = posterior([[1, 2], [3, 4]], prior="haldane").log_marginal_likelihood


# Draws


def assert_mean(values: np.ndarray, truth: np.ndarray, error: np.ndarray) -> None:
    """Within five standard errors."""
    assert np.all(np.abs(values - truth) <= 5.0 * error), (values, truth, error)


def assert_moments_of_chains(trace: np.ndarray, truths: list[np.ndarray]) -> None:
    """First and second moments of (steps, chains, ...) draws, judged by the spread between independent chains."""
    for power, truth in enumerate(truths, 1):
        of_chains = (trace**power).mean(axis=0)
        assert_mean(of_chains.mean(axis=0), truth, of_chains.std(axis=0, ddof=1) / math.sqrt(trace.shape[1]))


def rising(parameter: np.ndarray, order: int) -> np.ndarray:
    """parameter (parameter + 1) ... `order` factors: moments of a Dirichlet are quotients of these."""
    return np.prod([parameter + step for step in range(order)], axis=0)


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("prior", [1.0, 0.5, 0.05])
def test_independent_draws_have_the_moments_of_the_product_of_dirichlets(prior: float, *, turned: bool) -> None:
    counted = table([[4, 0, 1], [2, 3, 0.5]], [6, 1.5], [0, 0, 0], prior)
    size = 40_000
    cells, row_only, _ = counted.counts
    rows = cells.sum(axis=1)
    full = rows + row_only

    def exact(order: int) -> np.ndarray:
        """E[pi^order] = E[w^order] E[q^order]."""
        of_rows = rising(full, order) / rising(full.sum(), order)
        return of_rows[:, None] * rising(cells, order) / rising(rows, order)[:, None]

    asked = counted.transposed() if turned else counted
    draws = posterior(**asked.arguments()).rvs(size, random_state=5)
    draws = draws.swapaxes(1, 2) if turned else draws
    np.testing.assert_allclose(draws.sum(axis=(1, 2)), 1.0, rtol=1e-12)
    assert_mean(draws.mean(axis=0), exact(1), np.sqrt((exact(2) - exact(1) ** 2) / size))
    assert_mean((draws**2).mean(axis=0), exact(2), np.sqrt((exact(4) - exact(2) ** 2) / size))
    # E[pi_11 pi_21] = E[w_1 w_2] q_11 q_21 ties the rows, E[pi_11 pi_12] = E[w_1^2] E[q_11 q_12] the columns.
    share, total = cells / rows[:, None], full.sum()
    across = full[0] * full[1] / rising(total, 2) * share[0, 0] * share[1, 0]
    within = rising(full[0], 2) / rising(total, 2) * cells[0, 0] * cells[0, 1] / rising(rows[0], 2)
    for product, truth in ((draws[:, 0, 0] * draws[:, 1, 0], across), (draws[:, 0, 0] * draws[:, 0, 1], within)):
        assert_mean(product.mean(), truth, product.std() / math.sqrt(size))


@pytest.mark.parametrize(
    "counted",
    [
        table([[3, 1], [0, 4]], [5, 2], [3, 4], 0.5),
        table([[3, 1], [0, 4]], [1, 2], [8, 4], 1.0),
        table([[1, 0], [0, 1]], [9, 3], [2, 9], 1.0),
        table([[1.5, 0.2], [2.4, 3.3]], [2.6, 1.3], [0.4, 1.7], 0.5),  # weights: the Metropolis step
        table([[0.5, 0.2], [1.4, 0.3]], [3.5, 4.45], [2.5, 3.49], 1.0),
        table([[2, 1], [1, 2]], [4, 5], [0.3, 0.4], 0.5),  # all of the margin is left over
    ],
)
def test_gibbs_draws_have_the_moments_of_the_integral(counted: Table) -> None:
    functions = [lambda chances: chances, np.square, oracle.informations, lambda pi: oracle.informations(pi) ** 2]
    _, expected = oracle.quadrature(*counted.counts, functions, nodes=64)
    draws = posterior(**counted.arguments()).sample(256 * 150, 6)
    trace = draws.chances.reshape(150, 256, 2, 2)
    assert_moments_of_chains(trace, expected[:2])
    of_trace = oracle.informations(draws.chances).reshape(150, 256)
    assert_moments_of_chains(of_trace, expected[2:])
    assert draws.r_hat == pytest.approx(1.0, abs=0.02)


def test_gibbs_draws_agree_with_another_gibbs_sampler() -> None:
    counted = table([[5, 1, 0], [2, 6, 1], [0, 3, 4]], [6, 3, 8], [4, 7, 5], 0.5)
    draws = posterior(**counted.arguments()).sample(256 * 100, 7)
    ours = draws.chances.reshape(100, 256, 3, 3)
    other = oracle.gibbs_draws(*counted.counts, chains=400, steps=300, burn_in=100, generator=np.random.default_rng(8))
    for function in (lambda trace: trace, np.square, lambda trace: oracle.informations(trace.reshape(-1, 3, 3))):
        found, expected = (function(trace).reshape(*trace.shape[:2], -1).mean(axis=0) for trace in (ours, other))
        error = np.sqrt(found.var(axis=0, ddof=1) / 256 + expected.var(axis=0, ddof=1) / 400)
        assert_mean(found.mean(axis=0), expected.mean(axis=0), error)
    assert draws.r_hat < 1.01


def test_effective_size_is_what_the_chains_show() -> None:
    # Chains are independent: Var[chain mean] = Var/(draws a chain is worth). 256 chains know a variance to 9 %.
    counted = table([[2, 1], [1, 2]], [20, 15], [12, 22], 1.0)
    draws = posterior(**counted.arguments()).sample(256 * 200, 9, thin=1)
    trace = oracle.informations(draws.chances).reshape(200, 256)
    worth = 256 * trace.var() / trace.mean(axis=0).var(ddof=1)
    assert draws.effective_size == pytest.approx(worth, rel=4.5 * math.sqrt(2 / 255))
    assert draws.effective_size < 0.8 * trace.size
    assert draws.r_hat < 1.1


def test_independent_draws_say_so() -> None:
    draws = posterior([[3, 1], [1, 4]], target_only=[2, 5]).sample(1000, 10)
    assert draws.chances.shape == (1000, 2, 2)
    assert draws.r_hat == 1.0
    assert draws.effective_size == 1000.0


@pytest.mark.parametrize("feature_only", [[0, 0, 0], [2, 0, 5]])
@pytest.mark.parametrize("prior", [1e-3, 1e-12, 1e-100])
def test_tiny_pseudo_counts_leave_draws_finite(prior: float, feature_only: list[float]) -> None:
    found = posterior([[3, 0, 0], [0, 0, 0]], target_only=[2, 4], feature_only=feature_only, prior=prior)
    draws = found.rvs(2000, random_state=11)
    assert np.all(np.isfinite(draws))
    assert np.all(draws >= 0.0)
    np.testing.assert_allclose(draws.sum(axis=(1, 2)), 1.0, rtol=1e-12)


def test_draws_keep_what_haldane_leaves_out() -> None:
    draws = posterior([[3, 0], [1, 2], [0, 0]], target_only=[1, 1, 5], prior="haldane").rvs(500, random_state=12)
    assert np.all(draws[:, 0, 1] == 0.0)
    pooled = draws[:, :2].sum(axis=1)
    third = draws[:, 2]
    np.testing.assert_allclose(third[:, 0] * pooled[:, 1], third[:, 1] * pooled[:, 0], rtol=1e-10)
    assert np.all(third.sum(axis=1) > 0.0)


@pytest.mark.parametrize("feature_only", [[0, 0], [3, 2]])
def test_draws_are_reproducible(feature_only: list[float]) -> None:
    found = posterior([[3, 1], [1, 4]], target_only=[2, 5], feature_only=feature_only)
    first, again, other = found.rvs(300, 13), found.rvs(300, np.random.default_rng(13)), found.rvs(300, 14)
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)
    assert found.rvs(random_state=13).shape == (1, 2, 2)
    assert found.rvs(0).shape == (0, 2, 2)


@pytest.mark.parametrize("wrong", [{"size": -1}, {"size": 2.5}, {"chains": 0}, {"burn_in": -1}, {"thin": 0}])
def test_sample_refuses_what_is_no_number_of_draws(wrong: dict[str, float]) -> None:
    arguments = {"size": 10, **wrong}
    with pytest.raises(CredimiError, match="whole number"):
        posterior([[3, 1], [1, 4]]).sample(**arguments)


def test_sampled_information_is_that_of_the_draws() -> None:
    arguments = {"target_only": [2, 5], "feature_only": [4, 1], "prior": 0.5}
    sampled = credimi.mutual_information(
        [[3, 1], [1, 4]], **arguments, approximation="sampled", draws=2000, random_state=15
    )
    draws = posterior([[3, 1], [1, 4]], **arguments).rvs(2000, 15)
    values = [oracle.mutual_information(chances) for chances in draws]
    assert sampled.mean() == pytest.approx(np.mean(values), rel=1e-10)
    assert sampled.std() == pytest.approx(np.std(values), rel=1e-3)


def test_one_feature_value_with_both_sides_missing() -> None:
    # pi_i ~ prod pi_i^(n_i + n_i?): the feature's own margin says nothing.
    found = posterior(joint=[[3], [5]], target_only=[2, 1], feature_only=[7], prior=1.0)
    np.testing.assert_allclose(found.mode.ravel(), [6 / 13, 7 / 13], rtol=1e-12)
    np.testing.assert_allclose(found.mean.ravel(), [6 / 13, 7 / 13], rtol=1e-12)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda found: pickle.loads(pickle.dumps(found))])  # noqa: S301
@pytest.mark.parametrize("feature_only", [[0, 0], [1, 2]])
def test_copy_of_a_posterior_is_the_same_and_frozen(
    copied: Callable[[credimi.Posterior], credimi.Posterior], feature_only: list[float]
) -> None:
    found = posterior([[3, 1], [1, 4]], target_only=[2, 5], feature_only=feature_only)
    names = ("mode", "mean", "std")
    known = [getattr(found, name) for name in names]  # before the copy: what is computed must not travel unlocked
    again = copied(found)
    for name, values in zip(names, known, strict=True):
        np.testing.assert_array_equal(getattr(again, name), values)
        assert not getattr(again, name).flags.writeable
    assert not again.table.joint.flags.writeable
    assert again.log_evidence == found.log_evidence


def test_threads_may_share_a_posterior() -> None:
    generator = np.random.default_rng(21)
    found = posterior(
        joint=generator.poisson(3.0, (40, 40)),
        target_only=generator.poisson(9.0, 40),
        feature_only=generator.poisson(9.0, 40),
        prior=0.5,
    )
    field = generator.normal(size=(40, 40))
    alone = found.covariance_times(field)
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda _: found.covariance_times(field), range(2000)))
    assert all(np.array_equal(alone, each) for each in together)
