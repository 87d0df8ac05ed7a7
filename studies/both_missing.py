"""The adaptive prior where both sides are missing at random: whether intervals hold the truth, and noise is kept.

The feature is missing with a chance that depends on the class, otherwise the target with one that depends on the value
of the feature. Complete rows alone then have other odds ratios than the population. Both chances are drawn anew for
each table, up to 0.5 and 0.475, and so is the population, of two kinds. "Around": from a Dirichlet around independent
chances, as the prior has it, drawn until I is within a tenth of the one asked for. "Mixed": independent chances mixed
with a share of very dependent ones, such that I is the one asked for; the dependence then sits in few cells, as the
prior does not expect. Some populations are given. Printed: in how many tables the 95 % interval holds the true I; after
a slash, the interval given dependence (`low_if_dependent` to `high_if_dependent`); in brackets, the interval if nothing
were missing; and in how many independent tables P(I > 0.003) >= 0.95: the forward rule keeps these.

    python studies/both_missing.py               the tables of docs/adaptive.md, some minutes
    python studies/both_missing.py --tables 20   a quick look
"""

from __future__ import annotations

import argparse
from itertools import product

import numpy as np

from credimi.core.table import Table
from credimi.core.tables import Tables
from credimi.inference.belief import Belief
from credimi.inference.sampling import information_of
from credimi.inference.tables.many_tables import Summary, summarize

SHAPES = [(2, 2), (3, 5), (5, 10), (5, 50)]
SIZES = [500, 5_000, 50_000]
STRENGTHS = [0.0, 0.005, 0.03, 0.1]
EPSILON = 0.003
WITHOUT_FEATURE, WITHOUT_TARGET = 0.5, 0.475
GIVEN = [
    ("[[.28, .22], [.22, .28]]", np.array([[0.28, 0.22], [0.22, 0.28]]), [0.4, 0.1], [0.4, 0.1], 20_000),
    ("independent 3 x 5", np.full((3, 5), 1.0 / 15.0), np.linspace(0.5, 0.0, 3), np.linspace(0.475, 0.0, 5), 3_000),
    ("independent 5 x 10", np.full((5, 10), 1.0 / 50.0), np.linspace(0.5, 0.0, 5), np.linspace(0.475, 0.0, 10), 10_000),
]


def population(kind: str, shape: tuple[int, int], strength: float, generator: np.random.Generator) -> np.ndarray:
    """Random probabilities with about this mutual information."""
    rows, columns = shape
    independent = np.outer(generator.dirichlet(np.full(rows, 3.0)), generator.dirichlet(np.full(columns, 3.0)))
    if strength == 0.0:
        return independent
    if kind == "around":
        weight = 0.5 * (rows - 1) * (columns - 1) / strength
        while True:
            probabilities = generator.dirichlet(weight * independent.ravel()).reshape(shape)
            if abs(information_of(probabilities) / strength - 1.0) <= 0.1:
                return probabilities
    dependent = independent
    while information_of(dependent) <= strength:
        dependent = generator.dirichlet(4.0 * independent.ravel() + 0.01).reshape(shape)
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        weaker = information_of((1.0 - middle) * independent + middle * dependent) < strength
        low, high = (middle, high) if weaker else (low, middle)
    return (1.0 - low) * independent + low * dependent


def incomplete(
    probabilities: np.ndarray, by_class: np.ndarray, by_value: np.ndarray, size: int, generator: np.random.Generator
) -> Table:
    """Counts of `size` rows, each of which lacks the feature, or the target, or nothing."""
    counts = generator.multinomial(size, probabilities.ravel()).reshape(probabilities.shape)
    by_class, by_value = np.asarray(by_class)[:, np.newaxis], np.asarray(by_value)
    no_feature = generator.binomial(counts, by_class)
    no_target = generator.binomial(counts - no_feature, by_value / (1.0 - by_class))
    return Table.of(counts - no_feature - no_target, no_feature.sum(axis=1), no_target.sum(axis=0))


def summary_of(tables: list[Table]) -> Summary:
    """The posteriors of all tables."""
    blocks = Tables.of([table.block() for table in tables])
    return summarize(blocks, Belief(epsilon=EPSILON))


def percent_held(posteriors: Summary, truth: np.ndarray | float) -> float:
    """Percent of the intervals that hold the truth."""
    return 100.0 * float(np.mean((posteriors.low <= truth) & (truth <= posteriors.high)))


def percent_held_if_dependent(posteriors: Summary, truth: np.ndarray) -> float:
    """Percent of the intervals given dependence that hold the truth."""
    held = (posteriors.low_if_dependent <= truth) & (truth <= posteriors.high_if_dependent)
    return 100.0 * float(np.mean(held))


def percent_kept(posteriors: Summary) -> float:
    """Percent that the forward rule keeps."""
    return 100.0 * float(np.mean(posteriors.p_above >= 0.95))


def main() -> None:
    """Print one line a shape and size, then one a population that is given."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=250, help="a cell (default: %(default)s)")
    options = parser.parse_args()
    generator = np.random.default_rng(0)
    print("| population | shape | N | " + " | ".join(f"I = {each:g}" for each in STRENGTHS) + " | noise kept, % |")
    print("|---|---|---:" + "|---:" * (len(STRENGTHS) + 1) + "|")
    for kind, (rows, columns), size in product(("around", "mixed"), SHAPES, SIZES):
        figures, noise = [], 0.0
        for strength in STRENGTHS:
            tables, complete, truth = [], [], []
            for _ in range(options.tables):
                probabilities = population(kind, (rows, columns), strength, generator)
                by_class = generator.uniform(0.0, WITHOUT_FEATURE, rows)
                by_value = generator.uniform(0.0, WITHOUT_TARGET, columns)
                tables.append(incomplete(probabilities, by_class, by_value, size, generator))
                complete.append(incomplete(probabilities, np.zeros(rows), np.zeros(columns), size, generator))
                truth.append(float(information_of(probabilities)) if strength else 0.0)
            posteriors = summary_of(tables)
            complete_held = percent_held(summary_of(complete), np.array(truth))
            held = f"{percent_held(posteriors, np.array(truth)):.1f}"
            held += f" / {percent_held_if_dependent(posteriors, np.array(truth)):.1f}" if strength else ""
            figures.append(f"{held} ({complete_held:.1f})")
            noise = percent_kept(posteriors) if strength == 0.0 else noise
        print(f"| {kind} | {rows} x {columns} | {size:,} | {' | '.join(figures)} | {noise:.1f} |", flush=True)
    print("\n| population | N | true I | I held, % | mean of E[I] | kept, % |\n|---|---:|---:|---:|---:|---:|")
    for name, probabilities, by_class, by_value, size in GIVEN:
        posteriors = summary_of(
            [incomplete(probabilities, by_class, by_value, size, generator) for _ in range(options.tables)]
        )
        truth = round(float(information_of(probabilities)), 12)
        line = (
            f"| {name} | {size:,} | {truth:.4f} | {percent_held(posteriors, truth):.1f} | {posteriors.mean.mean():.4f} "
        )
        print(f"{line}| {percent_kept(posteriors):.1f} |", flush=True)


if __name__ == "__main__":
    main()
