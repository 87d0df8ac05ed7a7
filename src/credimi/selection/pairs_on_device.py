"""Posteriors of all pairs of columns from products on a GPU (see `counting.pair_products`).

Figures are those of `inference.many_tables.Summary`. Counts never leave the device, and neither do figures that nobody
asked for: `all_pairs` brings back some figures of every pair, `best_pairs` those of the pairs with the largest mean, or
of those that are probably dependent, of which the others are only screened.

Tables that need more than the closed forms, thin ones or such with many values, are summarized on the CPU; so are all
with a fixed prior or another approximation, and all where the device is a stand-in.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from credimi.core.threads import share
from credimi.gpu.layout import ABOVE, DEVIATION, IF_DEPENDENT, INTERVAL, Hyper
from credimi.inference import adaptive_prior
from credimi.inference.fixed_priors import ADAPTIVE
from credimi.inference.many_tables import summarize

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from credimi.core.types import FloatArray, Foreign, IntegerArray
    from credimi.counting.pair_products import PairBlock, PairProducts
    from credimi.gpu.layout import Device
    from credimi.inference.options import PosteriorOptions

_SCREENED = ("p_independent", "mean")
_GROUPS = (  # the order in which the device writes figures, and the bit that asks for them
    (DEVIATION, ("std",)),
    (INTERVAL, ("low", "high")),
    (ABOVE, ("p_above",)),
    (IF_DEPENDENT, ("mean_if_dependent", "low_if_dependent", "high_if_dependent")),
)
FIGURES = (*_SCREENED, *(name for _, names in _GROUPS for name in names))
_AT_ONCE = 1 << 18  # tables that are summarized on the CPU at once


@dataclass(frozen=True, slots=True, eq=False)
class ChosenPairs:
    """Some pairs, by the numbers of their columns, and their figures; `looked_at` is how many pairs there were."""

    one: IntegerArray
    other: IntegerArray
    figures: dict[str, FloatArray]
    looked_at: int


def all_pairs(
    products: PairProducts,
    options: PosteriorOptions,
    names: Sequence[str] = ("p_independent", "mean", "low", "high"),
    *,
    out: Mapping[str, FloatArray] | None = None,
    progress: Callable[[float], None] | None = None,
) -> dict[str, FloatArray]:
    """Some figures of every pair, in the order (0, 1), (0, 2) ... (1, 2) ...; into `out`, which may be files."""
    count, columns = len(products), len(products.codes)
    found = {name: np.empty(count) for name in names} if out is None else {name: out[name] for name in names}
    wanted, written = _asked_for(names)
    done = 0

    def work(block: PairBlock) -> tuple[PairBlock, Foreign]:
        figures = _figures(block, options, wanted, written)
        return replace(block, product=None), block.device.to_host(figures)

    for block, figures in products.map(work, bytes_a_pair=8 * len(written) + 4):
        _place(block, figures.reshape(len(written), -1, block.second.values.size), written, columns, found)
        done += _pairs_of(block)
        if progress is not None:
            progress(done / count)
    return found


def best_pairs(
    products: PairProducts,
    options: PosteriorOptions,
    names: Sequence[str] = FIGURES,
    *,
    top: int | None = None,
    most_p_independent: float | None = None,
    progress: Callable[[float], None] | None = None,
) -> ChosenPairs:
    """The pairs with the largest means, or with a P(independent) of at most so much, or both; largest mean first."""
    wanted, written = _asked_for(names)
    best = ChosenPairs(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), {n: np.zeros(0) for n in written}, 0)
    parts: list[ChosenPairs] = []
    done = 0

    def work(block: PairBlock) -> tuple[int, ChosenPairs]:
        least = -np.inf
        if top is not None and best.one.size >= top:
            least = float(best.figures["mean"][top - 1])
        screened = _figures(block, options, 0, _SCREENED)
        numbers = _chosen(block.device, screened, top, least, most_p_independent)
        one, other = block.columns(block.device.to_host(numbers))
        figures = block.device.to_host(_figures(block, options, wanted, written, numbers))
        return _pairs_of(block), ChosenPairs(one, other, dict(zip(written, figures, strict=True)), 0)

    for looked_at, some in products.map(work, bytes_a_pair=8 * 8):
        done += looked_at
        if top is None:
            parts.append(some)
        else:
            best = _joined([best, some], top)
        if progress is not None:
            progress(done / len(products))
    best = _joined([best, *parts], top)
    return replace(best, looked_at=done, figures={name: best.figures[name] for name in names})


def _asked_for(names: Sequence[str]) -> tuple[int, tuple[str, ...]]:
    """What the device is asked for, and the figures that it then writes."""
    wanted, written = 0, list(_SCREENED)
    for bit, group in _GROUPS:
        if set(group) & set(names):
            wanted |= bit
            written += group
    return wanted, tuple(written)


def _figures(
    block: PairBlock, options: PosteriorOptions, wanted: int, written: Sequence[str], chosen: Foreign = None
) -> Foreign:
    """Figures of all pairs of a block, (figures, pairs), NaN for those that are none; or of the chosen ones."""
    device, xp = block.device, block.device.xp
    size = block.first.values.size * block.second.values.size if chosen is None else chosen.size
    out = xp.full((len(written), size), np.nan)
    if options.prior == ADAPTIVE and options.approximation == "matched":
        blocks = block.first, block.second
        left = device.to_host(device.summarize(block.product, blocks, _hyper(options), wanted, out, chosen=chosen))
    else:
        left = block.numbers() if chosen is None else np.arange(size)
    numbers = left if chosen is None else device.to_host(chosen)[left]
    for start in range(0, left.size, _AT_ONCE):
        part = slice(start, start + _AT_ONCE)
        tables = block.tables(numbers[part])
        found = summarize(tables, options, if_dependent=bool(wanted & IF_DEPENDENT))
        out[:, xp.asarray(left[part])] = xp.asarray(np.stack([getattr(found, name) for name in written]))
    return out


def _hyper(options: PosteriorOptions) -> Hyper:
    return Hyper(
        adaptive_prior.SMOOTHING,
        adaptive_prior.LOOSEST,
        adaptive_prior.TIGHTEST,
        adaptive_prior.P_ZERO,
        adaptive_prior.NEGLIGIBLE,
        options.level,
        options.epsilon,
        adaptive_prior.GRID,
    )


def _pairs_of(block: PairBlock) -> int:
    first, second = block.first, block.second
    if second.start >= first.stop:
        return first.values.size * second.values.size
    return int(block.numbers().size)


def _place(
    block: PairBlock, figures: FloatArray, written: Sequence[str], columns: int, out: Mapping[str, FloatArray]
) -> None:
    """Copy the figures of a block to their places among all pairs: a run for each of its first columns."""

    def copy(a: int) -> None:
        b = max(block.second.start, a + 1)
        start = a * (2 * columns - a - 1) // 2 - a - 1
        for name, values in zip(written, figures, strict=True):
            if name in out:
                out[name][start + b : start + block.second.stop] = values[
                    a - block.first.start, b - block.second.start :
                ]

    share(copy, range(block.first.start, min(block.first.stop, block.second.stop - 1)), None)


def _chosen(
    device: Device, screened: Foreign, top: int | None, least: float, most_p_independent: float | None
) -> Foreign:
    """The numbers of a block's pairs that may be among the best."""
    xp = device.xp
    p_independent, mean = screened
    wanted = mean >= least  # not true of NaN
    if most_p_independent is not None:
        wanted &= p_independent <= most_p_independent
    numbers = xp.flatnonzero(wanted)
    if top is not None and numbers.size > top:
        values = mean[numbers]
        bound = xp.partition(values, numbers.size - top)[numbers.size - top]
        numbers = numbers[values >= bound]
    return numbers.astype(np.int64)


def _joined(parts: list[ChosenPairs], top: int | None) -> ChosenPairs:
    """All together, largest mean first, pairs of equal means by their columns."""
    one, other = np.concatenate([part.one for part in parts]), np.concatenate([part.other for part in parts])
    names = parts[0].figures
    figures = {name: np.concatenate([part.figures[name] for part in parts]) for name in names}
    order = np.lexsort([other, one, -figures["mean"]])[:top]
    return ChosenPairs(one[order], other[order], {name: each[order] for name, each in figures.items()}, 0)
