"""The discretizer: scikit-learn's own checks, a slow oracle, frames, pipelines, counts, and the paper's data sets."""

from __future__ import annotations

import math
import subprocess
import sys
from collections import Counter
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

import credimi
from credimi import CredimiError, EntropyDiscretizer
from credimi.columns.numbers import discretize
from credimi.columns.numbers.discretize import mdl_cuts, mdl_places_of_rows
from credimi.columns.numbers.ranges import cuts_after
from credimi.estimators import discretizer

if TYPE_CHECKING:
    from collections.abc import Callable

    Row = tuple[float | None, int | None]

UCI = Path(__file__).parents[3] / "shared/data/uci"

EXPECTED_FAILURES = {
    "check_dtype_object": "a dictionary in X is refused with a CredimiError that names column and row, not a TypeError",
}


@parametrize_with_checks(
    [EntropyDiscretizer(), EntropyDiscretizer(max_bins=3, drop_uninformative=True, n_jobs=2)],
    expected_failed_checks=lambda _: EXPECTED_FAILURES,
)
@pytest.mark.filterwarnings("ignore")
def test_scikit_learn_checks(estimator: EntropyDiscretizer, check: Callable[[Any], None]) -> None:
    check(estimator)


# The oracle: one row at a time, exact fractions where splits are compared, every candidate tried.


def oracle_surprise(rows: list[Row]) -> Fraction:
    """2^(n Ent), exactly."""
    counts = Counter(label for _, label in rows).values()
    return Fraction(len(rows) ** len(rows), math.prod(n**n for n in counts))


def oracle_entropy(rows: list[Row]) -> float:
    counts = Counter(label for _, label in rows).values()
    return -sum(n / len(rows) * math.log2(n / len(rows)) for n in counts)


def oracle_shares(rows: list[Row], value: float) -> dict[int | None, Fraction]:
    here = [label for x, label in rows if x == value]
    return {label: Fraction(n, len(here)) for label, n in Counter(here).items()}


def oracle_split(rows: list[Row], min_samples: int) -> tuple[Fraction, float, list[Row], list[Row]] | None:
    """The best split, if it pays: 2^gain, the cut, both sides."""
    values = sorted({x for x, _ in rows})
    best = None
    for low, high in pairwise(values):
        left, right = [row for row in rows if row[0] <= low], [row for row in rows if row[0] > low]
        if min(len(left), len(right)) < min_samples or oracle_shares(rows, low) == oracle_shares(rows, high):
            continue
        gain = oracle_surprise(rows) / (oracle_surprise(left) * oracle_surprise(right))
        if best is None or gain > best[0]:
            best = gain, (low + high) / 2, left, right
    if best is None:
        return None
    gain, cut, left, right = best
    k, k_left, k_right = (len({label for _, label in side}) for side in (rows, left, right))
    price = math.log2(len(rows) - 1) + math.log2(3**k - 2) - k * oracle_entropy(rows)
    price += k_left * oracle_entropy(left) + k_right * oracle_entropy(right)
    bits = len(rows) * oracle_entropy(rows) - len(left) * oracle_entropy(left) - len(right) * oracle_entropy(right)
    return (gain, cut, left, right) if bits > price else None


def oracle_cuts(rows: list[Row], min_samples: int, max_bins: int | None) -> list[float]:
    offers = [oracle_split([(x, label) for x, label in rows if x is not None and label is not None], min_samples)]
    cuts: list[float] = []
    while any(offers) and (max_bins is None or len(cuts) + 1 < max_bins):
        best = max((offer for offer in offers if offer), key=lambda offer: (offer[0], -offer[1]))
        offers.remove(best)
        cuts.append(best[1])
        offers += [oracle_split(best[2], min_samples), oracle_split(best[3], min_samples)]
    return sorted(cuts)


@st.composite
def incomplete(draw: st.DrawFn) -> list[Row]:
    """Few values and many ties; each value has its usual class, from which some rows differ; holes on both sides."""
    classes = draw(st.integers(1, 4))
    usual = draw(st.lists(st.integers(0, classes - 1), min_size=1, max_size=9))
    value, other = st.integers(0, len(usual) - 1), st.sampled_from([0] * 9 + [1, 2, 3])
    hole = st.sampled_from([""] * 8 + ["x", "y"])
    rows = draw(st.lists(st.tuples(value, other, hole), min_size=draw(st.sampled_from([1, 20])), max_size=45))
    mirror = draw(st.booleans())  # then every cut has one that is as good
    found: list[Row] = []
    for x, away, gone in rows:
        label = (usual[x] + away) % classes
        found.append((None if gone == "x" else float(x), None if gone == "y" else label))
        if mirror:
            found.append((None if gone == "x" else 17.0 - x, None if gone == "y" else label ^ 1))
    return [*found, (0.0, 0)]  # y may not be missing everywhere


@pytest.fixture(params=["numpy", "compiled"])
def path(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(discretizer, "_CELLS_WORTH_COMPILING", 0 if request.param == "compiled" else math.inf)
    return str(request.param)


@pytest.mark.parametrize("cells", [0, math.inf], ids=["compiled", "numpy"])
@settings(deadline=None)  # the first call loads compiled code
@given(rows=incomplete(), min_samples=st.integers(1, 6), max_bins=st.sampled_from([None, None, 2, 3, 4]))
def test_cuts_are_those_of_the_oracle(cells: float, rows: list[Row], min_samples: int, max_bins: int | None) -> None:
    features = np.array([[np.nan if x is None else x] for x, _ in rows])
    y = [label for _, label in rows]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(discretizer, "_CELLS_WORTH_COMPILING", cells)
        fitted = EntropyDiscretizer(min_samples=min_samples, max_bins=max_bins).fit(features, y)
    assert fitted.cut_points_[0].tolist() == oracle_cuts(rows, min_samples, max_bins)


def measured(rows: int, classes: int, seed: int = 0) -> tuple[Any, Any]:
    """Columns that tell more or less of the classes, with ties and holes, and the classes."""
    generator = np.random.default_rng(seed)
    y = generator.integers(0, classes, rows)
    features = generator.normal(size=(rows, 4)) + y[:, np.newaxis] * np.array([0.0, 0.3, 1.0, 3.0])
    features[:, 1] = features[:, 1].round(1)
    features[generator.random(features.shape) < 0.05] = np.nan
    return features, y


@pytest.mark.parametrize("classes", [2, 10, 300])
@pytest.mark.parametrize("limits", [{}, {"min_samples": 500}, {"max_bins": 4}])
def test_compiled_code_and_numpy_cut_many_rows_alike(classes: int, limits: dict[str, int]) -> None:
    features, y = measured(20_000, classes)
    for column in features.T:
        there = ~np.isnan(column)
        values, counts = discretizer._counted(column, y, classes, None)  # noqa: SLF001
        expected = mdl_cuts(values, counts, **limits)
        narrow = y.astype(np.uint8 if classes < 256 else np.uint32)
        assert cuts_after(*mdl_places_of_rows(column, narrow, classes, **limits)).tolist() == expected.tolist()
        assert cuts_after(*mdl_places_of_rows(column[there], narrow[there], classes, **limits)).tolist() == (
            expected.tolist()
        )


def test_logarithms_beyond_the_table_are_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    features, y = measured(20_000, 3)
    expected = EntropyDiscretizer().fit(features, y).cut_points_
    monkeypatch.setattr(discretize, "_TABLE_BITS", 4)
    monkeypatch.setattr(discretizer, "_CELLS_WORTH_COMPILING", 0)
    discretize._whole_logarithms.cache_clear()  # noqa: SLF001
    try:
        found = EntropyDiscretizer().fit(features, y).cut_points_
    finally:
        discretize._whole_logarithms.cache_clear()  # noqa: SLF001
    assert [cuts.tolist() for cuts in found] == [cuts.tolist() for cuts in expected]
    assert len(expected[3]) > 1


@pytest.mark.usefixtures("path")
def test_threads_and_the_order_of_the_rows_change_nothing() -> None:
    features, y = measured(3_000, 3)
    order = np.random.default_rng(1).permutation(len(y))
    expected = EntropyDiscretizer(n_jobs=1).fit(features, y).cut_points_
    for fitted in (EntropyDiscretizer(n_jobs=4).fit(features, y), EntropyDiscretizer().fit(features[order], y[order])):
        assert [cuts.tolist() for cuts in fitted.cut_points_] == [cuts.tolist() for cuts in expected]


def test_max_bins_takes_the_best_splits_first() -> None:
    features, y = measured(2_000, 5)
    everything = EntropyDiscretizer().fit(features, y).cut_points_
    assert everything[3].size > 3
    taken: set[float] = set()
    for most in range(2, 6):
        fitted = EntropyDiscretizer(max_bins=most).fit(features, y)
        assert fitted.n_bins_.max() == most
        assert taken < set(fitted.cut_points_[3].tolist()) <= set(everything[3].tolist())
        taken = set(fitted.cut_points_[3].tolist())


@pytest.mark.usefixtures("path")
def test_worked_by_hand() -> None:
    features = np.array([1, 2, 3, 4, 5, 6, 7, 8, np.nan])[:, np.newaxis]
    fitted = EntropyDiscretizer().fit(features, list("aaaabbbba"))
    assert fitted.cut_points_[0].tolist() == [4.5]
    assert fitted.bin_labels_ == [["<= 4.5", "> 4.5"]]
    assert fitted.n_bins_.tolist() == [2]
    new = np.array([[-np.inf], [4.5], [4.6], [np.inf], [np.nan]])
    np.testing.assert_array_equal(fitted.transform(new).ravel(), [0, 0, 1, 1, np.nan])
    labels = fitted.set_params(output="labels").transform(new)
    assert labels.ravel().tolist() == ["<= 4.5", "<= 4.5", "> 4.5", "> 4.5", None]


@pytest.mark.usefixtures("path")
def test_infinite_numbers_have_their_place() -> None:
    features = np.array([-np.inf] * 6 + [0.0] * 6 + [np.inf] * 6)[:, np.newaxis]
    y = [0] * 6 + [1] * 6 + [2] * 6
    fitted = EntropyDiscretizer().fit(features, y)
    assert fitted.n_bins_.tolist() == [3]
    assert fitted.transform(features).ravel().tolist() == [0] * 6 + [1] * 6 + [2] * 6


@pytest.mark.usefixtures("path")
def test_what_tells_nothing_is_one_range_or_dropped() -> None:
    rows = 40
    y = np.arange(rows) % 2
    features = np.column_stack([np.full(rows, 7.0), np.full(rows, np.nan), y, np.arange(rows) // 2])
    fitted = EntropyDiscretizer().fit(features, y)
    assert fitted.n_bins_.tolist() == [1, 1, 2, 1]
    assert fitted.bin_labels_[0] == ["all"]
    np.testing.assert_array_equal(fitted.transform(features)[:, :2], np.column_stack([np.zeros(rows), features[:, 1]]))
    dropping = EntropyDiscretizer(drop_uninformative=True).fit(features, y)
    assert dropping.support_.tolist() == [False, False, True, False]
    assert dropping.get_feature_names_out().tolist() == ["x2"]
    assert dropping.transform(features).ravel().tolist() == y.tolist()
    assert dropping.get_feature_names_out(list("abcd")).tolist() == ["c"]


@pytest.mark.usefixtures("path")
@pytest.mark.parametrize("y", [[1, 1, 1, 1], [1, None, 1, np.nan]])
def test_one_class_gives_no_cut(y: list[Any]) -> None:
    features = np.arange(8.0).reshape(4, 2)
    assert EntropyDiscretizer().fit(features, y).n_bins_.tolist() == [1, 1]
    assert EntropyDiscretizer(drop_uninformative=True).fit(features, y).transform(features).shape == (4, 0)


@pytest.mark.usefixtures("path")
def test_one_row_gives_no_cut() -> None:
    assert EntropyDiscretizer().fit([[1.0, np.nan]], ["a"]).transform([[3.0, 4.0]]).tolist() == [[0, 0]]


def test_y_missing_everywhere_is_refused() -> None:
    with pytest.raises(CredimiError, match="y is missing in all 2 rows"):
        EntropyDiscretizer().fit([[1.0], [2.0]], [None, np.nan])


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (np.linspace(0, 1, 50), "50 different numbers, not classes"),
        (list(range(49)), "X has 50 rows, y 49"),
        (np.zeros((50, 2)), "1d array"),
        (None, "requires y"),
    ],
)
def test_y_that_has_no_classes_is_refused(y: object, message: str) -> None:
    with pytest.raises(CredimiError, match=message):
        EntropyDiscretizer().fit(np.zeros((50, 1)), y)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"min_samples": 0}, "min_samples is 0"),
        ({"max_bins": 1}, "max_bins is 1"),
        ({"output": "onehot"}, "output is 'onehot': choose one of codes, labels"),
    ],
)
def test_parameters_are_refused_in_words(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(CredimiError, match=message):
        EntropyDiscretizer(**parameters).fit([[1.0], [2.0]], [0, 1])


def test_unfitted_is_said() -> None:
    with pytest.raises(NotFittedError):
        EntropyDiscretizer().get_feature_names_out()


def test_whole_weights_are_repetitions() -> None:
    features, y = measured(300, 3)
    weights = np.random.default_rng(2).integers(0, 4, len(y))
    weighted = EntropyDiscretizer(min_samples=20).fit(features, y, sample_weight=weights)
    repeated = EntropyDiscretizer(min_samples=20).fit(np.repeat(features, weights, axis=0), np.repeat(y, weights))
    assert [cuts.tolist() for cuts in weighted.cut_points_] == [cuts.tolist() for cuts in repeated.cut_points_]
    assert weighted.n_bins_.max() > 1


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, 2, 3], "shape"),
        ([1, -1], "from 0 up"),
        ([1, np.nan], "from 0 up"),
        ([0, 0], "all weights are zero"),
        (["a", "b"], "pass real numbers"),
    ],
)
def test_weights_are_refused_in_words(weights: list[Any], message: str) -> None:
    with pytest.raises(CredimiError, match=message):
        EntropyDiscretizer().fit([[1.0], [2.0]], [0, 1], sample_weight=weights)


def frame() -> pd.DataFrame:
    features, y = measured(200, 2)
    return pd.DataFrame(
        {
            "double": features[:, 3],
            "whole": pd.array(np.where(np.isnan(features[:, 2]), 0, features[:, 2] * 3).astype(int), dtype="Int64"),
            "truth": pd.array(y == 1, dtype="boolean"),
            "object": pd.Series([None if np.isnan(x) else x for x in features[:, 3]], dtype=object),
            "y": np.where(y == 1, "yes", "no"),
        }
    )


def test_frames_of_all_libraries_are_cut_alike() -> None:
    table = frame()
    features, y = table.drop(columns="y"), table["y"]
    features.loc[3, ["whole", "truth"]] = pd.NA
    expected = EntropyDiscretizer().fit(features, y)
    assert expected.feature_names_in_.tolist() == list(features.columns)
    assert expected.n_bins_.min() > 1
    assert expected.cut_points_[2].tolist() == [0.5]
    other = pl.from_pandas(features)
    for data, target in (
        (other, pl.Series(y.tolist())),
        (other.to_arrow(), y.to_numpy()),
        (features.to_dict("list"), None),
    ):
        if target is None:
            columns = [np.array(column, dtype=object) for column in data.values()]
            data, target = np.column_stack(columns), y  # noqa: PLW2901
        fitted = EntropyDiscretizer().fit(data, target)
        assert [cuts.tolist() for cuts in fitted.cut_points_] == [cuts.tolist() for cuts in expected.cut_points_]
        np.testing.assert_array_equal(fitted.transform(data), expected.transform(features))
    assert np.isnan(expected.transform(features)[3, 1:3]).all()


@pytest.mark.parametrize("output", ["codes", "labels"])
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_the_library_asked_for_comes_out(library: str, output: str) -> None:
    table = frame()
    features, y = table[["double", "whole"]], table["y"]
    data = features if library == "pandas" else pl.from_pandas(features)
    fitted = EntropyDiscretizer(output=output).set_output(transform=library)
    out = fitted.fit_transform(data, y)
    assert isinstance(out, pd.DataFrame if library == "pandas" else pl.DataFrame)
    assert list(out.columns) == ["double", "whole"]
    plain = fitted.set_output(transform="default").transform(data)
    if output == "codes":
        np.testing.assert_array_equal(out.to_numpy(), plain)
    else:
        assert [None if x is None or x != x else x for x in out["double"]] == plain[:, 0].tolist()  # noqa: PLR0124
    if library == "pandas":
        assert out.index.equals(features.index)


def test_in_a_pipeline() -> None:
    table = frame()
    table["text"] = ["u", "v"] * 100
    cut = ColumnTransformer(
        [("cut", EntropyDiscretizer(output="labels"), ["double", "whole"])], remainder="passthrough"
    )
    chain = make_pipeline(cut, OneHotEncoder(handle_unknown="ignore"), DecisionTreeClassifier(random_state=0))
    search = GridSearchCV(chain, {"columntransformer__cut__max_bins": [2, 3, None]}, cv=3)
    features = table[["double", "whole", "text"]]
    search.fit(features, table["y"])
    assert search.best_score_ > 0.8
    assert clone(search.best_estimator_).fit(features, table["y"]).score(features, table["y"]) > 0.8
    assert cut.fit(features, table["y"]).get_feature_names_out().tolist() == [
        "cut__double",
        "cut__whole",
        "remainder__text",
    ]


@pytest.mark.parametrize("source", ["frame", "csv"])
def test_counts_give_the_cuts_of_the_rows(source: str, tmp_path: Path) -> None:
    table = frame().drop(columns="object")
    table["double"] = table["double"].round(2)
    table["nothing"] = np.nan
    table.loc[table.index[::7], "y"] = None
    table.to_csv(tmp_path / "table.csv", index=False)
    counts = credimi.count(table if source == "frame" else tmp_path / "table.csv", "y")
    features = table.drop(columns="y").astype({"truth": bool})
    for parameters in ({}, {"max_bins": 2}, {"min_samples": 60}, {"drop_uninformative": True}):
        fitted, expected = EntropyDiscretizer.from_counts(counts, **parameters), EntropyDiscretizer(**parameters)
        expected.fit(features, table["y"])
        assert [cuts.tolist() for cuts in fitted.cut_points_] == [cuts.tolist() for cuts in expected.cut_points_]
        assert fitted.bin_labels_ == expected.bin_labels_
        assert fitted.get_feature_names_out().tolist() == expected.get_feature_names_out().tolist()
        np.testing.assert_array_equal(fitted.transform(features), expected.transform(features))


def test_counts_of_text_are_refused_by_name() -> None:
    counts = credimi.count({"a": [1, 2, 1, 2], "b": ["u", "v", "u", "w"], "y": [0, 1, 0, 1]}, "y")
    with pytest.raises(CredimiError, match=r"column 'b' holds text, not numbers: .*features="):
        EntropyDiscretizer.from_counts(counts)
    with pytest.raises(CredimiError, match="there is no column 'c'"):
        counts.distinct_numbers("c")


DATA_SETS = {
    "crx": {
        "files": ["crx.data"],
        "separator": ",",
        "target": "16",
        "left_out": [],
        "continuous": ["2", "3", "8", "11", "14", "15"],
        "kept": 15,
        "missing": 67,
    },
    "horse-colic": {
        "files": ["horse-colic.data", "horse-colic.test"],
        "separator": r"\s+",
        "target": "24",
        "left_out": ["3", "25", "26", "27", "28"],
        "continuous": ["4", "5", "6", "16", "19", "20", "22"],
        "kept": 18,
        "missing": 1281,
    },
    "hypothyroid": {
        "files": ["hypothyroid.data"],
        "separator": ",",
        "target": "1",
        "left_out": [],
        "continuous": ["2", "16", "18", "20", "22", "24", "26"],
        "kept": 23,
        "missing": 1980,
    },
}


@pytest.mark.parametrize("name", DATA_SETS)
def test_data_sets_keep_what_the_paper_says(name: str) -> None:
    if not (UCI / name).is_dir():
        pytest.skip("the data sets are not here")
    told = DATA_SETS[name]
    read = {"sep": told["separator"], "header": None, "na_values": "?", "dtype": str}
    table = pd.concat([pd.read_csv(UCI / name / file, **read) for file in told["files"]], ignore_index=True)
    table = table.rename(columns=lambda column: f"{column + 1}").drop(columns=told["left_out"])
    table[told["continuous"]] = table[told["continuous"]].astype(float)
    cut = EntropyDiscretizer(drop_uninformative=True, output="labels")
    keep = ColumnTransformer([("cut", cut, told["continuous"])], remainder="passthrough").set_output(transform="pandas")
    out = keep.fit_transform(table.drop(columns=told["target"]), table[told["target"]])
    assert out.shape == (len(table), told["kept"])
    assert int(out.isna().sum().sum()) == told["missing"]


def test_without_scikit_learn_the_remedy_is_named() -> None:
    program = (
        "import sys; sys.modules['sklearn'] = None; import credimi\n"
        "try: credimi.EntropyDiscretizer\n"
        "except credimi.CredimiError as error: print(error)"
    )
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == 'the estimators need scikit-learn: pip install "credimi[sklearn]"'
