"""What a ranking keeps of the features besides its columns, so that they can be looked at later."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from credimi.settling import Feature


@dataclass(frozen=True, slots=True, eq=False)
class Kept:
    """In the order of the ranking: the blocks of counts, of those that were not ranked None; values, cuts.

    `odds` are the features' own. `at_mode` is the information at the most probable chances, which the plug-in filter
    asks for; `source` says where the data came from. The posteriors are not kept: they follow from blocks and odds.
    """

    blocks: tuple[NDArray[Any] | None, ...]
    values: tuple[tuple[str, ...], ...]
    cuts: tuple[list[str], ...]
    odds: tuple[float, ...]
    at_mode: NDArray[np.float64]
    source: str

    @classmethod
    def of(cls, features: Sequence[Feature], at_mode: NDArray[np.float64], data: object) -> Kept:
        """Of settled features. Identifiers, which have a value a row, leave nothing behind."""
        return cls(
            tuple(None if feature.note else feature.block for feature in features),
            tuple(() if feature.note else feature.values for feature in features),
            tuple(feature.shown_cuts for feature in features),
            tuple(feature.odds for feature in features),
            at_mode,
            source_of(data),
        )


def source_of(data: object) -> str:
    """The paths of the data, if they came from files."""
    if isinstance(data, str | Path):
        return str(data)
    if isinstance(data, list | tuple) and data and all(isinstance(each, str | Path) for each in data):
        return ", ".join(map(str, data[:5])) + (f" and {len(data) - 5:,} more" if len(data) > 5 else "")
    return ""
