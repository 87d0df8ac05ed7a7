"""The answers of a report: each question in turn, within the time.

A part gets a share of the time that is left. Where a question reports its progress, it is interrupted once this time is
over, as by Ctrl-C: `select`, `interactions` and `tree` answer with what they have so far, the others are left out.
Pairs take a time that grows with the square of the columns, networks more: of wide tables they get the columns that are
most informative about the target.
"""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING

import numpy as np

from credimi.core.arguments import require_number
from credimi.core.errors import CredimiError
from credimi.core.keywords import keywords_of
from credimi.core.remote_files import source_of
from credimi.questions.report.result import Cut, Report, Together
from credimi.sources.codes import codes_without_target

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from credimi.core.types import Data, Foreign, Record, Values
    from credimi.counts.reading import Reading
    from credimi.inference.belief import Belief
    from credimi.questions.rank.result import Ranking

PARTS = {  # the share of the time that is left; the most columns
    "select": (0.35, None),
    "tree": (0.4, None),
    "interactions": (0.5, None),
    "pairs": (0.6, 150),
    "network": (1.0, 40),
}
_WITHOUT_TARGET = ("pairs", "network")
_LEAST_SECONDS = 0.2  # a part with less is not begun
_MIN_TOGETHER = 0.5  # of the rows that lack one of two columns, those that lack both
_MAX_TOGETHER, _MAX_COLUMNS_TOGETHER = 12, 2_000


def reported(data: Data, target: Values, seconds: float, reading: Reading, belief: Belief) -> Report:
    """The report on what `credimi.report` takes."""
    limit = require_number("seconds", seconds)
    if not limit > 0.0:
        raise CredimiError(f"seconds is {seconds!r}: pass a time above 0")
    chosen = {name: _value(name, reading, belief) for name in sorted(reading.given) if name != "progress"}
    end = time.monotonic() + limit
    step = reading.progress or (lambda _share, _text: None)
    step(0.0, "rank")
    ranking: Ranking = _asked("rank", data, target, chosen, step)
    found: dict[str, Foreign] = {}
    cuts: list[Cut] = []
    interrupted = False
    for place, (part, (share, most)) in enumerate(PARTS.items(), 1):
        step(place / (len(PARTS) + 1), part)
        if interrupted or (left := end - time.monotonic()) < _LEAST_SECONDS:
            cuts.append(Cut(part, "interrupted" if interrupted else "no time was left"))
            continue
        own, fewer = _with_fewer_columns(part, most, ranking, target, chosen)
        clock = _Clock(share * left, partial(_step_of_part, step, place))
        try:
            found[part] = _asked(part, data, target, own, clock)
        except CredimiError as error:
            cuts.append(Cut(part, str(error)))
        except KeyboardInterrupt:
            interrupted = not clock.over
            cuts.append(Cut(part, "interrupted" if interrupted else f"took longer than {share * left:.0f} seconds"))
        except Exception as error:  # noqa: BLE001  (a part that fails leaves the others, and is said)
            cuts.append(Cut(part, f"{type(error).__name__}: {error}"))
        else:
            if clock.over:
                cuts.append(Cut(part, f"cut after {share * left:.0f} seconds: these are the results so far"))
            cuts += [Cut(part, fewer)] if fewer else []
    step(1.0, "report")
    return Report(
        target=ranking.target,
        rows=ranking.rows,
        ranking=ranking,
        selection=found.get("select"),
        tree=found.get("tree"),
        interactions=found.get("interactions"),
        pairs=found.get("pairs"),
        network=found.get("network"),
        cuts=tuple(cuts),
        together=tuple(_missing_together(data, reading)),
        settings=ranking.settings | {"seconds": limit, "asked": _plain(chosen | {"seconds": seconds})},
        source=source_of(data),
    )


def _plain(chosen: Record) -> Record:
    """The keywords that text can name: no arrays, no functions, no defaults."""
    kept = {name: value for name, value in chosen.items() if isinstance(value, str | int | float | list | tuple | dict)}
    return {name: value for name, value in kept.items() if (name, value) != ("seconds", 60.0)}


def _value(name: str, reading: Reading, belief: Belief) -> Foreign:
    return getattr(reading if hasattr(reading, name) else belief, name)


class _Clock:
    """Progress of a part, which is interrupted once its time is over."""

    def __init__(self, seconds: float, then: Callable[[float, str], None]) -> None:
        self._end, self._then, self.over = time.monotonic() + seconds, then, False

    def __call__(self, share: float, text: str = "") -> None:
        """Pass the progress on, or interrupt."""
        if not self.over and share < 1.0 and time.monotonic() > self._end:
            self.over = True
            raise KeyboardInterrupt
        self._then(share, text)


def _step_of_part(step: Callable[[float, str], None], place: int, share: float, text: str) -> None:
    step((place + min(share, 1.0)) / (len(PARTS) + 1), text)


def _asked(part: str, data: Data, target: Values, chosen: Record, progress: Callable[[float, str], None]) -> Foreign:
    """The answer of a public function, with those of the chosen keywords that it has."""
    public = getattr(import_module("credimi"), part)
    known = keywords_of(public)
    own = {name: value for name, value in chosen.items() if name in known}
    return public(data, *(() if part in _WITHOUT_TARGET else (target,)), **own, progress=progress)


def _with_fewer_columns(
    part: str, most: int | None, ranking: Ranking, target: Values, chosen: Record
) -> tuple[Record, str]:
    """The keywords of a part of which wide tables have fewer columns, and the sentence that says so."""
    names = [name for name, mi in zip(*(ranking.figures[each] for each in ("feature", "mi")), strict=True) if mi == mi]  # noqa: PLR0124  (NaN)
    if part not in _WITHOUT_TARGET or most is None or (len(names) < most and "features" not in chosen):
        return chosen, ""
    beside = [target] if isinstance(target, str) else []
    fewer = {name: value for name, value in chosen.items() if name != "exclude"}
    said = f"has the {most} most informative of {len(names):,} columns" if len(names) > most else ""
    return fewer | {"features": [*names[:most], *beside]}, said


def _missing_together(data: Data, reading: Reading) -> Iterator[Together]:
    """Pairs of columns that lack values in the same rows, the most alike first."""
    try:
        codes = codes_without_target(data, replace(reading, target_cuts=None, discretize="quantile:2", progress=None))
    except CredimiError:
        return
    absent = [column == size for column, size in zip(codes.columns, codes.sizes.tolist(), strict=True)]
    some = [place for place, each in enumerate(absent) if each.any()][:_MAX_COLUMNS_TOGETHER]
    if len(some) < 2:
        return
    mask = np.stack([absent[place] for place in some]).astype(np.float32)
    both = mask @ mask.T
    alone = np.diag(both)
    share = both / np.maximum(alone[:, None] + alone[None, :] - both, 1.0)
    one, other = np.nonzero(np.triu(share >= _MIN_TOGETHER, 1))
    order = np.argsort(-share[one, other], kind="stable")[:_MAX_TOGETHER]
    for first, second in zip(one[order].tolist(), other[order].tolist(), strict=True):
        a, b = (codes.names[some[place]] for place in (first, second))
        yield Together(a, b, round(float(both[first, second])), float(share[first, second]))
