"""Naive Bayes from interpreted counts: what each value of each feature tells about the class (`inference.naive_bayes`).

A missing feature is left out of the product, which is exact: its value is summed over. (Or missing is treated as a
value like others.) A value that was never seen is left out as well, as the counts tell nothing about it.

With `unlabeled` rows (n_?j), P(j | i) is taken from the posterior mean of the joint cell probabilities, to which such
rows contribute; without such rows the two are the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from credimi.columns.encode import encode
from credimi.columns.labels import NUMBER
from credimi.columns.numbers.discretize import bins_of
from credimi.columns.text_types import numbers_among, shown_number
from credimi.core.threads import share
from credimi.counts.tabulate import CELLS_WORTH_COMPILING
from credimi.inference.naive_bayes import log_shares, log_value_shares
from credimi.inference.posterior import posterior

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from credimi.columns.column import Column
    from credimi.columns.feature import Feature
    from credimi.columns.missing import MissingValues
    from credimi.core.types import FloatArray, IntegerArray, Values

_ROWS_AT_ONCE = 1 << 16


@dataclass(frozen=True, slots=True, eq=False)
class Likelihood:
    """log P(i), and for each feature log P(j | i), (s + 1) x r, with 0 in the last line: missing or never seen."""

    log_prior: FloatArray
    features: tuple[Feature, ...]
    tables: tuple[FloatArray, ...]

    def log_joint(
        self, columns: Mapping[str, Values], rows: int, missing: MissingValues, threads: int | None = None
    ) -> FloatArray:
        """(rows, classes): log P(i) + sum of log P(j | i)."""
        compiled = rows * len(self.features) >= CELLS_WORTH_COMPILING
        total = np.tile(self.log_prior, (rows, 1))

        def add(start: int) -> None:
            part = slice(start, start + _ROWS_AT_ONCE)
            for feature, table in zip(self.features, self.tables, strict=True):
                column = encode(columns[feature.name][part], feature.name, missing=missing, compiled=compiled)
                total[part] += table[_lines(feature, column, missing)]

        share(add, range(0, rows, _ROWS_AT_ONCE), threads if compiled else 1)
        return total


def likelihood(features: Sequence[Feature], totals: FloatArray, pseudo_count: float, *, unlabeled: bool) -> Likelihood:
    """The likelihood from the counts of these features; `Scorer.support` decides which features are used."""
    tables = tuple(_log_probabilities(feature, pseudo_count, unlabeled=unlabeled) for feature in features)
    return Likelihood(log_shares(totals), tuple(features), tables)


def _log_probabilities(feature: Feature, pseudo_count: float, *, unlabeled: bool) -> FloatArray:
    """The table of one feature in a `Likelihood`."""
    counts = feature.block[:-1, :-1].astype(np.float64)
    if unlabeled and feature.block[-1, :-1].any() and counts.shape[1] > 1:
        log_probabilities = log_shares(posterior(feature.table, prior=pseudo_count).mean)
    else:
        log_probabilities = log_value_shares(counts, counts.sum(axis=1, keepdims=True), counts.shape[1], pseudo_count)
    return np.vstack([log_probabilities.T, np.zeros(counts.shape[0])])


def _lines(feature: Feature, column: Column, missing: MissingValues) -> IntegerArray:
    """The line of the feature's table for each row."""
    missing_line = feature.block.shape[1] - 1 - feature.missing_is_value
    lines = np.append(_lines_of_labels(feature, column), missing_line)
    lines[:-1][missing.among(column)] = missing_line
    return lines[np.minimum(column.codes, column.values)]


def _lines_of_labels(feature: Feature, column: Column) -> IntegerArray:
    """The line of the feature's table for each label of the column."""
    unknown_line = feature.block.shape[1] - 1
    labels = feature.labels
    if labels.kind == NUMBER:
        numbers = column.numbers if column.numbers is not None else numbers_among(column.texts)
        if feature.cuts.size:
            bins = bins_of(labels.numbers, feature.cuts)
            line_of_bin = np.full(feature.cuts.size + 1, unknown_line, dtype=np.int64)
            line_of_bin[bins] = feature.places
            return np.asarray(np.where(np.isnan(numbers), unknown_line, line_of_bin[bins_of(numbers, feature.cuts)]))
        nearest = np.minimum(np.searchsorted(labels.numbers, numbers), labels.numbers.size - 1)
        return np.asarray(np.where(labels.numbers[nearest] == numbers, feature.places[nearest], unknown_line))
    line_of_text = dict(zip(labels.texts, feature.places.tolist(), strict=True))
    texts = column.texts if column.numbers is None else map(shown_number, column.numbers.tolist())
    return np.array([line_of_text.get(text, unknown_line) for text in texts], dtype=np.int64)
