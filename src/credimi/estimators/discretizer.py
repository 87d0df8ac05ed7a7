"""`EntropyDiscretizer`: cuts columns of numbers where the classes of a target change.

Each column is sorted once, with the classes of its rows, and split as in Fayyad and Irani (1993): where the least class
entropy is left, as long as the description gets shorter. O(n log n) per column, columns in threads. Counts of distinct
values are enough (`from_counts`), so that files larger than memory can be cut too.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import check_is_fitted

from credimi.columns.numbers.discretize import mdl_places, mdl_places_of_rows
from credimi.columns.numbers.ranges import bins_of, cuts_after, interval_labels, named_ranges
from credimi.columns.python_objects import object_array
from credimi.columns.text_types import shown_date
from credimi.core.arguments import require_whole
from credimi.core.errors import CredimiError
from credimi.core.keywords import suggesting_keywords
from credimi.core.optional import library
from credimi.core.public import public
from credimi.core.threads import share, threads_of
from credimi.estimators.validation import (
    cells_of,
    checked_classes,
    checked_features,
    checked_weights,
    measured,
    numbers_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from credimi.core.types import (
        AnyArray,
        BooleanArray,
        Data,
        FloatArray,
        Foreign,
        IntegerArray,
        Option,
        Record,
        Values,
    )
    from credimi.counts.counts import Counts
    from credimi.estimators.validation import Features

    CutPositions = tuple[FloatArray, IntegerArray]  # the values in order, and the positions after which to cut

OUTPUTS = ("codes", "labels")
_CELLS_WORTH_COMPILING = 200_000  # below this, numpy is done before compiled code is loaded


@public
@suggesting_keywords
@dataclass(eq=False, repr=False)  # a keyword is a field
class EntropyDiscretizer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Cut columns of numbers into ranges that tell about the classes, as many as the data support (MDL).

    In a data frame, dates are cut as well, and other columns, such as text, pass through unchanged. Missing values stay
    missing. A value at a cut goes to the lower range; a value outside the range that `fit` saw goes to the first or the
    last. A column in which no cut is accepted becomes one range, 0 or "all".

    Parameters
    ----------
    min_samples : int
        How many rows (or how much weight) each side of a split must hold. Only rows with value and class count.
    max_bins : int, optional
        The largest number of ranges of a column. The splits that gain most are made first.
    output : "codes" or "labels"
        The number of the range, from 0, as a double, NaN if the value is missing; or a text such as "2.5 to 7", None if
        the value is missing. If columns pass through, it is an array of objects; frames (`set_output`) keep a type
        for each column.
    drop_uninformative : bool
        Leave out the columns in which no cut is accepted.
    n_jobs : int, optional
        Threads. None and -1 mean all cores, or those that joblib leaves to its workers.

    Attributes
    ----------
    cut_points_ : list of arrays
        The cuts of each column, in order, possibly none; for dates in days since 1970, for times of day and durations
        in seconds.
    bin_labels_ : list of lists of str
        The names of each column's ranges, one more than there are cuts; none for columns that pass through.
    n_bins_ : array of int
        How many ranges each column has; 0 for columns that pass through.
    dates_ : array of bool
        Which columns are dates.
    support_ : array of bool
        Which columns `transform` returns.
    n_features_in_, feature_names_in_
        As usual in scikit-learn.

    Examples
    --------
    >>> numbers = [[1.0], [2.0], [3.0], [10.0], [11.0], [float("nan")]] * 5
    >>> discretizer = credimi.EntropyDiscretizer().fit(numbers, list("aaabba") * 5)
    >>> discretizer.cut_points_
    [array([6.5])]
    >>> discretizer.transform([[4.0], [7.0], [float("nan")]]).ravel()
    array([ 0.,  1., nan])
    """

    _: KW_ONLY
    min_samples: int = 1
    max_bins: int | None = None
    output: str = "codes"
    drop_uninformative: bool = False
    n_jobs: int | None = None

    def fit(self, X: Data, y: Values = None, sample_weight: Values = None) -> EntropyDiscretizer:
        """Find the cuts. Rows without a class are left out, and in each column those without a value."""
        self._check_parameters()
        features = checked_features(self, X, reset=True)
        classes, codes = checked_classes(y, features.rows, type(self).__name__)
        weights = checked_weights(sample_weight, features.rows)
        known = codes < len(classes)
        used = None if known.all() else np.flatnonzero(known)
        codes, weights = _select_rows(codes, used), weights if weights is None else _select_rows(weights, used)
        compiled = weights is None and features.rows * len(features.columns) >= _CELLS_WORTH_COMPILING
        dates = np.zeros(len(features.columns), dtype=bool)

        def find_cuts(index: int) -> CutPositions | None:
            measured_column = _numbers(features, index)
            if measured_column is None:
                return None
            values, dates[index] = _select_rows(measured_column[0], used), measured_column[1]
            if compiled:
                return mdl_places_of_rows(values, codes, len(classes), **self._limits())
            return mdl_places(*_counted(values, codes, len(classes), weights), **self._limits())

        return self._set_cuts(find_cuts, dates, threads_of(self.n_jobs) if compiled else 1)

    @classmethod
    def from_counts(cls, counts: Counts, **parameters: Option) -> EntropyDiscretizer:
        """The discretizer that `fit` would give on the counted rows, without needing the rows.

        If a column has more than 32,768 different values, the counts are of rounded numbers, and so are the cuts.

        Parameters
        ----------
        counts : credimi.Counts
            The counts of columns of numbers, such as `credimi.count("large.parquet", "class", features=[...])`.
        parameters
            As in the class.
        """
        self = cls(**parameters)
        self._check_parameters()
        self.feature_names_in_ = np.array(counts.features, dtype=object)
        self.n_features_in_ = len(counts.features)

        def find_cuts(index: int) -> CutPositions | None:
            return mdl_places(*counts.distinct_numbers(counts.features[index]), **self._limits())

        dates = np.array([labels.instants for labels in counts.labels], dtype=bool)
        return self._set_cuts(find_cuts, dates, 1)

    def transform(self, X: Data) -> Foreign:
        """The range of every value, in the columns of `support_`."""
        check_is_fitted(self)
        features = checked_features(self, X, reset=False)
        column_indices = np.flatnonzero(self.support_)
        as_objects = self.output == "labels" or bool((self.n_bins_[column_indices] == 0).any())
        output_columns: list[AnyArray | int] = [*column_indices.tolist()]  # a column that passes through stays an index

        def fill(position: int) -> None:
            index = column_indices[position]
            column, name = features.columns[index], features.names[index]
            if not self.n_bins_[index]:
                return
            measured_column = _numbers(features, index)
            values = numbers_of(column, name) if measured_column is None else measured_column[0]  # raises an error
            if measured_column is not None and measured_column[1] != self.dates_[index] and not np.isnan(values).all():
                kinds = ("numbers", "dates") if measured_column[1] else ("dates", "numbers")
                raise CredimiError(f"column {name!r} held {kinds[0]} in fit, and holds {kinds[1]} now: convert it")
            bins, missing = bins_of(values, self.cut_points_[index]), np.isnan(values)
            if self.output == "labels":
                names = np.array([*self.bin_labels_[index], None], dtype=object)
                output_columns[position] = names[np.where(missing, -1, bins)]
            else:
                output_columns[position] = np.where(missing, np.nan, bins)

        cells = features.rows * column_indices.size
        share(fill, range(column_indices.size), threads_of(self.n_jobs) if cells >= _CELLS_WORTH_COMPILING else 1)
        container = _get_output_config("transform", self)["dense"]
        if as_objects and container != "default":
            return _frame_of(output_columns, features, container)
        out = np.empty((features.rows, column_indices.size), dtype=object if as_objects else np.float64, order="F")
        for position, values in enumerate(output_columns):
            out[:, position] = object_array(cells_of(features.columns[values])) if isinstance(values, int) else values
        return out

    def get_feature_names_out(self, input_features: Sequence[str] | None = None) -> AnyArray:
        """The names of the columns that `transform` returns: those of the original columns."""
        check_is_fitted(self)
        names: AnyArray = super().get_feature_names_out(input_features)[self.support_]
        return names

    def __sklearn_tags__(self) -> Foreign:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.target_tags.required = True
        if self.output == "labels":
            tags.transformer_tags.preserves_dtype = []
        return tags

    def _check_parameters(self) -> None:
        require_whole("min_samples", self.min_samples, 1)
        if self.max_bins is not None:
            require_whole("max_bins", self.max_bins, 2)
        if self.output not in OUTPUTS:
            raise CredimiError(f"output is {self.output!r}: choose one of {', '.join(OUTPUTS)}")

    def _limits(self) -> Record:
        return {"min_samples": self.min_samples, "max_bins": self.max_bins}

    def _set_cuts(
        self, find_cuts: Callable[[int], CutPositions | None], dates: BooleanArray, threads: int | None
    ) -> EntropyDiscretizer:
        """Set the fitted attributes; `find_cuts` says after which values to cut a column, None if it passes through.

        `dates` says which columns are dates.
        """
        columns = dates.size
        cuts: list[FloatArray] = [np.zeros(0)] * columns
        labels: list[list[str]] = [[]] * columns

        def cut_column(index: int) -> None:
            cut_positions = find_cuts(index)
            if cut_positions is None:
                return
            values, after = cut_positions
            cuts[index] = cuts_after(values, after)
            neighbours = np.concatenate([values[after], values[after + 1]])
            if dates[index]:
                days = bool((np.floor(neighbours) == neighbours).all())
                labels[index] = named_ranges([shown_date(np.floor(cut) if days else cut) for cut in cuts[index]])
                return
            # If the values next to the cuts are on the right side, all others are.
            labels[index] = interval_labels(cuts[index], neighbours)

        share(cut_column, range(columns), threads)
        self.cut_points_, self.dates_ = cuts, dates
        self.bin_labels_ = labels
        self.n_bins_ = np.array([len(names) for names in labels])
        self.support_ = (self.n_bins_ != 1) | (not self.drop_uninformative)
        return self


def _numbers(features: Features, index: int) -> tuple[FloatArray, bool] | None:
    """A column as numbers, and whether these are dates; None if the column (of a frame) passes through."""
    column, name = features.columns[index], features.names[index]
    return measured(column, name) if features.of_frame else (numbers_of(column, name), False)


def _select_rows(values: AnyArray, used: IntegerArray | None) -> AnyArray:
    return values if used is None else values[used]


def _counted(
    values: FloatArray, codes: AnyArray, classes: int, weights: FloatArray | None
) -> tuple[FloatArray, AnyArray]:
    """The distinct values in order, and for each value the counts or weights of the classes."""
    present = ~np.isnan(values)
    distinct, value_index = np.unique(values[present], return_inverse=True)
    cells = value_index * classes + codes[present]
    counts = np.bincount(cells, None if weights is None else weights[present], minlength=distinct.size * classes)
    return distinct, counts.reshape(distinct.size, classes)


def _frame_of(columns: Sequence[AnyArray | int], features: Features, kind: str) -> Foreign:
    """A frame of "pandas" or "polars" in which each column has a type of its own, for scikit-learn's `set_output`.

    A number among `columns` is the index of a feature that stays as it is. scikit-learn makes frames from one array: if
    some of its columns are text, that is an array of objects, and so would be all columns of the frame.
    """
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
