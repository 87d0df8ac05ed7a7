"""Tails and quantiles of Betas and of Student's t, against mpmath and scipy."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
import scipy.special
from test_distribution import exact_tail

from credimi.inference.distributions.beta_tails import Betas, shares_of, student_below

KINDS = {  # ranges of the decimal logarithms of both parameters; the largest relative error
    "small and any": ((-21.0, 0.0), (-2.0, 24.0), 1e-13),
    "both small": ((-21.0, 0.0), (-21.0, 0.0), 1e-13),
    "usual": ((-0.5, 2.0), (-0.5, 2.0), 3e-13),
    "one large": ((0.0, 3.0), (0.0, 24.0), 1e-12),
    "both large": ((3.0, 6.9), (6.0, 14.0), 3e-11),
}


def tails(alpha: float, beta: float, x: float) -> tuple[float, float]:
    betas, at = Betas.of(alpha, beta), np.array([[x]])
    below, above = betas.tails(at, 1.0 - at, betas.offset(at, 1.0 - at))
    return float(below[0, 0]), float(above[0, 0])


@pytest.mark.parametrize("kind", KINDS)
def test_both_tails_keep_their_digits(kind: str) -> None:
    first, second, limit = KINDS[kind]
    generator = np.random.default_rng(len(kind))
    done = 0
    for case in range(96):
        alpha, beta = 10.0 ** generator.uniform(*first), 10.0 ** generator.uniform(*second)
        alpha, beta = (alpha, beta) if case % 2 else (beta, alpha)
        mean = alpha / (alpha + beta)
        deviation = np.sqrt(mean) * np.sqrt(beta / (alpha + beta)) / np.sqrt(alpha + beta + 1.0)
        x = [
            mean + generator.normal() * deviation,
            mean + 10.0 * generator.normal() * deviation,
            mean * 10.0 ** generator.uniform(-3.0, 3.0),
            10.0 ** generator.uniform(-30.0, 0.0),
        ][case // 2 % 4]
        terms = (alpha + beta) * min(x, 1.0 - x)
        if not 0.0 < x < 1.0 or (min(alpha, beta) < 60.0 and terms > 2_000.0):  # too many for the oracle's series
            continue
        for upper_tail, found in enumerate(tails(alpha, beta, float(x))):
            exact = exact_tail(mpmath.mpf(alpha), mpmath.mpf(beta), mpmath.mpf(x), upper_tail=bool(upper_tail))
            if exact > 1e-290:
                assert found == pytest.approx(float(exact), rel=limit, abs=0.0), (alpha, beta, x, upper_tail)
                done += 1
    assert done > 60


def test_many_betas_at_many_points_are_each_by_itself() -> None:
    alpha, beta = np.array([0.2, 3.0, 1e-3, 40.0]), np.array([0.4, 0.5, 50.0, 1e9])
    betas, x = Betas.of(alpha, beta), np.concatenate([[0.0, 1e-12, 1e-7, 1.0], np.linspace(0.001, 0.999, 2_000)])
    below, above = betas.tails(x, 1.0 - x, betas.offset(x, 1.0 - x))
    np.testing.assert_allclose(below, scipy.special.betainc(alpha[:, None], beta[:, None], x), rtol=1e-12, atol=0.0)
    np.testing.assert_allclose(above, scipy.special.betaincc(alpha[:, None], beta[:, None], x), rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize(
    ("alpha", "beta"), [(3.0, 20.0), (0.5, 8.0), (0.2, 0.3), (200.0, 1e4), (1e6, 1e6), (1e-3, 5.0)]
)
@pytest.mark.parametrize("upper_tail", [False, True])
def test_quantiles_have_the_tails_asked_for(alpha: float, beta: float, upper_tail: bool) -> None:  # noqa: FBT001
    probability = np.array([0.0, 1e-30, 1e-9, 0.025, 0.5, 0.975, 1.0])
    betas = Betas.of(alpha, beta)
    x, rest = shares_of(betas.quantile(np.ones(1), probability, upper_tail=upper_tail))
    assert (x[0], rest[-1]) == ((1.0, 1.0) if upper_tail else (0.0, 0.0))
    found = betas.tails(x, rest, betas.offset(x, rest))[int(upper_tail)][0]
    seen = np.minimum(x, rest) > 1e-300
    np.testing.assert_allclose(found[seen], probability[seen], rtol=1e-11)


def test_quantiles_of_each_and_of_a_mixture() -> None:
    alpha, beta, weights = np.array([0.7, 5.0, 300.0]), np.array([9.0, 50.0, 800.0]), np.array([0.5, 0.3, 0.2])
    betas = Betas.of(alpha, beta)
    which, probability = np.array([2, 0, 0, 1]), np.array([0.01, 0.3, 1e-20, 0.999])
    x = shares_of(betas.quantiles(which, probability))[0]
    np.testing.assert_allclose(x, scipy.special.betaincinv(alpha[which], beta[which], probability), rtol=1e-11)
    x, rest = shares_of(betas.quantile(weights, np.array([0.001, 0.2, 0.5, 0.8, 0.999]), upper_tail=False))
    below = weights @ betas.tails(x, rest, betas.offset(x, rest))[0]
    np.testing.assert_allclose(below, [0.001, 0.2, 0.5, 0.8, 0.999], rtol=1e-12)


def test_student_is_scipys() -> None:
    freedom = np.concatenate([np.arange(1.0, 40.0), [1e3, 1e5]])
    t = np.random.default_rng(1).normal(0.0, 4.0, (3, freedom.size))
    np.testing.assert_allclose(student_below(freedom, t), scipy.special.stdtr(freedom, -np.abs(t)), rtol=1e-11)
    assert student_below(np.array([4.0]), np.array([0.0])) == 0.5
