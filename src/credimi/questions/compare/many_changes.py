"""What many pairs of samples tell about a change of I, all pairs at once; `change` has the mathematics.

Pairs with a component for which the compiled functions are not accurate are compared one by one, by `change.compared`.
Both ways give the same figures, to 1e-9 (tests/questions/compare/test_many_changes.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from credimi.core.defaults import P_SAME
from credimi.core.special import normal_quantile
from credimi.core.threads import share
from credimi.inference.evidence.adaptive_prior import PosteriorComponents
from credimi.inference.information import distribution_of_table
from credimi.inference.tables.many_tables import summed
from credimi.inference.tables.mixture_tails import mixtures_of
from credimi.questions.compare import change
from credimi.questions.compare import change_curves as curves
from credimi.questions.compare import change_pairs as pair_kernels
from credimi.questions.compare.change import Change

if TYPE_CHECKING:
    from collections.abc import Sequence

    from credimi.core.types import FloatArray, IntegerArray
    from credimi.inference.distributions.distribution import Distribution
    from credimi.inference.tables.mixture_tails import Mixtures

_PAIRS_AT_ONCE = 32
_MAX_PARAMETER = 1e7  # of the smaller parameter of a Beta: from here on `ScaledBeta` has an expansion


@dataclass(frozen=True, slots=True)
class Samples:
    """Both samples of many pairs: the posteriors and the priors of both, and the ends of the ranges of I."""

    posteriors: tuple[PosteriorComponents, PosteriorComponents]
    priors: tuple[PosteriorComponents, PosteriorComponents]
    upper: tuple[FloatArray, FloatArray]

    def distributions(self, pair: int) -> tuple[Distribution, Distribution, Distribution, Distribution]:
        """The posteriors of one pair, and their priors."""
        a, b, prior_a, prior_b = (
            distribution_of_table(components, pair, float(upper[pair]), gaussian=False)
            for components, upper in zip((*self.posteriors, *self.priors), self.upper * 2, strict=True)
        )
        return a, b, prior_a, prior_b


def changes(
    samples: Samples, *, epsilon: float, level: float, p_same: float = P_SAME, threads: int | None = None
) -> list[Change]:
    """The change of every pair."""
    count = samples.upper[0].size
    found: list[Change | None] = [None] * count
    together = _joined((*samples.posteriors, *samples.priors), count)
    upper = np.concatenate(samples.upper * 2)
    mixtures = mixtures_of(together, upper, gaussian=False)
    usable = mixtures.trusted & (np.minimum(mixtures.first, mixtures.second) < _MAX_PARAMETER)
    pair_is_usable = np.ones(count, dtype=np.bool_)
    pair_is_usable[together.table[~usable] % count] = False
    guesses = _guesses(samples, level)

    def work(pairs: IntegerArray) -> None:
        figures = _figures(mixtures, pairs, count, guesses[pairs], (epsilon, level))
        for pair, (low, high, more, less, evidence) in zip(pairs.tolist(), figures.tolist(), strict=True):
            apart = change.p_apart(evidence, p_same)
            found[pair] = Change(low, high, apart * more, apart * less, 1.0 - apart, more + less)

    def one_by_one(pair: int) -> None:
        a, b, *priors = samples.distributions(pair)
        found[pair] = change.compared(a, b, (priors[0], priors[1]), epsilon=epsilon, level=level, p_same=p_same)

    usable_pairs = np.flatnonzero(pair_is_usable)
    pieces = [usable_pairs[first : first + _PAIRS_AT_ONCE] for first in range(0, usable_pairs.size, _PAIRS_AT_ONCE)]
    share(work, pieces, threads)
    share(one_by_one, np.flatnonzero(~pair_is_usable).tolist(), threads)
    return [each for each in found if each is not None]


def _joined(components: Sequence[PosteriorComponents], count: int) -> PosteriorComponents:
    """The mixtures of all, one after the other; the components of a mixture follow each other."""
    table = np.concatenate([each.table + number * count for number, each in enumerate(components)])
    p_zero, weight, mean, variance = (
        np.concatenate([getattr(each, name) for each in components])
        for name in ("p_zero", "weight", "mean", "variance")
    )
    order = np.argsort(table, kind="stable")
    return PosteriorComponents(p_zero, table[order], weight[order], mean[order], variance[order])


def _guesses(samples: Samples, level: float) -> FloatArray:
    """Guesses of the ends of the intervals, as if the differences were normal."""
    means, variances = [], []
    for components in samples.posteriors:
        mean = summed(components, components.weight * components.mean)
        square = components.variance + (components.mean - mean[components.table]) ** 2
        means.append(mean)
        variances.append(summed(components, components.weight * square) + components.p_zero * mean**2)
    reach = float(normal_quantile(np.array([0.5 * (1.0 + level)]))[0]) * np.sqrt(variances[0] + variances[1])
    return np.stack([means[1] - means[0] - reach, means[1] - means[0] + reach], axis=1)


def _figures(
    mixtures: Mixtures, pairs: IntegerArray, count: int, guesses: FloatArray, options: tuple[float, float]
) -> FloatArray:
    """The interval, P(more | apart), P(less | apart) and B of some pairs."""
    chosen = np.concatenate([pairs + number * count for number in range(4)])
    sizes = (mixtures.starts[1:] - mixtures.starts[:-1])[chosen]
    starts = np.concatenate([[0], np.cumsum(sizes)])
    component = np.repeat(mixtures.starts[chosen] - starts[:-1], sizes) + np.arange(starts[-1])
    first, second, scale, weight = (
        each[component] for each in (mixtures.first, mixtures.second, mixtures.scale, mixtures.weight)
    )
    p_zero, upper = mixtures.p_zero[chosen], mixtures.upper[chosen]
    posteriors = 2 * pairs.size  # they come first, and have nodes
    upper[:posteriors][sizes[:posteriors] == 0] = np.finfo(np.float64).tiny  # as if I were surely 0
    with_nodes = int(starts[posteriors])
    z = [change.standard_nodes(each) for each in weight[:with_nodes].tolist()]
    edges = np.concatenate([[0], np.cumsum([each.size for each in z])]).astype(np.int64)
    quantiles = np.empty(int(edges[-1]))
    if z:
        upper_of_component = np.repeat(upper[:posteriors], sizes[:posteriors])
        curves.fill_nodes(
            first[:with_nodes],
            second[:with_nodes],
            scale[:with_nodes],
            upper_of_component,
            np.concatenate(z),
            edges,
            quantiles,
        )
    bounds = edges[starts[: posteriors + 1]]
    ends = bounds + 2 * np.arange(posteriors + 1)
    nodes, below, slopes = np.empty((3, int(ends[-1])))
    for table in range(posteriors):
        nodes[ends[table] : ends[table + 1] - 2] = np.sort(quantiles[bounds[table] : bounds[table + 1]])
    counts = np.empty(posteriors, dtype=np.int64)
    curves.fill_curves(
        first,
        second,
        scale,
        weight,
        starts[: posteriors + 1],
        p_zero[:posteriors],
        upper[:posteriors],
        ends,
        nodes,
        below,
        slopes,
        counts,
    )
    figures = np.empty((pairs.size, 5))
    pair_kernels.compare_pairs(
        first,
        second,
        scale,
        weight,
        starts,
        p_zero,
        upper,
        ends,
        nodes,
        below,
        slopes,
        counts,
        guesses,
        float(options[0]),
        float(options[1]),
        figures,
    )
    return figures
