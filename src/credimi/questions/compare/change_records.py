"""The rows of a `Comparison`: their figures, their claims and their verdicts.

There are three claims: I has grown by more than epsilon, I has fallen by more than epsilon, and I differs by at most
epsilon. The first two have their probability with the prior that most columns do not change. The third has it from the
two posteriors alone: with that prior it would be probable of any column, however few rows there are. The claim with the
largest probability is the one that the row makes; it becomes the verdict if its probability reaches the level. So one
number decides, and the rows are sorted by it: surely changed, surely the same, unsure. If none of the three is more
probable than not (the posteriors differ, but hardly more than samples of columns that are the same), the row makes no
claim: it is unsure, and the number is the largest of the three.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from credimi.core.arguments import require_share
from credimi.core.defaults import P_SAME
from credimi.core.errors import CredimiError
from credimi.inference.belief import Belief
from credimi.questions.compare.change_forecast import growth_to_decide
from credimi.questions.compare.many_changes import changes
from credimi.questions.compare.result import COLUMNS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from credimi.core.types import Record
    from credimi.questions.compare.change import Change
    from credimi.questions.compare.many_changes import Samples

MORE, LESS, SAME, UNSURE, NOT_COMPARED = "more", "less", "same", "unsure", "not compared"
_ORDER = {MORE: 0, LESS: 0, SAME: 1, UNSURE: 2, NOT_COMPARED: 3}
_GROWTHS = ("growth_to_decide", "growth_to_decide_low", "growth_to_decide_high")
_EVEN = 0.5  # below it a claim is less probable than its opposite
_FIGURES = {"mi": "mean", "low": "low", "high": "high"}


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareOptions(Belief):
    """Threshold and level of the change, and the prior probability that a column tells the same in both samples."""

    p_same: float = P_SAME

    def __post_init__(self) -> None:
        Belief.__post_init__(self)
        require_share("p_same", self.p_same)
        object.__setattr__(self, "p_same", float(self.p_same))

    @classmethod
    def of(cls, belief: Belief, p_same: float) -> CompareOptions:
        """The belief, and the probability that a column tells the same."""
        return cls(
            epsilon=belief.epsilon,
            level=belief.level,
            threads=belief.threads,
            p_same=p_same,
            epsilon_share=belief.epsilon_share,
        )

    def changes(self, samples: Samples) -> list[Change]:
        """The change of every pair of samples."""
        return changes(samples, epsilon=self.nats, level=self.level, p_same=self.p_same, threads=self.threads)


def record(
    row: Record, first: Record | None, second: Record | None, change_found: Change | None, options: CompareOptions
) -> Record:
    """One row of a comparison, with mean and interval in each sample; `change_found` is None if it cannot be."""
    for letter, figures in zip("ab", (first, second), strict=True):
        row |= {
            f"{name}_{letter}": math.nan if figures is None else figures[figure] for name, figure in _FIGURES.items()
        }
    if change_found is None:
        unknown = dict.fromkeys(
            ("change", "low", "high", "p_change", "p_more", "p_less", "p_same", "p_within", "p_claim", *_GROWTHS),
            math.nan,
        )
        return row | unknown | {"claim": "", "verdict": NOT_COMPARED}
    claim, p_claim = _claim(change_found, options.level)
    change, growths = row["mi_b"] - row["mi_a"], (math.nan,) * 3
    if p_claim < options.level:
        asked = {"p_same": options.p_same, "epsilon": options.nats, "level": options.level}
        interval = change_found.low, change_found.high
        low, median, high = growth_to_decide(change, interval, change_found.p_same, **asked)
        growths = median, low, high
    return row | {
        "change": change,
        "low": change_found.low,
        "high": change_found.high,
        "p_change": change_found.p_more + change_found.p_less,
        "p_more": change_found.p_more,
        "p_less": change_found.p_less,
        "p_same": change_found.p_same,
        "p_within": 1.0 - change_found.p_change_if_apart,
        "claim": claim,
        "p_claim": p_claim,
        "verdict": claim if p_claim >= options.level else UNSURE,
        **dict(zip(_GROWTHS, growths, strict=True)),
    }


def _claim(found: Change, level: float) -> tuple[str, float]:
    """The claim with the largest probability, and this; at levels below 1/2 a change goes first if several reach it."""
    claims = [(MORE, found.p_more), (LESS, found.p_less), (SAME, 1.0 - found.p_change_if_apart)]
    claim, largest = next((each for each in claims if each[1] >= level), max(claims, key=lambda each: each[1]))
    return (claim if largest >= min(level, _EVEN) else UNSURE), largest


def check_classes(target: str, first: Sequence[str], second: Sequence[str], both: Sequence[str]) -> None:
    """Raise an error if two samples have no class in common: their targets differ, or are written differently."""
    if first and second and len(both) == len(first) + len(second):
        one, other = (", ".join(map(repr, classes[:3])) + ", ..." * (len(classes) > 3) for classes in (first, second))
        raise CredimiError(
            f"target {target!r} has no class in common in the two, but {one} and {other}: write its classes in the "
            "same way, or compare tables of the same target"
        )


def check_several_classes(target: str, classes: Sequence[Sequence[str]], names: Sequence[str]) -> None:
    """Raise an error if a sample has one class only, as `rank` does: no column can tell anything there."""
    for sample_classes, name in zip(classes, names, strict=True):
        if len(sample_classes) < 2:
            only = f"one class only, {sample_classes[0]!r}" if sample_classes else "no class"
            raise CredimiError(
                f"target {target!r} has {only}, in {name}: nothing can inform about it there; compare samples of "
                "several classes"
            )


def in_order(rows: list[Record]) -> dict[str, list[object]]:
    """The rows as columns: surely changed, surely the same, unsure; columns that are not compared come last."""

    def key(row: Record) -> tuple[int, float, float, str]:
        if row["verdict"] == NOT_COMPARED:
            return _ORDER[NOT_COMPARED], 0.0, 0.0, ""  # as they are in the data
        is_open = row["verdict"] == UNSURE and row["p_claim"] == row["p_within"]
        towards_change = -row["p_claim"] if is_open else row["p_claim"]
        return _ORDER[row["verdict"]], -towards_change, -abs(row["change"]), row["feature"]

    rows = sorted(rows, key=key)
    return {
        name: [row[name] for row in rows] for name in COLUMNS if name != "note" or any("note" in row for row in rows)
    }


def settings_of(options: CompareOptions, missing: str) -> Record:
    """The options of the comparison."""
    return {
        **options.threshold,
        "level": options.level,
        "p_same": options.p_same,
        "prior": options.prior,
        "missing": missing,
        "units": "nats",
    }
