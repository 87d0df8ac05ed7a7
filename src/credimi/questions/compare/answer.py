"""`compare`: which features are more or less informative in a second sample, and how surely (`change`)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from credimi.columns.numbers.target_ranges import bins_asked, checked_cuts
from credimi.core.errors import CredimiError
from credimi.core.tables import Tables
from credimi.counts.counts import Counts
from credimi.counts.survey.survey_rows import scaled_blocks
from credimi.counts.weights import effective, on_weights_of
from credimi.inference.evidence import adaptive_prior
from credimi.inference.tables.many_tables import summary_of
from credimi.questions.compare import change, stored_ranking
from credimi.questions.compare.alignment import aligned
from credimi.questions.compare.change_records import (
    CompareOptions,
    check_classes,
    check_several_classes,
    in_order,
    record,
    settings_of,
)
from credimi.questions.compare.many_changes import Samples
from credimi.questions.compare.result import Comparison
from credimi.questions.rank.answer import counts_of
from credimi.results.remarks import approximate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from credimi.columns.feature import Feature
    from credimi.core.types import Data, FloatArray, Foreign, Record, Values
    from credimi.counts.reading import Reading
    from credimi.inference.belief import Belief
    from credimi.questions.compare.alignment import AlignedCounts
    from credimi.questions.rank.result import Ranking


def changes_between(
    a: Data | Counts | Ranking,
    b: Data | Counts | Ranking,
    target: Values,
    *,
    names: Sequence[str],
    reading: Reading,
    belief: Belief,
    p_same: float,
) -> Comparison:
    """The comparison of what `credimi.compare` takes."""
    options = CompareOptions.of(belief, p_same)
    first, second = _two(names)
    rankings = [stored_ranking.read(sample) for sample in (a, b)]
    if rankings[0] is not None and rankings[1] is not None:
        if reading.of_rows:
            raise CredimiError(f"these are already rankings: {', '.join(reading.of_rows)} can no longer be changed")
        if target is not None and str(target) != (ranked_target := str(rankings[0]["settings"].get("target"))):
            raise CredimiError(
                f"the rankings are of the target {ranked_target!r}, not {str(target)!r}: rank the data again"
            )
        return stored_ranking.compared(rankings[0], rankings[1], options, (first, second))
    if rankings != [None, None]:
        raise CredimiError("a ranking has no counts: pass two rankings, or counts or data for both")
    if bins_asked(checked_cuts(reading.target_cuts)) is not None:
        raise CredimiError(
            f"target_cuts is {reading.target_cuts!r}, and the quantiles of the two differ: pass the cuts, such as "
            "[30, 50] (target_cuts, --target-cuts)"
        )
    samples = [effective(counts) for counts in _counted((a, b), target, reading)]
    aligned_counts = aligned(samples)
    one, other = (sample.class_names(0) if len(sample.classes) else () for sample in samples)
    check_several_classes(aligned_counts.samples[0].target, (one, other), (first, second))
    check_classes(aligned_counts.samples[0].target, one, other, aligned_counts.classes)
    return compared(aligned_counts, options, reading.missing_as, (first, second))


def _counted(samples: tuple[Foreign, Foreign], target: Values, reading: Reading) -> tuple[Counts, Counts]:
    """The counts of both samples; a target that is a number in one of them has the same cells in the other."""
    one, other = samples
    first = counts_of(one, target, reading)
    second = counts_of(other, target, _with_cells_of(first, reading, other))
    if second.settings.numeric_target and not first.settings.numeric_target:
        first = counts_of(one, target, _with_cells_of(second, reading, one))
    return first, second


def _with_cells_of(counts: Counts, reading: Reading, data: Foreign) -> Reading:
    """How data are read so that a target that is a number has the cells of these counts."""
    if not counts.settings.numeric_target or isinstance(data, Counts):
        return reading
    return replace(reading, target_as="number", target_cuts=list(counts.settings.given_cuts or ()))


def compared(both: AlignedCounts, options: CompareOptions, missing_as: str, names: tuple[str, str]) -> Comparison:
    """The comparison of two aligned samples."""
    options = options.settled(both.entropy)
    first, second = both.samples
    interpreted_samples = [sample.interpreted() for sample in both.samples]
    features = [feature.with_missing_as_value() if missing_as == "category" else feature for feature in both.features]
    cells = [_cells([side[index] for side in interpreted_samples], missing_as) for index in range(len(features))]
    blocks = [[block for block, _ in of_column] for of_column in cells]
    ranked = [index for index, feature in enumerate(features) if feature.kind.ranked]
    tables = [
        Tables.of(scaled_blocks(*map(list, zip(*(cells[index][side] for index in ranked), strict=True))))
        if ranked
        else Tables.of([])
        for side in range(2)
    ]
    samples = samples_of(tables, options)
    summaries = [
        summary_of(posteriors, upper, np.full(upper.size, np.nan), options, if_dependent=False)
        for posteriors, upper in zip(samples.posteriors, samples.upper, strict=True)
    ]
    changes = options.changes(samples)
    table_of_feature = {index: number for number, index in enumerate(ranked)}
    rows: list[Record] = []
    for index, feature in enumerate(features):
        row: Record = {"feature": feature.name}
        for letter, block in zip("ab", blocks[index], strict=True):
            row[f"complete_{letter}"] = block[:-1, :-1].sum().astype(first.flat.dtype).item()
        number = table_of_feature.get(index)
        if number is None:
            rows.append(record(row, None, None, None, options))
            continue
        figures = [
            {name: getattr(summary, name)[number].item() for name in ("mean", "low", "high")} for summary in summaries
        ]
        rows.append(record(row, figures[0], figures[1], changes[number], options))
    settings = settings_of(options, missing_as) | {"missing_values": list(first.settings.missing_values)}
    settings |= first.settings.target_in_words
    rows_of = first.rows, second.rows
    if first.settings.weights is not None:  # which may have been scaled: about so many rows
        rows_of = round(first.rows), round(second.rows)
        rows = [row | {name: round(row[name]) for name in ("complete_a", "complete_b")} for row in rows]
    only = both.only[0], both.only[1]
    facts = {feature.name: feature.facts for feature in features}
    marked = summaries[0].approximate | summaries[1].approximate
    means = np.max([summary.mean for summary in summaries], axis=0)
    remarks = [
        approximate(features[ranked[number]].name, float(means[number]), options.nats)
        for number in np.flatnonzero(marked).tolist()
    ]
    return Comparison(
        in_order(rows),
        target=first.target,
        classes=both.classes,
        names=names,
        rows=rows_of,
        only=only,
        settings=settings,
        facts=facts,
        remarks=(*sorted(remarks, key=lambda each: -each.stake), *on_weights_of(both.samples)),
    )


def samples_of(tables: Sequence[Tables], options: CompareOptions) -> Samples:
    """Posteriors and priors of both samples."""
    first, second = (adaptive_prior.components(sample, threads=options.threads) for sample in tables)
    prior_a, prior_b = (change.prior_components(sample, threads=options.threads) for sample in tables)
    upper_a, upper_b = (np.log(np.minimum(sample.rows, sample.columns)) for sample in tables)
    return Samples((first, second), (prior_a, prior_b), (upper_a, upper_b))


def _cells(sides: Sequence[Feature], missing_as: str) -> list[tuple[FloatArray, FloatArray | None]]:
    """The tables of one column, and the squares of its weights; if missing is a value of one, it is one of both."""
    as_value = missing_as == "category" and any(side.block[:, -1].any() for side in sides)

    def read(cells: FloatArray) -> FloatArray:
        return np.hstack([cells, np.zeros_like(cells[:, :1])]) if as_value else cells

    return [
        (read(side.block.astype(np.float64)), None if side.squares is None else read(side.squares)) for side in sides
    ]


def _two(names: Sequence[str]) -> tuple[str, str]:
    if isinstance(names, str) or len(names) != 2:
        raise CredimiError(f"names is {names!r}: pass two texts, the names of a and b")
    return str(names[0]), str(names[1])
