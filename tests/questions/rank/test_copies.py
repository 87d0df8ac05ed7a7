"""Columns that say the same as another are found by the rows at hand, and columns that only look alike are not."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import csv

import credimi
from credimi.counts.rows import sampled_rows
from credimi.results.remarks import RemarkKind
from credimi.sources import frames

if TYPE_CHECKING:
    from pathlib import Path

ROWS = 6000


def table() -> dict[str, Any]:
    random = np.random.default_rng(1)
    y = random.integers(0, 2, ROWS)

    def noisy() -> Any:  # noqa: ANN401
        """As good as the others of its kind, and right about other rows."""
        return y ^ (random.random(ROWS) < 0.1)

    odor, height = noisy(), random.normal(size=ROWS) + y
    nearly = odor.copy()
    nearly[::500] ^= 1
    return {
        "odor": np.where(odor, "foul", "none"),
        "smell": odor,
        "nearly": nearly,
        "other": noisy(),
        "another": noisy(),
        "centimetres": height,
        "inches": height / 2.54,
        "y": y,
    }


SAME = {"smell": "odor", "nearly": "odor", "inches": "centimetres"}


def found(ranking: credimi.Ranking) -> dict[str, str]:
    return {each.feature: each.other for each in ranking.remarks if each.kind == RemarkKind.COPY and each.feature}


@pytest.mark.parametrize("kind", ["dictionary", "csv", "parquet", "stream"])
def test_copies_are_found_and_columns_that_are_as_good_are_not(kind: str, tmp_path: Path) -> None:
    data = pa.table(table())
    csv.write_csv(data, tmp_path / "data.csv")
    pq.write_table(data, tmp_path / "data.parquet", row_group_size=1000)
    given: Any = {
        "dictionary": table(),
        "csv": tmp_path / "data.csv",
        "parquet": tmp_path / "data.parquet",
        "stream": pa.RecordBatchReader.from_batches(data.schema, data.to_batches(max_chunksize=700)),
    }[kind]
    assert found(credimi.rank(given, "y")) == SAME


def test_it_is_said_in_words() -> None:
    columns = {name: table()[name] for name in ("odor", "smell", "y")}
    line = "caution: duplicate of another column: smell (of odor); one of them is enough"
    assert f"{line} (exclude=['smell'])" in credimi.rank(columns, "y").remark_lines()
    assert f"{line} (--exclude smell)" in credimi.rank(columns, "y").remark_lines(reader="command line")
    assert any("smell (of odor)" in each for each in credimi.rank(table(), "y").remark_lines())


def test_files_and_pickles_of_counts_have_no_rows(tmp_path: Path) -> None:
    counts = credimi.count(table(), "y")
    assert found(credimi.rank(counts)) == SAME
    assert found(credimi.rank(counts + credimi.count(table(), "y"))) == SAME
    assert pickle.loads(pickle.dumps(counts)).sample is None  # noqa: S301
    assert credimi.Counts.from_bytes(counts.to_bytes()).sample is None
    counts.save(tmp_path / "y.counts")
    assert found(credimi.rank(tmp_path / "y.counts")) == {}


def test_a_bounded_number_of_rows_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampled_rows, "_ALL_ROWS", 2048)
    sample = credimi.count(table(), "y").sample
    assert sample is not None
    assert {column().codes.size for column in sample.columns.values()} == {2048}
    assert all(column().codes.base is None for column in sample.columns.values())  # or all rows would be
    monkeypatch.setattr(sampled_rows, "_MAX_CELLS", 800)  # less than enough rows of seven columns
    assert credimi.count(table(), "y").sample is None


def test_columns_of_many_values_are_compared_to_the_letter() -> None:
    """Of few rows each, any two such columns leave hardly anything unknown of each other."""
    random = np.random.default_rng(2)
    y = random.integers(0, 2, 4000)
    first, second = (random.integers(0, 400, 4000) * 2 + y for _ in range(2))
    columns = {"a": first.astype(str), "b": second.astype(str), "c": np.char.add("k", first.astype(str)), "y": y}
    assert found(credimi.rank(columns, "y")) == {"c": "a"}


def test_sorted_rows_that_show_one_value_prove_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the first part of the file the two agree, and tell nothing there."""
    monkeypatch.setattr(frames, "_ROWS", 20_000)
    random = np.random.default_rng(4)
    y = random.integers(0, 2, 40_000)
    late = np.arange(40_000) >= 20_000
    first, second = (np.where(late, y ^ (random.random(40_000) < 0.1), 0) for _ in range(2))
    first[:20], second[:20] = 1, 1
    data = pa.table({"a": first, "b": second, "y": y})
    stream = pa.RecordBatchReader.from_batches(data.schema, data.to_batches(max_chunksize=20_000))
    assert found(credimi.rank(stream, "y")) == {}


@pytest.mark.parametrize("as_arrow", [False, True])
def test_copies_are_found_among_columns_that_are_sorted_instead_of_coded(*, as_arrow: bool) -> None:
    rows, noise = 60_000, 34  # enough cells that columns of many numbers are counted without codes
    random = np.random.default_rng(2)
    y = random.integers(0, 2, rows)
    height = random.normal(size=rows) + y
    columns = {f"noise{place}": random.normal(size=rows) for place in range(noise)}
    columns |= {"centimetres": height, "inches": height / 2.54, "other": random.normal(size=rows) + y}
    data = pa.table(columns | {"y": y}) if as_arrow else columns | {"y": y}
    remarks = credimi.rank(data, "y").remarks
    assert [remark.feature for remark in remarks if remark.kind is RemarkKind.COPY] in (["inches"], ["centimetres"])


@pytest.mark.parametrize("kind", ["numbers", "texts"])
def test_columns_that_agree_at_equal_distances_are_no_copies(kind: str) -> None:
    """Every eighth row was looked at: there these columns agree, and elsewhere they do not."""
    random = np.random.default_rng(3)
    rows = 8 * 2048
    y = random.integers(0, 2, rows)
    one, other = (y ^ (random.random(rows) < 0.2) for _ in range(2))
    other[::8] = one[::8]
    data = {"one": one, "other": other, "copy": 1 - one, "y": y}
    if kind == "texts":
        data |= {name: np.where(data[name], "yes", "no") for name in ("one", "other", "copy")}
    assert set(found(credimi.rank(data, "y")).items()) in ({("copy", "one")}, {("one", "copy")})


def test_near_copies_are_the_same_in_every_order() -> None:
    """Some rows were looked at, by their place: in other rows, a column that is nearly a copy may be none."""
    random = np.random.default_rng(6)
    rows = 4_000
    y = random.integers(0, 2, rows)
    original = y ^ (random.random(rows) < 0.2)
    columns = {f"near{wrong}": original ^ (random.random(rows) < 0.0012 * wrong) for wrong in range(1, 9)}
    columns |= {"z": np.where(original, "yes", "no"), "a": 1 - original, "y": y}
    expected = found(credimi.rank(columns, "y"))
    assert expected["z"] == "a"
    assert set(columns) - {*expected, "a", "y"}  # some are near enough, and others are not
    for _ in range(3):
        order = random.permutation(rows)
        names = random.permutation(list(columns)).tolist()
        assert found(credimi.rank({name: columns[name][order] for name in names}, "y")) == expected
