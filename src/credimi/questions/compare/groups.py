"""The answer of `rank_by`: a ranking of each group of rows, and a comparison of the groups.

The groups are counted in one pass over the data (`count_by`).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, ClassVar

from credimi.core.errors import CredimiError
from credimi.core.public import public
from credimi.counts.counts import Counts
from credimi.counts.reading import Reading
from credimi.counts.weights import effective
from credimi.questions.compare.alignment import aligned
from credimi.questions.compare.answer import compared
from credimi.questions.compare.change_records import CompareOptions
from credimi.questions.rank.answer import ranked
from credimi.results.result import Result
from credimi.results.section import IN_PYTHON, NATS, Section, Shown
from credimi.results.sentences import NO_NAME, PYTHON, counted
from credimi.sources.group_counts import column_name, count_by
from credimi.sources.group_ranges import settled_cuts

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from matplotlib.axes import Axes

    from credimi.core.types import Data, Option, Record, Value, Values
    from credimi.inference.belief import Belief
    from credimi.questions.compare.result import Comparison
    from credimi.questions.rank.result import Ranking
    from credimi.results.remarks import Remark

OTHERS = "all others"


@public
@dataclass(frozen=True, eq=False, repr=False)
class GroupedRanking(Result):
    """What `rank_by` returns: a ranking of each group, and their comparisons.

    Its rows are those of the rankings, with the column `group`; `[group, feature]` gives one.

    Attributes
    ----------
    by : str
        The column that names the groups.
    rankings : dict
        The `Ranking` of each group, by its name.
    comparisons : tuple of Comparison
        With two groups one comparison, the second against the first; with more, each group against all others.
    ungrouped : int
        Rows without a group, because the column is missing. They are in no ranking.
    """

    _key: ClassVar[tuple[str, ...]] = ("group", "feature")
    _called: ClassVar[str] = "ranking by groups"
    by: str
    rankings: dict[str, Ranking]
    comparisons: tuple[Comparison, ...]
    ungrouped: int = 0
    settings: Record = field(default_factory=dict)

    @cached_property
    def columns(self) -> dict[str, list[Value]]:  # type: ignore[override]  # made of the rankings
        """The rankings below each other, one list for each column; `group` has the name of the group."""
        parts = [{"group": [name] * len(each)} | each.columns for name, each in self.rankings.items()]
        return {name: list(chain.from_iterable(part[name] for part in parts)) for name in parts[0]}

    @property
    def target(self) -> str:
        """The name of the target's column."""
        return self.comparisons[0].target

    @property
    def remarks(self) -> tuple[Remark, ...]:  # type: ignore[override]  # those of the rankings
        """The remarks on all rankings."""
        return tuple(remark for ranking in self.rankings.values() for remark in ranking.remarks)

    def sorted_by(self, order: str) -> GroupedRanking:
        """The same with rankings in another order, as `Ranking.sorted_by` has it; comparisons keep theirs."""
        return replace(self, rankings={name: each.sorted_by(order) for name, each in self.rankings.items()})

    def sections(self, shown: Shown = IN_PYTHON) -> Iterator[Section]:
        """The ranking of each group, then the comparisons."""
        for name, ranking in self.rankings.items():
            yield Section(f"== {self.by} {name} ==")
            yield from ranking.sections(shown)
            yield Section(lines=[""])
        if self.ungrouped:
            have, are = ("has", "is") if self.ungrouped == 1 else ("have", "are")
            yield Section(f"{counted(self.ungrouped, 'row')} {have} no {self.by} and {are} in no group")
        for comparison in self.comparisons:
            yield from comparison.sections(shown)
            yield Section(lines=[""])

    def plot(self, path: str | Path | None = None, *, top: int = 30, ax: Axes | None = None) -> Axes:
        """Draw the first comparison, as `Comparison.plot`."""
        return self.comparisons[0].plot(path, top=top, ax=ax)

    def to_dict(self, *, reader: str = PYTHON, units: str = NATS) -> Record:
        """The content of `credimi rank --by --format json`, with sentences for this reader."""
        worded: Record = {"reader": reader, "units": units}
        return {
            "settings": self._settings(units) | {"units": units, "epsilon_units": NATS},
            "ungrouped": self.ungrouped,
            "groups": [{"name": name} | ranking.to_dict(**worded) for name, ranking in self.rankings.items()],
            "comparisons": [each.to_dict(**worded) for each in self.comparisons],
        }

    def _title(self) -> str:
        return f"What informs about {self.target or NO_NAME}, compared"

    def _page_sections(self, shown: Shown) -> Iterator[Section]:
        return chain.from_iterable(each.sections(shown) for each in self.comparisons)


def ranked_by(
    data: Data, target: Values, by: str, *, by_cuts: Option, reading: Reading, belief: Belief, p_same: float
) -> GroupedRanking:
    """The rankings of the groups of what `credimi.rank_by` takes, and their comparisons."""
    if isinstance(data, Counts):
        raise CredimiError("counts have no rows to group: pass the data, or `compare` counts of groups")
    by = column_name(by, data)
    cuts = settled_cuts(data, by, by_cuts, reading)
    groups, ungrouped = count_by(data, target, by, reading, cuts)
    both = aligned(list(groups.values()))
    belief = belief.settled(both.entropy)
    options = CompareOptions.of(belief, p_same)
    of_counts = Reading(missing_as=reading.missing_as, threads=reading.threads)
    rankings = {name: ranked(each, None, of_counts, belief) for name, each in zip(groups, both.samples, strict=True)}
    pairs = _pairs(dict(zip(groups, both.samples, strict=True)))
    comparisons = tuple(compared(both.with_samples(pair), options, reading.missing_as, names) for names, pair in pairs)
    settings = {"by": by} | comparisons[0].settings | {"fdr": belief.fdr, "target": both.samples[0].target}
    settings |= {} if belief.robust_factor is None else {"factor": belief.robust_factor}
    settings |= {} if cuts is None else {"by_cuts": list(cuts)}
    return GroupedRanking(by, rankings, comparisons, ungrouped, settings)


def _pairs(groups: dict[str, Counts]) -> list[tuple[tuple[str, str], tuple[Counts, Counts]]]:
    """The groups that are compared: their names and their counts."""
    names = list(groups)
    if len(names) == 2:
        return [((names[0], names[1]), (effective(groups[names[0]]), effective(groups[names[1]])))]
    pairs = []
    for name, counts in groups.items():
        first, *rest = (other_counts for other, other_counts in groups.items() if other != name)
        pairs.append(((OTHERS, name), (effective(sum(rest, first)), effective(counts))))
    return pairs
