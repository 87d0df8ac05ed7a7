"""The law of a change: against dense integrals and draws, and what must hold for the same data twice."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from scipy import stats
from scipy.special import gammaln

from credimi.core.tables import Tables
from credimi.inference.distributions.distribution import Distribution
from credimi.inference.distributions.scaled_beta import ScaledBeta
from credimi.inference.evidence import adaptive_prior
from credimi.inference.mutual_information import distribution_of_table
from credimi.questions.compare.change import Difference, compared, evidence_of_same, prior_components

LEVEL, EPSILON = 0.95, 0.003
UPPER = float(np.log(2.0))


def posteriors_of(blocks: Tables) -> list[Distribution]:
    return distributions(adaptive_prior.components(blocks), blocks)


def priors_of(blocks: Tables) -> list[Distribution]:
    return distributions(prior_components(blocks), blocks)


def distributions(components: adaptive_prior.PosteriorComponents, blocks: Tables) -> list[Distribution]:
    upper = np.log(np.minimum(blocks.rows, blocks.columns)).tolist()
    return [distribution_of_table(components, index, most) for index, most in enumerate(upper)]


def law(p_zero: float, *parts: tuple[float, float]) -> Distribution:
    betas = [ScaledBeta.from_moments(mean, std, UPPER) for mean, std in parts]
    return Distribution.mixture(betas, [(1.0 - p_zero) / len(parts)] * len(parts), p_zero)


LAWS = [
    (law(0.0, (0.1, 0.02)), law(0.0, (0.12, 0.03))),
    (law(0.4, (0.05, 0.03)), law(0.0, (0.3, 0.001))),  # wide and narrow
    (law(0.0, (0.3, 1e-6)), law(0.0, (0.25, 0.05))),
    (law(0.7, (0.002, 0.002), (0.05, 0.04)), law(0.5, (0.001, 0.0012))),
    (law(1.0 - 1e-9, (0.001, 0.001)), law(0.2, (0.6, 0.05))),
]


@cache
def quantiles(part: ScaledBeta) -> np.ndarray:
    shares = (np.arange(20_000) + 0.5) / 20_000
    return UPPER * stats.beta(part.alpha, part.beta).ppf(shares)


def dense_cdf(first: Distribution, second: Distribution, t: float) -> float:
    """P(second - first <= t): means over 20,000 quantiles of each component of the first, one by one."""
    total = first.p_zero * second.cdf(t)
    for part, weight in zip(first.components, first.weights, strict=True):
        assert isinstance(part, ScaledBeta)
        total += weight * second.cdf(t + quantiles(part)).mean()
    return float(total)


@pytest.mark.parametrize(("first", "second"), LAWS)
@pytest.mark.parametrize("t", [-0.3, -0.05, -0.003, -1e-4, 0.0, 1e-4, 0.003, 0.02, 0.25])
def test_difference_is_that_of_a_dense_integral(first: Distribution, second: Distribution, t: float) -> None:
    assert Difference(first, second).cdf(t) == pytest.approx(dense_cdf(first, second, t), abs=2e-4)


@pytest.mark.parametrize(("first", "second"), LAWS)
def test_difference_is_that_of_draws(first: Distribution, second: Distribution) -> None:
    drawn = second.rvs(400_000, random_state=1) - first.rvs(400_000, random_state=2)
    found = compared(first, second, (law(0.5, (0.1, 0.1)),) * 2, epsilon=EPSILON, level=LEVEL)
    assert found.p_change_if_apart == pytest.approx(np.mean(np.abs(drawn) > EPSILON), abs=3e-3)
    below, above = np.mean(drawn < found.low), np.mean(drawn > found.high)
    assert max(below, above) <= 0.025 + 2e-3
    if found.low != 0.0 and found.high != 0.0:
        assert below + above == pytest.approx(0.05, abs=3e-3)


def block(table: object) -> np.ndarray:
    cells = np.asarray(table, dtype=float)
    out = np.zeros((cells.shape[0] + 1, cells.shape[1] + 1))
    out[:-1, :-1] = cells
    return out


def likelihood_of_information(cells: np.ndarray, edges: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of each bin of I the prior and the posterior mass, by draws from the adaptive prior; bin 0 is independence."""
    generator, draws, points = np.random.default_rng(5), 100_000, 12
    n = cells.sum()
    a, b = (cells.sum(axis=1 - axis) + 0.5 for axis in (0, 1))
    even = np.outer(a / a.sum(), b / b.sum())
    largest = 50.0 * min(cells.shape) * max(n, cells.size)
    prior, evidence = np.zeros(edges.size), np.zeros(edges.size)
    prior[0] = evidence[0] = 0.5

    def log_evidence(counts: np.ndarray, alpha: np.ndarray) -> float:
        whole = gammaln(alpha.sum()) - gammaln(alpha.sum() + counts.sum())
        return float(whole + (gammaln(alpha + counts) - gammaln(alpha)).sum())

    for strength in np.geomspace(4.0, largest, points):
        alpha = strength * even
        margins = log_evidence(cells.sum(axis=1), alpha.sum(axis=1)) + log_evidence(
            cells.sum(axis=0), alpha.sum(axis=0)
        )
        factor = np.exp(log_evidence(cells, alpha) - margins)
        # the posterior of the component is a Dirichlet, too: no weights that vary are needed
        for out, parameters, weight in ((prior, alpha, 1.0), (evidence, alpha + cells, factor)):
            chances = generator.dirichlet(parameters.ravel(), draws).reshape(-1, *cells.shape)
            expected = chances.sum(axis=2, keepdims=True) * chances.sum(axis=1, keepdims=True)
            terms = np.where(chances > 0.0, chances * np.log(np.maximum(chances, 1e-300) / expected), 0.0)
            found, _ = np.histogram(terms.sum(axis=(1, 2)), edges)
            out[1:] += 0.5 * weight * found / draws / points
    return prior, evidence / evidence.sum()


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ([[20, 10], [8, 22]], [[24, 9], [12, 15]]),
        ([[30, 10], [10, 30]], [[20, 22], [19, 19]]),
        ([[30, 10, 10], [10, 30, 10]], [[20, 22, 20], [19, 19, 25]]),
        ([[12, 3, 5], [4, 9, 7], [3, 6, 11]], [[10, 5, 5], [6, 8, 6], [5, 5, 10]]),
    ],
)
def test_evidence_that_nothing_changed_is_that_of_draws(first: object, second: object) -> None:
    tables = [np.asarray(first, dtype=float), np.asarray(second, dtype=float)]
    edges = np.concatenate([[0.0], np.geomspace(1e-6, np.log(min(tables[0].shape)), 300)])
    (p, a), (q, b) = (likelihood_of_information(each, edges) for each in tables)
    seen = (p > 1e-6) & (q > 1e-6)  # the last bins have no draws, and hardly any mass
    oracle = np.sum((0.5 * (p + q) * (a / np.maximum(p, 1e-9)) * (b / np.maximum(q, 1e-9)))[seen])
    blocks = Tables.of([block(each) for each in tables])
    assert evidence_of_same(*posteriors_of(blocks), *priors_of(blocks)) == pytest.approx(
        oracle, rel=0.2
    )  # Betas for the tails


def test_without_data_the_posterior_is_the_prior() -> None:
    blocks = Tables.of([np.zeros((3, 3)), np.zeros((4, 6))])
    for own, prior in zip(posteriors_of(blocks), priors_of(blocks), strict=True):
        assert own.p_zero == pytest.approx(prior.p_zero)
        assert own.mean() == pytest.approx(prior.mean(), rel=0.02)
        assert evidence_of_same(own, own, prior, prior) == pytest.approx(1.0, abs=0.01)


def incomplete(shape: tuple[int, int], rows: int, missing: float, seed: int) -> np.ndarray:
    """A random block, with missing values on both sides."""
    generator = np.random.default_rng(seed)
    chances = generator.dirichlet(np.full(shape[0] * shape[1], 0.7))
    cells = generator.multinomial(rows, chances).reshape(shape).astype(float)
    out = block(cells)
    if missing:
        gone = generator.binomial(cells.astype(int), missing)
        out[:-1, :-1] -= gone
        out[:-1, -1] = gone.sum(axis=1)
        more = generator.binomial(out[:-1, :-1].astype(int), missing)
        out[:-1, :-1] -= more
        out[-1, :-1] = more.sum(axis=0)
    return out


@pytest.mark.parametrize("rows", [0, 1, 4, 20, 100, 1_000, 100_000, 10_000_000])
@pytest.mark.parametrize("shape", [(2, 2), (3, 5), (4, 10)])
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_the_same_data_twice_show_no_change(rows: int, shape: tuple[int, int], missing: float) -> None:
    blocks = Tables.of([incomplete(shape, rows, missing, seed) for seed in range(4)])
    for own, prior in zip(posteriors_of(blocks), priors_of(blocks), strict=True):
        for epsilon in (0.0, EPSILON, 0.05):
            found = compared(own, own, (prior, prior), epsilon=epsilon, level=LEVEL)
            assert found.p_more + found.p_less < 0.05
            assert found.p_more == pytest.approx(found.p_less, abs=1e-3)
            assert found.p_same >= 0.95 - 1e-3


def test_swapped_samples_swap_more_and_less() -> None:
    blocks = Tables.of([block([[40, 10], [10, 40]]), block([[25, 25], [20, 30]])])
    (a, b), (p, q) = posteriors_of(blocks), priors_of(blocks)
    there = compared(a, b, (p, q), epsilon=EPSILON, level=LEVEL)
    back = compared(b, a, (q, p), epsilon=EPSILON, level=LEVEL)
    assert there.p_less > 0.5 > there.p_more
    assert (there.p_more, there.p_less) == pytest.approx((back.p_less, back.p_more), abs=1e-4)
    assert (there.low, there.high) == pytest.approx((-back.high, -back.low), abs=1e-3)
