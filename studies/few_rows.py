"""What the adaptive prior says of a column that is worth having when rows are few: verdicts by rows and true I.

Two classes and two values, in even or uneven shares, and a true I of 0, 1, 2, 5 and 10 times epsilon = 0.003. Each
cell: the percentages of 1,000 samples that are kept, unsure and dropped at the level 0.95, with the prior adaptive; and
the mean P(independent).

    python studies/few_rows.py                 the table of docs/how-to/choosing-epsilon.md, a minute
    python studies/few_rows.py --samples 20    a quick look
"""

from __future__ import annotations

import argparse
from itertools import product

import numpy as np

from credimi.core.tables import Tables
from credimi.inference.belief import Belief
from credimi.inference.rules import backward, forward
from credimi.inference.sampling import information_of
from credimi.inference.tables.many_tables import summarize

EPSILON = 0.003
TIMES = (0.0, 1.0, 2.0, 5.0, 10.0)
ROWS = (50, 100, 200, 500, 1_000, 2_000, 5_000)
MARGINS = ((0.5, 0.5), (0.2, 0.3), (0.1, 0.1))  # shares of one class and of one value


def probabilities(class_share: float, value_share: float, information: float) -> np.ndarray:
    """A 2 x 2 population with these margins, a positive dependence and this mutual information, by bisection."""
    independent = np.outer([class_share, 1.0 - class_share], [value_share, 1.0 - value_share])
    low, high = 0.0, min(class_share, value_share) - class_share * value_share
    for _ in range(100):
        middle = 0.5 * (low + high)
        population = independent + middle * np.array([[1.0, -1.0], [-1.0, 1.0]])
        low, high = (middle, high) if information_of(population) < information else (low, middle)
    return (independent + low * np.array([[1.0, -1.0], [-1.0, 1.0]])).ravel()


def main() -> None:
    """Print one line a number of rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=1_000, help="a cell (default: %(default)s)")
    samples = parser.parse_args().samples
    generator, options = np.random.default_rng(5), Belief(epsilon=EPSILON, threads=1)
    print("| shares | rows | " + " | ".join(f"I = {times * EPSILON:g}" for times in TIMES) + " |")
    print("|---|---:|" + "---|" * len(TIMES))
    for margins, rows in product(MARGINS, ROWS):
        cells = []
        for times in TIMES:
            blocks = np.zeros((samples, 3, 3))
            drawn = generator.multinomial(rows, probabilities(*margins, times * EPSILON), samples)
            blocks[:, :2, :2] = drawn.reshape(samples, 2, 2)
            sides = np.full(samples, 2)
            found = summarize(Tables(blocks.ravel(), sides, sides), options, if_dependent=False)
            kept, dropped = forward(found.p_above, options.level), ~backward(found.p_above, options.level)
            shares = (100.0 * share for share in (kept.mean(), (~kept & ~dropped).mean(), dropped.mean()))
            cells.append(", ".join(f"{share:.0f}" for share in shares) + f" ({found.p_independent.mean():.2f})")
        print(f"| {margins[0]:g}, {margins[1]:g} | {rows:,} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
