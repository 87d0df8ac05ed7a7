"""Tails and quantiles of Gammas, against mpmath and scipy."""

from __future__ import annotations

import mpmath
import numpy as np
import scipy.special

from credimi.inference.distributions.gamma_tails import gamma_quantile, gamma_tails


def test_both_tails_keep_their_digits() -> None:
    generator = np.random.default_rng(2)
    ranges = (-12.0, 0.0), (0.0, 2.5), (-2.0, 1.0)
    for case in range(300):
        shape = 10.0 ** generator.uniform(*ranges[case % 3])
        spread = np.sqrt(shape) * 10.0 ** generator.uniform(-1.0, 1.0)
        x = abs(shape + generator.normal() * spread) if case % 2 else 10.0 ** generator.uniform(-10.0, 2.0)
        below, above = gamma_tails(shape, x)
        with mpmath.workdps(350):
            exact = mpmath.gammainc(mpmath.mpf(shape), 0, mpmath.mpf(x), regularized=True)
            for found, tail in ((below, exact), (above, 1 - exact)):
                if tail > 1e-290:
                    assert abs(float(found) / tail - 1) < 3e-13, (shape, x)


def test_large_shapes_are_scipys() -> None:
    generator = np.random.default_rng(3)
    shape = 10.0 ** generator.uniform(2.0, 5.0, 10_000)  # more than fit in memory at once
    x = np.maximum(shape + 4.0 * generator.normal(size=shape.size) * np.sqrt(shape), 0.1)
    below, above = gamma_tails(shape, x)
    np.testing.assert_allclose(below, scipy.special.gammainc(shape, x), rtol=2e-12)
    np.testing.assert_allclose(above, scipy.special.gammaincc(shape, x), rtol=2e-12)


def test_the_ends() -> None:
    below, above = gamma_tails(np.array([0.5, 3.0, 0.5, 3.0]), np.array([0.0, 0.0, np.inf, np.inf]))
    np.testing.assert_array_equal(below, [0.0, 0.0, 1.0, 1.0])
    np.testing.assert_array_equal(above, [1.0, 1.0, 0.0, 0.0])


def test_quantiles_have_the_tails_asked_for() -> None:
    generator = np.random.default_rng(4)
    shape, probability = 10.0 ** generator.uniform(-3.0, 4.0, 2_000), generator.uniform(0.0, 1.0, 2_000)
    found = gamma_quantile(shape, probability)
    seen = found > 1e-300
    assert seen.mean() > 0.8
    np.testing.assert_allclose(gamma_tails(shape, found)[0][seen], probability[seen], rtol=1e-11)
    assert (scipy.special.gammaincinv(shape, probability)[~seen] < 1e-299).all()
    assert gamma_quantile(np.full((2, 3), 1.0), 0.5).shape == (2, 3)
    np.testing.assert_allclose(gamma_quantile(1.0, 0.5), np.log(2.0), rtol=1e-14)
