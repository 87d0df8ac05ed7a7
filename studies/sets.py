"""Which columns to take together: what "given what was taken" should mean, by how well two classifiers do.

Data sets of the papers, 5 folds, the selection inside the folds; numbers were cut on all rows, as the papers have it.
Of each way: how many columns it takes, and the accuracy of naive Bayes and of logistic regression with these.

    all         all columns
    forward     each column alone: P(I > epsilon) >= 0.95
    smallest    `credimi.select`: adds to each taken column (level 0.5), then to all together (level 0.95)
    told        JMI, told how many columns `smallest` took: knows no uncertainty, and cannot stop by itself
    each        only the first part of `smallest` (credible CMIM)
    together    only the second, at level 0.5
    naive       adds to what a naive Bayes of the taken columns says of a row (credible residual), level 0.5
    naive+each  the same, and no single taken column makes it redundant
    jmi+naive   in the order of JMI, while it adds to what the naive Bayes says

With --permuted: in how many of so many runs on permuted targets anything is taken at all; and with 7 of 24 columns that
matter (led24), in how many of so many samples of 3,200 rows exactly those are.

    CREDIMI_DATA=DIR python studies/sets.py          the table of docs/explanation/sets.md, some minutes
    CREDIMI_DATA=DIR python studies/sets.py --permuted 100
"""

from __future__ import annotations

import argparse
import warnings
from typing import TYPE_CHECKING

import numpy as np
from sklearn.linear_model import LogisticRegression

import credimi
from credimi.counting.coded_table import CodedTable
from credimi.counting.request import CountRequest
from credimi.counting.stratified_counts import SettledCodes
from credimi.experiments.paper_datasets import load
from credimi.inference.options import PosteriorOptions
from credimi.selection.feature_sets import Search
from credimi.selection.naive_summary import NaiveSummary

if TYPE_CHECKING:
    from credimi.counting.coded_table import Rows

NAMES = "vote,crx,german,australian,lymphography,hypothyroid,horse-colic,chess,led24"
WAYS = ("all", "forward", "smallest", "told", "each", "together", "naive", "naive+each", "jmi+naive")
LEVEL, SURE = 0.5, 0.95
SEGMENTS = "1110111 0010010 1011101 1011011 0111010 1101011 1101111 1010010 1111111 1111011"


def data_of(rows: Rows, which: np.ndarray, target: np.ndarray) -> dict[str, list[str | None]]:
    """Some rows as a table of text."""
    columns: dict[str, list[str | None]] = {
        str(number): [None if code < 0 else f"v{code:03d}" for code in codes[which]]
        for number, codes in enumerate(rows.codes.T)
    }
    return columns | {"class": [f"c{code:03d}" for code in target[which]]}


def other_way(data: dict[str, list[str | None]], way: str, count: int) -> list[int]:
    """The columns that one of the other ways takes."""
    codes = SettledCodes.of(CodedTable.of(data, CountRequest.of("class", missing_values=())))
    search, summary = Search(codes, PosteriorOptions(level=LEVEL)), NaiveSummary(codes)
    shared = np.zeros(search.count)  # the sum over the taken of what a column adds to each: JMI
    while search.left.any() and (way != "told" or len(search.taken) < count):
        figures = search.least
        if search.taken and way in {"naive", "naive+each", "jmi+naive"}:
            figures = search.given(*summary.strata())
        elif search.taken and way == "together":
            figures = search.given_all()
        good = search.credible(figures) >= (LEVEL if search.taken else SURE)
        order = figures.mean
        if search.taken and way == "naive+each":
            good &= search.redundancy.max(axis=1) < SURE
        if way in {"told", "jmi+naive"}:
            good = search.left if way == "told" else good
            order = shared if search.taken else order
        if not good.any():
            break
        best = int(np.argmax(np.where(good, np.nan_to_num(order), -1.0)))
        search.take(best)
        summary.add(best)
        if way in {"told", "jmi+naive"} and search.left.any():
            given = search.given(codes.codes[best].astype(np.int64), len(codes.features[best].values))
            shared += np.nan_to_num(given.mean)
    return [int(search.names[column]) for column in search.taken]


def taken(way: str, data: dict[str, list[str | None]], rows: Rows, count: int) -> list[int]:
    """The columns that a way takes."""
    if way == "all":
        return list(range(len(rows.features)))
    if way == "forward":
        return [int(name) for name in credimi.rank(data, "class").selected("forward")]
    if way == "smallest":
        return [int(name) for name in credimi.select(data, "class").features]
    return other_way(data, way, count)


def accuracies(rows: Rows, train: np.ndarray, columns: list[int]) -> tuple[float, float]:
    """Of naive Bayes and of logistic regression, on the rows that are not for training."""
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
    regression = LogisticRegression(max_iter=300).fit(table[train], target[train])
    return float(np.mean(score.argmax(axis=1)[test] == target[test])), regression.score(table[test], target[test])


def compare(names: list[str], seeds: int) -> None:
    """One line a data set, and their mean."""
    print("| data | " + " | ".join(WAYS) + " |\n|---|" + "---:|" * len(WAYS))
    means = []
    for name in names:
        rows = load(name).rows
        found = np.zeros((seeds, 5, len(WAYS), 3))
        for seed in range(seeds):
            folds = np.random.default_rng(seed).permutation(len(rows)) % 5
            for fold in range(5):
                train, count = folds != fold, 1
                data = data_of(rows, train, rows.target)
                for number, way in enumerate(WAYS):
                    columns = taken(way, data, rows, count)
                    count = max(len(columns), 1) if way == "smallest" else count
                    found[seed, fold, number] = len(columns), *accuracies(rows, train, columns)
        mean = found.mean(axis=(0, 1))
        means.append(np.column_stack([100.0 * mean[:, 0] / len(rows.features), mean[:, 1:]]))
        print(f"| {name} | " + " | ".join(f"{k:.1f}: {a:.3f} {b:.3f}" for k, a, b in mean) + " |", flush=True)
    print("| mean | " + " | ".join(f"{k:.0f} %: {a:.4f} {b:.4f}" for k, a, b in np.mean(means, axis=0)) + " |")


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
