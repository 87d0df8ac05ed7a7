"""How many dependent columns the rule fdr finds among many, and how many of those that it keeps are none.

Columns of one shape, nearly all of them independent of the target. The others have a true I that is always the same, or
drawn from an exponential law of mean 0.03, in a random direction. Of each case, over several draws: the mean share of
columns with I > epsilon that are kept (power), and the mean share of those kept that have no such I (FDR), which should
be at most 0.05, in turn for

* the rule as it is: the odds of dependence are learned from all columns;
* with its strength learned as well (`strengths.py`), which is not what the library does;
* both for epsilon = 0, so that the question is I > 0, as that of the next;
* Benjamini and Hochberg's procedure with the G test of each column.

    python studies/discoveries.py               the table of docs/adaptive.md, some minutes
    python studies/discoveries.py --draws 1     a quick look
"""

from __future__ import annotations

import argparse
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
from adaptive import information
from scipy import optimize, stats
from strengths import pooled_weights

from credimi.core.tables import Tables
from credimi.inference import rules
from credimi.inference.belief import Belief
from credimi.inference.evidence.adaptive_prior import PosteriorComponents, components
from credimi.inference.tables.many_tables import beliefs
from credimi.inference.tables.mixture_tails import above, mixtures_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    Case = tuple[tuple[int, int], str, int, int, float]

SHAPES, COLUMNS, SIZES = ((2, 2), (2, 5), (5, 5)), (200, 2_000), (100, 300, 1_000)
SHARES, STRENGTHS = (0.003, 0.01, 0.1), ("0.03", "0.1", "exponential")
EPSILON, FDR = 0.003, 0.05


def cell_probabilities(shape: tuple[int, int], strength: float, generator: np.random.Generator) -> np.ndarray:
    """Cell probabilities with this I, in a random direction away from equal ones."""
    equal = np.full(shape, 1.0 / (shape[0] * shape[1]))
    while True:
        direction = generator.normal(size=shape)
        direction -= direction.mean(axis=0)
        direction -= direction.mean(axis=1, keepdims=True)
        longest = float(np.min(np.where(direction < 0.0, -equal / np.minimum(direction, -1e-12), np.inf)))
        if information(equal + longest * direction) > strength:
            length = optimize.brentq(
                lambda x, way=direction: float(information(equal + x * way)) - strength, 0.0, longest
            )
            return equal + length * direction


def blocks_of(tables: np.ndarray) -> Tables:
    """Complete tables as the library takes them."""
    count, rows, columns = tables.shape
    blocks = np.zeros((count, rows + 1, columns + 1))
    blocks[:, :rows, :columns] = tables
    return Tables(blocks.ravel(), np.full(count, rows), np.full(count, columns))


def benjamini_hochberg(tables: np.ndarray) -> np.ndarray:
    """Which columns are kept by the G test."""
    expected = tables.sum(axis=2, keepdims=True) * tables.sum(axis=1, keepdims=True) / tables[0].sum()
    terms = np.where(tables > 0, tables * np.log(np.maximum(tables, 1.0) / np.maximum(expected, 1e-300)), 0.0)
    freedom = (tables.shape[1] - 1) * (tables.shape[2] - 1)
    return np.asarray(stats.false_discovery_control(stats.chi2.sf(2.0 * terms.sum(axis=(1, 2)), freedom)) <= FDR)


def power_and_false_share(tables: np.ndarray, truth: np.ndarray) -> Iterator[tuple[float, float]]:
    """Power and false share of each procedure."""
    blocks = blocks_of(tables)
    posteriors = beliefs(blocks, Belief(epsilon=EPSILON))
    table, weight = pooled_weights(blocks)
    dependent_parts = components(blocks)
    single_components = PosteriorComponents(
        np.zeros(table.size), np.arange(table.size), np.ones(table.size), dependent_parts.mean, dependent_parts.variance
    )
    upper = np.full(table.size, np.log(min(tables.shape[1:])))
    tails = above(mixtures_of(single_components, upper, gaussian=False), EPSILON, None)
    for keeps, is_true in (
        (rules.false_discovery(posteriors.p_above, FDR, posteriors.p_independent), truth > EPSILON),
        (rules.false_discovery(np.bincount(table, weight * tails, truth.size), FDR), truth > EPSILON),
        (rules.false_discovery(1.0 - posteriors.p_independent, FDR, posteriors.p_independent), truth > 0.0),
        (rules.false_discovery(np.bincount(table, weight, truth.size), FDR), truth > 0.0),
        (benjamini_hochberg(tables), truth > 0.0),
    ):
        yield (keeps & is_true).sum() / max(is_true.sum(), 1), (keeps & ~is_true).sum() / max(keeps.sum(), 1)


def draw(case: Case, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Tables, and the true I of each."""
    shape, strength_kind, count, size, share = case
    dependent_columns = max(round(share * count), 1)
    truth = np.zeros(count)
    strengths = (
        generator.exponential(0.03, dependent_columns) if strength_kind == "exponential" else float(strength_kind)
    )
    truth[:dependent_columns] = np.minimum(strengths, 0.3)
    probabilities = np.full((count, *shape), 1.0 / (shape[0] * shape[1]))
    probabilities[:dependent_columns] = [
        cell_probabilities(shape, each, generator) for each in truth[:dependent_columns]
    ]
    return generator.multinomial(size, probabilities.reshape(count, -1)).reshape(count, *shape).astype(float), truth


def main() -> None:
    """Print one line a case, and the means."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=4, help="a line (default: %(default)s)")
    parser.add_argument("--shape", type=int, nargs=2, action="append", help="classes and values (default: all three)")
    parser.add_argument("--columns", type=int, nargs="+", default=COLUMNS, help="how many (default: 200 2000)")
    options = parser.parse_args()
    shapes = [tuple(each) for each in options.shape or SHAPES]
    names = ("rule fdr", "strengths learned", "I > 0", "I > 0, strengths learned", "G test")
    print("| shape | I | columns | N | dependent, % | " + " | ".join(f"{name}: power, FDR" for name in names) + " |")
    print("|---|---|---:|---:|---:|" + "---:|" * 5)
    means = []
    for case in product(shapes, STRENGTHS, options.columns, SIZES, SHARES):
        shape, strength_kind, count, size, share = case
        seeds = [
            *shape,
            STRENGTHS.index(strength_kind),
            count,
            size,
            round(1_000 * share),
        ]  # a line is the same without others
        generator = np.random.default_rng(seeds)
        draws = [list(power_and_false_share(*draw(case, generator))) for _ in range(options.draws)]
        means.append((share, np.mean(draws, axis=0)))
        line = f"| {shape[0]} x {shape[1]} | {strength_kind} | {count:,} | {size:,} | {100 * share:g} "
        print(f"{line}| {figures(means[-1][1])} |", flush=True)
    for share in SHARES:
        of_share = [mean for case_share, mean in means if case_share == share]
        print(f"| all | | | | {100 * share:g} | {figures(np.mean(of_share, axis=0))} |")


def figures(means: np.ndarray) -> str:
    """Power and false share, one procedure beside the other."""
    return " | ".join(f"{power:.2f}, {false:.3f}" for power, false in means)


if __name__ == "__main__":
    main()
