"""`CredibleSelector`: selection for scikit-learn, with missing values anywhere and a probability for each feature."""

from __future__ import annotations

import warnings
from dataclasses import KW_ONLY, dataclass, fields, replace
from typing import TYPE_CHECKING

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_array, check_is_fitted

from credimi.columns.numbers.target_ranges import checked_cuts
from credimi.columns.reading_options import ReadingOptions
from credimi.core.arguments import require_whole
from credimi.core.defaults import EPSILON, LEVEL, MISSING_VALUES
from credimi.core.errors import CredimiError
from credimi.core.keywords import suggesting_keywords
from credimi.core.public import public
from credimi.core.threads import threads_of
from credimi.counts.codes import Codebook
from credimi.counts.local_counter import LocalCounter
from credimi.counts.reading import Reading
from credimi.counts.request import check_named
from credimi.counts.weights import effective, weighing_one
from credimi.estimators.class_labels import warn_if_measured
from credimi.estimators.counted_xy import Sample, coded, counted, target_name, with_target_cells
from credimi.estimators.validation import checked_features, checked_target, checked_weights, with_weights
from credimi.inference.belief import ADAPTIVE, USUAL_APPROXIMATION, USUAL_EPSILON, USUAL_PRIOR, Belief
from credimi.inference.bounds import information_bounds
from credimi.inference.rules import NEEDS_INDEPENDENCE, best, check_k, checked_rule, decide, filled
from credimi.inference.tables.many_tables import Beliefs, beliefs
from credimi.questions.rank.answer import beliefs_of, ranked, standing
from credimi.questions.select.answer import GOALS, Asked, check_min_features, selected
from credimi.questions.select.result import Selection
from credimi.results.sentences import first_few

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from types import EllipsisType

    from credimi.columns.interpret import InterpretedClasses
    from credimi.core.tables import Tables
    from credimi.core.types import AnyArray, BooleanArray, Data, FloatArray, Foreign, Option, Record, Value, Values
    from credimi.counts.counts import Counts
    from credimi.questions.rank.result import Ranking


_USUAL = {"prior": USUAL_PRIOR, "approximation": USUAL_APPROXIMATION, "epsilon": USUAL_EPSILON}
_OF_SINGLE_COLUMNS = {"prior", "approximation", "method", "missing_as", "unlabeled", "robust_factor"}


class _Learned:
    """What a fitted selector has besides its keywords."""

    counts_: Counts
    selection_: Selection
    _only_class: str | None = None  # of the target, if it has no other
    _ranking: Ranking | None = None
    _believed: tuple[Beliefs, Belief, BooleanArray | None] | None = None  # the last: which features stand at the factor


@public
@suggesting_keywords
@dataclass(eq=False, repr=False)  # a keyword is a field
class CredibleSelector(_Learned, SelectorMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn carries no types
    """Keep the features that credibly inform about the target.

    Numbers are cut into ranges for scoring, as in `credimi.rank`; `transform` returns the columns unchanged.
    X may be a sparse matrix, in which 0 is a value; it is not made dense. The rules "distinct" and "relevant"
    refuse sparse matrices.

    Parameters
    ----------
    rule : "informative", "forward", "backward", "plugin" or "fdr"; "distinct" or "relevant"
        "informative", for prediction: keep what is not more probably independent of the target than not; how many
        features are independent is learned from all. For claims: keep what is surely informative, P(I > epsilon) >=
        level; all but what is surely not; what exceeds epsilon by the estimate alone; or as many as possible while at
        most a share `fdr` of them is expected not to exceed epsilon. The last two look at columns together, as in
        `credimi.select`: they need all rows at once, so there is no `partial_fit`, and the prior is adaptive. A
        `method` of the paper has the paper's rule, "forward", in place of "informative".
    k : int, optional
        Keep exactly k features instead, the best by P(I > epsilon), then by E[I]. With the rules "distinct" and
        "relevant" k is the maximum: the first k features that they take are kept.
    min_features : int
        The minimum number of features to keep. If fewer are credible, the best others are kept too: by P(I > epsilon),
        then by E[I]; with "distinct" and "relevant" by the probability that they add something or matter.
        `fit` warns of it: this is for pipelines, which fail if no feature is kept in a small fold; it is not a claim.
        Features that cannot tell anything come last.
    epsilon, fdr, prior, approximation, method, missing_as
        As in `credimi.rank`. "informative" asks for P(I > 0), and has no epsilon.
    level : float, optional
        As in `credimi.rank`, 0.95 by default; with "distinct", how sure it has to be that a feature adds nothing.
        "informative" has none.
    robust_factor : float, optional
        Keep only what stands at this factor, P(I > epsilon) >= level whatever is missing, within the factor (see
        `credimi.information_bounds`), of what the rule or `k` keeps.
    missing_values, discretize, target_cuts, target_as
        As in `credimi.count`: a y of more than 20 different numbers is a number, and is not cut, so that the selector
        works before a regressor. `partial_fit` does not take quantiles of the target, which all rows would be needed
        for, and for the same reason no y that is a number.
    unlabeled : optional
        One more value of y that means that the class is unknown, such as -1. None, NaN and NA always do.
    weights_are : "rows" or "survey", optional
        What `sample_weight` says. "rows": how often each row occurs; weights that are not whole are refused. "survey":
        what each row stands for; the weights are scaled, each table to what it is worth. Default: a row
        counts as often as its weight says, whole or not, as elsewhere in scikit-learn.
    n_jobs : int, optional
        Threads. None and -1 mean all cores, or those that joblib leaves to its workers.

    Attributes
    ----------
    ranking_ : credimi.Ranking
        One row per feature, best first; its `remarks` are the cautions.
    scores_ : array
        The posterior mean of the information of each feature, E[I] in nats; NaN if it is not ranked.
    feature_importances_ : array
        The same, with 0 for NaN, as `SelectFromModel` needs it.
    counts_ : credimi.Counts
        Everything that was learned: the counts of the target with each feature.
    selection_ : credimi.Selection
        With the rules "distinct" and "relevant": the steps, and why other columns were not taken.
    n_features_in_, feature_names_in_
        As usual in scikit-learn.

    Examples
    --------
    >>> table = {"tells": list("aabb") * 25, "noise": list("abab") * 25}
    >>> rows = [list(row) for row in zip(*table.values())]
    >>> credimi.CredibleSelector().fit(rows, list("ppqq") * 25).get_support()
    array([ True, False])
    """

    rule: str = "informative"
    _: KW_ONLY
    k: int | None = None
    min_features: int = 1
    epsilon: float | str = EPSILON
    level: float | None = None
    fdr: float = 0.05
    prior: str | float = "adaptive"
    approximation: str = "matched"
    method: str | None = None
    missing_as: str = "ignore"
    robust_factor: float | None = None
    missing_values: Iterable[str | float | EllipsisType] = MISSING_VALUES
    discretize: str | Mapping[str, Value] | None = "average"
    target_cuts: Value = None
    target_as: str | None = None
    unlabeled: Value = None
    weights_are: str | None = None
    n_jobs: int | None = None

    def fit(self, X: Data, y: Values, sample_weight: Values = None) -> CredibleSelector:
        """Count, and compute what the rules need. The ranking, with its intervals, is computed on first use."""
        self.check_rule()
        sample = with_target_cells(self._sample(X, y, sample_weight, reset=True), self.unlabeled)
        if self.rule in GOALS:
            self._select(sample)
        else:
            self._learn(sample, reset=True)
            self._believed = self._beliefs()
        warn_if_measured(self.counts_, "(target_cuts='quantile:4', say)")
        self._warn_if_filled()
        return self

    def partial_fit(self, X: Data, y: Values, sample_weight: Values = None) -> CredibleSelector:
        """Count more rows; the selection follows from all of them, however they are divided."""
        self._require_counts_to_do("partial_fit")
        if isinstance(checked_cuts(self.target_cuts), str):
            raise CredimiError(
                f"target_cuts is {self.target_cuts!r}, and quantiles need all rows: pass the cuts, such as [30, 50], "
                "or call fit"
            )
        self.check_rule()
        reset = not hasattr(self, "counts_")
        self._learn(self._sample(X, y, sample_weight, reset=reset), reset=reset)
        return self

    @classmethod
    def from_counts(cls, counts: Counts, **parameters: Option) -> CredibleSelector:
        """A fitted selector from counts made before, for example of files larger than memory."""
        selector = cls(**parameters)
        selector._require_counts_to_do("from_counts")
        selector._check_limits(len(counts))
        selector.counts_ = counts
        selector.n_features_in_ = len(counts)
        selector.feature_names_in_ = np.array(counts.features, dtype=object)
        selector._believed = selector._beliefs()
        return selector

    @property
    def ranking_(self) -> Ranking:
        """One row per feature, best first; computed on first use."""
        check_is_fitted(self)
        if self._ranking is None:
            self._ranking = self._ranked()
        return self._ranking

    @property
    def scores_(self) -> FloatArray:
        """E[I] of each feature, in nats, in the order of X; NaN if a feature is not ranked."""
        columns = self.ranking_.columns
        mean = dict(zip(columns["feature"], columns["mi"], strict=True))
        return np.array([mean[name] for name in self.counts_.features])

    @property
    def feature_importances_(self) -> FloatArray:
        """The scores, 0 if a feature is not ranked."""
        return np.nan_to_num(self.scores_, nan=0.0)

    def transform(self, X: Data) -> Foreign:
        """The kept columns, in the same kind of container as X."""
        check_is_fitted(self)
        features = checked_features(self, X, reset=False)
        kept = np.flatnonzero(self.get_support()).tolist()
        if not kept:
            message = f"No features were selected: none of {len(self.counts_)} informs credibly about the target."
            message += " min_features=1, the default, keeps the best one all the same."
            warnings.warn(message, stacklevel=3)  # scikit-learn wraps `transform`, and is one level
        return features.picked(kept)

    def inverse_transform(self, X: Data) -> AnyArray:
        """An array with all columns, in which those that were not kept are missing."""
        support = self.get_support()
        reduced = check_array(X, dtype=None, ensure_all_finite=False)
        if reduced.shape[1] != np.count_nonzero(support):
            raise CredimiError(
                f"X has {reduced.shape[1]} columns, but {np.count_nonzero(support)} were kept: pass those"
            )
        whole = np.full(
            (reduced.shape[0], support.size), np.nan, dtype=object if reduced.dtype.kind not in "biuf" else float
        )
        whole[:, support] = reduced
        return whole

    def __sklearn_tags__(self) -> Foreign:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = self.rule not in GOALS  # these rules need every cell of a row
        tags.input_tags.allow_nan = tags.input_tags.string = tags.input_tags.categorical = True
        return tags

    def _require_counts_to_do(self, method: str) -> None:
        if self.rule in GOALS:
            raise CredimiError(
                f"rule {self.rule!r} looks at columns together and needs all rows: use fit, not {method}"
            )

    def _check_limits(self, features: int) -> None:
        if self.k is not None:
            if self.rule in GOALS:
                require_whole("k", self.k, 1)
            else:
                check_k(self.k, features)
        check_min_features(self.min_features, features, self.k, "k")

    @property
    def _rule(self) -> str:
        """The rule by our name: the paper's, where its method is named (scikit-learn names defaults, too)."""
        rule = checked_rule(self.rule, GOALS)
        return "forward" if rule == "informative" and self.method is not None else rule

    def check_rule(self) -> None:
        """Refuse an unknown rule, and keywords that have no meaning for the rule."""
        if self._rule == "informative" and self.k is None:
            if self._belief(1).prior != ADAPTIVE:
                raise CredimiError(NEEDS_INDEPENDENCE)
            for name, usual in (("epsilon", EPSILON), ("level", None)):
                if getattr(self, name) != usual and self.robust_factor is None:
                    raise CredimiError(
                        f"{name} is for claims, and the rule informative makes none: name a rule, such as "
                        f"rule='forward', or leave out {name}"
                    )
        if self.rule not in GOALS:
            return
        for each in fields(self):
            if each.name in _OF_SINGLE_COLUMNS and getattr(self, each.name) != each.default:
                raise CredimiError(
                    f"rule {self.rule!r} works with {each.name}={each.default!r} only: leave out {each.name}"
                )

    def _sample(self, X: Data, y: Values, sample_weight: Values, *, reset: bool) -> Sample:
        """X and y, checked; unless `reset`, more rows of what was counted before."""
        features = checked_features(self, X, reset=reset)
        self._check_limits(len(features.names))
        target = checked_target(y, features.rows, type(self).__name__)
        Reading(target_as=self.target_as, target_cuts=self.target_cuts)  # refuses what does not fit
        settings = ReadingOptions.of(self.missing_values, self.discretize, self.target_cuts, target_as=self.target_as)
        name = target_name(y, features) if reset else self.counts_.target
        check_named(settings, features.names, name)
        weights = checked_weights(sample_weight, features.rows)
        if weights is None and not reset and self.counts_.settings.weights is not None:
            weights = np.ones(features.rows)
        settings = with_weights(settings, weights, self.weights_are)
        if not reset:
            kept = self.counts_.settings
            settings = replace(settings, target_cuts=kept.target_cuts, target_as=kept.target_as)
        return Sample(features, target, settings, name, weights, threads_of(self.n_jobs))

    def _select(self, sample: Sample) -> None:
        """Fit with a rule that looks at columns together."""
        table, threads = coded(sample), sample.threads
        self.counts_, self._ranking, self._believed = table.counts, None, None
        book = Codebook.of(table.counts, least_classes=1, threads=threads)
        if self._find_only_class(book.interpreted):
            self.selection_ = Selection((), (), book.target, table.counts.rows, book.classes, 0.0, {"goal": self.rule})
            return
        asked = Asked(rule=self.rule, level=self.level, max_features=self.k, min_features=self.min_features)
        counter = LocalCounter(table.codes(threads, book), threads)
        self.selection_ = selected(counter, asked, Belief(epsilon=self.epsilon, threads=threads))

    def _learn(self, sample: Sample, *, reset: bool) -> None:
        if hasattr(self, "selection_"):  # from a fit with another rule
            del self.selection_
        counts = counted(sample, self.unlabeled)
        self.counts_ = counts if reset else weighing_one(self.counts_, sample.settings) + counts
        self._ranking = self._believed = None

    def _ranked(self) -> Ranking:
        threads = threads_of(self.n_jobs)
        reading = Reading(missing_as=self.missing_as, threads=threads)
        return ranked(self.counts_, None, reading, self._belief(threads))

    def _belief(self, threads: int | None) -> Belief:
        given: Record = {name: getattr(self, name) for name in _USUAL}  # scikit-learn names defaults, too
        named = {name: value for name, value in given.items() if not isinstance(value, str) or value != _USUAL[name]}
        return Belief(
            **named,
            method=self.method,
            level=LEVEL if self.level is None else self.level,
            fdr=self.fdr,
            robust_factor=self.robust_factor,
            threads=threads,
        )

    def _find_only_class(self, classes: InterpretedClasses) -> bool:
        """Whether there is one class only, as in a fold of a rare class: then nothing can tell anything."""
        self._only_class = classes.labels.shown()[0] if len(classes.labels) == 1 else None
        return self._only_class is not None

    def _beliefs(self) -> tuple[Beliefs, Belief, BooleanArray | None]:
        counts, missing_as = self.counts_, self.missing_as
        Reading(missing_as=missing_as)  # refuses what is unknown
        classes = effective(counts).interpreted_classes(1)
        belief = self._belief(threads_of(self.n_jobs)).settled(classes.entropy)
        if self._find_only_class(classes):
            nothing = np.zeros(len(counts))
            return Beliefs(nothing, nothing, nothing, nothing + 1.0), belief, None
        factor = belief.robust_factor
        stands = None if factor is None else standing(counts, classes, belief, missing_as, factor)
        return beliefs_of(counts, classes, belief, missing_as), belief, stands

    def _get_support_mask(self) -> BooleanArray:
        check_is_fitted(self)
        return self._kept()[1]

    def _kept(self) -> tuple[BooleanArray, BooleanArray]:
        """Masks of the features that are credible, and of those that are kept: with the best others, if need be."""
        if self.rule in GOALS:
            check_is_fitted(self, "selection_")
            taken = {step.feature: step.forced for step in self.selection_.steps}
            kept, credible = (
                np.array([name in taken and not (taken[name] and only) for name in self.counts_.features], dtype=bool)
                for only in (False, True)
            )
            unknown = np.full(kept.size, np.nan)  # of the others it is known only that they cannot tell anything
            return credible, filled(kept, self.min_features, unknown, unknown)
        if self._believed is None:
            self._believed = self._beliefs()
        posteriors, belief, stands = self._believed
        kept = self._chosen(posteriors, belief)
        credible = kept if stands is None else kept & stands
        return credible, filled(credible, self.min_features, posteriors.mean, posteriors.p_above)

    def _warn_if_filled(self) -> None:
        """Name what is kept though it is not credible."""
        credible, kept = self._kept()
        if added := [self.counts_.features[index] for index in np.flatnonzero(kept & ~credible).tolist()]:
            amount = "no feature is", "only 1 feature is", f"only {credible.sum()} features are"
            one_class = "" if self._only_class is None else f"; all rows have one class, {self._only_class!r}"
            why = f"because min_features is {self.min_features}{one_class}"
            said = f"{amount[min(int(credible.sum()), 2)]} credible: kept {first_few(added)}, the best"
            warnings.warn(f"{said}, {why}", stacklevel=3)

    def _chosen(self, posteriors: Beliefs, belief: Belief) -> BooleanArray:
        if self.k is not None:
            return best(self.k, posteriors.mean, posteriors.p_above)
        return decide(self._rule, posteriors, belief)

    def decide(self, blocks: Tables, candidates: BooleanArray) -> BooleanArray:
        """Which tables are kept, without the cost of a ranking; those that are no candidates are not."""
        belief = self._belief(threads=1).settled(blocks.entropy_of_target)
        posteriors = beliefs(blocks, belief).of(candidates)
        kept = self._chosen(posteriors, belief) & candidates
        if belief.robust_factor is not None and kept.any():
            above = posteriors.p_above[kept]
            kept[kept] = information_bounds.standing(blocks.chosen(kept), above, belief.robust_factor, belief)
        return filled(kept, self.min_features, posteriors.mean, posteriors.p_above) & candidates
