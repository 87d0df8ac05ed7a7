"""`count` and `Counts`: files of counts."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from counting_helpers import ROWS, Row, cells, write_csv

from credimi import Counts, CredimiError, count
from credimi.columns import labels
from credimi.columns.reading_options import ReadingOptions
from credimi.counts.batch import Batch, tally
from credimi.counts.request import Plan

if TYPE_CHECKING:
    from collections.abc import Sequence


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
    monkeypatch.setattr(labels, "MAX_LABELS", 20)
    monkeypatch.setattr(labels, "MAX_LABELS", 30)
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
    monkeypatch.setattr(labels, "MAX_LABELS", 64)
    rows = {"id": np.arange(400), "class": np.repeat(["a", "b"], 200)}
    counts = count(rows, "class")
    assert counts.labels[0].dropped_bits > 0
    assert counts.feature("id").kind == "identifier"
    cut = count(rows, "class", discretize={"id": "mdl"}).feature("id")
    assert (cut.cut_by, cut.cuts.size) == ("mdl", 2)


def test_few_whole_numbers_of_a_wide_range_stay_what_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """The range has more numbers than labels are kept, the column has not."""
    monkeypatch.setattr(labels, "MAX_LABELS", 100)
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
    monkeypatch.setattr(labels, "MAX_LABELS", 100)
    names = [f"v{number:05}" for number in range(4000)]
    codes = np.arange(600) % 3 * 1000
    column = pa.DictionaryArray.from_arrays(pa.array(codes, pa.int32()), pa.array(names))
    counts = count({"x": column, "class": codes % 2000 == 0}, "class", max_values=3)
    assert counts.labels[0].texts == ("v00000", "v01000", "v02000")
    assert counts.feature("x").kind.ranked


@pytest.mark.parametrize("each", [1, 2, 5])
def test_measurements_of_many_values_are_no_identifiers_however_coarse(
    monkeypatch: pytest.MonkeyPatch, each: int
) -> None:
    """Whole numbers, without gaps, so many that their last bits are dropped; `each` is how many rows share one."""
    monkeypatch.setattr(labels, "MAX_LABELS", 100)
    amounts = np.repeat(np.arange(1000, 4000), each)
    classes = np.where(np.arange(amounts.size) * 2 < amounts.size, "low", "high")
    counts = count({"amount": amounts, "class": classes}, "class")
    assert counts.labels[0].dropped_bits > 0
    assert (counts.feature("amount").kind == "identifier") == (each == 1)
    if each > 1:  # and they are cut about the change, which lies inside a label
        cuts = counts.feature("amount").cuts
        assert cuts[0] <= 2499.5 <= cuts[-1] <= cuts[0] + 64


def test_cutting_is_refused_where_there_are_no_numbers_and_done_where_zeros_lead(folder: Path) -> None:
    (folder / "a.csv").write_text("n,t,class\n" + "".join(f"{row:05d},x{row % 3},{row > 60}\n" for row in range(99)))
    assert count(folder / "a.csv", "class").feature("n").kind == "identifier"
    counts = count(folder / "a.csv", "class", discretize={"n": "mdl"})
    assert (counts.feature("n").cut_by, counts.feature("n").shown_cuts) == ("mdl", ["60.5"])
    with pytest.raises(CredimiError, match="only numbers and dates can be cut"):
        count(folder / "a.csv", "class", discretize={"t": "mdl"}).interpreted()
    with pytest.raises(CredimiError, match="discretize names the target 'class'"):
        count(folder / "a.csv", "class", discretize={"class": [1]})


def test_parts_of_numbers_alone_and_of_text_add_up_to_the_whole() -> None:
    """Numbers are read as such where a part has many of them; their spelling must not matter later."""
    texts = [f"{row / 4:.2f}" for row in range(600)] + ["unknown"] * 20
    classes = ["ab"[row % 2] for row in range(620)]

    def part(start: int, stop: int) -> Counts:
        columns = {"f": pa.array(texts[start:stop]), "class": pa.array(classes[start:stop])}
        return tally(Batch(columns, stop - start, raw=True), Plan("class", ("f",), ReadingOptions(())))

    whole = part(0, 620)
    assert part(0, 400) + part(400, 620) == whole
    assert sum([part(0, 400), part(400, 600), part(600, 620)]) == whole


def test_counts_of_one_class_or_no_rows_are_equal_to_themselves() -> None:
    for rows in ([{"f": 1, "class": "a"}], []):
        counts = count({"f": [row["f"] for row in rows], "class": [row["class"] for row in rows]}, "class")
        assert counts == counts  # noqa: PLR0124
