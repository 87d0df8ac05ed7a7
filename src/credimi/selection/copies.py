"""Columns that say the same as a better one: each of the two can be predicted, or nearly, from the other.

Counts cannot show this: two columns with the same counts may differ in their rows. So the candidates, which are kept
and tell about as much, are compared in some rows (`counting.sampled_rows`). Their conditional entropies, H(a | b) and
H(b | a), are 0 if one is the other with other names, or in other units.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from credimi.columns.feature import Feature
    from credimi.core.types import CountArray, IntegerArray, Value
    from credimi.counting.counts import Counts

_NEAR = 0.05  # shares: by which two may differ in what they tell, and which one may leave unknown of the other
_MISSING = -1
_COMPARED = 8  # the nearest better columns with which a column is compared
_FEWEST_ROWS = 20  # that have both
_ROWS_EACH = 10  # rows per value; with fewer, columns must agree exactly: few rows are easily distinguished
_FEW_APART = 0.2  # share of the rows with, or without, the most frequent value, in which copies may differ
_CELLS = 1 << 14  # of a table of two columns that is counted directly


@dataclass(frozen=True, slots=True, eq=False)
class _Seen:
    """A column in the sampled rows; `common` says which of them have the most frequent value, 64 in a word."""

    codes: IntegerArray
    common: NDArray[np.uint64]
    entropy: float  # in all rows


def copies(features: Sequence[Feature], columns: Mapping[str, Sequence[Value]], counts: Counts) -> dict[str, str]:
    """For columns that say the same as a better one, its name; best first, like the features."""
    if counts.sample is None or not counts.sample.columns:
        return {}
    from credimi.counting.rows.coded_table import values_of  # noqa: PLC0415  (pyarrow takes a while to load)

    sample, own = counts.sample, dict(zip(counts.features, counts.labels, strict=True))
    known: dict[str, _Seen | None] = {}

    def seen(feature: Feature) -> _Seen | None:
        name = feature.name
        if name not in known:
            known[name] = None
            with suppress(LookupError):  # not among the sampled rows
                codes = values_of(sample.columns[name], sample.missing, own[name], feature).astype(np.int64)
                known[name] = _Seen(codes, _common(codes), _entropy(feature.block[:, :-1].sum(axis=0)))
        return known[name]

    found: dict[str, str] = {}
    better: list[tuple[Feature, float, list[float]]] = []
    kept = (place for place, verdict in enumerate(columns["verdict"]) if verdict == "keep")
    for feature, mi in ((features[place], columns["mi"][place]) for place in kept):
        shares = sorted((feature.block.sum(axis=0) / feature.block.sum()).tolist(), reverse=True)
        for other, more, others in better[-_COMPARED:]:
            if mi >= (1.0 - _NEAR) * more and _near(shares, others) and _same(seen(feature), seen(other)):
                found[feature.name] = other.name
                break
        else:
            better.append((feature, mi, shares))
    return found


def _near(shares: list[float], others: list[float]) -> bool:
    """Whether the values of two columns are about equally frequent, whatever their names."""
    return sum(abs(one - other) for one, other in zip_longest(shares, others, fillvalue=0.0)) <= 2.0 * _NEAR


def _same(one: _Seen | None, other: _Seen | None) -> bool:
    """Whether each can be predicted, or nearly, from the other; most others differ in their most frequent values."""
    if one is None or other is None:
        return False
    size, apart = one.codes.size, int(np.bitwise_count(one.common ^ other.common).sum())
    fewer = int(np.bitwise_count(one.common).sum())
    if min(apart, size - apart) > _FEW_APART * min(fewer, size - fewer):  # of two that are as common, either
        return False
    both = (one.codes != _MISSING) & (other.codes != _MISSING)
    either = (one.codes != _MISSING) | (other.codes != _MISSING)
    rows = np.count_nonzero(both)
    if rows < max(_FEWEST_ROWS, (1.0 - _NEAR) * np.count_nonzero(either)):
        return False
    first, second = (each.codes if rows == both.size else each.codes[both] for each in (one, other))
    ours, theirs = np.bincount(first), np.bincount(second)
    # If the data are sorted, the sampled rows may show too few of the values.
    if min(_entropy(ours), _entropy(theirs)) <= 0.5 * max(one.entropy, other.entropy):
        return False
    most = max(np.count_nonzero(ours), np.count_nonzero(theirs))
    if 2 * most > rows:
        return False
    cells = first * theirs.size + second
    together = np.bincount(cells) if ours.size * theirs.size <= _CELLS else np.unique(cells, return_counts=True)[1]
    jointly, slack = _entropy(together), _NEAR if most * _ROWS_EACH <= rows else 1e-9
    unknown = jointly - _entropy(theirs), jointly - _entropy(ours)
    return unknown[0] <= slack * _entropy(ours) and unknown[1] <= slack * _entropy(theirs)


def _common(codes: IntegerArray) -> NDArray[np.uint64]:
    """Which rows have the most frequent value, as bits; the first one seen if several are equally frequent."""
    totals = np.bincount(codes + 1)
    commonest = codes[np.argmax(totals[codes + 1])] if codes.size else 0
    bits = np.zeros(-(-codes.size // 64) * 64, dtype=bool)
    bits[: codes.size] = codes == commonest
    return np.packbits(bits).view(np.uint64)


def _entropy(counts: CountArray) -> float:
    shares = counts[counts > 0] / counts.sum()
    return float(-(shares * np.log(shares)).sum())
