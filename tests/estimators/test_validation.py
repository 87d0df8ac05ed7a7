"""X and y at the estimators' door: columns of every library, and what scikit-learn's users are told."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import BaseEstimator
from sklearn.exceptions import DataConversionWarning

from credimi import CredibleSelector, CredibleTreeClassifier, CredimiError, IncrementalNaiveBayes
from credimi.columns.encode import encode
from credimi.estimators.validation import checked_classes, checked_features, checked_target, numbers_of

FRAME = pd.DataFrame({"a": [1.0, None, 3.0], "b": ["x", None, "y"], "c": pd.Categorical(["u", "v", None])})
FRAMES = {
    "pandas": FRAME,
    "pandas, nullable": FRAME.convert_dtypes(),
    "polars": pl.from_pandas(FRAME),
    "pyarrow": pa.Table.from_pandas(FRAME),
    "record batch": pa.RecordBatch.from_pandas(FRAME),
    "array": FRAME.to_numpy(),
    "list": FRAME.to_numpy().tolist(),
}


def decoded(column: Any, name: str) -> list[Any]:  # noqa: ANN401
    """The values of a column as `encode` understands them, None where they are missing."""
    coded = encode(column, name)
    labels = list(coded.texts) if coded.numbers is None else coded.numbers.tolist()
    return [labels[code] if code < len(labels) else None for code in coded.codes]


@pytest.mark.parametrize("kind", FRAMES)
def test_columns_are_the_same_from_every_library(kind: str) -> None:
    estimator = BaseEstimator()
    features = checked_features(estimator, FRAMES[kind], reset=True)
    named = kind not in {"array", "list"}
    assert features.names == (["a", "b", "c"] if named else ["x0", "x1", "x2"])
    assert hasattr(estimator, "feature_names_in_") == named
    assert (features.rows, estimator.n_features_in_) == (3, 3)
    values = [decoded(column, name) for column, name in zip(features.columns, features.names, strict=True)]
    assert values == [[1, None, 3], ["x", None, "y"], ["u", "v", None]]
    assert checked_features(estimator, FRAMES[kind], reset=False).names == features.names


@pytest.mark.parametrize("kind", FRAMES)
def test_picked_columns_keep_their_container(kind: str) -> None:
    features = checked_features(BaseEstimator(), FRAMES[kind], reset=True)
    picked = features.picked([2, 0])
    containers = {"record batch": pa.Table, "list": np.ndarray}
    assert isinstance(picked, containers.get(kind, type(FRAMES[kind])))
    assert picked.shape == (3, 2)
    again = checked_features(BaseEstimator(), picked, reset=True)
    assert decoded(again.columns[0], "c") == ["u", "v", None]


def test_columns_without_names_of_text_are_numbered() -> None:
    features = checked_features(BaseEstimator(), pd.DataFrame({0: [1], 1: [2]}), reset=True)
    assert features.names == ["x0", "x1"]


def test_what_has_no_rows_yet_is_refused_with_the_remedy() -> None:
    for data, message in [
        ({"a": [1.0]}, "X is a dict.*pass a data frame of it"),
        (pl.LazyFrame({"a": [1.0]}), r"X is a LazyFrame.*collect\(\)"),
    ]:
        with pytest.raises(CredimiError, match=message):
            checked_features(BaseEstimator(), data, reset=True)


@pytest.mark.parametrize("library", ["pandas", "pyarrow"])
def test_columns_of_one_name_are_refused(library: str) -> None:
    data = pd.DataFrame([[1.0, 2.0]], columns=["a", "a"])
    if library == "pyarrow":
        data = pa.Table.from_arrays([pa.array([1.0]), pa.array([2.0])], names=["a", "a"])
    with pytest.raises(CredimiError, match="two columns are called 'a'"):
        checked_features(BaseEstimator(), data, reset=True)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (FRAME["a"], "2-dimensional|2D"),
        (np.zeros(3), "2D array"),
        (pl.Series([1.0]), "2D array"),
        (np.zeros((0, 2)), r"0 sample\(s\)"),
        (np.zeros((2, 0)), r"0 feature\(s\)"),
        (FRAME.iloc[:0], r"0 sample\(s\)"),
        (FRAME.iloc[:, :0], r"0 feature\(s\)"),
        (np.zeros((2, 2)) * 1j, "Complex data not supported"),
    ],
)
def test_what_is_no_table_is_refused(data: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        checked_features(BaseEstimator(), data, reset=True)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (FRAME[["b", "a", "c"]], "same order"),
        (FRAME[["a", "b"]], "yet now missing"),
        (FRAME.rename(columns={"a": "z"}), "unseen at fit time"),
        (pl.from_pandas(FRAME)[["a", "b"]], "yet now missing"),
    ],
)
def test_other_columns_than_before_are_refused(data: object, message: str) -> None:
    estimator = BaseEstimator()
    checked_features(estimator, FRAME, reset=True)
    with pytest.raises(ValueError, match=message):
        checked_features(estimator, data, reset=False)


@pytest.mark.parametrize(
    "target",
    [
        ["u", None, "v"],
        ("u", float("nan"), "v"),
        np.array(["u", None, "v"], dtype=object),
        pd.Series(["u", None, "v"]),
        pd.Series(["u", pd.NA, "v"], dtype="string"),
        pd.Series(["u", None, "v"], dtype="category"),
        pl.Series(["u", None, "v"]),
        pa.array(["u", None, "v"]),
    ],
)
def test_targets_of_every_library_may_have_holes(target: object) -> None:
    assert decoded(checked_target(target, 3), "y") == ["u", None, "v"]
    classes, codes = checked_classes(target, 3)
    assert classes.shown() == ("u", "v")
    assert codes.tolist() == [0, 2, 1]


@pytest.mark.parametrize("target", [np.array([[1], [2]]), pd.DataFrame({"y": [1, 2]}), [[1], [2]]])
def test_one_column_for_a_target_is_taken_with_a_warning(target: object) -> None:
    with pytest.warns(DataConversionWarning, match="column-vector y"):
        assert decoded(checked_target(target, 2), "y") == [1, 2]


@pytest.mark.parametrize(
    ("target", "message"),
    [
        (None, "requires y to be passed"),
        ([1, 2], "X has 3 rows, y 2 values"),
        (np.zeros((3, 2)), "1d array"),
        ([[1, 2], [3, 4], [5, 6]], "1d array"),
        (5, "one value a row"),
        ("abc", "one value a row"),
        (np.array(3), "1d array"),
    ],
)
def test_targets_that_do_not_fit_are_refused(target: object, message: str) -> None:
    with pytest.raises(CredimiError, match=message):
        checked_target(target, 3)


def test_objects_that_are_truth_values_are_0_and_1_in_any_order() -> None:
    assert numbers_of(np.array([True, False, True], dtype=object), "a").tolist() == [1, 0, 1]
    np.testing.assert_array_equal(numbers_of(np.array([None, 2, 1.5], dtype=object), "a"), [np.nan, 2, 1.5])
    np.testing.assert_array_equal(numbers_of(pa.array([None, True]), "a"), [np.nan, 1])
    np.testing.assert_array_equal(numbers_of(pa.nulls(2), "a"), [np.nan, np.nan])


@pytest.mark.parametrize(
    ("estimator", "remedy"),
    [
        (CredibleSelector(target_as="categories"), r"ranges \(target_cuts='quantile:4', say\)"),
        (CredibleSelector("distinct", target_as="categories"), r"ranges \(target_cuts='quantile:4', say\)"),
        (CredibleTreeClassifier(), "ranges first"),
        (IncrementalNaiveBayes(), "ranges first"),
    ],
)
def test_a_target_that_looks_measured_is_a_warning_once(estimator: Any, remedy: str) -> None:  # noqa: ANN401
    y = pd.Series(np.arange(300) % 60, name="years")
    features = np.column_stack([y % 2, y // 30])
    with pytest.warns(UserWarning, match=f"target 'years' has 60 classes, all of them numbers, .* {remedy}") as found:
        estimator.fit(features, y)
    assert [each.filename for each in found] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        estimator.fit(features, y // 2)  # 30 classes
        estimator.fit(features, y.astype(str) + " years")
        if isinstance(estimator, CredibleSelector):
            estimator.set_params(target_as=None, target_cuts="quantile:4").fit(features, y)


@pytest.mark.parametrize("estimator", [CredibleSelector(), CredibleTreeClassifier(), IncrementalNaiveBayes()])
def test_classes_that_name_rows_are_warned_of(estimator: BaseEstimator) -> None:
    X = pd.DataFrame({"x": ["a", "b"] * 30})  # noqa: N806
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        estimator.fit(X, [f"row {place}" for place in range(60)])
    assert any("60 classes" in str(each.message) and "identifier" in str(each.message) for each in found)
