"""How far "matched" is from the posterior where a class mostly lacks the feature.

One class lacks the feature in 50 to 99 % of its rows, the others in up to 30 %; the target is complete. Classes and
values have chances from a Dirichlet(0.5) or a Dirichlet(2), and depend on each other in any strength. Judge: 20,000
independent draws of the exact posterior, which alone make a Kolmogorov distance of about 0.006. Printed: median, 95th
percentile and largest of the distances.

    python studies/thin_classes.py               the table of docs/accuracy.md, some minutes
    python studies/thin_classes.py --tables 10   a quick look
"""

from __future__ import annotations

import argparse
from itertools import product

import numpy as np

import credimi
from credimi.inference.sampling import information_of

SHAPES = [(2, 2), (2, 3), (3, 3), (3, 5), (2, 10), (5, 5), (5, 10)]
SIZES = [100, 300, 1000]
SHARES_MISSING = [0.5, 0.8, 0.9, 0.95, 0.99]
STRENGTHS = [3.0, 10.0, 30.0, 100.0]  # of the Dirichlet around independence, small ones far from it
DRAWS, EVERY = 20_000, 20  # the distance is looked at for one draw in twenty


def distance(size: int, margins: float, prior: str, generator: np.random.Generator) -> float:
    """Kolmogorov distance for one random table."""
    rows, columns = SHAPES[generator.integers(len(SHAPES))]
    classes = generator.dirichlet(np.full(rows, margins))
    probabilities = np.outer(classes, generator.dirichlet(np.full(columns, margins)))
    strength = generator.choice([np.inf, *STRENGTHS])
    if strength < np.inf:
        probabilities = generator.dirichlet(strength * probabilities.ravel() + 1e-6).reshape(rows, columns)
    missing = generator.uniform(0.0, 0.3, rows)
    missing[generator.integers(rows)] = generator.choice(SHARES_MISSING)
    counts = generator.multinomial(size, probabilities.ravel()).reshape(rows, columns)
    without_feature = generator.binomial(counts, missing[:, np.newaxis])
    table = credimi.Table.of(counts - without_feature, without_feature.sum(axis=1))
    exact = np.sort(information_of(credimi.posterior(table, prior=prior).rvs(DRAWS, generator)))[::EVERY]
    cdf = credimi.mutual_information(table, prior=prior).cdf(exact)
    return float(np.abs(cdf - (np.arange(exact.size) * EVERY + 0.5) / DRAWS).max())


def main() -> None:
    """Print one line a prior, margins and size."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=400, help="a line (default: %(default)s)")
    options = parser.parse_args()
    generator = np.random.default_rng(0)
    print("| prior | margins | N | median | 95th percentile | largest |\n|---|---|---:|---:|---:|---:|")
    for prior, margins, size in product(("jeffreys", "uniform"), (0.5, 2.0), SIZES):
        distances = [distance(size, margins, prior, generator) for _ in range(options.tables)]
        middle, high, most = np.quantile(distances, [0.5, 0.95, 1.0])
        print(f"| {prior} | Dirichlet({margins:g}) | {size:,} | {middle:.3f} | {high:.3f} | {most:.3f} |", flush=True)


if __name__ == "__main__":
    main()
