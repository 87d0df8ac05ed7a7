"""What a report shows: a summary in terminals and notebooks, and one page of chapters.

The chapters are made of the sections of the parts, of which names of columns become links to all that is said of them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from credimi.core.version import __version__
from credimi.questions.report import cards, overview
from credimi.results import graph_layout
from credimi.results import section as kinds
from credimi.results.page import document, name, section_parts, table, text
from credimi.results.palette import TERMINAL
from credimi.results.section import Column, Section, Shown
from credimi.results.sentences import COMMAND_LINE, NO_NAME, rows_in_words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from credimi.core.types import Foreign, Record
    from credimi.questions.report.result import Report

PARTS = ("ranking", "selection", "tree", "interactions", "pairs", "network")
_STYLES = ("tables.css", "heat.css", "selection.css", "tree.css", "report.css")
_LINES, _PAGE_ROWS = 15, 60
_CHAPTERS = {  # name, and what one sees there
    "overview": ("Overview", "What is in the table, and what to do next."),
    "columns": ("Columns", "The columns by how informative they are about {target}, and what their values mean."),
    "set": ("Set", "A small set of columns, and why the others were left out."),
    "together": (
        "Together",
        "Pairs of columns that are more, or less, informative about {target} together than apart.",
    ),
    "structure": ("Structure", "Which columns depend on each other, whatever the target is."),
    "tree": (
        "Tree",
        "Groups of rows with different shares of the classes of {target}, split only where it is credible.",
    ),
    "method": ("Method", "How this was found, and how to read it."),
}


def sections(report: Report, shown: Shown) -> Iterator[Section]:
    """The columns with what the parts say of them, what was cut, and cautions."""
    target = report.target or NO_NAME
    rows = rows_in_words(report.rows, report.ranking.rows_with_target)
    columns = (
        kinds.name(),
        Column("verdict", lambda row: row["verdict"], right=False),
        Column("association", lambda row: cards.two_digits(row["association"])),
        Column("direction", lambda row: row["direction"] or "", right=False, importance=1),
        Column("set", lambda row: "" if row["taken"] is None else f"{row['taken']}", importance=2),
        Column("splits", lambda row: str(row["splits"] or ""), importance=4),
        Column("informative with", lambda row: _first(row["interacts_with"]), right=False, importance=3),
    )
    records = report.rows_as_records()
    yield Section(f"Report on {target}: {rows}", columns, records, (), TERMINAL, shown.top or _LINES)
    yield Section(lines=[*overview.steps(report, shown.reader), *cut_lines(report)])


def _first(names: Sequence[str]) -> str:
    return ", ".join(names[:2]) + ", ..." * (len(names) > 2)


def cut_lines(report: Report) -> list[str]:
    """What parts lack, in words."""
    return [f"{each.part}: {each.why}" for each in report.cuts]


def page(report: Report, source: str | None, reader: str) -> str:
    """The page: chapters as tabs, where the browser can do so without a script; one below the other elsewhere."""
    shown = Shown(reader)
    place_of = {feature: place for place, feature in enumerate(report.ranking.figures["feature"][: cards.MOST])}
    link = _links(place_of)
    chapters: dict[str, Callable[[], Iterator[str]]] = {
        "overview": lambda: overview.chapter(report, reader, link),
        "columns": lambda: cards.chapter(report, reader, link),
        "set": lambda: _of_part(report, "selection", shown, link),
        "together": lambda: _of_part(report, "interactions", shown, link),
        "structure": lambda: _structure(report, shown, link),
        "tree": lambda: _of_part(report, "tree", shown, link),
        "method": lambda: _method(report, source, reader),
    }
    target, parts, tabs = report.target or NO_NAME, [], []
    for key, chapter in chapters.items():
        title, about = _CHAPTERS[key]
        tabs.append(f'<a href="#{key}">{title}</a>')
        parts.append(f'<section class="chapter" id="{key}" aria-label="{title}">')
        parts.append(f'<h2>{title}</h2>\n<p class="said">{about.format(target=name(target))}</p>')
        parts += [*_notes(report, key), *chapter(), "</section>"]
    shown_source = report.source if source is None else source
    data = f'<p class="key">{name(shown_source)}</p>' if shown_source else ""
    title = text(f"Report on {target}")
    nav = f'{data}<nav class="tabs" aria-label="Chapters">{"".join(tabs)}</nav>'
    return document(title, f"Report on {name(target)}", _STYLES, "\n".join(parts), lead=nav)


def _links(place_of: dict[str, int]) -> Callable[[object], str]:
    def link(column: object) -> str:
        place = place_of.get(str(column))
        return name(column) if place is None else f'<a href="#column-{place}">{name(column)}</a>'

    return link


_PARTS_OF = {
    "set": ("select",),
    "together": ("interactions",),
    "structure": ("pairs", "network"),
    "tree": ("tree",),
}


def _notes(report: Report, chapter: str) -> Iterator[str]:
    """What was cut of a chapter."""
    for each in report.cuts:
        if each.part in _PARTS_OF.get(chapter, ()):
            yield f'<p class="cut">{text(each.part)}: {text(each.why)}</p>'


def _of_part(report: Report, part: str, shown: Shown, link: Callable[[object], str]) -> Iterator[str]:
    """The sections of a part, with links."""
    result = getattr(report, part)
    if result is None:
        return
    title = result._title()  # noqa: SLF001  (the heading of its own page)
    yield f"<h3>{text(title)}</h3>"
    for section in result._page_sections(shown):  # noqa: SLF001  (what its own page shows)
        yield from section_parts(linked(section, link, title), level=3)


def linked(section: Section, link: Callable[[object], str], title: str = "") -> Section:
    """The section with names of columns as links, with the first rows, and without a heading that is above it."""
    columns = [
        replace(column, html=_link_of(column, link)) if column.kind == "name" and column.html is None else column
        for column in section.columns
    ]
    more = [f"... and {section.total - _PAGE_ROWS:,} more"] if columns and section.total > _PAGE_ROWS else []
    heading = None if section.heading == title else section.heading
    return replace(
        section, columns=columns, rows=section.rows[:_PAGE_ROWS], lines=[*more, *section.lines], heading=heading
    )


def _link_of(column: Column, link: Callable[[object], str]) -> Callable[[Record], str]:
    return lambda row: link(column.text(row))


def _structure(report: Report, shown: Shown, link: Callable[[object], str]) -> Iterator[str]:
    """The heat map of all pairs, the network, and their tables."""
    if report.pairs is not None and len(report.pairs.names) > 1:
        yield from graph_layout.heat_map(report.pairs.names, report.pairs.matrix("association"))
    if report.network is not None:
        yield from graph_layout.drawing(report.network.names, list(report.network))
    for part in ("network", "pairs"):
        result: Foreign = getattr(report, part)
        if result is not None:
            first = next(iter(result.sections(shown)))
            yield f"<h3>{'Edges' if part == 'network' else 'Pairs'}: {text(first.lead)}</h3>"
            for section in result.sections(shown):
                yield from section_parts(linked(section, link), level=3)


def _method(report: Report, source: str | None, reader: str) -> Iterator[str]:
    """The command that makes the report again, the settings, and what the words mean."""
    yield "<h3>Make it again</h3>"
    yield f"<pre>{text(overview.command(report, source, reader))}</pre>"
    yield "<h3>How to read it</h3>"
    words = "".join(f"<dt>{word}</dt><dd>{text(meaning)}</dd>" for word, meaning in overview.WORDS.items())
    yield f"<dl>{words}</dl>"
    yield "<h3>Settings</h3>"
    settings = {"credimi": __version__} | {
        key.replace("_", " "): value for key, value in report.settings.items() if key != "asked"
    }
    head = '<th scope="col">setting</th><th scope="col">value</th>'
    rows = [f'<tr><th scope="row">{text(key)}</th><td>{text(value)}</td></tr>' for key, value in settings.items()]
    yield table(head, rows, "settings")
    again = "credimi rank ... --html" if reader == COMMAND_LINE else 'ranking.to_html("rank.html")'
    yield f"<p>To move the thresholds by hand: <code>{text(again)}</code> writes a page on which verdicts follow.</p>"
