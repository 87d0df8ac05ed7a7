"""Pairs that tell more together than apart: how many are found, how many are false, and how good the posterior is.

--power: tables with one pair whose combination alone tells about the target (the target follows "is x + w odd" in a
share of the rows, else it is random), two columns with main effects, a copy of one of them, two columns that are linked
with each other, and noise, 40 columns in all. Of so many tables: in how many the pair is found, how many of all pairs
called synergy are others, and how many of those called redundancy are not among the informative columns.

--additive: two columns with effects on the log odds that add up, and no interaction there. Their synergy is
above 0 nevertheless, if a little: given the target, the one explains the other away.

--draws: Kolmogorov distance between the posterior given all edges and exact draws.

--screen: by how much the evidence of a pair exceeds its bound, by which most pairs are left out, in tables with at
least four rows a cell. Much more than 0 would be a fault. Bounds above 20 nats leave out nothing, and do not count.

    python studies/interactions.py --power 100        the tables of docs/explanation/sets.md, some minutes
    python studies/interactions.py --draws 20 --screen 200 --additive 100
"""

from __future__ import annotations

import argparse
from dataclasses import replace

import numpy as np
from scipy.special import xlogy

import credimi
from credimi.core.tables import Tables
from credimi.inference.evidence import adaptive_prior, pair_evidence
from credimi.questions.interactions.synergy import FULL, synergies

Columns = dict[str, list[str | None]]
INFORMATIVE = {"main", "other", "copy"}
_BEYOND_DOUBT = 20.0


def mixed(seed: int, rows: int, values: int, strength: float, missing: float) -> Columns:
    """A table as the docstring says."""
    generator = np.random.default_rng(seed)
    one, two, linked, *noise = generator.integers(0, values, (36, rows))
    target = np.where(generator.random(rows) < strength, (one + two) % 2, generator.integers(0, 2, rows))
    columns = {"one": one, "two": two, "linked": linked}
    for name in ("main", "other"):
        columns[name] = np.where(generator.random(rows) < 0.3, target, generator.integers(0, values, rows))
    for name, of in (("copy", "main"), ("near", "linked")):
        columns[name] = np.where(generator.random(rows) < 0.95, columns[of], generator.integers(0, values, rows))
    columns |= {f"noise{number}": each for number, each in enumerate(noise)}
    removed = generator.random((len(columns), rows)) < missing
    incomplete: Columns = {
        name: [
            None if is_removed else f"v{code}"
            for code, is_removed in zip(codes.tolist(), removed_rows.tolist(), strict=True)
        ]
        for (name, codes), removed_rows in zip(columns.items(), removed, strict=True)
    }
    return incomplete | {"y": [f"c{each}" for each in target]}


def power(tables: int) -> None:
    """Print one line a kind of table."""
    print("| rows | values | strength | synergy | missing | found | false of all called synergy | false redundancy |")
    print("|---:|---:|---:|---:|---:|---:|---:|---:|")
    for rows, values, strength, missing in (
        (1_000, 2, 0.2, 0.0),
        (1_000, 2, 0.3, 0.0),
        (1_000, 2, 0.3, 0.2),
        (1_000, 3, 0.3, 0.0),
        (1_000, 3, 0.4, 0.2),
        (1_000, 5, 0.4, 0.0),
        (1_000, 5, 0.6, 0.2),
        (5_000, 2, 0.15, 0.0),
        (300, 3, 0.6, 0.0),
        (1_000, 3, 0.0, 0.0),
    ):
        hit = false = called = wrong = redundant = 0
        for seed in range(tables):
            result = credimi.interactions(mixed(seed, rows, values, strength, missing), "y", epsilon=0.003)
            pairs = [{pair.a, pair.b} for pair in result.synergies]
            hit += {"one", "two"} in pairs
            called += len(pairs)
            false += sum(pair != {"one", "two"} for pair in pairs)
            redundant += len(result.redundancies)
            wrong += sum(not {pair.a, pair.b} <= INFORMATIVE for pair in result.redundancies)
        odd = np.add.outer(np.arange(values), np.arange(values)) % 2
        probabilities = np.stack([0.5 + strength * (0.5 - odd), 0.5 - strength * (0.5 - odd)]) / values**2
        share = f"{false} of {called}"
        print(
            f"| {rows:,} | {values} | {strength:g} | {abs(float(_synergy(probabilities))):.3f} | {100 * missing:.0f} % "
            f"| {hit} of {tables} | {share} | {wrong} of {redundant} |",
            flush=True,
        )


def additive(tables: int) -> None:
    """Print how often two columns with additive effects are called synergy, beside their true synergy."""
    print("| effect on the log odds | true synergy | called synergy at 1,000 rows |\n|---:|---:|---:|")
    for effect in (0.25, 0.5, 0.75, 1.0, 1.5):
        probability = 1.0 / (1.0 + np.exp(-effect * np.add.outer([-1.0, 1.0], [-1.0, 1.0])))
        truth = float(_synergy(np.stack([1.0 - probability, probability]) / 4.0))
        hit = 0
        for seed in range(tables):
            generator = np.random.default_rng(seed)
            columns = generator.integers(0, 2, (30, 1_000))
            target = generator.random(1_000) < probability[columns[0], columns[1]]
            data = {f"x{number}": [f"v{each}" for each in codes] for number, codes in enumerate(columns)}
            result = credimi.interactions(data | {"y": [str(each) for each in target]}, "y", epsilon=0.003)
            hit += any({pair.a, pair.b} == {"x0", "x1"} for pair in result.synergies)
        print(f"| {effect:g} | {truth:.4f} | {hit} of {tables} |", flush=True)


def joint(kind: str, shape: tuple[int, int, int], rows: int, generator: np.random.Generator) -> np.ndarray:
    """The joint table of rows of a kind."""
    r, s, t = shape
    y, x, w = (generator.integers(0, size, rows) for size in shape)
    uniform = generator.random((2, rows))
    if kind == "xor":
        y = np.where(uniform[0] < 0.4, (x + w) % r, y)
    elif kind == "naive":
        x, w = np.where(uniform[0] < 0.5, y % s, x), np.where(uniform[1] < 0.5, y % t, w)
    elif kind == "copy":
        x = np.where(uniform[0] < 0.5, y % s, x)
        w = np.where(uniform[1] < 0.95, x % t, w)
    elif kind == "linked":
        w = np.where(uniform[0] < 0.9, x % t, w)
    counts = np.zeros(shape)
    np.add.at(counts, (y, x, w), 1.0)
    return counts


def _synergy(p: np.ndarray) -> np.ndarray:
    synergy = np.zeros(p.shape[:-3])
    for axes, sign in (((), 1), ((-3,), -1), ((-2,), -1), ((-1,), -1), ((-3, -2), 1), ((-3, -1), 1), ((-2, -1), 1)):
        margin = p.sum(axis=axes)
        synergy = synergy + sign * xlogy(margin, margin).reshape(*p.shape[:-3], -1).sum(axis=-1)
    return synergy


def draws(tables: int, count: int = 10_000) -> None:
    """Print the distance between the posterior and exact draws."""
    print("| classes x values x values | rows | median | 95 % | largest |\n|---|---:|---:|---:|---:|")
    for shape in ((2, 2, 2), (2, 3, 3), (3, 4, 4), (2, 10, 10)):
        for rows in (200, 1_000, 5_000):
            distances = []
            for seed in range(tables):
                generator = np.random.default_rng(seed)
                for kind in ("noise", "xor", "naive", "copy", "linked"):
                    table = joint(kind, shape, rows, generator)
                    posterior = synergies([table], np.ones((1, 2)), np.ones((1, 2)))
                    blocks = Tables.of([np.pad(each, ((0, 1), (0, 1))) for each in table])
                    mixture = adaptive_prior.mixtures(blocks, (np.array([0]), np.array([shape[0]])))
                    number = mixture.table.size // shape[0]
                    if number == 0:
                        continue
                    which = generator.choice(number, count, p=mixture.weight[:number] / mixture.weight[:number].sum())
                    classes = generator.dirichlet(np.maximum(table.sum(axis=(1, 2)), 1e-9), count)
                    parameters = mixture.blocks.flat.reshape(shape[0], number, shape[1] + 1, -1)[:, :, :-1, :-1]
                    gammas = generator.standard_gamma(parameters[:, which].swapaxes(0, 1))
                    cells = gammas / gammas.sum(axis=(2, 3), keepdims=True) * classes[:, :, None, None]
                    drawn = np.sort(_synergy(cells))[:: count // 200]
                    given_all = replace(posterior, weights=np.eye(5)[[FULL]])
                    below = 1.0 - np.array([given_all.above(x)[0] for x in drawn])
                    distances.append(np.abs(below - np.linspace(0.0, 1.0, len(drawn), endpoint=False)).max())
            figures = np.median(distances), np.quantile(distances, 0.95), max(distances)
            print(f"| {'x'.join(map(str, shape))} | {rows:,} | " + " | ".join(f"{each:.3f}" for each in figures) + " |")


def screen(tables: int) -> None:
    """Print by how much evidence exceeds its bound."""
    print("| classes x values x values | rows | largest excess of the evidence over its bound, nats |\n|---|---:|---:|")
    for shape in ((2, 2, 2), (2, 3, 3), (3, 4, 4), (2, 10, 10), (5, 8, 8)):
        for rows in (4 * int(np.prod(shape)), 40 * int(np.prod(shape))):
            worst = -np.inf
            for seed in range(tables):
                kind = ("noise", "xor", "naive", "linked")[seed % 4]
                table = joint(kind, shape, rows, np.random.default_rng(seed))
                given = np.empty((1, 2))
                layout = np.array([[0, shape[1], 0, 0], [0, shape[2], 0, 0]])
                pair_evidence.evidence_of_pairs(
                    table.ravel(), np.array([0]), shape[0], layout, np.array([[0, 1]]), given
                )
                bounds = [_bound(np.moveaxis(table, axis, 0)) for axis in (2, 1)]
                if min(bounds) < _BEYOND_DOUBT:
                    worst = max(worst, float(given.min() - min(bounds)))
            print(f"| {'x'.join(map(str, shape))} | {rows:,} | {worst:+.2f} |", flush=True)


def _bound(strata: np.ndarray) -> float:
    """The largest log Bayes factor of dependence in the strata that a normal prior can give."""
    total, rows, columns = strata.sum(axis=(1, 2)), strata.sum(axis=2), strata.sum(axis=1)
    ratio = xlogy(strata, strata).sum() - xlogy(rows, rows).sum() - xlogy(columns, columns).sum()
    ratio += xlogy(total, total).sum()
    freedom = ((np.maximum((rows > 0).sum(axis=1) - 1, 0)) * np.maximum((columns > 0).sum(axis=1) - 1, 0)).sum()
    return float(ratio - 0.5 * freedom * (1.0 + np.log(2.0 * ratio / freedom))) if 2.0 * ratio > freedom else 0.0


def main() -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, run in (("power", power), ("additive", additive), ("draws", draws), ("screen", screen)):
        parser.add_argument(f"--{name}", type=int, metavar="TABLES", help=run.__doc__)
    options = vars(parser.parse_args())
    runs = options if any(options.values()) else {"power": 10}
    for name, run in (("power", power), ("additive", additive), ("draws", draws), ("screen", screen)):
        if runs.get(name):
            run(runs[name])


if __name__ == "__main__":
    main()
