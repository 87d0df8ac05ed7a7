"""One column of numbers, averaged over all its cuts: from its counts by label to its posterior and its ranges.

`columns.interpret` calls this when all rows are counted, and the questions take from it what they need: `rank` the
posterior, and every other question the most probable ranges as the table of the column, with the odds

    averaged evidence / evidence of this table, given dependence,

so that what is said of the ranges pays for having chosen them. Both are evidences of the complete rows. If both sides
have missing values, the averaged evidence is multiplied by that of this table with all rows over that of its complete
rows: incomplete rows then tell about dependence, too (see `evidence.two_sided_weights`).
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from credimi.columns.feature import CutBy
from credimi.columns.numbers.number_cells import AveragedCuts, TargetCells, cells_of_labels
from credimi.core.tables import Tables, relabel
from credimi.inference.evidence.adaptive_prior import log_odds_of_dependence
from credimi.inference.numbers.all_cuts import joined, most_probable_borders, strengths_for, weighed
from credimi.inference.numbers.bits import NOTHING, Pairs, of_numbers

if TYPE_CHECKING:
    from credimi.columns.feature import Feature
    from credimi.core.types import CountArray, FloatArray, IntegerArray

_MOST_LOG_ODDS = 700.0


def averaged(block: CountArray) -> tuple[AveragedCuts, IntegerArray, float] | None:
    """The posterior, after how many labels the most probable cuts lie, and the odds for the table of these ranges.

    `block` has the counts by label, in order, with missing values last; None if the complete rows have one value only.
    """
    from credimi.columns.numbers.propose_borders import proposed_places  # noqa: PLC0415  (loads compiled code)

    cells = cells_of_labels(block, proposed_places)
    if not cells:
        return None
    strengths = strengths_for(float(cells[0].rows[0]), block.shape[0] - 1)
    figures = [weighed(each, strengths) for each in cells]
    found = most_probable_borders(figures)
    chosen = cells[found.resolution]
    posterior = joined(figures, float(cells[0].rows[0]), block.shape[0] - 2)
    components = posterior.components()
    ranges = np.concatenate([[0], found.borders, [chosen.width.size - 1]])
    table = np.zeros((block.shape[0], ranges.size))
    table[:-1, :-1] = np.diff(chosen.below[0, ranges], axis=0).T
    of_table = float(log_odds_of_dependence(Tables.of([table]), threads=1)[0])
    odds = math.exp(min(max(posterior.log_odds - of_table, -_MOST_LOG_ODDS), _MOST_LOG_ODDS))
    places = chosen.places if chosen.places is not None else np.arange(chosen.width.size)
    if block[:-1, -1].any() and block[-1, :-1].any():
        table[:, -1] = block[:, -1]
        table[-1, :-1] = np.add.reduceat(block[-1, :-1], places[ranges[:-1]])
        components[0] += float(log_odds_of_dependence(Tables.of([table]), threads=1)[0]) - of_table
    kept = AveragedCuts(cells, components, tuple(found.probability.tolist()))
    return kept, places[found.borders], odds


def components_at(known: AveragedCuts, factor: float) -> FloatArray:
    """The components of the posterior, if each row counts as so many."""
    if known.of_target is not None:
        return components_of_target(known.of_target, factor)
    scaled = [each.times(factor) for each in known.cells]
    rows, classes = float(scaled[0].rows[0]), scaled[0].below.shape[2]
    figures = [weighed(each, strengths_for(rows, classes)) for each in scaled]
    return joined(figures, rows, classes - 1).components()


def components_of_target(counts: TargetCells, factor: float = 1.0) -> FloatArray:
    """The components beside a target that is a number, and the upper bound of I as a fourth row.

    Two numbers have bits (see `bits`). Beside categories the target is the number that is averaged over all its cuts:
    it does not matter which of the two is called the target.
    """
    block = np.asarray(counts.block * factor if factor != 1.0 else counts.block, dtype=np.float64)
    least = float(np.log(max(min(block.shape) - 1, 2)))
    if counts.is_number:
        components = of_numbers(Pairs.of_block(block)).components
    else:
        found = averaged(np.ascontiguousarray(block.T))
        components = NOTHING.components if found is None else found[0].components
    return np.concatenate([components, np.full((1, components.shape[1]), least)])


def of_feature(feature: Feature, block: CountArray) -> AveragedCuts:
    """What is known of a column beside a target that is a number; `block` has its labels as they were counted.

    Numbers that the user cuts are categories: their ranges.
    """
    is_number = feature.cut_by in {CutBy.AVERAGE, CutBy.MDL, CutBy.QUARTERS}
    places = feature.typed_as if is_number else feature.places[feature.typed_as]
    values = len(feature.labels) if is_number else feature.block.shape[1] - 1
    joint = relabel(block, np.arange(block.shape[0] - 1), places, (block.shape[0] - 1, values))
    counts = TargetCells(joint, is_number)
    known = feature.averaged
    cells, probabilities = ((), ()) if known is None else (known.cells, known.probabilities)
    return AveragedCuts(cells, components_of_target(counts), probabilities, counts)


def by_range(counts: TargetCells, feature: Feature) -> CountArray:
    """The same counts by the ranges of the feature, or by its categories."""
    if not counts.is_number:
        return counts.block
    return relabel(
        counts.block,
        np.arange(counts.block.shape[0] - 1),
        feature.places,
        (counts.block.shape[0] - 1, int(feature.places.max()) + 1),
    )


def with_missing_as_value(feature: Feature) -> Feature:
    """The feature with missing as one more value, beside a target of classes or a number."""
    changed = feature.with_missing_as_value()
    known = None if feature.averaged is None else feature.averaged.of_target
    if changed is feature or known is None:
        return changed
    block = by_range(known, feature)
    cells = TargetCells(np.hstack([block, np.zeros_like(block[:, :1])]), is_number=False)
    return replace(changed, averaged=AveragedCuts((), components_of_target(cells), (), cells))
