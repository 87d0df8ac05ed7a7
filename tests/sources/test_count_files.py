"""`count` and `Counts`: files."""

from __future__ import annotations

import csv
import gzip
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from counting_helpers import COLUMNS, ROWS, assert_all_rows, cells, csv_text, oracle, refusal, table, write_csv

from credimi import Counts, CredimiError, count, prequential
from credimi.columns.encode_arrow import load_kernels
from credimi.sources import files
from credimi.sources.csv import csv_files, csv_split
from credimi.sources.parquet import parquet_files

if TYPE_CHECKING:
    from pathlib import Path


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
    with pytest.raises(CredimiError, match="is for CSV files, not for a Table: leave delimiter out"):
        count(table(), "class", delimiter=";")
    with pytest.raises(CredimiError, match="is for CSV files, not for a dict"):
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
    monkeypatch.setattr(csv_files, "_PART", part)
    monkeypatch.setattr(csv_files, "_GATHERED", 0)
    assert_all_rows(count(write_csv(folder / "a.csv", ROWS[:60]), "class"), ROWS[:60])


@pytest.mark.parametrize(
    ("rows", "size", "batches"), [(1, 99, 60), (2, 99, 30), (10, 99, 6), (99, 999, 1), (99, 24, 15)]
)
def test_parts_of_few_rows_are_counted_together(
    folder: Path, rows: int, size: int, batches: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A column costs as much for a few rows as for many: up to so many rows, and so many bytes."""
    (folder / "a.csv").write_text("f,class\n" + "".join(f"{row % 7:02},{row % 2:02}\n" for row in range(60)))
    monkeypatch.setattr(csv_files, "_PART", 6)  # twice as much is read where it has few rows
    whole = count(folder / "a.csv", "class")
    monkeypatch.setattr(csv_files, "_ROWS", rows)
    monkeypatch.setattr(csv_files, "_GATHERED", size)
    parts = list(files.batches(files.data_files(folder / "a.csv"), ["class", "f"], lambda _: None))
    assert [part.rows for part in parts] == [60 // batches] * batches
    assert cells(count(folder / "a.csv", "class")) == cells(whole)


@pytest.mark.parametrize("block", [1, 30, 300])
@pytest.mark.parametrize("part", [50, 1 << 20])
def test_csv_in_blocks_of_any_size(folder: Path, block: int, part: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where a block would hold less than a line."""
    monkeypatch.setattr(csv_files, "_PART", part)
    monkeypatch.setattr(csv_files, "_GATHERED", 0)
    monkeypatch.setattr(csv_files, "_BLOCK", block)
    monkeypatch.setattr(csv_files, "_ROWS", 1)
    assert_all_rows(count(write_csv(folder / "a.csv", ROWS[:60]), "class"), ROWS[:60])


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_threads_that_parse_csv_change_nothing(folder: Path, threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_files, "_PART", 200)
    monkeypatch.setattr(csv_files, "_GATHERED", 0)
    assert_all_rows(count(write_csv(folder / "a.csv"), "class", threads=threads))


def test_line_ends_in_quotes_that_two_blocks_share(folder: Path) -> None:
    """A block of pyarrow's that starts with LF is taken for the rest of a line end, also in quotes."""
    row = b'"first\r\nsecond",a\n'
    first = b"x" * ((csv_files._BLOCK - row.index(b"\n")) % len(row) + len(row) - 3) + b",b\n"  # noqa: SLF001
    (folder / "a.csv").write_bytes(b"f,class\n" + first + row * (3 * csv_files._BLOCK // len(row)))  # noqa: SLF001
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
    monkeypatch.setattr(csv_files, "_PART", 100_000)
    monkeypatch.setattr(csv_files, "_GATHERED", 0)
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
    monkeypatch.setattr(csv_files, "_PART", part)
    monkeypatch.setattr(csv_files, "_GATHERED", 0)
    lines = ['"a\nname, ""quoted""",class', '"x\ny",yes', '"q""r",no', "", '"\n",yes', ",no", '"",yes']
    path = folder / "a.csv"
    path.write_text(mark + end.join(lines) + end * last, encoding="utf-8", newline="")
    name = 'a\nname, "quoted"'
    rows = [("x\ny", "yes"), ('q"r', "no"), (None, "yes"), (None, "no"), (None, "yes")]
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
    monkeypatch.setattr(csv_files, "_PART", part)
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
    monkeypatch.setattr(csv_files, "_PART", part)
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
    found = csv_split.last_line_end

    def look(content: Any, delimiter: str) -> tuple[int, bool, bool]:  # noqa: ANN401
        sizes.append(content.size)
        return found(content, delimiter)

    monkeypatch.setattr(csv_split, "last_line_end", look)
    monkeypatch.setattr(csv_files, "_PART", 64)
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
    monkeypatch.setattr(files, "_BYTES_WORTH_LOADING", 1)
    monkeypatch.setattr(files, "load_kernels", lambda: loaded.append(load_kernels()))
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
    monkeypatch.setattr(csv_files, "_PART", 16)
    monkeypatch.setattr(csv_files, "_GATHERED", 0)
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
    monkeypatch.setattr(parquet_files, "_CELLS", size)
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
    monkeypatch.setattr(csv_files, "_PART", 500)
    monkeypatch.setattr(csv_files, "_GATHERED", 0)
    write_csv(folder / "1.csv")
    pq.write_table(table(), folder / "2.parquet")
    write_csv(folder / "3.csv.gz")
    told: list[float] = []
    count(folder, "class", progress=lambda share, _: told.append(share))
    assert told == sorted(told)
    assert told[-1] == pytest.approx(1.0)
    assert len(told) > 5


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty"),
        (b"f,class\n1,a\n2\n", "line 3: 1 field, the header has 2"),
        (b"f,class\n1,a\n2,b,c\n", "line 3: 3 fields, the header has 2"),
        (b"\xe9,class\n1,a\n\0", "line 1: byte 0xe9 at position 1 is not UTF-8"),  # of what is no text
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
    assert "holds no file that ends in .csv, .tsv" in refusal(folder)
    write_csv(folder / "1.csv")
    write_csv(folder / "2.csv", names=("word", "class"))
    assert "differ: only one of them has the column 'real'" in refusal(folder)
    assert "for files, pass the name of a column as the target" in refusal(folder / "1.csv", ["a"])
    (folder / "3.csv.gz").write_bytes(gzip.compress(csv_text(ROWS).encode())[:100])
    assert "cannot read" in refusal(folder / "3.csv.gz")
    (folder / "4.csv.gz").write_text("f,class\n1,a\n")
    assert "cannot read" in refusal(folder / "4.csv.gz")
