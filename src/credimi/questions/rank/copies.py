"""Columns that say the same as a better one: each of the two can be predicted, or nearly, from the other.

Counts cannot show this: two columns with the same counts may differ in their rows. So candidates, which are features
with the verdict keep that tell about as much, are compared in sampled rows (`Counts.sample`). Their conditional
entropies, H(a | b) and H(b | a), are 0 if one is the other with other names, or in other units.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING

import numpy as np

from credimi.core.special import entropy

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from credimi.columns.feature import Feature
    from credimi.core.types import IntegerArray, Value
    from credimi.counts.codes import CodeArray
    from credimi.counts.counts import Counts

_MAX_SHARE_APART = 0.05  # of information: by which two copies may differ, and which one may leave unknown of the other
MISSING = -1
_MAX_COMPARED = 8  # the nearest better columns with which a column is compared
_MIN_ROWS = 20  # in which both columns are present
_MIN_ROWS_PER_VALUE = 10  # with fewer, columns must agree exactly: few rows are easily distinguished
_MAX_ROWS_APART = 0.2  # as a share of the rows with, or without, the most frequent value
_MAX_CELLS = 1 << 14  # of a table of two columns that is counted directly


@dataclass(frozen=True, slots=True, eq=False)
class _SampledColumn:
    """A column in the sampled rows; `common` has a bit for each row: whether it has the most frequent value."""

    codes: IntegerArray
    has_most_frequent: NDArray[np.uint64]
    entropy: float  # in all rows


def copies(features: Sequence[Feature], columns: Mapping[str, Sequence[Value]], counts: Counts) -> dict[str, str]:
    """The columns that say the same as a better one, each with the name of that one; best first, like the features."""
    if counts.sample is None or not counts.sample.columns:
        return {}
    from credimi.counts.codes import recoded  # noqa: PLC0415  (pyarrow takes a while to load)

    sample, labels = counts.sample, dict(zip(counts.features, counts.labels, strict=True))

    def codes_of(feature: Feature) -> CodeArray:
        column, places = sample.columns[feature.name](), feature.counted_places
        new_code = recoded(column, sample.missing, labels[feature.name], places, len(feature.values))
        return np.take(new_code, column.codes, mode="clip")

    return copies_in_rows(features, columns, codes_of)


def copies_in_rows(
    features: Sequence[Feature], columns: Mapping[str, Sequence[Value]], codes_of: Callable[[Feature], CodeArray]
) -> dict[str, str]:
    """The same, from the codes of each column in some rows (see `Codes`); LookupError if there are none."""
    sampled_columns: dict[str, _SampledColumn | None] = {}

    def sampled(feature: Feature) -> _SampledColumn | None:
        name = feature.name
        if name not in sampled_columns:
            sampled_columns[name] = None
            with suppress(LookupError):  # not among the sampled rows
                codes = codes_of(feature).astype(np.int64)
                codes[codes == len(feature.values)] = MISSING
                sampled_columns[name] = _SampledColumn(
                    codes, _most_frequent_bits(codes), entropy(feature.block[:, :-1].sum(axis=0))
                )
        return sampled_columns[name]

    copied: dict[str, str] = {}
    originals: list[tuple[Feature, float, list[float]]] = []
    kept_indices = (index for index, verdict in enumerate(columns["verdict"]) if verdict == "keep")
    for feature, mi in ((features[index], columns["mi"][index]) for index in kept_indices):
        shares = sorted((feature.block.sum(axis=0) / feature.block.sum()).tolist(), reverse=True)
        for other, other_mi, other_shares in originals[-_MAX_COMPARED:]:
            if (
                mi >= (1.0 - _MAX_SHARE_APART) * other_mi
                and _similar_shares(shares, other_shares)
                and _same_information(sampled(feature), sampled(other))
            ):
                copied[feature.name] = other.name
                break
        else:
            originals.append((feature, mi, shares))
    return copied


def _similar_shares(shares: list[float], others: list[float]) -> bool:
    """Whether the values of two columns are about equally frequent, whatever their names."""
    return sum(abs(one - other) for one, other in zip_longest(shares, others, fillvalue=0.0)) <= 2.0 * _MAX_SHARE_APART


def _same_information(one: _SampledColumn | None, other: _SampledColumn | None) -> bool:
    """Whether each can be predicted, or nearly, from the other.

    Columns that are no copies mostly differ in the rows with the most frequent value: this is tested first.
    """
    if one is None or other is None:
        return False
    size, differing = one.codes.size, int(np.bitwise_count(one.has_most_frequent ^ other.has_most_frequent).sum())
    frequent = int(np.bitwise_count(one.has_most_frequent).sum())
    # of two values that are equally frequent, the columns may have different ones as their most frequent
    if min(differing, size - differing) > _MAX_ROWS_APART * min(frequent, size - frequent):
        return False
    both_present = (one.codes != MISSING) & (other.codes != MISSING)
    either_present = (one.codes != MISSING) | (other.codes != MISSING)
    rows = np.count_nonzero(both_present)
    if rows < max(_MIN_ROWS, (1.0 - _MAX_SHARE_APART) * np.count_nonzero(either_present)):
        return False
    first, second = (
        column.codes if rows == both_present.size else column.codes[both_present] for column in (one, other)
    )
    first_counts, second_counts = np.bincount(first), np.bincount(second)
    # If the data are sorted, the sampled rows may show too few of the values.
    if min(entropy(first_counts), entropy(second_counts)) <= 0.5 * max(one.entropy, other.entropy):
        return False
    max_values = max(np.count_nonzero(first_counts), np.count_nonzero(second_counts))
    if 2 * max_values > rows:
        return False
    cells = first * second_counts.size + second
    joint_counts = (
        np.bincount(cells)
        if first_counts.size * second_counts.size <= _MAX_CELLS
        else np.unique(cells, return_counts=True)[1]
    )
    joint_entropy = entropy(joint_counts)
    first_entropy, second_entropy = entropy(first_counts), entropy(second_counts)
    tolerance = _MAX_SHARE_APART if max_values * _MIN_ROWS_PER_VALUE <= rows else 1e-9
    first_given_second, second_given_first = joint_entropy - second_entropy, joint_entropy - first_entropy
    return first_given_second <= tolerance * first_entropy and second_given_first <= tolerance * second_entropy


def _most_frequent_bits(codes: IntegerArray) -> NDArray[np.uint64]:
    """Bits of the rows that have the most frequent value; the first in the data if several are equally frequent."""
    totals = np.bincount(codes + 1)
    most_frequent = codes[np.argmax(totals[codes + 1])] if codes.size else 0
    bits = np.zeros(-(-codes.size // 64) * 64, dtype=bool)
    bits[: codes.size] = codes == most_frequent
    return np.packbits(bits).view(np.uint64)
