"""How far "matched" is from the posterior of thin tables with a fixed pseudo-count, as one Beta and as it is.

First table: 2 x 2 tables of at most 60 rows, all of them but for reflections, or every n-th. Second table: random thin
tables of other shapes, 5 to 300 rows, with the feature missing, the target, or both; classes and values have chances
from a Dirichlet(0.3) or a Dirichlet(1), half of the tables depend. Judge: draws of the exact posterior, 20,000 in the
first table and 10,000 in the second (of Gibbs sampling if both are missing), which alone make a Kolmogorov distance of
about .006 and .009, and .02 in the worst of thousands of tables.

Printed: the share of tables that are not one Beta; largest and 99th percentile of the distance, as one Beta and as
`mutual_information` has it now; how many tables are above .05.

    python studies/thin_tables.py                           the tables of docs/accuracy.md, a quarter of an hour
    python studies/thin_tables.py --every 2000 --tables 2   a quick look
"""

from __future__ import annotations

import argparse
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

import credimi
from credimi.core.tables import Tables
from credimi.inference.evidence.fixed_priors import pseudo_count
from credimi.inference.information import distribution_of
from credimi.inference.moments.moments import moments
from credimi.inference.sampling import draw_information, information_of

if TYPE_CHECKING:
    from credimi.inference.distributions.distribution import Distribution

PRIORS = ("uniform", "jeffreys", "perks", "haldane")
ROWS = 60  # of 2 x 2 tables
SHAPES = [(2, 2), (2, 3), (3, 3), (2, 5), (3, 4), (4, 5), (2, 10)]
DRAWS_OF_SMALL, DRAWS, STEPS = 20_000, 10_240, 200  # draws, and at how many of them the distance is looked at
MISSING = ("nothing", "feature", "target", "both")
LIMIT = 0.05


def as_one_beta(table: credimi.Table, prior: str) -> Distribution:
    """The Beta with the closed form's mean and variance; a point if I is certain."""
    upper = float(np.log(min(table.shape)))
    found = moments(Tables.of([table.block()]), pseudo_count(prior, table.shape), threads=1)
    return distribution_of(min(float(found.mean[0]), upper), float(np.sqrt(found.variance[0])), upper, gaussian=False)


def distance(law: Distribution, exact: np.ndarray) -> float:
    """Kolmogorov distance to sorted draws."""
    looked_at = np.linspace(0, exact.size - 1, STEPS).astype(int)
    return float(np.abs(law.cdf(exact[looked_at]) - (looked_at + 0.5) / exact.size).max())


def small_tables(every: int) -> list[tuple[int, int, int, int]]:
    """Tables [[a, b], [c, d]] of 1 to `ROWS` rows: one of those that are reflections of each other."""
    tables = []
    for a, b, c in product(range(ROWS + 1), repeat=3):
        for d in range(ROWS + 1 - a - b - c):
            alike = [(a, b, c, d), (b, a, d, c), (c, d, a, b), (d, c, b, a)]
            alike += [(p, r, q, s) for p, q, r, s in alike]
            if a + b + c + d and max(alike) == (a, b, c, d):
                tables.append((a, b, c, d))
    return tables[::every]


def of_small_tables(prior: str, every: int, generator: np.random.Generator) -> list[tuple[bool, float, float]]:
    """Of each 2 x 2 table, whether it is more than one Beta, and both distances."""
    pseudo, gammas, found = pseudo_count(prior, (2, 2)), {}, []
    for counts in small_tables(every):
        for cell in enumerate(counts):
            if cell not in gammas:
                shape = cell[1] + pseudo
                gammas[cell] = generator.gamma(shape, size=DRAWS_OF_SMALL) if shape else np.zeros(DRAWS_OF_SMALL)
        drawn = np.stack([gammas[cell] for cell in enumerate(counts)], axis=1).reshape(-1, 2, 2)
        exact = np.sort(information_of(drawn / drawn.sum(axis=(1, 2), keepdims=True)))
        if exact[-1] > 1e-12:  # otherwise I is 0
            found.append(compared(credimi.Table.of(np.reshape(counts, (2, 2))), prior, exact))
    return found


def compared(table: credimi.Table, prior: str, exact: np.ndarray) -> tuple[bool, float, float]:
    """Whether the posterior is more than one Beta, and the distance of one Beta and of the posterior."""
    law = credimi.mutual_information(table, prior=prior)
    return len(law.components) > 1, distance(as_one_beta(table, prior), exact), distance(law, exact)


def random_table(missing: str, generator: np.random.Generator) -> credimi.Table:
    """A thin table."""
    rows, columns = SHAPES[generator.integers(len(SHAPES))]
    classes, values = (generator.dirichlet(np.full(size, generator.choice([0.3, 1.0]))) for size in (rows, columns))
    probabilities = np.outer(classes, values)
    if generator.random() < 0.5:
        strength = generator.choice([3.0, 10.0, 30.0])
        probabilities = generator.dirichlet(strength * probabilities.ravel() + 1e-9).reshape(rows, columns)
    size = int(10.0 ** generator.uniform(0.7, 2.5))
    counts = generator.multinomial(size, probabilities.ravel() / probabilities.sum()).reshape(rows, columns)
    no_feature = generator.binomial(counts, generator.uniform(0.0, 0.7, (rows, 1)) * (missing in {"feature", "both"}))
    counts = counts - no_feature
    no_target = generator.binomial(counts, generator.uniform(0.0, 0.7, (1, columns)) * (missing in {"target", "both"}))
    return credimi.Table.of(counts - no_target, no_feature.sum(axis=1), no_target.sum(axis=0))


def of_random_tables(
    prior: str, missing: str, tables: int, generator: np.random.Generator
) -> list[tuple[bool, float, float]]:
    """The same of random tables."""
    found: list[tuple[bool, float, float]] = []
    while len(found) < tables:
        table = random_table(missing, generator)
        pseudo = pseudo_count(prior, table.shape)
        if pseudo == 0.0 and (missing == "both" or min(np.count_nonzero(table.joint.sum(axis=k)) for k in (0, 1)) < 2):
            continue  # I is 0, or the posterior is not proper
        options = {"chains": 512, "burn_in": 100, "thin": 10}
        exact = np.sort(draw_information(table, pseudo, DRAWS, generator, **options).information)
        found.append(compared(table, prior, exact))
    return found


def line(found: list[tuple[bool, float, float]]) -> str:
    """The figures of one line."""
    more, one, now = np.array(found, dtype=float).T
    figures = [f"{np.quantile(each, 0.99):.3f}, {each.max():.3f}, {int((each > LIMIT).sum()):,}" for each in (one, now)]
    return f"{len(found):,} | {100 * more.mean():.0f} % | {' | '.join(figures)}"


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--every", type=int, default=37, help="of the 2 x 2 tables (default: %(default)s)")
    parser.add_argument("--tables", type=int, default=150, help="random ones, a line (default: %(default)s)")
    options = parser.parse_args()
    generator = np.random.default_rng(2026)
    heading = "tables | mixtures | one Beta: 99th, largest, above .05 | now: 99th, largest, above .05 |"
    print(f"| prior | {heading}\n|---|---:|---:|---|---|")
    for prior in PRIORS:
        print(f"| {prior} | {line(of_small_tables(prior, options.every, generator))} |", flush=True)
    print(f"\n| prior | missing | {heading}\n|---|---|---:|---:|---|---|")
    for prior, missing in product(PRIORS, MISSING):
        if (prior, missing) != ("haldane", "both"):
            print(
                f"| {prior} | {missing} | {line(of_random_tables(prior, missing, options.tables, generator))} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
