"""Checks X and y as scikit-learn passes them, and turns them into columns for `columns.encode.encode`.

scikit-learn's own checks come first, so that `n_features_in_` and `feature_names_in_` are set in `fit` and compared
later, with scikit-learn's usual messages. Arrays and lists then go through `check_array`, which refuses sparse,
complex, empty or not two-dimensional input, and accepts missing values. Data frames do not: that would turn columns of
different types into one array of objects. They are read column by column, as in `count`, without importing their
library.
"""

from __future__ import annotations

import datetime as dt
import warnings
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from sklearn.exceptions import DataConversionWarning
from sklearn.utils import _safe_indexing, get_tags
from sklearn.utils.validation import validate_data

from credimi.columns.arrow_buffers import doubles
from credimi.columns.column import PrecodedColumn, UnreadableColumn
from credimi.columns.encode import encode
from credimi.columns.labels import BOOLEAN, NUMBER
from credimi.columns.meaning.meaning import CATEGORIES
from credimi.columns.missing import NOTHING_MORE
from credimi.columns.reading_options import checked_weights_are
from credimi.core.arguments import require_numbers
from credimi.core.errors import CredimiError
from credimi.core.public import stored
from credimi.counts.batch import grouped
from credimi.counts.tabulate import CELLS_WORTH_COMPILING
from credimi.sources import sparse_matrices
from credimi.sources.frames import array_of, is_lazy, is_polars

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from credimi.columns.labels import Labels
    from credimi.columns.reading_options import ReadingOptions
    from credimi.core.types import AnyArray, Data, FloatArray, Foreign, Option, Value, Values

_TIMES = (dt.date, dt.time, dt.timedelta, np.datetime64, np.timedelta64)
_NUMBERS = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal, pa.types.is_boolean, pa.types.is_null)


@stored
@dataclass(frozen=True, slots=True, eq=False)
class Features:
    """The features, checked: `columns` has one Arrow or numpy array for each of the `names`."""

    names: list[str]
    columns: list[Values]
    rows: int
    source: Data | None  # the original data frame, or an array; None for a part

    @property
    def of_frame(self) -> bool:
        """Whether each column has a type of its own."""
        return not isinstance(self.source, np.ndarray)

    def part(self, rows: slice) -> Features:
        """Some of the rows, as columns only."""
        columns = [column[rows] for column in self.columns]
        return Features(self.names, columns, len(columns[0]), None)

    def widened(self, names: Sequence[str]) -> Features:
        """The same rows with features that came later, which are missing in these rows."""
        later = [np.full(self.rows, None, dtype=object) for _ in names[len(self.names) :]]
        return Features(list(names), self.columns + later, self.rows, None)

    def picked(self, positions: Sequence[int]) -> Foreign:
        """These columns of what was passed, in the same kind of container."""
        if isinstance(self.source, pa.Table):  # scikit-learn 1.6 does not support it
            return self.source.select(list(positions))
        return _safe_indexing(self.source, list(positions), axis=1)


# For each library, how its frames become tables in memory.
_COLLECTED_BY = {"pyspark": "toPandas()", "dask": "compute()", "dask_expr": "compute()", "duckdb": "df()"}
_COLLECTED_BY |= {"_duckdb": "df()", "ibis": "to_pandas()"}


def require_in_memory(data: Foreign, what: str) -> None:
    """Refuse frames whose rows are elsewhere, and dictionaries: an estimator would fetch all rows, or fail later."""
    library = type(data).__module__.split(".")[0]
    if is_lazy(data):
        raise CredimiError(f"{what} is a {type(data).__name__}, not a table: pass the frame that its collect() returns")
    if isinstance(data, pa.RecordBatchReader):
        raise CredimiError(f"{what} is a {type(data).__name__}, whose rows are read once: pass {what}.read_all()")
    if library in _COLLECTED_BY:
        kind = f"{library.lstrip('_').split('_')[0]} {type(data).__name__}"
        raise CredimiError(
            f"{what} is a {kind}, and estimators take tables in memory: pass {what}.{_COLLECTED_BY[library]} if its "
            "rows fit; credimi.rank(data, target) and credimi.select count where the rows are"
        )
    if type(data) is dict:  # some sparse matrices are dictionaries, too
        raise CredimiError(f"{what} is a dict, not a table: pass a data frame of it")


def checked_features(estimator: Foreign, X: Data, *, reset: bool) -> Features:
    """The columns of X. In `fit` (`reset`) their number and names are stored; later they must be the same.

    Infinite numbers are accepted, in arrays as in data frames: they have an order and can be counted.
    """
    require_in_memory(X, "X")
    if _is_frame(X):
        _check_names(X)
        supported = type(X).__module__.split(".")[0] in {"pandas", "polars"} or isinstance(X, pa.Table)
        source = validate_data(estimator, X if supported else pa.table(X), reset=reset, skip_check_array=True)
        rows, width = source.shape
        if not rows or not width:
            kind = "sample" if width else "feature"
            raise CredimiError(
                f"Found a frame with 0 {kind}(s) (shape={source.shape}) while a minimum of 1 is required by "
                f"{type(estimator).__name__}."
            )
        names = _names(estimator, width)
        columns = [array_of(each, name) for each, name in zip(_columns(source), names, strict=True)]
        return Features(names, columns, rows, source)
    if sparse_matrices.reads(X) and get_tags(estimator).input_tags.sparse:
        source = validate_data(
            estimator, X, reset=reset, accept_sparse=["csr", "csc"], dtype=None, ensure_all_finite=False
        )
        names = _names(estimator, source.shape[1])
        return Features(names, list(sparse_matrices.columns(source)), source.shape[0], source)
    source = validate_data(estimator, _objects(X), reset=reset, dtype=None, ensure_all_finite=False)
    return Features(_names(estimator, source.shape[1]), list(source.T), source.shape[0], source)


def checked_target(y: Values, rows: int, estimator: str = "estimator") -> Values:
    """The target, one value per row, as an Arrow or numpy array; None, NaN and NA are missing."""
    if y is None:
        raise CredimiError(f"This {estimator} requires y to be passed, but the target y is None.")
    require_in_memory(y, "y")
    if isinstance(y, list | tuple) and any(isinstance(each, list | tuple | np.ndarray) for each in y):
        y = np.asarray(y, dtype=object)
    shape = getattr(y, "shape", None)
    if shape is not None and len(shape) == 2 and shape[1] == 1 and not isinstance(y, pa.Table):
        message = (
            f"A column-vector y was passed when a 1d array was expected: y of shape {shape} is taken as one column."
        )
        warnings.warn(message, DataConversionWarning, stacklevel=4)
        y = np.asarray(y).ravel() if not hasattr(y, "iloc") else y.iloc[:, 0]
    elif shape is not None and len(shape) != 1:
        raise CredimiError(f"y should be a 1d array, got an array of shape {shape} instead: pass one value per row")
    column = array_of(y, "y")
    if len(column) != rows:
        raise CredimiError(
            f"Found input variables with inconsistent numbers of samples: X has {rows:,} rows, y {len(column):,} "
            "values; pass one value per row"
        )
    return column


def checked_classes(y: Values, rows: int, estimator: str = "estimator") -> tuple[Labels, AnyArray]:
    """The classes of the target in order, and the code of each row's class; the number of classes means missing."""
    column = encode(checked_target(y, rows, estimator), "y", compiled=rows >= CELLS_WORTH_COMPILING)
    classes, codes = grouped(column, NOTHING_MORE, "y")
    if not len(classes):
        raise CredimiError(f"y is missing in all {rows:,} rows: nothing can be said about it")
    if classes.kind == NUMBER and not classes.integral and len(classes) > CATEGORIES:
        raise CredimiError(
            f"y holds {len(classes):,} different {classes.noun}, not classes (Unknown label type: continuous): "
            "cut it into a few ranges first"
        )
    return classes, codes


SAMPLE_WEIGHT = "sample_weight"  # the name of the weights in settings


def with_weights(settings: ReadingOptions, weights: FloatArray | None, weights_are: Option) -> ReadingOptions:
    """The settings for these weights of rows. If the user does not say what they are, a row counts as often as it says.

    So scikit-learn has it, whether the weights are whole or not.
    """
    kind = checked_weights_are(weights_are)
    if weights is None or kind is None:
        return settings
    if kind == "rows" and not np.array_equal(weights, np.rint(weights)):
        row = int(np.argmax(weights != np.rint(weights)))
        raise CredimiError(
            f"sample_weight of row {row} is {weights[row]:g}, and weights_are is 'rows': numbers of rows are whole; "
            "take them for survey weights (weights_are='survey')"
        )
    return replace(settings, weights=SAMPLE_WEIGHT, weights_are=kind)


def checked_weights(sample_weight: Values, rows: int) -> FloatArray | None:
    """The rows' weights, None if there are none: then all rows count alike."""
    if sample_weight is None:
        return None
    weights = require_numbers("sample_weight", np.asarray(sample_weight))
    if weights.shape != (rows,):
        raise CredimiError(f"sample_weight has the shape {weights.shape}, X has {rows:,} rows: pass one number per row")
    valid = (weights >= 0.0) & (weights < np.inf)
    if not valid.all():
        row = int(np.argmin(valid))
        raise CredimiError(f"sample_weight of row {row} is {weights[row]:g}: weights are finite numbers from 0 up")
    with np.errstate(over="ignore"):
        total = weights.sum()
    if not total < np.inf:
        raise CredimiError("sample_weight sums to more than a double holds: divide all weights by their mean")
    if not weights.any():
        raise CredimiError("Sample weights must contain at least one non-zero number: all weights are zero")
    return weights


def numbers_of(column: Values, name: str) -> FloatArray:
    """A column of numbers or booleans as doubles, NaN if missing; other columns are refused."""
    numbers = _doubles(column, name)
    if numbers is not None:
        return numbers
    kind = "categories" if isinstance(column, PrecodedColumn) else "no numbers"
    raise CredimiError(
        f"column {name!r} holds {kind} and cannot be cut: leave it out, or pass a data frame, of which only the "
        "columns of numbers and dates are cut"
    )


def measured(column: Values, name: str) -> tuple[FloatArray, bool] | None:
    """A column of numbers, dates (days since 1970), times of day or durations (seconds) as doubles; None for others.

    The second result is whether they are dates.
    """
    if isinstance(column, PrecodedColumn | UnreadableColumn):
        return None
    try:
        numbers = _doubles(column, name)
        if numbers is not None:
            return numbers, False
        coded = encode(column, name, compiled=len(column) >= CELLS_WORTH_COMPILING)
    except CredimiError:  # lists, or several types
        return None
    if coded.numbers is None:
        return None
    return np.append(coded.numbers, np.nan)[np.minimum(coded.codes, coded.values)], coded.instants


def _doubles(column: Values, name: str) -> FloatArray | None:
    if isinstance(column, np.ndarray) and column.dtype.kind in "biuf" and not isinstance(column, np.ma.MaskedArray):
        return np.ascontiguousarray(column, dtype=np.float64)
    if isinstance(column, pa.Array | pa.ChunkedArray) and any(test(column.type) for test in _NUMBERS):
        return doubles(column)
    if isinstance(column, np.ndarray) and column.dtype.kind == "O":
        coded = encode(column, name, compiled=column.size >= CELLS_WORTH_COMPILING)
        no_times = not any(isinstance(item, _TIMES) for item in column)
        if no_times and (coded.kind in (NUMBER, BOOLEAN) or not coded.values):
            booleans = [text == "true" for text in coded.texts]
            of_labels = np.append(booleans if coded.numbers is None else coded.numbers, np.nan)
            of_rows: FloatArray = of_labels[np.minimum(coded.codes, coded.values)]
            return of_rows
    return None


def cells_of(column: Values) -> list[Value]:
    """The values of a column as Python objects."""
    if isinstance(column, PrecodedColumn):
        values = cells_of(column.values)
        return [None if code < 0 else values[code] for code in column.codes.tolist()]
    if isinstance(column, np.ndarray):
        if column.dtype.kind == "M":  # numpy turns nanoseconds into plain integers, and durations too
            return list(column)
        return list((column.astype("m8[us]") if column.dtype == "m8[ns]" else column).tolist())
    cells: list[Value] = column.to_pylist()
    return cells


def _is_frame(data: object) -> bool:
    """Whether this is a data frame: named columns, each of its own type; a single column is not."""
    return hasattr(data, "columns") and hasattr(data, "__arrow_c_stream__") and len(getattr(data, "shape", ())) == 2


def _check_names(frame: Foreign) -> None:
    names = list(getattr(frame, "column_names", frame.columns))  # pyarrow's `columns` are the data
    for name, occurrences in Counter(names).items():
        if occurrences > 1:
            raise CredimiError(f"two columns are called {name!r}: give each column a name of its own")


def _objects(rows: Data) -> Data:
    """Turn lists in which some values are text into objects: numpy would make text of numbers and missing values."""
    if not isinstance(rows, list | tuple):
        return rows
    try:
        mixed = np.asarray(rows).dtype.kind in "US"
    except ValueError:  # rows of different lengths; scikit-learn has its own message
        return rows
    return np.array(rows, dtype=object) if mixed else rows


def _columns(frame: Foreign) -> list[Values]:
    if hasattr(frame, "iloc"):
        return [frame.iloc[:, index] for index in range(frame.shape[1])]
    if is_polars(frame):
        return list(frame.get_columns())
    table = frame if isinstance(frame, pa.Table) else pa.table(frame)
    return list(table.columns)


def _names(estimator: Foreign, width: int) -> list[str]:
    named = getattr(estimator, "feature_names_in_", None)
    return [f"x{index}" for index in range(width)] if named is None else [str(name) for name in named]


def by_text(x: Mapping[Value, Value]) -> Mapping[str, Value]:
    """A row by its features' names as text; 1 and "1" would be the same name."""
    given = x if all(type(name) is str for name in x) else {str(name): value for name, value in x.items()}
    if len(given) < len(x):
        raise CredimiError(f"two features have the same name as text: {list(x)}; give each a name of its own")
    return given
