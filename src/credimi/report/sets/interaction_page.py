"""Interactions as one HTML page: the pairs as a table, the first as heat maps. No script, and nothing from elsewhere.

All names come from the user's data; each passes through `still_page.text`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from credimi.core.atomic_files import write_bytes
from credimi.report.sentences import NO_NAME
from credimi.report.sets.interaction_view import cells, class_shares, parts, remarks
from credimi.report.still_page import document, headings, name, numbers, paragraphs, row_heading, table, text

if TYPE_CHECKING:
    from pathlib import Path

    from credimi.core.types import Record

_MOST = 1_000  # pairs of each sign on the page
_BESIDE = 6  # values, up to which heat maps stand side by side
_LIGHT, _DARK = (242, 246, 251), (8, 48, 107)


def write_page(found: Record, path: str | Path) -> None:
    """Write the page to a file, which is complete or absent."""
    write_bytes(page(found).encode(errors="backslashreplace"), path)


def page(found: Record) -> str:
    """The HTML."""
    target = text(found["settings"]["target"] or NO_NAME)
    lists = "\n".join(_list(found, *part) for part in parts(found))
    maps = "\n".join(_heat_map(found, counted) for counted in found["tables"])
    body = f"""<div class="said">
{paragraphs(remarks(found))}
<p>Synergy: what two columns tell together, beyond what each tells alone. Negative: they overlap, and tell in part the
same.</p>
</div>
{lists}
<div class="maps">
{maps}
</div>"""
    title = "What pairs of columns tell about"
    return document(f"{title} {target}", f"{title} <bdi>{target}</bdi>", ("comparison.css", "heat.css"), body)


def _list(found: Record, pairs: list[Record], heading: str, chance: str) -> str:
    settings = found["settings"]
    above = f"P(&gt; {settings['epsilon']:g})" if chance == "p_above" else f"P(&lt; -{settings['epsilon']:g})"
    figures = ("synergy", f"{100 * settings['level']:g} % interval", above, "a alone", "b alone")
    head = headings("a", "b") + headings(*figures, number=True).replace("number", "number whole") + headings("verdict")
    rows = [_row(pair, chance) for pair in pairs[:_MOST]] or ['<tr><td colspan="8">none</td></tr>']
    more = f"<p>... and {len(pairs) - _MOST:,} more</p>" if len(pairs) > _MOST else ""
    return f"""<section>
<h2>{text(heading)}</h2>
{table(head, rows)}
{more}</section>"""


def _row(pair: Record, chance: str) -> str:
    one, other, *figures, verdict = cells(pair, chance)
    kind = {"synergy": "more", "redundancy": "less"}.get(verdict, "unsure")
    shown = row_heading(one) + row_heading(other) + numbers(*figures)
    return f'<tr class="{kind}">{shown}<td class="verdict">{verdict}</td></tr>'


def _heat_map(found: Record, counted: Record) -> str:
    """The joint table of a pair: in every cell the share of a class, and of how many rows."""
    pair = next(each for each in found["pairs"] if (each["a"], each["b"]) == (counted["a"], counted["b"]))
    shares, rows, shown = class_shares(counted)
    one, other = name(counted["a"]), name(counted["b"])
    head = f"<td>{one} \\ {other}</td>" + headings(*map(name, counted["values_b"]))
    body = [
        f"<tr>{row_heading(value)}"
        + "".join(_cell(share, count) for share, count in zip(line, counts, strict=True))
        + "</tr>"
        for value, line, counts in zip(counted["values_a"], shares, rows, strict=True)
    ]
    kind = ' class="large"' if len(counted["values_b"]) > _BESIDE else ""
    return f"""<figure{kind}>
<figcaption><strong>{one} and {other}</strong>: {pair["verdict"]} {pair["synergy"]:+.4f}; in the cells the share of
<bdi>{text(found["classes"][shown])}</bdi>, and of how many rows</figcaption>
{table(head, body, "heat")}
</figure>"""


def _cell(share: float | None, count: float) -> str:
    if share is None:
        return '<td class="empty" title="no rows">-</td>'
    colour = ",".join(str(round(low + share * (high - low))) for low, high in zip(_LIGHT, _DARK, strict=True))
    ink = "#fff" if share > 0.5 else "#111"
    return f'<td style="background:rgb({colour});color:{ink}">{100 * share:.0f} %<small>{count:,.6g}</small></td>'
