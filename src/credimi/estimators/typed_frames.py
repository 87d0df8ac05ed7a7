"""Columns put together to a frame in which each has a type of its own, for scikit-learn's `set_output`.

scikit-learn makes frames from one array. If some of its columns are text, that is an array of objects, and so would be
all columns of the frame.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from credimi.core.optional import library
from credimi.estimators.validation import cells_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from credimi.core.types import AnyArray, Foreign
    from credimi.estimators.validation import Features


def frame_of(columns: Sequence[AnyArray | int], features: Features, kind: str) -> Foreign:
    """A frame of "pandas" or "polars". A number among `columns` is the index of a feature that stays as it is."""
    module = library(kind, kind)
    if kind == "polars":
        return module.DataFrame({str(index): _polars(column, features, module) for index, column in enumerate(columns)})
    series = {index: _pandas(column, features) for index, column in enumerate(columns)}
    return module.DataFrame(series, index=getattr(features.source, "index", None))


def _polars(column: AnyArray | int, features: Features, polars: Foreign) -> Foreign:
    if isinstance(column, np.ndarray):
        return polars.Series(column.tolist(), dtype=polars.String if column.dtype == object else polars.Float64)
    picked = features.picked([column])
    if isinstance(picked, polars.DataFrame):
        return picked.to_series()
    try:
        return polars.DataFrame(picked).to_series()
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, TypeError):  # objects of several types
        return polars.Series(cells_of(features.columns[column]), dtype=polars.Object)


def _pandas(column: AnyArray | int, features: Features) -> Foreign:
    if isinstance(column, np.ndarray):
        return column
    picked = features.picked([column])
    return (picked if hasattr(picked, "iloc") else picked.to_pandas()).iloc[:, 0]
