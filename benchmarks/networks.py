"""`credimi.network` of many columns: time and memory, each table in a process of its own.

"Sparse": each column of two values depends on up to two of the twenty before it. "One cause": all columns depend on one
that is not in the table, so that all pairs depend, and none is separated by another column; this is the worst case.

    python benchmarks/networks.py                            as in docs/performance.md
    python benchmarks/networks.py --columns 100 --rows 200   a quick look
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import time

import numpy as np

SPARSE, ONE_CAUSE = "sparse", "one cause"
MISSING = 0.1


def sparse(rows: int, columns: int) -> np.ndarray:
    """Each column depends on up to two of the twenty before it."""
    generator = np.random.default_rng(0)
    table = np.zeros((rows, columns), dtype=np.int64)
    for column in range(columns):
        before = np.arange(max(0, column - 20), column)
        parents = generator.choice(before, min(int(generator.integers(0, 3)), before.size), replace=False)
        if parents.size:
            shares = generator.dirichlet([0.5, 0.5], 2**parents.size)[:, 1]
        else:
            shares = generator.uniform(0.25, 0.75, 1)
        where = table[:, parents] @ (1 << np.arange(parents.size))
        table[:, column] = generator.random(rows) < shares[where]
    return table.astype(np.float64)


def one_cause(rows: int, columns: int) -> np.ndarray:
    """All columns are the same hidden one, wrong in a fifth of the rows."""
    generator = np.random.default_rng(0)
    hidden = generator.integers(0, 2, (rows, 1))
    return np.where(generator.random((rows, columns)) < 0.2, 1 - hidden, hidden).astype(np.float64)


def measure(kind: str, missing: float, rows: int, columns: int) -> None:
    """Print one line."""
    import credimi  # noqa: PLC0415  (the process that starts the others does without)

    table = (sparse if kind == SPARSE else one_cause)(rows, columns)
    table[np.random.default_rng(1).random(table.shape) < missing] = np.nan
    credimi.network(table[:, : min(columns, 20)])  # kernels are loaded once
    start, before = time.perf_counter(), time.process_time()
    network = credimi.network(table)
    wall, cpu = time.perf_counter() - start, time.process_time() - before
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(
        f"| {kind} | {columns:,} | {rows:,} | {missing:.0%} | {wall:.1f} | {cpu:.1f} | {peak:.2f} | {len(network):,} |",
        flush=True,
    )


def main() -> None:
    """Print one line a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=500)
    parser.add_argument("--columns", type=int, nargs="+", default=[1000, 5000])
    parser.add_argument("--table", nargs=2, help=argparse.SUPPRESS)  # kind and share missing: this very process
    options = parser.parse_args()
    if options.table:
        measure(options.table[0], float(options.table[1]), options.rows, options.columns[0])
        return
    print("| table | columns | rows | missing | wall, s | CPU, s | largest memory, GB | edges |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|", flush=True)
    for columns in options.columns:
        for kind, missing in ((SPARSE, 0.0), (SPARSE, MISSING), (ONE_CAUSE, 0.0)):
            size = ["--rows", str(options.rows), "--columns", str(columns)]
            command = [sys.executable, __file__, *size, "--table", kind, str(missing)]
            subprocess.run(command, check=True, env=os.environ)  # noqa: S603  (our own)


if __name__ == "__main__":
    main()
