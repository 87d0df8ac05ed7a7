"""`information_bounds`: posteriors of the least and the largest I."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import credimi
from credimi.core.table import Table
from credimi.core.tables import Tables
from credimi.inference.belief import Belief
from credimi.inference.bounds.information_bounds import robust, standing
from credimi.inference.bounds.least_information import centres, least
from credimi.inference.bounds.observed_draws import _independent
from credimi.inference.sampling import draw
from credimi.inference.tables.many_tables import summarize

JOINT, TARGET_ONLY, FEATURE_ONLY = [[160, 60, 30], [50, 90, 70]], [60, 45], [12, 20, 9]
MISSING = {
    "feature": {"target_only": TARGET_ONLY},
    "target": {"feature_only": FEATURE_ONLY},
    "both": {"target_only": TARGET_ONLY, "feature_only": FEATURE_ONLY},
}


@pytest.mark.parametrize("prior", ["adaptive", "jeffreys", 2.0])
@pytest.mark.parametrize("missing", MISSING.values(), ids=MISSING)
def test_factor_1_is_the_plain_posterior(prior: str | float, missing: dict[str, list[int]]) -> None:
    plain = credimi.mutual_information(JOINT, prior=prior, **missing)
    assert credimi.information_bounds(JOINT, prior=prior, robust_factor=1, **missing) == (plain, plain)


@pytest.mark.parametrize("prior", ["adaptive", "uniform"])
def test_without_missing_values_both_are_the_plain_posterior(prior: str) -> None:
    plain = credimi.mutual_information(JOINT, prior=prior)
    for factor in (1.5, math.inf):
        assert credimi.information_bounds(JOINT, prior=prior, robust_factor=factor) == (plain, plain)


@pytest.mark.parametrize("prior", ["adaptive", "jeffreys"])
@pytest.mark.parametrize("missing", MISSING.values(), ids=MISSING)
def test_a_factor_near_1_is_near_the_plain_posterior(prior: str | float, missing: dict[str, list[int]]) -> None:
    plain = credimi.mutual_information(JOINT, prior=prior, **missing)
    for law in credimi.information_bounds(JOINT, prior=prior, robust_factor=1.0001, **missing):
        assert law.mean() == pytest.approx(plain.mean(), rel=2e-3)
        assert law.std() == pytest.approx(plain.std(), rel=1e-2)
        assert law.ppf(0.05) == pytest.approx(plain.ppf(0.05), rel=2e-2)


@pytest.mark.parametrize("missing", MISSING.values(), ids=MISSING)
def test_bounds_widen_with_the_factor(missing: dict[str, list[int]]) -> None:
    laws = [
        credimi.information_bounds(JOINT, robust_factor=factor, **missing)
        for factor in (1, 1.05, 1.5, 2, 5, 50, math.inf)
    ]
    for (least_before, largest_before), (least_after, largest_after) in itertools.pairwise(laws):
        for tail in (0.025, 0.25, 0.5, 0.75):
            assert least_after.ppf(tail) <= least_before.ppf(tail) * (1.0 + 1e-2)
            assert largest_after.ppf(tail) >= largest_before.ppf(tail) * (1.0 - 1e-2)
        assert least_after.mean() < least_before.mean()
        assert largest_after.mean() > largest_before.mean()


def test_the_least_has_the_moments_of_exact_draws() -> None:
    """One side complete: independent draws of the cell probabilities, and of how often values are missing."""
    table, generator, size = Table.of(JOINT, TARGET_ONLY), np.random.default_rng(3), 4_000
    chances = draw(table, 0.5, size, generator, chains=1, burn_in=0, thin=1).probabilities
    rows = chances.sum(axis=2)
    seen_counts = np.sum(JOINT, axis=1) + 1.5
    hidden = generator.beta(np.array(TARGET_ONLY), seen_counts, (size, 2))
    seen, row_only = chances * (1.0 - hidden)[:, :, np.newaxis], rows * hidden
    nothing, centre, found = np.zeros((size, 3)), np.empty_like(seen), np.empty(size)
    centres(seen, row_only, nothing, centre)
    np.testing.assert_allclose(centre, chances, atol=1e-12)
    least(seen, row_only, nothing, centre, 2.0, np.full(size, np.nan), found)
    law, _ = credimi.information_bounds(JOINT, target_only=TARGET_ONLY, prior="jeffreys", robust_factor=2)
    assert law.mean() == pytest.approx(found.mean(), rel=0.02)
    assert law.std() == pytest.approx(found.std(), rel=0.06)
    for tail in (0.05, 0.5, 0.95):
        assert law.ppf(tail) == pytest.approx(np.quantile(found, tail), rel=0.05)


def test_atom_of_the_least_grows_with_the_factor() -> None:
    joint, missing = [[60, 40], [42, 58]], {"target_only": [50, 50]}
    plain = credimi.mutual_information(joint, **missing)
    atoms = [
        credimi.information_bounds(joint, robust_factor=factor, **missing)[0].p_zero
        for factor in (1.0, 1.5, 3.0, 100.0)
    ]
    assert atoms[0] == plain.p_zero > 0.01
    assert atoms == sorted(atoms)
    assert atoms[-1] > 0.9 > atoms[1]
    _, largest = credimi.information_bounds(joint, robust_factor=3.0, **missing)
    assert largest.p_zero == 0.0
    assert largest.mean() > plain.mean()


def test_the_known_mechanism_lies_between() -> None:
    """Half of the values "high" of class 1 are missing, and a quarter of the others: odds 3 to 1."""
    truth = np.array([[3000.0, 1000.0], [1000.0, 3000.0]]) * 10.0
    hidden = truth * np.array([[0.25, 0.25], [0.25, 0.5]])
    information = credimi.mutual_information(truth).mean()
    seen = {"joint": truth - hidden, "target_only": hidden.sum(axis=1)}
    plain = credimi.mutual_information(**seen)
    assert not plain.ppf(0.001) < information < plain.ppf(0.999)
    least, largest = credimi.information_bounds(**seen, robust_factor=3.0)
    assert least.ppf(0.05) < information < largest.ppf(0.95)
    assert credimi.information_bounds(**seen, robust_factor=3.0 / 1.2)[1].ppf(0.95) < largest.ppf(0.05)


@pytest.mark.parametrize("factor", [0.99, 0, -2.0, math.nan, "two", None, [2.0, 3.0]])
def test_bad_factors_are_refused(factor: object) -> None:
    with pytest.raises(credimi.CredimiError, match="factor is"):
        credimi.information_bounds(JOINT, target_only=TARGET_ONLY, robust_factor=factor)


def test_the_same_call_gives_the_same_answer() -> None:
    first, second = (credimi.information_bounds(JOINT, **MISSING["both"]) for _ in range(2))
    assert first == second


@pytest.mark.parametrize(
    ("joint", "margins"),
    [
        ([[0, 0], [0, 0]], {"target_only": [5, 5]}),
        ([[1, 0], [0, 1]], {"target_only": [100, 1], "feature_only": [1, 100]}),
        ([[1e12, 3], [2, 1e12]], {"target_only": [1e13, 1]}),
        ([[0.01, 0.0], [0.0, 0.02]], {"feature_only": [0.5, 0.0]}),
        ([[5, 5, 0], [0, 0, 0]], {"target_only": [1, 4], "feature_only": [0, 0, 7]}),
        ([[7], [8]], {"target_only": [1, 4]}),
    ],
)
def test_odd_tables_have_bounds(joint: list[list[float]], margins: dict[str, list[float]]) -> None:
    for factor in (1.5, math.inf):
        least, largest = credimi.information_bounds(joint, robust_factor=factor, **margins)
        assert 0.0 <= least.mean() <= largest.mean() + 1e-9 <= math.log(2) + 1e-6


def test_a_prior_that_adds_nothing_is_refused_without_complete_rows() -> None:
    with pytest.raises(credimi.CredimiError, match="haldane"):
        credimi.information_bounds([[0, 0], [0, 0]], target_only=[5, 5], prior="haldane")
    least, largest = credimi.information_bounds([[9, 0], [0, 8]], target_only=[5, 5], prior="haldane", robust_factor=3)
    assert least.mean() == pytest.approx(largest.mean())  # the classes have one value each, within any factor
    free, _ = credimi.information_bounds([[9, 0], [0, 8]], target_only=[5, 5], prior="haldane", robust_factor=math.inf)
    assert free.mean() < least.mean() - 0.1  # all completions: the missing values may be any


def test_a_band_at_whose_edge_independence_lies_begins_at_0() -> None:
    """Independent columns, missing with odds of 1 or 2: the band at 2 holds the truth, whatever the noise of draws."""
    truth = np.outer([0.5, 0.3, 0.2], [0.4, 0.3, 0.2, 0.1]) * 20_000
    odds = 0.3 * np.array([[2, 1, 1, 2], [1, 2, 2, 1], [1, 1, 2, 2]])
    hidden = truth * odds / (1.0 + odds)
    generator, blocks = np.random.default_rng(0), []
    for _ in range(20):
        seen, gone = generator.poisson(truth - hidden), generator.poisson(hidden.sum(axis=1))
        blocks.append(np.pad(np.column_stack([seen, gone]), ((0, 1), (0, 0))).astype(np.float64))
    laws = [credimi.information_bounds(each[:3, :4], target_only=each[:3, 4], robust_factor=2.0)[0] for each in blocks]
    assert 1e-4 > max(law.ppf(0.025) for law in laws) > 0.0
    options, tables = Belief(), Tables.of(blocks)
    plain = summarize(tables, options)
    assert plain.low.min() > 0.002
    ends = plain.low, plain.high
    assert robust(tables, plain.p_above, ends, 1.2, options).low.min() > 0.0
    assert robust(tables, plain.p_above, ends, 2.0, options).low.max() == 0.0


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize(
    ("joint", "target_only"),
    [([[100, 100], [1, 1]], [0, 800]), ([[40, 50], [2, 2]], [3, 300]), ([[60, 40, 30], [1, 2, 0]], [10, 400])],
)
def test_drawn_probabilities_of_independent_tables_sum_to_1(
    joint: list[list[int]], target_only: list[int], *, turned: bool
) -> None:
    """Also if nearly all of a class, or of a value, lacks the other side; the share that does is that of the counts."""
    table = Table.of(joint, target_only)
    drawn = _independent((table.transposed() if turned else table).block(), 0.5)
    sums = drawn.seen.sum(axis=(1, 2)) + drawn.row_only.sum(axis=1) + drawn.column_only.sum(axis=1)
    np.testing.assert_allclose(sums, 1.0, rtol=1e-12)
    missing = (drawn.column_only if turned else drawn.row_only).mean(axis=0)
    np.testing.assert_allclose(missing, np.array(target_only) / table.rows, rtol=0.02)


@pytest.mark.parametrize("prior", ["adaptive", "jeffreys"])
@pytest.mark.parametrize(
    ("joint", "target_only", "feature_only"),
    [
        ([[60, 40, 30], [1, 2, 0]], [10, 400], [0, 0, 0]),
        ([[30, 10, 7], [5, 40, 9]], [10, 3], [2, 9, 4]),
        ([[30, 10], [5, 40]], [10, 3], [0, 0]),
    ],
)
def test_the_order_of_rows_and_columns_does_not_matter(
    joint: list[list[int]], target_only: list[int], feature_only: list[int], prior: str
) -> None:
    """Nor which side is called the target."""
    table = Table.of(joint, target_only, feature_only)
    block = table.block()
    rows, columns = [*range(len(joint))][::-1], [*range(len(joint[0]))][::-1]
    others = [block[[*rows, -1]], block[:, [*columns, -1]], block.T]
    for law, *same in zip(
        *(
            credimi.information_bounds(Table.of_block(each), robust_factor=1.5, prior=prior)
            for each in (block, *others)
        ),
        strict=True,
    ):
        for other in same:
            assert other.mean() == pytest.approx(law.mean(), rel=1e-9)
            assert other.interval(0.95) == pytest.approx(law.interval(0.95), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("prior", ["jeffreys", "perks"])
def test_a_factor_near_1_is_near_the_posterior_of_a_thin_table(prior: str) -> None:
    """A mixture, where one Beta is .03 to .05 away."""
    table = {"joint": [[53, 1], [7, 0]], "target_only": [4, 3], "prior": prior}
    plain = credimi.mutual_information(**table)
    for law in credimi.information_bounds(**table, robust_factor=1.0001):
        assert law.sf(0.003) == pytest.approx(plain.sf(0.003), abs=0.01)
        assert law.ppf(0.9) == pytest.approx(plain.ppf(0.9), rel=0.02)


@pytest.mark.parametrize("factor", [1e9, 1e300, 1.7e308])
def test_columns_stand_at_the_largest_factors_as_at_infinity(factor: float) -> None:
    """The next power of two of the largest numbers is no double."""
    blocks = Tables.of(
        [np.array([[90.0, 20, 3], [30, 80, 2], [0, 0, 0]]), np.array([[60.0, 50, 3], [50, 60, 2], [5, 4, 0]])]
    )
    options = Belief(threads=1)
    p_above = summarize(blocks, options).p_above
    found, expected = (standing(blocks, p_above, each, options) for each in (factor, math.inf))
    assert found.tolist() == expected.tolist() == [True, False]
