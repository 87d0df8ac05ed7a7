"""Long names in little room: the middle gives way, and names that would look the same keep the part that differs."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_CUT = "…"


def shortened(name: str, room: int) -> str:
    """A name that takes no more columns than there is room for: its middle gives way to an ellipsis."""
    if _width(name) <= room:
        return name
    head, tail = _start(name, room // 2), name[-room:]
    while tail and _width(head + _CUT + tail) > room:
        tail = tail[1:]
    return head + _CUT + tail


def told_apart(names: Sequence[str], room: int) -> list[str]:
    """Names, each in so much room; those that only differ in the middle keep the place where they begin to differ."""
    shown = {name: shortened(name, room) for name in names}
    doubtful = _alike(shown, shown)
    while doubtful:
        for group in doubtful:
            start = _first_difference(group)
            shown |= {name: _around(name, start, room) for name in group}
        parts = ((group, _alike(group, shown)) for group in doubtful)
        doubtful = [part for group, found in parts for part in found if len(part) < len(group)]
    return [shown[name] for name in names]


def _alike(names: Iterable[str], shown: dict[str, str]) -> list[list[str]]:
    """The groups of names that look the same."""
    groups: dict[str, list[str]] = {}
    for name in names:
        groups.setdefault(shown[name], []).append(name)
    return [group for group in groups.values() if len(group) > 1]


def _first_difference(names: Sequence[str]) -> int:
    """The place up to which all begin alike."""
    letters = enumerate(zip(*names, strict=False))
    return next((place for place, each in letters if len(set(each)) > 1), min(map(len, names)))


def _around(name: str, start: int, room: int) -> str:
    """A little of the beginning, and what follows from `start` on."""
    head = _start(name[:start], room // 3) + _CUT
    rest = name[start:]
    if _width(head + rest) <= room:
        while start and _width(head + name[start - 1] + rest) <= room:  # what room is left shows more before it
            start -= 1
            rest = name[start:]
        return head + rest
    while len(rest) > 1 and _width(head + rest + _CUT) > room:
        rest = rest[:-1]
    return head + rest + _CUT


def _start(name: str, room: int) -> str:
    """The beginning of a name, as much as there is room for."""
    head = name[:room]
    while _width(head) > room:
        head = head[:-1]
    return head.rstrip()


def _width(text: str) -> int:
    """Columns of a terminal: of some characters two."""
    from rich.cells import cell_len  # noqa: PLC0415  (rich is loaded only to print)

    return cell_len(text)
