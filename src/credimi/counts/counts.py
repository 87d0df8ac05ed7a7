"""`Counts`: what credimi stores of the rows. One (r + 1) x (s + 1) block per feature, in one flat array; missing last.

    n_11 ... n_1s | n_1?          r classes of the target, s values of the feature; n_i?: the feature is missing,
    ...           | ...           n_?j: the target is missing, n_??: both
    n_r1 ... n_rs | n_r?
    --------------+-----
    n_?1 ... n_?s | n_??

Counts of parts add up to the counts of the whole, whatever labels each part has: blocks are aligned by label first.
Counts are stored raw. Whether text looks like numbers, and where numbers are cut, is decided from all counts when they
are read (`interpreted`). So neither the order of the rows nor their batches matter.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field, replace
from html import escape
from importlib import import_module
from typing import TYPE_CHECKING

import numpy as np

from credimi.columns import labels
from credimi.columns.interpret import InterpretedClasses, check_classes, interpret, interpret_classes
from credimi.columns.labels import BOOLEAN, NUMBER, Labels
from credimi.columns.reading_options import ReadingOptions
from credimi.core.arguments import unknown
from credimi.core.errors import CredimiError
from credimi.core.public import public
from credimi.core.tables import relabel
from credimi.core.threads import share
from credimi.counts import fewer_rows
from credimi.counts.saved import counts_file, counts_header

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from credimi.columns.feature import Feature
    from credimi.core.remote_files import Place
    from credimi.core.table import Table
    from credimi.core.types import AnyArray, CountArray, Data, FloatArray, Record
    from credimi.counts.rows.sampled_rows import SampledRows
    from credimi.counts.saved.counted_files import CountedFile

_CELLS_WORTH_COMPILING = 1 << 20  # of all blocks; with fewer, numpy is done before compiled code is loaded


@public
@dataclass(frozen=True, eq=False)
class Counts:
    """Counts of one target with many features, made by `credimi.count`: all that is kept of the rows.

    `a + b` are the counts of both, `a - b` those of a without rows that were counted before. `counts["column"]` is the
    `Table` of one feature, with numbers cut as in `rank`. Counts are read-only; only `update` changes them: it replaces
    them by the counts with more rows, all at once.

    Attributes
    ----------
    target : str
        The target's name.
    features : tuple of str
        The columns.
    rows : int or float
        The rows that were counted, or their weight.
    sources : tuple
        The files that were counted, if known.
    sample : SampledRows or None
        Up to 4,096 rows as codes, by which `rank` finds columns that say the same; in no file and no pickle.

    Examples
    --------
    >>> january = credimi.count({"x": ["a", "b"], "class": ["p", "q"]}, "class")
    >>> february = credimi.count({"x": ["b", "c"], "class": ["q", "p"]}, "class")
    >>> january + february
    Counts(target='class', rows=4, features=1, classes=2)
    >>> january + february - january == february
    True
    """

    target: str
    classes: Labels
    features: tuple[str, ...]
    labels: tuple[Labels, ...]
    flat: CountArray
    rows: int | float = 0
    settings: ReadingOptions = field(default_factory=ReadingOptions)
    sources: tuple[CountedFile, ...] = ()  # the files that were counted, if known
    sample: SampledRows | None = field(default=None, repr=False)  # some rows, where they were counted in this process
    squares: float = 0.0  # the sum of the squares of the weights that a column has (`settings.weights`)
    flat_squares: FloatArray | None = None  # the sums of these squares, cell by cell like `flat`; None if not known

    def __post_init__(self) -> None:
        for name in ("flat", "flat_squares"):
            if (cells := getattr(self, name)) is not None:
                object.__setattr__(self, name, view := cells.view())
                view.setflags(write=False)

    @classmethod
    def join(
        cls,
        target: str,
        classes: Labels,
        columns: Mapping[str, tuple[Labels, CountArray]],
        rows: float,
        settings: ReadingOptions,
    ) -> Counts:
        """Counts from the blocks of single features."""
        flat = [block.ravel() for _, block in columns.values()]
        return cls(
            target,
            classes,
            tuple(columns),
            tuple(column_labels for column_labels, _ in columns.values()),
            np.concatenate(flat) if flat else np.zeros(0, dtype=np.int64),
            rows,
            settings,
        )

    def __getstate__(self) -> Record:
        """The state for pickles: the counts without the sampled rows."""
        return self.__dict__ | {"sample": None}

    def __len__(self) -> int:
        return len(self.features)

    def __contains__(self, column: object) -> bool:
        return column in self.features

    def __iter__(self) -> Iterator[str]:
        return iter(self.features)

    def __getitem__(self, column: str) -> Table:
        """The counts of one column and the target; numbers cut as in `rank`, without its correction for the cuts."""
        return self.feature(str(column)).table  # a name in pandas may be no text

    def __repr__(self) -> str:
        features, classes = f"features={len(self.features):,}", f"classes={len(self.classes):,}"
        return f"Counts(target={self.target!r}, rows={self.rows:,}, {features}, {classes})"

    def _repr_html_(self) -> str:
        return f"<table><tr><td>{escape(repr(self))}</td></tr></table>"

    def feature(self, column: str) -> Feature:
        """One column, interpreted: its counts, the names of its values, and how they were chosen."""
        if column not in self.features:
            raise CredimiError(unknown(column, self.features))
        return self._interpret(self.features.index(column), self.blocks(), self.interpreted_classes())

    def distinct_numbers(self, column: str) -> tuple[FloatArray, CountArray]:
        """The distinct numbers of one column, in order, and how often each class occurs with each, (d, r); uncut.

        Booleans are 0 and 1. If there are more numbers than are kept, they have lost their last bits (see `labels`).
        """
        if column not in self.features:
            raise CredimiError(unknown(column, self.features))
        index = self.features.index(column)
        typed, columns = labels.typed(self.labels[index], labels.most_labels(len(self.features), len(self.classes) + 1))
        if len(typed) and typed.kind not in (NUMBER, BOOLEAN):
            raise CredimiError(
                f"column {column!r} holds {typed.kind}, not numbers: count the columns of numbers (features=[...])"
            )
        classes, rows = labels.typed(self.classes)
        numbers = np.array([text == "true" for text in typed.texts], dtype=np.float64) if typed.texts else typed.numbers
        return numbers, relabel(self.blocks()[index], rows, columns, (len(classes), len(typed)))[:-1, :-1].T

    def class_names(self, least: int = 2) -> tuple[str, ...]:
        """The target's classes, in the order of the tables' rows; an error if there are fewer than `least`."""
        return self.interpreted_classes(least).labels.shown()

    def interpreted_classes(self, least: int = 2) -> InterpretedClasses:
        """The target's classes as they are ranked; an error if there are fewer than `least`."""
        classes, positions = interpret_classes(self.target, self.classes, self.rows, least, settings=self.settings)
        totals = np.zeros(len(classes), dtype=self.flat.dtype)
        for block in self.blocks()[:1]:  # each block has all rows
            np.add.at(totals, positions, block[:-1].sum(axis=1))
        return InterpretedClasses(classes, positions, totals)

    def interpreted(
        self, least_classes: int = 2, classes: InterpretedClasses | None = None, threads: int | None = None
    ) -> list[Feature]:
        """All columns as they are ranked; `classes` are those of `interpreted_classes`, if they are known."""
        interpreted_classes, blocks = classes or self.interpreted_classes(least_classes), self.blocks()
        if self.flat.size >= _CELLS_WORTH_COMPILING and self.flat.dtype.kind != "f":
            features: dict[int, Feature] = {}

            def work(index: int) -> None:
                features[index] = self._interpret(index, blocks, interpreted_classes, compiled=True)

            with suppress(CredimiError):  # raised again below, by the first faulty column
                share(work, range(len(blocks)), threads)
                return [features[index] for index in range(len(blocks))]
        squares = None if self.settings.weights is None else self.of_squares()
        blocks_of_squares = None if squares is None else squares.blocks()
        return [self._interpret(index, blocks, interpreted_classes, blocks_of_squares) for index in range(len(blocks))]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Counts):
            return NotImplemented
        if (self.target, self.rows, set(self.features)) != (other.target, other.rows, set(other.features)):
            return False
        typed, other_typed = self._typed(), other._typed()
        return all(
            labels_ == other_typed[name][0] and np.array_equal(block, other_typed[name][1])
            for name, (labels_, block) in typed.items()
        )

    def _typed(self) -> dict[str, tuple[tuple[Labels, Labels], CountArray]]:
        """All columns with their types, uncut: two counts are equal if these are."""
        max_labels = labels.most_labels(len(self.features), len(self.classes) + 1)
        classes, rows = labels.typed(self.classes)
        typed_columns = {}
        for name, column_labels, block in zip(self.features, self.labels, self.blocks(), strict=True):
            typed, columns = labels.typed(column_labels, max_labels)
            both = labels.kindless(classes), labels.kindless(typed)
            typed_columns[name] = (both, relabel(block, rows, columns, (len(classes), len(typed))))
        return typed_columns

    __hash__ = None  # type: ignore[assignment]  # counts change

    def _require_alike(self, other: Counts) -> None:
        """Refuse to combine counts that do not match."""
        if self.target != other.target:
            raise CredimiError(
                f"counts of the targets {self.target!r} and {other.target!r} do not add: count the same target"
            )
        if set(self.features) != set(other.features):
            unshared = sorted(set(self.features) ^ set(other.features))
            raise CredimiError(
                f"only one of the two counts has the column {unshared[0]!r}: count the same columns (features, "
                "--features)"
            )
        if self.settings != other.settings:
            raise CredimiError(
                f"counts made with different settings do not add: {self.settings} and {other.settings}; "
                "use the same missing_values, discretize, target_cuts and weights"
            )

    def __add__(self, other: Counts) -> Counts:
        if not isinstance(other, Counts):
            return NotImplemented
        self._require_alike(other)
        rows, sources = self.rows + other.rows, self.sources + other.sources
        squares = self.squares + other.squares
        totals: Record = {"rows": rows, "sources": sources, "squares": squares}
        totals["flat_squares"] = _added_squares(self.of_squares(), other.of_squares())
        same = self.classes == other.classes and self.features == other.features
        if same and all(
            labels_ is other_labels_ or labels_ == other_labels_
            for labels_, other_labels_ in zip(self.labels, other.labels, strict=True)
        ):
            return replace(self, flat=self.flat + other.flat, **totals)
        classes, own_rows, other_rows = labels.union(self.classes, other.classes)
        check_classes(self.target, classes)
        other_columns_by_name = dict(zip(other.features, zip(other.labels, other.blocks(), strict=True), strict=True))
        columns, max_labels, max_bytes = (
            {},
            labels.most_labels(len(self.features), len(classes) + 1),
            labels.most_bytes(len(self.features)),
        )
        for name, column_labels, block in zip(self.features, self.labels, self.blocks(), strict=True):
            other_labels, other_block = other_columns_by_name[name]
            merged, own_columns, other_columns = labels.union(column_labels, other_labels, max_labels)
            size = (len(classes), len(merged))
            added = relabel(block, own_rows, own_columns, size) + relabel(other_block, other_rows, other_columns, size)
            columns[name] = bounded(merged, added, max_labels, max_bytes)
        whole = Counts.join(self.target, classes, columns, rows, self.settings)
        return replace(whole, sample=self.sample, **totals)

    def __sub__(self, other: Counts) -> Counts:
        """The counts without rows that were counted before."""
        if not isinstance(other, Counts):
            return NotImplemented
        self._require_alike(other)
        return fewer_rows.difference(self, other)

    def labelled(self) -> Counts:
        """The counts of only those rows whose class is known."""
        return fewer_rows.labelled(self)

    def of_squares(self) -> Counts | None:
        """Counts of the same rows with the squares of the weights in place of the weights; None if they are unknown.

        They have no weights, and so no squares of their own.
        """
        flat = self.flat_squares
        if flat is None and (self.rows or self.settings.weights is None):
            return None
        flat = np.zeros(self.flat.size) if flat is None else flat  # without rows there are no squares
        settings = replace(self.settings, weights=None, weights_are=None)
        squares = replace(self, flat=flat, rows=self.squares, squares=0.0, flat_squares=None, settings=settings)
        return replace(squares, sources=(), sample=None)

    def __radd__(self, other: object) -> Counts:
        """Let `sum` of several counts work, which starts from 0."""
        return self if other == 0 else NotImplemented

    def update(self, data: Data, *, delimiter: str | None = None) -> Counts:
        """Count more data with the same columns, and return these counts; the delimiter is as in `credimi.count`."""
        count_more = import_module(
            "credimi.sources.count"
        ).count_more  # the door stands above; only this method calls it
        self.__dict__.update((self + count_more(data, self, delimiter)).__dict__)
        return self

    def save(self, path: str | Path) -> None:
        """Write to one file (docs/counts-format.md), which is complete or absent."""
        counts_file.save(*counts_header.written(self), path)

    def to_bytes(self) -> bytes:
        """What `save` would write, to be sent elsewhere."""
        return counts_file.packed(*counts_header.written(self))

    @staticmethod
    def load(path: str | Place) -> Counts:
        """Read what `save` wrote."""
        return Counts._checked(*counts_file.load(path), path)

    @staticmethod
    def from_bytes(content: bytes) -> Counts:
        """Read what `to_bytes` made."""
        source = "what was sent"
        return Counts._checked(*counts_file.unpacked(content, source), source)

    @staticmethod
    def _checked(header: Record, arrays: Mapping[str, AnyArray], path: str | Place) -> Counts:
        try:
            return Counts(**counts_header.read(header, arrays))
        except (OverflowError, RecursionError, TypeError, ValueError) as error:  # intact bytes without sense
            raise CredimiError(counts_file.no_counts(path, error)) from error

    def blocks(self) -> list[CountArray]:
        """The raw blocks of the features: views into the flat array."""
        blocks, start, height = [], 0, len(self.classes) + 1
        for column_labels in self.labels:
            width = len(column_labels) + 1
            blocks.append(self.flat[start : start + height * width].reshape(height, width))
            start += height * width
        return blocks

    def _interpret(
        self,
        index: int,
        blocks: Sequence[CountArray],
        classes: InterpretedClasses,
        squares: Sequence[FloatArray] | None = None,
        *,
        compiled: bool = False,
    ) -> Feature:
        max_labels, interpreted = (
            labels.most_labels(len(self.features), len(self.classes) + 1),
            (classes.labels, classes.positions),
        )
        options: Record = {"settings": self.settings, "max_labels": max_labels, "compiled": compiled}
        feature = interpret(self.features[index], self.labels[index], blocks[index], interpreted, **options)
        if self.settings.numeric_target and feature.kind.ranked:
            of_column = import_module("credimi.inference.numbers.of_column")  # it stands above; only this line calls it
            feature = replace(feature, averaged=of_column.of_feature(feature, blocks[index]))
        return feature if squares is None else feature.with_squares(squares[index], classes.positions)


def _added_squares(one: Counts | None, other: Counts | None) -> FloatArray | None:
    """The sum of two counts of squares; it is unknown if one of them is."""
    return None if one is None or other is None else (one + other).flat


def bounded(column_labels: Labels, block: CountArray, max_labels: int, max_bytes: int) -> tuple[Labels, CountArray]:
    """The same labels and counts; if there are too many labels, numbers are made coarser, and others become `many`."""
    if len(column_labels) <= max_labels and not labels.too_long(column_labels, max_bytes):
        return column_labels, block
    typed, positions = labels.typed(column_labels, max_labels)  # raw text that is all numbers can be made coarser
    if typed.kind == NUMBER:
        typed, coarse_positions = labels.of_numbers(
            typed.numbers, typed.dropped_bits, max_labels, instants=typed.instants
        )
        positions = coarse_positions[positions]
    if len(typed) > max_labels or labels.too_long(typed, max_bytes):
        typed, positions = labels.collapsed(column_labels)
    return typed, relabel(block, np.arange(block.shape[0] - 1), positions, (block.shape[0] - 1, len(typed)))


def merged(parts: Iterable[Counts]) -> Counts | None:
    """The sum of the parts, None if there are none; each part is added to a sum of about as many parts.

    With k parts whose labels hardly overlap, adding them one after the other would align the growing sum k times, which
    is O(k^2) labels; a tree aligns each label O(log k) times.
    """
    partial_sums: list[tuple[int, Counts]] = []  # sums of 2^k parts with falling k, like the digits of a binary number
    for part in parts:
        size, total = 1, part
        while partial_sums and partial_sums[-1][0] == size:
            total = partial_sums.pop()[1] + total
            size *= 2
        partial_sums.append((size, total))
    whole: Counts | None = None
    for _, part in reversed(partial_sums):
        whole = part if whole is None else part + whole
    return whole
