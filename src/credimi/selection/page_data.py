"""A ranking as plain data for the page: what JSON can hold, and all that the page needs to decide again.

The posteriors are stored as the moments of their components, every double exactly (base64 of its eight bytes), a fifth
of a kilobyte per feature; the page computes their tails as `kernels.mixture_tails` does. Draws are stored as `_POINTS`
order statistics. Of large contingency tables, the most frequent values are shown, and the others together as one.
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
from credimi.core.version import __version__
from credimi.inference.batched.many_tables import drawn_law, posteriors
from credimi.inference.bounds.bound_curves import curves
from credimi.inference.distributions.components import Empirical
from credimi.inference.options import PosteriorOptions
from credimi.report import remark_sentences, sentences
from credimi.selection.remarks import worded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from credimi.columns.feature import Feature
    from credimi.core.types import CountArray, FloatArray, Record, Value
    from credimi.selection.ranking import Ranking


_CELLS = 100_000  # of all contingency tables together, so that many features still make a small page
_FEWEST_CELLS, _MOST_CELLS = 48, 1200  # of one of them
_MOST_CLASSES = 30  # shown in a contingency table
_LONGEST = 120  # characters of a value that are shown; names of features are complete, since they are exported
_LONGEST_NOTE = 400
_LONGEST_CAUTION = 1000  # names three features
_MOST_CUTS = 60
_POINTS = 201
_FACTORS = (1.1, 1.25, 1.5, 2.0, 2.5, 3.0, 5.0, 10.0, 30.0, math.inf)  # between them the page interpolates
_LEVELS = np.round(
    np.concatenate([[0.002, 0.005, 0.01, 0.02], np.linspace(0.025, 0.975, 39), [0.98, 0.99, 0.995, 0.998]]), 6
)


def collect(ranking: Ranking, kept: Kept, source: str | None = None) -> Record:
    """The page's data; `source` says what was ranked, if the ranking does not know it."""
    columns = ranking.columns
    exact = {name: [_known(value) for value in columns[name]] for name in ("low", "high", "p_above", "p_independent")}
    short = (
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
    )
    features = {
        "name": columns["feature"],
        "ranked": [int(block is not None) for block in kept.blocks],
        "at_mode": [_known(value) for value in kept.at_mode.tolist()],
        "note": [_clipped(note, _LONGEST_NOTE) for note in _notes(ranking)],
        "cuts": [cuts[:_MOST_CUTS] for cuts in kept.cuts],
        **{name: columns[name] for name in ("values", "complete", "missing", "rows_to_decide", "at_epsilon")},
        **{name: [_rounded(value) for value in columns[name]] for name in short},
        **exact,
    }
    return {
        "version": __version__,
        "source": kept.source if source is None else source,
        "target": ranking.target,
        "rows": ranking.rows,
        "rows_with_target": ranking.rows_with_target,
        "classes": [_clipped(name, _LONGEST) for name in ranking.classes],
        "entropy": _rounded(ranking.entropy),
        "cautions": _cautions(ranking),
        "remarks": [
            remark | {"text": _clipped(remark["text"], _LONGEST_NOTE)}
            for remark in worded(ranking.remarks, ranking.reader)
            if remark["caution"] and remark["feature"] is not None  # the columns contain the others
        ],
        "settings": _plain(ranking.settings),
        "features": features,
        "laws": _laws(ranking.settings, kept),
        "robust": _robust(ranking, kept) if "factor" in ranking.settings else None,
        "tables": _tables(kept),
    }


def _notes(ranking: Ranking) -> list[str]:
    """How each column was read, without its cuts, which the page shows beside it."""
    values = ranking.columns["values"]
    short = [sentences.short_note(*each, ranking.reader) for each in zip(ranking.facts, values, strict=False)]
    return short or ranking.columns["note"]


def _cautions(ranking: Ranking) -> list[Record]:
    """One sentence for consecutive cautions of one kind, and all features that they are about."""
    cautions = [remark.to_dict() for remark in ranking.remarks if remark.caution]
    groups = [list(same) for _, same in groupby(cautions, remark_sentences.line_of_facts)]
    return [
        {
            "text": _clipped(remark_sentences.remark(same, ranking.reader), _LONGEST_CAUTION),
            "features": [each["feature"] for each in same if each["feature"] is not None],
        }
        for same in groups
    ]


def _asked(settings: Record, kept: Kept) -> tuple[PosteriorOptions, list[int], Tables]:
    """How posteriors are computed, which features were ranked, and their tables."""
    options = PosteriorOptions(
        prior=settings["prior"], approximation=settings["approximation"], random_state=settings.get("seed", 0)
    )
    places = [place for place, block in enumerate(kept.blocks) if block is not None]
    blocks = [block.astype(np.float64) for block in kept.blocks if block is not None]
    return options, places, Tables.of(blocks, [kept.odds[place] for place in places])


def _robust(ranking: Ranking, kept: Kept) -> Record:
    """Quantiles of the least and of the largest I of the features with missing values, for each factor.

    They are stored as floats of four bytes, the least I first, factor by factor.
    """
    options, places, blocks = _asked(ranking.settings, kept)
    factors = sorted({*_FACTORS, ranking.settings["factor"]} - {1.0})
    found = curves(blocks, factors, _LEVELS, options)
    quantiles: list[str | None] = [None] * len(kept.blocks)
    for place, curve in zip(places, found, strict=True):
        if not np.isnan(curve).any():
            quantiles[place] = base64.b64encode(curve.astype("<f4").tobytes()).decode()
    columns = ranking.columns
    return {
        "factors": [_plain(factor) for factor in factors],
        "levels": _LEVELS.tolist(),
        "quantiles": quantiles,
        "tipping": [_plain(_known(each)) for each in columns["tipping_factor"]],
        **{name: [_known(each) for each in columns[f"robust_{name}"]] for name in ("low", "high")},
    }


def _laws(settings: Record, kept: Kept) -> Record:
    """The posteriors of all features; those that were not ranked have no component."""
    options, places, blocks = _asked(settings, kept)
    count = len(kept.blocks)
    upper, p_zero, sizes = np.zeros(count), np.zeros(count), np.zeros(count, dtype=np.int64)
    upper[places] = np.log(np.minimum(blocks.rows, blocks.columns))
    points: list[list[float]] = []
    if options.approximation == "sampled":
        kind, points, p_zero = "draws", [[] for _ in range(count)], np.zeros(count)
        for place in places:
            points[place], p_zero[place] = _drawn(kept.blocks[place], kept.odds[place], options)
        sizes[places] = 1
        weight = 1.0 - p_zero[places]
        mean = variance = np.zeros(len(places))
    else:
        kind = "normal" if options.gaussian else "beta"
        found = posteriors(blocks, options)
        sizes[places] = np.bincount(found.table, minlength=len(places))
        p_zero[places] = found.p_zero
        weight, mean, variance = found.weight, found.mean, found.variance
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


def _drawn(block: CountArray | None, odds: float, options: PosteriorOptions) -> tuple[list[float], float]:
    """The draws of the ranking, at even steps of their order, and P(I = 0)."""
    if block is None:
        return [], 0.0
    law = drawn_law(Table.of_block(block), options, odds)
    draws = [part.draws for part in law.components if isinstance(part, Empirical)]
    shown = np.quantile(draws[0], np.linspace(0.0, 1.0, _POINTS)) if draws else np.zeros(0)
    return [float(f"{value:.7g}") for value in shown.tolist()], law.p_zero


def _tables(kept: Kept) -> list[Record | None]:
    """The contingency tables: the names of the values, and the counts, row by row, with the missing ones last."""
    most = min(max(_CELLS // max(len(kept.blocks), 1), _FEWEST_CELLS), _MOST_CELLS)
    return [
        None if block is None else _table(block, values, most)
        for block, values in zip(kept.blocks, kept.values, strict=True)
    ]


def _table(block: CountArray, values: Sequence[str], most: int) -> Record:
    rows = _largest(block[:-1].sum(axis=1), _MOST_CLASSES)
    columns = _largest(block[:, :-1].sum(axis=0), max(most // (len(rows) + 2), 2))
    shown = _gathered(_gathered(block, rows), columns, across=True)
    return {
        "classes": rows,
        "values": [_clipped(values[column], _LONGEST) for column in columns],
        "others": [block.shape[0] - 1 - len(rows), block.shape[1] - 1 - len(columns)],
        "counts": [_rounded(count) for count in shown.ravel().tolist()],
    }


def _largest(totals: CountArray, most: int) -> list[int]:
    """The positions of the largest, in their original order; a single remaining one is included, not summed up."""
    if totals.size <= most + 1:
        return list(range(totals.size))
    return sorted(np.argsort(-totals, kind="stable")[:most].tolist())


def _gathered(block: CountArray, chosen: list[int], *, across: bool = False) -> CountArray:
    """The chosen rows (or columns), the others summed up to one if there are any, and the last."""
    block = block.T if across else block
    rest = np.setdiff1d(np.arange(block.shape[0] - 1), chosen)
    parts = [block[chosen], block[rest].sum(axis=0, keepdims=True)] if rest.size else [block[chosen]]
    whole = np.concatenate([*parts, block[-1:]])
    return whole.T if across else whole


def _packed(values: FloatArray) -> str:
    return base64.b64encode(values.astype("<f8").tobytes()).decode()


def _clipped(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "…"


def _plain(value: Value) -> Value:
    """What the user passed, as JSON can hold it: numbers that are not finite by their names."""
    if isinstance(value, dict):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def _known(value: float) -> float | None:
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

    These are the blocks of counts (None for features that were not ranked), the names of the values, the cuts, and the
    prior odds of dependence. `at_mode` is the information at the most probable cell probabilities, for the plug-in
    rule; `source` says where the data came from. The posteriors are not kept: they follow from blocks and odds.
    """

    blocks: tuple[CountArray | None, ...]
    values: tuple[tuple[str, ...], ...]
    cuts: tuple[list[str], ...]
    odds: tuple[float, ...]
    at_mode: FloatArray
    source: str

    def chosen(self, places: Sequence[int]) -> Kept:
        """The same of features in another order."""
        return Kept(
            tuple(self.blocks[place] for place in places),
            tuple(self.values[place] for place in places),
            tuple(self.cuts[place] for place in places),
            tuple(self.odds[place] for place in places),
            self.at_mode[list(places)],
            self.source,
        )

    @classmethod
    def of(cls, features: Sequence[Feature], at_mode: FloatArray, data: object) -> Kept:
        """From settled features. Nothing is kept of identifiers, which have one value per row."""
        return cls(
            tuple(feature.block if feature.kind.ranked else None for feature in features),
            tuple(feature.values if feature.kind.ranked else () for feature in features),
            tuple(feature.shown_cuts for feature in features),
            tuple(feature.odds for feature in features),
            at_mode,
            source_of(data),
        )
