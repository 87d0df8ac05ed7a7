"""The frozen distribution of mutual information, against scipy.stats, mpmath and brute force, and by its laws."""

import math
import pickle
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import FrozenInstanceError
from decimal import Decimal
from fractions import Fraction

import mpmath
import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats.distributions import rv_frozen

from credimi.core.errors import CredimiError
from credimi.inference.distributions.components import Empirical, Normal, Point
from credimi.inference.distributions.distribution import Distribution
from credimi.inference.distributions.scaled_beta import ScaledBeta

UPPER = math.log(3)
Real = mpmath.mpf


# Oracles


def beta_parameters(mean: float, std: float, upper: float) -> tuple[Real, Real]:
    """Alpha and beta in mpmath's precision, from the doubles that were given."""
    mean, std, upper = mpmath.mpf(mean), mpmath.mpf(std), mpmath.mpf(upper)
    concentration = mean * (upper - mean) / std**2 - 1
    return mean / upper * concentration, (upper - mean) / upper * concentration


def density_of(alpha: Real, beta: Real) -> Callable[[Real], Real]:
    log_beta = mpmath.loggamma(alpha) + mpmath.loggamma(beta) - mpmath.loggamma(alpha + beta)
    return lambda y: mpmath.exp((alpha - 1) * mpmath.log(y) + (beta - 1) * mpmath.log1p(-y) - log_beta)


def series(alpha: Real, beta: Real, y: Real) -> Real:
    """I_y(alpha, beta) = y^alpha (1 - y)^beta / (alpha B) 2F1(alpha + beta, 1; alpha + 1; y), all terms positive."""
    term = total = mpmath.mpf(1)
    for power in range(100_000):
        term *= (alpha + beta + power) * y / (alpha + 1 + power)
        total += term
        if term < total * mpmath.eps:
            return density_of(alpha, beta)(y) * y * (1 - y) / alpha * total
    raise AssertionError("the series of the oracle does not converge here")


def panels(alpha: Real, beta: Real, y: Real) -> tuple[bool, Real]:
    """Integral of the density from y away from the mean, in panels as long as the density's decay, and its side."""
    density = density_of(alpha, beta)
    mean = alpha / (alpha + beta)
    deviation = mpmath.sqrt(mean * (1 - mean) / (alpha + beta))
    slope = abs((alpha - 1) / y - (beta - 1) / (1 - y))
    width = 2 * min(deviation, 1 / slope) if slope else deviation
    direction = 1 if y > mean else -1
    total, edge = mpmath.mpf(0), y
    while 0 < edge < 1:
        start, edge = edge, min(max(edge + direction * width, mpmath.mpf(0)), mpmath.mpf(1))
        middle, half = (start + edge) / 2, (edge - start) / 2
        panel = sum(weight * density(middle + half * node) for node, weight in GAUSS_LEGENDRE)
        total += abs(half) * panel
        if panel * deviation < mpmath.mpf(10) ** -17 * total:
            break
    return direction > 0, total


GAUSS_LEGENDRE = [(mpmath.mpf(x), mpmath.mpf(w)) for x, w in zip(*np.polynomial.legendre.leggauss(14), strict=True)]


def exact_tail(alpha: Real, beta: Real, y: Real, *, upper_tail: bool) -> Real:
    """Tail of a Beta on [0, 1] for any parameters and any y: the truth that ours is held against."""
    if not 0 < y < 1:
        return mpmath.mpf((y >= 1) != upper_tail)
    if min(alpha, beta) > 60:
        with mpmath.workdps(60):  # at alpha = 1e24 the logarithms cancel by 26 digits
            above, tail = panels(alpha, beta, y)
            return tail if above == upper_tail else 1 - tail
    with mpmath.workdps(340 if upper_tail else 40):  # 1 - cdf is to be right at 1e-300
        if y < 0.5:
            return 1 - series(alpha, beta, y) if upper_tail else series(alpha, beta, y)
    with mpmath.workdps(40 if upper_tail else 340):
        return series(beta, alpha, 1 - y) if upper_tail else 1 - series(beta, alpha, 1 - y)


def beta_of(share: float, concentration: float, upper: float = UPPER) -> tuple[Distribution, tuple[Real, Real]]:
    """Distribution and exact parameters of the Beta with mean `share` of upper."""
    mean = share * upper
    std = math.sqrt(mean * (upper - mean) / (1 + concentration))
    return Distribution.beta(mean, std, upper), beta_parameters(mean, std, upper)


# One component, against scipy.stats


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (Distribution.normal(0.1, 0.03), scipy.stats.norm(0.1, 0.03)),
        (Distribution.beta(UPPER / 4, UPPER / 10, UPPER), scipy.stats.beta(4.4375, 13.3125, scale=UPPER)),
        (Distribution.beta(0.4, math.sqrt(0.08), 1.0), scipy.stats.beta(0.8, 1.2)),
        (Distribution.beta(0.2 * 0.7, 0.7 * math.sqrt(0.16 / 31.0), 0.7), scipy.stats.beta(6, 24, scale=0.7)),
        (Distribution.beta(0.25, math.sqrt(0.1875 / 121.0), 1.0), scipy.stats.beta(30, 90)),
    ],
)
def test_one_component_agrees_with_scipy(ours: Distribution, theirs: rv_frozen) -> None:
    x = np.concatenate([np.linspace(-0.1, 1.2, 53), [1e-9, 1e-49, 0.6999, 0.999999]])
    q = np.array([0.0, 1e-12, 0.001, 0.025, 0.3, 0.5, 0.9, 0.975, 0.9999, 1.0])
    for name in ("pdf", "cdf", "sf"):
        np.testing.assert_allclose(getattr(ours, name)(x), getattr(theirs, name)(x), rtol=1e-9, atol=1e-300)
    for name in ("ppf", "isf"):
        np.testing.assert_allclose(getattr(ours, name)(q), getattr(theirs, name)(q), rtol=1e-11)
    for name in ("mean", "var", "std", "median", "support"):
        assert getattr(ours, name)() == pytest.approx(getattr(theirs, name)(), rel=1e-11)
    for confidence in (0.5, 0.95, 0.999):
        assert ours.interval(confidence) == pytest.approx(theirs.interval(confidence), rel=1e-11)
    for order in range(1, 7):  # scipy integrates from order 5 on
        assert ours.moment(order) == pytest.approx(theirs.moment(order), rel=1e-10 if order < 5 else 1e-7)
    assert ours.stats("mvsk") == pytest.approx(theirs.stats("mvsk"), rel=1e-9, abs=1e-12)
    assert ours.stats() == pytest.approx(theirs.stats(), rel=1e-11)
    assert ours.stats("v") == pytest.approx(float(theirs.stats("v")), rel=1e-11)


def test_numbers_give_floats_and_arrays_keep_their_shape() -> None:
    law = Distribution.beta(0.1, 0.03, UPPER)
    for method in (law.pdf, law.cdf, law.sf, law.ppf, law.isf):
        assert type(method(0.25)) is float
        assert method(np.full((2, 3, 1), 0.25)).shape == (2, 3, 1)
        assert method(np.empty((0, 2))).shape == (0, 2)
        assert method([0.25, 0.25])[1] == method(0.25)
    assert type(law.rvs(random_state=1)) is float
    assert law.rvs((2, 3), random_state=1).shape == (2, 3)


def test_nan_and_impossible_probabilities_give_nan() -> None:
    for law in (Distribution.point(), Distribution.empirical([0.1, 0.2], UPPER), Distribution.normal(0.0, 1.0)):
        for method in (law.pdf, law.cdf, law.sf, law.ppf, law.isf):
            assert math.isnan(method(math.nan))
        np.testing.assert_array_equal(law.ppf(np.array([-1e-9, 1 + 1e-9, np.inf])), np.nan)
        np.testing.assert_array_equal(law.isf(np.array([-1e-9, 1 + 1e-9, -np.inf])), np.nan)


# Extreme Betas, against mpmath


@pytest.mark.parametrize(
    ("share", "concentration"),
    [
        *((share, 1e24) for share in (1e-12, 1e-3, 0.5, 1 - 1e-9)),
        *((share, 1e13) for share in (1e-12, 1e-6, 0.1, 1 - 1e-6)),
        *((share, 2e7) for share in (1e-9, 0.3, 0.5, 0.9)),
        *((share, 1e3) for share in (1e-12, 1e-3, 5e-3, 0.5)),
        *((share, 1.0) for share in (1e-6, 0.1, 1 - 1e-9)),
        *((share, 1e-3) for share in (1e-12, 0.5, 0.9)),
    ],
)
def test_quantiles_of_extreme_betas_are_right_to_nine_digits(share: float, concentration: float) -> None:
    law, (alpha, beta) = beta_of(share, concentration)
    for upper_tail, probabilities in ((False, (1e-290, 0.025, 0.5, 0.975)), (True, (1e-300, 0.025, 0.6))):
        for probability in probabilities:
            x = law.isf(probability) if upper_tail else law.ppf(probability)
            assert 0.0 < x <= UPPER
            # The true quantile lies between x (1 - 1e-9) and x (1 + 1e-9), or below the least double there is.
            y = mpmath.mpf(x) / mpmath.mpf(UPPER)
            near = exact_tail(alpha, beta, y * (1 - mpmath.mpf("1e-9")), upper_tail=upper_tail)
            far = exact_tail(alpha, beta, y * (1 + mpmath.mpf("1e-9")), upper_tail=upper_tail)
            if upper_tail:
                near, far = far, near
                assert near <= probability
                assert far >= probability or x == math.ulp(0.0)
            else:
                assert far >= probability
                assert near <= probability or x == math.ulp(0.0)


@pytest.mark.parametrize(
    ("share", "concentration"),
    [(0.5, 1e12), (0.5, 1e14), (0.1, 1e16), (1e-6, 1e14), (0.3, 4e7), (0.2, 1e20), (9e-6, 1e12)],
)
def test_tails_and_density_hold_where_scipy_loses_digits(share: float, concentration: float) -> None:
    law, (alpha, beta) = beta_of(share, concentration)
    mean, std = law.mean(), law.std()
    for z in (-30.0, -5.0, -0.7, 0.0, 0.02, 3.0, 30.0):
        x = mean + z * std
        y = mpmath.mpf(x) / mpmath.mpf(UPPER)
        # A tail changes by about |z| for each standard deviation, of which a rounding of x is eps x / std.
        tolerance = 1e-11 + 4.0 * (1.0 + abs(z)) * math.ulp(x) / std
        assert law.cdf(x) == pytest.approx(float(exact_tail(alpha, beta, y, upper_tail=False)), rel=tolerance)
        assert law.sf(x) == pytest.approx(float(exact_tail(alpha, beta, y, upper_tail=True)), rel=tolerance)
        with mpmath.workdps(60):
            density = float(density_of(alpha, beta)(y) / mpmath.mpf(UPPER))
        assert law.pdf(x) == pytest.approx(density, rel=tolerance + 1e-9)


def test_every_concentration_gives_finite_ordered_quantiles() -> None:
    q = np.concatenate([[1e-300, 1e-20], np.linspace(0.001, 0.999, 25), [1 - 1e-9]])
    for share in (1e-12, 1e-4, 0.5, 1 - 1e-9):
        for concentration in 10.0 ** np.arange(-6.0, 25.0, 2.5):
            law, _ = beta_of(share, concentration)
            for x in (law.ppf(q), law.isf(q)[::-1]):
                assert np.all((x >= 0.0) & (x <= UPPER))
                assert np.all(np.diff(x) >= 0.0)
            assert not np.any(np.isnan(law.pdf(law.ppf(q))))
            assert law.mean() == share * UPPER


def test_a_variance_beyond_reach_is_shrunk_to_a_coin_between_the_ends() -> None:
    for std in (math.sqrt(0.1 * (UPPER - 0.1)), 5.0, 1e300):
        law = Distribution.beta(0.1, std, UPPER)
        assert law.mean() == 0.1
        assert law.std() == pytest.approx(math.sqrt(0.1 * (UPPER - 0.1)), rel=1e-6)
        assert law.sf(UPPER / 2) == pytest.approx(0.1 / UPPER, rel=1e-5)
        np.testing.assert_array_equal(law.ppf(np.array([0.9, 0.95])) > 0.9 * UPPER, [False, True])


def test_moments_that_leave_no_spread_make_a_point() -> None:
    assert Distribution.beta(0.3, 0.0, UPPER) == Distribution.normal(0.3, 0.0) == Distribution.point(0.3)
    assert Distribution.beta(0.0, 0.1, UPPER) == Distribution.beta(0.0, 0.0, 0.0) == Distribution.point()
    assert Distribution.beta(UPPER, 0.1, UPPER) == Distribution.point(UPPER)
    assert Distribution.empirical([0.0, 0.0], 0.0) == Distribution.point()
    assert Distribution.beta(0.3, 1e-200, UPPER) == Distribution.point(0.3)
    for tiny in (1e-139, 1e-100):
        assert Distribution.beta(0.3, tiny, UPPER).interval() == pytest.approx((0.3, 0.3), rel=1e-15)
        assert Distribution.beta(tiny, tiny / 9, UPPER).interval() == pytest.approx(
            (0.79 * tiny, 1.23 * tiny), rel=0.01
        )


# Point masses and mixtures, against brute force


def test_a_point_is_a_step() -> None:
    law = Distribution.point(0.3)
    x = np.array([0.0, np.nextafter(0.3, 0), 0.3, 1.0])
    np.testing.assert_array_equal(law.cdf(x), [0, 0, 1, 1])
    np.testing.assert_array_equal(law.sf(x), [1, 1, 0, 0])
    np.testing.assert_array_equal(law.pdf(x), [0, 0, np.inf, 0])
    np.testing.assert_array_equal(law.ppf(np.array([0.0, 1e-300, 0.5, 1.0])), 0.3)
    assert law.support() == law.interval() == (0.3, 0.3)
    assert (law.mean(), law.std(), law.moment(3), law.p_zero) == (0.3, 0.0, pytest.approx(0.027), 0.0)
    assert Distribution.point().p_zero == 1.0


def test_mixture_with_atoms_agrees_with_a_dense_inversion() -> None:
    parts = [Distribution.beta(0.05, 0.03, UPPER), Point(0.2), Distribution.beta(0.5, 0.1, UPPER)]
    law = Distribution.mixture(parts, [0.25, 0.1, 0.35], p_zero=0.3)
    grid = np.linspace(0.0, UPPER, 400_001)
    dense = 0.3 + 0.1 * (grid >= 0.2)
    for part, weight in ((parts[0], 0.25), (parts[2], 0.35)):
        component = part.components[0]
        dense += weight * scipy.stats.beta.cdf(grid, component.alpha, component.beta, scale=UPPER)
    np.testing.assert_allclose(law.cdf(grid[::1000]), dense[::1000], atol=1e-13)
    q = np.linspace(0.0005, 0.9995, 300)
    brute, step = grid[np.searchsorted(dense, q)], grid[1]
    behind = brute - law.ppf(q)
    assert np.all((behind >= 0.0) & (behind <= 1.01 * step))
    behind = brute - law.isf(1.0 - q)
    assert np.all((behind >= -1e-9) & (behind <= 1.01 * step + 1e-9))
    np.testing.assert_array_equal(law.ppf(np.array([1e-300, 0.1, 0.3])), 0.0)
    below = law.cdf(np.nextafter(0.2, 0.0))
    np.testing.assert_array_equal(law.ppf(below + np.array([1e-12, 0.05, 0.1 - 1e-12])), 0.2)
    assert law.cdf(0.0) == pytest.approx(0.3)
    assert law.cdf(-math.ulp(0.0)) == 0.0


def test_far_tail_of_a_mixture_keeps_its_digits() -> None:
    parts = [beta_of(0.01, 300.0), beta_of(0.05, 700.0)]
    law = Distribution.mixture([part for part, _ in parts], [0.3, 0.2], p_zero=0.5)
    for probability in (1e-300, 1e-100, 1e-20):
        y = mpmath.mpf(law.isf(probability)) / mpmath.mpf(UPPER)
        tails = [exact_tail(alpha, beta, y, upper_tail=True) for _, (alpha, beta) in parts]
        assert float(0.3 * tails[0] + 0.2 * tails[1]) == pytest.approx(probability, rel=1e-10)


def test_moments_of_a_mixture_do_not_cancel() -> None:
    with mpmath.workdps(80):
        for scale in (1.0, 1e-3, 1e-7):
            normals = [Normal(0.5, 0.02 * scale), Normal(0.5 + 0.03 * scale, 0.01 * scale)]
            betas = [ScaledBeta(0.5 - 0.01 * scale, 0.02 * scale, UPPER)]
            law = Distribution.mixture([*normals, *betas, Point(0.5)], [0.2, 0.3, 0.4, 0.1])
            raw = [mpmath.mpf(0.1) * mpmath.mpf(0.5) ** order for order in range(5)]
            for weight, normal in zip((0.2, 0.3), normals, strict=True):
                m, s = mpmath.mpf(normal.mean), mpmath.mpf(normal.std)
                moments = (1, m, m**2 + s**2, m**3 + 3 * m * s**2, m**4 + 6 * m**2 * s**2 + 3 * s**4)
                raw = [total + mpmath.mpf(weight) * moment for total, moment in zip(raw, moments, strict=True)]
            alpha, beta = beta_parameters(betas[0].mean, betas[0].std, UPPER)
            for order in range(5):
                rising = mpmath.rf(alpha, order) / mpmath.rf(alpha + beta, order)
                raw[order] += mpmath.mpf(0.4) * mpmath.mpf(UPPER) ** order * rising
            raw = [moment / raw[0] for moment in raw]  # 0.1 + 0.2 + 0.3 + 0.4 are not 1 in doubles
            mean = raw[1]
            central = [
                sum(mpmath.binomial(order, k) * raw[k] * (-mean) ** (order - k) for k in range(order + 1))
                for order in range(5)
            ]
            skewness, kurtosis = central[3] / central[2] ** 1.5, central[4] / central[2] ** 2 - 3
            expected = [float(value) for value in (mean, central[2], skewness, kurtosis)]
            assert law.stats("mvsk") == pytest.approx(expected, rel=1e-10)
            assert law.std() ** 2 == pytest.approx(law.var(), rel=1e-15)
            assert [law.moment(order) for order in range(1, 5)] == pytest.approx([float(m) for m in raw[1:]], rel=1e-14)


def test_support_is_the_hull() -> None:
    wide, narrow = Distribution.beta(0.1, 0.05, 0.9), Distribution.beta(0.1, 0.05, 0.4)
    assert Distribution.mixture([wide, narrow], [0.5, 0.5]).support() == (0.0, 0.9)
    assert Distribution.mixture([Point(0.3)], [0.5], p_zero=0.5).support() == (0.0, 0.3)
    assert Distribution.mixture([wide, Normal(0.1, 0.1)], [0.5, 0.5]).support() == (-math.inf, math.inf)
    assert Distribution.empirical([0.1, 0.2], 0.7).support() == (0.0, 0.7)


def test_mixtures_are_flat_and_gather_the_mass_at_zero() -> None:
    beta, normal = ScaledBeta(0.1, 0.05, UPPER), Normal(0.2, 0.1)
    inner = Distribution.mixture([beta, Point(0.0)], [0.5, 0.5])
    assert inner.p_zero == 0.5
    outer = Distribution.mixture([inner, normal, Normal(9.0, 1.0)], [0.5, 0.25, 0.0], p_zero=0.25)
    assert outer == Distribution((beta, normal), (0.25, 0.25), 0.5)
    assert outer.sf(0.05) == 0.25 * Distribution((beta,), (1.0,)).sf(0.05) + 0.25 * Distribution((normal,), (1.0,)).sf(
        0.05
    )


# Draws


@pytest.mark.parametrize(
    "law",
    [
        Distribution.beta(0.1, 0.05, UPPER),
        Distribution.beta(0.5, 1e-9, UPPER),
        Distribution.beta(0.5, 0.9, UPPER),
        Distribution.normal(0.1, 0.2),
        Distribution.empirical(np.linspace(0, 1, 7), UPPER),
        Distribution.mixture([Normal(0.5, 0.1), Point(0.2), ScaledBeta(0.1, 0.05, UPPER)], [0.3, 0.2, 0.2], p_zero=0.3),
    ],
    ids=["beta", "peaked", "coin", "normal", "empirical", "mixture"],
)
def test_draws_follow_the_cdf(law: Distribution) -> None:
    size = 20_000
    draws = np.sort(law.rvs(size, random_state=20))
    at, before = law.cdf(draws), law.cdf(np.nextafter(draws, -np.inf))
    distance = max(
        np.max(np.abs(np.searchsorted(draws, draws, side="right") / size - at)),
        np.max(np.abs(np.searchsorted(draws, draws, side="left") / size - before)),
    )
    assert distance < math.sqrt(math.log(2 / 1e-9) / (2 * size))  # Dvoretzky-Kiefer-Wolfowitz: one failure in 1e9


def test_random_state_is_a_seed_or_a_generator() -> None:
    law = Distribution.mixture([Normal(0.5, 0.1)], [0.5], p_zero=0.5)
    first, again = law.rvs(50, random_state=7), law.rvs(50, random_state=np.random.default_rng(7))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(law.rvs(50), law.rvs(50))


# Empirical


def test_empirical_quantiles_and_moments_are_those_of_the_draws() -> None:
    draws = np.random.default_rng(3).beta(2, 9, 501) * UPPER
    law = Distribution.empirical(draws, UPPER)
    q = np.concatenate([np.linspace(0.001, 0.999, 333), np.arange(1, 501) / 501])
    np.testing.assert_array_equal(law.ppf(q), np.quantile(draws, q, method="inverted_cdf"))
    assert law.sf(0.1) == np.mean(draws > 0.1)
    assert law.isf(1e-300) == draws.max()
    skewness, kurtosis = scipy.stats.skew(draws), scipy.stats.kurtosis(draws)
    assert law.stats("mvsk") == pytest.approx((draws.mean(), draws.var(), skewness, kurtosis), rel=1e-12)
    assert law.moment(3) == pytest.approx(np.mean(draws**3), rel=1e-14)


def test_empirical_density_has_mass_one_and_does_not_fade_at_the_ends() -> None:
    for draws in (np.linspace(0, 1, 1501), np.random.default_rng(5).beta(0.8, 6, 1501)):
        law = Distribution.empirical(draws, 1.0)
        grid = np.linspace(0, 1, 1501)
        density = law.pdf(grid)
        assert np.trapezoid(density, grid) == pytest.approx(1.0, abs=1e-4)
        assert law.pdf(-0.01) == law.pdf(1.01) == 0.0
    np.testing.assert_allclose(Distribution.empirical(np.linspace(0, 1, 1501), 1.0).pdf(grid), 1.0, rtol=0.02)
    assert math.isfinite(Distribution.empirical([0.3, 0.3], 1.0).pdf(0.3))


# The record


def test_nothing_can_be_changed_and_equality_is_by_value() -> None:
    source = np.array([0.3, 0.1, 0.2])
    law = Distribution.empirical(source, UPPER)
    source[:] = 9.0
    for copy in (law, pickle.loads(pickle.dumps(law))):  # noqa: S301 (our own bytes)
        assert copy == Distribution.empirical([0.1, 0.2, 0.3], UPPER)
        assert hash(copy) == hash(law)
        with pytest.raises(ValueError, match="read-only"):
            copy.components[0].draws[0] = 0.0
    assert law != Distribution.empirical([0.1, 0.2, 0.4], UPPER)
    assert Distribution.beta(0.1, 0.05, UPPER) == Distribution.beta(0.1, 0.05, UPPER) != Distribution.normal(0.1, 0.05)
    with pytest.raises(FrozenInstanceError):
        law.p_zero = 0.5


def test_repr_tells_the_story() -> None:
    law = Distribution.normal(0.12345, 0.05)
    assert repr(law) == "Distribution(mean=0.1235, std=0.05, 95% interval=[0.02545, 0.2214])"
    assert repr(Distribution.point()) == "Distribution(mean=0, std=0, 95% interval=[0, 0], p_zero=1)"


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: Distribution.normal(math.nan, 1.0), "mean is nan"),
        (lambda: Distribution.normal(0.1, -1.0), r"std is -1\.0"),
        (lambda: Distribution.beta(0.1, math.nan, 1.0), "std is nan"),
        (lambda: Distribution.beta(0.1, -0.5, 1.0), r"std is -0\.5"),
        (lambda: Distribution.beta(1.5, 0.1, 1.0), r"mean is 1\.5, outside \[0, 1\.0\]"),
        (lambda: Distribution.beta(0.1, 0.1, math.inf), "upper is inf"),
        (lambda: ScaledBeta(0.5, 0.5, 1.0), "use ScaledBeta.from_moments"),
        (lambda: Distribution.point(math.inf), "location is inf"),
        (lambda: Distribution.empirical([], 1.0), "no draws"),
        (lambda: Distribution.empirical([0.1, math.nan], 1.0), "draws run from 0.1 to nan"),
        (lambda: Distribution.empirical([0.1, 1.1], 1.0), r"to 1\.1, outside \[0, 1\.0\]"),
        (lambda: Distribution.mixture([Point(0.1)], [0.5]), r"sum to 0\.5"),
        (lambda: Distribution.mixture([Point(0.1), Point(0.2)], [1.5, -0.5]), r"weights\[1\] is -0\.5"),
        (lambda: Distribution.mixture([Point(0.1)], [1.0], p_zero=math.nan), "p_zero is nan"),
        (lambda: Distribution.mixture([Point(0.1)], [0.5, 0.5]), "1 parts have 2 weights"),
        (lambda: Distribution.point().interval(95), "confidence is 95.* write 0.95"),
        (lambda: Distribution.point().interval(0.0), "confidence is 0.0"),
        (lambda: Distribution.point().moment(-1), "order is -1"),
        (lambda: Distribution.point().moment(1.5), r"order is 1\.5"),
        (lambda: Distribution.point().stats("x"), "moments is 'x'"),
    ],
)
def test_what_cannot_be_used_is_refused_by_name(wrong: Callable[[], object], message: str) -> None:
    with pytest.raises(CredimiError, match=message):
        wrong()


def test_weights_are_normalised_within_the_tolerance() -> None:
    law = Distribution.mixture([Normal(0.0, 1.0), Normal(1.0, 1.0)], [0.5, 0.5 - 5e-10])
    assert math.fsum(law.weights) == pytest.approx(1.0, abs=1e-15)
    assert law.cdf(100.0) == law.sf(-100.0) == 1.0


def test_scipy_stats_is_not_loaded() -> None:
    code = "import sys, credimi.inference.distributions.distribution; sys.exit('scipy.stats' in sys.modules)"
    assert (
        subprocess.run([sys.executable, "-c", code], env={"PYTHONPATH": ":".join(sys.path)}, check=False).returncode
        == 0
    )


# Laws


probabilities = st.floats(1e-12, 1 - 1e-12)
betas = st.builds(
    lambda share, spread: ScaledBeta.from_moments(share * UPPER, spread * share * UPPER, UPPER),
    st.floats(1e-6, 1 - 1e-6),
    st.floats(1e-9, 1.5),
)
normals = st.builds(Normal, st.floats(-0.1, 1.0), st.floats(1e-9, 1.0))
points = st.builds(Point, st.floats(0.0, UPPER))
empiricals = st.builds(
    Empirical, st.lists(st.floats(0.0, UPPER), min_size=1, max_size=20).map(np.array), st.just(UPPER)
)
components = st.one_of(betas, normals, points, empiricals)


@st.composite
def distributions(draw: st.DrawFn) -> Distribution:
    parts = draw(st.lists(components, min_size=1, max_size=4))
    shares = np.array(draw(st.lists(st.floats(1e-6, 1.0), min_size=len(parts) + 1, max_size=len(parts) + 1)))
    shares[-1] *= draw(st.booleans())
    shares /= shares.sum()
    return Distribution.mixture(parts, shares[:-1], p_zero=shares[-1])


@settings(max_examples=100, deadline=None)
@given(distributions(), probabilities)
def test_quantiles_are_the_least_doubles_that_reach(law: Distribution, q: float) -> None:
    x = law.ppf(q)
    assert law.cdf(x) >= q
    assert law.cdf(math.nextafter(x, -math.inf)) < q
    x = law.isf(q)
    assert law.sf(x) <= q
    assert law.sf(math.nextafter(x, -math.inf)) > q


@pytest.mark.parametrize("x", [5e-324, 1e-320, 1e-310, 3e-308])
@pytest.mark.parametrize("mean", [0.2, 0.5, 0.8])
def test_tails_at_numbers_of_few_digits(mean: float, x: float) -> None:
    law = ScaledBeta(mean, math.sqrt(mean * (1.0 - mean) / (1.0 + 1e-6)), 1.0)
    exact = exact_tail(mpmath.mpf(law.alpha), mpmath.mpf(law.beta), mpmath.mpf(x), upper_tail=False)
    assert law.cdf(np.array(x)) == pytest.approx(float(exact), abs=1e-12)
    assert law.sf(np.array(x)) == pytest.approx(float(1 - exact), abs=1e-12)


@settings(max_examples=100, deadline=None)
@given(distributions(), st.lists(st.floats(-1.0, 2.0), min_size=2, max_size=20))
def test_tails_are_complementary_monotone_and_bounded(law: Distribution, values: list[float]) -> None:
    x = np.sort(np.array([*values, 0.0, UPPER]))
    cdf, sf = law.cdf(x), law.sf(x)
    np.testing.assert_allclose(cdf + sf, 1.0, rtol=0, atol=1e-12)
    assert np.all(np.diff(cdf) >= -1e-15)
    assert np.all(np.diff(sf) <= 1e-15)
    assert np.all((cdf >= 0.0) & (cdf <= 1.0) & (sf >= 0.0) & (sf <= 1.0) & (law.pdf(x) >= 0.0))
    # ppf(F(x)) <= x; the tails are monotone only to their own error, so a little less than F(x) is asked for.
    reached = (cdf > 0.0) & (cdf < 1.0)
    assert np.all(law.ppf(cdf[reached] * (1.0 - 1e-9)) <= x[reached])


@settings(max_examples=50, deadline=None)
@given(distributions())
def test_quantiles_rise(law: Distribution) -> None:
    q = np.linspace(0.001, 0.999, 41)
    assert np.all(np.diff(law.ppf(q)) >= -1e-13)
    assert np.all(np.diff(law.isf(q)) <= 1e-13)


@settings(max_examples=100, deadline=None)
@given(distributions(), st.floats(0.01, 0.9999))
def test_interval_holds_its_mass_and_leaves_half_the_rest_on_either_side(law: Distribution, confidence: float) -> None:
    low, high = law.interval(confidence)
    below, above = law.cdf(math.nextafter(low, -math.inf)), law.sf(high)
    rest = 1.0 - confidence
    assert below <= 0.5 * rest + 1e-12
    at_atom = low == 0.0 and law.p_zero > 0.0  # what the atom keeps from being left below is left above
    assert above <= (rest - below if at_atom else 0.5 * rest) + 1e-12
    assert 1.0 - below - above >= confidence - 1e-12


def test_interval_where_draws_have_a_mass_at_zero_too() -> None:
    law = Distribution.mixture(
        [Distribution.empirical(np.zeros(1), 1.0), Distribution.beta(0.5, 0.2, 1.0)], [0.3, 0.6], 0.1
    )
    low, high = law.interval(0.75)
    assert low == 0.0
    assert law.cdf(high) == pytest.approx(0.75, abs=1e-9)


def test_interval_from_the_atom_on_holds_no_more_than_it_says() -> None:
    law = Distribution.mixture([Distribution.beta(0.1, 0.02, 0.7)], [0.6], 0.4)
    low, high = law.interval(0.95)
    assert low == 0.0
    assert law.cdf(high) == pytest.approx(0.95, abs=1e-9)


@settings(max_examples=100, deadline=None)
@given(distributions(), distributions(), st.floats(0.0, 1.0))
def test_mixing_mixes_tails_and_moments(first: Distribution, second: Distribution, share: float) -> None:
    assert Distribution.mixture([first], [1.0]) == first
    both = Distribution.mixture([first, second], [share, 1.0 - share])
    x = np.linspace(-0.5, 1.5, 31)
    for name in ("cdf", "sf"):
        expected = share * getattr(first, name)(x) + (1.0 - share) * getattr(second, name)(x)
        np.testing.assert_allclose(getattr(both, name)(x), expected, rtol=1e-12, atol=1e-15)
    assert both.p_zero == pytest.approx(share * first.p_zero + (1.0 - share) * second.p_zero, abs=1e-15)
    for order in (1, 2, 3):
        mixed = share * first.moment(order) + (1.0 - share) * second.moment(order)
        assert both.moment(order) == pytest.approx(mixed, rel=1e-12, abs=1e-15)
    assert both.var() == pytest.approx(both.moment(2) - both.mean() ** 2, rel=1e-6, abs=1e-14)


# What is refused

LAWS = [
    Distribution.point(0.1),
    Distribution.normal(0.1, 0.03),
    Distribution.beta(0.2, 0.1, UPPER),
    Distribution.empirical([0.1, 0.2, 0.4], UPPER),
    Distribution.mixture([Distribution.beta(0.2, 0.1, UPPER)], [0.7], p_zero=0.3),
]


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("method", ["pdf", "cdf", "sf", "ppf", "isf"])
@pytest.mark.parametrize("wrong", ["x", "0.5", None, 0.5j, [0.1, "x"], [0.1, None], [[0.1], [0.2, 0.3]], 10**400, {}])
def test_what_is_no_number_is_refused(law: Distribution, method: str, wrong: object) -> None:
    with pytest.raises(CredimiError, match=r"^[xq] is .*pass real numbers"):
        getattr(law, method)(wrong)


def test_numbers_of_every_kind_are_taken() -> None:
    law = LAWS[1]
    for half in (Fraction(1, 2), Decimal("0.5"), np.float32(0.5), np.array(0.5)):
        assert law.ppf(half) == law.ppf(0.5)
    np.testing.assert_array_equal(law.cdf([0, 1, True]), law.cdf(np.array([0.0, 1.0, 1.0])))
    np.testing.assert_array_equal(law.cdf([Fraction(1, 2), 2**70]), law.cdf(np.array([0.5, 2.0**70])))


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize(
    ("method", "wrong", "said"),
    [
        ("rvs", "abc", "size is 'abc': it must be a whole number from 0 up"),
        ("rvs", -1, "size is -1: it must be a whole number from 0 up"),
        ("rvs", 2.5, "size is 2.5"),
        ("rvs", (3, -1), "size is -1"),
        ("rvs", (3, None), "size is None"),
        ("interval", "a", "confidence is 'a'"),
        ("interval", 1.5, "confidence is 1.5, not between 0 and 1"),
        ("interval", math.nan, "confidence is nan"),
        ("interval", None, "confidence is None"),
        ("interval", [0.5, 0.9], "confidence is [0.5, 0.9]: pass one number"),
        ("moment", "a", "order is 'a'"),
        ("moment", -1, "order is -1; a moment has a whole order"),
        ("moment", 1.5, "order is 1.5"),
        ("moment", math.nan, "order is nan"),
        ("moment", math.inf, "order is inf"),
        ("moment", None, "order is None"),
        ("stats", 5, "moments is 5; choose among the letters"),
        ("stats", "xyz", "moments is 'xyz'"),
        ("stats", ["m"], "moments is ['m']"),
    ],
)
def test_wrong_choice_is_refused(law: Distribution, method: str, wrong: object, said: str) -> None:
    with pytest.raises(CredimiError, match=re.escape(said)):
        getattr(law, method)(wrong)


@pytest.mark.parametrize("seed", ["abc", -1, 2.5])
def test_what_is_no_seed_is_refused(seed: object) -> None:
    with pytest.raises(CredimiError, match="random_state is"):
        LAWS[0].rvs(3, seed)


@pytest.mark.parametrize(
    ("maker", "arguments", "said"),
    [
        ("point", ("a",), "location is 'a'"),
        ("point", (math.nan,), "location is nan"),
        ("normal", ("a", 0.1), "mean is 'a'"),
        ("normal", (math.nan, 0.0), "is nan"),
        ("normal", (0.1, "a"), "std is 'a'"),
        ("normal", (0.1, math.nan), "std is nan"),
        ("beta", ("a", 0.1, 1.0), "mean is 'a'"),
        ("beta", (0.1, None, 1.0), "std is None"),
        ("beta", (0.1, 0.1, "1"), "upper is '1'"),
        ("beta", (0.1, 0.1, math.nan), "upper is nan"),
        ("empirical", ("abc", 1.0), "draws is 'abc'"),
        ("empirical", ([0.1, "a"], 1.0), "draws is [0.1, 'a']"),
        ("empirical", ([0.1, math.nan], 1.0), "draws run from 0.1 to nan"),
        ("empirical", ([0.1], "a"), "upper is 'a'"),
        ("empirical", ([0.1], math.nan), "upper is nan"),
        ("mixture", ([Point(0.1)], ["a"]), "weights[0] is 'a'"),
        ("mixture", ([Point(0.1)], [math.nan]), "weights[0] is nan"),
        ("mixture", ([Point(0.1)], 1.0), "weights is 1.0; pass a list"),
        ("mixture", (5, [1.0]), "parts is 5; pass a list"),
        ("mixture", (["a"], [1.0]), "parts[0] is 'a'"),
        ("mixture", ([Point(0.1)], [1.0], "a"), "p_zero is 'a'"),
        ("mixture", ([Point(0.1)], [1.0], math.nan), "p_zero is nan"),
    ],
)
def test_what_makes_no_law_is_refused(maker: str, arguments: tuple[object, ...], said: str) -> None:
    with pytest.raises(CredimiError, match=re.escape(said)):
        getattr(Distribution, maker)(*arguments)


@pytest.mark.parametrize("law", LAWS)
def test_probability_out_of_range_has_no_quantile(law: Distribution) -> None:
    for method in (law.ppf, law.isf):
        assert math.isnan(method(1.5))
        assert math.isnan(method(-0.1))


def test_an_atom_that_holds_all_mass_holds_no_more() -> None:
    """Weights of many components at 0 may add up to a little more than 1."""
    assert 1.0 - 1e-15 <= Distribution.mixture([Point(0.0)] * 12, [0.5 / 12.0] * 12, 0.5).p_zero <= 1.0
    assert Distribution.mixture([Point(0.0)] * 3, [0.1, 0.2, 0.7000000000000003]).p_zero <= 1.0


@settings(max_examples=50, deadline=None)
@given(distributions(), st.lists(st.floats(0.0, 1.2), min_size=2, max_size=20))
def test_a_tail_is_the_same_alone_and_among_others(law: Distribution, values: list[float]) -> None:
    """Quantiles are exact to one double, so that a tail may not be rounded in another way in an array."""
    for tail in (law.cdf, law.sf):
        np.testing.assert_array_equal(tail(np.array(values)), [tail(each) for each in values])
