"""On a GPU: counts equal those of the CPU, figures to a stated tolerance, and little memory is enough."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from gpu_helpers import assert_near, random_columns

import credimi
from credimi.counts.rows.pair_tables import PairCounter
from credimi.inference.belief import Belief
from credimi.inference.tables.pair_figures import figures_of
from credimi.questions.interactions import interaction_search
from credimi.questions.pairs.gpu.pair_products import PairProducts
from credimi.questions.pairs.gpu.pairs_on_device import all_pairs, best_pairs, find_gpu

if TYPE_CHECKING:
    from credimi.questions.pairs.gpu.cupy_device import CupyDevice
    from credimi.questions.pairs.gpu.pair_products import PairBlock

pytestmark = pytest.mark.gpu

OPTIONS = Belief()
CASES = {
    "complete": (20_000, [3] * 40, [0.0] * 40),
    "missing": (20_000, [3, 2] * 20, [0.1] * 40),
    "mixed": (3_000, [2, 3, 4, 5, 6, 8, 10, 12, 13, 40] * 3, [0.0, 0.1, 0.3, 0.0, 0.5] * 6),
    "few rows": (50, [3, 2, 4] * 10, [0.0, 0.2, 0.1] * 10),
    "many rows": (300_001, [3, 4] * 5, [0.0, 0.1] * 5),
    "hardly any": (5_000, [3, 4, 2] * 8, [0.5, 0.9, 0.2] * 8),
}


@pytest.fixture(scope="module")
def device() -> CupyDevice:
    return find_gpu()


@pytest.fixture(params=list(CASES))
def case(request: pytest.FixtureRequest) -> tuple[list[np.ndarray], list[int]]:
    rows, values, missing = CASES[request.param]
    return random_columns(rows, values, missing), values


def test_counts_are_equal(device: CupyDevice, case: tuple[list[np.ndarray], list[int]]) -> None:
    expected = PairCounter(*case).tables()
    (found,) = PairProducts(*case, device).map(lambda block: block.tables(block.numbers()))
    np.testing.assert_array_equal(found.flat, expected.flat)


def test_figures_are_near(device: CupyDevice, case: tuple[list[np.ndarray], list[int]]) -> None:
    assert_near(all_pairs(PairProducts(*case, device), OPTIONS), figures_of(PairCounter(*case).tables(), OPTIONS))


def test_best_pairs_are_those_of_all(device: CupyDevice, case: tuple[list[np.ndarray], list[int]]) -> None:
    whole = all_pairs(PairProducts(*case, device), OPTIONS)
    best = best_pairs(PairProducts(*case, device), OPTIONS, top=20)
    order = np.argsort(-whole["mi"], kind="stable")[:20]
    for name, values in best.figures.items():
        np.testing.assert_array_equal(values, whole[name][order], err_msg=name)


def test_little_memory_is_enough(device: CupyDevice) -> None:
    codes, values = random_columns(100_000, [3] * 300, [0.0, 0.1] * 150), [3] * 300
    expected = all_pairs(PairProducts(codes, values, device), OPTIONS)
    pool = device.xp.get_default_memory_pool()
    pool.free_all_blocks()
    pool.set_limit(size=pool.used_bytes() + (64 << 20))
    try:
        blocks: list[int] = []

        def work(block: PairBlock) -> None:
            blocks.append(block.size)

        products = PairProducts(codes, values, device)
        list(products.map(work))
        found = all_pairs(products, OPTIONS)
    finally:
        pool.set_limit(size=0)
    assert len(blocks) > 1
    for name, figures in expected.items():
        np.testing.assert_array_equal(found[name], figures, err_msg=name)


def test_pairs_of_data_are_those_of_the_other_engine() -> None:
    codes = random_columns(5_000, [2, 3, 4, 5] * 5, [0.0, 0.2] * 10)
    data = {f"c{number}": [None if v == 2 + number % 4 else f"v{v}" for v in own] for number, own in enumerate(codes)}
    on_gpu, on_cpu = credimi.pairs(data, device="gpu"), credimi.pairs(data)
    assert [(row["a"], row["b"]) for row in on_gpu[:20]] == [(row["a"], row["b"]) for row in on_cpu[:20]]
    np.testing.assert_allclose(on_gpu.figures.mi, on_cpu.figures.mi, rtol=0.0, atol=1e-11)
    assert on_gpu.independent == pytest.approx(on_cpu.independent, rel=1e-7)


@pytest.mark.parametrize("share", [0.0, 0.1])
def test_interactions_are_those_of_the_other_engine(monkeypatch: pytest.MonkeyPatch, share: float) -> None:
    monkeypatch.setattr(interaction_search, "_ALL", 10)  # so that there is a first look
    codes = random_columns(5_000, [2, 3, 4] * 10, [share] * 30)
    data = {f"c{number}": [None if v == 2 + number % 3 else f"v{v}" for v in own] for number, own in enumerate(codes)}
    data["y"] = [f"y{(a + b) % 2}" for a, b in zip(codes[0].tolist(), codes[3].tolist(), strict=True)]
    on_gpu, on_cpu = (credimi.interactions(data, "y", top=30, engine=engine) for engine in ("gpu", "cpu"))
    assert on_gpu.to_dict() == on_cpu.to_dict()
