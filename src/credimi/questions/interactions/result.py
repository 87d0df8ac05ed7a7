"""What `interactions` returns: pairs of columns that tell more, or less, together than apart."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from credimi.core.public import public, stored
from credimi.questions.interactions import view
from credimi.results.remarks import worded
from credimi.results.result import RecordResult, records_of
from credimi.results.section import NATS
from credimi.results.sentences import NO_NAME, PYTHON

if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType

    from matplotlib.figure import Figure

    from credimi.core.types import Record, Value
    from credimi.results.remarks import Remark


@stored
@dataclass(frozen=True, slots=True)
class InteractingPair:
    """Two columns.

    `synergy`, with `low` and `high`, is I(a;target|b) - I(a;target), in nats: what the two tell together beyond what
    each tells alone, negative if they say the same. `p_above` is P(synergy > epsilon), `p_below` P(synergy < -epsilon).
    `verdict` is "synergy" or "redundancy" if the pair is among those of which at most a share 1 - level is expected to
    be wrong, else "unsure". `tells_a` and `tells_b` are what each tells alone, in the `rows` that have both columns and
    the target.
    """

    a: str
    b: str
    synergy: float
    low: float
    high: float
    p_above: float
    p_below: float
    verdict: str
    tells_a: float
    tells_b: float
    rows: float


@stored
@dataclass(frozen=True, slots=True)
class JointTable:
    """The rows of a pair: `counts[i][j][k]` have class i, value j of `a` and value k of `b`."""

    a: str
    b: str
    values_a: tuple[str, ...]
    values_b: tuple[str, ...]
    counts: tuple[tuple[tuple[float, ...], ...], ...]


@public
@dataclass(frozen=True, eq=False, repr=False)
class Interactions(RecordResult):
    """What `interactions` returns. Prints as a table.

    Attributes
    ----------
    pairs : tuple of InteractingPair
        a, b, synergy, low, high, p_above, p_below, verdict, tells_a, tells_b, rows; synergy first, the surest first.
    tables : tuple of JointTable
        The joint counts of the first pairs of each kind.
    target, rows, classes
        Of the target: its name, the rows that have it, its classes.
    columns_tried, pairs_tried
        How many columns, and how many pairs of them, were tested.
    all_pairs : int
        How many pairs there are: more than `pairs_tried` if the search was interrupted.
    share : float
        The share of pairs without synergy, as learned from all of them.
    settings : dict
        epsilon, level and prior.
    left_out : tuple of dict
        Columns that cannot tell anything, such as identifiers and those of one value: `feature`, `kind`, more facts.
    remarks : tuple of Remark
        What was done with the weights of the rows, as in `rank`.

    Examples
    --------
    >>> table = {"x": list("aabb") * 50, "z": list("abab") * 50, "y": list("pqqp") * 50}
    >>> interactions = credimi.interactions(table, "y")
    >>> [(pair.a, pair.b, round(pair.synergy, 2), pair.verdict) for pair in interactions.pairs]
    [('x', 'z', 0.6, 'synergy')]
    """

    _view: ClassVar[ModuleType] = view
    _key: ClassVar[tuple[str, ...]] = ("a", "b")
    _information: ClassVar[tuple[str, ...]] = ("synergy", "low", "high", "tells_a", "tells_b")
    rows_in_json: ClassVar[str] = "pairs"
    _row: ClassVar[type] = InteractingPair
    _styles: ClassVar[tuple[str, ...]] = ("tables.css", "heat.css")
    pairs: tuple[InteractingPair, ...]
    tables: tuple[JointTable, ...]
    target: str
    rows: float
    classes: tuple[str, ...]
    columns_tried: int
    pairs_tried: int
    all_pairs: int
    share: float
    settings: Record = field(default_factory=dict)
    left_out: tuple[Record, ...] = ()
    remarks: tuple[Remark, ...] = ()

    @property
    def synergies(self) -> tuple[InteractingPair, ...]:
        """The pairs that credibly tell more together."""
        return tuple(pair for pair in self.pairs if pair.verdict == "synergy")

    @property
    def redundancies(self) -> tuple[InteractingPair, ...]:
        """The pairs that credibly say the same, in part or in whole."""
        return tuple(pair for pair in self.pairs if pair.verdict == "redundancy")

    def _unknown(self, name: Value) -> str:
        if isinstance(name, tuple):
            return f"the pair {name!r} is not listed{self._hint(name) or ': pass top=N for more pairs'}"
        return f"there is no pair {name!r} among {len(self.pairs):,}, counted from 0"

    def _title(self) -> str:
        return f"What pairs of columns tell about {self.target or NO_NAME}"

    def plot(self, path: str | Path | None = None, *, top: int = 6) -> Figure:
        """The first pairs as heat maps, the share of a class in every cell of the joint table, by matplotlib.

        Parameters
        ----------
        path : str or path, optional
            A file to write: .png, .svg or .pdf.
        top : int
            How many pairs at most.
        """
        return self._plotted(path, top=top).get_figure(root=True)  # type: ignore[return-value]  # all are in one

    def to_dict(self, *, reader: str = PYTHON, units: str = NATS) -> Record:
        """What `credimi interactions --format json` writes, as plain data.

        `reader` says for whom remarks are worded: "python" (arguments) or "command line" (options).
        """
        return {
            "settings": self._settings(units),
            "rows": self.rows,
            "classes": list(self.classes),
            "columns_tried": self.columns_tried,
            "pairs_tried": self.pairs_tried,
            "all_pairs": self.all_pairs,
            "share_without_synergy": self.share,
            "pairs": self._plain_rows(units),
            "tables": records_of(self.tables),
            "left_out": [dict(facts) for facts in self.left_out],
            "remarks": worded(self.remarks, reader, units),
        }
