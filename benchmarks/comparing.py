"""What `compare` and `rank_by` cost a column: two samples, and the groups of one, of columns with four values.

Half of the columns tell something about the target, and the others nothing; a tenth of the cells are missing. CPU time
of all threads, the best of several; a busy machine changes it little.

    python benchmarks/comparing.py                  as in docs/performance.md
    python benchmarks/comparing.py --columns 50     a quick look
"""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

import credimi

if TYPE_CHECKING:
    from collections.abc import Callable

GROUPS = 3


def table(rows: int, columns: int, seed: int) -> pa.Table:
    """Columns of four values, a target of two classes, and a column of groups."""
    generator = np.random.default_rng(seed)
    target = generator.integers(0, 2, rows)
    arrays = {"target": pa.array(target), "group": pa.array(generator.integers(0, GROUPS, rows).astype(str))}
    for number in range(columns):
        follows = generator.random(rows) < (0.3 * generator.random() if number % 2 else 0.0)
        codes = np.where(follows, target, generator.integers(0, 4, rows))
        arrays[f"column {number}"] = pa.array(codes.astype(str), mask=generator.random(rows) < 0.1)
    return pa.table(arrays)


def seconds(repeats: int, call: Callable[[], object]) -> float:
    """Of the processor, the best of a few runs."""
    call()  # compiles, or loads
    times = []
    for _ in range(repeats):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return min(times)


def main() -> None:
    """Print one line for each call."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--columns", type=int, default=300, help="(default: %(default)s)")
    parser.add_argument("--rows", type=int, default=2_000, help="(default: %(default)s)")
    parser.add_argument("--repeats", type=int, default=3, help="(default: %(default)s)")
    options = parser.parse_args()
    samples = [table(options.rows, options.columns, seed) for seed in range(2)]
    counts = [credimi.count(each, "target", exclude=["group"]) for each in samples]
    rankings = [credimi.rank(each) for each in counts]
    works: tuple[tuple[str, int, Callable[[], object]], ...] = (
        ("compare, two counts", 1, lambda: credimi.compare(*counts)),
        ("compare, two rankings", 1, lambda: credimi.compare(*rankings)),
        (f"rank_by, {GROUPS} groups", GROUPS, lambda: credimi.rank_by(samples[0], "target", by="group")),
    )
    print("| what | columns | comparisons of a column | seconds | ms a column |\n|---|---:|---:|---:|---:|")
    for name, comparisons, work in works:
        spent = seconds(options.repeats, work)
        each = 1e3 * spent / options.columns
        print(f"| {name} | {options.columns} | {comparisons} | {spent:.3f} | {each:.2f} |", flush=True)


if __name__ == "__main__":
    main()
