"""`IncrementalNaiveBayes`: discrete naive Bayes on `Counts`, in batches or row by row, with missing values anywhere."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING

import numpy as np
from sklearn.utils.validation import check_is_fitted

from credimi.columns.python_objects import object_array
from credimi.columns.reading_options import ReadingOptions
from credimi.core.defaults import MISSING_AS, MISSING_VALUES
from credimi.core.errors import CredimiError
from credimi.core.keywords import suggesting_keywords
from credimi.core.public import public
from credimi.core.threads import threads_of
from credimi.counts.incremental_counts import IncrementalCounts
from credimi.counts.request import check_named
from credimi.estimators.class_labels import Classes, Classifier, warn_if_measured
from credimi.estimators.counted_xy import Sample, counted, labelled, target_name
from credimi.estimators.scorer import Scorer, check_selector
from credimi.estimators.validation import Features, by_text, cells_of, checked_features, checked_target, checked_weights
from credimi.inference.naive_bayes import normalised
from credimi.sources.frames import TARGET

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from types import EllipsisType

    from credimi.columns.missing import MissingValues
    from credimi.core.types import BooleanArray, Data, FloatArray, Option, Record, Value, Values
    from credimi.counts.counts import Counts
    from credimi.estimators.selector import CredibleSelector

_FEW_ROWS = 8  # so few rows are entered one by one, which is faster than counting them together


@public
@suggesting_keywords
@dataclass(eq=False, repr=False)  # a keyword is a field
class IncrementalNaiveBayes(Classifier):
    """Naive Bayes for categories and for numbers cut into ranges. It learns as rows come.

    Missing features are left out of the product, which is exact. Categories and classes may be new at any time. The
    counts tell nothing about a value that was never seen, and it is left out as well. The result depends on the rows
    alone, not on their order or their batches.

    Parameters
    ----------
    prior : float
        Pseudo-count of every value in every class; 1 is Laplace's rule.
    selector : CredibleSelector, optional
        At each moment only the features are used that the selector keeps, based on all rows so far. Its rules
        "distinct" and "relevant" need all rows at once and are refused: put such a selector before this in a pipeline.
    learn_unlabeled : bool
        Whether rows without a class are used. They tell how the features are distributed and so, through the posterior
        of the joint cell probabilities, how they are distributed in each class. Otherwise they are skipped.
    decay : float, optional
        The factor by which each new row reduces the weight of all earlier rows, such as 0.999 if the data drift.
    window : int, optional
        How many of the latest rows are remembered; older ones are removed.
    missing_as : "ignore" or "category"
        Whether a missing value of a feature is not known, or is one more value of it.
    missing_values, discretize
        As in `credimi.count`.
    unlabeled : optional
        One more value of y that means that the class is unknown, such as -1. None, NaN and NA always do.
    n_jobs : int, optional
        Threads. None and -1 mean all cores, or those that joblib leaves to its workers.

    Attributes
    ----------
    classes_ : array
        The classes, in order.
    counts_ : credimi.Counts
        All that was learned.
    support_ : array of bool
        The features that are used now: those that the selector keeps; without a selector, all but identifiers, columns
        of one value, and numbers for which no cut passes the MDL test.
    n_features_in_, feature_names_in_
        As usual in scikit-learn.

    Examples
    --------
    >>> model = credimi.IncrementalNaiveBayes()
    >>> for colour, fruit in [("red", "cherry"), ("yellow", "lemon"), ("red", "cherry"), (None, "lemon")]:
    ...     model.learn_one({"colour": colour}, fruit)
    >>> model.predict_one({"colour": "red"})
    'cherry'
    """

    prior: float = 1.0
    _: KW_ONLY
    selector: CredibleSelector | None = None
    learn_unlabeled: bool = False
    decay: float | None = None
    window: int | None = None
    missing_as: str = "ignore"
    missing_values: Iterable[str | float | EllipsisType] = MISSING_VALUES
    discretize: str | Mapping[str, Value] | None = "mdl"
    unlabeled: Value = None
    n_jobs: int | None = None

    def fit(self, X: Data, y: Values, sample_weight: Values = None) -> IncrementalNaiveBayes:
        """Learn these rows, and forget everything else."""
        self._learn(X, y, None, sample_weight, reset=True)
        self._ledger.current_counts.class_names(least=1)  # reports what is wrong with the target, if anything is
        warn_if_measured(self._ledger.current_counts)
        return self

    def partial_fit(
        self,
        X: Data,
        y: Values,
        classes: Values = None,
        sample_weight: Values = None,
    ) -> IncrementalNaiveBayes:
        """Learn more rows. `classes` may name classes that have not occurred yet, or never will; it is optional."""
        self._learn(X, y, classes, sample_weight, reset=not hasattr(self, "_ledger"))
        return self

    def unlearn(self, X: Data, y: Values, sample_weight: Values = None) -> IncrementalNaiveBayes:
        """Remove rows that were learned, as if they had never been learned."""
        check_is_fitted(self)
        if self.decay is not None:
            raise CredimiError("with decay it is not known how much of a row remains: unlearn needs decay=None")
        features = checked_features(self, X, reset=False)
        target = checked_target(y, features.rows, type(self).__name__)
        self._take(features, target, checked_weights(sample_weight, features.rows), sign=-1.0)
        return self

    def predict_log_proba(self, X: Data) -> FloatArray:
        """(rows, classes): the logarithms of `predict_proba`."""
        return normalised(self._figures(X))

    def predict_proba(self, X: Data) -> FloatArray:
        """(rows, classes): how probable each class is."""
        return np.exp(self.predict_log_proba(X))

    def learn_one(self, x: Mapping[Value, Value], y: Values) -> None:
        """Learn one row, given as a dictionary; features may be missing, or new."""
        if not hasattr(self, "_ledger"):
            self._start(IncrementalCounts.empty(TARGET, [], self._settings()))
        new = [name for name in by_text(x) if name not in self._ledger.features]
        if new:
            self._ledger.extend(new)
            self._name_features()
        self._known.observe(object_array([y]))
        self._take_row(self._cells(x), y, 1.0)
        if self.window is not None:
            columns = [object_array([cell]) for cell in self._cells(x)]
            self._forget(Features(list(self._ledger.features), columns, 1, None), object_array([y]), None)

    def predict_one(self, x: Mapping[Value, Value]) -> Value:
        """The most probable class of one row; None before anything was learned."""
        if not self._knows_classes():
            return None
        return self.classes_.tolist()[int(self._log_joint_of_row(x)[0].argmax())]

    def predict_proba_one(self, x: Mapping[Value, Value]) -> dict[Value, float]:
        """The probability of each class; empty before anything was learned."""
        if not self._knows_classes():
            return {}
        probabilities = np.exp(normalised(self._log_joint_of_row(x))[0])
        return dict(zip(self.classes_.tolist(), probabilities.tolist(), strict=True))

    @classmethod
    def from_counts(cls, counts: Counts, **parameters: Option) -> IncrementalNaiveBayes:
        """A fitted classifier from counts made before, for example of files larger than memory."""
        counts.class_names(least=1)  # reports what is wrong with the target, if anything is
        settings: Record = {"missing_values": counts.settings.missing_values, "discretize": counts.settings.discretize}
        model = cls(**settings | parameters)
        model._start(IncrementalCounts(counts))
        model._known.add(counts.classes)
        model._name_features()
        return model

    @property
    def counts_(self) -> Counts:
        """All that was learned; a copy."""
        check_is_fitted(self)
        return self._ledger.counts

    @property
    def support_(self) -> BooleanArray:
        """The features that are used now."""
        check_is_fitted(self)
        return self._scorer.support().copy()

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_ledger")

    # Learning and forgetting

    def _missing_in_y(self) -> MissingValues:
        return self._ledger.missing

    def _settings(self) -> ReadingOptions:
        return ReadingOptions.of(self.missing_values, self.discretize)

    def _start(self, ledger: IncrementalCounts) -> None:
        self._check()
        self._ledger, self._known = ledger, Classes()
        self._past: deque[tuple[Features, Values, FloatArray | None]] = deque()
        self._remembered = 0  # rows in `_past`
        self._scorer = Scorer(
            ledger,
            float(self.prior),
            self.selector,
            unlabeled=self.learn_unlabeled,
            missing_as_value=self.missing_as == "category",
        )

    def _check(self) -> None:
        prior: Option = self.prior
        window: Option = self.window
        if not isinstance(prior, int | float | np.number) or not 0.0 <= prior < math.inf:
            raise CredimiError(f"prior is {prior!r}: it must be a finite pseudo-count from 0 up, such as 1")
        if self.decay is not None and not 0.0 < self.decay <= 1.0:
            raise CredimiError(f"decay is {self.decay!r}: it must lie between 0 and 1, such as 0.999")
        if window is not None and (not isinstance(window, int | np.integer) or window < 1):
            raise CredimiError(f"window is {window!r}: it must be a whole number of rows from 1 up")
        if self.window is not None and self.decay is not None:
            raise CredimiError("window and decay both forget old rows: choose one of them")
        if self.selector is not None:
            check_selector(self.selector)
        if self.missing_as not in MISSING_AS:
            raise CredimiError(f"missing_as is {self.missing_as!r}: choose one of {', '.join(MISSING_AS)}")

    def _learn(self, X: Data, y: Values, classes: Values, sample_weight: Values, *, reset: bool) -> None:
        features = checked_features(self, X, reset=reset)
        target = checked_target(y, features.rows, type(self).__name__)
        weights = checked_weights(sample_weight, features.rows)
        if reset:
            settings, name = self._settings(), target_name(y, features)
            check_named(settings, features.names, name)
            self._start(IncrementalCounts.empty(name, features.names, settings))
        if classes is not None:
            self._known.declare(classes)
        self._take(features, target, weights)
        self._forget(features, target, weights)

    def _take(self, features: Features, target: Values, weights: FloatArray | None, *, sign: float = 1.0) -> None:
        """Learn rows, or with a negative sign unlearn them."""
        self._known.observe(target)
        if features.rows <= _FEW_ROWS:
            labels = cells_of(target)
            for row, cells in enumerate(zip(*map(cells_of, features.columns), strict=True)):
                self._take_row(cells, labels[row], sign * (1.0 if weights is None else float(weights[row])))
            return
        ledger = self._ledger
        if self.decay is not None:
            weights = self._faded(target, features.rows, weights)
        sample = Sample(features, target, ledger.settings, ledger.target, weights, threads_of(self.n_jobs))
        counts = counted(sample, self.unlabeled)
        counts = counts if self.learn_unlabeled else counts.labelled()
        (ledger.add if sign > 0.0 else ledger.subtract)(counts)
        self._known.add(ledger.classes)

    def _take_row(self, cells: Sequence[Value], label: Value, weight: float) -> None:
        ledger, classes = self._ledger, self._ledger.classes
        if self.unlabeled is not None and label == self.unlabeled:
            label = None
        if ledger.missing.means(label) and not self.learn_unlabeled:
            return
        if self.decay is not None:
            ledger.fade(self.decay)
        ledger.enter(cells, label, weight)
        if ledger.classes is not classes:
            self._known.add(ledger.classes)

    def _faded(self, target: Values, rows: int, weights: FloatArray | None) -> FloatArray:
        """The weights of the rows of a batch: the last row is the newest. What was learned before fades as well."""
        decay: Option = self.decay
        counted_rows = np.ones(rows) if self.learn_unlabeled else labelled(target, self._ledger.missing, self.unlabeled)
        later_rows = counted_rows.sum() - np.cumsum(counted_rows)
        self._ledger.fade(decay ** counted_rows.sum())
        return np.asarray(decay**later_rows * (1.0 if weights is None else weights))

    def _forget(self, features: Features, target: Values, weights: FloatArray | None) -> None:
        """Remember the latest rows, and unlearn those that are too old."""
        if self.window is None:
            return
        self._past.append((features, target, weights))
        self._remembered += features.rows
        surplus = self._remembered - self.window
        while surplus > 0:
            oldest, old_target, old_weights = self._past.popleft()
            oldest = oldest.widened(tuple(self._ledger.features))
            removed = min(surplus, oldest.rows)
            first, rest = slice(0, removed), slice(removed, oldest.rows)
            self._take(
                oldest.part(first), old_target[first], None if old_weights is None else old_weights[first], sign=-1.0
            )
            if removed < oldest.rows:
                self._past.appendleft(
                    (oldest.part(rest), old_target[rest], None if old_weights is None else old_weights[rest])
                )
            self._remembered -= removed
            surplus -= removed

    def _name_features(self) -> None:
        names = list(self._ledger.features)
        self.n_features_in_, self.feature_names_in_ = len(names), np.array(names, dtype=object)

    # Prediction

    def _knows_classes(self) -> bool:
        return hasattr(self, "_ledger") and self._ledger.height > 1

    def _cells(self, x: Mapping[Value, Value]) -> list[Value]:
        """The values of a row in the order of the known features."""
        given = by_text(x)
        return [given.get(name) for name in self._ledger.features]

    def _log_joint_of_row(self, x: Mapping[Value, Value]) -> FloatArray:
        cells = self._cells(x)
        log_joint = self._scorer.log_joint_of_row(cells)
        if log_joint is None:
            columns = {name: object_array([cell]) for name, cell in zip(self._ledger.features, cells, strict=True)}
            log_joint = self._scorer.log_joint(columns, 1)
        return self._of_all_classes(np.atleast_2d(log_joint))

    def _figures(self, X: Data) -> FloatArray:
        check_is_fitted(self)
        features = checked_features(self, X, reset=False)
        if not self._knows_classes():
            raise CredimiError("no row with a class was learned yet: pass some to fit or partial_fit")
        log_joint = None
        if features.rows == 1:
            log_joint = self._scorer.log_joint_of_row([cells_of(column)[0] for column in features.columns])
        if log_joint is None:
            columns = dict(zip(self._ledger.features, features.columns, strict=True))
            log_joint = self._scorer.log_joint(columns, features.rows)
        return self._of_all_classes(np.atleast_2d(log_joint))

    def _of_all_classes(self, log_joint: FloatArray) -> FloatArray:
        """(rows, classes) from the counted classes; classes that were named but did not occur have probability 0."""
        of_all_classes = np.full((len(log_joint), len(self._known.labels)), -np.inf)
        of_all_classes[:, self._known.positions(self._ledger.classes)] = log_joint
        return of_all_classes
