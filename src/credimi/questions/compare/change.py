"""Whether mutual information differs in a second sample, and by how much: the posterior of I_b - I_a.

There are two samples, two tables of the same classes and values, and two posteriors, each an atom at 0 and a continuous
part. There are two hypotheses about the populations behind them:

    apart    I_a and I_b are unrelated: their posteriors are independent
    same     I_a = I_b, one number

**Apart.** With a, b the atoms, C_a, C_b the continuous parts of the distribution functions, the difference has an
atom ab at 0, and otherwise

    P(I_b - I_a <= t) = a C_b(t) + b [(1 - a) - C_a(-t)] + int C_b(t + x) dC_a(x).

Both functions are approximated by straight lines between nodes, which are quantiles of all components. Then the
integral is a sum over the nodes of both, accurate to about 1e-4.

**Same.** What a sample tells about I alone is the likelihood L_a(I) = posterior/prior, whatever the margins and the
pattern of dependence are; these may differ freely. So with p_a, p_b the priors of I and p_0 their mean,

    B = evidence of same / evidence of apart = int p_0(I) L_a(I) L_b(I) dI,

with the atoms as one more term. P(same | data) = s B/(s B + 1 - s), with s the probability beforehand, and

    P(|I_b - I_a| > epsilon) = P(apart | data) P(|I_b - I_a| > epsilon | apart, data).

Two equal tables have B = int p (posterior/p)^2 >= 1 (Cauchy and Schwarz), so P(apart | data) is at most 1 - s, however
few rows there are: with s = .95, the same data twice never show a change with .05 probability. And if nothing has
changed, P(1/B >= x) <= 1/x: a change is reported with .95 probability in at most 1 of 361 columns, as far as the priors
are right.

**The prior of I** follows from the adaptive prior: half an atom, half the mixture of I under Dirichlet(K a_i b_j), K on
its grid, by the same matched moments as the posteriors (nearly 1/I from the loosest K to the tightest).

Cost: about 10 ms per pair of tables, for quantiles, tails and densities of Betas; `many_changes` takes 0.5 ms
for each of many pairs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING

import numpy as np

from credimi.core.defaults import P_SAME
from credimi.core.special import normal_below
from credimi.core.tables import Tables
from credimi.inference.distributions.quantile_search import crossing
from credimi.inference.distributions.scaled_beta import plain_betas, scaled_betas
from credimi.inference.evidence import adaptive_prior
from credimi.inference.evidence.adaptive_prior import PosteriorComponents
from credimi.inference.moments.moments import moments

if TYPE_CHECKING:
    from credimi.core.types import FloatArray
    from credimi.inference.distributions.distribution import Distribution


# Nodes of a component of weight w: steps of .07/sqrt(w) standard deviations leave an error of 1.5e-4 between nodes.
_MIN_NODES, _MORE_NODES = 17, 124
_TOLERANCE = 1e-12  # of a quantile
_FAR, _FURTHER = 4.5, np.array([-6.5, -6.0, -5.5, -5.0, 5.0, 5.5, 6.0, 6.5])


@dataclass(frozen=True, slots=True)
class Change:
    """What two samples tell about I_b - I_a; `low` and `high` are of the difference if it is not surely 0.

    `p_more` and `p_less` are P(I_b - I_a > epsilon) and P(I_b - I_a < -epsilon), `p_same` is P(I_a = I_b) as one
    number, and `p_change_if_apart` is P(|I_b - I_a| > epsilon) of the two posteriors alone.
    """

    low: float
    high: float
    p_more: float
    p_less: float
    p_same: float
    p_change_if_apart: float


class Difference:
    """The distribution of I_b - I_a for two independent posteriors."""

    def __init__(self, first: Distribution, second: Distribution) -> None:
        self._first, self._second = _Continuous(first), _Continuous(second)
        self._atoms = first.p_zero, second.p_zero

    @property
    def p_zero(self) -> float:
        """The probability that both are 0."""
        return self._atoms[0] * self._atoms[1]

    def cdf(self, t: float) -> float:
        """P(I_b - I_a <= t)."""
        (a, b), first, second = self._atoms, self._first, self._second
        alone = a * second.below(np.array([t]))[0] + b * (1.0 - a - first.below(np.array([-t]))[0])
        x = np.sort(np.concatenate([first.nodes, second.nodes - t]))  # between them both are straight lines
        of_second = second.below(t + x)
        both = 0.5 * np.diff(first.below(x)) @ (of_second[1:] + of_second[:-1])
        return float(alone + both + (a * b if t >= 0.0 else 0.0))

    def interval(self, level: float) -> tuple[float, float]:
        """Equal-tailed."""
        tail = 0.5 * (1.0 - level)
        return self._quantile(tail), self._quantile(1.0 - tail)

    def _quantile(self, probability: float) -> float:
        if self.cdf(0.0) >= probability > self.cdf(0.0) - self.p_zero:
            return 0.0
        ends = -self._first.nodes[-1:], self._second.nodes[-1:]
        return float(crossing(lambda t: np.array([self.cdf(float(t[0])) - probability]), *ends, _TOLERANCE)[0])


class _Continuous:
    """The continuous part of a distribution function, a straight line between its nodes."""

    def __init__(self, distribution: Distribution) -> None:
        nodes, upper = _nodes(distribution), max(distribution.support()[1], np.finfo(np.float64).tiny)
        rest = 1.0 - distribution.p_zero
        inner = np.clip(distribution.cdf(nodes) - distribution.p_zero, 0.0, rest)
        self.nodes = np.concatenate([[0.0], nodes, [upper]])
        self._below = np.concatenate([[0.0], np.maximum.accumulate(inner), [rest]])

    def below(self, x: FloatArray) -> FloatArray:
        probability: FloatArray = np.interp(x, self.nodes, self._below)
        return probability


@lru_cache(maxsize=64)  # they are needed twice: for the difference, and for the evidence
def _nodes(distribution: Distribution) -> FloatArray:
    """The nodes of a distribution, in order: quantiles of all its components."""
    betas = plain_betas(distribution.components)
    members = {id(part) for part in betas}
    quantiles, shares_of_betas = [np.zeros(0)], []
    for component, weight in zip(distribution.components, distribution.weights, strict=True):
        shares = normal_below(standard_nodes(weight))
        if id(component) in members:
            shares_of_betas.append(shares)
        else:
            quantiles.append(component.guess(shares, upper_tail=False))
    if betas:
        which = np.repeat(np.arange(len(betas)), [shares.size for shares in shares_of_betas])
        quantiles.append(scaled_betas(betas).quantiles(which, np.concatenate(shares_of_betas)))
    nodes = np.unique(np.concatenate(quantiles))
    return nodes[(nodes > 0.0) & (nodes < distribution.support()[1])]


def standard_nodes(weight: float) -> FloatArray:
    """The nodes of a component with this weight, as if it were a standard normal distribution; in order."""
    return _spread_nodes(_MIN_NODES + math.ceil(_MORE_NODES * math.sqrt(weight)))


@cache
def _spread_nodes(near: int) -> FloatArray:
    nodes = np.concatenate([_FURTHER[:4], np.linspace(-_FAR, _FAR, near), _FURTHER[4:]])
    nodes.setflags(write=False)
    return nodes


def evidence_of_same(
    first: Distribution, second: Distribution, prior_of_first: Distribution, prior_of_second: Distribution
) -> float:
    """B of the module's docstring."""
    x = np.union1d(_nodes(first), _nodes(second))
    x = x[x < min(first.support()[1], second.support()[1])]
    a, b = prior_of_first.p_zero, prior_of_second.p_zero
    from_atoms = 0.5 * (a + b) * first.p_zero * second.p_zero / (a * b)
    if x.size < 2:
        return from_atoms
    with np.errstate(all="ignore"):  # far densities underflow; 0/0 counts as 0
        priors = prior_of_first.pdf(x), prior_of_second.pdf(x)
        ratio = first.pdf(x) * second.pdf(x) * 0.5 * (1.0 / priors[0] + 1.0 / priors[1])
    return from_atoms + float(np.trapezoid(np.where(np.isfinite(ratio), ratio, 0.0) * x, np.log(x)))


def compared(
    first: Distribution,
    second: Distribution,
    priors: tuple[Distribution, Distribution],
    *,
    epsilon: float,
    level: float,
    p_same: float = P_SAME,
) -> Change:
    """What two posteriors tell about the change."""
    difference = Difference(first, second)
    more = max(1.0 - difference.cdf(epsilon), 0.0)
    less = max(difference.cdf(-epsilon) - (difference.p_zero if epsilon == 0.0 else 0.0), 0.0)
    apart = p_apart(evidence_of_same(first, second, *priors), p_same)
    return Change(*difference.interval(level), apart * more, apart * less, 1.0 - apart, more + less)


def p_apart(evidence: float, p_same: float) -> float:
    """P(apart | data), from B, the evidence of the same I."""
    return (1.0 - p_same) / (1.0 - p_same + p_same * evidence)


def prior_components(blocks: Tables, *, threads: int | None = None) -> PosteriorComponents:
    """What the adaptive prior says about I before the counts are seen; its margins are those of the table."""
    tables = [adaptive_prior.prior_blocks(blocks.block(index)) for index in range(blocks.rows.size)]
    sizes = [len(each) for each in tables]
    owner = np.repeat(np.arange(len(tables)), sizes)
    flat = Tables.of([block for each in tables for block in each])
    part, share, mean, variance = moments(flat, 0.0, threads=threads).components()
    table = owner[part]
    weight = share * (1.0 - adaptive_prior.P_ZERO) / np.array(sizes)[table]
    p_zero = np.full(len(tables), adaptive_prior.P_ZERO)
    return PosteriorComponents(p_zero, table, weight, mean, variance)
