"""How many pairs of columns a second are looked at for interactions; beside PLINK, and a plain loop with NumPy.

Genotypes: columns of three values (0, 1, 2 copies of an allele that is more or less rare), two classes, one pair that
interacts. PLINK 1.9 tests all pairs with `--fast-epistasis boost` (a file in its own binary format); credimi reads an
array of bytes, looks at all pairs, and gives a posterior to those that may be more than nothing. The times are seconds
of processor time on one thread, of several runs the shortest: of the whole, reading and preparing the columns
included, and for credimi also of the search alone. Of the loop with NumPy, which counts a pair with `bincount` and
takes the same sums of n log n, a few pairs are timed.

Then columns of two and of ten values, binary tables of 10,000 columns, and the largest memory of all.

    python benchmarks/interactions.py                                 the tables of docs/performance.md
    python benchmarks/interactions.py --columns 300 --wide 500        a quick look
"""

from __future__ import annotations

import argparse
import resource
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import credimi
from credimi.counts.local_counter import LocalCounter
from credimi.counts.request import CountRequest
from credimi.questions.interactions.interaction_search import candidates
from credimi.sources.codes import encoded_table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Bytes = NDArray[np.uint8]
    Classes = NDArray[np.int64]

REPEATS = 3


def genotypes(rows: int, columns: int) -> tuple[Bytes, Classes]:
    """Columns in which an allele has a share of .1 to .5; the first two interact."""
    generator = np.random.default_rng(0)
    codes = generator.binomial(2, generator.uniform(0.1, 0.5, columns), (rows, columns)).astype(np.uint8)
    odd = (codes[:, 0] + codes[:, 1]) % 2
    return codes, np.where(generator.random(rows) < 0.4, odd, generator.integers(0, 2, rows))


def write_plink(codes: Bytes, classes: Classes, stem: Path) -> None:
    """The same in PLINK's binary format: two bits a genotype, column by column."""
    rows, columns = codes.shape
    bits = np.array([3, 2, 0], dtype=np.uint8)[codes]
    fours = np.vstack([bits, np.zeros((-rows % 4, columns), dtype=np.uint8)]).T.reshape(columns, -1, 4)
    packed = fours[..., 0] | (fours[..., 1] << 2) | (fours[..., 2] << 4) | (fours[..., 3] << 6)
    stem.with_suffix(".bed").write_bytes(b"\x6c\x1b\x01" + packed.astype(np.uint8).tobytes())
    snps = (f"1\ts{number}\t0\t{1_000 * (number + 1)}\tA\tC\n" for number in range(columns))
    stem.with_suffix(".bim").write_text("".join(snps), encoding="ascii")
    people = (f"f{row} i{row} 0 0 1 {each + 1}\n" for row, each in enumerate(classes.tolist()))
    stem.with_suffix(".fam").write_text("".join(people), encoding="ascii")


def by_plink(codes: Bytes, classes: Classes) -> float | None:
    """Seconds of processor time, or None where PLINK is not installed (Debian's package plink1.9)."""
    program = shutil.which("plink1.9")
    if program is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        stem = Path(folder) / "data"
        write_plink(codes, classes, stem)
        command = [program, "--bfile", str(stem), "--fast-epistasis", "boost", "--threads", "1", "--out", str(stem)]
        times = []
        for _ in range(REPEATS):
            before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
            subprocess.run(command, check=True, capture_output=True)  # noqa: S603  (PLINK itself)
            times.append(resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before)
    return max(min(times), 0.001)  # the clock's tick


def by_credimi(codes: Bytes, classes: Classes) -> tuple[float, float]:
    """Seconds of processor time on one thread, of the whole and of the search alone; compiling is not counted."""
    credimi.interactions(codes[:, :200], classes, threads=1)
    times, searches = [], []
    for _ in range(REPEATS):
        start = time.process_time()
        result = credimi.interactions(codes, classes, threads=1, top=1)
        times.append(time.process_time() - start)
    best = result.pairs[0]
    if {best.a, best.b} != {"column 0", "column 1"}:
        print("  the pair that interacts was not found")
    table = encoded_table(codes, CountRequest.of(classes))
    prepared = LocalCounter(table.codes()).by_pair_and_class()
    for _ in range(REPEATS):
        start = time.process_time()
        candidates(prepared, 0.003, 1, lambda _: None)
        searches.append(time.process_time() - start)
    return min(times), min(searches)


def by_numpy(codes: Bytes, classes: Classes, pairs: int = 2_000) -> float:
    """Seconds that all pairs would take, from a few of them."""
    columns, values = codes.shape[1], int(codes.max()) + 1
    long_codes, logs = (
        codes.astype(np.int64),
        np.arange(len(codes) + 1) * np.log(np.maximum(np.arange(len(codes) + 1), 1)),
    )
    start = time.process_time()
    for number in range(pairs):
        one, other = number % columns, (number * 7 + 1) % columns
        cells = np.bincount(
            (classes * values + long_codes[:, one]) * values + long_codes[:, other], minlength=2 * values**2
        )
        table = cells.reshape(2, values, values)
        logs[table].sum() - logs[table.sum(axis=1)].sum() - logs[table.sum(axis=2)].sum()
    return (time.process_time() - start) / pairs * (columns * (columns - 1) // 2)


def compare(rows: tuple[int, ...], columns: int) -> None:
    """Print one line a number of rows."""
    pairs = columns * (columns - 1) // 2
    print(f"genotypes, {columns:,} columns, {pairs:,} pairs, one thread; pairs a second")
    print("| rows | PLINK 1.9, boost | credimi | factor | search alone | factor | its pairs x rows | loop with NumPy |")
    print("|---:|---:|---:|---:|---:|---:|---:|---:|")
    for count in rows:
        codes, classes = genotypes(count, columns)
        theirs, (ours, search), plain = by_plink(codes, classes), by_credimi(codes, classes), by_numpy(codes, classes)
        factors = ["" if theirs is None else f"{theirs / each:.1f}" for each in (ours, search)]
        cells = [f"{count:,}", "not installed" if theirs is None else f"{pairs / theirs:,.0f}"]
        cells += [f"{pairs / ours:,.0f}", factors[0], f"{pairs / search:,.0f}", factors[1]]
        print("| " + " | ".join([*cells, f"{pairs * count / search:.2g}", f"{pairs / plain:,.0f}"]) + " |", flush=True)


def others(columns: int, wide: int) -> None:
    """Print pairs a second of other kinds of tables, and the memory of many columns."""
    print("| rows | columns | values | missing | pairs | processor seconds | pairs a second |")
    print("|---:|---:|---:|---:|---:|---:|---:|")
    generator = np.random.default_rng(0)
    for rows, count, values, missing in (
        (1_000, columns, 2, 0.0),
        (5_000, columns, 3, 0.05),
        (2_000, min(columns, 500), 10, 0.0),
        (100_000, min(columns, 300), 3, 0.0),
        (1_000, wide, 2, 0.0),
    ):
        codes = generator.integers(0, values, (rows, count)).astype(np.uint8)
        classes = generator.integers(0, 2, rows)
        data: object = codes
        if missing:
            data = np.where(generator.random(codes.shape) < missing, np.nan, codes)
        start = time.process_time()
        result = credimi.interactions(data, classes, threads=1)
        seconds, pairs = time.process_time() - start, count * (count - 1) // 2
        print(
            f"| {rows:,} | {count:,} | {values} | {100 * missing:g} % | {pairs:,} | {seconds:.1f} "
            f"| {result.pairs_tried / seconds:,.0f} |",
            flush=True,
        )
    print(f"memory at most: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MiB")


def main() -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--columns", type=int, default=4_000)
    parser.add_argument("--wide", type=int, default=10_000)
    parser.add_argument("--rows", type=int, nargs="*", default=[1_000, 5_000])
    options = parser.parse_args()
    compare(tuple(options.rows), options.columns)
    others(options.columns, options.wide)


if __name__ == "__main__":
    main()
