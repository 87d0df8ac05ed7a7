"""Comparisons as one HTML page: a line per feature, with both intervals drawn. No script, and nothing from elsewhere.

All names come from the user's data; each passes through `still_page.text`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from credimi.core.atomic_files import write_bytes
from credimi.questions.compare.comparison_text import claim, lines, signed, title
from credimi.results import sentences
from credimi.results.page import (
    WIDTH,
    document,
    headings,
    name,
    numbers,
    paragraphs,
    root_scale_x,
    table,
    text,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from credimi.core.types import Record
    from credimi.results.shown import ShownComparison

_TICKS = (0.0, 0.001, 0.01, 0.03, 0.1, 0.2, 0.3, 0.5, 1.0, 2.0, 3.0)


def write_page(comparisons: Sequence[ShownComparison], path: str | Path) -> None:
    """Write the page to a file, which is complete or absent."""
    write_bytes(page(comparisons).encode(errors="backslashreplace"), path)


def page(comparisons: Sequence[ShownComparison]) -> str:
    """The HTML."""
    target = text(comparisons[0].target or sentences.NO_NAME)
    return document(
        f"What informs about {target}, compared",
        f"What informs about <bdi>{target}</bdi>, compared",
        ("tables.css",),
        "\n".join(map(_section, comparisons)),
    )


def _section(comparison: ShownComparison) -> str:
    first, second = map(name, comparison.names)
    interval = f"{100 * comparison.settings['level']:g} % interval"
    largest = max((row[end] for row in comparison for end in ("high_a", "high_b") if row[end] == row[end]), default=0.0)
    head = headings("feature", "verdict", _axis(largest)) + headings(first, second, "change", number=True)
    head += headings(interval, "claim, probability", number=True).replace("number", "number whole")
    return f"""<section>
<h2>{text(title(comparison))}</h2>
<p class="key"><span class="a">○ {first}</span> <span class="b">● {second}</span>: mean and {interval}
of mutual information, in nats, on a square-root scale</p>
{table(head, [_row(row, largest) for row in comparison])}
<div class="said">
{paragraphs(lines(comparison))}
</div>
</section>"""


def _row(row: Record, largest: float) -> str:
    verdict = row["verdict"]
    start = f'<th scope="row"><bdi title="{text(row["note"])}">{text(row["feature"]) or sentences.NO_NAME}</bdi></th>'
    start += f'<td class="verdict">{verdict}</td>'
    if verdict == "not compared":
        return f'<tr class="not-compared">{start}<td colspan="6"></td></tr>'
    figures = numbers(
        f"{row['mi_a']:.4f}",
        f"{row['mi_b']:.4f}",
        signed(row["change"]),
        f"{signed(row['low'])} to {signed(row['high'])}",
        claim(row),
    )
    return f'<tr class="{verdict}">{start}<td>{_drawn_intervals(row, largest)}</td>{figures}</tr>'


def _drawn_intervals(row: Record, largest: float) -> str:
    """Both intervals, the first above the second."""
    parts = []
    for letter, height in (("a", 9), ("b", 21)):
        low, mean, high = (root_scale_x(row[f"{end}_{letter}"], largest) for end in ("low", "mi", "high"))
        line = f'<line x1="{low:.1f}" x2="{high:.1f}" y1="{height}" y2="{height}"/>'
        parts.append(f'<g class="{letter}">{line}<circle cx="{mean:.1f}" cy="{height}" r="4"/></g>')
    label = f"{row['mi_a']:.4f} ({row['low_a']:.4f} to {row['high_a']:.4f}), then {row['mi_b']:.4f} "
    label += f"({row['low_b']:.4f} to {row['high_b']:.4f})"
    return f'<svg viewBox="0 0 {WIDTH:g} 30" role="img" aria-label="{label}">{"".join(parts)}</svg>'


def _axis(largest: float) -> str:
    ticks, last = [], -math.inf
    for tick in _TICKS:
        x = root_scale_x(tick, largest)
        if (tick == 0.0 or tick < largest) and x - last > 34.0:
            last = x
            ticks.append(f'<text x="{x:.1f}" y="14" text-anchor="middle">{tick:g}</text>')
    return f'<svg viewBox="0 0 {WIDTH:g} 18" aria-hidden="true">{"".join(ticks)}</svg>'
