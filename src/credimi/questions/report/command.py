"""Write one page about a table and its target, and print a summary.

The page has the ranking of the columns and what their values mean, a small set
of columns, pairs that are informative together, the structure of the table, a
tree, and how all this was found. It is one file and needs no network.

Work that takes long is cut at --seconds; the page says what was cut.

examples:
  credimi report survey.csv --target income
  credimi report survey.csv --target income --html income.html --seconds 300
  credimi report survey.csv --target income --format json --output income.json
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from credimi.core.command import Command

if TYPE_CHECKING:
    from credimi.core.command import Asked
    from credimi.core.types import Foreign

_PAGE = "report.html"


def _answer(asked: Asked) -> Foreign:
    """The report; the page is written where nothing else is asked for."""
    if asked.options.html is None and asked.options.format == "table":
        asked.options.html = _PAGE
    return replace(asked.ask("report", asked.files), source=asked.source)


def _finish(asked: Asked, result: Foreign) -> None:
    asked.show(result, asked.options.output)
    if asked.options.html is not None:
        asked.say(f"{asked.options.html}: open it in a browser")


COMMAND = Command(
    name="report",
    text=__doc__,
    summary="one page about a table and its target: all questions at once",
    functions=("report",),
    doing="reporting",
    html=f"the page to write (default: {_PAGE}, unless --format asks for data)",
    units=True,
    above_csv=("rows",),
    answer=_answer,
    finish=_finish,
)
