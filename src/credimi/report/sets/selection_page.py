"""A selection as one HTML page: the steps, drawn; the other columns with reasons; which columns say the same.

No script, and nothing from elsewhere. All names come from the user's data; each passes through
`still_page.text`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from credimi.core.atomic_files import write_bytes
from credimi.report.sentences import unranked_lines
from credimi.report.sets.selection_view import INTERRUPTED, MATTERS, combinations, reason, redundancy, title
from credimi.report.still_page import WIDTH, document, headings, name, numbers, paragraphs, row_heading, table, text
from credimi.report.terminal import probability

if TYPE_CHECKING:
    from pathlib import Path

    from credimi.core.types import Record

_MARGIN = 20.0  # for the dots and the last tick
_MOST_REJECTED = 1_000  # lines
_DARK = 0.55  # from here on figures in the matrix are light


def write_page(selection: Record, path: str | Path) -> None:
    """Write the page to a file, which is complete or absent."""
    write_bytes(page(selection).encode(errors="backslashreplace"), path)


def page(selection: Record) -> str:
    """The HTML."""
    settings = selection["settings"]
    said = f"Entropy of the target {selection['entropy']:.4f} nats; epsilon {settings['epsilon']:g}; "
    said += f"level {settings['level']:g}."
    ended = "" if selection["complete"] else f'<p class="caution">{INTERRUPTED}</p>'
    heading = text(title(selection))
    parts = (
        f'<p class="key">{said}</p>',
        ended,
        *(part(selection) for part in (_steps, _matrix, _rejected, _left_out)),
    )
    return document(heading, heading, ("comparison.css", "selection.css"), "\n".join(parts))


def _steps(selection: Record) -> str:
    steps, settings = selection["steps"], selection["settings"]
    if not steps:
        return "<section><h2>Taken</h2><p>No column is credible enough.</p></section>"
    smallest = settings["goal"] == "smallest"
    most = max(step["high"] for step in steps)
    threshold = f"P(adds &gt; {settings['epsilon']:g})" if smallest else "P(matters)"
    head = headings("#", number=True) + headings("column")
    head += headings("adds" if smallest else "tells alone", number=True) + headings(_axis(most))
    head += headings("95 % interval", threshold, number=True)
    head += headings("told so far", "of the entropy", number=True) + headings("or") if smallest else headings("with")
    rows = [_step(number, step, most, smallest=smallest) for number, step in enumerate(steps, 1)]
    place = f"{_place(settings['epsilon'], most):.1f}"
    mark = f'<line class="epsilon" x1="{place}" x2="{place}" y1="0" y2="24"/>'
    explained = (
        "adds: what the column tells beyond the most similar column above it, or beyond all above together, in rows "
        "that have it. told so far: by all columns up to here, in all rows; a cautious estimate, which may fall. "
        "“or” names columns that might stand in its place, with the probability that they add more."
        if smallest
        else f"All columns that matter, alone or with a partner. {MATTERS}."
    )
    return f"""<section>
<h2>Taken, in order</h2>
<p class="key">{explained} The dashed line is epsilon.</p>
{table(head, rows, "steps").replace("<!-- epsilon -->", mark)}
</section>"""


def _step(number: int, step: Record, most: float, *, smallest: bool) -> str:
    low, mean, high = (_place(step[end], most) for end in ("low", "adds", "high"))
    interval = f"{step['low']:.4f} to {step['high']:.4f}"
    drawn = f'<svg viewBox="0 0 {WIDTH:g} 24" role="img" aria-label="{step["adds"]:.4f} ({interval})"><!-- epsilon -->'
    drawn += f'<g class="b"><line x1="{low:.1f}" x2="{high:.1f}" y1="12" y2="12"/>'
    drawn += f'<circle cx="{mean:.1f}" cy="12" r="4.5"/></g></svg>'
    chance = probability(step["p_adds"], step["high"] - step["low"])
    cells = numbers(str(number)) + row_heading(step["feature"]) + numbers(f"{step['adds']:.4f}")
    cells += f"<td>{drawn}</td>" + numbers(interval, chance)
    if smallest:
        others = ", ".join(f"{name(other)} ({chance:.2f})" for other, chance in step["substitutes"])
        cells += numbers(f"{step['tells']:.4f}", f"{100 * step['share']:.1f} %") + f"<td>{others}</td>"
    else:
        cells += f"<td><bdi>{text(step['partner'] or '')}</bdi></td>"
    return f"<tr>{cells}</tr>"


def _rejected(selection: Record) -> str:
    rejected = selection["rejected"]
    if not rejected:
        return ""
    chance = "P(adds)" if selection["settings"]["goal"] == "smallest" else "P(matters)"
    head = headings("column") + headings("tells alone", chance, number=True) + headings("why")
    left = len(rejected) - _MOST_REJECTED
    more = f"<p>... and {left:,} more.</p>" if left > 0 else ""
    return f"""<section>
<h2>Not taken</h2>
{table(head, map(_rejection, rejected[:_MOST_REJECTED]))}
{more}
</section>"""


def _left_out(selection: Record) -> str:
    return f'<div class="said">{paragraphs([*unranked_lines(selection["left_out"]), *combinations(selection)])}</div>'


def _rejection(each: Record) -> str:
    cells = row_heading(each["feature"]) + numbers(f"{each['tells']:.4f}", f"{each['p_adds']:.4f}")
    kind = each["reason"].replace(" ", "-")
    return f'<tr class="{kind}">{cells}<td class="verdict">{text(reason(each))}</td></tr>'


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
to a taken one, above. Empty: not looked at, because the column was taken before, or says what another says.</p>
{table(head, rows, "matrix")}
</section>"""


def _shade(chance: float | None) -> str:
    if chance is None:
        return "<td></td>"
    kind = "number dark" if chance > _DARK else "number"
    return f'<td class="{kind}" style="--shade: {100 * chance:.0f}%">{chance:.2f}</td>'


def _axis(most: float) -> str:
    ticks = [share * most for share in (0.0, 0.5, 1.0)]
    shown = "".join(
        f'<text x="{_place(tick, most):.1f}" y="14" text-anchor="middle">{tick:.2g}</text>' for tick in ticks
    )
    return f'<svg viewBox="0 0 {WIDTH:g} 18" aria-hidden="true">{shown}</svg>'


def _place(information: float, most: float) -> float:
    """Where a figure is drawn."""
    return _MARGIN + (WIDTH - 2.0 * _MARGIN) * (min(max(information, 0.0) / most, 1.0) if most > 0.0 else 0.0)
