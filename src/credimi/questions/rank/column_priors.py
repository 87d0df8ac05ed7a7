"""Priors of single columns: `rank(data, target, prior={"smoking": pseudo_counts, "*": "adaptive"})`.

A column's own prior is the name of a pseudo-count, a number, or a pseudo-count n''_ij for each cell, with the labels of
classes and values, because nobody knows the order in which a ranking has them. As in `mutual_information`, the least
n'' of a table is its pseudo-count, and what is more in some cells is added to their counts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from credimi.core.arguments import unknown
from credimi.core.errors import CredimiError
from credimi.core.table import Table
from credimi.core.tables import Tables
from credimi.inference.belief import ADAPTIVE, Belief, ColumnBelief
from credimi.inference.evidence.adaptive_prior import PosteriorComponents

if TYPE_CHECKING:
    from credimi.columns.feature import Feature
    from credimi.core.types import AnyArray, BooleanArray, FloatArray, Foreign, Option

Figures = TypeVar("Figures")
_OF_COMPONENTS = ("weight", "mean", "variance")
Own = Mapping[str, object]  # by column: a name, a number, or rows of pseudo-counts in the order of classes and values


def checked(features: Sequence[Feature], classes: Sequence[str], belief: Belief) -> dict[str, Option]:
    """The priors of single columns as plain data: pseudo-counts of cells as the ranking has classes and values."""
    if not isinstance(belief, ColumnBelief):
        return {}
    known = {feature.name: feature for feature in features}
    found: dict[str, Option] = {}
    for name, prior in belief.of_columns.items():
        if name not in known:
            raise CredimiError(f"prior: {unknown(name, [*known])}")
        if not known[name].kind.ranked:
            raise CredimiError(f"prior names the column {name!r}, which is not ranked: leave it out")
        if isinstance(prior, str | float | int):
            found[name] = _with(belief, prior).prior
        else:
            found[name] = _cells(name, prior, classes, known[name].values)
    return found


def _cells(name: str, prior: Option, classes: Sequence[str], values: Sequence[str]) -> list[list[float]]:
    try:
        cells = Table.of(prior)
    except CredimiError as error:
        raise CredimiError(f"the prior of {name!r}: {str(error).replace('joint', 'prior')}") from None
    if cells.misses_feature or cells.misses_target:
        raise CredimiError(f"the prior of {name!r} has margins of missing values: pass pseudo-counts of cells only")
    places = []
    for what, given, own in (("class", cells.classes, classes), ("value", cells.values, values)):
        expected = f"those of the ranking are {', '.join(map(repr, own))}"
        if given is None:
            raise CredimiError(
                f"the prior of {name!r} has no label for each {what}: pass a frame, or rows with labels; {expected}"
            )
        if sorted(given) != sorted(own):
            raise CredimiError(
                f"the prior of {name!r} must have each {what} once, but has {', '.join(map(repr, given))}; {expected}"
            )
        places.append([given.index(label) for label in own])
    ordered: list[list[float]] = cells.joint[np.ix_(*places)].tolist()
    return ordered


def own_table(block: AnyArray, prior: Option, belief: Belief) -> tuple[FloatArray, Belief]:
    """A block and the belief by which it is judged, if its column has this prior of its own (None: it has none)."""
    counts = np.array(block, dtype=np.float64)
    if prior is None:
        return counts, belief
    if isinstance(prior, str | float | int):
        return counts, _with(belief, prior)
    pseudo = np.asarray(prior)
    counts[:-1, :-1] += pseudo - pseudo.min()
    return counts, _with(belief, float(pseudo.min()))


def _with(belief: Belief, prior: str | float) -> Belief:
    return replace(belief, prior=prior, method=None)


def by_prior(
    names: Sequence[str],
    blocks: Tables,
    own: Own,
    belief: Belief,
    figures: Callable[[Tables, Belief, BooleanArray], Figures],
) -> Figures:
    """What `figures` finds for the tables of columns, each judged by its own prior, in the order of the tables.

    `figures` is called once for each prior, with the tables that have it, the belief, and the mask of these tables.
    """
    if not own:
        return figures(blocks, belief, np.ones(len(names), dtype=bool))
    judged = [own_table(blocks.block(table), own.get(name), belief) for table, name in enumerate(names)]
    odds = np.ones(len(names)) if blocks.odds is None else blocks.odds
    parts = []
    for each in {str(judgement.prior): judgement for _, judgement in judged}.values():
        mask = np.array([judgement.prior == each.prior for _, judgement in judged])
        chosen = [block for (block, _), wanted in zip(judged, mask.tolist(), strict=True) if wanted]
        averaged = blocks.chosen(mask).averaged if each.prior == ADAPTIVE else None
        parts.append((np.flatnonzero(mask), figures(Tables.of(chosen, odds[mask].tolist(), averaged), each, mask)))
    joined: Figures = _joined(parts, len(names))
    return joined


def _joined(parts: Sequence[tuple[AnyArray, Foreign]], count: int) -> Foreign:
    """The figures of all tables: tuples and records of arrays with one entry a table, or components."""
    first = parts[0][1]
    if isinstance(first, np.ndarray):
        joined = np.empty((count, *first.shape[1:]), dtype=first.dtype)
        for places, values in parts:
            joined[places] = values
        return joined
    if isinstance(first, tuple):
        return tuple(
            _joined([(places, values[index]) for places, values in parts], count) for index in range(len(first))
        )
    if isinstance(first, PosteriorComponents):
        table = np.concatenate([places[values.table] for places, values in parts])
        order = np.argsort(table, kind="stable")
        rest = {name: np.concatenate([getattr(each, name) for _, each in parts])[order] for name in _OF_COMPONENTS}
        marks = _joined([(places, each.marks) for places, each in parts], count)
        p_zero = _joined([(places, each.p_zero) for places, each in parts], count)
        return PosteriorComponents(p_zero, table[order], **rest, approximate=marks)
    names = [each.name for each in fields(first)]
    return type(first)(
        **{name: _joined([(places, getattr(each, name)) for places, each in parts], count) for name in names}
    )
