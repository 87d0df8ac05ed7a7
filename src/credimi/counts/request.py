"""`CountRequest`: what a caller asks for, checked once; `Plan`: the same for existing columns."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from itertools import chain, pairwise
from typing import TYPE_CHECKING

import numpy as np

from credimi.columns import labels
from credimi.columns.interpret import plainly_categories
from credimi.columns.python_objects import shown_name
from credimi.columns.reading_options import ReadingOptions
from credimi.core.arguments import unknown
from credimi.core.defaults import ENGINES
from credimi.core.errors import CredimiError
from credimi.counts.reading import Reading
from credimi.results.sentences import NO_NAME

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from credimi.core.types import Record, Value
    from credimi.counts.counts import Counts


def _silent(_share: float) -> None:
    """The default progress callback: does nothing."""


_AS_USUAL = Reading()


class NoTarget:
    """Stands for a target where there is none: all columns are features, and all rows are of one class."""


@dataclass(frozen=True, slots=True)
class CountRequest:
    """What a caller asks for, for any data: checked once (`of`), and then passed on unchanged.

    `named` says whether the user named the features; then they are refused if they cannot be counted. `weights` are
    values, or a name that is no text; the name of a column is in the settings.
    """

    target: object
    features: Sequence[str] | None = None
    exclude: Sequence[str] | None = None
    settings: ReadingOptions = field(default_factory=ReadingOptions)
    max_values: int | None = None
    delimiter: str | None = None
    named: bool = False
    threads: int | None = None
    progress: Callable[[float], None] = _silent
    engine: str | None = None
    master: str | None = None
    scheduler: str | None = None
    weights: object = None

    @classmethod
    def of(
        cls, target: object, reading: Reading = _AS_USUAL, *, progress: Callable[[float], None] | None = None
    ) -> CountRequest:
        """The request for the keywords of a question. What depends on the data is checked when they are known.

        This is the delimiter, checked when files are opened, and the names of columns, checked in `plan`. `progress`
        gets the share that has been read; default: as the step "reading".
        """
        engine, weights, max_values = reading.engine, reading.weights, reading.max_values
        if engine is not None and engine not in ENGINES:
            raise CredimiError(f"engine is {engine!r}: choose one of {', '.join(ENGINES)}")
        if reading.master is not None and engine != "spark":
            raise CredimiError("master is for Spark only: add the engine spark")
        if reading.scheduler is not None and engine != "dask":
            raise CredimiError("scheduler is for Dask only: add the engine dask")
        whole = isinstance(max_values, int) and not isinstance(max_values, bool)
        if max_values is not None and not (whole and max_values >= 1):
            raise CredimiError(f"max_values is {max_values!r}: pass a whole number from 1 up, or None for no limit")
        name = weights if isinstance(weights, str) else None
        settings = ReadingOptions.of(
            reading.missing_values,
            reading.discretize,
            reading.target_cuts,
            name,
            reading.weights_are,
            target_as=reading.target_as,
        )
        if settings.weights_are is not None and weights is None:
            raise CredimiError(
                f"weights_are is {reading.weights_are!r}, but there are no weights: name their column (weights, "
                "--weights)"
            )
        return cls(
            target,
            reading.features,
            reading.exclude,
            settings,
            max_values,
            reading.delimiter,
            named=reading.features is not None,
            threads=reading.threads,
            progress=reading.step("reading") if progress is None else progress,
            engine=engine,
            master=reading.master,
            scheduler=reading.scheduler,
            weights=None if name is not None else weights,
        )

    def plan(self, offered: Sequence[str]) -> Plan:
        """The plan for existing columns; names are checked. Without a target, it gets a name that no column has."""
        if isinstance(self.target, NoTarget):
            columns_of(offered, None, self.features, self.exclude)
            for name_in_settings in filter(None, [*self.settings.named, self.settings.weights]):
                if name_in_settings not in offered:  # before the target gets a name that no column has
                    raise CredimiError(unknown(name_in_settings, offered))
            name = free("target", offered)
            return replace(self, target=name).plan([*offered, name])
        if not isinstance(self.target, str):
            raise CredimiError(
                f"target is {self.target!r}: name one of the columns; only tables in memory accept the target's values"
            )
        if self.weights is not None:
            raise CredimiError(
                f"weights is {self.weights!r}: name one of the columns; only tables in memory take its values"
            )
        if self.settings.weights is not None:
            offered = _without_weights(self.settings.weights, offered, self.target, [self.features, self.exclude])
        features = tuple(columns_of(offered, self.target, self.features, self.exclude))
        check_named(self.settings, offered, self.target)
        required = frozenset(features if self.named else ())
        limits: Record = {"max_values": self.max_values, "required": required, "delimiter": self.delimiter}
        return Plan(self.target, features, self.settings, **limits)


@dataclass(frozen=True, slots=True)
class Plan:
    """Which of the existing columns are counted, and how; it can be sent to workers.

    `table` is the number of features of the whole table, if these are only some of them; `max_values` is the maximum
    number of categories of each; `required` are the features that the user named, which are refused if they cannot be
    counted; `delimiter` is the character between the fields of CSV files, None if each header decides it.
    """

    target: str
    features: tuple[str, ...]
    settings: ReadingOptions
    table: int = 0
    max_values: int | None = None
    required: frozenset[str] = frozenset()
    delimiter: str | None = None

    @property
    def wanted(self) -> list[str]:
        """All columns that are read, the target first, the weights last."""
        return [self.target, *self.features, *filter(None, [self.settings.weights])]

    def blocks(self, columns: int) -> list[Plan]:
        """The plan divided into parts of at most `columns` columns, of about the same width, each with the target."""
        feature_count, parts = len(self.features), max(1, math.ceil(len(self.features) / max(columns - 1, 1)))
        ends = [feature_count * part // parts for part in range(parts + 1)]
        return [replace(self, features=self.features[start:end], table=feature_count) for start, end in pairwise(ends)]

    def most_labels(self, classes: int) -> int:
        """The maximum number of labels of each feature: the more features the whole table has, the fewer."""
        return labels.most_labels(max(self.table, len(self.features)), classes + 1)

    @property
    def most_bytes(self) -> int:
        """The maximum number of bytes of the texts of each feature."""
        return labels.most_bytes(max(self.table, len(self.features)))


def checked(counts: Counts, plan: Plan) -> Counts:
    """The same counts; an error if a column has more categories than allowed. Numbers that will be cut have none."""
    max_values = plan.max_values
    if max_values is None:
        return counts
    for name, column_labels in zip(counts.features, counts.labels, strict=True):
        if (column_labels.kind != labels.MANY and len(column_labels) <= max_values) or (
            column_labels.kind == labels.MANY and column_labels.texts
        ):
            continue
        named = name in plan.settings.named
        if plainly_categories(labels.typed(column_labels)[0], plan.settings.method(name), named=named):
            examples = (
                f", such as {', '.join(map(repr, column_labels.shown()[:3]))}"
                if len(column_labels) > max_values
                else ""
            )
            examples = ", or longer ones than are kept" if column_labels.kind == labels.MANY else examples
            raise CredimiError(
                f"column {name!r} has more than {max_values:,} values{examples}: leave it out (exclude, --exclude), "
                "group its values, or allow more (max_values, --max-values)"
            )
    return counts


def free(name: str, offered: Sequence[str]) -> str:
    """A name that no column has."""
    while name in offered:
        name += "_"
    return name


def columns_of(
    offered: Sequence[str], target: str | None, features: Sequence[str] | None, exclude: Sequence[str] | None = None
) -> list[str]:
    """The features to count: those requested, or all but the target and the excluded ones; names are checked."""
    seen: set[str] = set()
    for name in offered:
        if name in seen:
            raise CredimiError(f"two columns are called {name!r}: give each column a name of its own")
        seen.add(name)
    if target is not None and target not in seen:
        raise CredimiError(unknown(target, offered))
    requested, left_out = _listed(features, seen), _listed(exclude, seen)
    for name in (*requested, *left_out):
        if name not in seen:
            raise CredimiError(unknown(name, offered))
    if target in requested:
        raise CredimiError(f"{target!r} is the target and cannot be a feature as well: remove it from features")
    if target in left_out:
        raise CredimiError(f"{target!r} is the target and cannot be left out: remove it from exclude")
    for name in requested:
        if name in left_out:
            raise CredimiError(f"column {name!r} is both in features and in exclude: remove it from one of them")
    return (
        [name for name in offered if name != target and name not in left_out] if features is None else list(requested)
    )


def _without_weights(
    weights: str, offered: Sequence[str], target: str, named: Sequence[Sequence[str] | None]
) -> Sequence[str]:
    """The columns without the column of the weights, which must exist and have no other use."""
    if weights not in offered:
        raise CredimiError(unknown(weights, offered))
    if weights == target or any(weights in _listed(names, {*offered}) for names in named):
        fault = (
            "is the target: use it for one of the two only"
            if weights == target
            else "is named in features or exclude: take it out there, as it is no feature anyway"
        )
        raise CredimiError(f"column {weights!r} has the weights, and {fault}")
    return [name for name in offered if name != weights]


def _listed(names: Sequence[str] | None, offered: set[str]) -> dict[str, None]:
    """The names that a caller passed, each once, as text; a single name need not be in a list.

    A column whose name is empty can be given by the name that is shown for it. "a,b" names two columns, unless a column
    is called so.
    """
    if names is None:
        return {}
    given_names: Sequence[object] = [names] if isinstance(names, str) or not hasattr(names, "__iter__") else names
    unnamed = {NO_NAME: ""} if "" in offered and NO_NAME not in offered else {}
    listed = chain.from_iterable(_parts(name, offered) for name in map(shown_name, given_names))
    return dict.fromkeys(unnamed.get(name, name) for name in listed)


def _parts(name: str, offered: set[str]) -> list[str]:
    """The names between the commas of a name, if all of them are columns and the name itself is none."""
    parts = [part.strip() for part in name.split(",")]
    return parts if name not in offered and len(parts) > 1 and offered.issuperset(parts) else [name]


def check_named(settings: ReadingOptions, offered: Sequence[str], target: str) -> None:
    """Refuse settings for a column that does not exist, or is the target."""
    for name in settings.named:
        if name not in offered:
            raise CredimiError(unknown(name, offered))
        if name == target:
            raise CredimiError(
                f"discretize names the target {name!r}, but is for features: cut the target by target_cuts "
                "(--target-cuts)"
            )


def name_of_target(target: object, offered: Sequence[str]) -> object:
    """The target as text, if it is a name of pandas that is no text: a number, a date, a tuple of a MultiIndex."""
    if target is None or (hasattr(target, "__iter__") and not isinstance(target, tuple)):
        return target
    text = shown_name(target)
    return text if text in offered else target


def by_place(named: Value, offered: Sequence[str]) -> Value:
    """The name of a column of an array that was given by its index; another value stays the same."""
    if isinstance(named, int | np.integer) and not isinstance(named, bool):
        return offered[int(named)] if -len(offered) <= named < len(offered) else str(named)
    return named


def by_places(named: Sequence[Value] | None, offered: Sequence[str]) -> Sequence[str] | None:
    """The names of columns of an array that were given by their indices."""
    if named is None or isinstance(named, str):
        return named
    return [by_place(column, offered) for column in (named if hasattr(named, "__iter__") else [named])]
