"""What each special path pays: the same work with it and without it, in turn, as a ratio of processor times.

A path that is less than 1.5 times as fast, on work that people do, goes (docs/explanation/paths.md). Without it, the
next plainer way in the code does the work: pyarrow, numpy, or the kernel for all cases.

    python benchmarks/rent.py                          all of them, about a minute
    python benchmarks/rent.py csv parquet              those whose names begin so
    python benchmarks/rent.py --share .1               a tenth of the rows: a quick look
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
import warnings
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

import credimi
from credimi.columns import encode_arrow, pair_counts, text_codes
from credimi.columns.numbers import small_codes, sort_numbers, sorted_numbers
from credimi.counts import batch, counts, tabulate
from credimi.estimators import discretizer
from credimi.estimators.scorer import Scorer
from credimi.sources import json_lines, sparse_matrices
from credimi.sources.csv.csv_coder import FieldCoders
from credimi.sources.parquet import parquet_files
from credimi.sources.parquet.parquet_codes import TextColumns

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Work = Callable[[], object]

FEATURES = 30
WORDS = np.array([f"word{code:03d}"[: 4 + code % 5] + f"{code}" for code in range(20)] + [None], dtype=object)


@dataclass(frozen=True)
class Data:
    """The tables that are counted; `share` of the rows that they have by default."""

    folder: Path
    share: float

    def target(self, rows: int, classes: int = 2) -> np.ndarray:
        """Classes, one a row."""
        return np.random.default_rng(3).integers(0, classes, int(rows * self.share)).astype(np.uint8)

    def codes(self, rows: int, values: int, kind: str = "u1", order: str = "F") -> np.ndarray:
        """Small whole numbers; of doubles, a tenth are missing."""
        generator = np.random.default_rng(0)
        array = generator.integers(0, values, (int(rows * self.share), FEATURES)).astype(kind, order=order)
        return np.where(generator.random(array.shape) < 0.1, np.nan, array) if kind == "f8" else array

    def numbers(self, rows: int) -> np.ndarray:
        """Numbers, all different."""
        return np.asfortranarray(np.random.default_rng(1).normal(size=(int(rows * self.share), FEATURES)))

    def texts(self, rows: int) -> pa.Table:
        """Columns of twenty texts, 5 % of them missing, and a target of two classes."""
        codes = self.codes(rows, 21, "i1")
        arrays = [pa.DictionaryArray.from_arrays(column, WORDS[:20].tolist()) for column in map(_nullable, codes.T)]
        columns = {f"feature {number:02d}": array.cast(pa.string()) for number, array in enumerate(arrays)}
        classes = pa.DictionaryArray.from_arrays(pa.array(self.target(rows)), ["no", "yes"])
        return pa.table(columns | {"target": classes.cast(pa.string())})

    def written(self, rows: int, ending: str) -> Work:
        """The texts in a file, which is counted."""
        path, table = self.folder / f"texts.{ending}", self.texts(rows)
        if ending == "csv":
            pa.csv.write_csv(table, path, pa.csv.WriteOptions(quoting_style="none"))
        elif ending == "parquet":
            pa.parquet.write_table(table, path)
        else:
            path.write_text("".join(json.dumps(row) + "\n" for row in table.to_pylist()))
        return counting(str(path), "target")

    def objects(self, rows: int) -> Mapping[str, np.ndarray]:
        """Columns of Python's objects."""
        return {str(number): WORDS[column] for number, column in enumerate(self.codes(rows, 21).T)}

    def stream(self, rows: int) -> Work:
        """Naive Bayes that predicts each row, and then learns it."""
        cells = WORDS[self.codes(rows, 5)].tolist()
        given = [({str(number): cell for number, cell in enumerate(row)}, row[0]) for row in cells]

        def work() -> None:
            model = credimi.IncrementalNaiveBayes()
            for row, label in given:
                model.predict_one(row)
                model.learn_one(row, label)

        return work

    def sparse(self, rows: int) -> Work:
        """A sparse matrix of which one cell in a hundred is stored."""
        from scipy.sparse import csc_array  # noqa: PLC0415  (an extra)

        codes = self.codes(rows, 4)
        return counting(csc_array(codes * (np.random.default_rng(2).random(codes.shape) < 0.01)), self.target(rows))


def _nullable(codes: np.ndarray) -> pa.Array:
    return pa.array(codes, mask=codes == 20)


def counting(data: object, target: object) -> Work:
    """Count on one thread."""
    return lambda: credimi.count(data, target, threads=1)


def ranking(numbers: np.ndarray, target: np.ndarray) -> Work:
    """Rank counts of numbers, which are cut."""
    counted = credimi.count(numbers, target)
    return lambda: credimi.rank(counted, threads=1)


def cutting(numbers: np.ndarray, target: np.ndarray) -> Work:
    """Cut numbers for scikit-learn."""
    return lambda: credimi.EntropyDiscretizer(n_jobs=1).fit(numbers, target)


def nothing(*_: object) -> None:
    """What a path says that cannot be taken."""


def dense(matrix: object, indices: list[int]) -> list[np.ndarray]:
    """Columns with all their zeros."""
    return [column.dense() for column in SPARSE(matrix, indices)]


SPARSE = sparse_matrices.columns
LARGE = 1 << 60

# The work, and what is put in the place of the path.
PATHS: dict[str, tuple[Callable[[Data], Work], object, str, object]] = {
    "csv: bytes to codes": (lambda data: data.written(700_000, "csv"), FieldCoders, "coded", nothing),
    "parquet: pages to codes": (lambda data: data.written(1_000_000, "parquet"), TextColumns, "of", nothing),
    "parquet: text as dictionaries": (lambda data: data.written(300_000, "parquet"), parquet_files, "_GROUP", LARGE),
    "json: lines by pyarrow": (
        *(lambda data: data.written(30_000, "jsonl"), json_lines),
        *("_columns", json_lines._columns_by_python),  # noqa: SLF001  (the plain way)
    ),
    "texts in memory": (
        *(lambda data: counting(data.texts(1_000_000), "target"), encode_arrow),
        *("_encode_few_texts", nothing),
    ),
    "few doubles": (
        *(lambda data: counting(data.codes(700_000, 50, "f8") / 8.0, data.target(700_000)), encode_arrow),
        *("few_distinct", nothing),
    ),
    "objects by their addresses": (
        *(lambda data: counting(data.objects(700_000), data.target(700_000)), text_codes),
        *("encode_integers", lambda *_: -1),
    ),
    "sparse matrices": (lambda data: data.sparse(100_000), sparse_matrices, "columns", dense),
    "small numbers: integers, row-major": (
        *(lambda data: counting(data.codes(700_000, 4, "i8", "C"), data.target(700_000)), batch),
        *("encode_small", lambda *_: {}),
    ),
    "small numbers: doubles, row-major": (
        *(lambda data: counting(data.codes(700_000, 4, "f8", "C"), data.target(700_000)), batch),
        *("encode_small", lambda *_: {}),
    ),
    "small numbers: doubles, column-major": (
        *(lambda data: counting(data.codes(700_000, 4, "f8"), data.target(700_000)), batch),
        *("encode_small", lambda *_: {}),
    ),
    "small numbers: squares transposed": (
        *(lambda data: counting(data.codes(700_000, 4, "f8", "C"), data.target(700_000)), small_codes),
        *("_side_by_side", lambda *_: ()),
    ),
    "sorted numbers": (
        *(lambda data: counting(data.numbers(200_000), data.target(200_000)), sorted_numbers),
        *("many_numbers", lambda *_: []),
    ),
    "sorted numbers: by half of their bits": (
        *(lambda data: counting(data.numbers(400_000), data.target(400_000)), sort_numbers),
        *("HALF", 0),
    ),
    "cuts: compiled, from counts": (
        *(lambda data: ranking(data.numbers(200_000), data.target(200_000)), counts),
        *("_CELLS_WORTH_COMPILING", LARGE),
    ),
    "cuts: compiled, from rows": (
        *(lambda data: cutting(data.numbers(100_000), data.target(100_000, 10)), discretizer),
        *("_CELLS_WORTH_COMPILING", LARGE),
    ),
    "counts: by sets of bits": (
        *(lambda data: counting(data.codes(2_000_000, 4), data.target(2_000_000)), pair_counts),
        *("FEW_VALUES", -1),
    ),
    "counts: several columns jointly": (
        *(lambda data: counting(data.codes(1_000_000, 8), data.target(1_000_000)), tabulate),
        *("_MAX_JOINT_CELLS", 0),
    ),
    "labels in order, remembered": (
        *(lambda data: data.written(1_000_000, "csv"), batch),
        *("_MAX_CACHED_LABELS", -1),
    ),
    "naive Bayes, row by row": (lambda data: data.stream(300), Scorer, "log_joint_of_row", nothing),
}


def measured(work: Work, repeats: int, owner: object, name: str, plain: object) -> tuple[float, float]:
    """The least seconds of the processor with the path, and without it."""
    best = [np.inf, np.inf]
    work()
    for _ in range(repeats):
        for without in (False, True):
            with ExitStack() as stack:
                if without:
                    stack.enter_context(patch.object(owner, name, plain))
                start = time.process_time()
                work()
                best[without] = min(best[without], time.process_time() - start)
    return best[0], best[1]


def main() -> None:
    """Print one line a path."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=[""], help="how the names of paths begin (default: all)")
    parser.add_argument("--share", type=float, default=1.0, help="of the rows (default: %(default)s)")
    parser.add_argument("--repeats", type=int, default=3, help="(default: %(default)s)")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print("| path | with it, s | without, s | times as long |\n|---|---:|---:|---:|")
    for name, (make, owner, attribute, plain) in PATHS.items():
        if name.startswith(tuple(options.names)):
            with tempfile.TemporaryDirectory() as folder:
                work = make(Data(Path(folder), options.share))
                ours, without = measured(work, options.repeats, owner, attribute, plain)
            print(f"| {name} | {ours:.3f} | {without:.3f} | {without / ours:.2f} |", flush=True)


if __name__ == "__main__":
    main()
