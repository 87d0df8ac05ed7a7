"""What the missing values of a feature tell about the target: the information of the indicator present or missing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from credimi.core.tables import Tables
from credimi.inference.many_tables import summarize

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from credimi.columns.feature import Feature
    from credimi.inference.options import PosteriorOptions


def missingness(features: Sequence[Feature], options: PosteriorOptions) -> dict[str, NDArray[np.float64]]:
    """The ranking's columns missing_mi to missing_p_above; 0 if a feature is never or always missing."""
    indicators = [feature.indicator() for feature in features]
    varies = np.array([(block[:-1, :-1].sum(axis=0) > 0).all() for block in indicators], dtype=bool)
    blocks = [block.astype(np.float64) for block, both in zip(indicators, varies, strict=True) if both]
    summary = summarize(Tables.of(blocks), options, if_dependent=False)
    found = {
        "missing_mi": summary.mean,
        "missing_low": summary.low,
        "missing_high": summary.high,
        "missing_p_above": summary.p_above,
    }
    columns = {name: np.zeros(len(features)) for name in found}
    for name, values in found.items():
        columns[name][varies] = values
    return columns
