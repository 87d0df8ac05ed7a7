"""`count` and `Counts`: the same counts from everything."""

from __future__ import annotations

import datetime as dt
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from counting_helpers import (
    ARROW,
    COLUMNS,
    ROWS,
    assert_all_rows,
    cells,
    column,
    csv_text,
    key,
    oracle,
    refusal,
    table,
)

from credimi import Counts, CredimiError, count, rank

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


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
        assert count(data, "class").feature("large").facts["fault"] == "values of type Int128"
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
    assert Counts.load(folder / "kept").feature("lists").facts == whole.feature("lists").facts
    assert whole.labelled().feature("lists").facts == whole.feature("lists").facts


def test_what_cannot_be_counted_is_no_category_to_limit() -> None:
    assert len(count(uncountable_frames()["pyarrow"], "class", max_values=2)) == 3


def test_two_types_that_cannot_be_counted_are_one_whatever_their_order() -> None:
    cells: list[Any] = [[1], {"a": 1}, "text", None]
    orders = [cells, cells[::-1]]
    found = [count({"x": order, "class": list("abab")}, "class") for order in orders]
    assert {counts.feature("x").facts["fault"] for counts in found} == {"values of type dict"}
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


@pytest.mark.parametrize("discretize", ["average", "mdl"])
def test_dates_are_shown_as_such_also_after_they_were_saved_and_added_up(folder: Path, discretize: str) -> None:
    days = [dt.date(2024, 2, 20) + dt.timedelta(days=row % 60) for row in range(600)]
    classes = ["ab"[day >= dt.date(2024, 3, 1)] for day in days]
    counts = count({"day": days, "class": classes}, "class", discretize=discretize)
    counts.save(folder / "a.counts")
    (folder / "a.csv").write_text(
        "day,class\n" + "".join(f"{day},{own}\n" for day, own in zip(days, classes, strict=True))
    )
    more = count(folder / "a.csv", "class", discretize=discretize)
    for each in (counts, Counts.load(folder / "a.counts") + counts, more + counts):
        (interpreted,) = each.interpreted()
        assert (interpreted.cut_by, interpreted.shown_cuts) == (discretize, ["2024-02-29"])
        assert interpreted.values == ("<= 2024-02-29", "> 2024-02-29")
    numbers = count({"day": [1.5, 2.5] * 30, "class": ["a", "b"] * 30}, "class", discretize=discretize)
    (mixed,) = (counts + numbers).interpreted()
    assert "2024" not in "".join(mixed.shown_cuts)  # days among numbers are numbers
    (few,) = count({"day": days[:5], "class": classes[:5]}, "class", discretize={"day": "categories"}).interpreted(1)
    assert few.values[0] == "2024-02-20"


@pytest.mark.parametrize(
    "cut",
    ["2024-02-29", dt.date(2024, 2, 29), dt.datetime(2024, 2, 29), np.datetime64("2024-02-29"), 19782],  # noqa: DTZ001
    ids=str,
)
def test_cuts_may_be_dates(cut: object) -> None:
    days = [dt.date(2024, 2, 20) + dt.timedelta(days=row % 60) for row in range(600)]
    (interpreted,) = count({"day": days, "class": ["a", "b"] * 300}, "class", discretize={"day": [cut]}).interpreted()
    assert (interpreted.cut_by, interpreted.shown_cuts) == ("given", ["2024-02-29"])
    assert interpreted.block[:, :-1].sum(axis=0).tolist() == [100, 500]


def test_instants_are_cut_alike_wherever_they_come_from(folder: Path) -> None:
    polars, pandas = pytest.importorskip("polars"), pytest.importorskip("pandas")
    moments, classes = moments_and_classes()
    plain = {"at": moments, "class": classes}
    expected = count(plain, "class", discretize={"at": "mdl"})
    (interpreted,) = expected.interpreted()
    assert interpreted.cuts is not None
    assert interpreted.cuts.size == 1
    assert 170 * 60 - 3653 < interpreted.cuts[0] < 171 * 61 - 3653
    assert interpreted.missing == np.count_nonzero(np.isnat(moments))
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
    (read,) = count(folder / "a.csv", "class", discretize={"at": "mdl"}).interpreted()
    assert read.cuts is not None
    assert (read.facts, read.values) == (interpreted.facts, interpreted.values)
    assert read.cuts.tolist() == interpreted.cuts.tolist()
    assert np.array_equal(read.block, interpreted.block)


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
    assert "shape (2, 1): pass one value per row" in refusal(np.array([[1], [2]]), np.array([[1], [2]]))
