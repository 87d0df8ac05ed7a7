"""The posterior of the chances against dense algebra, EM, enumeration, quadrature and independent draws: evidence."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import oracle
import pytest
from posterior_helpers import TINY_ONE_SIDED
from strategies import IncompleteTable as Table
from strategies import missing_at_random, table

from credimi import CredimiError, posterior


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


@pytest.mark.parametrize("prior", [1e-9, 0.5])
def test_one_class_has_the_evidence_of_its_values(prior: float) -> None:
    """Rows that show only the class tell nothing if there is no other; by large margins rounding had made it wrong."""
    values, alone = np.array([0.0, 3.0, 1.0]), np.array([182647.0, 4.0, 0.0])
    counts = values + alone + prior
    expected = sum(math.lgamma(count) for count in counts) - math.lgamma(counts.sum())
    found = posterior([values], target_only=[636177.0], feature_only=alone, prior=prior)
    turned = posterior(values[:, None], target_only=alone, feature_only=[636177.0], prior=prior)
    assert found.log_evidence == pytest.approx(expected, rel=1e-9)
    assert turned.log_evidence == pytest.approx(expected, rel=1e-9)


def test_evidence_is_refused_where_margins_alone_hold_a_cell() -> None:
    """By rounding it would depend on the order of the rows: 109.77 or 109.91."""
    cells = np.zeros((2, 4))
    cells[1, 3] = 1.0
    found = posterior(cells, target_only=[0, 4415990], feature_only=[0, 0, 3061670, 0], prior=1e-9)
    with pytest.raises(CredimiError, match="lost to rounding"):
        _ = found.log_evidence
