"""The rows of a `Comparison`: their figures and their verdicts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from credimi.core.arguments import require_share
from credimi.core.errors import CredimiError
from credimi.inference import change
from credimi.inference.batched.many_changes import changes
from credimi.inference.options import PosteriorOptions
from credimi.selection.comparisons.comparison import COLUMNS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from credimi.core.types import Record
    from credimi.inference.batched.many_changes import Samples
    from credimi.inference.change import Change

_FIGURES = {"mi": "mean", "low": "low", "high": "high"}


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareOptions(PosteriorOptions):
    """Threshold and level of the change, and the prior probability that a column tells the same in both samples."""

    p_same: float = change.P_SAME

    def __post_init__(self) -> None:
        PosteriorOptions.__post_init__(self)
        require_share("p_same", self.p_same)
        object.__setattr__(self, "p_same", float(self.p_same))

    def changes(self, samples: Samples) -> list[change.Change]:
        """The change of every pair of samples."""
        return changes(samples, epsilon=self.epsilon, level=self.level, p_same=self.p_same, threads=self.threads)


def record(
    row: Record, first: Record | None, second: Record | None, change_found: Change | None, options: CompareOptions
) -> Record:
    """One row of a comparison, with mean and interval in each sample; `change_found` is None if it cannot be."""
    for letter, figures in zip("ab", (first, second), strict=True):
        row |= {
            f"{name}_{letter}": math.nan if figures is None else figures[figure] for name, figure in _FIGURES.items()
        }
    if change_found is None:
        unknown = dict.fromkeys(("change", "low", "high", "p_change", "p_more", "p_less", "p_same"), math.nan)
        return row | unknown | {"verdict": "not compared"}
    return row | {
        "change": row["mi_b"] - row["mi_a"],
        "low": change_found.low,
        "high": change_found.high,
        "p_change": change_found.p_more + change_found.p_less,
        "p_more": change_found.p_more,
        "p_less": change_found.p_less,
        "p_same": change_found.p_same,
        "verdict": _verdict(change_found, options.level),
    }


def _verdict(change_figures: Change, level: float) -> str:
    """The verdict: more or less, at the level; same, if the two posteriors alone say so, at the level."""
    if change_figures.p_more >= level:
        return "more"
    if change_figures.p_less >= level:
        return "less"
    return "same" if 1.0 - change_figures.p_change_if_apart >= level else "unsure"


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
    """The rows as columns, the surest change first; columns that are not compared come last."""

    def key(row: Record) -> tuple[bool, float, float]:
        unknown = row["verdict"] == "not compared"
        return (True, 0.0, 0.0) if unknown else (False, -row["p_change"], -abs(row["change"]))

    rows = sorted(rows, key=key)
    return {name: [row[name] for row in rows] for name in COLUMNS}


def settings_of(options: CompareOptions, missing: str) -> Record:
    """The options of the comparison."""
    return {
        "epsilon": options.epsilon,
        "level": options.level,
        "p_same": options.p_same,
        "prior": options.prior,
        "missing": missing,
        "units": "nats",
    }
