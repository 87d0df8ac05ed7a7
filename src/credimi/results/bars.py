"""Shares of a class as small bars: for terminals, and as a picture for notebooks and pages.

A bar is as high as the share (or as long), a line shows its credible interval. Bars of a picture are as wide as their
part of the rows, but wide enough to be seen.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from credimi.core.atomic_files import plain

if TYPE_CHECKING:
    from collections.abc import Sequence

_EIGHTHS = " ▏▎▍▌▋▊▉█"
_WIDTH, _HEIGHT, _LEAST = 150.0, 30.0, 3.0
_COLOUR = "#0072b2"  # as of the first class: see `palette`


def bar(share: float, largest: float, length: int) -> str:
    """A share as a bar of a terminal, in eighths of a character."""
    eighths = round(8 * length * min(max(share / largest, 0.0), 1.0)) if largest > 0.0 else 0
    full, rest = divmod(eighths, 8)
    return "█" * full + (_EIGHTHS[rest] if rest else "")


def percent(share: float) -> str:
    """A share in percent: two digits, three from 10 % on."""
    value = 100.0 * share
    return f"{value:.0f}" if value >= 99.95 else f"{value:.1f}" if value >= 1.0 else f"{value:.2f}"


def picture(
    names: Sequence[str], figures: Sequence[tuple[float, float, float]], rows: Sequence[float], of: str
) -> str:
    """The bars as HTML: `figures` are the share, and both ends of its interval, of each value."""
    largest = max((high for _, _, high in figures), default=0.0) or 1.0
    total, room = sum(rows) or 1.0, _WIDTH - _LEAST * len(names)
    shapes, x = [], 0.0
    for name, (share, low, high), count in zip(names, figures, rows, strict=True):
        width = _LEAST + max(room, 0.0) * count / total
        top, least, most = (_HEIGHT * (1.0 - each / largest) for each in (share, low, high))
        said = f"{of}: {percent(share)} % ({percent(low)} to {percent(high)}) of {name}, {count:,.10g} rows"
        middle = x + 0.5 * width
        shapes.append(
            f"<g><title>{escape(plain(said))}</title>"
            f'<rect x="{x:.1f}" y="{top:.1f}" width="{max(width - 1.0, 1.0):.1f}" height="{_HEIGHT - top:.1f}" '
            f'fill="{_COLOUR}" fill-opacity="0.55"/>'
            f'<line x1="{middle:.1f}" x2="{middle:.1f}" y1="{most:.1f}" y2="{least:.1f}" stroke="{_COLOUR}" '
            'stroke-width="1.5"/></g>'
        )
        x += width
    label = "; ".join(f"{percent(share)} % at {name}" for name, (share, _, _) in zip(names, figures, strict=True))
    return (
        f'<svg class="bars" role="img" aria-label="{escape(plain(f"share of {of}: {label}"), quote=True)}" '
        f'width="{max(x, _WIDTH):.0f}" height="{_HEIGHT:.0f}" viewBox="0 0 {max(x, _WIDTH):.0f} {_HEIGHT:.0f}" '
        f'preserveAspectRatio="none">{"".join(shapes)}</svg>'
    )
