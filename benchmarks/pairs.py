"""All pairs of columns: counts, posteriors and forests, beside what others do for less.

One run, one machine. Wall times depend on who else uses the machine; CPU time on one thread hardly does. Peers give a
point for each pair, of complete data: a product of one-hot matrices in numpy counts all pairs, and
`sklearn.metrics.mutual_info_score` takes two columns a call (a sample of the pairs, scaled up).

    python benchmarks/pairs.py                   1,000 columns, 100,000 rows, as in docs/performance.md
    python benchmarks/pairs.py --columns 60 --rows 2000 --nodes 100              a quick look
"""

from __future__ import annotations

import argparse
import resource
import time
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from credimi.counts.rows.pair_tables import PairCounter
from credimi.inference.belief import Belief
from credimi.inference.tables.pair_figures import figures_of
from credimi.questions.pairs.forest import edge_probabilities

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Bytes = NDArray[np.uint8]


def columns_of(values: int, columns: int, rows: int, missing: float, generator: np.random.Generator) -> list[Bytes]:
    """Columns of which every fifth has a tenth of its values from one of twenty sources, so that some pairs depend."""
    sources = generator.integers(0, values, (20, rows), dtype=np.uint8)
    codes = []
    for number in range(columns):
        column_codes = generator.integers(0, values, rows, dtype=np.uint8)
        if number % 5 == 0:
            column_codes = np.where(generator.random(rows) < 0.1, sources[number // 5 % 20], column_codes)
        codes.append(
            np.where(generator.random(rows) < missing, np.uint8(values), column_codes) if missing else column_codes
        )
    return codes


def timed(call: Callable[[], object]) -> tuple[float, float]:
    """Wall and CPU time of one run."""
    wall, cpu = time.perf_counter(), time.process_time()
    call()
    return time.perf_counter() - wall, time.process_time() - cpu


def one_hot(codes: list[Bytes], values: int) -> object:
    """The counts of all pairs by products of one-hot matrices, in single precision, 10,000 rows at a time."""
    sets, total = [(column, value) for column in codes for value in range(values)], np.float32(0.0)
    for start in range(0, codes[0].size, 10_000):
        hot = np.stack([column[start : start + 10_000] == value for column, value in sets]).astype(np.float32)
        total = total + hot @ hot.T
    return total


def count_all(codes: list[Bytes], values: int, threads: int) -> None:
    """The tables of all pairs, block after block."""
    counter = PairCounter(codes, [values] * len(codes), threads=threads)
    for block in counter.blocks():
        counter.tables(*block)


def judge_all(codes: list[Bytes], values: int, threads: int) -> None:
    """The same, with posteriors, intervals and P(independent)."""
    counter, options = PairCounter(codes, [values] * len(codes), threads=threads), Belief(threads=threads)
    for block in counter.blocks():
        figures_of(counter.tables(*block), options)


def lines(options: argparse.Namespace, generator: np.random.Generator) -> None:
    """Print one line for each kind of columns."""
    print("| values | missing | what | wall, s, two threads | CPU, s, one thread | times slower than counts |")
    print("|---:|---:|---|---:|---:|---:|")
    for values, missing in ((2, 0.0), (2, 0.1), (10, 0.0)):
        codes = columns_of(values, options.columns, options.rows, missing, generator)
        few = [column[:500] for column in codes[:5]]
        judge_all(few, values, 1)  # compiles
        work: dict[str, Callable[[int], object]] = {
            "counts": lambda threads: count_all(codes, values, threads),  # noqa: B023
            "counts and posteriors": lambda threads: judge_all(codes, values, threads),  # noqa: B023
        }
        base = None
        for name, call in work.items():
            wall = timed(lambda: call(2))[0]  # noqa: B023
            cpu = timed(lambda: call(1))[1]  # noqa: B023
            base = base or cpu
            print(f"| {values} | {missing:.0%} | {name} | {wall:.2f} | {cpu:.2f} | {cpu / base:.1f} |", flush=True)
        if missing:
            continue
        part = codes if values == 2 else [column[: options.rows // 20] for column in codes]  # the whole takes minutes
        scale = options.rows / part[0].size
        wall, cpu = (scale * each for each in timed(lambda: one_hot(part, values)))  # noqa: B023
        print(f"| {values} | 0% | numpy, one-hot product | {wall:.2f} | {cpu:.2f} (all threads) | {cpu / base:.1f} |")
        peer_line(codes, values, base)


def peer_line(codes: list[Bytes], values: int, base: float) -> None:
    """Print the time of scikit-learn, from a sample of the pairs."""
    try:
        from sklearn.metrics import mutual_info_score  # noqa: PLC0415
    except ImportError:
        return
    pairs = [(a, b) for a in range(len(codes)) for b in range(a + 1, len(codes))]
    some = list(islice(pairs, 0, None, max(len(pairs) // 20, 1)))
    _, cpu = timed(lambda: [mutual_info_score(codes[a], codes[b]) for a, b in some])
    cpu *= len(pairs) / len(some)
    print(f"| {values} | 0% | scikit-learn, points | - | {cpu:,.0f} | {cpu / base:,.0f} |", flush=True)


def main() -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--columns", type=int, default=1_000, help="(default: %(default)s)")
    parser.add_argument("--rows", type=int, default=100_000, help="(default: %(default)s)")
    parser.add_argument(
        "--nodes", type=int, nargs="+", default=[1_000, 3_000], help="of forests (default: %(default)s)"
    )
    options = parser.parse_args()
    generator = np.random.default_rng(0)
    lines(options, generator)
    print(
        "\n| forest of columns | wall, s, two threads | CPU, s, two threads | expected edges |\n|---:|---:|---:|---:|"
    )
    for nodes in options.nodes:
        upper = np.triu(generator.normal(-4.0, 3.0, (nodes, nodes)), 1)
        weights, edges = upper + upper.T, np.zeros(1)
        edge_probabilities(weights[:50, :50], threads=2)
        edge_probabilities(weights[:250, :250], threads=2)  # compiles

        def forest() -> None:
            edges[0] = edge_probabilities(weights, threads=2).sum() / 2  # noqa: B023

        wall, cpu = timed(forest)
        print(f"| {nodes:,} | {wall:.1f} | {cpu:.1f} | {edges[0]:,.1f} |", flush=True)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"\npeak memory of the whole run: {peak:,.0f} MB")


if __name__ == "__main__":
    main()
