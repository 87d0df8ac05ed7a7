"""How true sure edges of `network` are on networks unlike those that it was made with: hubs, chains, near functions.

    python studies/other_networks.py [--nets 2] [--kinds ...] [--columns 20 40] [--rows 500 2000] [--missing 0 30]

Kinds of networks, of columns of 2 to 6 values:

- scale-free: a column's one to three parents are chosen in proportion to the children that columns have already
- hubs: a chain of columns, one in ten of which is also a parent of eight of the following ones
- functions: random networks with one to three parents, whose tables put nearly all on one value (Dirichlet of .05)
- skewed: random networks in which one value of each column is rare, however its parents are
- layers: three layers; columns of the second and third have two parents in the layer above

Missing cells are chosen at random. For each kind, of all edges said to have P >= .95, and P from .5 to .95: how many
there are, and how many are true.
"""

from __future__ import annotations

import argparse
from itertools import product

import numpy as np

from credimi.counts.rows.distinct_rows import DistinctRows
from credimi.questions.network.learn import LearnOptions, learn

KINDS = ("scale-free", "hubs", "functions", "skewed", "layers")


def parents_of(kind: str, columns: int, generator: np.random.Generator) -> list[list[int]]:
    """The parents of each column, all of which come before it."""
    parents: list[list[int]] = [[]]
    children = np.ones(columns)
    for column in range(1, columns):
        column_parents: list[int] = []
        if kind == "scale-free":
            parent_count = min(column, int(generator.integers(1, 4)))
            weights = children[:column] / children[:column].sum()
            column_parents = sorted(generator.choice(column, parent_count, replace=False, p=weights).tolist())
        elif kind == "hubs":
            hub = (column - 1) // 10 * 10
            column_parents = sorted({column - 1, hub} if column - hub <= 8 else {column - 1})
        elif kind == "layers":
            third = columns // 3
            layer = column // max(third, 1)
            above = list(range((layer - 1) * third, layer * third)) if layer else []
            column_parents = sorted(generator.choice(above, 2, replace=False).tolist()) if len(above) > 1 else []
        elif generator.random() < 0.85:
            parent_count = min(column, int(generator.integers(1, 4)))
            column_parents = sorted(
                generator.choice(np.arange(max(0, column - 12), column), parent_count, replace=False).tolist()
            )
        children[column_parents] += 1.0
        parents.append(column_parents)
    return parents


def drawn(
    kind: str, parents: list[list[int]], rows: int, generator: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Codes, (columns, rows), and the number of values of each column."""
    values = generator.integers(2, 7 if kind != "scale-free" else 5, len(parents))
    codes = np.zeros((len(parents), rows), dtype=np.int64)
    for column, column_parents in enumerate(parents):
        size = int(values[column])
        parent_state = np.zeros(rows, dtype=np.int64)
        for parent in column_parents:
            parent_state = parent_state * int(values[parent]) + codes[parent]
        parent_states = int(np.prod(values[column_parents])) if column_parents else 1
        weights = np.full(size, 0.05 if kind == "functions" and column_parents else 0.7)
        if kind == "skewed":
            weights = np.concatenate([np.full(size - 1, 1.0), [0.1]])
        tables = generator.dirichlet(weights if column_parents else np.full(size, 2.0), parent_states)
        if kind == "functions":
            tables = 0.98 * tables + 0.02 / size
        levels = generator.random(rows)
        codes[column] = (levels[:, np.newaxis] > np.cumsum(tables, axis=1)[parent_state][:, :-1]).sum(axis=1)
    return codes, values


def used(codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Codes of the values that occur, and how many there are."""
    columns = [np.unique(column, return_inverse=True)[1] for column in codes]
    return np.array(columns), np.array([column.max() + 1 for column in columns])


def main() -> None:
    """Run the study."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nets", type=int, default=1)
    parser.add_argument("--kinds", nargs="+", default=list(KINDS))
    parser.add_argument("--columns", type=int, nargs="+", default=[20, 40])
    parser.add_argument("--rows", type=int, nargs="+", default=[500, 2000])
    parser.add_argument("--missing", type=float, nargs="+", default=[0.0, 30.0])
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    print(
        f"{'kind':12} {'rows':>6} {'lost':>4} {'sure':>6} {'true':>6} {'likely':>6} {'true':>6} {'edges':>6} {'F1':>6}"
    )
    total = np.zeros(2)
    for kind, rows, missing in product(options.kinds, options.rows, options.missing):
        sums, scores = np.zeros(5), []
        for columns, number in product(options.columns, range(options.nets)):
            generator = np.random.default_rng([options.seed, number, columns, KINDS.index(kind)])
            parents = parents_of(kind, columns, generator)
            codes, values = used(drawn(kind, parents, rows, generator)[0])
            varies = values > 1
            removed = generator.random(codes.shape) < missing / 100.0
            codes = np.where(removed, values[:, np.newaxis], codes).astype(np.uint16)
            edges = np.zeros((columns, columns), dtype=bool)
            for child, column_parents in enumerate(parents):
                edges[child, column_parents] = edges[column_parents, child] = True
            edge_probabilities = learn(
                DistinctRows.of(np.ascontiguousarray(codes[varies])),
                values[varies].astype(np.int64),
                LearnOptions(seed=number),
            ).edge_matrix
            upper = np.triu_indices(int(varies.sum()), 1)
            probability, is_true = edge_probabilities[upper], edges[np.ix_(varies, varies)][upper]
            sure, likely = probability >= 0.95, (probability >= 0.5) & (probability < 0.95)
            sums += [sure.sum(), (sure & is_true).sum(), likely.sum(), (likely & is_true).sum(), is_true.sum()]
            is_edge = probability >= 0.5
            scores.append(2.0 * (is_edge & is_true).sum() / max(is_edge.sum() + is_true.sum(), 1))
        total += sums[:2]
        shares = sums[1] / max(sums[0], 1), sums[3] / max(sums[2], 1)
        print(
            f"{kind:12} {rows:6} {missing:4.0f} {sums[0]:6.0f} {shares[0]:6.3f} {sums[2]:6.0f} {shares[1]:6.3f} "
            f"{sums[4]:6.0f} {np.mean(scores):6.3f}",
            flush=True,
        )
    print(f"all: of {total[0]:.0f} sure edges {total[1] / max(total[0], 1):.4f} are true")


if __name__ == "__main__":
    main()
