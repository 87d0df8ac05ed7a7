"""With a scratch folder memory is bounded by a batch and a few bytes a row, not by the codes of all rows."""

from __future__ import annotations

import tracemalloc
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import credimi

if TYPE_CHECKING:
    from pathlib import Path

ROWS, COLUMNS = 400_000, 40


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sixteen million cells, in small row groups; the first columns tell something."""
    generator = np.random.default_rng(0)
    target = generator.integers(0, 2, ROWS, dtype=np.uint8)
    table = {f"x{number}": generator.integers(0, 3, ROWS, dtype=np.uint8) for number in range(COLUMNS)}
    for number in range(2):
        told = generator.random(ROWS) < 0.2 + 0.1 * number
        table[f"x{number}"] = np.where(told, target, table[f"x{number}"])
    found = tmp_path_factory.mktemp("scratch") / "data.parquet"
    pq.write_table(pa.table(table | {"y": target}), found, row_group_size=10_000, compression="none")
    return found


def most_memory(path: Path, scratch: Path | None, goal: str) -> tuple[float, credimi.Selection]:
    """The bytes a cell that numpy and Python hold at most; files that are mapped are not among them."""
    credimi.select(path, "y", rule=goal, scratch=scratch, threads=1)  # loads modules, and may compile
    tracemalloc.start()
    try:
        found = credimi.select(path, "y", rule=goal, scratch=scratch, threads=1)
        return tracemalloc.get_traced_memory()[1] / (ROWS * COLUMNS), found
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("goal", ["distinct", "relevant"])
def test_codes_are_not_held_in_memory(path: Path, tmp_path: Path, goal: str) -> None:
    held, found = most_memory(path, tmp_path, goal)
    assert found.features == ("x1", "x0")
    assert held < 0.8  # codes have a byte a cell, and sets of bits a quarter more


def test_what_is_told_of_both_passes_only_grows(path: Path, tmp_path: Path) -> None:
    told: list[float] = []

    def note(share: float, what: str) -> None:
        if what == "reading":
            told.append(share)

    credimi.select(path, "y", scratch=tmp_path, max_features=1, features=["x0", "x1"], progress=note)
    assert told == sorted(told)
    assert told[0] <= 0.5 < told[-1] == 1.0


def test_columns_that_are_much_better_than_others_need_no_large_numbers() -> None:
    """The chance of the worse of two to be the better one is 0, without a warning."""
    target = np.arange(2_000_000) % 2
    generator = np.random.default_rng(0)
    good = np.where(generator.random(target.size) < 0.95, target, 1 - target).astype(np.uint8)
    weak = np.where(generator.random(target.size) < 0.6, target, 1 - target).astype(np.uint8)
    chosen = credimi.select({"good": good, "weak": weak, "y": target.astype(np.uint8)}, "y", threads=1)
    assert chosen.features == ("good", "weak")
