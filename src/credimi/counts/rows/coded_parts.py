"""`coded_parts`: the parts of a table in memory as one `EncodedTable`.

Parts of the same types are joined and encoded together. Files, or frames of a stream, may store a column in different
types: as numbers here and as text there. Such parts are encoded and counted apart, and their counts are added: so the
column is read as `rank` reads it. Then each code is replaced by the place of its label in the sum.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from credimi.columns import labels
from credimi.columns.column import Column, PrecodedColumn, UnreadableColumn
from credimi.columns.labels import MANY, NUMBER
from credimi.columns.missing import NOTHING_MORE, missing_of
from credimi.core.errors import CredimiError, NoRowsError, UncountableError
from credimi.counts.batch import Batch, count_coded, encode_batch
from credimi.counts.codes import EncodedTable, recoded
from credimi.counts.merge import within_plan
from credimi.counts.request import checked
from credimi.counts.weights import weighted, worth_rows

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from credimi.columns.column import ColumnValues
    from credimi.columns.labels import Labels
    from credimi.columns.missing import MissingValues
    from credimi.core.types import AnyArray, Foreign
    from credimi.counts.batch import CodedBatch
    from credimi.counts.counts import Counts
    from credimi.counts.request import Plan


def coded_parts(parts: list[Batch], plan: Plan, threads: int | None = None) -> EncodedTable:
    """All rows, encoded, and their counts."""
    if not parts:
        raise NoRowsError("there are no rows: nothing can be learned")
    filled = [part for part in parts if part.rows] or parts[:1]
    alike = [list(run) for _, run in groupby(filled, key=partial(_types, wanted=plan.wanted))]
    batches = list(weighted([_one_batch(run, plan.wanted) for run in alike], plan.settings))
    batches, is_survey = _worth_rows(batches, plan)
    coded = [without_values_of_no_weight(encode_batch(batch, plan, threads=threads)) for batch in batches]
    counts = [count_coded(part, threads=threads, squared=is_survey) for part in coded]
    if len(coded) == 1:
        return EncodedTable(coded[0], checked(counts[0], plan), is_survey)
    total = counts[0]
    for part in counts[1:]:
        total = within_plan(total + part, plan)
    return EncodedTable(_joined(coded, total), checked(total, plan), is_survey)


def _types(part: Batch, wanted: Sequence[str]) -> Hashable:
    """What is the same in parts that can be joined."""
    return part.raw, *(_type_of(part.columns[name]) for name in wanted)


def _type_of(values: ColumnValues) -> Hashable:
    if isinstance(values, PrecodedColumn):
        return PrecodedColumn, id(values.values)  # codes of other categories mean something else
    if isinstance(values, UnreadableColumn):
        return UnreadableColumn
    if isinstance(values, np.ndarray):
        return values.dtype.str
    kind: Hashable = values.type  # type: ignore[union-attr]  # files and streams have no sparse columns
    return kind


def _one_batch(parts: list[Batch], wanted: Sequence[str]) -> Batch:
    """One batch of all rows of parts of the same types."""
    if len(parts) == 1:
        return parts[0]
    columns = {name: _joined_column([part.columns[name] for part in parts]) for name in wanted}
    fault = None if parts[0].fault is None else partial(_first_fault, parts, wanted)
    return Batch(columns, sum(part.rows for part in parts), parts[0].raw, parts[0].cells, fault)


def _first_fault(parts: list[Batch], wanted: Sequence[str], error: Exception) -> str:
    """The message for the first part, of the first file, that has bytes that are no text."""
    missing = missing_of((), raw=parts[0].raw)
    for part in parts:
        for name in wanted:
            try:
                part.encoded(name, missing)
            except UncountableError:
                continue
            except CredimiError as fault:
                return str(fault)
    return str(error)


def _joined_column(parts: list[Foreign]) -> ColumnValues:
    if isinstance(parts[0], np.ndarray):
        return np.concatenate(parts)
    if isinstance(parts[0], UnreadableColumn):
        return UnreadableColumn(np.concatenate([part.seen for part in parts]), parts[0].fault)
    if isinstance(parts[0], PrecodedColumn):
        return PrecodedColumn(np.concatenate([part.codes for part in parts]), parts[0].values)
    arrays = [chunk for part in parts for chunk in (part.chunks if isinstance(part, pa.ChunkedArray) else [part])]
    return pa.chunked_array(arrays)


def _worth_rows(batches: list[Batch], plan: Plan) -> tuple[list[Batch], bool]:
    """The same batches, with weights that are worth rows: all weights together say how many.

    The second result is whether they are survey weights.
    """
    arrays = [batch.weights for batch in batches if batch.weights is not None]
    if not arrays:
        return batches, False
    ends = np.cumsum([array.size for array in arrays])[:-1]
    weights, is_survey = worth_rows(np.concatenate(arrays), plan.settings)
    scaled = np.split(weights, ends)
    return [replace(batch, weights=part) for batch, part in zip(batches, scaled, strict=True)], is_survey


def without_values_of_no_weight(coded: CodedBatch) -> CodedBatch:
    """The same rows; values are missing in rows of weight 0, so that only counted values are labels."""
    if coded.weights is None or coded.weights.all():
        return coded
    weightless = coded.weights == 0.0
    columns = {
        name: replace(column, codes=np.where(weightless, np.iinfo(column.codes.dtype).max, column.codes))
        for name, column in coded.columns.items()
    }
    return replace(coded, columns=columns)


def _joined(parts: list[CodedBatch], total: Counts) -> CodedBatch:
    """All rows, with the classes and the labels of their counts, among which none means missing."""
    columns = {}
    for name, counted in zip(total.features, total.labels, strict=True):
        codes = [_codes_among(counted, part.columns[name], part.missing) for part in parts]
        numbers = counted.numbers if counted.kind == NUMBER else None
        texts = counted.texts or ("",) if counted.kind == MANY else counted.texts
        rest = counted.dropped_bits, counted.instants
        columns[name] = Column(np.concatenate(codes), counted.kind, texts, numbers, *rest)
    groups = np.concatenate([_groups_among(total.classes, part) for part in parts])
    weights = [part.weights for part in parts if part.weights is not None]
    return replace(
        parts[0],
        classes=total.classes,
        groups=groups,
        columns=columns,
        missing=NOTHING_MORE,
        rows=sum(part.rows for part in parts),
        weights=np.concatenate(weights) if weights else None,
    )


def _codes_among(counted: Labels, column: Column, missing: MissingValues) -> AnyArray:
    """The place of each row's label among those that were counted; the code after these is missing."""
    return np.take(recoded(column, missing, counted, np.arange(len(counted)), len(counted)), column.codes, mode="clip")


def _groups_among(classes: Labels, part: CodedBatch) -> AnyArray:
    """The class of each row among all classes; their number if it is missing."""
    _, own_in_both, all_in_both = labels.union(part.classes, classes)
    place = np.full(int(all_in_both.max(initial=-1)) + 1, len(classes))
    place[all_in_both] = np.arange(len(classes))
    return np.append(place[own_in_both], len(classes))[part.groups]
