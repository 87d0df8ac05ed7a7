"""Trees that split only where it is credible, beside CART: accuracy, log loss, leaves and time; noise; a known tree.

The data sets of the papers, numbers uncut, 5 folds, nothing tuned, beside CART as it comes and CART tuned over 15
settings by 5-fold cross-validation (depth 3, 5, 8, 12 or any; leaves of at least 1, 5 or 20 rows). CART needs numbers
without missing values: its pipeline imputes the median or the most frequent value and makes columns of 0 and 1 of
categories; this is part of the search. Log loss has probabilities of at least 1e-15; a class that no row for training
has is left out. With --missing 0.2 a fifth of all cells is removed first.

    CREDIMI_DATA=DIR python studies/trees.py                            the table of docs/how-to/trees.md, some minutes
    CREDIMI_DATA=DIR python studies/trees.py --missing 0.2              its last line
    python studies/trees.py --data breast_cancer,wine,iris,digits       the sets that scikit-learn has
    CREDIMI_DATA=DIR python studies/trees.py --reliability              predicted and observed shares
    python studies/trees.py --noise 200                                 how often noise is one leaf
    python studies/trees.py --known 100                                 how often a known tree is found
"""

from __future__ import annotations

import argparse
import json
import os
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import arff
import numpy as np
import pyarrow as pa
from sklearn import datasets

from credimi import CredibleTreeClassifier
from credimi.paper.paper_datasets import SOURCES, _fields, _folder

if TYPE_CHECKING:
    from collections.abc import Callable

    Figures = tuple[float, float, float, float]
    Columns = dict[str, np.ndarray]

NAMES = "vote,crx,german,australian,lymphography,hypothyroid,horse-colic,chess,led24,soybean-large,audiology,shuttle"
WAYS = ("credible", "CART", "CART tuned")
GRID = {"tree__max_depth": [3, 5, 8, 12, None], "tree__min_samples_leaf": [1, 5, 20]}
FOLDS, MIN_PROBABILITY, SHUTTLE, DIGITS = 5, 1e-15, 5_800, 900
BUNDLED = ("breast_cancer", "wine", "iris", "digits")  # with scikit-learn; of the digits the first 900


def load(name: str) -> tuple[Columns, np.ndarray]:
    """The columns, numbers as doubles with NaN and text with None, and the classes as numbers."""
    if name in BUNDLED:
        numbers, target = getattr(datasets, f"load_{name}")(return_X_y=True)
        return {f"c{index}": column.astype(float) for index, column in enumerate(numbers.T[:, :DIGITS])}, target[
            :DIGITS
        ]
    data = Path(os.environ["CREDIMI_DATA"])
    if name.endswith(".arff"):
        return arff.read(data / name)
    if name == "shuttle":
        folder = next(
            each for each in (data / "shuttle", data / "uci" / "shuttle", data) if (each / "shuttle.trn").exists()
        )
        numbers = np.loadtxt(folder / "shuttle.trn")[:SHUTTLE]
        return {f"c{index}": column for index, column in enumerate(numbers.T[:-1])}, np.unique(
            numbers[:, -1], return_inverse=True
        )[1]
    source = SOURCES[name]
    fields = _fields(source, [_folder(data, source, everywhere=True) / file for file in source.files])
    columns: Columns = {}
    target = np.zeros(0, dtype=object)
    for number, values in enumerate(zip(*fields, strict=True), start=1):
        if number == source.target:
            target = np.array(values, dtype=object)
        elif number in source.numbers:
            columns[f"c{number}"] = np.array(
                [np.nan if value == source.missing_text else float(value) for value in values]
            )
        elif number not in source.left_out:
            columns[f"c{number}"] = np.array(
                [None if value == source.missing_text else value for value in values], dtype=object
            )
    has_class = target != source.missing_text
    return {name: column[has_class] for name, column in columns.items()}, np.unique(
        target[has_class].astype(str), return_inverse=True
    )[1]


def with_missing(columns: Columns, share: float, seed: int) -> Columns:
    """The same with a share of all cells removed."""
    generator = np.random.default_rng(seed)
    incomplete = {}
    for name, column in columns.items():
        removed = generator.random(column.size) < share
        incomplete[name] = np.where(removed, np.nan if column.dtype.kind == "f" else None, column)
    return incomplete


def losses(probabilities: np.ndarray, classes: np.ndarray, target: np.ndarray) -> tuple[float, float]:
    """Accuracy of all rows, and the log loss of those whose class was seen in training."""
    accuracy = float(np.mean(classes[probabilities.argmax(axis=1)] == target))
    seen = np.isin(target, classes)
    of_true_class = probabilities[np.flatnonzero(seen), np.searchsorted(classes, target[seen])]
    return accuracy, float(-np.log(np.clip(of_true_class, MIN_PROBABILITY, 1.0)).mean())


def credible(columns: Columns, target: np.ndarray, train: np.ndarray) -> Figures:
    """Accuracy, log loss, leaves and seconds of ours."""
    tables = [
        pa.table({name: pa.array(column[part], from_pandas=True) for name, column in columns.items()})
        for part in (train, ~train)
    ]
    start = time.process_time()
    model = CredibleTreeClassifier(n_jobs=1, epsilon=0.003).fit(tables[0], target[train])
    seconds = time.process_time() - start
    return *losses(model.predict_proba(tables[1]), model.classes_, target[~train]), model.get_n_leaves(), seconds


def cart(columns: Columns, target: np.ndarray, train: np.ndarray, *, tuned: bool, once: bool = False) -> Figures:
    """The same of CART; `once` encodes all rows for training together, and not anew in each fit of the search."""
    import pandas as pd  # noqa: PLC0415  (not needed for noise)
    from sklearn.compose import ColumnTransformer  # noqa: PLC0415
    from sklearn.impute import SimpleImputer  # noqa: PLC0415
    from sklearn.model_selection import GridSearchCV  # noqa: PLC0415
    from sklearn.pipeline import Pipeline, make_pipeline  # noqa: PLC0415
    from sklearn.preprocessing import OneHotEncoder  # noqa: PLC0415
    from sklearn.tree import DecisionTreeClassifier  # noqa: PLC0415

    table = pd.DataFrame(
        {
            name: pd.Series(column, dtype=column.dtype).where(pd.notna(column), np.nan)
            for name, column in columns.items()
        }
    )
    numbers = [name for name, column in columns.items() if column.dtype.kind == "f"]
    texts = [name for name in columns if name not in numbers]
    frequent = SimpleImputer(strategy="most_frequent", keep_empty_features=True)
    encoder = ColumnTransformer(
        [
            ("numbers", SimpleImputer(strategy="median", keep_empty_features=True), numbers),
            ("texts", make_pipeline(frequent, OneHotEncoder(handle_unknown="ignore", sparse_output=False)), texts),
        ]
    )
    model = Pipeline([("columns", encoder), ("tree", DecisionTreeClassifier(random_state=0))])
    start = time.process_time()
    given = table[train], table[~train]
    if once:
        given = encoder.fit_transform(given[0]), encoder.transform(given[1])
        model = Pipeline(model.steps[1:])
    search = GridSearchCV(model, GRID, cv=FOLDS) if tuned else model
    search.fit(given[0], target[train])
    seconds = time.process_time() - start
    best = search.best_estimator_ if tuned else search
    return (
        *losses(search.predict_proba(given[1]), search.classes_, target[~train]),
        best["tree"].get_n_leaves(),
        seconds,
    )


def folds_of(rows: int, seed: int) -> np.ndarray:
    """A fold for each row."""
    return np.random.default_rng(seed).permutation(rows) % FOLDS


class StoredFigures:
    """Figures of earlier fits, each in a line of JSON, so that a run that was stopped can continue."""

    def __init__(self, file: str | None) -> None:
        self.file, self.known = file, {}
        if file is not None and Path(file).exists():
            for line in Path(file).read_text(encoding="utf-8").splitlines():
                key, figures = json.loads(line)
                self.known[tuple(key)] = figures

    def of(self, key: tuple[object, ...], call: Callable[..., Figures], *of: object) -> Figures:
        """The figures of one fit."""
        if key not in self.known:
            self.known[key] = tuple(float(figure) for figure in call(*of))
            if self.file is not None:
                with Path(self.file).open("a", encoding="utf-8") as lines:
                    lines.write(json.dumps([key, self.known[key]]) + "\n")
        return self.known[key]


def compare(options: argparse.Namespace) -> None:
    """Print one line for each data set, and the mean."""
    names, ways, missing, once = options.data.split(","), options.ways.split(","), options.missing, options.encode_once
    stored = StoredFigures(options.keep)
    print("| data | " + " | ".join(ways) + " |\n|---|" + "---:|" * len(ways))
    fit_of: dict[str, Callable[..., Figures]] = {
        "credible": credible,
        "CART": lambda *of: cart(*of, tuned=False, once=once),
        "CART tuned": lambda *of: cart(*of, tuned=True, once=once),
    }
    means = []
    for name in names:
        columns, target = load(name)
        figures = []
        for seed in range(options.seeds):
            given = with_missing(columns, missing, seed) if missing else columns
            folds = folds_of(target.size, seed)
            figures += [
                [stored.of((name, seed, fold, missing, way), fit_of[way], given, target, folds != fold) for way in ways]
                for fold in range(FOLDS)
            ]
        means.append(np.mean(figures, axis=0))
        _print_line(name, means[-1])
    _print_line("mean", np.mean(means, axis=0))


def _print_line(name: str, figures: np.ndarray) -> None:
    cells = [f"{100 * each[0]:.1f} %, {each[1]:.3f}, {each[2]:.0f}, {1000 * each[3]:.0f} ms" for each in figures]
    print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


def reliability(names: list[str]) -> None:
    """Of all data sets together: predicted probabilities in ten ranges, and how often they are right."""
    predicted_parts, observed_parts = [], []
    for name in names:
        columns, target = load(name)
        folds = folds_of(target.size, 0)
        for fold in range(FOLDS):
            tables = [
                pa.table({each: pa.array(column[part], from_pandas=True) for each, column in columns.items()})
                for part in (folds != fold, folds == fold)
            ]
            model = CredibleTreeClassifier(n_jobs=1, epsilon=0.003).fit(tables[0], target[folds != fold])
            probabilities = model.predict_proba(tables[1])
            predicted_parts.append(probabilities.ravel())
            observed_parts.append((model.classes_ == target[folds == fold][:, np.newaxis]).ravel())
    predicted, observed = np.concatenate(predicted_parts), np.concatenate(observed_parts)
    print("| predicted | mean | observed | number |\n|---|---:|---:|---:|")
    for low in range(10):
        in_range = np.minimum((10 * predicted).astype(int), 9) == low
        figures = f"{predicted[in_range].mean():.3f} | {observed[in_range].mean():.3f} | {in_range.sum():,}"
        print(f"| {low / 10:.1f} to {(low + 1) / 10:.1f} | {figures} |")


def noise(runs: int) -> None:
    """In how many of so many runs columns that tell nothing give one leaf."""
    print("| rows | columns | classes | kind | one leaf |\n|---:|---:|---:|---|---:|")
    generator = np.random.default_rng(0)
    for rows in (50, 200, 1_000, 10_000):
        for count in (1, 5, 50):
            for classes in (2, 5):
                for kind in ("categories", "whole numbers", "numbers"):
                    times = runs if rows * count < 50_000 else max(runs // 10, 1)
                    alone = sum(_is_one_leaf(generator, rows, count, classes, kind) for _ in range(times))
                    print(f"| {rows:,} | {count} | {classes} | {kind} | {alone} of {times} |", flush=True)


def _is_one_leaf(generator: np.random.Generator, rows: int, count: int, classes: int, kind: str) -> bool:
    columns = {}
    for index in range(count):
        codes = generator.integers(0, generator.integers(2, 11), rows)
        values = {"categories": np.char.add("v", codes.astype(str)), "whole numbers": codes}.get(kind)
        values = generator.normal(size=rows) if values is None else values
        columns[f"c{index}"] = pa.array(values, mask=(generator.random(rows) < 0.2) & (index % 3 == 0))
    target = generator.choice(classes, rows, p=generator.dirichlet(np.full(classes, 2.0)))
    return CredibleTreeClassifier(n_jobs=1, epsilon=0.003).fit(pa.table(columns), target).get_n_leaves() == 1


def known(runs: int) -> None:
    """In how many samples of 5,000 rows a tree of five leaves is found exactly, beside columns of noise."""
    print("| columns of noise | found exactly |\n|---:|---:|")
    for count in (0, 5, 10, 20):
        exact = sum(_is_found_exactly(np.random.default_rng(run), count) for run in range(runs))
        print(f"| {count} | {exact} of {runs} |", flush=True)


def _is_found_exactly(generator: np.random.Generator, count: int) -> bool:
    rows = 5_000
    colour, shape = generator.choice(["red", "green", "blue"], rows), generator.choice(["round", "flat"], rows)
    size = generator.normal(10.0, 3.0, rows)
    of_red, of_green = np.where(size > 12.0, 0.9, 0.2), np.where(shape == "round", 0.9, 0.1)
    probability = np.where(colour == "blue", 0.95, np.where(colour == "red", of_red, of_green))
    columns = {"colour": colour, "shape": shape, "size": size}
    for index in range(count):
        columns[f"noise {index}"] = generator.choice(list("abcd"), rows) if index % 2 else generator.normal(size=rows)
    tree = (
        CredibleTreeClassifier(n_jobs=1, epsilon=0.003)
        .fit(pa.table(columns), generator.random(rows) < probability)
        .tree_
    )
    top = tree.nodes[0].split
    if top is None or tree.leaves.size != 5:
        return False
    below = {name: tree.nodes[child].split for name, child in zip(tree.branches(0), top.children, strict=True)}
    split_columns = {name: None if split is None else tree.inputs[split.column].name for name, split in below.items()}
    return split_columns == {"blue": None, "green": "shape", "red": "size"}


def main() -> None:
    """Compare, or look at noise, at a known tree, or at reliability."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default=NAMES, help="names of data sets (default: %(default)s)")
    parser.add_argument("--seeds", type=int, default=1, help="partitions into folds (default: %(default)s)")
    parser.add_argument("--ways", default=",".join(WAYS), help="trees to compare (default: %(default)s)")
    parser.add_argument("--keep", metavar="FILE", help="where figures are kept; those that it has are not found again")
    parser.add_argument("--encode-once", action="store_true", help="do not encode anew in each fit of CART's search")
    parser.add_argument("--missing", type=float, default=0.0, help="the share of cells to remove (default: none)")
    parser.add_argument("--reliability", action="store_true", help="predicted and observed shares instead")
    parser.add_argument("--noise", type=int, default=0, metavar="RUNS", help="look at noise instead")
    parser.add_argument("--known", type=int, default=0, metavar="RUNS", help="look at a known tree instead")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # classes with fewer rows than folds
    if options.noise:
        noise(options.noise)
    if options.known:
        known(options.known)
    if options.reliability:
        reliability(options.data.split(","))
    elif not options.noise and not options.known:
        compare(options)


if __name__ == "__main__":
    main()
