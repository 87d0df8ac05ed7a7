"""Columns that stand in for a missing value: against a plain tree, laws, and what they are worth."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from test_tree_growth import columns_of, described, tree_of
from tree_oracle import grown, posterior

from credimi import CredibleTreeClassifier
from credimi.questions.tree import surrogates as stand_ins
from credimi.questions.tree.nodes import TreeSplit, TreeStandIn
from credimi.questions.tree.surrogates import branch_weights, log_gains


def redundant(seed: int, count: int, *, missing: float, weights: bool = False) -> list[dict[str, Any]]:
    """Two hidden facts, each seen in three columns with errors; the class depends on both. One column is noise."""
    generator = np.random.default_rng(seed)
    rows = []
    for _ in range(count):
        one, two = bool(generator.random() < 0.5), bool(generator.random() < 0.4)
        sure = (generator.random(6) < 0.95).tolist()
        row: dict[str, Any] = {
            "a": "pq"[one == sure[0]],
            "b": "uv"[one == sure[1]],
            "size": (9.5 if one == sure[2] else 0.5) + float(generator.integers(0, 2)),
            "c": "rs"[two == sure[3]],
            "d": "mn"[two == sure[4]],
            "length": (2.5 if two == sure[5] else 0.5) + float(generator.integers(0, 2)),
            "noise": "xy"[int(generator.integers(2))],
        }
        row = {name: None if generator.random() < missing else value for name, value in row.items()}
        row["class"] = ["no", "yes", "other"][one + (one and two)] if generator.random() < 0.9 else "no"
        if weights:
            row["weight"] = float(generator.integers(1, 4))
        rows.append(row)
    return rows


@pytest.mark.parametrize("seed", range(2))
def test_the_weights_are_those_of_plain_dictionaries(seed: int) -> None:
    rows = redundant(seed, 160, missing=0.2, weights=seed == 1)
    plain = grown(rows, {"size", "length"}, epsilon=0.003, level=0.5)
    asked = {"weights": "weight"} if seed == 1 else {}
    tree = tree_of(columns_of(rows), discretize={"size": "mdl", "length": "mdl"}, **asked)
    assert sum(len(node.split.stand_ins) for node in tree.nodes if node.split is not None) > 3
    assert described(tree) == plain.described()


def test_gains_are_posteriors_and_values_that_were_not_seen_say_nothing() -> None:
    counts = {"x": {"l": 12.0, "r": 3.0}, "y": {"l": 1.0, "r": 7.5}, "z": {"l": 2.0, "r": 2.0}}
    shares = {"l": 0.6, "r": 0.4}
    found = log_gains(np.array([list(each.values()) for each in counts.values()]), np.array([0.6, 0.4]), 0.9)
    wanted = posterior(counts, shares, 0.9)
    assert np.exp(found) * [0.6, 0.4] == pytest.approx(np.array([list(wanted[value].values()) for value in "xyz"]))
    own = TreeStandIn(1, None, np.arange(3), found, 0.1, 0.9)
    split = TreeSplit(0, None, np.arange(2), np.array([0.6, 0.4]), (), (own, own))
    lines = [np.array([0, -1, 1]), np.array([1, -1, -1])]
    weights = branch_weights(split, lines, 3)
    assert weights[1] == pytest.approx([0.6, 0.4])
    assert weights[2] == pytest.approx(list(wanted["y"].values()))
    both = np.array([0.6, 0.4]) * np.exp(found[0] + found[1])
    assert weights[0] == pytest.approx(both / both.sum())


def test_whole_weights_are_repeated_rows() -> None:
    rows = redundant(5, 300, missing=0.15, weights=True)
    repeated = [{**row, "weight": 1.0} for row in rows for _ in range(int(row["weight"]))]
    one, other = (tree_of(columns_of(each), weights="weight") for each in (rows, repeated))
    assert any(node.split.stand_ins for node in one.nodes if node.split is not None)
    assert described(one) == described(other)
    assert one.probabilities == pytest.approx(other.probabilities)


def test_the_order_of_rows_and_columns_and_the_names_do_not_matter() -> None:
    rows = redundant(6, 600, missing=0.2)
    fresh = redundant(7, 200, missing=0.3)
    new = {"p": "9", "q": "1", "u": "z", "v": "a", "yes": "0 no", "no": "1 yes", "other": "a", "r": "y", "s": "x"}
    renamed = [{name: new.get(cell, cell) if cell is not None else None for name, cell in row.items()} for row in rows]
    asked = [{name: new.get(cell, cell) if cell is not None else None for name, cell in row.items()} for row in fresh]
    order = np.random.default_rng(0).permutation(600)
    shuffled = [dict(reversed(rows[place].items())) for place in order]
    found = [_fitted(rows, fresh), _fitted(shuffled, [dict(reversed(row.items())) for row in fresh])]
    assert found[1] == pytest.approx(found[0])
    classes = ["no", "other", "yes"]
    places = np.argsort(np.argsort([new[name] for name in classes]))
    assert _fitted(renamed, asked)[:, places] == pytest.approx(found[0])


def _table(rows: list[dict[str, Any]]) -> pa.Table:
    return pa.table({name: column for name, column in columns_of(rows).items() if name != "class"})


def _fitted(rows: list[dict[str, Any]], fresh: list[dict[str, Any]]) -> np.ndarray:
    model = CredibleTreeClassifier().fit(_table(rows), [row["class"] for row in rows])
    return model.predict_proba(_table(fresh))


@pytest.mark.parametrize(("in_training", "least"), [(0.0, 0.02), (0.25, -0.01)])
def test_with_redundant_columns_they_beat_the_shares(
    in_training: float, least: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    fresh = redundant(100, 2_000, missing=0.25)
    truth = np.array([row["class"] for row in fresh])
    figures = []
    for some in (True, False):
        if not some:
            monkeypatch.setattr(stand_ins, "_MAX_STAND_INS", 0)
        for seed in range(3):
            chances = _fitted(redundant(seed, 600, missing=in_training), fresh)
            own = chances[np.arange(truth.size), np.searchsorted(["no", "other", "yes"], truth)]
            right = np.array(["no", "other", "yes"])[chances.argmax(axis=1)] == truth
            figures.append((right.mean(), -np.log(own).mean()))
    with_them, without = np.mean(figures[:3], axis=0), np.mean(figures[3:], axis=0)
    assert with_them[0] > without[0] + least
    # Branches take rows without the value by their classes, so the shares alone are not as bad as they could be.
    assert with_them[1] < without[1] - 0.02


def test_columns_that_tell_nothing_about_the_branch_do_not_stand_in() -> None:
    generator = np.random.default_rng(0)
    letters = generator.choice(list("ab"), 800)
    data = {"letter": letters.tolist()} | {f"x{place}": generator.integers(0, 4, 800).tolist() for place in range(20)}
    told = np.where(generator.random(800) < 0.9, letters, "a")
    tree = tree_of(data | {"class": told.tolist()})
    split = tree.nodes[0].split
    assert split is not None
    assert split.stand_ins == ()


@pytest.mark.parametrize("seed", range(4))
def test_noise_with_missing_values_and_redundant_columns_gives_one_leaf(seed: int) -> None:
    rows = redundant(seed, [60, 300, 1_000, 3_000][seed], missing=0.3)
    target = np.random.default_rng(seed).choice(["p", "q"], len(rows))
    tree = tree_of({**columns_of(rows), "class": target.tolist()})
    assert tree.leaves.tolist() == [0]


def test_texts_pages_and_records_name_them() -> None:
    rows = redundant(1, 800, missing=0.2)
    grown = tree_of(columns_of(rows))
    tree = grown.to_dict()
    root = tree["nodes"][0]
    names = [each["feature"] for each in root["stand_ins"]]
    same = ({"a", "b", "size"}, {"c", "d", "length"})[root["feature"] in {"c", "d", "length"}]
    assert set(names[:2]) == same - {root["feature"]}
    assert f"if missing, by {names[0]}, {names[1]}" in repr(grown)
    assert f"rows without a value went down all branches, weighted by <bdi>{names[0]}, {names[1]}" in grown.to_html()
