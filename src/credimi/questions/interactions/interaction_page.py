"""Interactions as one HTML page: the pairs as a table, the first as heat maps. No script, and nothing from elsewhere.

All names come from the user's data; each passes through `still_page.text`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from credimi.core.atomic_files import write_bytes
from credimi.questions.interactions.interaction_view import cells, class_shares, parts, remarks
from credimi.results.page import document, headings, name, numbers, paragraphs, row_heading, table, text
from credimi.results.sentences import NO_NAME

if TYPE_CHECKING:
    from pathlib import Path

    from credimi.core.types import Record

_MAX_PAIRS = 1_000  # pairs of each sign on the page
_MAX_VALUES_SIDE_BY_SIDE = 6  # wider heat maps have a line of their own
_LIGHT, _DARK = (242, 246, 251), (8, 48, 107)


def write_page(interactions: Record, path: str | Path) -> None:
    """Write the page to a file, which is complete or absent."""
    write_bytes(page(interactions).encode(errors="backslashreplace"), path)


def page(interactions: Record) -> str:
    """The HTML."""
    target = text(interactions["settings"]["target"] or NO_NAME)
    lists = "\n".join(_list(interactions, *part) for part in parts(interactions))
    maps = "\n".join(_heat_map(interactions, pair_table) for pair_table in interactions["tables"])
    body = f"""<div class="said">
{paragraphs(remarks(interactions))}
<p>Synergy: what two columns tell together, beyond what each tells alone. Negative: they overlap, and tell in part the
same.</p>
</div>
{lists}
<div class="maps">
{maps}
</div>"""
    title = "What pairs of columns tell about"
    return document(f"{title} {target}", f"{title} <bdi>{target}</bdi>", ("tables.css", "heat.css"), body)


def _list(interactions: Record, pairs: list[Record], heading: str, probability_key: str) -> str:
    settings = interactions["settings"]
    above = f"P(&gt; {settings['epsilon']:g})" if probability_key == "p_above" else f"P(&lt; -{settings['epsilon']:g})"
    figures = ("synergy", f"{100 * settings['level']:g} % interval", above, "a alone", "b alone", "rows")
    head = headings("a", "b") + headings(*figures, number=True).replace("number", "number whole") + headings("verdict")
    rows = [_row(pair, probability_key) for pair in pairs[:_MAX_PAIRS]] or ['<tr><td colspan="9">none</td></tr>']
    more = f"<p>... and {len(pairs) - _MAX_PAIRS:,} more</p>" if len(pairs) > _MAX_PAIRS else ""
    return f"""<section>
<h2>{text(heading)}</h2>
{table(head, rows)}
{more}</section>"""


def _row(pair: Record, probability_key: str) -> str:
    one, other, *figures, verdict = cells(pair, probability_key)
    css_class = {"synergy": "more", "redundancy": "less"}.get(verdict, "unsure")
    shown = row_heading(one) + row_heading(other) + numbers(*figures)
    return f'<tr class="{css_class}">{shown}<td class="verdict">{verdict}</td></tr>'


def _heat_map(interactions: Record, pair_table: Record) -> str:
    """The joint table of a pair: every cell shows the share of a class, and how many rows the cell has."""
    pair = next(
        candidate
        for candidate in interactions["pairs"]
        if (candidate["a"], candidate["b"]) == (pair_table["a"], pair_table["b"])
    )
    shares, rows, class_index = class_shares(pair_table)
    one, other = name(pair_table["a"]), name(pair_table["b"])
    head = f"<td>{one} \\ {other}</td>" + headings(*map(name, pair_table["values_b"]))
    body = [
        f"<tr>{row_heading(value)}"
        + "".join(_cell(share, count) for share, count in zip(line, counts, strict=True))
        + "</tr>"
        for value, line, counts in zip(pair_table["values_a"], shares, rows, strict=True)
    ]
    css_class = ' class="large"' if len(pair_table["values_b"]) > _MAX_VALUES_SIDE_BY_SIDE else ""
    return f"""<figure{css_class}>
<figcaption><strong>{one} and {other}</strong>: {pair["verdict"]} {pair["synergy"]:+.4f}; in the cells the share of
<bdi>{text(interactions["classes"][class_index])}</bdi>, and of how many rows</figcaption>
{table(head, body, "heat")}
</figure>"""


def _cell(share: float | None, count: float) -> str:
    if share is None:
        return '<td class="empty" title="no rows">-</td>'
    colour = ",".join(str(round(low + share * (high - low))) for low, high in zip(_LIGHT, _DARK, strict=True))
    ink = "#fff" if share > 0.5 else "#111"
    return f'<td style="background:rgb({colour});color:{ink}">{100 * share:.0f} %<small>{count:,.6g}</small></td>'
