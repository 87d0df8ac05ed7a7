"""`predicted_memory`: how many bytes the rows of files take in memory while they become codes, before any is read.

All wanted columns are in memory at the same time as they are read, and as codes. What is known without reading differs:

- Parquet: rows and types, from the footer. A number takes its width, a text the four bytes of an index into the
  dictionary; and all of it no less than the pages, decompressed. The codes take a byte a cell more.
- CSV: `_CSV` bytes for each byte of text. With 31 columns, 5.0 were measured for texts of one letter, 2.0 for texts of
  24 letters.
- Arrow has the bytes of memory, and JSON lines at least as many, as they repeat the names in each row.

The parts of a column are joined, and both are there for a moment: `_JOINED` times as much (1.7 to 2.8 were measured).

A packed text is taken for `_PACKED` times as long. All factors are rather too small: data that fit must not be refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from credimi.sources.csv.csv_files import Header
from credimi.sources.json_lines import JsonFields
from credimi.sources.parquet.parquet_files import Footer

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    import pyarrow as pa

    from credimi.sources.data_file import DataFile

_CSV = 2.0  # bytes of memory for each byte of text
_JOINED = 1.5
_PACKED = 4.0  # bytes of text for each byte of a packed file
_INDEX = 4  # bytes of a text, as a position in the dictionary


def predicted_memory(files: Sequence[DataFile], wanted: Collection[str]) -> float:
    """The bytes that the wanted columns of these files are likely to take; rather too few than too many."""
    names = set(wanted)
    return sum(_of_file(file, names) for file in files)


def _of_file(file: DataFile, wanted: set[str]) -> float:
    layout = file.layout
    if layout is None:
        return 0.0
    share = sum(name in wanted for name in layout.names) / max(len(layout.names), 1)
    if isinstance(layout, Footer):
        widths = [_width(field.type) for field in layout.schema if field.name in wanted]
        return _JOINED * max(layout.rows * sum(widths), share * layout.unpacked) + layout.rows * len(widths)
    if isinstance(layout, Header):
        return file.size * share * _CSV * (_PACKED if layout.compression else 1.0)
    if isinstance(layout, JsonFields):
        return file.size * share * (_PACKED if layout.compression else 1.0)
    return file.size * share * _JOINED


def _width(kind: pa.DataType) -> float:
    """The bytes of a value of this type, at least."""
    try:
        return float(kind.bit_width / 8)
    except ValueError:  # text, lists
        return _INDEX
