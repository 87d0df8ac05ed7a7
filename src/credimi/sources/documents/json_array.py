"""JSON documents that are tables: an array of objects, as most web services answer, or an object of arrays."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from credimi.core.errors import CredimiError, one_line
from credimi.sources.csv.csv_files import Header
from credimi.sources.documents.document import Document
from credimi.sources.formats import PACKED, ending, unpacked
from credimi.sources.json_lines import is_deep, one_type

if TYPE_CHECKING:
    from collections.abc import Mapping

    from credimi.columns.column import ColumnValues
    from credimi.core.remote_files import Place
    from credimi.core.types import Foreign

_ARRAY = re.compile(rb"(\xef\xbb\xbf)?\s*\[\s*[{\]]")
_MARK = b"\xef\xbb\xbf"  # of byte order


@dataclass(frozen=True, slots=True, eq=False)
class JsonArray(Document):
    """The fields of all objects."""

    kind = "JSON"
    endings = (".json",)

    columns: Mapping[str, ColumnValues]
    rows: int

    @classmethod
    def table_of(cls, place: Place, file: Foreign, first: bytes, table: str | None) -> Self | None:
        """The columns of an array of objects; None if this is something else."""
        packed = PACKED.get(place.suffix.lower())
        if packed and not place.name.lower().endswith(tuple(f".json{suffix}" for suffix in PACKED)):
            return None
        content = unpacked(file, packed).read() if packed else first
        if not _ARRAY.match(content) or ending(place) in Header.endings:
            file.seek(0)
            return None
        content = content if packed else file.read()
        if is_deep(content):
            raise CredimiError(f"{place} is nested too deep for a table: an array of objects")
        try:
            rows = json.loads(content.removeprefix(_MARK))
        except (ValueError, RecursionError) as error:
            raise CredimiError(f"{place} is no JSON: {one_line(error)}") from None
        other = next((place_ for place_, row in enumerate(rows) if not isinstance(row, dict)), None)
        if other is not None or not rows:
            what = "is empty" if not rows else f"holds no object at position {other}"
            raise CredimiError(f'{place}: the array {what}: a table is an array of objects, such as [{{"age": 41}}]')
        names = dict.fromkeys(name for row in rows for name in row)
        return cls({name: one_type([row.get(name) for row in rows]) for name in names}, len(rows))
