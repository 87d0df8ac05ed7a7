"""The probability of each class, from the current counts.

`Scorer` has two ways to compute the same numbers. For many rows, the counts are interpreted, the logarithms taken once,
and each column is looked up. For one row, the few counts that it needs are taken directly from the incremental counts,
in O(features x classes), and no table is made that the next row would change. This second way works for features whose
labels are the values themselves (`columns.interpret.plainly_categories`).

If rows are predicted and learned in turn, two costs grow with the learned rows. Numbers that are cut are cut again by
all rows so far, in O(distinct numbers) for each such feature of the row. A selector looks at all tables again, in
O(cells). Both are bounded, since the number of labels is (`columns.labels.most_labels`).

What a value tells about the class is the formula of `inference.naive_bayes`. A missing feature is left out of the
product, which is exact: its value is summed over. (Or missing is treated as a value like others.) A value that was
never seen is left out as well, as the counts tell nothing about it. With `unlabeled` rows (n_?j), P(j | i) is taken
from the posterior mean of the joint cell probabilities, to which such rows contribute; without such rows the two are
the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from credimi.columns.encode import encode
from credimi.columns.interpret import plainly_categories
from credimi.columns.labels import MANY, NUMBER, RAW, TEXT, numbers_as
from credimi.columns.meaning.identifiers import is_identifier
from credimi.columns.meaning.meaning import CATEGORIES, may_differ
from credimi.columns.numbers.ranges import bins_of
from credimi.columns.text_types import shown_number
from credimi.core.arguments import require_whole
from credimi.core.errors import CredimiError
from credimi.core.public import stored
from credimi.core.tables import Tables
from credimi.core.threads import share
from credimi.counts.tabulate import CELLS_WORTH_COMPILING
from credimi.inference.naive_bayes import log_shares, log_value_shares
from credimi.inference.posterior import posterior
from credimi.inference.rules import RULES
from credimi.questions.select.answer import GOALS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from credimi.columns.column import Column
    from credimi.columns.feature import Feature
    from credimi.columns.missing import MissingValues
    from credimi.core.types import BooleanArray, FloatArray, IntegerArray, Record, Value, Values
    from credimi.counts.incremental_counts import IncrementalCounts
    from credimi.estimators.selector import CredibleSelector

    Mask = BooleanArray

_ROWS_AT_ONCE = 1 << 16


@stored
class Scorer:
    """log P(class) + sum of log P(value | class) of the features that are used."""

    def __init__(
        self,
        ledger: IncrementalCounts,
        pseudo_count: float,
        selector: CredibleSelector | None = None,
        *,
        unlabeled: bool = False,
        missing_as_value: bool = False,
    ) -> None:
        self.ledger = ledger
        self.pseudo_count = pseudo_count
        self.selector = selector
        self.unlabeled = unlabeled
        self.missing_as_value = missing_as_value
        self._layout = self._support_version = self._tables_version = -1
        self._support: Mask = np.zeros(0, dtype=bool)
        self._tables: Likelihood | None = None

    def __getstate__(self) -> Record:
        """Everything but the tables, which follow from the counts."""
        return self.__dict__ | {"_tables": None}

    def support(self) -> Mask:
        """Which features are used now; only this method decides it."""
        if self._support_version != self.ledger.version:
            self._support = self._plainly_supported() if self._plain_features().all() else self._supported()
            self._support_version = self.ledger.version
        return self._support

    def log_joint(self, columns: Mapping[str, Values], rows: int) -> FloatArray:
        """(rows, classes) for the classes that were counted."""
        if self._tables is None or self._tables_version != self.ledger.version:
            used = [feature for feature, kept in zip(self._interpreted(), self.support(), strict=True) if kept]
            self._tables = self._likelihood(used)
            self._tables_version = self.ledger.version
        return self._tables.log_joint(columns, rows, self.ledger.missing)

    def log_joint_of_row(self, cells: Sequence[Value]) -> FloatArray | None:
        """(classes,) for one row; None if this row has to be predicted by `log_joint`."""
        ledger, plain = self.ledger, self._plain_features()
        needs_all_plain = self.selector is not None or self.missing_as_value or ledger.classes.kind == RAW
        if (needs_all_plain and not plain.all()) or (self.unlabeled and ledger.totals()[-1] > 0.0):
            return None
        cut = {column_index: cells[column_index] for column_index in np.flatnonzero(~plain).tolist()}
        lines = ledger.lines_of([None if column_index in cut else cell for column_index, cell in enumerate(cells)])
        if lines is None:
            return None
        log_joint = self._of_cut_numbers(cut) if cut else log_shares(ledger.totals()[:-1])
        support = self._plainly_supported() if cut else self.support()
        used = np.flatnonzero(support & (lines >= 0) & (lines != ledger.gone))
        if not used.size:
            return log_joint
        counts, seen = ledger.of_lines(lines[used])[:, :-1], ledger.seen()[used, :-1]
        evidence = log_value_shares(counts, seen, ledger.sizes[used, None], self.pseudo_count)
        return np.asarray(log_joint + evidence.sum(axis=0))

    def _of_cut_numbers(self, cells: Mapping[int, Value]) -> FloatArray:
        """log P(class) plus the evidence of these features; their numbers are cut by all rows so far."""
        present = {column_index: cell for column_index, cell in cells.items() if not self.ledger.missing.means(cell)}
        features = {column_index: self.ledger.feature(column_index) for column_index in present}
        used = {column_index: feature for column_index, feature in features.items() if not feature.useless}
        columns = {
            feature.name: np.array([present[column_index]], dtype=object) for column_index, feature in used.items()
        }
        log_joint: FloatArray = self._likelihood(list(used.values())).log_joint(columns, 1, self.ledger.missing)[0]
        return log_joint

    def _likelihood(self, features: Sequence[Feature]) -> Likelihood:
        tables = [_log_probabilities(feature, self.pseudo_count, unlabeled=self.unlabeled) for feature in features]
        return Likelihood(log_shares(self.ledger.totals()[:-1]), tuple(features), tuple(tables))

    def _plain_features(self) -> Mask:
        """The features whose labels are the values themselves, not ranges; cached until there are new labels."""
        ledger = self.ledger
        if self._layout != ledger.layout:
            named, method = set(ledger.settings.named), ledger.settings.method
            columns = list(zip(ledger.features, ledger.columns, strict=True))
            raw = self.missing_as_value or ledger.classes.kind == RAW
            self._plain = np.array(
                [
                    not raw
                    and plainly_categories(glimpse := labels.glimpse(CATEGORIES + 1), method(name), named=name in named)
                    and (method(name) == "categories" or not may_differ(glimpse, labels.where))
                    for name, labels in columns
                ],
                dtype=bool,
            )
            has_several = [labels.kind != MANY and len(labels) > 1 for _, labels in columns]
            is_text = [labels.kind == TEXT and method(name) != "categories" for name, labels in columns]
            self._candidates = self._plain & np.array(has_several, dtype=bool)
            self._texts = np.array(is_text, dtype=bool)
            self._layout = ledger.layout
        return self._plain

    def _interpreted(self) -> list[Feature]:
        """The features as they are ranked; one class is enough here."""
        features = self.ledger.current_counts.interpreted(least_classes=1)
        return [feature.with_missing_as_value() for feature in features] if self.missing_as_value else features

    def _supported(self) -> Mask:
        """The features that the selector keeps, or without a selector all that are not useless."""
        features, selector = self._interpreted(), self.selector
        if selector is None:
            return np.array([not feature.useless for feature in features], dtype=bool)
        ranked = np.array([feature.kind.ranked for feature in features], dtype=bool)
        support = np.zeros(ranked.size, dtype=bool)
        if self.ledger.height > 2:
            ranked_features = [feature for feature in features if feature.kind.ranked]
            blocks = Tables.of(
                [feature.block for feature in ranked_features], [feature.odds for feature in ranked_features]
            )
            support[ranked] = selector.decide(blocks, np.ones(np.count_nonzero(ranked), dtype=bool))
        return support

    def _plainly_supported(self) -> Mask:
        """The same as `_supported` for plain features, without interpreting them: a plain feature is not suspicious."""
        ledger, selector = self.ledger, self.selector
        candidates: Mask = self._candidates & ~self._identifiers()
        if selector is None:
            return candidates
        support = np.zeros(candidates.size, dtype=bool)
        if ledger.height > 2 and candidates.any():
            candidate_indices = np.flatnonzero(self._candidates)
            blocks = Tables.of([ledger.block(column_index)[1] for column_index in candidate_indices.tolist()])
            support[candidate_indices] = selector.decide(blocks, candidates[candidate_indices])
        return support

    def _identifiers(self) -> Mask:
        """The text columns that are identifiers. The number of rows decides, so this may change with each row."""
        identifiers: Mask = self._texts & is_identifier(self.ledger.sizes, self.ledger.seen().sum(axis=1))
        return identifiers


def check_selector(selector: CredibleSelector) -> None:
    """Refuse a selector that cannot decide from counts alone, again after every row."""
    if not hasattr(selector, "decide"):
        raise CredimiError(f"selector is {selector!r}: pass a CredibleSelector, such as CredibleSelector('fdr')")
    if selector.rule in GOALS:
        raise CredimiError(
            f"rule {selector.rule!r} of the selector looks at columns together and needs all rows at once, but naive "
            f"Bayes selects anew whenever it learns: choose one of {', '.join(RULES)}, or select first: "
            f"make_pipeline(CredibleSelector({selector.rule!r}), IncrementalNaiveBayes())"
        )
    selector.check_rule()
    if selector.k is not None:
        require_whole("k", selector.k, 1)
    require_whole("min_features", selector.min_features, 0)


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
        numbers = numbers_as(labels, column.texts, column.numbers)
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
