"""The posterior of synergy against exact draws, and what the hypotheses say of data whose truth is known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import xlogy

from credimi.core.tables import Tables
from credimi.inference.evidence import adaptive_prior
from credimi.questions.interactions import synergy
from credimi.questions.interactions.synergy import AT_MOST_ONE, FULL, WITHOUT_WY, WITHOUT_XW, WITHOUT_XY, synergies

DRAWS = 4_000
KINDS = ("noise", "xor", "naive", "copy", "linked", "additive")


def joint(kind: str, shape: tuple[int, int, int], rows: int, generator: np.random.Generator) -> np.ndarray:
    """A table (class, x, w) of rows of which the truth is known."""
    r, s, t = shape
    y, x, w = (generator.integers(0, size, rows) for size in shape)
    some = generator.random((2, rows))
    if kind == "xor":
        y = np.where(some[0] < 0.4, (x + w) % r, y)
    elif kind == "naive":  # independent given the class
        x, w = np.where(some[0] < 0.5, y % s, x), np.where(some[1] < 0.5, y % t, w)
    elif kind == "copy":
        x = np.where(some[0] < 0.5, y % s, x)
        w = np.where(some[1] < 0.95, x % t, w)
    elif kind == "linked":  # with each other, and not with the class
        w = np.where(some[0] < 0.9, x % t, w)
    elif kind == "additive":
        y = (generator.random(rows) < 1.0 / (1.0 + np.exp(-0.6 * (x > 0) - 0.6 * (w > 0) + 0.6))).astype(int)
    found = np.zeros(shape)
    np.add.at(found, (y, x, w), 1.0)
    return found


def exactly(p: np.ndarray) -> np.ndarray:
    """S of cell probabilities (..., class, x, w), from entropies."""
    found = np.zeros(p.shape[:-3])
    for axes, sign in (((), 1), ((-3,), -1), ((-2,), -1), ((-1,), -1), ((-3, -2), 1), ((-3, -1), 1), ((-2, -1), 1)):
        margin = p.sum(axis=axes)
        found += sign * xlogy(margin, margin).reshape(*p.shape[:-3], -1).sum(axis=-1)
    return found


def blocks_of(tables: np.ndarray) -> Tables:
    """Complete tables as blocks, whose counts of missing values are 0."""
    return Tables.of([np.pad(table, ((0, 1), (0, 1))) for table in tables])


def drawn_if_full(table: np.ndarray, count: int, generator: np.random.Generator) -> np.ndarray:
    """Draws of S given all three edges: classes, then K, then the tables in the classes; no closed form anywhere."""
    r = len(table)
    blocks = blocks_of(table)
    mixed = adaptive_prior.mixtures(blocks, (np.array([0]), np.array([r])))
    number = mixed.table.size // r
    weight = mixed.weight[:number] / mixed.weight[:number].sum()
    which = generator.choice(number, size=count, p=weight)
    classes = generator.dirichlet(np.maximum(table.sum(axis=(1, 2)), 1e-9), count)
    parameters = mixed.blocks.flat.reshape(r, number, table.shape[1] + 1, -1)[:, :, :-1, :-1]
    cells = np.empty((count, *table.shape))
    for group in range(r):
        gammas = generator.standard_gamma(parameters[group, which])
        cells[:, group] = gammas / gammas.sum(axis=(1, 2), keepdims=True) * classes[:, group, None, None]
    return exactly(cells)


@pytest.mark.parametrize("shape", [(2, 2, 2), (2, 3, 3), (3, 4, 2), (2, 6, 6)])
@pytest.mark.parametrize("rows", [200, 1_000, 5_000])
def test_given_all_edges_the_posterior_is_that_of_exact_draws(shape: tuple[int, int, int], rows: int) -> None:
    generator = np.random.default_rng(rows + sum(shape))
    distances = []
    for kind in KINDS[: 5 + (shape[0] == 2)]:
        table = joint(kind, shape, rows, generator)
        laws = synergies([table], np.ones((1, 2)), np.ones((1, 2)))
        draws = np.sort(drawn_if_full(table, DRAWS, generator))
        given_all = replace(laws, weights=np.eye(5)[[FULL]])
        below = 1.0 - np.array([given_all.above(x)[0] for x in draws[::20]])
        distances.append(np.abs(below - np.arange(0, DRAWS, 20) / DRAWS).max())
    assert np.median(distances) < 0.045  # draws alone: 0.014
    assert max(distances) < 0.15


def test_the_mixture_is_that_of_its_hypotheses() -> None:
    generator = np.random.default_rng(2)
    table = joint("naive", (2, 3, 3), 150, generator)
    laws = synergies([table], np.ones((1, 2)), np.ones((1, 2)))
    weights = laws.weights[0]
    assert weights.sum() == pytest.approx(1.0)
    draws = [drawn_if_full(table, round(20_000 * weights[FULL]), generator)]
    for hypothesis, axis in ((WITHOUT_XW, 0), (WITHOUT_XY, 2), (WITHOUT_WY, 1)):
        mixed = adaptive_prior.mixtures(blocks_of(table.sum(axis=axis)[np.newaxis]))
        share = mixed.weight / mixed.weight.sum()
        for part, own in zip(share, range(len(share)), strict=True):
            cells = generator.dirichlet(
                mixed.blocks.block(own)[:-1, :-1].ravel(), round(20_000 * weights[hypothesis] * part)
            ).reshape(-1, *table.sum(axis=axis).shape)
            margins = cells.sum(axis=1, keepdims=True) * cells.sum(axis=2, keepdims=True)
            draws.append(-(xlogy(cells, cells) - xlogy(cells, margins)).sum(axis=(1, 2)))
    draws.append(np.zeros(round(20_000 * weights[AT_MOST_ONE])))
    every = np.concatenate(draws)
    for x in (-0.05, -0.01, -1e-9, 0.0, 0.003, 0.02):
        assert laws.above(x)[0] == pytest.approx(np.mean(every > x), abs=0.02)
    assert laws.expected()[0] == pytest.approx(every.mean(), abs=0.05 * every.std())
    low, high = laws.interval(0.9)
    assert np.mean(every < low[0]) == pytest.approx(0.05, abs=0.02)
    assert np.mean(every > high[0]) == pytest.approx(0.05, abs=0.02)


def test_synergy_is_symmetric_and_that_of_entropies() -> None:
    generator = np.random.default_rng(5)
    table = joint("xor", (2, 3, 4), 200_000, generator)
    laws = synergies([table, table.transpose(0, 2, 1)], np.ones((2, 2)), np.ones((2, 2)))
    np.testing.assert_allclose(laws.expected(), exactly(table / table.sum()), rtol=0.01)
    np.testing.assert_allclose(laws.expected()[0], laws.expected()[1], rtol=1e-9)
    np.testing.assert_allclose(laws.weights[0, [0, 1, 4]], laws.weights[1, [0, 1, 4]], rtol=1e-9)


@pytest.mark.parametrize(
    ("kind", "hypothesis"),
    [("naive", WITHOUT_XW), ("copy", WITHOUT_WY), ("noise", AT_MOST_ONE), ("linked", AT_MOST_ONE)],
)
def test_many_rows_find_the_graph(kind: str, hypothesis: int) -> None:
    tables = [joint(kind, (2, 3, 3), 100_000, np.random.default_rng(seed)) for seed in range(5)]
    laws = synergies(tables, np.ones((5, 2)), np.ones((5, 2))).with_odds(0.1)
    assert np.median(laws.weights[:, hypothesis]) > 0.5
    assert (laws.above(0.003) < 0.05).all()


def test_odds_move_the_full_graph_alone() -> None:
    table = joint("xor", (2, 2, 2), 100, np.random.default_rng(0))
    even = synergies([table], np.ones((1, 2)), np.ones((1, 2)))
    fewer = even.with_odds(0.01)
    ratio = even.weights[0] / fewer.weights[0]
    np.testing.assert_allclose(ratio[1:], ratio[1])
    assert ratio[0] / ratio[1] == pytest.approx(100.0)
    parts = synergy.Synergies.joined([even, fewer])
    np.testing.assert_array_equal(parts.above(0.0), np.concatenate([even.above(0.0), fewer.above(0.0)]))
    np.testing.assert_array_equal(parts.chosen(np.array([1])).interval(0.9), fewer.interval(0.9))
