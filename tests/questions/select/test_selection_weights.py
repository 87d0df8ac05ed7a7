"""What `select` says of weights: that survey weights were scaled, or that whole ones look like survey weights."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import credimi

if TYPE_CHECKING:
    from pathlib import Path


def data(weights: np.ndarray) -> dict[str, np.ndarray]:
    """A column that tells about y, and these weights."""
    generator = np.random.default_rng(1)
    target = generator.integers(0, 2, weights.size)
    told = np.where(generator.random(weights.size) < 0.8, target, 1 - target)
    return {"y": target, "x": told, "other": generator.integers(0, 3, weights.size), "w": weights}


LARGE = np.random.default_rng(0).integers(50, 900, 400)
KINDS = [
    (LARGE, None, ["weights_large"]),
    (LARGE, "rows", []),
    (LARGE, "survey", ["weights_scaled"]),
    (LARGE / 7.0, None, ["weights_scaled"]),
    (LARGE % 3 + 1, None, []),
]


@pytest.mark.parametrize("goal", ["distinct", "relevant"])
@pytest.mark.parametrize(("weights", "kind", "expected"), KINDS)
def test_a_selection_says_what_was_done_with_weights(
    goal: str, weights: np.ndarray, kind: str | None, expected: list[str]
) -> None:
    selection = credimi.select(data(weights), "y", rule=goal, weights="w", weights_are=kind)
    found = [remark for remark in selection.remarks if remark.kind.startswith("weights")]
    assert [remark.kind for remark in found] == expected
    if expected:
        rows = weights.sum() if expected == ["weights_large"] else weights.sum() ** 2 / (weights @ weights)
        assert found[0].rows == round(float(rows))
        assert f"{round(float(rows)):,} " in " ".join(str(selection).split()).split("weights are")[1]


def test_codes_in_a_file_make_the_same_remark(tmp_path: Path) -> None:
    for weights, kind, expected in KINDS:
        selection = credimi.select(data(weights), "y", weights="w", weights_are=kind, scratch=tmp_path)
        assert [remark.kind for remark in selection.remarks if remark.kind.startswith("weights")] == expected


def test_without_weights_nothing_is_said_of_them() -> None:
    selection = credimi.select(data(LARGE), "y", exclude=["w"])
    assert not [remark for remark in selection.remarks if remark.kind.startswith("weights")]
