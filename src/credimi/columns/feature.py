"""`Feature`: one column as it is ranked."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from credimi.columns import text_types
from credimi.core.table import Table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from credimi.columns.labels import Labels

    CountArray = NDArray[Any]
    Positions = NDArray[np.int64]

MISSING_VALUE = "(missing)"  # the name of the value, where missing is one
UNCOUNTED = "cannot be counted"


@dataclass(frozen=True, slots=True, eq=False)
class Feature:
    """One column as it is ranked: its block, the values' names, how they came about, and why it is not ranked.

    `labels` are those of the data, typed, and `places` says in which column of the block each of them is counted;
    `typed_as` says of each label as it was counted, which of them it has become. `doubt` is why learners do better
    without a column that can be ranked. `odds` are what is left of even prior odds that it depends on the target, once
    its cuts were chosen for what they tell.
    """

    name: str
    block: CountArray
    values: tuple[str, ...]
    labels: Labels
    places: Positions
    typed_as: Positions
    cuts: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    odds: float = 1.0
    treatment: str = ""
    note: str = ""
    doubt: str = ""

    @property
    def table(self) -> Table:
        """The counts without those rows in which both are missing."""
        return Table.of_block(self.block)

    @property
    def shown_cuts(self) -> list[str]:
        """The cuts as text: six digits, or dates; one between two days belongs to the first."""
        if self.labels.instants:
            return [text_types.shown_date(np.floor(cut) if self.labels.integral else cut) for cut in self.cuts.tolist()]
        return [text_types.shown_number(float(f"{cut:.6g}")) for cut in self.cuts.tolist()]

    @property
    def useless(self) -> str:
        """Why a learner leaves the column out; empty where it does not."""
        return self.note or self.doubt

    @property
    def unranked(self) -> bool:
        """Whether nothing is said of what it tells: an identifier, or values that cannot be counted."""
        return self.note.startswith(("identifier", UNCOUNTED))

    @property
    def complete(self) -> int | float:
        """Rows that have both."""
        found: int | float = self.block[:-1, :-1].sum().item()
        return found

    @property
    def missing(self) -> int | float:
        """Rows without the feature."""
        found: int | float = self.block[:, -1].sum().item()
        return found

    @property
    def missing_is_value(self) -> bool:
        """Whether the last of the values is that there is none."""
        return self.values[-1:] == (MISSING_VALUE,) and len(self.values) > len(np.unique(self.places))

    def indicator(self) -> CountArray:
        """The block of the target with whether this feature is missing, which itself is never missing: no, yes."""
        seen, gone = self.block[:, :-1].sum(axis=1), self.block[:, -1]
        return np.stack([seen, gone, np.zeros_like(gone)], axis=1)

    def with_missing_as_value(self) -> Feature:
        """The same column, missing being one more of its values; those that are not ranked stay what they are."""
        if self.missing == 0 or not self.values or self.unranked:
            return self
        block = np.hstack([self.block, np.zeros_like(self.block[:, :1])])
        treatment = f"{self.treatment or self.note}; missing is a value"
        return replace(self, block=block, values=(*self.values, MISSING_VALUE), treatment=treatment, note="")
