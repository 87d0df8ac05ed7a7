"""What a ranking shows: a line for each feature, with its interval as a bar, and what may mislead."""

from __future__ import annotations

import math
from html import escape
from itertools import islice
from typing import TYPE_CHECKING

from credimi.inference.belief import USUAL_APPROXIMATION, USUAL_PRIOR
from credimi.questions.rank import effects_view
from credimi.results import figures, sentences
from credimi.results import section as kinds
from credimi.results.palette import TERMINAL
from credimi.results.palette import VERDICTS as COLOURS
from credimi.results.section import NATS, Column, Section, Shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from matplotlib.axes import Axes

    from credimi.core.types import Record
    from credimi.questions.rank.effects import Effects
    from credimi.questions.rank.result import Ranking

VERDICTS = ("keep", "unsure", "drop", "not ranked")
_SIGNS = dict(zip(VERDICTS, "●◐○-", strict=True))
_MAX_CLASSES_NAMED = 6
_USUAL_METHOD = str(USUAL_PRIOR), str(USUAL_APPROXIMATION)
_ROBUST = (
    "up to Gx: the verdict stands if the odds of being missing differ at most G-fold between the values of a feature"
)


def sections(ranking: Ranking, shown: Shown) -> Iterator[Section]:
    """The table, and the lines below it."""
    most = shown.rows_of(len(ranking))
    rows = [row | {"#": str(place)} for place, row in enumerate(islice(ranking, most), 1)]
    number, above, others = ranking.cautions_first(shown)
    yield Section(
        _title(ranking, shown) + number,
        _columns(ranking, shown),
        rows,
        list(_lines(ranking, rows, others, shown)),
        TERMINAL,
        most,
        count=len(ranking),
        more=False,
        above=above,
    )
    if shown.effects:
        yield Section(lines=[""])
        yield effects_view.table(ranking.all_effects(most))


def _title(ranking: Ranking, shown: Shown) -> str:
    classes = ", ".join(ranking.classes[:_MAX_CLASSES_NAMED]) + ", ..." * (len(ranking.classes) > _MAX_CLASSES_NAMED)
    if is_number(ranking.settings):
        classes = f"{ranking.target or sentences.NO_NAME} is numeric; its quarters: {classes}"
    if not math.isnan(ranking.entropy):  # it is known if there is at least one feature
        classes += f"; entropy {ranking.entropy * shown.scale:.4f} {shown.units}"
    rows = sentences.rows_in_words(ranking.rows, ranking.rows_with_target)
    name = ranking.target or sentences.NO_NAME
    if not is_number(ranking.settings):
        name = sentences.numeric_named(name, ranking.settings, len(ranking.classes))
    return f"What informs about {name} ({classes}): {rows}"


def is_number(settings: Record) -> bool:
    """Whether the target is a number that was not cut."""
    return settings.get("target_as") == "number"


def _columns(ranking: Ranking, shown: Shown) -> list[Column]:
    """The columns in their order; those that matter most are left out last."""
    settings, scale = ranking.settings, shown.scale
    largest = max((high for high in ranking.columns["high"] if not math.isnan(high)), default=0.0)
    factor = settings.get("factor")
    columns = [
        Column("#", lambda row: "" if math.isnan(row["mi"]) else row["#"]),
        kinds.name(),
        kinds.nats("mi", shown.units, scale),
        kinds.share("r2_equivalent", "R2 equivalent, %", importance=4)
        if is_number(settings)
        else kinds.share("entropy_share", "%", importance=4),
        kinds.interval(kinds.level_interval(settings), scale=scale, importance=1),
        Column("", lambda _: "", sized=lambda row, length: _bar(row, largest, length), media=("text",)),
        Column("share of a class by value", lambda _: "", html=_Pictures(ranking), kind="words", media=("notebook",)),
        kinds.tail("p_above", kinds.above(settings, shown.units), importance=3, spread="std"),
        kinds.verdict(sentences.verdict_with_factor, html=_verdict_html),
        Column("complete", lambda row: f"{row['complete']:,}", importance=5),
    ]
    if factor is not None:
        ends = ("robust_low", "robust_high")
        columns.insert(-2, kinds.interval(f"at factor {factor:g}", *ends, scale=scale, importance=2))
    if shown.wide:
        columns.insert(4, Column("assoc.", _association, importance=6))
        columns.append(Column("values", lambda row: _values(ranking, row, shown.reader), right=False, kind="words"))
    return columns


def _association(row: Record) -> str:
    return "" if math.isnan(row["association"]) else f"{row['association']:.2f}"


class _Pictures:
    """The bars of effects, which are found for all columns that are shown, when the first is asked for."""

    def __init__(self, ranking: Ranking) -> None:
        self._ranking = ranking
        self._found: dict[str, Effects] | None = None if ranking.has_counts else {}

    def __call__(self, row: Record) -> str:
        """The picture of one row."""
        if self._found is None:
            self._found = {effects.feature: effects for effects in self._ranking.all_effects(kinds.MOST_ROWS)}
        effects = self._found.get(row["feature"])
        return (
            "" if effects is None else effects_view.picture(effects, effects_view.largest_share(self._found.values()))
        )


def _values(ranking: Ranking, row: Record, reader: str) -> str:
    facts = ranking.facts.get(row["feature"])
    return str(row["note"]) if facts is None else sentences.short_note(facts, row["values"], reader)


def _bar(row: Record, largest: float, length: int) -> str:
    """The interval as a line on a scale from 0 to `largest`, the mean as a dot on it."""
    if largest <= 0.0 or math.isnan(row["mi"]):
        return ""
    low, mean, high = (
        min(length - 1, max(0, round(row[name] / largest * (length - 1)))) for name in ("low", "mi", "high")
    )
    line = "".join("─" if low <= position <= high else " " for position in range(length))
    return line[:mean] + "●" + line[mean + 1 :]


def _verdict_html(row: Record) -> str:
    """The verdict with its sign, and what would decide an unsure feature."""
    decides = "lies at epsilon" if row["at_epsilon"] else ""
    if not decides and row["rows_to_decide"]:
        quartiles = (row[f"rows_to_decide_{end}"] for end in ("low", "high"))
        decides = f"until about {sentences.rows_needed(row['rows_to_decide'], *quartiles)} rows"
    below = f"<br><small>{decides}</small>" if decides else ""
    return f"{_SIGNS[row['verdict']]} {escape(sentences.verdict_with_factor(row))}{below}"


def _lines(ranking: Ranking, rows: Sequence[Record], remarks: Sequence[str], shown: Shown) -> Iterator[str]:
    settings, level = ranking.settings, f"{ranking.settings['level']:g}"
    yield sentences.verdict_counts(ranking.columns["verdict"], VERDICTS, len(rows), shown.to_see_all)
    nats = "" if "epsilon_share" in settings else f" {NATS}"
    keep = f"keep: P(I > {kinds.threshold(settings)}{nats}) >= {level}"
    share = f"; {share}" if (share := kinds.meaning_of_share(settings)) else ""
    yield f"{keep}; drop: P(I <= {kinds.threshold(settings, shown.units)}) >= {level}{share}"
    if shown.verbose or not _is_usual(settings):
        yield _method(settings)
    if "factor" in settings:
        yield _ROBUST
    yield from remarks
    if not shown.wide:
        unranked = [row["feature"] for row in rows if row["verdict"] == "not ranked" or row["values"] < 2]
        facts = [ranking.facts[feature] for feature in unranked if feature in ranking.facts]
        yield from sentences.unranked_lines(facts, shown.reader)


def _is_usual(settings: Record) -> bool:
    """Whether the method is the default, so that it is said only if asked for."""
    chosen = (settings["prior"], settings["approximation"])
    return chosen == _USUAL_METHOD and "method" not in settings and not settings.get("prior_of_columns")


def _method(settings: Record) -> str:
    method = f"prior {settings['prior']}, approximation {settings['approximation']}"
    if own := settings.get("prior_of_columns"):
        method += f"; with priors of their own: {', '.join(own)}"
    return f"method {settings['method']}: {method}" if "method" in settings else method


def plot(ranking: Ranking, ax: Axes | None, *, top: int) -> Axes:
    """The means and intervals of the best features, epsilon as a line, verdicts by colour and shape.

    For a robust ranking, a pale band shows what is possible at its factor.
    """
    rows = [row for row in ranking if not math.isnan(row["mi"])][:top]
    axes = figures.new_axes(ax, (6.4, 1.1 + 0.24 * max(len(rows), 3)))
    factor = ranking.settings.get("factor")
    for line, row in enumerate(rows if factor is not None else []):
        axes.plot([row["robust_low"], row["robust_high"]], [line, line], **_band(row["verdict"]))
    figures.draw_intervals(axes, rows, [_dot(row["verdict"]) for row in rows], "mi")
    figures.mark_epsilon(axes, ranking.settings["epsilon"])
    axes.set_xlim(left=min([0.0, *(row["low" if factor is None else "robust_low"] for row in rows)]))
    interval = kinds.level_interval(ranking.settings)
    axes.set_xlabel(f"mutual information with {figures.short_name(ranking.target)}, nats: mean and {interval}")
    axes.tick_params(axis="y", length=0, pad=8)
    styles = {verdict: _dot(verdict) for verdict in COLOURS if any(row["verdict"] == verdict for row in rows)}
    if styles and factor is not None:
        styles[f"possible at factor {factor:g}"] = _band("drop")
    if styles:
        from matplotlib.lines import Line2D  # noqa: PLC0415  (an extra: loaded only to draw)

        handles = [Line2D([], [], label=label, **style) for label, style in styles.items()]
        axes.legend(handles=handles, loc="lower right", frameon=False)
    return axes


def _band(verdict: str) -> Record:
    return {"color": COLOURS[verdict], "linewidth": 7.0, "alpha": 0.22, "solid_capstyle": "butt"}


def _dot(verdict: str) -> Record:
    """How a verdict is marked: full, half or empty."""
    colour = COLOURS[verdict]
    face = {"fillstyle": "left", "markerfacecoloralt": "white"} if verdict == "unsure" else {}
    fill = "white" if verdict == "drop" else colour
    return {"color": colour, "marker": "o", "markersize": 6, "markerfacecolor": fill, **face}
