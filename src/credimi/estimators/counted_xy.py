"""X and y, checked, -> `Counts`; what the estimators that count have in common."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from credimi.columns.encode import encode
from credimi.columns.labels import NUMBER, Labels
from credimi.columns.text_types import shown
from credimi.counting.batch import Batch, tally
from credimi.counting.engines.frames import TARGET
from credimi.counting.request import columns_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from credimi.columns.missing import MissingValues
    from credimi.columns.reading_options import ReadingOptions
    from credimi.counting.counts import Counts
    from credimi.estimators.validation import Features


def counted(
    features: Features,
    target: Any,  # noqa: ANN401
    settings: ReadingOptions,
    *,
    name: str,
    weights: NDArray[np.float64] | None = None,
    unlabeled: Any = None,  # noqa: ANN401
    threads: int | None = None,
) -> Counts:
    """The counts of the target, called `name`, with every feature; `unlabeled` is one more value that means missing."""
    columns_of([*features.names, name], name, None)  # names are checked: each has to be there once
    columns = {name: target, **dict(zip(features.names, features.columns, strict=True))}
    batch = Batch(columns, features.rows, cells=features.rows * len(features.names), weights=weights)
    counts = tally(batch, name, features.names, settings, threads=threads)
    return counts if unlabeled is None else _without_class(counts, unlabeled)


def target_name(target: Any, features: Features) -> str:  # noqa: ANN401
    """A name for the target, as messages and rankings use it."""
    name = str(getattr(target, "name", None) or TARGET)
    while name in features.names:
        name += "_"
    return name


def labelled(target: Any, missing: MissingValues, unlabeled: Any) -> NDArray[np.float64]:  # noqa: ANN401
    """1 for each row whose class is known, 0 for others."""
    column = encode(target, TARGET, missing=missing)
    known = np.append(~missing.among(column), False)
    own = Labels(column.kind, column.texts, np.zeros(0) if column.numbers is None else column.numbers)
    place = None if unlabeled is None else _place(own, unlabeled)
    if place is not None:
        known[place] = False
    return known[np.minimum(column.codes, column.values)].astype(np.float64)


def _without_class(counts: Counts, label: Any) -> Counts:  # noqa: ANN401
    """The same counts, the target being missing where it has this label."""
    place = _place(counts.classes, label)
    if place is None:
        return counts
    keep = np.arange(len(counts.classes)) != place
    parts, start, height = [], 0, len(counts.classes) + 1
    for own in counts.labels:
        size = height * (len(own) + 1)
        block = counts.flat[start : start + size].reshape(height, -1).copy()
        block[-1] += block[place]
        parts.append(block[np.append(keep, True)].ravel())
        start += size
    return replace(counts, classes=counts.classes.chosen(keep), flat=np.concatenate(parts))


def _place(classes: Labels, label: Any) -> int | None:  # noqa: ANN401
    if classes.kind == NUMBER:
        where = np.flatnonzero(classes.numbers == label) if isinstance(label, int | float | np.number) else np.zeros(0)
        return int(where[0]) if where.size else None
    text = shown(label)
    return classes.texts.index(text) if text in classes.texts else None
