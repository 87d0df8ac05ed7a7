"""What a ranking is, once it has been made: its columns, what it selects, and how it is shown and passed on."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from importlib import import_module
from numbers import Integral
from typing import TYPE_CHECKING, overload

from credimi.core.errors import CredimiError
from credimi.core.public import public
from credimi.report import sentences
from credimi.selection import rules
from credimi.selection.remarks import worded

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pyarrow as pa
    from matplotlib.axes import Axes

    from credimi.core.types import Foreign, Record, Value
    from credimi.selection.page_data import Kept
    from credimi.selection.remarks import Remark

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
)


ORDERS = {"mean": "mi", "low": "low", "p": "p_above", "name": "feature"}


@public
@dataclass(frozen=True, eq=False, repr=False)
class Ranking:
    """What `rank` returns: one row a feature, best first. Speaks Arrow, and prints as a table.

    Its columns:

    - feature: the name, as text
    - values: of the feature, after cutting
    - complete, missing: rows with both feature and target, rows without the feature
    - mi, std, low, high: posterior mean, deviation and interval of the mutual information, in nats
    - p_above: P(I > epsilon)
    - p_independent: P(I = 0), which only the adaptive prior knows
    - keep_plugin, keep_forward, keep_backward, keep_fdr: what the rules keep
    - rows_to_decide: of those that are unsure, the rows at which about half of all samples would decide, if shares stay
      as they are; two digits, rounded up
    - missing_mi, missing_low, missing_high, missing_p_above: what it tells about the target that the feature is
      missing; 0 where it never or always is
    - verdict: keep, unsure, drop or not ranked
    - note: where numbers were cut, or what is wrong with a column
    - mi_if_dependent, low_if_dependent, high_if_dependent: mean and interval if the feature tells anything, that is
      without P(I = 0); the same as mi, low and high where the prior knows no independence
    - at_epsilon: of those that are unsure, whether I lies at epsilon, so that no sample would decide; rows_to_decide is
      then None
    - entropy_share: mi as a share of the target's entropy, from 0 to 1
    - target_missing_mi, target_missing_low, target_missing_high, target_missing_p_above: what the feature tells of
      where the target is missing; 0 where it never is

    Identifiers are not ranked, nor are values that cannot be counted, such as lists: they have NaN for mi. Columns of
    one value or none have 0, and the verdict drop: as they stand in these rows, there is nothing in them that the
    target could depend on.

    Attributes
    ----------
    columns : dict of lists
        The columns above.
    target, rows, classes
        The target's name, the rows that were counted, the target's classes.
    rows_with_target : int or float
        The rows that have the target; None where there is no feature to count them with.
    entropy : float
        Of the target, in nats, as its classes are shared out in these rows: no feature can tell more.
    settings : dict
        By what it was ranked: epsilon, level, prior, approximation and so on.
    remarks : tuple of Remark
        What else was seen, most important first: records with `kind`, `caution`, `feature` (or None) and fields.
    doubts : tuple of str
        What may be wrong with the target, in words: many numbers as classes, or classes that may mean missing.
    facts : tuple of dict
        Of each feature, what its note says in words.
    reader : str
        To whom words are said: "python", which has arguments, or "command line", which has options.

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

    columns: dict[str, list[Value]]
    target: str
    rows: int | float
    classes: tuple[str, ...]
    settings: Record = field(default_factory=dict)
    _kept: Kept | None = None  # what the page shows besides the columns
    _names: Record = field(default_factory=dict)  # of the data, where they are no text
    entropy: float = math.nan
    remarks: tuple[Remark, ...] = ()
    facts: tuple[Record, ...] = ()
    reader: str = sentences.PYTHON
    rows_with_target: int | float | None = None

    def __len__(self) -> int:
        return len(self.columns["feature"])

    def __iter__(self) -> Iterator[Record]:
        """The rows as dictionaries."""
        for row in zip(*self.columns.values(), strict=True):
            yield dict(zip(self.columns, row, strict=True))

    def __contains__(self, feature: object) -> bool:
        """Whether there is a feature of this name, as text or as the data have it; or such a row."""
        if isinstance(feature, dict):
            return any(row == feature for row in self)
        return feature in self.columns["feature"] or feature in self._names.values()

    @overload
    def __getitem__(self, feature: slice) -> list[Record]: ...

    @overload
    def __getitem__(self, feature: Value) -> Record: ...

    def __getitem__(self, feature: Value) -> Record | list[Record]:
        """The row of one feature: by its name in the data, or by this as text; else by its place, from 0, the best.

        Where columns are called by numbers, as those of arrays are, a number is a name. A slice gives a list of rows.
        """
        rows = list(self)
        if isinstance(feature, slice):
            return rows[feature]
        for row in rows:
            if row["feature"] == str(feature) or self._names.get(row["feature"], row["feature"]) == feature:
                return row
        whole = isinstance(feature, Integral) and not isinstance(feature, bool)
        if whole and -len(rows) <= feature < len(rows):
            return rows[int(feature)]
        if whole:
            raise CredimiError(f"the ranking has no feature {feature}, and has {len(rows):,} rows, counted from 0")
        raise CredimiError(f"the ranking has no feature {feature!r}")

    @property
    def doubts(self) -> tuple[str, ...]:
        """What may be wrong with the target, in words."""
        target = [remark for remark in self.remarks if remark.target is not None]
        return tuple(each["text"] for each in worded(target, self.reader))

    def remark_lines(self, *, cautions: bool = False, units: str = "nats") -> list[str]:
        """The remarks in words, a line for those of one kind; of all, or of the cautions."""
        shown = [remark.to_dict(units) for remark in self.remarks if remark.caution or not cautions]
        return sentences.lines(shown, self.reader)

    def sorted_by(self, order: str) -> Ranking:
        """The same features in another order; equals stay as they are, and what is not ranked comes last.

        Parameters
        ----------
        order : "mean", "low", "p" or "name"
            The mean of I, the lower end of its interval or P(I > epsilon), largest first; or the name, A first.
        """
        if order not in ORDERS:
            raise CredimiError(f"the order is {order!r}: choose one of {', '.join(ORDERS)}")
        unranked, values = map(math.isnan, self.columns["mi"]), self.columns[ORDERS[order]]
        keys = [(last, each if order == "name" else -each) for last, each in zip(unranked, values, strict=True)]
        places = sorted(range(len(self)), key=keys.__getitem__)
        return replace(
            self,
            columns={name: [column[place] for place in places] for name, column in self.columns.items()},
            facts=tuple(self.facts[place] for place in places) if self.facts else (),
            _kept=None if self._kept is None else self._kept.chosen(places),
        )

    def worded_for(self, reader: str) -> Ranking:
        """The same ranking, with notes and remarks that tell this reader what to do (see `reader`)."""
        notes = [sentences.note(facts, reader) for facts in self.facts] or self.columns["note"]
        return replace(self, columns=self.columns | {"note": notes}, reader=reader)

    def __repr__(self) -> str:
        from credimi.report.terminal import ranking_text  # noqa: PLC0415  (rich is loaded only to print)

        return ranking_text(self)

    def _repr_html_(self) -> str:
        from credimi.report.notebook import ranking_html  # noqa: PLC0415  (loaded only in notebooks)

        return ranking_html(self)

    def to_html(self, path: str | Path, *, source: str | None = None) -> None:
        """One HTML page to explore the ranking with, offline.

        Parameters
        ----------
        path : path
            The file to write, whole or not at all.
        source : str, optional
            The name of the data that the page shows.
        """
        from credimi.report.page import write_page  # noqa: PLC0415  (loaded only to write a page)
        from credimi.selection.page_data import collect  # noqa: PLC0415  (loads the mathematics)

        if self._kept is None:
            raise CredimiError("the ranking has no counts beside it: make the page of what `rank` returned")
        write_page(collect(self, self._kept, source), path)

    def plot(self, path: str | Path | None = None, *, top: int = 30, ax: Axes | None = None) -> Axes:
        """A forest plot with matplotlib: means and intervals of the best.

        Parameters
        ----------
        path : path, optional
            A .png, .svg or .pdf file to write.
        top : int
            How many features.
        ax : matplotlib axes, optional
            Where to draw. A figure of its own, unless said.

        Returns
        -------
        matplotlib axes
            To be changed at will.
        """
        from credimi.report.figures import forest_plot  # noqa: PLC0415  (loaded only to draw)

        return forest_plot(self, path, top, ax)

    def selected(self, rule: str = "forward") -> list[Value]:
        """The names of the features that a rule keeps, best first.

        They are those of the data, so that `frame[ranking.selected()]` has these columns, also where pandas has numbers
        or tuples for names. The column `feature` has them as text, and so have rankings of counts.

        Parameters
        ----------
        rule : "forward", "backward", "plugin" or "fdr"
            P(I > epsilon) >= level; all but P(I <= epsilon) >= level; the estimate exceeds epsilon; as many as possible
            while a share of at most `fdr` of them is expected not to exceed it.
        """
        keep = self.columns[f"keep_{rules.checked_rule(rule)}"]
        names = self.columns["feature"]
        return [self._names.get(name, name) for name, kept in zip(names, keep, strict=True) if kept]

    def to_arrow(self) -> pa.Table:
        """A pyarrow Table."""
        import pyarrow as pa  # noqa: PLC0415  (pyarrow takes a while to load)

        rows = pa.array(self.columns["rows_to_decide"], pa.int64())  # whose type nothing but None would not tell
        return pa.table(self.columns | {"rows_to_decide": rows})

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def to_pandas(self) -> Foreign:
        """A pandas DataFrame."""
        try:
            import_module("pandas")
        except ImportError:
            raise CredimiError("pandas is not installed: pip install pandas") from None
        return self.to_arrow().to_pandas()

    def to_polars(self) -> Foreign:
        """A polars DataFrame."""
        try:
            from polars import from_arrow  # noqa: PLC0415  (an extra: loaded only to convert)
        except ImportError:
            raise CredimiError("polars is not installed: pip install polars") from None
        return from_arrow(self.to_arrow())

    def to_dict(self) -> Record:
        """What `credimi rank --format json` writes: settings, classes, remarks, features and so on; NaN as None."""
        features = [
            {name: None if isinstance(value, float) and math.isnan(value) else value for name, value in row.items()}
            for row in self
        ]
        return {
            "settings": self.settings | {"target": self.target},
            "rows": self.rows,
            "rows_with_target": self.rows_with_target,
            "classes": list(self.classes),
            "entropy": None if math.isnan(self.entropy) else self.entropy,
            "doubts": list(self.doubts),
            "remarks": worded(self.remarks, self.reader),
            "features": features,
            "cuts": {facts["feature"]: facts["cuts"] for facts in self.facts if facts["cuts"]},
        }
