"""The recursion over all cuts: against every segmentation, one after the other, and against every order of the rows."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pytest
from mpmath import mp, mpf

from credimi.columns.numbers.number_cells import Cells
from credimi.columns.numbers.propose_borders import proposed_borders
from credimi.inference.numbers import all_cuts
from credimi.inference.numbers.all_cuts import strengths_for, weighed
from tests.cuts_oracle import dirichlet_multinomial, enumerated, prior


def cells_of(table: np.ndarray) -> Cells:
    """The cells of counts (strata, cells, classes), all borders summed over."""
    below = np.concatenate([np.zeros_like(table[:, :1], dtype=float), table.cumsum(axis=1)], axis=1)
    return Cells(below, np.arange(table.shape[1] + 1) / table.shape[1], table.shape[1])


def tables() -> list[np.ndarray]:
    generator = np.random.default_rng(5)
    two = generator.poisson([3.0, 1.0], (1, 6, 2))
    sharp = np.array([[[40, 0], [30, 1], [0, 25], [1, 60], [3, 3]]])
    thin = np.array([[[1, 0, 0], [0, 0, 0], [0, 1, 0], [0, 0, 2], [1, 0, 0], [0, 1, 1]]])
    strata = generator.poisson([[[4.0, 2.0]], [[1.0, 9.0]], [[0.5, 0.3]]], (3, 5, 2))
    atom = np.array([[[500, 450], [3, 1], [2, 2], [0, 4]]])
    weighted = generator.gamma(1.5, 1.0, (1, 5, 4))
    large = generator.poisson([3e5, 1e5], (1, 4, 2))
    return [two, sharp, thin, strata, atom, weighted, large]


@pytest.mark.parametrize("table", tables(), ids=["two", "sharp", "thin", "strata", "atom", "weights", "large"])
def test_recursion_equals_the_sum_over_all_segmentations(table: np.ndarray) -> None:
    cells = cells_of(table)
    strengths = strengths_for(table.sum())
    figures = weighed(cells, strengths)
    for at in (0, 3, 7):
        evidence, mean, second, square = enumerated(cells, strengths[at])
        rounding = 1e-13 * table.sum()  # scores of the ranges are sums over the rows
        assert figures.log_evidence[at] == pytest.approx(float(evidence), abs=1e-10 + rounding)
        assert figures.mean[at] == pytest.approx(float(mean), rel=1e-10 + rounding)
        assert figures.second[at] == pytest.approx(float(second), rel=1e-10 + rounding)
        assert figures.square[at] == pytest.approx(float(square), rel=1e-10 + rounding)


def test_some_borders_of_many_cells_are_a_lower_bound() -> None:
    table = np.random.default_rng(2).poisson([5.0, 3.0], (1, 8, 2))
    every = cells_of(table)
    places = [0, 2, 5, 8]
    some = Cells(np.ascontiguousarray(every.below[:, places]), every.width[places], every.count)
    strengths = strengths_for(table.sum())
    evidence = weighed(some, strengths).log_evidence
    assert (evidence < weighed(every, strengths).log_evidence).all()
    assert evidence[2] == pytest.approx(float(enumerated(some, strengths[2])[0]), abs=1e-10)


def test_prior_of_segmentations_adds_up_to_one() -> None:
    assert float(sum(mp.binomial(9, borders) * prior(borders, 10) for borders in range(1, 10))) == pytest.approx(1.0)


@pytest.mark.parametrize(("rows", "ones", "cells"), [(8, 3, 5), (12, 2, 8), (16, 6, 8)])
def test_evidence_of_independence_is_little_more_than_one_on_average(rows: int, ones: int, cells: int) -> None:
    """Every way to deal the first class to rows: shares that are learned from the same rows cost up to a quarter."""
    labels, strengths, totals = np.arange(rows) * cells // rows, strengths_for(rows), []
    for chosen in combinations(range(rows), ones):
        table = np.zeros((1, cells, 2))
        np.add.at(table[0], (labels, np.isin(np.arange(rows), chosen).astype(int)), 1)
        totals.append(weighed(cells_of(table), strengths, moments=False).log_evidence)
    by_strength = np.exp(totals).mean(axis=0)
    assert 1.0 < by_strength.mean() < 1.3
    assert (np.diff(by_strength) < 0.0).all()  # loose strengths learn most from the shares
    assert by_strength[-1] < 1.1
    p_independent = 1.0 / (1.0 + np.exp(totals).mean(axis=1))
    assert (p_independent < 0.05).mean() < 0.01


def test_borders_are_the_most_probable_segmentation() -> None:
    table = np.array([[[9, 1], [8, 2], [1, 9], [2, 8], [5, 5], [5, 6]]])
    cells = cells_of(table)
    figures = weighed(cells, strengths_for(table.sum()))
    found = all_cuts.most_probable_borders([figures])
    assert found.borders.tolist() == [2, 4]
    assert found.probability[0] > 0.95
    assert 0.3 < found.probability[1] < found.probability[0]


def test_probability_of_a_border_is_that_of_the_segmentations_with_one_nearby() -> None:
    table = np.random.default_rng(8).poisson([[6.0, 3.0], [6.0, 3.0], [3.0, 6.0], [3.0, 6.0], [6.0, 3.0]], (1, 5, 2))
    cells = cells_of(table)
    figures = weighed(cells, strengths_for(table.sum()))
    found = all_cuts.most_probable_borders([figures])
    edges = [0, *found.borders.tolist(), 5]
    evidence = np.exp(figures.log_evidence - figures.log_evidence.max())
    for at, (low, border, high) in enumerate(zip(edges, edges[1:], edges[2:], strict=False)):
        left, right = (low + border) // 2, (border + high + 1) // 2
        near = set(range(left + 1, right))
        shares = []
        for strength in figures.strengths:
            weights = dict(segmentation_weights(cells, strength))
            shares.append(sum(w for s, w in weights.items() if near & set(s)) / sum(weights.values()))
        expected = float(np.average(np.array(shares, dtype=float), weights=evidence))
        assert found.probability[at] == pytest.approx(expected, rel=1e-9)


def segmentation_weights(cells: Cells, strength: float) -> list[tuple[tuple[int, ...], mpf]]:
    """Every set of borders with its weight at one strength."""
    size = cells.width.size
    found = []
    for m in range(1, size - 1):
        for borders in combinations(range(1, size - 1), m):
            total = mpf(0)
            for g, h in pairwise([0, *borders, size - 1]):
                counts = (cells.below[0, h] - cells.below[0, g]).tolist()
                part = mpf(sum(counts) + cells.width[h] - cells.width[g]) / (cells.rows[0] + 1)
                shares = cells.shares()[0, 0].tolist()
                total += dirichlet_multinomial(counts, [strength * part * mpf(a) for a in shares])
            found.append((borders, mp.exp(total) * prior(m, cells.count)))
    return found


def test_a_greedy_tree_proposes_the_edges() -> None:
    below = np.zeros((1, 101, 2))
    below[0, 1:, 0] = np.cumsum([1.0 if at < 37 or at >= 52 else 0.0 for at in range(100)])
    below[0, 1:, 1] = np.arange(1, 101) - below[0, 1:, 0]
    assert proposed_borders(below, 40).tolist() == [37, 52]
    assert proposed_borders(below, 1).tolist() in ([37], [52])


def test_no_row_twice_is_no_change_but_of_the_rows() -> None:
    """Counts of weights are counts: the same table of doubles gives the same figures as of whole numbers."""
    table = np.random.default_rng(3).poisson(4.0, (1, 9, 3))
    strengths = strengths_for(table.sum())
    whole, doubles = weighed(cells_of(table), strengths), weighed(cells_of(table + 1e-13), strengths)
    np.testing.assert_allclose(whole.log_evidence, doubles.log_evidence, atol=1e-9)
    np.testing.assert_allclose(whole.mean, doubles.mean, rtol=1e-9)
