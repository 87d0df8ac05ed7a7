"""`CredibleTreeClassifier` as scikit-learn and its users know classifiers."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

pytest.importorskip("sklearn")

from sklearn.base import clone
from sklearn.calibration import calibration_curve
from sklearn.ensemble import BaggingClassifier
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import parametrize_with_checks

from credimi import CredibleTreeClassifier, CredimiError


@parametrize_with_checks([CredibleTreeClassifier()])
def test_scikit_learn_checks(estimator: Any, check: Any) -> None:  # noqa: ANN401
    check(estimator)


def fruit(count: int, seed: int = 0, *, missing: float = 0.0) -> tuple[pd.DataFrame, np.ndarray]:
    """Text, a number, a category of pandas, a boolean, whole numbers, a date; the class depends on the first two."""
    generator = np.random.default_rng(seed)
    colour = generator.choice(["red", "green", "yellow"], count).astype(object)
    size = generator.gamma(4.0, 2.0, count)
    chance = np.where(colour == "red", 0.9, np.where(size > 8.0, 0.8, 0.15))
    target = np.where(generator.random(count) < chance, "sweet", "sour")
    table = pd.DataFrame(
        {
            "colour": colour,
            "size": size,
            "farm": pd.Categorical(generator.choice(["a", "b", "c"], count)),
            "ripe": generator.random(count) < 0.5,
            "boxes": generator.integers(0, 9, count),
            "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(generator.integers(0, 300, count), unit="D"),
        }
    )
    if missing:
        table = table.mask(generator.random(table.shape) < missing)
    return table, target


def test_frames_of_all_kinds_are_read_alike() -> None:
    table, target = fruit(800, missing=0.1)
    model = CredibleTreeClassifier().fit(table, target)
    assert {model.tree_.inputs[node.split.column].name for node in model.tree_.nodes if node.split} == {
        "colour",
        "size",
    }
    other = CredibleTreeClassifier().fit(pa.Table.from_pandas(table), target.tolist())
    assert other.export_text() == model.export_text()
    fresh, _ = fruit(50, 1, missing=0.2)
    assert other.predict_proba(pa.Table.from_pandas(fresh)) == pytest.approx(model.predict_proba(fresh))
    objects = CredibleTreeClassifier().fit(table[["colour", "size"]].to_numpy(dtype=object), target)
    assert objects.get_n_leaves() == model.get_n_leaves()


def test_a_row_without_a_value_or_with_a_new_one_goes_down_all_branches() -> None:
    table, target = fruit(1_000)
    model = CredibleTreeClassifier().fit(table[["colour", "size"]], target)
    asked = pd.DataFrame({"colour": [None, "blue", "red", "green"], "size": [np.nan, np.nan, np.nan, 20.0]})
    found = model.predict_proba(asked)
    assert found[0] == pytest.approx(found[1])
    leaves = model.tree_.leaves
    paths = np.asarray(model.decision_path(asked).todense())
    assert paths[0, leaves].sum() == leaves.size
    assert paths[3, leaves].sum() == 1
    assert model.apply(asked)[3] == leaves[np.flatnonzero(paths[3, leaves])][0]
    root = model.tree_.nodes[0].counts / 1_000
    assert found[0] == pytest.approx(root, abs=0.03)


def test_missing_classes_are_used_but_not_predicted() -> None:
    table, target = fruit(600)
    some = target.astype(object)
    some[::3] = None
    model = CredibleTreeClassifier().fit(table, some)
    assert model.classes_.tolist() == ["sour", "sweet"]
    assert model.tree_.nodes[0].rows == 600
    assert model.tree_.nodes[0].counts.sum() == 400
    known = np.array([label is not None for label in some])
    assert model.score(table, some) == pytest.approx(np.mean(model.predict(table)[known] == target[known]))
    numbers = np.where(known, target == "sweet", -1).astype(int)
    told = CredibleTreeClassifier(unlabeled=-1).fit(table, numbers)
    assert told.classes_.tolist() == [0, 1]
    assert told.predict_proba(table) == pytest.approx(model.predict_proba(table))
    with pytest.raises(CredimiError, match="missing in all"):
        CredibleTreeClassifier().fit(table, np.full(600, None))
    with pytest.raises(CredimiError, match="nothing to score"):
        model.score(table, np.full(600, None))


def test_whole_weights_are_repeated_rows() -> None:
    table, target = fruit(400, missing=0.1)
    weights = np.random.default_rng(0).integers(0, 4, 400)
    places = np.repeat(np.arange(400), weights)
    one = CredibleTreeClassifier().fit(table, target, sample_weight=weights)
    other = CredibleTreeClassifier().fit(table.iloc[places], target[places])
    assert one.predict_proba(table) == pytest.approx(other.predict_proba(table))
    assert one.feature_importances_ == pytest.approx(other.feature_importances_)


def test_importances_are_information_with_intervals() -> None:
    table, target = fruit(1_000)
    model = CredibleTreeClassifier().fit(table, target)
    mean, ends = model.feature_importances_, model.importance_intervals_
    assert np.flatnonzero(mean).tolist() == [0, 1]
    assert ((ends[:, 0] <= mean) & (mean <= ends[:, 1])).all()
    assert 0.0 < mean.sum() < np.log(2.0)


def test_probabilities_are_calibrated() -> None:
    table, target = fruit(2_000)
    fresh, truth = fruit(20_000, 1)
    model = CredibleTreeClassifier().fit(table, target)
    seen, said = calibration_curve(truth == "sweet", model.predict_proba(fresh)[:, 1], n_bins=10)
    assert seen == pytest.approx(said, abs=0.06)


def test_it_works_with_what_scikit_learn_builds_on() -> None:
    table, target = fruit(400, missing=0.05)
    assert cross_val_score(CredibleTreeClassifier(), table, target, cv=3).mean() > 0.7
    pipeline = make_pipeline(FunctionTransformer(lambda each: each.drop(columns="day")), CredibleTreeClassifier())
    assert pipeline.fit(table, target).score(table, target) > 0.7
    numbers = np.column_stack([table["size"], table["colour"].map({"red": 0.0, "green": 1.0, "yellow": 2.0})])
    bagged = BaggingClassifier(CredibleTreeClassifier(), n_estimators=5, random_state=0).fit(numbers, target)
    assert bagged.score(numbers, target) > 0.7
    model = CredibleTreeClassifier(max_depth=1).fit(table, target)
    assert model.get_depth() == 1
    assert pickle.loads(pickle.dumps(model)).export_text() == model.export_text()  # noqa: S301  (our own)
    assert clone(model).get_params() == model.get_params()


def test_columns_that_were_cut_as_asked_are_split_as_asked() -> None:
    table, target = fruit(1_500)
    model = CredibleTreeClassifier(discretize={"size": [8.0]}).fit(table[["size"]], target)
    assert model.tree_.branches(0) == ("<= 8", "> 8")
    assert model.predict(pd.DataFrame({"size": [7.9, 8.1, np.nan]})).tolist()[:2] == ["sour", "sweet"]


def test_bad_input_is_refused_in_words() -> None:
    table, target = fruit(50)
    for model, message in [
        (CredibleTreeClassifier(epsilon=-1), "epsilon"),
        (CredibleTreeClassifier(level=2), "level"),
        (CredibleTreeClassifier(max_depth=-1), "max_depth"),
        (CredibleTreeClassifier(n_jobs="all"), "n_jobs is 'all'"),
        (CredibleTreeClassifier(discretize={"weight": "mdl"}), "weight"),
    ]:
        with pytest.raises(CredimiError, match=message):
            model.fit(table, target)
    with pytest.raises(CredimiError, match="continuous"):
        CredibleTreeClassifier().fit(table, np.linspace(0.0, 1.0, 50))


def test_one_class_and_columns_that_tell_nothing_give_one_leaf() -> None:
    table, target = fruit(60)
    alone = CredibleTreeClassifier().fit(table, np.full(60, "sweet"))
    assert alone.predict(table).tolist() == ["sweet"] * 60
    names = pd.DataFrame({"name": [f"row {place}" for place in range(60)], "empty": [None] * 60, "one": ["x"] * 60})
    model = CredibleTreeClassifier().fit(names, target)
    assert model.get_n_leaves() == 1
    assert "no column has two values here" in model.export_text()


def test_an_interrupted_fit_keeps_its_tree() -> None:
    table, target = fruit(2_000)

    def stop(_: float, _doing: str) -> None:
        raise KeyboardInterrupt

    with pytest.warns(UserWarning, match="interrupted"):
        model = CredibleTreeClassifier(progress=stop).fit(table, target)
    assert model.predict(table).shape == (2_000,)
    assert "(interrupted)" in model.export_text()


def test_a_column_of_very_many_numbers_is_cut_alike_in_fit_and_predict() -> None:
    generator = np.random.default_rng(0)
    numbers = np.concatenate([generator.normal(size=60_000), -generator.exponential(size=10_000)])
    target = np.where(generator.random(70_000) < np.where(numbers > 0.3, 0.9, 0.1), 1, 0)
    model = CredibleTreeClassifier(max_depth=2).fit(numbers[:, np.newaxis], target)
    leaves = model.apply(numbers[:, np.newaxis])
    assert [int(node.rows) for node in model.tree_.nodes if node.split is None] == [
        int((leaves == number).sum()) for number in model.tree_.leaves
    ]


def test_numbers_that_come_as_text_are_read_when_it_predicts() -> None:
    table, target = fruit(800)
    model = CredibleTreeClassifier().fit(table[["size", "boxes"]], target)
    texts = table[["size", "boxes"]].astype(str)
    assert model.predict_proba(texts) == pytest.approx(model.predict_proba(table[["size", "boxes"]]))
    texts.loc[:, "size"] = "?"
    assert model.predict_proba(texts) == pytest.approx(
        model.predict_proba(table[["size", "boxes"]].assign(size=np.nan))
    )


def test_weights_of_next_to_nothing_are_little_data_and_not_one_class() -> None:
    table, target = fruit(100)
    model = CredibleTreeClassifier().fit(table, target, sample_weight=np.full(100, 1e-12))
    assert model.get_n_leaves() == 1
    assert "unsure" in model.export_text()
