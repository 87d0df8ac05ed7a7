"""Counts a batch of columns: encodes each column (`CodedBatch`), then counts it against the target (`Counts`)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from credimi.columns import labels
from credimi.columns.arrow_buffers import code_type
from credimi.columns.column import Column, SparseColumn, seen_only
from credimi.columns.encode import encode
from credimi.columns.encode_arrow import no_text
from credimi.columns.interpret import MAX_CLASSES, check_classes, too_many_classes
from credimi.columns.labels import LOOSE, MANY, TEXT, Labels
from credimi.columns.missing import MissingValues, missing_of
from credimi.columns.numbers import sorted_numbers, target_ranges
from credimi.columns.numbers.small_codes import encode_small
from credimi.core.errors import CredimiError, TooManyClassesError, UncountableError
from credimi.core.tables import relabel
from credimi.core.threads import share
from credimi.counts import tabulate
from credimi.counts.counts import Counts, bounded
from credimi.counts.merge import within_plan
from credimi.counts.request import Plan, checked
from credimi.counts.rows.sampled_rows import SampledRows
from credimi.counts.weights import weighted, with_squares

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from credimi.columns.column import ColumnLabels, ColumnValues
    from credimi.columns.numbers.target_ranges import Cuts
    from credimi.columns.reading_options import ReadingOptions
    from credimi.core.remote_files import Place
    from credimi.core.types import AnyArray, BooleanArray, CountArray, FloatArray, IntegerArray, Record

_FIRST_ROWS = 1 << 12  # usually all classes occur in them
_MAX_CACHED_LABELS, _MAX_CACHED_LETTERS = 256, 1 << 14  # the order of larger sets of labels is not cached


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Some rows of a table.

    If `raw`, numbers may be given as text. `cells` is the number of cells of the whole source, if known. `weights` are
    those of the rows, if they are not all 1. `fault` makes the message that says where a file of text has bytes that
    are no text; other sources have none. `path` is the file that the rows come from.
    """

    columns: Mapping[str, ColumnValues]
    rows: int
    raw: bool = False
    cells: int = 0
    fault: Callable[[Exception], str] | None = None
    weights: FloatArray | None = None
    path: Place | None = None

    def encoded(self, name: str, missing: MissingValues, *, compiled: bool = False) -> Column:
        """A column as codes. Bytes that are no text are refused, with their line or their column."""
        try:
            return encode(self.columns[name], name, missing=missing, raw=self.raw, compiled=compiled)
        except UnicodeDecodeError as error:
            place = "" if self.path is None else f"{self.path}: "
            message = f"{place}{no_text(name)}" if self.fault is None else self.fault(error)
            raise CredimiError(message) from error


@dataclass(frozen=True, slots=True, eq=False)
class CodedBatch:
    """The same rows as codes: the class of each row, `len(classes)` if it is missing, and the columns, encoded once.

    Each feature may have at most `max_labels` labels, whose texts have at most `max_bytes` together. `compiled` says
    whether there is enough to count for compiled code. Columns that are already `counted` have no codes.
    """

    target: str
    features: Sequence[str]
    classes: Labels
    groups: AnyArray
    columns: Mapping[str, Column]
    missing: MissingValues
    rows: int
    weights: FloatArray | None
    settings: ReadingOptions
    max_labels: int
    max_bytes: int
    compiled: bool
    counted: Mapping[str, tuple[Labels, CountArray]] = field(default_factory=dict)


def encode_batch(batch: Batch, plan: Plan, *, threads: int | None = None, rows_again: bool = True) -> CodedBatch:
    """The codes of one batch.

    Columns that cannot be counted are reduced to present or missing, unless the plan requires them. If the rows are not
    needed again, columns of many numbers are counted immediately.
    """
    target, features, settings = plan.target, plan.features, plan.settings
    missing = missing_of(settings.missing_values, raw=batch.raw)
    cells = max(batch.cells, batch.rows * len(features))
    kernels_ready = batch.path is None and cells >= tabulate.CELLS_WORTH_CALLING and tabulate.kernels_are_ready()
    compiled = kernels_ready or cells >= tabulate.CELLS_WORTH_COMPILING

    def coded(name: str, *, must_count: bool = True) -> Column:
        try:
            values = batch.columns[name]
            if isinstance(values, SparseColumn) and name != target:
                return _encode_sparse(values, name, missing=missing, compiled=compiled)
            return batch.encoded(name, missing, compiled=compiled)
        except UncountableError as fault:
            if must_count and batch.rows:  # a batch without rows does not decide for the other batches
                raise
            return seen_only(batch.columns[name], fault, missing)

    classes, groups = grouped(coded(target), missing, target, batch.weights, settings.given_cuts, compiled=compiled)
    max_labels, max_bytes = plan.most_labels(len(classes)), plan.most_bytes
    counted: dict[str, tuple[Labels, CountArray]] = {}
    encoded = encode_small({name: batch.columns[name] for name in features}, threads) if compiled else {}
    if not rows_again and batch.weights is None and not missing.numbers:
        sorted_features = sorted_numbers.many_numbers(batch.columns, [name for name in features if name not in encoded])
        cells = max(batch.cells * len(sorted_features) // max(len(features), 1), batch.rows * len(sorted_features))
        if cells >= (tabulate.CELLS_WORTH_CALLING if kernels_ready else sorted_numbers.CELLS_WORTH_COMPILING):
            height = len(classes) + 1
            counted |= sorted_numbers.count_sorted(
                batch.columns, sorted_features, groups, height, max_labels=max_labels, threads=threads
            )

    def work(name: str) -> None:
        column = coded(name, must_count=name in plan.required or name in settings.named)
        encoded[name] = (
            column
            if column.values <= max_labels
            else _reduce_labels(_without_unused_labels(column), missing, max_labels)
        )

    remaining = [name for name in features if name not in encoded and name not in counted]
    share(work, remaining, threads if compiled else 1)
    columns = {name: encoded[name] for name in features if name not in counted}
    limits = max_labels, max_bytes, compiled
    codes = classes, groups, columns
    return CodedBatch(target, features, *codes, missing, batch.rows, batch.weights, settings, *limits, counted)


def _encode_sparse(values: SparseColumn, name: str, *, missing: MissingValues, compiled: bool) -> Column:
    """A column of a sparse matrix: its stored values, and a single zero that stands for all zeros (see `Column`)."""
    stored = np.append(values.values, values.values.dtype.type(0))
    return replace(encode(stored, name, missing=missing, compiled=compiled), at=values.at)


def count_coded(coded: CodedBatch, *, threads: int | None = None, squared: bool = False) -> Counts:
    """The counts of one batch; if `squared`, also the sums of the squares of its weights, cell by cell."""
    columns, height, weights = list(coded.columns.values()), len(coded.classes) + 1, coded.weights
    kinds = [] if weights is None else [weights, tabulate.squares_of(weights)] if squared else [weights]
    if any(column.at is not None for column in columns):  # then all columns are sparse
        blocks_of_columns = tabulate.count_sparse(coded.groups, height, columns, kinds)
    else:
        codes, values = [column.codes for column in columns], [column.values for column in columns]
        options: Record = {"weights": kinds, "compiled": coded.compiled, "threads": threads}
        blocks_of_columns = tabulate.count_codes(coded.groups, height, codes, values, **options)
    with np.errstate(over="ignore"):  # `with_squares` refuses infinity
        rows = coded.rows if weights is None else float(weights.sum())
    parts = {
        name: _with_labels(column, blocks, coded.missing, (coded.max_labels, coded.max_bytes))
        for (name, column), blocks in zip(coded.columns.items(), blocks_of_columns, strict=True)
    }
    counts = {name: part[0] for name, part in parts.items()}
    if coded.counted:
        counts = {name: coded.counted.get(name) or counts[name] for name in coded.features}
    whole = Counts.join(coded.target, coded.classes, counts, rows, coded.settings)
    if not squared or weights is None:
        return whole
    cells = [part[1][1].ravel() for part in parts.values()]
    return replace(whole, flat_squares=np.concatenate([np.zeros(0), *cells]))


def tally(batch: Batch, plan: Plan, *, threads: int | None = None, sampled: bool = False) -> Counts:
    """The counts of one batch, by `encode_batch` and `count_coded`; if `sampled`, some of its rows are added."""
    coded = encode_batch(batch, plan, threads=threads, rows_again=False)
    counts = count_coded(coded, threads=threads, squared=plan.settings.needs_squares)
    return replace(counts, sample=SampledRows.of(coded, batch)) if sampled else counts


def grouped(
    column: Column,
    missing: MissingValues,
    target: str,
    weights: FloatArray | None = None,
    cuts: Cuts | None = None,
    *,
    compiled: bool = False,
) -> tuple[Labels, AnyArray]:
    """The target's labels in order, and the class of each row, r if it is missing; with `cuts` classes are ranges."""
    first_codes = np.minimum(column.codes[:_FIRST_ROWS], column.values)
    occurring: AnyArray = np.bincount(first_codes, minlength=column.values + 1)[:-1] > 0
    if weights is None and not occurring.all():  # some labels do not occur in the first rows
        one_group = np.zeros(column.codes.size, dtype=np.uint8)
        occurring = (
            tabulate.count_codes(one_group, 1, [column.codes], [column.values], compiled=compiled)[0][0][0, :-1] > 0
        )
    elif weights is not None:
        occurring = np.bincount(np.minimum(column.codes, column.values), weights, minlength=column.values + 1)[:-1] > 0
    keep = occurring & ~missing.among(column)
    # Refuse too many classes before each feature gets a table of them.
    if cuts is None and np.count_nonzero(keep) > MAX_CLASSES:
        raise TooManyClassesError(too_many_classes(target, int(np.count_nonzero(keep))))
    classes, positions = labels_of(column, keep) if cuts is None else target_ranges.ranges(column, keep, cuts, target)
    check_classes(target, classes)
    if column.codes.dtype == np.uint8 and keep.all() and np.array_equal(positions, np.arange(len(classes))):
        return classes, np.minimum(column.codes, np.uint8(len(classes)))
    class_of_code = np.full(column.values + 1, len(classes), dtype=np.uint8 if len(classes) < 255 else np.uint32)
    class_of_code[:-1][keep] = positions
    return classes, class_of_code[np.minimum(column.codes, column.values)]


def _without_unused_labels(column: Column) -> Column:
    """The column without labels that no row has: ranges of integers have gaps, dictionaries have unused values."""
    codes = np.minimum(column.codes, column.values)
    keep = np.bincount(codes, minlength=column.values + 1)[:-1] > 0
    count = int(np.count_nonzero(keep))
    dtype = code_type(count)
    new_codes = np.full(column.values + 1, np.iinfo(dtype).max, dtype=dtype)
    new_codes[:-1][keep] = np.arange(count)
    texts = tuple(text for text, seen in zip(column.texts, keep.tolist(), strict=False) if seen)
    numbers = None if column.numbers is None else column.numbers[keep]
    return replace(column, codes=new_codes[codes], texts=texts, numbers=numbers)


def _reduce_labels(column: Column, missing: MissingValues, max_labels: int) -> Column:
    """Reduce a column to `max_labels` labels before it is counted: coarser numbers, or only present and missing."""
    if column.values <= max_labels:
        return column
    means_missing = missing.among(column)
    if column.numbers is not None:
        number_labels, positions = labels.of_numbers(column.numbers[~means_missing], max_labels=max_labels)
        new_codes = np.full(column.values + 1, len(number_labels), dtype=np.uint16)
        new_codes[:-1][~means_missing] = positions
        codes = new_codes[np.minimum(column.codes, column.values)]
        codes = np.where(codes == len(number_labels), np.uint16(65_535), codes)
        return replace(column, codes=codes, numbers=number_labels.numbers, dropped_bits=number_labels.dropped_bits)
    present_texts = (
        text for text, is_missing in zip(column.texts, means_missing.tolist(), strict=True) if not is_missing
    )
    # There may be few enough without values that mean missing, and if other spellings of a label count once.
    if not labels.exceed(present_texts, column.kind, max_labels):
        return column
    seen = np.append(~means_missing, False)[np.minimum(column.codes, column.values)]
    return Column(np.where(seen, np.uint8(0), np.uint8(255)), MANY, ("",))


def _with_labels(
    column: Column, blocks: Sequence[CountArray], missing: MissingValues, limits: tuple[int, int]
) -> list[tuple[Labels, CountArray]]:
    """The labels that occurred, sorted, with their counts; counts of labels that mean missing are added to the missing.

    The second of the blocks, if there are two, has the squares of weights. `limits` are those of labels and bytes.
    """
    max_labels, max_bytes = limits
    if column.kind == MANY:
        return [bounded(_labels_of_uncounted(column), block, max_labels, max_bytes) for block in blocks]
    occurring: BooleanArray = np.asarray(blocks[0][:, :-1].any(axis=0))
    if column.values <= _MAX_CACHED_LABELS and sum(map(len, column.texts)) <= _MAX_CACHED_LETTERS:
        order = _cached_order(column.without_codes(), occurring.tobytes(), missing, max_labels)
    else:
        order = _find_order(column, occurring, missing, max_labels)
    counted = []
    for block in blocks:
        if order.missing_codes is not None:
            block[:, -1] += block[:, order.missing_codes].sum(axis=1)
        kept = block[:, order.kept_codes]
        if not order.all_distinct:
            height = block.shape[0] - 1
            kept = relabel(kept, np.arange(height), order.positions, (height, len(order.labels)))
        counted.append(bounded(order.labels, kept, max_labels, max_bytes))
    return counted


class _LabelOrder(NamedTuple):
    """The sorted labels of a column, and how its codes map to them.

    `kept_codes` ends with the code of missing values; `positions` has the new position of each of the others.
    `missing_codes` are codes whose labels mean missing. If no two codes share a position (`all_distinct`), `kept_codes`
    are in the order of the positions.
    """

    labels: Labels
    kept_codes: IntegerArray
    positions: IntegerArray
    missing_codes: IntegerArray | None
    all_distinct: bool


def _find_order(column: Column, occurring: BooleanArray, missing: MissingValues, max_labels: int) -> _LabelOrder:
    means_missing = missing.among(column)
    keep = occurring & ~means_missing
    if column.kind == TEXT and (occurring & means_missing).any():
        column = replace(column, kind=LOOSE)
    kept_labels, positions = labels_of(column, keep, max_labels)
    codes = np.append(np.flatnonzero(keep), column.values)
    all_distinct = np.array_equal(np.sort(positions), np.arange(len(kept_labels)))
    if all_distinct:
        codes[:-1] = codes[np.argsort(positions)]
    return _LabelOrder(
        kept_labels, codes, positions, np.flatnonzero(means_missing) if means_missing.any() else None, all_distinct
    )


@lru_cache(maxsize=1 << 9)  # a cache 16 times as large had hardly more hits, and cost memory
def _cached_order(
    column_labels: ColumnLabels, occurring: bytes, missing: MissingValues, max_labels: int
) -> _LabelOrder:
    """The same with a cache, because the batches of a column mostly have the same labels."""
    return _find_order(column_labels.column(), np.frombuffer(occurring, dtype=bool), missing, max_labels)


def labels_of(column: Column, keep: BooleanArray, max_labels: int | None = None) -> tuple[Labels, IntegerArray]:
    """The labels of a column that are kept, sorted, and the new position of each."""
    if column.numbers is not None:
        return labels.of_numbers(column.numbers[keep], column.dropped_bits, max_labels, instants=column.instants)
    if column.kind == MANY:
        return _labels_of_uncounted(column), np.zeros(1, dtype=np.int64)
    return labels.of_texts([text for text, is_kept in zip(column.texts, keep, strict=True) if is_kept], column.kind)


def _labels_of_uncounted(column: Column) -> Labels:
    """The labels of a column that is counted as present or missing only: what it holds, if that cannot be counted."""
    return Labels(MANY, tuple(filter(None, column.texts)))


def counted_bytes(plan: Plan, batches: Iterable[Batch]) -> bytes:
    """The counts of all batches as bytes, computed on one thread: this runs on the workers of a cluster."""
    return counted(batches, plan, threads=1).to_bytes()


def counted(batches: Iterable[Batch], plan: Plan, *, threads: int | None = None) -> Counts:
    """The counts of all batches; if there are no batches, counts without rows."""
    result: Counts | None = None
    for batch in weighted(batches, plan.settings):
        batch_counts = tally(batch, plan, threads=threads, sampled=result is None)
        if plan.settings.weights is not None and batch.weights is not None:
            batch_counts = with_squares(batch_counts, batch.weights)
        result = checked(batch_counts if result is None else within_plan(result + batch_counts, plan), plan)
    if result is None:
        empty = Batch({name: np.zeros(0, dtype=object) for name in plan.wanted}, 0)
        result = tally(empty, plan)
    return result
