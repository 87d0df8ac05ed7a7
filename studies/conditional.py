"""How close the posterior of conditional information is to exact draws, and what it makes of noise.

Populations: Z has random shares, and inside each stratum class and value have margins of their own, so that they are
dependent if Z is not known. Inside they are independent; or "around" it, drawn from a Dirichlet as the prior has it, of
one strength for all strata, from loose to so tight that nobody can tell it from independence; or "mixed" with a share
of very dependent chances that is drawn anew for each stratum, which the prior does not expect, and is often weak. Rows
lack the feature, or the target, or neither; which ones depends on nothing, or ("both") on class and on value.

1. The distance: Kolmogorov's, between the distribution and draws from the posterior that it approximates: exact ones
   where the tables have a complete side, Gibbs otherwise. The draws alone make about .008 of it.
2. Noise and coverage: in how many of many data sets the 95 % interval holds the true I(X;Y|Z), and how often
   P(I > 0.003) >= 0.95 although class and value are independent in every stratum.

    python studies/conditional.py              the tables of docs/accuracy.md, about half an hour
    python studies/conditional.py --tables 2   a quick look
    python studies/conditional.py --cuts       numbers that say nothing once W is known

With --cuts: X are numbers around a level for each value of W, Y depends on W alone, and X is cut where it tells most
about Y. The mean Bayes factor of X and Y given W, and how often it is above 1: with even odds, with the odds that X has
alone, and with those that `select` takes given W (see `distinct_columns`). Of fixed cuts the mean would be at most 1.
"""

from __future__ import annotations

import argparse
from itertools import product

import numpy as np

import credimi
from credimi.core.table import Table
from credimi.core.tables import Tables
from credimi.counts.counter import ByValue
from credimi.counts.local_counter import LocalCounter
from credimi.counts.request import CountRequest
from credimi.inference.belief import Belief
from credimi.inference.evidence.adaptive_prior import mixtures
from credimi.inference.rules import from_common_odds
from credimi.inference.sampling import draw_information, information_of
from credimi.inference.tables.many_tables import summarize as summarize_tables
from credimi.inference.tables.stratified_tables import StratifiedTables, independence, summarize
from credimi.questions.select.distinct_columns import odds_given
from credimi.sources.codes import encoded_table

SHAPES = [(2, 2, 2), (3, 3, 3), (8, 2, 4), (6, 4, 8)]  # strata, classes, values
SIZES = [100, 300, 1_000, 3_000, 10_000]
MISSING = {"none": (0.0, 0.0), "feature 25 %": (0.25, 0.0), "feature 50 %": (0.5, 0.0), "both 50 %": (0.25, 0.25)}
KINDS = ("independent", "around", "mixed")
EPSILON = 0.003


def population(shape: tuple[int, int, int], kind: str, size: int, generator: np.random.Generator) -> np.ndarray:
    """Probabilities of stratum, class and value, of one of the `KINDS`; the prior's range depends on the rows."""
    strata, rows, columns = shape
    weights = generator.dirichlet(np.full(strata, 2.0))
    of_strata = []
    strength = np.exp(generator.uniform(np.log(4.0), np.log(50.0 * size * min(rows, columns))))
    for _ in range(strata):
        independent = np.outer(generator.dirichlet(np.full(rows, 3.0)), generator.dirichlet(np.full(columns, 3.0)))
        around = generator.dirichlet(strength * independent.ravel()).reshape(rows, columns)
        dependent = generator.dirichlet(2.0 * independent.ravel() + 0.01).reshape(rows, columns)
        share = generator.random()
        mixed = (1.0 - share) * independent + share * dependent
        of_strata.append({"independent": independent, "around": around, "mixed": mixed}[kind])
    return weights[:, np.newaxis, np.newaxis] * np.array(of_strata)


def conditional_information_of(probabilities: np.ndarray) -> float:
    """I(X;Y|Z)."""
    weights = probabilities.sum(axis=(1, 2))
    return float((weights * information_of(probabilities / weights[:, np.newaxis, np.newaxis])).sum())


def incomplete(probabilities: np.ndarray, missing: str, size: int, generator: np.random.Generator) -> np.ndarray:
    """Blocks of `size` rows, one block for each stratum; some rows lack the feature or the target."""
    no_feature, no_target = MISSING[missing]
    strata, rows, columns = probabilities.shape
    counts = generator.multinomial(size, probabilities.ravel()).reshape(probabilities.shape)
    by_class = np.full((rows, 1), no_feature)
    by_value = np.full(columns, no_target)
    if no_target:
        by_class, by_value = by_class * np.linspace(0.5, 1.5, rows)[:, None], by_value * np.linspace(1.5, 0.5, columns)
    without_feature = generator.binomial(counts, by_class)
    without_target = generator.binomial(counts - without_feature, by_value / (1.0 - by_class))
    blocks = np.zeros((strata, rows + 1, columns + 1))
    blocks[:, :-1, :-1] = counts - without_feature - without_target
    blocks[:, :-1, -1] = without_feature.sum(axis=2)
    blocks[:, -1, :-1] = without_target.sum(axis=1)
    return blocks


def strata_of(data: list[np.ndarray]) -> StratifiedTables:
    """All data sets as candidates."""
    tables = Tables.of([block for blocks in data for block in blocks])
    return StratifiedTables.of(tables, np.cumsum([0, *(len(blocks) for blocks in data)]))


def draws_of(blocks: np.ndarray, prior: str | float, size: int, generator: np.random.Generator) -> np.ndarray:
    """Draws of sum p_z I_z from the posterior given dependence."""
    strata = strata_of([blocks])
    if prior == "adaptive":
        mixture = mixtures(strata.occurring, (strata.starts[:-1], strata.starts[1:]))
        weight, components = mixture.weight.reshape(strata.weights.size, -1)[0], mixture.blocks
        pseudo_count = 0.0
    else:
        weight, components, pseudo_count = np.ones(1), strata.tables, float(prior)
    drawn = []
    for component, count in enumerate(generator.multinomial(size, weight / weight.sum()).tolist()):
        if count == 0:
            continue
        shares = generator.dirichlet(strata.weights, count)
        total = np.zeros(count)
        for stratum in range(strata.weights.size):
            table = Table.of_block(components.block(stratum * weight.size + component))
            total += shares[:, stratum] * information(table, pseudo_count, count, generator)
        drawn.append(total)
    return np.concatenate(drawn)


def information(table: Table, pseudo_count: float, size: int, generator: np.random.Generator) -> np.ndarray:
    """Draws of one stratum's information, in random order."""
    chains = 256
    if table.misses_feature and table.misses_target:
        size_of_chains = max(size, 20 * chains)
        drawn = draw_information(table, pseudo_count, size_of_chains, generator, chains=chains, burn_in=150, thin=4)
        return generator.permutation(drawn.information)[:size]
    return draw_information(table, pseudo_count, size, generator, chains=1, burn_in=0, thin=1).information


def distance(distribution: credimi.Distribution, draws: np.ndarray) -> float:
    """Kolmogorov's, of what is left without the atom, times its weight."""
    draws = np.sort(draws)
    below = (distribution.cdf(draws) - distribution.p_zero) / (1.0 - distribution.p_zero)
    steps = np.arange(draws.size + 1) / draws.size
    return (1.0 - distribution.p_zero) * float(max((below - steps[:-1]).max(), (steps[1:] - below).max()))


def distances(tables: int, draws: int, generator: np.random.Generator) -> None:
    """Print median and 95th percentile, a line for each N and what is missing."""
    print("\n| missing | N | tables | jeffreys: median, 95th | adaptive: median, 95th |")
    print("|---|---:|---:|---:|---:|")
    all_distances: dict[str | float, list[float]] = {0.5: [], "adaptive": []}
    for missing, size in product(MISSING, SIZES):
        distances_of: dict[str | float, list[float]] = {0.5: [], "adaptive": []}
        for shape, kind, _ in product(SHAPES, KINDS, range(tables)):
            blocks = incomplete(population(shape, kind, size, generator), missing, size, generator)
            margins = {"target_only": blocks[:, :-1, -1], "feature_only": blocks[:, -1, :-1]}
            for prior, values in distances_of.items():
                distribution = credimi.conditional_information(blocks[:, :-1, :-1], **margins, prior=prior)
                values.append(distance(distribution, draws_of(blocks, prior, draws, generator)))
        figures = [f"{np.median(values):.3f}, {np.quantile(values, 0.95):.3f}" for values in distances_of.values()]
        print(f"| {missing} | {size:,} | {len(distances_of[0.5])} | {' | '.join(figures)} |", flush=True)
        for prior, values in distances_of.items():
            all_distances[prior] += values
    figures = [f"{np.median(values):.3f}, {np.quantile(values, 0.95):.3f}" for values in all_distances.values()]
    print(f"| all | all | {len(all_distances[0.5])} | {' | '.join(figures)} |", flush=True)


def coverage(tables: int, generator: np.random.Generator) -> None:
    """Print how many intervals hold the truth, and how much noise is kept."""
    print("| shape | N | noise kept, % | independent: held, % | around: held, % | mixed: held, % |")
    print("|---|---:|---:|---:|---:|---:|")
    all_figures = []
    for shape, size in product(SHAPES, SIZES):
        figures = []
        for kind in KINDS:
            data, truth = [], []
            for missing in MISSING:
                for _ in range(tables):
                    probabilities = population(shape, kind, size, generator)
                    data.append(incomplete(probabilities, missing, size, generator))
                    truth.append(0.0 if kind == "independent" else conditional_information_of(probabilities))
            summary = summarize(strata_of(data), Belief(epsilon=EPSILON))
            if kind == "independent":
                figures.append(100.0 * np.mean(summary.p_above >= 0.95))
            figures.append(100.0 * np.mean((summary.low <= truth) & (truth <= summary.high)))
        all_figures.append(figures)
        shown = " | ".join(f"{figure:.1f}" for figure in figures)
        print(f"| {' x '.join(map(str, shape))} | {size:,} | {shown} |", flush=True)
    print(f"| all | all | {' | '.join(f'{figure:.2f}' for figure in np.mean(all_figures, axis=0))} |", flush=True)


def cut_numbers(tables: int) -> None:
    """What is made of numbers that were cut for what they tell, and tell nothing given W."""
    print("| rows | values of W | classes | noise | cuts | even odds | odds alone | odds given W |")
    print("|---:|---:|---:|---:|---:|---:|---:|---:|")
    for rows, (strata, classes), noise in product((200, 600, 2_000), ((3, 2), (6, 3)), (0.3, 1.0, 3.0)):
        bayes_factors, cuts = [], []
        for seed in range(tables):
            generator = np.random.default_rng(seed)
            given = np.concatenate([np.arange(strata), generator.integers(0, strata, rows - strata)])
            probabilities = generator.dirichlet(np.full(classes, 1.0), strata).cumsum(axis=1)
            target = (generator.random((rows, 1)) > probabilities[given]).sum(axis=1)
            target[:classes] = np.arange(classes)
            numbers = given[:, np.newaxis] + noise * generator.normal(size=(rows, 10))
            data = {f"x{index}": column for index, column in enumerate(numbers.T)}
            data |= {"w": [f"w{each}" for each in given], "y": [f"c{each}" for each in target]}
            codes = encoded_table(data, CountRequest.of("y")).codes()
            counter = LocalCounter(codes)
            cut_columns = [index for index, feature in enumerate(codes.features) if feature.odds < 1.0]
            if not cut_columns:
                continue
            index_of_w = [feature.name for feature in codes.features].index("w")
            ((_, counted, starts),) = counter.by_stratum(ByValue(index_of_w), np.array(cut_columns))
            even = Tables(counted.flat, counted.rows, counted.columns)
            independent = independence(StratifiedTables.of(even, starts))
            factor = (1.0 - independent) / independent
            p_independent = summarize_tables(counter.by_target(), Belief()).p_independent
            informative = from_common_odds(1.0 - p_independent, p_independent)
            odds_alone, odds_now = counted.odds, odds_given(counter.book.features, informative)[cut_columns]
            bayes_factors.append(np.array([factor, factor * odds_alone, factor * odds_now]))
            cuts += [len(codes.features[index].values) - 1 for index in cut_columns]
        factors = np.concatenate(bayes_factors, axis=1)
        shown = [f"{each.mean():.2g}, {100 * np.mean(each > 1.0):.0f} %" for each in factors]
        print(f"| {rows:,} | {strata} | {classes} | {noise} | {np.mean(cuts):.1f} | " + " | ".join(shown) + " |")


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=6, help="of each kind (default: %(default)s)")
    parser.add_argument("--draws", type=int, default=10_000, help="from each posterior (default: %(default)s)")
    parser.add_argument("--cuts", action="store_true", help="look at numbers that are cut instead")
    options = parser.parse_args()
    if options.cuts:
        cut_numbers(10 * options.tables)
        return
    generator = np.random.default_rng(0)
    coverage(25 * options.tables, generator)
    distances(options.tables, options.draws, generator)


if __name__ == "__main__":
    main()
