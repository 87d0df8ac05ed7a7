"""Columns that say the same as a better one: each of the two is known, or nearly, if the other is.

Counts cannot tell: two columns with the same counts may be right about other rows. So the candidates, which are kept
and tell about as much, are compared by the rows that are at hand (`counting.sampled_rows`). Their conditional
entropies, H(a | b) and H(b | a), are 0 if one is the other under other names, or in other units.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from credimi.columns.feature import Feature
    from credimi.counting.counts import Counts

_NEAR = 0.05  # as near as this, in shares: what two tell about the target, and what one leaves unknown of the other
_MISSING = -1
_COMPARED = 8  # better columns that one is compared with, the nearest
_FEWEST_ROWS = 20  # that have both
_ROWS_EACH = 10  # rows a value, below which columns are compared to the letter: few rows are easily told apart


def copies(features: Sequence[Feature], columns: Mapping[str, Sequence[Any]], counts: Counts) -> dict[str, str]:
    """Of columns that say the same as a better one, its name; best first, as the features are."""
    if counts.sample is None:
        return {}
    from credimi.counting.coded_table import values_of  # noqa: PLC0415  (pyarrow takes a while to load)

    sample, own = counts.sample, dict(zip(counts.features, counts.labels, strict=True))
    known: dict[str, NDArray[np.int32] | None] = {}

    def codes(feature: Feature) -> NDArray[np.int32] | None:
        name = feature.name
        if name not in known:
            known[name] = None
            with suppress(LookupError):
                known[name] = values_of(sample.columns[name], sample.missing, own[name], feature)
        return known[name]

    found: dict[str, str] = {}
    better: list[tuple[Feature, float]] = []
    for feature, mi, verdict in zip(features, columns["mi"], columns["verdict"], strict=True):
        if verdict != "keep":
            continue
        near = [other for other, more in better[-_COMPARED:] if mi >= (1.0 - _NEAR) * more]
        for other in near:
            if _same(feature, codes(feature), other, codes(other)):
                found[feature.name] = other.name
                break
        else:
            better.append((feature, mi))
    return found


def _same(one: Feature, codes: NDArray[Any] | None, other: Feature, others: NDArray[Any] | None) -> bool:
    """Whether each is known, or nearly, where the other is."""
    if codes is None or others is None:
        return False
    both = (codes != _MISSING) & (others != _MISSING)
    either = (codes != _MISSING) | (others != _MISSING)
    rows = int(np.count_nonzero(both))
    if rows < max(_FEWEST_ROWS, (1.0 - _NEAR) * np.count_nonzero(either)):
        return False
    first, second = codes[both].astype(np.int64), others[both].astype(np.int64)
    ours, theirs = _entropy(np.bincount(first)), _entropy(np.bincount(second))
    # Of sorted data the rows at hand may show too little of what there is.
    if min(ours, theirs) <= 0.5 * max(_entropy(_totals(one)), _entropy(_totals(other))):
        return False
    most = max(np.unique(first).size, np.unique(second).size)
    if 2 * most > rows:
        return False
    jointly = _entropy(np.unique(first * (second.max() + 1) + second, return_counts=True)[1])
    slack = _NEAR if most * _ROWS_EACH <= rows else 1e-9
    return bool(jointly - theirs <= slack * ours and jointly - ours <= slack * theirs)


def _totals(feature: Feature) -> NDArray[Any]:
    totals: NDArray[Any] = feature.block[:, :-1].sum(axis=0)
    return totals


def _entropy(counts: NDArray[Any]) -> float:
    shares = counts[counts > 0] / counts.sum()
    return float(-(shares * np.log(shares)).sum())
