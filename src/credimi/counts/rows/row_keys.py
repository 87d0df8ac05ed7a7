"""Keys of rows: 64 bits made of what a row holds, so that choices among rows do not depend on their order.

A row's key is the sum, modulo 2^64, of one hash for each column (its name and the row's value), for the class, and for
the weight. Labels are hashed, not codes, whose numbering may depend on what was seen first; and sums do not depend on
the order of the columns. So the key is the same in every order, in parts, in scratch files and on clusters.

**Identical rows** have the same key. They are numbered, and the key with the number is hashed again. Which of them gets
which number changes nothing, as they are identical. So each copy falls into a fold of its own choice, independently of
the others, as if it had been drawn. Other choices would be worse. All copies in one fold: where columns are few, most
rows are copies, and a fold would lack a combination of class and values that is frequent elsewhere. Copies dealt out
evenly: then the other folds have the same rows, and know the noise of this one. (If a table has the same case twice by
mistake, each copy is predicted from the other, as with folds drawn at random.) A *sample* takes its even share of
copies, which does no harm.

Different rows have the same key with a probability of n^2 / 2^65, about 1e-8 for a million rows. Then their order
decides. Cost: one look-up a cell, and a sort of the keys.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from credimi.core.threads import share

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from credimi.core.types import IntegerArray
    from credimi.counts.codes import Codebook, Codes

    Keys = NDArray[np.uint64]

_SEED = 0
_ROWS_AT_ONCE = 1 << 18
_MISSING, _TARGET, _WEIGHT = "missing", "target", "weight"  # of texts that are hashed with a prefix of their own
_STEP, _FIRST, _SECOND = (
    np.uint64(constant) for constant in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)
)


@dataclass(frozen=True, slots=True, eq=False)
class KeyMaker:
    """The hashes of the values of each column, one after the other, and those of the classes; missing comes last."""

    hashes: Keys
    starts: IntegerArray
    of_class: Keys

    @classmethod
    def of(cls, book: Codebook) -> KeyMaker:
        """The hashes for a codebook."""
        names = [f"column {feature.name}" for feature in book.features]
        lengths = np.array([len(feature.values) + 1 for feature in book.features], dtype=np.int64)
        hashes = _mixed(_hashes(feature.values for feature in book.features), np.repeat(_hashed(names), lengths))
        of_class = _mixed(_hashes([book.classes]), np.repeat(_hashed([_TARGET]), len(book.classes) + 1))
        return cls(hashes, np.append(0, np.cumsum(lengths)), of_class)

    def keys(self, codes: Codes, threads: int | None = None) -> Keys:
        """The key of each row."""
        keys: Keys = codes.storage.zeros((codes.groups.size,), np.uint64)

        def work(start: int) -> None:
            rows = slice(start, start + _ROWS_AT_ONCE)
            total = self.of_class[codes.groups[rows]]
            for column, (first, after) in zip(codes.columns, pairwise(self.starts.tolist()), strict=True):
                total += self.hashes[first:after][column[rows]]
            if codes.weights is not None:
                total += _mixed((codes.weights[rows] + 0.0).view(np.uint64), _hashed([_WEIGHT]))
            keys[rows] = _mixed(total, np.array([_SEED], dtype=np.uint64))

        share(work, range(0, codes.groups.size, _ROWS_AT_ONCE), threads)
        return keys


def row_keys(codes: Codes, threads: int | None = None) -> Keys:
    """The key of each row."""
    return KeyMaker.of(codes.book).keys(codes, threads)


def shuffled(codes: Codes) -> IntegerArray:
    """The rows in an order that is as random as a drawn one, and does not depend on the order in which they come."""
    keys = row_keys(codes)
    order = np.argsort(keys, kind="stable")
    in_order = keys[order]
    first = np.flatnonzero(np.append(True, in_order[1:] != in_order[:-1])[: order.size])
    number = np.arange(order.size) - np.repeat(first, np.diff(np.append(first, order.size)))
    shuffled_rows: IntegerArray = order[np.argsort(_mixed(in_order, number.astype(np.uint64)), kind="stable")]
    return shuffled_rows


def evenly_chosen(codes: Codes, count: int) -> IntegerArray:
    """`count` of the rows, evenly spread over the order of the keys; in the order of the rows."""
    keys = row_keys(codes)
    in_order: Keys = codes.storage.zeros((keys.size,), np.uint64)
    in_order[:] = keys
    in_order.sort()
    places = ((np.arange(count) + 0.5) * (keys.size / count)).astype(np.int64)
    chosen_keys, copies = np.unique(in_order[places], return_counts=True)
    rows, places_of_rows = [], []
    for start in range(0, keys.size, _ROWS_AT_ONCE):
        part = keys[start : start + _ROWS_AT_ONCE]
        place = np.minimum(np.searchsorted(chosen_keys, part), chosen_keys.size - 1)
        found = np.flatnonzero(chosen_keys[place] == part)
        rows.append(start + found)
        places_of_rows.append(place[found])
    candidates, place = np.concatenate(rows), np.concatenate(places_of_rows)
    chosen: IntegerArray = np.sort(candidates[first_copies(place, copies)])
    return chosen


def first_copies(place: IntegerArray, copies: IntegerArray) -> IntegerArray:
    """The indices of the first `copies` rows of each key; `place` says which of the keys a row has."""
    order = np.argsort(place, kind="stable")
    found = np.bincount(place, minlength=copies.size)
    number = np.arange(order.size) - np.repeat(np.cumsum(found) - found, found)
    chosen: IntegerArray = order[number < np.repeat(copies, found)]
    return chosen


def _hashes(labels: Iterable[Iterable[str]]) -> Keys:
    """The hashes of the labels of several columns, with that of a missing value after each."""
    missing = _hash(_MISSING)
    return np.array(
        [each for texts in labels for each in (*(_hash(f"value {text}") for text in texts), missing)], np.uint64
    )


def _hashed(texts: Iterable[str]) -> Keys:
    return np.array([_hash(text) for text in texts], dtype=np.uint64)


@lru_cache(maxsize=1 << 14)
def _hash(text: str) -> int:
    return int.from_bytes(blake2b(text.encode(errors="surrogatepass"), digest_size=8).digest(), "little")


def _mixed(one: Keys, other: Keys) -> Keys:
    """A hash of two hashes; the mixing of SplitMix64 (Steele, Lea and Flood 2014), after which sums are as random."""
    mixed = (one ^ (other * _STEP)) + _STEP
    mixed = (mixed ^ (mixed >> np.uint64(30))) * _FIRST
    mixed = (mixed ^ (mixed >> np.uint64(27))) * _SECOND
    result: Keys = mixed ^ (mixed >> np.uint64(31))
    return result
