"""The tables of all pairs of columns, against counts of each pair alone; columns without a target."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from credimi.core.errors import CredimiError
from credimi.counts.reading import Reading
from credimi.counts.rows.pair_tables import PairCounter
from credimi.sources.codes import codes_without_target

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    Codes = NDArray[np.unsignedinteger]

MANY_KINDS = [1, 2, 2, 3, 4, 4, 5, 5, 7, 10, 10, 12, 60, 130, 200, 255, 400]


def drawn(values: list[int], rows: int, generator: np.random.Generator) -> list[Codes]:
    """Codes of columns with so many values; half of the columns have missing values."""
    codes: list[Codes] = []
    for size in values:
        most = size + 1 if generator.random() < 0.5 else size
        codes.append(generator.integers(0, most, rows).astype(np.uint8 if size <= 255 else np.uint16))
    return codes


def one_by_one(
    codes: list[Codes], values: list[int], weights: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """The cells of all pairs' tables."""
    found = [np.zeros(0)]
    for first in range(len(codes)):
        for second in range(first + 1, len(codes)):
            cells = codes[first].astype(np.int64) * (values[second] + 1) + codes[second]
            found.append(np.bincount(cells, weights, minlength=(values[first] + 1) * (values[second] + 1)))
    return np.concatenate(found)


@pytest.mark.parametrize("rows", [0, 1, 63, 64, 1_000, 70_001])
def test_pairs_of_all_kinds_of_columns_are_counted(rows: int) -> None:
    generator = np.random.default_rng(rows)
    values = generator.permutation(MANY_KINDS).tolist()
    codes = drawn(values, rows, generator)
    counter = PairCounter(codes, values)
    tables = counter.tables()
    assert np.array_equal(tables.flat, one_by_one(codes, values))
    one, other = counter.pairs()
    assert len(counter) == one.size == tables.rows.size
    assert np.array_equal(tables.rows, np.array(values)[one])
    assert np.array_equal(tables.columns, np.array(values)[other])


@pytest.mark.parametrize("values", [[2] * 30, [2, 3] * 15, [6] * 13, [2] * 20 + [9] * 5])
def test_blocks_of_pairs_are_the_whole_and_of_limited_size(values: list[int]) -> None:
    generator = np.random.default_rng(0)
    codes = drawn(values, 500, generator)
    counter = PairCounter(codes, values, threads=1)
    blocks = list(counter.blocks(600))
    assert len(blocks) > 3
    assert all(counter.cells(*block) <= 600 or block[1] == block[0] + 1 for block in blocks)
    parts = [counter.tables(*block) for block in blocks]
    assert np.array_equal(np.concatenate([part.flat for part in parts]), one_by_one(codes, values))
    assert sum(part.rows.size for part in parts) == len(counter)


def test_rows_may_have_weights() -> None:
    generator = np.random.default_rng(2)
    values, weights = [2, 3, 9, 300], generator.random(200)
    codes = drawn(values, 200, generator)
    tables = PairCounter(codes, values, weights=weights).tables()
    np.testing.assert_allclose(tables.flat, one_by_one(codes, values, weights), rtol=1e-12)


def test_one_column_or_none_has_no_pairs() -> None:
    assert PairCounter([], []).tables().rows.size == 0
    assert PairCounter([np.zeros(5, dtype=np.uint8)], [2]).tables().rows.size == 0
    with pytest.raises(CredimiError, match="different lengths"):
        PairCounter([np.zeros(5, dtype=np.uint8), np.zeros(4, dtype=np.uint8)], [2, 2])


def test_columns_without_a_target_are_interpreted_alike_from_all_sources(tmp_path: Path) -> None:
    generator = np.random.default_rng(3)
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {
            "id": [f"r{row}" for row in range(500)],
            "number": np.where(generator.random(500) < 0.2, np.nan, generator.normal(size=500)),
            "target": generator.choice(["a", "b", None], 500),
            "whole": generator.integers(0, 2, 500),
            "one": 1,
            "none": [None] * 500,
        }
    )
    frame.to_csv(tmp_path / "data.csv", index=False)
    frame.to_parquet(tmp_path / "data.parquet")
    whole = codes_without_target(frame)
    assert whole.names == ("number", "target", "whole")
    assert whole.sizes.tolist() == [5, 2, 2]  # 20 rows a cell of 5 x 5
    assert [each.name for each in whole.left_out] == ["id", "one", "none"]
    for other in (tmp_path / "data.csv", tmp_path / "data.parquet", frame.to_dict("list")):
        found = codes_without_target(other)
        assert found.names == whole.names
        assert all(np.array_equal(*both) for both in zip(found.columns, whole.columns, strict=True))
    named = codes_without_target(frame, Reading(features=["number", "target"], discretize={"number": [0.0]}))
    assert named.sizes.tolist() == [2, 2]


def test_ranges_follow_the_rows_and_what_is_asked() -> None:
    numbers = {"x": np.linspace(0, 1, 4_001), "y": np.linspace(1, 2, 4_001) ** 2}
    assert codes_without_target(numbers).sizes.tolist() == [10, 10]
    few = {name: values[:50] for name, values in numbers.items()}
    assert codes_without_target(few).sizes.tolist() == [3, 3]
    assert codes_without_target(few, Reading(discretize="quantile:4")).sizes.tolist() == [4, 4]
    assert codes_without_target(few, Reading(discretize={"x": "quantile:7"})).sizes.tolist() == [7, 3]
    with pytest.raises(CredimiError, match="here is none"):
        codes_without_target(few, Reading(discretize="mdl"))
    with pytest.raises(CredimiError, match="no rows"):
        codes_without_target({"x": []})
