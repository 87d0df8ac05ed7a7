"""Figures of all pairs of columns from products on a GPU (see `counting.rows.pair_products`).

Counts never leave the device, and neither do figures that nobody asked for: `all_pairs` brings back some figures of
every pair, `best_pairs` those of the pairs with the largest mean, or of those that are probably dependent; the others
are only screened.

Tables that need more than the closed forms, thin ones or such of many values, are judged on the CPU; so are all with a
fixed prior or another approximation, and all where numpy stands in for the GPU.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from credimi.core.errors import CredimiError
from credimi.core.optional import library
from credimi.counting.rows.pair_products import MOST_VALUES, PairProducts
from credimi.gpu.layout import ABOVE, EVIDENCE, INTERVAL, Hyper
from credimi.inference import adaptive_prior
from credimi.inference.batched.pair_figures import figures_of
from credimi.inference.fixed_priors import ADAPTIVE
from credimi.selection.rules import share_of_independent

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from credimi.core.types import FloatArray, Foreign, IntegerArray
    from credimi.counting.rows.pair_products import PairBlock
    from credimi.counting.rows.settled_columns import SettledColumns
    from credimi.gpu.cupy_device import CupyDevice
    from credimi.gpu.layout import Device
    from credimi.inference.options import PosteriorOptions

_SCREENED = ("p_independent", "mi")
_GROUPS = (  # the order in which the device writes figures, and the bit that asks for them
    (INTERVAL, ("low", "high")),
    (ABOVE, ("p_above",)),
    (EVIDENCE, ("log_evidence", "complete")),
)
FIGURES = (*_SCREENED, *(name for _, names in _GROUPS for name in names))
_LEAST_ABLE = 80  # for sums over the threads of a warp, and fast products of bytes
_AT_ONCE = 1 << 18  # tables that are judged on the CPU at once
_BINS, _FURTHEST = 1 << 16, 40.0  # of the log-odds of independence


def find_gpu() -> CupyDevice:
    """The GPU, or an error that says what is missing."""
    cupy = library("cupy", "gpu")
    from credimi.gpu.cupy_device import CupyDevice  # noqa: PLC0415  (only who has a GPU needs it)

    try:
        found = cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        raise CredimiError(
            f"no NVIDIA GPU can be used here ({error}): check what `nvidia-smi` says, or use engine='cpu'"
        ) from error
    if not found:
        raise CredimiError("there is no NVIDIA GPU here: use engine='cpu'")
    able = int(cupy.cuda.Device().compute_capability)
    if able < _LEAST_ABLE:
        raise CredimiError(
            f"this NVIDIA GPU is too old: its compute capability is {able / 10}, and {_LEAST_ABLE / 10} is needed: use "
            "engine='cpu'"
        )
    return CupyDevice(cupy)


def products_of(table: SettledColumns) -> PairProducts:
    """The columns of a table on the GPU."""
    if table.weights is not None:
        raise CredimiError("engine='gpu' counts rows, not weights: use engine='cpu'")
    for name, values in zip(table.names, table.values, strict=True):
        if values > MOST_VALUES:
            raise CredimiError(
                f"column {name!r} has {values:,} values, but engine='gpu' takes columns of up to {MOST_VALUES}: leave "
                f"it out (exclude, max_values={MOST_VALUES}), or use engine='cpu'"
            )
    return PairProducts(table.codes, table.values, find_gpu())


@dataclass(frozen=True, slots=True, eq=False)
class CommonOdds:
    """P(independent) of all pairs in bins of its log-odds, from which the share of independent pairs is learned."""

    counts: FloatArray = field(default_factory=lambda: np.zeros(_BINS))
    sums: FloatArray = field(default_factory=lambda: np.zeros(_BINS))

    @classmethod
    def of(cls, device: Device, p_independent: Foreign) -> CommonOdds:
        """Of the pairs of a block; NaN, for those that are none, is not heard."""
        xp = device.xp
        heard = p_independent[~xp.isnan(p_independent)]
        log_odds = xp.log(xp.maximum(heard, 1e-300) / xp.maximum(1.0 - heard, 1e-300))
        places = ((log_odds + _FURTHEST) * ((_BINS - 1) / (2.0 * _FURTHEST))).clip(0, _BINS - 1).astype(np.int32)
        counts, sums = xp.bincount(places, minlength=_BINS), xp.bincount(places, heard, minlength=_BINS)
        return cls(device.to_host(counts).astype(np.float64), device.to_host(sums))

    def __add__(self, others: CommonOdds) -> CommonOdds:
        return CommonOdds(self.counts + others.counts, self.sums + others.sums)

    def share(self) -> float:
        """The share of independent pairs, to about eight digits: bins stand for their pairs by mean and number."""
        filled = self.counts > 0.0
        return share_of_independent(self.sums[filled] / self.counts[filled], counts=self.counts[filled])


@dataclass(frozen=True, slots=True, eq=False)
class BestPairs:
    """Some pairs, by the numbers of their columns, and their figures; `odds` are those of all pairs."""

    one: IntegerArray
    other: IntegerArray
    figures: dict[str, FloatArray]
    odds: CommonOdds


def all_pairs(
    products: PairProducts,
    options: PosteriorOptions,
    names: Sequence[str] = FIGURES,
    *,
    out: Mapping[str, FloatArray] | None = None,
    progress: Callable[[float], None] | None = None,
) -> dict[str, FloatArray]:
    """Some figures of every pair, in the order (0, 1), (0, 2) ... (1, 2) ...; into `out`, which may be files."""
    count, columns = len(products), len(products.codes)
    found = {name: np.empty(count) for name in names} if out is None else {name: out[name] for name in names}
    wanted, written = _asked_for(names)
    done = 0

    wait = _nothing
    asked = [written.index(name) for name in names]

    def work(block: PairBlock) -> tuple[PairBlock, Foreign]:
        figures = _figures(block, options, wanted, written)
        xp = block.device.xp
        one, other = np.arange(block.first.start, block.first.stop), np.arange(block.second.start, block.second.stop)
        pairs = xp.flatnonzero((xp.asarray(one)[:, np.newaxis] < xp.asarray(other)).ravel())
        return replace(block, product=None), xp.stack([figures[figure][pairs] for figure in asked])

    for block, figures in products.map(work, bytes_a_pair=16 * len(written) + 16, in_order=True):
        wait()  # for the figures of the block before
        wait = _bring(block, figures, columns, [found[name] for name in names])
        done += figures.shape[1]
        if progress is not None:
            progress(done / count)
    wait()
    return found


def _nothing() -> None:
    """Nothing to wait for."""


def _bring(block: PairBlock, figures: Foreign, columns: int, out: list[FloatArray]) -> Callable[[], None]:
    """Copy the figures of a block to their places among all pairs; what is returned waits for it.

    They follow each other where the second columns are all later ones; else there is a run for each first column.
    """
    first, second, device = block.first, block.second, block.device
    start = _place(first.start, max(second.start, first.start + 1), columns)
    if second.stop == columns and second.start <= first.start + 1:
        return device.bring(figures, [each[start : start + figures.shape[1]] for each in out])
    rows = device.to_host(figures)
    at = 0
    for a in range(first.start, first.stop):
        b = max(second.start, a + 1)
        length = max(second.stop - b, 0)
        start = _place(a, b, columns)
        for each, values in zip(out, rows, strict=True):
            each[start : start + length] = values[at : at + length]
        at += length
    return _nothing


def _place(a: int, b: int, columns: int) -> int:
    """Of a pair among all pairs."""
    return a * (2 * columns - a - 1) // 2 + b - a - 1


def best_pairs(
    products: PairProducts,
    options: PosteriorOptions,
    names: Sequence[str] = FIGURES,
    *,
    top: int | None = None,
    p_dependent: float | None = None,
    progress: Callable[[float], None] | None = None,
) -> BestPairs:
    """The pairs with the largest means, or with a P(dependent) of at least so much, or both; largest mean first."""
    wanted, written = _asked_for(names)
    none = np.zeros(0, dtype=np.int64)
    best, parts = BestPairs(none, none, {name: np.zeros(0) for name in written}, CommonOdds()), []
    done = 0

    def work(block: PairBlock) -> tuple[int, BestPairs]:
        least = -np.inf
        if top is not None and best.one.size >= top:
            least = float(best.figures["mi"][top - 1])
        screened = _figures(block, options, 0, _SCREENED)
        numbers = _chosen(block.device, screened, top, least, p_dependent)
        odds = CommonOdds.of(block.device, screened[0])
        one, other = block.columns(block.device.to_host(numbers))
        figures = block.device.to_host(_figures(block, options, wanted, written, numbers))
        return block.size, BestPairs(one, other, dict(zip(written, figures, strict=True)), odds)

    for looked_at, some in products.map(work, bytes_a_pair=8 * 10):
        done += looked_at
        if top is None:
            parts.append(some)
        else:
            best = _joined([best, some], top)
        if progress is not None:
            progress(done / len(products))
    best = _joined([best, *parts], top)
    return replace(best, figures={name: best.figures[name] for name in names})


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
        left = device.to_host(device.summarize(block.product, blocks, hyper(options), wanted, out, chosen=chosen))
    else:
        left = block.numbers() if chosen is None else np.arange(size)
    numbers = left if chosen is None else device.to_host(chosen)[left]
    for start in range(0, left.size, _AT_ONCE):
        part = slice(start, start + _AT_ONCE)
        found = figures_of(block.tables(numbers[part]), options)
        out[:, xp.asarray(left[part])] = xp.asarray(np.stack([getattr(found, name) for name in written]))
    return out


def hyper(options: PosteriorOptions) -> Hyper:
    """The numbers that the kernels of the device are given."""
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


def _chosen(device: Device, screened: Foreign, top: int | None, least: float, p_dependent: float | None) -> Foreign:
    """The numbers of a block's pairs that may be among the best."""
    xp = device.xp
    p_independent, mean = screened
    wanted = mean >= least  # not true of NaN
    if p_dependent is not None:
        wanted &= 1.0 - p_independent >= p_dependent
    numbers = xp.flatnonzero(wanted)
    if top is not None and numbers.size > top:
        values = mean[numbers]
        bound = xp.partition(values, numbers.size - top)[numbers.size - top]
        numbers = numbers[values >= bound]
    return numbers.astype(np.int64)


def _joined(parts: list[BestPairs], top: int | None) -> BestPairs:
    """All together, largest mean first, pairs of equal means by their columns."""
    one, other = np.concatenate([part.one for part in parts]), np.concatenate([part.other for part in parts])
    figures = {name: np.concatenate([part.figures[name] for part in parts]) for name in parts[0].figures}
    order = np.lexsort([other, one, -figures["mi"]])[:top]
    odds = sum((part.odds for part in parts), CommonOdds())
    return BestPairs(one[order], other[order], {name: each[order] for name, each in figures.items()}, odds)
