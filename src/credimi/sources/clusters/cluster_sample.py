"""A sample of rows that are elsewhere: the same rows that `row_keys.evenly_chosen` takes of rows in memory.

It takes the rows at evenly spaced places in the order of their keys. Where these places are, counts of keys say. The
range of keys is divided into intervals, and the keys in each are counted; those intervals that hold a wanted place are
divided again, until few keys are left in them. Then these keys are fetched, and at last the rows that have the chosen
ones. So what is sent depends on how many rows are wanted, not on how many there are. Equal rows have equal keys, and
are counted together, however many there are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from credimi.counts.rows.code_store import joined, packed_rows, unpacked
from credimi.counts.rows.row_keys import KeyMaker, first_copies
from credimi.sources.clusters.asked import Added

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from credimi.core.types import AnyArray, IntegerArray
    from credimi.counts.codes import Codebook, Codes
    from credimi.sources.clusters.asked import RowsElsewhere

    Keys = NDArray[np.uint64]

_KEY_BITS = 64
_INTERVALS_PER_ROW = 8  # into which the keys are divided at once, for each row that is wanted
_KEYS_PER_ROW = 4  # that are fetched


def sampled(elsewhere: RowsElsewhere, book: Codebook, count: int) -> Codes:
    """At most `count` rows; all if there are no more."""
    maker, bare = KeyMaker.of(book), book.bare
    if elsewhere.rows <= count:
        content = elsewhere.ask(RowsOf(bare, maker, None, None))
    else:
        places = ((np.arange(count) + 0.5) * (elsewhere.rows / count)).astype(np.int64)
        content = elsewhere.ask(RowsOf(bare, maker, *_chosen_keys(elsewhere, maker, places)))
    return joined([content] if content else [], book)


def _chosen_keys(elsewhere: RowsElsewhere, maker: KeyMaker, places: IntegerArray) -> tuple[Keys, IntegerArray]:
    """The keys at these places in the order of all keys, and how often each is wanted."""
    intervals, before, population = Intervals(np.zeros(1, np.uint64), _KEY_BITS), np.zeros(1), float(elsewhere.rows)
    while population > _KEYS_PER_ROW * places.size and intervals.bits > 0:
        parts = _INTERVALS_PER_ROW * places.size // intervals.prefixes.size  # of each interval
        divided = min(intervals.bits, max(1, parts.bit_length() - 1))
        counts = elsewhere.numbers(CountKeys(maker, intervals, divided)).reshape(-1, 1 << divided)
        first_places = (before[:, np.newaxis] + np.cumsum(counts, axis=1) - counts).ravel()
        used = np.unique(np.searchsorted(first_places, places, side="right") - 1)
        intervals, before, population = intervals.parts(divided, used), first_places[used], counts.ravel()[used].sum()
    keys, copies = _keys_and_copies(elsewhere.ask(DistinctKeys(maker, intervals)))
    of_interval = intervals.of(keys)
    counted = np.cumsum(copies) - copies
    own_first = np.searchsorted(of_interval, np.arange(intervals.prefixes.size))
    first_places = before[of_interval] + counted - counted[own_first][of_interval]
    return np.unique(keys[np.searchsorted(first_places, places, side="right") - 1], return_counts=True)


@dataclass(frozen=True, slots=True, eq=False)
class Intervals:
    """Intervals of keys: those whose bits above the lowest `bits` are one of `prefixes`, which are in order."""

    prefixes: Keys
    bits: int

    def of(self, keys: Keys) -> IntegerArray:
        """The interval of each key; -1 if it is in none."""
        if self.bits == _KEY_BITS:
            return np.zeros(keys.size, dtype=np.int64)
        own = keys >> np.uint64(self.bits)
        place = np.minimum(np.searchsorted(self.prefixes, own), self.prefixes.size - 1)
        return np.where(self.prefixes[place] == own, place, -1)

    def parts(self, divided: int, used: IntegerArray) -> Intervals:
        """Some of the intervals that result if each is divided into 2^divided; `used` are their numbers."""
        whole, part = self.prefixes[used >> divided], (used & ((1 << divided) - 1)).astype(np.uint64)
        return Intervals((whole << np.uint64(divided)) | part, self.bits - divided)


@dataclass(frozen=True, slots=True, eq=False)
class CountKeys(Added):
    """How many keys each interval has, divided into 2^divided."""

    maker: KeyMaker
    intervals: Intervals
    divided: int

    def numbers(self, codes: Codes) -> AnyArray:
        """The counts, (intervals, parts), as one array."""
        keys = self.maker.keys(codes, threads=1)
        interval = self.intervals.of(keys)
        inside = interval >= 0
        part = (keys[inside] >> np.uint64(self.intervals.bits - self.divided)) & np.uint64((1 << self.divided) - 1)
        cells = (interval[inside] << self.divided) + part.astype(np.int64)
        return np.bincount(cells, minlength=self.intervals.prefixes.size << self.divided)


@dataclass(frozen=True, slots=True, eq=False)
class DistinctKeys:
    """The keys in the intervals, and how many rows have each."""

    maker: KeyMaker
    intervals: Intervals

    def of(self, codes: Codes) -> bytes:
        """Those of some rows."""
        keys = self.maker.keys(codes, threads=1)
        distinct, copies = np.unique(keys[self.intervals.of(keys) >= 0], return_counts=True)
        return np.stack([distinct, copies.astype(np.uint64)]).tobytes()

    def join(self, parts: Iterable[bytes]) -> bytes:
        """Those of all parts."""
        several = [_keys_and_copies(part) for part in parts]
        if not several:
            return b""
        keys, place = np.unique(np.concatenate([part[0] for part in several]), return_inverse=True)
        copies = np.zeros(keys.size, dtype=np.uint64)
        np.add.at(copies, place, np.concatenate([part[1] for part in several]).astype(np.uint64))
        return np.stack([keys, copies]).tobytes()


def _keys_and_copies(content: bytes) -> tuple[Keys, IntegerArray]:
    keys, copies = np.frombuffer(content, np.uint64).reshape(2, -1)
    return keys, copies.astype(np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class RowsOf:
    """The rows that have these keys, so many of each; all rows if there are no keys."""

    book: Codebook
    maker: KeyMaker
    keys: Keys | None
    copies: IntegerArray | None

    def of(self, codes: Codes) -> bytes:
        """Those of some rows."""
        if self.keys is None or self.copies is None:
            return packed_rows(codes)
        keys = self.maker.keys(codes, threads=1)
        place = np.minimum(np.searchsorted(self.keys, keys), self.keys.size - 1)
        rows = np.flatnonzero(self.keys[place] == keys)
        return packed_rows(codes.chosen(rows[first_copies(place[rows], self.copies)]))

    def join(self, parts: Iterable[bytes]) -> bytes:
        """Those of all parts."""
        several = [part for part in parts if unpacked(part, self.book).groups.size]
        return self.of(joined(several, self.book)) if several else b""
