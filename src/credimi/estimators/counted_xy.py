"""Counts X and y for the estimators: X and y, checked, become `Counts`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from credimi.columns.encode import encode
from credimi.columns.labels import NUMBER, Labels
from credimi.columns.numbers.target_ranges import bins_asked
from credimi.columns.text_types import shown
from credimi.core.errors import CredimiError
from credimi.counts.batch import Batch, count_coded, encode_batch, tally
from credimi.counts.codes import EncodedTable
from credimi.counts.request import Plan, check_named, columns_of, free
from credimi.counts.rows.coded_parts import without_values_of_no_weight
from credimi.counts.target_pass import with_cells, with_quantiles
from credimi.counts.weights import with_squares, worth_rows
from credimi.estimators.validation import numbers_of
from credimi.sources.frames import TARGET

if TYPE_CHECKING:
    from credimi.columns.missing import MissingValues
    from credimi.columns.reading_options import ReadingOptions
    from credimi.core.types import AnyArray, CountArray, FloatArray, Value, Values
    from credimi.counts.counts import Counts
    from credimi.estimators.validation import Features


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """X and y, checked: what is counted, how values are read, what the target is called, and the weights of rows."""

    features: Features
    target: Values
    settings: ReadingOptions
    name: str
    weights: FloatArray | None = None
    threads: int | None = None


def counted(sample: Sample, unlabeled: Value = None) -> Counts:
    """The counts of the target with every feature; `unlabeled` is one more value that means missing."""
    cuts = sample.settings.target_cuts
    if unlabeled is not None and cuts is not None:  # before the target is cut: -1 would be in the first range
        numbers = numbers_of(sample.target, sample.name)
        sample, unlabeled = replace(sample, target=np.where(numbers == unlabeled, np.nan, numbers)), None
    counts = tally(*_planned(sample), threads=sample.threads)
    if sample.weights is not None and sample.settings.weights is not None:
        counts = with_squares(counts, sample.weights)
    return counts if unlabeled is None else _without_class(counts, unlabeled)


def with_target_cells(sample: Sample, unlabeled: Value = None) -> Sample:
    """The sample; if the target is a number, with the cuts of its cells."""
    settings, target = sample.settings, sample.target
    if settings.target_cuts is not None or settings.target_as == "categories":
        return sample
    if unlabeled is not None and np.asarray(target).dtype.kind in "if":  # no value of the number
        target = np.where(np.asarray(target) == unlabeled, np.nan, np.asarray(target, dtype=np.float64))
    batch = Batch({sample.name: target}, sample.features.rows, weights=sample.weights)
    found = with_cells(settings, [batch], sample.name)
    return sample if found is settings else replace(sample, target=target, settings=found)


def coded(sample: Sample) -> EncodedTable:
    """The rows, encoded, and their counts, for callers that need the rows again."""
    check_named(sample.settings, sample.features.names, sample.name)
    is_survey = False
    if sample.weights is not None and sample.settings.weights is not None:
        weights, is_survey = worth_rows(sample.weights, sample.settings)
        sample = replace(sample, weights=weights)
    coded_batch = without_values_of_no_weight(encode_batch(*_planned(sample), threads=sample.threads))
    counts = count_coded(coded_batch, threads=sample.threads, squared=is_survey)
    return EncodedTable(coded_batch, counts, is_survey)


def _planned(sample: Sample) -> tuple[Batch, Plan]:
    """X and y as a batch, of which all features are counted: one that cannot be counted is an error.

    Quantiles of the target are replaced by cuts.
    """
    features, name, settings = sample.features, sample.name, sample.settings
    columns_of([*features.names, name], name, None)  # checks the names: each must occur once
    columns = {name: sample.target, **dict(zip(features.names, features.columns, strict=True))}
    batch = Batch(columns, features.rows, cells=features.rows * len(features.names), weights=sample.weights)
    if bins_asked(settings.target_cuts) is not None:
        settings = with_quantiles(settings, [batch], name)
    return batch, Plan(name, tuple(features.names), settings, required=frozenset(features.names))


def target_name(target: Values, features: Features) -> str:
    """A name for the target, as messages and rankings use it."""
    return free(str(getattr(target, "name", None) or TARGET), features.names)


def labelled(target: Values, missing: MissingValues, unlabeled: Value) -> FloatArray:
    """1 for each row whose class is known, 0 for others."""
    column = encode(target, TARGET, missing=missing)
    known = np.append(~missing.among(column), False)
    labels = Labels(column.kind, column.texts, np.zeros(0) if column.numbers is None else column.numbers)
    position = None if unlabeled is None else _position(labels, unlabeled)
    if position is not None:
        known[position] = False
    return known[np.minimum(column.codes, column.values)].astype(np.float64)


def share_right(predicted: AnyArray, right: AnyArray, known: FloatArray, weights: FloatArray | None) -> float:
    """The share of rows whose predicted class is the right one, among those whose class is `known` (1, otherwise 0)."""
    row_weights = known if weights is None else known * weights
    if not row_weights.any():
        raise CredimiError(f"y is missing in all {predicted.size:,} rows that count: there is nothing to score")
    return float(np.average(predicted == right, weights=row_weights))


def _without_class(counts: Counts, label: Value) -> Counts:
    """The same counts, with the target missing where it has this label."""
    position = _position(counts.classes, label)
    if position is None:
        return counts
    keep = np.arange(len(counts.classes)) != position

    def moved(part: Counts) -> CountArray:
        parts = [part.flat[:0]]
        for counted_block in part.blocks():
            block = counted_block.copy()
            block[-1] += block[position]
            parts.append(block[np.append(keep, True)].ravel())
        return np.concatenate(parts)

    squares = counts.of_squares()
    flat_squares = None if squares is None else moved(squares)
    return replace(counts, classes=counts.classes.chosen(keep), flat=moved(counts), flat_squares=flat_squares)


def _position(classes: Labels, label: Value) -> int | None:
    """The position of a label among the classes; None if it is not there."""
    if classes.kind == NUMBER:
        positions = (
            np.flatnonzero(classes.numbers == label) if isinstance(label, int | float | np.number) else np.zeros(0)
        )
        return int(positions[0]) if positions.size else None
    text = shown(label)
    return classes.texts.index(text) if text in classes.texts else None
