"""Rows that go down a tree: which branches a row takes, and with what weight.

If a row has no value in the column of a split, or one that did not occur there, it goes down all branches. Columns that
stand in for it give the weights; without such columns the weights are the shares of the branches.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from credimi.columns import labels
from credimi.columns.encode import encode
from credimi.columns.missing import missing_of
from credimi.columns.numbers.discretize import bins_of
from credimi.columns.text_types import numbers_among
from credimi.counts.batch import labels_of
from credimi.counts.tabulate import CELLS_WORTH_COMPILING
from credimi.questions.tree.surrogates import branch_weights

if TYPE_CHECKING:
    from collections.abc import Iterator

    from credimi.columns.column import Column
    from credimi.columns.missing import MissingValues
    from credimi.columns.reading_options import ReadingOptions
    from credimi.core.types import FloatArray, IntegerArray
    from credimi.counts.rows.node_counter import TreeColumn
    from credimi.estimators.validation import Features
    from credimi.questions.tree.nodes import Tree


def visits(tree: Tree, features: Features, settings: ReadingOptions) -> Iterator[tuple[int, IntegerArray, FloatArray]]:
    """For each visited node: its number, the rows that visit it, and their weights."""
    values = _Values(tree, features, settings)
    waiting = [(0, np.arange(features.rows), np.ones(features.rows))]
    while waiting:
        number, rows, weights = waiting.pop()
        yield number, rows, weights
        split = tree.nodes[number].split
        if split is None:
            continue
        branch = _positions(values.of(split.column)[rows], split.cut, split.branch_of)
        weight_of_branch = np.ones((rows.size, split.shares.size))
        unknown = branch < 0
        if unknown.any():
            unknown_rows = rows[unknown]
            lines = (
                _positions(values.of(stand_in.column)[unknown_rows], stand_in.cut, stand_in.place_of)
                for stand_in in split.stand_ins
            )
            weight_of_branch[unknown] = branch_weights(split, lines, unknown_rows.size)
        for index, child in enumerate(split.children):
            takes_branch = (branch == index) | unknown
            if takes_branch.any():
                waiting.append(
                    (child, rows[takes_branch], weights[takes_branch] * weight_of_branch[takes_branch, index])
                )


def _positions(values: FloatArray | IntegerArray, cut: float | None, position_of: IntegerArray) -> IntegerArray:
    """The branch of each value at a split, or its line in the table of a stand-in; -1 if it has none."""
    if cut is not None:
        return np.where(np.isnan(values), -1, values > cut).astype(np.int64)
    positions: IntegerArray = np.append(position_of, -1)[values]
    return positions


class _Values:
    """The columns of new rows, read when the tree asks for them: numbers, or codes of the tree's values, or -1."""

    def __init__(self, tree: Tree, features: Features, settings: ReadingOptions) -> None:
        self.tree, self.features = tree, features
        self.index_of = {name: index for index, name in enumerate(features.names)}
        self.missing = missing_of(settings.missing_values, raw=False)
        self.values_of: dict[int, FloatArray | IntegerArray] = {}

    def of(self, number: int) -> FloatArray | IntegerArray:
        """The value of a column in each row."""
        if number not in self.values_of:
            column = self.tree.columns[number]
            values = self.features.columns[self.index_of[column.name]]
            coded = encode(
                values, column.name, missing=self.missing, compiled=self.features.rows >= CELLS_WORTH_COMPILING
            )
            of_labels = _numbers(coded, self.missing) if column.numbers else _codes(coded, self.missing, column)
            self.values_of[number] = of_labels[np.minimum(coded.codes, coded.values)]
        return self.values_of[number]


def _numbers(coded: Column, missing: MissingValues) -> FloatArray:
    """The number of each label (text may be one), NaN if it is missing or not a number; one more NaN at the end."""
    numbers = numbers_among(coded.texts) if coded.numbers is None else coded.numbers
    return np.append(np.where(missing.among(coded), np.nan, numbers), np.nan)


def _codes(coded: Column, missing: MissingValues, column: TreeColumn) -> IntegerArray:
    """The tree's code of each label, -1 if it has none."""
    codes = np.full(coded.values + 1, -1, dtype=np.int64)
    if column.cuts.size:
        numbers = _numbers(coded, missing)
        code_of_range = np.full(column.cuts.size + 1, -1, dtype=np.int64)
        code_of_range[bins_of(column.labels.numbers, column.cuts)] = column.places
        codes[~np.isnan(numbers)] = code_of_range[bins_of(numbers[~np.isnan(numbers)], column.cuts)]
        return codes
    keep = ~missing.among(coded)
    column_labels, positions = labels_of(coded, keep)
    merged, in_column, in_tree = labels.union(column_labels, column.labels)
    code_of_merged = np.full(len(merged), -1, dtype=np.int64)
    code_of_merged[in_tree] = column.places
    codes[:-1][keep] = code_of_merged[in_column[positions]]
    return codes
