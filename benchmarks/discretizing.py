"""Speed of `EntropyDiscretizer`, beside sorting the same columns and what people call today.

One run, one machine: read the ratios. Data: 1,000,000 rows x 10 columns of doubles, all values different. "Noise"
tells nothing of the classes; in "informative" columns the classes are shifted, from hardly to far apart. numpy sorts
the values alone: no classes go with them, nothing is cut. KBinsDiscretizer takes quantiles and sees no classes.

    python benchmarks/discretizing.py                        as in docs/performance.md
    python benchmarks/discretizing.py --rows 100000          a quick look
"""

from __future__ import annotations

import argparse

import numpy as np
from timing import best_of

from credimi import EntropyDiscretizer
from credimi.columns.numbers.discretize import mdl_cuts


def check(fitted: EntropyDiscretizer, column: np.ndarray, classes: np.ndarray) -> None:
    """The cuts of one column, by numpy from its distinct values."""
    values, at = np.unique(column, return_inverse=True)
    counts = np.zeros((values.size, classes.max() + 1))
    counts[at, classes] = 1.0
    assert np.array_equal(fitted.cut_points_[-1], mdl_cuts(values, counts, min_samples=fitted.min_samples))


def main() -> None:
    """Print one line for each kind of columns and number of classes."""
    from sklearn.preprocessing import KBinsDiscretizer  # noqa: PLC0415  (a second to import)

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000, help="(default: %(default)s)")
    parser.add_argument("--columns", type=int, default=10, help="(default: %(default)s)")
    parser.add_argument("--repeats", type=int, default=3, help="(default: %(default)s)")
    options = parser.parse_args()
    generator = np.random.default_rng(0)
    noise = np.asfortranarray(generator.normal(size=(options.rows, options.columns)))
    quantiles = KBinsDiscretizer(encode="ordinal", subsample=None, quantile_method="averaged_inverted_cdf")
    print(
        "| columns | classes | cuts | numpy sort, s | fit, one thread, s | times sorting | two threads, s |"
        " times sorting | transform, two threads, s | KBinsDiscretizer.fit, s |"
    )
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
    for number in (2, 10):
        classes = generator.integers(0, number, options.rows)
        shifted = np.asfortranarray(noise + classes[:, np.newaxis] * np.linspace(0.05, 1.5, options.columns))
        for kind, columns in (("noise", noise), ("informative", shifted)):
            one, two = (EntropyDiscretizer(n_jobs=threads).fit(columns, classes) for threads in (1, 2))
            check(one, columns[:, -1], classes)
            sorting = best_of(options.repeats, lambda: [np.sort(column) for column in columns.T])  # noqa: B023
            alone = best_of(options.repeats, lambda: one.fit(columns, classes))  # noqa: B023
            together = best_of(options.repeats, lambda: two.fit(columns, classes))  # noqa: B023
            transform = best_of(options.repeats, lambda: two.transform(columns))  # noqa: B023
            peer = best_of(1, lambda: quantiles.fit(columns))  # noqa: B023
            print(
                f"| {kind} | {number} | {one.n_bins_.sum() - options.columns} | {sorting:.2f} | {alone:.2f} |"
                f" {alone / sorting:.2f} | {together:.2f} | {together / sorting:.2f} | {transform:.2f} | {peer:.2f} |"
            )


if __name__ == "__main__":
    main()
