"""Survey weights in every question: each table is worth its own number of rows."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

import credimi
from credimi.core.tables import Tables
from credimi.counts.survey.survey_rows import scaled

if TYPE_CHECKING:
    from collections.abc import Callable

ROWS = 800


def frame(seed: int = 1, rows: int = ROWS) -> pd.DataFrame:
    """A sample whose weights depend on class and value; values of x are missing, and some classes."""
    generator = np.random.default_rng(seed)
    y, x = generator.integers(0, 2, rows), generator.integers(0, 3, rows)
    x = np.where(generator.random(rows) < 0.4, y, x)
    z = np.where(generator.random(rows) < 0.5, x % 2, generator.integers(0, 2, rows))
    factor = np.array([[1.0, 6.0, 2.0], [5.0, 1.0, 9.0]])[y, x]
    table = pd.DataFrame(
        {
            "y": np.array(["p", "q"])[y].astype(object),
            "x": np.array(["a", "b", "c"])[x].astype(object),
            "z": np.array(["u", "v"])[z].astype(object),
            "group": np.array(["1", "2"])[generator.integers(0, 2, rows)],
            "w": np.rint(10.0 * factor * np.exp(0.5 * generator.normal(size=rows))) + 1.0,
        }
    )
    table.loc[generator.random(rows) < 0.2, "x"] = None
    table.loc[generator.random(rows) < 0.1, "y"] = None
    return table


def without_remarks_on_weights(found: dict[str, Any]) -> dict[str, Any]:
    """A result as plain data; what it says of the weights depends on how they were passed."""
    return found | {"remarks": [each for each in found["remarks"] if not each["kind"].startswith("weights")]}


QUESTIONS: dict[str, Callable[..., Any]] = {
    "rank": lambda data, **options: credimi.rank(data, "y", **options).columns,
    "category": lambda data, **options: credimi.rank(data, "y", missing_as="category", **options).columns,
    "robust": lambda data, **options: credimi.rank(data, "y", robust_factor=2, **options).columns,
    "rank_by": lambda data, **options: [
        *credimi.rank_by(data, "y", "group", **options).comparisons[0].columns.values(),
        *(each.columns for each in credimi.rank_by(data, "y", "group", **options).rankings.values()),
    ],
    "compare": lambda data, **options: credimi.compare(data[:500], data[500:], "y", **options).columns,
    "select": lambda data, **options: without_remarks_on_weights(credimi.select(data, "y", **options).to_dict()),
    "relevant": lambda data, **options: without_remarks_on_weights(
        credimi.select(data, "y", rule="relevant", **options).to_dict()
    ),
    "interactions": lambda data, **options: without_remarks_on_weights(
        credimi.interactions(data, "y", top=2, **options).to_dict()
    ),
    "pairs": lambda data, **options: [dict(row) for row in credimi.pairs(data, **options)],
    "network": lambda data, **options: without_remarks_on_weights(
        credimi.network(data, imputations=0, **options).to_dict()
    ),
}


def numbers_of(found: object) -> list[float]:
    """All numbers in a result, in order."""
    if isinstance(found, dict):
        return [number for value in found.values() for number in numbers_of(value)]
    if isinstance(found, list | tuple | np.ndarray):
        return [number for value in found for number in numbers_of(value)]
    return [float(found)] if isinstance(found, int | float | np.number) and not isinstance(found, bool) else []


@pytest.mark.parametrize("question", QUESTIONS)
def test_whole_survey_weights_are_those_of_other_units(question: str) -> None:
    """Weights of 3 and 1.5, of people and of pairs of people, say the same; as numbers of rows they say much more."""
    data, ask = frame(), QUESTIONS[question]
    survey = numbers_of(ask(data, weights="w", weights_are="survey"))
    assert numbers_of(ask(data.assign(w=data["w"] / 8.0), weights="w")) == pytest.approx(
        survey, rel=1e-6, abs=1e-9, nan_ok=True
    )
    assert numbers_of(ask(data, weights="w", weights_are="rows")) == pytest.approx(
        numbers_of(ask(data, weights="w")), nan_ok=True
    )
    assert numbers_of(ask(data, weights="w", weights_are="rows")) != pytest.approx(survey, rel=0.01, nan_ok=True)


@pytest.mark.parametrize("question", QUESTIONS)
def test_equal_survey_weights_are_rows(question: str) -> None:
    data, ask = frame(), QUESTIONS[question]
    plain = numbers_of(ask(data.drop(columns="w")))
    found = numbers_of(ask(data.assign(w=12.0), weights="w", weights_are="survey"))
    assert found == pytest.approx(plain, rel=1e-6, abs=1e-9, nan_ok=True)


def blocks(data: pd.DataFrame, one: str, other: str, power: int) -> np.ndarray:
    """The table of two columns by pandas, missing last: sums of the weights, or of their squares."""
    weights = (data["w"] ** power).to_numpy()
    codes = []
    for name in (one, other):
        numbers, values = pd.factorize(data[name], sort=True)
        codes.append(np.where(numbers < 0, len(values), numbers))
    shape = tuple(data[name].nunique() + 1 for name in (one, other))
    block = np.zeros(shape)
    np.add.at(block, tuple(codes), weights)
    return block


def own_posterior(data: pd.DataFrame, one: str, other: str) -> credimi.Distribution:
    tables = Tables.of([blocks(data, one, other, 1)])
    block = scaled(tables, blocks(data, one, other, 2).ravel()).block(0)
    return credimi.mutual_information(credimi.Table.of_block(block))


def test_a_ranking_has_the_posterior_of_the_scaled_table() -> None:
    data = frame()
    ranking = credimi.rank(data, "y", weights="w", weights_are="survey")
    for name in ("x", "z"):
        expected = own_posterior(data, "y", name)
        assert ranking[name]["mi"] == pytest.approx(expected.mean(), rel=1e-9)
        assert ranking[name]["std"] == pytest.approx(expected.std(), rel=1e-9)
    present = data.assign(x=np.where(data["x"].isna(), "missing", "present"))
    assert ranking["x"]["missing_mi"] == pytest.approx(own_posterior(present, "y", "x").mean(), rel=1e-6)


def test_a_pair_has_the_posterior_of_the_scaled_table() -> None:
    data = frame().drop(columns="group")
    for row in credimi.pairs(data, weights="w", weights_are="survey"):
        assert row["mi"] == pytest.approx(own_posterior(data, row["a"], row["b"]).mean(), rel=1e-6)


def test_two_samples_have_the_posteriors_of_their_own_tables() -> None:
    one, other = frame(2), frame(3)
    comparison = credimi.compare(one, other, "y", weights="w", weights_are="survey")
    for name in ("x", "z"):
        for letter, data in (("a", one), ("b", other)):
            assert comparison[name][f"mi_{letter}"] == pytest.approx(own_posterior(data, "y", name).mean(), rel=1e-6)


def test_groups_keep_their_sizes_among_all_others() -> None:
    """The others are one population: groups whose weights vary much count no less in it than those of equal weights."""
    generator = np.random.default_rng(4)
    data = frame(4, 1500).assign(group=generator.choice(["1", "2", "3"], 1500))
    data.loc[data["group"] == "2", "w"] *= np.exp(generator.normal(size=(data["group"] == "2").sum()))
    grouped = credimi.rank_by(data, "y", "group", weights="w", weights_are="survey")
    (others,) = (each for each in grouped.comparisons if each.names[1] == "1")
    rest = data[data["group"] != "1"]
    assert others["z"]["mi_a"] == pytest.approx(own_posterior(rest, "y", "z").mean(), rel=1e-6)


def test_remarks_say_how_many_rows_tables_are_worth() -> None:
    data = frame()
    ranking = credimi.rank(data, "y", weights="w", weights_are="survey")
    (remark,) = (each for each in ranking.remarks if each.kind.startswith("weights"))
    assert remark.rows == ranking.rows == round(data["w"].sum() ** 2 / (data["w"] ** 2).sum())
    sizes = []
    for name in ("x", "z", "group"):
        tables = Tables.of([blocks(data, "y", name, 1)])
        scaled_block = scaled(tables, blocks(data, "y", name, 2).ravel()).block(0)
        sizes.append(round(scaled_block.sum() - scaled_block[-1, -1]))
    assert (remark.least_rows, remark.most_rows) == (min(sizes), max(sizes))
    said = " ".join(" ".join(ranking.remark_lines()).split())
    assert f"the tables of single columns are worth from {min(sizes)} to {max(sizes)} rows" in said
    assert ranking.settings["weights_are"] == "survey"


@pytest.mark.parametrize("kind", [None, "rows", "survey"])
def test_whole_weights_that_look_like_those_of_a_survey_get_a_caution(kind: str | None) -> None:
    data = frame()
    asked = {} if kind is None else {"weights_are": kind}
    ranking = credimi.rank(data, "y", weights="w", **asked)
    found = [each for each in ranking.remarks if each.kind == "weights_large"]
    assert len(found) == (kind is None)
    if found:
        assert found[0].caution
        said = " ".join(" ".join(ranking.remark_lines()).split())
        assert "say weights_are='survey'" in said
        on_shell = " ".join(" ".join(ranking.remark_lines(reader="command line")).split())
        assert "--weights-are survey" in on_shell


@pytest.mark.parametrize("rows", [[670, 387, 122, 35, 67, 192, 4], [1, 2, 3, 1, 1, 4, 2]])
def test_combined_rows_get_no_caution(rows: list[int]) -> None:
    few = {"y": list("pqpqpqp"), "x": list("aabbccc"), "n": rows}
    ranking = credimi.rank(
        {name: values * (100 if rows[0] == 1 else 1) for name, values in few.items()}, "y", weights="n"
    )
    assert not [each for each in ranking.remarks if each.kind.startswith("weights")]


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "unknown": ({"weights": "w", "weights_are": "people"}, "weights_are is 'people': choose one of rows, survey"),
    "no text": ({"weights": "w", "weights_are": True}, "weights_are is True: choose one of"),
    "no weights": ({"weights_are": "survey"}, "weights_are is 'survey', but there are no weights"),
    "fractions": (
        {"weights": "half", "weights_are": "rows"},
        r"the weight 'half' of row 1 .*numbers of rows are whole",
    ),
}


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("case", REFUSED)
def test_what_does_not_fit_is_refused(question: str, case: str) -> None:
    options, words = REFUSED[case]
    data = frame(rows=60).assign(half=0.5)
    with pytest.raises(credimi.CredimiError, match=words):
        QUESTIONS[question](data, **options)


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("weight", [1e308, np.inf, np.nan, -1.0])
def test_bad_weights_are_refused_without_a_warning(question: str, weight: float) -> None:
    data = frame(rows=60)
    data["w"] = weight if weight == 1e308 else data["w"].where(data.index != 7, weight)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(credimi.CredimiError, match="weight"):
            QUESTIONS[question](data, weights="w")


def test_rows_too_many_to_add_are_refused_where_they_are_named_rows() -> None:
    data = {"y": list("pqpq") * 10, "x": list("abab") * 10, "n": [2**53 + 2, 2**52, 1, 4] * 10}
    for ask in (credimi.rank, credimi.select):
        with pytest.raises(credimi.CredimiError, match="more than can be added exactly"):
            ask(data, "y", weights="n", weights_are="rows")
