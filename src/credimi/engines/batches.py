"""A batch of columns -> `Counts`: encode each column, count it against the target, put the labels in order."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from credimi import labels, tabulation
from credimi.counts import Counts, Settings, bounded, spread, unknown
from credimi.encoding import Column, encode
from credimi.errors import CredimiError
from credimi.threads import share

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from credimi.labels import Labels

    CountArray = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Some rows of a table; `raw` text may be numbers, `cells` is how many the whole source has, as far as known.

    `fault` says where in the source bytes are that are no text.
    """

    columns: Mapping[str, Any]
    rows: int
    raw: bool = False
    cells: int = 0
    fault: Callable[[Exception], str] = str


class Missing:
    """The values that mean missing, as text and as numbers: 999 means "999", and "999" means 999."""

    def __init__(self, values: Sequence[str | float]) -> None:
        self.texts = {value if isinstance(value, str) else labels.shown_number(value) for value in values}
        self.numbers = {number for number in map(_as_number, values) if number is not None}

    def among(self, column: Column) -> NDArray[np.bool_]:
        """Which of the column's labels mean missing."""
        if column.numbers is not None:
            if not self.numbers:
                return np.zeros(column.values, dtype=bool)
            return np.isin(column.numbers, list(self.numbers))
        return np.array([self._means_missing(text, column.kind) for text in column.texts], dtype=bool)

    def _means_missing(self, text: str, kind: str) -> bool:
        if text in self.texts or kind != labels.RAW:
            return text in self.texts
        if text.strip().lstrip("+-").lower() == "nan":
            return True
        return bool(self.numbers) and not re.match(labels.PADDED, text) and _as_number(text) in self.numbers


def _as_number(value: str | float) -> float | None:
    try:
        return float(value)
    except (TypeError, ValueError):
        return None


def columns_of(offered: Sequence[str], target: str, features: Sequence[str] | None) -> list[str]:
    """The features to count: those asked for, or all but the target; names are checked."""
    seen: set[str] = set()
    for name in offered:
        if name in seen:
            raise CredimiError(f"two columns are called {name!r}: give each column a name of its own")
        seen.add(name)
    if target not in seen:
        raise CredimiError(unknown(target, offered, "column"))
    if features is None:
        return [name for name in offered if name != target]
    features = [features] if isinstance(features, str) else features
    for name in features:
        if name not in seen:
            raise CredimiError(unknown(name, offered, "column"))
    if target in features:
        raise CredimiError(f"{target!r} is the target and cannot be a feature as well: take it out of features")
    return list(features)


def tally(
    batch: Batch, target: str, features: Sequence[str], settings: Settings, *, threads: int | None = None
) -> Counts:
    """The counts of one batch."""
    missing = Missing((*settings.missing_values, "") if batch.raw else settings.missing_values)
    compiled = max(batch.cells, batch.rows * len(features)) >= tabulation.CELLS_WORTH_COMPILING
    raw = missing.texts if batch.raw else None
    classes, groups = _grouped(encode(batch.columns[target], target, raw=raw, compiled=compiled), missing)
    encoded: dict[str, Column] = {}

    def work(name: str) -> None:
        encoded[name] = encode(batch.columns[name], name, raw=raw, compiled=compiled)

    share(work, features, threads if compiled else 1)
    columns = [encoded[name] for name in features]
    height = len(classes) + 1
    counted = tabulation.cross_counts(
        groups,
        height,
        [column.codes for column in columns],
        [column.values for column in columns],
        compiled=compiled,
        threads=threads,
    )
    most = labels.most_numbers(len(features))
    blocks = {
        name: bounded(*_ordered(column, block, missing, most), most)
        for name, column, block in zip(features, columns, counted, strict=True)
    }
    return Counts.join(target, classes, blocks, batch.rows, settings)


def _grouped(column: Column, missing: Missing) -> tuple[Labels, NDArray[Any]]:
    """The target's labels in order, and for each row its class, r where it is missing."""
    if column.values > labels.MOST_TEXTS:
        raise CredimiError(f"the target has {column.values:,} different values: choose one that has classes")
    occurring = np.bincount(np.minimum(column.codes, column.values), minlength=column.values + 1)[:-1] > 0
    kept, positions = _labels_of(column, occurring & ~missing.among(column))
    moved = np.full(column.values + 1, len(kept), dtype=np.uint8 if len(kept) < 255 else np.uint32)
    moved[:-1][occurring & ~missing.among(column)] = positions
    return kept, moved[np.minimum(column.codes, column.values)]


def _ordered(column: Column, block: CountArray, missing: Missing, most: int) -> tuple[Labels, CountArray]:
    """Labels that occurred and mean something, sorted; what means missing is added to the missing."""
    gone = missing.among(column)
    if gone.any():
        block[:, -1] += block[:, :-1][:, gone].sum(axis=1)
    keep = block[:, :-1].any(axis=0) & ~gone
    kept, positions = _labels_of(column, keep, most)
    chosen = block if keep.all() else block[:, np.append(keep, True)]
    return kept, spread(chosen, np.arange(block.shape[0] - 1), positions, (block.shape[0] - 1, len(kept)))


def _labels_of(column: Column, keep: NDArray[np.bool_], most: int | None = None) -> tuple[Labels, NDArray[np.int64]]:
    if column.numbers is not None:
        return labels.of_numbers(column.numbers[keep], most=most)
    return labels.of_texts([text for text, kept in zip(column.texts, keep, strict=True) if kept], column.kind)
