"""`pairs`: what every two columns of a table tell about each other.

    rows ──codes──> `PairCounter` ──tables of some pairs──> `figures_of` ──> `Pairs`

Pairs are counted and judged in blocks, so that the tables of all pairs are never in memory at once. The codes take a
byte for each cell, and columns with few values are also stored as bits. Besides, a pair takes 56 bytes in the result,
and the tables at work take a few hundred MB. 5,000 columns have 12.5 million pairs: 0.7 GB.

The share of independent pairs is learned from all pairs, as the rule fdr does for features (see `rules`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from credimi.core.errors import CredimiError
from credimi.core.special import entropy
from credimi.counts.local_counter import LocalCounter
from credimi.counts.weights import on_weights
from credimi.inference.tables.pair_figures import PairFigures, figures_of
from credimi.questions.pairs.missing_by_others import MissingByOthers
from credimi.questions.pairs.pair_request import PairRequest
from credimi.questions.pairs.refined_pairs import Refinement, refined
from credimi.questions.pairs.result import Pairs
from credimi.sources.codes import counter_without_target

if TYPE_CHECKING:
    from collections.abc import Callable

    from credimi.core.types import Data, Record
    from credimi.counts.counter import Counter
    from credimi.counts.reading import Reading
    from credimi.inference.belief import Belief

_ALL_ON_CPU = PairRequest()
_READING_SHARE = 0.1  # of the whole progress


def pairs_in(data: Data, request: PairRequest, max_values: int, reading: Reading, belief: Belief) -> Pairs:
    """The answer to what `credimi.pairs` takes."""
    belief = belief.settled()
    if request.refine is not None and belief.approximation == "sampled":
        raise CredimiError("refine='forest' cannot average sampled posteriors: leave out approximation='sampled'")
    with counter_without_target(data, reading.part(0.0, _READING_SHARE), max_values=max_values) as counter:
        return pairs_of(counter, belief, request, progress=reading.part(_READING_SHARE, 1.0).step("judging pairs"))


def pairs_of(
    counter: Counter,
    options: Belief,
    request: PairRequest = _ALL_ON_CPU,
    *,
    progress: Callable[[float], None] = lambda _share: None,
) -> Pairs:
    """The same as `pairs`, for columns that are encoded already."""
    book = counter.book
    if len(book.features) + len(book.left_out) < 2:
        only = f"only the column {book.features[0].name!r}" if book.features else "no column"
        raise CredimiError(
            f"there is {only}, and a pair has two columns: pass data that have more, or "
            "name more (features, --features)"
        )
    if request.device == "gpu":
        if not isinstance(counter, LocalCounter) or counter.codes.weights is not None:
            raise CredimiError("device='gpu' needs rows in this process, and without weights: leave the device out")
        return _on_gpu(counter, options, request, progress)
    if request.refine is not None:
        if not isinstance(counter, LocalCounter):
            raise CredimiError("refine='forest' needs rows in this process: collect them into a table, or leave it out")
        return _refined(counter, options, request, progress)
    counted, missing = counter.by_pair(), MissingByOthers(len(book.names))

    def fill(figures: PairFigures) -> None:
        done = 0
        for first, stop in counted.blocks():
            tables = counted.tables(first, stop)
            figures.put(done, figures_of(tables, options))
            missing.add(tables, *counted.pairs(first, stop))
            done += tables.rows.size
            progress(done / len(counted))

    return request.of(_result(counter, request.figures(len(counted), fill), options, missing=missing))


def _refined(counter: LocalCounter, options: Belief, request: PairRequest, progress: Callable[[float], None]) -> Pairs:
    refinement = Refinement(counter.codes, request.random_state, options.threads)
    count = len(counter.book.names)
    missing = MissingByOthers(count)

    def fill(out: PairFigures) -> None:
        refined(refinement, options, request.imputations, out, missing=missing, report_progress=progress)

    figures = request.figures(count * (count - 1) // 2, fill)
    settings = {"refine": request.refine, "imputations": request.imputations if refinement.missing else 0}
    settings |= {"seed": request.random_state, "rounds": refinement.rounds, "settled": refinement.settled}
    return request.of(_result(counter, figures, options, settings, missing))


def _on_gpu(counter: LocalCounter, options: Belief, request: PairRequest, progress: Callable[[float], None]) -> Pairs:
    from credimi.questions.pairs.gpu import pairs_on_device  # noqa: PLC0415  (only where it is asked for)

    products = pairs_on_device.products_of(counter.codes)
    if request.some:
        best = pairs_on_device.best_pairs(
            products, options, top=request.top, p_dependent=request.p_dependent, progress=progress
        )
        whole = _result(counter, PairFigures(**best.figures), options)
        return replace(whole, chosen=(best.one, best.other), learned=best.odds.share())

    def fill(figures: PairFigures) -> None:
        arrays = {name: getattr(figures, name) for name in pairs_on_device.FIGURES}
        pairs_on_device.all_pairs(products, options, out=arrays, progress=progress)

    return _result(counter, request.figures(len(products), fill), options)


def _result(
    counter: Counter,
    figures: PairFigures,
    options: Belief,
    refinement: Record | None = None,
    missing: MissingByOthers | None = None,
) -> Pairs:
    book = counter.book
    settings: Record = {
        **options.threshold,
        "level": options.level,
        "prior": options.prior,
        "approximation": options.approximation,
        **({"refine": None} if refinement is None else refinement),
    }
    has_third = len(book.names) > 2  # with two columns, the margins of a pair account for all missing values
    missing_depends = missing.credible(options.threads) if missing is not None and has_third else {}
    facts = tuple(
        feature.facts
        | {"values": len(feature.values), "method_without_target": "quantile"}
        | ({"missing_depends": book.names[missing_depends[number][0]]} if number in missing_depends else {})
        for number, feature in enumerate((*book.features, *book.left_out))
    )
    entropies = np.array([entropy(feature.block[:, :-1].sum(axis=0)) for feature in book.features])
    return Pairs(book.names, counter.rows, figures, entropies, settings, facts, remarks=on_weights(counter))
