"""The counts of each group of rows, in one pass over the data, wherever these are."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from credimi.columns.labels import MANY, RAW
from credimi.columns.python_objects import shown_name
from credimi.columns.text_types import shown_date, shown_number, spelled
from credimi.core.arguments import unknown
from credimi.core.errors import CredimiError, NoRowsError
from credimi.counts.batch import count_coded, encode_batch
from credimi.counts.merge import as_planned
from credimi.counts.request import CountRequest, by_place, checked
from credimi.counts.weights import scaled_alike, weighted, with_squares
from credimi.sources import frames, sparse_matrices
from credimi.sources.count import cluster_of, plan_of, source, with_target_cuts
from credimi.sources.group_ranges import names_of_ranges, ranges_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from credimi.columns.column import Column
    from credimi.columns.numbers.target_ranges import Cuts
    from credimi.core.types import BooleanArray, Data, Option, Value, Values
    from credimi.counts.batch import Batch, CodedBatch
    from credimi.counts.counts import Counts
    from credimi.counts.reading import Reading
    from credimi.counts.request import Plan

MAX_GROUPS = 50
_TO_CUT = "compare ranges of numbers or dates (by_cuts='quantile:2', --by-cuts quantile:2: halves), or group by another"
_LENGTH_BYTES = 8


@dataclass(slots=True)
class _Groups:
    """The counts of the groups so far, and the number of rows without a group."""

    by: str
    plan: Plan
    cuts: Cuts | None = None  # of the column that names the groups, if its ranges are the groups
    counts: dict[str, Counts] = field(default_factory=dict)
    missing: int = 0

    def add(self, name: str, counts: Counts) -> None:
        """Add rows of a group."""
        self.counts[name] = checked(self.counts[name] + counts if name in self.counts else counts, self.plan)
        if len(self.counts) > MAX_GROUPS:
            raise CredimiError(f"column {self.by!r} has more than {MAX_GROUPS} different values: {_TO_CUT}")

    def add_batches(self, batches: Iterable[Batch], threads: int | None) -> None:
        """Add rows."""
        for batch in weighted(batches, self.plan.settings):
            coded = encode_batch(batch, self.plan, threads=threads)
            names = _group_names(self.by, coded, self.cuts)
            for name, rows in _groups(coded.columns[self.by], names):
                if name is None:
                    self.missing += int(rows.sum())
                else:
                    self.add(name, _counted(_rows_of_group(coded, rows, self.by), threads))

    def to_bytes(self) -> bytes:
        """The length of a head in JSON, the head, and the counts of each group in the format of counts files."""
        contents = {name: counts.to_bytes() for name, counts in self.counts.items()}
        lengths = [[name, len(content)] for name, content in contents.items()]
        head = json.dumps({"missing": self.missing, "lengths": lengths}).encode()
        return b"".join([len(head).to_bytes(_LENGTH_BYTES, "little"), head, *contents.values()])

    def add_bytes(self, content: bytes) -> None:
        """Add what `to_bytes` made of other rows."""
        start = _LENGTH_BYTES + int.from_bytes(content[:_LENGTH_BYTES], "little")
        head = json.loads(content[_LENGTH_BYTES:start])
        self.missing += head["missing"]
        for name, length in head["lengths"]:
            self.add(name, as_planned(content[start : start + length], self.plan))
            start += length


def count_by(
    data: Data, target: Values, by: Value, reading: Reading, cuts: Cuts | None = None
) -> tuple[dict[str, Counts], int]:
    """The counts of each group, in order, and the number of rows without a group (`by` is missing)."""
    by = column_name(by, data)
    if _is_name(target) and by == column_name(target, data):
        raise CredimiError(f"{by!r} is the target: group by another column")
    _check_source(data)
    features = reading.features
    if features is not None:
        reading = replace(reading, features=[*([features] if isinstance(features, str) else features), by])
    request = with_target_cuts(data, CountRequest.of(target, reading))
    cluster, batches = cluster_of(data), None
    plan = plan_of(cluster.names(data), request) if cluster is not None else None
    if plan is None:
        plan, batches = source(data, request)
    if by not in plan.features or len(plan.features) == 1:
        raise CredimiError(_refusal(by, plan, reading.exclude))
    found = _Groups(by, plan, cuts)
    if batches is not None:
        found.add_batches(batches, request.threads)
    elif cluster is not None:
        work, join = (partial(each, by, plan, cuts) for each in (_of_partition, _joined))
        content = cluster.reduce(data, plan.wanted, work, join)
        found.add_bytes(content or found.to_bytes())
    if len(found.counts) < 2:
        raise _too_few(by, found.counts, found.missing)
    ordered = sorted(found.counts, key=_sort_key)
    if cuts is not None:
        ordered = [name for name in names_of_ranges(cuts) if name in found.counts]
    return scaled_alike({name: found.counts[name] for name in ordered}), found.missing


def _of_partition(by: str, plan: Plan, cuts: Cuts | None, batches: Iterable[Batch]) -> bytes:
    """The groups of a partition: this runs on the workers of a cluster."""
    found = _Groups(by, plan, cuts)
    found.add_batches(batches, threads=1)
    return found.to_bytes()


def _joined(by: str, plan: Plan, cuts: Cuts | None, parts: Iterable[bytes]) -> bytes:
    found = _Groups(by, plan, cuts)
    for part in parts:
        found.add_bytes(part)
    return found.to_bytes()


def column_name(named: Value, data: Data) -> str:
    """The name of a column as text; a column of an array may be given by its index."""
    if not _is_name(named):
        raise CredimiError(
            f"by is a {type(named).__name__}: name one column; groups that are no column yet have to become one of "
            "the data first"
        )
    if isinstance(data, np.ndarray) and not data.dtype.names:
        named = by_place(named, frames.names(data))
    return shown_name(named)


def _is_name(named: object) -> bool:
    return isinstance(named, str | tuple) or not hasattr(named, "__iter__")  # a tuple of a MultiIndex


def _counted(coded: CodedBatch, threads: int | None) -> Counts:
    counts = count_coded(coded, threads=threads, squared=coded.settings.needs_squares)
    return counts if coded.weights is None else with_squares(counts, coded.weights)


def _check_source(data: Data) -> None:
    if sparse_matrices.reads(data):
        raise CredimiError("the rows of a sparse matrix are not grouped: pass X.toarray()")


def _too_few(by: str, counts_of: Mapping[str, Counts], missing: int) -> CredimiError:
    """The error if there are not two groups; `missing` rows have no group."""
    if not counts_of and not missing:
        return NoRowsError("there are no rows: there are no groups to compare")
    what = f"one value only, {next(iter(counts_of))!r}" if counts_of else "no values"
    return CredimiError(f"column {by!r} has {what}: there are no groups to compare")


def _refusal(by: str, plan: Plan, exclude: Option) -> str:
    if by in ([exclude] if isinstance(exclude, str) else map(str, exclude or ())):
        return f"column {by!r} names the groups and cannot be left out: remove it from exclude"
    if by in plan.features:
        return f"there is no column besides the target {plan.target!r} and {by!r}: nothing to rank"
    return unknown(by, plan.features)


def _group_names(by: str, coded: CodedBatch, cuts: Cuts | None) -> list[str | None]:
    """The name of the group of each code, None if the value means missing."""
    column = coded.columns[by]
    if cuts is not None:
        return ranges_of(column, coded.missing.among(column).tolist(), cuts, by)
    if column.kind == MANY:
        raise CredimiError(f"column {by!r} has too many different values for groups: {_TO_CUT}")
    if column.numbers is not None:
        shown = list(map(shown_date if column.instants else shown_number, column.numbers.tolist()))
    else:
        shown = [spelled(text) if column.kind == RAW else text for text in column.texts]
    means_missing = coded.missing.among(column).tolist()
    return [None if missing else name for name, missing in zip(shown, means_missing, strict=True)]


def _groups(column: Column, names: list[str | None]) -> Iterator[tuple[str | None, BooleanArray]]:
    """The groups that occur, and their rows; several codes may have one name."""
    codes = np.minimum(column.codes, column.values)
    for name in dict.fromkeys((*names, None)):
        group_codes = [code for code, code_name in enumerate((*names, None)) if code_name == name]
        rows = np.isin(codes, group_codes)
        if rows.any():
            yield name, rows


def _rows_of_group(coded: CodedBatch, rows: BooleanArray, by: str) -> CodedBatch:
    """The rows of one group, without the column of the groups."""
    columns = {name: replace(column, codes=column.codes[rows]) for name, column in coded.columns.items() if name != by}
    weights = None if coded.weights is None else coded.weights[rows]
    return replace(coded, columns=columns, groups=coded.groups[rows], rows=int(rows.sum()), weights=weights)


def _sort_key(name: str) -> tuple[int, float, str]:
    """Numbers in numeric order, then names in alphabetical order."""
    try:
        return 0, float(name), name
    except ValueError:
        return 1, 0.0, name
