"""Logarithm, digamma, trigamma and log Gamma in the kernels' combinations, against many digits."""

import math
from collections.abc import Callable

import mpmath
import numpy as np
import pytest

from credimi.compile import numba_jit
from credimi.inference import special_functions as special


def _callable(piece: Callable[..., float]) -> Callable[..., float]:
    """A piece of kernels as a function that Python can call."""
    return numba_jit.numba.njit(lambda *arguments: piece(*arguments))  # noqa: PLW0108  (Numba compiles no kernel twice)


log_excess, log_rise, log_rise_of_large, log_spread, logarithm, logarithm_of_one_plus = map(
    _callable,
    (
        special.log_excess,
        special.log_rise,
        special.log_rise_of_large,
        special.log_spread,
        special.logarithm,
        special.logarithm_of_one_plus,
    ),
)

GENERATOR = np.random.default_rng(20030715)
EVERYWHERE = np.exp(GENERATOR.uniform(math.log(1e-300), math.log(1e14), 3000))
ORDINARY = np.exp(GENERATOR.uniform(math.log(1e-3), math.log(1e4), 3000))
# Where the formula changes (12), where the recurrence leads to (8), and what counts and pseudo-counts are made of.
SPECIAL = np.array(
    [
        *(1e-300, 1e-16, 1e-8, 1 / 900, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 7.0, 8.0, 11.0, 11.5),
        *(math.nextafter(12.0, 0.0), 12.0, math.nextafter(12.0, 13.0), 12.5, 100.0, 1e6, 1e12, 1e14),
    ]
)
VALUES = np.concatenate([EVERYWHERE, ORDINARY, SPECIAL])


def excess(c: float) -> mpmath.mpf:
    return mpmath.digamma(mpmath.mpf(c) + 1) - mpmath.log(mpmath.mpf(c))


def spread(c: float) -> mpmath.mpf:
    c = mpmath.mpf(c)
    return c * (c + 1) * mpmath.psi(1, c + 1) - c


def errors(function: Callable[[float], float], truth: Callable[[float], mpmath.mpf], values: np.ndarray) -> np.ndarray:
    """Absolute errors and true values."""
    with mpmath.workdps(50):
        found = [(truth(float(c)), function(float(c))) for c in values]
        return np.array([[float(abs(value - true)), float(abs(true))] for true, value in found]).T


@pytest.mark.long
@pytest.mark.parametrize(("function", "truth"), [(log_excess, excess), (log_spread, spread)])
def test_error_is_below_the_bound_of_the_docstring(
    function: Callable[[float], float], truth: Callable[[float], mpmath.mpf]
) -> None:
    error, value = errors(function, truth, VALUES)
    assert np.max(error / np.maximum(value, 1.0)) < 4e-15


def test_log_excess_keeps_its_digits_where_it_is_small() -> None:
    # Counts of 10^12 leave moments of order 10^-24: there the error must be small beside the value, not beside 1.
    error, value = errors(log_excess, excess, VALUES[VALUES >= 12.0])
    assert np.max(error / value) < 1e-15


@pytest.mark.long
def test_log_spread_keeps_its_digits_where_it_is_small() -> None:
    error, value = errors(log_spread, spread, VALUES[VALUES <= 1.0])
    assert np.max(error / value) < 4e-15


def test_values_known_in_closed_form() -> None:
    euler = float(mpmath.euler)
    assert log_excess(1.0) == pytest.approx(1.0 - euler, abs=4e-15)  # psi(2) = 1 - gamma
    assert log_excess(0.5) == pytest.approx(2.0 - euler - math.log(2.0), abs=4e-15)  # psi(3/2) = 2 - gamma - log 4
    assert log_spread(0.0) == 0.0
    assert log_spread(1.0) == pytest.approx(math.pi**2 / 3.0 - 3.0, abs=4e-15)  # psi'(2) = pi^2/6 - 1
    assert log_spread(0.5) == pytest.approx(0.75 * (math.pi**2 / 2.0 - 4.0) - 0.5, abs=4e-15)


def test_limits() -> None:
    assert log_excess(1e14) == pytest.approx(0.5e-14, rel=1e-13)  # 1/(2c) (1 - 1/(6c))
    assert log_spread(1e14) == pytest.approx(0.5 - 1e-14 / 3.0, abs=1e-16)
    assert log_spread(1e-300) == pytest.approx((math.pi**2 / 6.0 - 1.0) * 1e-300, rel=1e-14)


def test_logarithm_is_within_a_unit_in_the_last_place() -> None:
    smallest, largest = np.finfo(float).tiny, np.finfo(float).max
    near_one = np.concatenate([1.0 + GENERATOR.uniform(-0.5, 0.5, 1000), 1.0 + 1e-8 * GENERATOR.normal(size=300)])
    powers = [2.0**k for k in range(-1022, 1024, 31)]
    roots = [math.sqrt(0.5), math.sqrt(2.0), math.nextafter(math.sqrt(0.5), 0), math.nextafter(math.sqrt(2.0), 0)]
    values = np.concatenate([VALUES, near_one, powers, roots, [smallest, largest, 1.0]])
    error, value = errors(logarithm, lambda x: mpmath.log(mpmath.mpf(x)), values)
    assert np.all(error <= np.spacing(value))
    assert logarithm(1.0) == 0.0


def test_logarithm_of_one_plus_keeps_small_digits() -> None:
    values = np.concatenate([VALUES, [0.0, 1.0, math.sqrt(2.0) - 1.0, math.nextafter(math.sqrt(2.0) - 1.0, 1.0)]])
    error, value = errors(logarithm_of_one_plus, lambda x: mpmath.log1p(mpmath.mpf(x)), values)
    assert np.all(error <= 2.0 * np.spacing(value))


def rise(a: float, n: float) -> mpmath.mpf:
    a, n = mpmath.mpf(a), mpmath.mpf(n)
    return mpmath.loggamma(a + n) - mpmath.loggamma(a) - n * mpmath.log(a)


def test_log_rise_everywhere() -> None:
    parameters = np.exp(GENERATOR.uniform(math.log(1e-34), math.log(1e23), 500))
    counts = np.exp(GENERATOR.uniform(math.log(1e-3), math.log(1e17), 500))
    whole = np.floor(np.exp(GENERATOR.uniform(0.0, math.log(1e4), 500)))
    near = GENERATOR.uniform(4.0, 12.0, 500)
    pairs = [*zip(parameters, counts, strict=True), *zip(near, whole, strict=True)]
    pairs += [*zip(parameters, whole, strict=True), *zip(parameters, parameters, strict=True)]
    pairs += [(a, n) for a in (1e-31, 0.5, 7.0, 8.0, 1e17) for n in (0.0, 1e-100, 0.5, 1.0, 2.0, 9.0, 1e17)]
    with mpmath.workdps(80):
        for a, n in pairs:
            true = rise(float(a), float(n))
            allowed = 1e-14 + 2e-15 * n + 4e-16 * abs(float(true))
            assert abs(log_rise(float(a), float(n)) - true) < allowed, (a, n)
            if a >= 8.0:
                assert abs(log_rise_of_large(float(a), float(n)) - true) < allowed, (a, n)


def test_log_rise_of_whole_counts_is_a_product() -> None:
    assert log_rise(0.25, 0.0) == pytest.approx(0.0, abs=1e-14)
    assert log_rise(0.25, 1.0) == pytest.approx(0.0, abs=1e-14)
    assert log_rise(0.5, 3.0) == pytest.approx(math.log(3.0 * 5.0), rel=1e-14)  # (1 + 1/a) (1 + 2/a)
    assert log_rise_of_large(10.0, 2.0) == pytest.approx(math.log(1.1), rel=1e-13)
