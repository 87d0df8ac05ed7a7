"""The rule informative: more probably dependent than not, the share of dependent columns learned, at most one half."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import credimi
from credimi.inference.belief import Belief
from credimi.inference.rules import decide, informative
from credimi.inference.tables.many_tables import Beliefs


def plainly(p_independent: np.ndarray) -> np.ndarray:
    """The same from a fine grid of shares of dependent columns, up to one half, and Bayes' rule for each column."""
    grid = np.linspace(0.0, 0.5, 100_001)[1:]
    odds = np.array([(1.0 - p) / p for p in p_independent])  # Bayes factors: even odds before
    log_posterior = np.log(grid) + np.log(1.0 - grid)
    for factor in odds:
        log_posterior += np.log(grid * factor + 1.0 - grid)
    share = grid[log_posterior.argmax()]
    return np.array([share * factor / (share * factor + 1.0 - share) >= 0.5 for factor in odds])


def columns(generator: np.random.Generator, true: int, noise: int) -> np.ndarray:
    """P(independent) of so many columns that depend, more or less, and of noise."""
    return np.concatenate([generator.beta(0.1, 2.0, true), generator.beta(6.0, 3.0, noise)]).clip(1e-9, 1.0 - 1e-9)


@pytest.mark.parametrize(("true", "noise"), [(0, 20), (1, 0), (3, 3), (5, 200), (20, 2), (0, 1), (40, 400)])
def test_it_is_bayes_rule_with_the_most_probable_share(true: int, noise: int) -> None:
    for seed in range(5):
        p_independent = columns(np.random.default_rng(seed), true, noise)
        assert informative(p_independent).tolist() == plainly(p_independent).tolist()


def test_the_share_of_informative_columns_is_at_most_one_half() -> None:
    """Where nearly all columns are informative, a doubtful one is judged from even odds, and not carried by them."""
    many = np.full(200, 1e-6)
    assert informative(np.append(many, [0.501, 0.499])).tolist() == [True] * 200 + [False, True]


def test_doubtful_columns_among_much_noise_are_left_out() -> None:
    alone, among_noise = informative(np.array([0.3])), informative(np.append(0.3, np.full(500, 0.7)))
    assert alone.tolist() == [True]
    assert not among_noise.any()


def test_what_is_not_known_is_never_kept_and_does_not_count() -> None:
    known = np.array([0.2, 0.6, 0.45])
    assert informative(np.append(known, [np.nan] * 50)).tolist() == [*informative(known).tolist(), *[False] * 50]
    assert informative(np.full(3, np.nan)).tolist() == [False] * 3
    assert informative(np.zeros(0)).tolist() == []


def test_the_order_of_columns_does_not_matter() -> None:
    p_independent = columns(np.random.default_rng(0), 4, 6)
    kept = informative(p_independent)
    for places in itertools.islice(itertools.permutations(range(10)), 0, 3_000_000, 500_000):
        assert informative(p_independent[list(places)]).tolist() == kept[list(places)].tolist()


def test_epsilon_and_level_play_no_part() -> None:
    p_independent = columns(np.random.default_rng(1), 5, 5)
    figures = Beliefs(*np.zeros((3, 10)), p_independent)
    kept = [
        decide("informative", figures, Belief(epsilon=epsilon, level=level))
        for epsilon, level in ((0.0, 0.5), (1.0, 0.99))
    ]
    assert kept[0].tolist() == kept[1].tolist() == informative(p_independent).tolist()


def data_of(rows: int, columns: int, seed: int) -> tuple[dict[str, list[str]], list[str]]:
    """Five columns that matter, and noise, three values each."""
    generator = np.random.default_rng(seed)
    cells = generator.integers(0, 3, (rows, columns))
    chance = 1.0 / (1.0 + np.exp(-0.9 * (cells[:, :5] - 1.0).sum(axis=1)))
    target = np.where(generator.random(rows) < chance, "yes", "no").tolist()
    return {f"c{number}": [f"v{cell}" for cell in cells[:, number]] for number in range(columns)}, target


@pytest.mark.parametrize(("rows", "columns"), [(100, 1_000), (500, 500), (2_000, 200)])
def test_of_much_noise_at_most_a_fiftieth_is_kept(rows: int, columns: int) -> None:
    true, noise = [], []
    for seed in range(3):
        kept = credimi.rank(*data_of(rows, columns, seed)).selected("informative")
        true.append(sum(int(name[1:]) < 5 for name in kept))
        noise.append(len(kept) - true[-1])
    assert np.mean(noise) <= 0.02 * (columns - 5)
    assert np.mean(true) >= 4.0 * (rows >= 500)


def test_a_fixed_prior_has_no_probability_of_independence() -> None:
    ranking = credimi.rank({"x": list("aabb") * 9}, list("ppqq") * 9, prior="jeffreys")
    assert ranking.selected("forward")
    with pytest.raises(credimi.CredimiError, match="needs P\\(independent\\), which only the adaptive prior has"):
        ranking.selected("informative")
