"""Evidence of conditional dependence: equal to what a plain formula says, and to `conditional_information`."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import gammaln, logsumexp

from credimi import conditional_information
from credimi.inference.evidence.adaptive_prior import GRID, LOOSEST, SMOOTHING, TIGHTEST
from credimi.questions.network.edge_evidence import EdgeEvidence

NO_WEIGHTS = np.zeros(0)


def evidence(codes: np.ndarray, values: list[int], weights: np.ndarray = NO_WEIGHTS) -> EdgeEvidence:
    return EdgeEvidence(np.ascontiguousarray(codes, dtype=np.uint16), np.array(values, dtype=np.int64), weights, 1)


def plain_log_factor(table: np.ndarray, row_only: np.ndarray, column_only: np.ndarray) -> float:
    """The mean over the grid of the evidence of K relative to independence, by log Gamma."""
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    a = (rows + row_only + SMOOTHING) / (rows + row_only + SMOOTHING).sum()
    b = (columns + column_only + SMOOTHING) / (columns + column_only + SMOOTHING).sum()
    total, (r, s) = table.sum(), table.shape
    points = GRID * 2 // 3
    strengths = np.geomspace(LOOSEST, TIGHTEST * min(r, s) * max(total, r * s), points)

    def polya(counts: np.ndarray, alpha: np.ndarray) -> float:
        whole = alpha.sum()
        parts = gammaln(alpha + counts) - gammaln(alpha)
        return float(gammaln(whole) - gammaln(whole + counts.sum()) + parts.sum())

    scores = [polya(table, k * np.outer(a, b)) - polya(rows, k * a) - polya(columns, k * b) for k in strengths]
    return float(logsumexp(scores) - np.log(points))


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_a_pair_alone_has_the_evidence_of_the_formula(missing: float) -> None:
    generator = np.random.default_rng(3)
    first = generator.integers(0, 3, 200)
    second = np.where(generator.random(200) < 0.4, first, generator.integers(0, 4, 200))
    first[generator.random(200) < missing] = 3
    second[generator.random(200) < missing] = 4
    block = np.zeros((4, 5))
    np.add.at(block, (first, second), 1.0)
    found = evidence(np.array([first, second]), [3, 4]).of(np.array([[0, 1]]))
    assert found[0] == pytest.approx(plain_log_factor(block[:3, :4], block[:3, 4], block[3, :4]), rel=1e-9)


def test_strata_have_the_evidence_of_conditional_information() -> None:
    generator = np.random.default_rng(4)
    given = generator.integers(0, 3, 400)
    first = generator.integers(0, 2, 400)
    second = np.where(generator.random(400) < 0.15, first, generator.integers(0, 3, 400))
    joint = np.zeros((3, 2, 3))
    np.add.at(joint, (given, first, second), 1.0)
    found = evidence(np.array([first, second, given]), [2, 3, 3]).of(np.array([[0, 1, 2]]))
    chance = conditional_information(joint).p_zero
    assert 1.0 / (1.0 + np.exp(found[0])) == pytest.approx(chance, abs=1e-3)  # it leaves out negligible components


def test_rows_that_lack_a_given_column_are_left_out() -> None:
    generator = np.random.default_rng(5)
    codes = generator.integers(0, 2, (3, 300))
    codes[2, :100] = 2
    whole = evidence(codes, [2, 2, 2]).of(np.array([[0, 1, 2]]))
    part = evidence(codes[:, 100:], [2, 2, 2]).of(np.array([[0, 1, 2]]))
    assert whole[0] == part[0]


def test_weights_are_numbers_of_rows() -> None:
    generator = np.random.default_rng(6)
    codes, weights = generator.integers(0, 3, (4, 100)), generator.integers(1, 4, 100)
    tests = np.array([[0, 1, 2, 3], [0, 1, 2, -1], [2, 3, -1, -1]])
    weighted = evidence(codes, [3] * 4, weights.astype(np.float64)).of(tests)
    repeated = evidence(np.repeat(codes, weights, axis=1), [3] * 4).of(tests)
    np.testing.assert_allclose(weighted, repeated, rtol=1e-10)


def test_the_order_of_tests_and_threads_changes_nothing() -> None:
    generator = np.random.default_rng(7)
    codes = generator.integers(0, 3, (6, 300)).astype(np.uint16)
    tests = np.array([generator.choice(6, 4, replace=False) for _ in range(300)])
    one = EdgeEvidence(codes, np.full(6, 3), NO_WEIGHTS, 1).of(tests)
    two = EdgeEvidence(codes, np.full(6, 3), NO_WEIGHTS, 2).of(tests[::-1])[::-1]
    np.testing.assert_array_equal(one, two)


def test_a_column_of_one_value_tells_nothing() -> None:
    codes = np.array([[0] * 50, [0, 1] * 25])
    assert evidence(codes, [1, 2]).of(np.array([[0, 1]]))[0] == 0.0


def test_a_column_tells_nothing_more_once_its_copy_is_given() -> None:
    generator = np.random.default_rng(8)
    first, second = generator.integers(0, 3, 2000), generator.integers(0, 11, 2000)
    finer = second * 5 + generator.integers(0, 5, 2000)  # has a copy of it inside
    first[:300], second[300:500] = 3, 11  # rows that lack one of the two
    codes = np.array([first, second, generator.permutation(11)[finer // 5], finer])
    found = evidence(codes, [3, 11, 11, 55]).of(np.array([[0, 1, 2], [0, 1, 3]]))
    np.testing.assert_array_equal(found, 0.0)


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_values_that_a_stratum_does_not_have_change_nothing(missing: float) -> None:
    generator = np.random.default_rng(9)
    given = generator.integers(0, 4, 600)
    first = generator.integers(0, 3, 600)
    second = np.where(generator.random(600) < 0.4, first, generator.integers(0, 3, 600))
    apart = second + 3 * given  # each stratum has three values of its own
    lost = generator.random(600) < missing
    second[lost], apart[lost] = 3, 12
    same = evidence(np.array([first, second, given]), [3, 3, 4]).of(np.array([[0, 1, 2]]))
    other = evidence(np.array([first, apart, given]), [3, 12, 4]).of(np.array([[0, 1, 2]]))
    assert same[0] > 5.0
    assert other[0] == pytest.approx(same[0], rel=1e-10)
