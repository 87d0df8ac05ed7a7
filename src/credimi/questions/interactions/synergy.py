"""What two columns X, W tell about the target Y together and not apart, for many pairs at once.

    S = I(X;Y|W) - I(X;Y) = I(XW;Y) - I(X;Y) - I(W;Y) = I(X;W|Y) - I(X;W) :

positive is synergy (exclusive or), negative redundancy (copies). It is the same whichever two of the three are taken.

**Hypotheses.** Which of the three edges X-Y, W-Y, X-W are there? With eight graphs on three nodes S is

    0                     with one edge or none: one of the three has nothing to do with the others
    -I of the third pair  with two edges: if X and W are independent given Y, S = -I(X;W); and so on
    of either sign        with all three.

So synergy needs three edges, and a pair has to pass three tests: each two depend given the third. A column of noise
fails two of them, main effects alone fail one (X and W are independent given Y, or nearly), and so do copies (given
one, the other tells nothing). Relative to the full graph, one that lacks an edge has the weight 1/B, B the Bayes factor
of conditional dependence (see `stratified_tables`); one that lacks another edge as well has that of the edge without
condition, too, in the mean over the two orders in which edges can be taken away. B is never compared between different
edges: their priors differ. The seven graphs without synergy have equal probabilities beforehand, the full graph has as
much as all of them, until the share of such pairs is learned from all (`inference.rules`).

**Given the full graph** the tables of X and W in the classes have the posterior of the adaptive prior, pi_y ~
Dirichlet(n_y + K a_y b_y), K on its grid, and the classes p ~ Dirichlet(N_y). With c = n + K a b,

    E[I(X;W|Y)]     exact, sum_y (N_y/N) E[I_y]
    E[I(X;W)]       from E[u log u] for all margins u of sum_y p_y pi_y, each taken for the Beta with its exact moments
    Var[S]          V1 + V2; V1 = g' Cov g, g = log [p_xwy p_x p_w p_y/(p_xw p_xy p_wy)], Cov exact;
                    V2 = tr(HPHP)/(2 C^2), the second order: what is left where g = 0. H is the second derivative
                    and P the cells: a sum over all two margins u, v of p_uv^2/(p_u p_v), which is
                    (r - 1)(s - 1)(t - 1) if all three are independent; C is the sum of c
    third moment    (3 V1 sign(E) + 2 V2)/C, that of a noncentral chi square with this variance,

and S the distribution of a shifted Gamma with these moments: against exact draws the Kolmogorov distance is .01 to .04,
and .1 where S is hardly larger than 1/N (studies/interactions.py). Where most cells are empty its deviation is up to
1.6 times too large.

**Given two edges** S = -I, with the posterior of I given dependence that `many_tables` has.

Only rows that have all three are used: both informations are those of the same rows. O(rst) a component.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from credimi.core.special import digamma, normal_below
from credimi.core.tables import Tables
from credimi.inference.distributions.gamma_tails import gamma_tails
from credimi.inference.distributions.quantile_search import crossing
from credimi.inference.evidence import adaptive_prior, pair_evidence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from credimi.core.types import FloatArray, IntegerArray

FULL, WITHOUT_XW, WITHOUT_XY, WITHOUT_WY, AT_MOST_ONE = range(5)
HYPOTHESES = 7  # graphs without one edge or more
_LEAST = 1e-300  # of a probability, so that its logarithm is finite
_SYMMETRIC = 1e5  # the shape of a Gamma that is normal for all purposes
_AT_ONCE = 400_000  # cells of pairs that are weighed at once
_PRECISION = 1e-15  # of a quantile, in units of the widest bracket


@dataclass(frozen=True, slots=True, eq=False)
class Synergies:
    """Posteriors of many pairs.

    `weights` (pairs, 5) are P(hypothesis | data) with even odds of the full graph; the components have a pair, a
    hypothesis, a weight given it, and three central moments. `alone` (pairs, 2) are E[I(X;Y)] and E[I(W;Y)].
    """

    weights: FloatArray
    alone: FloatArray
    pair: IntegerArray
    hypothesis: IntegerArray
    weight: FloatArray
    mean: FloatArray
    variance: FloatArray
    third: FloatArray

    @property
    def p_none(self) -> FloatArray:
        """P(not all three edges), from even odds."""
        probability: FloatArray = self.weights[:, 1:].sum(axis=1)
        return probability

    def with_odds(self, odds: float) -> Synergies:
        """The same posteriors with other prior odds of the full graph."""
        weights = self.weights.copy()
        weights[:, FULL] *= odds
        weights /= weights.sum(axis=1, keepdims=True)
        return Synergies(weights, self.alone, *self._components())

    @classmethod
    def joined(cls, parts: Sequence[Synergies]) -> Synergies:
        """The pairs of several records in one."""
        if len(parts) == 1:
            return parts[0]
        before = np.cumsum([0, *(len(part.weights) for part in parts)])
        pair = [part.pair + first for part, first in zip(parts, before, strict=False)]
        names = ("hypothesis", "weight", "mean", "variance", "third")
        rest = (np.concatenate([getattr(part, name) for part in parts]) for name in names)
        weights, alone = (np.concatenate([getattr(part, name) for part in parts]) for name in ("weights", "alone"))
        return cls(weights, alone, np.concatenate(pair), *rest)

    def chosen(self, pairs: IntegerArray) -> Synergies:
        """Some of the pairs, in the order given."""
        new_number = np.full(len(self.weights), -1)
        new_number[pairs] = np.arange(len(pairs))
        is_chosen = new_number[self.pair] >= 0
        pair, hypothesis = new_number[self.pair[is_chosen]], self.hypothesis[is_chosen]
        figures = (each[is_chosen] for each in (self.weight, self.mean, self.variance, self.third))
        return Synergies(self.weights[pairs], self.alone[pairs], pair, hypothesis, *figures)

    def expected(self) -> FloatArray:
        """E[S]."""
        means: FloatArray = self._summed(self.mean)
        return means

    def above(self, x: FloatArray | float) -> FloatArray:
        """P(S > x); `x` is one number, or one a pair."""
        at = np.broadcast_to(np.asarray(x, dtype=np.float64), len(self.weights))
        tails = _upper_tail(at[self.pair], self.mean, self.variance, self.third)
        probability: FloatArray = np.clip(
            self._summed(tails) + np.where(at < 0.0, self.weights[:, AT_MOST_ONE], 0.0), 0.0, 1.0
        )
        return probability

    def interval(self, level: float) -> tuple[FloatArray, FloatArray]:
        """The ends of the equal-tailed credible interval."""
        tail = 0.5 * (1.0 - level)
        return self._quantile(1.0 - tail), self._quantile(tail)

    def _quantile(self, tail: float) -> FloatArray:
        """The least x with P(S > x) <= tail; exactly 0 where that is the atom."""
        count, spread = len(self.weights), 12.0 * np.sqrt(self.variance)
        low, high = np.zeros(count), np.zeros(count)
        np.minimum.at(low, self.pair, self.mean - spread)
        np.maximum.at(high, self.pair, self.mean + spread)
        at_zero, before = self.above(0.0), self.above(-np.finfo(np.float64).tiny)
        reached = crossing(lambda x: tail - self.above(x), low, high, _PRECISION * (high - low))
        quantile: FloatArray = np.where((at_zero <= tail) & (before > tail), 0.0, reached)
        return quantile

    def _summed(self, values: FloatArray) -> FloatArray:
        terms = self.weight * self.weights[self.pair, self.hypothesis] * values
        return np.bincount(self.pair, terms, len(self.weights)).astype(np.float64)

    def _components(self) -> tuple[IntegerArray, IntegerArray, FloatArray, FloatArray, FloatArray, FloatArray]:
        return self.pair, self.hypothesis, self.weight, self.mean, self.variance, self.third


def _upper_tail(x: FloatArray, mean: FloatArray, variance: FloatArray, third: FloatArray) -> FloatArray:
    """P(S > x) of shifted Gammas, which are turned around where the third moment is negative."""
    std = np.sqrt(np.maximum(variance, _LEAST))
    skew = third / std**3
    shape = 4.0 / np.maximum(skew**2, 4.0 / _SYMMETRIC)
    away = (x - mean) / std
    turned = np.where(skew < 0.0, -away, away)
    skewed = shape < _SYMMETRIC
    tail = np.empty(x.shape)
    tail[~skewed] = normal_below(-away[~skewed])
    shape, turned = shape[skewed], turned[skewed]
    below, above = gamma_tails(shape, np.maximum(shape + np.sqrt(shape) * turned, 0.0))
    tail[skewed] = np.where(skew[skewed] < 0.0, below, above)
    return tail


def synergies(
    tables: Sequence[FloatArray], odds: FloatArray, odds_alone: FloatArray, threads: int | None = None
) -> Synergies:
    """Posteriors of pairs from their joint tables of complete rows, (class, value of X, value of W) each.

    `odds` (pairs, 2) are those of X and W that they depend on Y beforehand (see `core.tables`), given the other column;
    `odds_alone` the same without a condition.
    """
    by_shape: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for number, table in enumerate(tables):
        by_shape[table.shape].append(number)
    weights, alone, parts = np.empty((len(tables), 5)), np.empty((len(tables), 2)), []
    for shape, numbers in by_shape.items():
        step = max(1, _AT_ONCE // int(np.prod(shape)))
        for at in range(0, len(numbers), step):
            some = np.array(numbers[at : at + step])
            joint = np.stack([tables[number] for number in some.tolist()])
            weights[some], alone[some], (pair, *rest) = _of_one_shape(joint, (odds[some], odds_alone[some]), threads)
            parts.append((some[pair], *rest))
    if not parts:
        none, whole = np.zeros(0), np.zeros(0, dtype=np.int64)
        return Synergies(weights, alone, whole, whole, none, none, none, none)
    return Synergies(weights, alone, *(np.concatenate(each) for each in zip(*parts, strict=True)))


def _of_one_shape(
    joint: FloatArray, odds: tuple[FloatArray, FloatArray], threads: int | None
) -> tuple[FloatArray, FloatArray, tuple[FloatArray | IntegerArray, ...]]:
    """Weights of the hypotheses, what each column tells alone, and all components, of pairs (pairs, r, s, t)."""
    count, r, s, t = joint.shape
    spans = np.arange(count) * r, (np.arange(count) + 1) * r
    mixed = adaptive_prior.mixtures(_blocks(joint.reshape(count * r, s, t)), spans, threads=threads)
    alone = [adaptive_prior.components(_blocks(joint.sum(axis=axis)), threads=threads) for axis in (1, 3, 2)]
    weights = _hypotheses(joint, mixed.p_zero, [each.p_zero for each in alone], odds)
    parts = [_full_graph(joint, mixed)]
    for hypothesis, components in zip((WITHOUT_XW, WITHOUT_XY, WITHOUT_WY), alone, strict=True):
        whole = np.bincount(components.table, components.weight, count)[components.table]
        third = -2.0 * components.variance**2 / components.mean
        which = np.full(components.table.size, hypothesis)
        parts.append((components.table, which, components.weight / whole, -components.mean, components.variance, third))
    merged = tuple(np.concatenate(each) for each in zip(*parts, strict=True))
    for hypothesis in (FULL, WITHOUT_XW, WITHOUT_XY, WITHOUT_WY):  # one that has no component cannot be
        bare = np.bincount(merged[0][merged[1] == hypothesis], minlength=count) == 0
        weights[bare, AT_MOST_ONE] += weights[bare, hypothesis]
        weights[bare, hypothesis] = 0.0
    informations = [np.bincount(each.table, each.weight * each.mean, count) for each in alone[1:]]
    return weights, np.column_stack(informations), merged


def _blocks(tables: FloatArray) -> Tables:
    """Complete tables (tables, rows, columns) with margins of missing values that are 0."""
    count, rows, columns = tables.shape
    padded = np.zeros((count, rows + 1, columns + 1))
    padded[:, :-1, :-1] = tables
    return Tables(padded.ravel(), np.full(count, rows), np.full(count, columns))


def _log_odds(p_independent: FloatArray) -> FloatArray:
    """The log Bayes factor of dependence, from even prior odds."""
    log_odds: FloatArray = np.log(np.maximum(1.0 - p_independent, _LEAST)) - np.log(np.maximum(p_independent, _LEAST))
    return log_odds


def _hypotheses(
    joint: FloatArray, p_zero: FloatArray, alone: list[FloatArray], odds: tuple[FloatArray, FloatArray]
) -> FloatArray:
    """P(hypothesis | data) of all pairs, (pairs, 5)."""
    count, r, s, t = joint.shape
    given = np.empty((count, 2))  # log B of X and Y given W, of W and Y given X
    layout = np.array([[0, s, 0, 0], [0, t, 0, 0]], dtype=np.int64)
    each = np.ascontiguousarray(np.tile(np.arange(2), (count, 1)))
    starts = np.arange(count) * (r * s * t)
    pair_evidence.evidence_of_pairs(np.ascontiguousarray(joint).ravel(), starts, r, layout, each, given)
    given += np.log(odds[0])
    xw_y, xy_w, wy_x = _log_odds(p_zero), given[:, 0], given[:, 1]
    xw, (xy, wy) = _log_odds(alone[0]), (_log_odds(np.stack(alone[1:])) + np.log(odds[1]).T)
    only_xy = -0.5 * (xw_y + wy + wy_x + xw)
    only_wy = -0.5 * (xw_y + xy + xy_w + xw)
    only_xw = -0.5 * (xy_w + wy + wy_x + xy)
    empty = (only_xy - xy + only_wy - wy + only_xw - xw) / 3.0
    logs = np.stack([np.full(count, np.log(HYPOTHESES)), -xw_y, -xy_w, -wy_x, only_xy, only_wy, only_xw, empty], axis=1)
    probabilities = np.exp(logs - logs.max(axis=1, keepdims=True))
    probabilities /= probabilities.sum(axis=1, keepdims=True)
    return np.column_stack([probabilities[:, :4], probabilities[:, 4:].sum(axis=1)])


def _full_graph(joint: FloatArray, mixed: adaptive_prior.AdaptiveWeights) -> tuple[FloatArray | IntegerArray, ...]:
    """The components of all pairs given the full graph."""
    count, r, s, t = joint.shape
    staying = np.bincount(mixed.table, minlength=count * r)[::r]  # every class of a pair has as many
    first = np.cumsum(staying * r) - staying * r
    pair = np.repeat(np.arange(count), staying)
    number = np.arange(pair.size) - np.repeat(np.cumsum(staying) - staying, staying)
    block = (first[pair] + number)[:, np.newaxis] + np.arange(r) * staying[pair][:, np.newaxis]
    parameters = mixed.blocks.flat.reshape(-1, s + 1, t + 1)[block][:, :, :-1, :-1]
    weight = mixed.weight[block[:, 0]] / (1.0 - mixed.p_zero)[pair]
    mean, first_order, second_order, total = _moments(joint.sum(axis=(2, 3))[pair], parameters)
    third = (3.0 * first_order * np.sign(mean) + 2.0 * second_order) / total
    return pair, np.zeros(pair.size, dtype=np.int64), weight, mean, first_order + second_order, third


def _moments(rows: FloatArray, parameters: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """E[S], V1, V2 and C of components (components, r, s, t); `rows` are those of the classes (components, r)."""
    total = rows.sum(axis=1)
    share, square = rows / total[:, np.newaxis], rows * (rows + 1.0) / (total * (total + 1.0))[:, np.newaxis]
    strength = parameters.sum(axis=(2, 3))
    inside = parameters / strength[:, :, np.newaxis, np.newaxis]
    margins = inside.reshape(*strength.shape, inside.shape[2] * inside.shape[3]), inside.sum(axis=3), inside.sum(axis=2)
    signs = 1.0, -1.0, -1.0
    given = sum(sign * _entropies(part, strength) for sign, part in zip(signs, margins, strict=True))
    mean = (share * given).sum(axis=1)
    for sign, part in zip(signs, margins, strict=True):
        average = np.einsum("cy,cyk->ck", share, part)
        within_class = np.einsum("cy,cyk->ck", square / (strength + 1.0), part * (1.0 - part))
        between = np.einsum("cy,cyk->ck", share, part**2) - average**2
        mean -= sign * _x_log_x(average, within_class + between / (total + 1.0)[:, np.newaxis]).sum(axis=1)
    cells = share[:, :, np.newaxis, np.newaxis] * inside
    with np.errstate(divide="ignore", invalid="ignore"):  # a class without complete rows has no cells
        slope = np.log(cells)
        for axes, sign in (((1,), -1), ((2,), -1), ((3,), -1), ((1, 2), 1), ((1, 3), 1), ((2, 3), 1)):
            slope += sign * np.log(cells.sum(axis=axes, keepdims=True))
    slope = np.where(cells > 0.0, slope, 0.0)
    level = (inside * slope).sum(axis=(2, 3))
    within = np.maximum((inside * slope**2).sum(axis=(2, 3)) - level**2, 0.0) / (strength + 1.0)
    between_classes = np.maximum((share * level**2).sum(axis=1) - (share * level).sum(axis=1) ** 2, 0.0)
    first_order = (square * within).sum(axis=1) + between_classes / (total + 1.0)
    whole = strength.sum(axis=1)
    return mean, first_order, 0.5 * _second_order(cells) / whole**2, whole


def _second_order(cells: FloatArray) -> FloatArray:
    """tr(HPHP) of the module's docstring, of (components, r, s, t): sums over two margins, with the product of signs.

    Of two margins, one of which contains the other, the sum is the number of cells of the latter.
    """
    axes, signs = ((), (1,), (2,), (3,), (1, 2), (1, 3), (2, 3)), (1, -1, -1, -1, 1, 1, 1)
    margins = [cells.sum(axis=each, keepdims=True) for each in axes]
    trace = np.full(len(cells), -1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        for one, of_one, sign_of_one in zip(axes, margins, signs, strict=True):
            for other, of_other, sign_of_other in zip(axes, margins, signs, strict=True):
                common = cells.sum(axis=tuple(set(one) & set(other)), keepdims=True)
                ratio = np.where(common > 0.0, common**2 / (of_one * of_other), 0.0)
                trace += sign_of_one * sign_of_other * ratio.sum(axis=(1, 2, 3))
    nonnegative: FloatArray = np.maximum(trace, 0.0)
    return nonnegative


def _entropies(shares: FloatArray, strength: FloatArray) -> FloatArray:
    """E[sum q log q] of Dirichlets with parameters `shares` times `strength` (components, r, values)."""
    whole = strength[:, :, np.newaxis]
    expected: FloatArray = (shares * (digamma(shares * whole + 1.0) - digamma(whole + 1.0))).sum(axis=2)
    return expected


def _x_log_x(mean: FloatArray, variance: FloatArray) -> FloatArray:
    """E[u log u] of Betas with these moments."""
    with np.errstate(divide="ignore", invalid="ignore"):
        concentration = np.maximum(mean * (1.0 - mean) / variance - 1.0, 0.0)
        expected: FloatArray = mean * (digamma(mean * concentration + 1.0) - digamma(concentration + 1.0))
        certain = ~(variance > 0.0)
        return np.where(certain, np.where(mean > 0.0, mean * np.log(np.where(mean > 0.0, mean, 1.0)), 0.0), expected)
