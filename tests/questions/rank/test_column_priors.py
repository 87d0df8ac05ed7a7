"""Priors of single columns in `rank`: pseudo-counts by labels, as in `mutual_information`; the others keep theirs."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from page_helpers import data_of

import credimi
from credimi import CredimiError
from credimi.core.tables import Tables
from credimi.inference.belief import Belief
from credimi.inference.tables.many_tables import posteriors

if TYPE_CHECKING:
    from pathlib import Path

PRIOR = [["", "y", "x"], ["yes", 1.0, 2.0], ["no", 3.0, 4.0]]  # not in the order of the ranking
IN_ORDER = [[4.0, 3.0], [2.0, 1.0]]


@pytest.fixture(scope="module")
def data() -> dict[str, list[str | None]]:
    generator = np.random.default_rng(0)
    target = generator.integers(2, size=300)
    own = np.where(generator.random(300) < 0.3, target, generator.integers(2, size=300))
    columns: dict[str, list[str | None]] = {"class": [("no", "yes")[each] for each in target]}
    columns["own"] = [None if generator.random() < 0.1 else "xy"[each] for each in own]
    columns["other"] = ["pqr"[each] for each in generator.integers(3, size=300)]
    return columns


def values_of(ranking: credimi.Ranking, name: str) -> list[float]:
    return [ranking[name][figure] for figure in ("mi", "std", "low", "high", "p_above", "p_independent")]


@pytest.mark.parametrize("approximation", ["matched", "leading", "leading-beta", "sampled"])
def test_the_column_is_judged_as_its_table_is(data: dict[str, Any], approximation: str) -> None:
    ranking = credimi.rank(data, "class", prior={"own": PRIOR}, approximation=approximation)
    law = credimi.mutual_information(
        data["class"], data["own"], prior=IN_ORDER, approximation=approximation, random_state=0
    )
    expected = [law.mean(), law.std(), *law.interval(0.95), law.sf(ranking.settings["epsilon"]), 0.0]
    assert values_of(ranking, "own") == pytest.approx(expected, rel=1e-9)
    without = credimi.rank(data, "class", approximation=approximation)
    assert values_of(ranking, "other") == values_of(without, "other")
    assert ranking.settings["prior_of_columns"] == {"own": IN_ORDER}
    assert "with priors of their own: own" in " ".join(str(ranking).split())


def test_all_kinds_of_priors_beside_each_other(data: dict[str, Any]) -> None:
    """A name or a number for a column, "*" for the others; with bounds, too."""
    for own in ("uniform", 0.25):
        mixed = credimi.rank(data, "class", prior={"own": own, "*": "jeffreys"}, robust_factor=2.0)
        for name, prior in (("own", own), ("other", "jeffreys")):
            alone = credimi.rank(data, "class", prior=prior, robust_factor=2.0)
            assert values_of(mixed, name) == values_of(alone, name)
            bounds = ("robust_low", "robust_high", "tipping_factor", "rows_to_decide")
            assert [mixed[name][figure] for figure in bounds] == [alone[name][figure] for figure in bounds]


def test_a_method_has_one_prior_for_all_columns(data: dict[str, Any]) -> None:
    with pytest.raises(CredimiError, match="method='paper' has one prior for all columns: leave out the dictionary"):
        credimi.rank(data, "class", prior={"own": PRIOR}, method="paper")


def test_only_rank_takes_priors_by_column(data: dict[str, Any]) -> None:
    message = "^prior is a dictionary, and only rank takes priors by column: name one for all columns$"
    for function in (credimi.select, credimi.prequential):
        with pytest.raises(CredimiError, match=message):
            function(data, "class", prior={"own": PRIOR})
    rows = [[value] for value in data["own"]]
    with pytest.raises(CredimiError, match=message):
        credimi.CredibleSelector(prior={"own": PRIOR}).fit(rows, data["class"])  # type: ignore[arg-type]


@pytest.mark.parametrize("approximation", ["matched", "sampled"])
def test_the_page_has_the_same_posteriors(data: dict[str, Any], approximation: str) -> None:
    ranking = credimi.rank(data, "class", prior={"own": PRIOR}, approximation=approximation)
    laws = data_of(ranking)["laws"]
    place = ranking.columns["feature"].index("own")
    if approximation == "sampled":
        assert np.median(laws["points"][place]) == pytest.approx(ranking["own"]["mi"], rel=0.1)
        return
    starts = laws["starts"]
    weight, mean = (
        np.frombuffer(base64.b64decode(laws[name]), "<f8")[starts[place] : starts[place + 1]]
        for name in ("weight", "mean")
    )
    assert weight @ mean == pytest.approx(ranking["own"]["mi"], rel=1e-12)
    table = credimi.Table(data["class"], data["own"]).with_added(np.array(IN_ORDER) - 1.0)
    expected = posteriors(Tables.of([table.block()]), Belief(prior=1.0), shaped=True)
    assert mean == pytest.approx(expected.mean, rel=1e-12)


def test_it_is_saved_and_loaded(data: dict[str, Any], tmp_path: Path) -> None:
    ranking = credimi.rank(data, "class", prior={"own": PRIOR})
    ranking.save(tmp_path / "ranking.json")
    assert credimi.load(tmp_path / "ranking.json") == ranking


@pytest.mark.parametrize(
    ("prior", "message"),
    [
        ({"Own": PRIOR}, "prior: there is no column 'Own'.*did you mean 'own'"),
        ({"own": [[1.0, 2.0], [3.0, 4.0]]}, "has no label for each class: pass a frame.*'no', 'yes'"),
        ({"own": PRIOR[:2]}, "must have each class once, but has 'yes'; those of the ranking are 'no', 'yes'"),
        ({"other": PRIOR}, "must have each value once, but has 'y', 'x'; those of the ranking are 'p', 'q', 'r'"),
        ({"own": [*PRIOR, ["?", 1.0, 1.0]]}, "has margins of missing values"),
        ({"own": [["", "y", "x"], ["yes", 1.0, -2.0], ["no", 3.0, 4.0]]}, "the prior of 'own': prior.* is -2"),
        ({"own": "unifrm"}, "did you mean 'uniform'"),
        ({"class": PRIOR}, "there is no column 'class'"),
    ],
)
def test_what_does_not_fit_is_refused(data: dict[str, Any], prior: dict[str, Any], message: str) -> None:
    with pytest.raises(CredimiError, match=message):
        credimi.rank(data, "class", prior=prior)


def test_only_rank_has_priors_by_column(data: dict[str, Any]) -> None:
    with pytest.raises(CredimiError, match="prior is"):
        credimi.select(data, "class", prior={"own": PRIOR})  # type: ignore[arg-type]
