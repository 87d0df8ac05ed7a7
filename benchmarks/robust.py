"""What `rank(robust_factor=2)` costs beside a plain ranking: the shipped example, and tables of several shapes.

CPU time of one thread; the two take turns, and the best of several counts.

    python benchmarks/robust.py                  as in docs/performance.md
    python benchmarks/robust.py --repeats 2      a quick look
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import credimi
from credimi.core.tables import Tables
from credimi.inference.belief import Belief
from credimi.inference.bounds.information_bounds import robust
from credimi.inference.tables.many_tables import summarize

if TYPE_CHECKING:
    from collections.abc import Callable

EXAMPLE = Path(__file__).parents[1] / "examples" / "clinic.csv"
SHAPES = ((2, 2), (2, 4), (4, 10), (10, 10))
BOTH_AND_NEITHER = "both; 25 rows lack both"


def turns(repeats: int, *works: Callable[[], object]) -> list[float]:
    """The least CPU time of each."""
    best = [float("inf")] * len(works)
    for work in works:
        work()  # compiles, or loads
    for _ in range(repeats):
        for index, work in enumerate(works):
            start = time.process_time()
            work()
            best[index] = min(best[index], time.process_time() - start)
    return best


def tables(r: int, s: int, sides: str, count: int) -> Tables:
    """Tables of 2,000 rows, a fifth of them incomplete, that tell from nothing to much."""
    generator, blocks = np.random.default_rng(0), []
    for number in range(count):
        probabilities = generator.dirichlet(np.full(r * s, 5.0)).reshape(r, s)
        independent = np.outer(probabilities.sum(axis=1), probabilities.sum(axis=0))
        probabilities = independent + number / count * (probabilities - independent)
        block = np.zeros((r + 1, s + 1))
        block[:r, :s] = generator.multinomial(1600, probabilities.ravel()).reshape(r, s)
        if sides != "target":
            block[:r, s] = generator.multinomial(400 if sides == "feature" else 200, probabilities.sum(axis=1))
        if sides != "feature":
            block[r, :s] = generator.multinomial(400 if sides == "target" else 200, probabilities.sum(axis=0))
        if sides == BOTH_AND_NEITHER:
            block[r, s] = 25  # as many as if one is missing independently of the other
        blocks.append(block)
    return Tables.of(blocks)


def main() -> None:
    """Print one line for the example, and one for each kind of table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=7, help="(default: %(default)s)")
    parser.add_argument("--tables", type=int, default=20, help="of each kind (default: %(default)s)")
    arguments = parser.parse_args()
    repeats = arguments.repeats
    print("| example | plain, ms | robust, ms | times |\n|---|---:|---:|---:|")
    counts = credimi.count(EXAMPLE, "diabetes")
    for name, data in (("the file", EXAMPLE), ("its counts", counts)):
        target = None if data is counts else "diabetes"
        plain_seconds, robust_seconds = turns(
            repeats,
            lambda data=data, target=target: credimi.rank(data, target, threads=1),
            lambda data=data, target=target: credimi.rank(data, target, threads=1, robust_factor=2),
        )
        ratio = robust_seconds / plain_seconds
        print(f"| {name} | {1e3 * plain_seconds:.0f} | {1e3 * robust_seconds:.0f} | {ratio:.1f} |", flush=True)
    print("\n| table | missing | ms a table |\n|---|---|---:|")
    options = Belief(threads=1)
    for r, s in SHAPES:
        for sides in ("feature", "target", "both", BOTH_AND_NEITHER):
            blocks = tables(r, s, sides, arguments.tables)
            known = summarize(blocks, options)
            ends = known.low, known.high
            (robust_seconds,) = turns(
                min(repeats, 3), lambda b=blocks, p=known.p_above, e=ends: robust(b, p, e, 2.0, options)
            )
            print(f"| {r} x {s} | {sides} | {1e3 * robust_seconds / blocks.rows.size:.1f} |", flush=True)


if __name__ == "__main__":
    main()
