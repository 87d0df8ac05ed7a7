"""What missing values tell is summarized without figures that nobody shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from credimi import count
from credimi.core.tables import Tables
from credimi.inference.belief import Belief
from credimi.inference.tables import many_tables
from credimi.inference.tables.many_tables import summarize
from credimi.questions.rank.missingness import missingness

if TYPE_CHECKING:
    from credimi.inference.tables.mixture_tails import Mixtures


def test_no_quantiles_without_the_atom(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.default_rng(2)
    cells = generator.integers(0, 3, (4, 200)).astype(object)
    cells[generator.random(cells.shape) < 0.2] = None
    data = {f"f{number}": row.tolist() for number, row in enumerate(cells)}
    features = count(data | {"class": generator.integers(0, 2, 200).tolist()}, "class").interpreted()
    asked: list[Mixtures] = []
    quantiles = many_tables.quantiles

    def watched(laws: Mixtures, *rest: float | None) -> np.ndarray:
        asked.append(laws)
        return quantiles(laws, *rest)

    monkeypatch.setattr(many_tables, "quantiles", watched)
    assert (missingness(features, Belief())["missing_high"] > 0.0).any()
    assert asked
    assert all((laws.p_zero > 0.0).all() for laws in asked)


@pytest.mark.parametrize("approximation", ["matched", "sampled"])
def test_the_other_figures_stay(approximation: str) -> None:
    blocks = Tables.of([np.array([[30.0, 20.0, 0.0], [25.0, 22.0, 0.0], [0.0, 0.0, 0.0]])])
    options = Belief(approximation=approximation)
    whole, fewer = summarize(blocks, options), summarize(blocks, options, if_dependent=False)
    for name in ("mean", "std", "low", "high", "p_above", "p_independent", "at_mode"):
        assert getattr(whole, name) == getattr(fewer, name)
    assert whole.high_if_dependent > whole.high
    assert np.isnan(fewer.high_if_dependent)
