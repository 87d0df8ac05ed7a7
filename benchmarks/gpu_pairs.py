"""All pairs of columns on a GPU: counts, and posteriors with P(independent), mean and interval of every pair.

Columns are like genotypes: three values, neighbours in tens depend on each other. "peak" is what a plain product of two
8-bit matrices of the size of all one-hot rows reaches on this device; the operations of the counts are those that are
needed, each pair once. The CPU engine does fewer columns, and its time is multiplied by the number of pairs.

    python benchmarks/gpu_pairs.py                                            as docs/performance.md wants it
    python benchmarks/gpu_pairs.py --columns 1000 --wide 2000 --repeats 1     a quick look
    python benchmarks/gpu_pairs.py --stand-in --columns 20 --rows 500 --wide 30 --wide-rows 100 --cpu-columns 10
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from timing import best_of

from credimi.counts.rows.pair_tables import PairCounter
from credimi.inference.belief import Belief
from credimi.inference.tables.pair_figures import figures_of
from credimi.questions.pairs.gpu.pair_products import PairProducts
from credimi.questions.pairs.gpu.pairs_on_device import all_pairs, best_pairs, find_gpu

if TYPE_CHECKING:
    from collections.abc import Callable

    from credimi.questions.pairs.gpu.layout import Device

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests"))
from numpy_device import NumpyDevice

VALUES = 3
TEN = 10
FOUR = ("p_independent", "mi", "low", "high")
OPTIONS = Belief()


def make(device: Device, columns: int, rows: int, missing: float) -> np.ndarray:
    """Codes, (columns, rows); seeded, so that a device always has the same."""
    xp = device.xp
    generator = xp.random.default_rng(1)
    codes = np.empty((columns, rows), dtype=np.uint8)
    for start in range(0, columns, TEN):
        rare = generator.random((TEN, 1)) * 0.4 + 0.1
        at = generator.random((TEN, rows), dtype=np.float32)
        block = (at > (1.0 - rare) ** 2).astype(np.uint8) + (at > 1.0 - rare**2).astype(np.uint8)
        for column in range(1, TEN):
            block[column] = xp.where(generator.random(rows, dtype=np.float32) < 0.3, block[column - 1], block[column])
        block[generator.random((TEN, rows), dtype=np.float32) < missing] = VALUES
        codes[start : start + TEN] = device.to_host(block)[: columns - start]
    return codes


def timed(device: Device, repeats: int, call: Callable[[], object]) -> float:
    """Best of some runs, in seconds, each until the device has finished; what is compiled is compiled before."""

    def whole() -> None:
        call()
        device.finish()

    whole()
    return best_of(repeats, whole, seconds=0.0)


def peak(device: Device, products: PairProducts, repeats: int) -> float:
    """Operations a second of a plain product of all one-hot rows with themselves, as large a part as fits."""
    hot_rows = np.full(len(products.codes), VALUES - 1, dtype=np.int32)
    codes = device.upload(products.codes, products.width)
    hot = device.one_hot(codes, slice(0, products.width), hot_rows)
    product = device.xp.zeros((hot.shape[0], hot.shape[0]), dtype=np.int32)
    seconds = timed(device, repeats, lambda: device.multiply(hot, hot, product))
    return 2.0 * hot.shape[0] ** 2 * hot.shape[1] / seconds


class Lines:
    """Prints a line a measurement."""

    def __init__(self) -> None:
        print("| columns | rows | missing | what | seconds | million pairs a second | of the peak |")
        print("|---:|---:|---:|---|---:|---:|---:|")

    def add(self, products: PairProducts, missing: float, what: str, seconds: float, part: float | None = None) -> None:
        """One line."""
        share = "" if part is None else f"{part:.0%}"
        size = f"| {len(products.codes):,} | {products.rows:,} | {missing:.0%} |"
        print(f"{size} {what} | {seconds:.3f} | {len(products) / seconds / 1e6:,.1f} | {share} |", flush=True)


def measure(device: Device, lines: Lines, options: argparse.Namespace, missing: float, best: float | None) -> float:
    """Counts and figures of all pairs; returns the peak."""
    codes = make(device, options.columns, options.rows, missing)
    values = [VALUES] * options.columns
    sent = timed(device, options.repeats, lambda: PairProducts(list(codes), values, device))
    products = PairProducts(list(codes), values, device)
    best = peak(device, products, options.repeats) if best is None else best
    seconds = timed(device, options.repeats, lambda: list(products.map(lambda _block: None)))
    cells = (VALUES - (missing == 0.0)) ** 2
    operations = 2.0 * len(products) * cells * options.rows
    lines.add(products, missing, "codes to the device", sent)
    lines.add(products, missing, "counts of all pairs", seconds, operations / seconds / best)
    for names, what in ((FOUR, "counts, P(independent), mean and interval"), (None, "all figures of `credimi.pairs`")):
        keywords = {} if names is None else {"names": names}
        seconds = timed(device, options.repeats, lambda keywords=keywords: all_pairs(products, OPTIONS, **keywords))
        lines.add(products, missing, what, seconds)
    seconds = timed(device, options.repeats, lambda: best_pairs(products, OPTIONS, top=1_000))
    lines.add(products, missing, "the 1,000 best", seconds)
    return best


def measure_wide(device: Device, lines: Lines, options: argparse.Namespace) -> None:
    """The best of very many pairs."""
    codes = make(device, options.wide, options.wide_rows, 0.0)
    device.release()  # what was before is not counted
    products = PairProducts(list(codes), [VALUES] * options.wide, device)
    seconds = timed(device, options.repeats, lambda: best_pairs(products, OPTIONS, top=1_000))
    lines.add(products, 0.0, f"the 1,000 best, in {device.used_bytes() / 2**30:.1f} GiB of the device", seconds)


def measure_cpu(device: Device, lines: Lines, options: argparse.Namespace, missing: float) -> None:
    """The CPU engine on fewer columns, its time multiplied."""
    codes = make(device, options.cpu_columns, options.rows, missing)
    values = [VALUES] * options.cpu_columns

    def count(judge: Callable[..., object]) -> None:
        counter = PairCounter(list(codes), values)
        for first, after in counter.blocks():
            judge(counter.tables(first, after), OPTIONS)

    pairs = options.columns * (options.columns - 1) / (options.cpu_columns * (options.cpu_columns - 1))
    whole = PairProducts(list(codes), values, NumpyDevice())
    for judge, what in ((lambda *_: None, "counts"), (figures_of, "all figures")):
        seconds = timed(device, options.repeats, lambda judge=judge: count(judge))
        lines.add(whole, missing, f"CPU engine: {what}; times {pairs:,.0f}: {seconds * pairs:,.0f} s", seconds)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--columns", type=int, default=10_000)
    parser.add_argument("--rows", type=int, default=262_144)
    parser.add_argument("--wide", type=int, default=50_000, help="columns of which only the best pairs come back")
    parser.add_argument("--wide-rows", type=int, default=10_000)
    parser.add_argument("--cpu-columns", type=int, default=1_000)
    parser.add_argument("--repeats", type=int, default=3, help="the shortest counts")
    parser.add_argument("--only-wide", action="store_true", help="leave out all but the best of very many pairs")
    parser.add_argument("--stand-in", action="store_true", help="numpy in place of a GPU: slow, for tests")
    options = parser.parse_args()
    device = NumpyDevice() if options.stand_in else find_gpu()
    lines = Lines()
    if options.only_wide:
        measure_wide(device, lines, options)
        return
    best = measure(device, lines, options, 0.0, None)
    measure(device, lines, options, 0.1, best)
    measure_wide(device, lines, options)
    for missing in (0.0, 0.1):
        measure_cpu(device, lines, options, missing)
    print(f"\n{device.name}; a plain product of 8-bit integers: {best / 1e12:,.3g} 10^12 operations a second")


if __name__ == "__main__":
    main()
