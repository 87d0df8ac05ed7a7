"""What is lost where a column has more distinct numbers than are kept: labels, their error, cuts and information.

Counts keep at most 32,768 numbers a column, 1,024 where the columns are very many; beyond, the last bits of the doubles
are dropped, as few as will do (`credimi.columns.labels`). Here a million distinct numbers of several laws are counted
so, with a target of two classes that depends on them, and cut. The judge cuts the million rows as they are.

    .venv/bin/python studies/coarse_numbers.py          half a minute

error         the most that a number and its label differ, over the number
in one label  the largest share of rows that have become one number
cuts          of the judge, and with coarse numbers
I             mutual information of the cut column with the target, from the plain frequencies, in nats: the judge's,
              and by how much the coarse cuts fall short of it, or are beyond
"""

from __future__ import annotations

import argparse

import numpy as np

import credimi
from credimi.columns import labels
from credimi.columns.numbers.ranges import bins_of


def distributions(rows: int) -> dict[str, np.ndarray]:
    """Numbers of several magnitudes."""
    generator = np.random.default_rng(0)
    return {
        "uniform": generator.random(rows),
        "normal": generator.normal(size=rows),
        "log-normal, sd 2": generator.lognormal(0.0, 2.0, rows),
        "Cauchy": generator.standard_cauchy(rows),
        "seconds since 1970": 1.7e9 + np.cumsum(generator.exponential(0.1, rows)),
        "two clusters, 1e-6 wide": np.where(generator.random(rows) < 0.5, 1.0, 1e6)
        * (1 + 1e-6 * generator.random(rows)),
    }


def information(codes: np.ndarray, classes: np.ndarray) -> float:
    """Of the frequencies."""
    joint = np.bincount(2 * codes + classes, minlength=2 * (codes.max() + 1)).reshape(-1, 2) / codes.size
    outer = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0)
    return float((joint[joint > 0] * np.log(joint[joint > 0] / outer[joint > 0])).sum())


def main() -> None:
    """Print one line for each distribution and limit."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000, help="(default: %(default)s)")
    parser.add_argument(
        "--limits", type=int, nargs="+", default=[labels.MAX_LABELS, 1024], help="(default: %(default)s)"
    )
    options = parser.parse_args()
    print("| numbers | at most | kept | error | in one label | cuts | I | difference |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    for name, numbers in distributions(options.rows).items():
        ranks = np.argsort(np.argsort(numbers)) / options.rows
        probability = 0.5 + 0.35 * np.sin(7.0 * ranks)  # up, down and up again
        classes = (np.random.default_rng(1).random(options.rows) < probability).astype(np.int64)
        judge = credimi.EntropyDiscretizer().fit(numbers[:, None], classes).cut_points_[0]
        best = information(bins_of(numbers, judge), classes)
        for limit in options.limits:
            labels.MAX_LABELS = limit
            counts = credimi.count({"x": numbers, "class": classes}, "class", discretize="mdl")
            counted_labels, cuts = counts.labels[0], counts.feature("x").cuts
            share = counts.blocks()[0].sum(axis=0).max() / options.rows
            error = 0.0 if counted_labels.dropped_bits == 0 else 2.0 ** (counted_labels.dropped_bits - 52)
            lost = information(bins_of(numbers, cuts), classes) - best
            print(
                f"| {name} | {limit:,} | {len(counted_labels):,} | {error:.1g} | {share:.2g} | {len(judge)}, "
                f"{len(cuts)} | {best:.5f} | {lost:+.1e} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
