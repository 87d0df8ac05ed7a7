"""`rank_by`: a ranking of each group of rows, and a comparison of the groups."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from credimi.core.arguments import check_keywords
from credimi.core.errors import CredimiError
from credimi.core.public import public
from credimi.counts.weights import effective
from credimi.questions.compare import change
from credimi.questions.compare.alignment import aligned
from credimi.questions.compare.answer import compared
from credimi.questions.compare.change_records import CompareOptions
from credimi.questions.rank.answer import rank
from credimi.results.feature_rows import finite

if TYPE_CHECKING:
    from pathlib import Path

    from credimi.core.types import Data, Option, Record, Values
    from credimi.counts.counts import Counts
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


def rank_by(
    data: Data,
    target: Values,
    by: str,
    *,
    epsilon: float = 0.003,
    level: float = 0.95,
    fdr: float = 0.05,
    p_same: float = change.P_SAME,
    missing: str = "ignore",
    robust: bool = False,
    factor: float = 2.0,
    threads: int | None = None,
    **counting: Option,
) -> GroupedRanking:
    """Rank the features in each group of rows, and compare the groups.

    All groups have the same values and cuts, found from all rows. Two groups are compared with each other, the second
    against the first in the order of their names; with more groups, each is compared with all others together.

    Parameters
    ----------
    data : what `credimi.count` accepts
        Except data frames of clusters, and counts, which have no rows.
    target : str or array
        The name of the target's column, or its values beside the data.
    by : str
        The column that names the groups, with at most 50 values. For an array, its position works, too.
    epsilon, level, fdr, missing, robust, factor, threads
        As in `rank`; only a change of more than epsilon counts. The rankings are robust, the comparisons are not.
    p_same : float
        As in `compare`.
    **counting
        features, exclude, missing_values, discretize ...: as in `credimi.count`.

    Returns
    -------
    GroupedRanking
        Rankings and comparisons.

    Examples
    --------
    >>> table = {"x": list("aabbabab") * 50, "site": list("1111" "2222") * 50, "class": list("ppqq") * 100}
    >>> grouped = credimi.rank_by(table, "class", by="site")
    >>> list(grouped.rankings), grouped.comparisons[0]["x"]["verdict"]
    (['1', '2'], 'less')
    """
    from credimi.counts.counts import Counts  # noqa: PLC0415  (pyarrow takes a while to load)
    from credimi.questions.compare.by_group import column_name, count_by  # noqa: PLC0415  (pyarrow takes a while to load)

    options = CompareOptions(epsilon=epsilon, level=level, p_same=p_same, threads=threads)
    check_keywords("rank_by", counting)
    if isinstance(data, Counts):
        raise CredimiError("counts have no rows to group: pass the data, or `compare` counts of groups")
    by = column_name(by, data)
    groups, ungrouped = count_by(data, target, by, threads=threads, **counting)
    both = aligned(list(groups.values()))
    rank_options: Record = {"epsilon": epsilon, "level": level, "fdr": fdr, "missing": missing, "threads": threads}
    rank_options |= {"robust": robust, "factor": factor}
    rankings = {name: rank(counts, **rank_options) for name, counts in zip(groups, both.samples, strict=True)}
    pairs = _pairs(dict(zip(groups, both.samples, strict=True)))
    comparisons = tuple(compared(both.with_samples(pair), options, missing, names) for names, pair in pairs)
    settings = {"by": by} | comparisons[0].settings | {"fdr": fdr, "target": both.samples[0].target}
    settings |= {"factor": factor} if robust else {}
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
