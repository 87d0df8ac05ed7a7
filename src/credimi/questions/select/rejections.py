"""Why columns were not taken into the smallest set, and how many rows would decide about the unsure ones.

A column "tells nothing" if `rank` drops it, whatever the other columns are like. It is "redundant" if a taken column,
or all of them together, surely says what it says; if it is not even probable that such a column tells anything alone,
it "adds nothing". Columns that a limit or an interrupt left out are "not reached"; all others are "unsure".
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from credimi.core.ties import best_first
from credimi.counts.counter import ByValue
from credimi.inference.rows_to_decide import growth_to_decide, rounded_up
from credimi.inference.rules import from_share, unsure
from credimi.inference.tables.stratified_tables import StratifiedTables, independence, summarize
from credimi.questions.select.result import Rejection

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from credimi.core.types import FloatArray
    from credimi.questions.select.smallest_set import Search

CREDIBLE = 0.95  # a probability from which on something is sure


def rejected(search: Search, *, complete: bool) -> list[Rejection]:
    """Why the other columns were not taken, those that tell most alone first."""
    alone, smallest_gain = search.alone, search.smallest_gain
    redundancy = np.nan_to_num(search.redundancy)
    p_redundant = np.max(redundancy, axis=1, initial=0.0)
    most_alike = redundancy.argmax(axis=1) if search.taken else np.zeros(search.count, dtype=np.intp)
    tells_nothing = 1.0 - alone.p_above_even >= CREDIBLE  # as `rank` has it, whatever the other columns are like
    redundant = ~tells_nothing & ((p_redundant >= CREDIBLE) | search.redundant_given_all)
    not_reached = ~tells_nothing & ~redundant & ~np.bool_(complete) & (smallest_gain.p_above >= search.options.level)
    undecided = search.remaining & ~tells_nothing & ~redundant & ~not_reached
    rows = _rows_to_decide(search, np.flatnonzero(undecided), most_alike) if complete else {}
    informative = alone.p_above >= 0.5  # of a redundant column: otherwise it adds nothing
    rejections = []
    order = best_first(search.places, alone.mean)
    for column in order[search.remaining[order]].tolist():
        adds_nothing = "redundant" if informative[column] else "adds nothing"
        reason = "tells nothing" if tells_nothing[column] else adds_nothing if redundant[column] else "unsure"
        rejections.append(
            Rejection(
                feature=search.names[column],
                reason="not reached" if not_reached[column] else reason,
                tells=float(alone.mean[column]),
                adds=float(smallest_gain.mean[column]),
                low=float(smallest_gain.low[column]),
                high=float(smallest_gain.high[column]),
                p_adds=float(smallest_gain.p_above[column]),
                like=search.names[search.taken[most_alike[column]]]
                if redundant[column] and p_redundant[column] >= CREDIBLE
                else None,
                rows_to_decide=rows.get(column),
                p_redundant=() if tells_nothing[column] else nan_to_none(search.redundancy[column]),
            )
        )
    return rejections


def nan_to_none(figures: FloatArray) -> tuple[float | None, ...]:
    """The same figures, with None in place of NaN, as JSON needs it."""
    return tuple(None if math.isnan(figure) else figure for figure in figures.tolist())


def _rows_to_decide(search: Search, columns: NDArray[np.intp], most_alike: NDArray[np.intp]) -> dict[int, int]:
    """The number of rows at which about half of all samples would decide, for each of `columns`.

    `most_alike` is, for each column, the index of the taken column that makes it most redundant.
    """
    result: dict[int, int] = {}
    options, all_rows = replace(search.options, level=CREDIBLE), float(search.counter.rows)
    for given in np.unique(most_alike[columns]).tolist():
        alike = columns[most_alike[columns] == given]
        rule, share_of_noise = ByValue(search.taken[given]) if search.taken else None, search.share_of_noise
        if given < len(search.shares_of_noise):
            share_of_noise = search.shares_of_noise[given]
        for counted in search.strata(search.counter, rule, alike):
            chunk, tables = counted.columns, StratifiedTables.of(counted.tables, counted.starts)
            if search.taken:
                factor = search.odds_factor(counted, independence(tables, options.threads))
                tables = tables.with_odds(factor)
            summary = summarize(tables, options)
            unsure_alone = unsure(summary.p_above, CREDIBLE)  # others are unsure because of the share of noise
            p_above = from_share(summary.p_above, summary.p_independent, share_of_noise)
            asked = unsure_alone | unsure(p_above, CREDIBLE)
            odds = np.where(unsure_alone, 1.0, (1.0 - share_of_noise) / share_of_noise)
            tables = tables.with_odds(odds).chosen(asked)
            growth, _ = growth_to_decide(tables.tables, options, tables.starts)
            for column, factor_of_rows in zip(chunk[asked].tolist(), growth.tolist(), strict=True):
                rows = rounded_up(factor_of_rows * all_rows)
                if rows is not None:
                    result[column] = rows
    return result
