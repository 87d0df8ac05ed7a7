"""`CredibleTreeClassifier`: a classification tree that splits only where it is credible.

A new row goes down the tree from its root. If it has no value in the column of a split, or one that did not occur
there, it goes down all branches. Columns that stand in for it give the weights; without such columns the weights are
the shares of the branches.
"""

from __future__ import annotations

import warnings
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING

import numpy as np
from sklearn.utils.validation import check_is_fitted

from credimi.columns import labels
from credimi.columns.encode import encode
from credimi.columns.missing import missing_of
from credimi.columns.numbers.ranges import bins_of
from credimi.columns.reading_options import ReadingOptions
from credimi.core.arguments import require_whole
from credimi.core.defaults import EPSILON, MISSING_VALUES
from credimi.core.keywords import suggesting_keywords
from credimi.core.public import public
from credimi.core.threads import threads_of
from credimi.counts.batch import labels_of
from credimi.counts.nodes.node_counter import node_counter
from credimi.counts.reading import Reading
from credimi.counts.tabulate import CELLS_WORTH_COMPILING
from credimi.estimators.class_labels import Classes, Classifier, warn_if_measured
from credimi.estimators.counted_xy import Sample, coded, target_name
from credimi.estimators.validation import cells_of, checked_features, checked_target, checked_weights, with_weights
from credimi.inference.belief import Belief
from credimi.questions.tree.growth import grow
from credimi.questions.tree.surrogates import branch_weights
from credimi.results.section import Shown
from credimi.results.text import printed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path
    from types import EllipsisType

    from matplotlib.axes import Axes

    from credimi.columns.column import Column
    from credimi.columns.missing import MissingValues
    from credimi.core.types import Data, FloatArray, Foreign, IntegerArray, Option, Value, Values
    from credimi.counts.nodes.node_counter import TreeColumn
    from credimi.estimators.validation import Features
    from credimi.questions.tree.result import Tree


@public
@suggesting_keywords
@dataclass(eq=False, repr=False)  # a keyword is a field
class CredibleTreeClassifier(Classifier):
    """A classification tree for categories and numbers, with missing values anywhere. Nothing has to be tuned.

    A node is split by the column that tells most about the class there, among those that credibly tell something:
    P(I > epsilon) >= level. If there is none, it is a leaf. That many columns and many cuts were looked at is paid for.
    Numbers are cut in the node; categories are split by value, and values that the data cannot tell apart share a
    branch. A row without a value, or with a new one, goes down all branches, with weights that its other values
    suggest. How much branches differ is shrunk by what all columns of the tree show, and averaged over cuts, so that
    probabilities are not overconfident because the best column was chosen.

    Parameters
    ----------
    epsilon : float or str
        The information that a column has to tell to be worth a split: "0.5%" of the entropy of the classes, or of log 2
        where that is less; or a number of nats.
    level : float
        How probable that has to be; 0.5 is for prediction, 0.95 for splits that are claimed. A doubtful split may
        concern few rows only: in nodes of more than 200 rows, the doubt 1 - level falls with the square of the rows.
        The root always needs 0.95.
    max_depth : int, optional
        The most splits between the root and a leaf.
    missing_values, discretize
        As in `credimi.count`; numbers that are cut by "mdl" are cut in the nodes.
    unlabeled : optional
        One more value of y that means that the class is unknown, such as -1. None, NaN and NA always do. Such rows tell
        how the columns are distributed.
    weights_are : "rows" or "survey", optional
        What `sample_weight` says. "rows": how often each row occurs; weights that are not whole are refused. "survey":
        what each row stands for; the weights are scaled, to (sum w)^2 / sum w^2 rows. Default: a row
        counts as often as its weight says, whole or not, as elsewhere in scikit-learn.
    progress : callable, optional
        Called with the share of the rows that have reached a leaf while the tree grows, and the name of that step.
    n_jobs : int, optional
        Threads. None and -1 mean all cores, or those that joblib leaves to its workers.

    Attributes
    ----------
    classes_ : array
        The classes, in order.
    tree_ : credimi.Tree
        The nodes as records; `tree_.to_dict()` is plain data.
    feature_importances_ : array
        What each column tells in this tree, in nats; `importance_intervals_` has the 95 % interval of each.
    n_features_in_, feature_names_in_
        As usual in scikit-learn.

    Examples
    --------
    >>> import pyarrow
    >>> table = {"colour": ["red", "green"] * 40, "size": [1.5, 2.5, None, 3.5] * 20}
    >>> fruit = ["cherry", "lime"] * 40
    >>> model = credimi.CredibleTreeClassifier().fit(pyarrow.table(table), fruit)
    >>> model.predict(pyarrow.table({"colour": ["green", "red"], "size": [None, 9.0]})).tolist()
    ['lime', 'cherry']
    """

    epsilon: float | str = EPSILON
    level: float = 0.5
    _: KW_ONLY
    max_depth: int | None = None
    missing_values: Iterable[str | float | EllipsisType] = MISSING_VALUES
    discretize: str | Mapping[str, Value] | None = "mdl"
    unlabeled: Value = None
    weights_are: str | None = None
    progress: Callable[[float, str], None] | None = None
    n_jobs: int | None = None

    def fit(self, X: Data, y: Values, sample_weight: Values = None) -> CredibleTreeClassifier:
        """Grow the tree. If the user interrupts (Ctrl-C), the tree that was grown so far is kept, with a warning."""
        Belief(epsilon=self.epsilon, level=self.level)  # refuses impossible values before the work
        if self.max_depth is not None:
            require_whole("max_depth", self.max_depth, 0)
        features = checked_features(self, X, reset=True)
        target = self._labels(checked_target(y, features.rows, type(self).__name__))
        weights = checked_weights(sample_weight, features.rows)
        settings, threads = ReadingOptions.of(self.missing_values, self.discretize), threads_of(self.n_jobs)
        weighted = with_weights(settings, weights, self.weights_are)
        table = coded(Sample(features, target, weighted, target_name(y, features), weights, threads))
        known = Classes()
        known.observe(target)
        known.add(table.counts.classes)  # refuses numbers that are no classes
        warn_if_measured(table.counts)
        self._known, self._settings = known, settings
        self.tree_ = grow(
            node_counter(table, threads, least_classes=1),
            epsilon=self.epsilon,
            level=self.level,
            max_depth=self.max_depth,
            threads=threads,
            progress=Reading(progress=self.progress).step("growing"),
        )
        if self.tree_.interrupted:
            warnings.warn("interrupted: the tree has the nodes that were grown so far", stacklevel=2)
        return self

    def predict_proba(self, X: Data) -> FloatArray:
        """(rows, classes): how probable each class is."""
        rows, visited = self._visits(X)
        probabilities = np.zeros((rows, len(self.tree_.classes)))
        for number, node_rows, weights in visited:
            if self.tree_.nodes[number].split is None:
                probabilities[node_rows] += weights[:, np.newaxis] * self.tree_.probabilities[number]
        return np.asarray(probabilities / probabilities.sum(axis=1, keepdims=True))

    def predict_log_proba(self, X: Data) -> FloatArray:
        """(rows, classes): the logarithms of `predict_proba`."""
        return np.log(self.predict_proba(X))

    def apply(self, X: Data) -> IntegerArray:
        """The leaf of each row; of a row that reaches several, the one with the largest weight."""
        rows, visited = self._visits(X)
        best, heaviest = np.zeros(rows, dtype=np.int64), np.zeros(rows)
        for number, node_rows, weights in visited:
            if self.tree_.nodes[number].split is None:
                better = (weights > heaviest[node_rows]) | (
                    (weights == heaviest[node_rows]) & (number < best[node_rows])
                )
                best[node_rows[better]], heaviest[node_rows[better]] = number, weights[better]
        return best

    def decision_path(self, X: Data) -> Foreign:
        """A sparse matrix (rows, nodes) with 1 where a row visits a node; with missing values that may be many."""
        from scipy.sparse import csr_matrix  # noqa: PLC0415  (it takes a while to load)

        rows, visited = self._visits(X)
        pairs = [(node_rows, np.full(node_rows.size, number)) for number, node_rows, _ in visited]
        node_rows, nodes = (np.concatenate(each) for each in zip(*pairs, strict=True))
        return csr_matrix((np.ones(node_rows.size, dtype=np.int64), (node_rows, nodes)), (rows, len(self.tree_.nodes)))

    def get_depth(self) -> int:
        """The depth of the deepest leaf; that of the root is 0."""
        check_is_fitted(self)
        return self.tree_.depth

    def get_n_leaves(self) -> int:
        """How many leaves there are."""
        check_is_fitted(self)
        return int(self.tree_.leaves.size)

    def export_text(self, *, reasons: bool = True) -> str:
        """The tree as text; with `reasons` why each node was split or not."""
        check_is_fitted(self)
        return printed(self.tree_.sections(Shown(reasons=reasons)))

    def plot(self, ax: Axes | None = None, *, max_depth: int | None = None) -> Axes:
        """Draw the tree; it needs matplotlib."""
        check_is_fitted(self)
        return self.tree_.plot(ax=ax, max_depth=max_depth)

    def to_html(self, path: str | Path) -> None:
        """Write the tree as a page that can be opened in any browser, and asks nothing of the network."""
        check_is_fitted(self)
        self.tree_.to_html(path)

    @property
    def feature_importances_(self) -> FloatArray:
        """What each column tells in this tree, in nats; its nodes count by their share of the rows."""
        return self._importances()[0]

    @property
    def importance_intervals_(self) -> FloatArray:
        """The 95 % intervals of `feature_importances_`, a row for each column; 0 to 0 for columns that are not used."""
        return self._importances()[1]

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "tree_")

    def _labels(self, target: Values) -> Values:
        """The target, with None in place of the value `unlabeled`."""
        unlabeled: Option = self.unlabeled
        if unlabeled is None:
            return target
        cells = cells_of(target)
        labels = np.empty(len(cells), dtype=object)
        labels[:] = [None if cell == unlabeled else cell for cell in cells]
        return labels

    def _figures(self, X: Data) -> FloatArray:
        return self.predict_proba(X)

    def _missing_in_y(self) -> MissingValues:
        return missing_of(self._settings.missing_values, raw=False)

    def _visits(self, X: Data) -> tuple[int, Iterator[tuple[int, IntegerArray, FloatArray]]]:
        """The number of rows; and for each visited node its number, the rows that visit it, and their weights."""
        check_is_fitted(self)
        features = checked_features(self, X, reset=False)
        return features.rows, _visits(self.tree_, features, self._settings)

    def _importances(self) -> tuple[FloatArray, FloatArray]:
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", None)
        columns = (
            [f"x{index}" for index in range(self.n_features_in_)] if names is None else [str(name) for name in names]
        )
        index_of = {name: index for index, name in enumerate(columns)}
        mean, intervals = np.zeros(len(columns)), np.zeros((len(columns), 2))
        tree_mean, tree_intervals = self.tree_.information()
        for column, information, interval in zip(self.tree_.inputs, tree_mean, tree_intervals, strict=True):
            mean[index_of[column.name]], intervals[index_of[column.name]] = information, interval
        return mean, intervals


def _visits(tree: Tree, features: Features, settings: ReadingOptions) -> Iterator[tuple[int, IntegerArray, FloatArray]]:
    """For each visited node: its number, the rows that visit it, and their weights."""
    values = _Values(tree, features, settings)
    waiting = [(0, np.arange(features.rows), np.ones(features.rows))]
    while waiting:
        number, rows, weights = waiting.pop()
        yield number, rows, weights
        split = tree.nodes[number].split
        if split is None:
            continue
        branch = _positions(values.of(split.column)[rows], split.cut, split.branch_of)
        weight_of_branch = np.ones((rows.size, split.shares.size))
        unknown = branch < 0
        if unknown.any():
            unknown_rows = rows[unknown]
            lines = (
                _positions(values.of(stand_in.column)[unknown_rows], stand_in.cut, stand_in.place_of)
                for stand_in in split.stand_ins
            )
            weight_of_branch[unknown] = branch_weights(split, lines, unknown_rows.size)
        for index, child in enumerate(split.children):
            takes_branch = (branch == index) | unknown
            if takes_branch.any():
                waiting.append(
                    (child, rows[takes_branch], weights[takes_branch] * weight_of_branch[takes_branch, index])
                )


def _positions(values: FloatArray | IntegerArray, cut: float | None, position_of: IntegerArray) -> IntegerArray:
    """The branch of each value at a split, or its line in the table of a stand-in; -1 if it has none."""
    if cut is not None:
        return np.where(np.isnan(values), -1, values > cut).astype(np.int64)
    positions: IntegerArray = np.append(position_of, -1)[values]
    return positions


class _Values:
    """The columns of new rows, read when the tree asks for them: numbers, or codes of the tree's values, or -1."""

    def __init__(self, tree: Tree, features: Features, settings: ReadingOptions) -> None:
        self.tree, self.features = tree, features
        self.index_of = {name: index for index, name in enumerate(features.names)}
        self.missing = missing_of(settings.missing_values, raw=False)
        self.values_of: dict[int, FloatArray | IntegerArray] = {}

    def of(self, number: int) -> FloatArray | IntegerArray:
        """The value of a column in each row."""
        if number not in self.values_of:
            column = self.tree.inputs[number]
            values = self.features.columns[self.index_of[column.name]]
            coded = encode(
                values, column.name, missing=self.missing, compiled=self.features.rows >= CELLS_WORTH_COMPILING
            )
            of_labels = _numbers(coded, self.missing, column) if column.numbers else _codes(coded, self.missing, column)
            self.values_of[number] = of_labels[np.minimum(coded.codes, coded.values)]
        return self.values_of[number]


def _numbers(coded: Column, missing: MissingValues, column: TreeColumn) -> FloatArray:
    """The number of each label (text may be one), NaN if it is missing or not a number; one more NaN at the end."""
    numbers = labels.numbers_as(column.labels, coded.texts, coded.numbers)
    return np.append(np.where(missing.among(coded), np.nan, numbers), np.nan)


def _codes(coded: Column, missing: MissingValues, column: TreeColumn) -> IntegerArray:
    """The tree's code of each label, -1 if it has none."""
    codes = np.full(coded.values + 1, -1, dtype=np.int64)
    if column.cuts.size:
        numbers = _numbers(coded, missing, column)
        code_of_range = np.full(column.cuts.size + 1, -1, dtype=np.int64)
        code_of_range[bins_of(column.labels.numbers, column.cuts)] = column.places
        codes[~np.isnan(numbers)] = code_of_range[bins_of(numbers[~np.isnan(numbers)], column.cuts)]
        return codes
    keep = ~missing.among(coded)
    column_labels, positions = labels_of(coded, keep)
    merged, in_column, in_tree = labels.union(column_labels, column.labels)
    code_of_merged = np.full(len(merged), -1, dtype=np.int64)
    code_of_merged[in_tree] = column.places
    codes[:-1][keep] = code_of_merged[in_column[positions]]
    return codes
