"""Fixed pseudo-counts, which are added to every cell before any formula is applied.

The Dirichlet prior with the same parameter n'' for all r x s cell probabilities turns counts n_ij into n_ij + n''
wherever they occur. Two conventions are easily confused. The density of the probabilities is prod
pi_ij^(n_ij + n'' - 1) (the paper writes this exponent as n_ij, so that its uniform prior leaves the raw counts). Means
and variances of a Dirichlet depend only on its *parameters* n_ij + n''. In credimi the pseudo-count is always the
Dirichlet parameter. The reported mode is that of the density over the logarithms of the probabilities
(soft-max coordinates), in which the exponent is the parameter; for complete data it is the mean. So the paper's mode
under its uniform prior is ours under "haldane", which has a second name that says what happens: "raw-counts".

A prior may also have its own pseudo-count for each cell, an r x s array.
"""

from __future__ import annotations

import difflib
import math
import reprlib
from numbers import Real
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from credimi.core.errors import CredimiError
from credimi.core.table import LARGEST, SMALLEST, Table
from credimi.inference.belief import ADAPTIVE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from credimi.core.types import FloatArray

    Prior: TypeAlias = str | float | ArrayLike

NAMES = ("uniform", "jeffreys", "perks", "haldane", "raw-counts")
BY_SHAPE = ("perks",)  # what they add depends on the numbers of classes and values
CELLS = "jeffreys"  # the prior of cell probabilities, for which there is no adaptive one


_CHOICES = f"choose one of {', '.join(NAMES)}, or a pseudo-count such as 0.5"


def pseudo_counts(prior: Prior, table: Table) -> float | FloatArray:
    """The pseudo-count of all cells of a table, or an array with one for each, as `prior` says."""
    if isinstance(prior, str | Real):
        return pseudo_count(prior, table.shape)
    try:
        cells = Table.of(prior)
    except CredimiError as error:
        raise CredimiError(
            f"prior is {reprlib.repr(prior)}: {_CHOICES}, or r x s pseudo-counts "
            f"({str(error).replace('joint', 'prior').split(': pass')[0]})"
        ) from None
    if cells.misses_feature or cells.misses_target:
        raise CredimiError("the prior has margins of missing values: pass a pseudo-count for each cell only")
    if cells.shape != table.shape:
        raise CredimiError(
            f"the prior is an array of {cells.shape[0]} x {cells.shape[1]} pseudo-counts, the table has "
            f"{table.shape[0]} x {table.shape[1]} cells: pass one for each cell, with the labels of the table if any"
        )
    pairs = (("class", cells.classes, table.classes), ("value", cells.values, table.values))
    places = [
        range(length) if given is None or own is None else _places(what, given, own)
        for length, (what, given, own) in zip(table.shape, pairs, strict=True)
    ]
    return cells.joint[np.ix_(*places)]


def _places(what: str, given: Sequence[str], own: Sequence[str]) -> list[int]:
    """Where the prior has the labels of the table, which must be the same in any order."""
    if sorted(given) != sorted(own):
        strange = [label for label in given if label not in own]
        has = f"has the {what} {strange[0]!r}, which the table has not" if strange else f"must have each {what} once"
        raise CredimiError(f"the prior {has}; those of the table are {', '.join(map(repr, own))}")
    return [given.index(label) for label in own]


def pseudo_count(prior: str | float, shape: tuple[int, int]) -> float:
    """n'' per cell: "uniform" 1, "jeffreys" 1/2, "perks" 1/(rs), "haldane" or "raw-counts" 0, or a number."""
    if isinstance(prior, str):
        if prior in NAMES:
            return {"uniform": 1.0, "jeffreys": 0.5, "perks": 1.0 / (shape[0] * shape[1])}.get(prior, 0.0)
        if prior == ADAPTIVE:
            raise CredimiError(
                f"unknown prior {prior!r}: it is for mutual information, not for cell probabilities; {_CHOICES}"
            )
        near = difflib.get_close_matches(prior, (*NAMES, ADAPTIVE), 1)
        hint = f"did you mean {near[0]!r}? " if near else ""
        raise CredimiError(f"unknown prior {prior!r}: {hint}{_CHOICES}, or 'adaptive' for mutual information")
    if not isinstance(prior, Real) or isinstance(prior, bool):
        raise CredimiError(f"prior is {reprlib.repr(prior)}: {_CHOICES}")
    try:
        value = float(prior)
    except OverflowError:  # an integer too large for a double
        value = math.inf
    if not 0.0 <= value <= LARGEST:
        raise CredimiError(f"prior is {value:g}: a pseudo-count is a number from 0 up, at most {LARGEST:g}")
    if 0.0 < value < SMALLEST:
        raise CredimiError(f"prior is {value:g}: a pseudo-count is 0 ('haldane') or at least {SMALLEST:g}")
    return value


def require_proper(table: Table, pseudo: float | FloatArray, asked: str = "prior 'haldane'") -> None:
    """Refuse a table without complete rows if the prior adds no pseudo-counts either; `asked` is what was named."""
    if not (table.joint.any() or np.any(pseudo)):
        what = "all counts are 0" if table.rows == 0.0 else "no data row has both target and feature"
        raise CredimiError(
            f"{what} and {asked} adds none: choose a proper prior such as 'jeffreys', or count some rows"
        )


def added(table: Table, pseudo: float | FloatArray) -> tuple[Table, float]:
    """A table and the pseudo-count of all its cells: what is more in some cells is added to their counts."""
    least = float(np.min(pseudo))
    return (table, least) if isinstance(pseudo, float) else (table.with_added(pseudo - least), least)
