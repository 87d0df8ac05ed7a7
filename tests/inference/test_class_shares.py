"""Shares of classes by value, and their direction, against exact draws, Gibbs sampling, counted orders, and truth."""

from __future__ import annotations

import numpy as np
import pytest

from credimi import rank
from credimi.core.special import digamma, trigamma
from credimi.core.table import Table
from credimi.inference.sampling import draw
from credimi.inference.tables import direction as shapes
from credimi.inference.tables.class_shares import _with_log_odds, most_affected, shares, without_common_term
from credimi.inference.tables.direction import direction

DRAWS = 20_000
CURVES = {  # shares of a class along the ranges, and the word for them
    "rises": ([0.1, 0.15, 0.3, 0.45, 0.6], [0.05, 0.2, 0.4], [0.1, 0.5]),
    "falls": ([0.6, 0.45, 0.3, 0.15, 0.1], [0.9, 0.7, 0.55, 0.3]),
    "peaks": ([0.1, 0.2, 0.4, 0.3, 0.15],),
    "dips": ([0.4, 0.2, 0.1, 0.2, 0.35],),
    "no order": ([0.1, 0.3, 0.1, 0.3, 0.1, 0.3],),
}


def block(missing: str, seed: int) -> np.ndarray:
    """A random table of which rows lack the feature, the target, either, or neither."""
    generator = np.random.default_rng(seed)
    rows, columns = generator.integers(2, 5), generator.integers(2, 6)
    cells = generator.dirichlet(np.full(rows * columns, 1.5)).reshape(rows, columns)
    seen = int(generator.integers(20, 300))
    counts = np.zeros((rows + 1, columns + 1))
    counts[:-1, :-1] = generator.multinomial(seen, cells.ravel()).reshape(rows, columns)
    if missing in {"feature", "both"}:
        counts[:-1, -1] = generator.multinomial(seen // 2, cells.sum(axis=1)[::-1])
    if missing in {"target", "both"}:
        counts[-1, :-1] = generator.multinomial(seen // 2, cells.sum(axis=0))
    return counts


def drawn_shares(counts: np.ndarray) -> np.ndarray:
    pseudo = 1.0 / (counts.shape[0] - 1)
    found = draw(Table.of_block(counts), pseudo, DRAWS, np.random.default_rng(1), chains=256, burn_in=200, thin=5)
    return found.probabilities / found.probabilities.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("missing", ["none", "target", "feature", "both"])
@pytest.mark.parametrize("seed", range(6))
def test_shares_and_intervals_are_those_of_draws(missing: str, seed: int) -> None:
    counts = block(missing, seed)
    found, drawn = shares(counts), drawn_shares(counts)
    low, high = found.interval(0.9)
    inside = ((drawn >= low) & (drawn <= high)).mean(axis=0)
    away = np.abs(found.mean - drawn.mean(axis=0)) / drawn.std(axis=0)  # in standard deviations; that of draws is .007
    assert away.max() < (0.1 if missing == "both" else 0.04)  # of leading order, or nearly exact
    assert np.abs(inside - 0.9).max() < (0.02 if missing == "both" else 0.01)


@pytest.mark.parametrize("missing", ["none", "target"])
def test_a_complete_feature_has_the_betas_of_its_counts(missing: str) -> None:
    counts = block(missing, 3)
    cells = counts[:-1, :-1] + 1.0 / (len(counts) - 1)
    found = shares(counts)
    np.testing.assert_allclose(found.alpha, cells)
    np.testing.assert_allclose(found.beta, cells.sum(axis=0) - cells)


def test_rows_without_the_feature_count_for_their_class() -> None:
    counts = np.array([[50.0, 50.0, 0.0], [10.0, 30.0, 400.0], [0.0, 0.0, 0.0]])
    found = shares(counts).mean[1]
    odds = 440.0 / 100.0 * np.array([10.0 / 40.0 / 0.5, 30.0 / 40.0 / 0.5])  # the paper's w_i q_ij
    np.testing.assert_allclose(found, odds / (1.0 + odds), atol=0.02)


def test_betas_have_the_moments_of_their_log_odds() -> None:
    alpha, beta = np.exp(np.random.default_rng(0).uniform(-5.0, 13.0, (2, 2000)))
    found = _with_log_odds(digamma(alpha) - digamma(beta), trigamma(alpha) + trigamma(beta))
    np.testing.assert_allclose(found.alpha, alpha, rtol=1e-9)
    np.testing.assert_allclose(found.beta, beta, rtol=1e-9)


@pytest.mark.parametrize("count", [2, 3, 4, 6])
def test_probabilities_of_orders_are_the_shares_of_draws(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shapes, "TRIFLE", 0.0)
    generator = np.random.default_rng(count)
    alpha, beta = generator.gamma(2.0, 3.0, (2, count)) + 0.5
    steps = np.sign(np.diff(generator.beta(alpha, beta, (200_000, count)), axis=1))
    turns, up = (np.diff(steps, axis=1) != 0.0).sum(axis=1), steps[:, 0] > 0.0
    expected = {
        "rises": ((turns == 0) & up).mean(),
        "falls": ((turns == 0) & ~up).mean(),
        "peaks": ((turns == 1) & up).mean(),
        "dips": ((turns == 1) & ~up).mean(),
    }
    found = shapes._of_orders(shapes._densities(alpha, beta))  # noqa: SLF001
    assert found == pytest.approx(expected, abs=0.006)


def test_equal_ranges_have_the_prior_probability_of_each_shape() -> None:
    found = shapes.probabilities(np.full(5, 20.0), np.full(5, 50.0))
    assert list(found.values()) == pytest.approx([0.2] * 5, abs=0.002)


@pytest.mark.parametrize("missing", ["none", "feature", "both"])
def test_the_order_is_that_of_draws_whatever_is_missing(missing: str) -> None:
    counts = np.array([[30.0, 24.0, 20.0, 0.0], [8.0, 10.0, 13.0, 0.0], [0.0, 0.0, 0.0, 0.0]])
    if missing != "none":
        counts[:2, 3] = 20.0, 60.0
    if missing == "both":
        counts[2, :3] = 30.0, 20.0, 40.0
    rising = (np.diff(drawn_shares(counts)[:, 1], axis=1) > 0.0).all(axis=1).mean()
    betas = without_common_term(counts, 1, shares(counts))
    found = shapes._rising_and_peaking(shapes._densities(betas.alpha, betas.beta))[0]  # noqa: SLF001
    assert found == pytest.approx(rising, abs=0.02)


@pytest.mark.parametrize(
    ("word", "curve"), [(word, curve) for word, curves in CURVES.items() for curve in curves], ids=str
)
def test_the_word_is_right_in_95_percent_of_simulated_columns(word: str, curve: list[float]) -> None:
    generator, right = np.random.default_rng(7), 0
    for _ in range(200):
        rows = generator.multinomial(2_500, np.full(len(curve), 1.0 / len(curve)))
        seen = generator.binomial(rows, curve)
        right += direction(seen + 0.5, rows - seen + 0.5).word == word
    assert right >= 190


def test_random_rising_columns_are_hardly_ever_said_to_do_anything_else() -> None:
    generator, words = np.random.default_rng(11), []
    for _ in range(400):
        curve = np.sort(generator.beta(1.0, 3.0, generator.integers(3, 9)))
        rows = generator.multinomial(generator.integers(300, 20_000), np.full(curve.size, 1.0 / curve.size))
        seen = generator.binomial(rows, curve)
        words.append(direction(seen + 0.5, rows - seen + 0.5).word)
    wrong = [word for word in words if word not in {"rises", "unclear"}]
    assert len(wrong) <= 20
    assert words.count("rises") >= 300


def test_noise_is_unclear() -> None:
    generator, rows = np.random.default_rng(5), 1_500
    table = {f"x{place}": generator.normal(size=rows) for place in range(40)}
    table |= {f"n{place}": generator.integers(0, 6, rows) for place in range(40)}
    ranking = rank(table | {"y": generator.random(rows) < 0.3}, "y")
    words = [each.direction for each in ranking.all_effects()]
    assert len(words) == 80
    assert words.count("unclear") >= 76


def test_the_class_of_the_word_is_the_one_whose_share_varies_most() -> None:
    counts = np.array([[10, 10, 10, 0], [80, 50, 20, 0], [85, 80, 90, 0], [0, 0, 0, 0]], dtype=float)
    assert most_affected(counts, shares(counts)) == 1
