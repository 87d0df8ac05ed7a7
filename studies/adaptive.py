"""What the adaptive prior does with noise, with weak and strong dependence, and whether its intervals hold.

Four tables, each from seeded draws:

* noise: share of independent features that the forward rule keeps (P(I > 0.003) >= 0.95), with skewed margins, classes
  of 1 : 50 and 0 to 40 % missing, half of the last also without the target; beside it the same with "jeffreys";
* error: root-mean-square error of E[I] on that noise over that of the paper's plug-in estimate;
* power: share of features of a given true I that are kept, and the error over that of the plug-in;
* coverage: how often the 95 % interval holds the true I, which is drawn from the prior itself; and the same with
  another grid and other weights of independence, which should hardly matter.

    python studies/adaptive.py                  as in docs/adaptive.md, some minutes
    python studies/adaptive.py --tables 40      a quick look
"""

from __future__ import annotations

import argparse

import numpy as np

from credimi.core.tables import Tables
from credimi.inference.belief import Belief
from credimi.inference.evidence import adaptive_prior
from credimi.inference.tables.many_tables import Summary, summarize

SHAPES = ((2, 2), (2, 5), (3, 10), (10, 10), (2, 50))
SIZES = (30, 100, 300, 1000, 3000, 30_000)
LOSSES = ((0.0, 0.0), (0.2, 0.0), (0.4, 0.0), (0.2, 0.2))  # without the feature, without the target


def summary(blocks: np.ndarray, prior: str | float = "adaptive", approximation: str = "matched") -> Summary:
    """The posteriors of tables of one shape, (tables, r + 1, s + 1)."""
    count, rows, columns = blocks.shape
    tables = Tables(blocks.ravel(), np.full(count, rows - 1), np.full(count, columns - 1))
    return summarize(tables, Belief(prior=prior, approximation=approximation, epsilon=0.003))


def drawn(
    probabilities: np.ndarray,
    size: int,
    count: int,
    missing_shares: tuple[float, float],
    generator: np.random.Generator,
) -> np.ndarray:
    """Blocks of `size` rows each, some without the feature or the target; probabilities of one table, or of each."""
    rows, columns = probabilities.shape[-2:]
    flat = np.broadcast_to(probabilities.reshape(-1, rows * columns), (count, rows * columns))
    counts = generator.multinomial(size, flat).reshape(count, rows, columns)
    no_feature = generator.binomial(counts, missing_shares[0])
    no_target = generator.binomial(counts - no_feature, missing_shares[1] / (1.0 - missing_shares[0]))
    blocks = np.zeros((count, rows + 1, columns + 1))
    blocks[:, :rows, :columns] = counts - no_feature - no_target
    blocks[:, :rows, columns] = no_feature.sum(axis=2)
    blocks[:, rows, :columns] = no_target.sum(axis=1)
    return blocks


def information(probabilities: np.ndarray) -> np.ndarray:
    """I of tables of probabilities, in nats."""
    independent = probabilities.sum(axis=-1, keepdims=True) * probabilities.sum(axis=-2, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(probabilities > 0.0, probabilities * np.log(probabilities / independent), 0.0)
    return terms.sum(axis=(-2, -1))


def dependent(rows: int, columns: int, true_information: float, generator: np.random.Generator) -> np.ndarray:
    """Probabilities with this information: a mixture of independent ones and ones drawn at random."""
    while True:
        classes, values = generator.dirichlet(np.full(rows, 5.0)), generator.dirichlet(np.full(columns, 5.0))
        independent = np.outer(classes, values)
        random_table = generator.dirichlet(np.full(rows * columns, 0.5)).reshape(rows, columns)
        random_table *= (classes / random_table.sum(axis=1))[:, None]
        if information(random_table) < true_information:
            continue
        low, high = 0.0, 1.0
        for _ in range(50):
            middle = 0.5 * (low + high)
            low, high = (
                (middle, high)
                if information((1.0 - middle) * independent + middle * random_table) < true_information
                else (low, middle)
            )
        return (1.0 - low) * independent + low * random_table


def noise(count: int, generator: np.random.Generator) -> None:
    """Independent features: how many are kept, and the error of E[I]."""
    print("| shape | rule kept, % | " + " | ".join(f"N = {size:,}" for size in SIZES) + " |")
    print("|---|---|" + "---:|" * len(SIZES))
    overall = []
    for rows, columns in SHAPES:
        lines: dict[str, list[str]] = {"adaptive": [], "jeffreys": [], "error / plug-in": []}
        for size in SIZES:
            shares_kept: dict[str, list[float]] = {"adaptive": [], "jeffreys": []}
            errors = []
            for case, missing_shares in enumerate(LOSSES):
                skewed = np.append(50.0, np.ones(rows - 1)) / (49.0 + rows)
                classes = skewed if case == 3 else generator.dirichlet(np.full(rows, 2.0))
                probabilities = np.outer(classes, generator.dirichlet(np.ones(columns)))
                blocks = drawn(probabilities, size, count, missing_shares, generator)
                posteriors = summary(blocks)
                shares_kept["adaptive"].append(float(np.mean(posteriors.p_above >= 0.95)))
                shares_kept["jeffreys"].append(float(np.mean(summary(blocks, "jeffreys").p_above >= 0.95)))
                plugged_in = summary(blocks, 1e-6, "leading").mean
                errors.append((np.mean(posteriors.mean**2), np.mean(plugged_in**2)))
            overall += shares_kept["adaptive"]
            for prior, shares in shares_kept.items():
                lines[prior].append(f"{100 * np.mean(shares):.1f}")
            our_error, plug_in_error = np.mean(errors, axis=0)
            lines["error / plug-in"].append(f"{np.sqrt(our_error / plug_in_error):.2f}")
        for name, cells in lines.items():
            print(f"| {rows} x {columns} | {name} | " + " | ".join(cells) + " |", flush=True)
    print(f"\nadaptive, all cells: {100 * np.mean(overall):.2f} % kept, at most {100 * np.max(overall):.1f} % in any\n")


def power(count: int, generator: np.random.Generator) -> None:
    """Dependent features: how many are kept, and the error of E[I]."""
    print("| shape | true I | N | kept, % | error / plug-in |\n|---|---:|---:|---:|---:|")
    for rows, columns, true_information, sizes in (
        (2, 5, 0.1, (100, 300, 1000)),
        (10, 10, 0.1, (300, 1000, 3000)),
        (3, 10, 0.02, (1000, 3000, 10_000)),
    ):
        for size in sizes:
            shares_kept, errors = [], []
            for _ in range(10):
                probabilities = dependent(rows, columns, true_information, generator)
                blocks = drawn(probabilities, size, max(1, count // 10), (0.0, 0.0), generator)
                posteriors = summary(blocks)
                shares_kept.append(np.mean(posteriors.p_above >= 0.95))
                plugged_in = summary(blocks, 1e-6, "leading").mean
                errors.append(
                    (np.mean((posteriors.mean - true_information) ** 2), np.mean((plugged_in - true_information) ** 2))
                )
            our_error, plug_in_error = np.mean(errors, axis=0)
            shape, ratio = f"{rows} x {columns}", np.sqrt(our_error / plug_in_error)
            print(
                f"| {shape} | {true_information} | {size:,} | {100 * np.mean(shares_kept):.0f} | {ratio:.2f} |",
                flush=True,
            )
    print()


def coverage(count: int, generator: np.random.Generator) -> None:
    """How often the interval holds the true I, which is drawn from the prior."""
    print("| shape | N | as it is | twice the points | P(independent) 1/4 | 3/4 |")
    print("|---|---:|---:|---:|---:|---:|")
    for rows, columns in SHAPES:
        for size in (100, 1000, 10_000):
            classes, values = generator.dirichlet(np.full(rows, 3.0)), generator.dirichlet(np.full(columns, 3.0))
            independent = np.outer(classes, values).ravel()
            tightest = adaptive_prior.TIGHTEST * min(rows, columns) * max(size, rows * columns)
            strength = np.exp(generator.uniform(np.log(adaptive_prior.LOOSEST), np.log(tightest), count))
            probabilities = generator.gamma(strength[:, None] * independent) + 1e-300
            probabilities /= probabilities.sum(axis=1, keepdims=True)
            probabilities[generator.random(count) < 0.5] = independent
            blocks = drawn(probabilities.reshape(count, rows, columns), size, count, (0.2, 0.0), generator)
            truth = np.maximum(information(probabilities.reshape(count, rows, columns)), 0.0)
            cells = []
            for points, p_zero in ((18, 0.5), (36, 0.5), (18, 0.25), (18, 0.75)):
                adaptive_prior.GRID, adaptive_prior.P_ZERO = points, p_zero
                posteriors = summary(blocks)
                cells.append(
                    f"{100 * np.mean((posteriors.low <= truth + 1e-12) & (truth <= posteriors.high + 1e-12)):.1f}"
                )
            adaptive_prior.GRID, adaptive_prior.P_ZERO = 18, 0.5
            print(f"| {rows} x {columns} | {size:,} | " + " | ".join(cells) + " |", flush=True)


def main() -> None:
    """Print all four."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=400, help="a cell and case (default: %(default)s)")
    options = parser.parse_args()
    generator = np.random.default_rng(0)
    noise(options.tables, generator)
    power(options.tables, generator)
    coverage(options.tables * 4, generator)


if __name__ == "__main__":
    main()
