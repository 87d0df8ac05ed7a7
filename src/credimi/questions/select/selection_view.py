"""A selection as a table for the terminal, from the plain data of `Selection.to_dict`; words that its page uses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from credimi.results.remark_sentences import SELECTION, lines
from credimi.results.sentences import COMMAND_LINE, NO_NAME, PYTHON, counted, name, unranked_lines
from credimi.results.terminal import and_more, printed, probability, text_line, text_table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.table import Table as Grid
    from rich.text import Text

    from credimi.core.types import Record

_NAME_HEADINGS = ("column", "not taken")
_UNBROKEN_CHARACTERS = 17  # shorter names are not broken
_RIGHT_ALIGNED = {"#", "adds", "tells", "tells alone", "share", "P(adds)", "P(matters)"}
_FIRST_LEVEL = 0.95  # what the first column needs at least
_MAX_REJECTED = 30  # lines
_MAX_MOST_PROBABLE = 3  # columns that are named if none is taken
_MIN_SHARE = 0.1  # of the target's entropy: if the set tells less, columns may tell more in combination
FORCED = "* not credible: taken because of min_features, for pipelines; it is no claim"
INTERRUPTED = "interrupted: these are the steps so far, and further columns may add something"
MATTERS = (
    "P(matters) is the probability that a column tells anything, however little, alone or with a partner; `with` names "
    "a partner without which that is not credible"
)
_LEGEND = (
    "`adds` is what a column tells beyond the most similar column above, in rows that have it. `tells` is what all "
    "columns so far tell, on average over all rows, estimated from below; a missing value tells nothing."
)
_MAX_GIVEN, _MAX_OTHERS = 20, 40  # of the matrix of redundancy


def selection_text(selection: Record, *, width: int = 120) -> str:
    """The selection as plain text."""
    return printed(selection_grids(selection), width)


def selection_grids(selection: Record, reader: str = PYTHON) -> Iterator[Grid | Text]:
    """The steps, the columns that were not taken, and a legend, for rich to print."""
    settings, steps, rejected = selection["settings"], selection["steps"], selection["rejected"]
    smallest = settings["goal"] == "smallest"
    headings = ["#", "column", "adds" if smallest else "tells alone", "95 % interval"]
    headings += [f"P(> {settings['epsilon']:g})", "tells", "share"] if smallest else ["P(matters)", "with"]
    cells = [_step_cells(number, step, smallest=smallest) for number, step in enumerate(steps, 1)]
    yield text_line(title(selection))
    yield _grid(headings, cells)
    for step in steps:
        if step["substitutes"]:
            others = ", ".join(f"{other or NO_NAME} ({p_more:.2f})" for other, p_more in step["substitutes"])
            yield text_line(f"in place of {name(step)}: {others}")
    if rejected:
        headings = ["not taken", "tells alone", "P(adds)" if smallest else "P(matters)", "why"]
        yield _grid(headings, [_rejection_cells(rejection) for rejection in rejected[:_MAX_REJECTED]])
        yield from and_more(len(rejected), _MAX_REJECTED)
    if not selection["complete"]:
        yield text_line(INTERRUPTED)
    yield from map(text_line, unranked_lines(selection["left_out"], reader))
    if any(step["forced"] for step in steps):
        yield text_line(FORCED)
    yield from map(text_line, none_taken(selection, reader))
    yield from map(text_line, combinations(selection, reader))
    yield from map(text_line, lines(selection["remarks"], reader, SELECTION))
    if smallest and steps:
        yield text_line(_LEGEND)
    level = f"{settings['level']:g}"
    if smallest:
        share = f"the share is that of the target's entropy, {selection['entropy']:.4f}"
        further = f"A further column needs a probability of {level} to add more than {settings['epsilon']:g}."
        yield text_line(f"Information is in nats, and {share}. {further}")
    else:
        yield text_line(f"Information is in nats. A column needs a P(matters) of {level}. {MATTERS}.")


def title(selection: Record) -> str:
    """The goal, and how many columns were taken, in one line."""
    settings, taken = selection["settings"], len(selection["steps"])
    what = "The smallest set that tells about" if settings["goal"] == "smallest" else "Columns that matter for"
    total, rows = taken + len(selection["rejected"]), counted(selection["rows"], "row")
    return f"{what} {settings['target'] or NO_NAME}: {taken:,} of {total:,} columns, {rows}"


def marked(number: int, step: Record) -> str:
    """The number of a step, with a mark if it is not credible."""
    return f"{number}*" if step["forced"] else str(number)


def none_taken(selection: Record, reader: str = PYTHON) -> list[str]:
    """If no column is taken: which probability it needs, the most probable columns, and what else to try."""
    if selection["steps"]:
        return []
    settings, rejected = selection["settings"], selection["rejected"]
    smallest = settings["goal"] == "smallest"
    level = max(settings["level"], _FIRST_LEVEL) if smallest else settings["level"]
    sentences = [
        f"no column is credible enough: {'the first needs' if smallest else 'it takes'} a probability of {level:g}"
    ]
    candidates = [column for column in rejected if column["reason"] != "tells nothing"]
    candidates.sort(key=lambda column: -column["p_adds"])
    if candidates:
        event = f"telling more than {settings['epsilon']:g}" if smallest else "mattering"
        most_probable = candidates[:_MAX_MOST_PROBABLE]
        named = ", ".join(f"{name(column)} ({column['p_adds']:.2f})" for column in most_probable)
        sentences.append(f"the most probable columns, with their probability of {event}: {named}")
    in_shell = reader == COMMAND_LINE
    if rejected:
        option = "--min-features 1" if in_shell else "min_features=1"
        sentences.append(f"{option} takes the most probable one all the same, for pipelines")
    if len(rejected) > 1 and not smallest:  # of the smallest set, a remark says what combinations tell
        interactions = "`credimi interactions`" if in_shell else "credimi.interactions"
        sentences.append(f"{interactions} lists pairs that tell more together")
    return sentences


def combinations(selection: Record, reader: str = PYTHON) -> list[str]:
    """If the smallest set tells little, and other columns remain: where to look for combinations of columns."""
    steps = selection["steps"]
    if selection["settings"]["goal"] != "smallest" or not steps or steps[-1]["share"] >= _MIN_SHARE:
        return []
    if all(step["forced"] for step in steps) and selection["complete"]:  # a remark says it
        return []
    if all(rejection["reason"] in {"redundant", "not reached"} for rejection in selection["rejected"]):
        return []
    in_shell = reader == COMMAND_LINE
    tools = "--goal relevant and `credimi interactions`" if in_shell else 'rule="relevant" and credimi.interactions'
    return [f"columns that tell something only in combination may have been missed: {tools} look at all pairs"]


def _step_cells(number: int, step: Record, *, smallest: bool) -> list[str]:
    spread = step["high"] - step["low"]
    interval = f"{step['low']:.4f} to {step['high']:.4f}"
    cells = [
        marked(number, step),
        name(step),
        f"{step['adds']:.4f}",
        interval,
        probability(step["p_adds"], spread),
    ]
    if smallest:
        return [*cells, f"{step['tells']:.4f}", f"{100 * step['share']:.1f} %"]
    return [*cells, "" if step["partner"] is None else step["partner"] or NO_NAME]


def _rejection_cells(rejection: Record) -> list[str]:
    return [name(rejection), f"{rejection['tells']:.4f}", f"{rejection['p_adds']:.4f}", reason(rejection)]


def reason(rejection: Record) -> str:
    """Why a column was not taken, in words."""
    like = None if rejection["like"] is None else rejection["like"] or NO_NAME
    if rejection["reason"] == "redundant":
        return f"says what {like or 'the taken columns'} {'says' if like else 'say together'}"
    if rejection["reason"] == "adds nothing":
        return f"adds nothing to {like or 'the taken columns'}"
    if rejection["reason"] == "unsure" and rejection["rows_to_decide"]:
        return f"unsure: about {rejection['rows_to_decide']:,} rows would decide"
    if rejection["reason"] == "not reached":
        return "would be a further step: the search was ended before"
    return str(rejection["reason"])


def redundancy(selection: Record) -> tuple[list[str], list[str], list[list[float | None]]]:
    """The matrix of P(adds no more than epsilon to a taken column): names of its rows and of its columns, the figures.

    The rows are the taken columns, and those that were not taken though they tell something; the first of each if there
    are many. All lists are empty if nothing was compared.
    """
    steps, others = selection["steps"][:_MAX_GIVEN], _compared(selection)[:_MAX_OTHERS]
    given = [name(step) for step in steps]
    figures = [
        [*column["p_redundant"][: len(given)], *[None] * (len(given) - len(column["p_redundant"]))]
        for column in (*steps[1:], *others)
    ]
    if all(probability is None for row in figures for probability in row):  # goal "relevant" compares no columns
        return [], [], []
    return [name(column) for column in (*steps[1:], *others)], given, figures


def shown_of_all(selection: Record) -> str:
    """Which part of the columns the matrix of redundancy shows; empty if it shows all."""
    parts = ((len(selection["steps"]), _MAX_GIVEN, "taken"), (len(_compared(selection)), _MAX_OTHERS, "other"))
    cut = [f"the first {limit} of {count:,} {which} columns" for count, limit, which in parts if count > limit]
    return f"shown: {' and '.join(cut)}" if cut else ""


def _compared(selection: Record) -> list[Record]:
    """The columns that were compared with taken ones, and not taken."""
    return [column for column in selection["rejected"] if column["p_redundant"]]


def _grid(headings: list[str], rows: list[list[str]]) -> Grid:
    longest = {heading: max((len(row[index]) for row in rows), default=0) for index, heading in enumerate(headings)}
    widths = {name: min(longest[name], _UNBROKEN_CHARACTERS) for name in _NAME_HEADINGS if name in longest}
    widths |= {name: longest[name] for name in ("95 % interval",) if name in longest}
    return text_table("", headings, rows, right=_RIGHT_ALIGNED, widths=widths, pad_edge=False)
