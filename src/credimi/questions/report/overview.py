"""The first chapter of a report: what the table is, what may mislead, what to do next; and what its words mean."""

from __future__ import annotations

import shlex
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from credimi.questions.report import cards
from credimi.results.page import headings, numbers, paragraphs, table, text
from credimi.results.sentences import COMMAND_LINE, counted, first_few

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from credimi.core.types import Value
    from credimi.questions.report.result import Report

_FIRST, _MOST_MISSING = 5, 12
_CAUTION = "caution: "
_KINDS = {
    "categories": "categories",
    "ranges": "numbers, in ranges",
    "one_range": "numbers in one range",
    "constant": "one value only",
    "empty": "always missing",
    "identifier": "identifiers",
    "uncountable": "not countable",
}
WORDS = {
    "information": "The mutual information of a column and the target, in nats: 0 if the column says nothing, at most "
    "the entropy of the target.",
    "association": "The same from 0 (independent) to 1 (the column determines the target); for two normal variables it "
    "is the absolute correlation.",
    "interval": "The value lies in a 95 % interval with a probability of 95 %, on average over columns.",
    "keep, drop, unsure": "Keep: the column is informative with a probability of at least 0.95. Drop: it is not, with "
    "the same probability. Unsure: the rows do not decide.",
    "bars": "The share of a class among the rows with each value; a line is its credible interval. Missing values are "
    "accounted for, so shares can differ from the plain ratios.",
    "missing values": "Nothing is imputed and no row is dropped. This is right if values are missing at random.",
    "depends": "Dependence is no cause: a column may be informative because of a third.",
}


def chapter(report: Report, reader: str, link: Callable[[object], str]) -> Iterator[str]:
    """The figures, the best columns, cautions, next steps, and missing values."""
    yield f'<div class="tiles">{"".join(_tile(*each) for each in _figures(report))}</div>'
    yield "<h3>The most informative columns</h3>"
    yield _best(report, link)
    yield "<h3>Cautions</h3>"
    cautions = [*_cautions(report, reader)]
    yield f"<ul>{''.join(f'<li>{text(line)}</li>' for line in cautions)}</ul>" if cautions else "<p>None.</p>"
    yield "<h3>What to do next</h3>"
    yield f"<ol>{''.join(f'<li>{text(line)}</li>' for line in steps(report, reader))}</ol>"
    yield from _missing(report, link)
    if report.cuts:
        yield "<h3>What was cut</h3>"
        yield paragraphs(f"{each.part}: {each.why}" for each in report.cuts)


def _tile(figure: str, words: str) -> str:
    return f"<div><b>{text(figure)}</b> {text(words)}</div>"


def _figures(report: Report) -> Iterator[tuple[str, str]]:
    ranking = report.ranking
    yield f"{report.rows:,}", "rows"
    if ranking.rows_with_target is not None and ranking.rows_with_target != report.rows:
        yield f"{ranking.rows_with_target:,}", f"rows with {report.target}"
    yield f"{len(ranking.classes):,}", "classes: " + first_few([*ranking.classes])
    kinds = Counter(facts["kind"] for facts in ranking.facts.values())
    for kind, words in _KINDS.items():
        if kinds[kind]:
            yield f"{kinds[kind]:,}", f"columns: {words}"
    cells = report.rows * len(ranking)
    missing = sum(ranking.figures["missing"])
    yield f"{100 * missing / cells if cells else 0.0:.1f} %", "of the cells are missing"
    verdicts = Counter(ranking.figures["verdict"])
    for verdict in ("keep", "unsure", "drop"):
        yield f"{verdicts[verdict]:,}", f"columns: {verdict}"


def _best(report: Report, link: Callable[[object], str]) -> str:
    rows = report.rows_as_records()[:_FIRST]
    head = headings("column", "verdict", "share of a class by value", "direction", "association")
    lines = []
    for row in rows:
        effects = report.effects.get(row["feature"])
        cells = (
            f'<td class="badge {row["verdict"].replace(" ", "-")}">{cards.verdict(row["verdict"])}</td>',
            f"<td>{cards.picture_of(report, effects)}</td>",
            f"<td>{text(row['direction'] or '')}</td>",
            f"<td>{cards.two_digits(row['association'])}</td>",
        )
        lines.append(f'<tr><th scope="row">{link(row["feature"])}</th>{"".join(cells)}</tr>')
    return table(head, lines)


def _cautions(report: Report, reader: str) -> Iterator[str]:
    """The cautions of all parts, those of the ranking first; of those that begin alike, the first."""
    lines = report.ranking.remark_lines(cautions=True, reader=reader)
    for part in ("selection", "interactions", "pairs", "network"):
        result = getattr(report, part)
        if result is not None:
            lines += [line for line in result.remark_lines(reader=reader) if line.startswith(_CAUTION)]
    seen = set()
    for line in lines:
        claim = line.partition(";")[0]
        if claim not in seen:
            seen.add(claim)
            yield line.removeprefix(_CAUTION)


def steps(report: Report, reader: str) -> list[str]:
    """What to do next, in words: cautions first, then undecided columns, then the use of those that were chosen."""
    ranking, found = report.ranking, []
    if cautions := len(ranking.remark_lines(cautions=True)):
        found.append(f"Look at the {counted(cautions, 'caution')}: a column may be read wrongly, or known too late.")
    unsure = [name for name, verdict in _named(report, "verdict") if verdict == "unsure"]
    rows = [each for each in ranking.figures["rows_to_decide"] if each]
    if unsure:
        many = f" About {max(rows):,} rows would decide most of them." if rows else ""
        found.append(f"{first_few(unsure)}: the rows do not decide whether this is informative.{many}")
    missing = [name for name, p in _named(report, "missing_p_above") if p >= ranking.settings["level"]]
    if missing:
        found.append(f"Find out why values are missing in {first_few(missing)}: that they are is itself informative.")
    if chosen := report.features:
        data, target = _data(report, reader), report.target
        use = (
            f"credimi select {shlex.quote(data)} --target {shlex.quote(target)} --output chosen.csv"
            if reader == COMMAND_LINE
            else "frame[list(report.features)]"
        )
        found.append(f"Take {counted(len(chosen), 'column')}, {first_few([*chosen])}: {use}")
    elif not any(verdict == "keep" for verdict in ranking.figures["verdict"]):
        found.append("No column is surely informative: ask for other columns, or for more rows.")
    return found


def _named(report: Report, column: str) -> Iterator[tuple[str, Value]]:
    yield from zip(report.ranking.figures["feature"], report.ranking.figures[column], strict=True)


def _missing(report: Report, link: Callable[[object], str]) -> Iterator[str]:
    """The columns with the most missing values, and those that lack them together."""
    missing = sorted((pair for pair in _named(report, "missing") if pair[1]), key=lambda pair: -pair[1])
    if not missing:
        return
    yield "<h3>Missing values</h3>"
    lines = []
    for feature, rows in missing[:_MOST_MISSING]:
        share = f"{100 * rows / report.rows:.1f}"
        bar = f'<td class="track"><span class="missing" style="width:{share}%"></span></td>'
        lines.append(f'<tr><th scope="row">{link(feature)}</th>{bar}{numbers(f"{share} %", f"{rows:,.10g}")}</tr>')
    yield table(headings("column", "") + headings("missing", "rows", number=True), lines, "missing-values")
    if len(missing) > _MOST_MISSING:
        yield f"<p>... and {len(missing) - _MOST_MISSING:,} more columns with missing values</p>"
    if report.together:
        yield "<h4>Missing in the same rows</h4>"
        lines = [
            f'<tr><th scope="row">{link(each.a)}</th><td>{link(each.b)}</td>'
            f"{numbers(f'{each.rows:,}', f'{100 * each.share:.0f} %')}</tr>"
            for each in report.together
        ]
        head = headings("column", "and") + headings("rows", "of the rows that lack one", number=True)
        yield table(head, lines)


def command(report: Report, source: str | None, reader: str) -> str:
    """What makes the report again."""
    asked = report.settings.get("asked", {})
    if reader == COMMAND_LINE:
        options = "".join(f" --{key.replace('_', '-')} {_typed(value)}" for key, value in asked.items())
        data, target = _data(report, reader, source), shlex.quote(report.target)
        return f"credimi report {shlex.quote(data)} --target {target}{options} --html report.html"
    options = "".join(f", {key}={value!r}" for key, value in asked.items())
    return f'credimi.report({_data(report, reader, source)}, {report.target!r}{options}).to_html("report.html")'


def _typed(value: object) -> str:
    if isinstance(value, list | tuple):
        return " ".join(shlex.quote(str(each)) for each in value)
    return f"{value:g}" if isinstance(value, float) else shlex.quote(str(value))


def _data(report: Report, reader: str, source: str | None = None) -> str:
    """The data as the reader has them: a file's name, or `data`."""
    shown = report.source if source is None else source
    if reader == COMMAND_LINE:
        return shown or "DATA"
    return repr(shown) if shown and Path(shown).suffix else "data"
