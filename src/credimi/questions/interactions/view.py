"""What interactions show: pairs that tell more together, pairs that overlap, and the first pairs as heat maps."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING

import numpy as np

from credimi.core.errors import CredimiError
from credimi.results import section as kinds
from credimi.results.figures import require_matplotlib, short_name
from credimi.results.page import headings, name, row_heading, table, text
from credimi.results.palette import TERMINAL, heat
from credimi.results.section import Section, Shown, signed
from credimi.results.sentences import NO_NAME, counted, numeric_named, unranked_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from credimi.core.types import Record
    from credimi.questions.interactions.result import Interactions

_MAPS_IN_NOTEBOOKS = 3
_LINES = 20  # pairs of each sign
_MAX_VALUES_SIDE_BY_SIDE = 6  # wider heat maps have a line of their own
_MAX_LABEL_CHARACTERS, _MAX_RANGE_CHARACTERS = 14, 24  # of a value beside a heat map; both ends of ranges are shown
_MAX_CHARACTERS_BELOW = 18  # of all labels below a heat map; if there are more, the labels are turned
_MAX_VALUES_WITH_FIGURES = 6  # of each column; larger heat maps have no figures in their cells
_SYNERGY = """<p class="key">Synergy: what two columns tell together, beyond what each tells alone. Negative: they
overlap, and tell in part the same.</p>"""
_SHARED_ROWS = (
    "a pair, and what its columns tell alone, is judged by the `rows` that have both columns and the target: `rank` "
    "uses more rows, and may say otherwise of a column"
)


def sections(interactions: Interactions, shown: Shown) -> Iterator[Section]:
    """The pairs with synergy, those with redundancy, heat maps (on pages), and remarks."""
    target = numeric_named(interactions.target or NO_NAME, interactions.settings, len(interactions.classes))
    rows = list(interactions)
    more = [row for row in rows if row["p_above"] >= row["p_below"]]
    less = [row for row in rows if row["p_above"] < row["p_below"]]
    number, above, others = interactions.cautions_first(shown)
    if more or not less:
        lead = f"Pairs that tell more about {target} together than apart: {_count(more, 'synergy')}"
        yield replace(_list(interactions, lead + number, more, "p_above", shown), above=above)
        number, above = "", []
    if less:
        lead = f"Pairs that overlap in what they tell about {target}: {_count(less, 'redundancy')}"
        yield replace(_list(interactions, lead + number, less, "p_below", shown), above=above)
    if interactions.tables:
        first = partial(_maps_html, interactions, _MAPS_IN_NOTEBOOKS)
        yield Section(html=lambda: _maps_html(interactions), picture=first)
    yield Section(lines=list(_lines(interactions, others, shown)))


def _list(interactions: Interactions, lead: str, rows: Sequence[Record], field: str, shown: Shown) -> Section:
    """The pairs of one sign; `field` has their probability."""
    settings, scale = interactions.settings, shown.scale
    epsilon = f"{'> ' if field == 'p_above' else '< -'}{kinds.threshold(settings, shown.units)}"
    columns = (
        kinds.name("a"),
        kinds.name("b"),
        kinds.nats("synergy", "synergy", scale, show=signed),
        kinds.interval(kinds.level_interval(settings), scale=scale, importance=1, show=signed),
        kinds.tail(field, f"P({epsilon})"),
        kinds.nats("tells_a", "a alone", scale, importance=2),
        kinds.nats("tells_b", "b alone", scale, importance=2),
        kinds.count("rows"),
        kinds.verdict(),
    )
    return Section(lead, columns if rows else (), rows, (), TERMINAL, _LINES, heading=lead, html=lambda: _SYNERGY)


def _count(pairs: Sequence[Record], verdict: str) -> str:
    decided = sum(pair["verdict"] == verdict for pair in pairs)
    return f"{decided:,}" if decided == len(pairs) else f"{decided:,}, and {len(pairs) - decided:,} unsure"


def _lines(interactions: Interactions, remarks: Iterable[str], shown: Shown) -> Iterator[str]:
    """What was left out, what was looked at, and how many verdicts may be wrong."""
    settings, tried, all_pairs = interactions.settings, interactions.pairs_tried, interactions.all_pairs
    yield from unranked_lines(interactions.left_out, shown.reader)
    yield from remarks
    if tried < all_pairs:
        yield f"interrupted: {tried:,} of {all_pairs:,} pairs were looked at"
    tried_pairs = f"{tried:,} pair{'s' * (tried != 1)}, {counted(interactions.rows, 'row')}"
    interval = f"information in {shown.units}; {kinds.level_interval(settings)}s"
    yield "; ".join(
        filter(
            None,
            [f"{interactions.columns_tried:,} columns, {tried_pairs}; {interval}", kinds.meaning_of_share(settings)],
        )
    )
    wrong_percent = 100.0 * (1.0 - settings["level"])
    yield f"of the pairs called synergy or redundancy at most {wrong_percent:.3g} % are expected to be wrong"
    if any(pair.rows < interactions.rows for pair in interactions.pairs):
        yield _SHARED_ROWS


def _maps_html(interactions: Interactions, most: int | None = None) -> str:
    """The joint tables of the first pairs: every cell shows the share of a class, and how many rows the cell has."""
    maps = []
    for joint in interactions.tables[:most]:
        pair = interactions[joint.a, joint.b]
        shares, rows, class_index = _class_shares(joint.counts)
        one, other = name(joint.a), name(joint.b)
        head = f"<td>{one} \\ {other}</td>" + headings(*map(name, joint.values_b))
        body = [
            f"<tr>{row_heading(value)}{''.join(map(_cell, line, counts))}</tr>"
            for value, line, counts in zip(joint.values_a, shares, rows, strict=True)
        ]
        css_class = ' class="large"' if len(joint.values_b) > _MAX_VALUES_SIDE_BY_SIDE else ""
        maps.append(f"""<figure{css_class}>
<figcaption><strong>{one} and {other}</strong>: {pair["verdict"]} {pair["synergy"]:+.4f}; in the cells the share of
<bdi>{text(interactions.classes[class_index])}</bdi>, and of how many rows</figcaption>
{table(head, body, "heat")}
</figure>""")
    return '<div class="maps">\n' + "\n".join(maps) + "\n</div>"


def _cell(share: float | None, count: float) -> str:
    if share is None:
        return '<td class="empty" title="no rows">-</td>'
    colour, ink = heat(share)
    return f'<td style="background:{colour};color:{ink}">{100 * share:.0f} %<small>{count:,.6g}</small></td>'


def _short(value: str) -> str:
    line, limit = " ".join(value.split()), _MAX_RANGE_CHARACTERS if " to " in value else _MAX_LABEL_CHARACTERS
    return short_name(line if len(line) <= limit else line[: limit - 1] + "…")


def _class_shares(
    joint: Sequence[Sequence[Sequence[float]]],
) -> tuple[list[list[float | None]], list[list[float]], int]:
    """For every cell the share of a class, None without rows; the rows of every cell; and the index of that class.

    It is the last of two classes, or else the class whose share varies most.
    """
    counts = np.array(joint, dtype=np.float64)
    rows = counts.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = counts / rows
    deviations = np.where(rows > 0.0, rows * (shares - (counts.sum(axis=(1, 2)) / rows.sum())[:, None, None]) ** 2, 0.0)
    class_index = len(counts) - 1 if len(counts) == 2 else int(deviations.sum(axis=(1, 2)).argmax())
    plain_shares = [[None if math.isnan(share) else share for share in line] for line in shares[class_index].tolist()]
    return plain_shares, rows.tolist(), class_index


def plot(interactions: Interactions, _ax: Axes | None, *, top: int) -> Axes:
    """The first pairs, each as a heat map of its joint table; the lighter, the larger the class's share."""
    require_matplotlib()
    tables = interactions.tables[:top]
    if not tables:
        raise CredimiError("there is no pair to plot: pass top=N to `interactions` for pairs that are not sure")
    across = min(len(tables), 3)
    down = -(-len(tables) // across)
    figure: Figure = import_module("matplotlib.figure").Figure(figsize=(3.6 * across, 3.3 * down), layout="constrained")
    for index, joint in enumerate(tables):
        axes = figure.add_subplot(down, across, index + 1)
        shares, rows, class_index = _class_shares(joint.counts)
        values = np.array([[np.nan if share is None else share for share in line] for line in shares])
        image = axes.imshow(values, cmap="cividis", vmin=0.0, vmax=1.0, aspect="auto")
        below = [_short(value) for value in joint.values_b]
        turned: Record = {"rotation": 40.0, "ha": "right", "rotation_mode": "anchor"}
        axes.set_xticks(range(len(below)), below, **(turned if sum(map(len, below)) > _MAX_CHARACTERS_BELOW else {}))
        axes.set_yticks(range(len(joint.values_a)), [_short(value) for value in joint.values_a])
        axes.tick_params(labelsize="small")
        axes.set_xlabel(short_name(joint.b or NO_NAME))
        axes.set_ylabel(short_name(joint.a or NO_NAME))
        pair = interactions[joint.a, joint.b]
        axes.set_title(f"{pair['verdict']} {pair['synergy']:+.3f}", fontsize="medium")
        if max(values.shape) <= _MAX_VALUES_WITH_FIGURES:
            for row, line in enumerate(values.tolist()):
                for column, share in enumerate(line):
                    if not math.isnan(share):
                        colour = "black" if share > 0.5 else "white"
                        text = f"{100 * share:.0f} %\nof {rows[row][column]:,.0f}"
                        axes.text(column, row, text, ha="center", va="center", color=colour, fontsize="x-small")
        bar = figure.colorbar(image, ax=axes, ticks=[0.0, 0.5, 1.0], shrink=0.8)
        bar.set_label(f"share of {_short(interactions.classes[class_index])}", fontsize="small")
    figure.suptitle(f"What pairs of columns tell about {short_name(interactions.target)}", fontsize="medium")
    return figure.axes[0]
