"""A ranking as plain data for the page: what JSON can hold, and all that the page needs to decide again.

The posteriors are stored as the moments of their components, every double exactly (base64 of its eight bytes), a fifth
of a kilobyte per feature; the page computes their tails as `mixture_tails` does. Draws are stored as
`_DRAWN_POINTS` order statistics. Large contingency tables show the most frequent values, and the others summed up.
"""

from __future__ import annotations

import base64
import math
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np

from credimi.core.public import stored
from credimi.core.remote_files import source_of
from credimi.core.table import Table
from credimi.core.tables import Tables
from credimi.core.threads import share
from credimi.core.version import __version__
from credimi.inference.belief import Belief
from credimi.inference.bounds.information_bounds import largest_values, least_values, misses
from credimi.inference.bounds.observed_draws import observed
from credimi.inference.distributions.components import Empirical
from credimi.inference.tables.many_tables import drawn_distribution, posteriors
from credimi.questions.rank.column_priors import by_prior, own_table
from credimi.questions.rank.effects import effects_of
from credimi.questions.rank.effects_view import shown_values
from credimi.results import remark_sentences, sentences
from credimi.results.remarks import worded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from credimi.columns.feature import Feature
    from credimi.core.types import CountArray, FloatArray, Record, Value
    from credimi.questions.rank.result import Ranking


_MAX_ALL_CELLS = 100_000  # of all contingency tables together, so that many features still make a small page
_MIN_CELLS, _MAX_CELLS = 48, 1200  # of one contingency table
_MAX_CLASSES = 30  # shown in a contingency table
_MAX_VALUE_CHARACTERS = 120  # names of features are complete, since they are exported
_MAX_NOTE_CHARACTERS = 400
_MAX_CAUTION_CHARACTERS = 1000  # names three features
_MAX_CUTS = 60
_MAX_ALL_EFFECTS, _MAX_EFFECTS = 400, 1000  # columns of which it is shown what their values mean
_MAX_BARS = 24
_DRAWN_POINTS = 201
_FACTORS = (1.1, 1.25, 1.5, 2.0, 2.5, 3.0, 5.0, 10.0, 30.0, math.inf)  # between them the page interpolates
_LEVELS = np.round(
    np.concatenate([[0.002, 0.005, 0.01, 0.02], np.linspace(0.025, 0.975, 39), [0.98, 0.99, 0.995, 0.998]]), 6
)


def collect(ranking: Ranking, page_inputs: Kept, source: str | None = None, reader: str = sentences.PYTHON) -> Record:
    """The page's data, worded for this reader; `source` says what was ranked, if the ranking does not know it."""
    columns = ranking.columns
    unrounded = {
        name: [_nan_to_none(value) for value in columns[name]] for name in ("low", "high", "p_above", "p_independent")
    }
    rounded = (
        "mi",
        "std",
        *(f"{name}_if_dependent" for name in ("mi", "low", "high")),
        "missing_mi",
        "missing_low",
        "missing_high",
        "missing_p_above",
        "target_missing_mi",
        "target_missing_p_above",
        "entropy_share",
        "association",
        "association_low",
        "association_high",
    )
    features = {
        "name": columns["feature"],
        "ranked": [int(block is not None) for block in page_inputs.blocks],
        "at_mode": [_nan_to_none(value) for value in page_inputs.at_mode.tolist()],
        "note": [_clipped(note, _MAX_NOTE_CHARACTERS) for note in _notes(ranking, reader)],
        "cuts": [ranking.facts[name]["cuts"][:_MAX_CUTS] for name in columns["feature"]],
        **{name: columns[name] for name in ("values", "complete", "missing", "at_epsilon")},
        **{name: values for name, values in columns.items() if name.startswith("rows_to_decide")},
        **{name: [_rounded(value) for value in columns[name]] for name in rounded},
        **unrounded,
    }
    return {
        "version": __version__,
        "source": page_inputs.source if source is None else source,
        "target": ranking.target,
        "rows": ranking.rows,
        "rows_with_target": ranking.rows_with_target,
        "classes": [_clipped(name, _MAX_VALUE_CHARACTERS) for name in ranking.classes],
        "entropy": _rounded(ranking.entropy),
        "cautions": _cautions(ranking, reader),
        "remarks": [
            remark | {"text": _clipped(remark["text"], _MAX_NOTE_CHARACTERS)}
            for remark in worded(ranking.remarks, reader)
            if remark["caution"] and remark["feature"] is not None  # the columns contain the others
        ],
        "settings": _plain(ranking.settings),
        "features": features,
        "laws": _posteriors(ranking, page_inputs),
        "robust": _robust(ranking, page_inputs) if "factor" in ranking.settings else None,
        "tables": _tables(page_inputs),
        "effects": _effects(ranking),
    }


def _effects(ranking: Ranking) -> list[Record | None]:
    """The share of one class by value; of very many columns only those that are not dropped."""
    found: list[Record | None] = [None] * len(ranking)
    places = [*range(len(ranking))]
    if len(places) > _MAX_ALL_EFFECTS:
        places = [place for place in places if ranking.figures["verdict"][place] in {"keep", "unsure"}]
    place_of = {name: place for place, name in enumerate(ranking.figures["feature"])}
    for effects in effects_of(ranking, places[:_MAX_EFFECTS]):
        values, of, rows = shown_values(effects, _MAX_BARS), effects.place, effects.counts.sum(axis=0)
        ends = {"s": effects.shares, "l": effects.low, "h": effects.high}
        found[place_of[effects.feature]] = {
            "of": of,
            "word": effects.direction,
            "p": _nan_to_none(effects.p_direction),
            "v": [_clipped(effects.values[value], _MAX_VALUE_CHARACTERS) for value in values],
            "n": [_rounded(rows[value].item()) for value in values],
            **{name: [float(f"{figures[of, value]:.4g}") for value in values] for name, figures in ends.items()},
            "more": len(effects.values) - len(values),
        }
    return found


def _notes(ranking: Ranking, reader: str) -> list[str]:
    """How each column was read, without its cuts, which the page shows beside it."""
    named = zip(ranking.figures["feature"], ranking.figures["values"], strict=True)
    return [sentences.short_note(ranking.facts[name], values, reader) for name, values in named]


def _cautions(ranking: Ranking, reader: str) -> list[Record]:
    """One sentence for consecutive cautions of one kind, and all features that they are about."""
    cautions = [remark.to_dict() for remark in ranking.remarks if remark.caution]
    groups = [list(same) for _, same in groupby(cautions, remark_sentences.line_of_facts)]
    return [
        {
            "text": _clipped(remark_sentences.remark(same, reader), _MAX_CAUTION_CHARACTERS),
            "features": [each["feature"] for each in same if each["feature"] is not None],
        }
        for same in groups
    ]


def _options_and_tables(settings: Record, page_inputs: Kept) -> tuple[Belief, list[int], Tables]:
    """The options of the posteriors, the indices of the ranked features, and their tables."""
    options = Belief(
        prior=settings["prior"], approximation=settings["approximation"], random_state=settings.get("seed", 0)
    )
    ranked = [feature for feature, block in enumerate(page_inputs.blocks) if block is not None]
    blocks = [block.astype(np.float64) for block in page_inputs.blocks if block is not None]
    odds = [page_inputs.odds[feature] for feature in ranked]
    averaged = [page_inputs.averaged[feature] for feature in ranked] if page_inputs.averaged else None
    return options, ranked, Tables.of(blocks, odds, averaged)


def _robust(ranking: Ranking, page_inputs: Kept) -> Record:
    """Quantiles of the smallest and of the largest I of the features with missing values, for each factor.

    They are stored as floats of four bytes, the smallest I first, factor by factor.
    """
    options, ranked, blocks = _options_and_tables(ranking.settings, page_inputs)
    factors = sorted({*_FACTORS, ranking.settings["factor"]} - {1.0})
    names, own = _names_and_priors(ranking, ranked)
    all_curves = by_prior(names, blocks, own, options, lambda tables, each, _: _curves(tables, factors, _LEVELS, each))
    quantiles: list[str | None] = [None] * len(page_inputs.blocks)
    for feature, curve in zip(ranked, all_curves, strict=True):
        if not np.isnan(curve).any():
            quantiles[feature] = base64.b64encode(curve.astype("<f4").tobytes()).decode()
    columns = ranking.columns
    return {
        "factors": [_plain(factor) for factor in factors],
        "levels": _LEVELS.tolist(),
        "quantiles": quantiles,
        "tipping": [_plain(_nan_to_none(value)) for value in columns["tipping_factor"]],
        **{name: [_nan_to_none(value) for value in columns[f"robust_{name}"]] for name in ("low", "high")},
    }


def _curves(blocks: Tables, factors: Sequence[float], levels: FloatArray, options: Belief) -> FloatArray:
    """Quantiles of bounds at these levels, (tables, 2, factors, levels): those of the least I, then of the largest.

    The factors must ascend. Quantiles are NaN for tables without missing values.
    """
    quantiles = np.full((blocks.rows.size, 2, len(factors), levels.size), np.nan)
    incomplete = misses(blocks)
    table_indices, drawn = np.flatnonzero(incomplete), observed(blocks.chosen(incomplete), options)

    def work(number: int) -> None:
        of_table = quantiles[table_indices[number]]
        for factor_index, factor in enumerate(factors):
            of_table[0, factor_index] = _quantiles(*least_values(drawn[number], factor), levels)
            of_table[1, factor_index] = _quantiles(*largest_values(drawn[number], factor), levels)
        # The bounds move apart as the factor grows, except if the search for the largest I, which is not exact, fails.
        of_table[0] = np.minimum.accumulate(of_table[0], axis=0)
        of_table[1] = np.maximum.accumulate(of_table[1], axis=0)

    share(work, range(table_indices.size), options.threads)
    return quantiles


def _quantiles(values: FloatArray, weight: FloatArray, levels: FloatArray) -> FloatArray:
    """Weighted quantiles, interpolated linearly between the middles of the weights."""
    order = np.argsort(values, kind="stable")
    middle = np.cumsum(weight[order]) - 0.5 * weight[order]
    return np.interp(levels, middle / weight.sum(), values[order])


def _names_and_priors(ranking: Ranking, ranked: Sequence[int]) -> tuple[list[str], Record]:
    """The names of the ranked features, and the priors of those that have their own."""
    return [ranking.figures["feature"][feature] for feature in ranked], ranking.settings.get("prior_of_columns", {})


def _posteriors(ranking: Ranking, page_inputs: Kept) -> Record:
    """The posteriors of all features; features that were not ranked have no component."""
    options, ranked, blocks = _options_and_tables(ranking.settings, page_inputs)
    names, own = _names_and_priors(ranking, ranked)
    count = len(page_inputs.blocks)
    upper, p_zero, sizes = np.zeros(count), np.zeros(count), np.zeros(count, dtype=np.int64)
    upper[ranked] = blocks.upper
    points: list[list[float]] = []
    if options.approximation == "sampled":
        kind, points, p_zero = "draws", [[] for _ in range(count)], np.zeros(count)
        for table, (feature, name) in enumerate(zip(ranked, names, strict=True)):
            judged = own_table(blocks.block(table), own.get(name), options)
            points[feature], p_zero[feature] = _drawn_points(*judged, page_inputs.odds[feature])
        sizes[ranked] = 1
        weight = 1.0 - p_zero[ranked]
        mean = variance = np.zeros(len(ranked))
    else:
        kind = "normal" if options.gaussian else "beta"
        components = by_prior(
            names, blocks, own, options, lambda tables, each, _: posteriors(tables, each, shaped=True)
        )
        sizes[ranked] = np.bincount(components.table, minlength=len(ranked))
        p_zero[ranked] = components.p_zero
        weight, mean, variance = components.weight, components.mean, components.variance
    return {
        "kind": kind,
        "starts": [0, *np.cumsum(sizes).tolist()],
        "upper": _packed(upper),
        "p_zero": _packed(p_zero),
        "weight": _packed(weight),
        "mean": _packed(mean),
        "variance": _packed(variance),
        "points": points,
    }


def _drawn_points(block: FloatArray, options: Belief, odds: float) -> tuple[list[float], float]:
    """The draws of the ranking at even steps of their order, and P(I = 0)."""
    distribution = drawn_distribution(Table.of_block(block), options, odds)
    draws = [component.draws for component in distribution.components if isinstance(component, Empirical)]
    shown = np.quantile(draws[0], np.linspace(0.0, 1.0, _DRAWN_POINTS)) if draws else np.zeros(0)
    return [float(f"{value:.7g}") for value in shown.tolist()], distribution.p_zero


def _tables(page_inputs: Kept) -> list[Record | None]:
    """The contingency tables: the names of the values, and the counts, row by row; missing values come last."""
    max_cells = min(max(_MAX_ALL_CELLS // max(len(page_inputs.blocks), 1), _MIN_CELLS), _MAX_CELLS)
    return [
        None if block is None else _table(block, values, max_cells)
        for block, values in zip(page_inputs.blocks, page_inputs.values, strict=True)
    ]


def _table(block: CountArray, values: Sequence[str], max_cells: int) -> Record:
    rows = _largest(block[:-1].sum(axis=1), _MAX_CLASSES)
    columns = _largest(block[:, :-1].sum(axis=0), max(max_cells // (len(rows) + 2), 2))
    shown = _with_others_summed(_with_others_summed(block, rows), columns, across=True)
    return {
        "classes": rows,
        "values": [_clipped(values[column], _MAX_VALUE_CHARACTERS) for column in columns],
        "others": [block.shape[0] - 1 - len(rows), block.shape[1] - 1 - len(columns)],
        "counts": [_rounded(count) for count in shown.ravel().tolist()],
    }


def _largest(totals: CountArray, max_count: int) -> list[int]:
    """The indices of the largest totals, in their original order; if only one other remains, it is included."""
    if totals.size <= max_count + 1:
        return list(range(totals.size))
    return sorted(np.argsort(-totals, kind="stable")[:max_count].tolist())


def _with_others_summed(block: CountArray, chosen: list[int], *, across: bool = False) -> CountArray:
    """The chosen rows (or columns), one row with the sum of the others if there are any, and the last row."""
    block = block.T if across else block
    rest = np.setdiff1d(np.arange(block.shape[0] - 1), chosen)
    parts = [block[chosen], block[rest].sum(axis=0, keepdims=True)] if rest.size else [block[chosen]]
    whole = np.concatenate([*parts, block[-1:]])
    return whole.T if across else whole


def _packed(values: FloatArray) -> str:
    return base64.b64encode(values.astype("<f8").tobytes()).decode()


def _clipped(text: str, max_characters: int) -> str:
    return text if len(text) <= max_characters else text[: max_characters - 1] + "…"


def _plain(value: Value) -> Value:
    """A value in a form that JSON can hold: numbers that are not finite become text."""
    if isinstance(value, dict):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def _nan_to_none(value: float) -> float | None:
    return None if math.isnan(value) else value


def _rounded(value: float) -> float | None:
    """Six digits, for numbers that are only shown; whole counts stay whole."""
    if isinstance(value, int):
        return value
    return None if math.isnan(value) else float(f"{value:.6g}")


@stored
@dataclass(frozen=True, slots=True, eq=False)
class Kept:
    """What a ranking keeps for its page, one entry per feature, in the order of the ranking.

    These are the blocks of counts (None for features that were not ranked), the names of the values, and the prior odds
    of dependence. `at_mode` is the information at the most probable cell probabilities, for the plug-in
    rule; `source` says where the data came from; `averaged` are the components of numbers that were averaged over all
    cuts. Other posteriors are not kept: they follow from blocks and odds.
    """

    blocks: tuple[CountArray | None, ...]
    values: tuple[tuple[str, ...], ...]
    odds: tuple[float, ...]
    at_mode: FloatArray
    source: str
    averaged: tuple[FloatArray | None, ...] = ()

    def chosen(self, order: Sequence[int]) -> Kept:
        """The same for features in another order."""
        return Kept(
            tuple(self.blocks[feature] for feature in order),
            tuple(self.values[feature] for feature in order),
            tuple(self.odds[feature] for feature in order),
            self.at_mode[list(order)],
            self.source,
            tuple(self.averaged[feature] for feature in order) if self.averaged else (),
        )

    @classmethod
    def of(cls, features: Sequence[Feature], at_mode: FloatArray, data: object) -> Kept:
        """From interpreted features. Nothing is stored of identifiers, which have one value per row."""
        return cls(
            tuple(feature.block if feature.kind.ranked else None for feature in features),
            tuple(feature.values if feature.kind.ranked else () for feature in features),
            tuple(feature.odds for feature in features),
            at_mode,
            source_of(data),
            tuple(feature.components for feature in features),
        )
