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
from credimi.questions.compare.answer import samples_of
from credimi.questions.compare.change_records import CompareOptions

SHAPES, SIZES = ((2, 2), (2, 5), (4, 10)), (100, 300, 1_000, 3_000, 10_000)
OPTIONS = CompareOptions()


def margin(size: int, generator: np.random.Generator) -> np.ndarray:
    """Shares that are not too uneven."""
    return 0.5 / size + 0.5 * generator.dirichlet(np.full(size, 2.0))


def cell_probabilities(shape: tuple[int, int], strength: float, generator: np.random.Generator) -> np.ndarray:
    """Cell probabilities with this I, in a random direction away from independence."""
    while True:
        independent = np.outer(margin(shape[0], generator), margin(shape[1], generator))
        direction = generator.normal(size=shape) * independent
        rows, columns = independent.sum(axis=1), independent.sum(axis=0)
        direction += (
            direction.sum() * independent
            - np.outer(rows, direction.sum(axis=0))
            - np.outer(direction.sum(axis=1), columns)
        )
        longest = float(np.min(np.where(direction < 0.0, -independent / np.minimum(direction, -1e-12), np.inf)))
        if strength == 0.0:
            return independent
        if information(independent + longest * direction) > strength:
            length = optimize.brentq(
                lambda x, e=independent, w=direction: float(information(e + x * w)) - strength, 0.0, longest
            )
            return independent + length * direction


def strengths(count: int, generator: np.random.Generator) -> np.ndarray:
    """The true I of each column."""
    drawn = np.exp(generator.uniform(np.log(0.003), np.log(0.3), count))
    return np.where(np.arange(count) % 3 == 0, 0.0, drawn)


def drawn(probabilities: np.ndarray, rows: int, generator: np.random.Generator, *, missing: bool) -> np.ndarray:
    """A block of so many rows."""
    probabilities = np.maximum(probabilities, 0.0)
    cells = generator.multinomial(rows, probabilities.ravel() / probabilities.sum()).reshape(probabilities.shape)
    block = np.zeros((probabilities.shape[0] + 1, probabilities.shape[1] + 1))
    if missing:
        for share, axis in ((0.2, 1), (0.1, 0)):
            removed = generator.binomial(cells, share)
            cells = cells - removed
            if axis:
                block[:-1, -1] = removed.sum(axis=1)
            else:
                block[-1, :-1] = removed.sum(axis=0)
    block[:-1, :-1] = cells
    return block


def changes(first: list[np.ndarray], second: list[np.ndarray]) -> np.ndarray:
    """For each pair P(change), and P(change) of the two posteriors alone."""
    found = OPTIONS.changes(samples_of([Tables.of(first), Tables.of(second)], OPTIONS))
    return np.array([(side.p_more + side.p_less, side.p_change_if_apart) for side in found])


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
    all_changed = []
    for shape in SHAPES:
        for rows in SIZES:
            generator = np.random.default_rng([*shape, rows])
            tables = [cell_probabilities(shape, each, generator) for each in strengths(columns, generator)]
            first, second = (
                [drawn(each, rows, generator, missing=index % 2 == 1) for index, each in enumerate(tables)]
                for _ in "ab"
            )
            same, other = changes(first, first)[:, 0], changes(first, second)
            all_changed.append(other >= OPTIONS.level)
            percent_changed, percent_alone = 100.0 * all_changed[-1].mean(axis=0)
            line = f"| {shape[0]} x {shape[1]} | {rows:,} | {same.max():.4f} | {other[:, 0].max():.2f} "
            print(f"{line}| {percent_changed:.1f} | {percent_alone:.0f} |", flush=True)
    percent_changed, percent_alone = 100.0 * np.concatenate(all_changed).mean(axis=0)
    print(f"| all | | | | {percent_changed:.2f} | {percent_alone:.0f} |")


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
            percent_changed = 100.0 * np.mean(changes(sides[0], sides[1])[:, 0] >= OPTIONS.level)
            figures = " and ".join(f"{information(each):.4f}" for each in pair)
            print(
                f"| {100 * share:g}:{100 - 100 * share:g} | {rows:,} | {figures} | {percent_changed:.0f} |", flush=True
            )


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
                    [
                        drawn(cell_probabilities(shape, each, generator), rows, generator, missing=False)
                        for _ in range(columns)
                    ]
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
