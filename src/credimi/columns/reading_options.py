"""How the user wants values to be read: what means missing, and how numbers become categories."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from credimi.columns import labels, text_types
from credimi.columns.numbers.target_ranges import checked_cuts
from credimi.columns.text_types import shown
from credimi.core.command import option
from credimi.core.defaults import DISCRETIZE, MISSING_VALUES, WEIGHTS_ARE
from credimi.core.errors import CredimiError
from credimi.core.public import stored

if TYPE_CHECKING:
    from credimi.columns.numbers.target_ranges import Cuts
    from credimi.core.types import Option, Value

Method: TypeAlias = str | list[float] | None  # how numbers become categories: a name, cuts, or not at all
Methods: TypeAlias = Method | dict[str, Method]  # for all columns, or by their names

METHODS = (DISCRETIZE, "mdl", "quantile", "categories")
QUANTILES = 10  # ranges of equal counts, unless "quantile:K" asks for others
_QUANTILE = re.compile(r"quantile(?::([2-9]|[1-9]\d{1,2}))?")


@stored
@dataclass(frozen=True, slots=True)
class ReadingOptions:
    """How values are read: what means missing, how numbers become categories, and where the target is cut, if at all.

    `target_cuts` are cuts, or "quantile:K" until the values are known (see `target_ranges`); `weights` is the column
    with the weight of each row, and `weights_are` says what they count: see `WEIGHTS_ARE`. `target_as` is what a target
    of numbers is; if that is a number, the cuts are those of its cells ("ranges": of them only a few ranges are used).
    """

    missing_values: tuple[str | float, ...] = MISSING_VALUES
    discretize: Methods = DISCRETIZE
    target_cuts: Cuts | str | None = None
    weights: str | None = None
    weights_are: str | None = None
    target_as: str | None = None

    @classmethod
    def of(
        cls,
        missing_values: Option,
        discretize: Option,
        target_cuts: Option = None,
        weights: str | None = None,
        weights_are: str | None = None,
        *,
        target_as: str | None = None,
    ) -> ReadingOptions:
        """What the user asked for, checked."""
        missing, methods = _checked_missing(missing_values), _checked_methods(discretize)
        kind = checked_weights_are(weights_are)
        return cls(missing, methods, checked_cuts(target_cuts), weights, kind, target_as)

    def method(self, column: str) -> Method:
        """How this column's numbers become categories: a method's name, cuts, or None."""
        if not isinstance(self.discretize, dict):
            return self.discretize
        return self.discretize.get(column, self.discretize.get("*", DISCRETIZE))

    @property
    def needs_squares(self) -> bool:
        """Whether there may be survey weights, whose squares are counted."""
        return self.weights is not None and self.weights_are != "rows"

    @property
    def given_cuts(self) -> Cuts | None:
        """The cuts of the target, if they are known."""
        return self.target_cuts if isinstance(self.target_cuts, tuple) else None

    @property
    def numeric_target(self) -> bool:
        """Whether the target is a number, whose cells are cut."""
        return self.target_as == "number" and self.given_cuts is not None

    @property
    def in_ranges(self) -> ReadingOptions:
        """The same; a target that is a number is a few ranges, for questions that need classes."""
        return replace(self, target_as="ranges") if self.numeric_target else self

    @property
    def target_in_words(self) -> dict[str, str]:
        """What settings of results say of the target, if it is a number."""
        return {"target_as": self.target_as} if self.target_as in {"number", "ranges"} else {}

    @property
    def named(self) -> list[str]:
        """The columns that `discretize` names."""
        return [name for name in self.discretize if name != "*"] if isinstance(self.discretize, dict) else []


def checked_weights_are(kind: Option) -> str | None:
    """What weights count, checked."""
    if kind is not None and (not isinstance(kind, str) or kind not in WEIGHTS_ARE):
        raise CredimiError(
            f"weights_are is {kind!r}: choose one of {', '.join(WEIGHTS_ARE)}, or None, which takes whole weights for "
            "rows"
        )
    return kind


def _checked_missing(values: Option) -> tuple[str | float, ...]:
    if values is None:
        raise CredimiError("missing_values is None: pass texts and numbers, or [] if there are none")
    given = (values,) if values is ... or isinstance(values, str | int | float) else tuple(values)
    values = tuple(chain.from_iterable(MISSING_VALUES if value is ... else (value,) for value in given))
    for value in values:
        if isinstance(value, bool) or not isinstance(value, (str, int, float, np.number)):
            raise CredimiError(f"missing_values holds {value!r}: pass texts and numbers")
    return tuple(value if isinstance(value, str) else _sentinel(value) for value in values)


def _sentinel(value: float) -> str | float:
    """A number that means missing, as the settings store it."""
    if value != value:  # noqa: PLR0124  (NaN is missing anyway, and settings must equal themselves)
        return "nan"
    if isinstance(value, int | np.integer) and abs(int(value)) > labels.EXACT:  # a column with it is stored as text
        return shown(value)
    return float(value)


def cut_by_mdl(discretize: Methods) -> Methods:
    """The same methods, with cuts by MDL in place of an average over all cuts."""
    if isinstance(discretize, dict):
        return {
            column: "mdl" if method == DISCRETIZE else method
            for column, method in ({"*": DISCRETIZE} | discretize).items()
        }
    return "mdl" if discretize == DISCRETIZE else discretize


def quantiles_asked(method: Method) -> int | None:
    """How many ranges of equal counts a method asks for; None if it is another method."""
    match = _QUANTILE.fullmatch(method) if isinstance(method, str) else None
    return match and int(match[1] or QUANTILES)


def _checked_methods(discretize: Option) -> Methods:
    if hasattr(discretize, "items"):
        return {str(column): _checked_method(method, str(column)) for column, method in discretize.items()}
    if discretize is not None and not isinstance(discretize, str):
        raise CredimiError(f"discretize is {discretize!r}: pass one of {', '.join(METHODS)}, None, or a dictionary")
    return _checked_method(discretize)


def _checked_method(method: Option, column: str | None = None) -> Method:
    if method is None or (isinstance(method, str) and (method in METHODS or quantiles_asked(method))):
        return method
    if isinstance(method, str):
        offer = ", ".join((*METHODS, "quantile:K for K ranges of about equal counts (2 to 999)"))
        of_column = "" if column is None else f" of column {column!r}"
        advice = (
            "give the cuts of single columns ({'age': [30, 50]}, --discretize age=30,50)"
            if column is None
            else f"give cuts ([30, 50], {option('--discretize', f'{column}=30,50')})"
        )
        raise CredimiError(f"unknown discretization {method!r}{of_column}: choose one of {offer}, or {advice}")
    try:
        cuts = sorted({_checked_cut(cut) for cut in method})
    except (OverflowError, TypeError, ValueError):
        cuts = []
    if not cuts or not np.all(np.isfinite(cuts)):
        raise CredimiError(f"{method!r} is no list of cuts: pass finite numbers, such as [18, 65], or dates")
    return cuts


def _checked_cut(cut: Value) -> float:
    """A number, or a date as days since 1970."""
    if isinstance(cut, str) and not text_types.is_number(cut, names_too=True):
        return text_types.days_of(cut)
    try:
        return float(cut)
    except (TypeError, ValueError):
        return text_types.days_of(cut)
