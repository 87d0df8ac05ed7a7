"""`rows_of`: the rows of any source, row by row, for who goes through them one after the other."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from credimi.columns.reading_options import cut_by_mdl
from credimi.core.public import stored
from credimi.counts.codes import Codebook
from credimi.counts.request import CountRequest
from credimi.sources.codes import encoded_table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from credimi.core.types import Data, Record
    from credimi.counts.reading import Reading

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
    target_name: str = ""

    def __len__(self) -> int:
        return self.target.size

    @property
    def missing(self) -> int:
        """How many cells are missing."""
        return int(np.count_nonzero(self.codes == MISSING))


def rows_of(data: Data, target: object, reading: Reading) -> Rows:
    """The rows of what `credimi.count` accepts, as codes."""
    table = encoded_table(data, CountRequest.of(target, reading))
    methods = table.counts.settings.discretize
    if not table.counts.rows:
        return Rows(np.zeros((0, 0), dtype=np.int32), np.zeros(0, dtype=np.int32), (), (), (), {})
    counts = replace(table.counts, settings=replace(table.counts.settings, discretize=cut_by_mdl(methods)))
    book = Codebook.of(counts, wanted=lambda feature: not feature.useless, threads=reading.threads)
    codes = table.codes(reading.threads, book)
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
        table.counts.target,
    )
