"""Comparisons as one HTML page: a line per feature, with both intervals drawn. No script, and nothing from elsewhere.

All names come from the user's data; each passes through `escape`.
"""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING

from credimi.core.atomic_files import write_bytes
from credimi.report import sentences
from credimi.report.comparisons.comparison_text import chance, lines, signed, title
from credimi.report.still_page import document, text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from credimi.core.types import Record
    from credimi.report.shown import ShownComparison

_WIDTH, _TICKS = 320.0, (0.0, 0.001, 0.01, 0.03, 0.1, 0.2, 0.3, 0.5, 1.0, 2.0, 3.0)


def write_page(comparisons: Sequence[ShownComparison], path: str | Path) -> None:
    """Write the page to a file, which is complete or absent."""
    write_bytes(page(comparisons).encode(errors="backslashreplace"), path)


def page(comparisons: Sequence[ShownComparison]) -> str:
    """The HTML."""
    target = text(comparisons[0].target or sentences.NO_NAME)
    return document(
        f"What informs about {target}, compared",
        f"What informs about <bdi>{target}</bdi>, compared",
        ("comparison.css",),
        "\n".join(map(_section, comparisons)),
    )


def _section(comparison: ShownComparison) -> str:
    first, second = (f"<bdi>{text(name)}</bdi>" for name in comparison.names)
    level, epsilon = (f"{comparison.settings[name]:g}" for name in ("level", "epsilon"))
    most = max(
        (row[name] for row in comparison for name in ("high_a", "high_b") if row[name] == row[name]), default=0.0
    )
    said = "\n".join(f"<p>{text(line)}</p>" for line in lines(comparison) if line)
    rows = "\n".join(_row(row, most) for row in comparison)
    return f"""<section>
<h2>{text(title(comparison))}</h2>
<p class="key"><span class="a">○ {first}</span> <span class="b">● {second}</span>: mean and {100 * float(level):g} %
interval of mutual information, in nats, on a square-root scale</p>
<div class="wide"><table>
<thead><tr><th scope="col">feature</th><th scope="col">verdict</th><th scope="col">{_axis(most)}</th>
<th scope="col" class="number">{first}</th><th scope="col" class="number">{second}</th>
<th scope="col" class="number">change</th><th scope="col" class="number whole">{100 * float(level):g} % interval</th>
<th scope="col" class="number whole">P(change &gt; {epsilon})</th></tr></thead>
<tbody>
{rows}
</tbody></table></div>
<div class="said">
{said}
</div>
</section>"""


def _row(row: Record, most: float) -> str:
    verdict = row["verdict"]
    name = f'<th scope="row"><bdi title="{text(row["note"])}">{text(row["feature"]) or "(no name)"}</bdi></th>'
    if verdict == "not compared":
        return f'<tr class="not-compared">{name}<td class="verdict">{verdict}</td><td colspan="6"></td></tr>'
    figures = [
        f"{row['mi_a']:.4f}",
        f"{row['mi_b']:.4f}",
        signed(row["change"]),
        f"{signed(row['low'])} to {signed(row['high'])}",
        escape(chance(row["p_change"])),
    ]
    cells = "".join(f'<td class="number">{each}</td>' for each in figures)
    return f'<tr class="{verdict}">{name}<td class="verdict">{verdict}</td><td>{_drawn(row, most)}</td>{cells}</tr>'


def _drawn(row: Record, most: float) -> str:
    """Both intervals, the first above the second."""
    parts = []
    for letter, height in (("a", 9), ("b", 21)):
        low, mean, high = (_place(row[f"{name}_{letter}"], most) for name in ("low", "mi", "high"))
        line = f'<line x1="{low:.1f}" x2="{high:.1f}" y1="{height}" y2="{height}"/>'
        parts.append(f'<g class="{letter}">{line}<circle cx="{mean:.1f}" cy="{height}" r="4"/></g>')
    said = f"{row['mi_a']:.4f} ({row['low_a']:.4f} to {row['high_a']:.4f}), then {row['mi_b']:.4f} "
    said += f"({row['low_b']:.4f} to {row['high_b']:.4f})"
    return f'<svg viewBox="0 0 {_WIDTH:g} 30" role="img" aria-label="{said}">{"".join(parts)}</svg>'


def _axis(most: float) -> str:
    ticks, last = [], -math.inf
    for tick in _TICKS:
        place = _place(tick, most)
        if (tick == 0.0 or tick < most) and place - last > 34.0:
            last = place
            ticks.append(f'<text x="{place:.1f}" y="14" text-anchor="middle">{tick:g}</text>')
    return f'<svg viewBox="0 0 {_WIDTH:g} 18" aria-hidden="true">{"".join(ticks)}</svg>'


def _place(information: float, most: float) -> float:
    """Where a figure is drawn, on a square-root scale with a margin for the dots."""
    share = math.sqrt(min(max(information, 0.0) / most, 1.0)) if most > 0.0 else 0.0
    return 10.0 + (_WIDTH - 20.0) * share
