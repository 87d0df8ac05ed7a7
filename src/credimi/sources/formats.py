"""What each file format says of itself: `Layout`, and `Wanted`, what is read of a file.

A format is one module with one `Layout`; `data_file.FORMATS` lists them, and nothing else names a single format to read
or to write it. A new format is a new module and one line there; and one in `cli/standard_input.py`, if `--input-format`
should name it.
"""

from __future__ import annotations

import io
import os
from abc import ABC, abstractmethod
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, ClassVar, NamedTuple, Self

import pyarrow as pa

from credimi.core.errors import CredimiError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence
    from pathlib import Path

    from credimi.columns.column import ColumnValues
    from credimi.core.remote_files import Place
    from credimi.core.types import Foreign
    from credimi.counts.batch import Batch

    Progress = Callable[[float], None]

PACKED = {".gz": "gzip", ".zst": "zstd", ".bz2": "bz2", ".xz": "xz", ".zip": "zip"}  # endings of compressed text
UNPACKED = 8  # bytes of text for each byte of a packed file, guessed
_PACKED_AT_LEAST = 4.0  # the same, rather too few
_BYTES_PER_CELL = 8  # at least, of a cell in memory, and of a field of JSON lines
JOINED = 1.5  # times the memory of a column, as its parts are there, too, while they are joined: 1.7 to 2.8 measured


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is read of one of several files, whose sizes in bytes add up to `total`.

    `blocks` are the columns for formats that store columns apart, one block after the other. With `coded`, columns may
    come as codes.
    """

    columns: Sequence[str]
    progress: Progress
    size: int
    total: int
    threads: int | None = None
    blocks: Sequence[Sequence[str]] = ()
    coded: bool = False

    @property
    def cells(self) -> int:
        """An estimate of the cells of all files."""
        return self.total // _BYTES_PER_CELL


class Glimpse(NamedTuple):
    """What is known of a column when the file is opened: its first values, or none but its type."""

    values: ColumnValues
    is_whole: bool = False  # whether these are the values of all rows


class Layout(ABC):
    """Where the columns of a file are: a header, a footer, a schema."""

    __slots__ = ()
    kind: ClassVar[str]  # the format in words
    endings: ClassVar[tuple[str, ...]]  # of names of files in a directory; a file that is named may have any
    marks: ClassVar[tuple[bytes, ...]] = ()  # first bytes of a file; text has none, and may be packed
    memory_per_byte: ClassVar[float] = 1.0  # of text, or of what else the file holds
    alone: ClassVar[bool] = False  # whether such files are read only if they are named, not as part of a directory

    if TYPE_CHECKING:

        @property
        def names(self) -> tuple[str, ...]:
            """The columns' names, a field or a property."""

    @classmethod
    @abstractmethod
    def of(cls, place: Place, file: Foreign, first: bytes, delimiter: str | None) -> Self | None:
        """The layout of an open file that begins with these bytes; None if it is text of another format."""

    @abstractmethod
    def batches(self, place: Place, wanted: Wanted) -> Iterator[Batch]:
        """The wanted columns, part by part."""

    def glimpse(self, name: str) -> Glimpse | None:  # noqa: ARG002  (little is known of most formats)
        """What is known of a column without another look into the file."""
        return None

    @abstractmethod
    def copy_columns(self, place: Place, wanted: Sequence[str], output: Path, suffix: str, *, safe: bool) -> None:
        """Write the same rows with some of the columns.

        Text is packed if `suffix`, the end of the name that the output will have, says so. With `safe`, texts that a
        spreadsheet would take for formulas get an apostrophe.
        """

    def memory(self, size: int, wanted: Collection[str]) -> float:
        """The bytes that the wanted columns of a file of this size are likely to take; rather too few than too many.

        All are in memory at the same time, as they are read and as codes.
        """
        share = sum(name in wanted for name in self.names) / max(len(self.names), 1)
        return size * share * self.memory_per_byte * (_PACKED_AT_LEAST if getattr(self, "compression", None) else 1.0)

    def sharing(self, shared: dict[object, Foreign]) -> Self:
        """The same; stored only once if another file has it, too, as there may be many wide files."""
        same: Self = shared.setdefault(self, self)
        return same


class Streamed(io.RawIOBase):
    """A stream of Python, read like one of pyarrow, from its beginning to its end: going back would unpack it anew."""

    def __init__(self, stream: Foreign) -> None:
        super().__init__()
        self._stream = stream

    def readable(self) -> bool:
        """It is."""
        return True

    def read(self, size: int = -1) -> bytes:
        """The next bytes, as many as are asked for, unless the stream ends."""
        content: bytes = self._stream.read(size)
        return content

    def read_buffer(self, size: int) -> pa.Buffer:
        """The same as a buffer of Arrow."""
        return pa.py_buffer(self.read(size))


def unpacked(file: Foreign, compression: str | None) -> Foreign:
    """The text of an open file."""
    if compression == "xz":
        import lzma  # noqa: PLC0415  (rarely needed)

        return Streamed(lzma.LZMAFile(file))
    if compression == "zip":
        return Streamed(_only_member(file))
    return pa.CompressedInputStream(file, compression) if compression else file


def _only_member(file: Foreign) -> IO[bytes]:
    """The one file in a zip archive."""
    import zipfile  # noqa: PLC0415  (rarely needed)

    try:
        archive = zipfile.ZipFile(file)
        names = [name for name in archive.namelist() if not name.endswith("/") and not name.startswith("__MACOSX/")]
        if len(names) != 1:
            listed = ", ".join(map(repr, names[:5])) + ", ..." * (len(names) > 5)
            raise CredimiError(f"the zip archive holds {len(names)} files ({listed}), and one is read: unpack it")
        return archive.open(names[0])
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:  # damaged; an unusual method; a password
        raise CredimiError(f"the zip archive cannot be read: {error}") from error


@contextmanager
def created(output: Path, suffix: str) -> Iterator[Foreign]:
    """A new file of text, packed if the suffix says so."""
    packed = PACKED.get(suffix.lower())
    if packed in {"xz", "zip"}:
        raise CredimiError(f"{suffix} is read and not written: give a name that ends in .gz, .zst or .bz2, or unpacked")
    with pa.OSFile(os.fsencode(output), "wb") as file:
        if packed is None:
            yield file
            return
        with pa.CompressedOutputStream(file, packed) as stream:
            yield stream


def ending(place: Place | Path) -> str:
    """The ending of a file's name that says its format, without that of the compression."""
    suffixes = [suffix.lower() for suffix in place.suffixes]
    if suffixes and suffixes[-1] in PACKED:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""
