"""Arrows of networks: columns with many causes, whose tables are large, and what triples say about directions."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from credimi import network
from credimi.counts.rows.distinct_rows import DistinctRows
from credimi.questions.network.candidates import candidates, unconditional_evidence
from credimi.questions.network.directions import arrow_bounds
from credimi.questions.network.edge_evidence import EdgeEvidence
from credimi.questions.network.learn import LearnOptions, learn
from credimi.questions.network.parent_sets import Separators, parent_sets

CLINIC = Path(__file__).parents[3] / "examples" / "clinic.csv"


def common_effect(causes: int, rows: int, seed: int) -> np.ndarray:
    """Independent coins, an effect of all of them, and an effect of that: (columns, rows)."""
    generator = np.random.default_rng([seed, causes, rows])
    coins = generator.integers(0, 2, (causes, rows))
    log_odds = generator.uniform(0.5, 1.0, causes) @ (2.0 * coins - 1.0)
    effect = generator.random(rows) < 1.0 / (1.0 + np.exp(-log_odds))
    shown = np.where(generator.random(rows) < 0.25, ~effect, effect)
    return np.vstack([coins, effect, shown]).astype(np.uint16)


@pytest.mark.parametrize("causes", [5, 6, 8])
@pytest.mark.parametrize("seed", [0, 1])
def test_a_column_with_many_causes_has_all_of_them_and_no_arrow_is_wrong(causes: int, seed: int) -> None:
    codes = common_effect(causes, 20_000, seed)
    learned = learn(DistinctRows.of(codes), np.full(causes + 2, 2), LearnOptions(seed=seed))
    edges, arrows = learned.edge_matrix, learned.pairs.matrix(*learned.forced.T)
    true = {(coin, causes) for coin in range(causes)} | {(causes, causes + 1)}
    assert all(edges[pair] > 0.95 for pair in true)
    by_chance = {pair for pair in combinations(range(causes), 2) if learned.unconditional[pair] > 1.0}
    assert len(by_chance) <= 1  # these two look dependent in these rows: an edge may be as probable as not
    assert all(edges[pair] < 0.5 for pair in combinations(range(causes), 2) if pair not in by_chance)
    wrong = [pair for pair in true if arrows[pair[::-1]] > 0.1]
    assert not wrong


def test_sets_of_causes_are_weighed_without_the_effect_that_says_more() -> None:
    codes = common_effect(5, 20_000, 0)
    evidence = EdgeEvidence(codes, np.full(7, 2), np.zeros(0), 1)
    near = candidates(evidence, unconditional_evidence(evidence), -1.0, 10)
    sets = parent_sets(evidence, near.partners, 8, -1.0, Separators.of(near, 7))[5]
    causes = sum(1 << place for place, column in enumerate(sets.candidates.tolist()) if column < 5)
    assert causes in sets.evidence
    masks, scores = sets.arrays(-1.0)
    without_the_effect = [mask & ~causes == 0 for mask in masks.tolist()]
    assert masks[int(np.argmax(np.where(without_the_effect, scores, -np.inf)))] == causes


def test_the_causes_of_the_clinics_diabetes_are_not_called_its_effects() -> None:
    found = network(CLINIC)
    for cause in ("bmi", "age", "family_history", "exercise", "smoking", "diet"):
        edge = found.between(cause, "diabetes")
        assert edge is not None
        backward = edge.p_backward if edge.a == cause else edge.p_forward
        assert backward < 0.5 * edge.probability


def triple(*, collider: bool, rows: int = 500) -> tuple[EdgeEvidence, Separators]:
    """Columns 0, 1, 2: 0 -> 2 <- 1, or 0 -> 2 -> 1."""
    generator = np.random.default_rng(1)
    first, noise = generator.integers(0, 2, (2, rows))
    wrong = generator.random(rows) < 0.15
    if collider:
        last, middle = noise, np.where(wrong, 1 - (first | noise), first | noise)
    else:
        middle = np.where(wrong, 1 - first, first)
        last = np.where(generator.random(rows) < 0.15, 1 - middle, middle)
    evidence = EdgeEvidence(np.vstack([first, last, middle]).astype(np.uint16), np.full(3, 2), np.zeros(0), 1)
    near = candidates(evidence, unconditional_evidence(evidence), 0.0, 10)
    return evidence, Separators.of(near, 2)


@pytest.mark.parametrize("collider", [True, False])
def test_a_triple_says_whether_the_middle_is_an_effect_of_both(collider: bool) -> None:  # noqa: FBT001
    evidence, separators = triple(collider=collider)
    pairs = separators.pairs
    edges, arrows = np.zeros(len(pairs)), np.zeros((len(pairs), 2))
    place, known = pairs.find(0, 2), pairs.find(1, 2)
    assert place is not None
    assert known is not None
    edges[[place, known]] = 1.0
    arrows[known, 0] = 1.0  # 1 -> 2 is known
    given, alone = (float(evidence.of(np.array([[0, 1, *rest]]))[0]) for rest in ([2], []))
    bounds = arrow_bounds(evidence, separators, edges, arrows)
    assert (given > alone) == collider
    assert bounds[place, 0] == pytest.approx(1.0 / (1.0 + np.exp(alone - given)))
    assert bounds[place, 1] == pytest.approx(1.0 / (1.0 + np.exp(given - alone)))
    np.testing.assert_array_equal(bounds[known], 1.0)  # nothing points at 2 beside it


def test_both_ways_of_adding_two_columns_to_a_third_have_the_same_evidence() -> None:
    """The identity behind the triples, as far as each step has a prior of its own."""
    evidence, _ = triple(collider=True, rows=5_000)
    by_ends, by_middle = (
        float(np.diff(evidence.of(np.array(tests)))[0]) for tests in ([[0, 1, -1], [0, 1, 2]], [[0, 2, -1], [0, 2, 1]])
    )
    assert by_ends == pytest.approx(by_middle, rel=0.03)


def test_no_arrow_is_shown_that_is_not_believed() -> None:
    """An arrow has to be more probable than not, so its edge is, too, and the arrow given the edge."""
    generator = np.random.default_rng(0)
    shown = 0
    for seed in range(6):
        rows = 60 + 40 * seed
        first, second = generator.integers(0, 2, (2, rows))
        noise = generator.random(rows) < 0.2
        either = np.where(noise, generator.integers(0, 2, rows), first ^ second)
        after = np.where(generator.random(rows) < 0.3, generator.integers(0, 2, rows), either & first)
        found = network({"first": first, "second": second, "either": either, "after": after}, level=0.05, threads=1)
        for pair in found.pairs:
            believed = {"->": pair.p_forward, "<-": pair.p_backward}.get(pair.direction, 1.0)
            assert believed > 0.5
            assert pair.direction == "--" or pair.probability > 0.5
            assert pair.direction != "--" or max(pair.p_forward, pair.p_backward) <= 0.5
            shown += pair.direction != "--"
        marked = [edge.direction for edge in found.edges]
        text = repr(found)
        assert text.count(" -> ") == marked.count("->")  # "->:" explains what they mean
        assert found.to_dot().count('dir="forward"') == len(marked) - marked.count("--")
        assert found.to_graphml().count('"direction">--<') == marked.count("--")
    assert shown
