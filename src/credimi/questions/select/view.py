"""What a selection shows: the steps, the other columns with reasons, which columns say the same."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import numpy as np

from credimi.core.errors import CredimiError
from credimi.inference.rules import CREDIBLE
from credimi.results import section as kinds
from credimi.results.figures import (
    draw_intervals,
    mark_epsilon,
    new_axes,
    short_name,
    short_names,
)
from credimi.results.page import headings, name, picture, row_heading, table
from credimi.results.palette import BLUE
from credimi.results.section import Column, Section, Shown
from credimi.results.sentences import COMMAND_LINE, NO_NAME, asked, counted, numeric_named, unranked_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from matplotlib.axes import Axes

    from credimi.core.types import Record
    from credimi.questions.select.result import Rejection, Selection, Step

_MAX_REJECTED = 30  # lines
_MAX_MOST_PROBABLE = 3  # columns that are named if none is taken
_MAX_GIVEN, _MAX_OTHERS = 20, 40  # of the matrix of redundancy
_DARK = 0.55  # above this, figures in the matrix are light
_FIGURE_WIDTH = 6.4  # inches
_FORCED = "* not credible: taken because of min_features, for pipelines; it is no claim"
_INTERRUPTED = "interrupted: these are the steps so far, and further columns may add something"
_TITLES = {
    "distinct": "Columns that tell something of their own about",
    "relevant": "Columns that matter for",
}
_DISTINCT = (
    "A column is taken if it more probably depends on {target} than not, unless it surely adds nothing to a column "
    "above it: P(adds), the probability that it adds more than {epsilon} to each of them, has to exceed {doubt}"
)
_MATTERS = (
    "P(matters) is the probability that a column tells anything, however little, alone or with a partner; `with` names "
    "a partner without which that is not credible"
)


def sections(selection: Selection, shown: Shown) -> Iterator[Section]:
    """The steps, the matrix of redundancy (on pages), the columns that were not taken, and remarks."""
    steps = selection.steps
    rows = [asdict(step) | {"number": f"{number}{'*' * step.forced}"} for number, step in enumerate(steps, 1)]
    number, cautions, others = selection.cautions_first(shown)
    lead, of_steps = title(selection) + number, _columns(selection, rows, shown)
    yield Section(lead, of_steps, rows, heading="Taken, in order", css="steps", above=cautions)
    if _redundancy(selection)[0]:
        yield Section(heading="Which columns say the same", html=lambda: _matrix_html(selection))
    if selection.rejected:
        columns = (
            kinds.name(heading="not taken"),
            kinds.nats("mi", "tells alone", shown.scale),
            kinds.nats("p_adds", _probability(selection, shown)),
            Column("why", _why, right=False, kind="words"),
        )
        rejected = [asdict(each) | {"verdict": each.reason} for each in selection.rejected]
        yield Section("", columns, rejected, most=_MAX_REJECTED, heading="Not taken")
    yield Section(lines=list(_lines(selection, others, shown)))


def title(selection: Selection) -> str:
    """The goal, and how many columns were taken, in one line."""
    taken = len(selection.steps)
    rule = selection.settings["goal"]
    what = _TITLES.get(rule, f"Columns that the rule {rule} keeps for")
    total, rows = taken + len(selection.rejected), counted(selection.rows, "row")
    target = numeric_named(selection.target or NO_NAME, selection.settings, len(selection.classes))
    return f"{what} {target}: {taken:,} of {total:,} columns, {rows}"


def _probability(selection: Selection, shown: Shown) -> str:
    """The heading of the probability by which the rule takes columns."""
    above = kinds.above(selection.settings, shown.units, ">")
    return {"distinct": "P(adds)", "relevant": "P(matters)"}.get(selection.settings["goal"], above)


def _columns(selection: Selection, rows: list[Record], shown: Shown) -> list[Column]:
    """The columns of the steps."""
    settings, scale = selection.settings, shown.scale
    largest = max((row["high"] for row in rows), default=0.0)

    columns = [
        Column("#", lambda row: row["number"]),
        kinds.name(heading="column"),
        kinds.nats("mi", "tells alone", scale),
        picture(lambda row: [("b", row["low"], row["mi"], row["high"])], largest, settings["epsilon"]),
        kinds.interval("95 % interval", scale=scale, importance=2),
        kinds.tail("p_adds", _probability(selection, shown)),
    ]
    if settings["goal"] != "relevant":
        return columns
    return [
        *columns,
        Column("with", lambda row: "" if row["partner"] is None else row["partner"] or NO_NAME, right=False),
    ]


def _lines(selection: Selection, remarks: Iterable[str], shown: Shown) -> Iterator[str]:
    """What is said below: how sure it is, what was left out, what else to try, what figures mean."""
    settings = selection.settings
    if not selection.complete:
        yield _INTERRUPTED
    yield from unranked_lines(selection.left_out, shown.reader)
    if any(step.forced for step in selection.steps):
        yield _FORCED
    yield from _none_taken(selection, shown)
    yield from remarks
    units, share = shown.units, kinds.meaning_of_share(settings)
    epsilon = share or kinds.threshold(settings, units)
    if settings["goal"] not in _TITLES:
        method = f", method {settings['method']}" if "method" in settings else ""
        if "factor" in settings:
            yield (
                f"Robust factor {settings['factor']:g}: what is taken stands if the odds of being missing differ by as "
                "much; what would not is not robust."
            )
        yield (
            f"Information is in {units}. Each column is judged alone by the rule {settings['goal']}, with epsilon "
            f"{epsilon}{',' * bool(share)} and level {settings['level']:g} (prior {settings['prior']}{method})."
        )
    elif settings["goal"] == "distinct":
        doubt = f"{1.0 - settings['level']:.2g}"
        nats = f"{settings['epsilon']:.3g} nats"
        threshold = f"{kinds.threshold(settings)} of the target's entropy ({nats})" if share else nats
        about = _DISTINCT.format(target=selection.target or NO_NAME, epsilon=threshold, doubt=doubt)
        yield f"Information is in {units}. {about}."
    else:
        yield f"Information is in {units}. A column needs a P(matters) of {settings['level']:g}. {_MATTERS}."


def _none_taken(selection: Selection, shown: Shown) -> Iterator[str]:
    """If no column is taken: which probability it needs, the most probable columns, and what else to try."""
    if selection.steps:
        return
    settings, is_distinct = selection.settings, selection.settings["goal"] == "distinct"
    level = max(settings["level"], CREDIBLE) if is_distinct else settings["level"]
    yield f"no column is credible enough: {'the first needs' if is_distinct else 'it takes'} a probability of {level:g}"
    candidates = [each for each in selection.rejected if each.reason != "tells nothing"]
    if candidates:
        event = "telling anything" if is_distinct else "mattering"
        most_probable = sorted(candidates, key=lambda each: -each.p_adds)[:_MAX_MOST_PROBABLE]
        shown_names = ", ".join(f"{each.feature or NO_NAME} ({each.p_adds:.2f})" for each in most_probable)
        yield f"the most probable columns, with their probability of {event}: {shown_names}"
    if selection.rejected:
        yield f"{asked('min_features', 1, shown.reader)} takes the most probable one all the same, for pipelines"
    if len(selection.rejected) > 1 and not is_distinct:  # of this a remark says it
        interactions = "`credimi interactions`" if shown.reader == COMMAND_LINE else "credimi.interactions"
        yield f"{interactions} lists pairs that tell more together"


def _why(rejection: Record) -> str:
    """Why a column was not taken, in words."""
    like = None if rejection["like"] is None else rejection["like"] or NO_NAME
    if rejection["reason"] == "redundant":
        return f"says what {like} says"
    if rejection["reason"] == "not reached":
        return "would be a further step: the search was ended before"
    if rejection["reason"] == "not robust":
        return "not robust: would be taken without the robust factor"
    return str(rejection["reason"])


def _redundancy(selection: Selection) -> tuple[list[str], list[str], list[list[float | None]], str]:
    """The matrix of P(adds no more than epsilon to a taken column): names of its rows and of its columns, the figures.

    The rows are the taken columns, and those that were not taken though they tell something; the first of each if there
    are many, which the last text says. All lists are empty if nothing was compared.
    """
    compared = [column for column in selection.rejected if column.p_redundant]
    steps, others = selection.steps[:_MAX_GIVEN], compared[:_MAX_OTHERS]
    columns: tuple[Step | Rejection, ...] = (*steps[1:], *others)
    figures = [
        [*column.p_redundant[: len(steps)], *[None] * (len(steps) - len(column.p_redundant))] for column in columns
    ]
    if all(each is None for row in figures for each in row):  # goal "relevant" compares no columns
        return [], [], [], ""
    parts = ((len(selection.steps), _MAX_GIVEN, "taken"), (len(compared), _MAX_OTHERS, "other"))
    cut = [f"the first {limit} of {count:,} {which} columns" for count, limit, which in parts if count > limit]
    return _names(columns), _names(steps), figures, f"shown: {' and '.join(cut)}" if cut else ""


def _names(columns: Iterable[Step | Rejection]) -> list[str]:
    return [column.feature or NO_NAME for column in columns]


def _matrix_html(selection: Selection) -> str:
    names, given, figures, part = _redundancy(selection)
    head = "<td></td>" + headings(*(f"<div>{name(column)}</div>" for column in given))
    rows = [
        f"<tr>{row_heading(column)}{''.join(map(_shade, row))}</tr>" for column, row in zip(names, figures, strict=True)
    ]
    return f"""<p class="key">The probability that a column, on the left, adds no more than
{selection.settings["epsilon"]:.3g} nats to a taken one, above. Empty: not looked at, because the column was taken
before, or says what another says. {part}</p>
{table(head, rows, "matrix")}"""


def _shade(p_redundant: float | None) -> str:
    if p_redundant is None:
        return "<td></td>"
    css_class = "number dark" if p_redundant > _DARK else "number"
    return f'<td class="{css_class}" style="--shade: {100 * p_redundant:.0f}%">{p_redundant:.2f}</td>'


def plot(selection: Selection, ax: Axes | None, *, what: str | None) -> Axes:
    """Draw the steps, the matrix of redundancy, or both; return the axes, of the steps if both are drawn."""
    if what not in (None, "steps", "redundancy"):
        raise CredimiError(f'what is {what!r}: plot "steps" or "redundancy", or leave it out for both')
    names, given, *_ = _redundancy(selection)
    if what == "redundancy" and not names:
        raise CredimiError("there is no matrix of redundancy: it needs a taken column and another that tells something")
    heights = 1.3 + 0.3 * max(len(selection.steps), 3), 1.6 + 0.28 * len(names)
    width = max(_FIGURE_WIDTH, 3.2 + 0.45 * len(given))
    if what == "redundancy":
        axes = _draw_matrix(selection, new_axes(ax, (width, heights[1])))
    elif what == "steps" or ax is not None or not names:
        axes = _draw_steps(selection, new_axes(ax, (_FIGURE_WIDTH, heights[0])))
    else:
        first = new_axes(None, (width, sum(heights)))
        figure = first.get_figure()
        first.remove()
        above, below = figure.subplots(2, 1, height_ratios=heights)  # type: ignore[union-attr]
        axes = _draw_steps(selection, above)
        _draw_matrix(selection, below)
    return axes


def _draw_steps(selection: Selection, axes: Axes) -> Axes:
    """What each column tells, with its interval, the first on top."""
    steps = [asdict(step) for step in selection.steps]
    marks = [{"color": BLUE, "marker": "o", "markerfacecolor": "white" if step["forced"] else BLUE} for step in steps]
    draw_intervals(axes, steps, marks, "mi")
    mark_epsilon(axes, selection.settings["epsilon"])
    axes.set_xlim(left=0.0)
    forced = "; hollow: not credible" if any(step["forced"] for step in steps) else ""
    target = short_name(selection.target)
    axes.set_xlabel(f"what it tells alone\nabout {target}\nnats: mean and 95 % interval{forced}")
    return axes


def _draw_matrix(selection: Selection, axes: Axes) -> Axes:
    """Dark where a column, on the left, adds nothing to a taken one."""
    names, given, figures, part = _redundancy(selection)
    chances = np.array([[np.nan if each is None else each for each in row] for row in figures])
    axes.imshow(np.ma.masked_invalid(chances), cmap="Blues", vmin=0.0, vmax=1.0, aspect="auto")
    for row, column in np.argwhere(~np.isnan(chances)).tolist():
        colour = "white" if chances[row, column] > _DARK else "black"
        axes.text(column, row, f"{chances[row, column]:.2f}", ha="center", va="center", color=colour, fontsize=7)
    axes.set_xticks(range(len(given)), short_names(given), rotation=40, ha="right")
    axes.set_yticks(range(len(names)), short_names(names))
    axes.set_xticks(np.arange(len(given) + 1) - 0.5, minor=True)
    axes.set_yticks(np.arange(len(names) + 1) - 0.5, minor=True)
    axes.grid(visible=True, which="minor", color="#d8dde3", linewidth=0.6)
    axes.tick_params(which="minor", length=0)
    axes.set_title(
        "\n".join(filter(None, [f"P(adds at most {kinds.threshold(selection.settings)} to the column below)", part])),
        fontsize=10,
        loc="left",
    )
    axes.spines[:].set_visible(False)
    return axes
