"""What is asked of rows that are kept as codes elsewhere: a rule goes there, added-up counts come back.

The workers of a cluster keep the codes of each partition as pieces of bytes (see `counts.rows.code_store`). An `Ask`
says what is made of some rows, and how the results of several parts become one, in any order and in any grouping. It
holds numbers of columns, a tree, bounds of keys: never rows, nor an array of their length. The codebook goes along
without labels. So what is sent grows neither with the rows nor with the partitions.

Each answer starts with the number of rows and the checksum of their codes. These have to be the same for all asks: a
worker that was lost is replaced, and encodes its rows again, which may be others if the query gives others each time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from credimi.core.errors import CredimiError
from credimi.counts.local_counter import LocalCounter, stratum_counts
from credimi.counts.rows.code_store import joined, size_and_checksum
from credimi.counts.rows.distinct_rows import DistinctRows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from credimi.core.types import AnyArray, FloatArray
    from credimi.counts.codes import Codebook, Codes
    from credimi.counts.counter import Rule

    Join = Callable[[Iterable[bytes]], bytes]
    Reduce = Callable[[Callable[[Iterable[bytes]], bytes], Join], bytes]

_BYTES_AT_ONCE = 1 << 26  # of pieces that are counted together
_HEADER_BYTES = 16


class Ask(Protocol):
    """What is made of rows, and how the results of parts are joined."""

    def of(self, codes: Codes) -> bytes:
        """The result of some rows."""

    def join(self, parts: Iterable[bytes]) -> bytes:
        """One result of several; nothing of none."""


@dataclass(frozen=True, slots=True, eq=False)
class AtRows:
    """What a worker does with the pieces of a partition, and with the answers of several."""

    book: Codebook
    ask: Ask
    order: tuple[int, ...] | None = None  # of the columns; as they are kept if this is None

    def __call__(self, pieces: Iterable[bytes]) -> bytes:
        """The answer of these rows."""
        seen = [0, 0]

        def results() -> Iterator[bytes]:
            for some in _at_once(pieces):
                _add(seen, some)
                codes = joined(some, self.book)
                yield self.ask.of(codes if self.order is None else codes.with_columns(self.order))

        content = self.ask.join(results())
        return _header(seen) + content

    def join(self, answers: Iterable[bytes]) -> bytes:
        """One answer of several."""
        seen = [0, 0]

        def results() -> Iterator[bytes]:
            for answer in answers:
                _add(seen, [answer])
                if len(answer) > _HEADER_BYTES:
                    yield answer[_HEADER_BYTES:]

        content = self.ask.join(results())
        return _header(seen) + content


class RowsElsewhere:
    """The rows of a cluster, which are asked; `reduce` sends the work, and joins the answers."""

    def __init__(
        self,
        book: Codebook,
        reduce: Reduce,
        expected: int | None = None,
        order: tuple[int, ...] | None = None,
    ) -> None:
        """`expected` is the number of rows, if it is known; `order` that of the columns."""
        self._book, self._reduce, self._order, self._expected = book.bare, reduce, order, expected
        self._checksum: int | None = None  # of the first answer

    def with_columns(self, order: tuple[int, ...]) -> RowsElsewhere:
        """The same with the columns in another order."""
        return RowsElsewhere(self._book, self._reduce, self._expected, order)

    @property
    def rows(self) -> int:
        """Their number, whatever their weights."""
        if self._expected is None:
            self.ask(Nothing())
        return self._expected or 0

    def ask(self, ask: Ask) -> bytes:
        """The answer; an error if other rows gave it than before."""
        work = AtRows(self._book, ask, self._order)
        answer = self._reduce(work, work.join)
        rows, checksum = size_and_checksum(answer) if answer else (0, 0)  # there may be no partitions
        if self._expected is None:
            self._expected = rows
        if self._checksum is None:
            self._checksum = checksum
        if (rows, checksum) != (self._expected, self._checksum):
            raise CredimiError(
                f"the rows of the DataFrame changed while they were counted, from {self._expected:,} to {rows:,} or in "
                "what they hold: write what the query gives to files, and pass these"
            )
        return answer[_HEADER_BYTES:]

    def numbers(self, ask: Ask) -> FloatArray:
        """An answer that is an array of numbers; empty if there are no rows."""
        content = self.ask(ask)
        return np.frombuffer(content) if content else np.zeros(0)


@dataclass(frozen=True, slots=True)
class Nothing:
    """Asks only how many rows there are."""

    def of(self, _codes: Codes) -> bytes:
        """Nothing."""
        return b""

    def join(self, parts: Iterable[bytes]) -> bytes:
        """Nothing."""
        return b"".join(parts)


class Added:
    """An ask whose results are arrays of doubles that are added up."""

    __slots__ = ()

    def of(self, codes: Codes) -> bytes:
        """The numbers of some rows, as bytes."""
        return np.ascontiguousarray(self.numbers(codes), dtype=np.float64).tobytes()

    def numbers(self, codes: Codes) -> AnyArray:
        """The numbers of some rows."""
        raise NotImplementedError

    def join(self, parts: Iterable[bytes]) -> bytes:
        """Their sum."""
        total = None
        for part in parts:
            total = np.frombuffer(part) if total is None else total + np.frombuffer(part)
        return b"" if total is None else total.tobytes()


@dataclass(frozen=True, slots=True, eq=False)
class ByStratum(Added):
    """The tables of some columns in each stratum; without a rule there is one. If `plain`, weights do not count."""

    rule: Rule | None
    columns: tuple[int, ...]
    plain: bool = False

    def numbers(self, codes: Codes) -> AnyArray:
        """The cells, as `Strata` has them."""
        one = np.zeros(codes.groups.size, dtype=np.uint8), 1
        strata, count = one if self.rule is None else self.rule.strata(codes)
        kinds = [] if codes.weights is None or self.plain else [codes.weights]
        return stratum_counts(codes, strata, count, list(self.columns), kinds, threads=1)[0]


@dataclass(frozen=True, slots=True)
class ByPair(Added):
    """The tables of the columns from `first` up to `after`, each with all larger ones."""

    first: int
    after: int

    def numbers(self, codes: Codes) -> AnyArray:
        """The cells, as `PairTables` has them."""
        return LocalCounter(codes, threads=1).by_pair().tables(self.first, self.after).flat


@dataclass(frozen=True, slots=True)
class ByRow:
    """The different rows, and how often each occurs: the one answer that grows with the rows, as far as they differ."""

    columns: int
    most_bytes: int = 1 << 30

    def of(self, codes: Codes) -> bytes:
        """Those of some rows."""
        return self._packed(LocalCounter(codes, threads=1).by_row())

    def join(self, parts: Iterable[bytes]) -> bytes:
        """Those of all parts."""
        total: DistinctRows | None = None
        for part in map(self.rows, parts):
            total = part if total is None else total.with_more(part)
        return b"" if total is None else self._packed(total)

    def rows(self, content: bytes) -> DistinctRows:
        """The rows of an answer."""
        count = len(content) // self._bytes_per_row
        units, unit_weights = (
            np.frombuffer(content, np.int64, count),
            np.frombuffer(content, np.float64, count, 8 * count),
        )
        codes = np.frombuffer(content, np.uint16, count * self.columns, 16 * count).reshape(self.columns, count)
        return DistinctRows(codes, units, unit_weights)

    @property
    def _bytes_per_row(self) -> int:
        return 16 + 2 * self.columns

    def _packed(self, rows: DistinctRows) -> bytes:
        if rows.units.size * self._bytes_per_row > self.most_bytes:
            raise CredimiError(
                f"there are more than {self.most_bytes // self._bytes_per_row:,} different rows, and all of them are "
                "needed in this process: name fewer columns (features), or sample the rows"
            )
        return rows.units.tobytes() + rows.unit_weights.tobytes() + rows.codes.tobytes()


def _at_once(pieces: Iterable[bytes]) -> Iterator[list[bytes]]:
    some: list[bytes] = []
    for piece in pieces:
        some.append(piece)
        if sum(map(len, some)) >= _BYTES_AT_ONCE:
            yield some
            some = []
    if some:
        yield some


def _add(seen: list[int], parts: Iterable[bytes]) -> None:
    """Add the rows and the checksums of pieces, or of answers."""
    for rows, checksum in map(size_and_checksum, parts):
        seen[0], seen[1] = seen[0] + rows, (seen[1] + checksum) % 2**64


def _header(seen: list[int]) -> bytes:
    return np.array(seen, dtype="<u8").tobytes()
