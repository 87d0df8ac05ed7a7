"""Lines that have no end, and quotes that are never closed: read once, and not without a bound."""

from __future__ import annotations

import io
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from credimi import CredimiError, count
from credimi.cli import main
from credimi.sources.csv import csv_split


class Endless:
    """A stream without an end; it says how much of it was read, and fails where that is too much."""

    def __init__(self, content: bytes, most: int) -> None:
        self.content, self.most, self.read_so_far = content, most, 0

    def read(self, size: int) -> bytes:
        self.read_so_far += size
        assert self.read_so_far <= self.most, "more was read than is ever needed"
        return (self.content * (size // len(self.content) + 1))[:size]

    def read_buffer(self, size: int) -> Any:  # noqa: ANN401
        return pa.py_buffer(self.read(size))

    def seekable(self) -> bool:
        return False


def first_line_by_letters(content: bytes) -> bytes:
    """As `sources.csv.csv_split.first_line`, letter by letter."""
    inside, started = False, False
    for place, letter in enumerate(content):
        started = started or letter not in b"\r\n"
        inside ^= letter == ord('"')
        if started and letter == ord("\n") and not inside:
            return content[: place + 1]
    return content


@given(st.text('a"\r\n,', max_size=40), st.integers(1, 7))
def test_first_line_is_that_of_letter_by_letter(text: str, size: int) -> None:
    content = text.encode()
    stream = io.BytesIO(content)
    pieces = SimpleNamespace(read=lambda _: stream.read(size))
    assert csv_split.first_line(pieces) == first_line_by_letters(content)


@pytest.mark.parametrize("size", [1, 2, 3, 100])
def test_a_byte_order_mark_and_blank_lines_come_before_the_header(size: int) -> None:
    content = b"\xef\xbb\xbf\r\n\n\na,b\n1,2\n"
    stream = io.BytesIO(content)
    assert csv_split.first_line(SimpleNamespace(read=lambda _: stream.read(size))) == content[:-4]


@pytest.mark.parametrize("content", [b"\0", b"a,", b"\n"])
def test_a_header_without_an_end_is_refused(content: bytes) -> None:
    with pytest.raises(CredimiError, match="no end within 64 MiB"):
        csv_split.first_line(Endless(content, 2 * csv_split.LONGEST_HEADER))


def test_an_open_quote_in_the_header_ends_with_the_room_for_a_header(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_split, "LONGEST_HEADER", 1 << 20)
    found = csv_split.first_line(Endless(b'a"b\n' + b"cd\n" * (1 << 20), 1 << 22))
    assert len(found) < 1 << 21


def test_a_stray_quote_in_the_header_of_a_long_file(tmp_path: Path) -> None:
    """Looked at from the beginning for each line end, these two million lines would take hours."""
    path = tmp_path / "a.csv"
    path.write_bytes(b'f,5" pipe\n' + b"1,2\n" * 2_000_000)
    with pytest.raises(CredimiError, match=r"a\.csv: a quote in the header is never closed"):
        count(path, "f")


def test_a_file_of_one_line(tmp_path: Path) -> None:
    """Looked at from the beginning after each block, these bytes would take minutes."""
    path = tmp_path / "a.csv"
    path.write_bytes(b"x" * (csv_split.LONGEST_HEADER + 10))
    with pytest.raises(CredimiError, match=r"a\.csv, line 1: a line has no end within 64 MiB: .* write it again"):
        count(path, "f")


def test_a_line_of_data_without_an_end_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(csv_split, "LONGEST", 1 << 20)
    with pytest.raises(CredimiError, match="no end within 1 MiB"):
        list(csv_split.parts(Endless(b"\0", 1 << 23), 1 << 16, ","))
    path = tmp_path / "a.csv"
    path.write_bytes(b"f,class\n1,x\n" + b"y" * (1 << 25))
    with pytest.raises(CredimiError, match=r"a\.csv: a line has no end within 1 MiB"):
        count(path, "class")


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="there is no such device")
def test_a_device_without_an_end_is_refused(capfd: pytest.CaptureFixture[str]) -> None:
    for command in ("rank", "count --into counts", "prequential", "select --output reduced.csv"):
        assert main([*command.split(), "/dev/zero", "--target", "y"]) == 2
        assert capfd.readouterr().err.startswith("credimi: /dev/zero, line 1: a line has no end within 64 MiB")
    assert main(["table", "/dev/zero"]) == 2
    assert "/dev/zero is larger than 16 MiB" in capfd.readouterr().err
