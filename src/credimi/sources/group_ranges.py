"""Groups that are ranges of a column of numbers or dates: did it hold in both halves?

The cuts are those of a target of numbers (`columns.numbers.target_ranges`): numbers, dates, or "quantile:2" for halves,
which needs a first pass over the column. A value is then in the group of its range.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from credimi.columns import text_types
from credimi.columns.labels import MANY
from credimi.columns.numbers.ranges import bins_of, named_ranges
from credimi.columns.numbers.target_ranges import bins_asked, checked_cuts, target_numbers
from credimi.core.errors import CredimiError
from credimi.counts.request import CountRequest
from credimi.sources.count import cluster_of, with_target_cuts
from credimi.sources.frames import is_stream

if TYPE_CHECKING:
    from collections.abc import Sequence

    from credimi.columns.column import Column
    from credimi.columns.numbers.target_ranges import Cuts
    from credimi.core.types import BooleanArray, Data, Option
    from credimi.counts.reading import Reading

_SUCH = "pass numbers, such as [30, 50], dates, such as ['2024-07-01'], or 'quantile:2' for halves (by_cuts, --by-cuts)"
_NEITHER = (
    "cannot be cut into ranges: it needs at least two numbers, or two dates, and nothing else but missing values "
    "(missing_values, --missing)"
)


def settled_cuts(data: Data, by: str, by_cuts: Option, reading: Reading) -> Cuts | None:
    """The cuts of the column that names the groups; None if each of its values is a group."""
    if by_cuts is None:
        return None
    try:
        asked = checked_cuts(by_cuts)
    except CredimiError as error:
        raise CredimiError(f"by_cuts is {by_cuts!r}, which are no cuts: {_SUCH}") from error
    if bins_asked(asked) is None:
        return tuple(asked or ())
    if cluster_of(data) is not None or is_stream(data):
        raise CredimiError(
            f"by_cuts is {by_cuts!r}, which needs all values of {by!r} first, and a {type(data).__name__} is not read "
            "twice: pass the cuts themselves, such as [30, 50]"
        )
    alone = replace(reading, target_cuts=asked, features=None, exclude=None, discretize="mdl")
    try:
        found = with_target_cuts(data, CountRequest.of(by, alone)).settings.target_cuts
    except CredimiError as error:
        raise CredimiError(f"by_cuts is {by_cuts!r}, but column {by!r} {_NEITHER}") from error
    return None if found is None or isinstance(found, str) else found


def names_of_ranges(cuts: Cuts) -> list[str]:
    """The names of the groups, in their order."""
    return named_ranges([cut if isinstance(cut, str) else text_types.shown_number(cut) for cut in cuts])


def ranges_of(column: Column, means_missing: Sequence[bool], cuts: Cuts, by: str) -> list[str | None]:
    """The name of the range of each value, None if it means missing."""
    if column.kind == MANY:
        raise CredimiError(f"column {by!r} has more different texts than are kept: only numbers and dates can be cut")
    keep: BooleanArray = ~np.array(means_missing, dtype=np.bool_)
    try:
        numbers, dates = target_numbers(column, keep, by)
    except CredimiError as error:
        strays = (text for text, kept in zip(column.texts, keep.tolist(), strict=True) if kept)
        stray = next((f", such as {text!r}" for text in strays if text_types.readable([text]) is None), "")
        raise CredimiError(f"column {by!r} {_NEITHER}{stray}") from error
    if dates is not None and dates != isinstance(cuts[0], str):
        held, other = ("dates", "numbers") if dates else ("numbers", "dates")
        raise CredimiError(f"column {by!r} holds {held}, but by_cuts are {other}: {_SUCH}")
    edges = [text_types.days_of(cut) if isinstance(cut, str) else cut for cut in cuts]
    found: list[str | None] = [None] * keep.size
    names = names_of_ranges(cuts)
    for place, position in zip(np.flatnonzero(keep).tolist(), bins_of(numbers, edges).tolist(), strict=True):
        found[place] = names[position]
    return found
