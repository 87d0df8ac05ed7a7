"""The oracles agree with each other; Mode."""

from __future__ import annotations

import math

import numpy as np
import oracle
import pytest
from hypothesis import example, given, settings
from strategies import BOTH, ORDINARY, PROPER, incomplete_tables, missing_at_random, table
from strategies import IncompleteTable as Table

from credimi import posterior


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


@pytest.mark.long
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
