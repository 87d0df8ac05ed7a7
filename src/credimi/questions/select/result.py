"""What `select` returns: the columns taken, step by step, and why the others were not."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

from credimi.core.optional import frame_library
from credimi.core.public import public, stored
from credimi.results.remark_sentences import SELECTION
from credimi.results.remarks import worded
from credimi.results.sentences import PYTHON

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes

    from credimi.core.types import Foreign, Record
    from credimi.results.remarks import Remark


@stored
@dataclass(frozen=True, slots=True)
class Step:
    """A column that was taken.

    `adds`, with the interval `low` to `high`, is what the column adds to those taken before, in nats, and `p_adds` is
    the probability that this is more than epsilon. Given one column taken before, a column adds more or less than given
    another; `adds` is the smallest of these. If no column adds to each of them, it is what the column adds to all
    together. `p_redundant` has, for each column taken before, the probability that this one adds no more than epsilon
    to it. `forced` means that the column is not credible, and was taken because of `min_features`.

    With goal "relevant", `adds` is what the column tells alone, `p_adds` the probability that it matters, and `partner`
    the column with which it matters most, unless it matters alone.

    `tells` is what all columns up to this one tell, on average over all rows: in each row by those columns that are not
    missing there. That a value is missing counts as no information. It is an estimate from below, by a naive Bayes out
    of fold: too small if columns overlap or tell only in combination. It never falls; where it stays the same, the
    estimate does not see what the column adds. `share` is `tells` as a share of the target's entropy. `substitutes`
    are columns that could replace this one and add nothing to it, each with the probability that it would have added
    more.
    """

    feature: str
    adds: float
    low: float
    high: float
    p_adds: float
    tells: float | None = None
    share: float | None = None
    substitutes: tuple[tuple[str, float], ...] = ()
    partner: str | None = None
    p_redundant: tuple[float | None, ...] = ()
    forced: bool = False


@stored
@dataclass(frozen=True, slots=True)
class Rejection:
    """A column that was not taken.

    `reason` is "tells nothing" (alone, P(I > epsilon) <= 0.05 as `rank` has it), "redundant" (`like` is the taken
    column that says the same; None if only the taken columns together do), "adds nothing" (given the taken column
    `like`; alone it may tell something, but probably does not), "unsure", with the rows that might decide, or
    "not reached" where the search was ended before.
    With goal "relevant" it may be "tells nothing alone": that is sure, but some partner cannot be ruled out. `tells` is
    what the column tells alone; `adds`, `low`, `high` and `p_adds` are what it adds to the taken column to which it
    adds least. `p_redundant` is as in `Step`, for all taken columns; None where it was not computed. It is empty if the
    column tells nothing.
    """

    feature: str
    reason: str
    tells: float
    adds: float
    low: float
    high: float
    p_adds: float
    like: str | None = None
    rows_to_decide: int | None = None
    p_redundant: tuple[float | None, ...] = ()


@public
@dataclass(frozen=True, eq=False, repr=False)
class Selection:
    """What `select` returns. Prints as a table.

    Attributes
    ----------
    steps : tuple of Step
        The columns taken, in order: feature, adds, low, high, p_adds, tells, share, substitutes, partner,
        p_redundant, forced.
    rejected : tuple of Rejection
        The other columns, those that tell most alone first: feature, reason, tells, adds, low, high, p_adds, like,
        rows_to_decide, p_redundant.
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
    >>> len(chosen), chosen.features, round(chosen.steps[0].share, 2)
    (1, ('x',), 0.87)
    """

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

    def __len__(self) -> int:
        return len(self.steps)

    def __repr__(self) -> str:
        from credimi.questions.select.selection_view import selection_text  # noqa: PLC0415  (rich is loaded only to print)

        return selection_text(self.to_dict())

    def plot(self, path: str | Path | None = None, *, what: str | None = None, ax: Axes | None = None) -> Axes:
        """Draw, with matplotlib, what each column adds step by step, and a matrix of which columns say the same.

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
        from credimi.questions.select.selection_figure import selection_plot  # noqa: PLC0415  (loaded only to draw)

        return selection_plot(self.to_dict(), path, what, ax)

    def to_html(self, path: str | Path) -> None:
        """Write one HTML page with steps, reasons and a matrix of redundancy, offline; it is complete or absent."""
        from credimi.questions.select.selection_page import write_page  # noqa: PLC0415  (loaded only to write a page)

        write_page(self.to_dict(), path)

    def to_dict(self, *, reader: str = PYTHON) -> Record:
        """What `credimi select --format json` writes: settings, target, steps, rejected, remarks, as plain data.

        `reader` says for whom remarks are worded: "python" (arguments) or "command line" (options).
        """
        return {
            "settings": self.settings | {"target": self.target},
            "rows": self.rows,
            "classes": list(self.classes),
            "entropy": self.entropy,
            "complete": self.complete,
            "features": list(self.features),
            "steps": [asdict(step) for step in self.steps],
            "rejected": [asdict(rejection) for rejection in self.rejected],
            "left_out": [dict(facts) for facts in self.left_out],
            "remarks": worded(self.remarks, reader, of=SELECTION),
        }

    def to_pandas(self) -> Foreign:
        """A pandas DataFrame of all columns, those taken first: with `taken`, `step` and what a record has."""
        taken = [{"taken": True, "step": number} | asdict(step) for number, step in enumerate(self.steps, 1)]
        others = [{"taken": False, "step": None} | asdict(rejection) for rejection in self.rejected]
        fields = [name for name in Step.__dataclass_fields__ if name != "feature"]
        names = ["feature", "taken", "step", *fields, "reason", "like", "rows_to_decide"]
        return frame_library("pandas").DataFrame(taken + others, columns=names)
