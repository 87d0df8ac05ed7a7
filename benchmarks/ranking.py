"""Speed of `rank`, everything included, beside what only reads or encodes the same data today.

1,000,000 rows x 100 columns of one-letter texts, 10 % of the features missing. Data frames are ranked in this process
(the kernels loaded once before); files by the function, and by the command `credimi rank`, started anew each time.

    python benchmarks/ranking.py                     as in docs/performance.md; needs pandas
    python benchmarks/ranking.py --rows 100000       a quick look
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
from timing import best_of

import credimi


def survey(rows: int, columns: int) -> pa.Table:
    """Texts of one letter; every tenth feature copies the target more often than the one before."""
    generator = np.random.default_rng(0)
    target = generator.integers(0, 2, rows)
    texts = {}
    for column in range(columns - 1):
        codes = generator.integers(0, 4, rows)
        codes = np.where(generator.random(rows) < 0.03 * (column % 10), target, codes).astype(np.int8)
        array = pa.DictionaryArray.from_arrays(pa.array(codes, mask=generator.random(rows) < 0.1), ["a", "b", "c", "d"])
        texts[f"feature {column:02d}"] = array.cast(pa.string())
    texts["target"] = pa.DictionaryArray.from_arrays(pa.array(target.astype(np.int8)), ["no", "yes"]).cast(pa.string())
    return pa.table(texts)


def command(path: Path) -> None:
    """The whole command, as a user starts it."""
    arguments = ["rank", str(path), "--target", "target", "--format", "csv"]
    subprocess.run([sys.executable, "-m", "credimi.cli", *arguments], check=True, stdout=subprocess.DEVNULL)  # noqa: S603


def peak_memory(path: Path) -> str:
    """What the kernel says of the process that ran the command (Linux)."""
    program = (
        "from credimi.cli import main; import sys; main(sys.argv[1:]);"
        "print([line.split()[1] for line in open('/proc/self/status') if line.startswith('VmHWM')][0])"
    )
    arguments = ["rank", str(path), "--target", "target", "--output", os.devnull]
    answer = subprocess.run([sys.executable, "-c", program, *arguments], check=True, capture_output=True, text=True)  # noqa: S603
    return f"{int(answer.stdout) // 1024} MB"


def main() -> None:
    """Print one line a source."""
    import pandas as pd  # noqa: PLC0415

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000, help="(default: %(default)s)")
    parser.add_argument("--columns", type=int, default=100, help="(default: %(default)s)")
    parser.add_argument("--repeats", type=int, default=3, help="(default: %(default)s)")
    options = parser.parse_args()
    table = survey(options.rows, options.columns)
    print("| source | rank, s | beside | s | times |\n|---|---:|---|---:|---:|")

    def line(source: str, our_seconds: float, peer: str, peer_seconds: float) -> None:
        print(
            f"| {source} | {our_seconds:.2f} | {peer} | {peer_seconds:.2f} | {peer_seconds / our_seconds:.1f} |",
            flush=True,
        )

    with tempfile.TemporaryDirectory() as folder:
        text, parquet = Path(folder) / "survey.csv", Path(folder) / "survey.parquet"
        pa.csv.write_csv(table, text, pa.csv.WriteOptions(quoting_style="none"))
        pa.parquet.write_table(table, parquet)
        command(text)  # compiles
        our_seconds = best_of(options.repeats, lambda: command(text), seconds=0.0)
        peer = best_of(options.repeats, lambda: pd.read_csv(text, dtype="category"), seconds=0.0)
        size = f"{text.stat().st_size / 1e6:.0f} MB"
        line(f"CSV, {size}: the command", our_seconds, 'pandas.read_csv(dtype="category")', peer)
        our_seconds = best_of(options.repeats + 1, lambda: credimi.rank(text, target="target"), seconds=0.0)
        line(f"CSV, {size}: the function", our_seconds, 'pandas.read_csv(dtype="category")', peer)
        our_seconds = best_of(options.repeats, lambda: command(parquet), seconds=0.0)
        peer = best_of(options.repeats, lambda: pa.parquet.read_table(parquet), seconds=0.0)
        size = f"{parquet.stat().st_size / 1e6:.0f} MB"
        line(f"Parquet, {size}: the command", our_seconds, "pyarrow.parquet.read_table", peer)
        our_seconds = best_of(options.repeats + 1, lambda: credimi.rank(parquet, target="target"), seconds=0.0)
        line(f"Parquet, {size}: the function", our_seconds, "pyarrow.parquet.read_table", peer)
        peaks = peak_memory(text), peak_memory(parquet)
    for kind in ("str", "object", "category"):
        frame = table.to_pandas().astype(kind)
        credimi.rank(frame, target="target")
        our_seconds = best_of(options.repeats, lambda: credimi.rank(frame, target="target"), seconds=0.0)  # noqa: B023
        peer = best_of(options.repeats, lambda: [frame[name].factorize() for name in frame], seconds=0.0)  # noqa: B023
        line(f"pandas, {kind}", our_seconds, "Series.factorize of each column", peer)
        if kind == "str":
            features, target = frame.drop(columns="target"), frame["target"]
            for model in (credimi.CredibleSelector(min_features=0), credimi.IncrementalNaiveBayes()):
                fitted = best_of(options.repeats, lambda: model.fit(features, target), seconds=0.0)  # noqa: B023
                line(f"pandas, {kind}", our_seconds, f"{type(model).__name__}.fit", fitted)
    print(f"\npeak memory of the command: {peaks[0]} (CSV), {peaks[1]} (Parquet)")


if __name__ == "__main__":
    main()
