"""Mean, deviation, interval and P(I > epsilon) of many tables at once.

Every posterior here is a mixture: one component a table with fixed pseudo-counts, several and an atom at 0 with the
adaptive prior. Moments come from one call of `information.moments`; quantiles from the mixtures' own
distribution functions, all tables together. Tables with a component that scipy's functions are not trusted with (see
`beta`), and draws, go through `Distribution` one by one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from credimi import adaptive
from credimi.adaptive import Components
from credimi.distribution import Distribution
from credimi.inference import law_of, mutual_information
from credimi.information import Blocks, moments
from credimi.prior import ADAPTIVE, pseudo_count
from credimi.table import Table

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from credimi.information import Moments

    FloatArray = NDArray[np.float64]
    Tails = Callable[[FloatArray, NDArray[np.bool_]], FloatArray]

_TRUSTED = (1e-3, 5e6)  # parameters of a Beta for which scipy's functions are right
_MOST_STEPS = 100
_PRECISION = 1e-10
_MOST_GROWTH = 4096.0
_JEFFREYS = 0.5  # the pseudo-count of the plug-in estimate, where the prior has none


@dataclass(frozen=True, slots=True, eq=False)
class Summary:
    """One entry a table; `at_mode` is the information of the most probable chances."""

    mean: FloatArray
    std: FloatArray
    low: FloatArray
    high: FloatArray
    p_above: FloatArray
    p_independent: FloatArray
    at_mode: FloatArray


def summarize(
    blocks: Blocks,
    *,
    prior: str | float,
    approximation: str,
    epsilon: float,
    level: float,
    random_state: int = 0,
    threads: int | None = None,
) -> Summary:
    """The posteriors of all tables in numbers. Tables of one class or one value are not for here."""
    count = blocks.rows.size
    pseudo = _pseudo_counts(blocks, prior)
    leading = moments(blocks, pseudo, matched=False, threads=threads)
    upper = np.log(np.minimum(blocks.rows, blocks.columns))
    if approximation == "sampled":
        laws = [
            mutual_information(table, prior=prior, approximation="sampled", random_state=random_state)
            for table in _tables(blocks)
        ]
        return _one_by_one(laws, leading.mean, epsilon, level)
    matched = approximation == "matched"
    if prior != ADAPTIVE and not matched:
        found = _single(blocks, leading)
    else:
        found = _components(blocks, pseudo, prior, matched=matched, threads=threads)
    mean = _summed(found, found.weight * found.mean)
    apart = found.variance + (found.mean - mean[found.table]) ** 2
    variance = _summed(found, found.weight * apart) + found.p_zero * mean**2
    gaussian = approximation == "leading"
    above, trusted = _gaussian_tails(found) if gaussian else _beta_tails(found, upper)
    tail = 0.5 - level / 2.0
    bottom = np.minimum(found.mean - 40.0 * np.sqrt(found.variance), 0.0) if gaussian else np.zeros(found.mean.size)
    reach = found.mean + 40.0 * np.sqrt(found.variance) if gaussian else upper[found.table]
    lowest, highest = np.zeros(count), np.zeros(count)
    np.minimum.at(lowest, found.table, bottom)
    np.maximum.at(highest, found.table, reach)
    summary = Summary(
        mean,
        np.sqrt(variance),
        _quantiles(above, lowest, highest, 1.0 - tail),
        _quantiles(above, lowest, highest, tail),
        above(np.full(count, float(epsilon)), np.ones(count, dtype=bool)),
        found.p_zero,
        leading.mean,
    )
    doubtful = np.unique(found.table[~trusted])
    for index in doubtful.tolist():
        law = _law(found, index, float(upper[index]), gaussian=gaussian)
        summary.low[index], summary.high[index] = law.interval(level)
        summary.p_above[index] = law.sf(epsilon)
    return summary


@dataclass(frozen=True, slots=True, eq=False)
class Beliefs:
    """All that the filters ask, one entry a table: the information of the most probable chances, P(I > epsilon)."""

    at_mode: FloatArray
    p_above: FloatArray


def beliefs(
    blocks: Blocks, *, prior: str | float, approximation: str, epsilon: float, threads: int | None = None
) -> Beliefs:
    """`at_mode` and `p_above` of `summarize`, for "leading", "leading-beta" and "matched", without any quantile.

    Tables without a complete row are for here, too: where the prior adds nothing, nothing says that I is not 0.
    """
    pseudo = _pseudo_counts(blocks, prior)
    leading = moments(blocks, pseudo, matched=False, threads=threads)
    matched, gaussian = approximation == "matched", approximation == "leading"
    if prior != ADAPTIVE and not matched:
        found = _single(blocks, leading)
    else:
        found = _components(blocks, pseudo, prior, matched=matched, threads=threads)
    upper = np.log(np.minimum(blocks.rows, blocks.columns))
    with np.errstate(invalid="ignore"):  # a table of one value, whose upper is 0
        above, trusted = _gaussian_tails(found) if gaussian else _beta_tails(found, upper)
    every = np.ones(upper.size, dtype=bool)
    p_above = above(np.full(upper.size, float(epsilon)), every)
    if prior != ADAPTIVE:  # one component a table, and where it is certain no tail but a step
        certain = found.variance == 0.0
        p_above[certain] = found.mean[certain] > epsilon
        trusted = trusted | certain
    for index in np.unique(found.table[~trusted]).tolist():
        p_above[index] = _law(found, index, float(upper[index]), gaussian=gaussian).sf(epsilon)
    return Beliefs(leading.mean, p_above)


def growth_to_decide(
    blocks: Blocks, *, prior: str | float, approximation: str, epsilon: float, level: float, threads: int | None = None
) -> FloatArray:
    """By what factor the rows must grow until P(I > epsilon) leaves (1 - level, level), if the shares stay as they are.

    NaN where it would not within `_MOST_GROWTH`. Found by doubling, then halving the exponent: about 2 % too large.
    """
    count = blocks.rows.size
    pseudo = _pseudo_counts(blocks, prior)
    upper = np.log(np.minimum(blocks.rows, blocks.columns))

    def decided(chosen: NDArray[np.int64], factor: FloatArray) -> NDArray[np.bool_]:
        sizes = (blocks.rows[chosen] + 1) * (blocks.columns[chosen] + 1)
        flat = [
            blocks.flat[start : start + size] * scale
            for start, size, scale in zip(blocks.offsets[chosen].tolist(), sizes.tolist(), factor.tolist(), strict=True)
        ]
        grown = Blocks(np.concatenate([np.zeros(0), *flat]), blocks.rows[chosen], blocks.columns[chosen])
        found = _components(
            grown, pseudo[chosen], prior, matched=approximation in ("matched", "sampled"), threads=threads
        )
        above, _ = _gaussian_tails(found) if approximation == "leading" else _beta_tails(found, upper[chosen])
        p_above = above(np.full(chosen.size, float(epsilon)), np.ones(chosen.size, dtype=bool))
        return (p_above >= level) | (p_above <= 1.0 - level)

    low, high = np.ones(count), np.full(count, np.nan)
    waiting, factor = np.arange(count), 1.0
    while waiting.size and factor < _MOST_GROWTH:
        factor *= 2.0
        done = decided(waiting, np.full(waiting.size, factor))
        high[waiting[done]] = factor
        low[waiting[~done]] = factor
        waiting = waiting[~done]
    found = np.flatnonzero(~np.isnan(high))
    for _ in range(5 if found.size else 0):
        middle = np.sqrt(low[found] * high[found])
        done = decided(found, middle)
        high[found], low[found] = np.where(done, middle, high[found]), np.where(done, low[found], middle)
    return high


def _components(
    blocks: Blocks, pseudo: FloatArray, prior: str | float, *, matched: bool, threads: int | None
) -> Components:
    """Of every table the mixture that its posterior is; one component alone with fixed pseudo-counts."""
    if prior == ADAPTIVE:
        return adaptive.components(blocks, matched=matched, threads=threads)
    return _single(blocks, moments(blocks, pseudo, matched=matched, threads=threads))


def _single(blocks: Blocks, found: Moments) -> Components:
    """One component a table, and no weight on independence."""
    count = blocks.rows.size
    mean = np.minimum(found.mean, np.log(np.minimum(blocks.rows, blocks.columns)))
    return Components(np.zeros(count), np.arange(count), np.ones(count), mean, found.variance)


def _pseudo_counts(blocks: Blocks, prior: str | float) -> FloatArray:
    """Of each table the fixed pseudo-count; with the adaptive prior that of the plug-in estimate."""
    if prior == ADAPTIVE or prior != "perks":  # all but that one add the same to every shape
        return np.full(blocks.rows.size, _JEFFREYS if prior == ADAPTIVE else pseudo_count(prior, (2, 2)))
    return 1.0 / (blocks.rows * blocks.columns)


def _summed(found: Components, values: FloatArray) -> FloatArray:
    """Of each table the sum over its components."""
    return np.bincount(found.table, values, found.p_zero.size).astype(np.float64)


def _tables(blocks: Blocks) -> list[Table]:
    out = []
    for start, rows, columns in zip(
        blocks.offsets.tolist(), blocks.rows.tolist(), blocks.columns.tolist(), strict=True
    ):
        block = blocks.flat[start : start + (rows + 1) * (columns + 1)].reshape(rows + 1, columns + 1)
        out.append(Table.of(block[:-1, :-1], block[:-1, -1], block[-1, :-1]))
    return out


def _one_by_one(laws: list[Distribution], at_mode: FloatArray, epsilon: float, level: float) -> Summary:
    intervals = np.array([law.interval(level) for law in laws]).reshape(-1, 2)
    return Summary(
        np.array([law.mean() for law in laws]),
        np.array([law.std() for law in laws]),
        intervals[:, 0],
        intervals[:, 1],
        np.array([law.sf(epsilon) for law in laws]),
        np.array([law.p_zero for law in laws]),
        at_mode,
    )


def _law(found: Components, index: int, upper: float, *, gaussian: bool) -> Distribution:
    own = found.table == index
    parts = [
        law_of(mean, std, upper, gaussian=gaussian)
        for mean, std in zip(found.mean[own].tolist(), np.sqrt(found.variance[own]).tolist(), strict=True)
    ]
    return Distribution.mixture(parts, found.weight[own].tolist(), float(found.p_zero[index]))


def _gaussian_tails(found: Components) -> tuple[Tails, NDArray[np.bool_]]:
    """P(I > x) of the wanted tables as a function of x, and which components it holds for."""
    from scipy.special import ndtr  # noqa: PLC0415

    std = np.sqrt(found.variance)
    trusted = std > 0.0
    scale = np.where(trusted, std, 1.0)

    def above(x: FloatArray, wanted: NDArray[np.bool_]) -> FloatArray:
        own = np.flatnonzero(wanted[found.table])
        owner = found.table[own]
        tails = np.zeros(found.table.size)
        tails[own] = found.weight[own] * ndtr((found.mean[own] - x[owner]) / scale[own])
        return _summed(found, tails) + np.where(x < 0.0, found.p_zero, 0.0)

    return above, trusted


def _beta_tails(found: Components, upper: FloatArray) -> tuple[Tails, NDArray[np.bool_]]:
    """The same for Betas on [0, upper]."""
    from scipy.special import betaincc  # noqa: PLC0415

    width = upper[found.table]
    with np.errstate(all="ignore"):  # what is not trusted may be anything
        share = found.mean / width
        concentration = share * (1.0 - share) * width**2 / found.variance - 1.0
        alpha, beta = share * concentration, (1.0 - share) * concentration
    least, most = _TRUSTED
    trusted = (np.minimum(alpha, beta) > least) & (np.minimum(alpha, beta) < most) & (concentration < most * most)
    alpha, beta = np.where(trusted, alpha, 1.0), np.where(trusted, beta, 1.0)

    def above(x: FloatArray, wanted: NDArray[np.bool_]) -> FloatArray:
        own = np.flatnonzero(wanted[found.table])
        share = np.clip(x[found.table[own]] / width[own], 0.0, 1.0)
        tails = np.zeros(found.table.size)
        tails[own] = found.weight[own] * betaincc(alpha[own], beta[own], share)
        return _summed(found, tails) + np.where(x < 0.0, found.p_zero, 0.0)

    return above, np.asarray(trusted)


def _quantiles(above: Tails, lowest: FloatArray, highest: FloatArray, tail: float) -> FloatArray:
    """The least x of every table with P(I > x) <= tail, by the method of Chandrupatla (1997), all tables together."""
    zero, everyone = np.zeros(lowest.size), np.ones(lowest.size, dtype=bool)
    at_zero = (above(zero, everyone) <= tail) & (above(zero - np.finfo(float).tiny, everyone) > tail)
    near, far = highest.copy(), lowest.copy()  # the latest point, and one on the other side of the root
    at_near, at_far = above(near, everyone) - tail, above(far, everyone) - tail
    older, at_older, step, going = near.copy(), at_near.copy(), np.full(near.size, 0.5), ~at_zero
    for _ in range(_MOST_STEPS):
        point = np.where(going, near + step * (far - near), near)
        value = np.where(going, above(point, going) - tail, at_near)
        same = np.sign(value) == np.sign(at_near)
        older = np.where(going, np.where(same, near, far), older)
        at_older = np.where(going, np.where(same, at_near, at_far), at_older)
        turned = going & ~same
        far, at_far = np.where(turned, near, far), np.where(turned, at_near, at_far)
        near, at_near = point, value
        width = np.abs(far - near)
        close = _PRECISION * np.abs(near) + np.finfo(float).tiny
        going &= (width > close) & (value != 0.0)
        if not going.any():
            break
        with np.errstate(divide="ignore", invalid="ignore"):
            share, level = (near - far) / (older - far), (at_near - at_far) / (at_older - at_far)
            smooth = (level**2 < share) & ((1.0 - level) ** 2 < 1.0 - share)
            inverse = at_near / (at_far - at_near) * at_older / (at_far - at_older)
            inverse += (older - near) / (far - near) * at_near / (at_older - at_near) * at_far / (at_older - at_far)
            edge = np.minimum(0.5 * close / width, 0.5)
            step = np.where(smooth & np.isfinite(inverse), np.clip(inverse, edge, 1.0 - edge), 0.5)
    best = np.where(np.abs(at_near) <= np.abs(at_far), near, far)
    return np.where(at_zero, 0.0, best)
