"""The rules informative and distinct in pipelines: noise, folds of one class, few rows, and what is warned of."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pytest

pytest.importorskip("sklearn")

import pandas as pd
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import credimi
from credimi import CredibleSelector, CredimiError

RULES = ("informative", "distinct")


def made(rows: int = 400, *, noise: bool = False, seed: int = 0) -> tuple[pd.DataFrame, pd.Series]:
    """A column that matters, a copy, one that matters less, and noise; or noise alone."""
    generator = np.random.default_rng(seed)
    target = generator.integers(0, 2, rows)
    first, second = (
        np.where(generator.random(rows) < chance, target, generator.integers(0, 2, rows)) for chance in (0.6, 0.4)
    )
    others = {f"noise{number}": generator.integers(0, 3, rows) for number in range(6)}
    telling = {} if noise else {"first": first, "copy": 1 - first, "second": second}
    return pd.DataFrame(telling | others).astype(str), pd.Series(np.where(target == 1, "yes", "no"))


def independent() -> tuple[pd.DataFrame, pd.Series]:
    """Every combination of class and values equally often: nothing is informative, whatever the noise of a sample."""
    cells = np.array(list(itertools.product(range(2), range(3), range(3), range(3), range(3))) * 2)
    return pd.DataFrame(cells[:, 1:], columns=list("abcd")).astype(str), pd.Series(cells[:, 0])


def pipeline(**options: object) -> object:
    return make_pipeline(CredibleSelector(**options), OneHotEncoder(handle_unknown="ignore"), LogisticRegression())


def kept(selector: CredibleSelector) -> set[str]:
    return set(selector.get_feature_names_out().tolist())


def test_informative_is_the_default_and_what_rank_keeps() -> None:
    x, y = made()
    selector = CredibleSelector().fit(x, y)
    assert selector.rule == "informative"
    assert kept(selector) == set(credimi.rank(x, y).selected("informative")) >= {"first", "copy", "second"}


def test_distinct_is_what_select_takes() -> None:
    x, y = made()
    selector = CredibleSelector(rule="distinct").fit(x, y)
    chosen = credimi.select(x.assign(y=y), "y")
    assert kept(selector) == set(chosen.features)
    assert len({"first", "copy"} & kept(selector)) == 1
    assert "second" in kept(selector)
    assert selector.selection_.settings["goal"] == "distinct"


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("rows", [30, 300])
def test_pure_noise_goes_through_a_pipeline(rule: str, rows: int) -> None:
    for seed in range(4):
        x, y = made(rows, noise=True, seed=seed)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "no feature is credible: kept noise")
            scores = cross_val_score(pipeline(rule=rule), x, y, cv=3, error_score="raise")
        assert np.isfinite(scores).all()


@pytest.mark.parametrize("rule", RULES)
def test_a_fold_of_one_class_is_fitted(rule: str) -> None:
    x, y = made(60)
    y = pd.Series(np.repeat(["no", "yes"], [55, 5]))
    with pytest.warns(
        UserWarning, match="kept first, the best, because min_features is 1; all rows have one class, 'no'$"
    ):
        selector = CredibleSelector(rule=rule).fit(x[:50], y[:50])
    assert selector.get_support().sum() == 1
    assert selector.transform(x).shape == (60, 1)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "no feature is credible")
        for train, _ in KFold(3).split(x):
            assert clone(selector).fit(x.iloc[train], y.iloc[train]).get_support().any()


@pytest.mark.parametrize("rule", RULES)
def test_the_warning_names_what_is_kept_and_why(rule: str) -> None:
    x, y = independent()
    with pytest.warns(UserWarning, match="no feature is credible") as told:
        selector = CredibleSelector(rule=rule, min_features=2).fit(x, y)
    assert len(told) == 1
    names = ", ".join(selector.get_feature_names_out())
    assert str(told[0].message) == f"no feature is credible: kept {names}, the best, because min_features is 2"
    assert told[0].filename == __file__


@pytest.mark.parametrize("rule", RULES)
def test_nothing_is_warned_where_enough_is_credible(rule: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        CredibleSelector(rule=rule, min_features=2).fit(*made())


@pytest.mark.parametrize("rule", RULES)
def test_nothing_is_kept_if_that_is_asked_for(rule: str) -> None:
    x, y = independent()
    selector = CredibleSelector(rule=rule, min_features=0).fit(x, y)
    assert not selector.get_support().any()
    with pytest.warns(UserWarning, match="No features were selected"):
        assert selector.transform(x).shape == (len(x), 0)


def test_one_that_is_credible_is_not_said_to_be_kept_for_want_of_others() -> None:
    x, y = independent()
    x["same"] = y.astype(str)
    with pytest.warns(
        UserWarning, match="^only 1 feature is credible: kept [a-d], the best, because min_features is 2$"
    ):
        assert "same" in kept(CredibleSelector(min_features=2).fit(x, y))


def test_what_cannot_inform_is_kept_last() -> None:
    """An identifier and a constant come after noise."""
    x, y = independent()
    x = pd.DataFrame({"row": [f"r{row}" for row in range(len(x))], "one": ["a"] * len(x)}).join(x)
    for rule in RULES:
        with pytest.warns(UserWarning, match="no feature is credible"):
            assert not kept(CredibleSelector(rule=rule).fit(x, y)) & {"row", "one"}


def test_distinct_refuses_sparse_matrices_and_informative_takes_them() -> None:
    generator = np.random.default_rng(0)
    y = generator.integers(0, 2, 300)
    x = (
        generator.random((300, 5)) < np.where(y, 0.7, 0.3)[:, np.newaxis] * [1, 1, 0, 0, 0] + [0, 0, 0.2, 0.2, 0.2]
    ).astype(int)
    dense, thin = (CredibleSelector().fit(table, y).get_support().tolist() for table in (x, sparse.csr_matrix(x)))
    assert dense == thin
    assert dense[:2] == [True, True]
    with pytest.raises(TypeError, match=r"(?i)sparse.*toarray\(\)"):
        CredibleSelector(rule="distinct").fit(sparse.csr_matrix(x), y)


def test_partial_fit_with_informative_is_fit_on_all_parts() -> None:
    x, y = made()
    parts = CredibleSelector()
    for start in range(0, 400, 150):
        parts.partial_fit(x[start : start + 150], y[start : start + 150])
    whole = CredibleSelector().fit(x, y)
    assert parts.counts_ == whole.counts_
    assert parts.get_support().tolist() == whole.get_support().tolist()
    with pytest.raises(CredimiError, match="rule 'distinct' looks at columns together and needs all rows"):
        CredibleSelector(rule="distinct").partial_fit(x, y)


@pytest.mark.parametrize("rule", RULES)
def test_weights_are_rows_that_count_more_often(rule: str) -> None:
    x, y = made(300)
    weights = np.tile([1, 2, 3], 100)
    again = np.repeat(np.arange(300), weights)
    weighted = CredibleSelector(rule=rule).fit(x, y, sample_weight=weights)
    repeated = CredibleSelector(rule=rule).fit(
        x.iloc[again].reset_index(drop=True), y.iloc[again].reset_index(drop=True)
    )
    assert kept(weighted) == kept(repeated)


def test_the_papers_method_has_the_papers_rule() -> None:
    x, y = made()
    assert kept(CredibleSelector(method="paper").fit(x, y)) == kept(
        CredibleSelector(rule="forward", method="paper").fit(x, y)
    )
    assert credimi.select(x.assign(y=y), "y", method="paper").settings["goal"] == "forward"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"epsilon": 0.01}, "epsilon is for claims, and the rule informative makes none"),
        ({"level": 0.9}, "level is for claims, and the rule informative makes none"),
        ({"prior": "jeffreys"}, "the rule informative needs P\\(independent\\)"),
        ({"rule": "informativ"}, "unknown rule 'informativ'"),
    ],
)
def test_keywords_without_a_meaning_are_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(CredimiError, match=message):
        CredibleSelector(**options).fit(*made(60))  # type: ignore[arg-type]


def test_a_search_over_rules_and_levels() -> None:
    grid = [
        {"credibleselector__rule": ["informative"]},
        {"credibleselector__rule": ["distinct"], "credibleselector__level": [0.05, 0.5]},
    ]
    search = GridSearchCV(pipeline(), grid, cv=3, error_score="raise").fit(*made())
    assert search.best_score_ > 0.7


def test_informative_keeps_what_a_strict_rule_leaves_out() -> None:
    """A weak column that is not surely worth having is more probably informative than not."""
    generator = np.random.default_rng(4)
    y = generator.integers(0, 2, 500)
    x = pd.DataFrame(
        {f"c{n}": np.where(generator.random(500) < 0.13, y, generator.integers(0, 2, 500)) for n in range(12)}
    ).astype(str)
    forward, informative = (
        CredibleSelector(rule=rule).fit(x, y).get_support().sum() for rule in ("forward", "informative")
    )
    assert informative >= forward + 3
