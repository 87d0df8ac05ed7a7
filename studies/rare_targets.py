"""Verdicts about targets with few positives, under epsilon as a number of nats and as a share of the target's entropy.

The target has .5, 1, 5, 20 or 50 % positives; a feature has two values, each in half of the rows, at which the rates of
positives are equal (noise), twofold or fourfold. Each cell: the percentages of the samples that are kept, unsure and
dropped at the level 0.95, with the prior adaptive, under 0.003 nats and under the default, "0.5%". As in `rank`, the
share is that of the entropy in the sample; samples of one class, about which `rank` says nothing, are drawn again.

    python studies/rare_targets.py                 the tables of docs/how-to/choosing-epsilon.md, a few minutes
    python studies/rare_targets.py --samples 20    a quick look
"""

from __future__ import annotations

import argparse
import math
from itertools import product

import numpy as np

from credimi.core.defaults import EPSILON, PAPER_EPSILON
from credimi.core.special import entropy
from credimi.core.tables import Tables
from credimi.inference.belief import Belief
from credimi.inference.rules import backward, forward
from credimi.inference.sampling import information_of
from credimi.inference.tables.many_tables import summarize

POSITIVES = (0.005, 0.01, 0.05, 0.2, 0.5)
ROWS = (1_000, 10_000, 100_000)
RATIOS = (1.0, 2.0, 4.0)
SHARE = float(EPSILON.removesuffix("%")) / 100.0


def population(positives: float, ratio: float) -> np.ndarray:
    """Shares of a 2 x 2 table: classes in its rows, two values with even shares in its columns."""
    rates = 2.0 * positives / (1.0 + ratio) * np.array([1.0, ratio])
    return np.array([1.0 - rates, rates]) / 2.0


def drawn(shares: np.ndarray, rows: int, samples: int, generator: np.random.Generator) -> np.ndarray:
    """Tables of samples in which both classes occur."""
    tables = np.zeros((0, 2, 2))
    while len(tables) < samples:
        more = generator.multinomial(rows, shares.ravel(), samples).reshape(-1, 2, 2)
        tables = np.concatenate([tables, more[more.sum(axis=2).all(axis=1)]])
    return tables[:samples]


def verdicts(tables: np.ndarray, epsilon: float | str) -> str:
    """The percentages that are kept, unsure and dropped; a share is settled by the classes of each sample."""
    totals, kept, dropped = tables.sum(axis=2), 0, 0
    for total in np.unique(totals, axis=0):
        chosen = tables[(totals == total).all(axis=1)]
        blocks, sides = np.zeros((len(chosen), 3, 3)), np.full(len(chosen), 2)
        blocks[:, :2, :2] = chosen
        belief = Belief(epsilon=epsilon, threads=1).settled(entropy(total))
        p_above = summarize(Tables(blocks.ravel(), sides, sides), belief, if_dependent=False).p_above
        kept += np.count_nonzero(forward(p_above, belief.level))
        dropped += np.count_nonzero(~backward(p_above, belief.level))
    counts = kept, len(tables) - kept - dropped, dropped
    return ", ".join(f"{100.0 * count / len(tables):.3g}" for count in counts)


def main() -> None:
    """Print what is worth having, and one line of verdicts for a share of positives and a number of rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=1_000, help="a cell (default: %(default)s)")
    samples = parser.parse_args().samples
    generator = np.random.default_rng(11)
    print(f"| positives | {EPSILON} in nats | I if rates are twofold | fourfold |\n|---:|---:|---:|---:|")
    for positives in POSITIVES:
        worth = SHARE * min(entropy(np.array([positives, 1.0 - positives])), math.log(2.0))
        figures = (worth, *(information_of(population(positives, ratio)) for ratio in RATIOS[1:]))
        print(f"| {100 * positives:g} % | {' | '.join(f'{figure:.5f}' for figure in figures)} |")
    names = [f"{what}, {epsilon}" for what in ("noise", "twofold", "fourfold") for epsilon in ("0.003", EPSILON)]
    print(f"\n| positives | rows | {' | '.join(names)} |\n|---:|---:|{'---|' * len(names)}")
    for positives, rows in product(POSITIVES, ROWS):
        tables = [drawn(population(positives, ratio), rows, samples, generator) for ratio in RATIOS]
        cells = [verdicts(each, epsilon) for each in tables for epsilon in (PAPER_EPSILON, EPSILON)]
        print(f"| {100 * positives:g} % | {rows:,} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
