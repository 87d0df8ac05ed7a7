"""`PairRequest`: where pairs are counted and judged, which of them are requested, and where their figures go."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from credimi.core.arguments import require_share, require_whole
from credimi.core.atomic_files import replacing, reserve
from credimi.core.errors import CredimiError
from credimi.inference.tables.pair_figures import PairFigures

if TYPE_CHECKING:
    from collections.abc import Callable

    from credimi.questions.pairs.result import Pairs

FOREST = "forest"  # from which missing values are drawn


def check_device(device: str) -> None:
    """Raise an error if the device is a GPU and there is none."""
    if device == "gpu":
        from credimi.questions.pairs.gpu import pairs_on_device  # noqa: PLC0415  (only where it is asked for)

        pairs_on_device.find_gpu()


@dataclass(frozen=True, slots=True)
class PairRequest:
    """The options of `pairs` besides those of posteriors; checked when the record is made, before any data is read."""

    device: str = "cpu"
    top: int | None = None
    p_dependent: float | None = None
    into: str | Path | None = None
    refine: str | None = None
    imputations: int = 10
    random_state: int = 0

    def __post_init__(self) -> None:
        if self.top is not None and (isinstance(self.top, bool) or not isinstance(self.top, Integral) or self.top < 1):
            raise CredimiError(f"top is {self.top!r}: pass a whole number from 1 on, or None for all pairs")
        if self.p_dependent is not None:
            require_share("p_dependent", self.p_dependent)
        if self.into is not None and self.some:
            raise CredimiError("a file takes the figures of all pairs: leave out top and p_dependent, or into")
        if self.into is not None and Path(self.into).suffix != ".npy":
            raise CredimiError(f"{str(self.into)!r} does not end with .npy: name a file of numpy")
        if self.refine not in {None, FOREST}:
            raise CredimiError(f"unknown refine {self.refine!r}: choose {FOREST!r}, or None for the counts as they are")
        if self.refine is not None and self.device != "cpu":
            raise CredimiError(f"refine={FOREST!r} draws missing values on the CPU: leave the device out")
        require_whole("imputations", self.imputations, 1)
        require_whole("random_state", self.random_state, 0)
        check_device(self.device)

    @property
    def some(self) -> bool:
        """Whether only some pairs are requested."""
        return self.top is not None or self.p_dependent is not None

    def figures(self, pairs: int, fill: Callable[[PairFigures], None]) -> PairFigures:
        """The figures of all pairs, set by `fill`; in memory, or in a file, which is complete or absent."""
        if self.into is None:
            figures = PairFigures.empty(pairs)
            fill(figures)
            return figures
        path = Path(self.into)
        with replacing(path) as temporary:
            shape = (len(fields(PairFigures)), pairs)
            file = np.lib.format.open_memmap(temporary, mode="w+", dtype=np.float64, shape=shape)
            with temporary.open("r+b") as whole:
                reserve(whole.fileno(), temporary.stat().st_size)
            fill(PairFigures(*file))
            file.flush()
            del file
        return PairFigures(*np.load(path, mmap_mode="r"))

    def of(self, whole: Pairs) -> Pairs:
        """The requested pairs, largest mean first."""
        if not self.some:
            return whole
        figures, (one, other) = whole.figures, whole.places
        order = np.lexsort([other, one, -figures.mi])
        if self.p_dependent is not None:
            order = order[1.0 - figures.p_independent[order] >= self.p_dependent]
        order = order[: self.top]
        chosen_figures = PairFigures(*(getattr(figures, figure.name)[order] for figure in fields(figures)))
        return replace(whole, figures=chosen_figures, chosen=(one[order], other[order]), learned=whole.independent)
