"""Results in notebooks: small HTML tables, with every value escaped."""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING

from credimi.core.atomic_files import plain
from credimi.results.section import IN_PYTHON
from credimi.results.sentences import MAY_BE_OFF, NO_NAME, rows_in_words, verdict_with_factor
from credimi.results.terminal import percent, probability

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from credimi.core.types import Record
    from credimi.results.section import Section
    from credimi.results.shown import ShownDistribution, ShownRanking

VISIBLE_ATOM = 1e-4  # the smallest mass at 0 that is shown
_MAX_LINE_CHARACTERS = 400
_MAX_LINES = 60
_SIGNS = {"keep": "●", "unsure": "◐", "drop": "○", "not ranked": "-"}


def sections_html(sections: Iterable[Section]) -> str:
    """The sections one below the other."""
    return f"<div>{''.join(part for section in sections for part in _parts(section))}</div>"


def _parts(section: Section) -> Iterator[str]:
    if section.lead:
        yield f"<p>{_text(section.lead)}</p>"
    if section.columns and section.rows:
        columns = [column for column in section.columns if "notebook" in column.media]
        limit = section.limit(IN_PYTHON)
        head = "".join(column.head() for column in columns)
        rows = ("".join(column.cell(row) for column in columns) for row in section.rows[:limit])
        lines = "".join(f"<tr>{cells}</tr>" for cells in rows)
        yield f"<table><thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table>"
        if section.total > limit:
            yield f"<p>the first {limit:,} of {section.total:,}</p>"
    if section.lines:
        yield f"<ul>{''.join(f'<li>{_text(line)}</li>' for line in section.lines)}</ul>"


def ranking_html(ranking: ShownRanking) -> str:
    """The best features: mean, interval, P(I > epsilon), verdict."""
    settings = ranking.settings
    heads = ["", "feature", "nats", "%", f"{100 * settings['level']:g} % interval", f"P(I > {settings['epsilon']:g})"]
    robust = "factor" in settings
    heads += [f"at factor {settings['factor']:g}"] if robust else []
    lines = []
    for position, row in enumerate(ranking, 1):
        if position > _MAX_LINES:
            break
        is_ranked = not math.isnan(row["mi"])
        cells = [
            str(position) if is_ranked else "",
            f"<bdi>{_old_text(row['feature'] or NO_NAME)}</bdi>",
            f"{row['mi']:.4f}" if is_ranked else "",
            percent(row.get("entropy_share", math.nan)) if is_ranked else "",
            f"{row['low']:.4f} to {row['high']:.4f}" if is_ranked else "",
            escape(probability(row["p_above"], row["std"])) if is_ranked else "",
            *([f"{row['robust_low']:.4f} to {row['robust_high']:.4f}" if is_ranked else ""] if robust else []),
            f"{_SIGNS[row['verdict']]} {verdict_with_factor(row)}{_to_decide(row)}",
            f"{row['complete']:,}",
        ]
        lines.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
    head = "".join(f"<th>{escape(heading)}</th>" for heading in (*heads, "verdict", "complete"))
    rest = f"<p>the first {_MAX_LINES:,} of {len(ranking):,} features</p>" if len(ranking) > _MAX_LINES else ""
    entropy = "" if math.isnan(ranking.entropy) else f" (entropy {ranking.entropy:.4f} nats)"
    rows = rows_in_words(ranking.rows, ranking.rows_with_target)
    title = f"What informs about <bdi>{_old_text(ranking.target or NO_NAME)}</bdi>{entropy}: {rows}"
    remarks = "".join(f"<li><bdi>{_old_text(line, _MAX_LINE_CHARACTERS)}</bdi></li>" for line in ranking.remark_lines())
    below = f"{rest}<ul>{remarks}</ul>" if remarks else rest
    return (
        f"<div><p>{title}</p><table><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>{below}</div>"
    )


def _to_decide(row: Record) -> str:
    """What would decide an unsure feature."""
    if row["at_epsilon"]:
        return "<br><small>lies at epsilon</small>"
    return f"<br><small>until about {row['rows_to_decide']:,} rows</small>" if row["rows_to_decide"] else ""


def distribution_html(distribution: ShownDistribution) -> str:
    """Mean, standard deviation, interval and the mass at 0."""
    low, high = distribution.interval()
    rows = {
        "mean": f"{distribution.mean():.4g}",
        "std": f"{distribution.std():.4g}",
        "95 % interval": f"{low:.4g} to {high:.4g}",
    }
    if distribution.p_zero >= VISIBLE_ATOM:
        rows["P(I = 0)"] = f"{distribution.p_zero:.4g}"
    if distribution.approximate:
        rows["caution"] = MAY_BE_OFF
    lines = "".join(f"<tr><th>{escape(name)}</th><td>{escape(value)}</td></tr>" for name, value in rows.items())
    return f"<div><p>Mutual information, nats</p><table><tbody>{lines}</tbody></table></div>"


def _text(text: str) -> str:
    shown = text if len(text) <= _MAX_LINE_CHARACTERS else text[: _MAX_LINE_CHARACTERS - 1] + "…"
    return f"<bdi>{escape(plain(shown))}</bdi>"


def _old_text(text: str, max_characters: int = 120) -> str:
    return escape(text if len(text) <= max_characters else text[: max_characters - 1] + "…")
