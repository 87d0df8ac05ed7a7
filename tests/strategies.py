"""Hypothesis strategies: incomplete tables of every pattern, size and prior that the tests speak of."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from hypothesis import strategies as st

if TYPE_CHECKING:
    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]

PATTERNS = ("complete", "target_only", "feature_only", "both", "mostly_missing")
BOTH = ("both", "mostly_missing")
MAGNITUDES = ("small", "sparse", "large", "real")
ORDINARY = ("small", "sparse", "real")  # the condition of the dense matrices leaves doubles ten digits
PROPER = (0.5, 1.0, "perks")


class IncompleteTable(NamedTuple):
    """Counts and a prior, as `credimi.posterior` takes them and as the oracles do."""

    joint: FloatArray
    target_only: FloatArray
    feature_only: FloatArray
    prior: float | str

    @property
    def pseudo_count(self) -> float:
        named = {"uniform": 1.0, "jeffreys": 0.5, "perks": 1.0 / self.joint.size, "haldane": 0.0}
        return named[self.prior] if isinstance(self.prior, str) else self.prior

    @property
    def counts(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """For the oracles: c = n + pseudo-count, n_i?, n_?j."""
        return self.joint + self.pseudo_count, self.target_only, self.feature_only

    @property
    def total(self) -> float:
        """N, pseudo-counts included."""
        return float(sum(counts.sum() for counts in self.counts))

    @property
    def block(self) -> FloatArray:
        """The raw counts in one (r + 1) x (s + 1) array, the missing ones last."""
        corner = np.zeros((1, 1))
        return np.block([[self.joint, self.target_only[:, None]], [self.feature_only[None, :], corner]])

    def arguments(self) -> dict[str, object]:
        """Keywords of `credimi.posterior` and `credimi.mutual_information`."""
        return self._asdict()

    def transposed(self) -> IncompleteTable:
        return IncompleteTable(self.joint.T.copy(), self.feature_only, self.target_only, self.prior)


def table(
    joint: list[list[float]], target_only: list[float], feature_only: list[float], prior: float | str
) -> IncompleteTable:
    return IncompleteTable(np.array(joint, float), np.array(target_only, float), np.array(feature_only, float), prior)


def missing_at_random(
    shape: tuple[int, int],
    rows: int,
    shares: tuple[float, float],
    prior: float | str,
    generator: np.random.Generator,
    *,
    concentration: float = 1.0,
) -> IncompleteTable:
    """A table as data make it: random chances, a sample, and in each data row the feature or the target erased."""
    chances = generator.dirichlet(np.full(shape[0] * shape[1], concentration))
    without_feature, without_target = shares
    kinds = generator.multinomial(rows, [1.0 - without_feature - without_target, without_feature, without_target])
    joint, no_feature, no_target = (generator.multinomial(n, chances).reshape(shape).astype(float) for n in kinds)
    return IncompleteTable(joint, no_feature.sum(axis=1), no_target.sum(axis=0), prior)


def one_count(magnitude: str) -> st.SearchStrategy[float]:
    """A cell or margin: a whole number up to 9; mostly 0; whole numbers up to 10^6; or any real number up to 30."""
    return {
        "small": st.integers(0, 9).map(float),
        "sparse": st.sampled_from([0.0, 0.0, 0.0, 1.0, 3.0]),
        "large": st.one_of(st.integers(0, 9), st.integers(1000, 1_000_000)).map(float),
        "real": st.floats(0.01, 30.0).map(lambda count: round(count, 3)),
    }[magnitude]


def some_counts(size: int, magnitude: str) -> st.SearchStrategy[FloatArray]:
    return st.lists(one_count(magnitude), min_size=size, max_size=size).map(np.array)


@st.composite
def incomplete_tables(
    draw: st.DrawFn,
    *,
    patterns: tuple[str, ...] = PATTERNS,
    magnitudes: tuple[str, ...] = MAGNITUDES,
    priors: tuple[float | str, ...] = PROPER,
    longest: int = 6,
) -> IncompleteTable:
    """Tables from 2 x 2 up to `longest` x `longest`.

    "mostly_missing" puts about nine tenths of the data rows on the margins. Prior "haldane" stands for tables with
    zero cells, at least one cell counted; prior 0 for tables without zero cells.
    """
    rows, columns = draw(st.integers(2, longest)), draw(st.integers(2, longest))
    pattern = draw(st.sampled_from(patterns))
    magnitude = draw(st.sampled_from(magnitudes))
    prior = draw(st.sampled_from(priors))
    joint = draw(some_counts(rows * columns, magnitude)).reshape(rows, columns)
    target_only, feature_only = np.zeros(rows), np.zeros(columns)
    if pattern in {"target_only", "both"}:
        target_only = draw(some_counts(rows, magnitude).filter(np.any))
    if pattern in {"feature_only", "both"}:
        feature_only = draw(some_counts(columns, magnitude).filter(np.any))
    if pattern == "mostly_missing":
        missing = 9.0 * joint.sum() + rows + columns
        shares = [draw(st.lists(st.integers(1, 9), min_size=n, max_size=n).map(np.array)) for n in (rows, columns)]
        split = draw(st.floats(0.2, 0.8))
        target_only = np.ceil(split * missing * shares[0] / shares[0].sum())
        feature_only = np.ceil((1.0 - split) * missing * shares[1] / shares[1].sum())
    if prior == 0.0:
        joint = joint + 1.0
    if prior == "haldane":
        joint.flat[draw(st.integers(0, joint.size - 1))] += 1.0
        joint.flat[draw(st.integers(0, joint.size - 1))] = 0.0
        if not joint.any():
            joint.flat[0] = 1.0
    return IncompleteTable(joint, target_only, feature_only, prior)
