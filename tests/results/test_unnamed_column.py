"""A column whose name is empty is shown as "(no name)", wherever a name stands in a sentence or in a table."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import credimi

NO_NAME = "(no name)"


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    """The column without a name tells about y, `part` repeats a part of it, and `other` tells only beside it."""
    generator = np.random.default_rng(0)
    rows = 600
    first, second = generator.integers(0, 2, (2, rows))
    flipped = generator.random(rows) < 0.05
    return pd.DataFrame(
        {
            "": first,
            "part": np.where(generator.random(rows) < 0.9, first, 0),
            "other": second,
            "y": np.where((first ^ (second & flipped)) == 1, "yes", "no"),
            "either": np.where((first ^ second ^ flipped) == 1, "yes", "no"),
        }
    )


def test_a_selection_names_it_as_step_and_as_reason(frame: pd.DataFrame) -> None:
    text = str(credimi.select(frame[["", "part", "y"]], "y"))
    assert f"1  {NO_NAME}" in text
    assert f"says what {NO_NAME} says" in text


def test_a_selection_names_it_as_partner_and_as_left_out(frame: pd.DataFrame) -> None:
    selection = credimi.select(frame[["", "other", "either"]], "either", rule="relevant")
    text = str(selection)
    steps = [line for line in text.splitlines() if line[:1].isdigit()]
    assert len(steps) == 2
    assert all(NO_NAME in line for line in steps)
    noise = str(credimi.select(frame[["", "other"]], "other"))
    assert any(line.startswith(NO_NAME) for line in noise.splitlines())


def test_interactions_name_it(frame: pd.DataFrame) -> None:
    text = str(credimi.interactions(frame[["", "other", "either"]], "either"))
    assert any(line.startswith(NO_NAME) and "synergy" in line for line in text.splitlines())


def test_a_tree_names_it_in_conditions_and_reasons(frame: pd.DataFrame) -> None:
    fitted = credimi.CredibleTreeClassifier().fit(frame[["", "part"]], frame["y"])
    lines = fitted.export_text().splitlines()
    assert f"by {NO_NAME}: tells" in lines[1]
    assert any(line.startswith(f"|-- {NO_NAME}: ") for line in lines[2:])
