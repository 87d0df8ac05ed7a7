"""Pages: one HTML file each, which asks nothing of the network.

Pages without scripts are made of a result's sections. Others are templates that are filled with plain data: whatever
comes from the user's data travels inside one block of JSON, in which <, > and & are written as escapes, so that no name
can end the block; the page's script puts it on the screen as text, never as markup.
"""

from __future__ import annotations

import json
import math
import re
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING

from credimi.core.atomic_files import plain
from credimi.core.version import __version__
from credimi.results.palette import BLUE, GREY, variables
from credimi.results.section import Column
from credimi.results.sentences import NO_NAME

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from credimi.core.types import Record
    from credimi.results.section import Section

    Drawn = tuple[str, float, float, float]  # a class, the lower end, the mean, the upper end

WIDTH = 320.0  # of a drawn interval
_TICKS, _LEAST_BETWEEN_TICKS = (0.0, 0.001, 0.01, 0.03, 0.1, 0.2, 0.3, 0.5, 1.0, 2.0, 3.0), 34.0
_LETTERS = 'font-size="11" fill="currentColor"'  # where no style sheet says otherwise
_MAX_ROWS = 1_000  # of a table
_ESCAPES = {ord(each): f"\\u{ord(each):04x}" for each in "<>&"}
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"


def document(title: str, heading: str, styles: Sequence[str], body: str, *, lead: str = "") -> str:
    """The HTML of a page; `styles` are names of assets, and all the rest is HTML already; `lead` is above the body."""
    style = variables() + "".join(map(_asset, (*styles, "wide.css")))
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
<header>
<h1>{heading}</h1>
{lead}
</header>
<main>
{body}
</main>
<footer>Made by credimi {__version__}; nothing on this page is sent or fetched.</footer>
</body>
</html>
"""


def static_page(
    title: str, target: str | None, sections: Iterable[Section], styles: Sequence[str], source: str | None = None
) -> str:
    """The page of a result's sections; the title names the target, which may be written from right to left.

    `source` names the data.
    """
    heading, of = text(title), [] if source is None else [f'<p class="key">{name(source)}</p>']
    shown = NO_NAME if target is None else text(target) or NO_NAME
    isolated = re.sub(
        rf"\b(about|for) {re.escape(shown)}", lambda found: f"{found[1]} {name(target or '')}", heading, count=1
    )
    parts = (part for section in sections for part in section_parts(section))
    return document(heading, isolated, styles, "\n".join(parts), lead="\n".join(of))


def section_parts(section: Section, level: int = 2) -> Iterator[str]:
    """The heading of a section, what it draws, its table, its lines."""
    yield "<section>"
    if section.heading:
        yield f"<h{level}>{text(section.heading)}</h{level}>"
    if section.above:
        yield f'<div class="cautions">\n{paragraphs(section.above)}\n</div>'
    if section.html is not None:
        yield section.html()
    columns = [column for column in section.columns if "page" in column.media]
    if columns:
        rows = section.rows[:_MAX_ROWS] if section.rows else ()
        lines = [f'<tr class="{_css(row)}">{"".join(column.cell(row) for column in columns)}</tr>' for row in rows]
        yield table(
            "".join(column.head() for column in columns),
            lines or [f'<tr><td colspan="{len(columns)}">none</td></tr>'],
            section.css,
        )
        if len(section.rows) > _MAX_ROWS:
            yield f"<p>... and {len(section.rows) - _MAX_ROWS:,} more</p>"
    if section.lines:
        yield f'<div class="said">\n{paragraphs(section.lines)}\n</div>'
    yield "</section>"


def _css(row: Record) -> str:
    return str(row.get("verdict", "")).replace(" ", "-")


def filled(template: str, styles: Sequence[str], scripts: Sequence[str], data: Record) -> str:
    """A template (one of the assets), filled with styles, scripts and plain data."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False).translate(_ESCAPES)
    parts = {
        "/* style */": variables() + "".join(map(_asset, styles)),
        "/* script */": "(() => {\n" + "".join(map(_asset, scripts)) + "})();\n",
        "null/* data */": text,
    }
    html = _asset(template)
    for placeholder, content in parts.items():
        before, _, after = html.partition(placeholder)
        html = before + content + after
    return html


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
    return f"""<div class="wide" tabindex="0" role="group" aria-label="Table"><table class="{kind}">
<thead><tr>{head}</tr></thead>
<tbody>
{lines}
</tbody></table></div>"""


def drawn(intervals: Sequence[Drawn], largest: float, epsilon: float | None = None) -> str:
    """Intervals below each other, on a square-root scale: for each a class, the lower end, the mean, the upper end."""
    parts, labels, height = [], [], 12 * len(intervals) + 6
    if epsilon is not None:
        x = f"{root_scale_x(epsilon, largest):.1f}"
        parts.append(f'<line class="epsilon" stroke="{GREY}" x1="{x}" x2="{x}" y1="0" y2="{height}"/>')
    for place, (css, *figures) in enumerate(intervals):
        y, (low, mean, high) = 12 * place + 9, (f"{root_scale_x(each, largest):.1f}" for each in figures)
        line = f'<line x1="{low}" x2="{high}" y1="{y}" y2="{y}"/><circle cx="{mean}" cy="{y}" r="4"/>'
        colour = {"a": GREY, "b": BLUE}.get(css, GREY)  # where no style sheet says otherwise: in notebooks
        parts.append(f'<g class="{css}" stroke="{colour}" fill="{colour}" stroke-width="2">{line}</g>')
        labels.append("{1:.4f} ({0:.4f} to {2:.4f})".format(*figures))
    view = f'width="256" viewBox="0 0 {WIDTH:g} {height}" role="img" aria-label="{", then ".join(labels)}"'
    return f'<svg class="interval" {view}>{"".join(parts)}</svg>'


def picture(parts: Callable[[Record], Sequence[Drawn]], largest: float, epsilon: float | None = None) -> Column:
    """A column of drawn intervals, which only pages have; its heading is their scale."""
    return Column(
        "",
        lambda _: "",
        kind="words",
        html=lambda row: drawn(each, largest, epsilon) if (each := parts(row)) else "",
        media=("page", "notebook"),
        heading_html=_axis(largest),
    )


def _axis(largest: float) -> str:
    """The ticks of that scale."""
    ticks, last = [], -math.inf
    for tick in _TICKS:
        x = root_scale_x(tick, largest)
        if (tick == 0.0 or tick < largest) and x - last > _LEAST_BETWEEN_TICKS:
            last = x
            ticks.append(
                f'<text x="{x:.1f}" y="14" font-size="11" fill="currentColor" text-anchor="middle">{tick:g}</text>'
            )
    return f'<svg width="256" viewBox="0 0 {WIDTH:g} 18" aria-hidden="true">{"".join(ticks)}</svg>'


def root_scale_x(information: float, largest: float) -> float:
    """The x coordinate of an information, on a square-root scale up to `largest`, with a margin for the dots."""
    share = math.sqrt(min(max(information, 0.0) / largest, 1.0)) if largest > 0.0 else 0.0
    return 10.0 + (WIDTH - 20.0) * share


def _asset(name: str) -> str:
    return files("credimi.results.assets").joinpath(name).read_text(encoding="utf-8")


_SCRIPTS = (
    "tails.js",
    "decisions.js",
    "robust.js",
    "drawing.js",
    "effects.js",
    "detail.js",
    "list.js",
    "address.js",
    "page.js",
)


def ranking_page(data: Record) -> str:
    """The HTML of a ranking's plain data."""
    return filled("page.html", ("page.css",), _SCRIPTS, data)
