"""Files of Stata (.dta), SPSS (.sav, .zsav, .por) and SAS (.sas7bdat, .xpt), by pyreadstat.

Values that have labels are shown by them, and are categories. What the user of these programs declared missing is
missing: the missing values of SPSS, and .a to .z of Stata and SAS.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from credimi.core.errors import CredimiError, one_line
from credimi.core.optional import library
from credimi.core.remote_files import local_path
from credimi.sources.documents.document import Document
from credimi.sources.frames import array_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from credimi.columns.column import ColumnValues
    from credimi.core.remote_files import Place
    from credimi.core.types import Foreign

_SAS = b"\x00" * 12 + b"\xc2\xea\x81\x60\xb3\x14\x11\xcf\xbd\x92\x08\x00\x09\xc7\x31\x8c\x18\x1f\x10\x11"
_READERS = {
    b"$FL": "read_sav",
    b"<stata_dta>": "read_dta",
    b"\x71\x01\x01": "read_dta",
    b"\x71\x02\x01": "read_dta",
    b"\x72\x01\x01": "read_dta",
    b"\x72\x02\x01": "read_dta",
    b"\x73\x01\x01": "read_dta",
    b"\x73\x02\x01": "read_dta",
    _SAS: "read_sas7bdat",
    b"HEADER RECORD*******": "read_xport",
}


@dataclass(frozen=True, slots=True, eq=False)
class StatisticsFile(Document):
    """The columns of such a file."""

    kind = "a file of Stata, SPSS or SAS"
    endings = (".dta", ".sav", ".zsav", ".sas7bdat", ".xpt")
    marks = tuple(_READERS)

    columns: Mapping[str, ColumnValues]
    rows: int

    @classmethod
    def table_of(cls, place: Place, file: Foreign, first: bytes, table: str | None) -> Self | None:
        """The columns of an open file."""
        reader = next(name for mark, name in _READERS.items() if first.startswith(mark))
        pyreadstat, path = library("pyreadstat", "stats"), local_path(place)
        if path is None:
            raise CredimiError(f"{place} is {cls.kind}, which is read from this machine only: download it first")
        options = {} if reader == "read_xport" else {"apply_value_formats": True, "formats_as_category": False}
        try:
            frame, _ = getattr(pyreadstat, reader)(path, **options)
        except (pyreadstat.ReadstatError, UnicodeDecodeError, OSError) as error:
            raise CredimiError(f"{place} is no readable file of Stata, SPSS or SAS: {one_line(error)}") from error
        del file
        return cls({str(name): array_of(frame[name], str(name)) for name in frame.columns}, len(frame))
