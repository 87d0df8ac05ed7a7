"""`CredibleSelector`: what `rank` keeps, as scikit-learn's users call it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

pytest.importorskip("sklearn")

from sklearn.base import clone
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from credimi import CredibleSelector, CredimiError, IncrementalNaiveBayes, Ranking, count, rank
from credimi.inference.tables import many_tables

RULES = ("forward", "backward", "plugin", "fdr")


@pytest.mark.filterwarnings("ignore:no feature is credible")  # of noise, as it should be
@parametrize_with_checks([CredibleSelector()])
def test_scikit_learn_checks(estimator: Any, check: Any) -> None:  # noqa: ANN401
    check(estimator)


def table(rows: int = 600, seed: int = 0) -> tuple[dict[str, Any], list[str | None]]:
    """Columns of all kinds, from useless to telling, with holes; and a target with holes."""
    generator = np.random.default_rng(seed)
    classes = generator.integers(0, 3, rows)

    def holes(values: list[Any], share: float) -> list[Any]:
        return [None if gone else value for value, gone in zip(values, generator.random(rows) < share, strict=True)]

    columns = {
        "colour": holes(
            [["red", "green", "blue"][each] for each in (classes + (generator.random(rows) < 0.4)) % 3], 0.2
        ),
        "noise": holes(generator.choice(["p", "q", "r", "s"], rows).tolist(), 0.1),
        "size": holes((classes + generator.normal(size=rows)).tolist(), 0.1),
        "random": holes(generator.normal(size=rows).tolist(), 0.1),
        "flag": holes((classes > generator.integers(0, 3, rows)).tolist(), 0.1),
        "whole": holes((classes * 2 + generator.integers(0, 3, rows)).tolist(), 0.0),
    }
    return columns, holes([["a", "b", "c"][each] for each in classes], 0.05)


@pytest.mark.parametrize("rule", RULES)
def test_keeps_what_rank_keeps(rule: str) -> None:
    columns, y = table()
    selector = CredibleSelector(rule).fit(pa.table(columns), y)
    expected = rank(columns, y)
    assert sorted(selector.get_feature_names_out()) == sorted(expected.selected(rule))
    assert isinstance(selector.ranking_, Ranking)
    assert selector.ranking_.columns == expected.columns
    assert selector.counts_ == count(columns, y)


@pytest.mark.parametrize("rule", RULES)
def test_no_interval_is_computed_unless_the_ranking_is_asked_for(rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    columns, y = table()
    expected = sorted(rank(columns, y).selected(rule))

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError

    monkeypatch.setattr(many_tables, "credible_interval", refuse)
    for selector in (CredibleSelector(rule).fit(pa.table(columns), y), CredibleSelector.from_counts(count(columns, y))):
        selector.set_params(rule=rule)
        assert sorted(selector.get_feature_names_out()) == expected
        with pytest.raises(AssertionError):
            selector.ranking_  # noqa: B018  (a property)


def test_what_rank_refuses_is_refused_in_fit() -> None:
    columns, y = table(50)
    with pytest.raises(CredimiError, match="missing_as is 'other'"):
        CredibleSelector(missing_as="other").fit(pa.table(columns), y)
    with pytest.raises(CredimiError, match=r"epsilon is -1\.0"):
        CredibleSelector(epsilon=-1.0).fit(pa.table(columns), y)
    with pytest.warns(UserWarning, match="no feature is credible: kept colour, .*; all rows have one class, 'a'"):
        CredibleSelector().fit(pa.table(columns), ["a"] * 50)  # as in a fold of a rare class
    apart = {"never": ["x", "y", None, None], "other": list("xyxy")}
    with pytest.raises(CredimiError, match="'never' is never seen together with the target"):
        CredibleSelector("forward", prior="haldane").fit(pa.table(apart), [None, None, "a", "b"])


def test_frames_of_all_libraries_come_back_as_they_went_in() -> None:
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    columns, y = table()
    for frame in (pandas.DataFrame(columns), polars.DataFrame(columns), pa.table(columns)):
        selector = CredibleSelector().fit(frame, y)
        kept = selector.transform(frame)
        assert isinstance(kept, type(frame))
        names = ["colour", "size", "flag", "whole"]
        assert list(selector.get_feature_names_out()) == names
        if isinstance(frame, pandas.DataFrame):
            pandas.testing.assert_frame_equal(kept, frame[names])
        elif isinstance(frame, polars.DataFrame):
            assert kept.equals(frame.select(names))
        else:
            assert kept.equals(frame.select(names))


def test_set_output_gives_the_library_that_is_asked_for() -> None:
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    columns, y = table()
    for frame in (pandas.DataFrame(columns), polars.DataFrame(columns)):
        for library, kind in (("pandas", pandas.DataFrame), ("polars", polars.DataFrame)):
            kept = CredibleSelector().set_output(transform=library).fit_transform(frame, y)
            assert isinstance(kept, kind)
            assert list(kept.columns) == ["colour", "size", "flag", "whole"]


def test_arrays() -> None:
    generator = np.random.default_rng(1)
    y = generator.integers(0, 2, 500)
    X = np.column_stack([generator.normal(size=500), y + generator.normal(size=500), generator.integers(0, 4, 500)])  # noqa: N806
    X[generator.random(X.shape) < 0.1] = np.nan
    selector = CredibleSelector().fit(X, y)
    assert selector.get_support().tolist() == [False, True, False]
    np.testing.assert_array_equal(selector.transform(X), X[:, [1]])
    back = selector.inverse_transform(X[:, [1]])
    np.testing.assert_array_equal(back[:, 1], X[:, 1])
    assert np.isnan(back[:, [0, 2]]).all()
    with pytest.raises(CredimiError, match="X has 2 columns, but 1 were kept"):
        selector.inverse_transform(X[:, :2])
    assert CredibleSelector.from_counts(count(X, y)).get_support().tolist() == [False, True, False]


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("part", [1, 7, 250])
def test_parts_give_the_same_as_the_whole(rule: str, part: int) -> None:
    columns, y = table(300)
    frame = pa.table(columns)
    whole, parts = CredibleSelector(rule).fit(frame, y), CredibleSelector(rule)
    for start in range(0, 300, part):
        parts.partial_fit(frame.slice(start, part), y[start : start + part])
    assert parts.counts_ == whole.counts_
    np.testing.assert_array_equal(parts.get_support(), whole.get_support())
    assert parts.ranking_.columns["p_above"] == pytest.approx(whole.ranking_.columns["p_above"], rel=1e-9)


def test_the_k_best_by_probability_then_by_information() -> None:
    columns, y = table()
    frame = pa.table(columns)
    rows = sorted(rank(columns, y), key=lambda row: (-row["p_above"], -row["mi"]))
    for k in range(1, 7):
        kept = CredibleSelector(k=k).fit(frame, y).get_feature_names_out()
        assert sorted(kept) == sorted(row["feature"] for row in rows[:k])
    for k in (0, 7, 1.5, True):
        with pytest.raises(CredimiError, match=r"k is .*: it must be a whole number from 1 to 6"):
            CredibleSelector(k=k).fit(frame, y)  # type: ignore[arg-type]
        with pytest.raises(CredimiError, match=r"k is .*: it must be a whole number from 1 to 6"):
            CredibleSelector(k=k).partial_fit(frame, y)  # type: ignore[arg-type]
        with pytest.raises(CredimiError, match=r"k is .*: it must be a whole number from 1 to 6"):
            CredibleSelector.from_counts(count(columns, y), k=k)


@pytest.mark.filterwarnings("ignore:.* credible")  # as it is asked for
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("fewest", range(1, 7))
def test_the_best_are_added_where_fewer_are_kept(rule: str, fewest: int) -> None:
    columns, y = table(60)
    frame = pa.table(columns)
    plain = set(CredibleSelector(rule, epsilon=0.05).fit(frame, y).get_feature_names_out())
    rows = sorted(rank(columns, y, epsilon=0.05), key=lambda row: (-row["p_above"], -row["mi"]))
    others = [row["feature"] for row in rows if row["feature"] not in plain]
    kept = CredibleSelector(rule, epsilon=0.05, min_features=fewest).fit(frame, y).get_feature_names_out()
    assert set(kept) == plain | set(others[: max(fewest - len(plain), 0)])


@pytest.mark.filterwarnings("ignore:.* credible")  # as it is asked for
def test_a_pipeline_needs_a_feature_in_every_fold() -> None:
    generator = np.random.default_rng(0)
    x, y = generator.integers(0, 2, (60, 4)).astype(float), generator.integers(0, 2, 60)
    with pytest.warns(UserWarning, match="min_features=1, the default, keeps the best one all the same"):
        assert CredibleSelector(min_features=0).fit(x, y).transform(x).shape == (60, 0)
    for rule in (*RULES, "informative", "distinct", "relevant"):
        model = make_pipeline(CredibleSelector(rule, min_features=2), LogisticRegression())
        assert np.isfinite(cross_val_score(model, x, y, cv=5)).all()
        assert model.fit(x, y)[0].get_support().sum() >= 2
    same = np.ones((60, 2))
    for rule in (
        *RULES,
        "informative",
        "distinct",
        "relevant",
    ):  # nothing can tell; the number is kept
        assert CredibleSelector(rule, min_features=1).fit(same, y).get_support().sum() == 1


def test_naive_bayes_uses_the_best_columns_there_are() -> None:
    x, y = np.random.default_rng(0).integers(0, 2, (60, 3)).astype(str), np.array(["p", "q"] * 30)
    x[:, 2] = "same"
    for fewest in range(3):
        model = IncrementalNaiveBayes(selector=CredibleSelector(min_features=fewest)).fit(x, y)
        assert model.support_.sum() == fewest
    assert IncrementalNaiveBayes(selector=CredibleSelector(min_features=9)).fit(x, y).support_.sum() == 2


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"min_features": -1}, "min_features is -1: it must be a whole number from 0 up"),
        ({"min_features": 7}, "min_features is 7, but there are 6 features"),
        ({"min_features": 3, "k": 2}, "min_features is 3, more than k, 2"),
    ],
)
@pytest.mark.parametrize("rule", ["forward", "distinct"])
def test_a_wrong_min_features_is_refused_in_fit(rule: str, parameters: dict[str, int], message: str) -> None:
    columns, y = table(100)
    with pytest.raises(CredimiError, match=message):
        CredibleSelector(rule, **parameters).fit(pa.table(columns), y)


def test_weights_are_repeated_rows() -> None:
    columns, y = table(200)
    times = np.random.default_rng(3).integers(0, 4, 200)
    repeated = np.repeat(np.arange(200), times)
    frame = pa.table(columns)
    weighted = CredibleSelector().fit(frame, y, sample_weight=times)
    plain = CredibleSelector().fit(frame.take(repeated), [y[row] for row in repeated])
    assert weighted.ranking_.columns["mi"] == pytest.approx(plain.ranking_.columns["mi"], rel=1e-9, abs=1e-12)
    np.testing.assert_array_equal(weighted.get_support(), plain.get_support())
    with pytest.raises(CredimiError, match="sample_weight of row 3 is -1: weights are finite numbers from 0 up"):
        CredibleSelector().fit(frame, y, sample_weight=[1.0] * 3 + [-1.0] + [1.0] * 196)


def test_unlabeled_rows_are_rows_without_a_target() -> None:
    columns, y = table()
    numbers = [-1 if label is None else "abc".index(label) for label in y]
    frame = pa.table(columns)
    asked = CredibleSelector(unlabeled=-1).fit(frame, numbers)
    assert asked.counts_.class_names() == ("0", "1", "2")
    assert asked.ranking_.columns["mi"] == CredibleSelector().fit(frame, y).ranking_.columns["mi"]
    not_asked = CredibleSelector().fit(frame, numbers)
    assert not_asked.counts_.class_names() == ("-1", "0", "1", "2")
    words = ["unknown" if label is None else label for label in y]
    assert CredibleSelector(unlabeled="unknown").fit(frame, words).counts_ == CredibleSelector().fit(frame, y).counts_


def test_holes_in_y_of_every_kind() -> None:
    pandas = pytest.importorskip("pandas")
    columns, y = table()
    frame = pandas.DataFrame(columns)
    expected = CredibleSelector().fit(frame, y).ranking_.columns["mi"]
    for missing in (None, np.nan, pandas.NA):
        holes = np.array([missing if label is None else label for label in y], dtype=object)
        assert CredibleSelector().fit(frame, holes).ranking_.columns["mi"] == expected
    assert CredibleSelector().fit(frame, pandas.Series(y, dtype="category")).ranking_.columns["mi"] == expected


@pytest.mark.long
def test_pipelines_and_searches() -> None:
    pandas = pytest.importorskip("pandas")
    columns, y = table(400)
    frame = pandas.DataFrame(columns)
    labels = np.array([label or "a" for label in y])
    transform = ColumnTransformer(
        [("numbers", StandardScaler(), ["size", "random", "whole"]), ("rest", "passthrough", ["colour", "noise"])],
    ).set_output(transform="pandas")
    boosting = HistGradientBoostingClassifier(max_iter=5)
    pipeline = Pipeline([("prepare", transform), ("select", CredibleSelector()), ("classify", boosting)])
    search = GridSearchCV(
        Pipeline([("select", CredibleSelector()), ("classify", boosting)]),
        {"select__epsilon": [0.0, 0.01], "select__rule": ["forward", "plugin"]},
        cv=2,
        n_jobs=2,
    )
    numbers = frame[["size", "random", "whole"]]
    search.fit(numbers, labels)
    assert set(search.best_params_) == {"select__epsilon", "select__rule"}
    selected = clone(pipeline[:2]).fit(frame, labels)
    assert "rest__noise" not in selected.get_feature_names_out()
    assert cross_validate(make_pipeline(CredibleSelector(), boosting), numbers, labels, cv=2)["test_score"].size == 2
    assert make_column_selector(dtype_include=float)(frame)


def test_where_nothing_is_kept_it_says_so() -> None:
    generator = np.random.default_rng(0)
    X, y = generator.normal(size=(200, 3)), generator.integers(0, 2, 200)  # noqa: N806
    selector = CredibleSelector("forward", min_features=0).fit(X, y)
    with pytest.warns(UserWarning, match="No features were selected: none of 3 informs credibly"):
        assert selector.transform(X).shape == (200, 0)
    with pytest.warns(UserWarning, match=r"no feature is credible: kept x\d, the best, because min_features is 1"):
        assert CredibleSelector("forward").fit(X, y).transform(X).shape == (200, 1)


def test_what_is_wrong_is_said() -> None:
    columns, y = table(50)
    frame = pa.table(columns)
    with pytest.raises(CredimiError, match=r"unknown rule 'best'.* fdr, informative, distinct, relevant$"):
        CredibleSelector("best").fit(frame, y)
    with pytest.raises(CredimiError, match="X has 50 rows, y 49"):
        CredibleSelector().fit(frame, y[:-1])
    with pytest.raises(CredimiError, match="is missing in all 50 rows"):
        CredibleSelector().fit(frame, [None] * 50)
    for rule, name, value in (("informative", "epsilon", 0.01), ("informative", "level", 0.9)):
        with pytest.raises(CredimiError, match=f"^{name} is for claims, and the rule informative makes none"):
            CredibleSelector(rule, **{name: value}).fit(frame, y)
    with pytest.raises(ValueError, match="feature names"):
        CredibleSelector().fit(frame, y).transform(frame.rename_columns(["x", *frame.column_names[1:]]))


def test_columns_of_polars_that_arrow_does_not_take_are_named() -> None:
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"x": [1, 2] * 9, "large": polars.Series([1, 2] * 9, dtype=polars.Int128)})
    with pytest.raises(CredimiError, match="column 'large' is of the type Int128"):
        CredibleSelector().fit(frame, [0, 1] * 9)


@pytest.mark.parametrize("rule", ["distinct", "relevant"])
def test_rules_that_look_at_columns_together_say_what_to_do_with_a_sparse_matrix(rule: str) -> None:
    from scipy.sparse import csr_matrix  # noqa: PLC0415  (it takes a while to load)

    generator = np.random.default_rng(0)
    dense = (generator.random((200, 4)) < 0.3).astype(float)
    selector = CredibleSelector(rule=rule, min_features=1)
    with pytest.raises(TypeError, match=r"toarray"):
        selector.fit(csr_matrix(dense), dense[:, 0])
    assert selector.fit(dense, dense[:, 0]).get_support()[0]
