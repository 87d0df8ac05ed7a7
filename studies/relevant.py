"""Which columns matter at all: how many of 20 relevant columns among 500 are found, and how many of noise are kept.

Data as Madelon's: classes are clusters on the corners of a cube in 5 dimensions, each of which tells little alone; 15
further columns are sums or copies of these 5; 480 are noise. 2,000 rows; every column is cut into ten ranges of equal
width. scikit-learn's `make_classification` makes them. "xor": ten pairs vote, each by the sign of its product. With
--missing a share of all cells is removed.

    rank        each column alone: rule forward, P(I > 0.003) >= 0.95
    relevant    what `credimi.select(rule="relevant")` takes: the evidence averaged over all partners
    maximum     the same, with the largest evidence over the partners instead of the mean
    JMI         told that there are 20: the well-known filter, by counts, which cannot miss values

    python studies/relevant.py                     the table of docs/explanation/sets.md, some minutes on two cores
    python studies/relevant.py --seeds 1           a part of it
"""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING

import numpy as np
from sklearn.datasets import make_classification

import credimi
from credimi.counts.local_counter import LocalCounter
from credimi.counts.request import CountRequest
from credimi.inference.rules import from_common_odds
from credimi.questions.select.relevant_features import relevance
from credimi.sources.codes import encoded_table

if TYPE_CHECKING:
    from credimi.counts.codes import Codes

RELEVANT, VALUES = 20, 10
KINDS = {  # how many columns span the cube, are sums of them, and are copies; how far apart the corners are
    "madelon": {"n_informative": 5, "n_redundant": 10, "n_repeated": 5, "n_clusters_per_class": 16, "class_sep": 2.0},
    "sums": {"n_informative": 5, "n_redundant": 15, "n_repeated": 0, "n_clusters_per_class": 16, "class_sep": 1.5},
    "four": {"n_informative": 4, "n_redundant": 16, "n_repeated": 0, "n_clusters_per_class": 8, "class_sep": 1.5},
    "xor": {},
}
Columns = dict[str, list[str | None]]


def made(kind: str, seed: int, missing: float, rows: int, count: int) -> tuple[Columns, list[str]]:
    """A table and its target; the first 20 columns are the relevant ones."""
    generator = np.random.default_rng(seed)
    if kind == "xor":  # ten pairs of columns; each votes by the sign of its product, and the majority is the class
        numbers = generator.normal(size=(rows, count))
        votes = np.sign(numbers[:, :RELEVANT:2] * numbers[:, 1:RELEVANT:2]).sum(axis=1)
        target = (votes + 0.5 * generator.normal(size=rows) > 0).astype(int)
    else:
        numbers, target = make_classification(
            rows, count, flip_y=0.01, shuffle=False, random_state=seed, hypercube=True, **KINDS[kind]
        )
    low, high = numbers.min(axis=0), numbers.max(axis=0)
    codes = np.minimum((VALUES * (numbers - low) / (high - low)).astype(int), VALUES - 1)
    removed = generator.random(codes.shape) < missing
    columns: Columns = {
        f"x{number:03d}": [
            None if is_removed else f"v{code}"
            for code, is_removed in zip(column_codes.tolist(), removed_rows.tolist(), strict=True)
        ]
        for number, (column_codes, removed_rows) in enumerate(zip(codes.T, removed.T, strict=True))
    }
    return columns, [f"c{each}" for each in target.tolist()]


def interpreted(columns: Columns, target: list[str]) -> Codes:
    """The codes of a table."""
    return encoded_table(columns | {"class": target}, CountRequest.of("class")).codes()


def by_partners(ranking: credimi.Ranking, codes: Codes) -> list[list[str]]:
    """Keep a column if its mean evidence over the partners says so; the same of its largest evidence."""
    p_independent = {row["feature"]: row["p_independent"] for row in ranking}
    evidence_of = relevance(LocalCounter(codes), np.array([p_independent[feature.name] for feature in codes.features]))
    ways = []
    for evidence in (evidence_of.evidence, evidence_of.largest):
        p_noise = 1.0 / (1.0 + np.exp(np.clip(evidence, -700.0, 700.0)))
        is_kept = from_common_odds(1.0 - p_noise, p_noise) >= 0.95
        ways.append([feature.name for feature, keep in zip(codes.features, is_kept.tolist(), strict=True) if keep])
    return ways


def by_jmi(codes: Codes, count: int) -> list[str]:
    """Take the column with the largest sum of I(X,W;Y) over the taken W, so many times; counts as they are."""
    pairs = LocalCounter(codes).by_pair_and_class()
    number = len(pairs.names)

    def information(table: np.ndarray) -> float:
        p = table / table.sum()
        with np.errstate(all="ignore"):
            return float(np.nansum(p * np.log(p / (p.sum(axis=0, keepdims=True) * p.sum(axis=1, keepdims=True)))))

    shape = (-1, len(pairs.classes))
    first = pairs.layout[:, 0]
    alone = [
        information(pairs.totals[start : start + values])
        for start, values in zip(first, pairs.layout[:, 1], strict=True)
    ]
    taken, score = [int(np.argmax(alone))], np.zeros(number)
    while len(taken) < count:
        tables = pairs.tables(np.array([(taken[-1], each) for each in range(number)], dtype=np.int64))
        score += [information(np.moveaxis(table, 0, -1).reshape(shape)) for table in tables]
        score[taken] = -np.inf
        taken.append(int(np.argmax(score)))
    return [pairs.names[each] for each in taken]


def main() -> None:
    """Print one line a kind of data."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--rows", type=int, default=2_000)
    parser.add_argument("--columns", type=int, default=500)
    parser.add_argument("--missing", type=float, nargs="*", default=[0.0, 0.3])
    parser.add_argument("--kinds", nargs="*", default=list(KINDS), choices=list(KINDS))
    options = parser.parse_args()
    print("| data | missing | rank | relevant | maximum | JMI, told 20 | processor seconds |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for kind in options.kinds:
        for missing in options.missing:
            counts, seconds = [], 0.0
            for seed in range(options.seeds):
                columns, target = made(kind, seed, missing, options.rows, options.columns)
                codes, ranking = (
                    interpreted(columns, target),
                    credimi.rank(columns | {"class": target}, "class", epsilon=0.003),
                )
                began = time.process_time()
                ways = [ranking.selected("forward"), *by_partners(ranking, codes)]
                seconds += time.process_time() - began
                ways.append(by_jmi(codes, RELEVANT))
                relevant_counts = [sum(int(name[1:]) < RELEVANT for name in names) for names in ways]
                counts.append(
                    [(relevant, len(names) - relevant) for relevant, names in zip(relevant_counts, ways, strict=True)]
                )
                print(kind, missing, seed, counts[-1], flush=True) if options.seeds == 1 else None
            mean = np.array(counts, dtype=float).mean(axis=0)
            cells = " | ".join(f"{relevant:.1f} + {noise:.1f}" for relevant, noise in mean)
            print(f"| {kind} | {100 * missing:.0f} % | {cells} | {seconds / options.seeds:.1f} |", flush=True)


if __name__ == "__main__":
    main()
