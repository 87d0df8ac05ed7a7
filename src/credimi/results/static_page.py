"""The parts of pages that have no scripts and load nothing: the frame, tables, cells, the scale of drawn intervals."""

from __future__ import annotations

import math
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING

from credimi.core.atomic_files import plain
from credimi.core.version import __version__
from credimi.results.sentences import NO_NAME

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

WIDTH = 320.0  # of a drawn interval
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"


def document(title: str, heading: str, styles: Sequence[str], body: str) -> str:
    """The HTML of a page; `styles` are names of assets, and all the rest is HTML already."""
    style = "".join(
        files("credimi.results.assets").joinpath(name).read_text(encoding="utf-8") for name in (*styles, "wide.css")
    )
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="{_POLICY}">
<title>{title}</title>
<link rel="icon" href="data:,">
<style>
{style}</style>
</head>
<body>
<h1>{heading}</h1>
{body}
<footer>Made by credimi {__version__}; nothing on this page is sent or fetched.</footer>
</body>
</html>
"""


def text(words: object) -> str:
    """Text of the data for HTML: it holds no markup, and no control characters."""
    return escape(plain(str(words)), quote=True)


def name(words: object) -> str:
    """A name of the data, which may be written from right to left."""
    return f"<bdi>{text(words) or NO_NAME}</bdi>"


def paragraphs(lines: Iterable[str]) -> str:
    """Lines of text, each as a paragraph."""
    return "\n".join(f"<p>{text(line)}</p>" for line in lines)


def headings(*words: str, number: bool = False) -> str:
    """Headings of columns: words, or HTML; those of numbers end at the right."""
    start = '<th scope="col" class="number">' if number else '<th scope="col">'
    return "".join(f"{start}{heading}</th>" for heading in words)


def row_heading(words: object) -> str:
    """The first cell of a row: a name of the data."""
    return f'<th scope="row">{name(words)}</th>'


def numbers(*figures: str) -> str:
    """Cells with numbers."""
    return "".join(f'<td class="number">{escape(figure)}</td>' for figure in figures)


def table(head: str, rows: Iterable[str], kind: str = "") -> str:
    """A table, which scrolls sideways if it is too wide."""
    lines = "\n".join(rows)
    return f"""<div class="wide"><table class="{kind}">
<thead><tr>{head}</tr></thead>
<tbody>
{lines}
</tbody></table></div>"""


def root_scale_x(information: float, largest: float) -> float:
    """The x coordinate of an information, on a square-root scale up to `largest`, with a margin for the dots."""
    share = math.sqrt(min(max(information, 0.0) / largest, 1.0)) if largest > 0.0 else 0.0
    return 10.0 + (WIDTH - 20.0) * share
