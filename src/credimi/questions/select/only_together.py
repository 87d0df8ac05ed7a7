"""Why nothing was taken: whether some columns matter in combination, though none is credible alone.

Of two columns whose exclusive or is the target, neither tells anything. The search for the smallest set starts with a
column that does, and so it takes nothing. Then all pairs are looked at, as for goal "relevant" (see
`relevant_features`), in a sample of as many rows as take about `_SECONDS` on one thread. If there are so many pairs
that even `_MIN_ROWS` rows take longer, they are not looked at, and the remark says so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from credimi.counts.local_counter import LocalCounter
from credimi.questions.select.rejections import CREDIBLE
from credimi.questions.select.relevant_features import relevance
from credimi.results.remarks import Remark, RemarkKind

if TYPE_CHECKING:
    from credimi.questions.select.smallest_set import Search

_SECONDS, _MIN_ROWS, _MAX_ROWS = 3.0, 2_048, 65_536
_PER_PAIR, _PER_WORD = 5e-5, 3e-9  # seconds: a pair; 64 rows in one cell of a pair's table


def why_nothing(search: Search) -> tuple[Remark, ...]:
    """The columns that matter in combination, each with its partner; or that there are none; or what to try."""
    counter, count = search.counter, search.count
    if count < 2:
        return ()
    cells = float(counter.book.sizes.mean() + 1.0) ** 2 * len(counter.book.classes)
    seconds_per_pair = _SECONDS / (0.5 * count * (count - 1))
    rows = int(64.0 * (seconds_per_pair - _PER_PAIR) / (_PER_WORD * cells))
    if rows < min(_MIN_ROWS, counter.rows):
        return (Remark(RemarkKind.NOTHING_TOGETHER, values=count),)
    sample = counter.sample(min(max(rows, _MIN_ROWS), _MAX_ROWS))
    in_sample = LocalCounter(sample, search.options.threads)
    found = relevance(in_sample, search.alone.p_independent, places=search.places, odds=search.odds)
    together = [
        Remark(RemarkKind.ONLY_TOGETHER, search.names[column], other=search.names[partner])
        for column, partner in enumerate(found.partner.tolist())
        if partner != column and found.probability[column] >= CREDIBLE
    ]
    together.sort(key=lambda remark: str(remark.feature))
    return tuple(together) or (Remark(RemarkKind.NOTHING_TOGETHER, rows=int(sample.groups.size)),)
