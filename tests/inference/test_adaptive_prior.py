"""The adaptive prior: its weights against arithmetic of many digits, its components, and what it does with noise."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.special import digamma, gammaln

from credimi import CredimiError, mutual_information, posterior
from credimi.core.tables import Tables
from credimi.inference.belief import Belief
from credimi.inference.evidence import adaptive_prior
from credimi.inference.moments.moments import moments
from credimi.inference.tables.many_tables import summarize

JOINT = [[12, 3, 7], [2, 14, 6]]
MARGINS = ({}, {"target_only": [5, 2]}, {"feature_only": [1, 4, 2]}, {"target_only": [5, 2], "feature_only": [1, 4, 2]})


def block(joint: object, target_only: object = None, feature_only: object = None) -> np.ndarray:
    joint = np.array(joint, dtype=np.float64)
    rows, columns = joint.shape
    out = np.zeros((rows + 1, columns + 1))
    out[:-1, :-1] = joint
    out[:-1, -1] = 0.0 if target_only is None else target_only
    out[-1, :-1] = 0.0 if feature_only is None else feature_only
    return out


def evidence(counts: list[float], parameters: list[mpmath.mpf]) -> mpmath.mpf:
    """Of a Dirichlet-multinomial, without the multinomial coefficient."""
    total, size = mpmath.fsum(parameters), mpmath.fsum(counts)
    value = mpmath.loggamma(total) - mpmath.loggamma(total + size)
    for count, parameter in zip(counts, parameters, strict=True):
        value += mpmath.loggamma(parameter + count) - mpmath.loggamma(parameter)
    return value


def weights(table: np.ndarray) -> list[float]:
    """Of independence and of each point of the grid, as the module says, in fifty digits."""
    with mpmath.workdps(50):
        joint = table[:-1, :-1]
        rows, columns = joint.shape
        classes = [mpmath.mpf(float(each)) + mpmath.mpf("0.5") for each in joint.sum(axis=1) + table[:-1, -1]]
        values = [mpmath.mpf(float(each)) + mpmath.mpf("0.5") for each in joint.sum(axis=0) + table[-1, :-1]]
        classes = [each / mpmath.fsum(classes) for each in classes]
        values = [each / mpmath.fsum(values) for each in values]
        least, points = mpmath.mpf(4), points_of(joint.shape)
        most = mpmath.mpf(50) * min(rows, columns) * max(float(joint.sum()), rows * columns)
        scores = [mpmath.mpf("0.5")]
        for point in range(points):
            strength = least * (most / least) ** (mpmath.mpf(point) / (points - 1))
            flat = [strength * one * other for one in classes for other in values]
            score = evidence([float(each) for each in joint.ravel()], flat)
            score -= evidence([float(each) for each in joint.sum(axis=1)], [strength * each for each in classes])
            score -= evidence([float(each) for each in joint.sum(axis=0)], [strength * each for each in values])
            scores.append(mpmath.exp(score) / (2 * points))
        total = mpmath.fsum(scores)
        return [float(each / total) for each in scores]


@settings(deadline=None, max_examples=60)
@given(st.data())
def test_weights_are_those_of_arithmetic_of_many_digits(data: st.DataObject) -> None:
    rows, columns = data.draw(st.integers(2, 4)), data.draw(st.integers(2, 5))
    counts = st.sampled_from([0, 0, 1, 2, 3, 7, 40, 1000])
    flat = data.draw(st.lists(counts, min_size=(rows + 1) * (columns + 1), max_size=(rows + 1) * (columns + 1)))
    table = np.array(flat, dtype=np.float64).reshape(rows + 1, columns + 1)
    complete = data.draw(st.sampled_from([np.s_[-1, :], np.s_[:, -1]]))  # both sides: test_missing_at_random.py
    table[complete] = 0.0
    found = adaptive_prior.mixtures(Tables.of([table]))
    of_zero, *others = weights(table)
    expected = [of_zero, *(each if each >= 1e-4 else 0.0 for each in others)]
    expected = [each / math.fsum(expected) for each in expected]
    assert found.p_zero[0] == pytest.approx(expected[0], rel=1e-7, abs=1e-6)
    assert sorted(found.weight) == pytest.approx(sorted(each for each in expected[1:] if each), rel=1e-6, abs=1e-6)
    assert found.p_zero[0] + found.weight.sum() == pytest.approx(1.0, rel=1e-12)


def points_of(shape: tuple[int, ...]) -> int:
    return adaptive_prior.GRID if (shape[0] - 1) * (shape[1] - 1) >= 16 else adaptive_prior.GRID * 2 // 3


def plain_evidence(counts: np.ndarray, parameters: np.ndarray) -> float:
    """Of a Dirichlet-multinomial, without the multinomial coefficient."""
    total = parameters.sum()
    return gammaln(total) - gammaln(total + counts.sum()) + (gammaln(parameters + counts) - gammaln(parameters)).sum()


def plain_mixture(table: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    """Weight of independence, weights that stay, and the blocks of their components, as the module says."""
    joint = table[:-1, :-1]
    by_class, by_value = joint.sum(axis=1), joint.sum(axis=0)
    classes, values = by_class + table[:-1, -1] + 0.5, by_value + table[-1, :-1] + 0.5
    classes, values = classes / classes.sum(), values / values.sum()
    most = 50.0 * min(joint.shape) * max(joint.sum(), joint.size)
    scores, blocks = [math.log(adaptive_prior.P_ZERO)], []
    points = points_of(joint.shape)
    for strength in np.geomspace(4.0, most, points):
        pseudo = strength * np.outer(classes, values)
        score = plain_evidence(joint.ravel(), pseudo.ravel())
        score -= plain_evidence(by_class, strength * classes) + plain_evidence(by_value, strength * values)
        scores.append(score + math.log((1.0 - adaptive_prior.P_ZERO) / points))
        augmented = table.copy()
        augmented[:-1, :-1] += pseudo
        blocks.append(augmented)
    shares = np.exp(np.array(scores) - max(scores))
    shares /= shares.sum()
    shares[1:][shares[1:] < adaptive_prior.NEGLIGIBLE] = 0.0
    shares /= shares.sum()
    stay = shares[1:] > 0.0
    return float(shares[0]), shares[1:][stay], np.array(blocks)[stay]


def test_transposition_changes_nothing_where_both_margins_are_as_many_and_cells_are_sparse() -> None:
    joint, only = [[3, 0, 1], [0, 2, 0], [1, 0, 2]], [2, 1, 1]
    one = mutual_information(joint, target_only=only, feature_only=[1, 0, 3])
    other = mutual_information(np.transpose(joint), target_only=[1, 0, 3], feature_only=only)
    assert one.mean() == pytest.approx(other.mean(), rel=1e-12)
    assert one.p_zero == pytest.approx(other.p_zero, rel=1e-12)


def exact_mean(counts: np.ndarray) -> float:
    """E[I] of a Dirichlet with these parameters, by digammas."""
    total = counts.sum()
    inner = digamma(counts + 1.0) - digamma(counts.sum(axis=1, keepdims=True) + 1.0)
    inner += digamma(total + 1.0) - digamma(counts.sum(axis=0, keepdims=True) + 1.0)
    return float((counts * inner).sum() / total)


@pytest.mark.parametrize(("levels", "rows"), [(82, 4_000), (100, 2_000), (400, 8_000), (1_500, 6_000), (2_000, 40_000)])
def test_a_peak_of_the_evidence_between_two_points_of_the_grid_is_found(levels: int, rows: int) -> None:
    """Against four thousand points: with hundreds of values one point of eighteen would have all the weight."""
    generator = np.random.default_rng(levels)
    share = generator.beta(2.0, 2.0, levels)
    joint = generator.multinomial(rows, np.concatenate([share, 1.0 - share]) / levels).reshape(2, levels).astype(float)
    by_class, by_value = joint.sum(axis=1), joint.sum(axis=0)
    classes, values = (by_class + 0.5) / (by_class + 0.5).sum(), (by_value + 0.5) / (by_value + 0.5).sum()
    strengths = np.geomspace(4.0, 50.0 * 2 * max(rows, joint.size), 4_000)
    scores = np.array(
        [
            plain_evidence(joint.ravel(), strength * np.outer(classes, values).ravel())
            - plain_evidence(by_class, strength * classes)
            - plain_evidence(by_value, strength * values)
            for strength in strengths
        ]
    )
    weights = np.exp(scores - scores.max())
    weights /= weights.sum()
    stay = weights > 1e-6
    means = [exact_mean(joint + strength * np.outer(classes, values)) for strength in strengths[stay]]
    mean = float(np.sum(weights[stay] * means))
    found = mutual_information(joint)
    assert found.mean() == pytest.approx(mean, abs=0.02 * found.std())


@settings(deadline=None, max_examples=150)
@given(st.data())
def test_mixtures_are_those_of_plain_arithmetic(data: st.DataObject) -> None:
    """Ragged shapes, counts whole or not, at most one side missing, on any number of threads."""
    generator = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    tables = []
    for _ in range(data.draw(st.integers(1, 4))):
        rows, columns = data.draw(st.integers(1, 6)), data.draw(st.integers(1, 12))
        mean = 10.0 ** data.draw(st.floats(-1.0, 3.5))
        table = generator.poisson(mean * generator.gamma(1.0, 1.0, (rows + 1, columns + 1))).astype(float)
        table *= data.draw(st.sampled_from([1.0, 1.0, 0.37]))
        of_classes, of_values = data.draw(
            st.sampled_from([(0.0, 0.0), (0.01, 0.0), (1.0, 0.0), (0.0, 0.01), (0.0, 1.0)])
        )
        table[:, -1] *= of_classes
        table[-1] *= of_values
        tables.append(table)
    found = adaptive_prior.mixtures(Tables.of(tables), threads=data.draw(st.integers(1, 3)))
    for index, table in enumerate(tables):
        own = np.flatnonzero(found.table == index)
        if min(table.shape) < 3:
            assert (found.p_zero[index], own.size) == (1.0, 0)
            continue
        p_zero, weight, blocks = plain_mixture(table)
        assume(weight.size == own.size)  # but for a weight within rounding of the bound
        assert found.p_zero[index] == pytest.approx(p_zero, rel=1e-8, abs=1e-9)
        assert found.weight[own] == pytest.approx(weight, rel=1e-8, abs=1e-9)
        start = found.blocks.offsets[own[0]] if own.size else 0
        np.testing.assert_allclose(found.blocks.flat[start : start + blocks.size], blocks.ravel(), rtol=1e-12)


@pytest.mark.parametrize("total", [1e5, 1e7, 1e9])
@pytest.mark.parametrize("noise", [True, False])
def test_weights_of_many_rows_keep_their_digits(total: float, *, noise: bool) -> None:
    chances = np.outer([0.3, 0.7], [0.2, 0.1, 0.7]) + (0.0 if noise else 1e-4) * np.array([[1, -1, 0], [-1, 1, 0]])
    table = block(np.round(total * chances + np.sqrt(total) * np.array([[0.3, -0.2, 0.1], [0.2, 0.1, -0.4]])))
    found = adaptive_prior.mixtures(Tables.of([table]))
    of_zero, *others = weights(table)
    expected = [of_zero, *(each if each >= 1e-4 else 0.0 for each in others)]
    expected = [each / math.fsum(expected) for each in expected]
    assert found.p_zero[0] == pytest.approx(expected[0], rel=1e-14 * total + 1e-9)
    assert found.weight == pytest.approx([each for each in expected[1:] if each], rel=1e-14 * total + 1e-9)


def test_constants_may_be_changed_at_run_time(monkeypatch: pytest.MonkeyPatch) -> None:
    table = block(JOINT, [5, 2])
    monkeypatch.setattr(adaptive_prior, "GRID", 24)
    monkeypatch.setattr(adaptive_prior, "P_ZERO", 0.25)
    monkeypatch.setattr(adaptive_prior, "NEGLIGIBLE", 0.02)
    found = adaptive_prior.mixtures(Tables.of([table]))
    p_zero, weight, _ = plain_mixture(table)
    assert found.p_zero[0] == pytest.approx(p_zero, rel=1e-9)
    assert found.weight == pytest.approx(weight, rel=1e-9)
    assert 0 < weight.size < 24


def test_components_are_posteriors_of_the_counts_and_their_pseudo_counts() -> None:
    table = block(JOINT, [5, 2])
    found = adaptive_prior.components(Tables.of([table]))
    mixed = adaptive_prior.mixtures(Tables.of([table]))
    classes, values = np.array([27.5, 24.5]) / 52.0, np.array([14.5, 17.5, 13.5]) / 45.5
    for part, mean in zip(mixed.blocks.flat.reshape(-1, 3, 4), found.mean, strict=True):
        pseudo = part[:-1, :-1] - np.array(JOINT)
        assert pseudo == pytest.approx(pseudo.sum() * np.outer(classes, values), rel=1e-12)
        np.testing.assert_array_equal(part[:, -1], table[:, -1])
        law = mutual_information(part[:-1, :-1], target_only=[5, 2], prior="haldane")
        assert mean == pytest.approx(law.mean(), rel=1e-12)


@pytest.mark.parametrize("margins", MARGINS)
def test_mixture_agrees_with_draws_of_the_chances(margins: dict[str, list[int]]) -> None:
    matched = mutual_information(JOINT, **margins)
    sampled = mutual_information(JOINT, approximation="sampled", draws=20_000, random_state=3, **margins)
    assert matched.p_zero == sampled.p_zero
    assert matched.mean() == pytest.approx(sampled.mean(), rel=0.03)
    assert matched.std() == pytest.approx(sampled.std(), rel=0.06)
    for level in (0.5, 0.95):
        assert matched.interval(level) == pytest.approx(sampled.interval(level), abs=0.15 * matched.std())


@pytest.mark.parametrize("margins", MARGINS)
def test_target_and_feature_may_be_exchanged_and_labels_permuted(margins: dict[str, list[int]]) -> None:
    law = mutual_information(JOINT, **margins)
    swapped = {"target_only": margins.get("feature_only"), "feature_only": margins.get("target_only")}
    turned = mutual_information(np.transpose(JOINT), **swapped)
    order = [2, 0, 1]
    permuted = mutual_information(
        np.array(JOINT)[::-1, order],
        target_only=None if "target_only" not in margins else margins["target_only"][::-1],
        feature_only=None if "feature_only" not in margins else [margins["feature_only"][each] for each in order],
    )
    for other in (turned, permuted):
        assert other.p_zero == pytest.approx(law.p_zero, rel=1e-9)
        assert other.mean() == pytest.approx(law.mean(), rel=1e-6)
        assert other.std() == pytest.approx(law.std(), rel=1e-6)


def test_many_tables_at_once_are_the_tables_one_by_one() -> None:
    generator = np.random.default_rng(1)
    tables = [
        generator.integers(0, 30, (r + 1, s + 1)).astype(float) for r, s in ((2, 3), (4, 2), (2, 3), (3, 5), (2, 2))
    ]
    found = summarize(Tables.of(tables), Belief(epsilon=0.01, level=0.9))
    for index, table in enumerate(tables):
        law = mutual_information(table[:-1, :-1], target_only=table[:-1, -1], feature_only=table[-1, :-1])
        assert found.p_independent[index] == pytest.approx(law.p_zero, rel=1e-12)
        assert found.mean[index] == pytest.approx(law.mean(), rel=1e-10)
        assert found.std[index] == pytest.approx(law.std(), rel=1e-10)
        assert (found.low[index], found.high[index]) == pytest.approx(law.interval(0.9), rel=1e-8, abs=1e-12)
        assert found.p_above[index] == pytest.approx(law.sf(0.01), rel=1e-8)


@pytest.mark.parametrize(("rows", "columns", "size"), [(2, 2, 60), (2, 5, 300), (10, 10, 1000), (2, 50, 200)])
def test_noise_is_not_kept(rows: int, columns: int, size: int) -> None:
    """At most 5 % of independent features; fixed pseudo-counts keep nearly all of the larger tables."""
    generator = np.random.default_rng(rows * columns)
    chances = np.outer(generator.dirichlet(np.full(rows, 3.0)), generator.dirichlet(np.full(columns, 3.0)))
    counts = generator.multinomial(size, chances.ravel(), 200).reshape(200, rows, columns)
    blocks = Tables.of([block(each) for each in counts])
    found = summarize(blocks, Belief())
    assert np.mean(found.p_above >= 0.95) <= 0.05
    plugged_in = moments(blocks, 1e-6, matched=False).mean
    assert np.sqrt(np.mean(found.mean**2)) < 0.7 * np.sqrt(np.mean(plugged_in**2))


def test_dependence_is_found() -> None:
    law = mutual_information([[90, 10], [15, 85]])
    assert law.p_zero < 1e-4
    assert law.sf(0.1) > 0.99
    chances = posterior([[90, 10], [15, 85]], prior="uniform").rvs(4000, random_state=0)
    independent = chances.sum(axis=2, keepdims=True) * chances.sum(axis=1, keepdims=True)
    exact = (chances * np.log(chances / independent)).sum(axis=(1, 2))
    assert law.mean() == pytest.approx(exact.mean(), abs=0.2 * exact.std())


def test_more_independent_rows_make_independence_more_probable() -> None:
    shares = [mutual_information(np.full((2, 2), size)).p_zero for size in (5, 50, 500, 5000)]
    assert shares == sorted(shares)
    assert 0.5 < shares[0] < shares[-1] < 1.0


@pytest.mark.parametrize("approximation", ["matched", "leading", "leading-beta", "sampled"])
def test_tables_of_nothing_and_of_one_value(approximation: str) -> None:
    empty = mutual_information(np.zeros((2, 3)), approximation=approximation, random_state=0)
    assert math.isfinite(empty.mean())
    if not approximation.startswith("leading"):  # to the leading order all that looks independent is so for sure
        assert empty.p_zero == pytest.approx(0.5, abs=1e-6)
    one = mutual_information([[3], [4]], approximation=approximation)
    assert (one.mean(), one.p_zero) == (0.0, 1.0)


def test_posterior_has_no_adaptive_prior() -> None:
    with pytest.raises(CredimiError, match="unknown prior 'adaptive'"):
        posterior(JOINT, prior="adaptive")
