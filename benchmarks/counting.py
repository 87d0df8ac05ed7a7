"""Speed of counting coded columns, with the paper's moments, beside reading them and what people call today.

One run, one machine: read the ratios. Data: 1,000,000 rows x 100 features of bytes, 10 % of them missing (none for
scikit-learn, which refuses holes); the target is complete. Peers that are slow get fewer features, and their time is
given a cell.

    python benchmarks/counting.py                        as in docs/performance.md
    python benchmarks/counting.py --features 20          a quick look
"""

from __future__ import annotations

import argparse

import numpy as np
from timing import best_of

from credimi.core.tables import Tables
from credimi.core.threads import share
from credimi.counts.tabulate import count_codes
from credimi.inference.moments.moments import moments

SHAPES = ((2, 2), (2, 4), (2, 10), (5, 10), (10, 10), (10, 32), (2, 100))


def answer(
    target: np.ndarray, columns: list[np.ndarray], rows: int, values: int, threads: int
) -> tuple[np.ndarray, np.ndarray]:
    """Counts of all columns, and the leading mean and variance of their mutual information."""
    counts = count_codes(target, rows, columns, [values] * len(columns), threads=threads)
    flat = np.zeros((len(columns), rows + 1, values + 1))
    flat[:, :rows] = [block for (block,) in counts]
    size = np.full(len(columns), rows), np.full(len(columns), values)
    result = moments(Tables(flat.ravel(), *size), 0.5, matched=False, threads=threads)
    return flat, result.mean


def bincount(target: np.ndarray, columns: list[np.ndarray], rows: int, values: int) -> list[np.ndarray]:
    """The same counts by numpy, about as fast as it can be asked."""
    base = target.astype(np.int64) * 256
    return [np.bincount(base + column, minlength=rows * 256).reshape(rows, 256)[:, :values] for column in columns]


def main() -> None:
    """Print one line a shape."""
    from sklearn.feature_selection import mutual_info_classif  # noqa: PLC0415  (a second to import)

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000, help="(default: %(default)s)")
    parser.add_argument("--features", type=int, default=100, help="(default: %(default)s)")
    parser.add_argument("--repeats", type=int, default=5, help="(default: %(default)s)")
    options = parser.parse_args()
    generator = np.random.default_rng(0)
    sample = list(generator.integers(0, 4, (options.features, options.rows // 8), dtype=np.uint64))
    alone, together = (best_of(options.repeats, lambda: share(np.max, sample, threads)) for threads in (1, 2))  # noqa: B023
    print(f"reading {options.features} columns on one thread {alone * 1e3:.1f} ms, on two {together * 1e3:.1f} ms\n")
    print("ns a cell; count + leading moments\n")
    print(
        "| classes x values | reading | one thread | times reading | two threads, times faster | numpy bincount |"
        " times slower | scikit-learn | times slower |"
    )
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|")
    for rows, values in SHAPES:
        full = generator.integers(0, values, (options.features, options.rows), dtype=np.uint8)
        holes = np.where(generator.random(full.shape, dtype=np.float32) < 0.1, np.uint8(255), full)
        target = generator.integers(0, rows, options.rows, dtype=np.uint8)
        columns = list(holes)
        flat, _ = answer(target, columns, rows, values, 1)
        few = max(1, options.features // 20)
        for counted, expected in zip(flat, bincount(target, columns[:few], rows, values), strict=False):
            assert np.array_equal(counted[:rows, :values], expected)
        cells = options.rows * options.features
        words = holes.view(np.uint64) if options.rows % 8 == 0 else holes
        reading = best_of(options.repeats, words.max) / cells
        one = best_of(options.repeats, lambda: answer(target, columns, rows, values, 1)) / cells  # noqa: B023
        two = best_of(options.repeats, lambda: answer(target, columns, rows, values, 2)) / cells  # noqa: B023
        numpy = best_of(2, lambda: bincount(target, columns[:few], rows, values)) / options.rows / few  # noqa: B023
        one_column = full[:1].T.copy()
        sklearn = best_of(1, lambda: mutual_info_classif(one_column, target, discrete_features=True)) / options.rows  # noqa: B023
        nano = 1e9
        print(
            f"| {rows} x {values} | {reading * nano:.3f} | {one * nano:.3f} | {one / reading:.2f} | {one / two:.2f} |"
            f" {numpy * nano:.2f} | {numpy / one:.0f} | {sklearn * nano:.0f} | {sklearn / one:,.0f} |"
        )


if __name__ == "__main__":
    main()
