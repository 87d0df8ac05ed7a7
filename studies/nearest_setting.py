"""Which one setting comes nearest to the paper's fifteen figures of features kept: the search behind `NEAREST`.

Hutter and Zaffalon (2003) do not say all of their setting. This compares pseudo-counts from 0 to 1 with both laws that
the paper offers for its moments, and three priors with matched moments. What is found fits the figures that it was
chosen by.

    .venv/bin/python studies/nearest_setting.py --data DIR

takes some minutes; the hypothyroid data, which have most rows, get half of the orders.
"""

from __future__ import annotations

import argparse

from credimi.paper import paper_datasets
from credimi.paper.prequential import prequential
from credimi.paper.reproduction import FILTERS, NAMED_PRIORS

NUMBERS = (0.001, 0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.3, 0.4, 0.6, 0.75)
LONG = 1000  # rows


def settings() -> list[tuple[str | float, str]]:
    """All that are compared."""
    laws = [(prior, law) for law in ("leading", "leading-beta") for prior in (*NAMED_PRIORS, *NUMBERS)]
    return [*laws, *((prior, "matched") for prior in NAMED_PRIORS[1:])]


def main() -> None:
    """Print one line a setting."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", help="the folder of the data sets (default: CREDIMI_DATA, else downloaded)")
    parser.add_argument("--orders", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--dataset", action="append", help="one data set only; may be repeated")
    options = parser.parse_args()
    sets = [paper_datasets.load(name, options.data) for name in options.dataset or paper_datasets.INCOMPLETE]
    print("| approximation | prior | within 10 % | farthest, % | " + " | ".join(each.name for each in sets) + " |")
    print("|---|---|---:|---:|" + "---|" * len(sets))
    for prior, approximation in settings():
        off, cells = [], []
        for each in sets:
            orders = max(1, options.orders // 2) if len(each.rows) > LONG else options.orders
            run = prequential(
                each.rows,
                rules=FILTERS,
                prior=prior,
                approximation=approximation,
                orders=orders,
                random_state=options.seed,
            )
            features_kept = run.features.mean(axis=1).tolist()
            off += [100.0 * (ours / each.paper[rule] - 1.0) for rule, ours in zip(FILTERS, features_kept, strict=True)]
            cells.append(" / ".join(f"{ours:.1f}" for ours in features_kept))
        near = sum(abs(per_cent) <= 10.0 for per_cent in off)
        print(f"| {approximation} | {prior} | {near} | {max(off, key=abs):+.1f} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
