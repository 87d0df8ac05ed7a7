"""`SampledRows`: a few rows as codes, kept in memory beside their counts, for callers that need two columns at once.

Counts show each column only with the target. Whether two columns say the same can be seen only in rows, and a few
thousand rows are enough. They are rows of the first batch, evenly spread over it; no file and no pickle stores them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from credimi.columns.column import Column
    from credimi.columns.missing import MissingValues
    from credimi.counting.batch import CodedBatch

_ROWS, _CELLS = 2048, 1 << 21  # at most
_FEWEST_ROWS = 128  # of wide tables: fewer would not be enough


@dataclass(frozen=True, slots=True, eq=False)
class SampledRows:
    """Codes of some rows, and their labels; `batch` is how many rows they were taken from."""

    columns: Mapping[str, Column]
    missing: MissingValues
    batch: int

    @classmethod
    def of(
        cls, coded: CodedBatch, take: Callable[[Iterable[str], int], dict[str, Callable[[], Column]]]
    ) -> SampledRows | None:
        """Some rows of a batch; None if the table is sparse, or too wide to keep enough of them.

        `take` copies every n-th row of columns that are not encoded in the batch; what it returns encodes them.
        """
        rows = min(_ROWS, _CELLS // max(len(coded.features), 1))
        if rows < _FEWEST_ROWS or any(column.at is not None for column in coded.columns.values()):
            return None
        step = max(-(-coded.rows // rows), 1)
        columns = {name: replace(each, codes=each.codes[::step].copy()) for name, each in coded.columns.items()}
        waiting = take(coded.counted, step)
        return cls(_Encoded(columns, waiting) if waiting else columns, coded.missing, coded.rows)


class _Encoded(Mapping[str, "Column"]):
    """Columns, some of which are encoded when they are asked for: most are not."""

    def __init__(self, columns: dict[str, Column], waiting: dict[str, Callable[[], Column]]) -> None:
        self._columns, self._waiting = columns, waiting

    def __getitem__(self, name: str) -> Column:
        if name not in self._columns:
            self._columns[name] = self._waiting[name]()
        return self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys([*self._columns, *self._waiting]))

    def __len__(self) -> int:
        return len(self._columns.keys() | self._waiting.keys())


def beside(parts: Iterable[SampledRows | None]) -> SampledRows | None:
    """Columns of the same rows, joined; None if they may be of different rows."""
    found = [part for part in parts if part is not None]
    if not found or len({part.batch for part in found}) > 1:
        return None
    columns = {name: column for part in found for name, column in part.columns.items()}
    lengths = {column.codes.size for column in columns.values()}
    return replace(found[0], columns=columns) if len(lengths) == 1 else None
