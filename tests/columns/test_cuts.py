"""Cuts are chosen for what they tell about the target: what the choice costs, by sums over all cuts there might be."""

from __future__ import annotations

import base64
import math
from itertools import combinations, pairwise

import numpy as np
import pytest

import credimi
from credimi import mutual_information, rank
from credimi.columns.numbers.discretize import evidence_share, mdl_places
from credimi.questions.rank.page_data import collect


def instances(seed: int, rows: int, chances: list[float]) -> np.ndarray:
    """(rows, 2): the class of each row, in order of a column of numbers along which its chance takes steps."""
    generator = np.random.default_rng(seed)
    classes = generator.random(rows) < np.repeat(chances, -(-rows // len(chances)))[:rows]
    return np.stack([classes, ~classes], axis=1).astype(float)


def table_of(counts: np.ndarray, places: tuple[int, ...]) -> np.ndarray:
    edges = [0, *(place + 1 for place in places), len(counts)]
    return np.array([counts[low:high].sum(axis=0) for low, high in pairwise(edges)]).T


def log_likelihood(counts: np.ndarray, places: tuple[int, ...]) -> float:
    """Of the classes, each bin with the shares that it has."""
    total = 0.0
    for column in table_of(counts, places).T:
        for count in column[column > 0]:
            total += count * math.log(count / column.sum())
    return total


def log_odds(counts: np.ndarray, places: tuple[int, ...]) -> float:
    """That the classes depend on the bins, from even odds."""
    p_zero = mutual_information(table_of(counts, places)).p_zero
    return math.log1p(-p_zero) - math.log(p_zero)


def mean_of(logarithms: list[float]) -> float:
    top = max(logarithms)
    return top + math.log(math.fsum(math.exp(each - top) for each in logarithms) / len(logarithms))


@pytest.mark.parametrize("seed", range(5))
def test_share_of_one_cut_is_the_mean_over_all_places(seed: int) -> None:
    counts = instances(seed, 90, [0.2, 0.7])
    places = range(89)
    each = [log_likelihood(counts, (place,)) for place in places]
    best = max(places, key=lambda place: each[place])
    expected = math.exp(mean_of(each) - each[best])
    assert evidence_share(counts, np.array([best])) == pytest.approx(expected, rel=1e-9)
    doubled = np.repeat(counts, 2, axis=0) * np.tile([[1.0], [0.0]], (90, 1))  # values that never occur are no values
    assert evidence_share(doubled, np.array([best])) == pytest.approx(expected, rel=1e-9)


def test_share_of_no_cut_and_of_the_only_one_is_all() -> None:
    assert evidence_share([[3, 1], [2, 2]], np.zeros(0, dtype=np.int64)) == 1.0
    assert evidence_share([[9, 1], [1, 9]], np.array([0])) == 1.0
    assert evidence_share([[9, 0], [0, 9], [9, 0]], np.array([0, 1])) == pytest.approx(1.0)


def test_share_of_cuts_far_from_the_best_is_no_more_than_all() -> None:
    counts = instances(0, 4_000, [0.0, 1.0])
    assert evidence_share(counts, np.array([10])) == 1.0


def test_share_of_hundreds_of_cuts_is_not_nothing() -> None:
    """Where P(independent) is too small for a double, as the share would be: one over the other is still a number."""
    generator = np.random.default_rng(0)
    column = np.round(300.0 * generator.random(100_000), 3)
    row = rank({"column": column, "class": np.floor(column) % 2}, "class", discretize="mdl")["column"]
    assert row["note"].startswith("mdl, 299 cuts")
    assert (row["p_independent"], row["p_above"], row["verdict"]) == (0.0, 1.0, "keep")


def found_cuts(rows: int, chances: list[float], cuts: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """The first ten tables of which the MDL test accepts so many cuts."""
    tables = (instances(seed, rows, chances) for seed in range(400))
    found = ((counts, mdl_places(np.arange(rows), counts)[1]) for counts in tables)
    return [(counts, places) for counts, places in found if len(places) == cuts][:10]


@pytest.mark.parametrize(("rows", "chances"), [(60, [0.2, 0.8]), (120, [0.3, 0.7]), (120, [0.1, 0.1, 0.1, 0.6])])
def test_odds_of_one_cut_are_the_mean_over_all(rows: int, chances: list[float]) -> None:
    """With the evidence of the adaptive prior itself, for which the share takes the likelihood."""
    tables = found_cuts(rows, chances, 1)
    assert len(tables) == 10
    for counts, places in tables:
        exact = mean_of([log_odds(counts, (place,)) for place in range(rows - 1)])
        chosen = log_odds(counts, tuple(places.tolist()))
        assert chosen - exact > 1.0  # what would be claimed, were the choice not paid for
        assert chosen + math.log(evidence_share(counts, places)) == pytest.approx(exact, abs=0.6)


@pytest.mark.long
def test_odds_of_two_cuts_are_the_mean_over_all_pairs() -> None:
    tables = found_cuts(45, [0.0, 1.0, 0.0], 2)[:3]
    assert len(tables) == 3
    for counts, places in tables:
        exact = mean_of([log_odds(counts, pair) for pair in combinations(range(44), 2)])
        chosen = log_odds(counts, tuple(places.tolist()))
        assert chosen - exact > 3.0
        assert chosen + math.log(evidence_share(counts, places)) == pytest.approx(exact, abs=0.6)


@pytest.mark.parametrize("approximation", ["matched", "leading", "sampled"])
def test_ranking_and_page_have_the_odds_of_the_cuts(approximation: str) -> None:
    counts, places = found_cuts(120, [0.3, 0.7], 1)[0]
    table = {"column": np.arange(120.0) ** 2, "class": counts[:, 1] > 0}
    ranking = rank(table, "class", approximation=approximation, discretize="mdl")
    row = ranking["column"]
    assert row["note"].startswith("mdl, 1 cut")
    odds = math.exp(log_odds(counts, tuple(places.tolist()))) * evidence_share(counts, places)
    assert row["p_independent"] == pytest.approx(1.0 / (1.0 + odds), rel=1e-9)
    law = mutual_information(table_of(counts, tuple(places.tolist())), approximation=approximation, random_state=0)
    share = (1.0 - row["p_independent"]) / (1.0 - law.p_zero)
    assert row["mi"] == pytest.approx(share * law.mean(), rel=1e-9)
    assert row["p_above"] == pytest.approx(share * law.sf(ranking.settings["epsilon"]), rel=1e-9)
    packed = collect(ranking, ranking._kept)["laws"]["p_zero"]  # noqa: SLF001
    assert np.frombuffer(base64.b64decode(packed)).tolist() == [row["p_independent"]]


def test_cuts_that_were_not_chosen_cost_nothing() -> None:
    counts, places = found_cuts(120, [0.3, 0.7], 1)[0]
    table = {"column": np.arange(120.0) + 0.5, "class": counts[:, 1] > 0}
    (cut,) = (places + 1).tolist()
    given = rank(table, "class", discretize={"column": [cut]})["column"]
    assert given["p_independent"] == pytest.approx(1.0 / (1.0 + math.exp(log_odds(counts, (cut - 1,)))), rel=1e-9)


@pytest.mark.long
def test_noise_is_as_rare_with_cuts_by_mdl() -> None:
    """Of 6,000 columns of noise some 3 are kept; 30 would be, were the choice of the cuts not paid for."""
    generator = np.random.default_rng(0)
    kept = 0
    for _ in range(3):
        target = generator.integers(0, 2, 200)
        columns = {str(place): generator.random(200) for place in range(2_000)}
        kept += len(rank(columns, target).selected("forward"))
    assert kept <= 15


def test_learners_decide_as_the_ranking_does() -> None:
    generator = np.random.default_rng(1)
    target = generator.integers(0, 2, 200)
    matrix = generator.normal(size=(200, 60)) + np.linspace(0.0, 0.8, 60) * target[:, np.newaxis]
    ranking = rank(matrix, target)
    expected = set(ranking.selected("forward"))
    selector = credimi.CredibleSelector(rule="forward").fit(matrix, target)
    assert set(np.flatnonzero(selector.get_support()).tolist()) == expected
    expected = set(rank(matrix, target, discretize="mdl").selected("forward"))  # as naive Bayes cuts
    model = credimi.IncrementalNaiveBayes(selector=credimi.CredibleSelector(rule="forward")).fit(matrix, target)
    assert set(np.flatnonzero(model.support_).tolist()) == expected
