"""A target of numbers or dates, cut into ranges: the same as if somebody had cut it beforehand."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import credimi
from credimi.counts.saved import counts_file, counts_header
from credimi.sources.csv import csv_files

if TYPE_CHECKING:
    from pathlib import Path

RANDOM = np.random.default_rng(5)
AGES = np.round(RANDOM.normal(40.0, 12.0, size=400), 2)
COLUMNS = {
    "group": ["old" if age > 45 else "young" for age in AGES],
    "noise": RANDOM.choice(list("abc"), size=400).tolist(),
    "dose": (AGES * 2.0 + RANDOM.normal(size=400)).tolist(),
}
TABLE = COLUMNS | {"age": AGES.tolist()}


def by_hand(cuts: list[float], names: list[str]) -> credimi.Ranking:
    """The ranking of a target that was cut before; its classes get letters in front, so that they keep their order."""
    places = np.searchsorted(cuts, AGES)
    return credimi.rank(COLUMNS | {"age": [f"{place}: {names[place]}" for place in places]}, "age")


def test_given_cuts_are_those_made_by_hand() -> None:
    found = credimi.rank(TABLE, "age", target_cuts=[50, 30])
    assert found.classes == ("<= 30", "30 to 50", "> 50")
    assert found.settings["target_cuts"] == [30.0, 50.0]
    expected = by_hand([30.0, 50.0], ["<= 30", "30 to 50", "> 50"])
    assert found.columns == expected.columns
    assert found.entropy == expected.entropy


def test_a_value_at_a_cut_goes_left() -> None:
    counts = credimi.count({"x": list("abab"), "y": [30, 30.5, 50, 51]}, "y", target_cuts=[30, 50])
    assert counts.interpreted_classes().totals.tolist() == [1, 2, 1]


def test_quantiles_share_the_rows_out() -> None:
    counts = credimi.count(TABLE, "age", target_cuts="quantile:4")
    assert counts.interpreted_classes().totals.tolist() == [100] * 4
    cuts = counts.settings.target_cuts
    assert cuts == tuple(float(f"{cut:.6g}") for cut in cuts), "few digits"
    assert counts.class_names() == (
        f"<= {cuts[0]:g}",
        f"{cuts[0]:g} to {cuts[1]:g}",
        f"{cuts[1]:g} to {cuts[2]:g}",
        f"> {cuts[2]:g}",
    )


def test_missing_targets_stay_missing() -> None:
    values = [1.0, None, -9.0, 10.0, float("nan"), 3.0]
    counts = credimi.count({"x": list("ababab"), "y": values}, "y", target_cuts=[5], missing_values=[-9, 1])
    assert counts.interpreted_classes().totals.tolist() == [1, 1], (
        "neither 1, which is a place of a range as well, nor -9"
    )


def sources(folder: Path) -> dict[str, object]:
    frame = pd.DataFrame(TABLE)
    frame.to_csv(folder / "whole.csv", index=False)
    pq.write_table(pa.table(TABLE), folder / "whole.parquet")
    (folder / "parts").mkdir()
    frame[:150].to_csv(folder / "parts" / "1.csv", index=False)
    frame[150:].to_csv(folder / "parts" / "2.csv", index=False)
    return {
        "pandas": frame,
        "polars": pl.DataFrame(TABLE),
        "lazy": pl.LazyFrame(TABLE),
        "arrow": pa.table(TABLE),
        "records": frame.to_dict("records"),
        "csv": folder / "whole.csv",
        "parquet": folder / "whole.parquet",
        "directory": folder / "parts",
    }


@pytest.mark.parametrize("cuts", [[30, 50], "quantile:4"])
def test_all_sources_agree(tmp_path: Path, cuts: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_files, "_PART", 1 << 10)  # several parts
    expected = credimi.count(TABLE, "age", target_cuts=cuts)
    for name, data in sources(tmp_path).items():
        found = credimi.count(data, "age", target_cuts=cuts)
        assert found == expected, name
        assert found.settings == expected.settings, name
    duck = credimi.count(tmp_path / "whole.parquet", "age", target_cuts=cuts, engine="duckdb")
    assert duck == expected
    beside = credimi.count(COLUMNS, pd.Series(AGES, name="age"), target_cuts=cuts)
    assert (beside, beside.settings) == (expected, expected.settings)


def test_counts_of_parts_add_and_are_kept(tmp_path: Path) -> None:
    whole = credimi.count(TABLE, "age", target_cuts=[30, 50])
    frame = pd.DataFrame(TABLE).sort_values("age")  # so that the first part lacks the last range
    parts = [credimi.count(part, "age", target_cuts=[30, 50]) for part in (frame[:100], frame[100:])]
    assert len(parts[0].classes) < 3
    assert parts[0] + parts[1] == whole
    whole.save(tmp_path / "age.counts")
    loaded = credimi.Counts.load(tmp_path / "age.counts")
    assert loaded.settings == whole.settings
    assert loaded.class_names() == ("<= 30", "30 to 50", "> 50")
    assert loaded.update(frame[:10]).rows == 410
    with pytest.raises(credimi.CredimiError, match=r"do not add.*target_cuts"):
        _ = whole + credimi.count(TABLE, "age", target_cuts=[30, 51])


@pytest.mark.parametrize("kind", ["dates", "datetimes", "texts", "csv"])
def test_dates(tmp_path: Path, kind: str) -> None:
    days = [dt.date(2024, 1, 1) + dt.timedelta(days=day) for day in range(100)]
    values = [dt.datetime(day.year, day.month, day.day, tzinfo=dt.UTC) for day in days] if kind == "datetimes" else days
    data: object = {"x": list("ab") * 50, "day": [str(day) for day in days] if kind == "texts" else values}
    if kind == "csv":
        pd.DataFrame(data).to_csv(tmp_path / "dates.csv", index=False)
        data = tmp_path / "dates.csv"
    counts = credimi.count(data, "day", target_cuts=["2024-02-29"])
    assert counts.class_names() == ("<= 2024-02-29", "> 2024-02-29")
    assert counts.interpreted_classes().totals.tolist() == [60, 40]
    assert credimi.count(data, "day", target_cuts=[dt.date(2024, 2, 29)]).settings == counts.settings
    halves = credimi.count(data, "day", target_cuts="quantile:2")
    assert halves.class_names() == ("<= 2024-02-19", "> 2024-02-19")
    assert halves.interpreted_classes().totals.tolist() == [50, 50]


def test_quantiles_of_close_moments_lie_between_them() -> None:
    moments = [dt.datetime(2024, 1, 1, tzinfo=dt.UTC) + dt.timedelta(microseconds=step) for step in range(4)]
    counts = credimi.count({"x": list("abab"), "t": moments}, "t", target_cuts="quantile:4")
    assert counts.interpreted_classes().totals.tolist() == [1, 1, 1, 1]


def test_texts_of_numbers(tmp_path: Path) -> None:
    path = tmp_path / "commas.csv"
    path.write_text('x,y\na,"1,5"\nb,2\na,007\nb,?\n', encoding="utf-8")
    counts = credimi.count(path, "y", target_cuts=[1.7])
    assert counts.interpreted_classes().totals.tolist() == [1, 2]


@pytest.mark.parametrize(
    ("values", "cuts", "words"),
    [
        (["1", "2", "x"], [1], "'x', which is neither a number nor a date"),
        (["1,200", "3"], [1], "'1,200', which is neither"),
        ([True, False], [1], "'true'|'false'"),
        ([1, 2, 3], ["2024-01-01"], "holds numbers, but its cuts are dates"),
        ([dt.date(2024, 1, 1)], [3], "holds dates, but its cuts are numbers"),
        ([1, 2], [5], "lie in one range, '<= 5'"),
        ([1, 1], "quantile:2", "fewer than two different values"),
        ([None, None], "quantile:2", "fewer than two different values"),
        ([1, 2], [], "no cuts"),
        ([1, 2], "quantile", "no cuts"),
        ([1, 2], "quantile:1", "no cuts"),
        ([1, 2], [1, "2024-01-01"], "no cuts"),
        ([1, 2], [float("nan")], "no cuts"),
        ([1, 2], [True], "no cuts"),
        ([1, 2], "thirty", "no cuts"),
    ],
)
def test_what_cannot_be_cut_is_refused(values: list[object], cuts: object, words: str) -> None:
    with pytest.raises(credimi.CredimiError, match=words):
        credimi.rank({"x": [str(row) for row in range(len(values))], "y": values}, "y", target_cuts=cuts)


def test_refusals_name_the_way_to_cut() -> None:
    with pytest.raises(credimi.CredimiError, match=r"cut it into a few ranges \(target_cuts, --target-cuts\)"):
        credimi.rank({"x": ["a"] * 5000, "y": list(range(5000))}, "y", target_as="categories")
    with pytest.raises(credimi.CredimiError, match="leave out one of the two"):
        credimi.rank(TABLE, "age", target_cuts=[30], target_as="categories")
    with pytest.raises(credimi.CredimiError, match=r"cut the target by target_cuts \(--target-cuts\)"):
        credimi.rank(TABLE, "age", discretize={"age": "quantile"})


def test_quantiles_of_what_is_read_once_are_refused() -> None:
    table = pa.table(TABLE)
    with pytest.raises(credimi.CredimiError, match=r"is read once: pass the cuts themselves"):
        credimi.count(table.to_reader(), "age", target_cuts="quantile:4")
    assert credimi.count(table.to_reader(), "age", target_cuts=[40]) == credimi.count(table, "age", target_cuts=[40])


def test_quantiles_of_a_cluster_are_refused() -> None:
    dask = pytest.importorskip("dask.dataframe")
    frame = dask.from_pandas(pd.DataFrame(TABLE), npartitions=2)
    with pytest.raises(credimi.CredimiError, match=r"is not read twice: pass the cuts themselves"):
        credimi.count(frame, "age", target_cuts="quantile:4")
    assert credimi.count(frame, "age", target_cuts=[40]) == credimi.count(TABLE, "age", target_cuts=[40])


def test_a_hostile_file_is_refused() -> None:
    content = credimi.count(TABLE, "age", target_cuts=[30, 50]).to_bytes()
    header, arrays = counts_file.unpacked(content, "here")
    with pytest.raises(counts_header.FaultError, match="no places of the 2 ranges"):
        counts_header.read(header | {"target_cuts": [30.0]}, arrays)


def test_prequential() -> None:
    run = credimi.prequential(TABLE, "age", target_cuts="quantile:2", orders=1, rules=["all"])
    assert len(run.rows.classes) == 2
    assert run.rows.classes[0].startswith("<= ")
    assert run.accuracy.mean() > 0.6


def test_selector() -> None:
    frame = pd.DataFrame(COLUMNS)
    selector = credimi.CredibleSelector(target_cuts="quantile:3").fit(frame, AGES)
    assert selector.ranking_.columns == credimi.rank(TABLE, "age", target_cuts="quantile:3").columns
    given = credimi.CredibleSelector(target_cuts=[40], unlabeled=-1)
    given.partial_fit(frame[:200], AGES[:200]).partial_fit(frame[200:], np.where(AGES[200:] < 20, -1, AGES[200:]))
    assert given.counts_.interpreted_classes().totals.sum() == np.count_nonzero((AGES >= 20) | (np.arange(400) < 200))
    with pytest.raises(credimi.CredimiError, match="quantiles need all rows"):
        credimi.CredibleSelector(target_cuts="quantile:3").partial_fit(frame, AGES)
