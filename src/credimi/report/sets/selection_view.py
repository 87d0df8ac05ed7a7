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
_LINES = 30  # of the columns that were not taken
FORCED = "* not credible: taken because of min_features, for pipelines; it is no claim"
INTERRUPTED = "interrupted: these are the steps so far, and further columns may add something"
MATTERS = (
    "P(matters) is the probability that a column tells anything, however little, alone or with a partner; `with` names "
    "a partner without which that is not credible"
)
TOLD = (
    "`adds` is what a column tells beyond the most similar column above, in rows that have it. `tells` is what all "
    "columns so far tell, in all rows, by a cautious estimate, which may fall a little."
)
_NEAREST = 3  # columns that are named where none is taken
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
    if any(step["forced"] for step in steps):
        yield text_line(FORCED)
    yield from map(text_line, none_taken(selection, reader))
    if smallest and steps:
        yield text_line(TOLD)
    asked = f"{settings['level']:g}"
    if smallest:
        share = f"the share is that of the target's entropy, {selection['entropy']:.4f}"
        further = f"A further column needs a probability of {asked} to add more than {settings['epsilon']:g}."
        yield text_line(f"Information is in nats, and {share}. {further}")
    else:
        yield text_line(f"Information is in nats. A column needs a P(matters) of {asked}. {MATTERS}.")


def title(selection: Record) -> str:
    """What was found, in one line."""
    settings, taken = selection["settings"], len(selection["steps"])
    what = "The smallest set that tells about" if settings["goal"] == "smallest" else "Columns that matter for"
    total = taken + len(selection["rejected"])
    return f"{what} {settings['target'] or NO_NAME}: {taken:,} of {total:,} columns, {selection['rows']:,} rows"


def marked(number: int, step: Record) -> str:
    """The number of a step, with a mark if it is not credible."""
    return f"{number}*" if step["forced"] else str(number)


def none_taken(selection: Record, reader: str = PYTHON) -> list[str]:
    """Where no column is taken: what was asked, which columns come nearest, and what else may be asked."""
    if selection["steps"]:
        return []
    settings, rejected = selection["settings"], selection["rejected"]
    smallest = settings["goal"] == "smallest"
    asked = max(settings["level"], _SURE) if smallest else settings["level"]
    found = [
        f"no column is credible enough: {'the first needs' if smallest else 'it takes'} a probability of {asked:g}"
    ]
    near = sorted((each for each in rejected if each["reason"] != "tells nothing"), key=lambda each: -each["p_adds"])
    what = f"telling more than {settings['epsilon']:g}" if smallest else "mattering"
    if near:
        named = ", ".join(f"{each['feature'] or NO_NAME} ({each['p_adds']:.2f})" for each in near[:_NEAREST])
        found.append(f"the most probable columns, with their probability of {what}: {named}")
    shell = reader == COMMAND_LINE
    if rejected:
        fewest = "--min-features 1" if shell else "min_features=1"
        found.append(f"{fewest} takes the most probable one all the same, for pipelines")
    if len(rejected) > 1:
        pairs = "`credimi interactions`" if shell else "credimi.interactions"
        goal = "--goal relevant" if shell else 'goal="relevant"'
        other = f"{goal} finds columns that matter with a partner, " if smallest else ""
        found.append(f"{other}{pairs} lists pairs that tell more together")
    return found


def _step_cells(number: int, step: Record, *, smallest: bool) -> list[str]:
    spread = step["high"] - step["low"]
    interval = f"{step['low']:.4f} to {step['high']:.4f}"
    cells = [
        marked(number, step),
        step["feature"],
        f"{step['adds']:.4f}",
        interval,
        probability(step["p_adds"], spread),
    ]
    if smallest:
        return [*cells, f"{step['tells']:.4f}", f"{100 * step['share']:.1f} %"]
    return [*cells, step["partner"] or ""]


def _rejection_cells(each: Record) -> list[str]:
    return [each["feature"], f"{each['tells']:.4f}", f"{each['p_adds']:.4f}", reason(each)]


def reason(rejection: Record) -> str:
    """Why a column was not taken, in words."""
    if rejection["reason"] == "redundant":
        return f"says what {rejection['like'] or 'the taken columns'} {'says' if rejection['like'] else 'say together'}"
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
    steps, others = selection["steps"][:_MOST_GIVEN], _told_apart(selection)[:_MOST_ROWS]
    given = [step["feature"] for step in steps]
    figures = [
        [*each["p_redundant"][: len(given)], *[None] * (len(given) - len(each["p_redundant"]))]
        for each in (*steps[1:], *others)
    ]
    if all(chance is None for row in figures for chance in row):  # relevant columns are not compared with each other
        return [], [], []
    return [each["feature"] for each in (*steps[1:], *others)], given, figures


def shown_of_all(selection: Record) -> str:
    """How much of all the matrix of redundancy shows; empty if it shows all."""
    parts = ((len(selection["steps"]), _MOST_GIVEN, "taken"), (len(_told_apart(selection)), _MOST_ROWS, "other"))
    cut = [f"the first {most} of {count:,} {which} columns" for count, most, which in parts if count > most]
    return f"shown: {' and '.join(cut)}" if cut else ""


def _told_apart(selection: Record) -> list[Record]:
    """The columns that were compared with taken ones, and not taken."""
    return [each for each in selection["rejected"] if each["p_redundant"]]


def _grid(headings: list[str], rows: list[list[str]]) -> Grid:
    longest = {heading: max((len(row[place]) for row in rows), default=0) for place, heading in enumerate(headings)}
    widths = {name: min(longest[name], _NAME) for name in _NAMES if name in longest}
    widths |= {name: longest[name] for name in ("95 % interval",) if name in longest}
    return text_table("", headings, rows, right=_NUMBERS, widths=widths, pad_edge=False)
