"""How often `compare` says that a column has changed: the same data twice, two samples of one population, real changes.

    python studies/compare.py                 the tables of docs/how-to/comparing.md, some minutes
    python studies/compare.py --columns 20    a quick look

All tables are drawn from chances of a random shape: margins from a Dirichlet distribution, and a dependence whose I is
0 for a third of the columns and .003 to .3 for the others. In every other column of the first table a fifth of the
values and a tenth of the targets are missing.
"""

from __future__ import annotations

import argparse

import numpy as np
from adaptive import information
from scipy import optimize

from credimi.core.tables import Tables
from credimi.inference.change import posteriors_of, priors_of
from credimi.selection.comparisons.change_records import CompareOptions

SHAPES, SIZES = ((2, 2), (2, 5), (4, 10)), (100, 300, 1_000, 3_000, 10_000)
OPTIONS = CompareOptions()


def margin(size: int, generator: np.random.Generator) -> np.ndarray:
    """Shares that are not too uneven."""
    return 0.5 / size + 0.5 * generator.dirichlet(np.full(size, 2.0))


def chances(shape: tuple[int, int], strength: float, generator: np.random.Generator) -> np.ndarray:
    """Of this I, in a random direction away from independence."""
    while True:
        even = np.outer(margin(shape[0], generator), margin(shape[1], generator))
        away = generator.normal(size=shape) * even
        rows, columns = even.sum(axis=1), even.sum(axis=0)
        away += away.sum() * even - np.outer(rows, away.sum(axis=0)) - np.outer(away.sum(axis=1), columns)
        most = float(np.min(np.where(away < 0.0, -even / np.minimum(away, -1e-12), np.inf)))
        if strength == 0.0:
            return even
        if information(even + most * away) > strength:
            length = optimize.brentq(lambda x, e=even, w=away: float(information(e + x * w)) - strength, 0.0, most)
            return even + length * away


def strengths(count: int, generator: np.random.Generator) -> np.ndarray:
    """The true I of each column."""
    drawn = np.exp(generator.uniform(np.log(0.003), np.log(0.3), count))
    return np.where(np.arange(count) % 3 == 0, 0.0, drawn)


def drawn(chance: np.ndarray, rows: int, generator: np.random.Generator, *, missing: bool) -> np.ndarray:
    """A block of so many rows."""
    chance = np.maximum(chance, 0.0)
    cells = generator.multinomial(rows, chance.ravel() / chance.sum()).reshape(chance.shape)
    block = np.zeros((chance.shape[0] + 1, chance.shape[1] + 1))
    if missing:
        for share, axis in ((0.2, 1), (0.1, 0)):
            gone = generator.binomial(cells, share)
            cells = cells - gone
            if axis:
                block[:-1, -1] = gone.sum(axis=1)
            else:
                block[-1, :-1] = gone.sum(axis=0)
    block[:-1, :-1] = cells
    return block


def changes(first: list[np.ndarray], second: list[np.ndarray]) -> np.ndarray:
    """Of each pair P(change), and P(change) of the two posteriors alone."""
    sides = [Tables.of(first), Tables.of(second)]
    laws, priors = [posteriors_of(each) for each in sides], [priors_of(each) for each in sides]
    found = [OPTIONS.change(*each) for each in zip(zip(*laws, strict=True), zip(*priors, strict=True), strict=True)]
    return np.array([(each.p_more + each.p_less, each.p_change_if_apart) for each in found])


def unchanged(columns: int) -> None:
    """The same data twice, and two samples of one population; half of the columns have missing values."""
    heads = (
        "shape",
        "rows in each",
        "same data: largest P(change)",
        "one population: largest",
        "said to have changed, %",
    )
    print(f"| {' | '.join(heads)} | by the posteriors alone, % |")
    print("|---|---:|---:|---:|---:|---:|")
    every = []
    for shape in SHAPES:
        for rows in SIZES:
            generator = np.random.default_rng([*shape, rows])
            tables = [chances(shape, each, generator) for each in strengths(columns, generator)]
            first, second = (
                [drawn(each, rows, generator, missing=place % 2 == 1) for place, each in enumerate(tables)]
                for _ in "ab"
            )
            same, other = changes(first, first)[:, 0], changes(first, second)
            every.append(other >= OPTIONS.level)
            said, alone = 100.0 * every[-1].mean(axis=0)
            line = f"| {shape[0]} x {shape[1]} | {rows:,} | {same.max():.4f} | {other[:, 0].max():.2f} "
            print(f"{line}| {said:.1f} | {alone:.0f} |", flush=True)
    said, alone = 100.0 * np.concatenate(every).mean(axis=0)
    print(f"| all | | | | {said:.2f} | {alone:.0f} |")


def shifted(columns: int) -> None:
    """The same conditional shares and other margins: I is nearly the same, and the joint chances are not."""
    print("\n| classes shift from 50:50 to | rows in each | I, before and after | said to have changed, % |")
    print("|---|---:|---:|---:|")
    conditional = np.array([[0.7, 0.3], [0.4, 0.6]])
    for share in (0.4, 0.2, 0.05):
        for rows in (300, 3_000, 30_000):
            generator = np.random.default_rng([round(100 * share), rows])
            pair = [np.array([[each], [1.0 - each]]) * conditional for each in (0.5, share)]
            sides = [[drawn(each, rows, generator, missing=False) for _ in range(columns)] for each in pair]
            said = 100.0 * np.mean(changes(sides[0], sides[1])[:, 0] >= OPTIONS.level)
            figures = " and ".join(f"{information(each):.4f}" for each in pair)
            print(f"| {100 * share:g}:{100 - 100 * share:g} | {rows:,} | {figures} | {said:.0f} |", flush=True)


def changed(columns: int) -> None:
    """Real changes: how many are found, and how many the wrong way round."""
    print("\n| shape | I, before and after | " + " | ".join(f"{rows:,} rows" for rows in SIZES) + " |")
    print("|---|---|" + "---:|" * len(SIZES))
    for shape in SHAPES:
        for before, after in ((0.1, 0.0), (0.1, 0.03), (0.1, 0.2), (0.03, 0.0), (0.0, 0.03), (0.01, 0.03)):
            cells = []
            for rows in SIZES:
                generator = np.random.default_rng([*shape, rows, round(1000 * before), round(1000 * after)])
                sides = [
                    [drawn(chances(shape, each, generator), rows, generator, missing=False) for _ in range(columns)]
                    for each in (before, after)
                ]
                cells.append(f"{100.0 * np.mean(changes(sides[0], sides[1])[:, 0] >= OPTIONS.level):.0f} %")
            print(f"| {shape[0]} x {shape[1]} | {before:g}, {after:g} | {' | '.join(cells)} |", flush=True)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--columns", type=int, default=200, help="a line (default: %(default)s)")
    options = parser.parse_args()
    unchanged(options.columns)
    shifted(max(options.columns // 2, 1))
    changed(max(options.columns // 4, 1))


if __name__ == "__main__":
    main()
