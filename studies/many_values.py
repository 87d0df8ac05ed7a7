"""Whether intervals of the adaptive prior hold the truth for columns of hundreds of values and more.

There the evidence for the strength K has a peak that is narrow beside a step of the prior's grid (see
`credimi.inference.evidence.adaptive_weights`). Two classes; the chance of the first, value by value, is drawn from a
Beta(2, 2), as the prior itself would have it for K = 4 a value, or is one of two numbers, as it would not. Printed: the
share of tables whose 95 % interval holds the true information, its mean width, and the mean error of E[I].

    python studies/many_values.py               the table of docs/adaptive.md, half a minute
    python studies/many_values.py --tables 10   a quick look
"""

from __future__ import annotations

import argparse

import numpy as np

import credimi
from credimi.inference.sampling import information_of

SIZES = [(50, 1_000), (100, 2_000), (150, 3_000), (500, 10_000), (1_000, 4_000), (2_000, 40_000), (5_000, 100_000)]
LAWS = {
    "Beta(2, 2)": lambda values, generator: generator.beta(2.0, 2.0, values),
    ".2 or .8": lambda values, generator: generator.choice([0.2, 0.8], values),
    ".45 or .55": lambda values, generator: generator.choice([0.45, 0.55], values),
}


def main() -> None:
    """Print one line a law and size."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=200, help="a line (default: %(default)s)")
    options = parser.parse_args()
    generator = np.random.default_rng(0)
    print(
        "| probability of a class | values | rows | I held, % | width | error of E[I] |\n|---|---:|---:|---:|---:|---:|"
    )
    for law, draw in LAWS.items():
        for values, rows in SIZES:
            held, widths, errors = [], [], []
            for _ in range(options.tables):
                share = draw(values, generator)
                probabilities = np.stack([share, 1.0 - share]) / values
                truth = float(information_of(probabilities))
                counts = generator.multinomial(rows, probabilities.ravel()).reshape(2, values)
                posterior = credimi.mutual_information(counts)
                low, high = posterior.interval(0.95)
                held.append(low <= truth <= high)
                widths.append(high - low)
                errors.append(posterior.mean() - truth)
            line = f"| {law} | {values:,} | {rows:,} | {100 * np.mean(held):.1f} | {np.mean(widths):.4f} "
            print(f"{line}| {np.mean(errors):+.4f} |", flush=True)


if __name__ == "__main__":
    main()
