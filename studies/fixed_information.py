"""How often intervals hold a fixed true I, and which I is meant where numbers were cut.

Averaged over the prior, 95 % intervals hold the truth in 95 % of the tables (studies/adaptive.py). At one fixed I near
what so many rows can detect they hold it less often, as with any prior that knows independence: the column is then
taken for independent too often. Two tables:

* few-valued columns, two classes, whose chance moves in even steps from value to value ("trend"): how often the
  interval holds I, and the one given dependence (`low_if_dependent` to `high_if_dependent`); the errors of the means;
* columns of numbers, normal around a mean that differs between two classes, cut by MDL: the same against the I of the
  ranges that were found, in which the classes have exact shares, and against the I of the numbers themselves.

    python studies/fixed_information.py                  as in docs/adaptive.md, two minutes
    python studies/fixed_information.py --tables 40      a quick look
"""

from __future__ import annotations

import argparse

import numpy as np
from adaptive import drawn, information, summary
from scipy import optimize, special

import credimi

VALUES, STRENGTHS, SIZES = (2, 4, 8), (0.003, 0.01, 0.03), (300, 1_000, 5_000, 30_000)
CUT_STRENGTHS, CUT_SIZES = (0.003, 0.01, 0.03, 0.1), (300, 1_000, 5_000)
NODES, WEIGHTS = np.polynomial.legendre.leggauss(400)


def trend(values: int, strength: float) -> np.ndarray:
    """Probabilities of two classes and equally frequent values, the first class from rarer to more frequent."""

    def probabilities(slope: float) -> np.ndarray:
        share = 0.5 + slope * np.linspace(-1.0, 1.0, values)
        return np.stack([share, 1.0 - share]) / values

    return probabilities(optimize.brentq(lambda slope: float(information(probabilities(slope))) - strength, 0.0, 0.5))


def of_normal(shift: float) -> float:
    """I of a target of two classes and a number that is normal with a mean of 0 or `shift`."""
    x = shift / 2.0 + (8.0 + shift) * NODES
    density = np.exp(-0.5 * (x[:, np.newaxis] - [0.0, shift]) ** 2) / np.sqrt(2.0 * np.pi)
    terms = density * np.log(np.maximum(density, 1e-300) / np.maximum(density.mean(axis=1, keepdims=True), 1e-300))
    return float((8.0 + shift) * (WEIGHTS * terms.mean(axis=1)).sum())


def of_ranges(shift: float, cuts: np.ndarray) -> float:
    """The same of the ranges between the cuts."""
    ends = np.concatenate([[-np.inf], cuts, [np.inf]])
    return float(information(0.5 * np.diff(special.ndtr(ends - np.array([[0.0], [shift]])), axis=1)))


def line(truth: np.ndarray | float, low: np.ndarray, high: np.ndarray, mean: np.ndarray) -> str:
    """The share that is held, in percent, and the mean error."""
    return f"{100.0 * np.mean((low <= truth) & (truth <= high)):.0f} | {np.mean(mean - truth):+.4f}"


def few_values(tables: int, generator: np.random.Generator) -> None:
    """Print the first table."""
    print("| values | true I | N | held, % | error of E[I] | held given dependence, % | error of its mean |")
    print("|---:|---:|---:|---:|---:|---:|---:|")
    for values in VALUES:
        for strength in STRENGTHS:
            for size in SIZES:
                posteriors = summary(drawn(trend(values, strength), size, tables, (0.0, 0.0), generator))
                ends = posteriors.low, posteriors.high, posteriors.mean
                given = posteriors.low_if_dependent, posteriors.high_if_dependent, posteriors.mean_if_dependent
                print(f"| {values} | {strength:g} | {size:,} | {line(strength, *ends)} | {line(strength, *given)} |")


def cut_numbers(tables: int, generator: np.random.Generator) -> None:
    """Print the second table. Where MDL finds no cut, `rank` takes quarters."""
    heads = "| I of the numbers | N | cut by MDL, % | I of the ranges | it is held, % | error "
    print(heads + "| I of the numbers is held, % | error |")
    print("|---:|---:|---:|---:|---:|---:|---:|---:|")
    for strength in CUT_STRENGTHS:
        shift = optimize.brentq(lambda shift, wanted=strength: of_normal(shift) - wanted, 0.0, 4.0)
        for size in CUT_SIZES:
            target = generator.integers(0, 2, size)
            columns = {str(place): generator.normal(shift * target) for place in range(tables)}
            counts = credimi.count(columns, target, discretize="mdl")
            interpreted = {each.name: each for each in counts.interpreted()}
            ranking = credimi.rank(counts, epsilon=0.003)
            truth = np.array([of_ranges(shift, interpreted[name].cuts) for name in ranking.columns["feature"]])
            ends = [np.array(ranking.columns[name]) for name in ("low", "high", "mi")]
            passed = np.mean([each.cut_by == "mdl" for each in interpreted.values()])
            cut = f"{100.0 * passed:.0f} | {truth.mean():.4f}"
            print(f"| {strength:g} | {size:,} | {cut} | {line(truth, *ends)} | {line(strength, *ends)} |", flush=True)


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=1_000, help="a line (default: %(default)s)")
    options = parser.parse_args()
    generator = np.random.default_rng(0)
    few_values(options.tables, generator)
    print()
    cut_numbers(options.tables, generator)


if __name__ == "__main__":
    main()
