"""`Comparison`: the result of comparing two samples: its columns, how it is shown and exported."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar

from credimi.core.public import public
from credimi.results import remark_sentences, sentences
from credimi.results.feature_rows import FeatureRows
from credimi.results.remarks import worded

if TYPE_CHECKING:
    from pathlib import Path

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
)


@public
@dataclass(frozen=True, eq=False, repr=False)
class Comparison(FeatureRows):
    """What `compare` returns: one row per feature that both samples have, from surely changed to surely the same.

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

    Attributes
    ----------
    columns : dict of lists
        The columns above.
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

    _called: ClassVar[str] = "comparison"
    columns: dict[str, list[Value]]
    target: str
    classes: tuple[str, ...]
    names: tuple[str, str]
    rows: tuple[int | float, int | float]
    only: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    settings: Record = field(default_factory=dict)
    _facts: dict[str, Record] = field(default_factory=dict)  # for each feature, the facts that its note states in words
    remarks: tuple[Remark, ...] = ()
    reader: str = sentences.PYTHON

    def worded_for(self, reader: str) -> Comparison:
        """The same comparison, with notes and remarks for this reader: "python", or "command line"."""
        names_and_notes = zip(self.columns["feature"], self.columns["note"], strict=True)
        notes = [
            sentences.note(self._facts[name], reader) if name in self._facts else note for name, note in names_and_notes
        ]
        return replace(self, columns=self.columns | {"note": notes}, reader=reader)

    def remark_lines(self) -> list[str]:
        """The remarks in words."""
        return remark_sentences.lines([remark.to_dict() for remark in self.remarks], self.reader)

    def __repr__(self) -> str:
        from credimi.questions.compare.comparison_text import comparison_text  # noqa: PLC0415  (rich is loaded only to print)

        return comparison_text(self)

    def to_dict(self) -> Record:
        """The content of `credimi compare --format json`: settings, samples, features and so on; NaN as None."""
        return {
            "settings": self.settings | {"target": self.target},
            "classes": list(self.classes),
            "samples": [
                {"name": name, "rows": rows, "only": list(only)}
                for name, rows, only in zip(self.names, self.rows, self.only, strict=True)
            ],
            "remarks": worded(self.remarks, self.reader),
            "features": self._plain_rows(),
        }

    def to_json(self) -> str:
        """The same as text."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False)

    def to_html(self, path: str | Path) -> None:
        """Write one HTML page, which works offline: for each feature both intervals, the change and its probability."""
        from credimi.questions.compare.comparison_page import write_page  # noqa: PLC0415  (loaded only to write a page)

        write_page([self], path)
