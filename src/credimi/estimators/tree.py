"""`CredibleTreeClassifier`: a classification tree that splits only where it is credible."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from credimi.columns.missing import MISSING_VALUES, missing_of
from credimi.columns.reading_options import ReadingOptions
from credimi.core.arguments import require_whole
from credimi.core.public import public
from credimi.core.threads import threads_of
from credimi.counts.rows.node_counter import node_counter
from credimi.estimators.class_labels import Classes, warn_if_measured
from credimi.estimators.counted_xy import coded, labelled, share_right, target_name
from credimi.estimators.tree_descent import visits
from credimi.estimators.validation import cells_of, checked_features, checked_target, checked_weights, with_weights
from credimi.inference.belief import Belief
from credimi.questions.tree.growth import grow
from credimi.questions.tree.tree_figure import tree_plot
from credimi.questions.tree.tree_page import write_page
from credimi.questions.tree.tree_text import tree_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

    from matplotlib.axes import Axes

    from credimi.core.types import AnyArray, Data, FloatArray, Foreign, IntegerArray, Option, Value, Values


@public
class CredibleTreeClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn carries no types
    """A classification tree for categories and numbers, with missing values anywhere. Nothing has to be tuned.

    A node is split by the column that tells most about the class there, among those that credibly tell something:
    P(I > epsilon) >= level. If there is none, it is a leaf. That many columns and many cuts were looked at is paid for.
    Numbers are cut in the node; categories are split by value, and values that the data cannot tell apart share a
    branch. A row without a value, or with a new one, goes down all branches, with weights that its other values
    suggest. How much branches differ is shrunk by what all columns of the tree show, and averaged over cuts, so that
    probabilities are not overconfident because the best column was chosen.

    Parameters
    ----------
    epsilon : float
        The information, in nats, that a column has to tell to be worth a split.
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
        Called with the share of the rows that have reached a leaf, while the tree grows.
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

    def __init__(
        self,
        epsilon: float = 0.003,
        level: float = 0.5,
        *,
        max_depth: int | None = None,
        missing_values: Iterable[str | float] = MISSING_VALUES,
        discretize: str | Mapping[str, Value] | None = "mdl",
        unlabeled: Value = None,
        weights_are: str | None = None,
        progress: Callable[[float], None] | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.level = level
        self.max_depth = max_depth
        self.missing_values = missing_values
        self.discretize = discretize
        self.unlabeled = unlabeled
        self.weights_are = weights_are
        self.progress = progress
        self.n_jobs = n_jobs

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
        table = coded(features, target, weighted, name=target_name(y, features), weights=weights, threads=threads)
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
            progress=self.progress,
        )
        if self.tree_.interrupted:
            warnings.warn("interrupted: the tree has the nodes that were grown so far", stacklevel=2)
        return self

    def predict(self, X: Data) -> AnyArray:
        """The most probable class of each row; the first one if several are equal."""
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])

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

    def score(self, X: Data, y: Values, sample_weight: Values = None) -> float:
        """The share of correct predictions among the rows whose class is known."""
        predicted = self.predict_proba(X).argmax(axis=1)
        target = self._labels(checked_target(y, predicted.size, type(self).__name__))
        weights = checked_weights(sample_weight, predicted.size)
        known = labelled(target, self._missing(), None)
        return share_right(predicted, self._known.codes(target), known, weights)

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
        return tree_text(self.tree_.to_dict(), reasons=reasons)

    def plot(self, ax: Axes | None = None, *, max_depth: int | None = None) -> Axes:
        """Draw the tree; it needs matplotlib."""
        check_is_fitted(self)
        return tree_plot(self.tree_.to_dict(), ax, max_depth=max_depth)

    def to_html(self, path: str | Path) -> None:
        """Write the tree as a page that can be opened in any browser, and asks nothing of the network."""
        check_is_fitted(self)
        write_page(self.tree_.to_dict(), path)

    @property
    def classes_(self) -> AnyArray:
        """The classes, in order."""
        check_is_fitted(self)
        return self._known.array()

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

    def __sklearn_tags__(self) -> Foreign:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.string = tags.input_tags.categorical = True
        return tags

    def _labels(self, target: Values) -> Values:
        """The target, with None in place of the value `unlabeled`."""
        unlabeled: Option = self.unlabeled
        if unlabeled is None:
            return target
        cells = cells_of(target)
        labels = np.empty(len(cells), dtype=object)
        labels[:] = [None if cell == unlabeled else cell for cell in cells]
        return labels

    def _missing(self) -> Foreign:
        return missing_of(self._settings.missing_values, raw=False)

    def _visits(self, X: Data) -> tuple[int, Iterator[tuple[int, IntegerArray, FloatArray]]]:
        """The number of rows; and for each visited node its number, the rows that visit it, and their weights."""
        check_is_fitted(self)
        features = checked_features(self, X, reset=False)
        return features.rows, visits(self.tree_, features, self._settings)

    def _importances(self) -> tuple[FloatArray, FloatArray]:
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", None)
        columns = (
            [f"x{index}" for index in range(self.n_features_in_)] if names is None else [str(name) for name in names]
        )
        index_of = {name: index for index, name in enumerate(columns)}
        mean, intervals = np.zeros(len(columns)), np.zeros((len(columns), 2))
        tree_mean, tree_intervals = self.tree_.information()
        for column, information, interval in zip(self.tree_.columns, tree_mean, tree_intervals, strict=True):
            mean[index_of[column.name]], intervals[index_of[column.name]] = information, interval
        return mean, intervals
