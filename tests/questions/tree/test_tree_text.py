"""A tree with long names, as text and as a figure: names are cut, conditions are not."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import credimi
from credimi.questions.tree.view import short_conditions

LONG = "measurement of an utterly long and wordy quantity number {} taken in the north wing"


def grown(kind: str) -> credimi.CredibleTreeClassifier:
    """A tree on two columns with long names; its values are numbers, or long texts that differ in the middle."""
    generator = np.random.default_rng(0)
    numbers = generator.normal(size=(600, 2))
    target = (numbers[:, 0] > 0.0) ^ (numbers[:, 1] > 0.5)
    target = np.where(generator.random(600) < 0.9, target, ~target)
    columns = {LONG.format(place): numbers[:, place] for place in range(2)}
    if kind == "values":
        words = "a value that is a whole sentence, with the word {} somewhere, and goes on and on"
        columns = {
            name: np.array([words.format("high" if each > 0.0 else "low") for each in own], dtype=object)
            for name, own in columns.items()
        }
    return credimi.CredibleTreeClassifier().fit(pd.DataFrame(columns), np.where(target, "yes", "no"))


def test_a_cut_is_never_lost() -> None:
    tree = grown("numbers")
    found = tree.tree_.to_dict()
    lines = tree.export_text().splitlines()[2:]
    assert len(lines) == len(found["nodes"]) - 1 >= 4
    for line, node in zip(lines, found["nodes"][1:], strict=True):
        assert f" {node['branch']} (" in line
        assert any(f" {each} taken" in line.split(" (")[0] for each in "01")


@pytest.mark.parametrize("room", [32, 60])
@pytest.mark.parametrize("kind", ["numbers", "values"])
def test_conditions_stay_different_and_fit(kind: str, room: int) -> None:
    found = grown(kind).tree_.to_dict()
    shown = short_conditions(found, room)
    assert max(map(len, shown.values())) <= room
    for node in found["nodes"]:
        below = [shown[branch["node"]] for branch in node.get("branches", [])]
        assert len(set(below)) == len(below)


def test_a_cut_just_below_a_round_number_is_not_written_with_17_digits() -> None:
    """More different numbers than are kept are made coarser; the cut is then the last number below the next one."""
    generator = np.random.default_rng(0)
    numbers = np.round(generator.uniform(0.5, 1.5, 120_000), 6)
    target = (numbers >= 1.0) ^ (generator.random(numbers.size) < 0.1)
    tree = credimi.CredibleTreeClassifier(max_depth=1).fit(pd.DataFrame({"x": numbers}), target)
    assert "|-- x < 1 (" in tree.export_text()
    assert "|-- x >= 1 (" in tree.export_text()
    assert tree.tree_.nodes[0].split.cut == np.nextafter(1.0, 0.0)
