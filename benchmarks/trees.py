"""Speed of `CredibleTreeClassifier.fit` beside scikit-learn's tree, on the same codes, one thread each.

1,000,000 rows x 50 columns of bytes, of ten values each, up to depth 10; both trees cut the codes as numbers.
Seconds of the processor, the best of a few runs; everything is included, from the array to the tree.

    python benchmarks/trees.py                     as in docs/performance.md
    python benchmarks/trees.py --rows 100000       a quick look
"""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from credimi import CredibleTreeClassifier

if TYPE_CHECKING:
    from collections.abc import Callable

DEPTH, VALUES, WARM = 10, 10, 2_000


def table(rows: int, columns: int) -> tuple[np.ndarray, np.ndarray]:
    """Codes, and a class that depends on seven of the columns."""
    generator = np.random.default_rng(0)
    codes = generator.integers(0, VALUES, (rows, columns), dtype=np.uint8)
    x = codes[:, :7].astype(float)
    score = 2.0 * (x[:, 0] > 4) + 3.0 * (x[:, 1] > 6) * (x[:, 2] < 3) + 2.0 * (x[:, 3] == 2)
    score += x[:, 5] / 5.0 * (x[:, 6] > 2) - 1.5 * (x[:, 4] > 5) - 3.0
    return codes, (generator.random(rows) < 1.0 / (1.0 + np.exp(-score))).astype(np.int64)


def seconds(repeats: int, call: Callable[[], object]) -> float:
    """Of the processor, the best of a few runs."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return min(times)


def main() -> None:
    """Print one line for each tree."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--columns", type=int, default=50)
    parser.add_argument("--repeats", type=int, default=2)
    options = parser.parse_args()
    codes, target = table(options.rows, max(options.columns, 7))
    ours, other = CredibleTreeClassifier(max_depth=DEPTH, n_jobs=1), DecisionTreeClassifier(max_depth=DEPTH)
    ours.fit(codes[:WARM], target[:WARM])  # loads the compiled code
    print("| tree | seconds | leaves | depth |\n|---|---:|---:|---:|")
    for name, model in (("CredibleTreeClassifier", ours), ("DecisionTreeClassifier", other)):
        spent = seconds(options.repeats, lambda model=model: model.fit(codes, target))
        print(f"| {name} | {spent:.2f} | {model.get_n_leaves()} | {model.get_depth()} |", flush=True)


if __name__ == "__main__":
    main()
