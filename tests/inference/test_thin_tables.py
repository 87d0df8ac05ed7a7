"""Thin tables, and 2 x 2 tables near independence, with a fixed pseudo-count: against draws that share no code."""

from __future__ import annotations

import numpy as np
import oracle
import pytest

from credimi import mutual_information
from credimi.core.table import Table
from credimi.core.tables import Tables
from credimi.inference.belief import Belief
from credimi.inference.moments.shapes import folded_parts
from credimi.inference.tables.many_tables import beliefs, summarize

PSEUDO_COUNTS = {"uniform": 1.0, "jeffreys": 0.5, "perks": 0.25, "haldane": 0.0}
TABLES = [  # one Beta was .05 to .3 away
    ("jeffreys", [[53, 1], [7, 0]], [0, 0]),
    ("perks", [[53, 1], [7, 0]], [0, 0]),
    ("jeffreys", [[51, 4], [3, 0]], [0, 0]),
    ("uniform", [[45, 6], [4, 0]], [0, 0]),
    ("jeffreys", [[43, 8], [7, 0]], [0, 0]),
    ("perks", [[6, 160], [0, 2]], [0, 0]),
    ("haldane", [[0, 1], [1, 86]], [0, 0]),
    ("haldane", [[0, 2], [1, 154]], [0, 100]),
    ("jeffreys", [[12, 97], [0, 2]], [12, 1]),
    # near independence, with large counts
    ("jeffreys", [[36, 8], [8, 5]], [0, 0]),
    ("uniform", [[270, 230], [230, 270]], [0, 0]),
    ("jeffreys", [[300, 200], [240, 220]], [40, 90]),
]


def exact_draws(prior: str, joint: list[list[int]], target_only: list[int]) -> np.ndarray:
    cells, margin = np.array(joint) + PSEUDO_COUNTS[prior], np.array(target_only, float)
    chances = oracle.one_sided_draws(np.maximum(cells, 1e-12), margin, 40_000, np.random.default_rng(1))
    return np.sort(oracle.informations(np.maximum(chances, 1e-300)))


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize(("prior", "joint", "target_only"), TABLES)
def test_the_posterior_is_that_of_exact_draws(
    prior: str, joint: list[list[int]], target_only: list[int], *, turned: bool
) -> None:
    draws, table = exact_draws(prior, joint, target_only), Table.of(joint, target_only)
    law = mutual_information(table.transposed() if turned else table, prior=prior)
    looked_at = draws[::40]
    assert np.abs(law.cdf(looked_at) - np.arange(0, draws.size, 40) / draws.size).max() <= 0.035
    assert law.mean() == pytest.approx(draws.mean(), rel=0.04)
    assert law.std() == pytest.approx(draws.std(), rel=0.06)


@pytest.mark.parametrize("prior", ["jeffreys", "perks"])
def test_many_tables_are_as_one(prior: str) -> None:
    tables = [Table.of(joint, target_only) for _, joint, target_only in TABLES]
    options = Belief(epsilon=0.003, prior=prior, threads=2)
    blocks = Tables.of([table.block() for table in tables])
    summary, believed = summarize(blocks, options), beliefs(blocks, options)
    for index, table in enumerate(tables):
        law = mutual_information(table, prior=prior)
        assert summary.mean[index] == pytest.approx(law.mean(), rel=1e-9)
        assert summary.p_above[index] == pytest.approx(law.sf(0.003), abs=1e-9)
        assert (summary.low[index], summary.high[index]) == pytest.approx(law.interval(0.95), rel=1e-6, abs=1e-9)
        assert believed.p_above[index] == summary.p_above[index]


def test_folded_parts_keep_mean_and_variance() -> None:
    mean, deviation = np.array([0.01, 0.02, 1e-6]), np.array([0.0099, 0.01, 1.3e-6])
    means, variances = folded_parts(mean, deviation**2, np.log(2.0))
    assert means.mean(axis=1) == pytest.approx(mean, rel=1e-9)
    assert variances.mean(axis=1) + means.var(axis=1) == pytest.approx(deviation**2, rel=1e-9)
    assert (np.diff(means, axis=1) > 0.0).all()


def test_tables_with_many_counts_remain_one_beta() -> None:
    assert len(mutual_information([[400, 20], [30, 150]], prior="jeffreys").components) == 1
    assert len(mutual_information([[40, 20, 30], [30, 50, 41]], prior="jeffreys").components) == 1


def test_one_class_or_one_value_that_occurs_tells_nothing() -> None:
    margins = {"target_only": [0, 1], "feature_only": [1, 9]}
    for table in (Table.of([[0, 0], [0, 1]], **margins), Table.of([[0, 0], [0, 1]], **margins).transposed()):
        law = mutual_information(table, prior="haldane")
        assert law.mean() < 1e-12
        assert law.sf(1e-9) < 1e-9
