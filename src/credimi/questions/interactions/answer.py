"""`interactions`: which pairs of columns tell more about the target together than apart, of all pairs, and how sure.

`questions.interactions.synergy` has the posterior of one pair, `interaction_search` the search among many. The share of
pairs without synergy is learned from all pairs, as in the rule fdr (see `rules`). As many pairs are reported as
possible such that at most a share 1 - level of them is expected to be wrong.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from credimi.core.arguments import require_whole
from credimi.core.errors import CredimiError
from credimi.core.tables import Tables
from credimi.core.ties import places_by_name
from credimi.counts.request import CountRequest
from credimi.counts.weights import on_weights
from credimi.inference.evidence.adaptive_prior import independence
from credimi.inference.rules import false_discovery, share_of_independent
from credimi.questions.interactions.interaction_search import candidates, complete, weighed
from credimi.questions.interactions.result import InteractingPair, Interactions, JointTable
from credimi.questions.pairs.pair_request import check_device
from credimi.sources.codes import counter_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from credimi.core.types import Data, FloatArray, IntegerArray, Values
    from credimi.counts.counter import Counter
    from credimi.counts.reading import Reading
    from credimi.counts.rows.class_pairs import ClassPairs
    from credimi.inference.belief import Belief
    from credimi.questions.interactions.synergy import Synergies

_MIN_LISTED_PROBABILITY = 0.5  # of pairs that are listed without `top`
_MAX_LISTED = 10_000
_MAX_TABLES_PER_VERDICT = 12
_READING_SHARE = 0.2  # of the whole progress


def interactions_in(data: Data, target: Values, top: int | None, reading: Reading, belief: Belief) -> Interactions:
    """The answer to what `credimi.interactions` takes."""
    if top is not None:
        require_whole("top", top, 1)
    check_device(reading.device)
    request = CountRequest.of(target, reading, progress=reading.part(0.0, _READING_SHARE).step("reading"))
    searching = reading.part(_READING_SHARE, 1.0).step("searching")
    with counter_of(data, request, reading.scratch) as counter:
        found = interacting(counter, belief, top, searching, reading.device)
        return replace(found, remarks=on_weights(counter))


def interacting(
    counter: Counter,
    options: Belief,
    top: int | None,
    progress: Callable[[float], None],
    device: str = "cpu",
) -> Interactions:
    """The same as `interactions`, for rows that are encoded already."""
    codes, book = counter.by_pair_and_class(), counter.book
    if len(codes.classes) < 2:
        raise CredimiError(f"the target {book.target!r} has one class only: nothing can be told about it")
    if len(codes.names) < 2:
        columns = "no column" if not codes.names else f"only one column, {codes.names[0]!r},"
        raise CredimiError(f"{columns} can tell something: a pair needs two that have several values each")
    if device == "gpu" and not codes.has_sets:
        fault = "counts rows, not weights" if codes.weights.size else "needs rows in this process"
        raise CredimiError(f"device='gpu' {fault}: use device='cpu'")
    options = options.settled(book.interpreted.entropy)
    screened = candidates(codes, options.nats, options.threads, lambda done: progress(0.9 * done), device)
    odds = np.array([feature.odds for feature in book.features])
    posteriors = weighed(
        codes,
        screened.pairs,
        (odds, _odds_alone(codes, odds, options.threads)),
        options.threads,
        lambda done: progress(0.9 + 0.1 * done),
    )
    share = share_of_independent(posteriors.p_none, screened.searched - len(screened.pairs))
    posteriors = posteriors.with_odds((1.0 - share) / share)
    places = np.sort(places_by_name(codes.names)[screened.pairs], axis=1)
    listed, verdicts, p_above, p_below = _listed(posteriors, places, options, top)
    chosen = posteriors.chosen(listed)
    interval = chosen.interval(options.level)
    figures = np.column_stack([chosen.expected(), *interval, p_above[listed], p_below[listed]])
    pairs = screened.pairs[listed]
    tables = codes.tables(pairs[(with_tables := _with_tables(verdicts))], options.threads)
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
        tuple(_joint(codes, pair, table) for pair, table in zip(pairs[with_tables].tolist(), tables, strict=True)),
        book.target,
        codes.total,
        codes.classes,
        len(codes.names),
        screened.searched,
        codes.pairs,
        share,
        {**options.threshold, "level": options.level, "prior": options.prior, **book.settings.target_in_words},
        tuple(feature.facts for feature in book.left_out),
    )


def _odds_alone(codes: ClassPairs, odds: FloatArray, threads: int | None) -> FloatArray:
    """For each column: the odds that it tells something alone; the share of such columns is learned from all."""
    blocks = []
    for first, values, missing, _ in codes.layout.tolist():
        block = np.zeros((len(codes.classes) + 1, values - missing + 1))
        block[:-1, :values] = codes.totals[first : first + values].T
        blocks.append(block)
    share = share_of_independent(independence(Tables.of(blocks, odds.tolist()), threads=threads))
    return odds * ((1.0 - share) / share)


def _listed(
    posteriors: Synergies, places: IntegerArray, options: Belief, top: int | None
) -> tuple[IntegerArray, list[str], FloatArray, FloatArray]:
    """The listed pairs, their verdicts, and P(synergy > epsilon) and P(synergy < -epsilon) of all pairs.

    `places` are those of the names of each pair, which decide ties.
    """
    mean = posteriors.expected()
    p_above, p_below = posteriors.above(options.nats), 1.0 - posteriors.above(-options.nats)
    listed, verdicts = [], []
    for name, sign, probability, opposite in (
        ("synergy", 1.0, p_above, p_below),
        ("redundancy", -1.0, p_below, p_above),
    ):
        credible = false_discovery(probability, 1.0 - options.level)
        # the last digits depend on which column of a pair comes first: they must not decide
        order = np.lexsort((places[:, 1], places[:, 0], np.round(-sign * mean, 12), np.round(-probability, 12)))
        if top is None:
            order = order[((probability >= _MIN_LISTED_PROBABILITY) | credible)[order]][:_MAX_LISTED]
        else:
            # each pair is on one side only; that of synergy, if it says neither
            even = (mean >= 0.0) == (sign > 0.0)
            side = (probability > opposite) | ((probability == opposite) & even)
            order = order[side[order]][:top]
        listed.append(order)
        verdicts += [name if credible[pair] else "unsure" for pair in order.tolist()]
    return np.concatenate(listed), verdicts, p_above, p_below


def _with_tables(verdicts: list[str]) -> list[int]:
    """The indices of the first pairs of each verdict: their joint tables are stored."""
    return [
        index for index, verdict in enumerate(verdicts) if verdicts[:index].count(verdict) < _MAX_TABLES_PER_VERDICT
    ]


def _complete_rows(codes: ClassPairs, pairs: IntegerArray, threads: int | None) -> list[float]:
    """For each pair: the number of rows in which both columns and the target are present."""
    if not codes.layout[:, 2].any():
        return [codes.total] * len(pairs)
    rows: list[float] = []
    for some in codes.chunks(pairs):
        chunk = pairs[some]
        for pair, table in zip(chunk.tolist(), codes.tables(chunk, threads), strict=True):
            count = complete(codes, pair, table).sum().item()
            rows.append(int(count) if codes.counts_rows else count)
    return rows


def _joint(codes: ClassPairs, pair: list[int], table: FloatArray) -> JointTable:
    """The joint table of a pair as a record."""
    counts = complete(codes, pair, table)
    plain = (counts.astype(np.int64) if codes.counts_rows else counts).tolist()
    nested = tuple(tuple(map(tuple, each)) for each in plain)
    one, other = pair
    return JointTable(codes.names[one], codes.names[other], codes.labels[one], codes.labels[other], nested)
