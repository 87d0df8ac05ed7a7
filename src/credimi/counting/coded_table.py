"""`rows_of`: a whole table in memory as codes, a row a data row; for what has to go through the rows one by one.

The columns are settled as `rank` settles them: numbers are cut, identifiers and columns of one value are left out. So
the labels, and the cuts, are those of the whole table: a row's code says nothing of later rows but this.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from credimi.columns import labels
from credimi.columns.column import PrecodedColumn, UnreadableColumn
from credimi.columns.encode import encode
from credimi.columns.missing import missing_of
from credimi.core.errors import CredimiError
from credimi.counting import batch as batches
from credimi.counting.batch import Batch, tally
from credimi.counting.count import source
from credimi.counting.request import CountRequest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from credimi.columns.labels import Labels
    from credimi.columns.reading_options import ReadingOptions

    Codes = NDArray[np.int32]

MISSING = -1


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Codes of the rows that have a target. `values[j]` names the codes of feature j, `classes` those of the target."""

    codes: Codes  # rows x features, MISSING where the value is
    target: Codes
    features: tuple[str, ...]
    values: tuple[tuple[str, ...], ...]
    classes: tuple[str, ...]
    notes: dict[str, str]  # of the columns that are left out: why
    without_target: int = 0

    def __len__(self) -> int:
        return self.target.size

    @property
    def missing(self) -> int:
        """How many cells are missing."""
        return int(np.count_nonzero(self.codes == MISSING))


def rows_of(
    data: Any,  # noqa: ANN401
    target: Any,  # noqa: ANN401
    *,
    features: Sequence[str] | None = None,
    exclude: Sequence[str] | None = None,
    missing_values: Iterable[str | float],
    discretize: str | Mapping[str, Any] | None = "mdl",
    delimiter: str | None = None,
    threads: int | None = None,
    progress: Callable[[float], None] | None = None,
) -> Rows:
    """The rows of what `credimi.count` takes, as codes."""
    asked: dict[str, Any] = {"features": features, "exclude": exclude, "missing_values": missing_values}
    asked |= {"discretize": discretize, "delimiter": delimiter, "threads": threads, "progress": progress}
    plan, parts = source(data, CountRequest.of(target, **asked))
    batch = _joined(list(parts), plan.wanted)
    settings = plan.settings
    counts = tally(batch, plan.target, plan.features, settings, threads=threads, required=plan.required)
    settled = counts.settled() if counts.rows else []
    kept = [feature for feature in settled if not feature.useless]
    named = dict(zip(counts.features, counts.labels, strict=True))
    columns = [
        _codes(batch, feature.name, named[feature.name], feature.places[feature.typed_as], settings) for feature in kept
    ]
    classes, onward = labels.typed(counts.classes)
    answers = _codes(batch, plan.target, counts.classes, onward, settings)
    seen = answers != MISSING
    codes = np.column_stack(columns) if columns else np.zeros((batch.rows, 0), dtype=np.int32)
    return Rows(
        codes[seen],
        answers[seen],
        tuple(feature.name for feature in kept),
        tuple(feature.values for feature in kept),
        classes.shown(),
        {feature.name: feature.useless for feature in settled if feature.useless},
        int(np.count_nonzero(~seen)),
    )


def _codes(batch: Batch, name: str, own: Labels, places: NDArray[np.int64], settings: ReadingOptions) -> Codes:
    """Of each row the place of its label in `places`."""
    missing = missing_of(settings.missing_values, raw=batch.raw)
    column = encode(batch.columns[name], name, missing=missing, raw=batch.raw)
    known = ~missing.among(column)
    occurs = np.bincount(np.minimum(column.codes, column.values), minlength=column.values + 1)[:-1] > 0
    here, positions = batches.labels_of(column, known & occurs)
    _, onward, _ = labels.union(here, own)
    moved = np.full(column.values + 1, MISSING, dtype=np.int32)
    moved[:-1][known & occurs] = places[onward[positions]]
    return moved[np.minimum(column.codes, column.values)]


def _joined(parts: list[Batch], wanted: Sequence[str]) -> Batch:
    """One batch of all rows."""
    if not parts:
        raise CredimiError("there are no rows: nothing can be learned from them")
    if len(parts) == 1:
        return parts[0]
    columns = {name: _column([part.columns[name] for part in parts]) for name in wanted}
    return Batch(columns, sum(part.rows for part in parts), parts[0].raw, parts[0].cells, parts[0].fault)


def _column(parts: list[Any]) -> Any:  # noqa: ANN401
    import pyarrow as pa  # noqa: PLC0415

    if isinstance(parts[0], np.ndarray):
        return np.concatenate(parts)
    if isinstance(parts[0], UnreadableColumn):
        return UnreadableColumn(np.concatenate([part.seen for part in parts]), parts[0].fault)
    if isinstance(parts[0], PrecodedColumn):
        return PrecodedColumn(np.concatenate([part.codes for part in parts]), parts[0].values)
    arrays = [chunk for part in parts for chunk in (part.chunks if isinstance(part, pa.ChunkedArray) else [part])]
    return pa.chunked_array(arrays)
