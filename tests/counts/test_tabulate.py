"""Cross counts: every kernel, and numpy, count what `collections.Counter` counts."""

from __future__ import annotations

import threading
import time
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from credimi.columns import pair_counts
from credimi.compile import words
from credimi.core import threads
from credimi.core.errors import CredimiError
from credimi.core.threads import ahead, in_order
from credimi.counts import tabulate
from credimi.counts.tabulate import count_codes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Codes = NDArray[np.unsignedinteger]

ROWS = (0, 1, 63, 64, 65, 70_001)  # around a word of bits; beyond what a counter of 16 bits holds
CLASSES = (1, 2, 3, 4, 5, 8, 9, 20)  # around the lanes of the kernel of bits
VALUES = (1, 2, 4, 5, 8, 9, 16, 17, 60, 254, 255, 256, 300)


def counted(groups: Codes, group_count: int, codes: Codes, values: int) -> NDArray[np.int64]:
    """The oracle."""
    pairs = Counter(zip(groups.tolist(), codes.tolist(), strict=True))
    out = np.zeros((group_count, values + 1), dtype=np.int64)
    for (group, code), number in pairs.items():
        out[group, min(code, values)] += number
    return out


def drawn(rows: int, values: int, seed: int, *, missing: float = 0.2) -> Codes:
    """Codes of the smallest type, its largest value where a value is missing."""
    generator = np.random.default_rng(seed)
    kind = np.uint8 if values < 256 else np.uint16
    codes = generator.integers(0, values, rows).astype(kind)
    codes[generator.random(rows) < missing] = np.iinfo(kind).max
    return codes


def classes(rows: int, size: int, seed: int = 7, kind: type = np.uint8) -> Codes:
    return np.random.default_rng(seed).integers(0, size, rows).astype(kind)


def assert_counts(groups: Codes, size: int, columns: list[Codes], values: list[int], **options: object) -> None:
    found = count_codes(groups, size, columns, values, **options)
    assert len(found) == len(columns)
    for codes, width, (block,) in zip(columns, values, found, strict=True):
        assert block.dtype == np.int64
        np.testing.assert_array_equal(block, counted(groups, size, codes, width))


@pytest.mark.parametrize("compiled", [False, True], ids=["numpy", "compiled"])
@pytest.mark.parametrize("size", CLASSES)
@pytest.mark.parametrize("rows", ROWS[:-1])
def test_features_of_all_cardinalities_at_once(rows: int, size: int, *, compiled: bool) -> None:
    columns = [drawn(rows, values, seed) for seed, values in enumerate(VALUES)]
    assert_counts(classes(rows, size), size, columns, list(VALUES), compiled=compiled)


@pytest.mark.parametrize("compiled", [False, True], ids=["numpy", "compiled"])
@pytest.mark.parametrize("size", [1, 2, 5, 20])
def test_features_of_all_cardinalities_at_once_in_many_rows(size: int, *, compiled: bool) -> None:
    columns = [drawn(ROWS[-1], values, seed) for seed, values in enumerate(VALUES)]
    assert_counts(classes(ROWS[-1], size), size, columns, list(VALUES), compiled=compiled)


@pytest.mark.parametrize("size", CLASSES)
@pytest.mark.parametrize("values", VALUES)
@pytest.mark.parametrize("rows", ROWS[:-1])
def test_one_feature_alone(rows: int, values: int, size: int) -> None:
    assert_counts(classes(rows, size), size, [drawn(rows, values, 1)], [values])


@pytest.mark.parametrize("missing", [0.0, 1.0])
@pytest.mark.parametrize("compiled", [False, True], ids=["numpy", "compiled"])
@pytest.mark.parametrize("rows", [65, 1000])
def test_nothing_missing_and_all_missing(rows: int, missing: float, *, compiled: bool) -> None:
    columns = [drawn(rows, values, seed, missing=missing) for seed, values in enumerate(VALUES)]
    for size in (2, 20):
        assert_counts(classes(rows, size), size, columns, list(VALUES), compiled=compiled)


@pytest.mark.parametrize("compiled", [False, True], ids=["numpy", "compiled"])
@pytest.mark.parametrize("rows", [0, 64, 100])
@pytest.mark.parametrize("size", [2, 20])
def test_feature_without_a_single_value(rows: int, size: int, *, compiled: bool) -> None:
    nothing = np.full(rows, 255, dtype=np.uint8)
    assert_counts(classes(rows, size), size, [nothing, drawn(rows, 3, 1), nothing], [0, 3, 0], compiled=compiled)


@pytest.mark.parametrize("compiled", [False, True], ids=["numpy", "compiled"])
def test_any_code_beyond_the_values_is_missing(*, compiled: bool) -> None:
    """A column may carry codes of labels that were given up, all larger than those kept."""
    codes = np.arange(256, dtype=np.uint8).repeat(3)
    groups = classes(codes.size, 5)
    values = [1, 2, 6, 7, 31, 32, 100, 200, 255]
    assert_counts(groups, 5, [codes] * len(values), values, compiled=compiled)
    assert_counts(groups[:64] % 2, 2, [codes[:64]] * len(values), values, compiled=compiled)


@pytest.mark.parametrize("compiled", [False, True], ids=["numpy", "compiled"])
@pytest.mark.parametrize("size", [255, 256, 300, 1000])
def test_many_classes(size: int, *, compiled: bool) -> None:
    kind = np.uint8 if size <= 255 else np.uint32
    rows = 3000
    columns = [drawn(rows, values, seed) for seed, values in enumerate((2, 30, 255, 300))]
    wide = np.where(columns[3] < 300, columns[3], np.iinfo(np.uint32).max).astype(np.uint32)
    groups = classes(rows, size, kind=kind)
    assert_counts(groups, size, [*columns, wide], [2, 30, 255, 300, 300], compiled=compiled)


def test_group_that_no_row_is_in() -> None:
    for size in (3, 20):
        assert_counts(np.zeros(130, dtype=np.uint8), size, [drawn(130, 3, 1), drawn(130, 9, 2)], [3, 9])


@pytest.mark.parametrize("compiled", [False, True], ids=["numpy", "compiled"])
def test_no_features(*, compiled: bool) -> None:
    assert count_codes(classes(70, 3), 3, [], [], compiled=compiled) == []


@pytest.mark.parametrize("features", [1, 2, 3, 4, 5, 9])
@pytest.mark.parametrize("values", [9, 12, 40])
def test_joint_tables_of_every_number_of_features(features: int, values: int) -> None:
    """With 20 classes no feature goes by bits: 9 values fit two into one table, one of 40 stands alone."""
    for size, rows in ((20, 500), (9, 66_000)):
        columns = [drawn(rows, values + seed % 2, seed) for seed in range(features)]
        assert_counts(classes(rows, size), size, columns, [values + seed % 2 for seed in range(features)])


@pytest.mark.parametrize("rows", [65_535, 65_536, 65_537, 131_072, 140_000])
def test_counters_of_16_bits_do_not_overflow(rows: int) -> None:
    """All rows fall into one cell, at the numbers of rows where a counter would start again from 0."""
    groups, codes = np.full(rows, 9, dtype=np.uint8), np.full(rows, 2, dtype=np.uint8)
    for (block,) in count_codes(groups, 10, [codes] * 3, [5, 5, 5]):
        assert block[9, 2] == rows
        assert block.sum() == rows


@pytest.mark.parametrize("share", [0.3, 0.7, 0.95, 0.9999])
def test_counters_that_fill_slowly_do_not_overflow(share: float) -> None:
    """Most rows fall into one cell, whose counter is full long after the others, or long before."""
    rows = 500_000
    groups = np.where(np.random.default_rng(0).random(rows) < share, 3, classes(rows, 9)).astype(np.uint8)
    columns = [np.where(groups == 3, 2, drawn(rows, 7, seed)).astype(np.uint8) for seed in range(3)]
    assert_counts(groups, 9, columns, [7, 7, 7])


def test_wide_codes_do_not_overflow() -> None:
    rows = 66_000
    for (block,) in count_codes(np.full(rows, 1, np.uint8), 2, [np.full(rows, 299, np.uint16)], [300]):
        assert block[1, 299] == rows
        assert block.sum() == rows


@given(data=st.data())
@settings(max_examples=150, deadline=None)
def test_any_mixture_equals_the_oracle(data: st.DataObject) -> None:
    rows, size = data.draw(st.integers(0, 300)), data.draw(st.integers(1, 20))
    values = data.draw(st.lists(st.integers(0, 20) | st.integers(21, 300), max_size=8))
    seed = data.draw(st.integers(0, 1000))
    columns = [
        drawn(rows, width, seed + index) if width else np.full(rows, 255, dtype=np.uint8)
        for index, width in enumerate(values)
    ]
    groups = classes(rows, size, seed)
    assert_counts(groups, size, columns, values, compiled=data.draw(st.booleans()))


def test_columns_that_are_slices() -> None:
    """Arrow's buffers start anywhere: no kernel may want its rows aligned."""
    codes, groups = drawn(1000, 5, 1), classes(1000, 4)
    for start in (1, 3, 63):
        assert_counts(groups[start:], 4, [codes[start:], codes[start:]], [5, 5])
        assert_counts(groups[start:], 20, [codes[start:], codes[start:]], [5, 5])


def test_columns_that_may_be_written_among_others_that_may_not() -> None:
    """As codes are that Arrow holds, beside those that were made here."""
    rows = 5_000
    for features in (3, 4):
        columns = [drawn(rows, 9, seed) for seed in range(features)]
        columns[1].flags.writeable = False
        assert_counts(classes(rows, 9), 9, columns, [9] * features)
        matrix = np.ascontiguousarray(np.stack(columns, axis=1))
        assert_counts(classes(rows, 9), 9, list(matrix.T), [9] * features)


@pytest.mark.parametrize("workers", [1, 2, None])
def test_number_of_threads_changes_nothing(workers: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tabulate, "_CELLS_WORTH_A_THREAD", 0)
    for size in (2, 5, 20):
        rows = 5000
        columns = [drawn(rows, values, seed) for seed, values in enumerate(VALUES * 3)]
        assert_counts(classes(rows, size), size, columns, list(VALUES * 3), threads=workers)


def test_callers_at_once_do_not_disturb_each_other() -> None:
    failures: list[BaseException] = []

    def call(seed: int) -> None:
        try:
            columns = [drawn(2000, values, seed + index) for index, values in enumerate(VALUES)]
            assert_counts(classes(2000, 5, seed), 5, columns, list(VALUES))
        except BaseException as error:  # noqa: BLE001  (told to the test, below)
            failures.append(error)

    callers = [threading.Thread(target=call, args=(seed,)) for seed in range(4)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert not failures


# The kernels themselves: they add to what is there


def test_kernel_of_cells_adds() -> None:
    out = np.full((3, 5), 10, dtype=np.int64)
    codes, groups = drawn(500, 4, 1), classes(500, 3)
    pair_counts.count_cells(codes, groups, out)
    np.testing.assert_array_equal(out - 10, counted(groups, 3, codes, 4))


@pytest.mark.parametrize("lanes", pair_counts.LANES)
@pytest.mark.parametrize("rows", [0, 63, 64, 65, 20_000])
@pytest.mark.parametrize("values", range(1, pair_counts.FEW_VALUES + 1))
def test_kernel_of_bits(lanes: int, rows: int, values: int) -> None:
    codes, groups = drawn(rows, values, 1), classes(rows, lanes)
    bits = np.empty((rows // words.WORD, lanes), dtype=np.uint64)
    pair_counts.group_bits(groups, bits)
    totals = np.bincount(groups, minlength=lanes).astype(np.int64)
    out = np.zeros((lanes, values + 1), dtype=np.int64)
    for times in (1, 2):
        pair_counts.count_bits(codes, groups, bits, totals, out, (0,) * lanes)
        np.testing.assert_array_equal(out, times * counted(groups, lanes, codes, values))


@pytest.mark.parametrize("features", [1, 2, 3, 4])
@pytest.mark.parametrize("rows", [0, 1, 63, 64, 65, 128, 16_385, 70_001])
@pytest.mark.parametrize("first", [0, 1, 40])
def test_kernel_of_joint_tables(features: int, rows: int, first: int) -> None:
    """From the first row on or from a later one, which is how codes come that do not start with a line of cache."""
    values = (3, 4, 5, 6)[:features]
    columns, groups = [drawn(first + rows, width, width)[first:] for width in values], classes(rows, 7)
    sizes = np.ones(4, dtype=np.int64)
    sizes[:features] = [width + 1 for width in values]
    padded = columns + [columns[0]] * (4 - features)
    out = np.zeros((4, 7 * int(sizes.max())), dtype=np.int64)
    pair_counts.count_joint(groups, *padded, features, sizes, out)
    for found, codes, width in zip(out, columns, values, strict=False):
        expected = counted(groups, 7, codes, width)
        np.testing.assert_array_equal(found[: expected.size].reshape(expected.shape), expected)


# Sharing among threads


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_every_part_is_done_once(workers: int) -> None:
    done: list[int] = []
    threads.share(done.append, range(100), workers)
    assert sorted(done) == list(range(100))


@pytest.mark.parametrize("workers", [1, 2])
def test_first_error_is_raised_and_ends_the_work(workers: int) -> None:
    done: list[int] = []

    def work(part: int) -> None:
        done.append(part)
        if part == 3:
            raise KeyError(part)

    with pytest.raises(KeyError):
        threads.share(work, range(10_000), workers)
    assert len(done) < 10_000


def test_nothing_to_share() -> None:
    threads.share(lambda _: pytest.fail("called"), [], 2)


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_results_come_in_order_whoever_is_first(workers: int) -> None:
    def slowly(number: int) -> int:
        time.sleep(0.01 * (number % 3 == 0))
        return number**2

    assert list(in_order(slowly, range(30), workers)) == [number**2 for number in range(30)]
    assert list(in_order(slowly, [], workers)) == []


@pytest.mark.parametrize("workers", [1, 3])
def test_no_more_is_made_in_advance_than_was_said(workers: int) -> None:
    taken: list[int] = []
    results = in_order(lambda number: number, (taken.append(number) or number for number in range(100)), workers)
    assert next(results) == 0
    assert len(taken) <= workers + 1
    results.close()
    assert len(taken) <= workers + 1
    made: list[int] = []
    items = ahead((made.append(number) or number for number in range(100)), workers)
    assert next(items) == 0
    time.sleep(0.05)
    assert len(made) <= workers + 1
    assert list(items) == list(range(1, 100))


def test_error_comes_where_its_item_would() -> None:
    def broken(number: int) -> int:
        if number == 3:
            raise CredimiError("three")
        return number

    for results in (in_order(broken, range(10), 2), ahead(broken(number) for number in range(10))):
        assert [next(results) for _ in range(3)] == [0, 1, 2]
        with pytest.raises(CredimiError, match="three"):
            next(results)


def test_at_least_one_thread_works() -> None:
    for asked in (0, -3):
        with pytest.raises(CredimiError, match="a whole number from 1 up"):
            threads.cores(asked)
    assert threads.cores(3) == 3
    assert threads.cores() >= 1
