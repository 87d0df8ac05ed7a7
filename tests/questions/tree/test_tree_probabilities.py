"""Class probabilities of trees against sums over all strengths and cuts, one by one; laws; calibration."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest
from tree_oracle import (
    GRID,
    PlainSplit,
    log_bayes_factor,
    of_known_size,
    plain_evidence,
    plain_laws,
    plain_probabilities,
)

from credimi import CredibleTreeClassifier
from credimi.counts.nodes.node_counter import node_counter
from credimi.counts.request import CountRequest
from credimi.questions.tree.growth import grow
from credimi.questions.tree.nodes import TreeNode, TreeSplit
from credimi.questions.tree.probabilities import SplitCounts, learned_probabilities
from credimi.questions.tree.strengths import STRENGTHS, StrengthLaw, column_evidence, cut_evidence, table_evidence
from credimi.sources.codes import encoded_table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from credimi.questions.tree.result import Tree


def tree_of(data: Mapping[str, object]) -> Tree:
    return grow(node_counter(encoded_table(data, CountRequest.of("class"))))


def logistic(seed: int, rows: int) -> tuple[dict[str, list[object]], np.ndarray]:
    """Four numbers of which two matter, three categories of which one matters; and P(class is "yes")."""
    generator = np.random.default_rng(seed)
    numbers, codes = generator.normal(size=(4, rows)), generator.integers(0, 3, (3, rows))
    likely = 1.0 / (1.0 + np.exp(-(numbers[0] + 0.7 * numbers[1] + 0.8 * (codes[0] - 1))))
    data: dict[str, list[object]] = {f"n{index}": column.tolist() for index, column in enumerate(numbers)}
    data |= {f"c{index}": [f"v{code}" for code in column] for index, column in enumerate(codes)}
    data["class"] = np.where(generator.random(rows) < likely, "yes", "no").tolist()
    return data, likely


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("numbers", [False, True])
def test_evidence_is_that_of_sums_one_by_one(seed: int, *, numbers: bool) -> None:
    generator = np.random.default_rng(seed)
    counts = generator.integers(0, 8, (6, 3)) + 0.25
    counts[:, generator.integers(3)] *= generator.integers(2)  # a class may be absent
    expected = [np.log(plain_evidence(counts.tolist(), 2.0**k, numbers=numbers)) for k in GRID]
    assert column_evidence(counts, numbers=numbers) == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_of_many_cuts_some_are_looked_at_evenly() -> None:
    counts = np.random.default_rng(0).integers(1, 4, (500, 2)).astype(float)
    of_two = [counts[:251].sum(axis=0).tolist(), counts[251:].sum(axis=0).tolist()]
    found = cut_evidence(counts, np.array([250]))
    expected = [of_known_size(of_two, 2.0**k) for k in GRID]
    assert np.exp(found.log_factor[0]) == pytest.approx([evidence for evidence, _ in expected], rel=1e-9)
    assert found.kept[0] == pytest.approx([kept for _, kept in expected], rel=1e-9)


@pytest.mark.parametrize("classes", [2, 3, 4, 5])
def test_evidence_is_about_that_of_differences_of_a_known_size(classes: int) -> None:
    """The integral over the sizes, of normal differences and normal errors; all that is told of one is its size."""
    even = np.full((2, classes), 100.0)
    for excess in (20.0, 30.0, 40.0):
        counts = even + excess * np.array([[1.0], [-1.0]]) * (np.arange(classes) == 0)
        found = table_evidence(counts)
        for strength in (4, 6, 8):  # log2 K + 1, of moderate K
            tau, d = counts.sum() / STRENGTHS[strength], classes - 1
            dirichlet = log_bayes_factor(counts.tolist(), STRENGTHS[strength])
            z = np.sqrt(max(2.0 * (1.0 + 1.0 / tau) * (dirichlet + d * np.log1p(tau) / 2.0), 0.0))
            kappa = d / 5.0
            size, spread = np.sqrt((1.0 - kappa) * d * tau), 1.0 + kappa * tau
            angles = (np.arange(20_000) + 0.5) * np.pi / 20_000
            share = np.sin(angles) ** (d - 2) if d > 1 else np.abs(np.cos(angles)) > np.cos(np.pi / 20_000)
            along = size * np.cos(angles)
            # Errors and the spread of theta together are normal; the mean of theta lies between its centre and z.
            likely = share / share.sum() * np.exp(-((z - along) ** 2 + size**2 - along**2) / (2.0 * spread))
            log_factor = np.log(likely.sum()) - d / 2.0 * np.log(spread) + z**2 / 2.0
            kept = (likely @ (kappa * tau * z + along)) / likely.sum() / spread / z
            assert found.log_factor[strength] == pytest.approx(log_factor, abs=0.31)
            assert found.kept[strength] == pytest.approx(min(kept, 1.0), abs=0.07)


def test_the_best_of_columns_that_tell_the_same_is_not_taken_for_one_of_a_few() -> None:
    """All but one of them show the true difference, .2; by chance, one shows .3."""

    def column(difference: float) -> np.ndarray:
        return 50.0 + 50.0 * difference * np.array([[1.0, -1.0], [-1.0, 1.0]])

    counts, rest = column(0.3), [column_evidence(column(0.2), numbers=False)] * 19
    law = StrengthLaw([np.stack([column_evidence(counts, numbers=False), *rest])])
    evidence = table_evidence(counts)
    kept = float(law.weights(evidence.log_factor) @ evidence.kept)
    assert 0.6 < kept < 0.85  # .2/.3 is right; with Dirichlet's prior alone it was .9


@pytest.mark.parametrize("seed", range(4))
def test_probabilities_are_sums_over_strengths_and_cuts_one_by_one(seed: int) -> None:
    generator = np.random.default_rng(seed)
    values = generator.integers(0, 9, (5, 3)) + 1.0
    parts = generator.random((2, 3))  # rows without the value
    columns = [(values, False), (values, True), (generator.integers(0, 9, (4, 3)) + 1.0, False)]
    laws = plain_laws([(each.tolist(), numbers) for each, numbers in columns])
    evidence = np.stack([column_evidence(each, numbers=numbers) for each, numbers in columns])
    for numbers, branch in ((False, np.array([0, 1, 1, 0, 1])), (True, np.array([0, 0, 1, 1, 1]))):
        counts = np.stack([values[branch == place].sum(axis=0) for place in (0, 1)]) + parts
        split = TreeSplit(0, None, branch, np.array([0.5, 0.5]), (1, 2))
        root = TreeNode(0, -1, 0, 0, float(counts.sum()), counts.sum(axis=0), split=split)
        nodes = [
            root,
            *(TreeNode(place + 1, 0, place, 1, float(each.sum()), each) for place, each in enumerate(counts)),
        ]
        found = learned_probabilities(nodes, {0: SplitCounts(values, branch, numbers)}, [evidence])
        node = (root.counts + 0.5) / (root.counts + 0.5).sum()
        plain = PlainSplit(node.tolist(), values.tolist(), branch.tolist(), counts.tolist(), numbers)
        assert found[0] == pytest.approx(node)
        assert found[1:] == pytest.approx(np.array(plain_probabilities(plain, laws)), rel=1e-8)


def test_branches_have_the_probabilities_of_their_node_together() -> None:
    data, _ = logistic(1, 600)
    tree = tree_of(data)
    assert tree.leaves.size > 2
    assert tree.probabilities.sum(axis=1) == pytest.approx(np.ones(len(tree.nodes)))
    for node in tree.nodes:
        if node.split is not None:
            children = list(node.split.children)
            shares = np.array([tree.nodes[child].rows for child in children]) / node.rows
            together = shares @ tree.probabilities[children]
            assert together == pytest.approx(tree.probabilities[node.number], abs=0.03)


def test_branches_without_a_difference_have_the_probabilities_of_their_node() -> None:
    counts = np.array([[30.0, 60.0], [10.0, 20.0]])
    split = TreeSplit(0, None, np.arange(2), np.array([0.75, 0.25]), (1, 2))
    nodes = [TreeNode(0, -1, 0, 0, 120.0, counts.sum(axis=0), split=split)]
    nodes += [TreeNode(place + 1, 0, place, 1, each.sum(), each) for place, each in enumerate(counts)]
    evidence = column_evidence(counts, numbers=False)[np.newaxis]
    found = learned_probabilities(nodes, {0: SplitCounts(counts, np.arange(2), numbers=False)}, [evidence])
    assert found[1] == pytest.approx(found[0], abs=1e-3)
    assert found[2] == pytest.approx(found[0], abs=1e-3)


def test_the_more_columns_look_alike_by_chance_the_less_one_is_believed() -> None:
    counts = np.array([[30.0, 20.0], [20.0, 30.0]])
    noise = column_evidence(np.array([[25.0, 25.0], [26.0, 24.0]]), numbers=False)
    split = TreeSplit(0, None, np.arange(2), np.array([0.5, 0.5]), (1, 2))
    nodes = [TreeNode(0, -1, 0, 0, 100.0, counts.sum(axis=0), split=split)]
    nodes += [TreeNode(place + 1, 0, place, 1, 50.0, each) for place, each in enumerate(counts)]
    own = column_evidence(counts, numbers=False)
    splits = {0: SplitCounts(counts, np.arange(2), numbers=False)}
    differences = []
    for others in (0, 5, 50):
        found = learned_probabilities(nodes, splits, [np.stack([own] + [noise] * others)])
        differences.append(found[1, 0] - found[2, 0])
    assert differences[0] > differences[1] > differences[2] > 0.0


@pytest.mark.long
def test_trees_of_few_rows_are_not_overconfident() -> None:
    score = information = 0.0
    for seed in range(60):
        data, likely = logistic(seed, 1_200)
        table = pa.table({name: column for name, column in data.items() if name != "class"})
        model = CredibleTreeClassifier().fit(table.slice(0, 200), data["class"][:200])
        predicted = model.predict_proba(table.slice(200))[:, 1]
        log_odds = np.log(predicted / (1.0 - predicted))
        # One Newton step from slope 1, with an intercept for each tree: the slope up to 1 itself.
        weight = predicted * (1.0 - predicted)
        centred = log_odds - np.average(log_odds, weights=weight)
        score += float((centred * (likely[200:] - predicted)).sum())
        information += float((weight * centred**2).sum())
    assert 0.8 < 1.0 + score / information < 1.2
