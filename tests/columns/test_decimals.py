"""Decimals of Arrow are the nearest doubles: the same number is one label, whatever file it came from."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from credimi import Counts, count
from credimi.columns.arrow_buffers import doubles
from credimi.columns.encode import encode

if TYPE_CHECKING:
    from pathlib import Path

_TEXTS = [f"{cents // 100}.{cents % 100:02}" for cents in range(0, 1_000_000, 7)]


@pytest.mark.parametrize("compiled", [False, True])
def test_all_decimals_are_the_nearest_doubles(compiled: bool) -> None:  # noqa: FBT001
    array = pa.array([*map(Decimal, _TEXTS), None], pa.decimal128(10, 2))
    column = encode(array, "x", compiled=compiled)
    assert column.numbers is not None
    assert column.numbers[column.codes[:-1]].tolist() == list(map(float, _TEXTS))
    assert column.codes[-1] >= column.values
    found = doubles(array)
    assert found[:-1].tolist() == list(map(float, _TEXTS))
    assert np.isnan(found[-1])


@pytest.mark.parametrize(
    ("kind", "size", "texts"),
    [
        ("decimal32", (9, 3), ["0.350", "-0.007", "123456.789"]),
        ("decimal64", (18, 17), ["0.12345678901234567", "-8.10000000000000000"]),
        ("decimal128", (38, 20), ["123456789012345678.35", "0.00000000000000000001", "9007199254740993"]),
        ("decimal128", (38, 38), ["0.35", "-0.00000000000000000000000000000000000001"]),
        ("decimal128", (20, -3), ["12000", "9007199254741000", "-3000"]),
        ("decimal256", (76, 40), ["0.35", "123456789012345678901234567890123456.7", "-1e-40"]),
    ],
)
def test_decimals_of_all_widths_and_scales(kind: str, size: tuple[int, int], texts: list[str]) -> None:
    if not hasattr(pa, kind):
        pytest.skip("this pyarrow has no such decimals")
    array = pa.array([Decimal(text) for text in texts], getattr(pa, kind)(*size))
    assert doubles(array).tolist() == list(map(float, texts))
    column = encode(array, "x")
    assert column.numbers is not None
    assert column.numbers[column.codes].tolist() == list(map(float, texts))


@pytest.mark.parametrize("scale", [0, 2, 17, 22, 23])
def test_decimals_at_the_limit_of_doubles_and_some_of_them_missing(scale: int) -> None:
    """Parts of an array, in which what stands for null is anything."""
    whole = [2**53 - 1, 2**53, 2**53 + 1, -(2**53), -(2**53) - 1, 2**64, 2**63, -(2**63), 35, 0, -7]
    for last in range(len(whole)):
        values = [Decimal(number).scaleb(-scale) for number in (1, whole[last], 3, 7)]
        masked = pa.array(values, pa.decimal128(38, scale))
        known, bits = masked.buffers()[1], pa.py_buffer(bytes([0b1101]))
        some = pa.Array.from_buffers(masked.type, 4, [bits, known])
        assert doubles(masked[1:]).tolist() == list(map(float, values[1:]))
        assert doubles(some)[[0, 2, 3]].tolist() == [float(values[place]) for place in (0, 2, 3)]
        assert np.isnan(doubles(some)[1])
        assert doubles(some[2:]).tolist() == list(map(float, values[2:]))


def _files(folder: Path) -> tuple[str, str]:
    texts = ["0.35", "1.15", "2.55", "0.07"] * 30
    classes = ["p", "q", "q"] * 40
    csv, parquet = folder / "data.csv", folder / "data.parquet"
    csv.write_text("\n".join(["y,x", *(f"{one},{other}" for one, other in zip(classes, texts, strict=True))]) + "\n")
    decimals = pa.array(list(map(Decimal, texts)), pa.decimal128(10, 2))
    pq.write_table(pa.table({"y": classes, "x": decimals}), parquet)
    return str(csv), str(parquet)


@pytest.mark.parametrize("engine", ["files", "duckdb"])
def test_csv_and_parquet_give_the_same_labels(tmp_path: Path, engine: str) -> None:
    if engine != "files":
        pytest.importorskip(engine)
    csv, parquet = _files(tmp_path)
    assert count(parquet, "y", engine=engine) == count(csv, "y")
    both = count(parquet, "y", engine=engine) + count(csv, "y")
    assert _shown(both) == ("0.07", "0.35", "1.15", "2.55")


@pytest.mark.parametrize("missing", [0.35, "0.35"])
def test_a_decimal_that_means_missing_is_found(tmp_path: Path, missing: float | str) -> None:
    _, parquet = _files(tmp_path)
    assert _shown(count(parquet, "y", missing_values=[missing])) == ("0.07", "1.15", "2.55")


def _shown(counts: Counts) -> tuple[str, ...]:
    return counts.labels[0].shown() if counts.labels[0].kind == "number" else tuple(sorted(counts.labels[0].texts))
