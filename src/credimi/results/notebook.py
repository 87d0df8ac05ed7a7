"""Results in notebooks: small HTML tables, with every value escaped."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from credimi.core.atomic_files import plain
from credimi.results.section import IN_PYTHON

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from credimi.results.section import Section

_MAX_LINE_CHARACTERS = 400


def sections_html(sections: Iterable[Section]) -> str:
    """The sections one below the other."""
    return f"<div>{''.join(part for section in sections for part in _parts(section))}</div>"


def _parts(section: Section) -> Iterator[str]:
    if section.lead:
        yield f"<p>{_text(section.lead)}</p>"
    if section.above:
        yield _list(section.above)
    if section.picture is not None:
        yield section.picture()
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
        yield _list(section.lines)


def _list(lines: Iterable[str]) -> str:
    return f"<ul>{''.join(f'<li>{_text(line)}</li>' for line in lines)}</ul>"


def _text(text: str) -> str:
    shown = text if len(text) <= _MAX_LINE_CHARACTERS else text[: _MAX_LINE_CHARACTERS - 1] + "…"
    return f"<bdi>{escape(plain(shown))}</bdi>"
