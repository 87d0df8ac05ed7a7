"""Very many strata of a few rows each: they do no harm."""

from __future__ import annotations

import math

import numpy as np
import pytest
from test_conditional_information import EPSILON, flattened, log_evidence, log_excess

from credimi.inference.conditional.stratified_tables import summarize
from credimi.inference.options import PosteriorOptions


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
    found = summarize(flattened(candidates), PosteriorOptions(epsilon=EPSILON))
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
    found = summarize(flattened(candidates), PosteriorOptions(epsilon=EPSILON))
    assert (found.p_independent > 0.4).all()
    blocks = np.zeros((1_000, 11, 11))
    copied = generator.integers(0, 10, 4_000)
    np.add.at(blocks, (generator.integers(0, 1_000, 4_000), copied, copied), 1)
    (independent,) = summarize(flattened([blocks]), PosteriorOptions(epsilon=EPSILON)).p_independent
    assert independent < 1e-9
