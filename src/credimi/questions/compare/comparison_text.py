"""A comparison as a table for the terminal: feature, I in both samples, the change, what decides, verdict."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from rich.cells import cell_len

from credimi.core.atomic_files import plain
from credimi.results import sentences
from credimi.results.names import shorten_distinctly
from credimi.results.terminal import MIN_NAME_WIDTH, printed, probability, ranking_grid, text_line, verdict_counts
from credimi.results.text import GAP
from credimi.results.text import Cells as Column
from credimi.results.text import Lines as ColouredLines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from rich.text import Text

    from credimi.core.types import Record
    from credimi.results.shown import ShownComparison, ShownGroups

_COLOUR = {"more": "green", "less": "red", "unsure": "yellow", "same": "dim", "not compared": "dim"}
_MAX_LINES = 60  # of a comparison that is printed in Python
_SHORT_NAME, _LONGEST_NAME = 8, 18  # of a sample, as the heading of a column
_LETTERS = ("A", "B")  # the headings of samples whose names look the same
_MAX_COLUMNS_NAMED = 10  # columns that only one of the two has


def comparison_text(comparison: ShownComparison, *, width: int = 120) -> str:
    """The comparison as plain text."""
    return printed(comparison_grid(comparison, width=width, top=_MAX_LINES), width)


def grouped_text(grouped: ShownGroups, *, width: int = 120) -> str:
    """All rankings and comparisons of groups as plain text."""
    return printed(grouped_grid(grouped, width=width, top=_MAX_LINES), width)


def grouped_grid(
    grouped: ShownGroups,
    *,
    units: str = "nats",
    top: int | None = None,
    width: int = 120,
) -> Iterator[ColouredLines | Text]:
    """The ranking of each group, then the comparisons."""
    for name, ranking in grouped.rankings.items():
        yield text_line(f"== {grouped.by} {name} ==")
        yield from ranking_grid(ranking, units=units, top=top, width=width)
        yield text_line("")
    if grouped.ungrouped:
        yield text_line(_ungrouped(grouped))
    for comparison in grouped.comparisons:
        yield from comparison_grid(comparison, units=units, top=top, width=width)
        yield text_line("")


def _ungrouped(grouped: ShownGroups) -> str:
    have, are = ("has", "is") if grouped.ungrouped == 1 else ("have", "are")
    return f"{sentences.counted(grouped.ungrouped, 'row')} {have} no {grouped.by} and {are} in no group"


def comparison_grid(
    comparison: ShownComparison,
    *,
    units: str = "nats",
    top: int | None = None,
    width: int = 120,
) -> Iterator[ColouredLines | Text]:
    """The table and the lines below it, for rich to print."""
    columns, headings = _columns_that_fit(comparison, list(comparison)[:top], units, width)
    yield text_line(title(comparison, headings) + (", in bits" if units == "bits" else ""))
    yield ColouredLines(columns, [_COLOUR[verdict] for verdict in columns[-1].cells])
    yield from map(text_line, lines(comparison, top))


def _columns_that_fit(
    comparison: ShownComparison, rows: Sequence[Record], units: str, width: int
) -> tuple[list[Column], tuple[str, str]]:
    """The columns that fit into the width: names, changes and verdicts first; and the headings of the samples."""
    settings, scale = comparison.settings, 1.0 / math.log(2.0) if units == "bits" else 1.0

    def column(head: str, text: Callable[[Record], str], *, right: bool = True) -> Column:
        return Column(head, [text(row) if row["verdict"] != "not compared" else "" for row in rows], right)

    names = [plain(row["feature"]) or sentences.NO_NAME for row in rows]
    longest = max(map(cell_len, [*names, "feature"]))
    first = column("", lambda row: f"{row['mi_a'] * scale:.4f}")
    second = column("", lambda row: f"{row['mi_b'] * scale:.4f}")
    change = column("change", lambda row: signed(row["change"] * scale))
    interval = column(
        f"{100 * settings['level']:g} % interval",
        lambda row: f"{signed(row['low'] * scale)} to {signed(row['high'] * scale)}",
        right=False,
    )
    tail = column("claim, probability", claim)
    verdict = Column("verdict", [row["verdict"] for row in rows])
    room = width - min(longest, MIN_NAME_WIDTH) - change.width - verdict.width - 2 * GAP
    chosen, samples_width = [change], 2 * (max(_SHORT_NAME, first.width, second.width) + GAP)
    headings = comparison.names
    if samples_width <= room:
        room -= samples_width
        for optional, index in ((tail, len(chosen)), (interval, 1)):
            if optional.width + GAP > room:
                break
            chosen.insert(index, optional)
            room -= optional.width + GAP
        spare = max(room - max(longest - MIN_NAME_WIDTH, 0), 0)  # what is left after whole names
        headings = _headings(comparison.names, min(_SHORT_NAME + spare // 2, _LONGEST_NAME))
        first, second = first._replace(head=headings[0]), second._replace(head=headings[1])
        room -= first.width + second.width + 2 * GAP - samples_width
        chosen = [first, second, *chosen]
    shown = shorten_distinctly(names, min(longest, MIN_NAME_WIDTH) + max(room, 0))
    return [Column("feature", shown), *chosen, verdict], headings


def title(comparison: ShownComparison, headings: tuple[str, str] | None = None) -> str:
    """What is compared; if the headings of the table are letters, which sample is which."""
    (first, second), (one, other) = comparison.names, comparison.rows
    if headings == _LETTERS != comparison.names:
        first, second = f"A, {first}", f"B, {second}"
    target = comparison.target or sentences.NO_NAME
    return f"What informs about {target} in {second} ({other:,} rows), against {first} ({one:,} rows)"


def claim(row: Record) -> str:
    """The claim of a row and its probability, the number that decides."""
    return f"{row['claim']} {probability(row['p_claim'], 1.0):>8}"


def signed(value: float) -> str:
    """Four digits with a sign, unless all are 0."""
    shown = f"{value:+.4f}"
    return shown if float(shown) else "0.0000"


def lines(comparison: ShownComparison, top: int | None = None) -> Iterator[str]:
    """The lines below the table."""
    settings, verdicts = comparison.settings, comparison.columns["verdict"]
    yield verdict_counts(verdicts, _COLOUR, len(verdicts[:top]))
    epsilon, level = f"{settings['epsilon']:g}", f"{settings['level']:g}"
    yield (
        f"claim: the most probable of more, less: P(change that way > {epsilon} nats), where no change has probability "
        f"{settings['p_same']:g} beforehand; and same: P(|change| <= {epsilon}), without the prior. It is the verdict "
        f"if its probability is >= {level}; otherwise the verdict is unsure, and so is the claim if none is more "
        "probable than not"
    )
    yield (
        "change and its interval use these rows only. P of more and less also assumes that most columns do not change, "
        "so it can be small although the interval excludes 0."
    )
    if settings.get("counts") is False:
        yield "from rankings without their counts: less exact; give counts files or data to be sure"
    yield from comparison.remark_lines()
    for name, only in zip(comparison.names, comparison.only, strict=True):
        if only:
            listed = ", ".join(only[:_MAX_COLUMNS_NAMED]) + (", ..." if len(only) > _MAX_COLUMNS_NAMED else "")
            yield f"only in {name}, not compared: {listed}"
    for row in list(comparison)[: top or None]:
        if row["verdict"] == "not compared":
            yield f"{row['feature'] or sentences.NO_NAME}: {row['note']}"


def _headings(names: tuple[str, str], room: int) -> tuple[str, str]:
    """The ends of the samples' names, where file names differ, in so much room; letters if the ends are the same."""
    first, second = (_ending(plain(name), room) for name in names)
    return (first, second) if first != second else _LETTERS


def _ending(name: str, room: int) -> str:
    if cell_len(name) <= room:
        return name
    name = name[-4 * room :]  # a group may be called by a very long text; some letters take no room
    while cell_len(name) > room - 1:
        name = name[1:]
    return "…" + name
