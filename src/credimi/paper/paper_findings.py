"""What of the paper's experiments is reproduced and what is not, and its table with ours beside it, from the report.

The paper says when it claims something; here the same figures are looked up in the report, and said beside the claim.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from credimi.core.types import Record

SETTINGS = ("paper", "uniform", "nearest")
_IN_WORDS = {"paper": "the paper's method: ", "uniform": "one count added: ", "nearest": "nearest to the figures: "}
_LAWS = {"leading": "Gaussian", "leading-beta": "Beta"}
SHORT = {"forward": "FF", "plugin": "F", "backward": "BF", "all": "none", "imputed": "imputed F"}
FILTERS = ("forward", "plugin", "backward")


@dataclass(frozen=True, slots=True)
class Part:
    """One table of the report: its title, what is said before it, its cells, what is said after it."""

    title: str
    head: Sequence[str]
    lines: Sequence[Sequence[str]]
    before: Sequence[str] = ()
    after: Sequence[str] = ()


def deviations(report: Record, prior: str, approximation: str) -> list[tuple[str, str, float]]:
    """Data set, rule, and by how many per cent our number of kept features deviates from the paper's."""
    return [
        (row["dataset"], row["rule"], 100.0 * (row["features_mean"] / row["paper_features"] - 1.0))
        for row in report["results"]
        if (row["prior"], row["approximation"]) == (prior, approximation) and row["paper_features"]
    ]


def named(report: Record, which: str) -> tuple[str, str]:
    """Prior and approximation of one of the settings that are compared with the paper."""
    setting = report["settings"][which]
    return setting["prior"], setting["approximation"]


def rows_of(report: Record, pair: tuple[str, str], rules: Sequence[str] = FILTERS) -> list[Record]:
    """The results of a setting, by data set and filter."""
    return [row for row in report["results"] if (row["prior"], row["approximation"]) == pair and row["rule"] in rules]


def mean_and_deviation(row: Record, name: str, digits: int) -> str:
    """A mean over the orders with its standard deviation, of which a single order has none."""
    deviation = row[f"{name}_sd"]
    return f"{row[f'{name}_mean']:.{digits}f}" + ("" if deviation is None else f" ± {deviation:.{digits}f}")


def _setting_name(report: Record, which: str) -> str:
    prior, approximation = named(report, which)
    law = _LAWS.get(approximation, approximation)
    return f"{_IN_WORDS.get(which, '')}{prior}, {law}"


def _near(report: Record, which: str) -> tuple[str, str]:
    """How many figures are within 10 % of the paper's, and the farthest; with how the nearest setting was chosen."""
    off = deviations(report, *named(report, which))
    within = f"{sum(abs(per_cent) <= 10.0 for *_, per_cent in off)} of {len(off)} within 10 %"
    if which == "nearest":
        within += f", chosen out of {report['settings']['settings_compared']} settings by these figures"
    name, rule, per_cent = max(off, key=lambda each: abs(each[2]))
    return within, f"{name}, {SHORT[rule]}, {per_cent:+.1f} %"


def compared(report: Record) -> Part:
    """The paper's table, and ours beside it in three settings."""
    row_of = {
        (which, row["dataset"], row["rule"]): row for which in SETTINGS for row in rows_of(report, named(report, which))
    }
    lines = []
    for dataset in report["datasets"]:
        for rule in FILTERS:
            paper = row_of["paper", dataset["dataset"], rule]["paper_features"]
            cells = [dataset["dataset"], SHORT[rule], "-" if paper is None else f"{paper:g}"]
            for which in SETTINGS:
                row = row_of[which, dataset["dataset"], rule]
                cell = mean_and_deviation(row, "features", 2)
                off = "" if paper is None else f" ({100.0 * (row['features_mean'] / paper - 1.0):+.1f} %)"
                cells.append(cell + off)
            lines.append(cells)
    after = []
    if deviations(report, *named(report, "paper")):
        for which in SETTINGS:
            within, farthest = _near(report, which)
            after.append(f"{_setting_name(report, which)}: {within}; the farthest: {farthest}.")
    return Part(
        "Features kept: the paper's table, and ours",
        ("data set", "filter", "the paper", *(_setting_name(report, which) for which in SETTINGS)),
        lines,
        ["Ours: mean and standard deviation over orders (deviation from the paper's figure)."],
        after,
    )


def findings(report: Record) -> Part | None:
    """What the paper claims, what came out, and whether that is the same."""
    sets = [each for each in report["datasets"] if any(row["paper_features"] for row in _of_set(report, each))]
    if not sets:
        return None
    names = [each["dataset"] for each in sets]
    different = [f"{each['dataset']}, {'; '.join(each['differences'])}" for each in sets if each["differences"]]
    lines: list[Sequence[str]] = [
        (
            "the five data sets, after discretisation",
            f"{len(sets) - len(different)} of {len(sets)} agree in all figures"
            + (f"; differences: {'. '.join(different)}" if different else ""),
            "yes" if not different else "nearly",
        )
    ]
    for which in SETTINGS:
        within, farthest = _near(report, which)
        total = len(deviations(report, *named(report, which)))
        verdict = "by choice" if which == "nearest" else "yes" if within.startswith(f"{total} of") else "in part"
        lines.append((f"features kept, {_setting_name(report, which)}", f"{within}; the farthest: {farthest}", verdict))
    lines += [_fewest(report, names, which) for which in SETTINGS[:2]]
    for which in SETTINGS[:2]:
        lines += _differences_of_accuracy(report, names, which)
        lines += [_claimed(claim) for claim in report["claim"] or [] if _is(report, claim, which)]
    return Part("What is reproduced, and what is not", ("the paper says", "what came out", "reproduced"), lines)


def _of_set(report: Record, dataset: Record) -> list[Record]:
    return [row for row in report["results"] if row["dataset"] == dataset["dataset"]]


def _is(report: Record, row: Record, which: str) -> bool:
    return (row["prior"], row["approximation"]) == named(report, which)


def _fewest(report: Record, names: Sequence[str], which: str) -> Sequence[str]:
    kept = {(row["dataset"], row["rule"]): row["features_mean"] for row in rows_of(report, named(report, which))}
    forward = sum(kept[name, "forward"] < kept[name, "plugin"] for name in names)
    backward = sum(kept[name, "plugin"] < kept[name, "backward"] for name in names)
    return (
        f"FF keeps fewer than F always, F fewer than BF almost always ({_prior(report, which)})",
        f"FF fewer than F on {forward} of {len(names)} data sets, F fewer than BF on {backward}",
        "yes" if forward == len(names) and backward >= len(names) - 1 else "in part",
    )


def _differences_of_accuracy(report: Record, names: Sequence[str], which: str) -> list[Sequence[str]]:
    """The paper's claim that FF and F differ nowhere but on hypothyroid; the paper seems to have used one order."""
    rows = [
        row
        for row in report["significance"]
        if row["rule"] == "forward" and row["dataset"] in names and _is(report, row, which)
    ]
    others = [row for row in rows if row["dataset"] != "hypothyroid"]
    if not others:
        return []
    said = [f"{row['dataset']} {row['differ']} of {row['orders']}" for row in others]
    none = sum(not row["differ"] for row in others)
    return [
        (
            f"FF and F differ significantly at no k, but on hypothyroid ({_prior(report, which)})",
            f"orders in which they do at some k: {', '.join(said)}",
            "yes" if none == len(others) else "in part" if none else "no",
        )
    ]


def _prior(report: Record, which: str) -> str:
    return named(report, which)[0]


def _claimed(claim: Record) -> Sequence[str]:
    first, orders = claim["first"], claim["orders"]
    said = f"FF is above F on hypothyroid at each k from {first} to {claim['last']}, most at {first}: .986 against .930"
    found = (
        f"at {first} in {claim['at_first']} of {orders} orders, throughout in {claim['throughout']}; mean accuracy at "
        f"{first}: {claim['accuracy_one']:.3f} against {claim['accuracy_other']:.3f}"
    )
    verdict = "yes" if 2 * claim["throughout"] > orders else "in part" if claim["at_first"] else "no"
    return f"{said} ({claim['prior']})", found, verdict
