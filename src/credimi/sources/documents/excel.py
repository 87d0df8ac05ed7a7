"""Excel workbooks (.xlsx, .xlsm, .xlsb, .xls) and OpenDocument spreadsheets (.ods), by python-calamine.

`book.xlsx::Sheet2` names a sheet; without a name the first sheet that has cells is read. Its first line that has more
than one cell has the names of the columns, so that a title above them does no harm. Cells have types: a column of
numbers and texts is text, as in a data frame; among texts, what means missing does not count.
"""

from __future__ import annotations

import io
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from credimi.core.errors import CredimiError, one_line
from credimi.core.optional import library
from credimi.sources.documents.document import Document, chosen
from credimi.sources.json_lines import one_type

if TYPE_CHECKING:
    from collections.abc import Mapping

    from credimi.columns.column import ColumnValues
    from credimi.core.remote_files import Place
    from credimi.core.types import Foreign, Value

_ZIP, _OLD = b"PK\x03\x04", b"\xd0\xcf\x11\xe0"
_INSIDE = (b"xl/", b"[Content_Types].xml", b"mimetypeapplication/vnd.oasis")  # the first files in such a zip archive


@dataclass(frozen=True, slots=True, eq=False)
class Sheet(Document):
    """One sheet of a workbook."""

    kind = "an Excel workbook"
    endings = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
    marks = (_ZIP, _OLD)

    columns: Mapping[str, ColumnValues]
    rows: int

    @classmethod
    def table_of(cls, place: Place, file: Foreign, first: bytes, table: str | None) -> Self | None:
        """The sheet of this name, or the first that has cells."""
        if first.startswith(_ZIP) and not any(name in first for name in _INSIDE):
            return None
        calamine = library("python_calamine", "excel")
        try:
            book = calamine.CalamineWorkbook.from_filelike(io.BytesIO(file.read()))
            if table is not None:
                chosen(place, book.sheet_names, table, "sheet")
            sheets = [table] if table else book.sheet_names
            lines: list[list[Value]] = next(
                filter(None, (book.get_sheet_by_name(name).to_python() for name in sheets)), []
            )
        except (calamine.CalamineError, calamine.PasswordError, OSError, ValueError) as error:
            raise CredimiError(f"{place} is no readable Excel workbook: {one_line(error)}") from error
        return cls(*columns_of(place, lines))


def columns_of(place: Place, lines: list[list[Value]]) -> tuple[dict[str, ColumnValues], int]:
    """The columns of lines of cells, the first of which with several cells has the names; and the number of rows."""
    filled = [sum(cell != "" for cell in line) for line in lines]
    head = next((row for row, cells in enumerate(filled) if cells > 1), 0)
    if not lines:
        raise CredimiError(f"{place} has no cells: a table needs a first line with the columns' names, and rows")
    named = [(column, str(cell)) for column, cell in enumerate(lines[head]) if cell != ""]
    repeated = next((name for name, count in Counter(name for _, name in named).items() if count > 1), None)
    if repeated is not None:
        raise CredimiError(f"two columns of {place} are called {repeated!r}: give each column a name of its own")
    rows = [line for line, cells in zip(lines[head + 1 :], filled[head + 1 :], strict=True) if cells]
    return {
        name: one_type([None if line[column] == "" else line[column] for line in rows]) for column, name in named
    }, len(rows)
