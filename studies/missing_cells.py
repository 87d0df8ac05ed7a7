"""What it costs that a fifth of all cells is missing: in the rows for training, in those for prediction, or in both.

The accuracy of several learners on the data sets of `trees.py`, 5 folds, nothing tuned but CART. Naive Bayes gets
numbers in eight ranges and leaves missing values out; the forest and CART get the median or the most frequent value in
place of missing ones, and columns of 0 and 1; boosting gets missing values as they are.

    CREDIMI_DATA=DIR python studies/missing_cells.py                    as in docs/how-to/trees.md, half an hour
    python studies/missing_cells.py --data iris --ways "credible tree"  a quick look
"""

from __future__ import annotations

import argparse
import warnings
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


def frame(columns: Columns) -> pd.DataFrame:
    """The columns; NaN is missing."""
    return pd.DataFrame(
        {name: pd.Series(each, dtype=each.dtype).where(pd.notna(each), np.nan) for name, each in columns.items()}
    )


def in_ranges(columns: Columns, of: Columns) -> Columns:
    """Numbers as ranges that have about as many rows each, in the columns `of`."""
    found = {}
    for name, column in columns.items():
        found[name] = column
        if column.dtype.kind == "f" and np.isfinite(of[name]).any():
            edges = np.unique(np.nanquantile(of[name], np.arange(1, RANGES) / RANGES))
            text = np.char.add("r", np.searchsorted(edges, column).astype(str)).astype(object)
            found[name] = np.where(np.isnan(column), None, text)
    return found


def model_of(way: str, columns: Columns) -> object:
    """A learner that was not fitted yet."""
    if way == "credible tree":
        return CredibleTreeClassifier(n_jobs=1)
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
    """Of each of WHERE the accuracy."""
    given = [columns, with_missing(columns, MISSING, seed)]
    tables = [frame(in_ranges(each, columns) if way == "naive Bayes" else each) for each in given]
    folds, found = folds_of(target.size, seed), np.zeros((FOLDS, len(WHERE)))
    for fold in range(FOLDS):
        train = folds != fold
        models = [model_of(way, columns).fit(table[train], target[train]) for table in tables]
        for place, (learned, asked) in enumerate(WHERE):
            chances = models[learned].predict_proba(tables[asked][~train])
            found[fold, place] = losses(chances, models[learned].classes_, target[~train])[0]
    return found.mean(axis=0)


def main() -> None:
    """Print one line for each learner: the means over all data sets."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default=NAMES, help="names of data sets (default: %(default)s)")
    parser.add_argument("--ways", default=",".join(WAYS), help="learners (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # classes with fewer rows than folds
    print("| learner | complete | training | prediction | both |\n|---|---:|---:|---:|---:|")
    for way in options.ways.split(","):
        means = np.mean([accuracies(way, *load(name), options.seed) for name in options.data.split(",")], axis=0)
        print(f"| {way} | " + " | ".join(f"{100 * each:.1f} %" for each in means) + " |", flush=True)


if __name__ == "__main__":
    main()
