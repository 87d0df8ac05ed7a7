"""Tables of small whole numbers in all layouts: the same codes and counts as column by column."""

import numpy as np
import pandas as pd
import pytest

import credimi
from credimi.columns.encode import encode
from credimi.columns.numbers import sorted_numbers
from credimi.columns.numbers.small_codes import encode_small
from credimi.counts import batch, tabulate

ROWS, COLUMNS = 1_043, 37
TYPES = ("u1", "?", "i1", "i2", "i4", "i8", "u2", "u4", "f4", "f8")


def table(kind: str, least: int = -3, values: int = 9) -> np.ndarray:
    """Random whole numbers; a tenth of doubles is missing."""
    generator = np.random.default_rng(5)
    least = 0 if kind[0] in "u?" else least
    cells = (generator.integers(0, values, (ROWS, COLUMNS)) + least).astype(kind)
    if kind[0] == "f":
        cells[generator.random(cells.shape) < 0.1] = np.nan
        cells[3, :] = -0.0
    return cells


def named(cells: np.ndarray) -> dict[str, np.ndarray]:
    return {f"c{place}": column for place, column in enumerate(cells.T)}


def shown(column: object) -> np.ndarray:
    """The label of each row."""
    own = np.array(column.texts, dtype=object) if column.numbers is None else column.numbers
    return np.append(own, None if column.numbers is None else np.nan)[np.minimum(column.codes, column.values)]


def assert_alike(found: dict[str, object], columns: dict[str, np.ndarray]) -> None:
    for name, column in found.items():
        expected = encode(columns[name], name)
        assert column.kind == expected.kind
        np.testing.assert_array_equal(shown(column), shown(expected))
        if column.numbers is not None:
            assert not np.signbit(column.numbers[column.numbers == 0]).any()


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("width", [2, 5, 15, 16, 17, 37])
def test_row_major(kind: str, threads: int, width: int) -> None:
    cells = table(kind)[:, :width].copy()
    cells.flags.writeable = False
    found = encode_small(named(cells), threads)
    assert len(found) == width
    assert_alike(found, named(cells))


@pytest.mark.parametrize("kind", ["u1", "i8", "f8", "f4"])
@pytest.mark.parametrize(
    "view",
    [
        np.asfortranarray,
        lambda cells: cells[:, 2:30],
        lambda cells: cells[::3],
        lambda cells: cells[:, :3],
        lambda cells: cells[::-1],
        lambda cells: cells[:, ::-1],
        lambda cells: cells[:, ::2],
        lambda cells: cells[:1],
        lambda cells: cells[:15],
        lambda cells: cells.astype(cells.dtype.newbyteorder()),
        lambda cells: np.repeat(cells[:, :1], 3, axis=1)[:, :1],
        lambda cells: np.broadcast_to(cells[:, :1], cells.shape),
    ],
)
def test_views(kind: str, view: object) -> None:
    cells = view(table(kind))
    assert_alike(encode_small(named(cells)), named(cells))


def test_many_rows_have_several_parts() -> None:
    cells = np.random.default_rng(0).integers(2, 6, (100_003, 3))
    for kind in ("u1", "i4", "i8", "f8"):
        found = encode_small(named(cells.astype(kind)), 3)
        assert len(found) == 3
        assert_alike(found, named(cells.astype(kind)))


WHOLE = (255, 254, -1, 300, -200, 2**53, 2**53 + 2, -(2**60))
ODD = (0.5, -0.5, 1e-20, np.inf, -np.inf, np.nan, 2**52 + 0.5)


@pytest.mark.parametrize(("kind", "odd"), [("i8", odd) for odd in WHOLE] + [("f8", odd) for odd in WHOLE + ODD])
@pytest.mark.parametrize("order", ["C", "F"])
def test_one_value_that_does_not_fit(kind: str, order: str, odd: float) -> None:
    cells = np.random.default_rng(1).integers(0, 4, (5_000, 20)).astype(kind, order=order)
    cells[4_321, 7] = odd
    found = encode_small(named(cells))
    assert set(named(cells)) - set(found) <= {"c7"}
    assert ("c7" in found) == (np.isnan(odd) or odd in (254, -1, -200))
    assert_alike(found, named(cells))


def test_base_below_zero_tells_tiny_numbers_from_zero() -> None:
    cells = np.tile(np.array([-3.0, 1.0, 0.0, 2.0])[:, np.newaxis], (2_000, 20))
    cells[7_777, 3] = 1e-20
    found = encode_small(named(cells))
    assert "c3" not in found
    assert len(found) == 19


@pytest.mark.parametrize("shift", [2**53 - 300, 2**53, 2**55, -(2**55)])
def test_large_whole_numbers(shift: int) -> None:
    cells = np.random.default_rng(1).integers(0, 4, (500, 20)) + shift
    found = encode_small(named(cells))
    assert len(found) == (20 if shift == 2**53 - 300 else 0)
    assert_alike(found, named(cells))


@pytest.mark.parametrize("value", [np.nan, 3.0, 7, np.uint8(255), True])
def test_one_value_alone(value: float) -> None:
    cells = np.full((300, 18), value)
    found = encode_small(named(cells))
    assert len(found) == 18
    assert_alike(found, named(cells))


def test_all_bytes_are_left_to_others() -> None:
    cells = np.tile(np.arange(256, dtype=np.uint8)[:, np.newaxis], (2, 20))
    assert not encode_small(named(cells))


def test_columns_between_others_and_of_several_tables() -> None:
    one, other = table("f8"), table("i8")
    columns = {"c0": one[:, 0], "x": other[:, 5], "c2": one[:, 2], "c4": one[:, 4], "y": other[:, 6], "z": one[:, 7]}
    found = encode_small(columns)
    assert {"c0", "c2", "c4", "x", "y"} <= set(found)
    assert_alike(found, columns)


@pytest.mark.parametrize("kind", ["u1", "i8", "f8", "?"])
@pytest.mark.parametrize("threads", [1, 2])
def test_counts_do_not_depend_on_the_layout(kind: str, threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    cells = table(kind)
    target = np.random.default_rng(2).integers(0, 3, ROWS)
    expected = credimi.count(cells, target)
    monkeypatch.setattr(tabulate, "CELLS_WORTH_COMPILING", 1)
    called = []
    monkeypatch.setattr(batch, "encode_small", lambda *given: called.append(1) or encode_small(*given))
    frame = pd.DataFrame(cells, columns=expected.features)
    for data in (cells, np.asfortranarray(cells), cells[::-1][::-1], frame, frame.copy()):
        assert credimi.count(data, target, threads=threads) == expected
    assert len(called) == 5


@pytest.mark.parametrize("kind", ["u1", "i8", "f8", "?"])
@pytest.mark.parametrize("threads", [1, 2])
def test_counts_and_rankings_do_not_depend_on_the_way(kind: str, threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    cells = table(kind)
    cells[:, 9] = cells[:, 3]  # a copy, which the sampled rows show
    target = (cells[:, 3] == 1) | (np.arange(ROWS) % 3 == 0)
    asked = {} if kind == "?" else {"missing_values": [2]}
    expected = credimi.count(cells, target, **asked)
    ranking = credimi.rank(cells, target, **asked)
    monkeypatch.setattr(tabulate, "CELLS_WORTH_COMPILING", 1)
    called = []
    monkeypatch.setattr(batch, "encode_small", lambda *given: called.append(len(given[0])) or encode_small(*given))
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
