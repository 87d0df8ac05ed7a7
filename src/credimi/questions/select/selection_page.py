"""A selection as one HTML page: the steps, drawn; the other columns with reasons; which columns say the same.

No script, and nothing from elsewhere. All names come from the user's data; each passes through
`still_page.text`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from credimi.core.atomic_files import write_bytes
from credimi.questions.select.selection_view import (
    FORCED,
    INTERRUPTED,
    MATTERS,
    combinations,
    marked,
    none_taken,
    reason,
    redundancy,
    shown_of_all,
    title,
)
from credimi.results.remark_sentences import SELECTION, lines
from credimi.results.sentences import unranked_lines
from credimi.results.static_page import WIDTH, document, headings, name, numbers, paragraphs, row_heading, table, text
from credimi.results.terminal import probability

if TYPE_CHECKING:
    from pathlib import Path

    from credimi.core.types import Record

_MARGIN = 20.0  # for the dots and the last tick
_MAX_REJECTED = 1_000  # lines
_DARK = 0.55  # above this, figures in the matrix are light


def write_page(selection: Record, path: str | Path) -> None:
    """Write the page to a file, which is complete or absent."""
    write_bytes(page(selection).encode(errors="backslashreplace"), path)


def page(selection: Record) -> str:
    """The HTML."""
    settings = selection["settings"]
    summary = f"Entropy of the target {selection['entropy']:.4f} nats; epsilon {settings['epsilon']:g}; "
    summary += f"level {settings['level']:g}."
    interruption = "" if selection["complete"] else f'<p class="caution">{INTERRUPTED}</p>'
    heading = text(title(selection))
    parts = (
        f'<p class="key">{summary}</p>',
        interruption,
        _remarks(selection),
        *(part(selection) for part in (_steps, _matrix, _rejected, _left_out)),
    )
    return document(heading, heading, ("comparison.css", "selection.css"), "\n".join(parts))


def _remarks(selection: Record) -> str:
    sentences = paragraphs(lines(selection["remarks"], of=SELECTION))
    return f'<div class="said">{sentences}</div>' if sentences else ""


def _steps(selection: Record) -> str:
    steps, settings = selection["steps"], selection["settings"]
    if not steps:
        return f"<section><h2>Taken</h2>{paragraphs(none_taken(selection))}</section>"
    smallest = settings["goal"] == "smallest"
    largest = max(step["high"] for step in steps)
    threshold = f"P(adds &gt; {settings['epsilon']:g})" if smallest else "P(matters)"
    head = headings("#", number=True) + headings("column")
    head += headings("adds" if smallest else "tells alone", number=True) + headings(_axis(largest))
    head += headings("95 % interval", threshold, number=True)
    head += headings("told so far", "of the entropy", number=True) + headings("or") if smallest else headings("with")
    rows = [_step(number, step, largest, smallest=smallest) for number, step in enumerate(steps, 1)]
    epsilon_x = f"{_x(settings['epsilon'], largest):.1f}"
    epsilon_line = f'<line class="epsilon" x1="{epsilon_x}" x2="{epsilon_x}" y1="0" y2="24"/>'
    explanation = (
        "adds: what the column tells beyond the most similar column above it, or beyond all above together, in rows "
        "that have it. told so far: by all columns up to here, on average over all rows, estimated from below; a "
        "missing value tells nothing. "
        "“or” names columns that might stand in its place, with the probability that they add more."
        if smallest
        else f"All columns that matter, alone or with a partner. {MATTERS}."
    )
    forced = f'<p class="caution">{FORCED}</p>' if any(step["forced"] for step in steps) else ""
    return f"""<section>
<h2>Taken, in order</h2>
<p class="key">{explanation} The dashed line is epsilon.</p>
{forced}
{table(head, rows, "steps").replace("<!-- epsilon -->", epsilon_line)}
</section>"""


def _step(number: int, step: Record, largest: float, *, smallest: bool) -> str:
    low, mean, high = (_x(step[end], largest) for end in ("low", "adds", "high"))
    interval = f"{step['low']:.4f} to {step['high']:.4f}"
    drawn = f'<svg viewBox="0 0 {WIDTH:g} 24" role="img" aria-label="{step["adds"]:.4f} ({interval})"><!-- epsilon -->'
    drawn += f'<g class="b"><line x1="{low:.1f}" x2="{high:.1f}" y1="12" y2="12"/>'
    drawn += f'<circle cx="{mean:.1f}" cy="12" r="4.5"/></g></svg>'
    p_adds = probability(step["p_adds"], step["high"] - step["low"])
    cells = numbers(marked(number, step)) + row_heading(step["feature"]) + numbers(f"{step['adds']:.4f}")
    cells += f"<td>{drawn}</td>" + numbers(interval, p_adds)
    if smallest:
        substitutes = ", ".join(f"{name(other)} ({p_more:.2f})" for other, p_more in step["substitutes"])
        cells += numbers(f"{step['tells']:.4f}", f"{100 * step['share']:.1f} %") + f"<td>{substitutes}</td>"
    else:
        cells += f"<td>{'' if step['partner'] is None else name(step['partner'])}</td>"
    return f"<tr>{cells}</tr>"


def _rejected(selection: Record) -> str:
    rejected = selection["rejected"]
    if not rejected:
        return ""
    probability_name = "P(adds)" if selection["settings"]["goal"] == "smallest" else "P(matters)"
    head = headings("column") + headings("tells alone", probability_name, number=True) + headings("why")
    unshown = len(rejected) - _MAX_REJECTED
    more = f"<p>... and {unshown:,} more.</p>" if unshown > 0 else ""
    return f"""<section>
<h2>Not taken</h2>
{table(head, map(_rejection, rejected[:_MAX_REJECTED]))}
{more}
</section>"""


def _left_out(selection: Record) -> str:
    return f'<div class="said">{paragraphs([*unranked_lines(selection["left_out"]), *combinations(selection)])}</div>'


def _rejection(rejection: Record) -> str:
    cells = row_heading(rejection["feature"]) + numbers(f"{rejection['tells']:.4f}", f"{rejection['p_adds']:.4f}")
    css_class = rejection["reason"].replace(" ", "-")
    return f'<tr class="{css_class}">{cells}<td class="verdict">{text(reason(rejection))}</td></tr>'


def _matrix(selection: Record) -> str:
    names, given, figures = redundancy(selection)
    if not names:
        return ""
    head = "<td></td>" + headings(*(f"<div>{name(column)}</div>" for column in given))
    rows = [
        f"<tr>{row_heading(column)}{''.join(map(_shade, row))}</tr>" for column, row in zip(names, figures, strict=True)
    ]
    return f"""<section>
<h2>Which columns say the same</h2>
<p class="key">The probability that a column, on the left, adds no more than {selection["settings"]["epsilon"]:g} nats
to a taken one, above. Empty: not looked at, because the column was taken before, or says what another says.
{shown_of_all(selection)}</p>
{table(head, rows, "matrix")}
</section>"""


def _shade(p_redundant: float | None) -> str:
    if p_redundant is None:
        return "<td></td>"
    css_class = "number dark" if p_redundant > _DARK else "number"
    return f'<td class="{css_class}" style="--shade: {100 * p_redundant:.0f}%">{p_redundant:.2f}</td>'


def _axis(largest: float) -> str:
    ticks = [share * largest for share in (0.0, 0.5, 1.0)]
    labels = "".join(
        f'<text x="{_x(tick, largest):.1f}" y="14" text-anchor="middle">{tick:.2g}</text>' for tick in ticks
    )
    return f'<svg viewBox="0 0 {WIDTH:g} 18" aria-hidden="true">{labels}</svg>'


def _x(information: float, largest: float) -> float:
    """The x coordinate of an information, on a linear scale up to `largest`."""
    return _MARGIN + (WIDTH - 2.0 * _MARGIN) * (min(max(information, 0.0) / largest, 1.0) if largest > 0.0 else 0.0)
