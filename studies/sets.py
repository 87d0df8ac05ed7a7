"""Which columns to take together: how well three classifiers do with the columns that `select` and others take.

Data sets of the papers, 5 folds, the selection inside the folds; numbers were cut on all rows, as the papers have it.
Of each way: how many of the columns it takes, in per cent, and the accuracy of three classifiers with these: naive
Bayes, logistic regression and boosted trees.

With --folder: other tables, all CSV files of a folder. The first line has names, the last column is the class, an empty
field is missing. `credimi.select` gets the rows for training as they are, so numbers are cut inside the folds. The
classifiers get numbers as numbers, naive Bayes in five equal parts.

    all         all columns
    forward     each column alone: P(I > epsilon) >= 0.95
    smallest    `credimi.select`
    JMI, CMIM, mRMR   told how many columns `smallest` took: from plain counts, they know no uncertainty and cannot stop
                by themselves; "missing" is a value to them

With --permuted: in how many of so many runs on permuted targets anything is taken at all; and with 7 of 24 columns that
matter (led24), in how many of so many samples of 3,200 rows exactly those are.

    CREDIMI_DATA=DIR python studies/sets.py --seeds 3      the table of docs/explanation/sets.md, 15 minutes
    CREDIMI_DATA=DIR python studies/sets.py --permuted 100
    python studies/sets.py --seeds 3 --folder DIR
"""

from __future__ import annotations

import argparse
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression

import credimi
from credimi.counts.reading import Reading
from credimi.counts.request import CountRequest
from credimi.paper.paper_datasets import load
from credimi.paper.rows import rows_of
from credimi.sources.codes import encoded_table

if TYPE_CHECKING:
    from collections.abc import Iterable

    from credimi.counts.codes import Codes
    from credimi.paper.rows import Rows

NAMES = "vote,crx,german,australian,lymphography,hypothyroid,horse-colic,chess,led24,soybean-large,audiology"
FILTERS_WITH_SIZE = ("JMI", "CMIM", "mRMR")
WAYS = ("all", "forward", "smallest", *FILTERS_WITH_SIZE)
SEGMENTS = "1110111 0010010 1011101 1011011 0111010 1101011 1101111 1010010 1111111 1111011"
Table = dict[str, list[str | None]]


@dataclass(frozen=True)
class Studied:
    """A data set: `rows` are codes for the classifiers, `numbers` columns that are numbers, by their index there."""

    name: str
    rows: Rows
    numbers: dict[int, np.ndarray] = field(default_factory=dict)
    frame: pd.DataFrame | None = None  # the raw columns, named by their index; None if they are the codes

    def table(self, which: np.ndarray, target: np.ndarray | None = None) -> Table | pd.DataFrame:
        """Some rows, as `credimi.select` gets them."""
        target = self.rows.target if target is None else target
        classes = [f"c{code:03d}" for code in target[which]]
        if self.frame is not None:
            return self.frame[which].assign(**{"class": classes})
        columns: Table = {
            str(number): [None if code < 0 else f"v{code:03d}" for code in codes[which]]
            for number, codes in enumerate(self.rows.codes.T)
        }
        return columns | {"class": classes}


def read(path: Path) -> Studied:
    """A CSV file, the last column of which is the class."""
    frame = pd.read_csv(path)
    columns, target = frame.iloc[:, :-1], frame.iloc[:, -1].astype(str)
    columns.columns = [str(index) for index in range(columns.shape[1])]
    rows = rows_of(columns.assign(**{"class": target}), "class", missing_values=("?",), discretize="quantile:5")
    features = columns[list(rows.features)].set_axis([str(index) for index in range(len(rows.features))], axis=1)
    numbers = {
        int(name): column.to_numpy(np.float64)
        for name, column in features.items()
        if pd.api.types.is_numeric_dtype(column) and column.nunique() > 20
    }
    return Studied(path.stem, rows, numbers, features)


def entropy(*columns: np.ndarray) -> float:
    """Of the joint values of columns, from plain counts."""
    joint = np.zeros(columns[0].size, dtype=np.int64)
    for column in columns:
        joint = np.unique(joint * (int(column.max(initial=0)) + 1) + column, return_inverse=True)[1]
    shares = np.bincount(joint) / joint.size
    return float(-(shares * np.log(shares)).sum())


class PlainFilters:
    """I(X;Y), I(X;W) and I(X;Y|W) of all columns from plain counts, for the filters that have to be told k."""

    def __init__(self, codes: Codes) -> None:
        target, columns = codes.groups.astype(np.int64), [column.astype(np.int64) for column in codes.columns]
        entropies, with_target = (
            [entropy(column) for column in columns],
            [entropy(column, target) for column in columns],
        )
        self.alone = np.array(entropies) + entropy(target) - np.array(with_target)
        self.shared, self.given = np.zeros((2, len(columns), len(columns)))
        for x in range(len(columns)):
            for w in range(x):
                both, all_three = entropy(columns[x], columns[w]), entropy(columns[x], columns[w], target)
                self.shared[x, w] = self.shared[w, x] = entropies[x] + entropies[w] - both
                self.given[x, w] = with_target[w] + both - all_three - entropies[w]
                self.given[w, x] = with_target[x] + both - all_three - entropies[x]

    def taken(self, way: str, count: int) -> list[int]:
        """The first columns of a filter."""
        columns: list[int] = []
        while len(columns) < min(count, self.alone.size):
            score = self.alone
            if columns and way == "JMI":
                score = self.given[:, columns].sum(axis=1)
            elif columns and way == "CMIM":
                score = np.minimum(self.alone, self.given[:, columns].min(axis=1))
            elif columns:
                score = self.alone - self.shared[:, columns].mean(axis=1)
            columns.append(int(np.argmax(np.where(np.isin(np.arange(score.size), columns), -np.inf, score))))
        return columns


def taken_by(data: Table | pd.DataFrame, features: int) -> dict[str, list[int]]:
    """The columns that each way takes."""
    codes = encoded_table(data, CountRequest.of("class", Reading(missing_values=()))).codes()
    names = [int(feature.name) for feature in codes.features]
    columns_of = {"all": list(range(features))}
    columns_of["forward"] = [int(name) for name in credimi.rank(data, "class").selected("forward")]
    columns_of["smallest"] = [int(name) for name in credimi.select(data, "class").features]
    filters = PlainFilters(codes)
    return columns_of | {
        way: [names[column] for column in filters.taken(way, len(columns_of["smallest"]))] for way in FILTERS_WITH_SIZE
    }


def accuracies(data: Studied, train: np.ndarray, columns: list[int]) -> tuple[float, float, float]:
    """Of naive Bayes, logistic regression and boosted trees, on the rows that are not for training."""
    rows = data.rows
    classes, target = len(rows.classes), rows.target
    score = np.tile(np.log(np.bincount(target[train], minlength=classes) + 0.5), (target.size, 1))
    inputs, numbers = [np.zeros((target.size, 1))], [np.zeros(target.size)]
    for column in columns:
        codes, values = rows.codes[:, column], int(rows.codes[:, column].max()) + 1
        seen = train & (codes >= 0)
        counts = np.bincount(target[seen] * values + codes[seen], minlength=classes * values).reshape(classes, values)
        log_probabilities = np.log((counts + 1.0 / values) / (counts.sum(axis=1, keepdims=True) + 1.0))
        score += np.where((codes >= 0)[:, np.newaxis], log_probabilities.T[np.maximum(codes, 0)], 0.0)
        number = data.numbers.get(column)
        if number is None:
            inputs.append((codes[:, np.newaxis] == np.arange(values)).astype(float))
            numbers.append(np.where(codes < 0, np.nan, codes.astype(float)))
        else:
            scaled = (number - np.nanmean(number[train])) / (np.nanstd(number[train]) or 1.0)
            inputs.append(np.nan_to_num(scaled)[:, np.newaxis])
            numbers.append(number)
    test, table, plain = ~train, np.hstack(inputs), np.column_stack(numbers)
    regression = LogisticRegression(max_iter=200).fit(table[train], target[train])
    tree_options = {"max_leaf_nodes": 15, "learning_rate": 0.15, "early_stopping": False, "l2_regularization": 1.0}
    trees = HistGradientBoostingClassifier(max_iter=30 if classes > 4 else 60, **tree_options)
    trees.fit(plain[train], target[train])
    scores = [regression.score(table[test], target[test]), trees.score(plain[test], target[test])]
    return float(np.mean(score.argmax(axis=1)[test] == target[test])), float(scores[0]), float(scores[1])


def compare(studied: Iterable[Studied], seeds: int) -> None:
    """Print one line for each data set, and the mean."""
    print("| data | " + " | ".join(WAYS) + " |\n|---|" + "---:|" * len(WAYS))
    means = []
    for data in studied:
        features = len(data.rows.features)
        figures = np.zeros((seeds, 5, len(WAYS), 4))
        for seed in range(seeds):
            folds = np.random.default_rng(seed).permutation(len(data.rows)) % 5
            for fold in range(5):
                train = folds != fold
                taken, known_accuracies = taken_by(data.table(train), features), {}
                for number, way in enumerate(WAYS):
                    columns = tuple(sorted(taken[way]))
                    if columns not in known_accuracies:
                        known_accuracies[columns] = accuracies(data, train, list(columns))
                    figures[seed, fold, number] = len(columns), *known_accuracies[columns]
        mean = figures.mean(axis=(0, 1)) * [100.0 / features, 100.0, 100.0, 100.0]
        means.append(mean)
        print(f"| {data.name} | " + " | ".join(map(shown, mean)) + " |", flush=True)
    mean = np.mean(means, axis=0)
    print("| mean | " + " | ".join(map(shown, mean)) + " |")
    print("| mean of the three | " + " | ".join(f"{each:.2f}" for each in mean[:, 1:].mean(axis=1)) + " |")


def shown(mean: np.ndarray) -> str:
    """Columns and accuracies, per cent."""
    return f"{mean[0]:.0f}: {mean[1]:.1f} {mean[2]:.1f} {mean[3]:.1f}"


def permuted(studied: Iterable[Studied], runs: int) -> None:
    """Print how often anything is taken though the target is permuted, and how often led24's seven are found."""
    runs_with_columns = tried = 0
    for data in studied:
        for run in range(runs):
            target = np.random.default_rng(run).permutation(data.rows.target)
            runs_with_columns += bool(
                credimi.select(data.table(np.ones(target.size, dtype=bool), target), "class").features
            )
            tried += 1
    print(f"permuted targets: anything taken in {runs_with_columns} of {tried} runs")
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
    parser.add_argument("--folder", type=Path, help="a folder of CSV files to use instead")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # of the regression, where it has not converged
    names = [name for name in options.data.split(",") if not options.permuted or name != "led24"]
    studied = (Studied(name, load(name).rows) for name in names)
    if options.folder:
        studied = map(read, sorted(options.folder.glob("*.csv")))
    if options.permuted:
        permuted(studied, options.permuted)
    else:
        compare(studied, options.seeds)


if __name__ == "__main__":
    main()
