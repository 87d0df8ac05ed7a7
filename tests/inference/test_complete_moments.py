"""`credimi.complete_moments` against 40-digit arithmetic, and against derivatives and draws."""

from __future__ import annotations

import math

import mpmath as mp
import numpy as np
import pytest

import credimi
from credimi import CredimiError


def literally(parameters: np.ndarray) -> tuple[float, float, float, float]:
    """Mean by the digamma formula, and the central moments by derivatives of I at the mean, in mpmath."""
    with mp.workdps(40):
        n = [[mp.mpf(float(value)) for value in row] for row in parameters]
        total = mp.fsum(mp.fsum(row) for row in n)
        rows, columns = [mp.fsum(row) for row in n], [mp.fsum(column) for column in zip(*n, strict=True)]
        cells = [(i, j) for i in range(len(rows)) for j in range(len(columns))]
        mean = mp.fsum(
            n[i][j]
            * (mp.psi(0, n[i][j] + 1) - mp.psi(0, rows[i] + 1) - mp.psi(0, columns[j] + 1) + mp.psi(0, total + 1))
            for i, j in cells
        )
        ratio = {(i, j): mp.log(n[i][j] * total / (rows[i] * columns[j])) for i, j in cells}
        share = {(i, j): n[i][j] / total for i, j in cells}
        first, second = (mp.fsum(share[c] * ratio[c] ** power for c in cells) for power in (1, 2))
        shift = mp.fsum(
            (1 / n[i][j] - 1 / rows[i] - 1 / columns[j] + 1 / total) * n[i][j] * ratio[i, j] for i, j in cells
        )
        freedom = (len(rows) - 1) * (len(columns) - 1)
        association = 1 - mp.fsum(n[i][j] ** 2 / (rows[i] * columns[j]) for i, j in cells)
        variance = (second - first**2) / (total + 1)
        variance += (shift + freedom * (mp.mpf(1) / 2 - first) - association) / ((total + 1) * (total + 2))
        # E[(sum l d)^3] of a Dirichlet, and 3 E[(l d)^2 (d' H d)/2] less its mean part, with H the second derivatives.
        along = {c: share[c] * (ratio[c] - first) for c in cells}  # total times the covariance with l
        curvature = mp.fsum(along[c] ** 2 / share[c] for c in cells)
        curvature -= mp.fsum(
            mp.fsum(along[i, j] for j in range(len(columns))) ** 2 * total / rows[i] for i in range(len(rows))
        )
        curvature -= mp.fsum(
            mp.fsum(along[i, j] for i in range(len(rows))) ** 2 * total / columns[j] for j in range(len(columns))
        )
        skew = 2 * mp.fsum(share[c] * (ratio[c] - first) ** 3 for c in cells) + 3 * curvature
        return (
            float(mean / total),
            float(variance),
            float(skew / total**2),
            float(3 * ((second - first**2) / total) ** 2),
        )


@pytest.mark.parametrize("seed", range(30))
def test_every_moment_of_random_tables(seed: int) -> None:
    generator = np.random.default_rng(seed)
    joint = generator.integers(0, 60, size=generator.integers(2, 5, size=2))
    found = credimi.complete_moments(joint, prior="jeffreys")
    mean, variance, third, fourth = literally(joint + 0.5)
    assert found.mean == pytest.approx(mean, rel=1e-11)
    assert found.variance == pytest.approx(variance, rel=1e-10)
    assert found.third_central_moment == pytest.approx(third, rel=1e-8, abs=1e-12)
    assert found.fourth_central_moment == pytest.approx(fourth, rel=1e-10)
    assert found.skewness == pytest.approx(third / (fourth / 3) ** 0.75, rel=1e-8, abs=1e-6)
    assert found.kurtosis == 3.0
    assert found.fourth_central_moment == pytest.approx(3.0 * (found.third_central_moment / found.skewness) ** (4 / 3))


def test_against_exact_draws() -> None:
    joint = np.array([[400, 120], [90, 300]])
    found = credimi.complete_moments(joint)
    pi = np.random.default_rng(3).dirichlet((joint + 0.5).ravel(), 200_000).reshape(-1, 2, 2)
    expected = pi.sum(axis=2, keepdims=True) * pi.sum(axis=1, keepdims=True)
    information = (pi * np.log(pi / expected)).sum(axis=(1, 2))
    centred = information - information.mean()
    assert information.mean() == pytest.approx(found.mean, abs=4 * centred.std() / math.sqrt(200_000))
    assert centred.var() == pytest.approx(found.variance, rel=0.015)
    assert (centred**3).mean() / centred.std() ** 3 == pytest.approx(found.skewness, abs=0.025)


def test_the_prior_may_differ_between_cells() -> None:
    prior = [[1, 0.5], [2, 0.25]]
    assert credimi.complete_moments([[4, 2], [1, 7]], prior=prior) == credimi.complete_moments(
        np.array([[4, 2], [1, 7]]) + prior, prior="raw-counts"
    )


def test_exact_independence_has_no_skewness() -> None:
    found = credimi.complete_moments(np.ones((2, 2)), prior="raw-counts")
    assert found.mean == pytest.approx(1 / 12, rel=1e-14)
    assert math.isnan(found.skewness)
    assert math.isnan(found.kurtosis)


def test_what_is_refused() -> None:
    with pytest.raises(CredimiError, match="for missing values"):
        credimi.complete_moments([[1, 2, 3], [4, 5, 6], [7, 8, "?"]])
    with pytest.raises(CredimiError, match="add a pseudo-count"):
        credimi.complete_moments([[1, 0], [2, 3]], prior="raw-counts")
