"""Where "matched" is rough: both sides missing, few complete rows. Judge: the quadrature on 2 x 2 of tests/oracle.py.

python studies/few_complete_rows.py     the table of docs/mathematics.md, some seconds
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import credimi
from credimi.inference.sampling import information_of

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
from oracle import quadrature

TABLES = [
    ([[1, 0], [0, 1]], [50, 50], [50, 50]),
    ([[5, 0], [0, 5]], [50, 50], [50, 50]),
    ([[15, 0], [2, 0]], [43, 4], [28, 8]),
    ([[0, 4], [0, 0]], [12, 0], [5, 9]),
]


def main() -> None:
    """Print one line a table, with the pseudo-count 1/2."""
    print("| joint | target only | feature only | exact mean, sd | matched mean, sd |\n|---|---|---|---|---|")
    for joint, target_only, feature_only in TABLES:
        cells, margins = np.array(joint) + 0.5, (np.array(target_only, float), np.array(feature_only, float))
        powers = [information_of, lambda chances: information_of(chances) ** 2]
        _, (first, second) = quadrature(cells, *margins, powers, nodes=110)
        margin = {"target_only": target_only, "feature_only": feature_only}
        matched = credimi.mutual_information(joint, prior="jeffreys", **margin)
        exact = f"{float(first):.3f}, {float(np.sqrt(second - first**2)):.3f}"
        print(f"| {joint} | {target_only} | {feature_only} | {exact} | {matched.mean():.3f}, {matched.std():.3f} |")


if __name__ == "__main__":
    main()
