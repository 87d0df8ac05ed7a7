"""What is shown: rankings and distributions, as far as those who show them need to know them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from credimi.core.types import Record


class ShownRanking(Protocol):
    """A ranking: its rows as records, what they are about, and what else was seen."""

    @property
    def target(self) -> str:
        """The target's name."""

    @property
    def classes(self) -> Sequence[str]:
        """The target's classes."""

    @property
    def rows(self) -> float:
        """The rows that were counted."""

    @property
    def entropy(self) -> float:
        """Of the target, in nats."""

    @property
    def settings(self) -> Record:
        """By what it was ranked."""

    @property
    def facts(self) -> Sequence[Record]:
        """Of each feature, what its note says in words."""

    @property
    def reader(self) -> str:
        """To whom words are said."""

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[Record]: ...

    def remark_lines(self) -> list[str]:
        """The remarks in words."""


class PointOrSpread(Protocol):
    """One of the laws that are mixed; without a spread it is a point."""

    @property
    def mean(self) -> float:
        """Where it is."""

    @property
    def std(self) -> float:
        """How far it spreads."""


class ShownLaw(Protocol):
    """The distribution of mutual information, as it is drawn."""

    @property
    def p_zero(self) -> float:
        """The mass at 0."""

    @property
    def components(self) -> Sequence[PointOrSpread]:
        """The laws that are mixed."""

    @property
    def weights(self) -> Sequence[float]:
        """Their shares."""

    def mean(self) -> float:
        """Its mean."""

    def std(self) -> float:
        """Its standard deviation."""

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """The interval that holds this much of it."""

    def pdf(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Its density."""

    def ppf(self, q: float) -> float:
        """Its quantile from below."""

    def isf(self, q: float) -> float:
        """Its quantile from above."""
