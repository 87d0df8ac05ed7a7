"""Parts of whole lines: a CSV text is cut only where pyarrow's reader, which reads it whole, has a line end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.csv
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from credimi import CredimiError, count
from credimi.sources.csv import csv_files, csv_split

if TYPE_CHECKING:
    from pathlib import Path

TEXTS = st.sampled_from(['a"\n;', 'ab""\n', '"\n', 'a;;\n\n"', 'a"\n\r;']).flatmap(
    lambda letters: st.text(letters, max_size=30)
)


def states(text: bytes) -> tuple[list[int], bool]:
    """Behind each line end outside quotes, letter by letter; and whether a quote is open at the end."""
    ends: list[int] = []
    inside, beginning, place = False, True, 0
    while place < len(text):
        letter = text[place : place + 1]
        if inside:
            if letter == b'"' and text[place + 1 : place + 2] == b'"':
                place += 1
            elif letter == b'"':
                inside, beginning = False, False
        elif letter in b"\n\r;":
            beginning = True
            if letter == b"\n":
                ends.append(place + 1)
        else:
            inside, beginning = letter == b'"' and beginning, False
        place += 1
    return ends, inside


@given(TEXTS)
def test_last_line_end_is_that_of_letter_by_letter(text: str) -> None:
    content = text.encode()
    ends, inside = states(content)
    expected = ends[-1] if ends else 0, b'"' in content, inside
    assert csv_split.last_line_end(pa.py_buffer(content), ";") == expected


@given(TEXTS, st.integers(1, 12), st.booleans())
def test_parts_are_the_whole_cut_at_line_ends(text: str, size: int, seekable: bool) -> None:  # noqa: FBT001
    content = text.encode()
    ends, inside = states(content)
    packed = pa.compress(content, codec="gzip", asbytes=True) if content and not seekable else content
    stream = pa.BufferReader(content) if seekable else pa.CompressedInputStream(pa.BufferReader(packed), "gzip")
    found = list(csv_split.parts(stream, size, ";")) if content else []
    whole = b"".join(part.content.to_pybytes() for part in found)
    assert content.startswith(whole)
    assert not content[len(whole) :].strip(b"\r\n")
    place = 0
    for part in found[:-1]:
        place += part.content.size
        assert place in ends
        assert not part.unclosed
    for part in found:
        assert part.quoted >= (b'"' in part.content.to_pybytes())
    assert not found or found[-1].unclosed == inside


@given(st.text('ab""\n\n ', min_size=1, max_size=20))
def test_letter_by_letter_is_as_pyarrow_reads(text: str) -> None:
    """Lines of one field, of which pyarrow refuses none."""
    content = text.encode()
    ends, inside = states(content)
    assume(not inside)
    rows = [content[low:high] for low, high in zip([0, *ends], [*ends, len(content)], strict=True)]
    read = pa.csv.ReadOptions(column_names=["x"], block_size=len(content), use_threads=False)
    parse = pa.csv.ParseOptions(delimiter=";", newlines_in_values=True)
    table = pa.csv.read_csv(pa.BufferReader(content), read, parse)
    assert table.num_rows == sum(bool(row.strip(b"\n")) for row in rows)


@pytest.mark.parametrize("size", [16, 64, 1 << 20])
def test_inches_beside_quoted_line_ends(size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An odd number of quotes that are letters moves nothing: rows behind them are read as they stand."""
    monkeypatch.setattr(csv_files, "_PART", size)
    rows = [('5" pipe', "p"), ('"two\nlines"', "q"), ("plain", "p"), ('"a ""b"" c"', "q")] * 9 + [('7" hose', "p")]
    path = tmp_path / "data.csv"
    path.write_text("x,y\n" + "".join(f"{x},{y}\n" for x, y in rows))
    counts = count(path, "y")
    assert counts.rows == 37
    assert counts["x"].joint.sum() == 37
    assert sorted(counts.feature("x").values) == sorted(['5" pipe', "two\nlines", "plain", 'a "b" c', '7" hose'])
    path.write_text("x,y\n" + "".join(f"{x},{y}\n" for x, y in [*rows, ("plain", '"q')]))
    with pytest.raises(CredimiError, match="line 48: a quote is never closed"):
        count(path, "y")


def test_a_quote_that_is_never_closed_is_given_up_before_memory_is_full(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_split, "LONGEST", 100)
    found = list(csv_split.parts(pa.BufferReader(b'a;b\n"c' + b";d\n" * 1_000), 10, ";"))
    assert [part.unclosed for part in found] == [False, True]
    assert found[1].content.size < 400
