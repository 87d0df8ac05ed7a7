"""Naive Bayes one row at a time: predict, then learn, as a stream demands; beside river and scikit-learn.

3,163 rows x 23 features of two to four texts, 3 % missing, the size of the paper's hypothyroid data. credimi's learner
also with its features selected anew before every prediction. scikit-learn's CategoricalNB takes neither texts nor
holes: it gets codes, holes as one more category. river has no naive Bayes for categories: it gets a feature for each
value.

Then how the speed depends on what was seen: rows a second after so many rows, of three features that are categories out
of four, categories that are all new, or numbers that are all new; learned, and predicted before they are learned.

    python benchmarks/streaming.py                   as in docs/performance.md; needs scikit-learn; river if it is there
    python benchmarks/streaming.py --rows 300        a quick look
"""

from __future__ import annotations

import argparse
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.naive_bayes import CategoricalNB
from timing import best_of

from credimi import CredibleSelector, IncrementalNaiveBayes

if TYPE_CHECKING:
    from collections.abc import Callable

FEATURES = 23
LEVELS = "abcd"


def stream(rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Texts, some missing, eight of which tell about a rare class."""
    generator = np.random.default_rng(0)
    labels = generator.random(rows) < 0.05
    X = np.empty((rows, FEATURES), dtype=object)  # noqa: N806
    for column in range(FEATURES):
        codes = generator.integers(0, 2 + column % 3, rows)
        tells = generator.random(rows) < 0.5 * (column < 8)
        X[:, column] = np.array(list(LEVELS), dtype=object)[np.where(tells, labels, codes)]
    X[generator.random(X.shape) < 0.03] = None
    return X, np.where(labels, "hypothyroid", "negative").astype(object)


def row_by_row(model: Any, X: np.ndarray, y: np.ndarray) -> Callable[[], float]:  # noqa: ANN401, N803
    """partial_fit and predict, an array of one row each time; the share that was right."""

    def run() -> float:
        learner = model()
        learner.partial_fit(X[:1], y[:1], classes=np.unique(y))
        right = 0
        for row in range(1, len(y)):
            right += learner.predict(X[row : row + 1])[0] == y[row]
            learner.partial_fit(X[row : row + 1], y[row : row + 1])
        return right / len(y)

    return run


def dictionaries(
    model: Any,  # noqa: ANN401
    X: np.ndarray,  # noqa: N803
    y: np.ndarray,
    *,
    one_hot: bool = False,
) -> Callable[[], float]:
    """learn_one and predict_one; `one_hot` has a feature for each value, that is 1 where it is there."""
    names = [f"f{column}" for column in range(FEATURES)]
    rows = [{name: value for name, value in zip(names, row, strict=True) if value is not None} for row in X]
    if one_hot:
        rows = [{f"{name}={value}": 1 for name, value in row.items()} for row in rows]

    def run() -> float:
        learner, right = model(), 0
        for row, label in zip(rows, y.tolist(), strict=True):
            right += learner.predict_one(row) == label
            learner.learn_one(row, label)
        return right / len(y)

    return run


def peers(X: np.ndarray, y: np.ndarray) -> dict[str, Callable[[], float]]:  # noqa: N803
    """What is timed, by name."""
    coded = np.array([[LEVELS.index(value) if value else len(LEVELS) for value in row] for row in X])

    def selecting(**settings: Any) -> Any:  # noqa: ANN401
        return IncrementalNaiveBayes(selector=CredibleSelector("forward", **settings))

    runs = {
        "credimi, dictionaries": dictionaries(IncrementalNaiveBayes, X, y),
        "credimi, dictionaries, reselecting": dictionaries(selecting, X, y),
        "credimi, arrays": row_by_row(IncrementalNaiveBayes, X, y),
        "credimi, arrays, reselecting": row_by_row(selecting, X, y),
        "credimi, arrays, reselecting as the paper": row_by_row(
            lambda: selecting(prior="uniform", approximation="leading"), X, y
        ),
        "scikit-learn CategoricalNB, arrays": row_by_row(
            lambda: CategoricalNB(min_categories=len(LEVELS) + 1), coded, y
        ),
    }
    try:
        from river.naive_bayes import BernoulliNB, MultinomialNB  # noqa: PLC0415
    except ImportError:
        return runs
    runs["river MultinomialNB, dictionaries"] = dictionaries(MultinomialNB, X, y, one_hot=True)
    runs["river BernoulliNB, dictionaries"] = dictionaries(BernoulliNB, X, y, one_hot=True)
    return runs


def few_categories(row: int) -> dict[str, Any]:
    """Three features of four values."""
    return {f"f{index}": LEVELS[row * (index + 1) % 4 + row // 7 % 2 - 1] for index in range(3)}


def new_categories(row: int) -> dict[str, Any]:
    """Three features, of which each row has new values."""
    return {f"f{index}": f"text {row} of {index}" for index in range(3)}


def new_numbers(row: int) -> dict[str, Any]:
    """Three features, of which each row has new numbers."""
    return {f"f{index}": (row * (index + 1) * 0.618034) % 1.0 + row * 1e-9 for index in range(3)}


def speeds(rows: Callable[[int], dict[str, Any]], seen: list[int], repeats: int, *, predict: bool) -> list[float]:
    """Rows a second, once so many were seen; the best of some stretches, each of a quarter of a second or 200 rows."""
    learner, row, rows_per_second = IncrementalNaiveBayes(), 0, []
    for least in seen:
        while row < least:
            learner.learn_one(rows(row), row % 2)
            row += 1
        best = 0.0
        for _ in range(repeats):
            first, start, seconds = row, perf_counter(), 0.0
            while seconds < 0.25 and row < first + 200:
                cells = rows(row)
                if predict:
                    learner.predict_one(cells)
                learner.learn_one(cells, row % 2)
                row += 1
                seconds = perf_counter() - start
            best = max(best, (row - first) / seconds)
        rows_per_second.append(best)
    return rows_per_second


def main() -> None:
    """Print one line a learner, then one line a kind of rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=3163, help="(default: %(default)s)")
    parser.add_argument("--repeats", type=int, default=3, help="runs, of which the best counts (default: %(default)s)")
    seen = [500, 4_000, 16_000]
    parser.add_argument("--seen", type=int, nargs="+", default=seen, help="rows seen before (default: %(default)s)")
    options = parser.parse_args()
    X, y = stream(options.rows)  # noqa: N806
    print("| learner | seconds | rows a second | right |\n|---|---:|---:|---:|")
    for name, run in peers(X, y).items():
        right = run()
        seconds = best_of(options.repeats, run)
        print(f"| {name} | {seconds:.2f} | {options.rows / seconds:,.0f} | {right:.3f} |", flush=True)
    print("\n| rows a second, after so many rows | " + " | ".join(f"{seen:,}" for seen in options.seen) + " |")
    print("|---|" + "---:|" * len(options.seen))
    for kind in (few_categories, new_categories, new_numbers):
        for predict in (False, True):
            rows_per_second = speeds(kind, sorted(options.seen), options.repeats, predict=predict)
            name = f"{kind.__name__.replace('_', ' ')}: {'predict, then learn' if predict else 'learn'}"
            print(f"| {name} | " + " | ".join(f"{speed:,.0f}" for speed in rows_per_second) + " |", flush=True)


if __name__ == "__main__":
    main()
