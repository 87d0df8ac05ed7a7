"""Which rule for which purpose: how well three classifiers do with the columns that each rule keeps, and with others'.

The tables are those of the papers, if CREDIMI_DATA names their folder, and some fifty that Python packages bring along
(see `selecting_tables`; those of absent packages are skipped). At most 2,000 rows of each, in 3 folds; the selection is
inside the folds, from the columns as they are. The classifiers are logistic regression, boosted trees and naive Bayes:
numbers stay numbers (naive Bayes: five equal parts), missing values are left out, or are the mean for regression.

    informative, distinct ...   `CredibleSelector(rule=...)`, which keeps the best column if none is credible
    distinct .5                 the same with level=0.5
    SelectKBest                 mutual_info_classif, told how many columns `distinct` keeps
    JMI, mRMR, CMIM             from plain counts of columns in quarters, told the same number
    Boruta                      with 40 trees and 20 rounds, if `boruta` is there
    L1                          logistic regression, the penalty by cross-validation; a column of which anything is left

Printed are, against all columns, on average over tables: points of AUC (one class against the others), of accuracy, and
log loss in hundredths of nats, each the mean of the three classifiers; the points of AUC of each classifier; and in how
many tables the mean AUC is more than half a point lower. In brackets the standard error over tables.

    OMP_NUM_THREADS=1 CREDIMI_DATA=DIR python studies/selecting.py --output results.json
    python studies/selecting.py --tables iris --rules informative,distinct
    python studies/selecting.py --wide 10       five true columns among much noise, ten samples of each size

Results are written after each table; what is in the file already is not computed again.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from selecting_tables import PAPERS, tables
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.feature_selection import mutual_info_classif
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import StratifiedKFold
from sklearn.multiclass import OneVsRestClassifier

import credimi

if TYPE_CHECKING:
    from collections.abc import Iterable

RULES = {
    "informative": {"rule": "informative"},
    "forward": {"rule": "forward"},
    "fdr": {"rule": "fdr"},
    "backward": {"rule": "backward"},
    "distinct": {"rule": "distinct"},
    "distinct .5": {"rule": "distinct", "level": 0.5},
    "relevant": {"rule": "relevant"},
}
TOLD = ("SelectKBest", "JMI", "mRMR", "CMIM")
WAYS = ("all", *RULES, *TOLD, "Boruta", "L1")
ROWS, FOLDS, LEAST, VALUES = 2_000, 3, 9, 20  # rows of a rarer class are left out; more values are one, "other"
PENALTIES = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
WIDE = ((100, 1_000), (500, 500), (2_000, 200))  # rows and columns


class Encoded:
    """The columns of a fold, as the classifiers and other programs want them; all is learned from rows for training."""

    def __init__(self, frame: pd.DataFrame, target: np.ndarray, train: np.ndarray) -> None:
        self.train, self.target, self.classes = train, target, int(target.max()) + 1
        self.numbers, self.blocks, self.codes, self.quarters = [], [], [], []
        self.is_number = []
        for name in frame:
            column = frame[name]
            is_number = pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column)
            self.is_number.append(is_number and column.nunique() > 2)
            if column[train].isna().all():
                column, is_number = pd.Series(np.zeros(train.size)), True
            (self._number if is_number else self._category)(column)

    def _number(self, column: pd.Series) -> None:
        number = column.to_numpy(np.float64, na_value=np.nan)
        known = number[self.train & ~np.isnan(number)]
        self.numbers.append(number)
        self.blocks.append(np.nan_to_num((number - known.mean()) / (known.std() or 1.0))[:, np.newaxis])
        for parts, of in ((5, self.codes), (4, self.quarters)):
            cuts = np.unique(np.quantile(known, np.arange(1, parts) / parts))
            of.append(np.where(np.isnan(number), -1, np.searchsorted(cuts, number)))

    def _category(self, column: pd.Series) -> None:
        values = column[self.train].dropna().value_counts().index[:VALUES]
        place = {value: code for code, value in enumerate(values)}
        codes = np.array([-1 if pd.isna(value) else place.get(value, len(values)) for value in column])
        self.numbers.append(np.where(codes < 0, np.nan, codes.astype(float)))
        self.blocks.append((codes[:, np.newaxis] == np.arange(len(values) + 1)).astype(float))
        self.codes.append(codes)
        self.quarters.append(codes)

    def measured(self, columns: tuple[int, ...]) -> np.ndarray:
        """AUC, accuracy and log loss of the three classifiers with these columns: a row for each."""
        train, target = self.train, self.target
        shares = (np.bincount(target[train], minlength=self.classes) + 0.5) / train.sum()
        if not columns:
            probabilities = [np.tile(shares / shares.sum(), ((~train).sum(), 1))] * 3
        else:
            dense = np.hstack([self.blocks[column] for column in columns])
            plain = np.column_stack([self.numbers[column] for column in columns])
            regression = LogisticRegression(max_iter=200).fit(dense[train], target[train])
            trees = HistGradientBoostingClassifier(
                max_iter=60 if self.classes <= 3 else 25, max_leaf_nodes=15, learning_rate=0.15, early_stopping=False
            ).fit(plain[train], target[train])
            probabilities = [regression.predict_proba(dense[~train]), trees.predict_proba(plain[~train])]
            probabilities.append(self._naive_bayes(columns, np.log(shares)))
        return np.array([self._figures(each) for each in probabilities])

    def _naive_bayes(self, columns: tuple[int, ...], start: np.ndarray) -> np.ndarray:
        score = np.tile(start, (self.target.size, 1))
        for column in columns:
            codes = self.codes[column]
            values, seen = int(codes.max()) + 2, self.train & (codes >= 0)
            counts = np.bincount(self.target[seen] * values + codes[seen], minlength=self.classes * values)
            counts = counts.reshape(self.classes, values) + 1.0 / values
            logs = np.log(counts / counts.sum(axis=1, keepdims=True))
            score += np.where((codes >= 0)[:, np.newaxis], logs.T[np.maximum(codes, 0)], 0.0)
        score = np.exp(score - score.max(axis=1, keepdims=True))[~self.train]
        return score / score.sum(axis=1, keepdims=True)

    def _figures(self, probabilities: np.ndarray) -> tuple[float, float, float]:
        test = self.target[~self.train]
        if self.classes == 2:
            auc = roc_auc_score(test, probabilities[:, 1])
        else:
            auc = roc_auc_score(test, probabilities, multi_class="ovr", labels=np.arange(self.classes))
        loss = log_loss(test, np.clip(probabilities, 1e-6, 1.0), labels=np.arange(self.classes))
        return auc, float(np.mean(probabilities.argmax(axis=1) == test)), loss


def entropy(codes: np.ndarray) -> float:
    """The entropy of codes, from plain counts."""
    counts = np.bincount(codes)
    shares = counts[counts > 0] / codes.size
    return float(-(shares * np.log(shares)).sum())


def by_filter(way: str, data: Encoded, count: int) -> list[int]:
    """The first columns of JMI, mRMR or CMIM, from plain counts; "missing" is a value."""
    target, columns = data.target[data.train], [codes[data.train] + 1 for codes in data.quarters]
    classes = data.classes
    alone = np.array([entropy(x) + entropy(target) - entropy(x * classes + target) for x in columns])
    taken, score, least = [int(np.argmax(alone))], np.zeros(alone.size), alone.copy()
    while len(taken) < min(count, alone.size):
        w = columns[taken[-1]]
        values = int(w.max()) + 1
        of_w, of_w_and_target = entropy(w), entropy(w * classes + target)
        for number, x in enumerate(columns):
            if number in taken:
                continue
            both = x * values + w
            of_both = entropy(both)
            given = entropy(x * values + w) - of_w + of_w_and_target - entropy(both * classes + target)
            score[number] += given if way == "JMI" else -(entropy(x) + of_w - of_both)
            least[number] = min(least[number], given)
        wanted = {"JMI": score, "mRMR": alone + score / len(taken), "CMIM": least}[way].copy()
        wanted[taken] = -np.inf
        taken.append(int(np.argmax(wanted)))
    return taken


def best_by_mutual_information(data: Encoded, count: int) -> list[int]:
    """SelectKBest with mutual_info_classif."""
    table = np.column_stack(data.numbers)[data.train]
    middle = np.nan_to_num(np.nanmedian(table, axis=0))
    table = np.where(np.isnan(table), np.where(data.is_number, middle, -1.0), table)
    scores = mutual_info_classif(
        table, data.target[data.train], discrete_features=~np.array(data.is_number), random_state=0
    )
    return np.argsort(-scores, kind="stable")[:count].tolist()


def by_boruta(data: Encoded) -> list[int]:
    """The columns that Boruta confirms."""
    from boruta import BorutaPy  # noqa: PLC0415

    table = np.column_stack(data.numbers)[data.train]
    table = np.where(np.isnan(table), np.nan_to_num(np.nanmedian(table, axis=0)), table)
    forest = RandomForestClassifier(max_depth=5, n_jobs=1, random_state=0)
    found = BorutaPy(forest, n_estimators=40, max_iter=20, random_state=0).fit(table, data.target[data.train])
    return np.flatnonzero(found.support_).tolist()


def by_penalty(data: Encoded) -> list[int]:
    """The columns of which a logistic regression with an L1 penalty, chosen by cross-validation, leaves anything."""
    table, target = np.hstack(data.blocks)[data.train], data.target[data.train]
    of_block = np.repeat(np.arange(len(data.blocks)), [block.shape[1] for block in data.blocks])

    def model(penalty: float) -> OneVsRestClassifier:
        return OneVsRestClassifier(LogisticRegression(l1_ratio=1.0, solver="liblinear", C=penalty, max_iter=100))

    folds = list(StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(table, target))
    losses = []
    for penalty in PENALTIES:
        of_folds = [model(penalty).fit(table[fit], target[fit]).predict_proba(table[judge]) for fit, judge in folds]
        judged = [np.clip(each, 1e-6, 1.0) for each in of_folds]
        losses.append(
            np.mean(
                [
                    log_loss(target[judge], p, labels=np.unique(target))
                    for p, (_, judge) in zip(judged, folds, strict=True)
                ]
            )
        )
    fitted = model(PENALTIES[int(np.argmin(losses))]).fit(table, target)
    used = np.any([np.any(each.coef_ != 0.0, axis=0) for each in fitted.estimators_], axis=0)
    return np.unique(of_block[used]).tolist()


def kept_by(way: str, frame: pd.DataFrame, classes: pd.Series, data: Encoded, count: int) -> list[int]:
    """The columns that a way keeps; `count` is how many `distinct` keeps."""
    if way == "all":
        return list(range(frame.shape[1]))
    if way in RULES:
        train = data.train
        selector = credimi.CredibleSelector(**RULES[way], n_jobs=1).fit(frame[train], classes[train])
        return np.flatnonzero(selector.get_support()).tolist()
    if way == "SelectKBest":
        return best_by_mutual_information(data, count)
    if way == "Boruta":
        return by_boruta(data)
    return by_penalty(data) if way == "L1" else by_filter(way, data, count)


def studied(frame: pd.DataFrame, classes: pd.Series, ways: Iterable[str], rows: int, known: dict) -> dict:
    """Of each way and fold: the share of columns kept, and AUC, accuracy and log loss of each classifier."""
    frequent = classes.map(classes.value_counts()) >= LEAST
    frame, classes = frame[frequent], classes[frequent]
    which = np.random.default_rng(0).permutation(len(frame))[:rows]
    frame, classes = (
        frame.iloc[np.sort(which)].reset_index(drop=True),
        classes.iloc[np.sort(which)].reset_index(drop=True),
    )
    target = np.unique(classes, return_inverse=True)[1]
    found = {way: {"kept": [], "figures": [], "seconds": 0.0} for way in ways if way not in known}
    of_distinct = known.get("distinct", found.get("distinct", {"kept": [1.0] * FOLDS}))["kept"]
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(frame, target)
    for fold, (train, _) in enumerate(folds if found else ()):
        data, measured = Encoded(frame, target, np.isin(np.arange(target.size), train)), {}
        for way, of_way in found.items():
            count = round(of_distinct[fold] * frame.shape[1]) if way in TOLD else 0
            start = time.perf_counter()
            columns = tuple(sorted(kept_by(way, frame, classes, data, count)))
            of_way["seconds"] += time.perf_counter() - start
            if columns not in measured:
                measured[columns] = data.measured(columns)
            of_way["kept"].append(len(columns) / frame.shape[1])
            of_way["figures"].append(measured[columns].tolist())
    return known | {"rows": len(frame), "columns": frame.shape[1], "classes": int(target.max()) + 1} | found


def summary(results: dict[str, dict], title: str) -> None:
    """Print a line for each way: what it costs against all columns."""
    print(f"\n{title}: {len(results)} tables\n")
    head = "kept|AUC|lose > .5|accuracy|log loss|regression|trees|naive Bayes"
    print("| rule | " + " | ".join(head.split("|")) + " |\n|---|" + "---:|" * len(head.split("|")))
    ways = [way for way in WAYS if way != "all" and all(way in table for table in results.values())]
    for way in ways:
        change = np.array(
            [
                100.0 * (np.mean(table[way]["figures"], axis=0) - np.mean(table["all"]["figures"], axis=0))
                for table in results.values()
            ]
        )  # table x classifier x figure
        kept = 100.0 * np.mean([np.mean(table[way]["kept"]) for table in results.values()])
        mean, error = change.mean(axis=1), change.mean(axis=1).std(axis=0) / max(len(results) - 1, 1) ** 0.5
        cells = [f"{kept:.0f} %", f"{mean[:, 0].mean():+.2f} ({error[0]:.2f})", str(int((mean[:, 0] < -0.5).sum()))]
        cells += [f"{mean[:, figure].mean():+.2f} ({error[figure]:.2f})" for figure in (1, 2)]
        cells += [f"{change[:, classifier, 0].mean():+.2f}" for classifier in range(3)]
        print(f"| {way} | " + " | ".join(cells) + " |")


def wide(samples: int, sizes: Iterable[tuple[int, int]]) -> None:
    """Print how much noise the rules keep, and what it costs, where five columns of many are true."""
    print("| rows x columns | rule | true columns kept | noise kept | AUC |\n|---|---|---:|---:|---:|")
    for rows, columns in sizes:
        figures = {rule: [] for rule in ("informative", "forward", "distinct")}
        for seed in range(samples):
            generator = np.random.default_rng(seed)
            cells = generator.integers(0, 3, (rows + 2_000, columns))
            logit = 0.9 * (cells[:, :5] - 1.0).sum(axis=1)
            target = (generator.random(logit.size) < 1.0 / (1.0 + np.exp(-logit))).astype(int)
            train, frame = np.arange(logit.size) < rows, pd.DataFrame(cells.astype(str)).add_prefix("c")
            for rule, of_rule in figures.items():
                selector = credimi.CredibleSelector(rule=rule, n_jobs=1).fit(frame[train], target[train])
                kept = np.flatnonzero(selector.get_support())
                data = Encoded(frame.iloc[:, kept], target, train)
                aucs = data.measured(tuple(range(kept.size)))[:, 0]
                of_rule.append(((kept < 5).sum() / 5, (kept >= 5).sum() / (columns - 5), aucs.mean()))
        for rule, of_rule in figures.items():
            true, noise, auc = 100.0 * np.mean(of_rule, axis=0)
            print(f"| {rows:,} x {columns:,} | {rule} | {true:.0f} % | {noise:.2f} % | {auc:.1f} |", flush=True)


def main() -> None:
    """Compare the rules, or look at much noise."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", help="names of tables, separated by commas (default: all that are here)")
    parser.add_argument("--rules", default=",".join(WAYS[1:]), help="what is compared (default: %(default)s)")
    parser.add_argument("--rows", type=int, default=ROWS, help="at most so many of a table (default: %(default)s)")
    parser.add_argument("--output", type=Path, help="a file of JSON to write, and to go on from")
    parser.add_argument("--wide", type=int, default=0, metavar="SAMPLES", help="look at much noise instead")
    parser.add_argument("--sizes", default=" ".join(f"{rows}x{columns}" for rows, columns in WIDE), help="for --wide")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # of regressions that have not converged, and where nothing is credible
    if options.wide:
        wide(options.wide, [tuple(map(int, size.split("x"))) for size in options.sizes.split()])
        return
    results = json.loads(options.output.read_text()) if options.output and options.output.exists() else {}
    ways = ["all", *options.rules.split(",")]
    try:
        import boruta  # noqa: F401, PLC0415
    except ImportError:
        ways = [way for way in ways if way != "Boruta"]
    for name, frame, classes in tables(options.tables):
        results[name] = studied(frame, classes, ways, options.rows, results.get(name, {}))
        if options.output:
            options.output.write_text(json.dumps(results))
    summary(results, "All tables")
    for title, are_papers in (("Tables of the papers", True), ("Tables of packages", False)):
        part = {name: table for name, table in results.items() if (name in PAPERS.split(",")) == are_papers}
        if 0 < len(part) < len(results):
            summary(part, title)


if __name__ == "__main__":
    main()
