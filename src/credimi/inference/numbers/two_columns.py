"""The mutual information of two columns, at least one of which holds numbers: `mutual_information(x, y)`.

A column of numbers is a number. Whole numbers with at most `CATEGORIES` different values are categories, as `rank` has
it, unless there are hardly two rows to each: then a table would be too thin. What is no column of numbers is one of
categories, and two such columns are a table. A number is not cut: beside categories it is averaged over all cuts (see
`all_cuts`), whichever of the two is the target; beside another number either has bits (see `bits`). Both are symmetric,
I(x, y) = I(y, x).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from credimi.core.errors import CredimiError
from credimi.core.table_layouts import means_missing
from credimi.inference.distributions.distribution import Distribution
from credimi.inference.evidence.adaptive_prior import components_of_averages
from credimi.inference.information import distribution_of_table
from credimi.inference.numbers import bits
from credimi.inference.numbers.of_column import averaged

if TYPE_CHECKING:
    from credimi.core.types import AnyArray, Foreign, IntegerArray

CATEGORIES = 20  # whole numbers with at most so many different values are categories
_FEWEST = 3  # different values of a number
_MOST_LABELS = 1_000  # different categories beside a number
_FINEST = 10  # bits of a number beside categories: 1,024 ranges


def of_columns(one: Foreign, other: Foreign) -> Distribution | None:
    """The posterior of I of two columns, one of which is a number; None if both are categories."""
    if len(one) != len(other):
        return None  # which is refused with the remedy for tables
    first, second = places_of(one), places_of(other)
    if first is not None and second is not None:
        found = bits.of_numbers(_pairs(first, second)).components
        upper = math.log(min(int(first.max()) + 1, int(second.max()) + 1, 2**bits.MOST_LEVELS))
    else:
        numbers, labels = (first, other) if second is None else (second, one)
        if numbers is None:  # both are categories
            return None
        block = _block(_categories(labels), numbers)
        average = averaged(block) if block.shape[0] > 2 else None  # two categories and the missing
        if average is None:
            return Distribution.point(0.0)
        found, upper = average[0].components, math.log(block.shape[0] - 1)
    return distribution_of_table(components_of_averages(0, found, upper), 0, upper)


def refuse_fixed(prior: Foreign, approximation: str) -> None:
    """Refuse what numbers do not have."""
    if prior != "adaptive" or approximation != "matched":
        what = f"prior {prior!r}" if prior != "adaptive" else f"approximation {approximation!r}"
        raise CredimiError(
            f"one of the two columns holds numbers, which are averaged over all cuts with the adaptive prior: the "
            f"{what} is for tables; cut the numbers into ranges first, or leave it out"
        )


def places_of(column: Foreign) -> IntegerArray | None:
    """The rank of each number among the different ones, -1 where it is missing; None if these are categories."""
    values = np.asarray(column.to_numpy() if hasattr(column, "to_numpy") else column)
    if values.dtype.kind in "mM":
        seen = ~np.isnat(values)
    elif values.dtype.kind in "iuf":
        seen = ~np.isnan(values)
    elif values.dtype.kind == "O":
        listed = list(column)
        seen = np.array([not means_missing(value) for value in listed], dtype=np.bool_)
        if any(not _is_number(value) for value, there in zip(listed, seen.tolist(), strict=True) if there):
            return None
        values = np.array([float(value) if there else 0.0 for value, there in zip(listed, seen.tolist(), strict=True)])
    else:
        return None
    different, ranks = np.unique(values[seen], return_inverse=True)
    is_whole = different.dtype.kind != "f" or bool(np.all(np.mod(different, 1.0) == 0.0))
    if different.size < _FEWEST or (is_whole and different.size <= CATEGORIES and 2 * different.size <= ranks.size):
        return None
    places = np.full(values.size, -1, dtype=np.int64)
    places[seen] = ranks.ravel()
    return places


def _is_number(value: Foreign) -> bool:
    if isinstance(value, bool | np.bool_ | str) or not hasattr(value, "__float__"):
        return False
    return not math.isnan(float(value))


def _categories(column: Foreign) -> IntegerArray:
    """The position of each label, -1 where it is missing."""
    listed = list(column)
    labels = dict.fromkeys(value for value in listed if not means_missing(value))
    if not labels:
        raise CredimiError("one of the two columns has no value: nothing can depend on it")
    if len(labels) > _MOST_LABELS:
        raise CredimiError(
            f"one of the two columns has {len(labels):,} different values that are no numbers, at most "
            f"{_MOST_LABELS:,} are categories: group them first"
        )
    place_of = {label: place for place, label in enumerate(labels)}
    return np.array([-1 if means_missing(value) else place_of[value] for value in listed], dtype=np.int64)


def _block(labels: IntegerArray, numbers: IntegerArray) -> AnyArray:
    """Categories by numbers, in order, the missing last; very many numbers are joined to ranges of equal counts."""
    rows = np.bincount(numbers[numbers >= 0]).astype(np.float64)
    place = np.arange(rows.size)
    if rows.size > 2**_FINEST:
        place = np.unique(bits.bits_of(bits.middle_ranks(rows), _FINEST - 1), return_inverse=True)[1]
    block = np.zeros((int(labels.max()) + 2, int(place[-1]) + 2))  # what is missing, -1, is the last
    np.add.at(block, (labels, np.where(numbers >= 0, place[numbers], -1)), 1.0)
    return block


def _pairs(x: IntegerArray, y: IntegerArray) -> bits.Pairs:
    both = (x >= 0) & (y >= 0)
    x_rows, y_rows = (np.bincount(each[each >= 0]).astype(np.float64) for each in (x, y))
    return bits.Pairs(x[both], y[both], np.ones(int(both.sum())), x_rows, y_rows)
