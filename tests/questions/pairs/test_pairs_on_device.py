"""Figures of pairs from blocks of products: those of the tables summarized at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from numpy_device import NumpyDevice

from credimi.counts.rows.pair_tables import PairCounter
from credimi.inference.belief import Belief
from credimi.inference.tables.pair_figures import figures_of
from credimi.questions.pairs.gpu.pair_products import PairProducts
from credimi.questions.pairs.gpu.pairs_on_device import FIGURES, all_pairs, best_pairs

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from credimi.inference.tables.pair_figures import PairFigures

    Columns = tuple[list[NDArray[np.uint8]], list[int]]
    Expected = tuple[NDArray[np.int64], NDArray[np.int64], PairFigures]

OPTIONS = Belief(threads=1)


@pytest.fixture(scope="module")
def columns() -> Columns:
    rng = np.random.default_rng(4)
    hidden = rng.integers(0, 3, 400)
    codes, values = [], []
    for column in range(11):
        size = 2 + column % 3
        own = np.where(rng.random(400) < 0.1 * column, hidden % size, rng.integers(0, size, 400))
        own[rng.random(400) < (0.15 if column % 2 else 0.0)] = size
        codes.append(own.astype(np.uint8))
        values.append(size)
    return codes, values


@pytest.fixture(scope="module")
def expected(columns: Columns) -> Expected:
    counter = PairCounter(*columns)
    return *counter.pairs(), figures_of(counter.tables(), OPTIONS)


@pytest.mark.parametrize("memory", [1 << 28, 60_000])
def test_all_pairs_have_the_figures_of_their_tables(columns: Columns, expected: Expected, memory: int) -> None:
    shares: list[float] = []
    found = all_pairs(PairProducts(*columns, NumpyDevice(memory)), OPTIONS, FIGURES, progress=shares.append)
    for name in FIGURES:
        np.testing.assert_allclose(found[name], getattr(expected[2], name), rtol=1e-12, err_msg=name)
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    assert (len(shares) > 1) == (memory < 1 << 28)


class NarrowDevice(NumpyDevice):
    """Refuses products of more than 64 x 64 cells, as a GPU without memory would."""

    def multiply(self, first: NDArray[np.int8], second: NDArray[np.int8], common: NDArray[np.int32]) -> None:
        if common.size > 64 * 64:
            raise MemoryError
        super().multiply(first, second, common)


def test_figures_find_their_places_if_blocks_had_to_be_cut(columns: Columns) -> None:
    codes, values = columns[0] * 4, columns[1] * 4  # 44 columns, of which about 25 fit
    expected = all_pairs(PairProducts(codes, values, NumpyDevice()), OPTIONS)
    found = all_pairs(PairProducts(codes, values, NarrowDevice()), OPTIONS)
    for name in FIGURES:
        np.testing.assert_array_equal(found[name], expected[name], err_msg=name)


def test_only_the_figures_that_are_asked_for_come_back(columns: Columns) -> None:
    found = all_pairs(PairProducts(*columns, NumpyDevice()), OPTIONS, ("mi", "high"))
    assert list(found) == ["mi", "high"]


def test_figures_can_go_to_a_file(columns: Columns, expected: Expected, tmp_path: Path) -> None:
    size = expected[0].size
    file = np.lib.format.open_memmap(tmp_path / "mi.npy", mode="w+", dtype=np.float64, shape=(size,))
    all_pairs(PairProducts(*columns, NumpyDevice(6_000)), OPTIONS, ("mi",), out={"mi": file})
    file.flush()
    np.testing.assert_allclose(np.load(tmp_path / "mi.npy"), expected[2].mi, rtol=1e-12)


@pytest.mark.parametrize("memory", [1 << 28, 60_000])
@pytest.mark.parametrize(("top", "least"), [(7, None), (None, 0.7), (5, 0.7), (1000, None)])
def test_best_pairs_are_those_of_all(
    columns: Columns, expected: Expected, memory: int, top: int | None, least: float | None
) -> None:
    one, other, whole = expected
    found = best_pairs(PairProducts(*columns, NumpyDevice(memory)), OPTIONS, top=top, p_dependent=least)
    order = np.lexsort([other, one, -whole.mi])
    if least is not None:
        order = order[1.0 - whole.p_independent[order] >= least]
    order = order[:top]
    np.testing.assert_array_equal(found.one, one[order])
    np.testing.assert_array_equal(found.other, other[order])
    for name in FIGURES:
        np.testing.assert_allclose(found.figures[name], getattr(whole, name)[order], rtol=1e-12, err_msg=name)
    assert found.odds.counts.sum() == one.size
