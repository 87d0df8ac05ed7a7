"""Counts of pairs by products of one-hot blocks: equal to those of each pair, however small the blocks are."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING

import numpy as np
import pytest
from numpy_device import NumpyDevice

from credimi import CredimiError
from credimi.counts.rows.pair_tables import PairCounter
from credimi.questions.pairs.gpu.pair_products import PairProducts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from credimi.questions.pairs.gpu.pair_products import PairBlock

    Codes = list[NDArray[np.uint8]]


def some_columns(rows: int, values: list[int], missing: list[float], seed: int = 1) -> tuple[Codes, list[int]]:
    rng = np.random.default_rng(seed)
    codes = []
    for size, share in zip(values, missing, strict=True):
        own = rng.integers(0, size, rows)
        own[rng.random(rows) < share] = size
        codes.append(own.astype(np.uint8))
    return codes, values


def tables_of(products: PairProducts) -> dict[tuple[int, int], NDArray[np.number]]:
    """The block of every pair, by its columns."""

    def work(block: PairBlock) -> list[tuple[tuple[int, int], NDArray[np.number]]]:
        numbers = block.numbers()
        one, other = block.columns(numbers)
        tables = block.tables(numbers)
        return [((a, b), tables.block(k)) for k, (a, b) in enumerate(zip(one.tolist(), other.tolist(), strict=True))]

    pairs = [pair for part in products.map(work) for pair in part]
    assert len(pairs) == len(products) == len(dict(pairs)), "each pair once"
    return dict(pairs)


class NarrowDevice(NumpyDevice):
    """Refuses products of more than so many cells, as a GPU without memory would."""

    def __init__(self, most_cells: int) -> None:
        super().__init__()
        self.most, self.refused = most_cells, 0

    def multiply(self, first: NDArray[np.int8], second: NDArray[np.int8], product: NDArray[np.int32]) -> None:
        if product.size > self.most:
            self.refused += 1
            raise MemoryError
        super().multiply(first, second, product)


def check(codes: Codes, values: list[int], device: NumpyDevice) -> None:
    counter = PairCounter(codes, values)
    one, other = counter.pairs()
    expected, found = counter.tables(), tables_of(PairProducts(codes, values, device))
    for k, pair in enumerate(zip(one.tolist(), other.tolist(), strict=True)):
        np.testing.assert_array_equal(found[pair], expected.block(k))


@pytest.mark.parametrize("memory", [1 << 28, 20_000, 3_000])
def test_counts_are_those_of_each_pair_however_little_memory_there_is(memory: int) -> None:
    values = [3, 2, 7, 3, 2, 5, 3, 12, 2]
    missing = [0.0, 0.2, 0.1, 0.0, 0.0, 0.5, 0.3, 0.0, 1.0]
    check(*some_columns(700, values, missing), NumpyDevice(memory))


def test_blocks_become_smaller_when_memory_does_not_suffice() -> None:
    codes, values = some_columns(300, [3] * 61, [0.0, 0.1] * 30 + [0.0])
    device = NarrowDevice(64 * 64)  # of 61 columns with 153 one-hot rows about 25 fit
    check(codes, values, device)
    assert 0 < device.refused < 20


class CrowdedDevice(NumpyDevice):
    """Has room for four one-hot matrices at a time."""

    def one_hot(self, codes: NDArray[np.uint8], rows: slice, kept: NDArray[np.int32]) -> NDArray[np.int8]:
        self.alive = [each for each in getattr(self, "alive", []) if each() is not None]
        if len(self.alive) == 4:
            raise MemoryError
        found = super().one_hot(codes, rows, kept)
        self.alive.append(weakref.ref(found))
        return found


def test_one_hot_matrices_are_forgotten_before_blocks_are_cut() -> None:
    codes, values = some_columns(300, [3] * 61, [0.0, 0.1] * 30 + [0.0])
    sizes = [
        [*PairProducts(codes, values, device).map(lambda block: block.size)]
        for device in (NumpyDevice(150_000), CrowdedDevice(150_000))
    ]
    assert sizes[0] == sizes[1]
    assert len(sizes[0]) > 6, "more blocks of columns than fit"


@pytest.mark.parametrize("most_cells", [1 << 20, 64 * 128, 64 * 64])
def test_pairs_come_in_order_as_far_as_memory_allows(most_cells: int) -> None:
    codes, values = some_columns(300, [3] * 61, [0.0, 0.1] * 30 + [0.0])
    products = PairProducts(codes, values, NarrowDevice(most_cells))
    blocks = [*products.map(lambda block: block.columns(block.numbers()), in_order=True)]
    one, other = (np.concatenate(each) for each in zip(*blocks, strict=True))
    expected = PairCounter(codes, values).pairs()
    order = np.lexsort([other, one])
    np.testing.assert_array_equal([one[order], other[order]], expected)
    assert most_cells < 1 << 20 or np.array_equal([one, other], expected)


def test_one_pair_that_does_not_fit_is_refused() -> None:
    codes, values = some_columns(100, [3, 3], [0.0, 0.0])
    with pytest.raises(CredimiError, match=r"too little memory.*device='cpu'"):
        tables_of(PairProducts(codes, values, NarrowDevice(1)))


def test_a_column_without_any_value_and_one_of_one_value_are_counted() -> None:
    codes = [np.full(10, 2, dtype=np.uint8), np.zeros(10, dtype=np.uint8), (np.arange(10) % 3).astype(np.uint8)]
    check(codes, [2, 1, 3], NumpyDevice())


def test_columns_of_more_values_than_a_byte_holds_are_refused() -> None:
    codes = [np.zeros(10, dtype=np.uint16), np.zeros(10, dtype=np.uint8)]
    with pytest.raises(CredimiError, match="column number 1 has 300 values"):
        PairProducts(codes, [300, 2], NumpyDevice())
