"""Special functions against mpmath, on wide grids."""

from __future__ import annotations

from typing import TYPE_CHECKING

import mpmath
import numpy as np
import pytest

from credimi.core import special

if TYPE_CHECKING:
    from collections.abc import Callable

POSITIVE = np.concatenate(
    [10.0 ** np.arange(-150.0, 24.0, 7.3), 10.0 ** np.linspace(-8.0, 12.0, 150), np.linspace(0.2, 20.0, 150)]
)


def error(found: np.ndarray, exact: list[mpmath.mpf], least: float = 0.0) -> float:
    """The largest error relative to the value, or to `least` if that is more."""
    return max(
        float(abs(mpmath.mpf(float(one)) - other) / max(abs(other), mpmath.mpf(least)))
        for one, other in zip(found.ravel(), exact, strict=True)
    )


def stirling(x: mpmath.mpf) -> mpmath.mpf:
    return mpmath.loggamma(x) - ((x - mpmath.mpf(1) / 2) * mpmath.log(x) - x + mpmath.log(2 * mpmath.pi) / 2)


@pytest.mark.parametrize(
    ("ours", "theirs", "least", "limit"),
    [
        (special.log_gamma, mpmath.loggamma, 1.0, 6e-15),
        (special.stirling_error, stirling, 1.0, 2e-15),
        (special.digamma, lambda x: mpmath.psi(0, x), 1.0, 2e-15),
        (special.trigamma, lambda x: mpmath.psi(1, x), 0.0, 4e-15),
        (special.x_log_x, lambda x: x * mpmath.log(x), 1e-15, 2e-15),
    ],
)
def test_functions_of_one_number(
    ours: Callable[[np.ndarray], np.ndarray], theirs: Callable[[mpmath.mpf], mpmath.mpf], least: float, limit: float
) -> None:
    with mpmath.workdps(60):
        assert error(ours(POSITIVE), [theirs(mpmath.mpf(float(x))) for x in POSITIVE], least) < limit


def test_stirling_error_keeps_its_digits_where_it_is_small() -> None:
    large = POSITIVE[(POSITIVE > 8.0) & (POSITIVE < 1e12)]
    with mpmath.workdps(60):
        assert error(special.stirling_error(large), [stirling(mpmath.mpf(float(x))) for x in large]) < 2e-14


def test_mean_digamma_holds_for_tiny_and_for_wide_intervals() -> None:
    start, width = np.meshgrid(10.0 ** np.arange(-12.0, 24.1, 2.3), 10.0 ** np.arange(-21.0, 5.0, 1.7))
    with mpmath.workdps(90):
        exact = [
            (mpmath.loggamma(mpmath.mpf(float(x)) + mpmath.mpf(float(a))) - mpmath.loggamma(mpmath.mpf(float(x))))
            / mpmath.mpf(float(a))
            for x, a in zip(start.ravel(), width.ravel(), strict=True)
        ]
        assert error(special.mean_digamma(start, width), exact, 1.0) < 3e-15


def test_normal_tails_keep_their_digits() -> None:
    z = np.linspace(-37.5, 37.5, 301)
    with mpmath.workdps(40):
        below = [mpmath.ncdf(mpmath.mpf(float(each))) for each in z]
    assert error(special.normal_below(z), below) < 3e-13  # a rounding of z is z^2 of it in the tail
    near = np.abs(z) < 6.0
    assert (
        error(special.normal_below(z[near]), [each for each, inside in zip(below, near, strict=True) if inside]) < 1e-14
    )
    np.testing.assert_array_equal(special.normal_below([-np.inf, np.inf]), [0.0, 1.0])
    assert special.normal_below(np.zeros((2, 3))).shape == (2, 3)


def test_normal_quantiles_are_those_of_the_tails() -> None:
    probability = np.concatenate([10.0 ** np.linspace(-307.0, -0.4, 80), 1.0 - 10.0 ** np.linspace(-15.0, -0.4, 30)])
    found = special.normal_quantile(probability)
    with mpmath.workdps(40):
        for p, z in zip(map(mpmath.mpf, probability.tolist()), map(mpmath.mpf, found.tolist()), strict=True):
            # one Newton step from here: the error, but for its square
            assert abs((mpmath.ncdf(z) - p) / mpmath.npdf(z)) < 1e-15 * max(1, abs(z))
    np.testing.assert_array_equal(special.normal_quantile([0.0, 1.0, -0.1, 1.1, np.nan])[:2], [-np.inf, np.inf])
    assert np.isnan(special.normal_quantile([-0.1, 1.1, np.nan])).all()


def test_nothing_times_its_logarithm_is_nothing() -> None:
    np.testing.assert_array_equal(special.x_log_x(np.array([0, 1])), [0.0, 0.0])
