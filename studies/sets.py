"""Which columns to take together: what "given what was taken" should mean, by how well three classifiers do.

Data sets of the papers, 5 folds, the selection inside the folds; numbers were cut on all rows, as the papers have it.
Of each way: how many of the columns it takes, in per cent, and the accuracy of three classifiers with these: naive
Bayes, logistic regression and boosted trees.

    all         all columns
    forward     each column alone: P(I > epsilon) >= 0.95
    smallest    `credimi.select`
    JMI, CMIM, mRMR   told how many columns `smallest` took: from plain counts, they know no uncertainty and cannot stop
                by themselves; "missing" is a value to them
    least       as `smallest`, but the column is taken that adds most to the taken one that leaves it least, and nothing
                is looked at given all taken columns together (credible CMIM)
    residual    adds to what a naive Bayes of the taken columns says of a row, level 0.5
    two         as `smallest`, and no two taken columns together say what it says
    backward    as `smallest`; then columns are dropped that surely add nothing to a naive Bayes of the others

With --permuted: in how many of so many runs on permuted targets anything is taken at all; and with 7 of 24 columns that
matter (led24), in how many of so many samples of 3,200 rows exactly those are.

    CREDIMI_DATA=DIR python studies/sets.py --seeds 3      the table of docs/explanation/sets.md, an hour
    CREDIMI_DATA=DIR python studies/sets.py --permuted 100
"""

from __future__ import annotations

import argparse
import warnings
from typing import TYPE_CHECKING

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression

import credimi
from credimi.counting.request import CountRequest
from credimi.counting.rows.coded_table import CodedTable
from credimi.counting.rows.stratified_counts import SettledCodes
from credimi.experiments.paper_datasets import load
from credimi.inference.conditional.stratified_tables import StratifiedTables, summarize
from credimi.inference.options import PosteriorOptions
from credimi.selection.sets.naive_summary import NaiveSummary
from credimi.selection.sets.smallest_set import Search, combinations, smallest

if TYPE_CHECKING:
    from credimi.counting.rows.coded_table import Rows

NAMES = "vote,crx,german,australian,lymphography,hypothyroid,horse-colic,chess,led24,soybean-large,audiology"
TOLD = ("JMI", "CMIM", "mRMR")
WAYS = ("all", "forward", "smallest", *TOLD, "least", "residual", "two", "backward")
LEVEL, SURE = 0.5, 0.95
SEGMENTS = "1110111 0010010 1011101 1011011 0111010 1101011 1101111 1010010 1111111 1111011"
Table = dict[str, list[str | None]]


def data_of(rows: Rows, which: np.ndarray, target: np.ndarray) -> Table:
    """Some rows as a table of text."""
    columns: Table = {
        str(number): [None if code < 0 else f"v{code:03d}" for code in codes[which]]
        for number, codes in enumerate(rows.codes.T)
    }
    return columns | {"class": [f"c{code:03d}" for code in target[which]]}


def entropy(*columns: np.ndarray) -> float:
    """Of the joint values of columns, from plain counts."""
    joint = np.zeros(columns[0].size, dtype=np.int64)
    for column in columns:
        joint = np.unique(joint * (int(column.max(initial=0)) + 1) + column, return_inverse=True)[1]
    shares = np.bincount(joint) / joint.size
    return float(-(shares * np.log(shares)).sum())


class PlainFilters:
    """I(X;Y), I(X;W) and I(X;Y|W) of all columns from plain counts, for the filters that have to be told k."""

    def __init__(self, codes: SettledCodes) -> None:
        target, columns = codes.groups.astype(np.int64), [each.astype(np.int64) for each in codes.codes]
        own, with_target = [entropy(each) for each in columns], [entropy(each, target) for each in columns]
        self.alone = np.array(own) + entropy(target) - np.array(with_target)
        self.shared, self.given = np.zeros((2, len(columns), len(columns)))
        for x in range(len(columns)):
            for w in range(x):
                both, all_three = entropy(columns[x], columns[w]), entropy(columns[x], columns[w], target)
                self.shared[x, w] = self.shared[w, x] = own[x] + own[w] - both
                self.given[x, w] = with_target[w] + both - all_three - own[w]
                self.given[w, x] = with_target[x] + both - all_three - own[x]

    def taken(self, way: str, count: int) -> list[int]:
        """The first columns of a filter."""
        found: list[int] = []
        while len(found) < min(count, self.alone.size):
            score = self.alone
            if found and way == "JMI":
                score = self.given[:, found].sum(axis=1)
            elif found and way == "CMIM":
                score = np.minimum(self.alone, self.given[:, found].min(axis=1))
            elif found:
                score = self.alone - self.shared[:, found].mean(axis=1)
            found.append(int(np.argmax(np.where(np.isin(np.arange(score.size), found), -np.inf, score))))
        return found


def other_way(codes: SettledCodes, way: str) -> list[int]:
    """The columns that one of the other ways takes."""
    search, summary = Search(codes, PosteriorOptions(level=LEVEL)), NaiveSummary(codes)
    if way == "backward":
        smallest(search, search.count, 1.0)
        return dropped(codes, search.taken)
    refused = np.zeros(search.count, dtype=bool)
    while search.left.any():
        figures = order = search.least
        if search.taken and way == "residual":
            figures = order = search.given(codes, *summary.strata())
        elif way == "two":
            order = search.average()
        good = search.left & ~refused & (figures.p_above >= (LEVEL if search.taken else SURE))
        if not good.any():
            break
        best = int(np.argmax(np.where(good, order.mean, -1.0)))
        if way == "two" and said_by_two(search, best):
            refused[best] = True
            continue
        search.take(best)
        summary.add(best)
    return search.taken


def said_by_two(search: Search, column: int) -> bool:
    """Whether a second taken column, with the one that leaves least, surely says what the column says."""
    if len(search.taken) < 2:
        return False
    first = search.taken[int(np.nan_to_num(search.redundancy[column]).argmax())]
    others = [each for each in search.taken if each != first]
    return any(
        adds_nothing(search.codes, column, combinations(search.codes, [first, other], most=1_000_000))
        for other in others
    )


def adds_nothing(codes: SettledCodes, column: int, strata: tuple[np.ndarray, int]) -> bool:
    """Whether a column surely adds nothing once the stratum is known."""
    tables, starts = codes.stratified(*strata, features=[column])
    found = summarize(StratifiedTables.of(tables, starts), PosteriorOptions(level=LEVEL))
    return bool(found.p_above[0] <= 1.0 - SURE)


def dropped(codes: SettledCodes, taken: list[int]) -> list[int]:
    """Without the columns that surely add nothing to a naive Bayes of the others, last taken first."""
    for column in reversed(list(taken)):
        others = [each for each in taken if each != column]
        summary = NaiveSummary(codes)
        for each in others:
            summary.add(each)
        if others and adds_nothing(codes, column, summary.strata()):
            taken = others
    return taken


def taken_by(data: Table, features: int) -> dict[str, list[int]]:
    """The columns that each way takes."""
    codes = SettledCodes.of(CodedTable.of(data, CountRequest.of("class", missing_values=())))
    names = [int(feature.name) for feature in codes.features]
    found = {"all": list(range(features))}
    found["forward"] = [int(name) for name in credimi.rank(data, "class").selected("forward")]
    found["smallest"] = [int(name) for name in credimi.select(data, "class").features]
    filters = PlainFilters(codes)
    for way in WAYS[3:]:
        columns = filters.taken(way, len(found["smallest"])) if way in TOLD else other_way(codes, way)
        found[way] = [names[column] for column in columns]
    return found


def accuracies(rows: Rows, train: np.ndarray, columns: list[int]) -> tuple[float, float, float]:
    """Of naive Bayes, logistic regression and boosted trees, on the rows that are not for training."""
    classes, target = len(rows.classes), rows.target
    score = np.tile(np.log(np.bincount(target[train], minlength=classes) + 0.5), (target.size, 1))
    inputs = [np.zeros((target.size, 1))]
    for column in columns:
        codes, values = rows.codes[:, column], len(rows.values[column])
        seen = train & (codes >= 0)
        counts = np.bincount(target[seen] * values + codes[seen], minlength=classes * values).reshape(classes, values)
        chances = np.log((counts + 1.0 / values) / (counts.sum(axis=1, keepdims=True) + 1.0))
        score += np.where((codes >= 0)[:, np.newaxis], chances.T[np.maximum(codes, 0)], 0.0)
        inputs.append((codes[:, np.newaxis] == np.arange(values)).astype(float))
    test, table = ~train, np.hstack(inputs)
    regression = LogisticRegression(max_iter=200).fit(table[train], target[train])
    numbers = np.where(rows.codes[:, columns] < 0, np.nan, rows.codes[:, columns].astype(float))
    numbers = np.column_stack([np.zeros(target.size), numbers])
    asked = {"max_leaf_nodes": 15, "learning_rate": 0.15, "early_stopping": False, "l2_regularization": 1.0}
    trees = HistGradientBoostingClassifier(max_iter=30 if classes > 4 else 60, **asked)
    trees.fit(numbers[train], target[train])
    found = [regression.score(table[test], target[test]), trees.score(numbers[test], target[test])]
    return float(np.mean(score.argmax(axis=1)[test] == target[test])), float(found[0]), float(found[1])


def compare(names: list[str], seeds: int) -> None:
    """One line a data set, and their mean."""
    print("| data | " + " | ".join(WAYS) + " |\n|---|" + "---:|" * len(WAYS))
    means = []
    for name in names:
        rows = load(name).rows
        found = np.zeros((seeds, 5, len(WAYS), 4))
        for seed in range(seeds):
            folds = np.random.default_rng(seed).permutation(len(rows)) % 5
            for fold in range(5):
                train = folds != fold
                taken, known = taken_by(data_of(rows, train, rows.target), len(rows.features)), {}
                for number, way in enumerate(WAYS):
                    columns = tuple(sorted(taken[way]))
                    if columns not in known:
                        known[columns] = accuracies(rows, train, list(columns))
                    found[seed, fold, number] = len(columns), *known[columns]
        mean = found.mean(axis=(0, 1)) * [100.0 / len(rows.features), 100.0, 100.0, 100.0]
        means.append(mean)
        print(f"| {name} | " + " | ".join(map(shown, mean)) + " |", flush=True)
    mean = np.mean(means, axis=0)
    print("| mean | " + " | ".join(map(shown, mean)) + " |")
    print("| mean of the three | " + " | ".join(f"{each:.2f}" for each in mean[:, 1:].mean(axis=1)) + " |")


def shown(mean: np.ndarray) -> str:
    """Columns and accuracies, per cent."""
    return f"{mean[0]:.0f}: {mean[1]:.1f} {mean[2]:.1f} {mean[3]:.1f}"


def permuted(names: list[str], runs: int) -> None:
    """Print how often anything is taken though the target is permuted, and how often led24's seven are found."""
    kept = tried = 0
    for name in names:
        rows = load(name).rows
        for run in range(runs):
            target = np.random.default_rng(run).permutation(rows.target)
            kept += bool(credimi.select(data_of(rows, np.ones(len(rows), dtype=bool), target), "class").features)
            tried += 1
    print(f"permuted targets: anything taken in {kept} of {tried} runs")
    segments = np.array([[int(digit) for digit in segment] for segment in SEGMENTS.split()])
    exact = 0
    for run in range(runs):
        generator = np.random.default_rng(run)
        digits = generator.integers(0, 10, 3_200)
        shown = segments[digits] ^ (generator.random((3_200, 7)) < 0.1)
        table = np.hstack([shown, generator.integers(0, 2, (3_200, 17))])
        data = {f"x{number}": ["off" if not cell else "on" for cell in column] for number, column in enumerate(table.T)}
        chosen = credimi.select(data | {"digit": [f"d{digit}" for digit in digits]}, "digit").features
        exact += set(chosen) == {f"x{number}" for number in range(7)}
    print(f"led24: exactly the seven in {exact} of {runs} samples")


def main() -> None:
    """Compare the ways, or look at noise."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default=NAMES, help="names of data sets (default: %(default)s)")
    parser.add_argument("--seeds", type=int, default=1, help="partitions into folds (default: %(default)s)")
    parser.add_argument("--permuted", type=int, default=0, metavar="RUNS", help="look at noise instead")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # of the regression, where it has not converged
    names = options.data.split(",")
    if options.permuted:
        permuted([name for name in names if name != "led24"], options.permuted)
    else:
        compare(names, options.seeds)


if __name__ == "__main__":
    main()
