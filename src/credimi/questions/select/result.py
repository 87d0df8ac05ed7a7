"""What `select` returns: the columns taken, step by step, and why the others were not."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, ClassVar

from credimi.core.public import public, stored
from credimi.questions.select import view
from credimi.results.remark_sentences import SELECTION
from credimi.results.remarks import worded
from credimi.results.result import RecordResult, names_of, records_of
from credimi.results.section import NATS, in_units
from credimi.results.sentences import PYTHON

if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType

    from matplotlib.axes import Axes

    from credimi.core.types import Record
    from credimi.results.remarks import Remark


@stored
@dataclass(frozen=True, slots=True)
class Step:
    """A column that was taken.

    `mi`, with the interval `low` to `high`, is what the column tells alone, in nats. `p_adds` is the
    probability by which the rule takes it: that it adds more than epsilon to each column taken before, the smallest of
    these ("distinct"); that it matters, alone or with a partner ("relevant"); or, with the rules of rankings, that what
    it tells exceeds epsilon. `p_redundant` has, for each column taken before, the probability that this one adds no
    more than epsilon to it. `partner` is the column with which it matters most, unless it matters alone ("relevant").
    `forced` means that the column is not credible, and was taken because of `min_features`.
    """

    feature: str
    mi: float
    low: float
    high: float
    p_adds: float
    partner: str | None = None
    p_redundant: tuple[float | None, ...] = ()
    forced: bool = False


@stored
@dataclass(frozen=True, slots=True)
class Rejection:
    """A column that was not taken.

    `reason` is "tells nothing" (alone, P(I > epsilon) <= 0.05 as `rank` has it), "redundant" (`like` is the taken
    column that says the same), "unsure", or "not reached" where the search was ended, or `max_features` was reached,
    before. A rule of rankings with a `robust_factor` adds "not robust": it would be taken, but that does not stand at
    the factor. With the rule "relevant" it may be "tells nothing alone": that is sure, but some partner cannot be ruled
    out. The figures are as in `Step`; `p_redundant` has all taken columns, with None where it was not computed, and is
    empty if the column was not compared.
    """

    feature: str
    reason: str
    mi: float
    low: float
    high: float
    p_adds: float
    like: str | None = None
    p_redundant: tuple[float | None, ...] = ()


@public
@dataclass(frozen=True, eq=False, repr=False)
class Selection(RecordResult):
    """What `select` returns: a row for each column, those taken first. Prints as a table.

    Its columns are `feature`, `taken`, `step` (1 for the first), and the fields of `steps` and `rejected`.

    Attributes
    ----------
    steps : tuple of Step
        The columns taken, in order: feature, mi, low, high, p_adds, partner, p_redundant, forced.
    rejected : tuple of Rejection
        The other columns, those that tell most alone first: feature, reason, mi, low, high, p_adds, like, p_redundant.
    target, rows, classes, entropy
        Of the target: its name, the rows, its classes, its entropy in nats.
    settings : dict
        goal, epsilon, level and prior.
    left_out : tuple of dict
        Columns that cannot tell anything, such as identifiers and those of one value: `feature`, `kind`, more facts.
    remarks : tuple of Remark
        What may mislead, most important first, as `Ranking.remarks` has it: where missing values tell about the target,
        columns as good as the target, identifiers, codes that may mean missing and so on.
    complete : bool
        False if the search was interrupted: the steps are those so far.

    Examples
    --------
    >>> table = {"x": list("aabb") * 25, "z": list("abab") * 25, "y": list("ppqq") * 25}
    >>> chosen = credimi.select(table, "y")
    >>> chosen.features, chosen["z"]["reason"], len(chosen)
    (('x',), 'tells nothing', 2)
    """

    _view: ClassVar[ModuleType] = view
    _called: ClassVar[str] = "selection"
    _information: ClassVar[tuple[str, ...]] = ("mi", "low", "high")
    _remarked: ClassVar[str] = SELECTION
    _styles: ClassVar[tuple[str, ...]] = ("tables.css", "selection.css")
    steps: tuple[Step, ...]
    rejected: tuple[Rejection, ...]
    target: str
    rows: float
    classes: tuple[str, ...]
    entropy: float
    settings: Record = field(default_factory=dict)
    left_out: tuple[Record, ...] = ()
    complete: bool = True
    remarks: tuple[Remark, ...] = ()

    @property
    def features(self) -> tuple[str, ...]:
        """The names of the columns taken, in order."""
        return tuple(step.feature for step in self.steps)

    def column_names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return "feature", "taken", "step", *names_of(Step)[1:], "reason", "like"

    def rows_as_records(self) -> list[Record]:
        """All columns, those taken first."""
        taken: list[Record] = [
            {"taken": True, "step": place + 1} | asdict(each) for place, each in enumerate(self.steps)
        ]
        others = [{"taken": False, "step": None} | asdict(each) for each in self.rejected]
        rows: list[Record] = [dict.fromkeys(self.column_names()) | row for row in taken + others]
        for row in rows:  # as tables have it
            row["p_redundant"] = list(row["p_redundant"])
        return rows

    def plot(self, path: str | Path | None = None, *, what: str | None = None, ax: Axes | None = None) -> Axes:
        """Draw, with matplotlib, what each column tells alone, and a matrix of which columns say the same.

        Parameters
        ----------
        path : path, optional
            A .png, .svg or .pdf file to write.
        what : "steps" or "redundancy", optional
            One of the two. Default: both, or the steps if axes are given.
        ax : matplotlib axes, optional
            Where to draw. Default: a new figure.

        Returns
        -------
        matplotlib axes
            Those of the steps, if both were drawn.
        """
        return self._plotted(path, ax, what=what)

    def to_dict(self, *, reader: str = PYTHON, units: str = NATS) -> Record:
        """What `credimi select --format json` writes: settings, target, steps, rejected, remarks, as plain data.

        `reader` says for whom remarks are worded: "python" (arguments) or "command line" (options).
        """
        return {
            "settings": self._settings(units),
            "rows": self.rows,
            "classes": list(self.classes),
            "entropy": in_units(self.entropy, units),
            "complete": self.complete,
            "features": list(self.features),
            "steps": self._as_json(records_of(self.steps), units),
            "rejected": self._as_json(records_of(self.rejected), units),
            "left_out": [dict(facts) for facts in self.left_out],
            "remarks": worded(self.remarks, reader, units, of=SELECTION),
        }
