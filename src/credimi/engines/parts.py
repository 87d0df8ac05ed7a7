"""Parts of a table counted apart, and put together: rows below rows by `+`, columns beside columns by `beside`.

Engines that count in several places send `Counts` as bytes, in the format of their files. What arrives is merged as a
tree: with k parts whose labels hardly overlap, adding them one after the other aligns the growing sum k times, which
is O(k^2) labels; a tree aligns each label O(log k) times.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from importlib import import_module
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from credimi import labels
from credimi.counts import Counts, bounded, unknown
from credimi.engines.batches import Batch, columns_of, tally
from credimi.errors import CredimiError
from credimi.settling import plainly_categories

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from credimi.settings import Settings


@dataclass(frozen=True, slots=True)
class Plan:
    """What is counted: the same in every place.

    `table` is the number of features, where these are some of them; `max_levels` how many categories each may have;
    `required` are the features that the user named, and that are refused if they cannot be counted; `delimiter` is what
    stands between the fields of CSV files, where that is not to be found out from each.
    """

    target: str
    features: tuple[str, ...]
    settings: Settings
    table: int = 0
    max_levels: int | None = None
    required: frozenset[str] = frozenset()
    delimiter: str | None = None

    @classmethod
    def of(
        cls,
        offered: Sequence[str],
        target: Any,  # noqa: ANN401
        features: Sequence[str] | None,
        settings: Settings,
        max_levels: int | None = None,
        *,
        exclude: Sequence[str] | None = None,
        delimiter: str | None = None,
        named: bool = False,
    ) -> Plan:
        """Names checked against the columns there are; whether it was the user who `named` the features."""
        if not isinstance(target, str):
            raise CredimiError(f"target is {target!r}: name one of the columns; only tables in memory take its values")
        wanted = tuple(columns_of(offered, target, features, exclude))
        check_named(settings, offered, target)
        required = frozenset(wanted if named else ())
        return cls(target, wanted, settings, max_levels=max_levels, required=required, delimiter=delimiter)

    @property
    def wanted(self) -> list[str]:
        """All columns that are read, the target first."""
        return [self.target, *self.features]

    def blocks(self, columns: int) -> list[Plan]:
        """The same in parts of at most so many columns, all about as wide; the target is in each."""
        every, parts = len(self.features), max(1, math.ceil(len(self.features) / max(columns - 1, 1)))
        ends = [every * part // parts for part in range(parts + 1)]
        return [replace(self, features=self.features[start:end], table=every) for start, end in pairwise(ends)]

    def most_labels(self, classes: int) -> int:
        """How many labels each feature may keep: the less, the more features the whole table has."""
        return labels.most_labels(max(self.table, len(self.features)), classes + 1)

    @property
    def most_bytes(self) -> int:
        """How many bytes the texts of each feature may have."""
        return labels.most_bytes(max(self.table, len(self.features)))


def check_named(settings: Settings, offered: Sequence[str], target: str) -> None:
    """Refuse settings of a column that is not there, or is the target."""
    for name in settings.named:
        if name not in offered:
            raise CredimiError(unknown(name, offered))
        if name == target:
            raise CredimiError(f"discretize names the target {name!r}, which has to have classes: cut it first")


def check_levels(max_levels: Any) -> None:  # noqa: ANN401  (whatever the user passed)
    """Refuse a limit that is none."""
    if max_levels is not None and (isinstance(max_levels, bool) or not isinstance(max_levels, int) or max_levels < 1):
        raise CredimiError(f"max_levels is {max_levels!r}: pass a whole number from 1 up, or None for no limit")


def counted(batches: Iterable[Batch], plan: Plan, *, threads: int | None = None) -> Counts:
    """The counts of all batches; of none, counts without rows."""
    result: Counts | None = None
    for batch in batches:
        try:
            more = tally(
                batch,
                plan.target,
                plan.features,
                plan.settings,
                threads=threads,
                table=plan.table,
                required=plan.required,
            )
        except UnicodeDecodeError as error:
            raise CredimiError(batch.fault(error)) from error
        result = checked(more if result is None else _bounded(result + more, plan), plan)
    if result is None:
        empty = Batch({name: np.zeros(0, dtype=object) for name in plan.wanted}, 0)
        result = tally(empty, plan.target, plan.features, plan.settings)
    return result


def checked(counts: Counts, plan: Plan) -> Counts:
    """The same, unless a column has more categories than it may; numbers that will be cut have none yet."""
    most = plan.max_levels
    if most is None:
        return counts
    for name, own in zip(counts.features, counts.labels, strict=True):
        if (own.kind != labels.MANY and len(own) <= most) or (own.kind == labels.MANY and own.texts):
            continue
        named = name in plan.settings.named
        if plainly_categories(labels.typed(own)[0], plan.settings.method(name), named=named):
            such = f", such as {', '.join(map(repr, own.shown()[:3]))}" if len(own) > most else ""
            such = ", or longer ones than are kept" if own.kind == labels.MANY else such
            raise CredimiError(
                f"column {name!r} has more than {most:,} values{such}: leave it out (exclude, --exclude), put its "
                "values into groups, or allow more (max_levels, --max-levels)"
            )
    return counts


def merged(parts: Iterable[Counts]) -> Counts | None:
    """Their sum, each part added to one of about as many parts; None if there are none."""
    waiting: list[tuple[int, Counts]] = []  # sums of 2^k parts, k falling, as the digits of a binary number
    for part in parts:
        size, total = 1, part
        while waiting and waiting[-1][0] == size:
            total = waiting.pop()[1] + total
            size *= 2
        waiting.append((size, total))
    whole: Counts | None = None
    for _, part in reversed(waiting):
        whole = part if whole is None else part + whole
    return whole


def merged_bytes(parts: Iterable[bytes]) -> bytes:
    """The same of counts that were sent, to be sent on."""
    total = merged(map(Counts.from_bytes, parts))
    return b"" if total is None else total.to_bytes()


def beside(blocks: Sequence[Counts], plan: Plan) -> Counts:
    """Counts of the same rows and other columns, as one."""
    first = blocks[0]
    for other in blocks[1:]:
        if other.rows != first.rows or other.classes != first.classes:
            raise CredimiError(
                "the table changed between two passes, or its rows are drawn at random: store it, and count that"
            )
    return _joined(blocks, plan)


def _joined(blocks: Sequence[Counts], plan: Plan) -> Counts:
    first = blocks[0]
    most = plan.most_labels(len(first.classes))
    columns = {
        name: bounded(own, block, most, plan.most_bytes)
        for each in blocks
        for name, own, block in zip(each.features, each.labels, each.blocks(), strict=True)
    }
    return Counts.join(plan.target, first.classes, columns, first.rows, plan.settings)


def _bounded(counts: Counts, plan: Plan) -> Counts:
    """The same with no more labels than the whole table's width allows: `+` knows but the columns it adds."""
    most = plan.most_labels(len(counts.classes))
    few = all(len(own) <= most and not labels.too_long(own, plan.most_bytes) for own in counts.labels)
    return counts if few else _joined([counts], plan)


def as_planned(content: bytes, plan: Plan) -> Counts:
    """Counts that were sent, with the settings as they were here: JSON has lists where these have tuples."""
    return checked(replace(Counts.from_bytes(content), settings=plan.settings), plan)


def library(name: str, extra: str) -> Any:  # noqa: ANN401
    """A library that an engine needs, or what to install."""
    try:
        return import_module(name)
    except ImportError as error:
        raise CredimiError(f"{extra} cannot be used here ({error}): pip install 'credimi[{extra}]'") from error
