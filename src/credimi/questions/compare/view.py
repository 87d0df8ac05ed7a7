"""What a comparison shows: feature, I in both samples, the change, what decides, verdict."""

from __future__ import annotations

import math
from itertools import islice
from typing import TYPE_CHECKING

from credimi.core.atomic_files import plain
from credimi.results import section as kinds
from credimi.results.figures import draw_intervals, new_axes, short_name
from credimi.results.page import picture, text
from credimi.results.palette import BLUE, GREY, TERMINAL
from credimi.results.section import BITS, Column, Section, Shown, probability, signed
from credimi.results.sentences import NO_NAME, counted, first_few, numeric_named, rows_needed, verdict_counts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from matplotlib.axes import Axes

    from credimi.core.types import Record
    from credimi.questions.compare.result import Comparison

_VERDICTS = ("more", "less", "same", "unsure", "not compared")
_QUIET = TERMINAL | {"unsure": TERMINAL["drop"], "same": ""}  # a change is what is looked for
_SHORT_NAME, _LONGEST_NAME = 8, 18  # of a sample, as the heading of a column
_WIDTH_OF_OTHERS = 65  # of the columns without the names of features, and those of the samples
_MOST_OF_A_NAME = 14
_LETTERS = ("A", "B")  # the headings of samples whose names look the same
_CLAIM = (
    "claim: the most probable of more, less (where no change has probability {p_same:g} beforehand) and same (without "
    "that prior), if it is more probable than not. Change and its interval use these rows only, so that the interval "
    "can exclude 0 although P of more and less is small"
)
_MAX_COLUMNS_NAMED = 10  # columns that only one of the two has


def sections(comparison: Comparison, shown: Shown) -> Iterator[Section]:
    """The table, and the lines below it."""
    most = shown.rows_of(len(comparison))
    longest = max(map(len, comparison.columns["feature"][:most]), default=0)
    left = shown.width - _WIDTH_OF_OTHERS - min(longest, _MOST_OF_A_NAME)
    headings = _headings(comparison.names, min(max(left // 2 - 2, _SHORT_NAME), _LONGEST_NAME))
    number, cautions, others = comparison.cautions_first(shown)
    yield Section(
        _title(comparison, headings) + (", in bits" if shown.units == BITS else "") + number,
        _columns(comparison, headings, shown),
        list(comparison),
        list(_lines(comparison, others, shown, most)),
        _QUIET,
        most,
        more=False,
        heading=_title(comparison, comparison.names),
        html=lambda: _key_html(comparison),
        above=[*_found(comparison, shown), *cautions],
        css="changes",
    )


def _found(comparison: Comparison, shown: Shown) -> Iterator[str]:
    """What changed, and by how much what did not surely change could have, in a sentence."""
    rows = [row for row in comparison if row["verdict"] != "not compared"]
    changed = [row["verdict"] for row in rows if row["verdict"] in {"more", "less"}]
    others = [row for row in rows if row["verdict"] in {"same", "unsure"}]
    if not rows:
        return
    numbers = ", ".join(f"{changed.count(each):,} {each} informative" for each in ("more", "less") if each in changed)
    what = f"{counted(len(changed), 'column')} surely changed ({numbers})" if changed else "no column surely changed"
    if others:
        most, name = max((max(abs(row["low"]), abs(row["high"])), row["feature"]) for row in others)
        by = f"by the {kinds.level_interval(comparison.settings)}s"
        what += f"; {by}, none{' of the others' * bool(changed)} changed by more than {most * shown.scale:.2g} "
        what += f"{shown.units} ({name or NO_NAME})"
    yield what


def _columns(comparison: Comparison, headings: tuple[str, str], shown: Shown) -> list[Column]:
    """Names, changes and verdicts stay where there is little room; the samples go together."""
    settings, scale = comparison.settings, shown.scale
    largest = max((row[end] for row in comparison for end in ("high_a", "high_b") if row[end] == row[end]), default=0.0)

    def both(row: Record) -> list[tuple[str, float, float, float]]:
        known = "" if math.isnan(row["mi_a"]) else "ab"
        return [(side, row[f"low_{side}"], row[f"mi_{side}"], row[f"high_{side}"]) for side in known]

    def name_html(row: Record) -> str:
        return f'<span title="{text(row["note"])}">{text(row["feature"]) or NO_NAME}</span>'

    return [
        kinds.name(html=name_html),
        kinds.verdict(media=("page",)),
        picture(both, largest),
        kinds.nats("mi_a", headings[0], scale, importance=1),
        kinds.nats("mi_b", headings[1], scale, importance=1),
        kinds.nats("change", "change", scale, show=signed),
        kinds.interval(kinds.level_interval(settings), scale=scale, importance=3, show=signed),
        Column("claim, probability", _claim, importance=2, kind="whole"),
        kinds.verdict(media=("text", "notebook")),
    ]


def _key_html(comparison: Comparison) -> str:
    first, second = map(text, comparison.names)
    names = f'<span class="a">○ <bdi>{first}</bdi></span> <span class="b">● <bdi>{second}</bdi></span>'
    return f"""<p class="key">{names}: mean and {kinds.level_interval(comparison.settings)}
of mutual information, in nats, on a square-root scale</p>"""


def _title(comparison: Comparison, headings: tuple[str, str]) -> str:
    """What is compared; if the headings of the table are letters, which sample is which."""
    (first, second), (one, other) = comparison.names, comparison.rows
    if headings == _LETTERS and comparison.names != _LETTERS:
        first, second = f"A, {first}", f"B, {second}"
    shown = f"{second} ({counted(other, 'row')}), against {first} ({counted(one, 'row')})"
    target = numeric_named(comparison.target or NO_NAME, comparison.settings, len(comparison.classes))
    return f"What informs about {target} in {shown}"


def _claim(row: Record) -> str:
    return (
        ""
        if math.isnan(row["p_claim"]) or row["claim"] == "unsure"
        else f"{row['claim']} {probability(row['p_claim'], 1.0):>8}"
    )


def _lines(comparison: Comparison, remarks: Sequence[str], shown: Shown, most: int) -> Iterator[str]:
    """The lines below the table."""
    settings, verdicts = comparison.settings, comparison.columns["verdict"]
    yield verdict_counts(verdicts, _VERDICTS, most, shown.to_see_all)
    epsilon, level = kinds.threshold(settings), f"{settings['level']:g}"
    nats = "" if "epsilon_share" in settings else " nats"
    share = f"; {share}" if (share := kinds.meaning_of_share(settings)) else ""
    yield (
        f"more, less: P(change that way > {epsilon}{nats}) >= {level}; same: P(|change| <= {epsilon}{nats}) >= {level}"
        f"{share}"
    )
    if shown.verbose:
        yield _CLAIM.format(p_same=settings["p_same"])
    needed = [_needed(row) for row in comparison if not math.isnan(row.get("growth_to_decide", math.nan))]
    if needed:
        yield f"rows needed for a clear verdict (rough estimate), times those of both: {first_few(needed)}"
    if settings.get("counts") is False:
        yield "from rankings without their counts: less exact; give counts files or data to be sure"
    yield from remarks
    for name, only in zip(comparison.names, comparison.only, strict=True):
        if only:
            listed = ", ".join(only[:_MAX_COLUMNS_NAMED]) + (", ..." if len(only) > _MAX_COLUMNS_NAMED else "")
            yield f"only in {name}, not compared: {listed}"
    notes = comparison.notes(shown.reader)
    for row, note in islice(zip(comparison, notes, strict=True), most):
        if row["verdict"] == "not compared":
            yield f"{row['feature'] or NO_NAME}: {note}"


def _needed(row: Record) -> str:
    """How many times as many rows would decide about a column."""
    median, low, high = (math.ceil(row[f"growth_to_decide{end}"]) for end in ("", "_low", "_high"))
    return f"{row['feature'] or NO_NAME} {rows_needed(median, low, high)}"


def _headings(names: tuple[str, str], room: int) -> tuple[str, str]:
    """The ends of the samples' names, where file names differ, in so much room; letters if the ends are the same."""
    first, second = (_ending(plain(name), room) for name in names)
    return (first, second) if first != second else _LETTERS


def _ending(name: str, room: int) -> str:
    from rich.cells import cell_len  # noqa: PLC0415  (rich is loaded only to print)

    if cell_len(name[: 4 * room]) <= room and len(name) <= 4 * room:
        return name
    name = name[-4 * room :]  # a group may be called by a very long text; some letters take no room
    while cell_len(name) > room - 1:
        name = name[1:]
    return "…" + name


def plot(comparison: Comparison, ax: Axes | None, *, top: int) -> Axes:
    """Both intervals of the first features: a hollow dot for the first sample, a full one below it for the second."""
    rows = [row for row in comparison if not math.isnan(row["mi_a"])][:top]
    axes = new_axes(ax, (6.4, 1.1 + 0.36 * max(len(rows), 3)))
    for side, colour, fill, shift in (("a", GREY, "white", -0.14), ("b", BLUE, BLUE, 0.14)):
        marks = [{"color": colour, "marker": "o", "markersize": 5, "markerfacecolor": fill}] * len(rows)
        of_side = [
            {"feature": row["feature"]} | {end: row[f"{end}_{side}"] for end in ("low", "mi", "high")} for row in rows
        ]
        draw_intervals(axes, of_side, marks, "mi", shift=shift)
    names = " ○ {}   ● {}".format(*map(short_name, comparison.names))
    axes.set_xlabel(f"mutual information with {short_name(comparison.target)}, nats\n{names}")
    axes.set_xlim(left=0.0)
    return axes
