"""`RowCoder`: turns batches into settled codes, once counts have said what the columns are; `CodeStore` keeps them.

A first pass counts. It says what the values of each column are, where numbers are cut and what is an identifier. Then
every part of the rows becomes codes for itself, wherever it is: a coder can be sent to workers, and its codes come back
as bytes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from credimi.columns import labels
from credimi.core.errors import CredimiError
from credimi.core.threads import share
from credimi.counting.batch import encode_batch
from credimi.counting.rows.coded_table import settled_places, without_values_of_no_weight
from credimi.counting.rows.stratified_counts import SettledCodes, told_apart, unsigned
from credimi.counting.weights import weighted, worth_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from credimi.columns.feature import Feature
    from credimi.columns.interpret import SettledClasses
    from credimi.columns.labels import Labels
    from credimi.core.types import AnyArray, FloatArray
    from credimi.counting.batch import Batch, CodedBatch
    from credimi.counting.counts import Counts
    from credimi.counting.request import Plan
    from credimi.counting.rows.room import Room

    Codes = NDArray[np.unsignedinteger]

_MOST_OF_A_BYTE = 255
_PIECE = 1 << 20  # bytes that travel at once, roughly


@dataclass(frozen=True, slots=True, eq=False)
class CodedRows:
    """Some rows: their classes, their weights, and the codes of the columns of a byte and of the others, two bytes."""

    groups: NDArray[np.uint16]
    weights: FloatArray | None
    narrow: NDArray[np.uint8]
    wide: NDArray[np.uint16]


@dataclass(frozen=True, slots=True, eq=False)
class RowCoder:
    """What the columns are: `features`, and for each the labels that were counted; the classes as well."""

    plan: Plan
    features: tuple[Feature, ...]
    labels: tuple[Labels, ...]
    classes: Labels
    settled: SettledClasses

    @classmethod
    def of(cls, plan: Plan, counts: Counts) -> tuple[RowCoder, tuple[Feature, ...]]:
        """From the counts of all rows; and the columns that cannot tell anything, which get no codes."""
        settled = counts.settled_classes()
        features, left_out = told_apart(counts.settled(classes=settled))
        own = dict(zip(counts.features, counts.labels, strict=True))
        names = tuple(feature.name for feature in features)
        kept = replace(plan, features=names, table=len(plan.features))
        return cls(kept, features, tuple(own[name] for name in names), counts.classes, settled), left_out

    @property
    def is_narrow(self) -> list[bool]:
        """Of which columns a byte is enough."""
        return [len(feature.values) <= _MOST_OF_A_BYTE for feature in self.features]

    def row_bytes(self) -> int:
        """The bytes of one row, as it travels."""
        narrow = sum(self.is_narrow)
        return 2 + 8 * (self.plan.settings.weights is not None) + narrow + 2 * (len(self.features) - narrow)

    def coded(self, batches: Iterable[Batch], threads: int | None = None) -> Iterator[CodedRows]:
        """The codes of batches of rows."""
        plan = self.plan
        for batch in weighted(batches, plan.settings):
            if not batch.rows:
                continue
            yield self._settled(without_values_of_no_weight(encode_batch(batch, plan, threads=threads)), threads)

    def _settled(self, coded: CodedBatch, threads: int | None) -> CodedRows:
        narrow = self.is_narrow
        small = np.empty((sum(narrow), coded.rows), dtype=np.uint8)
        large = np.empty((len(narrow) - len(small), coded.rows), dtype=np.uint16)
        columns = [*_in_order(narrow, small, large)]

        def work(number: int) -> None:
            feature, column = self.features[number], coded.columns[self.features[number].name]
            try:
                settled = settled_places(column, coded.missing, self.labels[number], feature)
            except LookupError:
                raise CredimiError(
                    f"column {feature.name!r} looks different in parts of the data than in all of them: exclude it, or "
                    "give it one kind of values"
                ) from None
            out = columns[number]
            np.take(unsigned(settled, len(feature.values)).astype(out.dtype), column.codes, out=out, mode="clip")

        share(work, range(len(self.features)), threads)
        return CodedRows(self._classes(coded), coded.weights, small, large)

    def _classes(self, coded: CodedBatch) -> NDArray[np.uint16]:
        """The class of each row, one more than the last if it is missing."""
        missing = len(self.settled.labels)
        _, onward, own = labels.union(coded.classes, self.classes)
        places = np.full(int(own.max(initial=-1)) + 1, missing)
        places[own] = self.settled.positions
        found = np.append(places[onward], missing)[coded.groups]
        return np.where(found < 0, missing, found).astype(np.uint16)

    def packed(self, rows: CodedRows) -> Iterator[bytes]:
        """The same as bytes, in pieces."""
        step = max(1, _PIECE // self.row_bytes())
        for start in range(0, rows.groups.size, step):
            part = slice(start, start + step)
            weights = b"" if rows.weights is None else rows.weights[part].astype("<f8").tobytes()
            wide = rows.wide[:, part].astype("<u2").tobytes()
            yield rows.groups[part].astype("<u2").tobytes() + weights + rows.narrow[:, part].tobytes() + wide

    def unpacked(self, content: bytes) -> CodedRows:
        """The rows of a piece."""
        count = len(content) // self.row_bytes()
        narrow = sum(self.is_narrow)
        groups = np.frombuffer(content, "<u2", count)
        start, weights = groups.nbytes, None
        if self.plan.settings.weights is not None:
            weights = np.frombuffer(content, "<f8", count, start)
            start += weights.nbytes
        small = np.frombuffer(content, np.uint8, narrow * count, start).reshape(narrow, count)
        large = np.frombuffer(content, "<u2", offset=start + small.nbytes).reshape(-1, count)
        return CodedRows(groups, weights, small, large)


class CodeStore:
    """The codes of all rows, in a room; parts are put in one after the other."""

    def __init__(self, coder: RowCoder, rows: int, room: Room) -> None:
        self.coder, self.room, self._done = coder, room, 0
        narrow = sum(coder.is_narrow)
        wide = len(coder.features) - narrow
        room.require((narrow + 2 * wide) * rows, f"the codes of {rows:,} rows x {narrow + wide:,} columns")
        self._narrow: NDArray[np.uint8] = room.zeros((narrow, rows), np.uint8)
        self._wide: NDArray[np.uint16] = room.zeros((wide, rows), np.uint16)
        kind = np.uint8 if len(coder.settled.labels) <= _MOST_OF_A_BYTE else np.uint16
        self._groups: AnyArray = np.empty(rows, dtype=kind)
        self._weights = np.empty(rows) if coder.plan.settings.weights is not None else None

    def put(self, rows: CodedRows) -> None:
        """Some more rows."""
        here = slice(self._done, self._done + rows.groups.size)
        self._done = here.stop
        if self._done > self._groups.size:
            raise CredimiError(_CHANGED)
        self._groups[here] = rows.groups
        self._narrow[:, here] = rows.narrow
        self._wide[:, here] = rows.wide
        if self._weights is not None and rows.weights is not None:
            self._weights[here] = rows.weights

    def put_packed(self, content: bytes) -> None:
        """The same, of rows that come as bytes."""
        self.put(self.coder.unpacked(content))

    def settled(self, left_out: tuple[Feature, ...]) -> SettledCodes:
        """All rows, once all were put in."""
        if self._done != self._groups.size:
            raise CredimiError(_CHANGED)
        coder = self.coder
        codes = tuple(_in_order(coder.is_narrow, self._narrow, self._wide))
        weights = None if self._weights is None else worth_rows(self._weights, coder.plan.settings)
        matrix = self._narrow if not len(self._wide) else None
        classes = coder.settled.labels.shown()
        own = coder.plan.target, classes, self._groups, coder.features, codes, weights, left_out, matrix
        return SettledCodes(*own, self.room)


def _in_order(is_narrow: list[bool], narrow: NDArray[np.uint8], wide: NDArray[np.uint16]) -> Iterator[Codes]:
    """The columns of both matrices, as the table has them."""
    small, large = iter(narrow), iter(wide)
    for own in is_narrow:
        yield next(small) if own else next(large)


_CHANGED = "the data changed between the two passes over them: run it again"
