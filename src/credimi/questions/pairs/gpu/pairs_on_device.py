"""Figures of all pairs of columns from products on a GPU (see `questions.pairs.gpu.pair_products`).

Counts never leave the device, and neither do figures that were not requested. `all_pairs` copies the requested figures
of every pair, `best_pairs` those of the pairs with the largest mean, or of the probably dependent ones; the other pairs
are only screened.

Tables for which the closed forms do not hold (thin tables, or tables of many values) are judged on the CPU. So are all
tables with a fixed prior or another approximation, and all tables if numpy replaces the GPU.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from credimi.core.errors import CredimiError
from credimi.core.optional import library
from credimi.inference.belief import ADAPTIVE
from credimi.inference.evidence import adaptive_prior
from credimi.inference.rules import share_of_independent
from credimi.inference.tables.pair_figures import figures_of
from credimi.questions.pairs.gpu.layout import ABOVE, EVIDENCE, INTERVAL, Hyper
from credimi.questions.pairs.gpu.pair_products import MAX_VALUES, PairProducts

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from credimi.core.types import FloatArray, Foreign, IntegerArray
    from credimi.counts.codes import Codes
    from credimi.inference.belief import Belief
    from credimi.questions.pairs.gpu.cupy_device import CupyDevice
    from credimi.questions.pairs.gpu.layout import Device
    from credimi.questions.pairs.gpu.pair_products import PairBlock

_SCREENED = ("p_independent", "mi")
_OPTIONAL_FIGURES = (  # the bit that requests the figures, in the order in which the device writes them
    (INTERVAL, ("low", "high")),
    (ABOVE, ("p_above",)),
    (EVIDENCE, ("log_evidence", "complete")),
)
_ON_CPU_ONLY = "approximate"  # tables of which P(independent) may be off are left to the CPU
FIGURES = (*_SCREENED, *(name for _, names in _OPTIONAL_FIGURES for name in names), _ON_CPU_ONLY)
_MIN_COMPUTE_CAPABILITY = 80  # times 10: for sums over the threads of a warp, and fast products of bytes
_TABLES_AT_ONCE = 1 << 18  # on the CPU
_BINS, _MAX_LOG_ODDS = 1 << 16, 40.0  # of the log odds of independence


def find_gpu() -> CupyDevice:
    """The GPU, or an error that says what is missing."""
    cupy = library("cupy", "gpu")
    from credimi.questions.pairs.gpu.cupy_device import CupyDevice  # noqa: PLC0415  (only who has a GPU needs it)

    try:
        device_count = cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        raise CredimiError(
            f"no NVIDIA GPU can be used here ({error}): check what `nvidia-smi` says, or use device='cpu'"
        ) from error
    if not device_count:
        raise CredimiError("there is no NVIDIA GPU here: use device='cpu'")
    compute_capability = int(cupy.cuda.Device().compute_capability)
    if compute_capability < _MIN_COMPUTE_CAPABILITY:
        raise CredimiError(
            f"this NVIDIA GPU is too old: its compute capability is {compute_capability / 10}, and "
            f"{_MIN_COMPUTE_CAPABILITY / 10} is needed: use device='cpu'"
        )
    return CupyDevice(cupy)


def products_of(table: Codes) -> PairProducts:
    """The products of the columns of a table, on the GPU."""
    if table.weights is not None:
        raise CredimiError("device='gpu' counts rows, not weights: use device='cpu'")
    for name, values in zip(table.names, table.sizes.tolist(), strict=True):
        if values > MAX_VALUES:
            raise CredimiError(
                f"column {name!r} has {values:,} values, but device='gpu' takes columns of up to {MAX_VALUES}: leave "
                f"it out (exclude, max_values={MAX_VALUES}), or use device='cpu'"
            )
    return PairProducts(table.columns, table.sizes.tolist(), find_gpu())


@dataclass(frozen=True, slots=True, eq=False)
class CommonOdds:
    """A histogram of P(independent) of all pairs by its log odds, to learn the share of independent pairs.

    `counts` are the numbers of pairs in the bins, `sums` the sums of their P(independent).
    """

    counts: FloatArray = field(default_factory=lambda: np.zeros(_BINS))
    sums: FloatArray = field(default_factory=lambda: np.zeros(_BINS))

    @classmethod
    def of(cls, device: Device, p_independent: Foreign) -> CommonOdds:
        """The histogram of the pairs of a block; NaN marks entries that are no pairs, and is not counted."""
        xp = device.xp
        known = p_independent[~xp.isnan(p_independent)]
        log_odds = xp.log(xp.maximum(known, 1e-300) / xp.maximum(1.0 - known, 1e-300))
        bins = ((log_odds + _MAX_LOG_ODDS) * ((_BINS - 1) / (2.0 * _MAX_LOG_ODDS))).clip(0, _BINS - 1).astype(np.int32)
        counts, sums = xp.bincount(bins, minlength=_BINS), xp.bincount(bins, known, minlength=_BINS)
        return cls(device.to_host(counts).astype(np.float64), device.to_host(sums))

    def __add__(self, others: CommonOdds) -> CommonOdds:
        return CommonOdds(self.counts + others.counts, self.sums + others.sums)

    def share(self) -> float:
        """The share of independent pairs, to about eight digits; a bin represents its pairs by mean and number."""
        filled = self.counts > 0.0
        return share_of_independent(self.sums[filled] / self.counts[filled], counts=self.counts[filled])


@dataclass(frozen=True, slots=True, eq=False)
class BestPairs:
    """Some pairs, as indices of their columns, and their figures; `odds` is the histogram of all pairs."""

    one: IntegerArray
    other: IntegerArray
    figures: dict[str, FloatArray]
    odds: CommonOdds


def all_pairs(
    products: PairProducts,
    options: Belief,
    names: Sequence[str] = FIGURES,
    *,
    out: Mapping[str, FloatArray] | None = None,
    progress: Callable[[float], None] | None = None,
) -> dict[str, FloatArray]:
    """The named figures of every pair, in the order (0, 1), (0, 2) ... (1, 2) ...; into `out`, if passed."""
    count, columns = len(products), len(products.codes)
    arrays = {name: np.empty(count) for name in names} if out is None else {name: out[name] for name in names}
    flags, written = _flags_and_figures(names)
    done = 0

    wait = _no_wait
    rows = [written.index(name) for name in names]

    def work(block: PairBlock) -> tuple[PairBlock, Foreign]:
        figures = _figures(block, options, flags, written)
        xp = block.device.xp
        one, other = np.arange(block.first.start, block.first.stop), np.arange(block.second.start, block.second.stop)
        pairs = xp.flatnonzero((xp.asarray(one)[:, np.newaxis] < xp.asarray(other)).ravel())
        return replace(block, product=None), xp.stack([figures[figure][pairs] for figure in rows])

    for block, figures in products.map(work, bytes_a_pair=16 * len(written) + 16, in_order=True):
        wait()  # for the figures of the block before
        wait = _copy_figures(block, figures, columns, [arrays[name] for name in names])
        done += figures.shape[1]
        if progress is not None:
            progress(done / count)
    wait()
    return arrays


def _no_wait() -> None:
    """Nothing to wait for."""


def _copy_figures(block: PairBlock, figures: Foreign, columns: int, out: list[FloatArray]) -> Callable[[], None]:
    """Copy the figures of a block to their positions among all pairs; returns a function that waits for the copy.

    If the second columns are all later ones, the pairs are contiguous; else there is a run for each first column.
    """
    first, second, device = block.first, block.second, block.device
    start = _pair_index(first.start, max(second.start, first.start + 1), columns)
    if second.stop == columns and second.start <= first.start + 1:
        return device.bring(figures, [array[start : start + figures.shape[1]] for array in out])
    rows = device.to_host(figures)
    offset = 0
    for a in range(first.start, first.stop):
        b = max(second.start, a + 1)
        length = max(second.stop - b, 0)
        start = _pair_index(a, b, columns)
        for array, values in zip(out, rows, strict=True):
            array[start : start + length] = values[offset : offset + length]
        offset += length
    return _no_wait


def _pair_index(a: int, b: int, columns: int) -> int:
    """The index of the pair of columns a < b among all pairs."""
    return a * (2 * columns - a - 1) // 2 + b - a - 1


def best_pairs(
    products: PairProducts,
    options: Belief,
    names: Sequence[str] = FIGURES,
    *,
    top: int | None = None,
    p_dependent: float | None = None,
    progress: Callable[[float], None] | None = None,
) -> BestPairs:
    """The `top` pairs by their mean, or the pairs with at least this P(dependent), or both; largest mean first."""
    flags, written = _flags_and_figures(names)
    empty = np.zeros(0, dtype=np.int64)
    best, parts = BestPairs(empty, empty, {name: np.zeros(0) for name in written}, CommonOdds()), []
    done = 0

    def work(block: PairBlock) -> tuple[int, BestPairs]:
        min_mean = -np.inf
        if top is not None and best.one.size >= top:
            min_mean = float(best.figures["mi"][top - 1])
        screened = _figures(block, options, 0, _SCREENED)
        numbers = _may_be_best(block.device, screened, top, min_mean, p_dependent)
        odds = CommonOdds.of(block.device, screened[0])
        one, other = block.columns(block.device.to_host(numbers))
        figures = block.device.to_host(_figures(block, options, flags, written, numbers))
        return block.size, BestPairs(one, other, dict(zip(written, figures, strict=True)), odds)

    for block_size, block_best in products.map(work, bytes_a_pair=8 * 10):
        done += block_size
        if top is None:
            parts.append(block_best)
        else:
            best = _joined([best, block_best], top)
        if progress is not None:
            progress(done / len(products))
    best = _joined([best, *parts], top)
    return replace(best, figures={name: best.figures[name] for name in names})


def _flags_and_figures(names: Sequence[str]) -> tuple[int, tuple[str, ...]]:
    """The flags that request these figures from the device, and the names of all figures that it then writes."""
    flags, written = 0, list(_SCREENED)
    for bit, group in _OPTIONAL_FIGURES:
        if set(group) & set(names):
            flags |= bit
            written += group
    written += [_ON_CPU_ONLY] * (_ON_CPU_ONLY in names)
    return flags, tuple(written)


def _figures(block: PairBlock, options: Belief, flags: int, written: Sequence[str], chosen: Foreign = None) -> Foreign:
    """The figures of all pairs of a block, or of the chosen ones, (figures, pairs); NaN where an entry is no pair."""
    device, xp = block.device, block.device.xp
    size = block.first.values.size * block.second.values.size if chosen is None else chosen.size
    out = xp.full((len(written), size), np.nan)
    if _ON_CPU_ONLY in written:
        out[written.index(_ON_CPU_ONLY)] = 0.0
    if options.prior == ADAPTIVE and options.approximation == "matched":
        blocks = block.first, block.second
        on_cpu = device.to_host(device.summarize(block.product, blocks, hyper(options), flags, out, chosen=chosen))
    else:
        on_cpu = block.numbers() if chosen is None else np.arange(size)
    numbers = on_cpu if chosen is None else device.to_host(chosen)[on_cpu]
    for start in range(0, on_cpu.size, _TABLES_AT_ONCE):
        part = slice(start, start + _TABLES_AT_ONCE)
        cpu_figures = figures_of(block.tables(numbers[part]), options)
        out[:, xp.asarray(on_cpu[part])] = xp.asarray(np.stack([getattr(cpu_figures, name) for name in written]))
    return out


def hyper(options: Belief) -> Hyper:
    """The numbers that are passed to the kernels of the device."""
    return Hyper(
        adaptive_prior.SMOOTHING,
        adaptive_prior.LOOSEST,
        adaptive_prior.TIGHTEST,
        adaptive_prior.P_ZERO,
        adaptive_prior.NEGLIGIBLE,
        options.level,
        options.nats,
        adaptive_prior.GRID,
    )


def _may_be_best(
    device: Device, screened: Foreign, top: int | None, min_mean: float, p_dependent: float | None
) -> Foreign:
    """The indices of those pairs of a block that may be among the best."""
    xp = device.xp
    p_independent, mean = screened
    mask = mean >= min_mean  # not true of NaN
    if p_dependent is not None:
        mask &= 1.0 - p_independent >= p_dependent
    numbers = xp.flatnonzero(mask)
    if top is not None and numbers.size > top:
        values = mean[numbers]
        threshold = xp.partition(values, numbers.size - top)[numbers.size - top]
        numbers = numbers[values >= threshold]
    return numbers.astype(np.int64)


def _joined(parts: list[BestPairs], top: int | None) -> BestPairs:
    """The pairs of all parts, largest mean first; pairs with equal means are in the order of their columns."""
    one, other = np.concatenate([part.one for part in parts]), np.concatenate([part.other for part in parts])
    figures = {name: np.concatenate([part.figures[name] for part in parts]) for name in parts[0].figures}
    order = np.lexsort([other, one, -figures["mi"]])[:top]
    odds = sum((part.odds for part in parts), CommonOdds())
    return BestPairs(one[order], other[order], {name: values[order] for name, values in figures.items()}, odds)
