"""Classes with few complete rows, most of which lack the feature: against exact draws."""

from __future__ import annotations

import numpy as np
import oracle
import pytest

from credimi import mutual_information
from credimi.core.table import Table
from credimi.core.tables import Tables
from credimi.inference.belief import Belief
from credimi.inference.tables.many_tables import summarize

THIN = [
    ([[100, 100], [1, 1]], [0, 800]),
    ([[100, 100], [5, 0]], [0, 800]),
    ([[100, 20, 10, 10, 5], [10, 0, 0, 0, 0]], [0, 800]),
    ([[50, 50, 50], [2, 1, 0]], [0, 500]),
    # the variance of the closed form all but cancels, whatever the size of the class
    ([[91, 1], [62, 1]], [835, 10]),
    ([[93, 0, 1], [82, 0, 0]], [822, 2]),
    ([[18, 427], [0, 30]], [61, 464]),
    ([[11, 0, 66], [35, 0, 148]], [7, 733]),
    ([[37, 5, 2, 80, 3, 5, 77, 1, 1, 65], [10, 0, 0, 22, 1, 0, 22, 1, 1, 22]], [22, 623]),
    ([[4, 5, 479], [0, 0, 36], [0, 0, 29]], [190, 253, 4]),
]


def exact_draws(joint: list[list[int]], target_only: list[int]) -> np.ndarray:
    cells, margin = np.array(joint) + 0.5, np.array(target_only, float)
    chances = oracle.one_sided_draws(cells, margin, 40_000, np.random.default_rng(1))
    return np.sort(oracle.informations(np.maximum(chances, 1e-300)))


def check(joint: list[list[int]], target_only: list[int], *, turned: bool) -> None:
    draws = exact_draws(joint, target_only)
    table = Table.of(joint, target_only)
    law = mutual_information(table.transposed() if turned else table, prior="jeffreys")
    assert law.mean() == pytest.approx(draws.mean(), rel=0.05)
    assert law.std() == pytest.approx(draws.std(), rel=0.05)
    looked_at = draws[::40]
    # Given q_i. the rest may still be close to independence, where a Beta stays up to .06 away (docs/accuracy.md).
    bound = 0.03 if (joint, target_only) in THIN[:4] else 0.05
    assert np.abs(law.cdf(looked_at) - np.arange(0, draws.size, 40) / draws.size).max() <= bound
    low, high = law.interval(0.95)
    assert 0.93 <= np.mean((draws >= low) & (draws <= high)) <= 0.97


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize(("joint", "target_only"), THIN)
def test_thin_classes_are_those_of_exact_draws(joint: list[list[int]], target_only: list[int], *, turned: bool) -> None:
    check(joint, target_only, turned=turned)


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("lacks_target", [1, 3])
@pytest.mark.parametrize(("joint", "target_only"), THIN[:4])
def test_thin_classes_where_a_few_rows_lack_the_target(
    joint: list[list[int]], target_only: list[int], lacks_target: int, *, turned: bool
) -> None:
    """The posterior hardly changes if one row of a thousand lacks the target: draws weighted by what such rows say."""
    generator = np.random.default_rng(2)
    cells, margin = np.array(joint) + 0.5, np.array(target_only, float)
    chances = np.maximum(oracle.one_sided_draws(cells, margin, 200_000, generator), 1e-300)
    weight = chances[:, :, 0].sum(axis=1) ** lacks_target
    draws = np.sort(generator.choice(oracle.informations(chances), 40_000, p=weight / weight.sum()))
    table = Table.of(joint, target_only, [lacks_target, *[0] * (len(joint[0]) - 1)])
    law = mutual_information(table.transposed() if turned else table, prior="jeffreys")
    assert law.mean() == pytest.approx(draws.mean(), rel=0.05)
    assert law.std() == pytest.approx(draws.std(), rel=0.05)
    assert np.abs(law.cdf(draws[::40]) - np.arange(0, draws.size, 40) / draws.size).max() <= 0.03
    low, high = law.interval(0.95)
    assert 0.93 <= np.mean((draws >= low) & (draws <= high)) <= 0.97


@pytest.mark.parametrize("threads", [1, 2])
def test_many_tables_at_once_are_the_tables_one_by_one(threads: int) -> None:
    """Thin ones among ordinary ones, turned ones among others."""
    tables = [Table.of([[30, 5, 4], [6, 20, 9]], [3, 4])]
    for joint, target_only in THIN:
        one = Table.of(joint, target_only)
        tables += [one, one.transposed(), Table.of([[12, 3], [4, 9]])]
    found = summarize(
        Tables.of([one.block() for one in tables]),
        Belief(prior="jeffreys", epsilon=0.01, level=0.9, threads=threads),
    )
    for index, one in enumerate(tables):
        law = mutual_information(one, prior="jeffreys")
        assert found.mean[index] == pytest.approx(law.mean(), rel=1e-9)
        assert found.std[index] == pytest.approx(law.std(), rel=1e-9)
        assert (found.low[index], found.high[index]) == pytest.approx(law.interval(0.9), rel=1e-6, abs=1e-9)
        assert found.p_above[index] == pytest.approx(law.sf(0.01), rel=1e-6)


@pytest.mark.parametrize("prior", [1e-9, 0.001, 0.5])
def test_order_does_not_matter_where_columns_have_the_same_numbers(prior: float) -> None:
    joint = np.array([[0, 1], [0, 0], [0, 3], [0, 1], [1, 1], [3, 1], [1, 0], [1, 0], [1, 0]])
    target_only = np.array([1, 0, 0, 0, 0, 0, 3, 1, 0])
    expected = mutual_information(joint, target_only=target_only, prior=prior)
    generator = np.random.default_rng(9)
    for _ in range(8):
        rows, columns = generator.permutation(9), generator.permutation(2)
        found = mutual_information(joint[rows][:, columns], target_only=target_only[rows], prior=prior)
        assert found.mean() == pytest.approx(expected.mean(), rel=1e-9)
        assert found.std() == pytest.approx(expected.std(), rel=1e-9)


def test_order_does_not_matter_where_many_columns_have_the_same_numbers() -> None:
    """Too many orders of the columns to try: those of the rows are tried."""
    generator = np.random.default_rng(2)
    first = [3, 3, 0, 0, 0, 0, 3, 0, 0, 1, 1, 3, 0, 0, 0, 0, 3, 3, 1, 0, 0, 0]
    second = [0, 0, 0, 0, 0, 1, 3, 1, 1, 0, 0, 0, 0, 0, 3, 1, 0, 0, 0, 0, 0, 3]
    joint, target_only = np.array([first, second]), np.array([0, 1])
    feature_only = np.array([1, 0, 0, 3, 3, 0, 0, 0, 3, 1, 3, 3, 0, 0, 3, 1, 0, 0, 0, 0, 0, 1])
    expected = mutual_information(joint, target_only=target_only, feature_only=feature_only, prior="perks")
    for _ in range(4):
        rows, columns = generator.permutation(2), generator.permutation(22)
        found = mutual_information(
            joint[rows][:, columns],
            target_only=target_only[rows],
            feature_only=feature_only[columns],
            prior="perks",
        )
        assert found.mean() == pytest.approx(expected.mean(), rel=1e-9)
        assert found.std() == pytest.approx(expected.std(), rel=1e-9)
