"""Components of a mixture that weigh little get few draws, and the mixture stays what it is."""

from __future__ import annotations

import numpy as np
import pytest

from credimi.core.table import Table
from credimi.core.tables import Tables
from credimi.inference.evidence import adaptive_prior
from credimi.inference.moments import tables_without_closed_form as hard_tables
from credimi.inference.sampling import draw_information

BLOCK = np.array(
    [[8, 6, 5, 9, 25], [480, 500, 495, 510, 3000], [0, 0, 0, 0, 0]], dtype=float
)  # a rare class, mostly not measured


def test_the_draws_of_all_components_are_few(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = []

    def noted(table: Table, pseudo: float, size: int, *arguments: object, **options: int) -> object:
        sizes.append(size)
        return draw_information(table, pseudo, size, *arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(hard_tables, "draw_information", noted)
    adaptive_prior.components(Tables.of([BLOCK]))
    assert len(sizes) > 1
    assert sum(sizes) <= 16_000 + len(sizes) * 640  # twice those of one table, and the fewest of each


@pytest.mark.long
def test_the_mixture_follows_many_draws_of_its_components() -> None:
    """P(I <= x) of the mixture against a hundred thousand draws of each component, none of them shared."""
    blocks = Tables.of([BLOCK])
    mixture = adaptive_prior.mixtures(blocks)
    found = adaptive_prior.components(blocks)
    points, upper = np.linspace(0.0005, 0.05, 25), np.log(2.0)
    expected = np.zeros(points.size)
    for number, weight in enumerate(mixture.weight):
        table = Table.of_block(mixture.blocks.block(number))
        draws = draw_information(table, 0.0, 100_000, np.random.default_rng(17), chains=1, burn_in=0, thin=1)
        expected += weight * (draws.information[:, np.newaxis] <= points).mean(axis=0)
    mean, variance = found.mean / upper, found.variance / upper**2
    size = mean * (1.0 - mean) / variance - 1.0
    scipy_stats = pytest.importorskip("scipy.stats")
    told = scipy_stats.beta.cdf(points[:, np.newaxis] / upper, mean * size, (1.0 - mean) * size) @ found.weight
    assert np.abs(told - expected).max() < 0.01 * mixture.weight.sum() + 0.002
