"""What rows count for: whole weights are repeated rows, others are scaled to what they are worth."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import credimi
from credimi.counts.reading import Reading
from credimi.counts.weights import effective
from credimi.sources.csv import csv_files
from credimi.sources.group_counts import count_by
from credimi.sources.parquet import parquet_files

if TYPE_CHECKING:
    from pathlib import Path

RANDOM = np.random.default_rng(11)
ROWS = 300
FRAME = pd.DataFrame(
    {
        "y": RANDOM.choice(["p", "q", None], size=ROWS, p=[0.5, 0.4, 0.1]),
        "x": RANDOM.choice(["a", "b", "c", None], size=ROWS),
        "number": np.round(RANDOM.normal(size=ROWS), 3),
        "n": RANDOM.integers(0, 6, size=ROWS),
    }
)
REPEATED = FRAME.loc[FRAME.index.repeat(FRAME["n"])].drop(columns="n")


def test_whole_weights_are_repeated_rows() -> None:
    found, expected = credimi.count(FRAME, "y", weights="n"), credimi.count(REPEATED, "y")
    assert found == expected
    assert found.flat.dtype == expected.flat.dtype
    assert (found.rows, found.features) == (expected.rows, expected.features)
    ranking = credimi.rank(FRAME, "y", weights="n")
    assert ranking.columns == credimi.rank(REPEATED, "y").columns
    assert ranking.settings["weights"] == "n"
    beside = credimi.rank(FRAME.drop(columns="n"), "y", weights=FRAME["n"].to_numpy())
    assert beside.columns == ranking.columns


@pytest.mark.parametrize("engine", [None, "duckdb"])
def test_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: str | None) -> None:
    monkeypatch.setattr(csv_files, "_PART", 1 << 9)
    monkeypatch.setattr(parquet_files, "COLUMNS", 2)  # a block for each feature, and the weights in each
    FRAME.to_csv(tmp_path / "rows.csv", index=False)
    pq.write_table(pa.Table.from_pandas(FRAME), tmp_path / "rows.parquet")
    expected = credimi.count(REPEATED, "y")
    for name in ("rows.csv", "rows.parquet"):
        assert credimi.count(tmp_path / name, "y", weights="n", engine=engine) == expected


def test_fractions_in_blocks_of_columns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sums of weights differ by rounding where blocks have batches of different sizes."""
    monkeypatch.setattr(parquet_files, "COLUMNS", 2)
    monkeypatch.setattr(parquet_files, "_CELLS", 100)
    frame = FRAME.assign(n=FRAME["n"] / 7.0 + 0.1)
    pq.write_table(pa.Table.from_pandas(frame), tmp_path / "rows.parquet")
    found, expected = credimi.count(tmp_path / "rows.parquet", "y", weights="n"), credimi.count(frame, "y", weights="n")
    assert found.flat == pytest.approx(expected.flat)
    assert found.squares == pytest.approx(expected.squares)


def test_counts_with_weights_add_and_are_kept(tmp_path: Path) -> None:
    whole = credimi.count(FRAME, "y", weights="n")
    parts = [credimi.count(part, "y", weights="n") for part in (FRAME[:100], FRAME[100:])]
    assert parts[0] + parts[1] == whole
    assert (parts[0] + parts[1]).squares == whole.squares == float((FRAME["n"] ** 2).sum())
    whole.save(tmp_path / "w.counts")
    loaded = credimi.Counts.load(tmp_path / "w.counts")
    assert (loaded, loaded.settings, loaded.squares) == (whole, whole.settings, whole.squares)
    assert (whole - parts[1]).squares == parts[0].squares
    assert loaded.update(FRAME).squares == 2 * whole.squares
    with pytest.raises(credimi.CredimiError, match=r"do not add.*weights"):
        _ = whole + credimi.count(FRAME.drop(columns="n"), "y")


def test_fractions_are_scaled_to_what_they_are_worth() -> None:
    weights = RANDOM.gamma(2.0, 50.0, size=ROWS)
    frame = FRAME.assign(n=weights)
    ranking = credimi.rank(frame, "y", weights="n")
    worth = weights.sum() ** 2 / (weights**2).sum()
    assert ranking.rows == round(worth) < ROWS
    assert [remark.rows for remark in ranking.remarks if remark.kind == "weights_scaled"] == [round(worth)]
    assert f"{round(worth):,} rows (the effective sample size)" in "\n".join(ranking.remark_lines())
    again = credimi.rank(frame.assign(n=weights / 1000.0), "y", weights="n")  # their scale says nothing
    assert again.columns["mi"] == pytest.approx(ranking.columns["mi"], rel=1e-9)
    assert again.rows == ranking.rows


def test_equal_fractions_are_rows() -> None:
    half = credimi.rank(FRAME.assign(n=0.5), "y", weights="n")
    plain = credimi.rank(FRAME.drop(columns="n"), "y")
    assert half.rows == plain.rows
    assert half.columns["mi"] == pytest.approx(plain.columns["mi"], rel=1e-9)


def test_one_fraction_in_any_part_scales_all() -> None:
    weights = FRAME["n"].astype(float).to_numpy(copy=True)
    weights[-1] = 0.5
    frame = FRAME.assign(n=weights)
    parts = [credimi.count(part, "y", weights="n") for part in (frame[:200], frame[200:])]
    apart, at_once = credimi.rank(parts[0] + parts[1]), credimi.rank(frame, "y", weights="n")
    assert apart.rows == at_once.rows == round(weights.sum() ** 2 / (weights**2).sum())
    assert apart.columns["mi"] == pytest.approx(at_once.columns["mi"], rel=1e-9)


def test_quantiles_of_the_target_weigh_rows() -> None:
    frame = pd.DataFrame({"age": [1.0, 2.0, 3.0, 4.0], "x": list("abab"), "n": [9, 1, 1, 7]})
    counts = credimi.count(frame, "age", weights="n", target_cuts="quantile:2")
    assert counts.interpreted_classes().totals.tolist() == [9, 9]


@pytest.mark.parametrize(
    ("weight", "words"),
    [
        (-2.0, "is -2"),
        (float("nan"), "is missing"),
        (None, "is missing"),
        (float("inf"), "is inf"),
        ("two", "is 'two'"),
    ],
)
def test_what_is_no_weight_is_refused_by_its_row(tmp_path: Path, weight: object, words: str) -> None:
    weights = [1.0, 2.0, weight, 1.0] if weight != "two" else ["1", "2", weight, "1"]
    frame = pd.DataFrame({"y": list("pqpq"), "x": list("abab"), "n": weights})
    with pytest.raises(credimi.CredimiError, match=rf"the weight 'n' of row 3 \(the first is 1\) {words}"):
        credimi.count(frame, "y", weights="n")
    frame.to_csv(tmp_path / "rows.csv", index=False)
    with pytest.raises(credimi.CredimiError, match=rf"rows.csv: the weight 'n' of row 3 \(the first is 1\) {words}"):
        credimi.count(tmp_path / "rows.csv", "y", weights="n")


def test_the_row_is_counted_from_the_file_s_beginning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_files, "_PART", 1 << 9)
    weights = [1] * 2999 + [-1]
    for name in ("1.csv", "2.csv"):
        frame = pd.DataFrame({"y": ["p", "q"] * 1500, "x": ["a"] * 3000, "n": weights if name == "2.csv" else 1})
        frame.to_csv(tmp_path / name, index=False)
    for asked in ({}, {"target_cuts": "quantile:2"}):
        with pytest.raises(credimi.CredimiError, match=r"2.csv: the weight 'n' of row 3,000|neither a number"):
            credimi.count(tmp_path, "y", weights="n", **asked)


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"weights": "m"}, "there is no column 'm'"),
        ({"weights": "y"}, "'y' has the weights, and is the target"),
        ({"weights": "n", "features": ["n"]}, "'n' has the weights, and is named in features"),
        ({"weights": "n", "exclude": ["n"]}, "'n' has the weights, and is named in features or exclude"),
        ({"weights": [1, 2]}, "the weights have 2 values"),
        ({"weights": [[1]] * ROWS}, "cannot|values of type|list"),
    ],
)
def test_weights_that_are_not_there_are_refused(asked: dict[str, object], words: str) -> None:
    with pytest.raises(credimi.CredimiError, match=words):
        credimi.count(FRAME, "y", **asked)


def test_a_series_in_another_order_is_refused() -> None:
    with pytest.raises(credimi.CredimiError, match=r"the index of the weights .* pass weights\.loc\[data\.index\]"):
        credimi.count(FRAME.drop(columns="n"), "y", weights=FRAME["n"].sample(frac=1.0, random_state=1))


def test_values_beside_a_file_are_refused(tmp_path: Path) -> None:
    FRAME.to_csv(tmp_path / "rows.csv", index=False)
    with pytest.raises(credimi.CredimiError, match=r"weights is .*name one of the columns"):
        credimi.count(tmp_path / "rows.csv", "y", weights=[1, 2])


def test_dask() -> None:
    dask = pytest.importorskip("dask.dataframe")
    found = credimi.count(dask.from_pandas(FRAME, npartitions=3), "y", weights="n")
    assert found == credimi.count(REPEATED, "y")
    assert found.squares == float((FRAME["n"] ** 2).sum())


def test_all_weights_zero_are_no_rows() -> None:
    with pytest.raises(credimi.CredimiError, match="there are no rows"):
        credimi.rank(FRAME.assign(n=0), "y", weights="n")


def test_groups_and_samples_are_weighed() -> None:
    table = FRAME.assign(half=["a", "b"] * (ROWS // 2))
    repeated = table.loc[table.index.repeat(table["n"])].drop(columns="n")
    found, _ = count_by(table, "y", "half", Reading(weights="n"))
    expected, _ = count_by(repeated, "y", "half", Reading())
    assert found == expected
    scaled, _ = count_by(table.assign(n=table["n"] + 0.5), "y", "half", Reading(weights="n"))
    whole, own = table["n"] + 0.5, table.loc[table["half"] == "a", "n"] + 0.5
    worth = whole.sum() ** 2 / (whole**2).sum()  # of all groups, so that they keep their sizes
    assert scaled["a"].rows == pytest.approx(worth * own.sum() / whole.sum())
    assert sum(counts.rows for counts in scaled.values()) == pytest.approx(worth)
    assert credimi.rank(scaled["a"]).rows == round(own.sum() ** 2 / (own**2).sum())
    twice = effective(effective(scaled["a"]))
    assert twice.flat == pytest.approx(effective(scaled["a"]).flat), "what is scaled is not scaled again"
    one, other = FRAME[:150].assign(n=0.5), FRAME[150:].assign(n=0.5)
    plain = [part.drop(columns="n") for part in (one, other)]
    weighed, expected_change = credimi.compare(one, other, "y", weights="n"), credimi.compare(*plain, "y")
    assert [row["change"] for row in weighed] == pytest.approx([row["change"] for row in expected_change])
