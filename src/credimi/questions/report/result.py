"""`Report`: the result of `report`: the results of all parts, what was cut, and one row for each column."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from credimi.core.public import public, stored
from credimi.questions.rank import effects_view
from credimi.questions.report import view
from credimi.results.result import RecordResult
from credimi.results.section import NATS
from credimi.results.sentences import PYTHON

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

    from credimi.core.types import Foreign, Record
    from credimi.questions.rank.result import Ranking
    from credimi.results.remarks import Remark

COLUMNS = (
    "feature",
    "kind",
    "missing",
    "verdict",
    "mi",
    "association",
    "direction",
    "taken",
    "interacts_with",
    "linked_to",
    "splits",
)


@stored
@dataclass(frozen=True, slots=True)
class Cut:
    """What a part lacks: `part` is the question, `why` a sentence."""

    part: str
    why: str


@stored
@dataclass(frozen=True, slots=True)
class Together:
    """Two columns that lack values in the same `rows`: `share` of the rows that lack one of them."""

    a: str
    b: str
    rows: int
    share: float


@public
@dataclass(frozen=True, eq=False, repr=False)
class Report(RecordResult):
    """What `report` returns: the results of all questions about a table and its target.

    Its rows are the columns, most informative first:

    - feature, kind, missing: the name, what it is (categories, ranges, constant, identifier, ...), rows without it
    - verdict, mi, association: as in the ranking
    - direction: how the share of a class changes along the numbers (see `Ranking.effects`), or None
    - taken: its place in the selection, or None
    - interacts_with: the columns with which it tells more together than apart
    - linked_to: the columns to which it has an edge in the network, or, if there is no network, with which it is linked
    - splits: how many nodes of the tree it splits

    Attributes
    ----------
    ranking, selection, tree, interactions, pairs, network
        The results of the parts; None if a part was left out. `cuts` says why.
    cuts : tuple
        What was cut or left out: records with `part` and `why`.
    together : tuple
        Pairs of columns that lack values in the same rows: a, b, rows, share.
    target, rows, settings, source
        The target's name, the rows, the options of the ranking, where the data came from.
    """

    _view: ClassVar[ModuleType] = view
    _called: ClassVar[str] = "report"
    _information: ClassVar[tuple[str, ...]] = ("mi",)
    target: str
    rows: int | float
    ranking: Ranking
    selection: Foreign = None
    tree: Foreign = None
    interactions: Foreign = None
    pairs: Foreign = None
    network: Foreign = None
    cuts: tuple[Cut, ...] = ()
    together: tuple[Together, ...] = ()
    settings: Record = field(default_factory=dict)
    source: str = ""

    @property
    def remarks(self) -> Sequence[Remark]:  # type: ignore[override]  # those of the ranking
        """What may mislead."""
        return self.ranking.remarks

    @property
    def features(self) -> tuple[str, ...]:
        """The columns that were selected; those that the ranking keeps, if there is no selection."""
        chosen: tuple[str, ...] = self.ranking.features if self.selection is None else self.selection.features
        return chosen

    def column_names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return COLUMNS

    @cached_property
    def effects(self) -> dict[str, Foreign]:
        """What the values of the ranked columns mean, by name."""
        return {each.feature: each for each in self.ranking.all_effects()}

    @cached_property
    def largest_share(self) -> float:
        """The largest share of the class of each column, which gives their bars one scale."""
        return effects_view.largest_share(self.effects.values())

    def rows_as_records(self) -> list[Record]:
        """The rows, as dictionaries."""
        taken = {} if self.selection is None else {name: place for place, name in enumerate(self.selection.features, 1)}
        together = [] if self.interactions is None else list(self.interactions)
        splits: dict[str, int] = {}
        for node in () if self.tree is None else self.tree:
            if node["feature"] is not None:
                splits[node["feature"]] = splits.get(node["feature"], 0) + 1
        links = self._links()
        return [
            {name: row[name] for name in ("feature", "missing", "verdict", "mi", "association")}
            | {
                "kind": self.ranking.facts[row["feature"]]["kind"],
                "direction": getattr(self.effects.get(row["feature"]), "direction", None),
                "taken": taken.get(row["feature"]),
                "interacts_with": [
                    pair["b"] if pair["a"] == row["feature"] else pair["a"]
                    for pair in together
                    if pair["verdict"] == "synergy" and row["feature"] in {pair["a"], pair["b"]}
                ],
                "linked_to": links.get(row["feature"], []),
                "splits": splits.get(row["feature"], 0),
            }
            for row in self.ranking
        ]

    def _links(self) -> dict[str, list[str]]:
        """The neighbours of each column."""
        neighbours: dict[str, list[str]] = {}
        pairs = () if self.pairs is None else (row for row in self.pairs if row["linked"])
        for row in pairs if self.network is None else self.network:
            for one, other in ((row["a"], row["b"]), (row["b"], row["a"])):
                neighbours.setdefault(one, []).append(other)
        return neighbours

    def to_dict(self, *, reader: str = PYTHON, units: str = NATS) -> Record:
        """The content of JSON: settings, rows, what was cut, what is missing together, cautions, and the columns."""
        entropy = self.ranking.entropy
        return {
            "settings": self._settings(units),
            "rows": self.rows,
            "rows_with_target": self.ranking.rows_with_target,
            "classes": list(self.ranking.classes),
            "entropy": None if math.isnan(entropy) else entropy,
            "parts": [part for part in view.PARTS if getattr(self, part) is not None],
            "cuts": [asdict(each) for each in self.cuts],
            "missing_together": [asdict(each) for each in self.together],
            "cautions": self.ranking.remark_lines(cautions=True, units=units, reader=reader),
            "features": self._as_json(self.rows_as_records(), units),
        }

    def _page(self, source: str | None, reader: str) -> str:
        return view.page(self, source, reader)
