"""How far the approximations of the posterior of mutual information are from the truth.

For random tables over a grid of shapes, sizes, strengths of dependence and shares of missing values, the
approximation's cdf is compared with draws from the exact posterior: independent ones where one side is complete,
Gibbs draws where both miss. Printed: the Kolmogorov distance (median, 95th percentile; the draws alone account for
about 0.87/sqrt(draws)), and the share of exact posterior mass that the nominal 95 % interval holds (mean over the
tables).

    python studies/accuracy.py                 the table of docs/accuracy.md, about half an hour on two cores
    python studies/accuracy.py --repeats 3     the same grid, three tables a cell

Every table is generated from its own seed, so a longer run contains the shorter one.
"""

from __future__ import annotations

import argparse
import os
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import product

import numpy as np

import credimi
from credimi.inference.sampling import information_of

SHAPES = [(2, 2), (2, 5), (5, 2), (3, 3), (5, 5), (3, 10), (2, 20), (10, 10), (20, 20)]
STRENGTHS = [0.0, 0.01, 0.05, 0.1, 0.2, 0.4]
ONE_SIDED = [(0.0, 0.0), (0.3, 0.0), (0.6, 0.0), (0.0, 0.3), (0.0, 0.6)]
BOTH = [(0.2, 0.2), (0.2, 0.5), (0.5, 0.2), (0.5, 0.5)]
SIZES = [30, 100, 300, 1000, 3000, 10000]
APPROXIMATIONS = ["leading", "leading-beta", "matched"]


@dataclass(frozen=True)
class Case:
    """One table to draw and judge."""

    rows: int
    columns: int
    size: int
    strength: float
    misses_feature: float
    misses_target: float
    pseudo_count: float
    seed: int
    draws: int


def chances_with_information(case: Case, generator: np.random.Generator) -> np.ndarray:
    """Random joint chances whose mutual information is the strength asked for."""
    independent = np.outer(
        generator.dirichlet(np.full(case.rows, 3.0)), generator.dirichlet(np.full(case.columns, 3.0))
    )
    if case.strength == 0.0:
        return independent
    dependent = generator.dirichlet(np.full(case.rows * case.columns, 0.3)).reshape(case.rows, case.columns)
    if information_of(dependent) < case.strength:
        dependent = np.array([[float(j % case.rows == i) for j in range(case.columns)] for i in range(case.rows)])
        dependent /= dependent.sum()
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        if information_of((1.0 - middle) * independent + middle * dependent) < case.strength:
            low = middle
        else:
            high = middle
    return (1.0 - low) * independent + low * dependent


def incomplete_table(case: Case, generator: np.random.Generator) -> dict[str, np.ndarray]:
    """Counts of `size` rows, of which some lose the feature, some the target, and those that lose both are gone."""
    counts = generator.multinomial(case.size, chances_with_information(case, generator).ravel())
    counts = counts.reshape(case.rows, case.columns)
    no_feature = generator.binomial(counts, case.misses_feature)
    target_only = generator.binomial(no_feature, 1.0 - case.misses_target).sum(axis=1)
    no_target = generator.binomial(counts - no_feature, case.misses_target)
    return {"joint": counts - no_feature - no_target, "target_only": target_only, "feature_only": no_target.sum(axis=0)}


def judge(case: Case) -> list[tuple[float, float]]:
    """(Kolmogorov distance, mass of the 95 % interval) of each approximation."""
    generator = np.random.default_rng(case.seed)
    table = incomplete_table(case, generator)
    exact = np.sort(information_of(credimi.posterior(**table, prior=case.pseudo_count).rvs(case.draws, generator)))
    below = np.arange(case.draws + 1) / case.draws
    figures = []
    for approximation in APPROXIMATIONS:
        distribution = credimi.mutual_information(**table, prior=case.pseudo_count, approximation=approximation)
        cdf = distribution.cdf(exact)
        distance = max(np.abs(cdf - below[:-1]).max(), np.abs(cdf - below[1:]).max())
        low, high = distribution.interval(0.95)
        figures.append((float(distance), float(np.mean((exact >= low) & (exact <= high)))))
    return figures


def cases(size: int, patterns: list[tuple[float, float]], repeats: int, draws: int) -> list[Case]:
    """The grid at one size."""
    grid = product(range(repeats), SHAPES, STRENGTHS, patterns, (0.5, 1.0))
    return [
        Case(rows, columns, size, strength, *missing, pseudo_count, seed=1_000_000 * size + number, draws=draws)
        for number, (_, (rows, columns), strength, missing, pseudo_count) in enumerate(grid)
        if strength < 0.8 * np.log(min(rows, columns))
    ]


def main() -> None:
    """Run the grid and print one line a size and pattern."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=1, help="tables a cell of the grid (default: %(default)s)")
    parser.add_argument("--draws", type=int, default=10_000, help="exact draws a table (default: %(default)s)")
    parser.add_argument("--sizes", type=int, nargs="*", default=SIZES, help="numbers of rows (default: %(default)s)")
    parser.add_argument("--pattern", choices=["one", "both"], help="one side missing, or both (default: each in turn)")
    parser.add_argument("--most", type=int, help="stop each line of the table after so many tables")
    options = parser.parse_args()
    print("| missing | N | tables | " + " | ".join(f"{name}: median, 95th, held" for name in APPROXIMATIONS) + " |")
    print("|---" * (3 + len(APPROXIMATIONS)) + "|")
    pooled: dict[str, list[list[tuple[float, float]]]] = {}
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for name, patterns in (("one side", ONE_SIDED), ("both sides", BOTH)):
            if options.pattern and not name.startswith(options.pattern):
                continue
            for size in options.sizes:
                chosen = cases(size, patterns, options.repeats, options.draws)[: options.most]
                results = list(pool.map(judge, chosen, chunksize=4))
                print(line(name, f"{size:,}", results), flush=True)
                if size >= 100:
                    pooled.setdefault(name, []).extend(results)
            if name in pooled:
                print(line(name, "100 and more", pooled[name]), flush=True)


def line(name: str, size: str, results: list[list[tuple[float, float]]]) -> str:
    """One row of the table."""
    figures = np.array(results)
    cells = [
        f"{np.median(distance):.3f}, {np.quantile(distance, 0.95):.3f}, {100 * held.mean():.1f} %"
        for distance, held in (figures[:, k].T for k in range(len(APPROXIMATIONS)))
    ]
    return f"| {name} | {size} | {len(results)} | " + " | ".join(cells) + " |"


if __name__ == "__main__":
    main()
