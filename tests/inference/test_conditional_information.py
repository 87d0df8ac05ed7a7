"""`conditional_information`: weights and moments against plain arithmetic, the law against draws, what must hold."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import oracle
import pytest
from numpy.typing import NDArray
from scipy import special

from credimi import CredimiError, Distribution, Table, conditional_information, mutual_information
from credimi.core.tables import Tables
from credimi.inference.belief import Belief
from credimi.inference.evidence import adaptive_prior
from credimi.inference.moments.moments import moments
from credimi.inference.tables.stratified_tables import StratifiedTables, components, independence, summarize

if TYPE_CHECKING:
    from collections.abc import Sequence

FloatArray = NDArray[np.float64]
EPSILON = 0.003
PRIORS = ("adaptive", "jeffreys", "perks", 1.0)


def random_strata(
    generator: np.random.Generator, shape: tuple[int, int, int], rows: float, *, feature: bool, target: bool
) -> FloatArray:
    """Blocks, one a stratum, of about so many rows each, with missing values of these sides."""
    strata, classes, values = shape
    blocks = np.zeros((strata, classes + 1, values + 1))
    for block in blocks:
        chances = generator.dirichlet(np.full(classes * values, 0.7)).reshape(classes, values)
        block[:-1, :-1] = generator.poisson(rows * chances)
        block[:-1, -1] = generator.poisson(0.3 * rows * chances.sum(axis=1)) if feature else 0.0
        block[-1, :-1] = generator.poisson(0.2 * rows * chances.sum(axis=0)) if target else 0.0
    return blocks


def law(blocks: FloatArray, prior: str | float = "adaptive") -> Distribution:
    target_only, feature_only = blocks[:, :-1, -1], blocks[:, -1, :-1]
    return conditional_information(blocks[:, :-1, :-1], target_only=target_only, feature_only=feature_only, prior=prior)


def agree(one: Distribution, other: Distribution, tolerance: float = 1e-10) -> None:
    assert other.mean() == pytest.approx(one.mean(), rel=tolerance, abs=tolerance)
    assert other.std() == pytest.approx(one.std(), rel=tolerance, abs=tolerance)
    assert other.p_zero == pytest.approx(one.p_zero, rel=tolerance, abs=tolerance)
    for x in (0.003, 0.05, 0.2):
        assert other.sf(x) == pytest.approx(one.sf(x), rel=tolerance, abs=tolerance)


# Weights: the evidence of every K, multiplied over the strata


def log_evidence(block: FloatArray, strength: float) -> float:
    """Of all rows of a stratum, relative to independence; rows without a target are spread in every way they can."""
    joint, target_only, feature_only = block[:-1, :-1], block[:-1, -1], block[-1, :-1]
    by_class, by_value = joint.sum(axis=1) + target_only, joint.sum(axis=0) + feature_only
    classes, values = by_class + 0.5, by_value + 0.5
    classes, values = classes / classes.sum(), values / values.sum()
    pseudo = strength * np.outer(classes, values)
    score = oracle.log_evidence(joint + pseudo, target_only, feature_only) - oracle.log_dirichlet_integral(pseudo)
    for counts, shares in ((by_class, classes), (by_value, values)):
        after = oracle.log_dirichlet_integral(strength * shares + counts)
        score -= after - oracle.log_dirichlet_integral(strength * shares)
    return score


def log_excess(block: FloatArray, strength: float) -> float:
    """What the evidence is above 1 on average under independence, given the margins: pairs of rows in the same cell.

    To first order; by the product that is exact if one side has no value twice, in strata of fewer rows than cells, and
    where the complete rows of a class are few or many beside those that lack the feature.
    """
    joint = block[:-1, :-1]
    by_class, by_value = joint.sum(axis=1), joint.sum(axis=0)
    classes, values = by_class + block[:-1, -1] + 0.5, by_value + block[-1, :-1] + 0.5
    classes, values = classes / classes.sum(), values / values.sum()
    pairs = joint.sum() * (joint.sum() - 1.0)
    if pairs <= 0.0:
        return 0.0
    change = [
        pairs - (counts * (counts - 1.0) / shares).sum() for counts, shares in ((by_class, classes), (by_value, values))
    ]
    if block[:-1, -1].any() and block[-1, :-1].any():  # the evidence is that of all rows
        limits = [joint.sum() * (side - 1) for side in joint.shape]
        change = [min(abs(each), limit) for each, limit in zip(change, limits, strict=True)]
    if change[0] * change[1] >= 0.0 and joint.sum() >= joint.size:
        return math.log1p(change[0] * change[1] / (2.0 * strength * pairs))

    def rise(parameters: FloatArray | float, counts: FloatArray | float) -> float:
        a, n = np.asarray(parameters), np.asarray(counts)
        return float((special.gammaln(a + n) - special.gammaln(a) - n * np.log(a)).sum())

    whole = rise(strength, joint.sum())
    parts = [whole - rise(strength * shares, counts) for shares, counts in ((classes, by_class), (values, by_value))]
    return max(parts[0] * parts[1] / whole, -math.log(2.0))


def plain_weights(blocks: FloatArray) -> FloatArray:
    """Of independence, and of every K of the one grid."""
    strata, classes, values = blocks.shape[0], blocks.shape[1] - 1, blocks.shape[2] - 1
    points = 18 if strata * (classes - 1) * (values - 1) >= 16 else 12
    most = 50.0 * min(classes, values) * max(blocks[:, :-1, :-1].sum(), classes * values)
    scores = [math.log(0.5)]
    for strength in np.geomspace(4.0, most, points):
        of_all = sum(log_evidence(block, strength) - log_excess(block, strength) for block in blocks)
        scores.append(of_all + math.log(0.5 / points))
    found = np.exp(np.array(scores) - max(scores))
    found /= found.sum()
    found[1:][found[1:] < adaptive_prior.NEGLIGIBLE] = 0.0
    return found / found.sum()


def found_weights(blocks: FloatArray) -> tuple[float, list[float]]:
    """Of independence, and of every K that stays, in order: all strata have the same."""
    mixed = adaptive_prior.mixtures(Tables.of(list(blocks)), (np.array([0]), np.array([len(blocks)])))
    weight = mixed.weight.reshape(len(blocks), -1)
    assert np.array_equal(weight, np.broadcast_to(weight[0], weight.shape))
    return float(mixed.p_zero[0]), weight[0].tolist()


@pytest.mark.parametrize("seed", range(12))
def test_weights_are_the_evidence_of_all_strata(seed: int) -> None:
    generator = np.random.default_rng(seed)
    shape = [(2, 2, 2), (3, 2, 4), (5, 3, 3), (20, 2, 2)][seed % 4]
    blocks = random_strata(generator, shape, [2.0, 20.0, 300.0][seed % 3], feature=seed % 2 == 0, target=False)
    expected, (p_zero, found) = plain_weights(blocks), found_weights(blocks)
    assert p_zero == pytest.approx(expected[0], rel=1e-7, abs=1e-9)
    assert found == pytest.approx(expected[1:][expected[1:] > 0.0].tolist(), rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_weights_are_near_the_exact_evidence_where_both_sides_miss(seed: int) -> None:
    """Laplace's formula is near, not exact, in each stratum."""
    generator = np.random.default_rng(seed)
    blocks = random_strata(generator, (3, 2, 2), 40.0, feature=True, target=True)
    blocks[1, -1, :] = 0.0  # a stratum with a complete side beside those that have none
    expected, (p_zero, found) = plain_weights(blocks), found_weights(blocks)
    assert p_zero == pytest.approx(expected[0], abs=0.01)
    assert sum(found) == pytest.approx(1.0 - p_zero)
    assert max(found) == pytest.approx(expected[1:].max(), abs=0.02)


# Moments: sums over the strata


def test_moments_of_fixed_pseudo_counts_are_those_of_the_sum() -> None:
    """E and Var of sum p_z I_z, term by term, from E[p_z p_y] of a Dirichlet and the moments of each table."""
    blocks = random_strata(np.random.default_rng(0), (4, 3, 2), 60.0, feature=True, target=False)
    own = moments(Tables.of(list(blocks)), 0.5)
    rows = blocks.sum(axis=(1, 2))
    total = rows.sum()
    together = (np.outer(rows, rows) + np.diag(rows)) / (total * (total + 1.0))
    mean = float(rows @ own.mean / total)
    square = float(own.mean @ together @ own.mean + np.diag(together) @ own.variance)
    found = law(blocks, "jeffreys")
    assert found.mean() == pytest.approx(mean, rel=1e-12)
    assert found.var() == pytest.approx(square - mean**2, rel=1e-9)


def test_a_thin_class_of_a_stratum_with_most_rows_keeps_its_parts() -> None:
    """Its table is a mixture, and so is the sum: the moments are those of the sum, the law is that of draws."""
    generator = np.random.default_rng(3)
    blocks = np.zeros((2, 3, 3))
    blocks[0, :-1, :-1], blocks[1, :-1, :-1] = [[60, 20], [1, 2]], [[30, 30], [20, 25]]
    blocks[0, :-1, -1] = [5, 70]
    own = moments(Tables.of(list(blocks)), 0.5)
    assert own.split.tolist() == [0]
    found = law(blocks, "jeffreys")
    assert len(found.components) == own.mean_given.shape[1]
    rows = blocks.sum(axis=(1, 2))
    assert found.mean() == pytest.approx(float(rows @ own.mean / rows.sum()), rel=1e-12)
    draws = exact_draws(blocks, np.full((2, 2, 2), 0.5), 20_000, generator)
    assert found.std() == pytest.approx(draws.std(), rel=0.03)
    assert distance(found, draws) <= 0.02
    blocks[1, :-1, :-1] *= 2.0  # now the other has most rows
    assert len(law(blocks, "jeffreys").components) == 1


@pytest.mark.parametrize("strata", [2, 4])
@pytest.mark.parametrize(
    ("joint", "target_only"),
    [
        ([[100, 100], [1, 1]], [0, 800]),
        ([[100, 100], [5, 0]], [0, 800]),
        ([[100, 20, 10, 10, 5], [10, 0, 0, 0, 0]], [0, 800]),
        ([[50, 50, 50], [2, 1, 0]], [0, 500]),
    ],
)
def test_thin_classes_in_strata_of_equal_size(joint: list[list[int]], target_only: list[int], strata: int) -> None:
    """No stratum has more than half of the rows; mean and deviation of the sum are those of exact draws."""
    rows, columns = np.shape(joint)
    block = np.zeros((rows + 1, columns + 1))
    block[:-1, :-1], block[:-1, -1] = joint, target_only
    blocks = np.stack([block] * strata)
    pseudo = np.full((strata, rows, columns), 0.5)
    draws = exact_draws(blocks, pseudo, 40_000, np.random.default_rng(4))
    found = law(blocks, "jeffreys")
    assert found.mean() == pytest.approx(draws.mean(), rel=0.02)
    assert found.std() == pytest.approx(draws.std(), rel=0.03)
    low, high = found.interval(0.95)
    assert 0.93 <= np.mean((draws >= low) & (draws <= high)) <= 0.97


def occurring(block: FloatArray) -> FloatArray:
    """The block without classes and values that the stratum does not have."""
    rows, columns = block.sum(axis=1) > 0.0, block.sum(axis=0) > 0.0
    rows[-1] = columns[-1] = True
    return block[rows][:, columns]


def exact_draws(
    blocks: Sequence[FloatArray], pseudo: Sequence[FloatArray], size: int, generator: np.random.Generator
) -> FloatArray:
    """Draws of sum p_z I_z: independent where one side is complete, the ends of Gibbs chains where none is."""
    rows = np.array([block.sum() for block in blocks])
    shares = oracle.dirichlet_draws(rows, size, generator)
    total = np.zeros(size)
    for stratum, block in enumerate(blocks):
        cells, row_only, column_only = block[:-1, :-1] + pseudo[stratum], block[:-1, -1], block[-1, :-1]
        if row_only.any() and column_only.any():
            margins = {"chains": 500, "steps": 1 + size // 500, "burn_in": 100, "generator": generator}
            chances = oracle.gibbs_draws(cells, row_only, column_only, **margins)
            drawn = oracle.informations(np.maximum(chances.reshape(-1, *cells.shape), 1e-300))
            drawn = generator.permutation(drawn)[:size]
        elif column_only.any():
            drawn = oracle.informations(oracle.one_sided_draws(cells.T, column_only, size, generator))
        else:
            drawn = oracle.informations(oracle.one_sided_draws(cells, row_only, size, generator))
        total += shares[:, stratum] * drawn
    return total


def distance(found: Distribution, draws: FloatArray) -> float:
    """Kolmogorov's, given dependence."""
    draws = np.sort(draws)
    below = (found.cdf(draws) - found.p_zero) / (1.0 - found.p_zero)
    steps = np.arange(draws.size + 1) / draws.size
    return float(max((below - steps[:-1]).max(), (steps[1:] - below).max()))


KINDS = [
    ((2, 2, 2), 50.0, False, False),
    ((6, 4, 8), 20.0, False, False),
    ((6, 4, 8), 1_500.0, True, False),
    ((3, 3, 3), 100.0, False, True),
    ((4, 2, 5), 1_000.0, True, False),
    ((2, 2, 3), 60.0, True, True),
    ((3, 3, 4), 1_000.0, True, True),
]


@pytest.mark.long
@pytest.mark.parametrize(("shape", "rows", "feature", "target"), KINDS)
def test_the_law_is_that_of_exact_draws(
    shape: tuple[int, int, int], rows: float, *, feature: bool, target: bool
) -> None:
    generator = np.random.default_rng(7)
    blocks = random_strata(generator, shape, rows, feature=feature, target=target)
    fixed = law(blocks, "jeffreys")
    assert distance(fixed, exact_draws(blocks, np.full(blocks[:, 1:, 1:].shape, 0.5), 10_000, generator)) <= 0.03
    found = law(blocks)
    seen = [occurring(block) for block in blocks]
    mixed = adaptive_prior.mixtures(Tables.of(seen), (np.array([0]), np.array([len(seen)])))
    weight = mixed.weight.reshape(len(seen), -1)[0]
    pseudo = [
        [mixed.blocks.block(stratum * weight.size + component) - block for stratum, block in enumerate(seen)]
        for component in range(weight.size)
    ]
    assert found.p_zero == mixed.p_zero[0]
    drawn = [
        exact_draws(seen, [each[:-1, :-1] for each in pseudo[component]], size, generator)
        for component, size in enumerate(generator.multinomial(10_000, weight / weight.sum()).tolist())
        if size
    ]
    assert distance(found, np.concatenate(drawn)) <= 0.03


# What must hold for any strata


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("seed", range(8))
def test_one_stratum_is_its_table_and_empty_ones_change_nothing(seed: int, prior: str | float) -> None:
    generator = np.random.default_rng(seed)
    shape = (1, int(generator.integers(2, 6)), int(generator.integers(2, 6))) if seed else (1, 10, 12)
    blocks = random_strata(generator, shape, [3.0, 40.0, 900.0][seed % 3], feature=seed % 2 > 0, target=seed % 4 > 1)
    target_only, feature_only = blocks[0, :-1, -1], blocks[0, -1, :-1]
    alone = mutual_information(blocks[0, :-1, :-1], target_only=target_only, feature_only=feature_only, prior=prior)
    agree(alone, law(blocks, prior))
    empty = np.zeros_like(blocks)
    agree(alone, law(np.concatenate([empty, blocks, empty]), prior))
    several = random_strata(generator, (3, *shape[1:]), 30.0, feature=True, target=False)
    agree(law(several, prior), law(np.concatenate([several[:1], empty, several[1:]]), prior))


@pytest.mark.parametrize("prior", ["adaptive", "jeffreys"])
def test_no_order_matters(prior: str | float) -> None:
    generator = np.random.default_rng(5)
    blocks = random_strata(generator, (4, 3, 4), 50.0, feature=True, target=True)
    found = law(blocks, prior)
    agree(found, law(blocks[[2, 0, 3, 1]], prior), 1e-8)
    agree(found, law(blocks[:, [2, 0, 1, 3]][:, :, [3, 1, 0, 2, 4]], prior), 1e-8)
    agree(found, law(np.ascontiguousarray(blocks.swapaxes(1, 2)), prior), 1e-8)


def test_thin_strata_do_no_harm() -> None:
    """Four full strata, then sixty of two rows each: the answer stays, where that of a fixed prior does not."""
    generator = np.random.default_rng(2)
    full = np.zeros((4, 3, 5))
    full[:, :-1, :-1] = generator.poisson(100.0 * np.outer([0.5, 0.5], [0.1, 0.2, 0.3, 0.4]), (4, 2, 4))
    thin = np.zeros((60, 3, 5))
    for block in thin:
        block[generator.integers(2, size=2), generator.integers(4, size=2)] += 1.0
    together = np.concatenate([full, thin])
    assert law(full).sf(EPSILON) < 0.2
    assert law(together).sf(EPSILON) < 0.2
    assert law(together).mean() < 0.003
    assert law(together, "jeffreys").mean() > 0.03
    dependent = full.copy()
    dependent[:, 0, 0] += 30.0
    before, after = law(dependent), law(np.concatenate([dependent, thin]))
    assert after.sf(EPSILON) > 0.99
    assert after.mean() == pytest.approx(before.mean(), rel=0.35)


def test_what_the_stratum_says_already_is_not_counted_and_what_it_reveals_is() -> None:
    both_say = np.array([[[81, 9], [9, 1]], [[1, 9], [9, 81]]])
    assert mutual_information(both_say.sum(axis=0)).mean() > 0.2
    assert conditional_information(both_say).mean() < 0.001
    assert conditional_information(both_say).sf(EPSILON) < 0.05
    exclusive_or = np.array([[[50, 2], [3, 47]], [[1, 48], [52, 2]]])
    assert mutual_information(exclusive_or.sum(axis=0)).mean() < 0.001
    assert conditional_information(exclusive_or).interval()[0] > 0.3


@pytest.mark.parametrize("size", [200, 2_000])
def test_conditionally_independent_data_are_found_to_be_so(size: int) -> None:
    """Of 200 data sets of six strata each: intervals hold 0, noise is not credible."""
    generator = np.random.default_rng(size)
    blocks = np.zeros((200, 6, 4, 5))
    for block in blocks:
        inside = [np.outer(generator.dirichlet(np.ones(3)), generator.dirichlet(np.ones(4))) for _ in range(6)]
        chances = generator.dirichlet(np.full(6, 2.0))[:, None, None] * np.array(inside)
        block[:, :-1, :-1] = generator.multinomial(size, chances.ravel()).reshape(6, 3, 4)
        lost = generator.binomial(block[:, :-1, :-1].astype(int), 0.3)
        block[:, :-1, :-1] -= lost
        block[:, :-1, -1] = lost.sum(axis=2)
    found = summarize(flattened(list(blocks)), Belief(epsilon=EPSILON))
    assert np.mean(found.low == 0.0) >= 0.95
    assert np.mean(found.p_above >= 0.95) <= 0.01


# Many candidates at once


def flattened(candidates: list[FloatArray], odds: list[float] | None = None) -> StratifiedTables:
    tables = Tables.of([block for blocks in candidates for block in blocks])
    tables = Tables(tables.flat, tables.rows, tables.columns, None if odds is None else np.array(odds))
    return StratifiedTables.of(tables, np.cumsum([0, *(len(blocks) for blocks in candidates)]))


@pytest.mark.parametrize("prior", ["adaptive", "jeffreys"])
def test_many_candidates_are_those_one_by_one(prior: str) -> None:
    generator = np.random.default_rng(9)
    shapes = [(3, 2, 2), (1, 2, 3), (5, 3, 4), (2, 2, 2), (4, 3, 2)]
    candidates = [
        random_strata(generator, shape, 60.0, feature=number % 2 == 0, target=number % 3 == 0)
        for number, shape in enumerate(shapes)
    ]
    candidates[3][0] = 0.0
    candidates[1][...] = 0.0
    candidates[1][0, :-1, :-1] = [[0, 1, 0], [1, 0, 1]]
    options = Belief(prior=prior, epsilon=0.01, threads=1)
    found = summarize(flattened(candidates), options)
    for number, blocks in enumerate(candidates):
        own = law(blocks, prior)
        assert found.mean[number] == pytest.approx(own.mean(), rel=1e-10)
        assert found.std[number] == pytest.approx(own.std(), rel=1e-8)
        assert found.p_independent[number] == pytest.approx(own.p_zero, rel=1e-10)
        assert found.p_above[number] == pytest.approx(own.sf(0.01), rel=1e-8)
        assert (found.low[number], found.high[number]) == pytest.approx(own.interval(), rel=1e-7, abs=1e-12)


def test_odds_are_those_of_the_candidate() -> None:
    generator = np.random.default_rng(1)
    blocks = random_strata(generator, (3, 2, 3), 8.0, feature=True, target=False)
    even, other = components(flattened([blocks, blocks], [1.0, 0.2]), Belief()).p_zero
    assert 0.01 < even < 0.99
    assert other / (1.0 - other) == pytest.approx(5.0 * even / (1.0 - even), rel=1e-9)


# Edges and refusals


def test_nothing_counted_leaves_the_prior() -> None:
    agree(mutual_information([[0, 0], [0, 0]]), conditional_information(np.zeros((3, 2, 2))))
    with pytest.raises(CredimiError, match="all counts are 0 and prior 'haldane' adds none"):
        conditional_information(np.zeros((3, 2, 2)), prior="haldane")
    partly = conditional_information([[[9, 2], [3, 8]], [[0, 0], [0, 0]]], prior="haldane")
    agree(mutual_information([[9, 2], [3, 8]], prior="haldane"), partly)


def test_one_value_tells_nothing() -> None:
    assert conditional_information(np.ones((3, 4, 1))).support() == (0.0, 0.0)
    assert conditional_information(np.ones((3, 1, 4)), prior="jeffreys").mean() == 0.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"joint": [[1, 2], [3, 4]]}, r"joint must be a list of tables .* got shape \(2, 2\)"),
        ({"joint": [[[1, 2], [3, -4]]]}, r"joint\[0\]\[1\]\[1\] is -4: counts are numbers from 0 up"),
        (
            {"joint": [[[1, 2], [3, 4]]], "target_only": [1, 2]},
            r"target_only needs one count for each stratum and target",
        ),
        ({"joint": [[[1, 2], [3, 4]]], "feature_only": [[1, 2, 3]]}, r"shape \(1, 2\), got \(1, 3\)"),
        ({"joint": [[[1, 2], [3, 4]]], "prior": "jefreys"}, "did you mean 'jeffreys'"),
        ({"joint": [[[1, 2], [3, 4]], [[1, 2]]]}, "is not a table of numbers"),
    ],
)
def test_what_cannot_be_used_is_refused(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(CredimiError, match=message):
        conditional_information(**arguments)


def test_the_probability_of_independence_alone_is_that_of_the_mixture() -> None:
    generator = np.random.default_rng(4)
    candidates = [
        random_strata(generator, (3, 2, 3), 20.0, feature=number % 2 == 0, target=number % 4 > 1) for number in range(8)
    ]
    strata = flattened(candidates, [1.0, 0.5] * 4)
    assert independence(strata) == pytest.approx(components(strata, Belief()).p_zero, rel=1e-12)


@pytest.mark.parametrize(("values", "rows"), [(5, 1_000), (10, 100), (50, 1_000), (200, 2_000)])
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_a_copy_of_the_strata_tells_nothing(values: int, rows: int, missing: float) -> None:
    """In each stratum the feature has one value: the target cannot depend on it, however few rows there are."""
    generator = np.random.default_rng(values)
    stratum, target = generator.integers(0, values, rows), generator.integers(0, 3, rows)
    blocks = np.zeros((values, 4, values + 1))
    feature = np.where(generator.random(rows) < missing, values, stratum)
    np.add.at(blocks, (stratum, np.where(generator.random(rows) < missing, 3, target), feature), 1)
    found = conditional_information(
        blocks[:, :-1, :-1], target_only=blocks[:, :-1, -1], feature_only=blocks[:, -1, :-1]
    )
    assert found.p_zero == 1.0
    assert found.mean() == 0.0


def test_values_that_a_stratum_does_not_have_change_nothing() -> None:
    """The same strata, each with its own values only or with empty columns for those of the others."""
    generator = np.random.default_rng(8)
    small = generator.integers(1, 20, (2, 3, 3)).astype(float)
    apart = np.zeros((2, 3, 6))
    apart[0, :, :3], apart[1, :, 3:] = small
    one, other = conditional_information(small), conditional_information(apart)
    assert other.p_zero == pytest.approx(one.p_zero, rel=1e-9)
    assert other.mean() == pytest.approx(one.mean(), rel=1e-9)


def test_tables_are_strata_with_their_margins() -> None:
    joints = [[[81, 9], [9, 1]], [[1, 9], [9, 81]]]
    only, other = [[3, 4], [5, 6]], [[1, 2], [3, 0]]
    tables = [Table(*parts) for parts in zip(joints, only, other, strict=True)]
    assert conditional_information(tables) == conditional_information(joints, only, other)
    with pytest.raises(CredimiError, match="margins: do not pass"):
        conditional_information(tables, only)
    with pytest.raises(CredimiError, match="stratum 2 has another shape or other labels"):
        conditional_information([tables[0], Table([[1, 2, 3], [4, 5, 6]])])
    named = [Table([["", *"ab"], ["x", 1, 2], ["y", 3, 4]]), Table([["", *"ba"], ["x", 1, 2], ["y", 3, 4]])]
    with pytest.raises(CredimiError, match="stratum 2 has another shape or other labels"):
        conditional_information(named)
