"""Columns of many numbers, counted by sorting: the same labels, counts and cuts as by way of codes."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import credimi
from credimi.columns import labels
from credimi.columns.numbers import discretize, sorted_numbers
from credimi.columns.numbers.sorted_numbers import SortBuffers, count_sorted, many_numbers
from credimi.counts import batch, counts

ROWS = 3_000


def columns(rows: int = ROWS) -> dict[str, np.ndarray]:
    """Numbers of all kinds, some of them missing."""
    generator = np.random.default_rng(3)
    normal = generator.normal(size=rows)
    holes = np.where(generator.random(rows) < 0.2, np.nan, normal)
    edges = normal.copy()
    edges[:12] = [-0.0, 0.0, np.inf, -np.inf, 5e-324, -5e-324, 1e308, -1e308, np.nan, 0.0, -0.0, np.inf]
    return {
        "normal": normal,
        "holes": holes,
        "edges": edges,
        "tied": np.round(normal, 2),
        "tiny": normal * 1e-310,
        "around zero": generator.integers(-(10**9), 10**9, rows) * 5e-324,
        "single": normal.astype(np.float32),
        "half": normal.astype(np.float16),
        "whole": generator.integers(-(2**40), 2**40, rows),
        "bytes": generator.integers(0, 200, rows).astype(np.uint8),
        "swapped": normal.astype(">f8"),
        "reversed": normal[::-1],
        "every other": np.repeat(normal, 2)[::2],
        "missing": np.full(rows, np.nan),
        "one value": np.where(generator.random(rows) < 0.5, 7.5, np.nan),
    }


def expected(values: np.ndarray, groups: np.ndarray, height: int, most: int) -> tuple[labels.Labels, np.ndarray]:
    numbers = values.astype(np.float64)
    there = ~np.isnan(numbers)
    own, places = labels.of_numbers(numbers[there], max_labels=most)
    block = np.zeros((height, len(own) + 1), dtype=np.int64)
    np.add.at(block, (groups[there], places), 1)
    np.add.at(block, (groups[~there], len(own)), 1)
    return own, block


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("most", [2, 100, 1_500, 2_999, 3_000])
@pytest.mark.parametrize("classes", [2, 300])
def test_labels_and_counts_are_those_of_codes(threads: int, most: int, classes: int) -> None:
    table = columns()
    groups = np.random.default_rng(4).integers(0, classes, ROWS).astype(np.uint32 if classes > 255 else np.uint8)
    for values in table.values():
        values.flags.writeable = False
    found = count_sorted(table, list(table), groups, classes, max_labels=most, threads=threads)
    for name, values in table.items():
        own, block = expected(values, groups, classes, most)
        assert found[name][0] == own, name
        assert not np.signbit(found[name][0].numbers[found[name][0].numbers == 0]).any()
        np.testing.assert_array_equal(found[name][1], block, name)


def test_half_of_the_bits_is_not_enough_for_neighbours() -> None:
    """Numbers that differ in their last bits alone, and more of them than labels."""
    values = 1.0 + np.random.default_rng(0).permutation(ROWS) * 2.0**-52
    groups = np.zeros(ROWS, dtype=np.uint8)
    for most in (10, 1_000, 2_000):
        own, block = expected(values, groups, 1, most)
        found = count_sorted({"x": values}, ["x"], groups, 1, max_labels=most)["x"]
        assert found[0] == own
        np.testing.assert_array_equal(found[1], block)


def test_whole_numbers_beyond_doubles_are_left_to_others() -> None:
    table = {"large": np.arange(ROWS) + 2**53, "arrow": pa.array(np.arange(ROWS) + 2**53)}
    assert many_numbers(table, list(table)) == ["large", "arrow"]
    assert not count_sorted(table, list(table), np.zeros(ROWS, dtype=np.uint8), 1, max_labels=10)


def test_which_columns_are_many_numbers() -> None:
    table = columns() | {"text": np.array(["a"] * ROWS), "arrow": pa.array(np.arange(float(ROWS)))}
    table |= {"nulls": pa.array([None] * ROWS, pa.float64()), "few": np.arange(100.0)}
    found = many_numbers(table, list(table))
    assert {"normal", "holes", "single", "whole", "swapped", "reversed", "arrow"} <= set(found)
    assert not {"text", "nulls", "few", "missing", "one value", "bytes"} & set(found)


@pytest.mark.parametrize("number", [0, 1, 2, 5_000])
def test_sorting(number: int) -> None:
    values = np.random.default_rng(1).normal(size=number) * 10.0 ** np.random.default_rng(2).integers(-300, 300, number)
    classes = (np.arange(number) % 7).astype(np.uint16)
    buffers = SortBuffers(number)
    assert buffers.sort(values, classes, 0, np.zeros(7, dtype=np.int64)) == number
    np.testing.assert_array_equal(buffers.numbers(number), np.sort(values))
    np.testing.assert_array_equal(buffers.labels[0], classes[np.argsort(values)])


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_counts_and_cuts_are_the_same_by_codes_and_by_sorting(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    table = columns()
    del table["half"]  # which pandas and numpy print alike, and Arrow does not take
    target = np.random.default_rng(6).integers(0, 3, ROWS)
    table["informs"] = table["normal"] + target
    table["rounded"] = np.round(table["informs"], 1)
    expected = credimi.count(table, target, threads=threads)
    before = expected.interpreted()
    monkeypatch.setattr(sorted_numbers, "CELLS_WORTH_COMPILING", 1)
    monkeypatch.setattr(counts, "_CELLS_WORTH_COMPILING", 1)
    seen = []

    def watched(*given: object, **named: object) -> object:
        seen.extend(given[1])
        return count_sorted(*given, **named)

    monkeypatch.setattr(batch.sorted_numbers, "count_sorted", watched)
    found = credimi.count(table, target, threads=threads)
    assert "informs" in seen
    assert found == expected
    for one, other in zip(found.interpreted(threads=threads), before, strict=True):
        assert one.facts == other.facts
        np.testing.assert_array_equal(one.cuts, other.cuts)
        np.testing.assert_array_equal(one.block, other.block)
        assert one.odds == pytest.approx(other.odds, rel=1e-9)
    frame = pd.DataFrame({name: values.astype(values.dtype.newbyteorder("=")) for name, values in table.items()})
    for data in (frame, pa.Table.from_pandas(frame)):
        assert credimi.count(data, target, threads=threads) == credimi.count(table, target)


@pytest.mark.parametrize("classes", [2, 3, 40])
def test_cuts_of_whole_counts_are_the_same_compiled(classes: int) -> None:
    generator = np.random.default_rng(classes)
    for informative in (0.0, 0.5, 3.0):
        for values in (5, 300, 4_000):
            target = generator.integers(0, classes, 20_000)
            places = generator.normal(size=20_000) + informative * target
            cells = np.clip((places * values / 8).astype(int) + values // 2, 0, values - 1)
            table = np.zeros((values, classes), dtype=np.int64)
            np.add.at(table, (cells, target), 1)
            numbers = np.arange(values, dtype=np.float64)
            block = np.zeros((classes + 1, values + 1), dtype=np.int64)
            block[:-1, :-1] = table.T
            block[-1], block[:, -1] = 3, 5  # missing: not looked at
            found, places, share = discretize.cut_by_mdl(numbers, block)
            plain = discretize.mdl_places(numbers, table)
            np.testing.assert_array_equal(found, plain[0])
            np.testing.assert_array_equal(places, plain[1])
            assert share == pytest.approx(discretize.evidence_share(table, places), rel=1e-9)


@pytest.mark.parametrize("counts_", [[[0, 0], [0, 0]], [[3, 0], [0, 4]], [[5], [1]], [[0, 2, 0], [0, 2, 0]]])
def test_cuts_of_hardly_any_counts(counts_: list[list[int]]) -> None:
    table = np.array(counts_)
    numbers = np.arange(table.shape[1], dtype=np.float64)
    found, places, share = discretize.cut_by_mdl(numbers, np.pad(table, ((0, 1), (0, 1))))
    plain = discretize.mdl_places(numbers, table.T)
    np.testing.assert_array_equal(found, plain[0])
    np.testing.assert_array_equal(places, plain[1])
    assert share == pytest.approx(discretize.evidence_share(table.T, places), rel=1e-12)


@pytest.mark.parametrize("kind", ["f8", "f4", "i8", "i4"])
@pytest.mark.parametrize(
    "view",
    [
        lambda cells: cells,
        lambda cells: cells[:, 1:],
        lambda cells: cells[:, ::-1],
        lambda cells: cells[:, ::2],
        lambda cells: cells[::2],
        np.asfortranarray,
    ],
)
@pytest.mark.parametrize("threads", [1, 2])
def test_columns_side_by_side_are_counted_like_single_ones(kind: str, view: object, threads: int) -> None:
    cells = (np.random.default_rng(3).normal(size=(9_001, 11)) * 1e6).astype(kind)
    if kind[0] == "f":
        cells[::7, 3] = np.nan
    cells = view(cells)
    groups = np.random.default_rng(4).integers(0, 3, len(cells)).astype(np.uint8)
    columns = {f"c{place}": column for place, column in enumerate(cells.T)} | {"alone": cells[:, 0].copy()}
    names = [name for name in columns if name != "c2"]
    together = count_sorted(columns, names, groups, 3, max_labels=1_000, threads=threads)
    assert set(together) == set(names)
    for name in names:
        copied = {name: np.ascontiguousarray(columns[name])}
        found, block = count_sorted(copied, [name], groups, 3, max_labels=1_000)[name]
        assert together[name][0] == found
        np.testing.assert_array_equal(together[name][1], block)


def test_first_fault_is_told_whichever_thread_finds_one(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.default_rng(0)
    table = {f"x{place}": generator.normal(size=ROWS) for place in range(8)}
    monkeypatch.setattr(counts, "_CELLS_WORTH_COMPILING", 1)
    made = credimi.count(table, generator.integers(0, 2, ROWS), discretize=None)
    for _ in range(5):
        with pytest.raises(credimi.CredimiError, match="column 'x0' holds"):
            made.interpreted(threads=3)
