"""Networks in which a few columns have very many neighbours: true neighbours are not lost in the crowd."""

from __future__ import annotations

import numpy as np

from credimi.counts.rows.distinct_rows import DistinctRows
from credimi.questions.network.learn import LearnOptions, learn


def test_edges_are_true_where_columns_have_more_neighbours_than_can_be_weighed() -> None:
    """Parents are chosen in proportion to the children they have: the largest hub has 23 neighbours of 49."""
    generator, columns, rows = np.random.default_rng([0, 0, 50, 0]), 50, 3_000
    parents: list[list[int]] = [[]]
    children = np.ones(columns)
    for column in range(1, columns):
        many = min(column, int(generator.integers(1, 4)))
        chances = children[:column] / children[:column].sum()
        own = sorted(generator.choice(column, many, replace=False, p=chances).tolist())
        children[own] += 1.0
        parents.append(own)
    values = generator.integers(2, 5, columns)
    codes, true = np.zeros((columns, rows), dtype=np.int64), np.zeros((columns, columns), dtype=bool)
    for column, own in enumerate(parents):
        where = np.zeros(rows, dtype=np.int64)
        for parent in own:
            where = where * values[parent] + codes[parent]
        size = int(values[column])
        tables = generator.dirichlet(np.full(size, 0.7 if own else 2.0), int(np.prod(values[own])))
        levels = generator.random(rows)
        codes[column] = (levels[:, np.newaxis] > np.cumsum(tables, axis=1)[where][:, :-1]).sum(axis=1)
        true[column, own] = true[own, column] = True
    interpreted = np.array([np.unique(each, return_inverse=True)[1] for each in codes]).astype(np.uint16)
    found = learn(
        DistinctRows.of(interpreted), interpreted.max(axis=1).astype(np.int64) + 1, LearnOptions(seed=0)
    ).edge_matrix
    assert true.sum(axis=1).max() > 20
    sure = found >= 0.95
    assert (sure & true).sum() >= 0.95 * sure.sum()
    assert (sure & true).sum() >= 0.8 * true.sum()
    assert ((found >= 0.5) & true).sum() >= 0.95 * true.sum()
