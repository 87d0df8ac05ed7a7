"""A selection as one HTML page: the steps, drawn; the other columns with reasons; which columns say the same.

No script, and nothing from elsewhere. All names come from the user's data; each passes through `escape`.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from credimi.core.atomic_files import write_bytes
from credimi.report.sentences import unranked_lines
from credimi.report.sets.selection_view import INTERRUPTED, reason, redundancy, title
from credimi.report.still_page import document, text
from credimi.report.terminal import probability

if TYPE_CHECKING:
    from pathlib import Path

    from credimi.core.types import Record

_WIDTH, _MARGIN = 320.0, 10.0
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
    headings = [_head("#", number=True), _head("column"), _head("adds" if smallest else "tells alone", number=True)]
    headings += [f'<th scope="col">{_axis(most)}</th>', _head("95 % interval", number=True)]
    headings.append(f'<th scope="col" class="number">{threshold}</th>')
    more = ["told so far", "of the entropy", "or"] if smallest else ["with"]
    headings += [_head(each, number=each not in ("or", "with")) for each in more]
    rows = "\n".join(_step(number, step, most, smallest=smallest) for number, step in enumerate(steps, 1))
    explained = (
        "A line says what a column adds to the one above that leaves it least, or to all above together. "
        "“or” names columns that might stand in its place, with the probability that they add more."
        if smallest
        else "All columns that matter, alone or with a partner."
    )
    return f"""<section>
<h2>Taken, in order</h2>
<p class="key">{explained} The dashed line is epsilon.</p>
<div class="wide"><table class="steps">
<thead><tr>{"".join(headings)}</tr></thead>
<tbody>
{_with_epsilon(rows, settings["epsilon"], most)}
</tbody></table></div>
</section>"""


def _with_epsilon(rows: str, epsilon: float, most: float) -> str:
    place = _place(epsilon, most)
    return rows.replace("<!-- epsilon -->", f'<line class="epsilon" x1="{place:.1f}" x2="{place:.1f}" y1="0" y2="24"/>')


def _step(number: int, step: Record, most: float, *, smallest: bool) -> str:
    low, mean, high = (_place(step[name], most) for name in ("low", "adds", "high"))
    interval = f"{step['low']:.4f} to {step['high']:.4f}"
    drawn = f'<svg viewBox="0 0 {_WIDTH:g} 24" role="img" aria-label="{step["adds"]:.4f} ({interval})"><!-- epsilon -->'
    drawn += f'<g class="b"><line x1="{low:.1f}" x2="{high:.1f}" y1="12" y2="12"/>'
    drawn += f'<circle cx="{mean:.1f}" cy="12" r="4.5"/></g></svg>'
    chance = escape(probability(step["p_adds"], step["high"] - step["low"]))
    cells = [_cell(str(number)), _name(step["feature"]), _cell(f"{step['adds']:.4f}"), f"<td>{drawn}</td>"]
    cells += [_cell(interval), _cell(chance)]
    if smallest:
        others = ", ".join(f"<bdi>{text(name)}</bdi> ({chance:.2f})" for name, chance in step["substitutes"])
        cells += [_cell(f"{step['tells']:.4f}"), _cell(f"{100 * step['share']:.1f} %"), f"<td>{others}</td>"]
    else:
        cells.append(f"<td><bdi>{text(step['partner'] or '')}</bdi></td>")
    return f"<tr>{''.join(cells)}</tr>"


def _rejected(selection: Record) -> str:
    rejected = selection["rejected"]
    if not rejected:
        return ""
    heading = "P(adds)" if selection["settings"]["goal"] == "smallest" else "P(matters)"
    rows = "\n".join(map(_rejection, rejected[:_MOST_REJECTED]))
    left = len(rejected) - _MOST_REJECTED
    more = f"<p>... and {left:,} more.</p>" if left > 0 else ""
    return f"""<section>
<h2>Not taken</h2>
<div class="wide"><table>
<thead><tr>{_head("column")}{_head("tells alone", number=True)}{_head(heading, number=True)}{_head("why")}</tr></thead>
<tbody>
{rows}
</tbody></table></div>
{more}
</section>"""


def _left_out(selection: Record) -> str:
    said = "".join(f"<p>{text(line)}</p>" for line in unranked_lines(selection["left_out"]))
    return f'<div class="said">{said}</div>'


def _rejection(each: Record) -> str:
    figures = "".join(_cell(f"{each[name]:.4f}") for name in ("tells", "p_adds"))
    kind = each["reason"].replace(" ", "-")
    return f'<tr class="{kind}">{_name(each["feature"])}{figures}<td class="verdict">{text(reason(each))}</td></tr>'


def _matrix(selection: Record) -> str:
    names, given, figures = redundancy(selection)
    if not names:
        return ""
    head = "".join(f'<th scope="col"><div><bdi>{text(name) or "(no name)"}</bdi></div></th>' for name in given)
    rows = "\n".join(
        f"<tr>{_name(name)}{''.join(map(_shade, row))}</tr>" for name, row in zip(names, figures, strict=True)
    )
    return f"""<section>
<h2>Which columns say the same</h2>
<p class="key">The probability that a column, on the left, adds no more than {selection["settings"]["epsilon"]:g} nats
to a taken one, above. Empty: not looked at, because the column was taken before, or says what another says.</p>
<div class="wide"><table class="matrix">
<thead><tr><td></td>{head}</tr></thead>
<tbody>
{rows}
</tbody></table></div>
</section>"""


def _shade(chance: float | None) -> str:
    if chance is None:
        return "<td></td>"
    kind = "number dark" if chance > _DARK else "number"
    return f'<td class="{kind}" style="--shade: {100 * chance:.0f}%">{chance:.2f}</td>'


def _head(text: str, *, number: bool = False) -> str:
    return f'<th scope="col" class="{"number" if number else ""}">{escape(text)}</th>'


def _cell(text: str) -> str:
    return f'<td class="number">{text}</td>'


def _name(name: str) -> str:
    return f'<th scope="row"><bdi>{text(name) or "(no name)"}</bdi></th>'


def _axis(most: float) -> str:
    ticks = [share * most for share in (0.0, 0.5, 1.0)]
    shown = "".join(
        f'<text x="{_place(tick, most):.1f}" y="14" text-anchor="middle">{tick:.2g}</text>' for tick in ticks
    )
    return f'<svg viewBox="0 0 {_WIDTH:g} 18" aria-hidden="true">{shown}</svg>'


def _place(information: float, most: float) -> float:
    """Where a figure is drawn, with a margin for the dots and the last tick."""
    margin = 2.0 * _MARGIN
    return margin + (_WIDTH - 2.0 * margin) * (min(max(information, 0.0) / most, 1.0) if most > 0.0 else 0.0)
