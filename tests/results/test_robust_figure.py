"""The figure of a robust ranking."""

from __future__ import annotations

import math

import pytest

import credimi

pytest.importorskip("matplotlib")

TABLE = {
    "y": ["p", "q"] * 100,
    "x": [None if row % 5 == 0 else "ab"[row % 2 if row % 3 else 0] for row in range(200)],
    "full": ["cd"[row % 2 if row % 7 else 0] for row in range(200)],
    "empty": [None] * 200,
}


@pytest.mark.parametrize("factor", [2.0, math.inf])
def test_bands_show_what_is_possible_at_the_factor(factor: float) -> None:
    ranking = credimi.rank(TABLE, "y", robust_factor=factor)
    axes = ranking.plot()
    wide = [line for line in axes.lines if line.get_linewidth() > 5]
    drawn = sorted(tuple(line.get_xdata()) for line in wide)
    shown = [row for row in ranking if not math.isnan(row["mi"])]
    assert drawn == sorted((row["robust_low"], row["robust_high"]) for row in shown)
    assert axes.get_xlim()[0] <= 0.0
    assert axes.get_xlim()[1] >= max(row["robust_high"] for row in shown)
    assert f"possible at factor {factor:g}" in [text.get_text() for text in axes.get_legend().get_texts()]


def test_a_plain_ranking_has_no_bands() -> None:
    axes = credimi.rank(TABLE, "y").plot()
    assert all(line.get_linewidth() < 5 for line in axes.lines)
    assert not any("factor" in text.get_text() for text in axes.get_legend().get_texts())
