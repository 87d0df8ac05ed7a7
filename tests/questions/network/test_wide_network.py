"""Networks of many columns: memory grows with the pairs that depend, and answers are those of fewer columns."""

from __future__ import annotations

import tracemalloc
from typing import TYPE_CHECKING

import numpy as np

from credimi import network
from credimi.counts.rows.distinct_rows import DistinctRows
from credimi.questions.network import candidates as module
from credimi.questions.network.candidates import candidates, mediators, unconditional_evidence
from credimi.questions.network.edge_evidence import EdgeEvidence
from credimi.questions.network.learn import LearnOptions, learn
from credimi.questions.network.pair_set import PairSet

if TYPE_CHECKING:
    import pytest

ROWS = 300


def chains(columns: int, missing: float = 0.0) -> np.ndarray:
    """Chains of three columns, side by side."""
    generator = np.random.default_rng(columns)
    table = np.empty((ROWS, columns))
    for column in range(columns):
        own = generator.integers(0, 2, ROWS)
        before = table[:, column - 1]
        table[:, column] = own if column % 3 == 0 else np.where(generator.random(ROWS) < 0.2, own, before)
    table[generator.random(table.shape) < missing] = np.nan
    return table


def test_pairs_know_their_places_and_numbers() -> None:
    columns = 7
    one, other = np.triu_indices(columns, 1)
    chosen = np.array([0, 3, 5, 6, 11, 20])
    pairs = PairSet(columns, one[chosen], other[chosen])
    np.testing.assert_array_equal(pairs.numbers, chosen)
    np.testing.assert_array_equal(pairs.index_of(pairs.other, pairs.one), np.arange(6))
    more = pairs.union(PairSet(columns, one[[1, 3]], other[[1, 3]]))
    np.testing.assert_array_equal(more.numbers, [0, 1, 3, 5, 6, 11, 20])


def peak(columns: int) -> float:
    """Most bytes that the search takes."""
    codes = np.ascontiguousarray(chains(columns).T.astype(np.uint16))
    values = np.full(columns, 2)
    tracemalloc.start()
    try:
        learn(DistinctRows.of(codes), values, LearnOptions(threads=1))
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_memory_is_one_matrix_and_what_grows_with_the_columns() -> None:
    small, large = peak(150), peak(600)
    squares = 600**2 - 150**2
    a_column = 30_000  # bytes, for sets of parents
    assert large - small < 3 * 8 * squares + a_column * 450


def test_a_wide_network_has_the_edges_of_its_parts() -> None:
    table = chains(90)
    found = network(table)
    assert {(edge.a, edge.b) for edge in found.edges} == {
        (f"column {a}", f"column {a + 1}") for a in range(90) if a % 3 < 2
    }
    apart = found.between("column 0", "column 2")
    assert apart is not None
    assert apart.separated_by == ("column 1",)
    assert found.between("column 0", "column 3") is None


def test_it_does_not_matter_how_many_pairs_are_looked_at_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    codes = np.ascontiguousarray(chains(30).T.astype(np.uint16))
    evidence = EdgeEvidence(codes, np.full(30, 2), np.zeros(0), 1)
    alone = unconditional_evidence(evidence)
    whole = candidates(evidence, alone, -2.0, 10)
    monkeypatch.setattr(module, "_TESTS_AT_ONCE", 7)
    monkeypatch.setattr(module, "_CELLS_AT_ONCE", 90)
    np.testing.assert_array_equal(unconditional_evidence(evidence), alone)
    parts = candidates(evidence, alone, -2.0, 10)
    for name in ("least_evidence", "given", "determined", "untried"):
        np.testing.assert_array_equal(getattr(parts, name), getattr(whole, name))
    for one, other in zip(parts.partners, whole.partners, strict=True):
        np.testing.assert_array_equal(one, other)


def test_columns_between_come_strongest_first_and_equal_ones_in_order() -> None:
    generator = np.random.default_rng(0)
    columns = 25
    alone = np.round(generator.normal(0.0, 3.0, (columns, columns)))  # rounded: many are equal
    alone = np.maximum(alone, alone.T)
    one, other = np.triu_indices(columns, 1)
    found = mediators(alone, one, other, -1.0, 1)
    for u, v, own in zip(one.tolist(), other.tolist(), found.tolist(), strict=True):
        both = {z: min(alone[u, z], alone[v, z]) for z in range(columns) if z not in {u, v}}
        expected = sorted((z for z in both if both[z] > 1.0), key=lambda z: (-both[z], z))[:10]
        assert [z for z in own if z >= 0] == expected
