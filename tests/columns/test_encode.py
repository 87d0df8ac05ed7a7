"""`encode`: a column of any kind becomes codes, and what the codes stand for is what the column held."""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from credimi.columns import text_types
from credimi.columns.encode import encode
from credimi.columns.labels import BOOLEAN, NUMBER, RAW, TEXT
from credimi.core.errors import CredimiError

if TYPE_CHECKING:
    from collections.abc import Sequence

LONG = "a prefix that is longer than sixteen bytes, "
MICROSECONDS = 86_400_000_000  # of a day
both_ways = pytest.mark.parametrize("compiled", [False, True], ids=["plain", "compiled"])


def decoded(values: object, *, raw: bool = False, compiled: bool = False) -> tuple[str, list[Any]]:
    """The kind, and row by row what its code stands for; None where it stands for nothing."""
    column = encode(values, "x", raw=raw, compiled=compiled)
    assert column.codes.dtype.kind == "u"
    assert column.codes.ndim == 1
    largest = np.iinfo(column.codes.dtype).max
    assert column.values <= largest
    labels = column.texts if column.numbers is None else column.numbers.tolist()
    assert len(labels) == column.values
    for code in np.unique(column.codes):
        assert code < column.values or code == largest
    return column.kind, [labels[code] if code < column.values else None for code in column.codes.tolist()]


def objects(*items: object) -> Any:  # noqa: ANN401
    """A column of Python's objects, each cell the object itself."""
    array = np.empty(len(items), dtype=object)
    for row, item in enumerate(items):
        array[row] = item
    return array


def spaced(first: int, second: int) -> list[str]:
    return [f"value {number}" for number in range(first, second)]


# Text

TEXTS: list[list[str | None]] = [
    [],
    [None],
    [None, None, None],
    [""],
    ["", None, ""],
    ["a"],
    ["a", "b", "a", None],
    ["a", "a ", " a", "A"],
    ["é", "e\u0301", "日本語", "🙂", "🙂🙂", "\u0000", "\u0000\u0000", ""],
    ["x" * length for length in range(40)],
    ["12345678", "12345678\u0000", "1234567", "123456789"],
    ["abcdefgh-abcdefgh", "abcdefgh_abcdefgh", "abcdefghxabcdefgh"],  # 17 bytes, ends alike
    [LONG + tail for tail in ("x", "y", "z", "x")],
    [head + LONG for head in ("x", "y", "z", "x")],
    [LONG + middle + LONG for middle in ("x", "y", "xy", "yx", "x")],
    ["01234567" * 4, "01234567" * 3, "01234567" * 5, "76543210" * 4, "01234567" * 4],
    spaced(0, 254),
    spaced(0, 255),
    spaced(0, 256),
    [*spaced(0, 255), None, *spaced(0, 255)],
    [None, *spaced(0, 300), None, *spaced(100, 200)],
]


@both_ways
@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view()], ids=str)
@pytest.mark.parametrize("texts", TEXTS, ids=lambda texts: f"{len(texts)} texts")
def test_text_of_arrow_is_what_it_was(texts: list[str | None], kind: pa.DataType, *, compiled: bool) -> None:
    assert decoded(pa.array(texts, kind), compiled=compiled) == (TEXT, texts)
    assert decoded(pa.array(texts, kind), raw=True, compiled=compiled) == (RAW, texts)


@both_ways
@pytest.mark.parametrize("texts", TEXTS, ids=lambda texts: f"{len(texts)} texts")
def test_text_in_objects_is_what_it_was(texts: list[str | None], *, compiled: bool) -> None:
    assert decoded(objects(*texts), compiled=compiled) == (TEXT, texts)


@both_ways
@pytest.mark.parametrize("texts", [texts for texts in TEXTS if texts and None not in texts and "\0" not in texts])
def test_text_of_numpy_is_what_it_was(texts: list[str], *, compiled: bool) -> None:
    kept = [text.rstrip("\0") for text in texts]  # numpy fills up with zeros, and drops them
    assert decoded(np.array(texts), compiled=compiled) == (TEXT, kept)
    assert decoded(np.array(texts, dtype=np.dtypes.StringDType()), compiled=compiled) == (TEXT, texts)


@both_ways
@pytest.mark.parametrize(("start", "length"), [(0, 3), (1, 5), (7, 9), (8, 0), (13, 20)])
def test_slice_of_text_is_read_from_where_it_starts(start: int, length: int, *, compiled: bool) -> None:
    texts = [None if row % 3 == 0 else f"{LONG * (row % 2)}{row % 5}" for row in range(40)]
    part = pa.array(texts).slice(start, length)
    assert decoded(part, compiled=compiled) == (TEXT, texts[start : start + length])


@both_ways
@given(
    texts=st.lists(
        st.none() | st.text(st.sampled_from("ab\0é"), max_size=4) | st.text(st.sampled_from("ab"), max_size=30)
    ),
    start=st.integers(0, 8),
)
@example(texts=["a" * 17, "a" * 9 + "b" + "a" * 7], start=0)
def test_any_text_is_what_it_was(texts: list[str | None], start: int, *, compiled: bool) -> None:
    array = pa.array(texts, pa.string())
    assert decoded(array, compiled=compiled) == (TEXT, texts)
    assert decoded(array.slice(start), compiled=compiled) == (TEXT, texts[start:])
    assert decoded(objects(*texts), compiled=compiled) == (TEXT, texts)


VOCABULARIES: dict[str, list[str]] = {
    "bytes": [chr(code) for code in range(128)],
    "two": ["0", "1"],
    "empty": ["", "y"],
    "nothing but empty": [""],
    "words": ["", "no", "yes", "maybe", "unknown", "eight888", "n", "no\0", "é", "日本"],
    "many words": [f"w{number}" for number in range(250)],  # some of which share a slot
    "longer": ["no", "exactly 9", "sixteen bytes 16", LONG + "x", LONG + "y"],
}


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()], ids=str)
@pytest.mark.parametrize("missing", [0.0, 0.1, 1.0])
@pytest.mark.parametrize("vocabulary", VOCABULARIES)
def test_many_rows_are_what_they_were(vocabulary: str, missing: float, kind: pa.DataType) -> None:
    """Rows are looked up hundreds at a time, as long as all their texts are known and short."""
    generator = np.random.default_rng(1)
    for rows, start in ((255, 0), (256, 3), (257, 0), (3000, 0), (3000, 13)):
        words = generator.choice(np.array(VOCABULARIES[vocabulary], dtype=object), rows)
        cells = [None if gone else word for word, gone in zip(words, generator.random(rows) < missing, strict=True)]
        texts: list[str | None] = [*cells, *cells[::-1]]
        assert decoded(pa.array(texts, kind).slice(start), compiled=True) == (TEXT, texts[start:])


def test_what_lies_under_a_null_is_not_looked_at() -> None:
    """Arrow allows any text there: of one byte, of eight, or longer than all others."""
    for hidden in ("z", "hidden!!", LONG):
        texts = [("yes", "no", hidden)[row % 3] for row in range(2000)]
        plain = pa.array(texts)
        bits = np.packbits([text != hidden for text in texts], bitorder="little")
        array = pa.Array.from_buffers(pa.string(), len(texts), [pa.py_buffer(bits), *plain.buffers()[1:]])
        assert decoded(array, compiled=True) == (TEXT, [None if text == hidden else text for text in texts])


@both_ways
@pytest.mark.parametrize("chunks", [[], [["a"]], [["a", None], [], ["b", "a"]], [[], []]])
def test_chunks_are_read_as_one(chunks: list[list[str | None]], *, compiled: bool) -> None:
    array = pa.chunked_array([pa.array(chunk, pa.string()) for chunk in chunks], pa.string())
    assert decoded(array, compiled=compiled) == (TEXT, [text for chunk in chunks for text in chunk])


@pytest.mark.parametrize("kind", [pa.binary(), pa.large_binary()], ids=str)
def test_bytes_are_text_if_they_are_utf8(kind: pa.DataType) -> None:
    assert decoded(pa.array([b"a", None, "é".encode()], kind)) == (TEXT, ["a", None, "é"])
    with pytest.raises(CredimiError, match="column 'x' holds bytes that are not UTF-8"):
        encode(pa.array([b"\xff"], kind), "x")


def test_bytes_of_fixed_length_and_of_numpy_are_text() -> None:
    assert decoded(pa.array([b"ab", None, b"cd"], pa.binary(2))) == (TEXT, ["ab", None, "cd"])
    assert decoded(np.array([b"ab", b"c"])) == (TEXT, ["ab", "c"])


@both_ways
def test_bytes_in_objects_are_text(*, compiled: bool) -> None:
    assert decoded(objects(b"ab", None, b"c"), compiled=compiled) == (TEXT, ["ab", None, "c"])


@both_ways
@pytest.mark.parametrize("size", [2, 300])
def test_halves_of_characters_are_shown_as_such(size: int, *, compiled: bool) -> None:
    """Python's text may hold what no file can: a file name that is not UTF-8 does."""
    texts = [f"\udcff{row}" for row in range(size)]
    shown = [f"\\udcff{row}" for row in range(size)]
    assert decoded(objects(*texts), compiled=compiled) == (TEXT, shown)
    assert decoded(np.array(texts), compiled=compiled) == (TEXT, shown)


# Numbers


@both_ways
@pytest.mark.parametrize(
    ("dtype", "span"),
    [
        (dtype, span)
        for dtype in ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", ">i2", ">i8", ">u4")
        for span in (0, 1, 200, 254, 255, 256, 65_534, 65_535, 70_000)
        if max(np.iinfo(dtype).min, -100) + span <= np.iinfo(dtype).max
    ],
)
def test_integers_of_every_type_and_range(dtype: str, span: int, *, compiled: bool) -> None:
    kind = np.dtype(dtype)
    least = max(np.iinfo(kind).min, -100)
    most = least + span
    values = np.array([least, most, least, (least + most) // 2], dtype=kind)
    assert decoded(values, compiled=compiled) == (NUMBER, values.tolist())
    if kind.isnative:
        assert decoded(pa.array(values), compiled=compiled) == (NUMBER, values.tolist())
        with_null = pa.array([*values.tolist(), None], pa.from_numpy_dtype(kind))
        assert decoded(with_null, compiled=compiled) == (NUMBER, [*values.tolist(), None])


@both_ways
@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64"])
def test_most_negative_integers(dtype: str, *, compiled: bool) -> None:
    least = np.iinfo(dtype).min
    values = [least, -1, 0, least]
    expected = (NUMBER, values) if dtype != "int64" else (TEXT, [str(value) for value in values])
    assert decoded(np.array(values, dtype=dtype), compiled=compiled) == expected


@both_ways
@pytest.mark.parametrize("beyond", [[2**53 + 1, 2**53 + 2], [2**64 - 1, 2**64 - 2], [-(2**53) - 1, -(2**53) - 2]])
def test_integers_beyond_doubles_stay_apart_as_text(beyond: list[int], *, compiled: bool) -> None:
    texts = [str(number) for number in beyond]
    dtype = np.uint64 if beyond[0] > 0 else np.int64
    assert decoded(np.array(beyond, dtype=dtype), compiled=compiled) == (TEXT, texts)
    assert decoded(pa.array([*beyond, None], pa.from_numpy_dtype(dtype)), compiled=compiled) == (TEXT, [*texts, None])
    assert decoded(objects(*beyond, None), compiled=compiled) == (TEXT, [*texts, None])


@both_ways
@pytest.mark.parametrize("size", [1, 300])
def test_integers_beyond_any_type_stay_apart_as_text(size: int, *, compiled: bool) -> None:
    huge = [10**400 + row for row in range(size)]
    assert decoded(objects(*huge), compiled=compiled) == (TEXT, [str(number) for number in huge])


@both_ways
def test_integers_up_to_2_53_are_numbers(*, compiled: bool) -> None:
    values = [2**53, -(2**53), 0]
    assert decoded(np.array(values), compiled=compiled) == (NUMBER, values)
    assert decoded(pa.array(values), compiled=compiled) == (NUMBER, values)
    assert decoded(objects(*values), compiled=compiled) == (NUMBER, values)


FLOATS = [1.5, math.nan, -2.0, 0.0, math.inf, -math.inf, 1.5, 5e-324, 1e308]


@both_ways
@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", ">f4", ">f8", "longdouble"])
def test_floats_of_every_type_nan_is_missing(dtype: str, *, compiled: bool) -> None:
    with np.errstate(over="ignore"):
        values = np.array(FLOATS).astype(dtype)
    expected = [None if math.isnan(value) else value for value in values.astype("f8").tolist()]
    assert decoded(values, compiled=compiled) == (NUMBER, expected)


@both_ways
def test_floats_of_arrow_null_and_nan_are_missing(*, compiled: bool) -> None:
    expected = [None if math.isnan(value) else value for value in FLOATS]
    assert decoded(pa.array([*FLOATS, None]), compiled=compiled) == (NUMBER, [*expected, None])
    single = [1.5, None, math.nan, 0.1]
    assert decoded(pa.array(single, pa.float32()), compiled=compiled) == (
        NUMBER,
        [1.5, None, None, float(np.float32(0.1))],
    )


@both_ways
@pytest.mark.parametrize("size", [254, 255, 256, 65_535, 65_536, 70_000])
def test_many_floats_with_nan_among_them(size: int, *, compiled: bool) -> None:
    values = np.arange(size) + 0.5
    values[size // 2] = np.nan
    kind, found = decoded(values, compiled=compiled)
    assert kind == NUMBER
    assert found.count(None) == 1
    assert found[size // 2] is None
    assert found[:10] + found[-10:] == [*values[:10].tolist(), *values[-10:].tolist()]


@both_ways
@pytest.mark.parametrize("size", [3, 300])
def test_numbers_in_objects(size: int, *, compiled: bool) -> None:
    cells: list[Any] = [None, math.nan, np.float32("nan")]
    expected: list[float | None] = [None, None, None]
    for row in range(size):
        cells += [row, row + 0.5, np.int8(row % 100), np.float32(row)]
        expected += [row, row + 0.5, row % 100, row]
    assert decoded(objects(*cells), compiled=compiled) == (NUMBER, expected)


@both_ways
@pytest.mark.parametrize("size", [3, 300])
def test_decimals_are_numbers(size: int, *, compiled: bool) -> None:
    cells = [Decimal(row) / 2 for row in range(size)]
    halves = [row / 2 for row in range(size)]
    assert decoded(objects(*cells, None, Decimal("NaN")), compiled=compiled) == (NUMBER, [*halves, None, None])
    assert decoded(pa.array([*cells, None], pa.decimal128(10, 2)), compiled=compiled) == (NUMBER, [*halves, None])
    assert decoded(pa.array([*cells, None], pa.decimal256(60, 2)), compiled=compiled) == (NUMBER, [*halves, None])


@both_ways
@settings(deadline=None)  # a kernel may be compiled
@given(values=st.lists(st.none() | st.integers(-(2**53), 2**53) | st.integers(-300, 300)))
def test_any_integers_are_what_they_were(values: list[int | None], *, compiled: bool) -> None:
    assert decoded(pa.array(values, pa.int64()), compiled=compiled)[1] == values
    assert decoded(objects(*values), compiled=compiled)[1] == values
    present = [value for value in values if value is not None]
    assert decoded(np.array(present, dtype=np.int64), compiled=compiled)[1] == present


@both_ways
@settings(deadline=None)
@given(values=st.lists(st.none() | st.floats(allow_nan=True)))
def test_any_floats_are_what_they_were(values: list[float | None], *, compiled: bool) -> None:
    expected = [None if value is None or math.isnan(value) else value for value in values]
    assert decoded(pa.array(values, pa.float64()), compiled=compiled) == (NUMBER, expected)
    present = [math.nan if value is None else value for value in values]
    assert decoded(np.array(present, dtype=np.float64), compiled=compiled) == (NUMBER, expected)


# Truth values


@both_ways
@pytest.mark.parametrize("cells", [[True, False], [False], [True, None, False, True], [None, True]])
def test_truth_values(cells: list[bool | None], *, compiled: bool) -> None:
    expected = [None if cell is None else str(cell).lower() for cell in cells]
    assert decoded(pa.array(cells, pa.bool_()), compiled=compiled) == (BOOLEAN, expected)
    assert decoded(objects(*cells), compiled=compiled) == (BOOLEAN, expected)
    as_numpy = objects(*(None if cell is None else np.bool_(cell) for cell in cells))
    assert decoded(as_numpy, compiled=compiled) == (BOOLEAN, expected)
    if None not in cells:
        assert decoded(np.array(cells), compiled=compiled) == (BOOLEAN, expected)


# Dates and times


DAY = dt.date(1970, 1, 1)


@both_ways
@pytest.mark.parametrize("size", [3, 300])
def test_dates_are_numbers_in_order_in_arrow_in_numpy_and_as_objects(size: int, *, compiled: bool) -> None:
    days = list(range(-size // 2, size // 2))
    dates = [DAY + dt.timedelta(days=day) for day in days]
    expected = (NUMBER, [*map(float, days), None])
    assert decoded(pa.array([*dates, None]), compiled=compiled) == expected
    assert decoded(np.array([*dates, "NaT"], dtype="M8[D]"), compiled=compiled) == expected
    assert decoded(objects(*dates, None), compiled=compiled) == expected


@pytest.mark.parametrize("unit", ["Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "2D", "15m"])
def test_times_of_every_unit_keep_their_order_and_their_holes(unit: str) -> None:
    kind, values = decoded(np.array([3, 1, "NaT", 2, 3], dtype=f"M8[{unit}]"))
    assert kind == NUMBER
    assert values[2] is None
    assert values[1] < values[3] < values[0] == values[4]


@pytest.mark.parametrize("unit", ["W", "D", "h", "m", "s", "ms", "us", "ns"])
def test_spans_of_every_unit_keep_their_order_and_their_holes(unit: str) -> None:
    kind, values = decoded(np.array([3, 1, "NaT", 2, 3], dtype=f"m8[{unit}]"))
    assert kind == NUMBER
    assert values[2] is None
    assert values[1] < values[3] < values[0] == values[4]


@both_ways
@pytest.mark.parametrize(
    "kind",
    [
        pa.date32(),
        pa.date64(),
        pa.time32("s"),
        pa.time64("us"),
        pa.timestamp("ns"),
        pa.timestamp("s", "UTC"),
        pa.duration("ms"),
    ],
    ids=str,
)
def test_times_of_arrow_are_numbers(kind: pa.DataType, *, compiled: bool) -> None:
    day = 86_400_000
    cells = pa.array([day, None, 0], pa.int64() if kind.bit_width == 64 else pa.int32()).view(kind)
    a_second = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
    expected = 1.0 if pa.types.is_date(kind) else day / a_second[kind.unit]
    if kind == pa.date32():
        expected = float(day)
    if pa.types.is_timestamp(kind):
        expected /= 86_400.0
    assert decoded(cells, compiled=compiled) == (NUMBER, [expected, None, 0.0])


@given(st.lists(st.none() | st.integers(-4_000_000_000, 8_000_000_000), min_size=1))
def test_times_are_the_same_in_every_unit(seconds: list[int | None]) -> None:
    spans = (NUMBER, [None if second is None else float(second) for second in seconds])
    instants = (NUMBER, [None if second is None else second * 10**6 / MICROSECONDS for second in seconds])
    for unit, factor in (("s", 1), ("ms", 10**3), ("us", 10**6), ("ns", 10**9)):
        cells = pa.array([None if second is None else second * factor for second in seconds], pa.int64())
        assert decoded(cells.view(pa.timestamp(unit))) == instants
        assert decoded(cells.view(pa.timestamp(unit)).dictionary_encode()) == instants
        assert decoded(cells.view(pa.duration(unit))) == spans


def test_dates_are_the_same_in_both_types() -> None:
    days = [dt.date(1969, 12, 31), None, dt.date(2020, 2, 29)]
    assert decoded(pa.array(days, pa.date64())) == decoded(pa.array(days, pa.date32()))


DAYS = [dt.date(1, 1, 1), dt.date(1969, 12, 30), None, dt.date(1970, 1, 1), dt.date(2020, 2, 29), dt.date(9999, 12, 31)]


def midnights() -> list[dt.datetime | None]:
    return [None if day is None else dt.datetime(day.year, day.month, day.day) for day in DAYS]  # noqa: DTZ001


@both_ways
def test_dates_are_midnights(*, compiled: bool) -> None:
    expected = decoded(pa.array(DAYS, pa.date32()))
    assert expected == (NUMBER, [None if day is None else float(day.toordinal() - 719_163) for day in DAYS])
    for unit in ("s", "ms", "us"):
        assert decoded(pa.array(midnights(), pa.timestamp(unit)), compiled=compiled) == expected
        assert decoded(np.array(midnights(), f"datetime64[{unit}]"), compiled=compiled) == expected
    assert decoded(np.array(DAYS, "datetime64[D]"), compiled=compiled) == expected
    assert decoded(objects(*DAYS), compiled=compiled) == decoded(objects(*midnights()), compiled=compiled) == expected


@both_ways
@given(moments=st.lists(st.none() | st.datetimes(dt.datetime(1700, 1, 1), dt.datetime(2200, 1, 1)), min_size=1))  # noqa: DTZ001
@example([dt.datetime(1969, 12, 31, 23, 59, 59, 999_999), dt.datetime(1970, 1, 1, 0, 0, 0, 1)])  # noqa: DTZ001
def test_instants_are_the_same_from_everywhere(moments: list[dt.datetime | None], *, compiled: bool) -> None:
    """Also as `columns.text_types.readable` has them, which reads dates of CSV files on request."""
    read = text_types.readable([moment.isoformat() for moment in moments if moment is not None])
    texts = iter([] if read is None else read[0])
    kind, instants = decoded(pa.array(moments, pa.timestamp("us")), compiled=compiled)
    assert instants == [None if moment is None else next(texts) for moment in moments]
    zoned = [None if moment is None else moment.replace(tzinfo=dt.UTC) for moment in moments]
    nanoseconds = np.array(moments, "datetime64[us]").astype("datetime64[ns]")
    for cells in (
        pa.array(moments, pa.timestamp("ns")),
        pa.array(moments, pa.timestamp("us", "Europe/Berlin")),
        nanoseconds,
        objects(*moments),
        objects(*zoned),
        objects(*nanoseconds),
    ):
        assert decoded(cells, compiled=compiled)[1] == instants
    assert kind == NUMBER


@both_ways
def test_dates_datetimes_and_those_of_numpy_in_one_column(*, compiled: bool) -> None:
    """Arrow alone makes dates of dates and datetimes, whose times of day would be gone."""
    cells = objects(
        dt.date(2020, 1, 2),
        dt.datetime(2020, 1, 1, 12),  # noqa: DTZ001
        np.datetime64("2020-01-01", "D"),
        np.datetime64("2020-01-01T06", "h"),
        None,
        np.datetime64("2020-01-02T00:00:00.000000000", "ns"),
    )
    assert decoded(cells, compiled=compiled) == (NUMBER, [18263.0, 18262.5, 18262.0, 18262.25, None, 18263.0])


def test_pandas_timestamps_keep_their_nanoseconds() -> None:
    pandas = pytest.importorskip("pandas")
    moments = np.array(["1970-01-02T00:00:00.000000001", "NaT", "1969-12-31T00:00:00.000000001"], "datetime64[ns]")
    assert decoded(objects(*pandas.to_datetime(moments))) == decoded(moments)


def test_times_without_a_unit_are_missing() -> None:
    assert decoded(np.array(["NaT", "NaT"], "datetime64"))[1] == [None, None]


@both_ways
def test_times_in_objects(*, compiled: bool) -> None:
    noon = dt.datetime(2020, 1, 1, 12)  # noqa: DTZ001  (a naive one is what is tested)
    kind, values = decoded(objects(noon, None, noon + dt.timedelta(hours=1), noon), compiled=compiled)
    assert kind == NUMBER
    assert values[1] is None
    assert values[0] == values[3] < values[2]
    assert decoded(objects(np.datetime64("NaT"), None), compiled=compiled)[1] == [None, None]


@both_ways
def test_dates_among_times_are_text(*, compiled: bool) -> None:
    cells = objects(dt.date(2020, 1, 1), dt.time(12, 0), None)
    assert decoded(cells, compiled=compiled) == (TEXT, ["2020-01-01", "12:00:00", None])


# Categories


@both_ways
@pytest.mark.parametrize("index", [pa.int8(), pa.uint8(), pa.int16(), pa.int32(), pa.uint32(), pa.int64()], ids=str)
@pytest.mark.parametrize(
    ("dictionary", "kind"),
    [
        (["b", "a", "unused"], TEXT),
        (["b", "b", "a"], TEXT),
        (["b", None, "a"], TEXT),
        ([None, None, "a"], TEXT),
        ([1, 1000, 7], NUMBER),
        ([-5, 70_000, 0], NUMBER),
        ([3, None, 3], NUMBER),
        ([0.5, math.nan, 0.25], NUMBER),
        ([True, False, None], BOOLEAN),
    ],
)
def test_categories_of_every_kind(dictionary: list[Any], kind: str, index: pa.DataType, *, compiled: bool) -> None:
    def is_hole(value: object) -> bool:
        return value is None or value != value  # noqa: PLR0124  (NaN)

    rows = [0, 1, None, 2, 1, 0]
    array = pa.DictionaryArray.from_arrays(pa.array(rows, index), pa.array(dictionary))
    chosen = [None if row is None or is_hole(dictionary[row]) else dictionary[row] for row in rows]
    expected = [str(value).lower() if isinstance(value, bool) else value for value in chosen]
    assert decoded(array, compiled=compiled) == (kind, expected)
    assert decoded(array.slice(1, 4), compiled=compiled) == (kind, expected[1:5])


@both_ways
@pytest.mark.parametrize("size", [0, 1, 254, 255, 256, 257, 65_535, 65_536])
def test_many_categories(size: int, *, compiled: bool) -> None:
    names: list[str | None] = [f"value {number}" for number in range(size)]
    array = pa.DictionaryArray.from_arrays(pa.array([*range(size), None], pa.int32()), pa.array(names, pa.string()))
    assert decoded(array, compiled=compiled) == (TEXT, [*names, None])
    with_null = pa.DictionaryArray.from_arrays(pa.array(range(size + 1), pa.int32()), pa.array([None, *names]))
    assert decoded(with_null, compiled=compiled)[1] == [None, *names]


@pytest.mark.parametrize("second", [["b", "c"], ["b", None], ["a", "a"]])
def test_chunks_of_categories_of_their_own(second: list[str | None]) -> None:
    chunks = [
        pa.DictionaryArray.from_arrays(pa.array([0, 1, None], pa.int8()), pa.array(["a", "b"])),
        pa.DictionaryArray.from_arrays(pa.array([1, 0], pa.int8()), pa.array(second)),
    ]
    assert decoded(pa.chunked_array(chunks)) == (TEXT, ["a", "b", None, second[1], second[0]])


def test_chunks_of_more_categories_than_their_indices_can_number() -> None:
    names = [[f"{chunk}-{row}" for row in range(100)] for chunk in range(3)]
    chunks = [pa.DictionaryArray.from_arrays(pa.array(range(100), pa.int8()), pa.array(each)) for each in names]
    assert decoded(pa.chunked_array(chunks)) == (TEXT, [name for each in names for name in each])


def test_raw_categories_stay_raw() -> None:
    assert decoded(pa.array(["1", "x"]).dictionary_encode(), raw=True) == (RAW, ["1", "x"])


# Holes


def test_column_of_nothing() -> None:
    assert decoded(pa.nulls(3)) == (TEXT, [None] * 3)
    assert decoded(objects(None, math.nan, None)) == (TEXT, [None] * 3)
    assert decoded(pa.array([None, None], pa.int32())) == (NUMBER, [None] * 2)
    assert decoded(np.zeros(0)) == (NUMBER, [])
    assert decoded(np.zeros(0, dtype=np.int8)) == (NUMBER, [])
    assert decoded(np.zeros(0, dtype=object), compiled=True) == (TEXT, [])


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ([1, 2, 3], (NUMBER, [1, None, 3])),
        ([1.5, 2, math.nan], (NUMBER, [1.5, None, None])),
        (["a", "b", "c"], (TEXT, ["a", None, "c"])),
        ([True, True, False], (BOOLEAN, ["true", None, "false"])),
        (np.array([1, 2, 3], dtype="M8[D]"), (NUMBER, [1, None, 3])),
    ],
)
def test_what_lies_under_a_mask_is_missing(data: Sequence[object], expected: tuple[str, list[object]]) -> None:
    assert decoded(np.ma.array(data, mask=[False, True, False])) == expected
    assert decoded(np.ma.array(data, mask=True)) == (TEXT, [None] * 3)


@both_ways
def test_nothing_of_pandas_is_missing(*, compiled: bool) -> None:
    pandas = pytest.importorskip("pandas")
    cells = objects("a", pandas.NA, pandas.NaT, None, math.nan)
    assert decoded(cells, compiled=compiled) == (TEXT, ["a", None, None, None, None])
    many = objects(*(row if row % 2 else pandas.NA for row in range(600)))
    assert decoded(many, compiled=compiled) == (NUMBER, [row if row % 2 else None for row in range(600)])


# What is refused


@both_ways
@pytest.mark.parametrize(
    ("cells", "said"),
    [
        (objects("a", None, 1), "mixes types: row 0 holds 'a', row 2 1"),
        (objects(*[None, 1, True]), "mixes types: row 1 holds 1, row 2 True"),
        (objects(*[0.0, False]), r"mixes types: row 0 holds 0\.0, row 1 False"),
        (objects("a", dt.date(2020, 1, 1)), "mixes types: row 0 holds 'a', row 1 datetime.date"),
        (objects("a", [1]), "row 1 holds a list"),
        (objects(None, {"a": 1}), "row 1 holds a dict"),
        (objects(*range(300), "a"), "mixes types: row 0 holds 0, row 300 'a'"),
        (objects(*([row] for row in range(300))), "row 0 holds a list"),
    ],
)
def test_objects_that_do_not_fit_are_named_with_their_row(cells: object, said: str, *, compiled: bool) -> None:
    with pytest.raises(CredimiError, match=f"column 'x'.*{said}"):
        encode(cells, "x", compiled=compiled)


@pytest.mark.parametrize(
    "values",
    [
        np.array([1j]),
        np.zeros(2, dtype="V3"),
        np.array([1, 2], dtype="m8[M]"),
        pa.array([[1]]),
        pa.array([{"a": 1}]),
        pa.array([(1, 2, 3)], pa.month_day_nano_interval()),
        pa.RunEndEncodedArray.from_arrays([2], ["a"]),
    ],
    ids=lambda values: str(getattr(values, "dtype", None) or values.type),
)
def test_types_that_cannot_be_counted_are_named(values: object) -> None:
    with pytest.raises(CredimiError, match="column 'x' holds values of type"):
        encode(values, "x")
