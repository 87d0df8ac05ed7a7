"""The answer of `rank_by`: a ranking of each group of rows, and a comparison of the groups.

The groups are counted in one pass over the data (`count_by`).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from credimi.columns.labels import MANY, RAW
from credimi.columns.python_objects import shown_name
from credimi.columns.text_types import shown_date, shown_number, spelled
from credimi.core.arguments import unknown
from credimi.core.errors import CredimiError, NoRowsError
from credimi.core.public import public
from credimi.counts.batch import count_coded, encode_batch
from credimi.counts.counts import Counts
from credimi.counts.reading import Reading
from credimi.counts.request import CountRequest, by_place, checked
from credimi.counts.weights import effective, scaled_alike, weighted, with_squares
from credimi.questions.compare.alignment import aligned
from credimi.questions.compare.answer import compared
from credimi.questions.compare.change_records import CompareOptions
from credimi.questions.rank.answer import ranked
from credimi.results.result import Result
from credimi.results.section import IN_PYTHON, NATS, Section, Shown
from credimi.results.sentences import NO_NAME, PYTHON, counted
from credimi.sources import frames, sparse_matrices
from credimi.sources.count import source, with_target_cuts

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from matplotlib.axes import Axes

    from credimi.columns.column import Column
    from credimi.core.types import BooleanArray, Data, Option, Record, Value, Values
    from credimi.counts.batch import CodedBatch
    from credimi.counts.request import Plan
    from credimi.inference.belief import Belief
    from credimi.questions.compare.result import Comparison
    from credimi.questions.rank.result import Ranking
    from credimi.results.remarks import Remark

OTHERS = "all others"
MAX_GROUPS = 50


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
    data: Data, target: Values, by: str, *, reading: Reading, belief: Belief, p_same: float
) -> GroupedRanking:
    """The rankings of the groups of what `credimi.rank_by` takes, and their comparisons."""
    if isinstance(data, Counts):
        raise CredimiError("counts have no rows to group: pass the data, or `compare` counts of groups")
    by = column_name(by, data)
    groups, ungrouped = count_by(data, target, by, reading)
    both = aligned(list(groups.values()))
    belief = belief.settled(both.entropy)
    options = CompareOptions.of(belief, p_same)
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


def count_by(data: Data, target: Values, by: Value, reading: Reading) -> tuple[dict[str, Counts], int]:
    """The counts of each group, sorted by name, and the number of rows without a group (`by` is missing)."""
    by = column_name(by, data)
    if _is_name(target) and by == column_name(target, data):
        raise CredimiError(f"{by!r} is the target: group by another column")
    _check_source(data)
    features = reading.features
    if features is not None:
        reading = replace(reading, features=[*([features] if isinstance(features, str) else features), by])
    request = with_target_cuts(data, CountRequest.of(target, reading))
    plan, batches = source(data, request)
    if by not in plan.features or len(plan.features) == 1:
        raise CredimiError(_refusal(by, plan, reading.exclude))
    counts_of: dict[str, Counts] = {}
    missing = 0
    for batch in weighted(batches, plan.settings):
        coded = encode_batch(batch, plan, threads=request.threads)
        names = _group_names(by, coded)
        for name, rows in _groups(coded.columns[by], names):
            if name is None:
                missing += int(rows.sum())
                continue
            counts = _counted(_rows_of_group(coded, rows, by), request.threads)
            counts_of[name] = checked(counts_of[name] + counts if name in counts_of else counts, plan)
        if len(counts_of) > MAX_GROUPS:
            raise CredimiError(
                f"column {by!r} has more than {MAX_GROUPS} different values: group by a column with fewer values, or "
                "cut it into a few ranges first"
            )
    if len(counts_of) < 2:
        raise _too_few(by, counts_of, missing)
    return scaled_alike({name: counts_of[name] for name in sorted(counts_of, key=_sort_key)}), missing


def column_name(named: Value, data: Data) -> str:
    """The name of a column as text; a column of an array may be given by its index."""
    if not _is_name(named):
        raise CredimiError(
            f"by is a {type(named).__name__}: name one column; groups that are no column yet have to become one of "
            "the data first"
        )
    if isinstance(data, np.ndarray) and not data.dtype.names:
        named = by_place(named, frames.names(data))
    return shown_name(named)


def _is_name(named: object) -> bool:
    return isinstance(named, str | tuple) or not hasattr(named, "__iter__")  # a tuple of a MultiIndex


def _counted(coded: CodedBatch, threads: int | None) -> Counts:
    counts = count_coded(coded, threads=threads, squared=coded.settings.needs_squares)
    return counts if coded.weights is None else with_squares(counts, coded.weights)


def _check_source(data: Data) -> None:
    if sparse_matrices.reads(data):
        raise CredimiError("the rows of a sparse matrix are not grouped: pass X.toarray()")


def _too_few(by: str, counts_of: Mapping[str, Counts], missing: int) -> CredimiError:
    """The error if there are not two groups; `missing` rows have no group."""
    if not counts_of and not missing:
        return NoRowsError("there are no rows: there are no groups to compare")
    what = f"one value only, {next(iter(counts_of))!r}" if counts_of else "no values"
    return CredimiError(f"column {by!r} has {what}: there are no groups to compare")


def _refusal(by: str, plan: Plan, exclude: Option) -> str:
    if by in ([exclude] if isinstance(exclude, str) else map(str, exclude or ())):
        return f"column {by!r} names the groups and cannot be left out: remove it from exclude"
    if by in plan.features:
        return f"there is no column besides the target {plan.target!r} and {by!r}: nothing to rank"
    return unknown(by, plan.features)


def _group_names(by: str, coded: CodedBatch) -> list[str | None]:
    """The name of the group of each code, None if the value means missing."""
    column = coded.columns[by]
    if column.kind == MANY:
        raise CredimiError(f"column {by!r} has too many different values for groups: group by a column with fewer")
    if column.numbers is not None:
        shown = list(map(shown_date if column.instants else shown_number, column.numbers.tolist()))
    else:
        shown = [spelled(text) if column.kind == RAW else text for text in column.texts]
    means_missing = coded.missing.among(column).tolist()
    return [None if missing else name for name, missing in zip(shown, means_missing, strict=True)]


def _groups(column: Column, names: list[str | None]) -> Iterator[tuple[str | None, BooleanArray]]:
    """The groups that occur, and their rows; several codes may have one name."""
    codes = np.minimum(column.codes, column.values)
    for name in dict.fromkeys((*names, None)):
        group_codes = [code for code, code_name in enumerate((*names, None)) if code_name == name]
        rows = np.isin(codes, group_codes)
        if rows.any():
            yield name, rows


def _rows_of_group(coded: CodedBatch, rows: BooleanArray, by: str) -> CodedBatch:
    """The rows of one group, without the column of the groups."""
    columns = {name: replace(column, codes=column.codes[rows]) for name, column in coded.columns.items() if name != by}
    weights = None if coded.weights is None else coded.weights[rows]
    return replace(coded, columns=columns, groups=coded.groups[rows], rows=int(rows.sum()), weights=weights)


def _sort_key(name: str) -> tuple[int, float, str]:
    """Numbers in numeric order, then names in alphabetical order."""
    try:
        return 0, float(name), name
    except ValueError:
        return 1, 0.0, name
