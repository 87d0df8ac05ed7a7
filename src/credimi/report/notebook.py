"""Rankings and distributions in notebooks: small HTML tables, with every value escaped."""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING

from credimi.report.sentences import NO_NAME, rows_told, standing
from credimi.report.terminal import percent, probability

if TYPE_CHECKING:
    from credimi.core.types import Record
    from credimi.report.shown import ShownLaw, ShownRanking

VISIBLE_ATOM = 1e-4  # the least mass at 0 that is shown

_LINES = 60
_LONGEST, _LONGEST_LINE = 120, 400  # characters
_SIGNS = {"keep": "●", "unsure": "◐", "drop": "○", "not ranked": "-"}


def ranking_html(ranking: ShownRanking) -> str:
    """The best features: mean, interval, P(I > epsilon), verdict."""
    settings = ranking.settings
    heads = ["", "feature", "nats", "%", f"{100 * settings['level']:g} % interval", f"P(I > {settings['epsilon']:g})"]
    robust = "factor" in settings
    heads += [f"at factor {settings['factor']:g}"] if robust else []
    lines = []
    for place, row in enumerate(ranking, 1):
        if place > _LINES:
            break
        known = not math.isnan(row["mi"])
        cells = [
            str(place) if known else "",
            f"<bdi>{_text(row['feature'] or NO_NAME)}</bdi>",
            f"{row['mi']:.4f}" if known else "",
            percent(row.get("entropy_share", math.nan)) if known else "",
            f"{row['low']:.4f} to {row['high']:.4f}" if known else "",
            escape(probability(row["p_above"], row["std"])) if known else "",
            *([f"{row['robust_low']:.4f} to {row['robust_high']:.4f}" if known else ""] if robust else []),
            f"{_SIGNS[row['verdict']]} {standing(row)}{_to_decide(row)}",
            f"{row['complete']:,}",
        ]
        lines.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
    head = "".join(f"<th>{escape(each)}</th>" for each in (*heads, "verdict", "complete"))
    rest = f"<p>the first {_LINES:,} of {len(ranking):,} features</p>" if len(ranking) > _LINES else ""
    entropy = "" if math.isnan(ranking.entropy) else f" (entropy {ranking.entropy:.4f} nats)"
    rows = rows_told(ranking.rows, ranking.rows_with_target)
    title = f"What informs about <bdi>{_text(ranking.target or NO_NAME)}</bdi>{entropy}: {rows}"
    remarks = "".join(f"<li><bdi>{_text(line, _LONGEST_LINE)}</bdi></li>" for line in ranking.remark_lines())
    below = f"{rest}<ul>{remarks}</ul>" if remarks else rest
    return (
        f"<div><p>{title}</p><table><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>{below}</div>"
    )


def _to_decide(row: Record) -> str:
    """What would decide an unsure feature."""
    if row["at_epsilon"]:
        return "<br><small>lies at epsilon</small>"
    return f"<br><small>until about {row['rows_to_decide']:,} rows</small>" if row["rows_to_decide"] else ""


def distribution_html(law: ShownLaw) -> str:
    """Mean, standard deviation, interval and the mass at 0."""
    low, high = law.interval()
    rows = {"mean": f"{law.mean():.4g}", "std": f"{law.std():.4g}", "95 % interval": f"{low:.4g} to {high:.4g}"}
    if law.p_zero >= VISIBLE_ATOM:
        rows["P(I = 0)"] = f"{law.p_zero:.4g}"
    lines = "".join(f"<tr><th>{escape(name)}</th><td>{escape(value)}</td></tr>" for name, value in rows.items())
    return f"<div><p>Mutual information, nats</p><table><tbody>{lines}</tbody></table></div>"


def _text(text: str, longest: int = _LONGEST) -> str:
    return escape(text if len(text) <= longest else text[: longest - 1] + "…")
