"""The answer of `rank`: which features inform about the target, how much, and how surely; best first.

The figures, with the interval that is printed, come from `inference.tables.many_tables.summarize`, the decisions from
`inference.rules`, the sentences below the table from `questions.rank.remarks`.
"""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from credimi.columns.numbers.target_ranges import quartiles
from credimi.columns.reading_options import cut_by_mdl
from credimi.core.errors import CredimiError
from credimi.core.table import Table
from credimi.core.tables import Tables
from credimi.core.ties import best_first, places_by_name
from credimi.counts.counts import Counts
from credimi.counts.survey.survey_rows import scaled_blocks
from credimi.counts.weights import are_survey, effective, on_weights_of, whole_but_too_large
from credimi.inference.bounds import information_bounds
from credimi.inference.numbers.of_column import by_range, components_at, with_missing_as_value
from credimi.inference.rows_to_decide import rounded_up, rows_to_decide
from credimi.inference.rules import RULES, decide
from credimi.inference.tables.association import association
from credimi.inference.tables.many_tables import Beliefs, beliefs, summarize
from credimi.questions.rank.column_priors import by_prior, checked
from credimi.questions.rank.copies import copies
from credimi.questions.rank.missingness import mi_with_target, missingness, target_missingness
from credimi.questions.rank.page_data import Kept
from credimi.questions.rank.parts import parts
from credimi.questions.rank.remarks import remarks_on
from credimi.questions.rank.result import COLUMNS, NUMERIC_COLUMNS, ROBUST_COLUMNS, Ranking
from credimi.results.remarks import Remark, RemarkKind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from credimi.columns.feature import Feature
    from credimi.columns.interpret import InterpretedClasses
    from credimi.core.types import AnyArray, BooleanArray, Data, FloatArray, Record, Value, Values
    from credimi.counts.reading import Reading
    from credimi.inference.belief import Belief
    from credimi.inference.tables.many_tables import Summary

_ROWS_TO_DECIDE = ("rows_to_decide", "rows_to_decide_low", "rows_to_decide_high")


def ranked(data: Data | Counts, target: Values, reading: Reading, belief: Belief) -> Ranking:
    """The ranking of what `credimi.rank` takes."""
    threads, missing_as = belief.threads, reading.missing_as
    counted = counts_of(data, target, reading)
    counts, is_survey = cut_for(effective(counted), belief), are_survey(counted)
    classes, is_number = counts.interpreted_classes(), counts.settings.numeric_target
    if is_number and belief.robust_factor is not None:
        raise CredimiError(
            f"target {counts.target!r} is a number, and robust_factor is for classes: cut it (target_cuts, "
            "--target-cuts), such as quantile:4"
        )
    belief = belief.settled(classes.entropy)
    interpreted = counts.interpreted(classes=classes, threads=threads)
    features, blocks = _read(interpreted, belief, missing_as)
    own = checked(features, classes.labels.shown(), belief)
    names = [feature.name for feature in features if feature.kind.ranked]
    posterior_summary = by_prior(names, blocks, own, belief, lambda tables, each, _: summarize(tables, each))
    approximate = _names_of_approximate(features, posterior_summary)
    rows_needed = by_prior(
        names,
        blocks,
        own,
        belief,
        lambda tables, each, mask: rows_to_decide(tables, posterior_summary.p_above[mask], counts.rows, each),
    )
    summary = _with_unranked(features, posterior_summary, rows_needed[:3], rows_needed[3]) | missingness(
        interpreted, belief
    )
    summary |= target_missingness(features, belief)
    if belief.robust_factor is not None:
        factor, ends = belief.robust_factor, (posterior_summary.low, posterior_summary.high)
        bounds = by_prior(
            names,
            blocks,
            own,
            belief,
            lambda tables, each, mask: information_bounds.robust(
                tables, posterior_summary.p_above[mask], (ends[0][mask], ends[1][mask]), factor, each
            ),
        )
        summary |= _robust(features, bounds)
    unranked = np.array([float(not feature.kind.ranked) for feature in features])
    order = best_first(places_by_name([feature.name for feature in features]), summary["mi"], -unranked)
    settings = _settings(belief, counts, missing_as) | ({"prior_of_columns": own} if own else {})
    summary = {name: values[order] for name, values in summary.items()}
    with_own_rows = _with_tables(features, blocks) if counts.flat_squares is not None else features
    features, with_own_rows = ([columns[index] for index in order] for columns in (features, with_own_rows))
    for name, end in (("association", "mi"), ("association_low", "low"), ("association_high", "high")):
        summary[name] = association(summary[end], math.inf if is_number else classes.entropy)
    summary["entropy_share"] = np.minimum(summary["mi"] / (classes.entropy or np.nan), 1.0)
    if is_number:
        summary["entropy_share"] = np.full_like(summary["mi"], np.nan)
        summary["r2_equivalent"] = -np.expm1(-2.0 * summary["mi"])
    columns = _columns(features, summary, belief)
    if is_survey:  # weights that were scaled: about so many rows
        columns |= {name: [round(rows) for rows in columns[name]] for name in ("complete", "missing")}
    entropy = float(np.log(len(counts.classes))) if is_number else classes.entropy
    about_target = counts.target, len(classes.labels), entropy, classes.suspicions
    depends = summary["target_missing_p_above"] >= belief.level
    dependent = [feature for feature, is_dependent in zip(features, depends, strict=True) if is_dependent]
    scaled = round(counts.rows) if is_survey else None
    with_class = classes.totals.sum().item() if len(counts) else None
    remarks = remarks_on(
        features,
        columns,
        settings,
        about_target,
        _weights_remarks(counted, scaled, blocks if counts.flat_squares is not None else None),
        with_target=mi_with_target(dependent, belief),
        copies=copies(features, columns, counts),
        parts=parts(features, columns, counts),
        approximate=approximate,
    )
    return Ranking(
        columns,
        target=counts.target,
        rows=counts.rows if scaled is None else scaled,
        classes=classes.labels.shown(),
        settings=settings,
        entropy=np.nan if is_number else classes.entropy,
        remarks=remarks,
        facts={feature.name: feature.facts | _of_target(feature, counts) for feature in features},
        rows_with_target=with_class if scaled is None or with_class is None else round(with_class),
        _names=_names_in_data(data),
        _kept=Kept.of(with_own_rows, summary["at_mode"], data),
    )


def _of_target(feature: Feature, counts: Counts) -> Record:
    """The quartiles of a target that is a number, in the rows of each value or range of the feature."""
    known = None if feature.averaged is None else feature.averaged.of_target
    cuts = counts.settings.given_cuts
    if known is None or cuts is None or isinstance(cuts[0], str):
        return {}
    return {"target_quartiles": quartiles(by_range(known, feature), np.array(cuts))}


def _names_of_approximate(features: Sequence[Feature], summary: Summary) -> frozenset[str]:
    """The features whose P(independent) may be off."""
    ranked = (feature.name for feature in features if feature.kind.ranked)
    return frozenset(name for name, is_so in zip(ranked, summary.approximate, strict=True) if is_so)


def _weights_remarks(counted: Counts, scaled: int | None, own: Tables | None) -> list[Remark]:
    """What was done with the weights; `scaled` is the number of rows that survey weights are worth.

    `own` are the tables, if each is scaled to its own number of rows.
    """
    if scaled is None:
        return list(on_weights_of([counted]))
    kind = RemarkKind.WEIGHTS_TOO_LARGE if whole_but_too_large(counted) else RemarkKind.WEIGHTS_SCALED
    worth = (
        [scaled] if own is None else [round(Table.of_block(own.block(table)).rows) for table in range(own.rows.size)]
    )
    return [Remark(kind, rows=scaled, least_rows=min(worth, default=None), most_rows=max(worth, default=None))]


def _settings(options: Belief, counts: Counts, missing_as: str) -> Record:
    """What the ranking was made with, as `Ranking.settings` and JSON have it."""
    settings: Record = {
        **options.threshold,
        "level": options.level,
        "fdr": options.fdr,
        "prior": options.prior,
        "approximation": options.approximation,
        "missing": missing_as,
        "units": "nats",
        "missing_values": list(counts.settings.missing_values),
        "discretize": counts.settings.discretize,
    }
    settings |= counts.settings.target_in_words
    if counts.settings.target_cuts is not None:
        settings["target_cuts"] = list(counts.settings.target_cuts)
    if counts.settings.weights is not None:
        settings["weights"] = counts.settings.weights
    if counts.settings.weights_are is not None:
        settings["weights_are"] = counts.settings.weights_are
    if options.robust_factor is not None:
        settings["factor"] = options.robust_factor
    if options.method is not None:
        settings["method"] = options.method
    if options.approximation == "sampled":
        settings["seed"] = options.random_state
    return settings


def cut_for(counts: Counts, belief: Belief) -> Counts:
    """The counts, with numbers cut by MDL if the prior or the approximation has no average over all cuts."""
    if belief.averages_cuts:
        return counts
    settings = replace(counts.settings, discretize=cut_by_mdl(counts.settings.discretize)).in_ranges
    return counts if settings == counts.settings else replace(counts, settings=settings)


def beliefs_of(counts: Counts, classes: InterpretedClasses, options: Belief, missing: str) -> Beliefs:
    """The figures by which the rules decide about the features, in the order of the counts: as in `rank`."""
    features, blocks = _read(_interpreted(counts, classes, options), options, missing)
    ranked_beliefs = beliefs(blocks, options)
    mean, at_mode, p_above = (
        _among_all(features, figures)
        for figures in (ranked_beliefs.mean, ranked_beliefs.at_mode, ranked_beliefs.p_above)
    )
    return Beliefs(mean, at_mode, p_above, _among_all(features, ranked_beliefs.p_independent, np.nan))


def standing(counts: Counts, classes: InterpretedClasses, options: Belief, missing: str, factor: float) -> BooleanArray:
    """Mask of the features that stand at the factor: P(I > epsilon) >= level whatever values are missing.

    It is in the order of the counts.
    """
    features, blocks = _read(_interpreted(counts, classes, options), options, missing)
    stands = information_bounds.standing(blocks, beliefs(blocks, options).p_above, factor, options)
    return _among_all(features, stands, unknown=False, otherwise=False)


def _interpreted(counts: Counts, classes: InterpretedClasses, options: Belief) -> list[Feature]:
    return cut_for(effective(counts), options).interpreted(classes=classes, threads=options.threads)


def _read(interpreted: list[Feature], options: Belief, missing: str) -> tuple[list[Feature], Tables]:
    """The features, with missing values treated as asked, and the tables of those that can be ranked."""
    features = [with_missing_as_value(feature) for feature in interpreted] if missing == "category" else interpreted
    ranked = [feature for feature in features if feature.kind.ranked]
    for feature in ranked:
        if options.adds_nothing and feature.complete == 0:
            asked = "prior" if options.method is None else "method"
            raise CredimiError(
                f"column {feature.name!r} is never seen together with the target, and {asked} "
                f"{getattr(options, asked)!r} adds nothing: choose another {asked}, or leave the column out"
            )
    blocks, squares = [feature.block.astype(np.float64) for feature in ranked], [feature.squares for feature in ranked]
    averaged = [feature.components for feature in ranked]
    if any(each is not None for each in squares):
        weights = [block.sum() for block in blocks]
        blocks = scaled_blocks(blocks, squares)
        averaged = [
            None if feature.averaged is None else components_at(feature.averaged, block.sum() / weight)
            for feature, block, weight in zip(ranked, blocks, weights, strict=True)
        ]
    return features, Tables.of(blocks, [feature.odds for feature in ranked], averaged)


def _with_tables(features: Sequence[Feature], blocks: Tables) -> list[Feature]:
    """The features with these tables of those that are ranked."""
    scaled, tables = [], iter(range(blocks.rows.size))
    for feature in features:
        if feature.kind.ranked:
            table = next(tables)
            known, components = feature.averaged, None if blocks.averaged is None else blocks.averaged[table]
            if known is not None and components is not None:
                known = replace(known, components=components)
            scaled.append(replace(feature, block=blocks.block(table), averaged=known))
        else:
            scaled.append(feature)
    return scaled


def _among_all(
    features: Sequence[Feature], figures: AnyArray, otherwise: float = 0.0, unknown: float = np.nan
) -> AnyArray:
    """The figures of all features, from those of the ranked ones.

    Features about which nothing is known, such as identifiers, get `unknown`; features of one value get `otherwise`.
    """
    result = np.array([unknown if feature.kind.unknown else otherwise for feature in features], dtype=figures.dtype)
    result[[feature.kind.ranked for feature in features]] = figures
    return result


def counts_of(data: Data | Counts, target: Values, reading: Reading) -> Counts:
    """The counts of the data; or `data` itself, if it is counts, in memory or as a file."""
    if isinstance(data, str | Path):
        from credimi.sources.files import data_files  # noqa: PLC0415  (pyarrow takes a while to load)

        files = data_files(data, reading.delimiter)
        data = Counts.load(files[0].place) if len(files) == 1 and files[0].is_counts else files
    if isinstance(data, Counts):
        if reading.of_rows:
            raise CredimiError(f"the data are counts already: {', '.join(reading.of_rows)} can no longer be changed")
        if isinstance(target, tuple) or not hasattr(target, "__iter__"):  # a name in pandas that is no text
            target = data.target if str(target) == data.target else target
        if target is not None and not isinstance(target, str):
            raise CredimiError(f"the counts are of the target {data.target!r}: do not pass its values with them")
        if isinstance(target, str) and target != data.target:
            raise CredimiError(f"the counts are of the target {data.target!r}, not {target!r}: count the data again")
        return data
    if target is None:
        raise CredimiError('name the target: target="column", or pass its values')
    from credimi.sources.count import counted_data  # noqa: PLC0415  (pyarrow takes a while to load)

    return counted_data(data, target, reading)


def _names_in_data(data: Data | Counts) -> Record:
    if isinstance(data, Counts | str | Path):
        return {}
    from credimi.sources.frames import own_names  # noqa: PLC0415  (pyarrow takes a while to load)

    return own_names(data)


def _with_unranked(
    features: Sequence[Feature],
    summary: Summary,
    rows_needed: tuple[FloatArray, FloatArray, FloatArray],
    at_epsilon: BooleanArray,
) -> dict[str, AnyArray]:
    """The figures of all features: I is 0 if nothing can depend on the feature, and unknown if it is not ranked."""
    ranked_columns = {
        "mi": summary.mean,
        "std": summary.std,
        "low": summary.low,
        "high": summary.high,
        "mi_if_dependent": summary.mean_if_dependent,
        "low_if_dependent": summary.low_if_dependent,
        "high_if_dependent": summary.high_if_dependent,
        "p_above": summary.p_above,
        "p_independent": summary.p_independent,
        "at_mode": summary.at_mode,
        **dict(zip(_ROWS_TO_DECIDE, rows_needed, strict=True)),
    }
    otherwise = {"p_independent": 1.0, **dict.fromkeys(_ROWS_TO_DECIDE, np.nan)}
    columns = {name: _among_all(features, values, otherwise.get(name, 0.0)) for name, values in ranked_columns.items()}
    return columns | {"at_epsilon": _among_all(features, at_epsilon, unknown=False)}


def _robust(features: Sequence[Feature], bounds: information_bounds.Robust) -> dict[str, AnyArray]:
    """The bounds at the factor and the tipping factors; infinite where nothing is missing, or nothing can depend."""
    tipping = _among_all(features, bounds.tipping, np.inf)
    tipping[[feature.complete == 0 and not feature.kind.ranked for feature in features]] = np.nan  # never seen
    interval_ends = (_among_all(features, bounds.low), _among_all(features, bounds.high))
    return dict(zip(ROBUST_COLUMNS, (*interval_ends, tipping), strict=True))


def _columns(features: Sequence[Feature], summary: dict[str, AnyArray], options: Belief) -> dict[str, list[Value]]:
    ranked = np.array([feature.kind.ranked for feature in features], dtype=bool)
    # Features that are not ranked do not count when the share of independent features is estimated.
    p_independent = np.where(ranked, summary["p_independent"], np.nan)
    all_beliefs = Beliefs(summary["mi"], summary["at_mode"], summary["p_above"], p_independent)
    keeps = {f"keep_{rule}": decide(rule, all_beliefs, options) for rule in RULES}
    columns: dict[str, list[Value]] = {
        "feature": [feature.name for feature in features],
        "values": [feature.block.shape[1] - 1 for feature in features],
        "complete": [feature.complete for feature in features],
        "missing": [feature.missing for feature in features],
        "verdict": [
            _verdict(feature, forward=forward, backward=backward)
            for feature, forward, backward in zip(features, keeps["keep_forward"], keeps["keep_backward"], strict=True)
        ],
    }
    columns |= {name: values.tolist() for name, values in (summary | keeps).items()}
    columns |= {name: [rounded_up(rows) for rows in columns[name]] for name in _ROWS_TO_DECIDE}
    return {name: columns[name] for name in (*COLUMNS, *NUMERIC_COLUMNS, *ROBUST_COLUMNS) if name in columns}


def _verdict(feature: Feature, *, forward: bool, backward: bool) -> str:
    if feature.kind.unknown:
        return "not ranked"
    if forward:
        return "keep"
    return "unsure" if backward else "drop"
