"""`SettledCodes`: rows as settled codes, and the counts of all columns against target and stratum in one pass.

A stratum and a class make one composite class: with R = r + 1 classes, the last of which is "missing", row number
z R + i of a block counts class i of stratum z. So the blocks of the strata, (r + 1) x (s + 1) each with the missing
counts last, follow each other as `Tables` have them, and the kernels that count a target count strata as well: what is
missing of target and feature is kept for each stratum.

**Rows whose stratum is missing are left out.** They say nothing of what a feature tells once the stratum is known. As a
stratum of their own they would answer another question: a copy of the given column, with missing values elsewhere,
would seem to add to it, because it speaks where the column is silent.

One pass reads all codes once, one byte a cell for columns of up to 255 values; blocks have (strata)(r + 1)(s + 1) cells
a column.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from credimi.core.errors import CredimiError
from credimi.core.tables import Tables
from credimi.core.threads import share
from credimi.counting import tabulate
from credimi.counting.coded_table import MISSING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from credimi.columns.feature import Feature
    from credimi.core.types import CountArray, FloatArray, IntegerArray
    from credimi.counting.coded_table import CodedTable

    Codes = NDArray[np.unsignedinteger]

_CELLS_WORTH_COMPILING = 2_000_000  # less than for one pass: several are made


@dataclass(frozen=True, slots=True, eq=False)
class SettledCodes:
    """Class and values of all rows, as numbers from 0 up; one more than the largest where they are missing.

    `features` are the columns that can tell something, as `rank` sees them, and `codes` their values, row by row.
    """

    target: str
    classes: tuple[str, ...]
    groups: Codes
    features: tuple[Feature, ...]
    codes: tuple[Codes, ...]
    weights: FloatArray | None = None

    @classmethod
    def of(cls, table: CodedTable, threads: int | None = None) -> SettledCodes:
        """Settle the codes of a table once, for many passes."""
        settled = table.counts.settled_classes()
        features = tuple(feature for feature in table.counts.settled(classes=settled) if feature.kind.ranked)
        classes, groups = table.classes(settled)
        found: dict[int, Codes] = {}

        def work(number: int) -> None:
            codes, values = table.settled_as(features[number])
            found[number] = unsigned(values, len(features[number].values))[codes]

        share(work, range(len(features)), threads)
        codes = tuple(found[number] for number in range(len(features)))
        return cls(table.coded.target, classes, unsigned(groups, len(classes)), features, codes, table.coded.weights)

    def stratified(
        self,
        strata: NDArray[np.integer],
        count: int,
        *,
        features: Sequence[int] | None = None,
        threads: int | None = None,
    ) -> tuple[Tables, IntegerArray]:
        """The tables of some features, or all, `count` strata each, and where each feature's start.

        `strata` has of each row a number from 0 up to `count`, or another where its stratum is missing.
        """
        if strata.shape != self.groups.shape:
            raise CredimiError(f"there are {strata.size} strata for {self.groups.size} rows: give one a row")
        chosen = range(len(self.features)) if features is None else features
        height = len(self.classes) + 1
        known = (strata >= 0) & (strata < count)
        composite = np.where(known, strata, count).astype(np.int64) * height + self.groups
        composite[~known] = count * height
        groups = unsigned(composite, count * height)
        codes, values = [self.codes[each] for each in chosen], [len(self.features[each].values) for each in chosen]
        counted: list[CountArray]
        if self.weights is None:
            compiled, all_groups = groups.size * len(codes) >= _CELLS_WORTH_COMPILING, count * height + 1
            counted = [*tabulate.cross_counts(groups, all_groups, codes, values, compiled=compiled, threads=threads)]
        else:
            counted = [*tabulate.weighted_counts(groups, count * height + 1, codes, values, self.weights)]
        flat = [block[: count * height].ravel() for block in counted]
        rows = np.full(count * len(codes), len(self.classes))
        odds = np.array([self.features[each].odds for each in chosen])
        tables = Tables(
            np.concatenate([np.zeros(0), *flat]), rows, np.repeat(np.array(values, dtype=np.int64), count), odds
        )
        return tables, np.arange(len(codes) + 1) * count


def unsigned(codes: NDArray[np.integer], missing: int) -> Codes:
    """In the fewest bytes; MISSING becomes the number that follows the others."""
    kind = np.uint8 if missing <= 255 else np.uint16 if missing <= 65_535 else np.uint32
    found: Codes = np.where(codes == MISSING, missing, codes).astype(kind)
    return found
