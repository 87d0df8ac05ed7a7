"""The information of two numbers: intervals, errors beside KSG, noise and power; `relations.py` has the relations.

Four tables, each from seeded draws:

* accuracy: how often the 95 % interval has the truth, the root-mean-square error of E[I] over that of KSG (as
  scikit-learn's `mutual_info_regression` has it, three neighbours), and how often P(I > .5 % of log 2) >= .95;
* noise: how often independent numbers are kept (five kinds of the feature, three of the target);
* power: how often a weak relation is found at a level at which 5 % of noise is, beside distance correlation and xi;
* time of one pair of columns, in one thread.

Twelve relations were looked at while the method was built (`--looked-at`), twelve others were not: these are reported.

    python studies/two_numbers.py                   as in docs/explanation/numbers.md, some minutes
    python studies/two_numbers.py --runs 5          a quick look
"""

from __future__ import annotations

import argparse
import math
import time
import zlib

import numpy as np
from relations import LOOKED_AT, REPORTED
from sklearn.feature_selection import mutual_info_regression

from credimi import mutual_information

EPSILON = 0.005 * math.log(2.0)
SIZES = (100, 300, 1000, 5000)
NOISE_X = {
    "normal": lambda rows, generator: generator.standard_normal(rows),
    "rounded": lambda rows, generator: generator.integers(0, 25, rows).astype(float),
    "half zeros": lambda rows, generator: np.where(generator.random(rows) < 0.5, 0.0, generator.exponential(size=rows)),
    "Cauchy": lambda rows, generator: generator.standard_cauchy(rows),
    "uniform": lambda rows, generator: generator.random(rows),
}
NOISE_Y = {name: NOISE_X[name] for name in ("normal", "rounded", "half zeros")}


def seeded(*words: object) -> np.random.Generator:
    """A generator for these words."""
    return np.random.default_rng(zlib.crc32(repr(words).encode()))


def accuracy(relations: dict, sizes: tuple[int, ...], runs: int) -> None:
    """Coverage, error over KSG's, and share kept."""
    for rows in sizes:
        lines = []
        count = max(runs // 4, 3) if rows >= 5000 else runs
        for name, (draw, truth_of) in relations.items():
            truth, generator = truth_of(), seeded(name, rows)
            means, neighbours, inside, kept = [], [], 0, 0
            for _ in range(count):
                x, y = draw(rows, generator)
                law = mutual_information(x, y)
                low, high = law.interval(0.95)
                means.append(law.mean())
                neighbours.append(mutual_info_regression(x[:, None], y, random_state=0)[0])
                inside += low <= truth <= high
                kept += law.sf(EPSILON) >= 0.95
            own, theirs = (math.sqrt(np.mean((np.array(each) - truth) ** 2)) for each in (means, neighbours))
            lines.append((own / theirs, 100 * inside / count, 100 * kept / count))
            print(
                f"| {rows:,} | {name} | {truth:.3f} | {np.mean(means):.3f} | {np.mean(neighbours):.3f} "
                f"| {lines[-1][0]:.2f} | {lines[-1][1]:.0f} | {lines[-1][2]:.0f} |",
                flush=True,
            )
        ratio, coverage, kept_share = np.array(lines).T
        print(
            f"| {rows:,} | all | | | | median {np.median(ratio):.2f} | mean {coverage.mean():.0f} (least "
            f"{coverage.min():.0f}) | {kept_share.mean():.0f} |",
            flush=True,
        )


def noise(runs: int) -> None:
    """How often independent numbers are kept."""
    for rows in (30, 100, 300, 1000):
        kept = {}
        for (x_name, x_of), (y_name, y_of) in ((x, y) for x in NOISE_X.items() for y in NOISE_Y.items()):
            generator = seeded("noise", rows, x_name, y_name)
            laws = [mutual_information(x_of(rows, generator), y_of(rows, generator)) for _ in range(runs)]
            kept[f"{x_name} and {y_name}"] = sum(law.sf(EPSILON) >= 0.95 for law in laws)
        worst = max(kept, key=lambda name: kept[name])
        share = 100 * sum(kept.values()) / runs / len(kept)
        print(f"| {rows:,} | {share:.2f} % | {kept[worst]} of {runs} ({worst}) |", flush=True)


def distance_correlation(x: np.ndarray, y: np.ndarray) -> float:
    """Szekely, Rizzo and Bakirov (2007), from all distances."""

    def centred(values: np.ndarray) -> np.ndarray:
        distances = np.abs(values[:, None] - values[None])
        return distances - distances.mean(axis=0) - distances.mean(axis=1)[:, None] + distances.mean()

    a, b = centred(x), centred(y)
    return float((a * b).mean() / math.sqrt((a * a).mean() * (b * b).mean()))


def xi(x: np.ndarray, y: np.ndarray) -> float:
    """Chatterjee (2021), the larger of both directions."""

    def one_way(one: np.ndarray, other: np.ndarray) -> float:
        ranks = np.argsort(np.argsort(other[np.argsort(one, kind="stable")]))
        return 1.0 - 3.0 * float(np.abs(np.diff(ranks)).sum()) / (one.size**2 - 1.0)

    return max(one_way(x, y), one_way(y, x))


def odds(x: np.ndarray, y: np.ndarray) -> float:
    """How probable dependence is."""
    return -mutual_information(x, y).p_zero


def power(runs: int, rows: int = 200) -> None:
    """How often a relation under much noise is found, each way at the level at which 5 % of noise is."""
    ways = {"P(independent)": odds, "distance correlation": distance_correlation, "xi": xi}
    shapes = {
        "line": lambda u: u,
        "square": lambda u: 4.0 * (u - 0.5) ** 2,
        "sine": lambda u: np.sin(4.0 * np.pi * u) / 2.0,
        "steps": lambda u: np.floor(4.0 * u) % 2.0,
    }
    generator = seeded("power")
    limits = {
        name: np.quantile([way(*generator.random((2, rows))) for _ in range(4 * runs)], 0.95)
        for name, way in ways.items()
    }
    for shape_name, shape in shapes.items():
        found = dict.fromkeys(ways, 0)
        for _ in range(runs):
            x = generator.random(rows)
            y = shape(x) + 1.2 * generator.standard_normal(rows) * (0.75 if shape_name == "line" else 0.5)
            for name, way in ways.items():
                found[name] += way(x, y) > limits[name]
        print(f"| {shape_name} | " + " | ".join(f"{100 * found[name] / runs:.0f}" for name in ways) + " |", flush=True)


def times() -> None:
    """Milliseconds of one pair of columns, best of five."""
    for rows in (1000, 10_000, 100_000):
        x, y = REPORTED["normal 0.35"][0](rows, seeded("time", rows))
        best = math.inf
        for _ in range(6):
            start = time.thread_time()
            mutual_information(x, y)
            best = min(best, time.thread_time() - start)
        print(f"| {rows:,} | {1000 * best:.1f} |", flush=True)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--looked-at", action="store_true", help="the relations that were looked at")
    arguments = parser.parse_args()
    times()
    accuracy(LOOKED_AT if arguments.looked_at else REPORTED, SIZES, arguments.runs)
    if not arguments.looked_at:
        power(2 * arguments.runs)
        noise(2 * arguments.runs)


if __name__ == "__main__":
    main()
