"""Pairs of columns counted against the target from sets of bits, and weighed; against counting row by row."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from credimi.counts.counter import ByValue
from credimi.counts.local_counter import LocalCounter
from credimi.counts.reading import Reading
from credimi.counts.request import CountRequest
from credimi.counts.rows.class_pairs import OTHER_VALUES, ClassPairs
from credimi.inference.evidence import pair_evidence
from credimi.inference.tables.stratified_tables import StratifiedTables, independence
from credimi.questions.select.relevant_features import _evidence, _pairs_of_blocks
from credimi.sources.codes import encoded_table

if TYPE_CHECKING:
    from credimi.counts.codes import Codes

VALUES = (2, 3, 5, 10, 14, 2, 30)


def interpreted(seed: int, rows: int, classes: int, *, weighted: bool = False) -> Codes:
    """Columns of few and many values, some with missing values; a target with missing values, and a class apart."""
    generator = np.random.default_rng(seed)
    target = generator.integers(0, classes, rows)
    data: dict[str, list[str | float | None]] = {}
    for number, values in enumerate(VALUES):
        codes = generator.integers(0, values, rows)
        codes = np.where(generator.random(rows) < 0.2 * (number % 3), target % values, codes)
        gone = generator.random(rows) < 0.15 * (number % 2)
        data[f"x{number}"] = [None if lost else f"v{code:02d}" for code, lost in zip(codes, gone, strict=True)]
    data["y"] = [None if generator.random() < 0.1 else f"c{each:03d}" for each in target]
    if weighted:
        data["w"] = generator.uniform(0.5, 2.0, rows).round(2).tolist()
    request = CountRequest.of("y", Reading(weights="w" if weighted else None))
    return encoded_table(data, request).codes()


def pairs_of(codes: Codes, threads: int | None = None) -> ClassPairs:
    return LocalCounter(codes, threads).by_pair_and_class()


def evidence(pairs: ClassPairs) -> np.ndarray:
    """log Bayes factors: line j has those of column j given each other one."""
    count = len(pairs.names)
    found = np.full((count, count), np.nan)
    for part in _pairs_of_blocks(pairs):
        rows, columns, both = _evidence(pairs, part)
        for one in rows.tolist():
            for other in columns.tolist():
                if one < other:
                    found[one, other], found[other, one] = both[:, one - rows[0], other - columns[0]]
    return found


@pytest.mark.parametrize(("rows", "classes"), [(1, 2), (64, 2), (700, 3), (500, 30)])
def test_bits_count_what_rows_count(rows: int, classes: int) -> None:
    pairs = pairs_of(interpreted(rows, rows + 40, classes))
    count = len(pairs.names)
    chosen = np.array([(one, other) for one in range(count) for other in range(one + 1, count)], dtype=np.int64)
    by_rows = pairs.tables(chosen)
    for (one, other), table in zip(chosen.tolist(), by_rows, strict=True):
        naive = np.zeros(table.shape)
        np.add.at(naive, (pairs.groups, pairs.codes[one], pairs.codes[other]), 1.0)
        np.testing.assert_array_equal(table, naive)
        for column, axis in ((one, 2), (other, 1)):
            first, values = pairs.layout[column, :2].tolist()
            np.testing.assert_array_equal(table.sum(axis=axis).T, pairs.totals[first : first + values])
    direct = np.empty((len(chosen), 2))
    sizes = np.array([table.size for table in by_rows])
    cells = np.concatenate([table.ravel() for table in by_rows])
    pair_evidence.evidence_of_pairs(cells, np.cumsum(sizes) - sizes, len(pairs.classes), pairs.layout, chosen, direct)
    from_bits = evidence(pairs)
    np.testing.assert_array_equal(from_bits[chosen[:, 0], chosen[:, 1]], direct[:, 0])
    np.testing.assert_array_equal(from_bits[chosen[:, 1], chosen[:, 0]], direct[:, 1])


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("rows", "classes"), [(80, 2), (900, 3), (4_000, 2)])
def test_evidence_is_that_of_conditional_information(rows: int, classes: int, *, weighted: bool) -> None:
    codes = replace(interpreted(rows, rows, classes, weighted=weighted), is_survey=False)  # one number of rows for all
    found = evidence(pairs_of(codes))
    codes = codes.chosen(np.flatnonzero(codes.groups < len(codes.classes)))
    every = np.arange(len(codes.features))
    for given in range(len(codes.features)):
        ((_, tables, starts),) = LocalCounter(codes).by_stratum(ByValue(given), every)
        even = type(tables)(tables.flat, tables.rows, tables.columns)
        p_zero = independence(StratifiedTables.of(even, starts))
        others = [column for column in range(len(codes.features)) if column != given]
        assert p_zero[given] == 1.0  # nothing depends on a column that is known
        expected = np.full(p_zero.size, -np.inf)
        expected[others] = np.log1p(-p_zero[others]) - np.log(p_zero[others])
        # components of less than 1e-4 of the weight are left out there
        np.testing.assert_allclose(found[others, given], expected[others], atol=4e-3)


def test_rows_without_class_and_order_of_rows_change_nothing() -> None:
    codes = interpreted(3, 600, 3)
    seen = codes.groups < len(codes.classes)
    order = np.random.default_rng(0).permutation(600)
    order = order[seen[order]]
    fewer = codes.chosen(order)
    np.testing.assert_array_equal(evidence(pairs_of(codes)), evidence(pairs_of(fewer)))
    np.testing.assert_array_equal(evidence(pairs_of(codes, 1)), evidence(pairs_of(codes, 4)))


def test_rare_values_become_one() -> None:
    generator = np.random.default_rng(1)
    many = np.minimum(generator.geometric(0.03, 3_000), 200)
    data = {"many": [f"v{each:03d}" for each in many], "few": generator.choice(["a", "b"], 3_000).tolist()}
    data["y"] = generator.choice(["p", "q"], 3_000).tolist()
    pairs = pairs_of(encoded_table(data, CountRequest.of("y")).codes())
    labels = pairs.labels[0]
    assert len(labels) == 32
    assert labels[-1] == OTHER_VALUES
    kept = set(labels[:-1])
    counts = {label: int((many == int(label[1:])).sum()) for label in kept}
    assert min(counts.values()) >= max(
        int((many == value).sum()) for value in np.unique(many).tolist() if f"v{value:03d}" not in kept
    )
    assert pairs.totals[pairs.layout[0, 0] + 31].sum() == sum(f"v{each:03d}" not in kept for each in many)
