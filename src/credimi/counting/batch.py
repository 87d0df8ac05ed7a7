"""Counts a batch of columns: encode each column (`CodedBatch`), then count it against the target (`Counts`)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from credimi.columns import labels
from credimi.columns.arrow_buffers import code_type
from credimi.columns.column import Column, SparseColumn, seen_only
from credimi.columns.encode import encode
from credimi.columns.interpret import MOST_CLASSES, check_classes, too_many_classes
from credimi.columns.labels import MANY, Labels
from credimi.columns.missing import MissingValues, missing_of
from credimi.columns.numbers import sorted_numbers, target_ranges
from credimi.columns.numbers.small_codes import encode_small, every_row
from credimi.columns.numbers.small_counts import count_small
from credimi.core.errors import CredimiError, UncountableError
from credimi.core.tables import relabel
from credimi.core.threads import share
from credimi.counting import tabulate
from credimi.counting.counts import Counts, bounded
from credimi.counting.merge import within_plan
from credimi.counting.request import Plan, checked
from credimi.counting.sampled_rows import SampledRows
from credimi.counting.weights import weighted, with_squares

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from credimi.columns.column import ColumnLabels, ColumnValues
    from credimi.columns.numbers.target_ranges import Cuts
    from credimi.columns.reading_options import ReadingOptions
    from credimi.core.remote_files import Place
    from credimi.core.types import AnyArray, BooleanArray, CountArray, FloatArray, IntegerArray, Record

_FIRST = 1 << 12  # rows in which most classes occur
_FEW, _SHORT = 256, 1 << 14  # the most labels whose order is cached, and their letters


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Some rows of a table. `raw` text may be numbers. `cells` is how many cells the whole source has, if known.

    `weights` is what each row counts for, if that is not 1. `fault` says where the source has bytes that are no text.
    `path` is the file that the rows come from.
    """

    columns: Mapping[str, ColumnValues]
    rows: int
    raw: bool = False
    cells: int = 0
    fault: Callable[[Exception], str] = str
    weights: FloatArray | None = None
    path: Place | None = None


@dataclass(frozen=True, slots=True, eq=False)
class CodedBatch:
    """The same rows as codes: the class of each row, `len(classes)` if it is missing, and the columns, encoded once.

    Each feature may keep `most_labels`, and texts of `most_bytes` in all; `compiled` says whether there is much to
    count. Columns that are already `counted` have no codes.
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
    most_labels: int
    most_bytes: int
    compiled: bool
    counted: Mapping[str, tuple[Labels, CountArray]] = field(default_factory=dict)


def encode_batch(batch: Batch, plan: Plan, *, threads: int | None = None, rows_again: bool = True) -> CodedBatch:
    """The codes of one batch.

    Columns that cannot be counted are reduced to present or missing, unless the plan requires them.
    Unless the rows are needed again, columns of many numbers, or of few small ones, are counted at once.
    """
    target, features, settings = plan.target, plan.features, plan.settings
    missing = missing_of(settings.missing_values, raw=batch.raw)
    cells = max(batch.cells, batch.rows * len(features))
    ready = batch.path is None and cells >= tabulate.CELLS_WORTH_CALLING and tabulate.kernels_are_ready()
    compiled = ready or cells >= tabulate.CELLS_WORTH_COMPILING

    def coded(name: str, *, refused: bool = True) -> Column:
        try:
            values = batch.columns[name]
            if isinstance(values, SparseColumn) and name != target:
                return _encode_sparse(values, name, missing=missing, compiled=compiled)
            return encode(values, name, missing=missing, raw=batch.raw, compiled=compiled)
        except UncountableError as fault:
            if refused and batch.rows:  # a part without rows does not decide for the others
                raise
            return seen_only(batch.columns[name], fault, missing)

    classes, groups = grouped(coded(target), missing, target, batch.weights, settings.given_cuts, compiled=compiled)
    max_labels, max_bytes = plan.most_labels(len(classes)), plan.most_bytes
    counted: dict[str, tuple[Labels, CountArray]] = {}
    if compiled and not rows_again and batch.weights is None:
        own = {name: batch.columns[name] for name in features}
        for name, (column, block) in count_small(own, groups, len(classes) + 1, threads).items():
            counted[name] = bounded(*_ordered(column, block, missing, max_labels), max_labels, max_bytes)
    left = [name for name in features if name not in counted]
    found = encode_small({name: batch.columns[name] for name in left}, threads) if compiled else {}
    if not rows_again and batch.weights is None and not missing.numbers:
        many = sorted_numbers.many_numbers(batch.columns, [name for name in left if name not in found])
        cells = max(batch.cells * len(many) // max(len(features), 1), batch.rows * len(many))
        if cells >= (tabulate.CELLS_WORTH_CALLING if ready else sorted_numbers.CELLS_WORTH_COMPILING):
            height = len(classes) + 1
            counted |= sorted_numbers.count_sorted(
                batch.columns, many, groups, height, max_labels=max_labels, threads=threads
            )

    def work(name: str) -> None:
        column = coded(name, refused=name in plan.required or name in settings.named)
        found[name] = column if column.values <= max_labels else _fewer(_occurring(column), missing, max_labels)

    left = [name for name in features if name not in found and name not in counted]
    share(work, left, threads if compiled else 1)
    columns = {name: found[name] for name in features if name not in counted}
    much = max_labels, max_bytes, compiled
    codes = classes, groups, columns
    return CodedBatch(target, features, *codes, missing, batch.rows, batch.weights, settings, *much, counted)


def _encode_sparse(values: SparseColumn, name: str, *, missing: MissingValues, compiled: bool) -> Column:
    """A column of a sparse matrix, without its zeros but for one, which stands for all (see `Column`)."""
    stored = np.append(values.values, values.values.dtype.type(0))
    return replace(encode(stored, name, missing=missing, compiled=compiled), at=values.at)


def count_coded(coded: CodedBatch, *, threads: int | None = None) -> Counts:
    """The counts of one batch."""
    columns, height = list(coded.columns.values()), len(coded.classes) + 1
    if any(column.at is not None for column in columns):  # as all are, then
        counted = tabulate.sparse_counts(coded.groups, height, columns, coded.weights)
    else:
        codes, values = [column.codes for column in columns], [column.values for column in columns]
        how: Record = {"weights": coded.weights, "compiled": coded.compiled, "threads": threads}
        counted = tabulate.cross_counts(coded.groups, height, codes, values, **how)
    rows = coded.rows if coded.weights is None else float(coded.weights.sum())
    max_labels, max_bytes = coded.most_labels, coded.most_bytes
    blocks = {
        name: bounded(*_ordered(column, block, coded.missing, max_labels), max_labels, max_bytes)
        for (name, column), block in zip(coded.columns.items(), counted, strict=True)
    }
    if coded.counted:
        blocks = {name: coded.counted.get(name) or blocks[name] for name in coded.features}
    return Counts.join(coded.target, coded.classes, blocks, rows, coded.settings)


def tally(batch: Batch, plan: Plan, *, threads: int | None = None, sampled: bool = False) -> Counts:
    """The counts of one batch, by `encode_batch` and `count_coded`; with `sampled` also some of its rows."""
    coded = encode_batch(batch, plan, threads=threads, rows_again=False)
    counts = count_coded(coded, threads=threads)
    if not sampled:
        return counts

    def take(names: Iterable[str], step: int) -> dict[str, Callable[[], Column]]:
        """Some rows of columns that were counted without codes, and what encodes them."""
        some = every_row({name: batch.columns[name] for name in names}, step)
        how: Record = {"missing": coded.missing, "raw": batch.raw, "compiled": False}
        return {name: partial(encode, values, name, **how) for name, values in some.items()}

    return replace(counts, sample=SampledRows.of(coded, take))


def grouped(
    column: Column,
    missing: MissingValues,
    target: str,
    weights: FloatArray | None = None,
    cuts: Cuts | None = None,
    *,
    compiled: bool = False,
) -> tuple[Labels, AnyArray]:
    """The target's labels in order, and the class of each row, r if it is missing; with `cuts` those of ranges."""
    some = np.minimum(column.codes[:_FIRST], column.values)
    occurring: AnyArray = np.bincount(some, minlength=column.values + 1)[:-1] > 0
    if weights is None and not occurring.all():  # the first rows do not have all
        one = np.zeros(column.codes.size, dtype=np.uint8)
        occurring = tabulate.cross_counts(one, 1, [column.codes], [column.values], compiled=compiled)[0][0, :-1] > 0
    elif weights is not None:
        occurring = np.bincount(np.minimum(column.codes, column.values), weights, minlength=column.values + 1)[:-1] > 0
    keep = occurring & ~missing.among(column)
    if (
        cuts is None and np.count_nonzero(keep) > MOST_CLASSES
    ):  # before a table of so many classes is made for each feature
        raise CredimiError(too_many_classes(target, int(np.count_nonzero(keep))))
    kept, positions = labels_of(column, keep) if cuts is None else target_ranges.ranges(column, keep, cuts, target)
    check_classes(target, kept)
    if column.codes.dtype == np.uint8 and keep.all() and np.array_equal(positions, np.arange(len(kept))):
        return kept, np.minimum(column.codes, np.uint8(len(kept)))
    moved = np.full(column.values + 1, len(kept), dtype=np.uint8 if len(kept) < 255 else np.uint32)
    moved[:-1][keep] = positions
    return kept, moved[np.minimum(column.codes, column.values)]


def _occurring(column: Column) -> Column:
    """The same column without labels that no row has: ranges of whole numbers have gaps, dictionaries unused values."""
    places = np.minimum(column.codes, column.values)
    keep = np.bincount(places, minlength=column.values + 1)[:-1] > 0
    kept = int(np.count_nonzero(keep))
    dtype = code_type(kept)
    moved = np.full(column.values + 1, np.iinfo(dtype).max, dtype=dtype)
    moved[:-1][keep] = np.arange(kept)
    texts = tuple(text for text, seen in zip(column.texts, keep.tolist(), strict=False) if seen)
    numbers = None if column.numbers is None else column.numbers[keep]
    return replace(column, codes=moved[places], texts=texts, numbers=numbers)


def _fewer(column: Column, missing: MissingValues, max_labels: int) -> Column:
    """A column with more labels than are kept, before it is counted: coarser numbers, or only seen and missing."""
    if column.values <= max_labels:
        return column
    means_missing = missing.among(column)
    if column.numbers is not None:
        kept, positions = labels.of_numbers(column.numbers[~means_missing], max_labels=max_labels)
        moved = np.full(column.values + 1, len(kept), dtype=np.uint16)
        moved[:-1][~means_missing] = positions
        codes = moved[np.minimum(column.codes, column.values)]
        codes = np.where(codes == len(kept), np.uint16(65_535), codes)
        return replace(column, codes=codes, numbers=kept.numbers, dropped_bits=kept.dropped_bits)
    kept_texts = (text for text, missing_ in zip(column.texts, means_missing.tolist(), strict=True) if not missing_)
    if not labels.exceed(kept_texts, column.kind, max_labels):  # without values that mean missing, and other spellings
        return column
    seen = np.append(~means_missing, False)[np.minimum(column.codes, column.values)]
    return Column(np.where(seen, np.uint8(0), np.uint8(255)), MANY, ("",))


def _ordered(column: Column, block: CountArray, missing: MissingValues, max_labels: int) -> tuple[Labels, CountArray]:
    """The labels that occurred, sorted; counts of labels that mean missing are added to the missing counts."""
    if column.kind == MANY:
        return _given_up(column), block
    occurring: BooleanArray = np.asarray(block[:, :-1].any(axis=0))
    if column.values <= _FEW and sum(map(len, column.texts)) <= _SHORT:
        found = _order(column.without_codes(), occurring.tobytes(), missing, max_labels)
    else:
        found = _find_order(column, occurring, missing, max_labels)
    if found.missing_codes is not None:
        block[:, -1] += block[:, found.missing_codes].sum(axis=1)
    chosen = block[:, found.kept]
    if found.apart:
        return found.labels, chosen
    height = block.shape[0] - 1
    return found.labels, relabel(chosen, np.arange(height), found.positions, (height, len(found.labels)))


class _Order(NamedTuple):
    """Labels in order; the kept codes with the missing one last, and their new positions; the codes that mean missing.

    If each code has a position of its own (`apart`), the codes are in the order of these positions.
    """

    labels: Labels
    kept: IntegerArray
    positions: IntegerArray
    missing_codes: IntegerArray | None
    apart: bool


def _find_order(column: Column, occurring: BooleanArray, missing: MissingValues, max_labels: int) -> _Order:
    means_missing = missing.among(column)
    keep = occurring & ~means_missing
    kept, positions = labels_of(column, keep, max_labels)
    codes = np.append(np.flatnonzero(keep), column.values)
    apart = np.array_equal(np.sort(positions), np.arange(len(kept)))
    if apart:
        codes[:-1] = codes[np.argsort(positions)]
    return _Order(kept, codes, positions, np.flatnonzero(means_missing) if means_missing.any() else None, apart)


@lru_cache(maxsize=1 << 9)  # a cache 16 times as large had hardly more hits, and cost memory
def _order(alike: ColumnLabels, occurring: bytes, missing: MissingValues, max_labels: int) -> _Order:
    """The same with a cache, as the labels of a column's batches are mostly alike."""
    return _find_order(alike.column(), np.frombuffer(occurring, dtype=bool), missing, max_labels)


def labels_of(column: Column, keep: BooleanArray, max_labels: int | None = None) -> tuple[Labels, IntegerArray]:
    """The labels of a column that are kept, in order, and the new position of each."""
    if column.numbers is not None:
        return labels.of_numbers(column.numbers[keep], column.dropped_bits, max_labels, instants=column.instants)
    if column.kind == MANY:
        return _given_up(column), np.zeros(1, dtype=np.int64)
    return labels.of_texts([text for text, kept in zip(column.texts, keep, strict=True) if kept], column.kind)


def _given_up(column: Column) -> Labels:
    """The labels of a column that is counted as seen or missing only: what it holds, if that cannot be counted."""
    return Labels(MANY, tuple(filter(None, column.texts)))


def counted_bytes(plan: Plan, batches: Iterable[Batch]) -> bytes:
    """The counts of all batches, on one thread, to be sent: what a worker of a cluster does."""
    return counted(batches, plan, threads=1).to_bytes()


def counted(batches: Iterable[Batch], plan: Plan, *, threads: int | None = None) -> Counts:
    """The counts of all batches; if there are no batches, counts without rows."""
    result: Counts | None = None
    for batch in weighted(batches, plan.settings):
        try:
            more = tally(batch, plan, threads=threads, sampled=result is None)
        except UnicodeDecodeError as error:
            raise CredimiError(batch.fault(error)) from error
        if plan.settings.weights is not None and batch.weights is not None:
            more = with_squares(more, batch.weights)
        result = checked(more if result is None else within_plan(result + more, plan), plan)
    if result is None:
        empty = Batch({name: np.zeros(0, dtype=object) for name in plan.wanted}, 0)
        result = tally(empty, plan)
    return result
