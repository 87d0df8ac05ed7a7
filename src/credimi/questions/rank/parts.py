"""Columns that together make up the target: its parts. None of them has to have much of its information alone.

**Functions of the target**, such as a column for each of its classes: `is_red`, `is_green`. By the counts alone, each
class occurs with one value only. Several such columns are a group if the classes that they tell apart have nearly all
of the target's entropy. This is exact, and needs no rows.

**Sums and unions**, such as the shares of votes whose weighted sum is the rating, or the flags of which one or more are
set where the target is "yes". Counts cannot show this, as they have each column with the target alone; it is looked for
in sampled rows (`Counts.sample`). Let y be the target as a number (0 and 1 of two classes), x the columns with an order
(numbers, or two values). Least squares in every other row give a score s; in the rows between, y* has the values of y
in the order of s. If y is a monotone function of a linear score, then y* = y whatever the function is, so that ranges
of a sum and unions (is any of them set?) are found like sums. They are a group if corr(y, y*) is at least `_ALIKE` in
rows that did not choose s. Then columns are left out, those with the least information first, as long as that holds; if
a single one is left, the target is not made of parts.

Not found: a sum that is cut into two or three ranges, parts of three classes or more without an order, products and
other nonlinear functions, parts among columns that are not kept, and sums where there are no sampled rows (counts
files, clusters, DuckDB).

Cost: a least-squares fit of 2,048 rows by at most `_MOST` columns, 2 ms; one for each column if there is a group.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from credimi.columns import text_types
from credimi.columns.labels import MANY, NUMBER
from credimi.core.special import entropy

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from credimi.columns.feature import Feature
    from credimi.core.types import FloatArray, Value
    from credimi.counts.counts import Counts
    from credimi.counts.rows.sampled_rows import SampledRows

_NEARLY_ALL = 0.9  # of the target's entropy
_LEAST_ROWS, _ROWS_PER_VALUE = 5, 10  # of two classes at least, and of each value on average: no accident
_ALIKE = 0.98  # correlation
_MOST, _ROWS_PER_COLUMN = 50, 10
_FEWEST_ROWS = 100


def parts(features: Sequence[Feature], columns: Mapping[str, Sequence[Value]], counts: Counts) -> list[str]:
    """The columns that together make up the target, if some do; best first, like the features."""
    kept = [each for each, verdict in zip(features, columns["verdict"], strict=True) if verdict == "keep"]
    return _functions_of_target(kept) or _summands(kept, counts.sample)


def _functions_of_target(features: Sequence[Feature]) -> list[str]:
    """Columns that the target determines, if they tell its classes apart together, and none does alone."""
    found, value_of_class = [], []
    for feature in features:
        counted = feature.block[:-1, :-1]
        of_class = counted.sum(axis=1)
        values = int(counted.any(axis=0).sum())
        enough = of_class.sum() >= _ROWS_PER_VALUE * values and (of_class >= _LEAST_ROWS).sum() > 1
        if enough and values > 1 and (of_class > 0).all() and ((counted > 0).sum(axis=1) == 1).all():
            found.append(feature)
            value_of_class.append(counted.argmax(axis=1))
    if len(found) < 2:
        return []
    of_class = found[0].block[:-1].sum(axis=1)
    needed = _NEARLY_ALL * entropy(of_class)

    def told_apart(values: Sequence[FloatArray]) -> float:
        _, places = np.unique(np.array(values), axis=1, return_inverse=True)
        return entropy(np.bincount(places.ravel(), of_class))

    if told_apart(value_of_class) < needed or max(told_apart([each]) for each in value_of_class) >= needed:
        return []
    return [feature.name for feature in found]


def _summands(features: Sequence[Feature], sample: SampledRows | None) -> list[str]:
    """Columns of whose sampled rows a linear score orders the target almost exactly."""
    if sample is None or len(features) < 2 or (y := _target(sample)) is None:
        return []
    named = [
        (feature.name, ordered) for feature in features[:_MOST] if (ordered := _ordered(feature, sample)) is not None
    ]
    if len(named) < 2:
        return []
    names, matrix = [name for name, _ in named], np.column_stack([column for _, column in named])
    complete = ~np.isnan(matrix).any(axis=1) & ~np.isnan(y)
    y, matrix = y[complete], matrix[complete]
    if y.size < max(_FEWEST_ROWS, _ROWS_PER_COLUMN * len(names)) or np.ptp(y) == 0.0:
        return []
    chosen = list(range(len(names)))
    if _alike(y, matrix) < _ALIKE:
        return []
    for place in reversed(range(len(names))):
        fewer = [each for each in chosen if each != place]
        if fewer and _alike(y, matrix[:, fewer]) >= _ALIKE:
            chosen = fewer
    return [names[place] for place in chosen] if len(chosen) > 1 else []


def _alike(y: FloatArray, matrix: FloatArray) -> float:
    """corr(y, y*) in every other row, with the score of the rows between."""
    with_one = np.column_stack([np.ones(y.size), matrix])
    coefficients = np.linalg.lstsq(with_one[::2], y[::2], rcond=None)[0]
    score, tested = with_one[1::2] @ coefficients, y[1::2]
    in_order = np.empty_like(tested)
    in_order[np.argsort(score, kind="stable")] = np.sort(tested)
    if np.ptp(tested) == 0.0 or np.ptp(score) == 0.0:
        return 0.0
    return float(np.corrcoef(tested, in_order)[0, 1])


def _target(sample: SampledRows) -> FloatArray | None:
    """The target of the sampled rows as numbers, NaN where it is missing; None if its classes have no order."""
    classes = sample.classes
    values = _numbers(classes.numbers if classes.kind == NUMBER else None, classes.texts)
    return None if values is None else np.append(values, np.nan)[sample.groups]


def _ordered(feature: Feature, sample: SampledRows) -> FloatArray | None:
    """The sampled values as numbers, NaN where they are missing; None if they have no order."""
    if feature.name not in sample.columns:
        return None
    column = sample.columns[feature.name]()
    if column.kind == MANY:
        return None
    present = ~sample.missing.among(column)
    texts = tuple(text for text, seen in zip(column.texts, present.tolist(), strict=False) if seen)
    numbers = _numbers(None if column.numbers is None else column.numbers[present], texts)
    if numbers is None:
        return None
    values = np.full(column.values + 1, np.nan)
    values[:-1][present] = numbers
    return values[np.minimum(column.codes, column.values)]


def _numbers(numbers: FloatArray | None, texts: Sequence[str]) -> FloatArray | None:
    """The labels as numbers: two labels have an order, whatever they are; None if there is none."""
    if numbers is not None:
        return numbers.astype(np.float64)
    if len(texts) == 2:
        return np.array([0.0, 1.0])
    found = text_types.readable(list(texts))
    return None if found is None else np.array(found[0], dtype=np.float64)
