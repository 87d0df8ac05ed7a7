"""What pairs show: the best pairs as a table, links as a graph on a page, matrices as heat maps, forests."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from credimi.inference.belief import ADAPTIVE
from credimi.results import graph_layout, sentences
from credimi.results import section as kinds
from credimi.results.figures import new_axes, short_names
from credimi.results.graph_layout import graph_page
from credimi.results.section import Column, Section, Shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from matplotlib.axes import Axes

    from credimi.core.types import Record
    from credimi.questions.pairs.pairs_forest import PairsForest
    from credimi.questions.pairs.result import Pairs

_SHOWN_PAIRS = 30
_MAX_NAMES_BESIDE_MAP = 60  # so many names fit beside a heat map
_MAX_PAIRS, _MAX_COLUMNS = 20_000, 1_000  # on a page
_PULLS_PER_COLUMN = 4  # links for each column that decide where it is drawn
_LEVEL = 0.95  # from which a link is drawn
_MIN_P_LINKED = 0.01  # other pairs are not on the page
_FEW_INDEPENDENT, _MANY_INDEPENDENT = 0.5, 0.99
_WORDS = {
    "heading": "What every two columns tell about each other",
    "one": "a link",
    "edge": "link",
    "edges": "links",
    "probability": "P(linked)",
}
_FIGURE_TITLES = {
    "mi": "mutual information, nats",
    "low": "lower end of the interval, nats",
    "high": "upper end of the interval, nats",
    "p_above": "P(I > epsilon)",
    "p_independent": "P(independent)",
    "p_linked": "P(linked)",
    "linked": "linked",
    "share": "share of the smaller entropy",
    "association": "association, from 0 to 1",
    "log_evidence": "log Bayes factor of dependence",
    "complete": "rows with both",
}


def sections(pairs: Pairs, shown: Shown) -> Iterator[Section]:
    """The best pairs, and remarks."""
    settings, rows, scale = pairs.settings, pairs[: shown.top or _SHOWN_PAIRS], shown.scale
    numbers = ((len(pairs), "pair"), (len(pairs.names), "column"), (pairs.rows, "row"))
    title = "{} of {}, {}".format(*(sentences.counted(number, noun) for number, noun in numbers))
    columns = (
        kinds.name("a"),
        kinds.name("b"),
        kinds.nats("mi", "mi" if shown.units == kinds.NATS else f"mi, {shown.units}", scale),
        kinds.interval(kinds.level_interval(settings), scale=scale, importance=2),
        kinds.tail("p_above", kinds.above(settings, shown.units), importance=1),
        *([] if _has_no_atom(pairs) else [kinds.tail("p_independent", "P(indep.)", importance=3)]),
        Column("linked", lambda row: "yes" if row["linked"] else "", right=False, importance=4),
    )
    lines = pairs.remark_lines(reader=shown.reader, units=shown.units)
    lines = [*filter(None, [kinds.meaning_of_share(settings, "of log 2")]), *lines]
    share = pairs.independent
    if not np.isnan(share) and len(pairs):
        some = f"About {100 * share:.2g} %" if share <= _MANY_INDEPENDENT else "More than 99 %"
        some = "At most 50 %" if share == _FEW_INDEPENDENT else some
        lines.insert(
            0, f"{some} of the pairs seem independent. `linked` uses this; P(indep.) and the interval assume 50 %."
        )
    whole = pairs.chosen is None and len(pairs.names) > 1
    picture = (lambda: "".join(graph_layout.heat_map(pairs.names, pairs.matrix("association")))) if whole else None
    yield Section(title, columns, rows, lines, most=_SHOWN_PAIRS, count=len(pairs), picture=picture)


def forest_sections(forest: PairsForest, shown: Shown) -> Iterator[Section]:
    """The edges of forests, and the condition under which they hold."""
    size = f"{len(forest.names):,} columns, {sentences.counted(forest.rows, 'row')}"
    columns = (
        kinds.name("a"),
        kinds.name("b"),
        Column("P(edge)", lambda row: kinds.probability(row["probability"], 1.0)),
        Column("in the best forest", lambda row: "yes" if row["in_best"] else "", right=False),
    )
    title = f"Edges of forests of {size}, assuming that the dependences form a forest (no cycles)"
    expected = f"{forest.expected_edges:.2f} edges are expected, from prior odds of {forest.odds:.3g} for each"
    lines = [expected, *forest.remark_lines(reader=shown.reader)]
    yield Section(title, columns, forest[: shown.top or _SHOWN_PAIRS], lines, most=_SHOWN_PAIRS, count=len(forest))


def remarks(pairs: Pairs, reader: str) -> list[str]:
    """How pairs were refined, missing values that depend, suspicious values, which columns were left out and why."""
    lines: dict[str, list[Record]] = {}
    for column in pairs.facts:
        if column["feature"] in pairs.names and column["suspicions"]:
            lines.setdefault(sentences.short_note(column, column["values"], reader), []).append(column)
    suspicious = [f"{sentences.names(columns)}: {note}" for note, columns in lines.items()]
    others = left_out([column for column in pairs.facts if column["feature"] not in pairs.names], reader)
    refinement = _refinement(pairs.settings) if len(pairs.names) > 1 else []  # there was no pair to refine
    return [*_without_atom(pairs, reader), *refinement, *_missing_by_others(pairs, reader), *suspicious, *others]


def _has_no_atom(pairs: Pairs) -> bool:
    """Whether the prior is a fixed one, with which no pair can be independent."""
    return bool(pairs.settings["prior"] != ADAPTIVE)


def _without_atom(pairs: Pairs, reader: str) -> list[str]:
    """Why there is no P(independent), and what links are then."""
    if not _has_no_atom(pairs) or not len(pairs):
        return []
    fixed = sentences.asked("prior", pairs.settings["prior"], reader)
    without = f"{fixed} gives independence no probability: there is no P(independent), and P(linked) is 1"
    return [f"{without}; `linked` looks at P(I > epsilon) alone"]


def left_out(columns: Sequence[Record], reader: str) -> list[str]:
    """Why columns are not compared with others: what rankings say of them, too, or that they have too many values."""
    wide = [column for column in columns if column["kind"] in {"categories", "ranges"}]
    lines = sentences.unranked_lines([column for column in columns if column not in wide], reader)
    if wide:
        named = sentences.first_few([f"{sentences.name(each)} ({each['values']:,} values)" for each in wide])
        cut, more = (
            ("--discretize", "--max-values") if reader == sentences.COMMAND_LINE else ("discretize", "max_values")
        )
        remedy = f"group the values, cut numbers ({cut}), or allow more ({more})"
        lines.append(f"{named}: too many for tables with other columns: {remedy}")
    return [f"left out: {line}" for line in lines]


def missing_depends(pairs: Sequence[tuple[str, str]]) -> str:
    """Columns whose missing values depend on another; it is left to say what follows."""
    named = sentences.first_few(
        [f"{column or sentences.NO_NAME} (on {other or sentences.NO_NAME})" for column, other in pairs]
    )
    return f"caution: whether values are missing depends on another column: {named}"


def _refinement(settings: Record) -> list[str]:
    """How often the missing values were completed."""
    if not settings.get("refine"):
        return []
    if not settings["imputations"]:
        return ["no values are missing: there was nothing to refine"]
    times = sentences.counted(settings["imputations"], "time")
    rounds = sentences.counted(settings["rounds"], "round")
    lines = [
        f"missing values were completed {times} from forests of the columns, in {rounds}, and the results averaged"
    ]
    if not settings["settled"]:
        lines.append("caution: the rounds had not settled: try another seed and compare, or leave out columns")
    return lines


def _missing_by_others(pairs: Pairs, reader: str) -> list[str]:
    """Columns whose missing values depend on another column, and what helps."""
    dependent = [(each["feature"], each["missing_depends"]) for each in pairs.facts if "missing_depends" in each]
    if not dependent:
        return []
    advice = sentences.asked("refine", "forest", reader)
    effect = f"their pairs with third columns may mislead: {advice} allows for that"
    if pairs.settings.get("refine"):
        effect = "that is allowed for as far as a forest tells how columns depend"
    return [f"{missing_depends(dependent)}; {effect}"]


def page(pairs: Pairs, source: str | None, reader: str) -> str:
    """The page of the best pairs. A link may go by way of other columns, and has no direction.

    If there are many columns, those with the strongest links are shown.
    """
    shown = [row for row in pairs[:_MAX_PAIRS] if row["p_linked"] >= _MIN_P_LINKED]
    columns, lines = list(pairs.names), pairs.remark_lines(reader=reader)
    if len(columns) > _MAX_COLUMNS:
        linked = dict.fromkeys(name for row in shown for name in (row["a"], row["b"]))
        columns = [*linked, *(name for name in columns if name not in linked)][:_MAX_COLUMNS]
        lines.append(f"of {len(pairs.names):,} columns the {len(columns):,} with the strongest links are shown")
    place_of = {name: place for place, name in enumerate(columns)}
    shown = [row for row in shown if row["a"] in place_of and row["b"] in place_of]
    return graph_page(
        _WORDS,
        columns,
        [row for row in shown[: _PULLS_PER_COLUMN * len(columns)] if row["p_linked"] >= _LEVEL],
        largest=max((row["mi"] for row in shown), default=0.0),
        direct=False,
        directions="a link may go by way of other columns; credimi network tells which are direct",
        source=source,
        level=_LEVEL,
        settings=pairs.settings,
        remarks=lines,
        all_columns=len(pairs.names),
        missing=None,
        rows=pairs.rows,
        pairs=[_pair(row, place_of) for row in shown],
        tables=[],
    )


def _pair(row: Record, place_of: dict[str, int]) -> list[object]:
    """A pair as the script reads it, by position: as of a network, without direction and separators; the share last."""
    figures = [row["p_linked"], *(float(f"{row[name]:.5g}") for name in ("mi", "low", "high"))]
    share = float(f"{row['share'] or 0.0:.5g}")
    return [place_of[row["a"]], place_of[row["b"]], *figures, 0.0, 0.0, 0.0, "--", None, row["complete"], share]


def plot(pairs: Pairs, ax: Axes | None, *, name: str) -> Axes:
    """One of the figures as a heat map, with one cell for each pair."""
    values, names = pairs.matrix(name).astype(np.float64), pairs.names
    side = min(max(3.0, 0.22 * len(names) + 1.5), 12.0)
    axes = new_axes(ax, (side + 1.2, side))
    low = 0.0 if np.nanmin(values, initial=0.0) >= 0.0 else None
    high = 1.0 if name.startswith("p_") or name in ("linked", "share") else None
    image = axes.imshow(values, cmap="viridis", vmin=low, vmax=high, interpolation="nearest")
    if len(names) <= _MAX_NAMES_BESIDE_MAP:
        shown = short_names(names)
        axes.set_xticks(range(len(names)), shown, rotation=90, fontsize=7)
        axes.set_yticks(range(len(names)), shown, fontsize=7)
    figure = axes.figure
    figure.colorbar(image, ax=axes, label=_FIGURE_TITLES[name], fraction=0.046, pad=0.04)
    return axes
