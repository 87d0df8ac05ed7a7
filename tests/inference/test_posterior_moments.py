"""Covariance; Mean."""

from __future__ import annotations

import math

import numpy as np
import oracle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from posterior_helpers import TINY_ONE_SIDED
from strategies import ORDINARY, PROPER, incomplete_tables, missing_at_random, table
from strategies import IncompleteTable as Table

from credimi import CredimiError, posterior


def correlation_error(found: np.ndarray, truth: np.ndarray) -> float:
    """Largest error of a covariance matrix, each entry relative to the two standard deviations that it belongs to."""
    deviation = np.sqrt(np.diag(truth))
    return float(np.abs((found - truth) / np.outer(deviation, deviation)).max())


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
