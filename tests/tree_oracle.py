"""A plain, slow tree: rows are dictionaries with a weight, tables are counted cell by cell, cuts are all tried."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from credimi.core.tables import Tables
from credimi.inference.belief import Belief
from credimi.inference.tables.many_tables import quick_beliefs

if TYPE_CHECKING:
    from credimi.core.types import Value

Row = dict[str, "Value"]
Settings = tuple[list[str], set[str], Belief]  # all columns, those of numbers, and how they are judged
Instead = dict[str, tuple[dict["Value", str], dict[str, dict[str, float]]]]
LEAST_PART, LEAST_NOISE = 0.2, 0.1


@dataclass
class Plain:
    """A node: its rows as (row, part, weight), and how it is split."""

    rows: list[tuple[Row, float, float]]
    depth: int
    column: str | None = None
    branches: dict[str, Plain] | None = None

    def described(self) -> Value:
        """Column, and of each branch its name, its weight, and what is below."""
        weight = round(sum(each[2] for each in self.rows), 6)
        if self.branches is None:
            return weight
        return self.column, weight, {name: node.described() for name, node in self.branches.items()}


def entropy(weights: list[float]) -> float:
    """n log2 n - sum n_c log2 n_c."""
    return sum(weights) * math.log2(sum(weights)) - sum(each * math.log2(each) for each in weights if each > 0.0)


def table_of(node: Plain, column: str, bins: dict[Value, str]) -> dict[tuple[Value, str | None], float]:
    """The weight of each class with each value."""
    table: dict[tuple[Value, str | None], float] = defaultdict(float)
    for row, _, weight in node.rows:
        table[row["class"], bins.get(row[column])] += weight
    return table


def cut(node: Plain, column: str) -> tuple[dict[Value, str], float] | None:
    """The best cut of numbers: the side of each, and what the choice leaves of the evidence."""
    seen = [(row, weight) for row, _, weight in node.rows if row["class"] is not None and row[column] is not None]
    numbers = sorted({row[column] for row, _ in seen})
    if len(numbers) < 2 or len({row["class"] for row, _ in seen}) < 2:
        return None
    left = []
    for number in numbers[:-1]:
        sides: list[dict[Value, float]] = [defaultdict(float), defaultdict(float)]
        for row, weight in seen:
            sides[row[column] > number][row["class"]] += weight
        left.append(sum(entropy(list(side.values())) for side in sides))
    best = next(place for place, bits in enumerate(left) if bits <= min(left) + 1e-9)
    middle = (numbers[best] + numbers[best + 1]) / 2.0
    share = sum(2.0 ** (min(left) - bits) for bits in left) / len(left)
    every = {row[column] for row, _, _ in node.rows if row[column] is not None}
    return {each: f"<= {middle:g}" if each <= middle else f"> {middle:g}" for each in every}, share


def judged(node: Plain, columns: list[str], numbers: set[str], options: Belief) -> Value:
    """The tables of all columns, and what is believed of them; None if there are none."""
    found = {}
    for column in columns:
        known = {row[column] for row, _, _ in node.rows if row[column] is not None and row["class"] is not None}
        sides = cut(node, column) if column in numbers else ({each: str(each) for each in known}, 1.0)
        if sides is not None:
            table = table_of(node, column, {each: side for each, side in sides[0].items() if each in known})
            classes = sorted({each for each, _ in table if each is not None})
            values = sorted({each for cls, each in table if each is not None and cls is not None})
            if len(classes) > 1 and len(values) > 1:
                block = np.array([[table[c, v] for v in [*values, None]] for c in [*classes, None]])
                found[column] = (block, sides, values)
    if not found:
        return None
    tables = Tables.of([each[0] for each in found.values()], [each[1][1] for each in found.values()])
    return node, found, quick_beliefs(tables, options)


def share_of_independent(independent: list[float], least: float = LEAST_NOISE) -> float:
    """The share of columns that tell nothing, by many steps of EM."""
    share = 0.5
    for _ in range(5000):
        of_each = [q * share / (q * share + (1.0 - q) * (1.0 - share)) for q in independent]
        share = max(least, (sum(of_each) + 1.0) / (len(independent) + 2.0))
    return share


def paid(p_above: np.ndarray, independent: np.ndarray, share: float) -> np.ndarray:
    """P(I > epsilon) with this share of noise."""
    return p_above * (1.0 - share) / (share * independent + (1.0 - share) * (1.0 - independent))


def needed(node: Plain, level: float) -> float:
    """How probable it has to be that a column tells something."""
    doubt = (1.0 - level) * min(1.0, 200.0 / sum(weight for _, _, weight in node.rows)) ** 2
    return 1.0 - doubt if node.depth else max(1.0 - doubt, 0.95)


def grown(rows: list[Row], numbers: set[str], *, epsilon: float, level: float) -> Plain:
    """The tree; categories must have two values each, so that nothing is merged."""
    root = Plain([(row, 1.0, row.get("weight", 1.0)) for row in rows], 0)
    columns = [name for name in rows[0] if name not in {"class", "weight"}]
    options, waiting, independent = Belief(epsilon=epsilon, level=level), [root], []
    doubts = []
    while waiting:
        found = [each for node in waiting if (each := judged(node, columns, numbers, options)) is not None]
        independent += [q for each in found for q in each[2].p_independent.tolist()]
        share = share_of_independent(independent)
        waiting = []
        for node, tables, believed in found:
            good = paid(believed.p_above, believed.p_independent, share) >= needed(node, level)
            good &= believed.p_independent < 0.5  # the rows of the node speak for the column
            if good.any():
                best = int(np.argmax(np.where(good, believed.mean, -1.0)))
                node.column = list(tables)[best]
                doubts.append((node, believed.p_above[best], believed.p_independent[best]))
                waiting += split(node, *tables[node.column], (columns, numbers, options))
    share = share_of_independent(independent)
    for node, p_above, q in doubts:
        if paid(p_above, q, share) < needed(node, level):
            node.branches = None
    return root


def split(
    node: Plain,
    block: np.ndarray,
    sides: tuple[dict[Value, str], float],
    values: list[str],
    settings: Settings,
) -> list[Plain]:
    """The branches of a node; rows without a value go down all of them, with weights that other columns tell."""
    totals = block[:, :-1].sum(axis=0)
    shares = dict(zip(values, (totals / totals.sum()).tolist(), strict=True))
    asked = str(node.column)
    instead = stand_ins(node, {id(row): sides[0].get(row[asked]) for row, _, _ in node.rows}, shares, settings)
    node.branches = {value: Plain([], node.depth + 1) for value in values}
    for row, part, weight in node.rows:
        side = sides[0].get(row[asked])
        chances = weights_of(row, shares, instead) if side is None else {side: 1.0}
        for value, chance in chances.items():
            if side is not None or part * chance >= LEAST_PART:
                node.branches[value].rows.append((row, part * chance, weight * chance))
    return list(node.branches.values())


def stand_ins(node: Plain, side_of: dict[int, str | None], shares: dict[str, float], settings: Settings) -> Instead:
    """Of each column that stands in the name of each value, and P(branch | value) of each name and branch."""
    known = Plain([({**row, "class": side_of[id(row)]}, part, weight) for row, part, weight in node.rows], node.depth)
    columns, numbers, options = settings
    found = judged(known, [name for name in columns if name != node.column], numbers, options)
    if found is None:
        return {}
    _, tables, believed = found
    share = share_of_independent(believed.p_independent.tolist(), 0.5)
    p_above = paid(believed.p_above, believed.p_independent, share)
    sure = paid(1.0 - believed.p_independent, believed.p_independent, share)
    instead = {}
    for place, name in enumerate(tables):
        if p_above[place] >= options.level:
            names = tables[name][1][0]
            table = table_of(known, name, names)
            counts = {v: {j: table.get((j, v), 0.0) for j in shares} for v in tables[name][2]}
            instead[name] = names, posterior(counts, shares, float(sure[place]))
    return instead


def posterior(
    counts: dict[str, dict[str, float]], shares: dict[str, float], sure: float
) -> dict[str, dict[str, float]]:
    """P(branch | value), shrunk to the shares of the branches."""
    everything = sum(sum(each.values()) for each in counts.values())
    evidence, means = [], []
    for power in range(-1, 13):
        bits, mean = 0.0, {}
        for value, of_branch in counts.items():
            total = sum(of_branch.values())
            strength = 2.0**power * total / everything
            bits += math.lgamma(strength) - math.lgamma(strength + total)
            for j, count in of_branch.items():
                bits += math.lgamma(count + strength * shares[j]) - math.lgamma(strength * shares[j])
            mean[value] = {j: (n + strength * shares[j]) / (total + strength) for j, n in of_branch.items()}
        evidence.append(bits)
        means.append(mean)
    odds = [math.exp(each - max(evidence)) for each in evidence]
    return {
        value: {
            j: sure * sum(w * mean[value][j] for w, mean in zip(odds, means, strict=True)) / sum(odds)
            + (1.0 - sure) * shares[j]
            for j in shares
        }
        for value in counts
    }


def weights_of(row: Row, shares: dict[str, float], instead: Instead) -> dict[str, float]:
    """How probable each branch is, from the values that the row has."""
    chances = dict(shares)
    for name, (names, given) in instead.items():
        value = names.get(row[name])
        if value in given:
            chances = {j: chance * given[value][j] / shares[j] for j, chance in chances.items()}
    return {j: chance / sum(chances.values()) for j, chance in chances.items()}


GRID = [float(power) for power in range(-1, 17)]
LAWS = [(centre, width) for centre in GRID for width in (0.3, 1.0, 2.0, 4.0)]


@dataclass
class PlainSplit:
    """A split: the probabilities of its node, its values with their branches, and all rows of each branch."""

    node: list[float]
    values: list[list[float]]  # classes of each value
    branch: list[int]
    branches: list[list[float]]  # classes of each branch
    numbers: bool


def log_rise(counts: list[float], pseudo: list[float]) -> float:
    """log of the Dirichlet-multinomial evidence of one group of rows."""
    bits = math.lgamma(sum(pseudo)) - math.lgamma(sum(pseudo) + sum(counts))
    return bits + sum(math.lgamma(p + n) - math.lgamma(p) for n, p in zip(counts, pseudo, strict=True))


def log_bayes_factor(groups: list[list[float]], strength: float) -> float:
    """log B_K of some groups of rows, of classes that occur."""
    totals = [sum(column) for column in zip(*groups, strict=True)]
    occurring = [index for index, total in enumerate(totals) if total > 0.0]
    rows, everything = sum(totals), sum(totals[index] + 0.5 for index in occurring)
    shares = [(totals[index] + 0.5) / everything for index in occurring]
    together = log_rise([totals[index] for index in occurring], [strength * share for share in shares])
    apart = 0.0
    for group in groups:
        pseudo = [strength * sum(group) / rows * share for share in shares]
        apart += log_rise([group[index] for index in occurring], pseudo)
    return apart - together


def of_known_size(groups: list[list[float]], strength: float) -> tuple[float, float]:
    """The evidence for differences of a known size, and the part of them that is kept."""
    totals = [sum(column) for column in zip(*groups, strict=True)]
    d = max((len(groups) - 1) * (sum(total > 0.0 for total in totals) - 1), 1)
    tau, kappa = sum(totals) / strength, min(1.0, d / 5.0)
    z2 = max(2.0 * (1.0 + 1.0 / tau) * (log_bayes_factor(groups, strength) + d * math.log1p(tau) / 2.0), 0.0)
    spread = 1.0 + kappa * tau
    size, x = math.sqrt((1.0 - kappa) * d * tau), math.sqrt((1.0 - kappa) * d * tau * z2) / spread
    root = math.hypot((d + 1.0) / 2.0, x)
    directions = root - (d + 1.0) / 2.0 - (d - 1.0) / 2.0 * math.log(((d - 1.0) / 2.0 + root) / d)
    evidence = z2 / 2.0 - (z2 + size**2) / (2.0 * spread) - d / 2.0 * math.log(spread) + directions
    kept = (kappa * tau + size**2 / spread / ((d - 1.0) / 2.0 + root)) / spread
    return math.exp(evidence), min(kept, 1.0)


def sides(values: list[list[float]]) -> list[list[list[float]]]:
    """The two sides of each cut between values."""
    parts = [(values[:place], values[place:]) for place in range(1, len(values))]
    return [[[sum(column) for column in zip(*side, strict=True)] for side in part] for part in parts]


def plain_evidence(values: list[list[float]], strength: float, *, numbers: bool) -> float:
    """B_K of a column; of numbers, the mean over all cuts."""
    if not numbers:
        return of_known_size(values, strength)[0]
    return sum(of_known_size(each, strength)[0] for each in sides(values)) / (len(values) - 1)


def plain_laws(columns: list[tuple[list[list[float]], bool]]) -> list[float]:
    """The posterior of each centre and width of the law of log2 K."""
    evidence = [[plain_evidence(values, 2.0**k, numbers=numbers) for k in GRID] for values, numbers in columns]
    posterior = []
    for centre, width in LAWS:
        law = plain_law(centre, width)
        posterior.append(math.prod(sum(p * b for p, b in zip(law, each, strict=True)) for each in evidence))
    return [each / sum(posterior) for each in posterior]


def plain_law(centre: float, width: float) -> list[float]:
    """P(K), of a normal law of log2 K on the grid."""
    law = [math.exp(-((k - centre) ** 2) / (2.0 * width**2)) for k in GRID]
    return [each / sum(law) for each in law]


def plain_probabilities(split: PlainSplit, laws: list[float]) -> list[list[float]]:
    """The class probabilities of the branches: sums over laws, strengths, cuts and values, one by one."""
    totals = [sum(column) for column in zip(*split.values, strict=True)]
    rows = sum(totals)
    centre = [(n + q) / (rows + 1.0) for n, q in zip(totals, split.node, strict=True)]
    groupings = sides(split.values) if split.numbers else [split.values]
    sized = [[of_known_size(groups, 2.0**k) for groups in groupings] for k in GRID]
    shown = [[0.0] * len(totals) for _ in split.branches]
    for (centre_of_law, width), weight in zip(LAWS, laws, strict=True):
        law = plain_law(centre_of_law, width)
        norm = sum(p * sum(evidence for evidence, _ in each) for p, each in zip(law, sized, strict=True))
        for p, of_grouping in zip(law, sized, strict=True):
            for place, (groups, (evidence, kept)) in enumerate(zip(groupings, of_grouping, strict=True)):
                for value, (counts, branch) in enumerate(zip(split.values, split.branch, strict=True)):
                    group = groups[int(value > place)] if split.numbers else groups[value]
                    for i, a in enumerate(centre):
                        mean = a + kept * (group[i] / sum(group) - a)
                        shown[branch][i] += weight * p * evidence / norm * sum(counts) * mean
    places = range(len(split.branches))
    present = [[v for v, b in zip(split.values, split.branch, strict=True) if b == place] for place in places]
    for i in range(len(totals)):  # rows without the value, class by class
        means = [shown[place][i] / sum(sum(v) for v in present[place]) for place in places]
        parts = [split.branches[place][i] - sum(v[i] for v in present[place]) for place in places]
        norm = sum(part * mean for part, mean in zip(parts, means, strict=True))
        for place in places:
            shown[place][i] += sum(parts) * parts[place] * means[place] / norm
    factors = [sum(each[i] for each in shown) for i in range(len(totals))]
    result = []
    for each in shown:
        odds = [q * s / factor for q, s, factor in zip(split.node, each, factors, strict=True)]
        result.append([odd / sum(odds) for odd in odds])
    return result
