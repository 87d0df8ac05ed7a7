"""`Ranking`: the result of `rank`: its columns, what its rules keep, and how it is shown and exported."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from credimi.core.errors import CredimiError
from credimi.core.public import public
from credimi.inference import rules
from credimi.inference.belief import ADAPTIVE
from credimi.questions.rank import view
from credimi.results import sentences
from credimi.results.remarks import worded
from credimi.results.result import FeatureResult
from credimi.results.section import NATS, in_units

if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType

    from matplotlib.axes import Axes

    from credimi.core.types import Record, Value
    from credimi.questions.rank.effects import Effects
    from credimi.questions.rank.page_data import Kept
    from credimi.results.remarks import Remark

COLUMNS = (
    "feature",
    "values",
    "complete",
    "missing",
    "mi",
    "std",
    "low",
    "high",
    "p_above",
    "p_independent",
    "keep_plugin",
    "keep_forward",
    "keep_backward",
    "keep_fdr",
    "rows_to_decide",
    "missing_mi",
    "missing_low",
    "missing_high",
    "missing_p_above",
    "verdict",
    "note",
    "mi_if_dependent",  # new columns come last: scripts count the fields of CSV files
    "low_if_dependent",
    "high_if_dependent",
    "at_epsilon",
    "entropy_share",
    "target_missing_mi",
    "target_missing_low",
    "target_missing_high",
    "target_missing_p_above",
    "keep_informative",
    "association",
    "association_low",
    "association_high",
    "rows_to_decide_low",
    "rows_to_decide_high",
)
NUMERIC_COLUMNS = ("r2_equivalent",)  # if the target is a number
ROBUST_COLUMNS = ("robust_low", "robust_high", "tipping_factor")  # with robust_factor

INFORMATION = (  # columns in nats
    "std",
    *(f"{start}{end}" for start in ("missing_", "target_missing_") for end in ("mi", "low", "high")),
    *(f"{end}{after}" for after in ("", "_if_dependent") for end in ("mi", "low", "high")),
    "robust_low",
    "robust_high",
)
_DIGITS_OF_P = 12  # what differs beyond is rounding
ORDERS = {"mean": "mi", "low": "low", "p": "p_above", "name": "feature"}


@public
@dataclass(frozen=True, eq=False, repr=False)
class Ranking(FeatureResult):
    """What `rank` returns: one row per feature, best first. It provides Arrow data, and prints as a table.

    Its columns:

    - feature: the name, as text
    - values: the number of values of the feature, after cutting
    - complete, missing: rows with both feature and target, rows without the feature
    - mi, std, low, high: posterior mean, standard deviation and interval of the mutual information, in nats
    - p_above: P(I > epsilon)
    - p_independent: P(I = 0), with the adaptive prior; 0 with others
    - keep_plugin, keep_forward, keep_backward, keep_fdr, keep_informative: what the rules keep
    - rows_to_decide: for an unsure feature, the number of rows at which about half of all samples would decide, as far
      as is known now; two digits, rounded up; None if even its order of magnitude is not known
    - missing_mi, missing_low, missing_high, missing_p_above: what the missing values of the feature tell about the
      target; 0 if it is never or always missing
    - verdict: keep, unsure, drop or not ranked
    - note: where numbers were cut, or what is wrong with a column
    - mi_if_dependent, low_if_dependent, high_if_dependent: mean and interval if the feature tells anything, that is,
      without P(I = 0); the same as mi, low and high if the prior has no such probability
    - at_epsilon: for an unsure feature, whether I lies at epsilon, so that more rows would hardly decide;
      rows_to_decide is then None
    - entropy_share: mi as a share of the target's entropy, from 0 to 1; NaN if the target is a number
    - r2_equivalent: if the target is a number, 1 - exp(-2 mi): the R2 of two normal numbers with this mi
    - target_missing_mi, target_missing_low, target_missing_high, target_missing_p_above: what the feature tells of
      where the target is missing; 0 where it never is
    - association, association_low, association_high: mi, low and high on a scale from 0 (independent) to 1 (the feature
      determines the target); for two normal variables it is the absolute correlation (`inference.tables.association`)
    - rows_to_decide_low, rows_to_decide_high: the same for a quarter and for three quarters of all samples
    - robust_low, robust_high: with robust_factor, the lower end of the least I and the upper end of the largest I, if
      the odds of being missing differ by that factor at most; see `information_bounds`
    - tipping_factor: with robust_factor, the largest factor at which the verdict keep or drop stands; 1 if it is unsure
      already, infinity if nothing can change it. In JSON, infinity is the text "inf"

    Identifiers are not ranked, nor are values that cannot be counted, such as lists, nor columns that are missing in
    all rows: they have NaN for mi. Columns with one value have 0, and the verdict drop: in these rows they contain
    nothing that the target could depend on.

    Attributes
    ----------
    columns : dict of lists
        The columns above.
    target, rows, classes
        The target's name, the rows that were counted, the target's classes.
    rows_with_target : int or float
        The rows that have the target; None if there is no feature to count them with.
    entropy : float
        The entropy of the target's classes in these rows, in nats: no feature can tell more.
    settings : dict
        The options of the ranking: epsilon, level, prior, approximation and so on.
    remarks : tuple of Remark
        Other observations, most important first: records with `kind`, `caution`, `feature` (or None) and fields.
    doubts : tuple of str
        What may be wrong with the target, in words: many numbers as classes, or classes that may mean missing.
    features : tuple of str
        The names of the features with the verdict keep, best first.
    facts : dict
        For each feature, the facts that its note states in words.

    Examples
    --------
    >>> ranking = credimi.rank({"x": list("aabb") * 25, "y": list("ppqq") * 25}, "y")
    >>> ranking["x"]["verdict"]
    'keep'
    >>> ranking[0]["feature"], [row["feature"] for row in ranking[:3]]
    ('x', ['x'])
    >>> ranking.selected("forward")
    ['x']
    >>> len(ranking), ranking.rows, ranking.classes
    (1, 100, ('p', 'q'))
    """

    _view: ClassVar[ModuleType] = view
    _called: ClassVar[str] = "ranking"
    _columns: ClassVar[tuple[str, ...]] = (*COLUMNS, *NUMERIC_COLUMNS, *ROBUST_COLUMNS)
    _whole_numbers: ClassVar[tuple[str, ...]] = ("rows_to_decide", "rows_to_decide_low", "rows_to_decide_high")
    _information: ClassVar[tuple[str, ...]] = INFORMATION
    figures: dict[str, list[Value]]
    target: str
    rows: int | float
    classes: tuple[str, ...]
    settings: Record = field(default_factory=dict)
    entropy: float = math.nan
    remarks: tuple[Remark, ...] = ()
    facts: dict[str, Record] = field(default_factory=dict)
    rows_with_target: int | float | None = None
    _names: Record = field(default_factory=dict)  # the names in the data, if they are not text
    _kept: Kept | None = None  # what the page needs besides the columns

    @property
    def features(self) -> tuple[str, ...]:
        """The names of the features with the verdict keep, best first."""
        named = zip(self.figures["feature"], self.figures["verdict"], strict=True)
        return tuple(name for name, verdict in named if verdict == "keep")

    @property
    def doubts(self) -> tuple[str, ...]:
        """What may be wrong with the target, in words."""
        return self._doubts(sentences.PYTHON)

    def _doubts(self, reader: str) -> tuple[str, ...]:
        target = [remark for remark in self.remarks if remark.target is not None]
        return tuple(record["text"] for record in worded(target, reader))

    def sorted_by(self, order: str) -> Ranking:
        """The same features in another order; ties are in the order of the mean, and features without ranks come last.

        Probabilities that differ by rounding alone are ties.

        Parameters
        ----------
        order : "mean", "low", "p" or "name"
            The mean of I, the lower end of its interval or P(I > epsilon), largest first; or the name, A first.
        """
        if order not in ORDERS:
            raise CredimiError(f"the order is {order!r}: choose one of {', '.join(ORDERS)}")
        unranked, values = map(math.isnan, self.figures["mi"]), self.figures[ORDERS[order]]
        if order == "p":
            values = [round(value, _DIGITS_OF_P) for value in values]
        keys = [
            (last, value if order == "name" else -value, 0.0 if last else -mean)
            for last, value, mean in zip(unranked, values, self.figures["mi"], strict=True)
        ]
        order_of_rows = sorted(range(len(self)), key=keys.__getitem__)
        return replace(
            self,
            figures={name: [column[row] for row in order_of_rows] for name, column in self.figures.items()},
            _kept=None if self._kept is None else self._kept.chosen(order_of_rows),
        )

    def _page(self, source: str | None, reader: str) -> str:
        from credimi.questions.rank.page_data import collect  # noqa: PLC0415  (loads the mathematics)
        from credimi.results.page import ranking_page  # noqa: PLC0415  (loaded only to write a page)

        if self._kept is None:
            raise CredimiError("this ranking has no counts: make the page from the result of `rank`")
        return ranking_page(collect(self, self._kept, source, reader))

    def plot(self, path: str | Path | None = None, *, top: int = 30, ax: Axes | None = None) -> Axes:
        """Draw a forest plot with matplotlib: means and intervals of the best features.

        Parameters
        ----------
        path : path, optional
            A .png, .svg or .pdf file to write.
        top : int
            How many features.
        ax : matplotlib axes, optional
            Where to draw. Default: a new figure.

        Returns
        -------
        matplotlib axes
            You can change them.
        """
        return self._plotted(path, ax, top=top)

    def selected(self, rule: str = "forward") -> list[Value]:
        """The names of the features that a rule keeps, best first.

        The names are those of the data, so that `frame[ranking.selected()]` has these columns, even if pandas has
        numbers or tuples as names. The column `feature` has them as text, and so do rankings of counts.

        Parameters
        ----------
        rule : "forward", "backward", "plugin", "fdr" or "informative"
            P(I > epsilon) >= level; all but P(I <= epsilon) >= level; the estimate exceeds epsilon; as many as possible
            while at most a share `fdr` of them is expected not to exceed epsilon; all but those that are more probably
            independent of the target than not, with the share of independent ones learned from all.
        """
        rule = rules.checked_rule(rule)
        if rule == "informative" and self.settings["prior"] != ADAPTIVE:
            raise CredimiError(rules.NEEDS_INDEPENDENCE)
        keep = self.columns.get(f"keep_{rule}")
        if keep is None:  # it was saved before there was the rule informative
            keep = rules.informative(np.array(self.columns["p_independent"], dtype=np.float64)).tolist()
        names = self.columns["feature"]
        return [self._names.get(name, name) for name, is_kept in zip(names, keep, strict=True) if is_kept]

    def remark_lines_of(self, feature: str) -> list[str]:
        """The cautions about one feature, in words."""
        about = [remark for remark in self.remarks if remark.caution and remark.feature == feature]
        return [record["text"] for record in worded(about, sentences.PYTHON)]

    @property
    def has_counts(self) -> bool:
        """Whether it has the counts of its columns, for its page and for effects."""
        return self._kept is not None

    def effects(self, feature: Value) -> Effects:
        """What each value of a feature means for the classes: their shares with intervals, and the direction.

        Parameters
        ----------
        feature : str
            The name of the feature, or its place in the ranking.

        Examples
        --------
        >>> table = {"dose": [1, 2, 3, 4] * 50, "cured": [*"nnny", *"nnyy", *"nyyy", *"nyyy"] * 12 + [*"nnyyn", *"yyy"]}
        >>> ranking = credimi.rank(table, "cured", discretize="categories")
        >>> ranking.effects("dose").direction
        'rises'
        """
        from credimi.questions.rank.effects import effects_of  # noqa: PLC0415  (loads the mathematics)

        names = self.figures["feature"]
        place = names.index(self[feature]["feature"])  # type: ignore[call-overload]  # one row
        name = names[place]
        found = effects_of(self, [place])
        if not found:
            raise CredimiError(f"column {name!r} is not ranked, so its values have no effects")
        return found[0]

    def all_effects(self, top: int | None = None) -> list[Effects]:
        """The effects of all ranked columns; or those of the first ones that are not dropped."""
        from credimi.questions.rank.effects import effects_of  # noqa: PLC0415  (loads the mathematics)

        verdicts = self.figures["verdict"][:top]
        places = range(len(self)) if top is None else [place for place, each in enumerate(verdicts) if each != "drop"]
        return effects_of(self, places)

    def to_dict(self, *, reader: str = sentences.PYTHON, units: str = NATS, effects: bool = False) -> Record:
        """The content of `credimi rank --format json`: settings, classes, remarks, features and so on; NaN as None.

        Notes and remarks are worded for this reader, "python" (arguments) or "command line" (options). With `effects`,
        there are the shares of the classes by value, as `Ranking.effects` has them.
        """
        found = {"effects": [each.to_dict() for each in self.all_effects()]} if effects else {}
        return found | {
            "settings": self._settings(units),
            "rows": self.rows,
            "rows_with_target": self.rows_with_target,
            "classes": list(self.classes),
            "entropy": None if math.isnan(self.entropy) else in_units(self.entropy, units),
            "doubts": list(self._doubts(reader)),
            "remarks": worded(self.remarks, reader, units),
            "features": self._worded_rows(units, reader),
            "cuts": {name: facts["cuts"] for name, facts in self.facts.items() if facts["cuts"]},
            "p_cuts": {name: facts["p_cuts"] for name, facts in self.facts.items() if facts.get("p_cuts")},
        }
