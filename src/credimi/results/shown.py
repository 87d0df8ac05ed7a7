"""The parts of distributions and prequential runs that are shown, as protocols."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from credimi.core.types import FloatArray


class ShownRun(Protocol):
    """A `Prequential` run: the result of each row, by rule."""

    @property
    def rules(self) -> Sequence[str]: ...
    def running_accuracy(self, rule: str) -> FloatArray: ...


class PointOrSpread(Protocol):
    """A `Component`; it is a point if its standard deviation is 0."""

    @property
    def mean(self) -> float: ...
    @property
    def std(self) -> float: ...


class ShownDistribution(Protocol):
    """A `Distribution` of mutual information, for drawing."""

    @property
    def p_zero(self) -> float: ...
    @property
    def components(self) -> Sequence[PointOrSpread]: ...
    @property
    def weights(self) -> Sequence[float]: ...
    def mean(self) -> float: ...
    def std(self) -> float: ...
    def interval(self, confidence: float = 0.95) -> tuple[float, float]: ...
    def pdf(self, x: FloatArray) -> FloatArray: ...
    def ppf(self, q: float) -> float: ...
    def isf(self, q: float) -> float: ...
