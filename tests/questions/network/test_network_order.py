"""Neither the order of rows nor that of columns changes a network, and a row of weight w is w rows."""

from __future__ import annotations

import numpy as np
import pytest

from credimi import Network, network
from credimi.counts.rows.distinct_rows import DistinctRows
from credimi.questions.network.learn import LearnOptions, learn
from credimi.questions.pairs.imputation import Imputation, drawn_chances

Columns = dict[str, list[object]]


def columns_of(rows: int, missing: float, seed: int = 0) -> Columns:
    """A chain with a copy of one of its columns, a column that is nearly a copy, and one of two causes."""
    generator = np.random.default_rng(seed)
    first = generator.integers(0, 3, rows)
    second = np.where(generator.random(rows) < 0.5, generator.integers(0, 3, rows), first)
    near = np.where(generator.random(rows) < 0.03, generator.integers(0, 3, rows), first)
    effect = np.where(generator.random(rows) < 0.4, generator.integers(0, 2, rows), (second + near) % 2)
    table = {"m": first, "copy": 2 - first, "b": second, "z": near, "effect": effect}
    table["twin"] = table["m"].copy()
    gone = generator.random((len(table), rows)) < missing
    return {
        name: [None if out else f"v{value}" for value, out in zip(column, where, strict=True)]
        for (name, column), where in zip(table.items(), gone, strict=True)
    }


def figures(found: Network) -> dict[frozenset[str], tuple[float, ...]]:
    """What is said of each pair, whichever of its columns comes first."""
    told = {}
    for pair in found.pairs:
        forward = (pair.p_forward, pair.p_backward) if pair.a < pair.b else (pair.p_backward, pair.p_forward)
        told[frozenset((pair.a, pair.b))] = (pair.probability, *forward, pair.mi, pair.low, pair.high)
    return told


def assert_same(one: Network, other: Network) -> None:
    first, second = figures(one), figures(other)
    assert first.keys() == second.keys()
    for pair, told in first.items():
        np.testing.assert_allclose(told, second[pair], atol=1e-9)
    assert {pair: given_of(one, pair) for pair in first} == {pair: given_of(other, pair) for pair in first}
    assert {str(remark) for remark in one.remarks} == {str(remark) for remark in other.remarks}


def given_of(found: Network, pair: frozenset[str]) -> tuple[str, ...] | None:
    edge = found.between(*pair)
    return edge.separated_by if edge is not None else None


@pytest.mark.parametrize("missing", [0.0, pytest.param(0.25, marks=pytest.mark.long)])
def test_the_order_of_rows_and_of_columns_changes_nothing(missing: float) -> None:
    table = columns_of(150, missing)
    found, generator = network(table, threads=1), np.random.default_rng(1)
    order = generator.permutation(150)
    assert_same(found, network({name: [column[row] for row in order] for name, column in table.items()}, threads=1))
    names = generator.permutation(sorted(table)).tolist()
    turned = network({name: table[name] for name in names}, threads=1)
    assert_same(found, turned)
    assert found.names == tuple(table)
    assert turned.names == tuple(names)
    for edge in turned.pairs:  # what is shown follows the order of the data
        assert names.index(edge.a) < names.index(edge.b)
    assert dict(zip(found.names, found.missing, strict=True)) == dict(zip(names, turned.missing, strict=True))
    positions = [names.index(name) for name in found.names]
    np.testing.assert_allclose(found.forest.log_weights, turned.forest.log_weights[np.ix_(positions, positions)])


def test_a_row_of_weight_w_is_w_rows_where_values_are_missing() -> None:
    table = columns_of(60, 0.3)
    weights = np.random.default_rng(8).integers(0, 5, 60)
    repeated = {name: np.repeat(np.array(column, dtype=object), weights).tolist() for name, column in table.items()}
    weighted = network(table | {"w": weights.tolist()}, weights="w", imputations=1, threads=1)
    assert_same(weighted, network(repeated, imputations=1, threads=1))
    assert weighted.rows == weights.sum()


def drawn_row_by_row(counts: np.ndarray, rows: int, sweeps: int, generator: np.random.Generator) -> int:
    """How many of these rows get value 1: each is drawn for itself, given what all others have."""
    second = generator.random(rows) < counts.sum(axis=0)[1] / counts.sum()
    for _ in range(sweeps):
        present = counts.copy()
        present[0] += rows - second.sum(), second.sum()
        second = generator.random(rows) < drawn_chances(present, generator)[0, 1]
    return int(second.sum())


def test_equal_rows_are_completed_each_for_itself() -> None:
    """The numbers of 80 equal rows that get a value are distributed as if each row were drawn for itself."""
    counts = np.array([[30.0, 70.0], [50.0, 50.0]])
    shown = np.repeat(np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=np.uint16).T, [30, 70, 50, 50], axis=1)
    lacking = np.array([[0], [2]], dtype=np.uint16)
    table = DistinctRows.of(np.concatenate([shown, lacking], axis=1), np.append(np.ones(200), 80.0))
    found, oracle, generator = [], [], np.random.default_rng(0)
    for seed in range(150):
        imputation = Imputation(table, np.array([2, 2]), seed)
        imputation.sweep((np.zeros(0, dtype=np.int64), np.array([0])), 6)
        completed = imputation.completed.merged()
        assert completed.units.sum() == 280
        assert completed.codes.shape[1] == 4
        found.append(completed.units[1] - 70)
        oracle.append(drawn_row_by_row(counts, 80, 6, generator))
    deviation = np.std(oracle)
    assert np.mean(found) == pytest.approx(np.mean(oracle), abs=4 * deviation * np.sqrt(2 / 150))
    assert np.std(found) == pytest.approx(deviation, rel=4 / np.sqrt(150))


def test_whole_weights_are_repeated_draws_and_others_are_rounded_up() -> None:
    codes = np.array([[2, 2, 2, 0], [0, 0, 1, 2]], dtype=np.uint16)
    table = DistinctRows.of(codes, np.array([2.0, 3.0, 2.5, 0.25]))
    assert sorted(zip(table.units.tolist(), table.unit_weights.tolist(), strict=True)) == [
        (1, 0.25),
        (3, 2.5 / 3),
        (5, 1.0),
    ]
    assert DistinctRows.of(codes, np.array([0.0, 1.0, 1.0, 1.0])).units.sum() == 3


def test_neither_does_it_where_values_are_missing() -> None:
    table, order = columns_of(60, 0.25, 4), np.random.default_rng(2).permutation(60)
    other = {name: [table[name][row] for row in order] for name in sorted(table)}
    assert_same(network(table, imputations=1, threads=1), network(other, imputations=1, threads=1))


@pytest.mark.parametrize("factor", [1.0, 1e7])
def test_large_weights_cost_no_more_than_many_rows(factor: float) -> None:
    generator = np.random.default_rng(3)
    codes = generator.integers(0, 3, (6, 80))
    codes[:, generator.random(80) < 0.5] = 3  # nothing is seen of half of the rows: 3^6 completions
    codes = np.where(generator.random(codes.shape) < 0.3, 3, codes).astype(np.uint16)
    weights = factor * generator.integers(1, 9, 80)
    imputation = Imputation(DistinctRows.of(codes, weights), np.full(6, 3), 0)
    imputation.sweep(tuple(np.arange(column) for column in range(6)), 2)
    assert imputation.completed.units.size < 80_000
    weights_now = imputation.completed.units * imputation.completed.unit_weights
    assert weights_now.sum() == pytest.approx(weights.sum(), rel=1e-12)
    assert (imputation.codes < 3).all()


def test_weights_that_are_not_whole_are_learned_from() -> None:
    table = columns_of(200, 0.2)
    codes = np.array([[int(value[1]) if value else 3 for value in column] for column in table.values()])
    values = np.array([3, 3, 3, 3, 2, 3])
    codes = np.where(codes >= values[:, np.newaxis], values[:, np.newaxis], codes).astype(np.uint16)
    weights, order = np.random.default_rng(0).uniform(0.2, 3.0, 200), np.random.default_rng(1).permutation(200)
    one = learn(DistinctRows.of(codes, weights), values, LearnOptions(imputations=1, threads=1))
    shuffled = DistinctRows.of(np.ascontiguousarray(codes[:, order]), weights[order])
    other = learn(shuffled, values, LearnOptions(imputations=1, threads=1))
    np.testing.assert_allclose(one.edge_matrix, other.edge_matrix, atol=1e-9)
