"""Moments of complete tables side by side are those of each alone; the evidence of dependence beyond all doubles."""

from __future__ import annotations

import numpy as np
import pytest

from credimi.core import table_patterns
from credimi.core.tables import Tables
from credimi.inference.evidence.adaptive_prior import independence, log_odds_of_dependence
from credimi.inference.moments import many_tables, side_by_side
from credimi.inference.moments.moments import moments


def blocks(count: int, rows: int, columns: int, total: int, generator: np.random.Generator) -> Tables:
    chances = generator.dirichlet(np.full(rows * columns, 3.0), count)
    found = np.zeros((count, rows + 1, columns + 1))
    found[:, :rows, :columns] = generator.multinomial(total, chances).reshape(count, rows, columns)
    return Tables(found.ravel(), np.full(count, rows), np.full(count, columns))


@pytest.mark.parametrize(("rows", "columns", "total"), [(2, 2, 300), (2, 2, 10**6), (3, 5, 3_000), (7, 2, 2_000)])
def test_moments_side_by_side_are_those_of_each_table(rows: int, columns: int, total: int) -> None:
    generator = np.random.default_rng(0)
    tables = blocks(70, rows, columns, total, generator)
    pseudo, selection = generator.random(70), np.arange(70)
    arrays = tables.flat, tables.offsets, tables.rows, tables.columns, pseudo
    pattern = np.full(70, table_patterns.COMPLETE, dtype=np.int8)
    mean, variance, left = np.zeros(70), np.zeros(70), np.zeros(70, dtype=np.bool_)
    side_by_side.matched_complete(*arrays, pattern, selection, mean, variance, left)
    wanted, spread, thin = np.zeros(70), np.zeros(70), np.zeros(70, dtype=np.bool_)
    many_tables.matched_one_sided(*arrays, pattern, selection, wanted, spread, thin)
    cells = tables.flat.reshape(70, rows + 1, columns + 1)[:, :rows, :columns] + pseudo[:, np.newaxis, np.newaxis]
    assert np.array_equal(left, cells.min(axis=(1, 2)) < 12.0)
    assert np.count_nonzero(~left) > 20
    np.testing.assert_allclose(mean[~left], wanted[~left], rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(variance[~left], spread[~left], rtol=1e-9)
    assert not thin[~left].any()
    assert not mean[left].any()


def test_neighbours_change_nothing() -> None:
    """To the last bit: tables in another order, of other shapes beside them, or alone."""
    generator = np.random.default_rng(1)
    parts = [blocks(23, *shape, 2_000, generator) for shape in ((2, 2), (3, 2), (2, 4))]
    every = [part.block(table) for part in parts for table in range(23)]
    order = generator.permutation(len(every))
    mixed = moments(Tables.of([every[place] for place in order]), 0.5, threads=1)
    alone = [moments(Tables.of([each]), 0.5, threads=1) for each in every]
    assert np.array_equal(mixed.mean, np.array([alone[place].mean[0] for place in order]))
    assert np.array_equal(mixed.variance, np.array([alone[place].variance[0] for place in order]))


def test_evidence_is_known_where_probabilities_end() -> None:
    generator = np.random.default_rng(2)
    found = []
    for _ in range(120):
        rows, columns, total = generator.integers(2, 12), generator.integers(2, 12), generator.integers(20, 400)
        block = np.zeros((rows + 1, columns + 1))
        block[:rows, :columns] = generator.multinomial(total, generator.dirichlet(np.ones(rows * columns))).reshape(
            rows, -1
        )
        block[:rows, columns] = generator.integers(0, 9, rows) * generator.integers(0, 2)
        block[rows, :columns] = generator.integers(0, 9, columns) * generator.integers(0, 2)
        found.append(block)
    tables = Tables.of(found)
    chance = independence(tables)
    assert chance.min() > 1e-290
    np.testing.assert_allclose(log_odds_of_dependence(tables), np.log1p(-chance) - np.log(chance), rtol=1e-9, atol=1e-9)
    copy = np.zeros((5, 5))
    copy[:4, :4] = np.diag([2_000.0] * 4)
    with_margins = copy.copy()
    with_margins[:4, 4] = with_margins[4, :4] = 50.0
    strong = Tables.of([copy, with_margins])
    assert not independence(strong).any()
    assert (np.abs(log_odds_of_dependence(strong) / (8_000 * np.log(4.0)) - 1.0) < 0.01).all()
