"""`rank`: which features inform about the target, how much, and how surely; best first."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from credimi.columns.reading_options import READINGS
from credimi.core.arguments import require_information, require_share
from credimi.core.errors import CredimiError
from credimi.core.tables import Tables
from credimi.counting.counts import Counts
from credimi.inference.fixed_priors import ADAPTIVE, pseudo_count
from credimi.inference.many_tables import summarize
from credimi.inference.mutual_information import checked_approximation
from credimi.selection import rules
from credimi.selection.page_data import Kept
from credimi.selection.ranking import COLUMNS, Ranking
from credimi.selection.rows_to_decide import growth_to_decide

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from credimi.columns.feature import Feature
    from credimi.inference.many_tables import Summary

    FloatArray = NDArray[np.float64]

__all__ = ["Ranking", "rank"]


def rank(
    data: Any,  # noqa: ANN401
    target: Any = None,  # noqa: ANN401
    *,
    epsilon: float = 0.003,
    level: float = 0.95,
    fdr: float = 0.05,
    prior: str | float = "adaptive",
    approximation: str = "matched",
    missing: str = "ignore",
    random_state: int = 0,
    threads: int | None = None,
    **counting: Any,  # noqa: ANN401
) -> Ranking:
    """Rank features by what they tell about the target.

    Parameters
    ----------
    data : Counts, or what `credimi.count` takes
        Paths, data frames, arrays; or counts made before (or the path of their file), which know their target.
    target : str or array
        The target's column, or its values beside the data.
    epsilon : float
        The information, in nats, from which on a feature is worth having: P(I > epsilon) decides.
    level : float
        Of the credible interval, and of the decisions.
    fdr : float
        The share of features with I <= epsilon that is expected, at most, among those of which keep_fdr is true;
        how many features tell nothing of the target is learnt from all of them.
    prior, approximation
        As in `mutual_information`.
    missing : "ignore" or "category"
        Whether a hole in a feature says nothing but that its value is not known, or is one more value of the feature.
        The columns missing_mi to missing_p_above tell whether the two differ.
    random_state : int
        The seed for approximation="sampled".
    threads : int, optional
        All cores, unless said.
    **counting
        features, exclude, missing_values, discretize, max_levels, delimiter, progress, engine ...: as in
        `credimi.count`.

    Returns
    -------
    Ranking
        One row a feature, best first.

    Examples
    --------
    >>> table = {"tells": list("aabb") * 25, "noise": list("abab") * 25, "class": list("ppqq") * 25}
    >>> ranking = credimi.rank(table, target="class")
    >>> ranking.columns["feature"]
    ['tells', 'noise']
    >>> ranking.columns["verdict"]
    ['keep', 'unsure']
    """
    checked_approximation(approximation)
    require_information("epsilon", epsilon)
    require_share("level", level)
    require_share("fdr", fdr)
    # Refuses what is no prior, also where there is nothing to rank.
    adds_nothing = prior != ADAPTIVE and pseudo_count(prior, (2, 2)) == 0.0
    if missing not in READINGS:
        raise CredimiError(f"missing is {missing!r}: choose one of {', '.join(READINGS)}")
    counts = _counts(data, target, counting, threads)
    seen = counts.settled()
    features = [feature.with_missing_as_value() for feature in seen] if missing == "category" else seen
    classes = counts.class_names()
    ranked = [feature for feature in features if not feature.note]
    for feature in ranked:
        if adds_nothing and feature.complete == 0:
            raise CredimiError(
                f"column {feature.name!r} is never seen together with the target, and prior {prior!r} adds nothing: "
                "choose another prior, or leave the column out"
            )
    asked = _PosteriorOptions(prior, approximation, float(epsilon), float(level), random_state, threads)
    found = asked.summary(_joined(ranked))
    undecided = rules.backward(found.p_above, level) & ~rules.forward(found.p_above, level)
    growth, at_epsilon = np.full(len(ranked), np.nan), np.zeros(len(ranked), dtype=bool)
    unsure = [feature for feature, open_ in zip(ranked, undecided, strict=True) if open_]
    growth[undecided], at_epsilon[undecided] = asked.growth(unsure)
    summary = _with_unranked(features, found, growth * counts.rows, at_epsilon) | _missingness(seen, asked)
    noted = np.array([bool(feature.note) for feature in features], dtype=bool)
    order = np.lexsort((np.arange(len(features)), noted, -summary["mi"]))  # ties: as the data have them
    settings = {
        "epsilon": float(epsilon),
        "level": float(level),
        "fdr": float(fdr),
        "prior": prior if isinstance(prior, str) else float(prior),
        "approximation": approximation,
        "missing": missing,
        "units": "nats",
        "missing_values": list(counts.settings.missing_values),
        "discretize": counts.settings.discretize,
    }
    if approximation == "sampled":
        settings["seed"] = random_state
    summary = {name: values[order] for name, values in summary.items()}
    features = [features[index] for index in order]
    columns = _columns(features, summary, epsilon, level, fdr)
    kept = Kept.of(features, summary["at_mode"], data)
    about = counts.target, counts.rows, classes, settings
    return Ranking(columns, *about, kept, _own_names(data), counts.doubts(), _entropy(counts))


@dataclass(frozen=True, slots=True)
class _PosteriorOptions:
    """What a ranking is asked for, of all its tables alike."""

    prior: str | float
    approximation: str
    epsilon: float
    level: float
    random_state: int
    threads: int | None

    def summary(self, blocks: Tables) -> Summary:
        """The posteriors in numbers."""
        return summarize(blocks, random_state=self.random_state, **self._settings)

    def growth(self, features: Sequence[Feature]) -> tuple[FloatArray, NDArray[np.bool_]]:
        """By what factor the rows have to grow, and whether I lies at epsilon, so that none will do."""
        if not features:
            return np.zeros(0), np.zeros(0, dtype=bool)
        return growth_to_decide(_joined(features), **self._settings)

    @property
    def _settings(self) -> dict[str, Any]:
        names = ("prior", "approximation", "epsilon", "level", "threads")
        return {name: getattr(self, name) for name in names}


def _entropy(counts: Counts) -> float:
    """Of the target, as its classes are shared out; NaN where there is no feature to be compared with it."""
    totals = counts.class_totals()
    if not totals.sum() > 0:
        return math.nan
    shares = totals[totals > 0] / totals.sum()
    return float(-(shares * np.log(shares)).sum())


def _joined(features: Sequence[Feature]) -> Tables:
    return Tables.of([feature.block.astype(np.float64) for feature in features], [feature.odds for feature in features])


def _missingness(features: Sequence[Feature], asked: _PosteriorOptions) -> dict[str, FloatArray]:
    """What tells about the target that a feature is missing; nothing, where it never or always is."""
    names = {"missing_mi": "mean", "missing_low": "low", "missing_high": "high", "missing_p_above": "p_above"}
    indicators = [feature.indicator() for feature in features]
    told = [index for index, block in enumerate(indicators) if (block[:-1, :-1].sum(axis=0) > 0).all()]
    summary = asked.summary(Tables.of([indicators[index].astype(np.float64) for index in told]))
    found = {}
    for name, attribute in names.items():
        found[name] = np.zeros(len(features))
        found[name][told] = getattr(summary, attribute)
    return found


def _counts(data: Any, target: Any, counting: dict[str, Any], threads: int | None) -> Counts:  # noqa: ANN401
    if isinstance(data, str | Path):
        from credimi.counting.engines.files import data_files  # noqa: PLC0415  (pyarrow takes a while to load)

        data = data_files(data, counting.get("delimiter"))
        if len(data) == 1 and data[0].is_counts:
            data = Counts.load(data[0].place)
    if isinstance(data, Counts):
        if counting:
            raise CredimiError(f"the data are counts already: {', '.join(counting)} cannot be changed any more")
        if isinstance(target, tuple) or not hasattr(target, "__iter__"):  # a name of pandas that is no text
            target = data.target if str(target) == data.target else target
        if target is not None and not isinstance(target, str):
            raise CredimiError(f"the counts are of the target {data.target!r}: its values cannot be given beside them")
        if isinstance(target, str) and target != data.target:
            raise CredimiError(f"the counts are of the target {data.target!r}, not {target!r}: count the data again")
        return data
    if target is None:
        raise CredimiError('name the target: rank(data, target="column"), or pass its values')
    from credimi.counting.count import count  # noqa: PLC0415  (pyarrow takes a while to load)

    return count(data, target, threads=threads, **counting)


def _own_names(data: Any) -> dict[str, Any]:  # noqa: ANN401
    if isinstance(data, Counts | str | Path):
        return {}
    from credimi.counting.engines.frames import own_names  # noqa: PLC0415  (pyarrow takes a while to load)

    return own_names(data)


def _with_unranked(
    features: Sequence[Feature], found: Summary, rows: FloatArray, at_epsilon: NDArray[np.bool_]
) -> dict[str, NDArray[Any]]:
    """The summary of all features: I is 0 where nothing can depend, and unknown of those not ranked."""
    named = {
        "mi": found.mean,
        "std": found.std,
        "low": found.low,
        "high": found.high,
        "mi_if_dependent": found.mean_if_dependent,
        "low_if_dependent": found.low_if_dependent,
        "high_if_dependent": found.high_if_dependent,
        "p_above": found.p_above,
        "p_independent": found.p_independent,
        "at_mode": found.at_mode,
        "rows_to_decide": rows,
    }
    ranked = np.array([not feature.note for feature in features], dtype=bool)
    unknown = np.array([feature.unranked for feature in features], dtype=bool)
    out: dict[str, NDArray[Any]] = {}
    for name, values in named.items():
        column = np.where(unknown | (name == "rows_to_decide"), np.nan, 1.0 if name == "p_independent" else 0.0)
        column[ranked] = values
        out[name] = column
    out["at_epsilon"] = np.zeros(len(features), dtype=bool)
    out["at_epsilon"][ranked] = at_epsilon
    return out


def _columns(
    features: Sequence[Feature], summary: dict[str, NDArray[Any]], epsilon: float, level: float, fdr: float
) -> dict[str, list[Any]]:
    p_above = summary["p_above"]
    ranked = np.array([not feature.note for feature in features], dtype=bool)
    keeps = {
        "keep_plugin": rules.plugin(summary["at_mode"], epsilon),
        "keep_forward": rules.forward(p_above, level),
        "keep_backward": rules.backward(p_above, level),
        "keep_fdr": rules.false_discovery(p_above, fdr, np.where(ranked, summary["p_independent"], np.nan)),
    }
    found: dict[str, list[Any]] = {
        "feature": [feature.name for feature in features],
        "values": [feature.block.shape[1] - 1 for feature in features],
        "complete": [feature.complete for feature in features],
        "missing": [feature.missing for feature in features],
        "verdict": [
            _verdict(feature, bool(forward), bool(backward))
            for feature, forward, backward in zip(features, keeps["keep_forward"], keeps["keep_backward"], strict=True)
        ],
        "note": [feature.note or feature.treatment for feature in features],
    }
    found |= {name: values.tolist() for name, values in (summary | keeps).items()}
    found["rows_to_decide"] = [None if math.isnan(rows) else _rounded_up(rows) for rows in found["rows_to_decide"]]
    return {name: found[name] for name in COLUMNS}


def _rounded_up(rows: float) -> int:
    """Two digits of it: more would say more than is known, and less than it would not decide."""
    number = math.ceil(rows)
    unit: int = 10 ** max(len(str(number)) - 2, 0)
    return math.ceil(number / unit) * unit


def _verdict(feature: Feature, kept_forward: bool, kept_backward: bool) -> str:  # noqa: FBT001
    if feature.unranked:
        return "not ranked"
    if kept_forward:
        return "keep"
    return "unsure" if kept_backward else "drop"
