"""How effects are shown: a table with bars in terminals, small pictures in notebooks and pages.

A bar is as high (or as long) as the share, a line shows its credible interval. Bars of a picture are as wide as their
part of the rows, but wide enough to be seen.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from credimi.core.atomic_files import plain
from credimi.inference.tables.direction import NO_ORDER, UNCLEAR
from credimi.results import section as kinds
from credimi.results.palette import BLUE
from credimi.results.section import Column, Section, Shown
from credimi.results.sentences import NO_NAME

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from matplotlib.axes import Axes

    from credimi.core.types import Record
    from credimi.questions.rank.effects import Effects

_EIGHTHS = " ▏▎▍▌▋▊▉█"
_WIDTH, _HEIGHT, _LEAST = 150.0, 30.0, 3.0
_MAX_VALUES = 12  # of a column, in a terminal
_MAX_BARS = 40


def shown_values(effects: Effects, most: int) -> list[int]:
    """The values to show: all that are ordered; otherwise the most frequent, those of the largest share first."""
    if effects.ordered and len(effects.values) <= most:
        return list(range(len(effects.values)))
    rows = effects.counts.sum(axis=0)
    frequent = sorted(range(len(effects.values)), key=lambda value: -rows[value])[:most]
    if effects.ordered:
        return sorted(frequent)
    return sorted(frequent, key=lambda value: -effects.shares[effects.place, value])


def largest_share(all_effects: Iterable[Effects]) -> float:
    """The scale on which the bars of several columns can be compared."""
    return max((float(each.shares[each.place].max()) for each in all_effects), default=1.0)


def picture(effects: Effects, largest: float | None = None) -> str:
    """The bars of the class that the direction is of; `largest` is the share at the top."""
    values = shown_values(effects, _MAX_BARS)
    of, rows = effects.place, effects.counts.sum(axis=0)
    figures = [
        (float(effects.shares[of, value]), float(effects.low[of, value]), float(effects.high[of, value]))
        for value in values
    ]
    names = [effects.values[value] for value in values]
    return _svg(names, figures, [rows[value].item() for value in values], effects.of, largest)


def sections(effects: Effects, shown: Shown) -> Iterator[Section]:
    """One column: its bars, and a table of all classes."""
    title = f"{effects.feature}: share of each class of {effects.target or NO_NAME} by value"
    level = f"{100 * effects.settings['level']:g} % interval"
    columns = (
        kinds.words("value", lambda row: str(row["value"])),
        kinds.words("class", lambda row: str(row["class"])),
        Column("share, %", lambda row: percent(row["share"])),
        Column(level, _ends),
        Column("", lambda _: "", sized=lambda row, length: bar(row["share"], 1.0, length), media=("text",)),
        Column("rows", lambda row: f"{row['rows']:,.10g}"),
    )
    rows = effects.rows_as_records()
    lines = [said(effects)] if effects.direction else []
    yield Section(
        title,
        columns,
        rows,
        lines,
        html=lambda: picture(effects),
        picture=lambda: picture(effects),
        most=shown.top or 60,
    )


def said(effects: Effects) -> str:
    """The direction as a sentence."""
    if effects.direction == UNCLEAR:
        return f"how the share of {effects.of} changes with {effects.feature} is unclear"
    words = {NO_ORDER: "neither rises nor falls, nor peaks or dips once,"}
    word = words.get(str(effects.direction), effects.direction)
    probability = kinds.probability(effects.p_direction, 1.0)
    return f"the share of {effects.of} {word} with {effects.feature} (probability {probability})"


def _ends(row: Record) -> str:
    return f"{percent(row['low'])} to {percent(row['high'])}"


def table(all_effects: Sequence[Effects]) -> Section:
    """The values of several columns below each other, with the share of one class of each."""
    rows = [row for effects in all_effects for row in _rows(effects)]
    classes = {effects.of for effects in all_effects}
    one = classes.pop() if len(classes) == 1 else None
    columns = [
        Column("feature", lambda row: row["name"], right=False, kind="name"),
        Column("value", lambda row: row["value"], right=False),
        *([] if one is not None else [Column("class", lambda row: row["class"], right=False)]),
        Column("share, %" if one is None else f"{one}, %", lambda row: row["percent"]),
        Column("", lambda _: "", sized=lambda row, length: bar(row["share"], row["largest"], length)),
        Column("interval", lambda row: row["ends"], importance=1),
        Column("rows", lambda row: row["rows"], importance=2),
        Column("direction", lambda row: row["direction"], right=False),
    ]
    what = "the class named" if one is None else one
    lead = f"What the values mean: share of {what} among the rows with each value"
    return Section(lead if rows else "", columns if rows else (), rows, whole=True)


def _rows(effects: Effects) -> Iterator[Record]:
    of, counts = effects.place, effects.counts.sum(axis=0)
    values = shown_values(effects, _MAX_VALUES)
    largest = max(float(effects.high[of, value]) for value in values)
    for line, value in enumerate(values):
        share, low, high = (float(each[of, value]) for each in (effects.shares, effects.low, effects.high))
        yield {
            "name": effects.feature if line == 0 else "",
            "value": effects.values[value],
            "class": effects.of,
            "share": share,
            "largest": largest,
            "percent": percent(share),
            "ends": _ends({"low": low, "high": high}),
            "rows": f"{counts[value].item():,.10g}",
            "direction": (effects.direction or "") if line == 0 else "",
        }
    if left := len(effects.values) - len(values):
        yield {
            "name": "",
            "value": f"... and {left:,} more",
            "class": "",
            "share": 0.0,
            "largest": 1.0,
        } | dict.fromkeys(("percent", "ends", "rows", "direction"), "")


def plot(effects: Effects, ax: Axes | None) -> Axes:
    """The shares of one class by value, with intervals."""
    from credimi.results.figures import new_axes, short_name, short_names  # noqa: PLC0415  (an extra, only to draw)

    values = shown_values(effects, _MAX_BARS)
    axes = new_axes(ax, (6.4, 1.2 + 0.26 * max(len(values), 3)))
    of = effects.place
    share = [100.0 * effects.shares[of, value] for value in values]
    ends = [[100.0 * (effects.shares - effects.low)[of, value] for value in values]]
    ends.append([100.0 * (effects.high - effects.shares)[of, value] for value in values])
    axes.barh(range(len(values)), share, color=BLUE, alpha=0.55, xerr=ends, ecolor=BLUE)
    axes.set_yticks(range(len(values)), short_names(effects.values[value] for value in values))
    axes.set_ylim(len(values) - 0.4, -0.6)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.set_xlabel(f"{short_name(effects.of)}, % of the rows with each value of {short_name(effects.feature)}")
    return axes


def bar(share: float, largest: float, length: int) -> str:
    """A share as a bar of a terminal, in eighths of a character."""
    eighths = round(8 * length * min(max(share / largest, 0.0), 1.0)) if largest > 0.0 else 0
    full, rest = divmod(eighths, 8)
    return "█" * full + (_EIGHTHS[rest] if rest else "")


def percent(share: float) -> str:
    """A share in percent: two digits, three from 10 % on."""
    value = 100.0 * share
    return f"{value:.0f}" if value >= 99.95 else f"{value:.1f}" if value >= 1.0 else f"{value:.2f}"


def _svg(
    names: Sequence[str],
    figures: Sequence[tuple[float, float, float]],
    rows: Sequence[float],
    of: str,
    largest: float | None,
) -> str:
    """The bars as HTML: `figures` are the share, and both ends of its interval, of each value."""
    largest = (max((high for _, _, high in figures), default=0.0) if largest is None else largest) or 1.0
    total, room = sum(rows) or 1.0, _WIDTH - _LEAST * len(names)
    shapes, x = [], 0.0
    for name, (share, low, high), count in zip(names, figures, rows, strict=True):
        width = _LEAST + max(room, 0.0) * count / total
        top, least, most = (_HEIGHT * max(1.0 - each / largest, 0.0) for each in (share, low, high))
        said = f"{of}: {percent(share)} % ({percent(low)} to {percent(high)}) of {name}, {count:,.10g} rows"
        middle = x + 0.5 * width
        shapes.append(
            f"<g><title>{escape(plain(said))}</title>"
            f'<rect x="{x:.1f}" y="{top:.1f}" width="{max(width - 1.0, 1.0):.1f}" height="{_HEIGHT - top:.1f}" '
            f'fill="{BLUE}" fill-opacity="0.55"/>'
            f'<line x1="{middle:.1f}" x2="{middle:.1f}" y1="{most:.1f}" y2="{least:.1f}" stroke="{BLUE}" '
            'stroke-width="1.5"/></g>'
        )
        x += width
    label = "; ".join(f"{percent(share)} % at {name}" for name, (share, _, _) in zip(names, figures, strict=True))
    return (
        f'<svg class="bars" role="img" aria-label="{escape(plain(f"share of {of}: {label}"), quote=True)}" '
        f'width="{max(x, _WIDTH):.0f}" height="{_HEIGHT:.0f}" viewBox="0 0 {max(x, _WIDTH):.0f} {_HEIGHT:.0f}" '
        f'preserveAspectRatio="none">{"".join(shapes)}</svg>'
    )
