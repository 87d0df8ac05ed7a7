"""`rows_of`: the rows of any source, row by row, for who goes through them one after the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from credimi.core.public import stored
from credimi.counts.codes import Codebook
from credimi.counts.request import CountRequest
from credimi.sources.codes import encoded_table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from credimi.core.types import Data, Option, Record

    Codes = NDArray[np.int32]

MISSING = -1


@stored
@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Codes of the rows that have a target; `values[j]` are the names of the codes of feature j."""

    codes: Codes  # rows x features, MISSING if the value is missing
    target: Codes
    features: tuple[str, ...]
    values: tuple[tuple[str, ...], ...]
    classes: tuple[str, ...]
    left_out: dict[str, Record]  # the facts of the columns that are left out (see `Feature`)
    without_target: int = 0

    def __len__(self) -> int:
        return self.target.size

    @property
    def missing(self) -> int:
        """How many cells are missing."""
        return int(np.count_nonzero(self.codes == MISSING))


def rows_of(
    data: Data,
    target: object,
    *,
    features: Sequence[str] | None = None,
    exclude: Sequence[str] | None = None,
    missing_values: Iterable[str | float],
    discretize: str | Mapping[str, object] | None = "mdl",
    target_cuts: Option = None,
    delimiter: str | None = None,
    threads: int | None = None,
    progress: Callable[[float], None] | None = None,
) -> Rows:
    """The rows of what `credimi.count` accepts, as codes."""
    options: Record = {"features": features, "exclude": exclude, "missing_values": missing_values}
    options |= {"discretize": discretize, "target_cuts": target_cuts, "delimiter": delimiter}
    options |= {"threads": threads, "progress": progress}
    table = encoded_table(data, CountRequest.of(target, **options))
    if not table.counts.rows:
        return Rows(np.zeros((0, 0), dtype=np.int32), np.zeros(0, dtype=np.int32), (), (), (), {})
    book = Codebook.of(table.counts, wanted=lambda feature: not feature.useless, threads=threads)
    codes = table.codes(threads, book)
    has_target = codes.groups < len(codes.classes)
    values = np.full((int(has_target.sum()), len(codes.columns)), MISSING, dtype=np.int32)
    for column, size, value in zip(codes.columns, codes.sizes, values.T, strict=True):
        known = column[has_target]
        np.copyto(value, known, where=known < size, casting="unsafe")
    return Rows(
        values,
        codes.groups[has_target].astype(np.int32),
        codes.names,
        tuple(feature.values for feature in codes.features),
        codes.classes,
        {feature.name: feature.facts for feature in codes.left_out},
        int(np.count_nonzero(~has_target)),
    )
