"""Counts that are kept while rows come one at a time.

A batch is counted by `engines.batches.tally` and added, which costs about a millisecond however short it is. A row
whose labels have all been seen needs no more than one increment a feature: the `Ledger` remembers where each label is
counted and adds in place, in O(features). A row with a new label, or a value that is not simply one, goes the long way.

Rows that are taken away again leave no trace: a label without counts is forgotten.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from credimi.columns import Missing
from credimi.counts import Counts
from credimi.engines.batches import Batch, tally
from credimi.errors import CredimiError
from credimi.labels import BOOLEAN, MANY, NUMBER, TEXT, Labels
from credimi.objects import is_missing

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from credimi.settings import Settings

    FloatArray = NDArray[np.float64]
    IntegerArray = NDArray[np.int64]

_NO_NUMBERS = (bool, np.timedelta64)  # to Python and numpy they are
_ROUNDING = 1e-9  # of the weights of rows that are taken away


class Ledger:
    """The counts so far. `version` changes with them, `layout` with their labels only."""

    def __init__(self, counts: Counts) -> None:
        self.missing = Missing(counts.settings.missing_values)
        self.version = self.layout = 0
        self.whole = True  # no weight was ever a fraction
        self._take(counts)

    @classmethod
    def empty(cls, target: str, features: Sequence[str], settings: Settings) -> Ledger:
        """Of no rows."""
        blocks = {name: (Labels(TEXT), np.zeros((1, 1))) for name in features}
        return cls(Counts.join(target, Labels(TEXT), blocks, 0, settings))

    @property
    def counts(self) -> Counts:
        """The counts, as a copy that stays as it is; whole numbers, unless rows had weights."""
        if self.whole:
            return replace(self.kept, flat=np.rint(self.kept.flat).astype(np.int64), rows=round(self.kept.rows))
        return replace(self.kept, flat=self.kept.flat.copy())

    def add(self, counts: Counts) -> None:
        """More counts, of the same features."""
        self.whole = self.whole and counts.flat.dtype.kind != "f"
        self._take(self.kept + counts)

    def subtract(self, counts: Counts) -> None:
        """Counts that were added before."""
        self._take(self.kept - counts)

    def fade(self, factor: float) -> None:
        """Let all that was counted count for less."""
        self.whole = False
        self.kept.flat *= factor
        self.kept.rows *= factor
        self.version += 1

    def enter(self, cells: Sequence[Any], label: Any, weight: float = 1.0) -> None:  # noqa: ANN401
        """One row, a cell a feature; with a negative weight it is taken away."""
        group = self.group_of(label)
        places = self.places_of(cells) if group is not None else None
        if group is None or places is None or (places < 0).any():
            one = self.tally_row(cells, label, abs(weight))
            (self.add if weight > 0.0 else self.subtract)(one)
            return
        self.whole = self.whole and weight == round(weight)
        where = self.starts + group * self.widths + places
        self.kept.flat[where] += weight
        self.kept.rows += weight
        self.version += 1
        if weight < 0.0:
            self._tidy(where, places, weight)

    def _tidy(self, where: IntegerArray, places: IntegerArray, weight: float) -> None:
        """After a row was taken away: undo it where it had not been there, and forget labels that are gone."""
        left = self.kept.flat[where]
        if np.any(left < weight * _ROUNDING):
            self.kept.flat[where] -= weight
            self.kept.rows -= weight
            name = self.kept.features[int(np.argmin(left))]
            raise CredimiError(f"column {name!r}: more is taken away than was counted; pass rows that were")
        emptied = np.flatnonzero(left <= -weight * _ROUNDING)
        if emptied.size:
            self.kept.flat[where[emptied]] = 0.0
            columns = (self.starts + places)[emptied, None] + self.widths[emptied, None] * np.arange(self.height)
            if not self.kept.flat[columns].any(axis=1).all() or not self.totals()[:-1].all():
                self._take(self.kept - replace(self.kept, flat=np.zeros_like(self.kept.flat), rows=0))

    def tally_row(self, cells: Sequence[Any], label: Any, weight: float = 1.0) -> Counts:  # noqa: ANN401
        """The counts of one row alone."""
        columns = dict(zip((self.kept.target, *self.kept.features), map(_single, (label, *cells)), strict=True))
        weights = None if weight == 1.0 else np.array([weight])
        batch = Batch(columns, 1, weights=weights)
        return tally(batch, self.kept.target, self.kept.features, self.kept.settings, threads=1)

    def places_of(self, cells: Sequence[Any]) -> IntegerArray | None:
        """In which column of its block each cell is counted, -1 where it is new; None where it is not known so."""
        places = []
        for cell, kind, where in zip(cells, self.kinds, self.where, strict=True):
            if is_missing(cell):
                place = len(where)
            elif kind == TEXT:
                if not isinstance(cell, str):
                    return None
                place = len(where) if cell in self.missing.texts else where.get(cell, -1)
            elif kind == NUMBER:
                if not isinstance(cell, int | float | np.integer | np.floating) or isinstance(cell, _NO_NUMBERS):
                    return None
                place = len(where) if cell in self.missing.numbers else where.get(cell, -1)
            elif kind == BOOLEAN and isinstance(cell, bool | np.bool_):
                place = where.get("true" if cell else "false", -1)
            else:
                return None
            places.append(place)
        return np.array(places, dtype=np.int64)

    def means_missing(self, value: Any) -> bool:  # noqa: ANN401
        """Whether a single value is none."""
        if isinstance(value, str):
            return value in self.missing.texts
        return is_missing(value) or (_is_number(value) and value in self.missing.numbers)

    def group_of(self, label: Any) -> int | None:  # noqa: ANN401
        """The row of the blocks in which this class is counted; None where it is new, or not known so."""
        classes = self.kept.classes
        if self.means_missing(label):
            return len(classes)
        if isinstance(label, bool | np.bool_):
            text: Any = "true" if label else "false"
            return self.groups.get(text) if classes.kind == BOOLEAN else None
        known = isinstance(label, str) if classes.kind == TEXT else _is_number(label)
        return self.groups.get(label) if known and classes.kind in (TEXT, NUMBER) else None

    def extend(self, names: Sequence[str]) -> None:
        """Features that were never seen before: missing in all rows so far."""
        kept = self.kept
        totals = self.totals() if len(kept) else np.zeros(len(kept.classes) + 1)
        flat = np.concatenate([kept.flat, np.tile(totals, len(names))])
        labels = (*kept.labels, *[Labels(TEXT)] * len(names))
        self._take(replace(kept, features=(*kept.features, *names), labels=labels, flat=flat))

    def totals(self) -> FloatArray:
        """How often each class occurred, and last how often none was known."""
        found: FloatArray = self.kept.flat[: self.height * self.widths[0]].reshape(self.height, -1).sum(axis=1)
        return found

    def seen(self) -> FloatArray:
        """(features, classes + 1): how often each feature was seen with each class, and last with none."""
        starts = (self.starts[:, None] + self.widths[:, None] * np.arange(self.height)).ravel()
        rows = np.add.reduceat(self.kept.flat, starts).reshape(-1, self.height)
        missing = self.kept.flat[starts + np.repeat(self.widths, self.height) - 1].reshape(-1, self.height)
        found: FloatArray = rows - missing
        return found

    def _take(self, counts: Counts) -> None:
        self.kept = replace(counts, flat=counts.flat.astype(np.float64))
        self.kinds = [own.kind for own in counts.labels]
        self.where: list[Mapping[Any, int]] = [_index(own) for own in counts.labels]
        self.groups = _index(counts.classes)
        self.height = len(counts.classes) + 1
        self.widths = np.array([len(own) + 1 for own in counts.labels], dtype=np.int64)
        self.starts = self.height * (np.cumsum(self.widths) - self.widths)
        self.version += 1
        self.layout += 1


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, _NO_NUMBERS)


def _index(own: Labels) -> dict[Any, int]:
    """Where each label stands."""
    if own.kind == MANY:
        return {}
    return {label: place for place, label in enumerate(own.numbers.tolist() if own.kind == NUMBER else own.texts)}


def _single(value: Any) -> NDArray[Any]:  # noqa: ANN401
    array = np.empty(1, dtype=object)
    array[0] = value
    return array
