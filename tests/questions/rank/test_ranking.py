"""`rank`: feature by feature what `mutual_information` says, in order, with the filters' decisions."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import credimi
from credimi import Counts, CredibleSelector, CredimiError, Ranking, count, mutual_information, posterior, rank
from credimi.inference import rules
from credimi.questions.rank.result import COLUMNS
from credimi.results.section import Shown
from credimi.results.text import printed

APPROXIMATIONS = ("matched", "leading", "leading-beta", "sampled")
FIGURES = ("mi", "std", "low", "high", "p_above")
Row = dict[str, Any]


def rows_of(size: int, seed: int = 0, missing: float = 0.1) -> list[Row]:
    """Features from useless to the target itself, some incomplete, beside an identifier and other useless columns."""
    generator = np.random.default_rng(seed)
    classes = generator.integers(0, 3, size)
    noise = generator.integers(0, 4, (4, size))
    columns = {
        "useless": noise[0],
        "weak": np.where(generator.random(size) < 0.3, classes, noise[1]),
        "strong": np.where(generator.random(size) < 0.9, classes, noise[2]),
        "same": classes,
        "measured": np.round(classes + generator.normal(size=size), 2) + 0.001,
        "truth": classes > generator.integers(0, 3, size),
        "incomplete": np.where(generator.random(size) < 0.5, classes, noise[3]),
    }
    rows = []
    for row in range(size):
        cells: Row = {name: values[row].item() for name, values in columns.items()}
        for name in ("weak", "incomplete", "measured"):
            if generator.random() < missing * (3 if name == "incomplete" else 1):
                cells[name] = None
        cells |= {"id": f"row {row}", "constant": "x", "nothing": None}
        cells["class"] = None if generator.random() < missing / 2 else "abc"[classes[row]]
        rows.append(cells)
    return rows


ROWS = rows_of(400)
NOT_RANKED = ("id", "constant", "nothing")


@pytest.fixture(scope="module")
def counts() -> Counts:
    return count(ROWS, "class")


# Feature by feature


def figures_alone(counts: Counts, feature: str, *, epsilon: float, level: float, **options: Any) -> list[float]:  # noqa: ANN401
    """The oracle."""
    law = mutual_information(counts[feature], **options)
    return [law.mean(), law.std(), *law.interval(level), law.sf(epsilon)]


@pytest.mark.parametrize("approximation", APPROXIMATIONS[:3])
@pytest.mark.parametrize("prior", ["jeffreys", "uniform", "perks", 0.1])
@pytest.mark.parametrize(("epsilon", "level"), [(0.003, 0.95), (0.1, 0.5), (0.0, 0.999)])
def test_every_figure_is_that_of_the_feature_alone(
    counts: Counts, approximation: str, prior: str | float, epsilon: float, level: float
) -> None:
    asked = {"epsilon": epsilon, "level": level, "prior": prior, "approximation": approximation}
    for row in rank(counts, **asked):
        if row["feature"] not in NOT_RANKED:
            expected = figures_alone(counts, row["feature"], **asked)
            assert [row[name] for name in FIGURES] == pytest.approx(expected, rel=1e-9, abs=1e-9), row["feature"]


def test_every_figure_of_draws_is_that_of_the_feature_alone() -> None:
    few = count(ROWS, "class", features=["strong", "incomplete"])
    asked = {"epsilon": 0.1, "level": 0.5, "prior": "perks", "approximation": "sampled", "random_state": 5}
    for row in rank(few, **asked):
        assert [row[name] for name in FIGURES] == pytest.approx(figures_alone(few, row["feature"], **asked))


@given(
    joint=st.integers(2, 4).flatmap(
        lambda width: st.lists(st.lists(st.integers(0, 60), min_size=width, max_size=width), min_size=2, max_size=4)
    ),
    approximation=st.sampled_from(APPROXIMATIONS[:3]),
    level=st.sampled_from([0.5, 0.95, 0.9999]),
    epsilon=st.sampled_from([0.0, 1e-6, 0.003, 0.5, 5.0]),
)
@settings(deadline=None, max_examples=60)
def test_any_table_is_summarised_as_alone(
    joint: list[list[int]], approximation: str, level: float, epsilon: float
) -> None:
    rows = [{"f": f"v{j}", "t": f"c{i}"} for i, line in enumerate(joint) for j, n in enumerate(line) for _ in range(n)]
    seen = np.array(joint)[np.any(joint, axis=1)][:, np.any(joint, axis=0)]
    if min(seen.shape) < 2:
        return
    ranking = rank(rows, "t", approximation=approximation, level=level, epsilon=epsilon, discretize={"f": "categories"})
    law = mutual_information(seen, approximation=approximation)
    expected = (law.mean(), law.std(), *law.interval(level), law.sf(epsilon))
    assert [ranking["f"][name] for name in FIGURES] == pytest.approx(expected, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("approximation", APPROXIMATIONS[:3])
@pytest.mark.parametrize("factor", [1, 1000, 10**6])
def test_large_counts_and_narrow_laws(approximation: str, factor: int) -> None:
    """Where the compiled tails are not trusted, the way is another, and the figures are the same."""
    base = count([{"f": "xy"[row % 2], "g": "xyz"[row % 3], "t": "ab"[row % 5 % 2]} for row in range(300)], "t")
    large = Counts(base.target, base.classes, base.features, base.labels, base.flat * factor, base.rows * factor)
    ranking = rank(large, approximation=approximation)
    for name in ("f", "g"):
        law = mutual_information(large[name], approximation=approximation)
        expected = (law.mean(), law.std(), *law.interval(0.95), law.sf(ranking.settings["epsilon"]))
        assert [ranking[name][figure] for figure in FIGURES] == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_counts_of_rows_and_values(counts: Counts) -> None:
    for row in rank(counts):
        cells = [cell[row["feature"]] for cell in ROWS]
        both = [cell for cell in ROWS if cell[row["feature"]] is not None and cell["class"] is not None]
        assert row["missing"] == sum(cell is None for cell in cells)
        assert row["complete"] == len(both)
        assert row["values"] == len(counts.feature(row["feature"]).block[0]) - 1
    assert rank(counts)["strong"]["values"] == 4
    assert rank(counts)["measured"]["note"].startswith("all cuts, ")


@pytest.mark.parametrize("threads", [1, 2, None])
def test_threads_change_nothing(counts: Counts, threads: int | None) -> None:
    assert rank(counts, threads=threads).columns["mi"] == pytest.approx(rank(counts).columns["mi"], nan_ok=True)


def test_data_and_their_counts_are_ranked_alike(counts: Counts) -> None:
    assert rank(ROWS, "class").to_dict() == rank(counts).to_dict() == rank(counts, "class").to_dict()


def test_options_of_counting_are_passed_on() -> None:
    ranking = rank(ROWS, "class", features=["measured", "weak"], missing_values=[0], discretize="quantile")
    assert sorted(ranking.columns["feature"]) == ["measured", "weak"]
    assert ranking["measured"]["note"].startswith("quantile")
    assert ranking["weak"]["missing"] == sum(row["weak"] in {None, 0} for row in ROWS)


# Order


def test_best_first_and_what_is_not_ranked_last(counts: Counts) -> None:
    ranking = rank(counts)
    information = ranking.columns["mi"]
    ranked = [value for value in information if not math.isnan(value)]
    assert ranked == sorted(ranked, reverse=True)
    assert ranking.columns["feature"][:2] == ["same", "strong"]
    assert ranking.columns["feature"][-2:] == ["id", "nothing"]
    assert all(map(math.isnan, information[-2:]))
    assert len(ranking) == 10


@given(st.permutations(["a", "b", "c", "d"]))
@settings(deadline=None, max_examples=24)
def test_equals_are_in_the_order_of_their_names(names: list[str]) -> None:
    rows = [dict.fromkeys(names, row % 3) | {"z": row % 2, "t": "xy"[row % 2]} for row in range(60)]
    assert rank(rows, "t").columns["feature"] == ["z", *sorted(names)]


@pytest.mark.parametrize("approximation", APPROXIMATIONS)
def test_same_ranking_twice(approximation: str) -> None:
    few = count(ROWS, "class", features=["weak", "strong", "id"])
    one, other = (rank(few, approximation=approximation, random_state=1).to_dict() for _ in range(2))
    assert json.dumps(one) == json.dumps(other)


def test_order_of_rows_changes_nothing() -> None:
    assert rank(ROWS[::-1], "class").to_dict() == rank(ROWS, "class").to_dict()


# Decisions


@pytest.mark.parametrize("approximation", APPROXIMATIONS[:3])
@pytest.mark.parametrize(("epsilon", "level"), [(0.003, 0.95), (0.05, 0.6), (0.3, 0.99)])
def test_decisions_follow_the_filters(counts: Counts, approximation: str, epsilon: float, level: float) -> None:
    ranking = rank(counts, approximation=approximation, epsilon=epsilon, level=level)
    for row in ranking:
        if row["feature"] in NOT_RANKED:
            assert not row["keep_plugin"]
            assert not row["keep_forward"]
            assert row["verdict"] == ("drop" if row["feature"] == "constant" else "not ranked")
            continue
        at_mode = mutual_information(counts[row["feature"]], prior="jeffreys", approximation="leading").mean()
        assert row["keep_plugin"] == (at_mode > epsilon)
        assert row["keep_forward"] == (row["p_above"] >= level)
        assert row["keep_backward"] == (1 - row["p_above"] < level)
        verdict = "keep" if row["keep_forward"] else "unsure" if row["keep_backward"] else "drop"
        assert row["verdict"] == verdict
        assert all(type(row[f"keep_{rule}"]) is bool for rule in rules.RULES)


@pytest.mark.parametrize("fdr", [0.001, 0.05, 0.3, 0.9])
def test_false_discoveries_are_bounded_and_no_larger_set_would_do(fdr: float) -> None:
    p_above = np.array([0.2, 0.999, np.nan, 0.9, 0.5, 0.97, 0.97, 0.0])
    kept = rules.false_discovery(p_above, fdr)
    assert not kept[2]
    subsets = [
        [index for index in range(8) if index != 2 and code >> index & 1] for code in range(1, 256) if not code >> 2 & 1
    ]
    whole = [each for each in subsets if (5 in each) == (6 in each)]  # these two are equal: both or none
    allowed = [len(each) for each in whole if np.mean(1.0 - p_above[each]) <= fdr]
    assert kept.sum() == max(allowed, default=0)
    if kept.any():
        assert np.mean(1.0 - p_above[kept]) <= fdr


@pytest.mark.parametrize("kind", ["noise", "even", "signal", "sure"])
def test_the_odds_of_independence_are_those_that_all_features_say_together(kind: str) -> None:
    """Against a search over all shares, and Bayes' theorem with numbers."""
    generator = np.random.default_rng(2)
    independent = {
        "noise": generator.beta(5.0, 1.0, 400),
        "even": generator.beta(1.0, 1.0, 400),
        "signal": generator.beta(1.0, 5.0, 400),
        "sure": np.r_[np.ones(300), np.zeros(20)],
    }[kind]
    above = 0.9 * (1.0 - independent)
    shares = np.linspace(0.5, 0.99999, 50_000)
    score = np.log(shares) + np.log1p(-shares)
    for q in independent:
        score += np.log(shares * q + (1.0 - shares) * (1.0 - q))
    share = shares[np.argmax(score)]
    expected = 0.9 * (1 - share) * (1 - independent) / (share * independent + (1 - share) * (1 - independent))
    given = np.r_[independent, np.nan, np.nan]
    found = rules.from_common_odds(np.r_[above, 0.0, np.nan], given)
    np.testing.assert_allclose(found[:-2], expected, rtol=2e-3, atol=1e-6)
    assert found[-2] == 0.0
    assert np.isnan(found[-1])


def test_few_of_those_that_fdr_keeps_are_noise_where_nearly_all_columns_are() -> None:
    """3,000 columns of which 30 tell."""
    generator = np.random.default_rng(7)
    rows, telling = 300, 30
    target = generator.integers(0, 2, rows)
    columns = generator.integers(0, 4, (3_000, rows))
    columns[:telling] = np.where(generator.random((telling, rows)) < 0.45, 3 * target, columns[:telling])
    data = {f"c{place}": column.astype(str) for place, column in enumerate(columns)}
    ranking = rank(data | {"y": target.astype(str)}, "y")
    kept = [int(name[1:]) for name in ranking.selected("fdr")]
    assert sum(place < telling for place in kept) >= 27
    assert sum(place >= telling for place in kept) <= 6
    alone = rules.false_discovery(np.array(ranking.columns["p_above"]), 0.05)
    noise = np.array([int(name[1:]) >= telling for name in ranking.columns["feature"]])
    assert np.count_nonzero(alone & noise) > 2 * sum(place >= telling for place in kept)  # even odds for each


@pytest.mark.parametrize("last_digit", [0.0, 1e-15])
def test_equal_probabilities_are_treated_alike_by_fdr(last_digit: float) -> None:
    """The bound fell among them, and the order of the columns decided."""
    p_above = np.array([0.999, 0.9, 0.9 + last_digit, 0.9, 0.9, 0.3])
    assert rules.false_discovery(p_above, 0.06).tolist() == [True, *[False] * 5]
    assert rules.false_discovery(p_above, 0.09).tolist() == [*[True] * 5, False]
    assert rules.false_discovery(np.array([np.nan, 0.99]), 0.05).tolist() == [False, True]


def test_rule_fdr_reaches_the_ranking(counts: Counts) -> None:
    ranking = rank(counts, fdr=0.2)
    p_above, independent = (np.array([row[name] for row in ranking]) for name in ("p_above", "p_independent"))
    independent[[bool(row["verdict"] == "not ranked" or row["values"] < 2) for row in ranking]] = np.nan
    assert [row["keep_fdr"] for row in ranking] == rules.false_discovery(p_above, 0.2, independent).tolist()
    assert ranking.settings["fdr"] == 0.2
    assert ranking.selected("fdr") == [row["feature"] for row in ranking if row["keep_fdr"]]
    with pytest.raises(CredimiError, match="fdr is 2: it must lie between 0 and 1"):
        rank(counts, fdr=2)


def test_what_is_sure_needs_no_rows() -> None:
    rows = [{"f": each, "class": each} for each in "ab" * 50]
    assert rank(rows, "class")["f"]["rows_to_decide"] is None


def test_information_at_the_mode_is_that_of_the_posterior(counts: Counts) -> None:
    chances = posterior(counts["incomplete"], prior="jeffreys").mode
    independent = chances.sum(axis=1, keepdims=True) * chances.sum(axis=0)
    at_mode = float(np.sum(chances * np.log(chances / independent)))
    assert rank(counts, epsilon=at_mode * 0.999)["incomplete"]["keep_plugin"]
    assert not rank(counts, epsilon=at_mode * 1.001)["incomplete"]["keep_plugin"]


def test_selected_lists_what_a_filter_keeps_best_first(counts: Counts) -> None:
    ranking = rank(counts)
    for rule in rules.RULES:
        kept = [row["feature"] for row in ranking if row[f"keep_{rule}"]]
        assert ranking.selected(rule) == kept
    assert ranking.selected() == ranking.selected("forward")
    assert ranking.selected()[0] == "same"
    assert set(ranking.selected("forward")) <= set(ranking.selected("backward"))
    with pytest.raises(CredimiError, match="unknown rule 'best': choose one of plugin, forward, backward"):
        ranking.selected("best")


# Into other hands


@pytest.mark.parametrize("prior", ["adaptive", "jeffreys"])
def test_missingness_is_that_of_a_column_which_says_what_is_missing(counts: Counts, prior: str) -> None:
    ranking = rank(counts, prior=prior)
    said = [{name: value is None for name, value in row.items()} | {"class": row["class"]} for row in ROWS]
    oracle = rank(said, "class", prior=prior)
    for row in ranking:
        told = oracle[row["feature"]]
        figures = [row[name] for name in ("missing_mi", "missing_low", "missing_high", "missing_p_above")]
        assert figures == pytest.approx([told[name] for name in ("mi", "low", "high", "p_above")], rel=1e-9, abs=1e-12)


def test_missing_as_a_category_is_the_same_as_a_text_that_says_so() -> None:
    names = ("useless", "weak", "incomplete", "constant", "sometimes")
    rows = [
        {name: None if row.get(name) is None else f"v{row[name]}" for name in names[:-1]}
        | {"class": row["class"], "sometimes": None if index % 3 else "x"}
        for index, row in enumerate(ROWS)
    ]
    said = [
        {name: "gone" if name != "class" and value is None else value for name, value in row.items()} for row in rows
    ]
    ranking, oracle = rank(rows, "class", missing_as="category"), rank(said, "class")
    assert ranking.columns["feature"] == oracle.columns["feature"]
    for name in ("values", "complete", *FIGURES, "keep_forward", "verdict"):
        assert ranking.columns[name] == pytest.approx(oracle.columns[name]), name
    assert ranking["weak"]["note"] == "categories; missing is a value"
    assert ranking["constant"]["note"] == "one value only: vx"


def test_missing_as_a_category_leaves_identifiers_and_empty_columns(counts: Counts) -> None:
    ranking = rank(counts, missing_as="category")
    assert ranking["id"]["verdict"] == "not ranked"
    assert ranking["nothing"]["note"] == "all values are missing"
    assert ranking["measured"]["values"] == rank(counts)["measured"]["values"] + 1


def test_a_reading_of_holes_that_there_is_not(counts: Counts) -> None:
    with pytest.raises(CredimiError, match="missing_as is 'drop': choose one of ignore, category"):
        rank(counts, missing_as="drop")


def test_ranking_speaks_arrow(counts: Counts) -> None:
    ranking = rank(counts)
    found = pa.table(ranking)
    assert found.schema.names == list(COLUMNS)
    assert found.to_pylist()[:-2] == ranking.to_arrow().to_pylist()[:-2] == list(ranking)[:-2]  # the others have NaN
    assert found.num_rows == len(ranking) == 10
    assert found.column("feature").to_pylist() == ranking.columns["feature"]
    assert [str(kind) for kind in found.schema.types] == [
        *("string", "int64", "int64", "int64"),
        *["double"] * 6,
        *["bool"] * 4,
        "int64",
        *["double"] * 4,
        *("string", "string"),
        *("double", "double", "double", "bool"),
        *["double"] * 5,
        "bool",
        *["double"] * 3,
        *("int64", "int64"),
    ]


def test_ranking_as_frames(counts: Counts) -> None:
    ranking = rank(counts)
    pandas = pytest.importorskip("pandas")
    frame = ranking.to_pandas()
    assert isinstance(frame, pandas.DataFrame)
    assert list(frame.columns) == list(COLUMNS)
    assert frame["mi"].tolist() == pytest.approx(ranking.columns["mi"], nan_ok=True)
    polars = pytest.importorskip("polars")
    frame = ranking.to_polars()
    assert isinstance(frame, polars.DataFrame)
    assert frame["feature"].to_list() == ranking.columns["feature"]
    assert polars.DataFrame(ranking).equals(frame)


def test_ranking_as_dictionary_is_json(counts: Counts) -> None:
    found = json.loads(json.dumps(rank(counts, epsilon=0.01, prior="perks").to_dict(), allow_nan=False))
    assert found["rows"] == 400
    assert found["classes"] == ["a", "b", "c"]
    assert found["settings"]["target"] == "class"
    assert found["settings"]["epsilon"] == 0.01
    assert found["settings"]["prior"] == "perks"
    assert found["settings"]["units"] == "nats"
    assert [row["feature"] for row in found["features"]] == rank(counts, prior="perks").columns["feature"]
    assert found["features"][-1]["mi"] is None


def test_probabilities_are_none_above_certainty() -> None:
    """The weights of a mixture sum to 1 but for rounding, which could be seen in the column `age`."""
    ranking = rank(Path(__file__).parents[3] / "examples" / "clinic.csv", "diabetes")
    for name in ("p_above", "p_independent", "missing_p_above"):
        assert all(0.0 <= share <= 1.0 for share in ranking.columns[name] if not math.isnan(share)), name


def test_ranking_of_single_features(counts: Counts) -> None:
    ranking = rank(counts)
    assert isinstance(ranking, Ranking)
    assert ranking["weak"] == next(row for row in ranking if row["feature"] == "weak")
    assert list(ranking["weak"]) == list(COLUMNS)
    with pytest.raises(CredimiError, match="the ranking has no feature 'wek'"):
        ranking["wek"]


def test_ranking_of_no_features() -> None:
    ranking = rank(ROWS, "class", features=[])
    assert len(ranking) == 0
    assert ranking.selected() == []
    assert ranking.to_arrow().num_rows == 0
    assert json.dumps(ranking.to_dict())


def test_ranking_of_nothing_but_notes() -> None:
    ranking = rank(ROWS, "class", features=list(NOT_RANKED))
    assert ranking.columns["feature"] == ["constant", "id", "nothing"]
    assert ranking.selected() == []
    assert [row["note"] for row in ranking] == [
        "one value only: x",
        "identifier: 400 different values in 400 rows (discretize={'id': 'categories'} ranks it)",
        "all values are missing",
    ]


# What is refused


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"epsilon": -0.1}, "epsilon is -0.1"),
        ({"epsilon": math.nan}, "epsilon is nan"),
        ({"epsilon": math.inf}, "epsilon is inf"),
        ({"epsilon": "0.1"}, "epsilon is '0.1'"),
        ({"epsilon": None}, "epsilon is None"),
        ({"level": 0}, "level is 0"),
        ({"level": 1}, "level is 1"),
        ({"level": 95}, "level is 95"),
        ({"level": math.nan}, "level is nan"),
        ({"level": "high"}, "level is 'high'"),
        ({"prior": "jefreys"}, "prior"),
        ({"prior": -1}, "prior"),
        ({"prior": math.nan}, "prior"),
        ({"approximation": "mached"}, "unknown approximation 'mached': did you mean 'matched'"),
        ({"approximation": None}, "unknown approximation None"),
        ({"target": "clas"}, "no column 'clas': did you mean 'class'"),
        ({"target": None}, "name the target"),
        ({"target": "constant"}, "has one class only"),
        ({"target": "nothing"}, "is missing in all 400 rows"),
        ({"target": "measured", "target_as": "classes"}, "target_as is 'classes': choose one of number, categories"),
        ({"discretize": "mld"}, "unknown discretization 'mld'"),
        ({"features": ["wek"]}, "did you mean 'weak'"),
    ],
)
def test_choices_that_are_none_are_refused(options: dict[str, Any], said: str) -> None:
    with pytest.raises(CredimiError) as caught:
        rank(ROWS, **({"target": "class"} | options))
    assert said in str(caught.value)


def test_an_unknown_argument_is_refused_in_the_name_of_the_function_that_was_called(counts: Counts) -> None:
    table = {"x": ["a", "b"] * 4, "y": ["p", "q"] * 4}
    for call, name in (
        (lambda **wrong: rank(table, "y", **wrong), "rank"),
        (lambda **wrong: rank(counts, **wrong), "rank"),
        (lambda **wrong: credimi.count(table, "y", **wrong), "count"),
        (lambda **wrong: credimi.compare(table, table, "y", **wrong), "compare"),
        (lambda **wrong: credimi.rank_by(table, "y", by="x", **wrong), "rank_by"),
        (lambda **wrong: credimi.select(table, "y", **wrong), "select"),
        (lambda **wrong: credimi.interactions(table, "y", **wrong), "interactions"),
        (lambda **wrong: credimi.pairs(table, **wrong), "pairs"),
        (lambda **wrong: credimi.network(table, **wrong), "network"),
        (lambda **wrong: credimi.prequential(table, "y", **wrong), "prequential"),
    ):
        with pytest.raises(
            TypeError, match=rf"^{name}\(\) got an unexpected keyword argument 'delimeter': did you mean 'delimiter'"
        ):
            call(delimeter=";")


def test_counts_cannot_be_counted_differently(counts: Counts) -> None:
    with pytest.raises(CredimiError, match="the data are counts already: discretize"):
        rank(counts, discretize="quantile")
    with pytest.raises(CredimiError, match="the counts are of the target 'class', not 'weak'"):
        rank(counts, "weak")


def test_prior_that_adds_nothing_to_nothing_is_refused() -> None:
    rows = [{"f": None, "t": "ab"[row % 2]} for row in range(10)] + [
        {"f": "xy"[row % 2], "t": None} for row in range(10)
    ]
    with pytest.raises(CredimiError, match="column 'f' is never seen together with the target"):
        rank(rows, "t", prior="haldane")
    assert rank(rows, "t")["f"]["complete"] == 0


def test_unknown_prior_is_refused_even_if_there_is_nothing_to_rank() -> None:
    with pytest.raises(CredimiError, match="prior"):
        rank(ROWS, "class", features=list(NOT_RANKED), prior="jefreys")


def test_prior_of_any_type_of_number_is_json(counts: Counts) -> None:
    assert json.dumps(rank(counts, prior=np.float32(0.5)).to_dict())


def test_selected_names_are_those_of_the_data() -> None:
    """pandas has numbers, tuples and dates for names: what is selected selects."""
    pandas = pytest.importorskip("pandas")
    cells = {"first": list("ab") * 30, "second": ["c"] * 60, "class": list("pq") * 30}
    tuples = pandas.MultiIndex.from_tuples([("a", 1), ("a", 2), ("class", "")])
    for columns in ([0, 1, 2], tuples, [pandas.Timestamp("2024-01-01"), None, 2.5], ["a", "b", "c"]):
        frame = pandas.DataFrame(cells)
        frame.columns = columns
        first, second, target = frame.columns
        found = rank(frame, frame[target], exclude=[target])
        assert found.selected() == [first]
        assert frame[found.selected()].shape == (60, 1)
        assert found.columns["feature"] == [str(first), "None" if pandas.isna([second]).all() else str(second)]
        assert found[first] == found[str(first)]
        assert rank(frame, frame[target], features=[first]).selected() == [first]
        assert rank(frame, target).selected() == [first]
        assert rank(count(frame, target), target)[first] == rank(frame, target)[first]


def test_columns_of_an_array_go_by_their_places() -> None:
    generator = np.random.default_rng(0)
    target = generator.integers(0, 2, 300)
    array = np.stack([generator.integers(0, 3, 300), target, 1 - target, generator.integers(0, 2, 300)], axis=1)
    ranking = rank(array, target)
    assert ranking.columns == rank(array, target.tolist()).columns  # values, and not places
    assert sorted(ranking.selected()) == [1, 2]
    assert (array[:, ranking.selected()] == array[:, [1, 2]]).all()
    assert ranking[1] == ranking["column 1"]
    assert rank(array, target, features=[1, 3]).columns["feature"] == ["column 1", "column 3"]
    assert sorted(rank(array, target, exclude=[-1, 0]).selected()) == [1, 2]
    assert rank(array, 1).selected() == [2]
    with pytest.raises(CredimiError, match="there is no column '4'"):
        rank(array, target, features=[4])
    with pytest.raises(CredimiError, match="the ranking has no feature 7"):
        ranking[7]


def test_selected_names_of_a_dictionary_and_of_counts() -> None:
    cells = {0: list("ab") * 30, "class": list("pq") * 30}
    assert rank(cells, "class").selected() == [0]
    assert rank(count(cells, "class")).selected() == ["0"]
    assert rank([{0: "ab"[row % 2], "class": "pq"[row % 2]} for row in range(60)], "class").selected() == [0]
    assert count(cells, "class")[0] == count(cells, "class")["0"]
    with pytest.raises(CredimiError, match="there is no column '7'"):
        rank(cells, "class", features=[7])


def test_entropy_is_the_most_that_a_feature_can_tell() -> None:
    target = [None, *"aab" * 100, *"ac" * 100]
    found = rank({"copy": target, "y": target}, "y")
    shares = np.array([300, 100, 100]) / 500
    assert found.entropy == pytest.approx(-(shares * np.log(shares)).sum(), rel=1e-12)
    assert found.to_dict()["entropy"] == found.entropy
    assert f"entropy {found.entropy / np.log(2.0):.4f} bits" in printed(found.sections(Shown(units="bits")))
    assert found["copy"]["mi"] < found.entropy


def test_a_copy_of_the_target_is_pointed_out() -> None:
    generator = np.random.default_rng(0)
    target = generator.integers(0, 2, 2000)
    nearly = np.where(generator.random(2000) < 0.1, 1 - target, target)
    text = repr(rank({"code": 7 - 3 * target, "nearly": nearly, "y": target}, "y"))
    assert "caution: code: predicts the target almost perfectly" in text
    few = repr(rank({"code": target[:12], "y": target[:12]}, "y"))
    assert "almost perfectly" not in few  # too few rows to know


@pytest.mark.parametrize(
    "options",
    [{}, {"missing_as": "category"}, {"robust_factor": 2}, {"prior": "haldane"}, {"approximation": "sampled"}],
)
def test_a_column_that_is_missing_everywhere_is_not_ranked(options: dict[str, Any]) -> None:
    """It was dropped for sure, though nothing is known of it."""
    data = {"x": list("ab") * 50, "none": [None] * 100, "one": ["k"] * 100, "y": list("ppqq") * 25}
    ranking = rank(data, "y", **options)
    row = ranking["none"]
    assert (row["verdict"], row["note"]) == ("not ranked", "all values are missing")
    assert all(math.isnan(row[name]) for name in ("mi", "low", "high", "p_above", "p_independent"))
    assert not any(row[f"keep_{rule}"] for rule in rules.RULES)
    assert (ranking["one"]["verdict"], ranking["one"]["mi"]) == ("drop", 0.0)
    plain = {each["feature"]: each for each in json.loads(json.dumps(ranking.to_dict()))["features"]}
    assert (plain["none"]["mi"], plain["none"]["verdict"]) == (None, "not ranked")
    assert "not ranked" in repr(ranking)


def test_a_column_that_is_missing_everywhere_is_not_selected() -> None:
    frame = pd.DataFrame({"none": [None] * 100, "nan": [np.nan] * 100, "x": list("ppqq") * 25})
    y = list("ppqq") * 25
    for rule in (*rules.RULES, "distinct", "relevant"):
        assert CredibleSelector(rule).fit(frame, y).get_support().tolist() == [False, False, True]
