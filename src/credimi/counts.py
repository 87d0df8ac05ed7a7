"""`Counts`: all that is kept of the rows, one (r + 1) x (s + 1) block a feature, in one flat array; missing last.

    n_11 ... n_1s | n_1?          r classes of the target, s values of the feature; n_i?: the feature is missing,
    ...           | ...           n_?j: the target is missing, n_??: both
    n_r1 ... n_rs | n_r?
    --------------+-----
    n_?1 ... n_?s | n_??

Counts of parts add up to the counts of the whole, whatever labels each part has shown: blocks are aligned by label
first. What is kept is raw: whether text looks like numbers, and where numbers are cut, is decided when the counts are
read (`settled`), from all of them, so that neither the order of the rows nor their batches matter.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from credimi import discretization, labels, storage
from credimi.errors import CredimiError
from credimi.labels import BOOLEAN, MANY, NUMBER, RAW, TEXT, Labels
from credimi.table import Table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    CountArray = NDArray[np.int64]

MISSING_VALUES = ("", "?", "NA", "NaN", "null")
METHODS = ("mdl", "quantile", "categories")
CATEGORIES = 20  # whole numbers of at most so many distinct values are categories
QUANTILES = 10
MOST_CLASSES = 1000
_ENOUGH = 20  # values seen before a column may be called an identifier
_FEW = 100  # the same for whole numbers, which may be measurements
_NEARLY_ALL = 0.9


@dataclass(frozen=True, slots=True)
class Settings:
    """How values are read: what means missing, and how numbers become categories."""

    missing_values: tuple[str | float, ...] = MISSING_VALUES
    discretize: Any = "mdl"

    def method(self, column: str) -> Any:  # noqa: ANN401
        """How this column's numbers become categories: a method's name, cuts, or None."""
        if not isinstance(self.discretize, dict):
            return self.discretize
        return self.discretize.get(column, self.discretize.get("*", "mdl"))

    @property
    def named(self) -> list[str]:
        """The columns for which it is said by name."""
        return [name for name in self.discretize if name != "*"] if isinstance(self.discretize, dict) else []


@dataclass(frozen=True, slots=True, eq=False)
class Feature:
    """One column as it is ranked: its block, the values' names, how they came about, and why it is not ranked.

    `places` says of each label that was counted which of the values it has become; empty where it is not ranked.
    """

    name: str
    block: CountArray
    values: tuple[str, ...]
    treatment: str = ""
    note: str = ""
    places: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    @property
    def table(self) -> Table:
        """The counts without those rows in which both are missing."""
        return Table.of(self.block[:-1, :-1], self.block[:-1, -1], self.block[-1, :-1])

    @property
    def complete(self) -> int:
        """Rows that have both."""
        return int(self.block[:-1, :-1].sum())

    @property
    def missing(self) -> int:
        """Rows without the feature."""
        return int(self.block[:, -1].sum())


@dataclass(eq=False)
class Counts:
    """Counts of one target with many features. `a + b` adds, `update` adds more data, `counts["column"]` is a Table."""

    target: str
    classes: Labels
    features: tuple[str, ...]
    labels: tuple[Labels, ...]
    flat: CountArray
    rows: int = 0
    settings: Settings = field(default_factory=Settings)

    @classmethod
    def join(
        cls,
        target: str,
        classes: Labels,
        columns: Mapping[str, tuple[Labels, CountArray]],
        rows: int,
        settings: Settings,
    ) -> Counts:
        """From the blocks of single features."""
        flat = [block.ravel() for _, block in columns.values()]
        return cls(
            target,
            classes,
            tuple(columns),
            tuple(each for each, _ in columns.values()),
            np.concatenate(flat) if flat else np.zeros(0, dtype=np.int64),
            rows,
            settings,
        )

    def __len__(self) -> int:
        return len(self.features)

    def __contains__(self, column: object) -> bool:
        return column in self.features

    def __iter__(self) -> Iterator[str]:
        return iter(self.features)

    def __getitem__(self, column: str) -> Table:
        """The counts of one column and the target, numbers cut as in `rank`."""
        return self.feature(column).table

    def __repr__(self) -> str:
        return (
            f"Counts(target={self.target!r}, rows={self.rows:,}, features={len(self.features):,}, "
            f"classes={len(self.classes):,})"
        )

    def feature(self, column: str) -> Feature:
        """One column, settled: its counts, the names of its values, how they came about."""
        if column not in self.features:
            raise CredimiError(unknown(column, self.features))
        index = self.features.index(column)
        return self._settle(column, self.labels[index], self._blocks()[index], self._settled_classes())

    def class_names(self) -> tuple[str, ...]:
        """The target's classes, in the order of the tables' rows."""
        return self._settled_classes()[0].shown()

    def settled(self) -> list[Feature]:
        """All columns as they are ranked."""
        classes = self._settled_classes()
        return [self._settle(*each, classes) for each in zip(self.features, self.labels, self._blocks(), strict=True)]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Counts):
            return NotImplemented
        if (self.target, self.rows, set(self.features)) != (other.target, other.rows, set(other.features)):
            return False
        own, others = self._typed(), other._typed()
        return all(
            labels_ == others[name][0] and np.array_equal(block, others[name][1])
            for name, (labels_, block) in own.items()
        )

    def _typed(self) -> dict[str, tuple[tuple[Labels, Labels], CountArray]]:
        """All columns with their types, uncut: what makes two counts equal."""
        most = labels.most_labels(len(self), len(self.classes) + 1)
        classes, rows = labels.typed(self.classes)
        found = {}
        for name, own, block in zip(self.features, self.labels, self._blocks(), strict=True):
            kept, columns = labels.typed(own, most)
            found[name] = ((classes, kept), spread(block, rows, columns, (len(classes), len(kept))))
        return found

    __hash__ = None  # type: ignore[assignment]  # counts change

    def __add__(self, other: Counts) -> Counts:
        if not isinstance(other, Counts):
            return NotImplemented
        if self.target != other.target:
            raise CredimiError(
                f"counts of the targets {self.target!r} and {other.target!r} do not add: count the same target"
            )
        if set(self.features) != set(other.features):
            apart = sorted(set(self.features) ^ set(other.features))
            raise CredimiError(
                f"only one of the two counts has the column {apart[0]!r}: count the same columns (features, --features)"
            )
        if self.settings != other.settings:
            raise CredimiError(
                f"counts made with different settings do not add: {self.settings} and {other.settings}; "
                "use the same missing_values and discretize"
            )
        rows = self.rows + other.rows
        same = self.classes == other.classes and self.features == other.features
        if same and all(
            one is another or one == another for one, another in zip(self.labels, other.labels, strict=True)
        ):
            return replace(self, flat=self.flat + other.flat, rows=rows)
        classes, mine, theirs = labels.union(self.classes, other.classes)
        if len(classes) > MOST_CLASSES:
            raise CredimiError(too_many_classes(self.target, len(classes)))
        others = dict(zip(other.features, zip(other.labels, other._blocks(), strict=True), strict=True))
        columns, most = {}, labels.most_labels(len(self), len(classes) + 1)
        for name, own, block in zip(self.features, self.labels, self._blocks(), strict=True):
            other_labels, other_block = others[name]
            merged, here, there = labels.union(own, other_labels, most)
            size = (len(classes), len(merged))
            added = spread(block, mine, here, size) + spread(other_block, theirs, there, size)
            columns[name] = bounded(merged, added, most)
        return Counts.join(self.target, classes, columns, rows, self.settings)

    def __radd__(self, other: object) -> Counts:
        """So that `sum` of several counts works, which starts from 0."""
        return self if other == 0 else NotImplemented

    def update(self, data: Any) -> Counts:  # noqa: ANN401
        """Count more data of the same columns, and return these counts."""
        from credimi.engines.door import count  # noqa: PLC0415  (engines stand above, and are only called from here)

        counted = count(
            data,
            self.target,
            features=self.features,
            missing_values=self.settings.missing_values,
            discretize=self.settings.discretize,
        )
        self.__dict__.update((self + counted).__dict__)
        return self

    def save(self, path: str | Path) -> None:
        """Write to one file (docs/counts-format.md), whole or not at all."""
        header = {
            "target": self.target,
            "rows": self.rows,
            "missing_values": list(self.settings.missing_values),
            "discretize": self.settings.discretize,
            "classes": _described(self.classes),
            "features": [
                {"name": name} | _described(own) for name, own in zip(self.features, self.labels, strict=True)
            ],
        }
        numbers = [each.numbers for each in (self.classes, *self.labels)]
        storage.save(header, {"numbers": np.concatenate(numbers), "counts": self.flat}, path)

    @staticmethod
    def load(path: str | Path) -> Counts:
        """Read what `save` wrote."""
        header, arrays = storage.load(path)
        try:
            return Counts._read(header, arrays)
        except (AttributeError, KeyError, TypeError, ValueError) as error:  # all bytes are right, and say nothing
            raise CredimiError(f"{path} was not written by credimi's save(): count the data again") from error

    @staticmethod
    def _read(header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Counts:
        numbers, start, kept = arrays["numbers"], 0, []
        for each in (header["classes"], *header["features"]):
            end = start + each.get("numbers", 0)
            kept.append(Labels(each["kind"], tuple(each["texts"]), numbers[start:end], each.get("dropped_bits", 0)))
            start = end
        counts = Counts(
            header["target"],
            kept[0],
            tuple(each["name"] for each in header["features"]),
            tuple(kept[1:]),
            arrays["counts"],
            header["rows"],
            Settings(tuple(header["missing_values"]), header["discretize"]),
        )
        cells = sum((len(counts.classes) + 1) * (len(each) + 1) for each in counts.labels)
        if cells != counts.flat.size or np.any(counts.flat < 0):
            raise ValueError(f"{counts.flat.size} counts do not fill {cells} cells, or are negative")
        return counts

    def _blocks(self) -> list[CountArray]:
        """Views into the flat array."""
        blocks, start, height = [], 0, len(self.classes) + 1
        for each in self.labels:
            width = len(each) + 1
            blocks.append(self.flat[start : start + height * width].reshape(height, width))
            start += height * width
        return blocks

    def _settled_classes(self) -> tuple[Labels, NDArray[np.int64]]:
        classes, positions = labels.typed(self.classes)
        if self.rows == 0:
            raise CredimiError("there are no rows: nothing can be said about the target")
        if len(classes) == 0:
            raise CredimiError(
                f"target {self.target!r} is missing in all {self.rows:,} rows: choose another target, or check "
                "what means missing (missing_values, --missing)"
            )
        if len(classes) == 1:
            raise CredimiError(
                f"target {self.target!r} has one class only, {classes.shown()[0]!r}: nothing can inform about it"
            )
        if len(classes) > MOST_CLASSES:
            raise CredimiError(too_many_classes(self.target, len(classes)))
        if classes.kind == NUMBER and not classes.integral and len(classes) > CATEGORIES:
            raise CredimiError(
                f"target {self.target!r} holds {len(classes):,} different numbers, not classes: "
                "cut it into a few ranges first, or choose another target"
            )
        return classes, positions

    def _settle(self, name: str, own: Labels, block: CountArray, classes: tuple[Labels, NDArray[np.int64]]) -> Feature:
        method, named = self.settings.method(name), name in self.settings.named
        kept, positions = labels.typed(own, labels.most_labels(len(self), len(self.classes) + 1))
        names_of_digits = kept.kind == TEXT and all(labels.is_number(text, names_too=True) for text in kept.texts)
        if named and method != "categories" and len(kept) and kept.kind not in (NUMBER, MANY):
            if not names_of_digits:
                raise CredimiError(
                    f"column {name!r} holds text such as {kept.texts[0]!r}, and discretize has a way to cut it: only "
                    "numbers can be cut; take it out of discretize"
                )
            kept, positions = labels.of_numbers(np.array([float(text) for text in own.texts]))
        counts = spread(block, classes[1], positions, (len(classes[0]), len(kept)))
        seen = int(counts[:, :-1].sum())
        if len(kept) == 0:
            return Feature(name, counts, (), note="all values are missing")
        if kept.kind == MANY:
            return Feature(name, counts, ("(many)",), note="identifier: more different values than are kept")
        if len(kept) == 1:
            return Feature(name, counts, kept.shown(), note=f"one value only: {kept.shown()[0]}")
        if kept.kind == NUMBER:
            settled = self._settle_numbers(name, kept, counts, method, named=named)
            return replace(settled, places=settled.places[positions]) if settled.places.size else settled
        if kept.kind != BOOLEAN and method != "categories" and seen >= _ENOUGH and 2 * len(kept) > seen:
            return Feature(name, counts, kept.shown(), note=_identifier(len(kept), seen, name, "categories"))
        treatment = "categories, not numbers: leading zeros" if names_of_digits and own.kind == RAW else "categories"
        return Feature(name, counts, kept.shown(), treatment=treatment, places=positions)

    def _settle_numbers(self, name: str, kept: Labels, counts: CountArray, method: Any, *, named: bool) -> Feature:  # noqa: ANN401
        seen = int(counts[:, :-1].sum())
        if method == "categories" or (kept.integral and len(kept) <= CATEGORIES and not named):
            return Feature(name, counts, kept.shown(), treatment="categories", places=np.arange(len(kept)))
        if not named and seen >= _FEW and _is_key(kept, seen):
            return Feature(name, counts, (), note=_identifier(len(kept), seen, name, "mdl"))
        if method is None:
            raise CredimiError(
                f"column {name!r} holds {len(kept):,} different numbers, and discretize is None: name a method "
                f"({', '.join(METHODS)}), for all columns or as {{{name!r}: ...}}, or leave the column out"
            )
        if method == "mdl":
            cuts = discretization.mdl_cuts(kept.numbers, counts[:-1, :-1].T)
        elif method == "quantile":
            cuts = discretization.quantile_cuts(kept.numbers, counts[:, :-1].sum(axis=0), QUANTILES)
        else:
            cuts = np.array(method, dtype=np.float64)
        bins = discretization.bins_of(kept.numbers, cuts)
        used, bins = np.unique(bins, return_inverse=True)
        names = discretization.interval_labels(cuts, kept.numbers)
        binned = spread(counts, np.arange(counts.shape[0] - 1), bins, (counts.shape[0] - 1, used.size))
        how = method if isinstance(method, str) else "given cuts"
        note = "" if used.size > 1 else "no cut passes the MDL test: no value range tells of the target"
        if used.size < 2 and method != "mdl":
            note = "all values lie between two cuts"
        places = ", ".join(labels.shown_number(float(f"{cut:.6g}")) for cut in cuts)
        treatment = (
            f"{how}, {cuts.size} cut{'s' if cuts.size != 1 else ''}: {places}" if cuts.size else f"{how}, no cut"
        )
        return Feature(name, binned, tuple(names[index] for index in used), treatment, note, bins.astype(np.int64))


def spread(block: CountArray, rows: NDArray[np.int64], columns: NDArray[np.int64], size: tuple[int, int]) -> CountArray:
    """A block on larger or fewer labels: row i goes to `rows[i]`, column j to `columns[j]`, the missing stay last."""
    height, width = size
    if block.shape == (height + 1, width + 1) and _unmoved(rows) and _unmoved(columns):
        return block
    across = np.zeros((block.shape[0], width + 1), dtype=np.int64)
    _add(across.T, np.append(columns, width), block.T)
    if height + 1 == block.shape[0] and _unmoved(rows):
        return across
    out = np.zeros((height + 1, width + 1), dtype=np.int64)
    _add(out, np.append(rows, height), across)
    return out


def _add(out: CountArray, positions: NDArray[np.int64], block: CountArray) -> None:
    """Row i of the block to row positions[i]; several may go to one."""
    if np.all(positions[1:] > positions[:-1]):
        out[positions] = block
    else:
        np.add.at(out, positions, block)


def bounded(own: Labels, block: CountArray, most: int) -> tuple[Labels, CountArray]:
    """Labels and block, numbers made coarser and others given up where they are more than `most`."""
    if len(own) <= most:
        return own, block
    kept, positions = labels.typed(own, most)  # raw text that is all numbers gets the numbers' way out
    if kept.kind == NUMBER:
        kept, onward = labels.of_numbers(kept.numbers, kept.dropped_bits, most)
        positions = onward[positions]
    if len(kept) > most:
        kept, positions = labels.collapsed(own)
    return kept, spread(block, np.arange(block.shape[0] - 1), positions, (block.shape[0] - 1, len(kept)))


def too_many_classes(target: str, classes: int) -> str:
    """A message on a target that has no classes but values."""
    return (
        f"target {target!r} has {classes:,} different values, at most {MOST_CLASSES:,} are classes: "
        "cut it into a few ranges first, or choose another target"
    )


def unknown(name: str, offered: Sequence[str]) -> str:
    """A message on a name that is not there, with the nearest ones that are."""
    from difflib import get_close_matches  # noqa: PLC0415  (only a mistake needs it)

    near = get_close_matches(name, offered, n=3, cutoff=0.5) or [
        each for each in offered if each.lower() == name.lower()
    ]
    if near:
        return f"there is no column {name!r}: did you mean {' or '.join(repr(each) for each in near)}?"
    listed = ", ".join(repr(each) for each in offered[:10]) + (", ..." if len(offered) > 10 else "")
    return f"there is no column {name!r}: there are {listed or 'none'}"


def _described(own: Labels) -> dict[str, Any]:
    """Labels as the header of a file names them; the numbers themselves stand in an array."""
    numbers = {"numbers": own.numbers.size, "dropped_bits": own.dropped_bits} if own.kind == NUMBER else {}
    return {"kind": own.kind, "texts": list(own.texts)} | numbers


def _unmoved(positions: NDArray[np.int64]) -> bool:
    return bool(np.array_equal(positions, np.arange(positions.size)))


def _is_key(kept: Labels, seen: int) -> bool:
    """Whole numbers, nearly each its own, without large gaps: they number the rows."""
    if not kept.integral or kept.numbers[-1] - kept.numbers[0] >= 2 * seen:
        return False
    return kept.dropped_bits > 0 or len(kept) > _NEARLY_ALL * seen


def _identifier(values: int, seen: int, name: str, method: str) -> str:
    return f"identifier: {values:,} different values in {seen:,} rows (--discretize {name}={method} ranks it)"
