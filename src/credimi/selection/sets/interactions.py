"""`interactions`: which pairs of columns tell more about the target together than apart, of all pairs, and how sure.

`inference.conditional.synergy` has the posterior of one pair, `interaction_search` the search among many. How many
pairs have no synergy is learned from all of them, as the rule fdr does it (see `rules`); those reported are as many as
possible while at most a share 1 - level of them is expected to be wrong.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from credimi.core.arguments import check_keywords, require_whole
from credimi.core.errors import CredimiError
from credimi.core.tables import Tables
from credimi.counting.request import CountRequest
from credimi.counting.rows.pair_codes import PairCodes
from credimi.counting.rows.row_codes import settled_codes
from credimi.inference.adaptive_prior import independence
from credimi.inference.options import PosteriorOptions
from credimi.selection.pairwise.pair_request import check_engine
from credimi.selection.rules import false_discovery, share_of_independent
from credimi.selection.sets.interaction_records import InteractingPair, Interactions, JointTable
from credimi.selection.sets.interaction_search import candidates, complete, weighed

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from credimi.core.types import Data, FloatArray, IntegerArray, Option, Values
    from credimi.counting.rows.stratified_counts import SettledCodes
    from credimi.inference.conditional.synergy import Synergies

_LISTED = 0.5  # the least probability of a pair that is listed unasked
_MOST_LISTED = 10_000
_TABLES = 12  # pairs of each verdict whose joint table is kept
_AT_ONCE = 256
_READING = 0.2  # of what progress is told


def interactions(
    data: Data,
    target: Values,
    *,
    epsilon: float = 0.003,
    level: float = 0.95,
    top: int | None = None,
    engine: str = "cpu",
    threads: int | None = None,
    progress: Callable[[float], None] | None = None,
    scratch: str | Path | None = None,
    **counting: Option,
) -> Interactions:
    """Find pairs of columns that tell more about the target together than apart, or that say the same.

    Parameters
    ----------
    data : what `credimi.count` takes
        Data frames, arrays, files. Data frames of Spark and Dask are read twice: their partitions become codes where
        they are, and these come here, one byte a cell.
    target : str or array
        The target's column, or its values beside the data.
    epsilon : float
        The synergy, in nats, that is worth knowing.
    level : float
        Of the reported pairs a share of 1 - level is expected to be wrong, at most; also of the intervals.
    top : int, optional
        List so many pairs of each kind, sure or not. Unless said, those that are more probable than not.
    engine : str
        "cpu", or "gpu": one NVIDIA GPU looks at all pairs first. It needs `pip install credimi[gpu]`, and rows without
        weights; the pairs that are left are weighed as otherwise, so that the answer is the same.
    threads : int, optional
        All cores, unless said.
    progress : callable, optional
        Is told the share of the work that is done. An interrupt (Ctrl-C) ends the search with the pairs so far.
    scratch : path, optional
        A folder for data larger than memory: they are read twice, and files there keep codes and sets of bits.
    **counting
        features, exclude, missing_values, discretize, max_levels, delimiter ...: as in `credimi.count`.

    Returns
    -------
    Interactions
        The pairs, with synergy above 0 or redundancy below it, interval and probabilities.

    Examples
    --------
    >>> table = {"x": list("aabb") * 50, "z": list("abab") * 50, "y": list("pqqp") * 50}
    >>> credimi.interactions(table, "y")["x", "z"]["verdict"]
    'synergy'
    """
    check_keywords("interactions", counting)
    if top is not None:
        require_whole("top", top, 1)
    options = PosteriorOptions(epsilon=epsilon, level=level, threads=threads)
    check_engine(engine)
    told = progress or (lambda _: None)
    request = CountRequest.of(target, threads=threads, progress=lambda share: told(_READING * share), **counting)
    settled, _ = settled_codes(data, request, scratch)
    return interacting(settled, options, top, lambda share: told(_READING + (1.0 - _READING) * share), engine)


def interacting(
    settled: SettledCodes,
    options: PosteriorOptions,
    top: int | None,
    progress: Callable[[float], None],
    engine: str = "cpu",
) -> Interactions:
    """As `interactions`, of rows that are codes."""
    codes = PairCodes.of(settled, options.threads)
    if len(codes.classes) < 2:
        raise CredimiError(f"the target {settled.target!r} has one class only: nothing can be told about it")
    if len(codes.names) < 2:
        columns = "no column" if not codes.names else f"only one column, {codes.names[0]!r},"
        raise CredimiError(f"{columns} can tell something: a pair needs two that have several values each")
    if engine == "gpu" and codes.weights.size:
        raise CredimiError("engine='gpu' counts rows, not weights: use engine='cpu'")
    found = candidates(codes, options.epsilon, options.threads, lambda done: progress(0.9 * done), engine)
    odds = np.array([feature.odds for feature in settled.features])
    laws = weighed(
        codes,
        found.pairs,
        (odds, _odds_alone(codes, odds, options.threads)),
        options.threads,
        lambda done: progress(0.9 + 0.1 * done),
    )
    share = share_of_independent(laws.p_none, found.searched - len(found.pairs))
    laws = laws.with_odds((1.0 - share) / share)
    listed, verdicts, p_above, p_below = _listed(laws, options, top)
    chosen = laws.chosen(listed)
    ends = chosen.interval(options.level)
    figures = np.column_stack([chosen.expected(), *ends, p_above[listed], p_below[listed]])
    pairs = found.pairs[listed]
    tables = codes.tables(pairs[(shown := _shown(verdicts))], options.threads)
    rows = _complete_rows(codes, pairs, options.threads)
    return Interactions(
        tuple(
            InteractingPair(
                codes.names[one], codes.names[other], mean, low, high, above, below, verdict, tells_a, tells_b, count
            )
            for (one, other), (mean, low, high, above, below), verdict, (tells_a, tells_b), count in zip(
                pairs.tolist(), figures.tolist(), verdicts, chosen.alone.tolist(), rows, strict=True
            )
        ),
        tuple(_joint(codes, pair, table) for pair, table in zip(pairs[shown].tolist(), tables, strict=True)),
        settled.target,
        float(codes.weights.sum()) if codes.weights.size else codes.rows,
        codes.classes,
        len(codes.names),
        found.searched,
        codes.pairs,
        share,
        {"epsilon": options.epsilon, "level": options.level, "prior": options.prior},
        tuple(feature.facts for feature in settled.left_out),
    )


def _odds_alone(codes: PairCodes, odds: FloatArray, threads: int | None) -> FloatArray:
    """The odds of every column that it tells something alone, with the share of those that do learned from all."""
    blocks = []
    for first, values, missing, _ in codes.layout.tolist():
        block = np.zeros((len(codes.classes) + 1, values - missing + 1))
        block[:-1, :values] = codes.totals[first : first + values].T
        blocks.append(block)
    share = share_of_independent(independence(Tables.of(blocks, odds.tolist()), threads=threads))
    return odds * ((1.0 - share) / share)


def _listed(
    laws: Synergies, options: PosteriorOptions, top: int | None
) -> tuple[IntegerArray, list[str], FloatArray, FloatArray]:
    """The pairs that are listed, their verdicts, and of all pairs P(synergy > epsilon) and P(synergy < -epsilon)."""
    mean, p_above, p_below = laws.expected(), laws.above(options.epsilon), 1.0 - laws.above(-options.epsilon)
    parts, verdicts = [], []
    for name, sign, chance, rival in (("synergy", 1.0, p_above, p_below), ("redundancy", -1.0, p_below, p_above)):
        believed = false_discovery(chance, 1.0 - options.level)
        order = np.lexsort((-sign * mean, -chance))
        if top is None:
            order = order[((chance >= _LISTED) | believed)[order]][:_MOST_LISTED]
        else:
            side = (chance > rival) | ((chance == rival) & (sign * mean > 0.0))  # each pair is on one side only
            order = order[side[order]][:top]
        parts.append(order)
        verdicts += [name if believed[pair] else "unsure" for pair in order.tolist()]
    return np.concatenate(parts), verdicts, p_above, p_below


def _shown(verdicts: list[str]) -> list[int]:
    """The places of the first pairs of each verdict."""
    return [place for place, verdict in enumerate(verdicts) if verdicts[:place].count(verdict) < _TABLES]


def _complete_rows(codes: PairCodes, pairs: IntegerArray, threads: int | None) -> list[float]:
    """Of each pair the rows that have both columns and the target."""
    if not codes.layout[:, 2].any():
        return [float(codes.weights.sum()) if codes.weights.size else codes.rows] * len(pairs)
    found: list[float] = []
    for at in range(0, len(pairs), _AT_ONCE):
        some = pairs[at : at + _AT_ONCE]
        for pair, table in zip(some.tolist(), codes.tables(some, threads), strict=True):
            count = complete(codes, pair, table).sum().item()
            found.append(count if codes.weights.size else int(count))
    return found


def _joint(codes: PairCodes, pair: list[int], table: FloatArray) -> JointTable:
    """The joint table of a pair as a record."""
    counts = complete(codes, pair, table)
    plain = (counts if codes.weights.size else counts.astype(np.int64)).tolist()
    nested = tuple(tuple(map(tuple, each)) for each in plain)
    one, other = pair
    return JointTable(codes.names[one], codes.names[other], codes.labels[one], codes.labels[other], nested)
