"""A selection as a table for the terminal, from the plain data of `Selection.to_dict`; what the page says as well."""

from __future__ import annotations

from typing import TYPE_CHECKING

from credimi.report.sentences import COMMAND_LINE, NO_NAME, PYTHON, unranked_lines
from credimi.report.terminal import and_more, printed, probability, text_line, text_table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.table import Table as Grid
    from rich.text import Text

    from credimi.core.types import Record

_NAMES, _NAME = ("column", "not taken"), 17  # names are not broken up to so many characters
_NUMBERS = {"#", "adds", "tells", "tells alone", "share", "P(adds)", "P(matters)"}
_SURE = 0.95  # of the first column
_PAIR = 2
_LINES = 30  # of the columns that were not taken
INTERRUPTED = "interrupted: these are the steps so far, and further columns may add something"
MATTERS = (
    "P(matters): that a column tells anything, however little, alone or with a partner; with: a partner without which "
    "that is not credible"
)
TOLD = (
    "adds: beyond the most similar column above, in rows that have it; tells: all columns so far, in all rows, by a "
    "cautious estimate, which may fall a little"
)
_LITTLE = 0.1  # of the target's entropy: columns that tell no more may tell more in combination
_MOST_GIVEN, _MOST_ROWS = 20, 40  # of the matrix of redundancy


def selection_text(selection: Record, *, width: int = 120) -> str:
    """The selection as plain text."""
    return printed(selection_grids(selection), width)


def selection_grids(selection: Record, reader: str = PYTHON) -> Iterator[Grid | Text]:
    """The steps, the columns that were not taken, and a line on what was asked, for rich to print."""
    settings, steps, rejected = selection["settings"], selection["steps"], selection["rejected"]
    smallest = settings["goal"] == "smallest"
    headings = ["#", "column", "adds" if smallest else "tells alone", "95 % interval"]
    headings += [f"P(> {settings['epsilon']:g})", "tells", "share"] if smallest else ["P(matters)", "with"]
    cells = [_step_cells(number, step, smallest=smallest) for number, step in enumerate(steps, 1)]
    yield text_line(title(selection))
    yield _grid(headings, cells)
    for step in steps:
        if step["substitutes"]:
            others = ", ".join(f"{name} ({chance:.2f})" for name, chance in step["substitutes"])
            yield text_line(f"in place of {step['feature']}: {others}")
    if rejected:
        headings = ["not taken", "tells alone", "P(adds)" if smallest else "P(matters)", "why"]
        yield _grid(headings, [_rejection_cells(each) for each in rejected[:_LINES]])
        yield from and_more(len(rejected), _LINES)
    if not selection["complete"]:
        yield text_line(INTERRUPTED)
    yield from map(text_line, unranked_lines(selection["left_out"], reader))
    if not steps:
        yield text_line(f"no column is credible enough: {max(settings['level'], _SURE):g} is asked of the first")
    yield from map(text_line, combinations(selection, reader))
    if smallest and steps:
        yield text_line(TOLD)
    told = f"share: of the target's entropy, {selection['entropy']:.4f}" if smallest else MATTERS
    yield text_line(f"information in nats; {told}; level {settings['level']:g}")


def combinations(selection: Record, reader: str = PYTHON) -> list[str]:
    """Where else to look if the smallest set tells little, and other columns were left."""
    steps, smallest = selection["steps"], selection["settings"]["goal"] == "smallest"
    if not smallest or (steps and steps[-1]["share"] >= _LITTLE):
        return []
    others = [each for each in selection["rejected"] if each["reason"] not in {"redundant", "not reached"}]
    if not others or len(steps) + len(others) < _PAIR:
        return []
    named = 'goal="relevant" and credimi.interactions'
    named = "--goal relevant and credimi interactions" if reader == COMMAND_LINE else named
    return [f"columns that tell something only in combination may have been missed: {named} look at all pairs"]


def title(selection: Record) -> str:
    """What was found, in one line."""
    settings, taken = selection["settings"], len(selection["steps"])
    what = "The smallest set that tells about" if settings["goal"] == "smallest" else "Columns that matter for"
    total = taken + len(selection["rejected"])
    return f"{what} {settings['target'] or NO_NAME}: {taken:,} of {total:,} columns, {selection['rows']:,} rows"


def _step_cells(number: int, step: Record, *, smallest: bool) -> list[str]:
    spread = step["high"] - step["low"]
    interval = f"{step['low']:.4f} to {step['high']:.4f}"
    cells = [str(number), step["feature"], f"{step['adds']:.4f}", interval, probability(step["p_adds"], spread)]
    if smallest:
        return [*cells, f"{step['tells']:.4f}", f"{100 * step['share']:.1f} %"]
    return [*cells, step["partner"] or ""]


def _rejection_cells(each: Record) -> list[str]:
    return [each["feature"], f"{each['tells']:.4f}", f"{each['p_adds']:.4f}", reason(each)]


def reason(rejection: Record) -> str:
    """Why a column was not taken, in words."""
    if rejection["reason"] == "redundant":
        return f"says what {rejection['like'] or 'the taken columns'} {'says' if rejection['like'] else 'say together'}"
    if rejection["reason"] == "adds nothing":
        return f"adds nothing to {rejection['like'] or 'the taken columns'}"
    if rejection["reason"] == "unsure" and rejection["rows_to_decide"]:
        return f"unsure: about {rejection['rows_to_decide']:,} rows would decide"
    if rejection["reason"] == "not reached":
        return "would be a further step: the search was ended before"
    return str(rejection["reason"])


def redundancy(selection: Record) -> tuple[list[str], list[str], list[list[float | None]]]:
    """P(adds no more than epsilon) of columns, a row each, to the taken ones: names of rows and columns, the figures.

    The rows are those taken, and those that were not though they tell something; the first of each if there are many.
    None of them if nothing was compared.
    """
    steps = selection["steps"][:_MOST_GIVEN]
    others = [each for each in selection["rejected"] if each["p_redundant"]][:_MOST_ROWS]
    given = [step["feature"] for step in steps]
    figures = [
        [*each["p_redundant"][: len(given)], *[None] * (len(given) - len(each["p_redundant"]))]
        for each in (*steps[1:], *others)
    ]
    if all(chance is None for row in figures for chance in row):  # relevant columns are not compared with each other
        return [], [], []
    return [each["feature"] for each in (*steps[1:], *others)], given, figures


def _grid(headings: list[str], rows: list[list[str]]) -> Grid:
    longest = {heading: max((len(row[place]) for row in rows), default=0) for place, heading in enumerate(headings)}
    widths = {name: min(longest[name], _NAME) for name in _NAMES if name in longest}
    widths |= {name: longest[name] for name in ("95 % interval",) if name in longest}
    return text_table("", headings, rows, right=_NUMBERS, widths=widths, pad_edge=False)
