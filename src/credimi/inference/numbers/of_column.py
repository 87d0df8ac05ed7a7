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
from typing import TYPE_CHECKING

import numpy as np

from credimi.columns.numbers.number_cells import AveragedCuts, cells_of_labels
from credimi.core.tables import Tables
from credimi.inference.evidence.adaptive_prior import log_odds_of_dependence
from credimi.inference.numbers.all_cuts import joined, most_probable_borders, strengths_for, weighed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from credimi.columns.numbers.number_cells import Cells
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


def components_at(cells: Sequence[Cells], factor: float) -> FloatArray:
    """The components of the posterior, if each row counts as so many."""
    scaled = [each.times(factor) for each in cells]
    rows, classes = float(scaled[0].rows[0]), scaled[0].below.shape[2]
    figures = [weighed(each, strengths_for(rows, classes)) for each in scaled]
    return joined(figures, rows, classes - 1).components()
