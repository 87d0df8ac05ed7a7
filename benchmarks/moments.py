"""Speed of the batched posterior moments, beside what people call today.

One run, one machine: the figures are ratios worth reading; absolute times depend on the machine. Peers get one table
a call, as their interfaces demand, on a sample of the tables.

    python benchmarks/moments.py                   100,000 tables a line, as in docs/performance.md
    python benchmarks/moments.py --tables 1000     a quick look
"""

from __future__ import annotations

import argparse
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
from timing import best_of

from credimi.core.tables import Tables
from credimi.inference.belief import Belief
from credimi.inference.evidence.adaptive_prior import components
from credimi.inference.moments.moments import moments
from credimi.inference.tables.many_tables import summarize

if TYPE_CHECKING:
    from collections.abc import Callable


def tables(
    count: int, rows: int, columns: int, missing: str, generator: np.random.Generator, *, independent: bool = False
) -> Tables:
    """Random tables of 1,000 rows; 10 % of them lose the feature, 10 % the target, as `missing` says."""
    probabilities = generator.dirichlet(np.full(rows * columns, 2.0), count)
    if independent:
        cells = probabilities.reshape(count, rows, columns)
        probabilities = (cells.sum(axis=2, keepdims=True) * cells.sum(axis=1, keepdims=True)).reshape(count, -1)
    complete = generator.multinomial(1000, probabilities).reshape(count, rows, columns)
    blocks = np.zeros((count, rows + 1, columns + 1))
    no_feature = generator.binomial(complete, 0.1) if missing != "complete" else np.zeros_like(complete)
    no_target = generator.binomial(complete - no_feature, 0.1) if missing == "both" else np.zeros_like(complete)
    blocks[:, :rows, :columns] = complete - no_feature - no_target
    blocks[:, :rows, columns] = no_feature.sum(axis=2)
    blocks[:, rows, :columns] = no_target.sum(axis=1)
    return Tables(blocks.ravel(), np.full(count, rows), np.full(count, columns))


def main() -> None:
    """Print one line a shape, pattern and approximation."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=100_000, help="(default: %(default)s)")
    parser.add_argument("--repeats", type=int, default=5, help="(default: %(default)s)")
    options = parser.parse_args()
    generator = np.random.default_rng(0)
    print("| table | missing | moments | one thread, ns a table | two threads, times faster |\n|---|---|---|---:|---:|")
    for rows, columns in ((2, 4), (10, 10)):
        for missing in ("complete", "feature", "both"):
            blocks = tables(options.tables, rows, columns, missing, generator)
            for matched in (False, True):
                moments(blocks, 0.5, matched=matched, threads=1)  # compiles
                one = best_of(options.repeats, lambda: moments(blocks, 0.5, matched=matched, threads=1))  # noqa: B023
                two = best_of(options.repeats, lambda: moments(blocks, 0.5, matched=matched, threads=2))  # noqa: B023
                name = "matched" if matched else "leading"
                print(
                    f"| {rows} x {columns} | {missing} | {name} | {one / options.tables * 1e9:,.0f} | {one / two:.2f} |"
                )
    adaptive_lines(max(1, options.tables // 10), options.repeats, generator)
    print("\n| peer, one table a call | 2 x 4, us | 10 x 10, us |\n|---|---:|---:|")
    for name, call in peers().items():
        times = []
        for rows, columns in ((2, 4), (10, 10)):
            sample = tables(200, rows, columns, "complete", generator).flat.reshape(200, rows + 1, columns + 1)
            counts = [block[:rows, :columns] for block in sample]
            call(counts[0])
            times.append(best_of(3, lambda: [call(each) for each in counts]) / len(counts) * 1e6)  # noqa: B023
        print(f"| {name} | {times[0]:,.0f} | {times[1]:,.0f} |")


def adaptive_lines(count: int, repeats: int, generator: np.random.Generator) -> None:
    """Print what the adaptive prior costs beside the matched moments of one fixed prior, on one thread."""
    print("\n| table | missing | truth | components, us | times matched | with intervals, us |")
    print("|---|---|---|---:|---:|---:|")
    wanted = Belief(threads=1)
    for rows, columns in ((2, 4), (10, 10)):
        for missing, independent in product(("complete", "feature", "both"), (False, True)):
            blocks = tables(count, rows, columns, missing, generator, independent=independent)
            summarize(blocks, wanted)  # compiles
            one = best_of(repeats, lambda: moments(blocks, 0.5, threads=1))  # noqa: B023
            mixed = best_of(repeats, lambda: components(blocks, threads=1))  # noqa: B023
            whole = best_of(repeats, lambda: summarize(blocks, wanted))  # noqa: B023
            truth, micro = "independent" if independent else "dependent", 1e6 / count
            print(
                f"| {rows} x {columns} | {missing} | {truth} | {mixed * micro:.1f} | {mixed / one:.1f} "
                f"| {whole * micro:.1f} |"
            )


def peers() -> dict[str, Callable[[np.ndarray], object]]:
    """What one calls today on a contingency table."""
    from scipy.stats import chi2_contingency  # noqa: PLC0415  (over a second to import, and only here)
    from sklearn.metrics import mutual_info_score  # noqa: PLC0415

    return {
        "scipy.stats.chi2_contingency": lambda counts: chi2_contingency(counts + 1e-9),
        "sklearn.metrics.mutual_info_score": lambda counts: mutual_info_score(None, None, contingency=counts),
    }


if __name__ == "__main__":
    main()
