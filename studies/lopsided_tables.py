"""How far P(independent) is from an exact sum if both sides have missing values, in lopsided and in usual tables.

Lopsided: one cell has nearly all rows, other cells, classes and values have few or none, and margins have from none to
ten times the largest cell. Usual: cells around independence, 5 to 40 % missing on each side. Judge: all rows that lack
the target are allocated to the classes in all ways; given an allocation the evidence is closed, in forty digits. So few
rows lack the target, up to 12 of each value (4 if there are three classes). Shapes are 2 x 2 to 3 x 3. Printed: the
mean and the largest difference, and how many tables are marked as doubtful.

    python studies/lopsided_tables.py               the table of docs/accuracy.md, minutes
    python studies/lopsided_tables.py --tables 2    a quick look
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import mpmath
import numpy as np

from credimi.core.tables import Tables
from credimi.inference.evidence import adaptive_prior

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
from allocation_oracle import exact

LARGEST = [1e1, 1e2, 1e4, 1e6, 1e8, 1e9, 1e10, 1e12]


def lopsided(largest: float, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A table whose largest cell is about so large: cells at random, or near independence with rare classes."""
    rows, columns = generator.integers(2, 4, 2)
    if generator.random() < 0.5:
        joint = np.floor(10.0 ** generator.uniform(-1.0, generator.choice([1.5, 4.0, 7.0]), (rows, columns)))
        joint[generator.integers(rows), generator.integers(columns)] = largest
    else:
        shares = [10.0 ** generator.uniform(-7.0, 0.0, size) for size in (rows, columns)]
        shares[0][0] = shares[1][0] = 1.0
        joint = generator.poisson(largest * np.outer(*shares)).astype(float)
    row_only = np.floor(10.0 ** generator.uniform(-1.0, generator.choice([1.5, 4.0, np.log10(10.0 * largest)]), rows))
    return _with_few_left(joint, row_only, generator)


def usual(generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Thirty to three thousand rows around independence."""
    rows, columns = generator.integers(2, 4, 2)
    shares = np.outer(generator.dirichlet(np.full(rows, 3.0)), generator.dirichlet(np.full(columns, 3.0)))
    chances = generator.dirichlet(10.0 ** generator.uniform(0.5, 3.0) * shares.ravel() + 1e-6)
    size, share = int(10.0 ** generator.uniform(1.5, 3.5)), generator.choice([0.05, 0.1, 0.2, 0.4])
    joint = generator.multinomial(size, chances).reshape(rows, columns).astype(float)
    row_only = generator.multinomial(int(size * share) + 1, chances.reshape(rows, columns).sum(axis=1)).astype(float)
    return _with_few_left(joint, row_only, generator)


def _with_few_left(
    joint: np.ndarray, row_only: np.ndarray, generator: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    row_only[0] += 1.0
    joint[0, 0] += joint.sum() == 0.0
    column_only = generator.integers(0, 13 if len(joint) == 2 else 5, joint.shape[1]).astype(float)
    column_only[0] += 1.0
    return joint, row_only, column_only


def report(name: str, tables: list[tuple[np.ndarray, np.ndarray, np.ndarray]]) -> None:
    """Print one line of the table."""
    blocks = []
    for joint, row_only, column_only in tables:
        block = np.zeros((joint.shape[0] + 1, joint.shape[1] + 1))
        block[:-1, :-1], block[:-1, -1], block[-1, :-1] = joint, row_only, column_only
        blocks.append(block)
    found = adaptive_prior.components(Tables.of(blocks))
    off = np.abs(found.p_zero - [exact(*table) for table in tables])
    marked = int(np.sum(found.approximate))
    print(f"| {name} | {len(tables)} | {off.mean():.5f} | {off.max():.4f} | {marked} |", flush=True)


def main() -> None:
    """Print the table of docs/accuracy.md."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=60, help="of each kind")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    generator = np.random.default_rng(arguments.seed)
    mpmath.mp.dps = 40
    print("| tables | number | mean difference | largest | marked |")
    print("|---|---:|---:|---:|---:|")
    report("usual", [usual(generator) for _ in range(arguments.tables)])
    for largest in LARGEST:
        tables = [lopsided(largest, generator) for _ in range(arguments.tables)]
        report(f"lopsided, largest cell about {largest:.0e}", tables)


if __name__ == "__main__":
    main()
