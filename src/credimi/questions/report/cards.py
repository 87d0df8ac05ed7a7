"""The chapter of a report on single columns: the ranking, and all that is said of each column."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from credimi.questions.rank import effects_view
from credimi.results import sentences
from credimi.results.page import headings, numbers, row_heading, table, text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from credimi.core.types import Foreign, Record
    from credimi.questions.report.result import Report

MOST = 200  # columns with a card
_MAX_BARS, _MAX_NAMED = 12, 8
_SIGNS = {"keep": "●", "unsure": "◐", "drop": "○"}


def two_digits(value: float | None) -> str:
    """A number in two digits; nothing if it is unknown."""
    return "" if value is None or math.isnan(value) else f"{value:.2f}"


def verdict(word: str) -> str:
    """The verdict with its sign."""
    return f"{_SIGNS.get(word, '-')} {word}"


def picture_of(report: Report, effects: Foreign) -> str:
    """The bars of a column, if it has some, on the scale of all columns."""
    return "" if effects is None else effects_view.picture(effects, report.largest_share)


def chapter(report: Report, reader: str, link: Callable[[object], str]) -> Iterator[str]:
    """The list of all columns, and below it the cards."""
    rows, ranking = report.rows_as_records(), report.ranking
    yield _list(report, rows[:MOST], link)
    if len(rows) > MOST:
        yield f"<p>... and {len(rows) - MOST:,} less informative columns</p>"
    notes = dict(zip(ranking.figures["feature"], ranking.notes(reader), strict=True))
    yield '<div class="cards">'
    for place, row in enumerate(rows[:MOST]):
        yield from _card(report, place, row, notes[row["feature"]], link)
    yield "</div>"


def _list(report: Report, rows: list[Record], link: Callable[[object], str]) -> str:
    head = headings("#", "column", "verdict", "share of a class by value", "direction") + headings(
        "association", "nats", "% of entropy", number=True
    )
    lines = []
    for place, (row, ranked) in enumerate(zip(rows, report.ranking, strict=False), 1):
        share, mi = ranked["entropy_share"], row["mi"]
        known, css, bars = not math.isnan(mi), row["verdict"].replace(" ", "-"), report.effects.get(row["feature"])
        figures = (
            two_digits(row["association"]),
            f"{mi:.4f}" if known else "",
            f"{100 * share:.1f}" if known and not math.isnan(share) else "",
        )
        lines.append(
            f'<tr class="{css}"><td>{place if known else ""}</td>'
            f'<th scope="row">{link(row["feature"])}</th>'
            f'<td class="badge {css}">{verdict(row["verdict"])}</td><td>{picture_of(report, bars)}</td>'
            f"<td>{text(row['direction'] or '')}</td>{numbers(*figures)}</tr>"
        )
    return table(head, lines, "columns")


def _card(report: Report, place: int, row: Record, note: str, link: Callable[[object], str]) -> Iterator[str]:
    ranked = report.ranking[place]
    yield f'<article class="card" id="column-{place}"><h3><bdi>{text(row["feature"]) or sentences.NO_NAME}</bdi> '
    yield f'<span class="badge {row["verdict"].replace(" ", "-")}">{verdict(row["verdict"])}</span></h3>'
    facts = [note, f"missing in {row['missing']:,.10g} rows"]
    if not math.isnan(row["mi"]):
        ends = f"{two_digits(ranked['association_low'])} to {two_digits(ranked['association_high'])}"
        facts.insert(0, f"association {two_digits(row['association'])} ({ends}), {row['mi']:.4f} nats")
    yield f"<p>{text('; '.join(facts))}</p>"
    effects = report.effects.get(row["feature"])
    if effects is not None:
        yield _effects(effects)
    said = [*_said(report, row, link)]
    if said:
        yield f"<ul>{''.join(f'<li>{line}</li>' for line in said)}</ul>"
    yield "</article>"


def _effects(effects: Foreign) -> str:
    """The shares of one class as a table with bars."""
    values, of, seen = effects_view.shown_values(effects, _MAX_BARS), effects.place, effects.counts.sum(axis=0)
    largest = max(float(effects.high[of, value]) for value in values) or 1.0
    lines = []
    for value in values:
        share, low, high = (float(each[of, value]) for each in (effects.shares, effects.low, effects.high))
        bar = (
            f'<td class="track"><span class="share" style="width:{100 * share / largest:.1f}%"></span>'
            f'<span class="ends" style="left:{100 * low / largest:.1f}%;width:{100 * (high - low) / largest:.1f}%">'
            "</span></td>"
        )
        ends = f"{effects_view.percent(low)} to {effects_view.percent(high)}"
        figures = numbers(f"{effects_view.percent(share)} %", ends, f"{seen[value].item():,.10g}")
        lines.append(f"<tr>{row_heading(effects.values[value])}{bar}{figures}</tr>")
    head = headings("value", "") + headings(f"share of {text(effects.of)}", "interval", "rows", number=True)
    more = len(effects.values) - len(values)
    below = [f"{more:,} rarer values are not shown"] * bool(more)
    if effects.direction is not None:
        below.append(effects_view.said(effects))
    return table(head, lines, "effects") + "".join(f'<p class="said">{text(line)}</p>' for line in below)


def _said(report: Report, row: Record, link: Callable[[object], str]) -> Iterator[str]:
    """What the other parts say of a column, as HTML with links to the chapters."""
    feature = row["feature"]
    if row["taken"] is not None:
        yield f'<a href="#set">Set</a>: selected as number {row["taken"]}'
    elif report.selection is not None:
        for each in report.selection.rejected:
            if each.feature == feature:
                like = "" if each.like is None else f" ({link(each.like)})"
                yield f'<a href="#set">Set</a>: left out: {text(each.reason)}{like}'
    if row["interacts_with"]:
        yield f'<a href="#together">Together</a>: more informative with {_named(row["interacts_with"], link)}'
    if row["linked_to"]:
        how = "depends directly on" if report.network is not None else "depends on"
        yield f'<a href="#structure">Structure</a>: {how} {_named(row["linked_to"], link)}'
    if row["splits"]:
        yield f'<a href="#tree">Tree</a>: splits {sentences.counted(row["splits"], "node")}'
    for remark in report.ranking.remark_lines_of(feature):
        yield f"Caution: {text(remark)}"


def _named(names: list[str], link: Callable[[object], str]) -> str:
    more = f" and {len(names) - _MAX_NAMED:,} more" if len(names) > _MAX_NAMED else ""
    return ", ".join(map(link, names[:_MAX_NAMED])) + more
