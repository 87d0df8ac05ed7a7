"""Whether the probabilities of trees are calibrated: the slope of the outcome's log odds on the predicted log odds.

Tables are simulated with known class probabilities. A tree is grown on few or many rows, and predicts 1,000 others. The
slope is that of logistic regressions of the outcomes on the predicted log odds, with an intercept for each tree and one
slope for all trees of a cell: 1 is calibrated, less is overconfident. The outcomes are not drawn but
weighted with their probabilities, which has the same expectation and less noise. With more than two classes there is
one outcome for each class, this one or another. Standard errors come from leaving out one tree at a time.

The method was chosen on the first five tables, but for the spread of sizes, which was chosen with all in view. In the
tables of one kind the truth is the same each time, and only those count in which the root is split. In tables named
drawn, the truth is drawn anew for each, from laws as the trees assumed them; they are not in the table of the
documentation.

    python studies/tree_calibration.py --rows 100,200,400               the table of docs/how-to/trees.md, 2 minutes
    python studies/tree_calibration.py --rows 1000,5000 --trees 20      its last columns, 2 minutes
    python studies/tree_calibration.py --missing 0.2 --trees 20         a fifth of all cells removed
    python studies/tree_calibration.py --tables mixed --rows 200        one cell of it
    python studies/tree_calibration.py --rows 200 --depth 1             the root alone
    python studies/tree_calibration.py --rows 200 --root 0.5            the root needs no more than other nodes
    python studies/tree_calibration.py --rows 200 --depth 1 --tables drawn --trees 300
"""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from credimi import CredibleTreeClassifier
from credimi.questions.tree import nodes

if TYPE_CHECKING:
    from collections.abc import Callable

    Columns = dict[str, np.ndarray]
    Drawn = tuple[Columns, np.ndarray]  # the columns, and the probability of each class in each row

TEST_ROWS, LEAST = 1_000, 1e-9
ROWS = (100, 200, 400, 1_000, 5_000)


def _of_two(score: np.ndarray) -> np.ndarray:
    """The probabilities of two classes from the log odds of the second."""
    second = 1.0 / (1.0 + np.exp(-score))
    return np.stack([1.0 - second, second], axis=1)


def _of_many(scores: np.ndarray) -> np.ndarray:
    exponentials = np.exp(scores - scores.max(axis=1, keepdims=True))
    return exponentials / exponentials.sum(axis=1, keepdims=True)


def _numbers(generator: np.random.Generator, rows: int, count: int) -> np.ndarray:
    return generator.normal(size=(rows, count))


def _texts(generator: np.random.Generator, rows: int, sizes: list[int]) -> np.ndarray:
    return np.stack([generator.integers(0, size, rows) for size in sizes], axis=1)


def _named(numbers: np.ndarray | None = None, codes: np.ndarray | None = None) -> Columns:
    columns: Columns = {}
    if numbers is not None:
        columns |= {f"n{index}": column for index, column in enumerate(numbers.T)}
    if codes is not None:
        columns |= {f"c{index}": np.char.add("v", column.astype(str)) for index, column in enumerate(codes.T)}
    return columns


def additive(generator: np.random.Generator, rows: int) -> Drawn:
    """Ten numbers, of which five add to the log odds."""
    x = _numbers(generator, rows, 10)
    return _named(x), _of_two(x[:, :5] @ np.array([1.0, -0.8, 0.6, 0.4, 0.3]))


def rules(generator: np.random.Generator, rows: int) -> Drawn:
    """Eight categories; three decide, the third only under some values of the first."""
    c = _texts(generator, rows, [3, 2, 3, 4, 2, 3, 4, 2])
    likely = np.where(c[:, 0] == 0, 0.85, np.where(c[:, 1] == 1, np.where(c[:, 2] == 2, 0.75, 0.45), 0.15))
    return _named(codes=c), _of_two(np.log(likely / (1.0 - likely)))


def noisy(generator: np.random.Generator, rows: int) -> Drawn:
    """Three columns that matter among forty, numbers and categories."""
    x, c = _numbers(generator, rows, 20), _texts(generator, rows, [2, 3, 4, 5] * 5)
    return _named(x, c), _of_two(1.2 * x[:, 0] + 0.9 * (x[:, 1] > 0.3) + 1.0 * (c[:, 0] - 0.5) - 0.5)


def mixed(generator: np.random.Generator, rows: int) -> Drawn:
    """Numbers and categories that all matter a little, correlated; a fifth of the rows have the second class."""
    common = generator.normal(size=(rows, 1))
    x = 0.6 * common + 0.8 * _numbers(generator, rows, 6)
    c = (0.7 * common + _numbers(generator, rows, 6) > np.array([0.0, 0.3, -0.5, 0.8, 0.0, 0.2])).astype(int)
    score = 0.5 * x[:, :4].sum(axis=1) + 0.6 * c[:, :4].sum(axis=1) - 3.2
    return _named(x, c), _of_two(score)


def three(generator: np.random.Generator, rows: int) -> Drawn:
    """Three classes, numbers and categories."""
    x, c = _numbers(generator, rows, 5), _texts(generator, rows, [3, 3, 4, 2, 2])
    scores = np.stack([1.2 * x[:, 0], 0.8 * x[:, 1] + 0.8 * (c[:, 0] == 1), 1.0 * (c[:, 1] == 2) - 0.3 * x[:, 2]], 1)
    return _named(x, c), _of_many(scores)


def rare(generator: np.random.Generator, rows: int) -> Drawn:
    """Twelve numbers, some skewed; one row in ten has the second class, more often beyond two thresholds."""
    x = _numbers(generator, rows, 12)
    x[:, ::2] = np.exp(x[:, ::2])
    return _named(x), _of_two(1.5 * (x[:, 0] > 1.6) + 1.3 * (x[:, 1] > 0.5) + 0.5 * x[:, 3] - 3.2)


def many_weak(generator: np.random.Generator, rows: int) -> Drawn:
    """Twenty columns of two values, all of which matter a little."""
    c = _texts(generator, rows, [2] * 20)
    return _named(codes=c), _of_two(np.linspace(0.2, 0.9, 20) * (c - 0.5) @ np.ones(20))


def crossed(generator: np.random.Generator, rows: int) -> Drawn:
    """Two numbers matter in opposite directions under the values of a category; ten columns of noise."""
    x, c = _numbers(generator, rows, 8), _texts(generator, rows, [2, 3, 5, 2, 6])
    score = np.where(c[:, 0] == 1, 1.4 * x[:, 0] + 0.5, -1.0 * x[:, 1] - 0.3) + 0.5 * (c[:, 1] == 2)
    return _named(x, c), _of_two(score)


def five(generator: np.random.Generator, rows: int) -> Drawn:
    """Five classes of unequal size, categories of up to eight values and numbers."""
    x, c = _numbers(generator, rows, 4), _texts(generator, rows, [8, 5, 3, 2, 6])
    effects = np.random.default_rng(7).normal(size=(8 + 5, 5))
    scores = effects[c[:, 0]] + 0.7 * effects[8 + c[:, 1]] + np.array([1.0, 0.6, 0.2, -0.2, -0.6])
    scores[:, 0] += 0.9 * x[:, 0]
    return _named(x, c), _of_many(scores)


def steps(generator: np.random.Generator, rows: int) -> Drawn:
    """A tree of thresholds on whole numbers and numbers, far from even leaves."""
    x, whole = _numbers(generator, rows, 6), generator.poisson(4.0, (rows, 3)).astype(float)
    deep = np.where(x[:, 1] > 0.0, np.where(whole[:, 1] > 4, 0.9, 0.6), 0.1)
    likely = np.where(whole[:, 0] > 5, 0.92, deep)
    return _named(np.concatenate([x, whole], axis=1)), _of_two(np.log(likely / (1.0 - likely)))


def hidden(generator: np.random.Generator, rows: int) -> Drawn:
    """Fifteen noisy copies, of three values, of a hidden class that is strongly related to the outcome."""
    group = generator.integers(0, 3, rows)
    kept = generator.random((rows, 15)) < np.linspace(0.35, 0.7, 15)
    c = np.where(kept, group[:, np.newaxis], _texts(generator, rows, [3] * 15))
    return _named(codes=c), _of_two(np.array([-1.8, 0.2, 1.8])[group])


def drawn(generator: np.random.Generator, rows: int) -> Drawn:
    """Twenty columns of two values, independent given the class; how much they tell is drawn for each table anew."""
    centre, width = generator.uniform(2.0, 9.0), generator.choice([0.3, 1.0, 2.0])
    group, score, codes = generator.integers(0, 2, rows), np.zeros(rows), []
    for _ in range(20):
        strength, low = 2.0 ** generator.normal(centre, width), generator.uniform(0.3, 0.7)
        shares = np.array([low, 1.0 - low])
        second = np.clip(generator.beta(0.5 * strength * shares, 0.5 * strength * shares), 1e-6, 1.0 - 1e-6)
        given = np.stack([shares * (1.0 - second), shares * second])
        given /= given.sum(axis=1, keepdims=True)  # P(value | class)
        codes.append((generator.random(rows) > given[group, 0]).astype(int))
        score += np.log(given[1] / given[0])[codes[-1]]
    # The outcomes are drawn again, given the columns: the joint law of both is the same.
    return _named(codes=np.stack(codes, axis=1)), _of_two(np.clip(score, -12.0, 12.0))


CHOSEN_ON: dict[str, Callable[[np.random.Generator, int], Drawn]] = {
    "additive": additive,
    "rules": rules,
    "noisy": noisy,
    "mixed": mixed,
    "three": three,
}
REPORTED_ONLY: dict[str, Callable[[np.random.Generator, int], Drawn]] = {
    "rare": rare,
    "many weak": many_weak,
    "crossed": crossed,
    "five": five,
    "steps": steps,
    "hidden": hidden,
}
TABLES = CHOSEN_ON | REPORTED_ONLY
OTHERS = {"drawn": drawn}


def without(columns: Columns, share: float, generator: np.random.Generator) -> pa.Table:
    """The columns as a table, with a share of the cells removed."""
    return pa.table(
        {name: pa.array(column, mask=generator.random(column.size) < share) for name, column in columns.items()}
    )


def slope_of(log_odds: np.ndarray, share: np.ndarray, weight: np.ndarray, tree: np.ndarray) -> float:
    """The common slope of logistic regressions with an intercept for each tree, by Newton's method."""
    slope, intercepts = 1.0, np.zeros(tree.max() + 1)
    for _ in range(50):
        fitted = 1.0 / (1.0 + np.exp(-(intercepts[tree] + slope * log_odds)))
        variance, residual = weight * fitted * (1.0 - fitted), weight * (share - fitted)
        each, crossed = np.bincount(tree, variance) + LEAST, np.bincount(tree, variance * log_odds)
        left = np.bincount(tree, residual)
        information = (variance * log_odds**2).sum() - (crossed**2 / each).sum()
        step = float(np.clip(((residual * log_odds).sum() - (crossed * left / each).sum()) / information, -0.5, 0.5))
        slope += step
        intercepts += np.clip((left - crossed * step) / each, -1.0, 1.0)
        if abs(step) < 1e-7:
            break
    return slope


class Cell:
    """The predictions of all trees for one kind of table and number of rows."""

    def __init__(self) -> None:
        self.log_odds: list[np.ndarray] = []
        self.shares: list[np.ndarray] = []
        self.figures: list[tuple[float, float, float, float]] = []

    def add(self, predicted: np.ndarray, truth: np.ndarray, leaves: int, seconds: float) -> None:
        """Add the predictions of one tree; both are (rows, classes)."""
        one_against_rest = slice(1, 2) if truth.shape[1] == 2 else slice(None)
        likely = np.clip(predicted, LEAST, 1.0 - LEAST)
        self.log_odds.append(np.log(likely / (1.0 - likely))[:, one_against_rest])
        self.shares.append(truth[:, one_against_rest])
        loss = float(-(truth * np.log(np.clip(predicted, LEAST, 1.0))).sum(axis=1).mean())
        accuracy = float(truth[np.arange(truth.shape[0]), predicted.argmax(axis=1)].mean())
        self.figures.append((loss, accuracy, leaves, seconds))

    def slope(self) -> tuple[float, float]:
        """The slope, averaged over the classes, and its standard error; NaN if all trees are single leaves."""
        log_odds = np.stack(self.log_odds)  # trees x rows x outcomes
        trees = log_odds.shape[0]
        if not np.ptp(log_odds, axis=1).any(axis=0).all():
            return np.nan, np.nan

        binned = [[self._bins(tree, outcome) for tree in range(trees)] for outcome in range(log_odds.shape[2])]

        def of(kept: np.ndarray) -> float:
            slopes = []
            for of_trees in binned:
                parts = [(*of_trees[tree], np.full(of_trees[tree][0].size, at)) for at, tree in enumerate(kept)]
                slopes.append(slope_of(*(np.concatenate(each) for each in zip(*parts, strict=True))))
            return float(np.mean(slopes))

        everything = of(np.arange(trees))
        left_out = np.array([of(np.delete(np.arange(trees), tree)) for tree in range(trees)])
        return everything, float(np.sqrt((trees - 1.0) / trees * ((left_out - left_out.mean()) ** 2).sum()))

    def _bins(self, tree: int, outcome: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Distinct predictions of one tree, up to rounding, the share of the outcome among each, and their rows."""
        rounded = np.round(self.log_odds[tree][:, outcome], 2)
        values, index = np.unique(rounded, return_inverse=True)
        weight = np.bincount(index).astype(float)
        return values, np.bincount(index, self.shares[tree][:, outcome]) / weight, weight


def main() -> None:
    """Print one line for each kind of table and number of rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", default=",".join(TABLES), help="kinds of tables (default: %(default)s)")
    parser.add_argument("--rows", default=",".join(map(str, ROWS)), help="rows to learn from (default: %(default)s)")
    parser.add_argument("--trees", type=int, default=60, help="trees a cell (default: %(default)s)")
    parser.add_argument("--missing", type=float, default=0.0, help="the share of cells to remove (default: none)")
    parser.add_argument("--depth", type=int, help="the largest depth of a tree (default: any)")
    parser.add_argument("--root", type=float, default=nodes.SURE, help="what the root needs (default: %(default)s)")
    options = parser.parse_args()
    nodes.SURE = options.root  # no option of the trees: the root's split is a claim
    print("| table | rows | slope | s.e. | log loss | accuracy | leaves | split | ms |\n|---|" + "---:|" * 8)
    for name in options.tables.split(","):
        for rows in map(int, options.rows.split(",")):
            cell = Cell()
            for tree in range(options.trees):
                generator = np.random.default_rng([rows, tree, *name.encode()])
                columns, truth = (TABLES | OTHERS)[name](generator, rows + TEST_ROWS)
                table = without(columns, options.missing, generator)
                outcomes = (generator.random(truth.shape[0]) > truth.cumsum(axis=1)[:, :-1].T).sum(axis=0)
                start = time.process_time()
                model = CredibleTreeClassifier(max_depth=options.depth, n_jobs=1, epsilon=0.003)
                model.fit(table.slice(0, rows), outcomes[:rows])
                seconds = time.process_time() - start
                predicted = np.zeros((TEST_ROWS, truth.shape[1]))
                predicted[:, model.classes_] = model.predict_proba(table.slice(rows))
                cell.add(predicted, truth[rows:], model.get_n_leaves(), seconds)
            loss, accuracy, leaves, seconds = np.mean(cell.figures, axis=0)
            split = sum(figures[2] > 1.0 for figures in cell.figures)  # trees of more than one leaf
            slope, error = cell.slope()
            print(
                f"| {name} | {rows:,} | {slope:.2f} | {error:.2f} | {loss:.4f} | {accuracy:.4f} | {leaves:.1f} |"
                f" {split} | {1000 * seconds:.0f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
