"""`count` and `Counts`: the same rows give the same counts, whoever brings them, in whatever parts and order."""

from __future__ import annotations

import bz2
import csv
import datetime as dt
import gzip
import hashlib
import io
import itertools
import math
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from credimi import Counts, CredimiError, count, encoding, labels, prequential, rank, tabulation
from credimi.engines import delimited, files, lines, parquet
from credimi.engines.batches import Batch, tally
from credimi.labels import NUMBER, typed
from credimi.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

Row = dict[str, Any]
Cells = dict[tuple[str, Any, Any], int]

ROWS: list[Row] = [
    {
        "word": (None, "red", "green", "blue")[row % 4],
        "whole": None if row % 7 == 0 else row % 5 - 2,
        "real": math.nan if row % 11 == 0 else row / 8,
        "truth": (True, False, None)[row % 3],
        "class": None if row % 13 == 0 else ("no", "yes")[row * row % 3 % 2],
    }
    for row in range(200)
]
COLUMNS = ("word", "whole", "real", "truth")
ARROW = {"word": pa.string(), "whole": pa.int64(), "real": pa.float64(), "truth": pa.bool_(), "class": pa.string()}


def key(value: object) -> object:
    """A value as the oracle names it: numbers are numbers, truth values their names, holes None."""
    if value is None or value != value:  # noqa: PLR0124  (NaN)
        return None
    if isinstance(value, bool):
        return str(value).lower()
    return float(value) if isinstance(value, int | float) else value


def oracle(rows: Iterable[Row], target: str = "class") -> Cells:
    """Counts by plain dictionaries: (column, class, value) -> number of rows."""
    return dict(
        Counter((name, key(row[target]), key(value)) for row in rows for name, value in row.items() if name != target)
    )


def cells(counts: Counts) -> Cells:
    """The same from `Counts`, before any number is cut."""

    def keys(own: labels.Labels) -> list[Any]:
        kept = typed(own)[0]
        return [*(kept.numbers.tolist() if kept.kind == NUMBER else kept.texts), None]

    found: Cells = {}
    classes, to_class = keys(counts.classes), [*typed(counts.classes)[1], -1]
    start = 0
    for name, own in zip(counts.features, counts.labels, strict=True):
        values, to_value = keys(own), [*typed(own)[1], -1]
        width = len(own) + 1
        block = counts.flat[start : start + len(to_class) * width].reshape(-1, width)
        start += block.size
        for i, j in np.argwhere(block):
            at = (name, classes[to_class[i]], values[to_value[j]])
            found[at] = found.get(at, 0) + int(block[i, j])
    assert start == counts.flat.size
    return found


def column(name: str, rows: Sequence[Row] = ROWS) -> list[Any]:
    return [row[name] for row in rows]


def table(rows: Sequence[Row] = ROWS) -> pa.Table:
    return pa.table({name: pa.array(column(name, rows), kind) for name, kind in ARROW.items()})


def csv_text(rows: Iterable[Row], names: Sequence[str] = tuple(ARROW), delimiter: str = ",") -> str:
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter)
    writer.writerow(names)
    for row in rows:
        writer.writerow(["" if key(row[name]) is None else row[name] for name in names])
    return out.getvalue()


def assert_all_rows(counts: Counts, rows: Sequence[Row] = ROWS) -> None:
    assert counts.target == "class"
    assert counts.rows == len(rows)
    assert cells(counts) == oracle(rows)
    assert counts == count(list(rows), "class")


def refusal(data: Any, target: Any = "class", **options: Any) -> str:  # noqa: ANN401
    with pytest.raises(CredimiError) as caught:
        count(data, target, **options).settled()
    return str(caught.value)


# The same counts from everything


def test_list_of_dictionaries() -> None:
    counts = count(ROWS, "class")
    assert counts.features == COLUMNS
    assert_all_rows(counts)


def test_keys_that_a_dictionary_lacks_are_missing() -> None:
    rows = [{name: value for name, value in row.items() if key(value) is not None} for row in ROWS]
    assert cells(count(rows, "class")) == oracle(ROWS)


def test_keys_that_are_no_text() -> None:
    counts = count([{0: "x", "class": "a"}, {0: "y", "class": "b"}], "class")
    assert cells(counts) == {("0", "a", "x"): 1, ("0", "b", "y"): 1}


@pytest.mark.parametrize("of", [list, tuple, np.array, pa.array], ids=["list", "tuple", "numpy", "arrow"])
def test_dictionary_of_columns(of: Callable[[list[Any]], Any]) -> None:
    data: dict[str, Any] = {name: column(name) for name in ARROW}
    for name in ("word", "class"):
        data[name] = of(data[name])
    assert_all_rows(count(data, "class"))


def test_arrow_table_batch_and_reader() -> None:
    whole = table()
    assert_all_rows(count(whole, "class"))
    assert_all_rows(count(whole.combine_chunks().to_batches()[0], "class"))
    assert_all_rows(count(pa.RecordBatchReader.from_batches(whole.schema, whole.to_batches(max_chunksize=7)), "class"))
    assert_all_rows(count(pa.concat_tables([whole.slice(0, 3), whole.slice(3, 0), whole.slice(3)]), "class"))


def test_arrow_stream_of_unknown_origin() -> None:
    class Stream:
        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            return table().__arrow_c_stream__(requested_schema)

    assert_all_rows(count(Stream(), "class"))


def test_arrow_dictionaries() -> None:
    coded = table()
    for name in ("word", "class"):
        coded = coded.set_column(coded.schema.get_field_index(name), name, coded[name].dictionary_encode())
    assert_all_rows(count(coded, "class"))


@pytest.mark.parametrize("text", ["object", "str", "category", "string"])
@pytest.mark.parametrize("whole", ["float", "Int64", "category", "object"])
@pytest.mark.parametrize("truth", ["object", "boolean"])
def test_pandas(text: str, whole: str, truth: str) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {
            "word": pandas.Series(column("word"), dtype=text),
            "whole": pandas.Series(column("whole"), dtype=whole),
            "real": column("real"),
            "truth": pandas.Series(column("truth"), dtype=truth),
            "class": pandas.Series(column("class"), dtype=text),
        }
    )
    assert_all_rows(count(frame, "class"))
    beside = count(frame.drop(columns="class"), frame["class"])
    assert_all_rows(beside)


def test_pandas_frame_with_any_index_and_plain_truth_values() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"f": [True, False, True], "class": ["a", "b", "b"]}, index=[7, 7, 3])
    expected = {("f", "a", "true"): 1, ("f", "b", "false"): 1, ("f", "b", "true"): 1}
    assert cells(count(frame, "class")) == expected


def test_pandas_categories_unused_numbers_and_intervals() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {
            "unused": pandas.Categorical(["x", "y", None, "x"], categories=["z", "y", "x"]),
            "numbers": pandas.Categorical([1, 1000, None, 1]),
            "cut": pandas.cut([1.0, 2.0, 3.0, math.nan], [0, 1.5, 4]),
            "sparse": pandas.arrays.SparseArray([0, 0, 1, 1]),
            "class": ["a", "b", "a", "b"],
        }
    )
    assert cells(count(frame, "class")) == oracle(
        [
            {"unused": "x", "numbers": 1, "cut": "(0.0, 1.5]", "sparse": 0, "class": "a"},
            {"unused": "y", "numbers": 1000, "cut": "(1.5, 4.0]", "sparse": 0, "class": "b"},
            {"unused": None, "numbers": None, "cut": "(1.5, 4.0]", "sparse": 1, "class": "a"},
            {"unused": "x", "numbers": 1, "cut": None, "sparse": 1, "class": "b"},
        ]
    )


def test_pandas_names_that_are_no_text() -> None:
    pandas = pytest.importorskip("pandas")
    counts = count(pandas.DataFrame({0: ["x", "y"], 1: ["a", "b"]}), "1")
    assert cells(counts) == {("0", "a", "x"): 1, ("0", "b", "y"): 1}


class Once:
    """A stream as some libraries have them: whoever asks first gets it, and nobody else."""

    def __init__(self, reader: Any) -> None:  # noqa: ANN401
        self.reader = reader

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        if self.reader is None:
            raise RuntimeError("the stream is released")
        reader, self.reader = self.reader, None
        stream: object = reader.__arrow_c_stream__(requested_schema)
        return stream


class Again:
    """A stream that is handed out again and again, each time what is left of it."""

    def __init__(self, reader: Any) -> None:  # noqa: ANN401
        self.reader = reader

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        stream: object = self.reader.__arrow_c_stream__(requested_schema)
        return stream


@pytest.mark.parametrize("kind", [lambda reader: reader, Once, Again])
def test_a_stream_that_was_read_before_says_so(kind: Callable[[Any], Any]) -> None:
    stream = kind(table().to_reader())
    counts = count(stream, "class")
    assert_all_rows(counts)
    for again in (lambda: count(stream, "class"), lambda: rank(stream, "class"), lambda: rank(stream, column("class"))):
        with pytest.raises(CredimiError, match="it may have been read before"):
            again()
    with pytest.raises(CredimiError, match="it may have been read before"):
        counts.update(stream)
    assert_all_rows(counts)


def test_tables_without_rows_are_not_streams_that_were_read() -> None:
    polars, pandas, duckdb = map(pytest.importorskip, ("polars", "pandas", "duckdb"))
    empty = table([])
    relation = duckdb.sql("select 'a' as f, 'b' as class limit 0")
    for data in (empty, pandas.DataFrame(empty.to_pydict()), polars.from_arrow(empty), relation, empty.to_pydict()):
        assert count(data, "class").rows == 0
        assert refusal(data) == "there are no rows: nothing can be said about the target"


def test_polars() -> None:
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({name: column(name) for name in ARROW})
    assert_all_rows(count(frame, "class"))
    assert_all_rows(count(polars.concat([frame[:50], frame[50:]], rechunk=False), "class"))
    assert_all_rows(count(frame.with_columns(polars.col("word", "class").cast(polars.Categorical)), "class"))
    assert_all_rows(count(frame.drop("class"), frame["class"]))


def test_times_from_everywhere(folder: Path) -> None:
    polars, pandas = pytest.importorskip("polars"), pytest.importorskip("pandas")
    duckdb = pytest.importorskip("duckdb")
    noon = dt.datetime(2020, 1, 1, 12)  # noqa: DTZ001  (a naive one is what is tested)
    data = {"at": [noon, None, noon + dt.timedelta(microseconds=1)], "class": ["a", "b", "b"]}
    frame = pandas.DataFrame(data)
    frame["at"] = frame["at"].astype("datetime64[ns]")
    plain = count(data, "class")
    assert len(plain.labels[0]) == 2
    assert cells(count(frame, "class")) == cells(plain)
    assert cells(count(polars.DataFrame(data), "class")) == cells(plain)
    pq.write_table(pa.table(data), folder / "a.parquet")
    assert cells(count(folder / "a.parquet", "class")) == cells(plain)
    with duckdb.connect() as connection:
        connection.register("given", pa.table(data))
        assert cells(count(connection.sql("select * from given"), "class")) == cells(plain)


def test_tuples_name_columns_of_pandas() -> None:
    pandas = pytest.importorskip("pandas")
    rows = [("a", 1, "p"), ("b", 2, "q")]
    names = [("t", "x"), ("t", "n"), ("u", "class")]
    frame = pandas.DataFrame(rows, columns=pandas.MultiIndex.from_tuples(names))
    counts = count(frame, ("u", "class"))
    assert counts == count(frame, "('u', 'class')")
    assert counts.target == "('u', 'class')"
    assert counts.features == ("('t', 'x')", "('t', 'n')")
    chosen = count(frame, ("u", "class"), features=[("t", "n")], discretize={("t", "n"): "categories"})
    assert chosen.features == ("('t', 'n')",)
    assert count(frame, ("u", "class"), exclude=[("t", "x")]).features == ("('t', 'n')",)
    assert count(frame, ("p", "q")).target == "target"  # the values
    with pytest.raises(CredimiError, match="no column"):
        count(frame, ("u", "class"), exclude=[("t", "z")])


def test_a_column_without_a_name() -> None:
    """pandas makes NaN of None among names of text, and keeps it among others."""
    pandas = pytest.importorskip("pandas")
    for columns in (["x", None, "class"], pandas.Index(["x", None, "class"], dtype=object)):
        frame = pandas.DataFrame([("a", 1, "p"), ("b", 2, "q")], columns=columns)
        counts = count(frame, "class")
        assert counts.features == ("x", "None")
        assert counts.labels[1].numbers.tolist() == [1.0, 2.0]


def test_columns_of_polars_that_arrow_does_not_take_are_named() -> None:
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"x": [1, 2], "large": polars.Series([1, 2], dtype=polars.Int128), "class": ["a", "b"]})
    for data in (frame, frame.lazy(), {name: frame[name] for name in frame.columns}):
        with pytest.raises(CredimiError, match=r"column 'large' is of the type Int128.*cast it.*leave it out"):
            count(data, "class", features=["large"])
        assert count(data, "class").feature("large").note.startswith("cannot be counted: values of type Int128 (")
    with pytest.raises(CredimiError, match="Int128"):
        count(frame.select("x"), frame["large"])
    rest = count(frame.drop("large"), "class")
    assert count(frame, "class", exclude=["large"]) == count(frame.lazy(), "class", exclude=["large"]) == rest


def uncountable_frames(start: int = 0, stop: int = 60) -> dict[str, Any]:
    """The same rows in the hands of several libraries; the bytes are text in the first twenty rows."""
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    rows = range(start, stop)
    columns = {
        "class": ["pq"[row % 2] for row in rows],
        "lists": [None if row % 3 == 0 else [row] for row in rows],
        "structs": [{"a": row} for row in rows],
        "bytes": [b"\xff" if row >= 20 else (b"?", b"a")[row % 2] for row in rows],
    }
    pandas_frame = pandas.DataFrame(columns)
    polars_frame = polars.DataFrame(columns)
    return {
        "pyarrow": pa.table(columns),
        "pandas": pandas_frame,
        "polars": polars_frame,
        "polars lazy": polars_frame.lazy(),
        "dictionaries": pandas_frame.to_dict("records"),
        "objects of polars": polars_frame.with_columns(
            polars.Series("lists", columns["lists"], dtype=polars.Object),
            polars.Series("structs", columns["structs"], dtype=polars.Object),
        ),
    }


LIBRARIES = ("pyarrow", "pandas", "polars", "polars lazy", "dictionaries", "objects of polars")


@pytest.mark.parametrize("library", LIBRARIES)
def test_what_cannot_be_counted_is_not_ranked(library: str) -> None:
    ranking = rank(uncountable_frames()[library], "class")
    found = {row["feature"]: (row["verdict"], row["complete"], row["missing"]) for row in ranking}
    not_ranked = "not ranked"
    assert found == {"lists": (not_ranked, 40, 20), "structs": (not_ranked, 60, 0), "bytes": (not_ranked, 50, 10)}
    assert ranking["lists"]["note"].startswith("cannot be counted: values of type list (")
    assert ranking["bytes"]["note"].startswith("cannot be counted: bytes that are not UTF-8 (")
    assert all(np.isnan(ranking["lists"][name]) for name in ("mi", "low", "high", "p_above"))
    assert [ranking.selected(rule) for rule in ("forward", "backward", "plugin", "fdr")] == [[]] * 4


@pytest.mark.parametrize("library", LIBRARIES)
def test_what_cannot_be_counted_is_refused_by_name(library: str) -> None:
    data = uncountable_frames()[library]
    for named in ({"features": ["bytes"]}, {"discretize": {"bytes": "categories"}}):
        with pytest.raises(CredimiError, match=r"column 'bytes'.* holds bytes that are not UTF-8: decode them"):
            count(data, "class", **named)
    with pytest.raises(CredimiError, match=r"column 'lists'.* holds (a list|values of type)"):
        count(data, "lists")


@pytest.mark.parametrize("library", LIBRARIES)
def test_what_cannot_be_counted_adds_up_and_is_kept(library: str, folder: Path) -> None:
    whole = count(uncountable_frames()[library], "class")
    first, second = (uncountable_frames(*rows)[library] for rows in ((0, 20), (20, 60)))
    parts = count(first, "class"), count(second, "class")
    assert parts[0] + parts[1] == parts[1] + parts[0] == parts[0].update(second) == whole
    whole.save(folder / "kept")
    assert Counts.load(folder / "kept") == whole
    assert Counts.load(folder / "kept").feature("lists").note == whole.feature("lists").note
    assert whole.labelled().feature("lists").note == whole.feature("lists").note


def test_what_cannot_be_counted_is_no_category_to_limit() -> None:
    assert len(count(uncountable_frames()["pyarrow"], "class", max_levels=2)) == 3


def test_two_types_that_cannot_be_counted_are_one_whatever_their_order() -> None:
    cells: list[Any] = [[1], {"a": 1}, "text", None]
    orders = [cells, cells[::-1]]
    found = [count({"x": order, "class": list("abab")}, "class") for order in orders]
    assert {counts.feature("x").note.split(" (")[0] for counts in found} == {"cannot be counted: values of type dict"}
    one, other = (
        count({"x": cells[:1], "class": ["a"]}, "class"),
        count({"x": cells[1:], "class": list("bab")}, "class"),
    )
    assert one + other == found[0]


def moments_and_classes() -> tuple[Any, list[str]]:
    """Instants from 1960 on, whole microseconds, some missing; after a moment in time the classes are others."""
    rows = np.arange(400)
    moments = np.datetime64("1960-01-01", "us") + rows * 7_919 % 400 * 60 * np.timedelta64(86_461_000_001, "us")
    moments[rows % 17 == 0] = "NaT"
    return moments, np.where((rows * 7_919 % 400 > 170) ^ (rows % 9 == 0), "late", "early").tolist()


def test_dates_are_shown_as_such_also_after_they_were_saved_and_added_up(folder: Path) -> None:
    days = [dt.date(2024, 2, 20) + dt.timedelta(days=row % 60) for row in range(600)]
    classes = ["ab"[day >= dt.date(2024, 3, 1)] for day in days]
    counts = count({"day": days, "class": classes}, "class")
    counts.save(folder / "a.counts")
    (folder / "a.csv").write_text(
        "day,class\n" + "".join(f"{day},{own}\n" for day, own in zip(days, classes, strict=True))
    )
    for each in (counts, Counts.load(folder / "a.counts") + counts, count(folder / "a.csv", "class") + counts):
        (settled,) = each.settled()
        assert settled.treatment == "mdl, 1 cut: 2024-02-29"
        assert settled.values == ("<= 2024-02-29", "> 2024-02-29")
    (mixed,) = (counts + count({"day": [1.5, 2.5] * 30, "class": ["a", "b"] * 30}, "class")).settled()
    assert "2024" not in mixed.treatment  # days among numbers are numbers
    (few,) = count({"day": days[:5], "class": classes[:5]}, "class", discretize={"day": "categories"}).settled(1)
    assert few.values[0] == "2024-02-20"


@pytest.mark.parametrize(
    "cut",
    ["2024-02-29", dt.date(2024, 2, 29), dt.datetime(2024, 2, 29), np.datetime64("2024-02-29"), 19782],  # noqa: DTZ001
    ids=str,
)
def test_cuts_may_be_dates(cut: object) -> None:
    days = [dt.date(2024, 2, 20) + dt.timedelta(days=row % 60) for row in range(600)]
    (settled,) = count({"day": days, "class": ["a", "b"] * 300}, "class", discretize={"day": [cut]}).settled()
    assert settled.treatment == "given cuts, 1 cut: 2024-02-29"
    assert settled.block[:, :-1].sum(axis=0).tolist() == [100, 500]


def test_instants_are_cut_alike_wherever_they_come_from(folder: Path) -> None:
    polars, pandas = pytest.importorskip("polars"), pytest.importorskip("pandas")
    moments, classes = moments_and_classes()
    plain = {"at": moments, "class": classes}
    expected = count(plain, "class", discretize={"at": "mdl"})
    (settled,) = expected.settled()
    assert settled.cuts is not None
    assert settled.cuts.size == 1
    assert 170 * 60 - 3653 < settled.cuts[0] < 171 * 61 - 3653
    assert settled.missing == np.count_nonzero(np.isnat(moments))
    arrow = pa.array(moments)
    frame = pandas.DataFrame(plain)
    pq.write_table(pa.table({"at": arrow.cast(pa.timestamp("ns", "UTC")), "class": classes}), folder / "a.parquet")
    texts = ["" if np.isnat(moment) else str(moment) for moment in moments]
    (folder / "a.csv").write_text(
        csv_text([{"at": at, "class": label} for at, label in zip(texts, classes, strict=True)], ("at", "class"))
    )
    for data in (
        {"at": arrow.to_pylist(), "class": classes},
        {"at": arrow.dictionary_encode(), "class": classes},
        frame.astype({"at": "datetime64[ns]"}),
        frame.astype({"at": "datetime64[us]"}),
        frame.astype({"at": object}),
        frame.astype({"at": "category"}),
        polars.DataFrame(pa.table({"at": arrow, "class": classes})),
        polars.DataFrame(pa.table({"at": arrow, "class": classes})).lazy(),
        folder / "a.parquet",
    ):
        assert cells(count(data, "class")) == cells(expected), type(data)
    (read,) = count(folder / "a.csv", "class", discretize={"at": "mdl"}).settled()
    assert read.cuts is not None
    assert (read.treatment, read.values) == (settled.treatment, settled.values)
    assert read.cuts.tolist() == settled.cuts.tolist()
    assert np.array_equal(read.block, settled.block)


@pytest.mark.parametrize("engine", ["files", "duckdb"])
def test_dates_in_one_file_and_timestamps_in_another(folder: Path, engine: str) -> None:
    """Days and microseconds, added up, would tell the files apart, and so whatever differs between them."""
    if engine == "duckdb":
        pytest.importorskip("duckdb")
    days = [None if row % 19 == 0 else dt.date(1968, 1, 1) + dt.timedelta(row * 37 % 1000) for row in range(400)]
    classes = ["a" if row % 8 < (2 if row < 200 else 6) else "b" for row in range(400)]
    kinds = [pa.date32(), pa.timestamp("s"), pa.timestamp("ms"), pa.timestamp("us", "UTC"), pa.timestamp("ns")]
    (folder / "parts").mkdir()
    for part, kind in enumerate(kinds):
        rows = slice(part * 80, part * 80 + 80)
        midnights = pa.array(days[rows], pa.date32()).cast(kind)
        pq.write_table(pa.table({"at": midnights, "class": classes[rows]}), folder / "parts" / f"{part}.parquet")
    whole = count({"at": days, "class": classes}, "class")
    assert cells(count(folder / "parts", "class", engine=engine)) == cells(whole)


def test_counts_of_dates_are_updated_with_timestamps() -> None:
    days = [dt.date(1960, 1, 1) + dt.timedelta(day * day) for day in range(60)]
    classes = ["a", "b", "b"] * 20
    whole = count({"at": days, "class": classes}, "class")
    counts = count({"at": days[:20], "class": classes[:20]}, "class")
    counts = counts + count({"at": np.array(days[20:40], "datetime64[s]"), "class": classes[20:40]}, "class")
    counts.update({"at": np.array(days[40:], "datetime64[ns]"), "class": classes[40:]})
    assert cells(counts) == cells(whole)


def test_dates_that_mean_missing_are_days() -> None:
    """A date among the missing values means the same day, whether it is a date or a midnight; a number means none."""
    days = [dt.date(1970, 1, 1 + day % 4) for day in range(40)]
    for column_ in (days, np.array(days, "datetime64[us]")):
        counts = count(
            {"at": column_, "class": ["a", "b", "a", "a", "b"] * 8}, "class", missing_values=[1, "1970-01-03"]
        )
        assert counts.labels[0].numbers.tolist() == [0.0, 1.0, 3.0]


def test_duckdb() -> None:
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect() as connection:
        connection.register("given", table())
        relation = connection.sql("select * from given")
        assert_all_rows(count(relation, "class"))
        enumerated = connection.sql(
            "select cast(word as enum('red', 'green', 'blue')) as word, * exclude word from given"
        )
        assert_all_rows(count(enumerated, "class"))


def test_numpy_array_and_a_target_beside_it() -> None:
    data = np.array([[1.0, 2.0], [3.0, math.nan], [1.0, 2.0]])
    expected = oracle(
        [
            {"column 0": 1, "column 1": 2, "t": "a"},
            {"column 0": 3, "column 1": None, "t": "b"},
            {"column 0": 1, "column 1": 2, "t": None},
        ],
        "t",
    )
    for target in (["a", "b", None], np.array(["a", "b", None], dtype=object), pa.array(["a", "b", None])):
        counts = count(data, target)
        assert counts.target == "target"
        assert cells(counts) == expected
    assert cells(count(np.asfortranarray(data), ["a", "b", None])) == expected
    assert cells(count(data.astype(object), ["a", "b", None])) == expected


def test_target_inside_a_numpy_array() -> None:
    counts = count(np.array([[0, 5], [1, 6], [1, 5]]), "column 0")
    assert cells(counts) == {("column 1", 0.0, 5.0): 1, ("column 1", 1.0, 6.0): 1, ("column 1", 1.0, 5.0): 1}


def test_masked_array() -> None:
    masked = np.ma.array([[1, 2], [3, 4]], mask=[[False, True], [False, False]])
    counts = count(masked, np.ma.array(["a", "b"], mask=[False, True]))
    expected = [{"column 0": 1, "column 1": None, "t": "a"}, {"column 0": 3, "column 1": 4, "t": None}]
    assert cells(counts) == oracle(expected, "t")


def test_numpy_records() -> None:
    kinds = [("word", "U5"), ("size", "i4"), ("class", "U3")]
    data = np.array([("red", 1, "yes"), ("blue", -2, "no"), ("red", 1, "no")], dtype=kinds)
    rows = [dict(zip(("word", "size", "class"), row, strict=True)) for row in data.tolist()]
    assert cells(count(data, "class")) == oracle(rows)


def test_name_of_a_target_beside_the_data() -> None:
    pandas = pytest.importorskip("pandas")
    named = pandas.Series(["a", "b"], name="outcome")
    assert count(np.array([[1], [2]]), named).target == "outcome"
    assert count({"target": [1, 2]}, ["a", "b"]).target == "target_"
    assert count({"outcome": [1, 2]}, named).target == "outcome_"


@pytest.mark.parametrize("values", [["a"], ["a", "b", "c"], []])
def test_target_of_another_length_is_refused(values: list[str]) -> None:
    assert f"the target has {len(values)} values" in refusal(np.array([[1], [2]]), values)


def test_target_of_two_dimensions_is_refused() -> None:
    assert "shape (2, 1): pass one value a row" in refusal(np.array([[1], [2]]), np.array([[1], [2]]))


# Files


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


def write_csv(path: Path, rows: Sequence[Row] = ROWS, **options: Any) -> Path:  # noqa: ANN401
    content = csv_text(rows, **options).encode()
    if path.suffix == ".gz":
        content = gzip.compress(content)
    elif path.suffix == ".bz2":
        content = bz2.compress(content)
    elif path.suffix == ".zst":
        with pa.CompressedOutputStream(str(path), "zstd") as stream:
            stream.write(content)
        return path
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz", "a.csv.zst", "a.csv.bz2", "a.txt", "a"])
def test_csv_plain_and_compressed(folder: Path, name: str) -> None:
    path = write_csv(folder / name)
    assert_all_rows(count(path, "class"))
    assert_all_rows(count(str(path), "class"))


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_csv_of_every_delimiter(folder: Path, delimiter: str) -> None:
    assert_all_rows(count(write_csv(folder / "a.csv", delimiter=delimiter), "class"))


@pytest.mark.parametrize("delimiter", ["^", " ", "\x01", ":", "x", ";"])
def test_csv_of_a_delimiter_that_is_named(folder: Path, delimiter: str, tmp_path: Path) -> None:
    """Also where the header holds more of another."""
    head = delimiter.join(["a,b,c,d,e|f", "class"])
    (folder / "a.csv").write_text(head + "\n" + "".join(f"{row % 3}{delimiter}{'pq'[row % 2]}\n" for row in range(30)))
    expected = count({"a,b,c,d,e|f": [row % 3 for row in range(30)], "class": list("pq") * 15}, "class")
    counts = count(folder / "a.csv", "class", delimiter=delimiter)
    assert counts == expected
    counts.save(tmp_path / "all.counts")
    again = Counts.load(tmp_path / "all.counts").update(folder / "a.csv", delimiter=delimiter)
    assert again == expected + expected
    with pytest.raises(CredimiError, match=r"no column 'class'.*"):
        count(folder / "a.csv", "class", delimiter="@")


def test_delimiter_is_that_of_csv_beside_parquet(folder: Path) -> None:
    pq.write_table(table(), folder / "1.parquet")
    write_csv(folder / "2.csv", delimiter="^")
    assert count(folder, "class", delimiter="^").rows == 2 * len(ROWS)


@pytest.mark.parametrize(
    ("delimiter", "said"),
    [
        ("||", r"the delimiter '\|\|' is 2 characters: pass the one character"),
        ("", "the delimiter '' is 0 characters"),
        (5, "the delimiter 5 is no text"),
        ('"', "cannot be a delimiter"),
        ("\n", "cannot be a delimiter"),
        ("§", "cannot be a delimiter: pass a character of ASCII"),
    ],
)
def test_what_cannot_be_a_delimiter_is_refused(folder: Path, delimiter: Any, said: str) -> None:  # noqa: ANN401
    with pytest.raises(CredimiError, match=said):
        count(write_csv(folder / "a.csv"), "class", delimiter=delimiter)


def test_delimiter_of_what_has_none_is_refused(folder: Path) -> None:
    pq.write_table(table(), folder / "a.parquet")
    with pytest.raises(CredimiError, match=r"a\.parquet is Parquet, and has no delimiter: leave it out"):
        count(folder / "a.parquet", "class", delimiter=";")
    with pytest.raises(CredimiError, match="is for CSV files: a Table has its columns apart already"):
        count(table(), "class", delimiter=";")
    with pytest.raises(CredimiError, match="is for CSV files: a dict"):
        prequential({"f": ["a"], "class": ["b"]}, "class", delimiter=";")


@pytest.mark.parametrize(
    ("header", "column"), [("f^class", "f^class"), ("f class", "f class"), ("f,g~class", "g~class")]
)
def test_columns_that_were_taken_for_one_are_named(folder: Path, header: str, column: str) -> None:
    (folder / "a.csv").write_text(header + "\n")
    said = refusal(folder / "a.csv")
    assert said.startswith(
        f"there is no column 'class', but '{column}': if these are several columns, name the character"
    )


@pytest.mark.parametrize("part", [1, 7, 50, 1000])
def test_csv_in_parts_of_any_size(folder: Path, part: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delimited, "_PART", part)
    monkeypatch.setattr(delimited, "_GATHERED", 0)
    assert_all_rows(count(write_csv(folder / "a.csv", ROWS[:60]), "class"), ROWS[:60])


@pytest.mark.parametrize(
    ("rows", "size", "batches"), [(1, 99, 60), (2, 99, 30), (10, 99, 6), (99, 999, 1), (99, 24, 15)]
)
def test_parts_of_few_rows_are_counted_together(
    folder: Path, rows: int, size: int, batches: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A column costs as much for a few rows as for many: up to so many rows, and so many bytes."""
    (folder / "a.csv").write_text("f,class\n" + "".join(f"{row % 7:02},{row % 2:02}\n" for row in range(60)))
    monkeypatch.setattr(delimited, "_PART", 6)  # twice as much is read where it has few rows
    whole = count(folder / "a.csv", "class")
    monkeypatch.setattr(delimited, "_ROWS", rows)
    monkeypatch.setattr(delimited, "_GATHERED", size)
    parts = list(delimited.batches(folder / "a.csv", ["class", "f"], 1, lambda _: None))
    assert [part.rows for part in parts] == [60 // batches] * batches
    assert cells(count(folder / "a.csv", "class")) == cells(whole)


@pytest.mark.parametrize("block", [1, 30, 300])
@pytest.mark.parametrize("part", [50, 1 << 20])
def test_csv_in_blocks_of_any_size(folder: Path, block: int, part: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where a block would hold less than a line."""
    monkeypatch.setattr(delimited, "_PART", part)
    monkeypatch.setattr(delimited, "_GATHERED", 0)
    monkeypatch.setattr(delimited, "_BLOCK", block)
    monkeypatch.setattr(delimited, "_ROWS", 1)
    assert_all_rows(count(write_csv(folder / "a.csv", ROWS[:60]), "class"), ROWS[:60])


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_threads_that_parse_csv_change_nothing(folder: Path, threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delimited, "_PART", 200)
    monkeypatch.setattr(delimited, "_GATHERED", 0)
    assert_all_rows(count(write_csv(folder / "a.csv"), "class", threads=threads))


def test_line_ends_in_quotes_that_two_blocks_share(folder: Path) -> None:
    """A block of pyarrow's that starts with LF is taken for the rest of a line end, also in quotes."""
    row = b'"first\r\nsecond",a\n'
    first = b"x" * ((delimited._BLOCK - row.index(b"\n")) % len(row) + len(row) - 3) + b",b\n"  # noqa: SLF001
    (folder / "a.csv").write_bytes(b"f,class\n" + first + row * (3 * delimited._BLOCK // len(row)))  # noqa: SLF001
    counts = count(folder / "a.csv", "class")
    assert counts.labels[0].texts[0] == "first\r\nsecond"
    assert len(counts.labels[0]) == 2


def test_target_whose_index_is_in_another_order_is_refused() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": list("xyxyxy"), "b": list("ppqqpp")}, index=list("fedcba"))
    target = pandas.Series(list("uvuvuv"), index=frame.index, name="y")
    expected = count(frame, target)
    with pytest.raises(CredimiError, match=r"labels of the data in another order.*target\.loc\[data\.index\]"):
        count(frame, target.sort_index())
    assert cells(count(frame, target.reset_index(drop=True))) == cells(expected)
    assert cells(count(frame, target.tolist())) == cells(expected)


def test_last_line_of_tabs_is_a_row(folder: Path) -> None:
    (folder / "a.tsv").write_bytes(b"f\tclass\na\tb\nc\td\n\t")
    assert count(folder / "a.tsv", "class").rows == 3


def test_two_faulty_parts_leave_no_trace_and_the_first_is_told(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Looking for the line lifts a limit of the process, which must be back in place afterwards."""
    monkeypatch.setattr(delimited, "_PART", 100_000)
    monkeypatch.setattr(delimited, "_GATHERED", 0)
    good = b"a,b\n" * 30_000
    (folder / "a.csv").write_bytes(b"f,class\n" + b"y" * 200_000 + b",b\na,b,c\n" + (good + b"a,b,c\n") * 5)
    limit = csv.field_size_limit()
    for _ in range(5):
        with pytest.raises(CredimiError, match="line 3: 3 fields"):
            count(folder / "a.csv", "class", threads=4)
        assert csv.field_size_limit() == limit


def test_line_longer_than_a_part_and_than_a_block(folder: Path) -> None:
    """Of a text that nobody would expect in a table, and which is one value among others."""
    long = "x" * (20 << 20)
    (folder / "a.csv").write_text(f"f,class\nshort,a\n{long},b\nshort,b\n")
    assert cells(count(folder / "a.csv", "class")) == oracle(
        [{"f": "short", "class": "a"}, {"f": long, "class": "b"}, {"f": "short", "class": "b"}]
    )


@pytest.mark.parametrize("part", [1, 3, 8, 1 << 20])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("last", [True, False])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_csv_of_line_ends_in_quotes_and_out_of_them(  # noqa: PLR0917  (all of it is one file)
    folder: Path,
    part: int,
    end: str,
    last: bool,  # noqa: FBT001
    mark: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(delimited, "_PART", part)
    monkeypatch.setattr(delimited, "_GATHERED", 0)
    lines = ['"a\nname, ""quoted""",class', '"x\ny",yes', '"q""r",no', "", '"\n",yes', ",no", '"",yes']
    path = folder / "a.csv"
    path.write_text(mark + end.join(lines) + end * last, encoding="utf-8", newline="")
    name = 'a\nname, "quoted"'
    rows = [("x\ny", "yes"), ('q"r', "no"), ("\n", "yes"), (None, "no"), (None, "yes")]
    assert cells(count(path, "class")) == oracle([{name: value, "class": own} for value, own in rows])


@pytest.mark.parametrize("part", [8, 1 << 20])
@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize("last", ['"b', '"b\n', '"b\n1,x\n2,y', '"b""'])
def test_quote_that_swallows_the_last_rows(
    folder: Path,
    part: int,
    packed: bool,  # noqa: FBT001
    last: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(delimited, "_PART", part)
    path = folder / ("a.csv.gz" if packed else "a.csv")
    content = ("f,class\n1,x\n2,y\n3," + last).encode()
    path.write_bytes(gzip.compress(content) if packed else content)
    with pytest.raises(CredimiError, match="line 4: a quote is never closed"):
        count(path, "class", features=["f"])


@pytest.mark.parametrize("part", [8, 1 << 20])
@pytest.mark.parametrize("end", ["", "\n", "\r\n"])
def test_odd_number_of_quotes_of_which_none_opens(
    folder: Path, part: int, end: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delimited, "_PART", part)
    path = folder / "a.csv"
    for delimiter in ",0":
        path.write_text('f,class\n1,x\n2,5" pipe\n3,y'.replace(",", delimiter) + end, newline="")
        assert count(path, "class", delimiter=delimiter).rows == 3
    path.write_text('f,class\n1,x\n2,5" pipe\n3,y' + end, newline="")
    rows = [{"f": 1, "class": "x"}, {"f": 2, "class": '5" pipe'}, {"f": 3, "class": "y"}]
    assert cells(count(path, "class")) == oracle(rows)


@pytest.mark.parametrize("line", ['5" pipe,x\n' + "4,y\n" * 10_000, '"' + "4\n" * 20_000 + '",y\n'])
def test_quotes_do_not_make_long_files_slow(folder: Path, line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that is a letter ends no part; a field that is long is not looked at from its beginning again and again."""
    sizes = []
    found = lines.last_line_end

    def look(content: Any, delimiter: str) -> tuple[int, bool, bool]:  # noqa: ANN401
        sizes.append(content.size)
        return found(content, delimiter)

    monkeypatch.setattr(lines, "last_line_end", look)
    monkeypatch.setattr(delimited, "_PART", 64)
    path = folder / "a.csv"
    path.write_text("f,class\n1,x\n" + line)
    assert count(path, "class").rows == line.count("y") + line.count("x") + 1
    assert sum(sizes) < 4 * path.stat().st_size


def test_kernels_loaded_while_the_first_part_is_read_change_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = folder / "a.csv"
    path.write_text("f,class\n" + "1,x\n2,y\n,x\n" * 50)
    expected = count(path, "class")
    loaded = []
    monkeypatch.setattr(files, "_WORTH_LOADING", 1)
    monkeypatch.setattr(files, "load_kernels", lambda: loaded.append(encoding.load_kernels()))
    assert count(path, "class") == expected
    assert loaded == [None]


def test_a_file_beside_its_packed_copy_does_not_count_twice(folder: Path) -> None:
    (folder / "a.csv").write_text("f,class\n1,x\n")
    (folder / "b.csv").write_text("f,class\n2,y\n")
    packed = folder / "a.csv.gz"
    packed.write_bytes(gzip.compress(b"f,class\n1,x\n"))
    for data in (folder, str(folder / "*.csv*")):
        with pytest.raises(CredimiError, match=r"a\.csv and .*a\.csv\.gz look like the same rows"):
            count(data, "class")
    assert count([folder / "a.csv", packed], "class").rows == 2  # named one by one they are meant
    (folder / "a.csv").unlink()
    assert count(folder, "class").rows == 2


def test_files_of_which_one_has_another_delimiter_than_was_named(folder: Path) -> None:
    (folder / "a.csv").write_text("f,class\n1,x\n")
    (folder / "b.csv").write_text("f;class\n2;y\n")
    assert count(folder, "class").rows == 2
    with pytest.raises(CredimiError, match="with ';' between the fields of both"):
        count(folder, "class", delimiter=";")


def test_delimiters_in_quoted_names_do_not_separate(folder: Path) -> None:
    (folder / "a.csv").write_text('"a;b;c",class\n1,x\n2,y\n')
    assert count(folder / "a.csv", "class").features == ("a;b;c",)


def test_text_that_looks_like_numbers_only_at_first_is_text(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delimited, "_PART", 16)
    monkeypatch.setattr(delimited, "_GATHERED", 0)
    rows = [{"f": value, "class": "ab"[row % 2]} for row, value in enumerate(["1", "1.0", "2", "01", "x", "1.0"])]
    write_csv(folder / "a.csv", rows, names=("f", "class"))
    assert cells(count(folder / "a.csv", "class")) == oracle(rows)


def test_parquet(folder: Path) -> None:
    pq.write_table(table(), folder / "a.parquet")
    assert_all_rows(count(folder / "a.parquet", "class"))
    (folder / "a.parquet").rename(folder / "misnamed.csv")
    assert_all_rows(count(folder / "misnamed.csv", "class"))


@pytest.mark.parametrize("size", [1, 7, 64])
def test_parquet_in_batches(folder: Path, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet, "_CELLS", size)
    pq.write_table(table(), folder / "a.parquet", row_group_size=50)
    assert_all_rows(count(folder / "a.parquet", "class"))


def test_parquet_of_names_with_points_and_structures_left_out(folder: Path) -> None:
    data = pa.table({"f.x": ["q", "r"], "f": [{"x": 1}, {"x": 2}], "class": ["a", "b"]})
    pq.write_table(data, folder / "a.parquet")
    counts = count(folder / "a.parquet", "class", features=["f.x"])
    assert cells(counts) == {("f.x", "a", "q"): 1, ("f.x", "b", "r"): 1}


def test_several_files_a_directory_and_a_pattern(folder: Path) -> None:
    (folder / "deeper").mkdir()
    write_csv(folder / "1.csv", ROWS[:70])
    write_csv(folder / "2.csv.gz", ROWS[70:100], names=("class", *COLUMNS))
    write_csv(folder / "deeper" / "3.csv", ROWS[100:])
    (folder / "notes.md").write_text("not a table")
    (folder / ".hidden.csv").write_text("not, meant\n1,2\n")
    paths = [folder / "1.csv", str(folder / "2.csv.gz"), folder / "deeper" / "3.csv"]
    assert_all_rows(count(paths, "class"))
    assert_all_rows(count(tuple(reversed(paths)), "class"))
    assert_all_rows(count(folder, "class"))
    assert_all_rows(count(str(folder / "**" / "[123].csv*"), "class"))
    assert_all_rows(count([str(folder / "?.csv*"), folder / "deeper"], "class"))


def test_csv_and_parquet_together(folder: Path) -> None:
    write_csv(folder / "1.csv", ROWS[:70])
    pq.write_table(table(ROWS[70:]), folder / "2.parquet")
    assert_all_rows(count(folder, "class"))


def test_progress_ends_at_one_and_never_goes_back(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delimited, "_PART", 500)
    monkeypatch.setattr(delimited, "_GATHERED", 0)
    write_csv(folder / "1.csv")
    pq.write_table(table(), folder / "2.parquet")
    write_csv(folder / "3.csv.gz")
    told: list[float] = []
    count(folder, "class", progress=told.append)
    assert told == sorted(told)
    assert told[-1] == pytest.approx(1.0)
    assert len(told) > 5


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty"),
        (b"f,class\n1,a\n2\n", "line 3: 1 field, the header has 2"),
        (b"f,class\n1,a\n2,b,c\n", "line 3: 3 fields, the header has 2"),
        (b"f,class\n\xe9,a\n", "line 2: byte 0xe9 is not UTF-8"),
        (b"\xe9,class\n1,a\n", "line 1: byte 0xe9"),
        (b"f,f,class\n1,1,a\n", "two columns are called 'f'"),
        (b"f,class\r1,a\r2,b\r", "ends its lines with CR alone"),
        (b"f,class\n", "there are no rows"),
        (b"f,class", "there are no rows"),
        (b"f,class\n\n\n", "there are no rows"),
        (b"PAR1 and no more", "no readable Parquet file"),
    ],
)
def test_faults_of_files_are_named(folder: Path, content: bytes, said: str) -> None:
    (folder / "a.csv").write_bytes(content)
    assert said in refusal(folder / "a.csv")


def test_faults_of_paths_are_named(folder: Path) -> None:
    assert "No such file" in refusal(folder / "nothing.csv")
    assert "no file matches" in refusal(str(folder / "*.csv"))
    assert "holds no CSV or Parquet file" in refusal(folder)
    write_csv(folder / "1.csv")
    write_csv(folder / "2.csv", names=("word", "class"))
    assert "differ: only one of them has the column 'real'" in refusal(folder)
    assert "the target of a file is the name" in refusal(folder / "1.csv", ["a"])
    (folder / "3.csv.gz").write_bytes(gzip.compress(csv_text(ROWS).encode())[:100])
    assert "cannot read" in refusal(folder / "3.csv.gz")
    (folder / "4.csv.gz").write_text("f,class\n1,a\n")
    assert "cannot read" in refusal(folder / "4.csv.gz")


# Compiled or not: what is worth compiling is a matter of size alone


def test_compiled_code_gives_the_same(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pandas = pytest.importorskip("pandas")
    monkeypatch.setattr(tabulation, "CELLS_WORTH_COMPILING", 0)
    for threads in (1, 2):
        found = count(ROWS, "class", threads=threads)
        assert cells(found) == oracle(ROWS)
        assert cells(count(table(), "class", threads=threads)) == oracle(ROWS)
        assert cells(count(pandas.DataFrame(ROWS), "class", threads=threads)) == oracle(ROWS)
        assert cells(count(write_csv(folder / "a.csv"), "class", threads=threads)) == oracle(ROWS)


# Parts add up


text = st.sampled_from(["", "a", "b", "?", "c d", "é", "true", "1", "1.0", "007"])
random_rows = st.lists(
    st.fixed_dictionaries(
        {
            "text": st.none() | text,
            "number": st.none() | st.integers(-3, 3) | st.floats(allow_nan=True),
            "truth": st.none() | st.booleans(),
            "class": st.none() | st.sampled_from(["x", "y", "z"]),
        }
    ),
    max_size=30,
)
NAMES = ("text", "number", "truth")


@given(rows=random_rows, cuts=st.lists(st.integers(0, 30), max_size=4), shuffle=st.randoms(use_true_random=False))
@settings(deadline=None)
def test_any_split_in_any_order_adds_up(rows: list[Row], cuts: list[int], shuffle: Any) -> None:  # noqa: ANN401
    def counted(part: list[Row]) -> Counts:
        return count({name: column(name, part) for name in (*NAMES, "class")}, "class", missing_values=())

    expected = oracle(rows)
    whole = counted(rows)
    assert cells(whole) == expected
    shuffled = list(rows)
    shuffle.shuffle(shuffled)
    bounds = [0, *sorted(cuts), len(rows)]
    parts = [counted(shuffled[low:high]) for low, high in itertools.pairwise(bounds)]
    shuffle.shuffle(parts)
    total = parts[0]
    for part in parts[1:]:
        total += part
    assert total.rows == len(rows)
    assert cells(total) == expected
    assert total.labels == whole.labels
    assert total.classes == whole.classes
    np.testing.assert_array_equal(total.flat, whole.flat)


@given(
    rows=st.lists(st.tuples(text | st.integers(0, 40).map(str), st.sampled_from("xyz")), max_size=60),
    part=st.integers(1, 60),
    most=st.tuples(st.integers(4, 12), st.integers(8, 25)),
    shuffle=st.randoms(use_true_random=False),
)
@settings(deadline=None)
def test_raw_text_in_any_parts_is_kept_cut_short_or_given_up_alike(
    rows: list[tuple[str, str]],
    part: int,
    most: tuple[int, int],
    shuffle: Any,  # noqa: ANN401
) -> None:
    """With few numbers and few texts kept, so that the limits are reached."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(labels, "MOST_LABELS", most[0])
        patch.setattr(labels, "MOST_LABELS", most[1])

        def counted(some: list[tuple[str, str]]) -> Counts:
            columns = {
                name: pa.array(list(values), pa.string())
                for name, values in zip("fc", zip(*some, strict=True), strict=True)
            }
            return tally(Batch(columns, len(some), raw=True), "c", ["f"], Settings(()))

        if not rows:
            return
        whole = counted(rows)
        shuffled = list(rows)
        shuffle.shuffle(shuffled)
        total = counted(shuffled[:part])
        for start in range(part, len(rows), part):
            total += counted(shuffled[start : start + part])
        assert cells(total) == cells(whole)


def test_limits_are_kept_while_parts_are_added(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(labels, "MOST_LABELS", 50)
    monkeypatch.setattr(labels, "MOST_LABELS", 20)
    total: Counts | None = None
    for start in range(0, 400, 20):
        rows = [{"id": f"name {row}", "n": row + 0.5, "class": "ab"[row % 2]} for row in range(start, start + 20)]
        part = count(rows, "class")
        total = part if total is None else total + part
        assert len(total.labels[0]) <= 50
        assert len(total.labels[1]) <= 20
    assert total is not None
    assert total.feature("id").note.startswith("identifier")
    assert total.feature("id").complete == 400
    assert total.flat.sum() == 800


def test_columns_in_another_order_add_up() -> None:
    other = [dict(reversed(row.items())) for row in ROWS]
    assert cells(count(ROWS[:50], "class") + count(other[50:], "class")) == oracle(ROWS)


def test_adding_changes_neither() -> None:
    one, other = count(ROWS[:50], "class"), count(ROWS[50:], "class")
    before = cells(one), cells(other)
    assert_all_rows(one + other)
    assert (cells(one), cells(other)) == before
    assert one + other == other + one


def test_update_adds_and_returns_the_counts() -> None:
    counts = count(ROWS[:50], "class")
    assert counts.update(table(ROWS[50:120])) is counts
    counts.update(ROWS[120:])
    assert_all_rows(counts)


def test_update_wants_the_same_columns_and_keeps_the_counts_if_it_fails() -> None:
    counts = count(ROWS, "class", features=["word", "whole"])
    before = cells(counts)
    with pytest.raises(CredimiError, match="no column 'word'"):
        counts.update([{"whole": 1, "class": "yes"}])
    assert cells(counts) == before
    counts.update(ROWS)  # columns that are not counted are no matter
    assert cells(counts) == {at: 2 * number for at, number in before.items()}


def test_counts_that_do_not_add_are_refused() -> None:
    counts = count(ROWS, "class")
    for other, said in (
        (count(ROWS, "truth"), "do not add: count the same target"),
        (count(ROWS, "class", features=["word"]), "only one of the two counts has the column 'real'"),
        (count(ROWS, "class", missing_values=["red"]), "different settings"),
        (count(ROWS, "class", discretize="quantile"), "different settings"),
    ):
        with pytest.raises(CredimiError, match=said):
            counts + other
    with pytest.raises(TypeError):
        counts + 1


def test_nan_among_missing_values_keeps_settings_equal() -> None:
    one = count(ROWS, "class", missing_values=[math.nan, -1])
    other = count(ROWS, "class", missing_values=[np.float64("nan"), -1])
    assert cells(one + other)["word", "yes", "red"] == 2 * cells(one)["word", "yes", "red"]


def test_counts_speak_of_themselves() -> None:
    counts = count(ROWS, "class")
    assert len(counts) == 4
    assert list(counts) == list(COLUMNS)
    assert "word" in counts
    assert "class" not in counts
    assert repr(counts) == "Counts(target='class', rows=200, features=4, classes=2)"
    assert counts.class_names() == ("no", "yes")
    assert counts != count(ROWS[1:], "class")
    assert counts != "counts"
    with pytest.raises(TypeError):
        hash(counts)


def test_table_of_a_column_is_the_oracle_s() -> None:
    found = count(ROWS, "class")["word"]
    expected = oracle(ROWS)
    words, classes = ["blue", "green", "red"], ["no", "yes"]
    joint = [[expected.get(("word", own, word), 0) for word in words] for own in classes]
    np.testing.assert_array_equal(found.joint, joint)
    np.testing.assert_array_equal(found.target_only, [expected.get(("word", own, None), 0) for own in classes])
    np.testing.assert_array_equal(found.feature_only, [expected.get(("word", None, word), 0) for word in words])
    feature = count(ROWS, "class").feature("word")
    assert feature.values == tuple(words)
    assert feature.complete == np.sum(joint)
    assert feature.missing == sum(row["word"] is None for row in ROWS)
    with pytest.raises(CredimiError, match="no column 'wrd': did you mean 'word'"):
        count(ROWS, "class")["wrd"]


# What means missing


@pytest.mark.parametrize("token", ["", "?", "NA", "NaN", "null"])
def test_usual_tokens_are_missing_in_features_and_target(folder: Path, token: str) -> None:
    rows = [{"f": "x", "class": "a"}, {"f": token, "class": "b"}, {"f": "y", "class": token}]
    holes = [{name: None if value == token else value for name, value in row.items()} for row in rows]
    assert cells(count(rows, "class")) == oracle(holes)
    assert cells(count(pa.Table.from_pylist(rows), "class")) == oracle(holes)
    assert cells(count(write_csv(folder / "a.csv", rows, names=("f", "class")), "class")) == oracle(holes)


@pytest.mark.parametrize("sentinels", [[-99], ["-99"], [-99.0], -99, "-99", ("nothing", np.int64(-99))])
def test_sentinels_are_missing_as_numbers_and_as_text(folder: Path, sentinels: Any) -> None:  # noqa: ANN401
    rows = [{"n": n, "f": n / 2, "s": str(n), "class": 1 if n > 2 else n} for n in (-99, 1, 2, 3, 4, -198)]
    holes = [{name: None if key(value) in {-99.0, "-99"} else value for name, value in row.items()} for row in rows]
    assert cells(count(rows, "class", missing_values=sentinels)) == oracle(holes)
    assert cells(count(pa.Table.from_pylist(rows), "class", missing_values=sentinels)) == oracle(holes)
    path = write_csv(folder / "a.csv", rows, names=("n", "f", "s", "class"))
    typed_holes = [{name: value if value is None else float(value) for name, value in row.items()} for row in holes]
    assert cells(count(path, "class", missing_values=sentinels)) == oracle(typed_holes)


@pytest.mark.parametrize("sentinel", [-(2**63), 2**63 - 1, 2**53 + 1])
def test_sentinels_beyond_doubles(sentinel: int) -> None:
    rows = [{"f": value, "class": own} for value, own in ((sentinel, "a"), (1, "b"), (1, "a"))]
    found = cells(count(pa.Table.from_pylist(rows), "class", missing_values=[sentinel]))
    assert found == {("f", "a", None): 1, ("f", "b", "1"): 1, ("f", "a", "1"): 1}


def test_other_spellings_of_a_sentinel_in_csv(folder: Path) -> None:
    (folder / "a.csv").write_text("f,class\n999,a\n999.0,a\n 999,b\n9.99e2,b\n1,a\n")
    counts = count(folder / "a.csv", "class", missing_values=[999])
    assert cells(counts) == {("f", "a", None): 2, ("f", "b", None): 2, ("f", "a", 1.0): 1}


def test_no_missing_values_but_holes(folder: Path) -> None:
    rows = [{"f": "?", "class": "NA"}, {"f": None, "class": "b"}]
    assert cells(count(rows, "class", missing_values=[])) == oracle(rows)
    (folder / "a.csv").write_text("f,class\n?,NA\n,b\n")
    assert cells(count(folder / "a.csv", "class", missing_values=[])) == oracle(rows)


@pytest.mark.parametrize("values", [[None], [True], [[1]], None])
def test_missing_values_that_are_none_are_refused(values: Any) -> None:  # noqa: ANN401
    assert "missing_values" in refusal(ROWS, missing_values=values)


# Numbers into categories


def numbers(values: Iterable[float]) -> list[Row]:
    return [{"n": value, "class": "b" if value > 30 else "a"} for value in values]


def test_few_whole_numbers_are_categories() -> None:
    feature = count(numbers(row % 20 * 3 for row in range(200)), "class").feature("n")
    assert feature.values == tuple(str(3 * number) for number in range(20))
    assert feature.treatment == "categories"


def test_more_numbers_are_cut_where_it_tells_of_the_target() -> None:
    feature = count(numbers(row % 60 for row in range(240)), "class").feature("n")
    assert feature.values == ("<= 30.5", "> 30.5")
    assert feature.treatment == "mdl, 1 cut: 30.5"
    assert feature.block[:-1, :-1].tolist() == [[124, 0], [0, 116]]


def test_quantiles() -> None:
    feature = count(numbers(row % 60 for row in range(240)), "class", discretize="quantile").feature("n")
    assert feature.treatment.startswith("quantile, 9 cuts: 5.5, 11.5, ")
    assert feature.block[:, :-1].sum(axis=0).tolist() == [24] * 10


def test_every_number_a_category() -> None:
    feature = count(numbers(row % 60 / 2 + 5 for row in range(240)), "class", discretize={"n": "categories"}).feature(
        "n"
    )
    assert len(feature.values) == 60
    assert feature.values[:3] == ("5", "5.5", "6")


def test_cuts_of_one_column_and_a_method_for_the_others() -> None:
    rows = [row | {"m": row["n"]} for row in numbers(row % 60 for row in range(240))]
    counts = count(rows, "class", discretize={"n": [50, 10, 10], "*": "quantile"})
    assert counts.feature("n").values == ("<= 10", "10 to 50", "> 50")
    assert counts.feature("n").treatment == "given cuts, 2 cuts: 10, 50"
    assert counts.feature("n").block[:, :-1].sum(axis=0).tolist() == [44, 160, 36]
    assert counts.feature("m").treatment.startswith("quantile, 9 cuts")
    assert count(rows, "class", discretize={"n": [10]}).feature("m").treatment.startswith("mdl, 1 cut")


def test_cuts_are_made_of_few_whole_numbers_if_they_are_named() -> None:
    feature = count(numbers(row % 5 for row in range(50)) + numbers([40] * 9), "class", discretize={"n": [2]}).feature(
        "n"
    )
    assert feature.values == ("<= 2", "> 2")


def test_cuts_outside_the_values_leave_one_range() -> None:
    feature = count(numbers(row % 60 for row in range(240)), "class", discretize={"n": [100]}).feature("n")
    assert feature.note == "all values lie between two cuts"


def test_numbers_that_pass_no_test_are_cut_into_quarters() -> None:
    rows = [{"n": row % 50 / 2, "class": "ab"[row // 50 % 2]} for row in range(400)]
    feature = count(rows, "class").feature("n")
    assert feature.treatment.startswith("quarters, as no cut passes the MDL test, 3 cuts: ")
    assert feature.useless == "no cut passes the MDL test"
    assert feature.block[:-1, :-1].sum(axis=0) == pytest.approx([100, 100, 100, 100], abs=4)


def test_few_rows_of_a_number_that_tells_are_no_proof_that_it_does_not() -> None:
    """No cut passes, and yet: the posterior is that of the quarters, neither 0 nor sure."""
    generator = np.random.default_rng(4)
    x = generator.normal(size=100)
    y = generator.random(100) < 1.0 / (1.0 + np.exp(-0.5 * x))
    (row,) = rank({"x": x, "y": y}, "y")
    assert row["note"].startswith("quarters")
    assert row["verdict"] == "unsure"
    assert 0.05 < row["p_above"] < 0.95


def test_numbers_are_refused_if_nobody_says_how_to_cut_them() -> None:
    rows = numbers(row % 60 / 2 + 5 for row in range(240))
    message = refusal(rows, discretize=None)
    assert message.startswith("column 'n' holds 60 different numbers, and discretize is None")
    assert "mdl, quantile, categories" in message
    assert count(numbers(row % 5 for row in range(50)) + numbers([40]), "class", discretize=None).settled()
    assert count(rows, "class", discretize={"*": None, "n": "mdl"}).settled()


@pytest.mark.parametrize(
    ("discretize", "said"),
    [
        ("mld", "unknown discretization 'mld': choose one of mdl, quantile, categories"),
        ({"n": "mld"}, "unknown discretization 'mld'"),
        ({"n": []}, "is no list of cuts"),
        ({"n": [1, math.nan]}, "is no list of cuts"),
        ({"n": [1, "x"]}, "is no list of cuts"),
        ({"n": 5}, "is no list of cuts"),
        ({"m": [5]}, "there is no column 'm'"),
        ([1, 2], "pass one of mdl, quantile, categories, None, or a dictionary"),
    ],
)
def test_discretize_that_says_nothing_is_refused(discretize: Any, said: str) -> None:  # noqa: ANN401
    assert said in refusal(numbers(range(60)), discretize=discretize)


def test_numbers_are_cut_the_same_in_any_parts() -> None:
    rows = numbers(np.random.default_rng(3).normal(30, 10, 300).tolist())
    whole, total = count(rows, "class"), count(rows[:10], "class")
    for start in range(10, 300, 29):
        total.update(rows[start : start + 29])
    assert total == whole
    assert total.feature("n").values == whole.feature("n").values


# Columns that are not ranked


def test_notes_on_columns_that_tell_nothing() -> None:
    rows = [
        {
            "name": f"person {row}",
            "number": row + 1000,
            "salary": 7 * row,
            "real": row / 4,
            "same": "x",
            "none": None,
            "flag": row % 2 == 0,
            "half": f"twin {row // 2}",
            "class": "ab"[row % 2],
        }
        for row in range(150)
    ]
    counts = count(rows, "class")
    assert counts.feature("name").note.startswith("identifier: 150 different values in 150 rows")
    assert counts.feature("number").note.startswith("identifier: 150 different values in 150 rows")
    assert not counts.feature("salary").note.startswith("identifier")
    assert counts.feature("same").note == "one value only: x"
    assert counts.feature("none").note == "all values are missing"
    assert not counts.feature("flag").note
    assert not counts.feature("half").note
    assert not counts.feature("real").note.startswith("identifier")
    assert not count(rows[:19], "class").feature("name").note
    assert not count(rows, "class", discretize={"name": "categories"}).feature("name").note
    assert not count(rows, "class", discretize={"number": [1075]}).feature("number").note


# Targets that are none


def test_unknown_target_and_features_are_named_with_the_nearest() -> None:
    assert refusal(ROWS, "clas") == "there is no column 'clas': did you mean 'class'?"
    assert "did you mean 'class'" in refusal(ROWS, "CLASS")
    assert "there are 'word', 'whole', 'real', 'truth', 'class'" in refusal(ROWS, "zzz")
    assert "did you mean 'word'" in refusal(ROWS, features=["words"])
    assert "is the target and cannot be a feature" in refusal(ROWS, features=["class", "word"])


def test_features_asked_for_are_counted_in_that_order() -> None:
    assert count(ROWS, "class", features=["truth", "word"]).features == ("truth", "word")
    assert count(ROWS, "class", features="word").features == ("word",)
    assert count(ROWS, "class", features=[]).settled() == []
    assert count(ROWS, "class", features=np.array(["truth", "word"])).features == ("truth", "word")


@pytest.mark.parametrize("how", ["same", "pattern", "link", "folder"])
def test_a_file_named_twice_is_refused(how: str, tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text(csv_text(ROWS))
    other = {"same": str(path), "pattern": str(tmp_path / "r*.csv"), "link": tmp_path / "link.csv", "folder": tmp_path}
    (tmp_path / "link.csv").symlink_to(path)
    said = refusal([path, other[how]])
    also = f", as {path}, too" if how in ("link", "folder") else ""
    assert f"is named twice{also}: its rows would count twice; name it once, or add up counts made apart" in said
    assert (count(path, "class") + count(path, "class")).rows == 400


def test_a_feature_asked_for_twice_is_counted_once(tmp_path: Path) -> None:
    pq.write_table(table(), tmp_path / "rows.parquet")
    (tmp_path / "rows.csv").write_text(csv_text(ROWS))
    for data in (ROWS, tmp_path / "rows.parquet", tmp_path / "rows.csv"):
        assert count(data, "class", features=["truth", "word", "truth"]).features == ("truth", "word")


@pytest.mark.parametrize("kind", ["rows", "lazy", "csv", "beside"])
def test_excluded_columns_are_left_out_of_all_kinds_of_data(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text(csv_text(ROWS))
    target = column("class") if kind == "beside" else "class"
    data = {
        "rows": lambda: ROWS,
        "lazy": lambda: pytest.importorskip("polars").from_arrow(table()).lazy(),
        "csv": lambda: path,
        "beside": lambda: table().drop_columns(["class"]),
    }[kind]()
    assert count(data, target, exclude=["real", "word"]).features == ("whole", "truth")
    assert count(data, target, exclude="real").features == ("word", "whole", "truth")
    assert count(data, target, features=["word"], exclude=["real"]).features == ("word",)
    assert len(rank(data, target, exclude=["real", "word"])) == 2
    assert "there is no column 'words': did you mean 'word'" in refusal(data, target, exclude=["words"])
    both = refusal(data, target, features=["word", "real"], exclude=["whole", "real"])
    assert both == "column 'real' is both in features and in exclude: take it out of one of them"


def test_the_target_cannot_be_excluded() -> None:
    assert refusal(ROWS, exclude=["class"]) == "'class' is the target and cannot be left out: take it out of exclude"


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (["a", "a", None], "has one class only, 'a'"),
        ([None, None, None], "is missing in all 3 rows"),
        (["?", "", math.nan], "is missing in all 3 rows"),
        ([], "there are no rows"),
        ([row / 7 for row in range(21)], "holds 21 different numbers, not classes"),
        (list(range(1001)), "has 1,001 different values, at most 1,000 are classes"),
        ([f"name {row}" for row in range(1001)], "has 1,001 different values"),
        (np.arange(70_000) / 7, "has 70,000 different values"),
    ],
)
def test_target_that_is_none_is_refused(values: Any, said: str) -> None:  # noqa: ANN401
    assert said in refusal({"f": [row % 3 for row in range(len(values))], "class": values})


def test_what_means_missing_among_objects_of_another_type_is_missing() -> None:
    rows = [{"f": (1, 2.5, "?", True, "NA", -9)[row % 6], "class": (0, 1, "?")[row % 3]} for row in range(60)]
    numbers = [row for row in rows if row["f"] is not True]
    gone = [{name: None if value in ("?", "NA", -9) else value for name, value in row.items()} for row in numbers]
    tokens = ["?", "NA", -9]
    assert count(numbers, "class", missing_values=tokens) == count(gone, "class", missing_values=tokens)
    with pytest.raises(CredimiError, match="column 'f' mixes types: row 0 holds 1, row 3 True"):
        count(rows, "class", missing_values=tokens)
    with pytest.raises(CredimiError, match=r"column 'f' mixes types: row 0 holds 1, row 4 'NA'"):
        count(rows, "class", missing_values=["?", "true"])
    texts = [{"f": ("a", "b", -9)[row % 3], "class": row % 2} for row in range(60)]
    assert count(texts, "class", missing_values=[-9])["f"].target_only.sum() == 20


def test_targets_at_the_limits_are_classes() -> None:
    for values in ([row / 7 for row in range(20)], list(range(1000)), [True, False]):
        counts = count({"f": [row % 3 for row in range(len(values))], "class": values}, "class")
        assert len(counts.class_names()) == len(values)


@pytest.mark.parametrize(
    ("data", "target", "said"),
    [
        (5, "class", "cannot read a int"),
        ({1, 2}, "class", "cannot read a set"),
        (np.zeros(3), "class", "an array of shape (3,) is no table"),
        ([1, 2], "class", "row 0 is a int: pass a list of dictionaries"),
        ({"f": [1], "class": [1, 2]}, "class", "the columns have different lengths"),
        ({"f": 3, "class": [1]}, "class", "pass one value a row"),
        ([], "class", "there is no column 'class'"),
        ({"f": [1, 2]}, None, "name the target"),
        ({"f": [1, 2]}, 3, "there is no column '3'"),
        ({"f": [1, 2], "class": ["a", 1]}, "class", "column 'class' mixes types: row 0 holds 'a', row 1 1"),
    ],
)
def test_data_that_are_no_table_are_refused(data: Any, target: Any, said: str) -> None:  # noqa: ANN401
    assert said in refusal(data, target)


# Files of counts


def saved(path: Path, rows: Sequence[Row] = ROWS, **options: Any) -> tuple[Counts, bytes]:  # noqa: ANN401
    counts = count(list(rows), "class", **options)
    counts.save(path)
    return counts, path.read_bytes()


def test_saved_counts_are_what_they_were(folder: Path) -> None:
    path = folder / "a.counts"
    for options in ({}, {"missing_values": ["red", -1]}, {"discretize": {"real": [1, 2.5], "*": "quantile"}}):
        counts, _ = saved(path, **options)
        again = Counts.load(path)
        assert again == counts
        assert again.settings == counts.settings
        assert again.labels == counts.labels
        assert again.classes == counts.classes
        assert cells(again) == cells(counts)
        assert cells(again + counts) == {at: 2 * number for at, number in cells(counts).items()}
        assert cells(again.update(ROWS)) == cells(counts + counts)


def test_saved_counts_of_raw_text_unicode_coarse_and_many(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(labels, "MOST_LABELS", 20)
    monkeypatch.setattr(labels, "MOST_LABELS", 30)
    rows = [{"é\n": "日本", "id": f"n{row}", "n": row / 3, "class": "ab"[row % 2]} for row in range(40)]
    path = write_csv(folder / "a.csv", rows, names=("é\n", "id", "n", "class"))
    counts = count(path, "class")
    counts.save(folder / "a.counts")
    again = Counts.load(str(folder / "a.counts"))
    assert again.labels == counts.labels
    np.testing.assert_array_equal(again.flat, counts.flat)


def test_halves_of_characters_survive_being_saved(folder: Path) -> None:
    rows = [{"f": "\udcff", "class": "a"}, {"f": "x", "class": "b"}]
    counts, _ = saved(folder / "a.counts", rows)
    assert cells(Counts.load(folder / "a.counts")) == cells(counts)


def test_file_cut_short_anywhere_is_refused(folder: Path) -> None:
    path = folder / "a.counts"
    _, content = saved(path, ROWS[:5])
    for length in range(len(content)):
        path.write_bytes(content[:length])
        with pytest.raises(CredimiError):
            Counts.load(path)


def test_any_bit_that_flips_is_noticed(folder: Path) -> None:
    path = folder / "a.counts"
    _, content = saved(path, ROWS[:5])
    for at in range(len(content)):
        path.write_bytes(content[:at] + bytes([content[at] ^ 1 << at % 8]) + content[at + 1 :])
        with pytest.raises(CredimiError):
            Counts.load(path)
    path.write_bytes(content + b"\0")
    with pytest.raises(CredimiError, match="damaged"):
        Counts.load(path)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "does not hold counts"),
        (b"f,class\n1,a\n", "does not hold counts"),
        (b"credimi counts", "does not hold counts"),
        (b"credimi counts 2\n" + b"x" * 100, "format version 2, which this credimi does not know"),
        (b"credimi counts 10\n" + b"x" * 100, "format version 10,"),
        (b"credimi counts 1\n" + b"x" * 100, "damaged or was cut short"),
    ],
)
def test_file_that_holds_no_counts_is_refused(folder: Path, content: bytes, said: str) -> None:
    path = folder / "a.counts"
    path.write_bytes(content)
    with pytest.raises(CredimiError, match=said):
        Counts.load(path)


@pytest.mark.parametrize("header", [b"", b"{}", b"[]", b"no JSON", b'{"arrays": [["counts", "object", 1]]}', b"\xff"])
def test_file_with_a_right_digest_over_a_wrong_header_is_refused(folder: Path, header: bytes) -> None:
    body = b"credimi counts 1\n" + len(header).to_bytes(8, "little") + header
    (folder / "a.counts").write_bytes(body + hashlib.sha256(body).digest())
    with pytest.raises(CredimiError):
        Counts.load(folder / "a.counts")


def test_file_that_is_not_there_is_refused(folder: Path) -> None:
    with pytest.raises(CredimiError, match="cannot read"):
        Counts.load(folder / "nothing.counts")
    with pytest.raises(CredimiError, match="cannot read"):
        Counts.load(folder)
    with pytest.raises(CredimiError, match="cannot be written"):
        count(ROWS, "class").save(folder / "no folder" / "a.counts")


def test_failed_save_leaves_what_was_there(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = folder / "a.counts"
    _, content = saved(path)

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", fail)
    with pytest.raises(CredimiError, match="No space left"):
        count(ROWS, "class").save(path)
    assert path.read_bytes() == content
    assert [each.name for each in folder.iterdir()] == ["a.counts"]


def test_numbered_rows_are_an_identifier_however_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """The target is sorted, so that a cut would tell all about it."""
    monkeypatch.setattr(labels, "MOST_LABELS", 64)
    rows = {"id": np.arange(400), "class": np.repeat(["a", "b"], 200)}
    counts = count(rows, "class")
    assert counts.labels[0].dropped_bits > 0
    assert counts.feature("id").note.startswith("identifier")
    assert count(rows, "class", discretize={"id": "mdl"}).feature("id").treatment.startswith("mdl, 2 cuts")


def test_few_whole_numbers_of_a_wide_range_stay_what_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """The range has more numbers than labels are kept, the column has not."""
    monkeypatch.setattr(labels, "MOST_LABELS", 100)
    classes = np.arange(600) % 2
    code = 4000 + classes
    code[:2] = 0, 6500
    for kind in (np.int16, np.int32, np.int64, np.uint16, np.float64):
        for data in (code.astype(kind), pa.array(code.astype(kind))):
            whole = count({"code": data, "class": classes}, "class")
            assert whole.labels[0].numbers.tolist() == [0, 4000, 4001, 6500]
            assert whole.labels[0].dropped_bits == 0
            halves = [
                count({"code": data[part], "class": classes[part]}, "class") for part in (slice(9), slice(9, 600))
            ]
            assert halves[0] + halves[1] == whole


def test_categories_that_nobody_uses_do_not_count_against_those_that_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(labels, "MOST_LABELS", 100)
    names = [f"v{number:05}" for number in range(4000)]
    codes = np.arange(600) % 3 * 1000
    column = pa.DictionaryArray.from_arrays(pa.array(codes, pa.int32()), pa.array(names))
    counts = count({"x": column, "class": codes % 2000 == 0}, "class", max_levels=3)
    assert counts.labels[0].texts == ("v00000", "v01000", "v02000")
    assert not counts.feature("x").note


@pytest.mark.parametrize("each", [1, 2, 5])
def test_measurements_of_many_values_are_no_identifiers_however_coarse(
    monkeypatch: pytest.MonkeyPatch, each: int
) -> None:
    """Whole numbers, without gaps, so many that their last bits are dropped; `each` is how many rows share one."""
    monkeypatch.setattr(labels, "MOST_LABELS", 100)
    amounts = np.repeat(np.arange(1000, 4000), each)
    classes = np.where(np.arange(amounts.size) * 2 < amounts.size, "low", "high")
    counts = count({"amount": amounts, "class": classes}, "class")
    assert counts.labels[0].dropped_bits > 0
    assert counts.feature("amount").note.startswith("identifier") == (each == 1)
    if each > 1:  # and they are cut about the change, which lies inside a label
        cuts = counts.feature("amount").cuts
        assert cuts[0] <= 2499.5 <= cuts[-1] <= cuts[0] + 64


def test_cutting_is_refused_where_there_are_no_numbers_and_done_where_zeros_lead(folder: Path) -> None:
    (folder / "a.csv").write_text("n,t,class\n" + "".join(f"{row:05d},x{row % 3},{row > 60}\n" for row in range(99)))
    assert count(folder / "a.csv", "class").feature("n").note.startswith("identifier")
    counts = count(folder / "a.csv", "class", discretize={"n": "mdl"})
    assert counts.feature("n").treatment == "mdl, 1 cut: 60.5"
    with pytest.raises(CredimiError, match="only numbers and dates can be cut"):
        count(folder / "a.csv", "class", discretize={"t": "mdl"}).settled()
    with pytest.raises(CredimiError, match="discretize names the target 'class'"):
        count(folder / "a.csv", "class", discretize={"class": [1]})


def test_parts_of_numbers_alone_and_of_text_add_up_to_the_whole() -> None:
    """Numbers are read as such where a part has many of them; their spelling must not matter later."""
    texts = [f"{row / 4:.2f}" for row in range(600)] + ["unknown"] * 20
    classes = ["ab"[row % 2] for row in range(620)]

    def part(start: int, stop: int) -> Counts:
        columns = {"f": pa.array(texts[start:stop]), "class": pa.array(classes[start:stop])}
        return tally(Batch(columns, stop - start, raw=True), "class", ["f"], Settings(()))

    whole = part(0, 620)
    assert part(0, 400) + part(400, 620) == whole
    assert sum([part(0, 400), part(400, 600), part(600, 620)]) == whole


def test_counts_of_one_class_or_no_rows_are_equal_to_themselves() -> None:
    for rows in ([{"f": 1, "class": "a"}], []):
        counts = count({"f": [row["f"] for row in rows], "class": [row["class"] for row in rows]}, "class")
        assert counts == counts  # noqa: PLR0124
