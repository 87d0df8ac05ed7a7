"""`interactions` with device="gpu", where numpy stands in for the GPU: the same pairs, whatever the blocks are."""

from __future__ import annotations

import numpy as np
import pytest
from numpy_device import NumpyDevice

import credimi
from credimi import CredimiError
from credimi.questions.interactions import interaction_search
from credimi.questions.pairs.gpu import pairs_on_device


def table(rows: int, columns: int, missing: float) -> dict[str, list[object]]:
    """Columns of 2 to 4 values and a target of 3 classes; the first two interact, the next two are copies, nearly."""
    rng = np.random.default_rng(3)
    codes = [rng.integers(0, 2 + column % 3, rows) for column in range(columns)]
    codes[3] = np.where(rng.random(rows) < 0.05, codes[3], codes[2] % 2)
    target = (codes[0] + codes[1]) % 2 + (rng.random(rows) < 0.3 + 0.3 * (codes[2] % 2))
    data: dict[str, list[object]] = {"y": [f"y{value}" for value in target.tolist()]}
    for column, own in enumerate(codes):
        seen = rng.random(rows) >= (missing if column % 2 else 0.0)
        data[f"c{column}"] = [f"v{v}" if there else None for v, there in zip(own.tolist(), seen, strict=True)]
    return data


@pytest.fixture
def _stand_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairs_on_device, "find_gpu", lambda: NumpyDevice(200_000))
    monkeypatch.setattr(interaction_search, "_ALL", 10)  # so that there is a first look


@pytest.mark.usefixtures("_stand_in")
@pytest.mark.parametrize(("rows", "missing"), [(1_500, 0.0), (1_500, 0.2), (150, 0.1)])
def test_engines_find_the_same_pairs(rows: int, missing: float) -> None:
    data = table(rows, 14, missing)
    shares: list[float] = []
    on_cpu = credimi.interactions(data, "y", top=20)
    on_gpu = credimi.interactions(data, "y", top=20, device="gpu", progress=lambda share, _: shares.append(share))
    assert on_gpu.to_dict() == on_cpu.to_dict()
    assert on_cpu["c0", "c1"]["verdict"] == "synergy" or rows < 1_000
    assert shares[-1] == 1.0


@pytest.mark.usefixtures("_stand_in")
def test_rows_with_weights_are_refused() -> None:
    data = table(200, 6, 0.0) | {"w": [1.0, 2.0] * 100}
    with pytest.raises(CredimiError, match="counts rows, not weights"):
        credimi.interactions(data, "y", device="gpu", weights="w")


def test_unknown_engines_are_refused() -> None:
    with pytest.raises(CredimiError, match="device is 'fpga'"):
        credimi.interactions({"x": ["a"], "y": ["b"]}, "y", device="fpga")
