"""Both sides missing at random: whether intervals hold the true I too seldom by the prior or by the calculation.

First table: populations drawn from the prior itself, half of them independent. Their intervals should hold 95 %. It
takes little time, so that each line has four times as many tables.

Second table: cells of `both_missing.py` in which intervals hold a fixed I too seldom. The closed form is compared with
exact draws from the posterior under the same prior. The draws are made by plain Gibbs sampling, which shares no code
with the library: the missing values are drawn given the cell probabilities, then K (or independence) given the
completed table, then the cell probabilities given both. If exact draws hold the true I as seldom as the closed form
does, the prior is the reason, and no better calculation would help.

    python studies/both_missing_exact.py               the tables of docs/adaptive.md, some minutes
    python studies/both_missing_exact.py --tables 10   a quick look
"""

from __future__ import annotations

import argparse
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
from both_missing import (
    SHAPES,
    SIZES,
    WITHOUT_FEATURE,
    WITHOUT_TARGET,
    incomplete,
    percent_held,
    population,
    summary_of,
)
from scipy.special import gammaln

from credimi.inference.sampling import information_of

if TYPE_CHECKING:
    from credimi.core.table import Table

CELLS = [
    ("around", (3, 5), 500, 0.03),
    ("around", (5, 10), 5_000, 0.005),
    ("mixed", (5, 10), 500, 0.1),
    ("mixed", (5, 50), 5_000, 0.03),
    ("mixed", (5, 50), 50_000, 0.005),
    ("mixed", (5, 50), 50_000, 0.03),
    ("mixed", (5, 50), 50_000, 0.1),
]
POINTS = 40  # of the grid of K, more than the library has


def from_prior(shape: tuple[int, int], size: int, generator: np.random.Generator) -> np.ndarray:
    """Cell probabilities drawn from the adaptive prior, if about half of the rows are complete."""
    margins = [generator.dirichlet(np.full(side, 3.0)) for side in shape]
    independent = np.outer(*margins)
    if generator.random() < 0.5:
        return independent
    strength = 4.0 * (50.0 * min(shape) * max(0.5 * size, independent.size) / 4.0) ** generator.random()
    gammas = generator.standard_gamma(strength * independent)
    probabilities: np.ndarray = gammas / gammas.sum()
    return probabilities


def missing_at_random(probabilities: np.ndarray, size: int, generator: np.random.Generator) -> Table:
    """A table whose feature is missing by class, and whose target is missing by value."""
    rows, columns = probabilities.shape
    by_class = generator.uniform(0.0, WITHOUT_FEATURE, rows)
    return incomplete(probabilities, by_class, generator.uniform(0.0, WITHOUT_TARGET, columns), size, generator)


def log_evidence(counts: np.ndarray, parameters: np.ndarray) -> np.ndarray:
    """Of a Dirichlet-multinomial along the last axis."""
    total = parameters.sum(axis=-1)
    terms = gammaln(parameters + counts) - gammaln(parameters)
    evidence: np.ndarray = gammaln(total) - gammaln(total + counts.sum(axis=-1)) + terms.sum(axis=-1)
    return evidence


def exact_draws(tables: list[Table], steps: int, generator: np.random.Generator) -> np.ndarray:
    """Draws of I, (steps, tables), from the posteriors of tables of one shape under the adaptive prior."""
    cells = np.array([table.joint for table in tables], float)
    of_rows = np.array([table.target_only for table in tables]).astype(int)
    of_columns = np.array([table.feature_only for table in tables]).astype(int)
    count, rows, columns = cells.shape
    by_class, by_value = cells.sum(axis=2) + of_rows, cells.sum(axis=1) + of_columns
    a, b = ((by + 0.5) / (by + 0.5).sum(axis=1, keepdims=True) for by in (by_class, by_value))
    independent = (a[:, :, np.newaxis] * b[:, np.newaxis, :]).reshape(count, -1)
    tightest = 50.0 * min(rows, columns) * np.maximum(cells.sum(axis=(1, 2)), rows * columns)
    strengths = np.exp(np.linspace(np.log(4.0), np.log(tightest), POINTS, axis=1))
    parameters = strengths[:, :, np.newaxis] * independent[:, np.newaxis, :]
    of_margins = log_evidence(by_class[:, np.newaxis], strengths[:, :, np.newaxis] * a[:, np.newaxis])
    of_margins += log_evidence(by_value[:, np.newaxis], strengths[:, :, np.newaxis] * b[:, np.newaxis])
    independent_margins = (by_class * np.log(a)).sum(axis=1) + (by_value * np.log(b)).sum(axis=1)
    probabilities, kept, each = independent.reshape(cells.shape), [], np.arange(count)
    for step in range(-steps // 4, steps):
        completed = cells + generator.multinomial(of_rows, probabilities / probabilities.sum(axis=2, keepdims=True))
        given_value = (probabilities / probabilities.sum(axis=1, keepdims=True)).swapaxes(1, 2)
        completed += generator.multinomial(of_columns, given_value).swapaxes(1, 2)
        flat = completed.reshape(count, 1, -1)
        score = np.empty((count, POINTS + 1))
        score[:, :POINTS] = log_evidence(flat, parameters) - of_margins - np.log(POINTS)
        score[:, POINTS] = (flat[:, 0] * np.log(independent)).sum(axis=1) - independent_margins
        point = (score + generator.gumbel(size=score.shape)).argmax(axis=1)
        dependent = point < POINTS
        chosen = parameters[each, np.minimum(point, POINTS - 1)]
        gammas = np.maximum(generator.standard_gamma(flat[:, 0] + chosen), 1e-300)  # tiny parameters underflow
        drawn = np.where(dependent[:, np.newaxis], gammas / gammas.sum(axis=1, keepdims=True), independent)
        probabilities = drawn.reshape(cells.shape)
        if step >= 0:
            kept.append(np.where(dependent, information_of(probabilities), 0.0))
    return np.array(kept)


def main() -> None:
    """Print one line a shape and size, then one a cell."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=250, help="a line of the second (default: %(default)s)")
    parser.add_argument("--steps", type=int, default=1_000, help="of Gibbs sampling (default: %(default)s)")
    options = parser.parse_args()
    generator = np.random.default_rng(0)
    print("| shape | N | I held, % |\n|---|---:|---:|")
    for (rows, columns), size in product(SHAPES, SIZES):
        populations = [from_prior((rows, columns), size, generator) for _ in range(4 * options.tables)]
        truth = np.array([float(information_of(probabilities)) for probabilities in populations])
        truth[truth < 1e-12] = 0.0
        posteriors = summary_of([missing_at_random(each, size, generator) for each in populations])
        print(f"| {rows} x {columns} | {size:,} | {percent_held(posteriors, truth):.1f} |", flush=True)
    print("\n| population | shape | N | I | closed form: held, % | mean error | exact draws: held, % | mean error |")
    print("|---|---|---:|---:|---:|---:|---:|---:|")
    for kind, (rows, columns), size, strength in CELLS:
        populations = [population(kind, (rows, columns), strength, generator) for _ in range(options.tables)]
        truth = np.array([float(information_of(probabilities)) for probabilities in populations])
        tables = [missing_at_random(each, size, generator) for each in populations]
        posteriors = summary_of(tables)
        draws = exact_draws(tables, options.steps, generator)
        low, high = np.quantile(draws, [0.025, 0.975], axis=0)
        low = np.where((draws == 0.0).mean(axis=0) > 0.025, 0.0, low)
        high = np.where(low > 0.0, high, np.quantile(draws, 0.95, axis=0))  # as the library: from the atom on
        held = 100.0 * np.mean((low <= truth) & (truth <= high))
        line = f"| {kind} | {rows} x {columns} | {size:,} | {strength:g} | {percent_held(posteriors, truth):.1f} "
        line += f"| {np.mean(posteriors.mean - truth):+.4f} | {held:.1f} | {np.mean(draws.mean(axis=0) - truth):+.4f} |"
        print(line, flush=True)


if __name__ == "__main__":
    main()
