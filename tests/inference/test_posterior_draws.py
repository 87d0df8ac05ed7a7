"""The posterior of the chances against dense algebra, EM, enumeration, quadrature and independent draws: draws."""

from __future__ import annotations

import copy
import math
import pickle
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np
import oracle
import pytest
from strategies import IncompleteTable as Table
from strategies import table

import credimi
from credimi import CredimiError, posterior

if TYPE_CHECKING:
    from collections.abc import Callable


def assert_mean(values: np.ndarray, truth: np.ndarray, error: np.ndarray) -> None:
    """Within five standard errors."""
    assert np.all(np.abs(values - truth) <= 5.0 * error), (values, truth, error)


def assert_moments_of_chains(trace: np.ndarray, truths: list[np.ndarray]) -> None:
    """First and second moments of (steps, chains, ...) draws, judged by the spread between independent chains."""
    for power, truth in enumerate(truths, 1):
        of_chains = (trace**power).mean(axis=0)
        assert_mean(of_chains.mean(axis=0), truth, of_chains.std(axis=0, ddof=1) / math.sqrt(trace.shape[1]))


def rising(parameter: np.ndarray, order: int) -> np.ndarray:
    """parameter (parameter + 1) ... `order` factors: moments of a Dirichlet are quotients of these."""
    return np.prod([parameter + step for step in range(order)], axis=0)


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("prior", [1.0, 0.5, 0.05])
def test_independent_draws_have_the_moments_of_the_product_of_dirichlets(prior: float, *, turned: bool) -> None:
    counted = table([[4, 0, 1], [2, 3, 0.5]], [6, 1.5], [0, 0, 0], prior)
    size = 40_000
    cells, row_only, _ = counted.counts
    rows = cells.sum(axis=1)
    full = rows + row_only

    def exact(order: int) -> np.ndarray:
        """E[pi^order] = E[w^order] E[q^order]."""
        of_rows = rising(full, order) / rising(full.sum(), order)
        return of_rows[:, None] * rising(cells, order) / rising(rows, order)[:, None]

    asked = counted.transposed() if turned else counted
    draws = posterior(**asked.arguments()).rvs(size, random_state=5)
    draws = draws.swapaxes(1, 2) if turned else draws
    np.testing.assert_allclose(draws.sum(axis=(1, 2)), 1.0, rtol=1e-12)
    assert_mean(draws.mean(axis=0), exact(1), np.sqrt((exact(2) - exact(1) ** 2) / size))
    assert_mean((draws**2).mean(axis=0), exact(2), np.sqrt((exact(4) - exact(2) ** 2) / size))
    # E[pi_11 pi_21] = E[w_1 w_2] q_11 q_21 ties the rows, E[pi_11 pi_12] = E[w_1^2] E[q_11 q_12] the columns.
    share, total = cells / rows[:, None], full.sum()
    across = full[0] * full[1] / rising(total, 2) * share[0, 0] * share[1, 0]
    within = rising(full[0], 2) / rising(total, 2) * cells[0, 0] * cells[0, 1] / rising(rows[0], 2)
    for product, truth in ((draws[:, 0, 0] * draws[:, 1, 0], across), (draws[:, 0, 0] * draws[:, 0, 1], within)):
        assert_mean(product.mean(), truth, product.std() / math.sqrt(size))


@pytest.mark.parametrize(
    "counted",
    [
        table([[3, 1], [0, 4]], [5, 2], [3, 4], 0.5),
        table([[3, 1], [0, 4]], [1, 2], [8, 4], 1.0),
        table([[1, 0], [0, 1]], [9, 3], [2, 9], 1.0),
        table([[1.5, 0.2], [2.4, 3.3]], [2.6, 1.3], [0.4, 1.7], 0.5),  # weights: the Metropolis step
        table([[0.5, 0.2], [1.4, 0.3]], [3.5, 4.45], [2.5, 3.49], 1.0),
        table([[2, 1], [1, 2]], [4, 5], [0.3, 0.4], 0.5),  # all of the margin is left over
    ],
)
def test_gibbs_draws_have_the_moments_of_the_integral(counted: Table) -> None:
    functions = [lambda chances: chances, np.square, oracle.informations, lambda pi: oracle.informations(pi) ** 2]
    _, expected = oracle.quadrature(*counted.counts, functions, nodes=64)
    draws = posterior(**counted.arguments()).sample(256 * 150, 6)
    trace = draws.probabilities.reshape(150, 256, 2, 2)
    assert_moments_of_chains(trace, expected[:2])
    of_trace = oracle.informations(draws.probabilities).reshape(150, 256)
    assert_moments_of_chains(of_trace, expected[2:])
    assert draws.r_hat == pytest.approx(1.0, abs=0.02)


def test_gibbs_draws_agree_with_another_gibbs_sampler() -> None:
    counted = table([[5, 1, 0], [2, 6, 1], [0, 3, 4]], [6, 3, 8], [4, 7, 5], 0.5)
    draws = posterior(**counted.arguments()).sample(256 * 100, 7)
    ours = draws.probabilities.reshape(100, 256, 3, 3)
    other = oracle.gibbs_draws(*counted.counts, chains=400, steps=300, burn_in=100, generator=np.random.default_rng(8))
    for function in (lambda trace: trace, np.square, lambda trace: oracle.informations(trace.reshape(-1, 3, 3))):
        found, expected = (function(trace).reshape(*trace.shape[:2], -1).mean(axis=0) for trace in (ours, other))
        error = np.sqrt(found.var(axis=0, ddof=1) / 256 + expected.var(axis=0, ddof=1) / 400)
        assert_mean(found.mean(axis=0), expected.mean(axis=0), error)
    assert draws.r_hat < 1.01


def test_effective_size_is_what_the_chains_show() -> None:
    # Chains are independent: Var[chain mean] = Var/(draws a chain is worth). 256 chains know a variance to 9 %.
    counted = table([[2, 1], [1, 2]], [20, 15], [12, 22], 1.0)
    draws = posterior(**counted.arguments()).sample(256 * 200, 9, thin=1)
    trace = oracle.informations(draws.probabilities).reshape(200, 256)
    worth = 256 * trace.var() / trace.mean(axis=0).var(ddof=1)
    assert draws.effective_size == pytest.approx(worth, rel=4.5 * math.sqrt(2 / 255))
    assert draws.effective_size < 0.8 * trace.size
    assert draws.r_hat < 1.1


def test_independent_draws_say_so() -> None:
    draws = posterior([[3, 1], [1, 4]], target_only=[2, 5]).sample(1000, 10)
    assert draws.probabilities.shape == (1000, 2, 2)
    assert draws.r_hat == 1.0
    assert draws.effective_size == 1000.0


@pytest.mark.parametrize("feature_only", [[0, 0, 0], [2, 0, 5]])
@pytest.mark.parametrize("prior", [1e-3, 1e-12, 1e-100])
def test_tiny_pseudo_counts_leave_draws_finite(prior: float, feature_only: list[float]) -> None:
    found = posterior([[3, 0, 0], [0, 0, 0]], target_only=[2, 4], feature_only=feature_only, prior=prior)
    draws = found.rvs(2000, random_state=11)
    assert np.all(np.isfinite(draws))
    assert np.all(draws >= 0.0)
    np.testing.assert_allclose(draws.sum(axis=(1, 2)), 1.0, rtol=1e-12)


def test_draws_keep_what_haldane_leaves_out() -> None:
    draws = posterior([[3, 0], [1, 2], [0, 0]], target_only=[1, 1, 5], prior="haldane").rvs(500, random_state=12)
    assert np.all(draws[:, 0, 1] == 0.0)
    pooled = draws[:, :2].sum(axis=1)
    third = draws[:, 2]
    np.testing.assert_allclose(third[:, 0] * pooled[:, 1], third[:, 1] * pooled[:, 0], rtol=1e-10)
    assert np.all(third.sum(axis=1) > 0.0)


@pytest.mark.parametrize("feature_only", [[0, 0], [3, 2]])
def test_draws_are_reproducible(feature_only: list[float]) -> None:
    found = posterior([[3, 1], [1, 4]], target_only=[2, 5], feature_only=feature_only)
    first, again, other = found.rvs(300, 13), found.rvs(300, np.random.default_rng(13)), found.rvs(300, 14)
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)
    assert found.rvs(random_state=13).shape == (1, 2, 2)
    assert found.rvs(0).shape == (0, 2, 2)


@pytest.mark.parametrize("wrong", [{"size": -1}, {"size": 2.5}, {"chains": 0}, {"burn_in": -1}, {"thin": 0}])
def test_sample_refuses_what_is_no_number_of_draws(wrong: dict[str, float]) -> None:
    arguments = {"size": 10, **wrong}
    with pytest.raises(CredimiError, match="whole number"):
        posterior([[3, 1], [1, 4]]).sample(**arguments)


def test_sampled_information_is_that_of_the_draws() -> None:
    arguments = {"target_only": [2, 5], "feature_only": [4, 1], "prior": 0.5}
    sampled = credimi.mutual_information(
        [[3, 1], [1, 4]], **arguments, approximation="sampled", draws=2000, random_state=15
    )
    draws = posterior([[3, 1], [1, 4]], **arguments).rvs(2000, 15)
    values = [oracle.mutual_information(chances) for chances in draws]
    assert sampled.mean() == pytest.approx(np.mean(values), rel=1e-10)
    assert sampled.std() == pytest.approx(np.std(values), rel=1e-3)


def test_one_feature_value_with_both_sides_missing() -> None:
    # pi_i ~ prod pi_i^(n_i + n_i?): the feature's own margin says nothing.
    found = posterior(joint=[[3], [5]], target_only=[2, 1], feature_only=[7], prior=1.0)
    np.testing.assert_allclose(found.mode.ravel(), [6 / 13, 7 / 13], rtol=1e-12)
    np.testing.assert_allclose(found.mean.ravel(), [6 / 13, 7 / 13], rtol=1e-12)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda found: pickle.loads(pickle.dumps(found))])  # noqa: S301
@pytest.mark.parametrize("feature_only", [[0, 0], [1, 2]])
def test_copy_of_a_posterior_is_the_same_and_frozen(
    copied: Callable[[credimi.Posterior], credimi.Posterior], feature_only: list[float]
) -> None:
    found = posterior([[3, 1], [1, 4]], target_only=[2, 5], feature_only=feature_only)
    names = ("mode", "mean", "std")
    known = [getattr(found, name) for name in names]  # before the copy: what is computed must not travel unlocked
    again = copied(found)
    for name, values in zip(names, known, strict=True):
        np.testing.assert_array_equal(getattr(again, name), values)
        assert not getattr(again, name).flags.writeable
    assert not again.table.joint.flags.writeable
    assert again.log_evidence == found.log_evidence


def test_threads_may_share_a_posterior() -> None:
    generator = np.random.default_rng(21)
    found = posterior(
        joint=generator.poisson(3.0, (40, 40)),
        target_only=generator.poisson(9.0, 40),
        feature_only=generator.poisson(9.0, 40),
        prior=0.5,
    )
    field = generator.normal(size=(40, 40))
    alone = found.covariance_times(field)
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda _: found.covariance_times(field), range(2000)))
    assert all(np.array_equal(alone, each) for each in together)
