"""Whether the bands of `rank(robust_factor=2)` hold the truth if values are missing with a known factor.

Tables of 2 x 2 to 4 x 8, 500 to 20,000 rows, 5 to 40 % of the rows without the feature, without the target, or some
of each; the truth is independent, or has an I between about 0.0005 and 0.2. The odds of being missing differ between
the values of a feature within each class, and between the classes within each value if the target is missing, by a
factor g: each is drawn at random between 1 and g, and one is 1 and one is g; "extreme" draws only 1 and g, the
vertices of what is allowed. For each g and each G >= g of the table below:

    band        share of tables whose band [robust_low, robust_high] at G holds the true I (wanted: >= 95 %)
    keep, drop  how many of these verdicts stand at g
    wrong       share of wrong ones among them: kept with a true I <= epsilon, dropped with more (wanted: <= 5 %)

The column "interval" has the share of tables whose interval of `rank` without `robust` holds the true I.

    python studies/robust.py --tables 50      a quick look
    python studies/robust.py                  as in docs/accuracy.md
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

import numpy as np

from credimi.core.tables import Tables
from credimi.inference.belief import Belief
from credimi.inference.bounds.information_bounds import robust
from credimi.inference.sampling import information_of
from credimi.inference.tables.many_tables import summarize

if TYPE_CHECKING:
    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]

SHAPES = ((2, 2), (2, 3), (2, 6), (3, 4), (4, 8))
ROWS = (500, 2_000, 20_000)
SIDES = ("feature", "target", "both")
FACTORS = ((1.0, 1.0), (1.0, 1.5), (1.5, 1.5), (1.0, 2.0), (1.5, 2.0), (2.0, 2.0), (3.0, 5.0), (5.0, 5.0))


def truth(generator: np.random.Generator, r: int, s: int) -> FloatArray:
    """Cell probabilities: in one of four tables independent, in others with an I spread over three decades."""
    rows, columns = generator.dirichlet(np.full(r, 5.0)), generator.dirichlet(np.full(s, 5.0))
    independent = np.outer(rows, columns)
    if generator.random() < 0.25:
        return independent
    true_information = 10.0 ** generator.uniform(-3.3, -0.7)
    dependent = generator.dirichlet(np.full(r * s, 0.5)).reshape(r, s)
    low, high = 0.0, 1.0
    for _ in range(40):  # the mixture with this I
        share = 0.5 * (low + high)
        mixed = (1.0 - share) * independent + share * dependent
        low, high = (share, high) if information_of(mixed) < true_information else (low, share)
    return mixed


def odds(generator: np.random.Generator, size: int, factor: float, *, extreme: bool) -> FloatArray:
    """Odds of being missing within the factor, both ends among them."""
    drawn = generator.integers(0, 2, size) if extreme else generator.random(size)
    odds_of_missing = factor ** drawn.astype(np.float64)
    odds_of_missing[generator.permutation(size)[:2]] = 1.0, factor
    return odds_of_missing


def hidden(base: float, ratio: FloatArray) -> FloatArray:
    """Probabilities of being missing with these odds, relative to a base probability."""
    missing_odds = base / (1.0 - base) * ratio
    return missing_odds / (1.0 + missing_odds)


def block(
    generator: np.random.Generator, probabilities: FloatArray, rows: int, sides: str, *, factor: float, extreme: bool
) -> FloatArray:
    """The counts of a sample."""
    r, s = probabilities.shape
    no_feature, no_target = np.zeros((r, s)), np.zeros((r, s))
    missing = generator.uniform(0.05, 0.4)
    share_of_side = missing / 2.0 if sides == "both" else missing
    scale = np.sqrt(factor)  # so that about the wanted share is missing
    if sides != "target":
        for i in range(r):
            share = share_of_side * generator.uniform(0.5, 1.5)  # may depend on the class
            no_feature[i] = hidden(share / scale, odds(generator, s, factor, extreme=extreme))
    if sides != "feature":
        for j in range(s):
            share = share_of_side * generator.uniform(0.5, 1.5)
            no_target[:, j] = hidden(share / scale, odds(generator, r, factor, extreme=extreme))
    both = np.stack(
        [probabilities * (1.0 - no_feature - no_target), probabilities * no_feature, probabilities * no_target]
    )
    counts = generator.multinomial(rows, both.ravel()).reshape(3, r, s).astype(np.float64)
    counts_block = np.zeros((r + 1, s + 1))
    counts_block[:r, :s], counts_block[:r, s], counts_block[r, :s] = (
        counts[0],
        counts[1].sum(axis=1),
        counts[2].sum(axis=0),
    )
    return counts_block


def line(generator: np.random.Generator, tables: int, g: float, factor: float, sides: str, *, extreme: bool) -> str:
    """One line of the table."""
    options = Belief(epsilon=0.003)
    blocks, true = [], []
    for _ in range(tables):
        shape, rows = SHAPES[generator.integers(len(SHAPES))], ROWS[generator.integers(len(ROWS))]
        probabilities = truth(generator, *shape)
        blocks.append(block(generator, probabilities, rows, sides, factor=g, extreme=extreme))
        true.append(float(information_of(probabilities)))
    tables_of_counts, true_information = Tables.of(blocks), np.array(true)
    posteriors = summarize(tables_of_counts, options)
    bounds = robust(tables_of_counts, posteriors.p_above, (posteriors.low, posteriors.high), factor, options)
    within = (true_information >= bounds.low - 1e-12) & (true_information <= bounds.high + 1e-12)
    at_random = (true_information >= posteriors.low - 1e-12) & (true_information <= posteriors.high + 1e-12)
    stands = bounds.tipping >= g
    keep, drop = (posteriors.p_above >= options.level) & stands, (1.0 - posteriors.p_above >= options.level) & stands
    wrong = np.count_nonzero(true_information[keep] <= options.epsilon) + np.count_nonzero(
        true_information[drop] > options.epsilon
    )
    cells = (
        f"{g:g}",
        f"{factor:g}",
        sides,
        "extreme" if extreme else "random",
        f"{100 * within.mean():.1f}",
        f"{100 * at_random.mean():.1f}",
        f"{keep.sum():,}",
        f"{drop.sum():,}",
        f"{100 * wrong / max(keep.sum() + drop.sum(), 1):.1f}",
    )
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=200, help="a line (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="(default: %(default)s)")
    options = parser.parse_args()
    print("| g | G | missing | odds | band, % | interval, % | keep | drop | wrong, % |")
    print("|---:|---:|---|---|---:|---:|---:|---:|---:|")
    for g, factor in FACTORS:
        for sides in SIDES:
            for extreme in (False, True) if g > 1.0 else (False,):
                generator = np.random.default_rng((options.seed, int(100 * g), SIDES.index(sides), extreme))
                print(line(generator, options.tables, g, factor, sides, extreme=extreme), flush=True)


if __name__ == "__main__":
    main()
