"""Frames of mixed columns: numbers and dates are cut, others pass through."""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from credimi import CredimiError, EntropyDiscretizer, count

ROWS = 60
DAYS = pd.date_range("2024-01-01", periods=ROWS)
Y = [int(row >= 31) for row in range(ROWS)]
FRAME = pd.DataFrame(
    {
        "text": ["u", None, "w"] * 20,
        "number": [float(row) if row % 9 else np.nan for row in range(ROWS)],
        "day": DAYS,
        "group": pd.Categorical(["g", "h"] * 30),
        "object": np.array([day.date() for day in DAYS], dtype=object),
        "span": pd.to_timedelta(np.arange(ROWS), unit="s"),
    }
)


@pytest.mark.parametrize("library", ["pandas", "polars", "arrow"])
def test_numbers_and_dates_are_cut_others_pass(library: str) -> None:
    data: Any = {"pandas": FRAME, "polars": pl.from_pandas(FRAME), "arrow": pa.Table.from_pandas(FRAME)}[library]
    fitted = EntropyDiscretizer(output="labels").fit(data, Y)
    assert fitted.n_bins_.tolist() == [0, 2, 2, 0, 2, 2]
    assert fitted.bin_labels_[2] == fitted.bin_labels_[4] == ["<= 2024-01-31", "> 2024-01-31"]
    assert fitted.bin_labels_[5] == ["<= 30.5", "> 30.5"]
    assert fitted.dates_.tolist() == [False, False, True, False, True, False]
    out = fitted.transform(data)
    assert out[:4, 0].tolist() == ["u", None, "w", "u"]
    assert out[:2, 3].tolist() == ["g", "h"]
    assert out[0, 1] is None
    assert out[30:32, 2].tolist() == ["<= 2024-01-31", "> 2024-01-31"]
    codes = EntropyDiscretizer().fit(data, Y).transform(data)
    assert codes[30:32, 2].tolist() == [0.0, 1.0]
    assert np.isnan(codes[0, 1])


def test_only_what_was_cut_in_vain_is_dropped() -> None:
    frame = FRAME.assign(noise=[float(row % 2) for row in range(ROWS)])
    fitted = EntropyDiscretizer(drop_uninformative=True).set_output(transform="pandas").fit(frame, Y)
    out = fitted.transform(frame)
    assert list(out.columns) == list(FRAME.columns)
    assert out["text"].tolist()[0] == "u"


def test_a_frame_of_numbers_stays_one_of_doubles() -> None:
    out = EntropyDiscretizer().fit_transform(FRAME[["number", "day"]], Y)
    assert out.dtype == np.float64


def test_moments_between_days_are_named_to_the_second() -> None:
    moments = [dt.datetime(2024, 1, 1, tzinfo=dt.UTC) + dt.timedelta(hours=row) for row in range(ROWS)]
    fitted = EntropyDiscretizer().fit(pd.DataFrame({"at": moments}), Y)
    assert fitted.bin_labels_ == [["<= 2024-01-02T06:30:00", "> 2024-01-02T06:30:00"]]


def test_counts_of_dates_give_the_same() -> None:
    frame = FRAME[["number", "day"]]
    fitted = EntropyDiscretizer.from_counts(count(frame, Y))
    expected = EntropyDiscretizer().fit(frame, Y)
    assert fitted.bin_labels_ == expected.bin_labels_
    np.testing.assert_array_equal(fitted.transform(frame), expected.transform(frame))


def test_a_column_that_changes_its_kind_is_refused() -> None:
    fitted = EntropyDiscretizer().fit(FRAME[["number", "day"]], Y)
    with pytest.raises(CredimiError, match="column 'day' held dates in fit, and holds numbers now"):
        fitted.transform(FRAME[["number"]].assign(day=1.0))
    with pytest.raises(CredimiError, match="column 'number' holds no numbers and cannot be cut"):
        fitted.transform(FRAME[["day"]].assign(number="a")[["number", "day"]])


@pytest.mark.parametrize("column", [["a", "b"] * 5, [dt.date(2024, 1, 1)] * 10])
def test_columns_of_arrays_have_to_be_numbers(column: list[object]) -> None:
    array = np.array([[float(row), value] for row, value in enumerate(column)], dtype=object)
    with pytest.raises(
        CredimiError, match="column 'x1' holds no numbers and cannot be cut: leave it out, or pass a data frame"
    ):
        EntropyDiscretizer().fit(array, [0, 1] * 5)
