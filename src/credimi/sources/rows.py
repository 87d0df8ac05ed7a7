"""`coded_table`: a whole table of any source as codes; `rows_of`: the same row by row, for who needs the rows again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from credimi.core.errors import CredimiError
from credimi.core.public import stored
from credimi.counts.request import CountRequest
from credimi.counts.rows.coded_parts import coded_parts
from credimi.counts.rows.coded_table import MISSING, CodedTable
from credimi.sources import sparse_matrices
from credimi.sources.count import source, with_target_cuts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from credimi.core.types import Data, Record
    from credimi.counts.reading import Reading

    Codes = NDArray[np.int32]


def coded_table(data: Data, request: CountRequest) -> CodedTable:
    """The codes and the counts of what `credimi.count` accepts."""
    if sparse_matrices.reads(data):
        raise CredimiError("a sparse matrix cannot be read row by row: pass X.toarray()")
    plan, parts = source(data, with_target_cuts(data, request))
    return CodedTable(*coded_parts(list(parts), plan, request.threads))


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


def rows_of(data: Data, target: object, reading: Reading) -> Rows:
    """The rows of what `credimi.count` accepts, as codes."""
    table = coded_table(data, CountRequest.of(target, reading))
    target_classes = table.counts.interpreted_classes() if table.counts.rows else None
    interpreted = table.counts.interpreted(classes=target_classes) if target_classes else []
    useful = [feature for feature in interpreted if not feature.useless]
    classes, row_classes = table.classes(target_classes)
    has_target = row_classes != MISSING
    columns = [table.values(feature) for feature in useful]
    codes = np.column_stack(columns) if columns else np.zeros((row_classes.size, 0), dtype=np.int32)
    return Rows(
        codes[has_target],
        row_classes[has_target],
        tuple(feature.name for feature in useful),
        tuple(feature.values for feature in useful),
        classes,
        {feature.name: feature.facts for feature in interpreted if feature.useless},
        int(np.count_nonzero(~has_target)),
    )
