"""Whoever brings the table with all traps, and whoever counts it, the counts are the same to the last cell."""

from __future__ import annotations

import csv
import itertools
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from trap_table import ROWS, SCHEMA, digest, expected, table

from credimi import Counts, CredimiError, count
from credimi.cli import main
from credimi.columns import labels
from credimi.columns.reading_options import ReadingOptions
from credimi.counts import batch as batch_module
from credimi.counts import merge
from credimi.counts.request import Plan
from credimi.sources import files, frames
from credimi.sources.parquet import parquet_files

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

TEXTS = [field.name for field in SCHEMA if field.type == pa.string()]


def replaced(changed: dict[str, Any], whole: pa.Table | None = None) -> pa.Table:
    """The table with some columns in another form."""
    whole = table() if whole is None else whole
    for name, values in changed.items():
        whole = whole.set_column(whole.schema.get_field_index(name), name, values)
    return whole


def assert_same(data: Any, **options: Any) -> None:  # noqa: ANN401
    counts = count(data, "class", **options)
    assert counts.rows == len(ROWS)
    assert digest(counts) == expected()
    assert counts == count(table(), "class")
    assert set(counts.features) == {field.name for field in SCHEMA} - {"class"}


# In memory


def test_arrow_table_and_stream() -> None:
    assert_same(table())
    assert_same(pa.RecordBatchReader.from_batches(SCHEMA, table().to_batches(max_chunksize=7)))


@pytest.mark.parametrize("offset", [1, 3, 8, 13])
def test_slices_begin_inside_a_byte_of_the_validity_bits(offset: int) -> None:
    whole = table()
    padded = pa.concat_tables([whole.slice(5, offset), whole, whole.slice(0, 2)]).combine_chunks()
    assert_same(padded.slice(offset, len(ROWS)))
    assert_same(padded.slice(offset, len(ROWS)).to_batches()[0])


def test_views_and_large_texts() -> None:
    for kind in (pa.string_view(), pa.large_string()):
        assert_same(replaced({name: table()[name].cast(kind) for name in TEXTS}))


def test_dictionaries_with_null_twice_and_unused_values() -> None:
    """Null among the values is in no null count; two values may be equal; a value may stand for no row."""
    values = pa.array([None, "red", "unused", "green", "?", "Red", "blå", "red"])
    place = {None: 0, "red": 1, "green": 3, "?": 4, "Red": 5, "blå": 6}
    indices = [7 if row["word"] == "red" and at % 4 else place[row["word"]] for at, row in enumerate(ROWS)]
    indices_with_null = [None if index == 0 and at % 12 else index for at, index in enumerate(indices)]
    for chosen in (indices, indices_with_null):
        coded = pa.DictionaryArray.from_arrays(pa.array(chosen, pa.int8()), values)
        assert_same(replaced({"word": coded}))


def test_dictionaries_of_numbers() -> None:
    assert_same(replaced({"whole": table()["whole"].dictionary_encode(), "real": table()["real"].dictionary_encode()}))


def test_dictionaries_that_differ_from_chunk_to_chunk() -> None:
    chunks = [table().slice(start, 50)["word"].combine_chunks().dictionary_encode() for start in range(0, 240, 50)]
    assert_same(replaced({"word": pa.chunked_array(chunks)}))


def test_list_of_dictionaries_and_dictionary_of_columns() -> None:
    assert_same(ROWS)
    assert_same({field.name: [row[field.name] for row in ROWS] for field in SCHEMA})
    assert_same({field.name: np.array([row[field.name] for row in ROWS], dtype=object) for field in SCHEMA})


def pandas_frame(rows: list[dict[str, Any]] = ROWS) -> Any:  # noqa: ANN401
    """As pandas has it by itself: whole numbers with holes are doubles, null is NaN."""
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    frame = table(rows).to_pandas()
    frame["word"] = pandas.Categorical(frame["word"], categories=["Red", "unused", "?", "green", "blå", "red"])
    frame["truth"] = frame["truth"].astype("boolean")
    assert frame["whole"].dtype == np.float64
    return frame


def test_pandas() -> None:
    assert_same(pandas_frame())


def test_pandas_of_arrow_types() -> None:
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    assert_same(table().to_pandas(types_mapper=pandas.ArrowDtype))


def test_polars_frame() -> None:
    polars = pytest.importorskip("polars", reason="polars is not installed")
    assert_same(polars.from_arrow(table()))
    assert_same(polars.from_arrow(table()).with_columns(polars.col("word").cast(polars.Categorical)))


def test_polars_lazy_frame(tmp_path: Path) -> None:
    polars = pytest.importorskip("polars", reason="polars is not installed")
    assert_same(polars.from_arrow(table()).lazy())
    pq.write_table(table(), tmp_path / "a.parquet", row_group_size=50)
    assert_same(polars.scan_parquet(tmp_path / "a.parquet"))
    assert_same(polars.scan_parquet(tmp_path / "a.parquet").with_columns(extra=1), features=SCHEMA.names[:-1])


def test_polars_lazy_frame_without_chunks() -> None:
    """Before polars could hand them out."""
    polars = pytest.importorskip("polars", reason="polars is not installed")
    frame = polars.from_arrow(table())

    class Chosen:
        @staticmethod
        def collect(engine: str) -> Any:  # noqa: ANN401
            assert engine == "streaming"
            return frame

    class Lazy:
        @staticmethod
        def select(_: object) -> Chosen:
            return Chosen()

    plan = Plan("class", tuple(SCHEMA.names[:-1]), ReadingOptions())
    assert digest(batch_module.counted(frames.lazy_batches(Lazy(), plan.wanted), plan)) == expected()


def test_polars_names_that_look_like_patterns() -> None:
    polars = pytest.importorskip("polars", reason="polars is not installed")
    counts = count(polars.LazyFrame({"^.*$": ["a", "b"], "*": [1, 2], "class": ["x", "y"]}), "class")
    assert counts.features == ("^.*$", "*")
    with pytest.raises(CredimiError, match="there is no column 'clas': did you mean 'class'"):
        count(polars.LazyFrame({"class": ["x"]}), "clas")


def test_duckdb_relation() -> None:
    duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed")
    with duckdb.connect() as connection:
        connection.register("given", table())
        assert_same(connection.sql("select * from given"))


def test_batches_are_gathered_and_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frames, "_CELLS", 9 * 30)
    monkeypatch.setattr(frames, "_FEWEST_ROWS", 1)
    found = [batch.rows for batch in frames.gathered(table().to_batches(max_chunksize=7), SCHEMA.names)]
    assert sum(found) == len(ROWS)
    assert set(found[:-1]) == {35}


@pytest.mark.parametrize("kind", [pa.list_(pa.int64()), pa.struct([("a", pa.int64())])])
def test_nested_columns_are_refused_by_name(kind: pa.DataType) -> None:
    nested = table().append_column("nested", pa.nulls(len(ROWS), kind))
    with pytest.raises(CredimiError, match="column 'nested' holds values of type"):
        count(nested, "class", features=["nested", "word"])


@pytest.mark.parametrize("engine", ["files", "duckdb", "dask"])
def test_nested_columns_are_counted_as_seen_or_missing_by_all(tmp_path: Path, engine: str) -> None:
    """In one batch or many, of memory or of files: the same counts, and all that is said of the column."""
    if engine != "files":
        pytest.importorskip(engine)
    lists = pa.array([None if row % 3 == 0 else [row] for row in range(len(ROWS))])
    nested = table().append_column("nested", lists)
    pq.write_table(nested, tmp_path / "w.parquet", row_group_size=33)
    found = count(tmp_path / "w.parquet", "class", engine=engine)
    feature = found.feature("nested")
    assert found == count(nested, "class") == count(nested[:50], "class") + count(nested[50:], "class")
    assert feature.facts["fault"] == "values of type list"
    assert (feature.missing, feature.block[:, :-1].sum()) == (len(ROWS) / 3, len(ROWS) * 2 / 3)
    assert found.feature("word").labels == count(table(), "class").feature("word").labels


# Files


def write_drifting(folder: Path) -> Path:
    """Types that differ from file to file, a column of nothing first: each file is read by its own schema."""
    folder.mkdir()
    first, second, third = (table(ROWS[start : start + 80]) for start in (0, 80, 160))
    first = replaced({"late": pa.nulls(80), "holes": pa.nulls(80)}, first)
    second = replaced({"word": second["word"].dictionary_encode(), "one": second["one"].cast(pa.int8())}, second)
    third = replaced({"whole": third["whole"].cast(pa.float64()), "holes": pa.nulls(80, pa.int32())}, third)
    for index, part in enumerate((first, second, third.select(third.schema.names[::-1]))):
        pq.write_table(part, folder / f"{index}.parquet", row_group_size=33)
    return folder


def write_csvs(folder: Path) -> Path:
    """Text that means missing, in quotes and out of them; NaN in words; nothing; columns in two orders."""
    folder.mkdir()
    for index, quoting in enumerate((csv.QUOTE_ALL, csv.QUOTE_MINIMAL)):
        names = SCHEMA.names[:: 1 - 2 * index]
        with (folder / f"{index}.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, quoting=quoting)
            writer.writerow(names)
            for row in ROWS[120 * index :][:120]:
                writer.writerow(["" if row[name] is None else row[name] for name in names])
    return folder


WRITERS = [write_drifting, write_csvs]


def write_carets(folder: Path) -> Path:
    """CSV whose header holds more commas than delimiters."""
    folder.mkdir()
    for index in range(3):
        (folder / f"{index}.csv").write_text("a, b, c^class\n" + "x^p\ny^q\n" * 10)
    return folder


@pytest.mark.parametrize("engine", ["files", "duckdb"])
def test_files_of_a_delimiter_that_is_named(tmp_path: Path, engine: str) -> None:
    if engine == "duckdb":
        pytest.importorskip("duckdb", reason="duckdb is not installed")
    counts = count(write_carets(tmp_path / "some"), "class", engine=engine, delimiter="^")
    assert counts["a, b, c"].joint.tolist() == [[30, 0], [0, 30]]


@pytest.mark.parametrize("write", WRITERS)
@pytest.mark.parametrize("engine", [None, "files", "duckdb"])
def test_files(tmp_path: Path, write: Callable[[Path], Path], engine: str | None) -> None:
    if engine == "duckdb":
        pytest.importorskip("duckdb", reason="duckdb is not installed")
    told: list[float] = []
    assert_same(write(tmp_path / "some"), engine=engine, progress=lambda share, _: told.append(share))
    assert told == sorted(told)
    assert told[-1] == 1.0


def test_files_of_whole_numbers_here_and_text_there(tmp_path: Path) -> None:
    values: list[list[Any]] = [[1, 2, None], ["1", "x", None], [1.0, 2.5, None]]
    for index, own in enumerate(values):
        pq.write_table(pa.table({"v": own, "class": ["a", "b", "a"]}), tmp_path / f"{index}.parquet")
    texts = [None if value is None else str(value).removesuffix(".0") for own in values for value in own]
    whole = count({"v": texts, "class": ["a", "b", "a"] * 3}, "class")
    for order in itertools.permutations(sorted(tmp_path.iterdir())):
        assert digest(count(list(order), "class")) == digest(whole)


def test_files_without_rows_first_last_and_between(tmp_path: Path) -> None:
    for index, part in enumerate((table([]), table(ROWS[:100]), table([]), table(ROWS[100:]), table([]))):
        pq.write_table(part, tmp_path / f"{index}.parquet")
    assert_same(tmp_path)


def test_duckdb_many_columns_and_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("duckdb", reason="duckdb is not installed")
    from credimi.sources import duckdb as sql  # noqa: PLC0415

    monkeypatch.setattr(sql, "_COLUMNS", 3)
    monkeypatch.setattr(sql, "_GROUPS_PER_BATCH", 5)
    assert_same(write_drifting(tmp_path / "some"), engine="duckdb")
    pq.write_table(pa.table({"a": [1, 2], "A": ["x", "y"], 'q"q': [1, 1], "class": ["n", "m"]}), tmp_path / "c.parquet")
    assert count(tmp_path / "c.parquet", "class", engine="duckdb") == count(tmp_path / "c.parquet", "class")
    pq.write_table(table([]), tmp_path / "empty.parquet")
    assert count(tmp_path / "empty.parquet", "class", engine="duckdb").rows == 0


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"engine": "hadoop"}, "engine is 'hadoop': choose one of files, duckdb, dask, spark"),
        ({"master": "local"}, "master is for Spark only"),
        ({"engine": "spark", "scheduler": "tcp://x"}, "scheduler is for Dask only"),
        ({"engine": "dask"}, "engine='dask' is for files"),
    ],
)
def test_engines_that_cannot_be_meant(options: dict[str, Any], said: str) -> None:
    with pytest.raises(CredimiError, match=said):
        count(table(), "class", **options)


@pytest.mark.parametrize(("engine", "module"), [("duckdb", "duckdb"), ("dask", "distributed"), ("spark", "pyspark")])
def test_library_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: str, module: str) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    for name in [name for name in sys.modules if name.startswith(f"{module}.")]:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(CredimiError, match=rf"pip install 'credimi\[{engine}\]'"):
        count(write_csvs(tmp_path / "some"), "class", engine=engine)


@pytest.mark.parametrize("engine", ["files", "duckdb"])
def test_engines_of_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str], engine: str) -> None:
    pytest.importorskip("duckdb", reason="duckdb is not installed")
    data, into = str(write_drifting(tmp_path / "some")), str(tmp_path / "all.counts")
    assert main(["count", data, "--target", "class", "--engine", engine, "--into", into]) == 0
    assert digest(Counts.load(into)) == expected()
    assert len(Counts.load(into).sources) == 3
    capsys.readouterr()
    assert main(["rank", data, "--target", "class", "--engine", engine, "--format", "json"]) == 0
    ranked = capsys.readouterr().out
    assert main(["rank", data, "--target", "class", "--format", "json"]) == 0
    assert capsys.readouterr().out == ranked


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--master", "local"], "credimi: --master is for Spark only: add the engine spark"),
        (["--engine", "spark", "--scheduler", "tcp://x"], "credimi: --scheduler is for Dask only"),
    ],
)
def test_engines_of_the_command_that_cannot_be_meant(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], said: str
) -> None:
    data = str(write_csvs(tmp_path / "some"))
    for command in (["rank"], ["count", "--into", str(tmp_path / "new.counts")]):
        assert main([*command, data, "--target", "class", *options]) == 2
        assert capsys.readouterr().err.startswith(said)


# Parts


@pytest.mark.parametrize("size", [1, 2, 3, 7, 16, 100])
def test_merged_as_a_tree(size: int) -> None:
    cut = [count(table(ROWS[start : start + size]), "class") for start in range(0, len(ROWS), size)]
    whole = merge.merged(cut)
    assert whole is not None
    assert digest(whole) == expected()
    sent = Counts.from_bytes(merge.merged_bytes(part.to_bytes() for part in cut))
    assert digest(sent) == expected()


def test_nothing_merged() -> None:
    assert merge.merged([]) is None
    assert merge.merged_bytes([]) == b""


def test_columns_side_by_side() -> None:
    plan = Plan("class", tuple(SCHEMA.names[:-1]), ReadingOptions())
    blocks = [count(table(), "class", features=[name]) for name in plan.features]
    assert digest(merge.beside(blocks, plan)) == expected()
    with pytest.raises(CredimiError, match="the table changed between two passes"):
        merge.beside([blocks[0], count(table(ROWS[:5]), "class", features=["whole"])], plan)


def test_sent_counts_that_are_damaged() -> None:
    content = count(table(), "class").to_bytes()
    with pytest.raises(CredimiError, match="damaged or was cut short"):
        Counts.from_bytes(content[:-1])


def test_settings_survive_the_journey() -> None:
    settings = ReadingOptions.of(["?", -9], {"real": [0.5, 1], "*": "quantile"})
    plan = Plan("class", ("real",), settings)
    counted = batch_module.counted(frames.batches(table(), plan.wanted), plan)
    assert merge.as_planned(counted.to_bytes(), plan) + counted == counted + counted


def test_no_engine_is_loaded_that_is_not_asked_for(tmp_path: Path) -> None:
    path = next(write_csvs(tmp_path / "some").iterdir())
    program = (
        "import sys, credimi; credimi.count(sys.argv[1], 'class');"
        "print(sorted({'dask', 'distributed', 'pyspark', 'polars', 'duckdb', 'pandas'} & set(sys.modules)))"
    )
    answer = subprocess.run([sys.executable, "-c", program, path], capture_output=True, text=True, check=True)
    assert answer.stdout == "[]\n"


def test_paths_are_read_by_their_own_engine() -> None:
    assert files.reads("a.csv")
    assert not frames.is_lazy("a.csv")


# Blocks of columns


@pytest.mark.parametrize(("columns", "sizes"), [(2, [1] * 8), (3, [2] * 4), (4, [2, 3, 3]), (9, [8]), (1, [1] * 8)])
def test_a_plan_in_blocks(columns: int, sizes: list[int]) -> None:
    plan = Plan("class", tuple(SCHEMA.names[:-1]), ReadingOptions())
    blocks = plan.blocks(columns)
    assert [len(block.features) for block in blocks] == sizes
    assert [name for block in blocks for name in block.features] == list(plan.features)
    assert {block.target for block in blocks} == {"class"}


def test_a_plan_of_no_features_is_one_block() -> None:
    assert [block.features for block in Plan("class", (), ReadingOptions()).blocks(5)] == [()]


@pytest.mark.long
@pytest.mark.parametrize("columns", [2, 3, 4, 9])
@pytest.mark.parametrize("cells", [1, 100, 1 << 20])
def test_parquet_some_columns_at_a_time(
    tmp_path: Path, columns: int, cells: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parquet_files, "COLUMNS", columns)
    monkeypatch.setattr(parquet_files, "_CELLS", cells)
    assert_same(write_drifting(tmp_path / "drifting"))
    pq.write_table(table(), tmp_path / "groups.parquet", row_group_size=37)
    shares: list[float] = []
    count(tmp_path / "groups.parquet", "class", progress=lambda share, _: shares.append(share))
    assert shares == sorted(shares)
    assert shares[-1] == pytest.approx(1.0)


@pytest.mark.parametrize("dictionaries", [False, True])
def test_parquet_of_small_groups_of_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, dictionaries: bool
) -> None:
    monkeypatch.setattr(parquet_files, "_GROUP", 1 if dictionaries else 1 << 13)
    pq.write_table(table(), tmp_path / "groups.parquet", row_group_size=7)
    assert_same(tmp_path / "groups.parquet")
    found = files.data_files(tmp_path / "groups.parquet")
    sizes = [batch.rows for batch in files.batches(found, SCHEMA.names, lambda _: None)]
    assert sum(sizes) == len(ROWS)
    assert (len(sizes) == 1) != dictionaries


def test_labels_are_bounded_by_the_width_of_the_whole_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks could keep more each; all of them together may not, at no moment."""
    monkeypatch.setattr(labels, "_MAX_CELLS", 1 << 15)
    generator = np.random.default_rng(5)
    numbers = generator.normal(size=(5000, 6))
    data = pa.table({f"n{place}": numbers[:, place] for place in range(6)} | {"class": generator.integers(0, 2, 5000)})
    pq.write_table(data, tmp_path / "wide.parquet", row_group_size=800)
    most = labels.most_labels(6, 3)
    assert most < 5000
    monkeypatch.setattr(parquet_files, "COLUMNS", 3)
    monkeypatch.setattr(parquet_files, "_CELLS", 2000)
    seen: list[int] = []
    add = Counts.__add__

    def watched(one: Counts, other: Counts) -> Counts:
        seen.extend(len(own) for own in (*one.labels, *other.labels))
        return add(one, other)

    monkeypatch.setattr(Counts, "__add__", watched)
    counts = count(tmp_path / "wide.parquet", "class")
    assert max(seen) <= most
    assert counts == count(data, "class")
    assert all(len(own) <= most and own.dropped_bits for own in counts.labels)


# Limits


def levels(size: int) -> dict[str, list[Any]]:
    words = [f"word {row % 7}" for row in range(size)]
    return {"few": [row % 3 for row in range(size)], "words": words, "real": [row / 7 for row in range(size)]}


def test_max_values_names_the_column_and_says_what_to_do(tmp_path: Path) -> None:
    data = levels(50) | {"class": ["p", "q"] * 25}
    pq.write_table(pa.table(data), tmp_path / "a.parquet")
    said = r"column 'words' has more than 6 values, such as 'word 0', 'word 1', 'word 2': leave it out .*--max-values"
    for given in (data, tmp_path / "a.parquet"):
        assert len(count(given, "class", max_values=7)) == 3
        with pytest.raises(CredimiError, match=said):
            count(given, "class", max_values=6)
    with pytest.raises(CredimiError, match="column 'real' has more than 40 values"):
        count(data, "class", max_values=40, discretize={"real": "categories"})
    with pytest.raises(CredimiError, match="column 'few' has more than 2 values, such as '0', '1', '2'"):
        count(data, "class", max_values=2)  # few whole numbers are categories
    with pytest.raises(CredimiError, match="max_values is 0: pass a whole number from 1 up"):
        count(data, "class", max_values=0)


def test_max_values_of_several_files_together(tmp_path: Path) -> None:
    for number in range(4):
        rows = "\n".join(f"w{number}{row},{row},p" for row in range(3))
        (tmp_path / f"{number}.csv").write_text(f"a,n,class\n{rows}\n", encoding="utf-8")
    assert len(count(tmp_path, "class", max_values=12)) == 2
    with pytest.raises(CredimiError, match="column 'a' has more than 11 values"):
        count(tmp_path, "class", max_values=11)


def test_max_values_stops_where_text_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(labels, "MAX_LABELS", 20)
    data = {"a": [f"w{row}" for row in range(60)], "class": ["p", "q"] * 30}
    assert count(data, "class").labels[0].kind == labels.MANY
    with pytest.raises(
        CredimiError, match="column 'a' has more than 30 values, or longer ones than are kept: leave it"
    ):
        count(data, "class", max_values=30)
