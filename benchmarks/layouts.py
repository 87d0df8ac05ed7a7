"""Speed of `rank` in the layouts that people have, beside what reads, counts or sorts the same array.

Codes: 1,000,000 rows x 40 columns of four values, as bytes, as 64-bit integers, and as doubles of which 10 % are NaN;
row-major, as scikit-learn has arrays, column-major, and as a frame of pandas. Numbers: 200,000 x 40 doubles, all
different, which are cut (mdl). What is compared is run in turn, the best of each is taken: read the ratios.

    python benchmarks/layouts.py                        as in docs/performance.md; needs pandas and scikit-learn
    python benchmarks/layouts.py --processor            processor time, on a busy machine: of one thread alone
    python benchmarks/layouts.py --rows 100000          a quick look
"""

from __future__ import annotations

import argparse
import time
import warnings
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

import credimi

if TYPE_CHECKING:
    from collections.abc import Callable

COLUMNS = 40
THREADS: tuple[int, ...] = (1, 2)


clock = time.perf_counter  # or that of the processor


def race(repeats: int, calls: dict[str, Callable[[], object]]) -> dict[str, float]:
    """The shortest run of each, in seconds; in turn, so that all are disturbed alike."""
    best_times = dict.fromkeys(calls, np.inf)
    for _ in range(repeats):
        for name, call in calls.items():
            start = clock()
            call()
            best_times[name] = min(best_times[name], clock() - start)
    return best_times


def bincount(target: np.ndarray, array: np.ndarray) -> list[np.ndarray]:
    """The counts of each column by numpy."""
    base = target.astype(np.int64) * 256
    return [np.bincount(base + column, minlength=512) for column in array.T]


def codes(rows: int, repeats: int) -> None:
    """Arrays of codes."""
    import pandas as pd  # noqa: PLC0415
    from sklearn.feature_selection import mutual_info_classif  # noqa: PLC0415  (a second to import)

    generator = np.random.default_rng(0)
    target = generator.integers(0, 2, rows).astype(np.uint8)
    small = generator.integers(0, 4, (rows, COLUMNS), dtype=np.uint8)
    doubles = np.where(generator.random(small.shape) < 0.1, np.nan, small)
    print(
        "| array | threads | rank, s | beside | s | rank takes so many times as long |\n|---|---:|---:|---|---:|---:|"
    )

    def line(array: str, threads: int, our_seconds: float, peer: str, peer_seconds: float) -> None:
        ratio = our_seconds / peer_seconds
        print(f"| {array} | {threads} | {our_seconds:.4f} | {peer} | {peer_seconds:.4f} | {ratio:.3f} |", flush=True)

    start = clock()
    mutual_info_classif(small, target, discrete_features=True)
    classif = clock() - start
    columns = np.asfortranarray(small)
    for threads in THREADS:
        times = race(
            repeats,
            {
                "rank": lambda: credimi.rank(small, target, threads=threads),  # noqa: B023
                "the same, column-major": lambda: credimi.rank(columns, target, threads=threads),  # noqa: B023
                "numpy.bincount of each column": lambda: bincount(target, small),
                "CredibleSelector.fit": lambda: credimi.CredibleSelector(n_jobs=threads).fit(small, target),  # noqa: B023
            },
        )
        our_seconds = times.pop("rank")
        for peer, seconds in times.items():
            line("bytes, row-major", threads, our_seconds, peer, seconds)
        line("bytes, row-major", threads, our_seconds, "mutual_info_classif", classif)
    del columns
    for kind, array in (("64-bit integers", small.astype(np.int64)), ("doubles with NaN", doubles)):
        columns = np.asfortranarray(array)
        frame = pd.DataFrame(columns)
        for threads in THREADS:
            calls = {
                "row-major": lambda: credimi.rank(array, target, threads=threads),  # noqa: B023
                "column-major": lambda: credimi.rank(columns, target, threads=threads),  # noqa: B023
                "frame of pandas": lambda: credimi.rank(frame, target, threads=threads),  # noqa: B023
                "row-major, CredibleSelector.fit": lambda: credimi.CredibleSelector(n_jobs=threads).fit(array, target),  # noqa: B023
                "sum": array.sum,
            }
            times = race(repeats, calls)
            reading = times.pop("sum")
            for layout, seconds in times.items():
                line(f"{kind}, {layout}", threads, seconds, "its sum, one thread", reading)


def numbers(rows: int, repeats: int) -> None:
    """Arrays of numbers that are cut."""
    generator = np.random.default_rng(1)
    target = generator.integers(0, 2, rows).astype(np.uint8)
    array = generator.normal(size=(rows, COLUMNS)) + target[:, np.newaxis] * np.linspace(0.0, 0.5, COLUMNS)
    columns = np.asfortranarray(array)
    ways = {
        "rank, row-major": lambda threads: credimi.rank(array, target, threads=threads),
        "rank, column-major": lambda threads: credimi.rank(columns, target, threads=threads),
        "EntropyDiscretizer.fit": lambda threads: credimi.EntropyDiscretizer(n_jobs=threads).fit(columns, target),
    }
    calls: dict[str, Callable[[], object]] = {"numpy.sort": lambda: [np.sort(column) for column in columns.T]}
    calls |= {f"{name}, {threads}": partial(way, threads) for name, way in ways.items() for threads in THREADS}
    times = race(repeats, calls)
    sorting = times["numpy.sort"]
    print(f"\nnumpy.sort of the columns: {sorting:.3f} s\n")
    print("| what | one thread, s | times numpy.sort | two threads, s | times faster |\n|---|---:|---:|---:|---:|")
    for what in ways:
        one, two = times[f"{what}, 1"], times.get(f"{what}, 2", np.nan)
        print(f"| {what} | {one:.3f} | {one / sorting:.2f} | {two:.3f} | {one / two:.2f} |")


def main() -> None:
    """Print two tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000, help="of codes, five times those of numbers")
    parser.add_argument("--repeats", type=int, default=20, help="(default: %(default)s)")
    parser.add_argument("--processor", action="store_true", help="measure the processor's time, on one thread")
    options = parser.parse_args()
    if options.processor:
        global clock, THREADS
        clock, THREADS = time.process_time, (1,)
    warnings.simplefilter("ignore")  # no feature of noise is kept
    codes(options.rows, options.repeats)
    numbers(options.rows // 5, max(options.repeats // 3, 1))


if __name__ == "__main__":
    main()
