"""Very many strata, of a few rows each or with values missing more often in some classes: they do no harm."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import special, stats
from test_conditional_information import EPSILON, flattened, log_evidence, log_excess

from credimi.inference.belief import Belief
from credimi.inference.tables.stratified_tables import summarize


@pytest.mark.parametrize(("rows", "classes", "values"), [(2, 2, 2), (4, 2, 4), (10, 3, 3), (4, 10, 10), (8, 10, 10)])
def test_the_excess_is_that_of_all_tables_with_the_same_margins(rows: int, classes: int, values: int) -> None:
    """The mean of the evidence over permuted rows, for strata so thin that it matters."""
    generator = np.random.default_rng(rows)
    off = []
    for _ in range(30):
        target, feature = generator.integers(0, classes, rows), generator.integers(0, values, rows)
        block, evidence = np.zeros((classes + 1, values + 1)), []
        for _ in range(200):
            block[...] = 0.0
            np.add.at(block, (target, generator.permutation(feature)), 1)
            evidence.append(math.exp(log_evidence(block, 12.0)))
        off.append((math.log(np.mean(evidence)), log_excess(block, 12.0)))
    found, expected = np.mean(off, axis=0)
    assert found == pytest.approx(expected, rel=0.35, abs=0.003)


@pytest.mark.parametrize("strength", [4.0, 20.0, 100.0, 1000.0])
@pytest.mark.parametrize("rows", [40, 400])
@pytest.mark.parametrize("share", [0.5, 0.35, 0.2])  # of the first class in the complete rows; it has half of all rows
def test_the_excess_is_that_of_all_tables_if_one_class_is_missing_more_often(
    rows: int, share: float, strength: float
) -> None:
    """The mean over all 2 x 2 tables with the same margins, whose first cell is hypergeometric."""
    first_class, first_value = round(share * rows), rows // 2
    lacking = max(rows - first_class, first_class) - np.array([first_class, rows - first_class])
    cells = np.arange(max(0, first_class + first_value - rows), min(first_class, first_value) + 1)
    blocks = np.zeros((cells.size, 3, 3))
    blocks[:, 0, 0], blocks[:, 0, 1] = cells, first_class - cells
    blocks[:, 1, 0], blocks[:, 1, 1] = first_value - cells, rows - first_class - first_value + cells
    blocks[:, :-1, -1] = lacking
    scores = np.array([log_evidence(block, strength) for block in blocks])
    chances = stats.hypergeom.pmf(cells, rows, first_class, first_value)
    exact = special.logsumexp(scores, b=chances)
    assert log_excess(blocks[0], strength) == pytest.approx(exact, abs=0.07 if strength > 4.0 else 0.2)


@pytest.mark.parametrize(("strata", "rows"), [(20, 200), (200, 40)])
def test_noise_that_is_missing_more_often_in_one_class_is_not_credible(strata: int, rows: int) -> None:
    """Complete rows then have other shares of the classes than all rows. To first order that looked like dependence."""
    generator = np.random.default_rng(rows)
    candidates = []
    for _ in range(20):
        classes = generator.dirichlet([5.0, 5.0], strata)
        values = generator.dirichlet([5.0, 5.0], strata)
        counts = generator.multinomial(rows, (classes[:, :, None] * values[:, None, :]).reshape(strata, 4))
        blocks = np.zeros((strata, 3, 3))
        lacking = generator.binomial(counts.reshape(strata, 2, 2), np.array([[0.8], [0.05]]))
        blocks[:, :-1, :-1] = counts.reshape(strata, 2, 2) - lacking
        blocks[:, :-1, -1] = lacking.sum(axis=2)
        candidates.append(blocks)
    found = summarize(flattened(candidates), Belief(epsilon=EPSILON))
    assert np.mean(found.p_above >= 0.95) <= 0.05
    assert np.median(found.p_independent) >= 0.4


@pytest.mark.parametrize("strata", [300, 3_000])
def test_noise_in_very_many_thin_strata_is_not_credible(strata: int) -> None:
    """4,000 rows, most strata with one to five of them: what the prior leaves open is no evidence."""
    generator = np.random.default_rng(strata)
    candidates = []
    for _ in range(30):
        stratum = generator.choice(strata, 4_000, p=generator.dirichlet(np.full(strata, 0.3)))
        target = (generator.random(4_000) < generator.beta(1.0, 2.0, strata)[stratum]).astype(int)
        blocks = np.zeros((strata, 3, 5))
        np.add.at(blocks, (stratum, target, generator.integers(0, 4, 4_000)), 1)
        candidates.append(blocks)
    found = summarize(flattened(candidates), Belief(epsilon=EPSILON))
    assert np.mean(found.p_above >= 0.95) <= 0.04
    assert np.median(found.p_independent) >= 0.4


def test_noise_of_many_values_in_strata_of_four_rows_is_not_credible() -> None:
    """To first order in 1/K the excess would be too small, and a thousand strata would prove what is not there."""
    generator = np.random.default_rng(1)
    candidates = []
    for _ in range(3):
        blocks = np.zeros((1_000, 11, 11))
        places = [generator.integers(0, size, 4_000) for size in (1_000, 10, 10)]
        np.add.at(blocks, tuple(places), 1)
        candidates.append(blocks)
    found = summarize(flattened(candidates), Belief(epsilon=EPSILON))
    assert (found.p_independent > 0.4).all()
    blocks = np.zeros((1_000, 11, 11))
    copied = generator.integers(0, 10, 4_000)
    np.add.at(blocks, (generator.integers(0, 1_000, 4_000), copied, copied), 1)
    (independent,) = summarize(flattened([blocks]), Belief(epsilon=EPSILON)).p_independent
    assert independent < 1e-9
