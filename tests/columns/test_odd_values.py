"""Values and columns at the edges of what libraries take: they are counted, or refused by name."""

from __future__ import annotations

import sys
from decimal import Decimal
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from credimi import CredimiError, count, network, pairs, rank, rank_by, select
from credimi.cli import main
from credimi.columns import arrow_buffers
from credimi.columns.encode import encode
from credimi.columns.text_types import shown_date

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

CLASSES = ["p", "q", "p"] * 2


@pytest.mark.parametrize("kinds", [(pa.binary(), pa.string()), (pa.large_binary(), pa.large_string())])
def test_text_of_arrow_may_be_none(tmp_path: Path, kinds: tuple[pa.DataType, pa.DataType]) -> None:
    """Arrow does not check its texts: such a column is refused by its name, in every function, or left out."""
    broken = pa.array([b"\xfe", b"a", b"?", b"a"] * 10, kinds[0]).view(kinds[1])
    table = pa.table({"y": ["p", "q"] * 20, "x": broken, "z": ["u", "v", "v", "u"] * 10})
    path = tmp_path / "data.parquet"
    pq.write_table(table, path)
    for data in (table, path):
        calls: list[Callable[..., Any]] = [
            lambda data=data, **options: rank(data, "y", **options),
            lambda data=data, **options: rank_by(data, "y", "z", **options),
            lambda data=data, **options: select(data, "y", **options),
            lambda data=data, **options: select(data, "y", scratch=tmp_path, **options),
            lambda data=data, **options: pairs(data, **options),
            lambda data=data, **options: network(data, **options),
        ]
        for call in calls:
            with pytest.raises(
                CredimiError, match="column 'x' holds bytes that are not UTF-8: decode them, or leave it"
            ):
                call()
        assert pairs(data, exclude=["x"]).names == ("y", "z")
        for call in (lambda data=data: rank(data, "x"), lambda data=data: rank(data, "y", weights="x")):
            with pytest.raises(CredimiError, match="column 'x' holds bytes that are not UTF-8"):
                call()


def shown(values: Any) -> tuple[str, ...]:  # noqa: ANN401
    return count(pa.table({"x": values, "y": CLASSES}), "y").labels[0].shown()


# Arrow's columns in several pieces


def in_pieces(values: list[Any], kind: Any) -> Any:  # noqa: ANN401
    """Two pieces, each with a dictionary of its own."""
    indices = pa.array([0, 1, None], pa.int8())
    dictionaries = [pa.array(each, kind) for each in (values, values[::-1])]
    return pa.chunked_array([pa.DictionaryArray.from_arrays(indices, each) for each in dictionaries])


@pytest.mark.parametrize(
    ("values", "kind", "expected"),
    [
        (["a", "b"], pa.string_view(), ("a", "b")),
        (["a", None], pa.string_view(), ("a",)),
        (["a" * 30, None], pa.string_view(), ("a" * 30,)),
        ([b"a", None], pa.binary_view(), ("a",)),
        (["a", None], pa.string(), ("a",)),
        ([np.float16(1.5), np.float16(2)], pa.float16(), ("1.5", "2")),
        ([None, None], pa.null(), ()),
    ],
)
def test_dictionaries_in_pieces(values: list[Any], kind: Any, expected: tuple[str, ...]) -> None:  # noqa: ANN401
    assert shown(in_pieces(values, kind)) == expected


def test_dictionaries_of_lists_in_pieces_are_refused_as_in_one() -> None:
    lists = in_pieces([[1], [2]], pa.list_(pa.int8()))
    assert shown(lists) == ("values of type list",)
    with pytest.raises(CredimiError, match="column 'x' holds values of type list"):
        count(pa.table({"x": lists, "y": CLASSES}), "y", features=["x"])


@pytest.mark.parametrize("kind", [pa.string(), pa.binary()])
def test_pieces_of_more_bytes_than_offsets_reach(kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: ANN401
    """Two GiB are not made here: what matters is that the pieces are joined with offsets of 64 bits."""
    pieces = pa.chunked_array([["a", "b", None], ["c", "b", "a"]], kind)
    assert arrow_buffers.one_chunk(pieces).type == kind
    monkeypatch.setattr(arrow_buffers, "_MAX_BYTES", 10)
    joined = arrow_buffers.one_chunk(pieces)
    assert joined.type == {pa.string(): pa.large_string(), pa.binary(): pa.large_binary()}[kind]
    assert joined.to_pylist() == pieces.to_pylist()
    assert shown(pieces) == ("a", "b", "c")
    decoded = in_pieces(["a", None], kind)  # which cannot be made one dictionary
    assert arrow_buffers.one_chunk(decoded).type == joined.type


# Python's objects


@pytest.mark.parametrize("times", [1, 700])
def test_a_decimal_that_signals_is_missing(times: int) -> None:
    decimals = np.array([Decimal("1.5"), Decimal("sNaN"), Decimal("-sNaN7")] * 2 * times, dtype=object)
    counts = count({"x": decimals, "y": CLASSES * times}, "y")
    assert counts.labels[0].shown() == ("1.5",)
    assert counts.blocks()[0][:, -1].sum() == 4 * times
    assert count({"x": CLASSES * times, "y": decimals}, "y").classes.shown() == ("1.5",)


def test_whole_numbers_that_python_does_not_write() -> None:
    counts = count({"x": [10**5_000, 2, 2] * 2, "y": CLASSES}, "y")
    assert sorted(counts.labels[0].shown()) == [hex(10**5_000), "2"]


@pytest.mark.parametrize(("value", "other"), [(10**5_000, 2), ("9" * 5_000, "2")], ids=["number", "text"])
def test_whole_numbers_that_python_does_not_write_may_mean_missing(value: int | str, other: int | str) -> None:
    counts = count({"x": [value, other, other] * 2, "y": CLASSES}, "y", missing_values=[value])
    assert counts.labels[0].shown() == ("2",)


# dates


@pytest.mark.parametrize(
    ("value", "unit", "expected"),
    [
        (10**14, "s", "3170843-11-07"),
        (-(10**14), "s", "-3166904-02-24"),
        (2**62, "ms", "146140482-04-24"),
        (2**62, "us", "148108-07-06T14:00:27.387904"),
        (2**62, "s", "146138514283-06-19"),
    ],
)
def test_timestamps_beyond_microseconds(value: int, unit: str, expected: str) -> None:
    table = pa.table({"x": pa.array([value, 0, None] * 2, pa.timestamp(unit)), "y": CLASSES})
    assert set(count(table, "y").labels[0].shown()) == {expected, "1970-01-01"}
    assert str(np.datetime64(value, unit)).startswith(expected)
    text = str(rank(table.rename_columns(["y", "x"]), "y"))
    assert expected in text


def test_the_last_day_in_microseconds() -> None:
    for days in (106_751_991, 106_751_992, -106_751_992):
        assert shown_date(float(days)) == str(np.datetime64(days, "D"))
    assert shown_date(1e30) == "1e+30 days since 1970"


@pytest.mark.parametrize(
    ("value", "unit"), [(2**40, "D"), (2**31, "D"), (-(2**31) - 1, "D"), (10**9, "Y"), (10**8, "W")]
)
def test_days_of_numpy_beyond_those_of_arrow(value: int, unit: str) -> None:
    """Arrow has 32 bits for a day, and takes others for another day without a word."""
    dates = np.array([np.datetime64(value, unit), np.datetime64(0, unit), np.datetime64("NaT")] * 2)
    found = count({"x": dates, "y": CLASSES}, "y").labels[0]
    assert set(found.shown()) == {"1970-01-01", str(dates[0].astype("M8[D]"))}
    assert count({"x": list(dates), "y": CLASSES}, "y").labels[0] == found


@pytest.mark.parametrize(("kind", "unit"), [("M", "h"), ("M", "W"), ("M", "m"), ("m", "h"), ("m", "D")])
def test_instants_and_spans_that_numpy_would_turn_round(kind: str, unit: str) -> None:
    """In the unit that Arrow has they are more than 64 bits hold; numpy says nothing, and makes others of them."""
    values = np.array([2**60, 1, 2] * 2).astype(f"{kind}8[{unit}]")
    with pytest.raises(CredimiError, match="column 'x' holds dates or durations of 100,000,000,000 years and more"):
        encode(values, "x")
    assert "beyond all calendars" in rank({"x": values, "y": CLASSES}, "y")["x"]["note"]


# other libraries


def test_pandas_that_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    ranking = rank({"x": CLASSES, "y": CLASSES}, "y")
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(CredimiError, match="pandas is not installed: pip install pandas"):
        ranking.to_pandas()


@pytest.mark.parametrize("scheduler", ["sync", "threads"])
def test_a_partition_of_dask_without_the_column(scheduler: str) -> None:
    dask = pytest.importorskip("dask")
    frames = pytest.importorskip("dask.dataframe")
    pandas = pytest.importorskip("pandas")
    whole = pandas.DataFrame({"x": CLASSES, "y": CLASSES, "z": CLASSES})
    parts = [dask.delayed(whole), dask.delayed(whole.drop(columns="x"))]
    frame = frames.from_delayed(parts, meta=whole, verify_meta=False)
    with dask.config.set(scheduler=scheduler):
        with pytest.raises(CredimiError, match="a partition of the Dask DataFrame lacks the column 'x'"):
            count(frame, "y")
        assert count(frame, "y", features=["z"]).rows == 12


def test_a_picture_of_names_with_controls_is_valid(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{row % 2},{row % 3 % 2},{row % 2}\n" for row in range(60))
    (tmp_path / "a.csv").write_text(f"a\x1b[31m\x07,b\x00\x0b\ufffe,y\x1f\n{rows}", encoding="utf-8", newline="")
    assert main(["rank", "a.csv", "--target", "y\x1f", "--plot", "a.svg", "--output", "found"]) == 0
    ET.fromstring((tmp_path / "a.svg").read_bytes())  # noqa: S314  (made here)
    comments = (tmp_path / "a.svg").read_text(encoding="utf-8")
    assert r"a\x1b[31m\x07" in comments
