"""`select(rule="distinct")`: tall tables in units of one `rank`, wide ones step by step; CPU time of one thread.

tall: so many rows of uint8 codes of ten values in 100 columns, of which 60 tell something; 10 steps. The ratio to
`rank` of the same table, in the same process, best of a few runs.

wide: 800 rows of 100,000 columns of two values, of which 200 tell something; 50 steps. The time of the whole call, that
of the search without reading, and the largest memory of the process.

noise: 200 columns of 2 to 20 values that tell nothing, of a target with even classes, or one of 1 %. The search without
reading.

    python benchmarks/sets.py                                         as docs/performance.md has it
    python benchmarks/sets.py --rows 20000 --columns 2000 --repeats 1  a quick look
"""

from __future__ import annotations

import argparse
import resource
import time
from typing import TYPE_CHECKING

import numpy as np

import credimi
from credimi.counts.local_counter import LocalCounter
from credimi.counts.reading import Reading
from credimi.counts.request import CountRequest
from credimi.inference.belief import Belief
from credimi.questions.select.answer import Asked, selected
from credimi.sources.codes import encoded_table

if TYPE_CHECKING:
    from collections.abc import Callable


def made(shape: tuple[int, int], values: int, telling: int, chance: float) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Codes of a table, of which the first columns repeat the target in some rows; and the target."""
    generator = np.random.default_rng(0)
    target = generator.integers(0, 2, shape[0])
    table = generator.integers(0, values, shape, dtype=np.uint8).T.copy()
    for column in range(min(telling, shape[1])):
        table[column] = np.where(generator.random(shape[0]) < chance + 0.1 * generator.random(), target, table[column])
    return {f"x{number}": column for number, column in enumerate(table)}, np.array(["no", "yes"])[target]


def cpu(call: Callable[[], object], repeats: int = 1) -> float:
    """The least CPU time of some calls, in seconds: other work on the machine does not count."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return min(times)


def tall(rows: int, repeats: int) -> None:
    """Print the ratio to one ranking."""
    table, target = made((rows, 100), 10, 60, 0.1)
    steps = len(credimi.select(table, target, max_features=10, threads=1).features)  # compiles, too
    one = cpu(lambda: credimi.rank(table, target, threads=1), repeats)
    all_steps = cpu(lambda: credimi.select(table, target, max_features=10, threads=1), repeats)
    print(f"| {rows:,} x 100, ten values, {steps} steps | {one:.2f} | {all_steps:.2f} | {all_steps / one:.1f} |")


def wide(columns: int) -> None:
    """Print the time of 50 steps."""
    table, target = made((800, columns), 2, 200, 0.2)
    few = {name: table[name] for name in list(table)[:2_000]}
    credimi.select(few, target, max_features=2, threads=1)  # compiles
    start = time.process_time()
    coded = encoded_table(table, CountRequest.of(target, Reading(threads=1))).codes(threads=1)
    reading = time.process_time() - start
    start = time.process_time()
    chosen = selected(LocalCounter(coded, 1), Asked(max_features=50), Belief(threads=1))
    search = time.process_time() - start
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"| 800 x {columns:,}, two values | {len(chosen.features)} | {reading:.1f} | {search:.1f} | {memory:,.0f} |")


def noise(rows: int, missing: float, repeats: int) -> None:
    """Print the times with even classes, and with a rare one."""
    generator = np.random.default_rng(0)
    table = {}
    for number in range(200):
        values = generator.integers(0, generator.integers(2, 21), rows)
        table[f"x{number}"] = np.where(generator.random(rows) < missing, "", values.astype(str))
    times = []
    for share in (0.5, 0.01):
        target = np.where(generator.random(rows) < share, "yes", "no")
        coded = encoded_table(table, CountRequest.of(target, Reading(threads=1))).codes(threads=1)
        selected(LocalCounter(coded, 1), Asked(), Belief(threads=1))  # compiles
        times.append(cpu(lambda coded=coded: selected(LocalCounter(coded, 1), Asked(), Belief(threads=1)), repeats))
    print(f"| {rows:,} x 200, {missing:.0%} missing | {times[0]:.2f} | {times[1]:.2f} | {times[1] / times[0]:.1f} |")


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000, help="of the tall table (default: %(default)s)")
    parser.add_argument("--columns", type=int, default=100_000, help="of the wide table (default: %(default)s)")
    parser.add_argument("--noise", type=int, default=5_000, help="rows of noise (default: %(default)s)")
    parser.add_argument("--repeats", type=int, default=5, help="the shortest counts (default: %(default)s)")
    options = parser.parse_args()
    print("| table | rank, s | select, s | ratio |\n|---|---:|---:|---:|")
    tall(options.rows, options.repeats)
    print("\n| table | steps | reading, s | search, s | memory, MB |\n|---|---:|---:|---:|---:|")
    wide(options.columns)
    print("\n| noise | even classes, s | a class of 1 %, s | ratio |\n|---|---:|---:|---:|")
    for missing in (0.0, 0.2, 0.6):
        noise(options.noise, missing, options.repeats)


if __name__ == "__main__":
    main()
