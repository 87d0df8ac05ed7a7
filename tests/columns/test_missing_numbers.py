"""A number that means missing means numbers only; a text means a number only as a table could hold it."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from credimi import CredimiError, IncrementalNaiveBayes, count
from credimi.columns.missing import MissingValues
from credimi.columns.reading_options import ReadingOptions
from credimi.counts.incremental_counts import IncrementalCounts

if TYPE_CHECKING:
    from pathlib import Path

DAY, SPAN, TIME = dt.date(1972, 9, 26), dt.timedelta(seconds=999), dt.time(0, 16, 39)  # 999 days, 999 seconds


def missing_in(data: Any, missing: list[Any], **options: Any) -> int:  # noqa: ANN401
    return int(count(data, "y", missing_values=missing, **options).blocks()[0][:, -1].sum())


@pytest.mark.parametrize(
    "values",
    [
        pa.array([DAY, dt.date(2024, 1, 1)]),
        pa.array([DAY, dt.date(2024, 1, 1)], pa.date64()),
        pa.array([dt.datetime(1972, 9, 26), dt.datetime(2024, 1, 1)]),  # noqa: DTZ001
        pa.array([SPAN, dt.timedelta(0)]),
        pa.array([TIME, dt.time(1)]),
        pa.array([DAY, dt.date(2024, 1, 1)]).dictionary_encode(),
        np.array(["1972-09-26", "2024-01-01"], dtype="M8[D]"),
        np.array([999, 0], dtype="m8[s]"),
        np.array([DAY, dt.date(2024, 1, 1)], dtype=object),
        np.array([SPAN, dt.timedelta(0)], dtype=object),
        np.array([np.timedelta64(999, "s"), np.timedelta64(1, "m")], dtype=object),
        pd.Series(pd.Categorical([pd.Timestamp(DAY), pd.Timestamp("2024-01-01")])),
        pl.Series([SPAN, dt.timedelta(0)]),
    ],
    ids=lambda values: f"{type(values).__name__} {getattr(values, 'type', getattr(values, 'dtype', ''))}",
)
@pytest.mark.parametrize("missing", [999, "999", 999.0])
def test_dates_and_spans_are_no_numbers(values: Any, missing: float | str) -> None:  # noqa: ANN401
    assert missing_in({"x": values, "y": ["p", "q"]}, [missing]) == 0
    target = count({"x": ["a", "b"], "y": values}, "y", missing_values=[missing])
    assert len(target.classes) == 2


@pytest.mark.parametrize("engine", ["files", "duckdb"])
def test_dates_of_files_are_no_numbers(tmp_path: Path, engine: str) -> None:
    if engine != "files":
        pytest.importorskip(engine)
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"y": ["p", "q", "q"], "x": [DAY, DAY, None]}), path)
    assert missing_in(path, [999], engine=engine) == 1


def test_many_spans_are_no_numbers() -> None:
    spans = np.arange(300).astype("m8[s]")  # more than are looked up in a cache
    assert missing_in({"x": spans, "y": ["p", "q"] * 150}, [77]) == 0


def test_a_date_means_the_date_in_all_formats(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("y,x\np,9999-12-31\nq,2024-01-01\n")
    dates = pa.array([dt.date(9999, 12, 31), dt.date(2024, 1, 1)])
    table = pa.table({"y": ["p", "q"], "x": dates})
    assert missing_in(path, ["9999-12-31"]) == missing_in(table, ["9999-12-31"]) == 1
    assert missing_in(pa.table({"y": ["p", "q"], "x": dates.cast(pa.timestamp("s"))}), ["9999-12-31"]) == 1


def test_numbers_are_still_found() -> None:
    assert missing_in({"x": [999, 1], "y": ["p", "q"]}, [999]) == 1
    assert missing_in({"x": np.array([999.0, 1.0]), "y": ["p", "q"]}, ["999"]) == 1
    assert missing_in({"x": [Decimal("0.35"), Decimal(1)], "y": ["p", "q"]}, [0.35]) == 1
    assert missing_in({"x": ["999", "1"], "y": ["p", "q"]}, [999]) == 1


def test_rows_one_at_a_time_agree() -> None:
    ledger = IncrementalCounts.empty("y", ["x"], ReadingOptions.of([1, 999], "mdl"))
    assert not ledger.missing.means(True)  # noqa: FBT003
    assert not ledger.missing.means(np.timedelta64(999))
    assert ledger.missing.means(999)
    for span in (np.timedelta64(5, "s"), np.timedelta64(5000, "ms"), np.timedelta64(999, "s"), np.timedelta64(5, "ms")):
        ledger.enter([span], "p")
    own = ledger.counts
    assert own.labels[0].numbers.tolist() == [0.005, 5.0, 999.0]
    assert own.blocks()[0][0].tolist() == [1, 2, 1, 0]


@pytest.mark.parametrize("text", ["1_0", "1_0.0", "1e1_0"])
def test_an_underscore_makes_no_number(tmp_path: Path, text: str) -> None:
    assert not MissingValues([text]).numbers
    path = tmp_path / "a.csv"
    path.write_text("y,x\np,10\nq,10.0\nq,1e10\n")
    assert missing_in(path, [text]) == 0
    path.write_text(f"y,x\np,{text}\nq,10\n")
    assert missing_in(path, [10]) == 1  # the 10 alone
    assert missing_in(path, [text]) == 1
    assert missing_in({"x": [10, 20], "y": ["p", "q"]}, [text]) == 0


def test_an_underscore_makes_no_cut() -> None:
    with pytest.raises(CredimiError, match="is no list of cuts"):
        ReadingOptions.of([], {"x": ["1_0"]})
    assert ReadingOptions.of([], {"x": ["10", "2024-01-01"]}).discretize == {"x": [10.0, 19723.0]}


def test_an_underscore_is_no_number_when_classes_are_told() -> None:
    learner = IncrementalNaiveBayes(discretize={"x": [5]}).fit(
        pd.DataFrame({"x": [1.0, 2.0, 10.0, 11.0] * 9}), ["p", "p", "q", "q"] * 9
    )
    odds = learner.predict_proba(pd.DataFrame({"x": ["1_0", "nothing"]}))
    assert odds[0].tolist() == odds[1].tolist()


@pytest.mark.parametrize("step", [1, -1])
def test_whole_numbers_beyond_doubles_stay_apart(step: int) -> None:
    limit = 2**53 * step
    beyond = limit + step
    for values in (
        np.array([limit, beyond]),
        pa.array([limit, beyond]),
        [limit, beyond],
        [Decimal(limit), Decimal(beyond)],
        pa.array([Decimal(limit), Decimal(beyond)], pa.decimal128(38, 0)),
        pa.array([Decimal(limit), Decimal(beyond)], pa.decimal256(60, 0)),
    ):
        counts = count({"x": values, "y": ["p", "q"]}, "y", missing_values=[])
        assert sorted(counts.labels[0].shown()) == sorted([str(limit), str(beyond)])
        for missing in (beyond, str(beyond), np.int64(beyond)):
            left = count({"x": values, "y": ["p", "q"]}, "y", missing_values=[missing])
            assert left.labels[0].shown() == (str(limit),), missing
            assert missing_in({"x": np.array([limit, 1]), "y": ["p", "q"]}, [missing]) == 0
        assert missing_in({"x": values, "y": ["p", "q"]}, [limit]) == 1


def test_whole_numbers_beyond_doubles_in_parts_and_in_one() -> None:
    small, large = {"x": [1, 2**53], "y": ["p", "q"]}, {"x": [2**53 + 1, 2], "y": ["p", "q"]}
    whole = {name: small[name] + large[name] for name in small}
    assert count(small, "y") + count(large, "y") == count(whole, "y")
    kind = pa.decimal128(38, 0)
    parts = [{"x": pa.array(map(Decimal, each["x"]), kind), "y": each["y"]} for each in (small, large, whole)]
    assert count(parts[0], "y") + count(parts[1], "y") == count(parts[2], "y") == count(whole, "y")


def test_whole_decimals_are_numbers_like_integers() -> None:
    decimals = pa.array([Decimal(number) for number in range(50)] + [None], pa.decimal128(38, 0))
    kept = count({"x": decimals, "y": ["p", "q", "p"] * 17}, "y").labels[0]
    assert kept.kind == "number"
    assert kept.numbers.tolist() == list(range(50))
