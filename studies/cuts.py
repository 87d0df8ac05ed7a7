"""What cuts that look at the target cost: noise that is kept, and what is found, with the choice paid for and without.

Columns of numbers with two or five classes. Noise is independent of the class; of the others the mean moves with the
class, by so many deviations from each class to the next. The rule is forward, at the default epsilon and level. Printed
in percent of the columns: those of which a cut passes the MDL test; those kept as `rank` decides, where the evidence is
averaged over all places of the cuts (see `credimi.columns.numbers.discretize`); those kept if it is not; and with
`quantile`, whose cuts do not look at the target.

    python studies/cuts.py                   the table of docs/adaptive.md, four minutes
    python studies/cuts.py --columns 100     a quick look
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

import numpy as np

import credimi
from credimi.core.tables import Tables
from credimi.inference.belief import Belief
from credimi.inference.tables.many_tables import summarize

if TYPE_CHECKING:
    from credimi.columns.feature import Feature

LINES = [(classes, rows, shift) for classes in (2, 5) for rows in (100, 300, 1_000) for shift in (0.0, 0.3, 0.6)]
EPSILON, LEVEL = 0.003, 0.95


def percent_kept(features: list[Feature], odds: list[float]) -> float:
    """The percentage of the features that the rule forward keeps, with these prior odds of dependence."""
    blocks = Tables.of([feature.block.astype(np.float64) for feature in features], odds)
    posteriors = summarize(blocks, Belief(epsilon=EPSILON, level=LEVEL))
    return 100.0 * float(np.mean(posteriors.p_above >= LEVEL))


def main() -> None:
    """Print one line a case."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--columns", type=int, default=2_000, help="a line, of noise ten times (default: %(default)s)")
    options = parser.parse_args()
    generator = np.random.default_rng(0)
    print("| classes | rows | shift | a cut passes | kept | kept, not corrected | kept, quantile |")
    print("|---:|---:|---:|---:|---:|---:|---:|")
    for classes, rows, shift in LINES:
        shares: dict[str, list[float]] = {"passed": [], "paid": [], "not paid": [], "quantile": []}
        for _ in range(1 if shift else 10):
            target = generator.integers(0, classes, rows)
            columns = {str(index): generator.normal(shift * target) for index in range(options.columns)}
            cut = credimi.count(columns, target, discretize="mdl").interpreted()
            even = credimi.count(columns, target, discretize="quantile").interpreted()
            shares["passed"].append(100.0 * float(np.mean([feature.cut_by == "mdl" for feature in cut])))
            shares["paid"].append(percent_kept(cut, [feature.odds for feature in cut]))
            shares["not paid"].append(percent_kept(cut, [1.0] * len(cut)))
            shares["quantile"].append(percent_kept(even, [1.0] * len(even)))
        figures = " | ".join(f"{np.mean(each):.2f}" for each in shares.values())
        print(f"| {classes} | {rows:,} | {shift:g} | {figures} |", flush=True)


if __name__ == "__main__":
    main()
