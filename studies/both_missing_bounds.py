"""Whether `information_bounds` hold the truth where both sides have missing values, against an adversary.

A population has cells of four kinds: both seen (n), the value missing (f), the class missing (t), both missing (z). The
adversary draws one whose odds of being missing differ by G exactly: (f + z)/(n + t) within a class, (t + z)/(n + f)
within a value. Then it moves f, t and z in small random steps that change nothing that can be observed and keep the
odds within G, as long as the information rises (every other population) or falls. It shares no code with credimi.

The bounds see n, the sums of f and t, and the sum of z if rows lack both, at 10^9 rows, where the posterior has no
width to speak of. Outside means by more than 0.0001 nats and a thousandth of I. "Before" is the band that compares the
missing values with the fit at random. "Optimum" is what a general solver finds, on tables of at most six cells, the
first few of a line: SLSQP from several starts (it needs the `test` extra). Widths are ratios of medians.

    python studies/both_missing_bounds.py --populations 20      a quick look
    python studies/both_missing_bounds.py                       as in docs/accuracy.md
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import minimize

import credimi
from credimi.inference.bounds.largest_information import largest
from credimi.inference.bounds.least_information import centres, least

if TYPE_CHECKING:
    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]
    Population = tuple[FloatArray, FloatArray, FloatArray, FloatArray]

SHAPES = ((2, 2), (2, 3), (3, 2), (2, 5), (3, 3), (3, 4), (4, 5))
FACTORS = (1.5, 2.0, 5.0)
ROWS = 1e9
STEPS = 400
SOLVED = 6  # cells at most
MAX_SUM_OF_ODDS = 0.9  # the product of a cell's odds, without rows that lack both


def information(cells: FloatArray) -> float:
    """I of a table of probabilities, or of counts."""
    p = cells / cells.sum()
    independent = p.sum(axis=1, keepdims=True) * p.sum(axis=0)
    return float((p[p > 0.0] * np.log(p[p > 0.0] / independent[p > 0.0])).sum())


def spread(population: Population) -> float:
    """The largest ratio of odds in the population."""
    n, f, t, z = population
    of_value, of_class = (f + z) / (n + t), (t + z) / (n + f)
    ratios = (
        of_value.max(axis=1) / np.maximum(of_value.min(axis=1), 1e-300),
        of_class.max(axis=0) / np.maximum(of_class.min(axis=0), 1e-300),
    )
    return float(max(ratio.max() for ratio in ratios))


def drawn(generator: np.random.Generator, shape: tuple[int, int], factor: float, *, lack_both: bool) -> Population:
    """A population whose odds differ by the factor, and not more."""
    r, s = shape
    while True:
        p = np.maximum(generator.dirichlet(np.full(r * s, 0.7)).reshape(r, s), 2e-3)
        p /= p.sum()
        mixed = generator.random()
        p = (1.0 - mixed) * np.outer(p.sum(axis=1), p.sum(axis=0)) + mixed * p
        extreme = generator.random() < 0.7
        ends = generator.integers(0, 2, (2, r, s)) if extreme else generator.random((2, r, s))
        theta = generator.uniform(0.05, 0.6, (r, 1)) * factor ** ends[0]
        phi = generator.uniform(0.05, 0.6, (1, s)) * factor ** ends[1]
        if lack_both:
            of_value, of_class = theta / (1.0 + theta), phi / (1.0 + phi)
            n, f = p * (1.0 - of_value) * (1.0 - of_class), p * of_value * (1.0 - of_class)
            t, z = p * (1.0 - of_value) * of_class, p * of_value * of_class
        elif (theta * phi).max() < MAX_SUM_OF_ODDS:
            n, z = p, np.zeros((r, s))
            f, t = p * theta * (1.0 + phi) / (1.0 - theta * phi), p * phi * (1.0 + theta) / (1.0 - theta * phi)
        else:
            continue
        population = n, f, t, z
        if spread(population) <= factor * (1.0 + 1e-9):
            total = sum(each.sum() for each in population)
            return n / total, f / total, t / total, z / total


def pushed(generator: np.random.Generator, population: Population, factor: float, *, up: bool) -> Population:
    """The population after moves that keep what is observed, each of which raises I (or lowers it)."""
    best = information(sum(population[1:], population[0]))
    r, s = population[0].shape
    for _ in range(STEPS):
        n, f, t, z = (each.copy() for each in population)
        kind = generator.integers(0, 3 if z.any() else 2)
        size = 10.0 ** generator.uniform(-2.5, 0.0)
        i, j, k, m = generator.integers(r), generator.integers(s), generator.integers(r), generator.integers(s)
        moved, (a, b) = ((f, ((i, j), (i, m))), (t, ((i, j), (k, j))), (z, ((i, j), (k, m))))[kind]
        step = size * moved[a]
        moved[a] -= step
        moved[b] += step
        trial = n, f, t, z
        value = information(n + f + t + z)
        if (value > best) == up and spread(trial) <= factor * (1.0 + 1e-9):
            population, best = trial, value
    return population


def before(population: Population, factor: float) -> tuple[float, float]:
    """The band around the fit at random, of the counted rows."""
    n, f, t, _ = population
    total = n.sum() + f.sum() + t.sum()
    seen, row_only, column_only = n[None] / total, f.sum(axis=1)[None] / total, t.sum(axis=0)[None] / total
    centre, low, high = np.empty_like(seen), np.empty(1), np.empty(1)
    centres(seen, row_only, column_only, centre)
    table, limit = (seen, row_only, column_only, centre), np.full(1, np.nan)
    r, s = n.shape
    starts = np.random.default_rng(0).integers(0, 2, (20, 2 * r, s)).astype(np.uint8)
    least(*table, factor, limit, low)
    largest(*table, factor, limit, starts, high, np.empty((1, 2 * r, s), dtype=np.uint8))
    return float(low[0]), float(high[0])


def optimum(population: Population, factor: float, generator: np.random.Generator) -> tuple[float, float]:
    """The least and the largest I by SLSQP, in f, t, z and the lowest odds, from the truth and from places near it."""
    n, f_true, t_true, z_true = population
    (r, s), size = n.shape, n.size
    sums = f_true.sum(axis=1), t_true.sum(axis=0), z_true.sum()
    total = sum(each.sum() for each in population)
    parts = np.cumsum([size, size, size, r])

    def split(x: FloatArray) -> tuple[FloatArray, ...]:
        f, t, z, lowest_f, lowest_t = np.split(x, parts)
        return f.reshape(r, s), t.reshape(r, s), z.reshape(r, s), lowest_f[:, None], lowest_t[None]

    def equal(x: FloatArray) -> FloatArray:
        f, t, z, _, _ = split(x)
        return np.concatenate([f.sum(axis=1) - sums[0], t.sum(axis=0) - sums[1], [z.sum() - sums[2]]])

    def positive(x: FloatArray) -> FloatArray:
        f, t, z, a, b = split(x)
        low_f, low_t = a * (n + t), b * (n + f)
        all_limits = f + z - low_f, factor * low_f - f - z, t + z - low_t, factor * low_t - t - z
        return np.concatenate([each.ravel() for each in all_limits])

    def value(x: FloatArray, sign: float) -> tuple[float, FloatArray]:
        f, t, z, _, _ = split(x)
        p = np.maximum(n + f + t + z, 1e-15) / total
        logs = np.log(p / (p.sum(axis=1, keepdims=True) * p.sum(axis=0))) / total
        return sign * information(p), sign * np.concatenate([np.tile(logs.ravel(), 3), np.zeros(r + s)])

    truth = information(n + f_true + t_true + z_true)
    found = [truth, truth]
    for number in range(6):
        f, t, z = (each * factor ** (generator.uniform(-0.5, 0.5, (r, s)) * (number > 0)) for each in population[1:])
        f *= (sums[0] / f.sum(axis=1))[:, None]
        t *= sums[1] / t.sum(axis=0)
        z *= sums[2] / z.sum() if sums[2] > 0.0 else 0.0
        lowest = ((f + z) / (n + t)).min(axis=1), ((t + z) / (n + f)).min(axis=0)
        start = np.concatenate([f.ravel(), t.ravel(), z.ravel(), *lowest])
        for index, sign in enumerate((1.0, -1.0)):
            result = minimize(
                value,
                start,
                args=(sign,),
                jac=True,
                method="SLSQP",
                bounds=[(0.0, None)] * start.size,
                constraints=[{"type": "eq", "fun": equal}, {"type": "ineq", "fun": positive}],
                options={"maxiter": 300, "ftol": 1e-12},
            )
            if np.abs(equal(result.x)).max() < 1e-7 and positive(result.x).min() > -1e-7:
                found[index] = min(found[index], result.fun) if sign > 0 else max(found[index], -result.fun)
    return found[0], found[1]


def line(options: argparse.Namespace, factor: float, *, lack_both: bool) -> str:
    """One line of the table."""
    generator = np.random.default_rng((options.seed, int(10 * factor), lack_both))
    outside, outside_before, worst = 0, 0, 0.0
    widths: dict[str, list[float]] = {"now": [], "before": [], "solved": [], "optimum": []}
    for number in range(options.populations):
        shape = SHAPES[number % len(SHAPES)]
        population = drawn(generator, shape, factor, lack_both=lack_both)
        population = pushed(generator, population, factor, up=number % 2 == 0)
        n, f, t, z = population
        true = information(n + f + t + z)
        band = band_of(population, factor)
        old = before(population, factor)
        slack = 1e-4 + 1e-3 * true
        excess = max(band[0] - true, true - band[1]) - slack
        outside += excess > 0.0
        worst = max(worst, excess)
        outside_before += max(old[0] - true, true - old[1]) > slack
        widths["now"].append(band[1] - band[0])
        widths["before"].append(old[1] - old[0])
        if n.size <= SOLVED and len(widths["optimum"]) < options.solved:
            ends = optimum(population, factor, generator)
            widths["solved"].append(band[1] - band[0])
            widths["optimum"].append(ends[1] - ends[0])
    medians = {name: np.median(values) if values else np.nan for name, values in widths.items()}
    figures = (
        f"{factor:g}",
        "yes" if lack_both else "no",
        f"{options.populations:,}",
        f"{outside_before:,}",
        f"{outside:,}",
        f"{medians['now'] / medians['before']:.2f}",
        f"{medians['solved'] / medians['optimum']:.2f}",
    )
    return "| " + " | ".join(figures) + " |" + (f" worst {worst:.4f}" if outside else "")


def band_of(population: Population, factor: float) -> tuple[float, float]:
    """The band of `information_bounds`."""
    n, f, t, z = population
    margins = {"target_only": ROWS * f.sum(axis=1), "feature_only": ROWS * t.sum(axis=0)}
    least_law, largest_law = credimi.information_bounds(
        ROWS * n, **margins, neither=ROWS * z.sum() if z.any() else None, robust_factor=factor
    )
    return least_law.ppf(0.025), largest_law.ppf(0.975)


def against_solver(options: argparse.Namespace, factor: float, *, lack_both: bool) -> str:
    """How often, and how far, the range that the solver finds for what is observed leaves the band."""
    generator = np.random.default_rng((options.seed, int(10 * factor), lack_both, 2))
    beyond = []
    for number in range(options.against_solver):
        population = drawn(generator, ((2, 2), (2, 3))[number % 2], factor, lack_both=lack_both)
        ends, band = optimum(population, factor, generator), band_of(population, factor)
        beyond.append((band[0] - ends[0], ends[1] - band[1]))
    outside, worst = (np.array(beyond) > 5e-4).sum(axis=0), np.maximum(np.max(beyond, axis=0), 0.0)
    cells = f"{factor:g}", "yes" if lack_both else "no", f"{len(beyond)}", *(f"{each}" for each in outside)
    return "| " + " | ".join((*cells, f"{worst[0]:.4f}, {worst[1]:.4f}")) + " |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--populations", type=int, default=340, help="a line (default: %(default)s)")
    parser.add_argument("--solved", type=int, default=20, help="of them by a general solver (default: %(default)s)")
    parser.add_argument("--against-solver", type=int, default=0, help="only compare with the solver, on so many tables")
    parser.add_argument("--seed", type=int, default=1, help="(default: %(default)s)")
    options = parser.parse_args()
    if options.against_solver:
        print("| G | rows lack both | tables | least above the solver's | largest below it | worst, nats |")
        print("|---:|---|---:|---:|---:|---|")
        for lack_both in (False, True):
            for factor in FACTORS:
                print(against_solver(options, factor, lack_both=lack_both), flush=True)
        return
    print("| G | rows lack both | populations | outside before | outside | width: before = 1 | width: optimum = 1 |")
    print("|---:|---|---:|---:|---:|---:|---:|")
    for lack_both in (False, True):
        for factor in FACTORS:
            print(line(options, factor, lack_both=lack_both), flush=True)


if __name__ == "__main__":
    main()
