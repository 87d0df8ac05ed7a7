"""Tails and quantiles of many mixtures at once: against scipy, and against each mixture's `Distribution`."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import betaincc

from credimi import mutual_information
from credimi.core.tables import Tables
from credimi.inference.belief import Belief
from credimi.inference.distributions.distribution import Distribution
from credimi.inference.distributions.scaled_beta import ScaledBeta
from credimi.inference.evidence.adaptive_prior import PosteriorComponents
from credimi.inference.information import distribution_of
from credimi.inference.tables import mixture_tails
from credimi.inference.tables.many_tables import summarize

LEVELS = (0.5, 0.95, 0.999)


def single(alpha: np.ndarray, beta: np.ndarray, upper: float = 1.0) -> PosteriorComponents:
    """One Beta a table."""
    count, total = alpha.size, alpha + beta
    variance = upper**2 * alpha / total * (beta / total) / (total + 1.0)
    return PosteriorComponents(np.zeros(count), np.arange(count), np.ones(count), upper * alpha / total, variance)


def agrees(law: Distribution, tail: float, found: float) -> bool:
    """Whether `found` is the quantile to eight digits, or where it is ill-defined, has that tail to nine."""
    expected = law.isf(tail)
    if found == pytest.approx(expected, rel=1e-8, abs=1e-12):
        return True
    return abs(law.sf(found) - tail) <= 1e-9 * min(tail, 1.0 - tail)


@pytest.mark.parametrize("greatest", [1e3, 1e8, 1e20])
def test_betas_of_any_shape(greatest: float) -> None:
    generator = np.random.default_rng(11)
    alpha = np.exp(generator.uniform(math.log(2e-3), math.log(4e6), 400))
    beta = np.exp(generator.uniform(math.log(2e-3), math.log(greatest), 400))
    found = single(alpha, beta)
    laws = mixture_tails.mixtures_of(found, np.ones(400), gaussian=False)
    assert laws.trusted.all()
    for tail in (1e-9, 0.0005, 0.025, 0.5, 0.975, 0.9995):
        x = mixture_tails.quantiles(laws, tail, None)
        inner = (x > 1e-250) & (x < 1.0 - 1e-6)  # else the doubles near x are too far apart for its tail
        assert np.count_nonzero(inner) > 100
        shape = laws.first[inner], laws.second[inner]
        np.testing.assert_allclose(betaincc(*shape, x[inner]), tail, atol=1e-9 * (1.0 - tail), rtol=1e-9 * (1.0 - tail))
        np.testing.assert_allclose(mixture_tails.above(laws, x, None)[inner], betaincc(*shape, x[inner]), rtol=2e-10)


def test_peaked_betas() -> None:
    """Where scipy's functions decay: against the expansion of `beta`."""
    generator = np.random.default_rng(12)
    alpha = np.exp(generator.uniform(math.log(1e7), math.log(9e8), 60))
    beta = np.exp(generator.uniform(math.log(1e7), math.log(1e12), 60))
    found = single(alpha, beta)
    laws = mixture_tails.mixtures_of(found, np.ones(60), gaussian=False)
    assert laws.trusted.all()
    for tail in (0.0005, 0.5, 0.975):
        x = mixture_tails.quantiles(laws, tail, 1)
        for index in range(60):
            law = ScaledBeta(float(found.mean[index]), math.sqrt(found.variance[index]), 1.0)
            assert law.sf(x[index : index + 1])[0] == pytest.approx(tail, rel=1e-8)


def components(data: st.DataObject, *, gaussian: bool) -> tuple[PosteriorComponents, np.ndarray]:
    """Mixtures of up to six laws, many decades apart or close together; the atom may be close to a tail."""
    p_zeros, tables, weights, means, variances, uppers = [], [], [], [], [], []
    atoms = st.sampled_from([0.0, 0.3, 0.025, 0.975, 0.9750001, 0.97499, 0.5, 0.75, 0.9995, 0.99949])
    for table in range(data.draw(st.integers(1, 3))):
        upper = math.log(data.draw(st.sampled_from([2, 3, 10, 1000])))
        shares = np.array(data.draw(st.lists(st.floats(1e-4, 1.0), min_size=1, max_size=6)))
        p_zero = data.draw(atoms)
        p_zeros.append(p_zero)
        uppers.append(upper)
        for share in (1.0 - p_zero) * shares / shares.sum():
            mean = upper * min(10.0 ** data.draw(st.floats(-9.0, 0.0)), 0.999)
            size = 10.0 ** data.draw(st.floats(-3.0, 0.3))  # the standard deviation beside the mean
            greatest = 0.99 * math.sqrt(mean * (upper - mean))
            tables.append(table)
            weights.append(share)
            means.append(-mean if gaussian and data.draw(st.integers(0, 5)) == 0 else mean)
            variances.append(min(size * mean, greatest) ** 2)
    made = PosteriorComponents(
        np.array(p_zeros), np.array(tables), np.array(weights), np.array(means), np.array(variances)
    )
    return made, np.array(uppers)


@pytest.mark.long
@pytest.mark.parametrize("gaussian", [False, True])
@settings(deadline=None, max_examples=60)
@given(data=st.data())
def test_mixtures_have_the_tails_and_quantiles_of_their_distributions(data: st.DataObject, *, gaussian: bool) -> None:
    found, upper = components(data, gaussian=gaussian)
    laws = mixture_tails.mixtures_of(found, upper, gaussian=gaussian)
    count = upper.size
    tails = np.array([0.5 - level / 2.0 for level in LEVELS])
    for tail in (*tails, *(1.0 - tails)):
        wanted = np.where(np.arange(count) == 1, 0.1, tail)  # one tail a table
        quantile = mixture_tails.quantiles(laws, wanted, 1)
        x = data.draw(st.sampled_from([0.0, 1e-6, 0.003, 0.5, *(quantile + 1e-3).tolist()]))
        above = mixture_tails.above(laws, x, 1)
        for table in range(count):
            if not laws.trusted[found.table == table].all():
                continue
            law = mixture(found, table, float(upper[table]), gaussian=gaussian)
            assert agrees(law, float(wanted[table]), float(quantile[table])), (law.isf(wanted[table]), quantile[table])
            assert above[table] == pytest.approx(law.sf(x), rel=1e-8, abs=1e-200)


def mixture(found: PosteriorComponents, table: int, upper: float, *, gaussian: bool) -> Distribution:
    own = found.table == table
    parts = [
        distribution_of(float(mean), float(std), upper, gaussian=gaussian)
        for mean, std in zip(found.mean[own], np.sqrt(found.variance[own]), strict=True)
    ]
    return Distribution.mixture(parts, found.weight[own].tolist(), float(found.p_zero[table]))


@pytest.mark.parametrize("approximation", ["matched", "leading", "leading-beta"])
@pytest.mark.parametrize("prior", ["adaptive", "jeffreys"])
@pytest.mark.parametrize("size", [5, 100, 10_000, 10_000_000])
def test_tables_of_few_and_of_many_rows(approximation: str, prior: str, size: int) -> None:
    generator = np.random.default_rng(size)
    tables = []
    for rows, columns in ((2, 2), (2, 4), (3, 5)):
        noise = np.outer(generator.dirichlet(np.full(rows, 3.0)), generator.dirichlet(np.full(columns, 3.0)))
        for chances in (noise, generator.dirichlet(np.ones(rows * columns)).reshape(rows, columns)):
            table = np.zeros((rows + 1, columns + 1))
            table[:-1, :-1] = generator.multinomial(size, chances.ravel()).reshape(rows, columns)
            table[:-1, -1] = generator.poisson(size / 10.0, rows)
            tables.append(table)
    for level in LEVELS:
        options = Belief(epsilon=0.003, prior=prior, approximation=approximation, level=level)
        found = summarize(Tables.of(tables), options)
        for index, table in enumerate(tables):
            law = mutual_information(
                table[:-1, :-1], target_only=table[:-1, -1], prior=prior, approximation=approximation
            )
            assert (found.low[index], found.high[index]) == pytest.approx(law.interval(level), rel=1e-8, abs=1e-12)
            assert found.p_above[index] == pytest.approx(law.sf(0.003), rel=1e-8, abs=1e-200)


def test_threads_change_nothing() -> None:
    generator = np.random.default_rng(5)
    blocks = Tables(generator.poisson(40.0, 3000 * 15).astype(float), np.full(3000, 2), np.full(3000, 4))
    one, three = (summarize(blocks, Belief(threads=threads)) for threads in (1, 3))
    for name in ("mean", "std", "low", "high", "p_above", "p_independent"):
        np.testing.assert_array_equal(getattr(one, name), getattr(three, name))
