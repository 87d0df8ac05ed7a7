"""One column of numbers: its cells, missing values as in the two-sided tables of the library, and its ranges."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pytest

import credimi
from credimi.columns.numbers.number_cells import cells_of_labels
from credimi.columns.numbers.propose_borders import proposed_places
from credimi.core.tables import Tables
from credimi.inference.belief import Belief
from credimi.inference.numbers.all_cuts import strengths_for, weighed
from credimi.inference.numbers.of_column import averaged, components_at
from credimi.inference.tables.many_tables import posteriors

if TYPE_CHECKING:
    from pathlib import Path


def block_of(joint: list[list[int]], lacks_number: object = 0, lacks_class: object = 0) -> np.ndarray:
    counts = np.array(joint, dtype=float)
    block = np.zeros((counts.shape[0] + 1, counts.shape[1] + 1))
    block[:-1, :-1], block[:-1, -1], block[-1, :-1] = counts, lacks_number, lacks_class
    return block


def figures_of(block: np.ndarray) -> tuple[float, float, float]:
    found = averaged(block)
    assert found is not None
    evidence, mean, variance = found[0].components
    weights = np.exp(evidence - found[0].log_odds)
    expected = float(weights @ mean)
    return found[0].log_odds, expected, float(np.sqrt(weights @ (variance + mean**2) - expected**2))


def figures_of_table(block: np.ndarray) -> tuple[float, float, float]:
    """The same of the table, by the adaptive prior: all cuts are one cut if there are two numbers."""
    found = posteriors(Tables.of([block]), Belief())
    weights = found.weight / found.weight.sum()
    expected = float(weights @ found.mean)
    spread = float(np.sqrt(weights @ (found.variance + found.mean**2) - expected**2))
    return float(np.log(found.weight.sum() / found.p_zero[0])), expected, spread


TWO = [[600, 300], [300, 800]]


@pytest.mark.parametrize(
    "block",
    [
        block_of(TWO),
        block_of(TWO, lacks_number=[1000, 100]),
        block_of(TWO, lacks_class=[1500, 50]),
        block_of(TWO, lacks_number=[1000, 100], lacks_class=[1500, 50]),
        block_of([[500, 450], [600, 700]], lacks_number=[1000, 100], lacks_class=[1500, 50]),
        block_of([[40, 160], [300, 200], [90, 90]], lacks_number=[30, 500, 0]),
    ],
    ids=["complete", "number missing", "class missing", "both", "both, weak", "three classes"],
)
def test_two_numbers_are_one_table(block: np.ndarray) -> None:
    log_odds, mean, std = figures_of(block)
    expected_odds, expected_mean, expected_std = figures_of_table(block)
    assert log_odds == pytest.approx(expected_odds, abs=0.9)  # one of 8 K has more weight than one of 18: .8
    assert mean == pytest.approx(expected_mean, rel=0.06)
    assert std == pytest.approx(expected_std, rel=0.12)


@pytest.mark.parametrize("both", [False, True])
def test_terms_of_missing_values_are_means_of_draws(*, both: bool) -> None:
    """theta ~ Dirichlet in each range, w and the masses of the fixed point: E[I] of one cut at one strength."""
    block = block_of([[30, 10], [20, 50], [15, 5]], lacks_number=[40, 0, 15], lacks_class=[60, 10] if both else 0)
    (cells,) = cells_of_labels(block, proposed_places)
    strengths = strengths_for(130.0, 3)
    mean = weighed(cells, strengths).mean
    complete, seen, lacking, _ = cells.shares()[:, 0]
    mass, unclassed = (
        np.diff(cells.masses()[0]),
        np.zeros(2) if cells.unclassed is None else np.diff(cells.unclassed[0]),
    )
    shares = (np.diff(cells.below[0].sum(axis=1)) + 0.5) / (cells.rows[0] + 1.0)
    generator = np.random.default_rng(4)
    for at in (0, 3, 7):
        information = 0.0
        for s in range(2):
            counts = cells.below[0, s + 1] - cells.below[0, s]
            theta = generator.dirichlet(strengths[at] * shares[s] * complete + counts, 400_000)
            chances = theta / (1.0 - lacking - unclassed[s] / mass[s])
            chances /= chances.sum(axis=1, keepdims=True)
            information += mass[s] * (chances * np.log(chances / seen)).sum(axis=1).mean()
        assert mean[at] == pytest.approx(information, rel=0.03)


def test_fixed_point_is_that_of_the_paper() -> None:
    block = block_of([[30, 10], [20, 50]], lacks_number=[40, 5], lacks_class=[60, 10])
    (cells,) = cells_of_labels(block, proposed_places)
    chances = np.full((2, 2), 0.25)
    for _ in range(2000):  # equation EM of the paper
        filled = block[:2, :2] + block[:2, 2:] * chances / chances.sum(axis=1, keepdims=True)
        chances = (filled + block[2:, :2] * chances / chances.sum(axis=0)) / (block.sum())
    assert cells.class_shares is not None
    np.testing.assert_allclose(cells.class_shares[0], chances.sum(axis=1), atol=0.002)  # but for smoothing
    np.testing.assert_allclose(np.diff(cells.masses()[0]), chances.sum(axis=0), atol=0.005)


def test_cells_never_part_equal_numbers_and_hold_all_rows() -> None:
    generator = np.random.default_rng(1)
    counts = generator.poisson(0.7, (2, 900)).astype(float)
    counts[:, 100] = 800  # an atom
    coarse, fine = cells_of_labels(block_of(counts.tolist()), proposed_places)
    for cells in (coarse, fine):
        assert cells.places is not None
        np.testing.assert_array_equal(cells.below[0, -1], counts.sum(axis=1))
        assert (np.diff(cells.below[0].sum(axis=1)) > 0).all()
        below = np.concatenate([[0.0], np.cumsum(counts[0])])
        np.testing.assert_array_equal(cells.below[0, :, 0], below[cells.places])
    assert 30 < coarse.width.size <= 65
    assert coarse.count == coarse.width.size - 1
    assert fine.count > fine.width.size


def test_one_value_has_no_cuts() -> None:
    assert averaged(block_of([[5, 0], [9, 0]])) is None
    assert averaged(block_of([[0, 0], [0, 0]], lacks_class=[3, 4])) is None


def test_labels_without_rows_change_nothing() -> None:
    counts = np.random.default_rng(6).poisson(3.0, (2, 40)).astype(float)
    spread = np.zeros((2, 120))
    spread[:, 1::3] = counts
    np.testing.assert_allclose(figures_of(block_of(spread.tolist())), figures_of(block_of(counts.tolist())), rtol=1e-12)


def test_more_rows_of_the_same_kind_scale_the_cells() -> None:
    block = block_of(np.random.default_rng(7).poisson([[6.0], [3.0]], (2, 30)).tolist(), lacks_number=[5, 9])
    found = averaged(block)
    assert found is not None
    np.testing.assert_allclose(components_at(found[0], 1.0), found[0].components, rtol=1e-12)
    tripled = averaged(3.0 * block)
    assert tripled is not None
    assert components_at(found[0], 3.0)[0].max() > found[0].components[0].max()
    assert tripled[0].log_odds > found[0].log_odds


def test_odds_pay_for_the_choice_of_ranges() -> None:
    generator = np.random.default_rng(11)
    log_odds = []
    for _ in range(200):
        block = block_of(generator.poisson(2.0, (2, 60)).tolist())
        found = averaged(block)
        assert found is not None
        kept, places, odds = found
        ranges = np.concatenate([np.add.reduceat(block[:, :-1], [0, *places], axis=1), block[:, -1:]], axis=1)
        of_table = posteriors(Tables.of([ranges], [odds]), Belief())
        log_odds.append(np.log(of_table.weight.sum() / of_table.p_zero[0]))
        assert log_odds[-1] == pytest.approx(kept.log_odds, abs=1e-6)
    assert np.mean(np.array(log_odds) > 0.0) < 0.3


def table_of(rows: int) -> dict[str, object]:
    generator = np.random.default_rng(12)
    x = generator.standard_normal(rows)
    y = np.where(generator.random(rows) < 1.0 / (1.0 + np.exp(-x)), "yes", "no").astype(object)
    y[generator.random(rows) < 0.1] = None
    return {"x": np.where(generator.random(rows) < 0.1, np.nan, x), "noise": generator.standard_normal(rows), "y": y}


def parts_of(table: dict[str, object], cuts: list[int]) -> list[dict[str, object]]:
    edges = [0, *cuts, len(table["y"])]  # type: ignore[arg-type]
    return [{name: values[low:high] for name, values in table.items()} for low, high in pairwise(edges)]  # type: ignore[index]


@pytest.mark.parametrize("rows", [700, 5_000])
def test_parts_and_the_whole_and_any_order_have_the_same_figures(rows: int, tmp_path: Path) -> None:
    table = table_of(rows)
    whole = credimi.rank(table, "y")
    parts = sum(credimi.count(part, "y") for part in parts_of(table, [100, 333]))
    order = np.random.default_rng(1).permutation(rows)
    shuffled = {name: np.asarray(values)[order] for name, values in table.items()}
    parts.save(tmp_path / "parts.counts")
    for other in (credimi.rank(parts), credimi.rank(shuffled, "y"), credimi.rank(tmp_path / "parts.counts")):
        assert other.facts == whole.facts
        for name in ("mi", "std", "low", "high", "p_above", "p_independent", "mi_if_dependent"):
            np.testing.assert_allclose(other.figures[name], whole.figures[name], rtol=1e-12, atol=1e-15)


def test_the_paper_goes_by_mdl_and_results_say_so() -> None:
    table = table_of(700)
    usual, paper = credimi.rank(table, "y"), credimi.rank(table, "y", method="paper")
    assert (usual.settings["discretize"], usual.facts["x"]["cut_by"]) == ("average", "average")
    assert (paper.settings["discretize"], paper.facts["x"]["cut_by"]) == ("mdl", "mdl")
    assert paper == credimi.rank(table, "y", method="paper", discretize="mdl")
    assert len(usual.facts["x"]["p_cuts"]) == len(usual.facts["x"]["cuts"])
    assert paper.facts["x"]["p_cuts"] is None


def test_a_saved_ranking_has_its_posteriors(tmp_path: Path) -> None:
    ranking = credimi.rank(table_of(700), "y")
    ranking.save(tmp_path / "ranking.json")
    loaded = credimi.load(tmp_path / "ranking.json")
    assert loaded == ranking
    assert loaded.to_html() == ranking.to_html()
