"""What may mislead in a selection: the remarks that `rank` would make, as far as a user would act differently.

They are made as in `rank`, with the probability `CREDIBLE` for what they claim. What would be wrong with using a column
(as good as the target, an identifier, dates, a copy) is remarked of columns that were taken. What may hide information,
or show too much (where values are missing, how they are written), is remarked of all columns, since that may be why
a column was not taken.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from credimi.core.ties import best_first, places_by_name
from credimi.inference.belief import Belief
from credimi.questions.rank.copies import copies_in_rows
from credimi.questions.rank.missingness import mi_with_target, missingness, target_missingness
from credimi.questions.rank.remarks import remarks_on
from credimi.questions.select.rejections import CREDIBLE

if TYPE_CHECKING:
    from collections.abc import Collection

    from credimi.columns.feature import Feature
    from credimi.core.types import FloatArray, Record
    from credimi.counts.codes import CodeArray, Codes
    from credimi.counts.counter import Counter
    from credimi.results.remarks import Remark

_MAX_ROWS = 2_048  # in which columns are compared, as in `rank`


def cautions(
    counter: Counter,
    alone: tuple[FloatArray, FloatArray],
    taken: Collection[str],
    options: Belief,
    *,
    approximate: Collection[str],
) -> tuple[Remark, ...]:
    """The cautions about a selection; `alone` has the mean of I and the lower end of its interval, for each feature.

    `approximate` are the features whose P(independent) may be off.
    """
    book, classes = counter.book, counter.book.interpreted
    features = [*book.features, *book.left_out]
    unknown = [np.nan if feature.kind.unknown else 0.0 for feature in book.left_out]
    mean, low = (np.append(figures, unknown) for figures in alone)
    order = best_first(places_by_name([feature.name for feature in features]), np.nan_to_num(mean)).tolist()
    features, options = [features[index] for index in order], _as_in_rank(options)
    summary = missingness(features, options) | target_missingness(features, options)
    columns: Record = {name: values.tolist() for name, values in summary.items()}
    columns |= {"mi": mean[order].tolist(), "low": low[order].tolist()}
    columns["values"] = [feature.block.shape[1] - 1 for feature in features]
    columns["complete"] = [feature.complete for feature in features]
    columns["keep_forward"] = [feature.name in taken for feature in features]
    columns["verdict"] = ["keep" if is_taken else "drop" for is_taken in columns["keep_forward"]]
    columns["rows_to_decide"], columns["at_epsilon"] = [None] * len(features), [False] * len(features)
    depends = summary["target_missing_p_above"] >= options.level
    dependent = [feature for feature, is_dependent in zip(features, depends, strict=True) if is_dependent]
    remarks = remarks_on(
        features,
        columns,
        {"epsilon": options.epsilon, "level": options.level, "prior": options.prior, "missing": "ignore"},
        (book.target, len(classes.labels), classes.entropy, classes.suspicions),
        with_target=mi_with_target(dependent, options),
        copies=_copies(counter, features, columns),
        approximate=approximate,
    )
    return tuple(remark for remark in remarks if remark.caution)


def _as_in_rank(options: Belief) -> Belief:
    return Belief(epsilon=options.epsilon, level=CREDIBLE, threads=options.threads)


def _copies(counter: Counter, features: list[Feature], columns: Record) -> dict[str, str]:
    """The taken columns that say the same as another taken one, by some of the rows."""
    positions = {name: index for index, name in enumerate(counter.book.names)}

    @cache  # few selections have columns to compare
    def sample() -> Codes:
        return counter.sample(_MAX_ROWS)

    def codes_of(feature: Feature) -> CodeArray:
        return sample().columns[positions[feature.name]]

    return copies_in_rows(features, columns, codes_of)
