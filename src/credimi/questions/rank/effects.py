"""`Effects`: what the values of one column mean for the classes: shares with intervals, and the direction in one word.

The mathematics is in `class_shares` and `direction` of `inference.tables`; here are the facts of one column of a
ranking, made of the counts that it keeps.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from credimi.core.errors import CredimiError
from credimi.core.public import stored
from credimi.core.tables import Tables
from credimi.inference.belief import ADAPTIVE
from credimi.inference.evidence.adaptive_prior import independence
from credimi.inference.tables.class_shares import most_affected, side_by_side, without_common_term
from credimi.inference.tables.direction import direction
from credimi.questions.rank import effects_view
from credimi.results.result import RecordResult, finite
from credimi.results.section import NATS
from credimi.results.sentences import PYTHON

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path
    from types import ModuleType

    from matplotlib.axes import Axes

    from credimi.core.types import AnyArray, FloatArray, Record
    from credimi.inference.tables.class_shares import Shares
    from credimi.questions.rank.result import Ranking
    from credimi.results.remarks import Remark

ROW = ("value", "class", "rows", "of_value", "share", "low", "high")
_MAX_ORDERED = 150  # values: their orders are counted in doubles


@stored
@dataclass(frozen=True, eq=False, repr=False)
class Effects(RecordResult):
    """What each value of a column means for the classes of the target; made by `Ranking.effects`.

    Its rows are the values, and for each value the classes:

    - value, class: their names
    - rows: the rows with both
    - of_value: the rows with the value and any class
    - share, low, high: the posterior mean and the credible interval of the class's share among the rows with the value,
      missing values taken into account

    Attributes
    ----------
    feature, target : str
        The names of the columns.
    values, classes : tuple of str
        The names of their values.
    ordered : bool
        Whether the values are numbers, or ranges of them, in ascending order.
    direction : str or None
        How the share of the class `of` changes along them: "rises", "falls", "peaks", "dips", "no order" or "unclear";
        None if the values have no order.
    of : str
        The class that the direction is of: of two classes, and of the quarters of a number, the last; of more classes
        the one whose share varies most.
    p_direction : float
        The probability of what the word says; for "unclear", that of the most probable word.
    counts, shares, low, high : array
        The same figures, one line for each class, one column for each value.
    """

    _key: ClassVar[tuple[str, ...]] = ("value", "class")
    _called: ClassVar[str] = "effects"
    _view: ClassVar[ModuleType] = effects_view
    rows_in_json: ClassVar[str] = "values"
    feature: str
    target: str
    values: tuple[str, ...]
    classes: tuple[str, ...]
    counts: AnyArray
    shares: FloatArray
    low: FloatArray
    high: FloatArray
    place: int
    ordered: bool
    direction: str | None
    p_direction: float
    settings: Record = field(default_factory=dict)
    remarks: tuple[Remark, ...] = ()

    @property
    def of(self) -> str:
        """The class that the direction is of."""
        return self.classes[self.place]

    def plot(self, path: str | Path | None = None, *, ax: Axes | None = None) -> Axes:
        """Draw the shares of the class `of` as bars with matplotlib; also into a file, if one is named."""
        return self._plotted(path, ax)

    def rows_as_records(self) -> list[Record]:
        """The values, and for each value the classes."""
        figures = [self.counts, self.counts.sum(axis=0) + 0 * self.counts, self.shares, self.low, self.high]
        return [
            dict(zip(ROW, (value, name, *(each[i, j].item() for each in figures)), strict=True))
            for j, value in enumerate(self.values)
            for i, name in enumerate(self.classes)
        ]

    def column_names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return ROW

    def to_dict(self, *, reader: str = PYTHON, units: str = NATS) -> Record:  # noqa: ARG002  (as all results)
        """The content of JSON: the direction, and for each value the rows and the classes with their shares."""
        ends = {"share": self.shares, "low": self.low, "high": self.high}
        seen = self.counts.sum(axis=0)
        return {
            "feature": self.feature,
            "target": self.target,
            "direction": self.direction,
            "of": self.of,
            "p_direction": finite(self.p_direction),
            "level": self.settings["level"],
            "values": [
                {"value": value, "rows": seen[j].item()}
                | {
                    "classes": [
                        {"class": name, "rows": self.counts[i, j].item()}
                        | {what: figures[i, j].item() for what, figures in ends.items()}
                        for i, name in enumerate(self.classes)
                    ]
                }
                for j, value in enumerate(self.values)
            ],
        }


def effects_of(ranking: Ranking, places: Iterable[int]) -> list[Effects]:
    """The effects of the columns at these places of the ranking, without those that are not ranked."""
    kept = ranking._kept  # noqa: SLF001  (what a ranking keeps for its pages)
    if kept is None:
        raise CredimiError("this ranking has no counts: ask the result of `rank` for effects")
    blocks = {place: block for place in places if (block := kept.blocks[place]) is not None}
    if not blocks:
        return []
    p_independent = {place: ranking.figures["p_independent"][place] for place in blocks}
    if ranking.settings["prior"] != ADAPTIVE or ranking.settings.get("prior_of_columns"):
        tables = Tables.of(
            [block.astype(np.float64) for block in blocks.values()], [kept.odds[place] for place in blocks]
        )
        p_independent = dict(zip(blocks, independence(tables).tolist(), strict=True))
    known, sizes = side_by_side([*blocks.values()]), [block.shape[1] - 1 for block in blocks.values()]
    low, high = (np.split(ends, np.cumsum(sizes)[:-1], axis=1) for ends in known.interval(ranking.settings["level"]))
    figures = zip(known.split(sizes), low, high, strict=True)
    return [
        _effects(ranking, place, (block, kept.values[place]), of_place, 1.0 - p_independent[place])
        for (place, block), of_place in zip(blocks.items(), figures, strict=True)
    ]


def _effects(
    ranking: Ranking,
    place: int,
    counted: tuple[AnyArray, tuple[str, ...]],
    figures: tuple[Shares, FloatArray, FloatArray],
    p_dependent: float,
) -> Effects:
    (block, values), (known, low, high) = counted, figures
    fact = ranking.facts[ranking.figures["feature"][place]]
    # of a target that is a number the largest of its quarters: "rises" is then said of large values
    is_number = ranking.settings.get("target_as") == "number"
    of = len(ranking.classes) - 1 if is_number else most_affected(block, known)
    steps = len(values) - bool(fact["missing_is_value"])  # "missing" has no place in the order
    ordered = (fact["kind"] == "ranges" or fact["numbers"]) and 2 <= steps <= _MAX_ORDERED
    word, probability = None, float("nan")
    if ordered:
        betas = without_common_term(block, of, known)
        word, probability = direction(betas.alpha[:steps], betas.beta[:steps], p_dependent)
    return Effects(
        feature=ranking.figures["feature"][place],
        target=ranking.target,
        values=values,
        classes=ranking.classes,
        counts=block[:-1, :-1],
        shares=known.mean,
        low=low,
        high=high,
        place=of,
        ordered=bool(ordered),
        direction=word,
        p_direction=probability,
        settings={"level": ranking.settings["level"]},
    )
