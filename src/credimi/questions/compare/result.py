"""`Comparison`: the result of comparing two samples: its columns, how it is shown and exported."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from credimi.core.public import public
from credimi.questions.compare import view
from credimi.results import sentences
from credimi.results.remarks import worded
from credimi.results.result import FeatureResult
from credimi.results.section import NATS

if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType

    from matplotlib.axes import Axes

    from credimi.core.types import Record, Value
    from credimi.results.remarks import Remark

COLUMNS = (
    "feature",
    "mi_a",
    "low_a",
    "high_a",
    "mi_b",
    "low_b",
    "high_b",
    "change",
    "low",
    "high",
    "p_change",
    "p_more",
    "p_less",
    "p_same",
    "p_within",
    "claim",
    "p_claim",
    "verdict",
    "complete_a",
    "complete_b",
    "note",
    "growth_to_decide",
    "growth_to_decide_low",
    "growth_to_decide_high",
)


@public
@dataclass(frozen=True, eq=False, repr=False)
class Comparison(FeatureResult):
    """What `compare` returns: a row per feature of both samples: surely changed, surely the same, unsure.

    Its columns:

    - feature: the name, as text
    - mi_a, low_a, high_a, mi_b, low_b, high_b: posterior mean and interval of the mutual information I in each sample,
      in nats
    - change, low, high: mi_b - mi_a, and the interval of the difference of the two posteriors, each sample alone
    - p_change: the probability that I_a and I_b differ by more than epsilon, given that no change was likely beforehand
      (`settings["p_same"]`)
    - p_more, p_less: P(I_b - I_a > epsilon) and P(I_b - I_a < -epsilon); p_change is their sum
    - p_same: P(I_a = I_b), that is, of one common number
    - p_within: P(-epsilon <= I_b - I_a <= epsilon) of the two posteriors alone, without p_same
    - claim, p_claim: the most probable of "more" (p_more), "less" (p_less) and "same" (p_within), and its probability:
      the number that decides, by which the rows are sorted; the claim is "unsure" if it is below 0.5 (and the level)
    - verdict: the claim if p_claim reaches the level, and "unsure" otherwise; "not compared"
    - complete_a, complete_b: rows with both feature and target
    - note: where numbers were cut, or why a column is not compared
    - growth_to_decide: for an unsure feature, how many times as many rows in both samples would decide, roughly: in
      of all samples or more; NaN if even its order of magnitude is not known
    - growth_to_decide_low, growth_to_decide_high: the same for a quarter and for three quarters of all samples

    Attributes
    ----------
    columns : dict of lists
        The columns above.
    facts : dict
        For each feature, the facts that its note states in words.
    target, classes
        The target's name, and the classes of both samples together.
    names : tuple of str
        The names of the two samples.
    rows : tuple
        How many rows each has.
    only : tuple of tuples
        The columns that only the first has, and those that only the second has. They are not compared.
    settings : dict
        The options of the comparison: epsilon, level, p_same and so on.
    remarks : tuple of Remark
        What was done with the weights of the rows, of both samples together.

    Examples
    --------
    >>> before = {"x": list("aabb") * 100, "class": list("ppqq") * 100}
    >>> after = {"x": list("abab") * 100, "class": list("ppqq") * 100}
    >>> credimi.compare(before, after, "class")["x"]["verdict"]
    'less'
    """

    _view: ClassVar[ModuleType] = view
    _called: ClassVar[str] = "comparison"
    _columns: ClassVar[tuple[str, ...]] = COLUMNS
    _information: ClassVar[tuple[str, ...]] = (*COLUMNS[1:7], "change", "low", "high")
    figures: dict[str, list[Value]]
    target: str
    classes: tuple[str, ...]
    names: tuple[str, str]
    rows: tuple[int | float, int | float]
    only: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    settings: Record = field(default_factory=dict)
    facts: dict[str, Record] = field(default_factory=dict)
    remarks: tuple[Remark, ...] = ()

    def _title(self) -> str:
        return f"What informs about {self.target or sentences.NO_NAME}, compared"

    def plot(self, path: str | Path | None = None, *, top: int = 30, ax: Axes | None = None) -> Axes:
        """Draw the intervals of the first features in both samples, with matplotlib.

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

    def to_dict(self, *, reader: str = sentences.PYTHON, units: str = NATS) -> Record:
        """The content of `credimi compare --format json`: settings, samples, features and so on; NaN as None.

        Notes and remarks are worded for this reader, "python" (arguments) or "command line" (options).
        """
        return {
            "settings": self._settings(units),
            "classes": list(self.classes),
            "samples": [
                {"name": name, "rows": rows, "only": list(only)}
                for name, rows, only in zip(self.names, self.rows, self.only, strict=True)
            ],
            "remarks": worded(self.remarks, reader, units),
            "features": self._worded_rows(units, reader),
        }
