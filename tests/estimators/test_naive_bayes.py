"""`IncrementalNaiveBayes` against scikit-learn's, and against the formula written out row by row."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("sklearn")

from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.naive_bayes import CategoricalNB
from sklearn.pipeline import Pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from credimi import CredibleSelector, CredimiError, IncrementalNaiveBayes, count, posterior, rank

if TYPE_CHECKING:
    from numpy.typing import NDArray

Row = tuple[str | None, ...]


@parametrize_with_checks([IncrementalNaiveBayes(), IncrementalNaiveBayes(selector=CredibleSelector("backward"))])
def test_scikit_learn_checks(estimator: Any, check: Any) -> None:  # noqa: ANN401
    check(estimator)


def frame(rows: list[Row]) -> pa.Table:
    columns = list(zip(*rows, strict=True))
    return pa.table({f"f{place}": pa.array(list(column), pa.string()) for place, column in enumerate(columns)})


def by_hand(
    rows: list[Row], labels: list[str | None], weights: list[float], asked: Row, prior: float
) -> dict[str, float]:
    """P(class | row), by dictionaries and loops."""
    classes = sorted({label for label in labels if label is not None})
    joint = {}
    for label in classes:
        own = sum(weight for each, weight in zip(labels, weights, strict=True) if each == label)
        log_joint = math.log(own)
        for place, value in enumerate(asked):
            counts: dict[str, float] = defaultdict(float)
            values = set()
            for row, each, weight in zip(rows, labels, weights, strict=True):
                if each is not None and row[place] is not None:
                    values.add(row[place])
                    if each == label:
                        counts[str(row[place])] += weight
            if value in values:
                log_joint += math.log((counts[str(value)] + prior) / (sum(counts.values()) + len(values) * prior))
        joint[label] = log_joint
    highest = max(joint.values())
    shares = {label: math.exp(value - highest) for label, value in joint.items()}
    return {label: share / sum(shares.values()) for label, share in shares.items()}


cells = st.sampled_from([None, "a", "b", "c"])
tables = st.lists(
    st.tuples(cells, cells, cells, st.sampled_from([None, "x", "y", "z"])), min_size=1, max_size=19
).filter(lambda rows: any(row[3] is not None for row in rows))


@given(tables, st.tuples(st.sampled_from([None, "a", "b", "new"]), cells, cells), st.sampled_from([0.5, 1.0, 3.0]))
@settings(deadline=None, max_examples=60)
def test_with_holes_it_is_the_formula(rows: list[Row], asked: Row, prior: float) -> None:
    features, labels = [row[:3] for row in rows], [row[3] for row in rows]
    model = IncrementalNaiveBayes(prior).fit(frame(features), labels)
    expected = by_hand(features, labels, [1.0] * len(rows), asked, prior)
    assert model.classes_.tolist() == sorted(expected)
    one = model.predict_proba(frame([asked]))[0]
    assert one == pytest.approx(list(expected.values()), rel=1e-10)
    many = model.predict_proba(frame([asked, asked]))
    assert many[1] == pytest.approx(list(expected.values()), rel=1e-10)
    single = model.predict_proba_one({f"f{place}": value for place, value in enumerate(asked)})
    assert single == pytest.approx(expected, rel=1e-10)
    assert np.exp(model.predict_log_proba(frame([asked]))) == pytest.approx(one[None])
    assert model.predict(frame([asked]))[0] == model.predict_one({f"f{place}": v for place, v in enumerate(asked)})


@given(tables, st.integers(1, 19), st.randoms(use_true_random=False))
@settings(deadline=None, max_examples=60)
def test_parts_orders_and_single_rows_give_the_same(rows: list[Row], part: int, shuffle: Any) -> None:  # noqa: ANN401
    whole = IncrementalNaiveBayes().fit(frame([row[:3] for row in rows]), [row[3] for row in rows])
    shuffled = list(rows)
    shuffle.shuffle(shuffled)
    parts, single = IncrementalNaiveBayes(), IncrementalNaiveBayes()
    for start in range(0, len(rows), part):
        some = shuffled[start : start + part]
        parts.partial_fit(frame([row[:3] for row in some]), [row[3] for row in some])
    for row in shuffled:
        single.learn_one({f"f{place}": row[place] for place in range(3)}, row[3])
    for other in (parts, single):
        assert cells_of(other) == cells_of(whole)
        assert other.classes_.tolist() == whole.classes_.tolist()
    asked = frame([row[:3] for row in rows])
    np.testing.assert_allclose(parts.predict_proba(asked), whole.predict_proba(asked), rtol=1e-12)


def cells_of(model: IncrementalNaiveBayes) -> dict[str, Any]:
    """What was counted, however labels and classes stand."""
    counts = model.counts_
    found = {}
    for name in counts.features:
        feature = counts.interpreted(least_classes=1)[counts.features.index(name)]
        names = (*counts.class_names(least=1), None)
        for row, label in enumerate(names):
            for column, value in enumerate((*feature.labels.shown(), None)):
                if feature.block[row, column]:
                    found[name, label, value] = feature.block[row, column]
    return found


@given(tables, tables, st.booleans())
@settings(deadline=None, max_examples=60)
def test_what_is_unlearned_was_never_learned(kept: list[Row], gone: list[Row], by_row: bool) -> None:  # noqa: FBT001
    never = IncrementalNaiveBayes().fit(frame([row[:3] for row in kept]), [row[3] for row in kept])
    model = IncrementalNaiveBayes().fit(frame([row[:3] for row in kept + gone]), [row[3] for row in kept + gone])
    for part in [[row] for row in gone] if by_row else [gone]:
        model.unlearn(frame([row[:3] for row in part]), [row[3] for row in part])
    assert cells_of(model) == cells_of(never)
    asked = frame([row[:3] for row in kept])
    shares, expected = model.predict_proba(asked), never.predict_proba(asked)
    own = np.isin(model.classes_, never.classes_)
    np.testing.assert_allclose(shares[:, own], expected, rtol=1e-12)
    assert not shares[:, ~own].any()


@given(tables, st.integers(1, 12), st.integers(1, 12))
@settings(deadline=None, max_examples=60)
def test_a_window_remembers_the_latest_rows(rows: list[Row], window: int, part: int) -> None:
    latest = rows[-window:]
    if all(row[3] is None for row in latest):
        return
    model = IncrementalNaiveBayes(window=window)
    for start in range(0, len(rows), part):
        some = rows[start : start + part]
        model.partial_fit(frame([row[:3] for row in some]), [row[3] for row in some])
    only = IncrementalNaiveBayes().fit(frame([row[:3] for row in latest]), [row[3] for row in latest])
    assert cells_of(model) == cells_of(only)


@given(tables, st.integers(1, 19))
@settings(deadline=None, max_examples=60)
def test_decay_lets_earlier_rows_count_for_less(rows: list[Row], part: int) -> None:
    model = IncrementalNaiveBayes(decay=0.8)
    for start in range(0, len(rows), part):
        some = rows[start : start + part]
        model.partial_fit(frame([row[:3] for row in some]), [row[3] for row in some])
    known = [row for row in rows if row[3] is not None]
    weights = [0.8 ** (len(known) - 1 - place) for place in range(len(known))]
    for asked in rows[:3]:
        expected = by_hand([row[:3] for row in known], [row[3] for row in known], weights, asked[:3], 1.0)
        assert model.predict_proba(frame([asked[:3]]))[0] == pytest.approx(list(expected.values()), rel=1e-9)


@pytest.mark.parametrize("prior", [0.3, 1.0])
@pytest.mark.parametrize("kind", [int, str])
def test_on_complete_data_it_is_scikit_learns(prior: float, kind: type) -> None:
    generator = np.random.default_rng(0)
    y = generator.integers(0, 4, 500)
    X = np.column_stack([(y + generator.integers(0, size, 500)) % size for size in (2, 3, 7, 12)])  # noqa: N806
    other = CategoricalNB(alpha=prior).fit(X, y)
    given_ = X if kind is int else X.astype(str).astype(object)
    model = IncrementalNaiveBayes(prior).fit(given_, y)
    np.testing.assert_array_equal(model.classes_, other.classes_)
    np.testing.assert_allclose(model.predict_log_proba(given_), other.predict_log_proba(X), rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(model.predict(given_), other.predict(X))
    assert model.predict(given_).dtype == y.dtype
    weights = generator.integers(0, 3, 500)
    weighted, weighed = model.fit(given_, y, sample_weight=weights), other.fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(weighted.predict_proba(given_), weighed.predict_proba(X), rtol=1e-12, atol=1e-12)


def test_rows_without_a_class_are_used_if_asked() -> None:
    """Against the posterior mean of each joint table."""
    rows = [("a",)] * 30 + [("b",)] * 10 + [("a",)] * 5 + [("b",)] * 25 + [("a",)] * 60 + [("b",)] * 40
    labels: list[str | None] = ["x"] * 40 + ["y"] * 30 + [None] * 100
    model = IncrementalNaiveBayes(learn_unlabeled=True).fit(frame(rows), labels)
    mean = posterior([[30, 10], [5, 25]], feature_only=[60, 40], prior=1.0).mean
    joint = np.array([40, 30]) * (mean / mean.sum(axis=1, keepdims=True))[:, 0]
    assert model.predict_proba(frame([("a",)]))[0] == pytest.approx(joint / joint.sum(), rel=1e-9)
    assert model.predict_proba(frame([("a",)] * 2))[1] == pytest.approx(joint / joint.sum(), rel=1e-9)
    skipped = IncrementalNaiveBayes().fit(frame(rows), labels).predict_proba(frame([("a",)]))[0]
    assert skipped == pytest.approx(np.array([40 * 31 / 42, 30 * 6 / 32]) / (40 * 31 / 42 + 30 * 6 / 32), rel=1e-12)
    marked = [-1 if label is None else "xy".index(label) for label in labels]
    assert IncrementalNaiveBayes(unlabeled=-1).fit(frame(rows), marked).predict_proba(frame([("a",)]))[0] == (
        pytest.approx(skipped)
    )


def test_numbers_are_cut_as_they_are_ranked() -> None:
    generator = np.random.default_rng(1)
    y = generator.integers(0, 2, 400)
    X = np.column_stack([y + generator.normal(size=400), generator.normal(size=400)])  # noqa: N806
    X[generator.random(X.shape) < 0.1] = np.nan
    model = IncrementalNaiveBayes().fit(X, y)
    cuts = count(X, y, discretize="mdl").interpreted()[0].cuts
    assert cuts.size
    coded = np.where(np.isnan(X[:, 0]), None, np.searchsorted(cuts, X[:, 0]).astype(str))[:, None]
    other = IncrementalNaiveBayes().fit(coded, y)
    np.testing.assert_allclose(model.predict_proba(X), other.predict_proba(coded), rtol=1e-12)
    for row in range(5):
        np.testing.assert_allclose(model.predict_proba(X[[row]]), other.predict_proba(coded[[row]]), rtol=1e-12)
    chunks = IncrementalNaiveBayes()
    for start in range(0, 400, 5):
        chunks.partial_fit(X[start : start + 5], y[start : start + 5])
    np.testing.assert_allclose(chunks.predict_proba(X), model.predict_proba(X), rtol=1e-12)
    far = model.predict_proba([[1e9, np.nan], [-1e9, np.nan]])
    assert far[0, 1] > 0.5 > far[1, 1]


@pytest.mark.parametrize("rule", ["forward", "backward", "plugin", "fdr"])
@pytest.mark.parametrize("prior", ["adaptive", "uniform"])
def test_it_uses_the_features_that_are_credible_now(rule: str, prior: str) -> None:
    generator = np.random.default_rng(2)
    rows, labels = [], []
    for _ in range(60):
        label = generator.integers(0, 2)
        telling = "pq"[label if generator.random() < 0.9 else 1 - label]
        noise = "rst"[generator.integers(0, 3)]
        rows.append((telling, None if generator.random() < 0.2 else noise, "k"))
        labels.append("no" if label else "yes")
    model = IncrementalNaiveBayes(selector=CredibleSelector(rule, prior=prior, min_features=0))
    for size, (row, label) in enumerate(zip(rows, labels, strict=True), 1):
        model.learn_one({f"f{place}": value for place, value in enumerate(row)}, label)
        if size % 4 or len(set(labels[:size])) < 2:
            continue
        kept = rank(frame(rows[:size]), labels[:size], prior=prior).selected(rule)
        assert np.flatnonzero(model.support_).tolist() == sorted(int(name[1]) for name in kept)
        only = [tuple(value if f"f{place}" in kept else None for place, value in enumerate(row))]
        expected = by_hand(rows[:size], labels[:size], [1.0] * size, only[0], 1.0)
        assert model.predict_proba_one({f"f{place}": v for place, v in enumerate(row)}) == pytest.approx(expected)


def test_streams_of_dictionaries() -> None:
    model = IncrementalNaiveBayes()
    assert model.predict_one({"a": 1}) is None
    assert model.predict_proba_one({"a": 1}) == {}
    assert model.learn_one({"colour": "red", "size": 1}, y=True) is None  # type: ignore[func-returns-value]
    assert model.predict_one({"colour": "red"}) is True
    model.learn_one({"colour": "blue", "shape": "round"}, y=False)  # one feature new, one missing
    model.learn_one({"colour": "blue", "size": 2, "shape": "round"}, y=False)
    assert model.feature_names_in_.tolist() == ["colour", "size", "shape"]
    assert model.predict_one({"colour": "blue", "taste": "sweet"}) is False
    shares = model.predict_proba_one({"colour": "blue"})
    assert shares == pytest.approx(
        {False: 2 / 3 * 3 / 4 / (2 / 3 * 3 / 4 + 1 / 3 / 3), True: 1 / 3 / 3 / (2 / 3 * 3 / 4 + 1 / 9)}
    )
    for nothing in (None, "?", "", float("nan")):
        model.learn_one({"colour": "blue"}, nothing)  # no class: skipped
    assert model.counts_.rows == 3


def test_a_window_forgets_rows_from_before_a_feature_came() -> None:
    model, only = IncrementalNaiveBayes(window=2), IncrementalNaiveBayes()
    rows = [({"a": "p"}, "x"), ({"a": "q", "b": "r"}, "y"), ({"b": "s"}, "x")]
    for row, label in rows:
        model.learn_one(row, label)
    for row, label in rows[1:]:
        only.learn_one(row, label)
    assert cells_of(model) == cells_of(only)


def test_classes_may_be_named_before_they_come_and_come_unnamed() -> None:
    model = IncrementalNaiveBayes().partial_fit([["a"]], ["x"], classes=["x", "y"])
    assert model.classes_.tolist() == ["x", "y"]
    assert model.predict_proba([["a"]]).tolist() == [[1.0, 0.0]]
    model.partial_fit([["b"], ["b"]], ["z", "w"])
    assert model.classes_.tolist() == ["w", "x", "y", "z"]
    assert model.predict([["a"]]) == ["x"]
    assert model.predict_proba([["never seen"]])[0] == pytest.approx([1 / 3, 1 / 3, 0.0, 1 / 3])


@pytest.mark.parametrize("unit", ["ns", "us", "s"])
def test_a_few_instants_are_learned_as_many_are(unit: str) -> None:
    moments = np.array(["1969-12-31T12", "2020-02-29T18", "NaT", "2020-02-29T18"] * 5, f"datetime64[{unit}]")[:, None]
    many = IncrementalNaiveBayes().fit(moments, ["a", "b"] * 10)
    few = IncrementalNaiveBayes()
    for start in range(0, 20, 4):
        few.partial_fit(moments[start : start + 4], ["a", "b"] * 2)
    assert few.counts_ == many.counts_
    assert few.counts_.labels[0].numbers.tolist() == [-0.5, 18321.75]


@pytest.mark.parametrize("unit", ["ns", "us", "s", "D"])
def test_a_few_spans_are_learned_as_many_are(unit: str) -> None:
    spans = np.array([86_400, 0, "NaT", 172_800] * 5, "timedelta64[s]").astype(f"timedelta64[{unit}]")[:, None]
    many = IncrementalNaiveBayes().fit(spans, ["a", "b"] * 10)
    few = IncrementalNaiveBayes()
    for start in range(0, 20, 4):
        few.partial_fit(spans[start : start + 4], ["a", "b"] * 2)
    assert few.counts_ == many.counts_
    assert few.counts_.labels[0].numbers.tolist() == [0.0, 86_400.0, 172_800.0]


def test_from_counts() -> None:
    rows = [("a", "1"), ("b", "2"), ("a", None), ("b", "1"), ("a", "2")] * 8
    labels = ["x", "y", "x", None, "y"] * 8
    counts = count(frame(rows), labels)
    model = IncrementalNaiveBayes.from_counts(counts, learn_unlabeled=True)
    other = IncrementalNaiveBayes(learn_unlabeled=True).fit(frame(rows), labels)
    np.testing.assert_allclose(model.predict_proba(frame(rows)), other.predict_proba(frame(rows)), rtol=1e-12)
    assert model.predict_one({"f0": "a", "f1": "1"}) == "x"


def test_missing_may_be_a_value() -> None:
    rows = [("a",), (None,), (None,), ("a",), ("a",), ("b",)]
    labels = ["x", "y", "y", "x", "y", "x"]
    model = IncrementalNaiveBayes(missing_as="category").fit(frame(rows), labels)
    said = IncrementalNaiveBayes().fit(frame([(value or "none",) for (value,) in rows]), labels)
    asked = frame([(None,), ("a",), ("b",)])
    np.testing.assert_allclose(
        model.predict_proba(asked), said.predict_proba(frame([("none",), ("a",), ("b",)])), rtol=1e-12
    )
    assert model.predict_proba_one({"f0": None}) == pytest.approx(
        dict(zip("xy", model.predict_proba(asked)[0], strict=True))
    )


def test_pipelines_and_searches() -> None:
    pandas = pytest.importorskip("pandas")
    generator = np.random.default_rng(4)
    y = np.where(generator.random(300) < 0.5, "more", "less")
    data = pandas.DataFrame(
        {
            "age": np.where(y == "more", 40.0, 30.0) + generator.normal(size=300) * 10,
            "job": pandas.Categorical(np.where(generator.random(300) < 0.7, y, "other")),
            "noise": generator.choice(["p", "q"], 300),
        }
    )
    data.loc[::7, "age"] = np.nan
    data.loc[::5, "job"] = None
    prepare = ColumnTransformer([("all", "passthrough", ["age", "job", "noise"])], verbose_feature_names_out=False)
    pipeline = Pipeline(
        [
            ("prepare", prepare.set_output(transform="pandas")),
            ("select", CredibleSelector("forward")),
            ("classify", IncrementalNaiveBayes()),
        ]
    )
    search = GridSearchCV(pipeline, {"select__epsilon": [0.0, 0.01], "classify__prior": [0.5, 1.0]}, cv=3)
    search.fit(data, y)
    assert search.best_score_ > 0.7
    assert search.best_estimator_[:2].get_feature_names_out().tolist() == ["age", "job"]
    own = IncrementalNaiveBayes(selector=CredibleSelector())
    assert cross_val_score(own, data, y, cv=3).mean() > 0.7
    assert clone(own).get_params()["selector__epsilon"] == "0.5%"


def coloured(rows: int = 120) -> tuple[list[list[str]], NDArray[np.int64]]:
    """A feature that tells the class of all rows but each seventh."""
    colours = [("red", "blue")[row % 2] for row in range(rows)]
    return [[colour] for colour in colours], np.array([(row + (row % 7 == 0)) % 2 for row in range(rows)])


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", ["text", "numbers", "doubles", "truths"])
def test_rows_whose_class_is_missing_are_not_scored(kind: str, *, weighted: bool) -> None:
    features, codes = coloured()
    complete = np.array({"text": ["n", "y"], "truths": [False, True]}.get(kind, [0, 1]), dtype=object)[codes]
    weights = np.arange(120.0) if weighted else None
    holes = np.arange(120) % 5 == 0
    target = np.where(holes, np.nan if kind == "doubles" else None, complete)
    target = target.astype(float) if kind == "doubles" else target
    model = IncrementalNaiveBayes().fit(features, target)
    hits = model.predict(features) == complete
    assert model.score(features, target, weights) == pytest.approx(
        np.average(hits[~holes], weights=None if weights is None else weights[~holes]), rel=1e-15
    )
    assert model.score(features, complete) == pytest.approx(hits.mean(), rel=1e-15)
    chain = Pipeline([("select", CredibleSelector()), ("bayes", IncrementalNaiveBayes())])
    for each in (IncrementalNaiveBayes(), chain):
        scores = cross_val_score(each, features, target, cv=KFold(3), error_score="raise")
        assert scores.mean() == pytest.approx(0.85, abs=0.03)
    assert chain.fit(features, target).score(features, target) == model.score(features, target)


def test_holes_in_text_need_no_splits_of_their_own() -> None:
    features, codes = coloured()
    target = np.where(np.arange(120) % 5 == 0, None, np.array(["n", "y"], dtype=object)[codes])
    assert cross_val_score(IncrementalNaiveBayes(), features, target, error_score="raise").min() > 0.7


def test_what_else_is_scored() -> None:
    features, codes = coloured()
    model = IncrementalNaiveBayes(unlabeled=-1).fit(features, codes)
    assert model.score(features[:4], [9, 1, -1, 1]) == pytest.approx(2 / 3)  # 9 never came, -1 is no class
    for nothing in ([None] * 4, [-1] * 4, [float("nan")] * 4):
        with pytest.raises(CredimiError, match="y is missing in all 4 rows that count"):
            model.score(features[:4], nothing)
    with pytest.raises(CredimiError, match="inconsistent numbers of samples"):
        model.score(features, [1])


def test_what_is_wrong_is_said() -> None:
    rows = frame([("a",), ("b",)])
    for parameters, message in (
        ({"prior": -1.0}, "prior is -1.0: it must be a finite pseudo-count from 0 up"),
        ({"decay": 1.5}, "decay is 1.5: it must lie between 0 and 1"),
        ({"window": 0}, "window is 0: it must be a whole number of rows"),
        ({"window": 5, "decay": 0.9}, "choose one of them"),
        ({"selector": "forward"}, "selector is 'forward': pass a CredibleSelector"),
        ({"selector": CredibleSelector("smalest")}, "unknown rule 'smalest'"),
        ({"selector": CredibleSelector(k=0)}, "k is 0: it must be a whole number from 1 up"),
        ({"missing_as": "drop"}, "missing_as is 'drop': choose one of ignore, category"),
    ):
        with pytest.raises(CredimiError, match=message):
            IncrementalNaiveBayes(**parameters).fit(rows, ["x", "y"])  # type: ignore[arg-type]
    with pytest.raises(CredimiError, match=r"is missing in all|there are no rows"):
        IncrementalNaiveBayes().fit(rows, [None, None])
    model = IncrementalNaiveBayes().fit(rows, ["x", "y"])
    before = cells_of(model)
    with pytest.raises(CredimiError, match="column 'f0': more is subtracted than was counted"):
        model.unlearn(frame([("a",)]), ["y"])
    with pytest.raises(CredimiError, match="column 'f0': more is subtracted than was counted"):
        model.unlearn(frame([("q",)]), ["y"])
    assert cells_of(model) == before
    with pytest.raises(CredimiError, match="unlearn needs decay=None"):
        IncrementalNaiveBayes(decay=0.9).fit(rows, ["x", "y"]).unlearn(rows, ["x", "y"])
    with pytest.raises(CredimiError, match="no row with a class was learned yet"):
        IncrementalNaiveBayes().partial_fit(rows, [None, None]).predict(rows)


@pytest.mark.parametrize("rule", ["distinct", "relevant"])
def test_rules_that_need_all_rows_at_once_are_refused_before_anything_is_learned(rule: str) -> None:
    rows, message = frame([("a",), ("b",)]), f"{rule}.* needs all rows at once.*forward.*make_pipeline"
    model = IncrementalNaiveBayes(selector=CredibleSelector(rule))
    with pytest.raises(CredimiError, match=message):
        model.fit(rows, ["x", "y"])
    with pytest.raises(CredimiError, match=message):
        model.partial_fit(rows, ["x", "y"])
    with pytest.raises(CredimiError, match=message):
        model.learn_one({"f0": "a"}, "x")
    assert not hasattr(model, "counts_")


def test_the_k_best_where_fewer_columns_can_tell() -> None:
    rows = frame([("a", "c"), ("b", "c")] * 20)  # f1 is constant
    model = IncrementalNaiveBayes(selector=CredibleSelector(k=2)).fit(rows, ["x", "y"] * 20)
    assert model.support_.tolist() == [True, False]
    assert model.predict(rows[:2]).tolist() == ["x", "y"]
