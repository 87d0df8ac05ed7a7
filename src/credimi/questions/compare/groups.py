"""The answer of `rank_by`: a ranking of each group of rows, and a comparison of the groups."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from credimi.core.errors import CredimiError
from credimi.core.public import public
from credimi.counts.reading import Reading
from credimi.counts.weights import effective
from credimi.questions.compare.alignment import aligned
from credimi.questions.compare.answer import compared
from credimi.questions.compare.change_records import CompareOptions
from credimi.questions.rank.answer import ranked
from credimi.results.feature_rows import finite

if TYPE_CHECKING:
    from pathlib import Path

    from credimi.core.types import Data, Record, Values
    from credimi.counts.counts import Counts
    from credimi.inference.belief import Belief
    from credimi.questions.compare.result import Comparison
    from credimi.questions.rank.result import Ranking

OTHERS = "all others"


@public
@dataclass(frozen=True, eq=False, repr=False)
class GroupedRanking:
    """What `rank_by` returns: a ranking of each group, and their comparisons.

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

    by: str
    rankings: dict[str, Ranking]
    comparisons: tuple[Comparison, ...]
    ungrouped: int = 0
    settings: Record = field(default_factory=dict)

    def worded_for(self, reader: str) -> GroupedRanking:
        """The same, with notes and remarks for this reader: "python", or "command line"."""
        rankings = {name: each.worded_for(reader) for name, each in self.rankings.items()}
        return replace(self, rankings=rankings, comparisons=tuple(each.worded_for(reader) for each in self.comparisons))

    def __repr__(self) -> str:
        from credimi.questions.compare.comparison_text import grouped_text  # noqa: PLC0415  (rich is loaded only to print)

        return grouped_text(self)

    def to_dict(self) -> Record:
        """The content of `credimi rank --by --format json`."""
        return {
            "settings": {name: finite(value) for name, value in self.settings.items()},
            "ungrouped": self.ungrouped,
            "groups": [{"name": name} | ranking.to_dict() for name, ranking in self.rankings.items()],
            "comparisons": [each.to_dict() for each in self.comparisons],
        }

    def to_html(self, path: str | Path) -> None:
        """Write one HTML page with all comparisons. It works offline."""
        from credimi.questions.compare.comparison_page import write_page  # noqa: PLC0415  (loaded only to write a page)

        write_page(self.comparisons, path)


def ranked_by(
    data: Data, target: Values, by: str, *, reading: Reading, belief: Belief, p_same: float
) -> GroupedRanking:
    """The rankings of the groups of what `credimi.rank_by` takes, and their comparisons."""
    from credimi.counts.counts import Counts  # noqa: PLC0415  (pyarrow takes a while to load)
    from credimi.questions.compare.by_group import column_name, count_by  # noqa: PLC0415  (pyarrow takes a while to load)

    options = CompareOptions.of(belief, p_same)
    if isinstance(data, Counts):
        raise CredimiError("counts have no rows to group: pass the data, or `compare` counts of groups")
    by = column_name(by, data)
    groups, ungrouped = count_by(data, target, by, reading)
    both = aligned(list(groups.values()))
    of_counts = Reading(missing_as=reading.missing_as, threads=reading.threads)
    rankings = {name: ranked(each, None, of_counts, belief) for name, each in zip(groups, both.samples, strict=True)}
    pairs = _pairs(dict(zip(groups, both.samples, strict=True)))
    comparisons = tuple(compared(both.with_samples(pair), options, reading.missing_as, names) for names, pair in pairs)
    settings = {"by": by} | comparisons[0].settings | {"fdr": belief.fdr, "target": both.samples[0].target}
    settings |= {} if belief.robust_factor is None else {"factor": belief.robust_factor}
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
