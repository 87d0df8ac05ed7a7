"""Pairs of columns whose values are missing because of a third: how well `refine="forest"` mends their posteriors.

    python studies/refined_pairs.py [--sets 40] [--rows 300 1000 3000] [--kinds forest network] [--seed 0]

Tables are drawn from known distributions, so that the information of every pair is known:

- forest: two columns that are always seen, and others that depend on one of these, on one another, or on nothing
- network: the same, but many columns depend on two others
- collider: two columns that are always seen depend on two or three others each, most of which are independent
- not at random: a forest, whose values are missing because of what they are

In the first three, the columns that are always seen decide how often the others are missing: 75 % under one of their
values, 10 % under the others. Each table is judged in three ways: before values were removed, as `credimi.pairs` does
by default, and refined.

Printed are, of each way: how often the 95 % interval holds the true information, of pairs that depend and of
independent ones; the mean of P(independent) of independent pairs, how many of them have less than 0.05, the average
log score of P(independent), and the mean absolute error of the mean, in nats.
"""

from __future__ import annotations

import argparse
from itertools import combinations, product

import numpy as np

import credimi


def parents_of(kind: str, columns: int, generator: np.random.Generator) -> tuple[list[list[int]], list[int]]:
    """The parents of each column, all of which come before it, and the columns that are always seen."""
    parents: list[list[int]] = []
    last = columns - 2 if kind == "collider" else columns
    for column in range(last):
        uniform = generator.random()
        if column == 0 or uniform < (0.7 if kind == "collider" else 0.25):
            parents.append([])
        elif kind == "network" and column > 1 and uniform < 0.65:
            parents.append(sorted(generator.choice(column, 2, replace=False).tolist()))
        elif uniform < 0.65 and kind != "collider":
            parents.append([int(generator.integers(min(column, 2)))])
        else:
            parents.append([int(generator.integers(column))])
    parents += [
        sorted(generator.choice(last, int(generator.integers(2, 4)), replace=False).tolist())
        for _ in range(columns - last)
    ]
    return parents, [0, 1] if kind != "collider" else [columns - 2, columns - 1]


def joint_of(parents: list[list[int]], values: list[int], generator: np.random.Generator) -> np.ndarray:
    """The probability of every joint state."""
    joint = np.ones((1,) * len(values))
    for column, column_parents in enumerate(parents):
        shape = [values[each] if each in column_parents else 1 for each in range(len(values))]
        base = generator.dirichlet(np.full(values[column], 4.0))
        strength = np.exp(generator.uniform(np.log(0.5), np.log(20.0)))
        probabilities = generator.dirichlet(np.maximum(strength * base, 0.05), tuple(shape)) if column_parents else base
        table = np.zeros([*shape[:column], values[column], *shape[column + 1 :]])
        for state in product(*(range(each) for each in table.shape)):
            parent_state = (*state[:column], 0, *state[column + 1 :])
            table[state] = (
                probabilities[parent_state][state[column]] if column_parents else probabilities[state[column]]
            )
        joint = joint * table
    return joint / joint.sum()


def information(joint: np.ndarray, a: int, b: int) -> float:
    """Of two columns, in nats."""
    table = joint.sum(axis=tuple(each for each in range(joint.ndim) if each not in (a, b)))
    outer = np.outer(table.sum(axis=1), table.sum(axis=0))
    positive = table > 0.0
    return float((table[positive] * np.log(table[positive] / outer[positive])).sum())


def remove(
    rows: np.ndarray, values: list[int], always: list[int], kind: str, generator: np.random.Generator
) -> np.ndarray:
    """The rows, with values missing (-1): mostly under one value of a column that is always seen, or of their own."""
    incomplete = rows.copy()
    for column in sorted(set(range(rows.shape[1])) - set(always)):
        cause = column if kind == "not at random" else int(generator.choice(always))
        often = rows[:, cause] == int(generator.integers(values[cause]))
        incomplete[generator.random(rows.shape[0]) < np.where(often, 0.75, 0.1), column] = -1
    return incomplete


def frame(rows: np.ndarray) -> dict[str, list[str | None]]:
    """Rows as columns of texts."""
    return {f"c{c:02}": [None if v < 0 else f"v{v}" for v in rows[:, c].tolist()] for c in range(rows.shape[1])}


def one_set(kind: str, rows: int, columns: int, seed: int, imputations: int) -> list[dict]:
    """The figures of every pair of one table, judged in three ways."""
    generator = np.random.default_rng([seed, rows, columns, len(kind)])
    values = generator.choice([2, 2, 3, 4] if columns <= 8 else [2, 2, 2, 3], columns).tolist()
    parents, always = parents_of(kind, columns, generator)
    joint = joint_of(parents, values, generator)
    drawn = generator.choice(joint.size, rows, p=joint.ravel())
    whole = np.stack(np.unravel_index(drawn, joint.shape), axis=1)
    incomplete = remove(whole, values, always, kind, generator)
    ways = {
        "complete": credimi.pairs(frame(whole), epsilon=0.003),
        "as it is": credimi.pairs(frame(incomplete), epsilon=0.003),
        "refined": credimi.pairs(
            frame(incomplete), refine="forest", imputations=imputations, random_state=seed, epsilon=0.003
        ),
    }
    figures = []
    for a, b in combinations(range(columns), 2):
        true, names = information(joint, a, b), (f"c{a:02}", f"c{b:02}")
        figures += [{"way": way, "true": true, **pairs[names]} for way, pairs in ways.items() if names in pairs]
    return figures


def summary(rows: list[dict]) -> list[str]:
    """One line for each way."""
    lines = []
    for way in ("complete", "as it is", "refined"):
        rows_of_way = [row for row in rows if row["way"] == way]
        is_independent = np.array([row["true"] < 1e-9 for row in rows_of_way])
        is_held = np.array([row["low"] - 1e-12 <= row["true"] <= row["high"] + 1e-12 for row in rows_of_way])
        independent = np.array([row["p_independent"] for row in rows_of_way])
        p_truth = np.clip(np.where(is_independent, independent, 1.0 - independent), 1e-12, 1.0)
        error = np.mean([abs(row["mi"] - row["true"]) for row in rows_of_way])
        lines.append(
            f"{way:10} {is_held[~is_independent].mean():8.3f} {is_held[is_independent].mean():8.3f} "
            f"{independent[is_independent].mean():8.3f} {(independent[is_independent] < 0.05).mean():8.4f} "
            f"{np.log(p_truth).mean():8.4f} {error:9.5f}  {is_independent.sum()}/{is_independent.size}"
        )
    return lines


def main() -> None:
    """Run the study."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", type=int, default=10)
    parser.add_argument("--rows", type=int, nargs="+", default=[300, 1000, 3000])
    parser.add_argument("--kinds", nargs="+", default=["forest", "network", "collider", "not at random"])
    parser.add_argument("--imputations", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    print(f"{'':10} {'held':>8} {'held, 0':>8} {'P(ind)0':>8} {'< .05':>8} {'score':>8} {'error':>9}  independent")
    for kind in options.kinds:
        for rows in options.rows:
            figures: list[dict] = []
            for number in range(options.sets):
                columns = 6 + number % 5 if kind != "network" else 6 + number % 4
                figures += one_set(kind, rows, columns, options.seed + number, options.imputations)
            print(f"{kind}, {rows:,} rows, {options.sets} tables", flush=True)
            print("\n".join(summary(figures)), flush=True)


if __name__ == "__main__":
    main()
