"""Shortens long names: in the middle, but names that would look the same keep the part in which they differ."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_ELLIPSIS = "…"


def shortened(name: str, room: int) -> str:
    """A name of at most `room` columns: if it is longer, an ellipsis replaces its middle."""
    if _width(name) <= room:
        return name
    head, tail = _start(name, room // 2), name[-room:]
    while tail and _width(head + _ELLIPSIS + tail) > room:
        tail = tail[1:]
    return head + _ELLIPSIS + tail


def shorten_distinctly(names: Sequence[str], room: int) -> list[str]:
    """Names of at most `room` columns each; names that only differ in the middle keep the part where they differ."""
    shown = {name: shortened(name, room) for name in names}
    ambiguous = _groups_alike(shown, shown)
    while ambiguous:
        for group in ambiguous:
            start = _first_difference(group)
            shown |= {name: _with_difference(name, start, room) for name in group}
        regrouped = ((group, _groups_alike(group, shown)) for group in ambiguous)
        ambiguous = [part for group, still_alike in regrouped for part in still_alike if len(part) < len(group)]
    return [shown[name] for name in names]


def _groups_alike(names: Iterable[str], shown: dict[str, str]) -> list[list[str]]:
    """The groups of names that look the same."""
    groups: dict[str, list[str]] = {}
    for name in names:
        groups.setdefault(shown[name], []).append(name)
    return [group for group in groups.values() if len(group) > 1]


def _first_difference(names: Sequence[str]) -> int:
    """The index of the first character in which the names differ."""
    letters = enumerate(zip(*names, strict=False))
    return next((index for index, characters in letters if len(set(characters)) > 1), min(map(len, names)))


def _with_difference(name: str, start: int, room: int) -> str:
    """A name of at most `room` columns: a little of its beginning, and what follows from `start` on."""
    head = _start(name[:start], room // 3) + _ELLIPSIS
    rest = name[start:]
    if _width(head + rest) <= room:
        while (
            start and _width(head + name[start - 1] + rest) <= room
        ):  # room that is left shows more of what comes before
            start -= 1
            rest = name[start:]
        return head + rest
    while len(rest) > 1 and _width(head + rest + _ELLIPSIS) > room:
        rest = rest[:-1]
    return head + rest + _ELLIPSIS


def _start(name: str, room: int) -> str:
    """The beginning of a name, as much as there is room for."""
    head = name[:room]
    while _width(head) > room:
        head = head[:-1]
    return head.rstrip()


def _width(text: str) -> int:
    """The width in columns of a terminal; some characters take two."""
    from rich.cells import cell_len

    return cell_len(text)
