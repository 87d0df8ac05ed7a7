"""How often an edge of `network` of a given probability is true where rows are few: random networks of nine kinds.

    python studies/edge_calibration.py                            the tables of docs/explanation/networks.md
    python studies/edge_calibration.py --nets 1 --rows 50 100     a quick look
    python studies/edge_calibration.py --missing 20 --kinds mixed dense

Tables have 20 columns of two to five values. Kinds:

- mixed: 1.5 to 3.5 neighbours a column on average, at most three parents; conditional probabilities from Dirichlet
  distributions of .3, .5 or 1 a value
- trees: each column depends on one of those before it
- noise: half of the columns have one or two parents, the others depend on nothing and nothing depends on them
- sparse, dense: as mixed, one neighbour a column, or four
- rings: groups of five columns, each of which depends on the one before it, and the last on the first, too
- skewed: as mixed, but one value of each column is frequent, however its parents are
- functions: as mixed, but tables put nearly all on one value (Dirichlet of .05, and 5 % at random)
- additive: columns of two values; half have one to four causes, whose effects add up in the log odds

Choices of the method were made by looking at the first three kinds (with other numbers of rows and other seeds); the
other six were held out. The last line of each part says how much is expected of columns without any edge in "noise".
"""

from __future__ import annotations

import argparse
from itertools import pairwise

import numpy as np

from credimi.counts.rows.distinct_rows import DistinctRows
from credimi.questions.network.learn import LearnOptions, learn

LOOKED_AT = ("mixed", "trees", "noise")
HELD_OUT = ("sparse", "dense", "rings", "skewed", "functions", "additive")
COLUMNS = 20
BINS = np.array([0.0, 0.05, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.95, 1.0])
Parents = list[list[int]]


def parents_of(kind: str, generator: np.random.Generator) -> Parents:
    """The parents of each column, all of which come before it."""
    parents: Parents = [[] for _ in range(COLUMNS)]
    if kind == "trees":
        return [[int(generator.integers(column))] if column else [] for column in range(COLUMNS)]
    if kind == "rings":
        return [
            [] if column % 5 == 0 else [column - 1] if column % 5 < 4 else [column - 4, column - 1]
            for column in range(COLUMNS)
        ]
    if kind in {"noise", "additive"}:
        columns, most = (range(1, COLUMNS // 2), 2) if kind == "noise" else (range(COLUMNS // 2, COLUMNS), 4)
        for column in columns:
            count = min(column, int(generator.integers(1, most + 1)))
            parents[column] = generator.choice(column, count, replace=False).tolist()
        return parents
    degree = {"sparse": 1.0, "dense": 4.0}.get(kind) or generator.uniform(1.5, 3.5)
    while sum(map(len, parents)) < int(degree * COLUMNS / 2):
        parent, child = sorted(generator.choice(COLUMNS, 2, replace=False).tolist())
        if parent not in parents[child] and len(parents[child]) < 3:
            parents[child].append(parent)
    return parents


def drawn(kind: str, parents: Parents, rows: int, generator: np.random.Generator) -> np.ndarray:
    """Codes, (columns, rows)."""
    values = np.full(COLUMNS, 2) if kind == "additive" else generator.integers(2, 6, COLUMNS)
    codes = np.zeros((COLUMNS, rows), dtype=np.int64)
    for column, column_parents in enumerate(parents):
        size, state, states = int(values[column]), np.zeros(rows, dtype=np.int64), 1
        for parent in column_parents:
            state, states = state * int(values[parent]) + codes[parent], states * int(values[parent])
        if kind == "additive":
            effects = generator.uniform(0.5, 1.2, len(column_parents)) * generator.choice([-1, 1], len(column_parents))
            log_odds = effects @ (2.0 * codes[column_parents] - 1.0) if column_parents else np.zeros(rows)
            codes[column] = generator.random(rows) < 1.0 / (1.0 + np.exp(-log_odds))
            continue
        weights = np.full(size, generator.choice([0.3, 0.5, 1.0]) if column_parents else 2.0)
        if kind == "functions" and column_parents:
            weights = np.full(size, 0.05)
        if kind == "skewed":
            weights = np.append(np.full(size - 1, 0.1 if column_parents else 0.3), 1.0 if column_parents else 2.0)
        tables = generator.dirichlet(weights, states)
        if kind == "functions":
            tables = 0.95 * tables + 0.05 / size
        codes[column] = (generator.random(rows)[:, np.newaxis] > tables.cumsum(axis=1)[state, :-1]).sum(axis=1)
    return codes


def pairs_of(kind: str, rows: int, missing: float, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """P(edge) of all pairs of one network, whether it is true, and whether one of the two columns has no true edge."""
    generator = np.random.default_rng([seed, rows, *kind.encode()])
    parents = parents_of(kind, generator)
    codes = drawn(kind, parents, rows, generator)
    varies = np.array([np.unique(column).size > 1 for column in codes])
    used = np.array([np.unique(column, return_inverse=True)[1] for column in codes[varies]])
    values = used.max(axis=1) + 1
    removed = generator.random(used.shape) < missing / 100.0
    used = np.where(removed, values[:, np.newaxis], used)
    true = np.zeros((COLUMNS, COLUMNS), dtype=bool)
    for column, column_parents in enumerate(parents):
        true[column, column_parents] = true[column_parents, column] = True
    found = learn(DistinctRows.of(used.astype(np.uint16)), values.astype(np.int64), LearnOptions(seed=seed, threads=1))
    upper = np.triu_indices(int(varies.sum()), 1)
    without = (~true.any(axis=1))[varies]
    return found.edge_matrix[upper], true[np.ix_(varies, varies)][upper], without[upper[0]] | without[upper[1]]


def line(probability: np.ndarray, true: np.ndarray) -> str:
    """The cells of a table: how many pairs are in each bin, the mean of P, and the share that is true."""
    place = np.minimum(np.digitize(probability, BINS) - 1, BINS.size - 2)
    cells = []
    for number in range(1, BINS.size - 1):
        inside = place == number
        figures = (
            f"{inside.sum()}: {probability[inside].mean():.2f}, {true[inside].mean():.2f}" if inside.any() else "-"
        )
        cells.append(figures)
    return " | ".join(cells)


def score(probability: np.ndarray, true: np.ndarray) -> float:
    """The mean of -log P of what is so, in thousandths of a nat a pair; P is at least .0001 and at most .9999."""
    chance = np.clip(np.where(true, probability, 1.0 - probability), 1e-4, 1.0)
    return float(-1000.0 * np.log(chance).mean())


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kinds", nargs="+", default=[*LOOKED_AT, *HELD_OUT])
    parser.add_argument("--rows", type=int, nargs="+", default=[50, 100, 200, 500])
    parser.add_argument("--nets", type=int, default=6, help="networks of each kind and number of rows")
    parser.add_argument("--missing", type=float, default=0.0, help="percent of the cells")
    parser.add_argument("--seed", type=int, default=1000)
    options = parser.parse_args()
    heading = " | ".join(f"{low:g} to {high:g}" for low, high in pairwise(BINS[1:]))
    print(f"| kind | rows | {heading} | expected, true | F1 | score |\n|---|---:|{'---|' * (BINS.size + 1)}")
    groups: dict[str, list[tuple[np.ndarray, np.ndarray]]] = {}
    without_edges: list[float] = []
    for kind in options.kinds:
        for rows in options.rows:
            nets = [pairs_of(kind, rows, options.missing, options.seed + net) for net in range(options.nets)]
            probability, true, without = (np.concatenate(each) for each in zip(*nets, strict=True))
            print_line(kind, str(rows), probability, true)
            group = "looked at" if kind in LOOKED_AT else "held out"
            groups.setdefault(f"{group} | {rows}", []).append((probability, true))
            if kind == "noise":
                without_edges.append(float(probability[without].sum()) / (options.nets * COLUMNS / 2))
    for group, parts in sorted(groups.items()):
        probability, true = (np.concatenate(each) for each in zip(*parts, strict=True))
        print_line(*group.split(" | "), probability, true)
    if without_edges:
        told = ", ".join(f"{expected:.3f}" for expected in without_edges)
        print(f"\nnoise: edges expected of a column that has none, by rows: {told}")


def print_line(kind: str, rows: str, probability: np.ndarray, true: np.ndarray) -> None:
    """Print one line of the table."""
    found = probability >= 0.5
    f1 = 2.0 * (found & true).sum() / max(found.sum() + true.sum(), 1)
    sums = f"{probability.sum():.0f}, {true.sum()}"
    print(
        f"| {kind} | {rows} | {line(probability, true)} | {sums} | {f1:.3f} | {score(probability, true):.0f} |",
        flush=True,
    )


if __name__ == "__main__":
    main()
