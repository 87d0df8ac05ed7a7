"""What it costs that a fifth of all cells is missing: in the rows for training, in those for prediction, or in both.

The accuracy of several learners on the data sets of `trees.py`, 5 folds, nothing tuned but CART. Naive Bayes gets
numbers in eight ranges and leaves missing values out; the forest and CART get the median or the most frequent value in
place of missing ones, and columns of 0 and 1; boosting gets missing values as they are. The last line has, of each
data set, the learner that was best there.

How much has to be lost? Of digits on a display with seven segments (led24) all is known: each segment is wrong with
probability 0.1, so that all that a row may show is enumerated, and the most probable digit is right as often as any
answer can be. For other data a forest stands in for the best possible: it learns from many copies of the complete rows,
in each of which other cells are missing, with missing as a value like others.

    CREDIMI_DATA=DIR python studies/missing_cells.py                    as in docs/how-to/trees.md, half an hour
    python studies/missing_cells.py --data iris --ways "credible tree"  a quick look
    python studies/missing_cells.py --display                           the best possible on led24
    CREDIMI_DATA=DIR python studies/missing_cells.py --data chess --copies 20    the forest, some minutes
"""

from __future__ import annotations

import argparse
import warnings
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder
from sklearn.tree import DecisionTreeClassifier
from trees import FOLDS, GRID, NAMES, folds_of, load, losses, with_missing

from credimi import CredibleTreeClassifier, IncrementalNaiveBayes

if TYPE_CHECKING:
    from trees import Columns

WAYS = ("credible tree", "naive Bayes", "random forest", "gradient boosting", "CART", "CART tuned")
MISSING, RANGES = 0.2, 8
WHERE = ((0, 0), (1, 0), (0, 1), (1, 1))  # complete or not: the rows for training, those for prediction

SEGMENTS = (119, 18, 93, 91, 58, 107, 111, 82, 127, 122)  # of the digits 0 to 9, a bit each; 8 has all seven
WRONG = 0.1


def best_on_display(missing: float) -> float:
    """How often the most probable digit is right, given the segments that are seen."""
    lit = np.array([[digit >> bit & 1 for bit in range(7)] for digit in SEGMENTS])
    right = 0.0
    for shown in product((0, 1, None), repeat=7):
        probabilities = np.full(len(lit), 1.0 / len(lit))
        for state, segment in zip(shown, lit.T, strict=True):
            seen = (1.0 - missing) * np.where(segment == state, 1.0 - WRONG, WRONG)
            probabilities *= missing if state is None else seen
        right += probabilities.max()
    return right


def frame(columns: Columns) -> pd.DataFrame:
    """The columns; NaN is missing."""
    return pd.DataFrame(
        {
            name: pd.Series(column, dtype=column.dtype).where(pd.notna(column), np.nan)
            for name, column in columns.items()
        }
    )


def in_ranges(columns: Columns, of: Columns) -> Columns:
    """Numbers as ranges that have about as many rows each, in the columns `of`."""
    ranges = {}
    for name, column in columns.items():
        ranges[name] = column
        if column.dtype.kind == "f" and np.isfinite(of[name]).any():
            edges = np.unique(np.nanquantile(of[name], np.arange(1, RANGES) / RANGES))
            text = np.char.add("r", np.searchsorted(edges, column).astype(str)).astype(object)
            ranges[name] = np.where(np.isnan(column), None, text)
    return ranges


def model_of(way: str, columns: Columns) -> object:
    """A learner that was not fitted yet."""
    if way == "credible tree":
        return CredibleTreeClassifier(n_jobs=1, epsilon=0.003)
    if way == "naive Bayes":
        return IncrementalNaiveBayes()
    numbers = [name for name, column in columns.items() if column.dtype.kind == "f"]
    texts = [name for name in columns if name not in numbers]
    if way == "gradient boosting":
        codes = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=np.nan)
        encoder = ColumnTransformer([("numbers", "passthrough", numbers), ("texts", codes, texts)])
        kinds = [False] * len(numbers) + [True] * len(texts)
        return make_pipeline(
            encoder, HistGradientBoostingClassifier(categorical_features=kinds, max_iter=50, random_state=0)
        )
    frequent = SimpleImputer(strategy="most_frequent", keep_empty_features=True)
    encoder = ColumnTransformer(
        [
            ("numbers", SimpleImputer(strategy="median", keep_empty_features=True), numbers),
            ("texts", make_pipeline(frequent, OneHotEncoder(handle_unknown="ignore", sparse_output=False)), texts),
        ]
    )
    if way == "random forest":
        return make_pipeline(encoder, RandomForestClassifier(random_state=0))
    tree = Pipeline([("columns", encoder), ("tree", DecisionTreeClassifier(random_state=0))])
    return tree if way == "CART" else GridSearchCV(tree, GRID, cv=FOLDS)


def accuracies(way: str, columns: Columns, target: np.ndarray, seed: int) -> np.ndarray:
    """The accuracy for each entry of WHERE."""
    given = [columns, with_missing(columns, MISSING, seed)]
    tables = [frame(in_ranges(each, columns) if way == "naive Bayes" else each) for each in given]
    folds, accuracy = folds_of(target.size, seed), np.zeros((FOLDS, len(WHERE)))
    for fold in range(FOLDS):
        train = folds != fold
        models = [model_of(way, columns).fit(table[train], target[train]) for table in tables]
        for index, (learned, predicted) in enumerate(WHERE):
            probabilities = models[learned].predict_proba(tables[predicted][~train])
            accuracy[fold, index] = losses(probabilities, models[learned].classes_, target[~train])[0]
    return accuracy.mean(axis=0)


def forest_of_copies(columns: Columns, target: np.ndarray, seed: int, copies: int) -> np.ndarray:
    """The accuracy of the forest with complete rows, and with cells missing in those for prediction."""
    texts = {name: column.astype(str) for name, column in in_ranges(columns, columns).items()}
    folds, accuracy = folds_of(target.size, seed), np.zeros((FOLDS, 2))
    encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False).fit(frame(texts))
    given = [frame(texts), frame(with_missing(texts, MISSING, seed)).fillna("?")]
    for fold in range(FOLDS):
        train = folds != fold
        removed = [frame(with_missing(texts, MISSING, 1_000 + copy)).fillna("?")[train] for copy in range(copies)]
        for index, training in enumerate(([given[0][train]], removed)):
            coded = np.concatenate([encoder.transform(each) for each in training])
            forest = RandomForestClassifier(random_state=0).fit(coded, np.tile(target[train], len(training)))
            accuracy[fold, index] = forest.score(encoder.transform(given[index][~train]), target[~train])
    return accuracy.mean(axis=0)


def main() -> None:
    """Print one line for each learner: the means over all data sets."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default=NAMES, help="names of data sets (default: %(default)s)")
    parser.add_argument("--ways", default=",".join(WAYS), help="learners (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--display", action="store_true", help="the best that is possible on led24 instead")
    parser.add_argument("--copies", type=int, default=0, help="a forest that learns from so many copies instead")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # classes with fewer rows than folds
    names, ways = options.data.split(","), options.ways.split(",")
    if options.display or options.copies:
        print("| data | complete | prediction |\n|---|---:|---:|")
    if options.display:
        _print_line("digits", np.array([best_on_display(0.0), best_on_display(MISSING)]))
        return
    if options.copies:
        for name in names:
            _print_line(name, forest_of_copies(*load(name), options.seed, options.copies))
        return
    print("| learner | complete | training | prediction | both |\n|---|---:|---:|---:|---:|")
    all_accuracies = np.zeros((len(ways), len(names), len(WHERE)))
    for index, way in enumerate(ways):
        all_accuracies[index] = [accuracies(way, *load(name), options.seed) for name in names]
        _print_line(way, all_accuracies[index].mean(axis=0))
    _print_line("the best of them, by data set", all_accuracies.max(axis=0).mean(axis=0))


def _print_line(name: str, shares: np.ndarray) -> None:
    print(f"| {name} | " + " | ".join(f"{100 * each:.1f} %" for each in shares) + " |", flush=True)


if __name__ == "__main__":
    main()
