"""Kernels that are loaded count smaller tables than those that have to be loaded first, with the same result."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest

import credimi
from credimi.columns.numbers.small_codes import encode_small
from credimi.compile import jit, warm_up
from credimi.compile.signatures import SIGNATURES, THAT_READ
from credimi.counts import tabulate

if TYPE_CHECKING:
    from pathlib import Path

ROWS = 3000


@pytest.fixture
def frame() -> pd.DataFrame:
    generator = np.random.default_rng(5)
    small = generator.integers(0, 4, ROWS)
    return pd.DataFrame(
        {
            "whole": small,
            "lacking": np.where(generator.random(ROWS) < 0.1, np.nan, small),
            "measured": generator.normal(size=ROWS) + small,
            "text": np.array(["a", "bc", "", "d"], dtype=object)[small],
            "target": generator.integers(0, 3, ROWS),
        }
    )


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """One for each time that a table is given to the kernels for small numbers."""
    found: list[bool] = []

    def noted(*arguments: object) -> object:
        found.append(True)
        return encode_small(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr("credimi.counts.batch.encode_small", noted)
    monkeypatch.setattr(tabulate, "CELLS_WORTH_CALLING", 1)
    return found


@pytest.mark.parametrize("form", ["frame", "array"])
def test_counts_are_the_same(
    frame: pd.DataFrame, calls: list[bool], monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    data = frame if form == "frame" else frame.drop(columns="text").to_numpy()
    target = "target" if form == "frame" else frame["target"].to_numpy()
    found = []
    for ready in (False, True):
        monkeypatch.setattr(tabulate, "kernels_are_ready", lambda ready=ready: ready)
        found.append(credimi.count(data, target))
        assert bool(calls) == ready
    assert found[0] == found[1]


def test_files_do_not_ask(
    frame: pd.DataFrame, calls: list[bool], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(tabulate, "kernels_are_ready", lambda: True)
    frame.to_parquet(tmp_path / "table.parquet")
    credimi.count(tmp_path / "table.parquet", "target")
    assert not calls


def test_kernels_that_are_not_loaded_are_not_ready(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "credimi.compile.jit")
    assert not tabulate.kernels_are_ready()


def test_kernels_that_would_be_compiled_are_not_ready(monkeypatch: pytest.MonkeyPatch) -> None:
    if jit.LIBRARY is not None:
        pytest.skip("nothing is compiled here")
    from credimi.compile.numba_jit import NumbaKernel  # noqa: PLC0415  (only where Numba compiles)

    lacking: list[str] = []
    monkeypatch.setattr(NumbaKernel, "is_compiled", lambda kernel, types: kernel.__name__ + types not in lacking)
    is_compiled = warm_up.is_compiled.__wrapped__
    assert is_compiled(*THAT_READ)
    name = "columns.numbers.small_codes_kernels.gather"
    lacking.append(name + SIGNATURES[name][-1])
    assert not is_compiled(*THAT_READ)
    assert is_compiled("columns.pair_counts.")
