"""Columns of few small whole numbers, counted while they are read: the same counts as by way of codes."""

import numpy as np
import pandas as pd
import pytest

import credimi
from credimi.columns.encode import encode
from credimi.columns.numbers import small_counts, sorted_numbers
from credimi.columns.numbers.small_counts import count_small
from credimi.counts import batch, tabulate

ROWS, COLUMNS = 1_043, 70
TYPES = ("u1", "?", "i1", "i2", "i4", "i8", "u2", "u4", "f4", "f8")


def table(kind: str, rows: int = ROWS, values: int = 4) -> np.ndarray:
    """Random whole numbers, of other ranges in other columns; a tenth of doubles is missing."""
    generator = np.random.default_rng(5)
    cells = generator.integers(0, values, (rows, COLUMNS))
    if kind != "?":
        cells += np.arange(COLUMNS) % 3 * 5 - (0 if kind[0] == "u" else 4)
    cells = cells.astype(kind)
    if kind[0] == "f":
        cells[generator.random(cells.shape) < 0.1] = np.nan
        cells[(cells == 0) & (generator.random(cells.shape) < 0.5)] = -0.0
    return cells


def named(cells: np.ndarray) -> dict[str, np.ndarray]:
    return {f"c{place}": column for place, column in enumerate(cells.T)}


def classes(rows: int, number: int = 3) -> np.ndarray:
    return np.random.default_rng(7).integers(0, number, rows).astype(np.uint8)


def shown(column: object, block: np.ndarray) -> dict[object, list[int]]:
    """The counts of each label that occurs, and those of missing values."""
    own = column.texts if column.numbers is None else column.numbers.tolist()
    return {label: counts for label, counts in zip([*own, None], block.T.tolist(), strict=True) if any(counts)}


def assert_alike(found: dict[str, object], columns: dict[str, np.ndarray], groups: np.ndarray) -> None:
    height = int(groups.max()) + 1
    for name, (column, block) in found.items():
        expected = encode(columns[name], name)
        own = expected.values  # noqa: PD011  (no frame of pandas)
        counts = np.zeros((height, own + 1), dtype=np.int64)
        np.add.at(counts, (groups, np.minimum(expected.codes, own)), 1)
        assert column.kind == expected.kind
        assert shown(column, block) == shown(expected, counts)
        if column.numbers is not None:
            assert not np.signbit(column.numbers[column.numbers == 0]).any()


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("width", [1, 2, 15, 16, 17, 64, 65, 70])
@pytest.mark.parametrize("order", ["C", "F"])
def test_layouts(kind: str, width: int, order: str) -> None:
    cells, groups = table(kind)[:, :width].copy(order=order), classes(ROWS)
    cells.flags.writeable = False
    found = count_small(named(cells), groups, 3, 2)
    assert len(found) == width
    assert_alike(found, named(cells), groups)


@pytest.mark.parametrize("kind", ["u1", "i8", "f8", "f4"])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("rows", [15, 16, 63, 64, 65, 191, 192, 193, 8_191, 8_257, 66_000])
def test_rows(kind: str, order: str, rows: int) -> None:
    cells, groups = table(kind, rows)[:, :5].copy(order=order), classes(rows)
    groups[0], cells[0] = 2, np.nanmin(table(kind)[:, :5], axis=0)  # the least values are sampled
    found = count_small(named(cells), groups, 3, 2)
    assert len(found) == 5
    assert_alike(found, named(cells), groups)


@pytest.mark.parametrize("kind", ["u1", "i8", "f8", "f4"])
@pytest.mark.parametrize(
    "view",
    [
        lambda cells: cells[:, 2:60],
        lambda cells: cells[:, 2:],
        lambda cells: cells[::3],
        lambda cells: cells[:, :3],
        lambda cells: cells[::-1],
        lambda cells: cells[:, ::-1],
        lambda cells: cells[:, ::2],
        lambda cells: cells[:1],
        lambda cells: cells.astype(cells.dtype.newbyteorder()),
        lambda cells: np.broadcast_to(cells[:, :1], cells.shape),
    ],
)
def test_views(kind: str, view: object) -> None:
    cells = view(table(kind))
    groups = classes(len(cells))
    assert_alike(count_small(named(cells), groups, int(groups.max()) + 1), named(cells), groups)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("values", [1, 4, 5, 8, 13, 16])
def test_values(order: str, values: int) -> None:
    for kind in ("u1", "i8", "f8"):
        cells, groups = table(kind, values=values)[:, 1::3].copy(order=order), classes(ROWS)
        found = count_small(named(cells), groups, 3)
        assert len(found) == cells.shape[1]
        assert_alike(found, named(cells), groups)


@pytest.mark.parametrize("number", [1, 2, 3, 4, 5, 8, 9, 300])
def test_numbers_of_classes(number: int) -> None:
    for order in "CF":
        cells = table("f8").copy(order=order)
        groups = np.random.default_rng(7).integers(0, number, ROWS).astype(np.uint8 if number < 255 else np.uint32)
        groups[0] = number - 1
        found = count_small(named(cells), groups, number)
        assert len(found) == (COLUMNS if number <= 8 else 0)
        assert_alike(found, named(cells), groups)


WHOLE = (3, 4, 7, 8, 15, 16, 254, 255, 256, -1, -2, 300, -200, 2**53, 2**53 + 2, 2**52, -(2**60))
LARGEST = np.finfo(np.float64).max
ODD = (0.5, -0.5, 1e-20, 1.0 + 2.0**-52, 1e300, LARGEST, -LARGEST, np.inf, -np.inf, np.nan, 2**52 + 0.5, 2**51 + 0.5)


@pytest.mark.parametrize(
    ("kind", "odd"),
    [("u1", odd) for odd in WHOLE if 0 <= odd < 256]
    + [("i8", odd) for odd in WHOLE]
    + [("f8", odd) for odd in WHOLE + ODD],
)
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("base", [0, 2])
def test_one_value_that_was_not_sampled(kind: str, order: str, odd: float, base: int) -> None:
    cells = (np.random.default_rng(1).integers(0, 4, (5_000, 20)) + base).astype(kind, order=order)
    cells[4_321, 7] = odd
    groups = classes(5_000, 2)
    found = count_small(named(cells), groups, 2)
    fits = np.isnan(odd) or odd in range(base, base + 4)
    assert len(found) == (20 if fits else 0 if order == "C" else 19)
    assert_alike(found, named(cells), groups)


def test_base_below_zero_tells_tiny_numbers_from_zero() -> None:
    cells = np.asfortranarray(np.tile(np.array([-3.0, 1.0, 0.0, 2.0])[:, np.newaxis], (2_000, 20)))
    cells[7_777, 3] = 1e-20
    assert set(named(cells)) - set(count_small(named(cells), classes(8_000), 3)) == {"c3"}


@pytest.mark.parametrize("shift", [2**50 - 100, -(2**50) + 100, 2**53 - 300, 2**53 - 2, -(2**53), 2**55])
def test_large_whole_numbers(shift: int) -> None:
    cells, groups = np.random.default_rng(1).integers(0, 4, (500, 20)) + shift, classes(500)
    found = count_small(named(cells), groups, 3)
    assert bool(found) == (abs(shift) < 2**53 - 16)
    assert_alike(found, named(cells), groups)
    found = count_small(named(cells.astype(np.float64)), groups, 3)
    assert bool(found) == (abs(shift) < 2**50)
    assert_alike(found, named(cells.astype(np.float64)), groups)


@pytest.mark.parametrize("value", [np.nan, 3.0, 7, np.uint8(255), True])
@pytest.mark.parametrize("order", ["C", "F"])
def test_one_value_alone(value: float, order: str) -> None:
    cells, groups = np.full((300, 18), value, order=order), classes(300)
    found = count_small(named(cells), groups, 3)
    assert len(found) == 18
    assert_alike(found, named(cells), groups)


def test_wide_table() -> None:
    for base in (0, 1):
        cells = np.random.default_rng(1).integers(0, 3, (200, 700)) + base * (np.arange(700) % 2)
        groups = classes(200)
        found = count_small(named(cells), groups, 3)
        assert len(found) == (0 if base else 700)
        assert_alike(found, named(cells), groups)


def test_column_beside_others_that_were_not_asked_for() -> None:
    cells, groups = table("f8"), classes(ROWS)
    columns = {f"c{place}": cells[:, place] for place in range(COLUMNS) if place not in (0, 30, 69)}
    found = count_small(columns, groups, 3)
    assert len(found) == COLUMNS - 3
    assert_alike(found, columns, groups)
    cells[5, 69] = 0.5
    assert_alike(count_small(columns, groups, 3), columns, groups)


@pytest.mark.parametrize("kind", ["u1", "i8", "f8", "?"])
@pytest.mark.parametrize("threads", [1, 2])
def test_counts_and_rankings_do_not_depend_on_the_way(kind: str, threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    cells = table(kind)
    cells[:, 9] = cells[:, 3]  # a copy, which the sampled rows show
    target = (cells[:, 3] == 1) | (classes(ROWS) == 0)
    asked = {} if kind == "?" else {"missing_values": [2]}
    expected = credimi.count(cells, target, **asked)
    ranking = credimi.rank(cells, target, **asked)
    monkeypatch.setattr(tabulate, "CELLS_WORTH_COMPILING", 1)
    called = []
    monkeypatch.setattr(batch, "count_small", lambda *given: called.append(len(given[0])) or count_small(*given))
    frame = pd.DataFrame(cells, columns=expected.features)
    for data in (cells, np.asfortranarray(cells), frame, frame.copy()):
        assert credimi.count(data, target, threads=threads, **asked) == expected
        other = credimi.rank(data, target, threads=threads, **asked)
        assert other.columns == ranking.columns
        assert other.remarks == ranking.remarks
    assert called == [COLUMNS] * 8


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("values", [4, 30, 900])  # few, some, and many numbers
def test_counts_keep_no_part_of_the_data(order: str, values: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tabulate, "CELLS_WORTH_COMPILING", 1)
    monkeypatch.setattr(sorted_numbers, "CELLS_WORTH_COMPILING", 1)
    cells = np.random.default_rng(0).integers(0, values, (3_000, 4)).astype(np.float64, order=order)
    cells[:, 1] = cells[:, 0]
    target = cells[:, 0] > values / 2
    counts = credimi.count(cells, target)
    expected = credimi.rank(cells, target).remarks
    assert any(remark.kind == "copy" for remark in expected)
    cells[:, 0] = 0.0
    assert credimi.rank(counts).remarks == expected


def test_rows_that_are_needed_again_have_codes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tabulate, "CELLS_WORTH_COMPILING", 1)
    monkeypatch.setattr(small_counts, "tables_of", None)  # not called
    cells = table("i8")
    table_of_pairs = credimi.select(cells, classes(ROWS))
    assert table_of_pairs is not None
