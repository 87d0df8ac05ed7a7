"""Rows that go down a tree: which branches a row takes, and with what weight.

A row without a value that is asked for, or with one that did not occur there, goes down all branches. Columns that
stand in for it say with what weights; where there are none, the weights are the shares of the branches.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from credimi.columns import labels
from credimi.columns.encode import encode
from credimi.columns.missing import missing_of
from credimi.columns.numbers.discretize import bins_of
from credimi.columns.text_types import numbers_among
from credimi.counting.batch import labels_of
from credimi.counting.tabulate import CELLS_WORTH_COMPILING
from credimi.selection.trees.stand_ins import branch_weights

if TYPE_CHECKING:
    from collections.abc import Iterator

    from credimi.columns.column import Column
    from credimi.columns.missing import MissingValues
    from credimi.columns.reading_options import ReadingOptions
    from credimi.core.types import FloatArray, IntegerArray
    from credimi.counting.rows.tree_rows import TreeColumn
    from credimi.estimators.validation import Features
    from credimi.selection.trees.nodes import Tree


def visits(tree: Tree, features: Features, settings: ReadingOptions) -> Iterator[tuple[int, IntegerArray, FloatArray]]:
    """Of each node that is visited: its number, the rows that visit it, and their weights."""
    known = _Values(tree, features, settings)
    waiting = [(0, np.arange(features.rows), np.ones(features.rows))]
    while waiting:
        number, rows, weights = waiting.pop()
        yield number, rows, weights
        split = tree.nodes[number].split
        if split is None:
            continue
        branch = _placed(known.of(split.column)[rows], split.cut, split.branch_of)
        part = np.ones((rows.size, split.shares.size))
        lost = branch < 0
        if lost.any():
            asked = rows[lost]
            lines = (_placed(known.of(own.column)[asked], own.cut, own.place_of) for own in split.stand_ins)
            part[lost] = branch_weights(split, lines, asked.size)
        for place, child in enumerate(split.children):
            here = (branch == place) | lost
            if here.any():
                waiting.append((child, rows[here], weights[here] * part[here, place]))


def _placed(values: FloatArray | IntegerArray, cut: float | None, place_of: IntegerArray) -> IntegerArray:
    """The branch of each value of a split, or its line of a column that stands in; -1 if it has none."""
    if cut is not None:
        return np.where(np.isnan(values), -1, values > cut).astype(np.int64)
    found: IntegerArray = np.append(place_of, -1)[values]
    return found


class _Values:
    """The columns of new rows, read when the tree asks for them: numbers, or codes of the tree's values, or -1."""

    def __init__(self, tree: Tree, features: Features, settings: ReadingOptions) -> None:
        self.tree, self.features = tree, features
        self.places = {name: place for place, name in enumerate(features.names)}
        self.missing = missing_of(settings.missing_values, raw=False)
        self.found: dict[int, FloatArray | IntegerArray] = {}

    def of(self, number: int) -> FloatArray | IntegerArray:
        """Of each row the value of a column."""
        if number not in self.found:
            column = self.tree.columns[number]
            values = self.features.columns[self.places[column.name]]
            coded = encode(
                values, column.name, missing=self.missing, compiled=self.features.rows >= CELLS_WORTH_COMPILING
            )
            of_labels = _numbers(coded, self.missing) if column.numbers else _codes(coded, self.missing, column)
            self.found[number] = of_labels[np.minimum(coded.codes, coded.values)]
        return self.found[number]


def _numbers(coded: Column, missing: MissingValues) -> FloatArray:
    """The number of each label, also of text that is one, NaN if it is missing or none; NaN once more at the end."""
    numbers = numbers_among(coded.texts) if coded.numbers is None else coded.numbers
    return np.append(np.where(missing.among(coded), np.nan, numbers), np.nan)


def _codes(coded: Column, missing: MissingValues, column: TreeColumn) -> IntegerArray:
    """The tree's code of each label, -1 if it has none."""
    found = np.full(coded.values + 1, -1, dtype=np.int64)
    if column.cuts.size:
        numbers = _numbers(coded, missing)
        of_range = np.full(column.cuts.size + 1, -1, dtype=np.int64)
        of_range[bins_of(column.labels.numbers, column.cuts)] = column.places
        found[~np.isnan(numbers)] = of_range[bins_of(numbers[~np.isnan(numbers)], column.cuts)]
        return found
    keep = ~missing.among(coded)
    here, positions = labels_of(coded, keep)
    merged, onward, own = labels.union(here, column.labels)
    place = np.full(len(merged), -1, dtype=np.int64)
    place[own] = column.places
    found[:-1][keep] = place[onward[positions]]
    return found
