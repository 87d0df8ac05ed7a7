"""Survey weights: whether 95 % intervals hold 95 % of the truths, whatever the weights depend on.

Populations of two columns are drawn at random, with a given I. Rows are sampled with unequal probabilities, and weigh
as much as they are rare in the sample; samples are then ranked with one number of rows for all tables (Kish's effective
sample size), and with each table's own (`survey_rows`). For comparison, as many rows as the table is worth are
sampled with equal probabilities, with values missing in the same way: this is what the prior and the approximation of
the posterior cost without any weights. Weights depend on

    unrelated    on nothing in the table: lognormal
    y, x         on the class; on the value
    x and y      on both: a factor for each cell
    cells        on both, times lognormal noise
    strata       on a third column, related to both, of which a fixed number of rows is drawn from each value
    feature      as x and y; values are missing, in each class with another probability
    both         as x and y; values and classes are missing, by the other column
    telling      on both: cells weigh the more, the more they say about dependence

    python studies/survey_weights.py              # all tables: about five minutes on one core
    python studies/survey_weights.py --samples 50 # the same, coarser
"""

from __future__ import annotations

import argparse
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from credimi.core.tables import Tables
from credimi.counts.survey.survey_rows import scaled
from credimi.inference.belief import Belief
from credimi.inference.tables.many_tables import summarize

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

DESIGNS = ("unrelated", "y", "x", "x and y", "cells", "strata", "feature", "both", "telling")
SHAPES = ((2, 2), (2, 5), (3, 4), (5, 6))
INFORMATION = (0.02, 0.106, 0.3)
STRATA = 4
EPSILON = 0.003


def information(table: Floats) -> float:
    """The mutual information of a table of probabilities."""
    outer = np.outer(table.sum(axis=1), table.sum(axis=0))
    positive = table > 0.0
    return float((table[positive] * np.log(table[positive] / outer[positive])).sum())


def population(rng: np.random.Generator, shape: tuple[int, int], target: float) -> Floats:
    """Probabilities of cells with I = target: random margins, tilted by a random table until I is right."""
    while True:
        rows, columns = (0.7 * rng.dirichlet(np.full(size, 4.0)) + 0.3 / size for size in shape)
        cells, tilt = np.outer(rows, columns), rng.normal(size=shape)

        def tilted(strength: float, cells: Floats = cells, tilt: Floats = tilt) -> Floats:
            table = cells * np.exp(strength * tilt)
            return table / table.sum()

        low, high = 0.0, 8.0
        if information(tilted(high)) < target:
            continue
        for _ in range(50):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if information(tilted(middle)) < target else (low, middle)
        return tilted(low)


def factors(rng: np.random.Generator, design: str, table: Floats) -> Floats:
    """How much a row of each cell weighs."""
    shape = table.shape
    if design == "telling":
        telling = np.abs(np.log(table / np.outer(table.sum(axis=1), table.sum(axis=0))))
        return np.exp(2.0 * telling / max(telling.max(), 1e-9))
    if design in ("unrelated", "strata"):
        return np.ones(shape)
    if design == "y":
        return np.exp(rng.normal(size=(shape[0], 1))) * np.ones(shape)
    if design == "x":
        return np.exp(rng.normal(size=(1, shape[1]))) * np.ones(shape)
    return np.exp(rng.normal(size=shape))


def sample(
    rng: np.random.Generator, design: str, table: Floats, rows: int, *, weighted: bool = True
) -> tuple[Floats, Floats]:
    """One sample: the sums of the weights, and those of their squares, as blocks with missing counts last."""
    shape = table.shape
    if not weighted:
        cells, weights = rng.choice(table.size, rows, p=table.ravel()), np.ones(rows)
    elif design == "strata":
        share = rng.dirichlet(np.full(STRATA, 3.0), size=table.size) * table.ravel()[:, np.newaxis]
        size = share.sum(axis=0)
        drawn = rng.multinomial(rows - 10 * STRATA, rng.dirichlet(np.full(STRATA, 2.0))) + 10
        cells = np.concatenate([rng.choice(table.size, drawn[h], p=share[:, h] / size[h]) for h in range(STRATA)])
        weights = np.repeat(size / drawn, drawn)
    else:
        factor = factors(rng, design, table).ravel()
        chance = table.ravel() / factor
        cells = rng.choice(table.size, rows, p=chance / chance.sum())
        weights = factor[cells]
        if design in ("unrelated", "cells"):
            weights = weights * np.exp(0.7 * rng.normal(size=rows))
    weights = weights * rng.uniform(10.0, 1000.0) if weighted else weights  # any unit
    y, x = np.divmod(cells, shape[1])
    if design in ("feature", "both"):
        no_x = rng.random(rows) < rng.uniform(0.1, 0.5, size=shape[0])[y]
        no_y = rng.random(rows) < rng.uniform(0.1, 0.4, size=shape[1])[x] if design == "both" else np.zeros(rows, bool)
        both = no_x & no_y  # missing at random: a row lacks one of the two
        first = rng.random(rows) < 0.5
        no_x, no_y = no_x & ~(both & first), no_y & ~(both & ~first)
        y, x = np.where(no_y, shape[0], y), np.where(no_x, shape[1], x)
    height, width = shape[0] + 1, shape[1] + 1
    at = y * width + x
    counted = (np.bincount(at, each, minlength=height * width).reshape(height, width) for each in (weights, weights**2))
    block, squares = counted
    return block, squares


def figures(
    rng: np.random.Generator, design: str, shape: tuple[int, int], target: float, args: tuple[int, int]
) -> dict[str, Floats]:
    """For one cell of the study: which intervals hold the truth, which tables are kept, and the effective sizes."""
    rows, samples = args
    options = Belief(epsilon=EPSILON, level=0.95, threads=1)
    populations = [population(rng, shape, target) for _ in range(samples)]
    pairs = [sample(rng, design, table, rows) for table in populations]
    blocks = [block for block, _ in pairs]
    squares = np.concatenate([each.ravel() for _, each in pairs])
    tables = Tables.of(blocks)
    kish = np.array([block.sum() ** 2 / each.sum() for block, each in pairs])
    one = Tables.of([block * worth / block.sum() for block, worth in zip(blocks, kish, strict=True)])
    own = scaled(tables, squares)
    worth = [round(float(own.block(number).sum())) for number in range(samples)]
    plain = [
        sample(rng, design, table, size, weighted=False)[0] for table, size in zip(populations, worth, strict=True)
    ]
    result: dict[str, Floats] = {"kish": kish, "own": np.array(worth, dtype=np.float64)}
    for name, counted in (("one", one), ("own", own), ("equal", Tables.of(plain))):
        summary = summarize(counted, options, if_dependent=False)
        result[f"held {name}"] = (summary.low <= target) & (target <= summary.high)
        result[f"kept {name}"] = summary.p_above >= 0.95
    return result


def cells(args: argparse.Namespace) -> Iterator[tuple[str, tuple[int, int], float]]:
    """What is tried."""
    yield from product(args.designs, SHAPES, (0.0, *INFORMATION))


def main() -> None:
    """Print the table of the documentation, and every cell."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--samples", type=int, default=500)
    parser.add_argument("--rows", type=int, default=4000)
    parser.add_argument("--seed", type=int, default=20)
    parser.add_argument("--designs", nargs="+", default=DESIGNS, choices=DESIGNS)
    args = parser.parse_args()
    whole: dict[tuple[str, float], list[dict[str, Floats]]] = {}
    for number, (design, shape, target) in enumerate(cells(args)):
        rng = np.random.default_rng([args.seed, number])
        found = figures(rng, design, shape, target, (args.rows, args.samples))
        whole.setdefault((design, target), []).append(found)
        means = {name: float(values.mean()) for name, values in found.items()}
        print(f"{design:10} {shape[0]} x {shape[1]} I {target:5.3f}", end="  ")
        print(*(f"{name} {mean:.3f}" if " " in name else f"{name} {mean:5.0f}" for name, mean in means.items()))
    print("\none number / own number / as many rows of equal weight\ndesign      ", end="")
    print("".join(f"I = {target:<21}" for target in INFORMATION) + "noise kept")
    for design in args.designs:
        print(f"{design:12}", end="")
        for target in INFORMATION:
            print(_three(whole[design, target], "held"), end="      ")
        print(_three(whole[design, 0.0], "kept"))


def _three(parts: list[dict[str, Floats]], what: str) -> str:
    means = (np.concatenate([part[f"{what} {name}"] for part in parts]).mean() for name in ("one", "own", "equal"))
    return " / ".join(f"{mean:.3f}" for mean in means)


if __name__ == "__main__":
    main()
