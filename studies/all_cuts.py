"""A number and classes: the average over all cuts against one choice of cuts (MDL), and against nearest neighbours.

Relations have known mutual information, by quadrature: twelve that were looked at while this was built, and twelve
others. Printed for each N: the root mean square error relative to that of KSG (scikit-learn's mutual_info_classif),
which has no interval; how often the 95 % interval holds the truth; how often the column is kept at P(I > .003) >= .95.

    python studies/all_cuts.py relations              both tables, about ten minutes of one core
    python studies/all_cuts.py relations --runs 6     fewer samples of each relation
    python studies/all_cuts.py intervals              how often they hold, of 100 samples each, without the others
    python studies/all_cuts.py noise                  how often noise is kept, about ten minutes
    python studies/all_cuts.py age                    children and others, as in a list of passengers
    python studies/all_cuts.py time                   milliseconds a column

Every sample has its own seed, so that a longer run contains the shorter one.
"""

from __future__ import annotations

import argparse
import time
import warnings
from statistics import NormalDist

import numpy as np
from sklearn.feature_selection import mutual_info_classif

import credimi
from credimi.inference.numbers.of_column import averaged

HALF = 40_000  # points of a quadrature
SIZES = {100: 20, 300: 20, 1000: 20, 5000: 8}  # rows, and samples of each relation
QUANTILES = (np.arange(HALF) + 0.5) / HALF
NORMAL = np.vectorize(NormalDist().inv_cdf)(QUANTILES)


def sigmoid(t: np.ndarray) -> np.ndarray:
    """The logistic function."""
    return 1.0 / (1.0 + np.exp(-t))


def two(p: np.ndarray) -> np.ndarray:
    """Chances of two classes, from that of the second."""
    return np.stack([1.0 - p, p])


def softmax(*scores: np.ndarray) -> np.ndarray:
    """Chances of classes in proportion to the exponentials of these scores."""
    parts = np.exp(np.stack(np.broadcast_arrays(*scores)))
    return parts / parts.sum(axis=0)


def rounded(quantiles: np.ndarray, step: float) -> np.ndarray:
    """Rounded to a step, and not whole."""
    return np.round(quantiles / step) * step + 0.001


EXPONENTIAL = -np.log(QUANTILES)
INFLATED = np.concatenate([np.zeros(HALF), EXPONENTIAL])
CAUCHY = np.tan(np.pi * (QUANTILES - 0.5))
MODES = np.concatenate([NORMAL - 2.0, 0.5 * NORMAL + 2.0])
YEARS = rounded(30.0 + 13.0 * NORMAL, 1.0)

LOOKED_AT = {
    "logistic .5": (NORMAL, lambda x: two(sigmoid(0.5 * x))),
    "logistic 1, a third": (NORMAL, lambda x: two(sigmoid(x - 1.0))),
    "logistic 3": (NORMAL, lambda x: two(sigmoid(3.0 * x))),
    "hump": (NORMAL, lambda x: two(sigmoid(1.5 * x * x - 1.5))),
    "waves": (QUANTILES, lambda x: two(0.5 + 0.4 * np.sin(6.0 * np.pi * x))),
    "island": (QUANTILES, lambda x: two(np.where((x > 0.4) & (x < 0.5), 0.9, 0.2))),
    "three classes": (NORMAL, lambda x: softmax(0.0 * x, x, 1.0 - 0.8 * x * x)),
    "half are 0": (INFLATED, lambda x: two(sigmoid(1.5 * x - 1.0))),
    "5 % positive": (NORMAL, lambda x: two(sigmoid(1.2 * x - 3.4))),
    "one step": (QUANTILES, lambda x: two(np.where(x < 0.37, 0.15, 0.6))),
    "whole years": (YEARS, lambda x: two(np.where(x < 16.0, 0.57, 0.39))),
    "ten classes": (QUANTILES, lambda x: softmax(*(-20.0 * (x - k / 9.0) ** 2 for k in range(10)))),
}
OTHERS = {
    "lognormal": (np.exp(NORMAL), lambda x: two(sigmoid(0.8 * np.log(x)))),
    "Cauchy": (CAUCHY, lambda x: two(sigmoid(x / (1.0 + np.abs(x)) * 2.0))),
    "two modes": (MODES, lambda x: two(sigmoid(2.0 * x - 1.0))),
    "staircase": (QUANTILES, lambda x: two(np.floor(8.0 * x) / 10.0 + 0.1)),
    "six stripes": (QUANTILES, lambda x: two(np.where(np.floor(6.0 * x) % 2 == 0, 0.25, 0.75))),
    "both ends": (NORMAL, lambda x: two(np.where(np.abs(x) > 1.3, 0.8, 0.3))),
    "narrow gap": (QUANTILES, lambda x: two(np.where((x > 0.71) & (x < 0.76), 0.02, 0.5))),
    "weak line": (QUANTILES, lambda x: two(0.35 + 0.3 * x)),
    "2 % positive, a tail": (EXPONENTIAL, lambda x: two(np.clip(0.005 + 0.012 * x, 0.0, 1.0))),
    "five in order": (NORMAL, lambda x: softmax(*(k * x - 0.5 * k * k for k in (-2.0, -1.0, 0.0, 1.0, 2.0)))),
    "four in waves": (
        QUANTILES,
        lambda x: softmax(*(1.2 * np.cos(2.0 * np.pi * (2.0 * x - k / 4.0)) for k in range(4))),
    ),
    "rounded to 5": (rounded(50.0 + 20.0 * NORMAL, 5.0), lambda x: two(sigmoid((x - 55.0) / 18.0))),
}
NOISES = {
    "normal": lambda g, n: g.standard_normal(n),
    "lognormal": lambda g, n: np.exp(2.0 * g.standard_normal(n)),
    "half are 0": lambda g, n: np.where(g.random(n) < 0.5, 0.0, g.exponential(size=n)),
    "rounded": lambda g, n: np.round(g.standard_normal(n), 1) + 0.01,
    "Cauchy": lambda g, n: g.standard_cauchy(n),
}
CLASSES = {"2, half": [0.5, 0.5], "2, 5 %": [0.95, 0.05], "2, 1 %": [0.99, 0.01], "5": [0.2] * 5, "10": [0.1] * 10}


def truth(name: str) -> float:
    """The mutual information, by quadrature."""
    values, chances = (LOOKED_AT | OTHERS)[name]
    p = np.clip(chances(values), 1e-300, 1.0)
    mean = p.mean(axis=1)
    return float((p * np.log(p)).sum(axis=0).mean() - (mean * np.log(mean)).sum())


def sample(name: str, rows: int, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Rows of one relation."""
    values, chances = (LOOKED_AT | OTHERS)[name]
    # Any number between two points of the quadrature, unless they are equal: atoms and rounded numbers stay.
    place = generator.integers(0, values.size - 1, rows)
    ordered = np.sort(values)
    x = ordered[place] + generator.random(rows) * (ordered[place + 1] - ordered[place])
    x = np.where(np.isin(name, ["whole years", "rounded to 5"]), ordered[place], x)
    below = np.cumsum(chances(x), axis=0)
    return x, (generator.random(rows)[np.newaxis] > below[:-1]).sum(axis=0)


def figures(x: np.ndarray, y: np.ndarray, method: str) -> tuple[float, float, float, float]:
    """Mean, interval and P(I > .003)."""
    ranking = credimi.rank({"x": x, "y": y.astype(str)}, "y", discretize={"x": method}, epsilon=0.003, threads=1)
    row = ranking["x"]
    return row["mi"], row["low"], row["high"], row["p_above"]


def neighbours(x: np.ndarray, y: np.ndarray) -> float:
    """KSG's estimate."""
    return float(mutual_info_classif(x[:, np.newaxis], y, random_state=0, n_neighbors=3)[0])


def relations(runs: int | None) -> None:
    """Both tables of relations."""
    for title, names in (("looked at", LOOKED_AT), ("others", OTHERS)):
        for rows, most in SIZES.items():
            lines = []
            for place, name in enumerate(names):
                exact = truth(name)
                found = []
                for run in range(min(most, runs or most)):
                    generator = np.random.default_rng([17, place, rows, run, len(title)])
                    x, y = sample(name, rows, generator)
                    if np.unique(y).size < 2:
                        continue
                    found.append((*figures(x, y, "average"), *figures(x, y, "mdl"), neighbours(x, y)))
                a = np.array(found)
                error = np.sqrt(((a[:, [0, 4, 8]] - exact) ** 2).mean(axis=0))
                bias = a[:, [0, 4]].mean(axis=0) - exact
                held = [((a[:, k] <= exact) & (exact <= a[:, k + 1])).mean() for k in (1, 5)]
                kept = [(a[:, k] >= 0.95).mean() for k in (3, 7)]
                lines.append((error[0] / error[2], error[1] / error[2], *held, *kept))
                print(
                    f"{title} {rows:>5} {name:22s} I {exact:.4f}  error/KSG {lines[-1][0]:.2f} {lines[-1][1]:.2f}  "
                    f"bias {bias[0]:+.4f} {bias[1]:+.4f}  held {held[0]:.2f} {held[1]:.2f}  "
                    f"kept {kept[0]:.2f} {kept[1]:.2f}",
                    flush=True,
                )
            a = np.array(lines)
            print(
                f"== {title} N={rows}: error/KSG, median: {np.median(a[:, 0]):.2f}, MDL {np.median(a[:, 1]):.2f}; "
                f"held, mean (least): {a[:, 2].mean():.3f} ({a[:, 2].min():.2f}), {a[:, 3].mean():.3f} "
                f"({a[:, 3].min():.2f}); kept: {a[:, 4].mean():.3f}, {a[:, 5].mean():.3f}",
                flush=True,
            )


def intervals(runs: int | None) -> None:
    """How often 95 % intervals hold, and columns are kept."""
    for title, names in (("looked at", LOOKED_AT), ("others", OTHERS)):
        for rows in (100, 300, 1000):
            held, kept = [], []
            for place, name in enumerate(names):
                exact = truth(name)
                found = []
                for run in range(runs or 100):
                    x, y = sample(name, rows, np.random.default_rng([99, place, rows, run, len(title)]))
                    if np.unique(y).size > 1:
                        found.append(figures(x, y, "average"))
                _, low, high, p_above = np.array(found).T
                held.append(((low <= exact) & (exact <= high)).mean())
                kept.append((p_above >= 0.95).mean())
            least = f"{min(held):.2f}, {[*names][int(np.argmin(held))]}"
            print(f"== {title} N={rows}: held {np.mean(held):.3f} ({least}), kept {np.mean(kept):.3f}", flush=True)


def block_of(x: np.ndarray, y: np.ndarray, classes: int) -> np.ndarray:
    """The counts by distinct number."""
    labels, codes = np.unique(x, return_inverse=True)
    block = np.zeros((classes + 1, labels.size + 1))
    np.add.at(block, (y, codes), 1.0)
    return block


def p_dependent(x: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """P(dependent), and log B."""
    occurring, y = np.unique(y, return_inverse=True)
    found = averaged(block_of(x, y, occurring.size)) if occurring.size > 1 else None
    if found is None:
        return 0.0, 0.0
    odds = found[0].log_odds
    return 1.0 / (1.0 + np.exp(-min(odds, 700.0))), odds


def noise(runs: int | None) -> None:
    """P(dependent) >= .95 is needed for P(I > epsilon) >= .95, whatever epsilon is."""
    worst, cells = 0.0, 0
    for rows in (20, 50, 100, 300, 1000, 3000, 10000):
        for kind, shares in CLASSES.items():
            kept, mean_odds, count = [], [], runs or (400 if rows <= 3000 else 200)
            for place, draw in enumerate(NOISES.values()):
                hits = 0
                for run in range(count):
                    generator = np.random.default_rng([23, rows, len(kind), len(shares), place, run])
                    y = generator.choice(len(shares), rows, p=shares)
                    probability, odds = p_dependent(draw(generator, rows), y)
                    hits += probability >= 0.95
                    mean_odds.append(np.exp(min(odds, 50.0)))
                kept.append(hits / count)
                cells += 1
                worst = max(worst, kept[-1])
            shown = " ".join(f"{name} {share:.4f}" for name, share in zip(NOISES, kept, strict=True))
            print(
                f"noise {rows:>6} {kind:8s} mean B {np.mean(mean_odds):.2f}  P(dependent) >= .95: {shown}", flush=True
            )
    print(f"== {cells} cells, worst {worst:.4f}")


def age(runs: int | None) -> None:
    """Children (an eighth) survive to 57 %, others to 39 %; 1,046 passengers."""
    for method in ("average", "mdl"):
        verdicts = []
        for run in range(runs or 100):
            generator = np.random.default_rng([29, run])
            x = np.round(np.clip(generator.gamma(5.0, 6.0, 1046), 0.4, 80.0))
            child = np.flatnonzero(generator.random(1046) < 0.09)
            x[child] = generator.integers(0, 16, child.size)
            y = (generator.random(1046) < np.where(x < 16, 0.57, 0.39)).astype(int)
            ranking = credimi.rank({"x": x, "y": y.astype(str)}, "y", discretize={"x": method}, threads=1)
            verdicts.append(ranking["x"]["verdict"])
        counted = {verdict: verdicts.count(verdict) for verdict in ("keep", "unsure", "drop")}
        print(f"== age, {method}: {counted}")


def milliseconds(runs: int | None) -> None:
    """Processor time of one column."""
    for rows in (100, 1000, 10_000, 100_000):
        for classes in (2, 5, 10):
            generator = np.random.default_rng(31)
            x = generator.standard_normal(rows)
            y = np.minimum(np.floor(classes * sigmoid(x + generator.standard_normal(rows))), classes - 1).astype(int)
            block = block_of(x, y, classes)
            averaged(block)
            start = time.process_time()
            for _ in range(runs or 20):
                averaged(block)
            took = (time.process_time() - start) / (runs or 20)
            print(f"{rows:>7} rows, {classes:>2} classes: {1e3 * took:.2f} ms")


if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=["relations", "intervals", "noise", "age", "time"])
    parser.add_argument("--runs", type=int)
    chosen = parser.parse_args()
    {"relations": relations, "intervals": intervals, "noise": noise, "age": age, "time": milliseconds}[chosen.part](
        chosen.runs
    )
