"""What each special path pays: the same work with it and without it, in turn, as a ratio of processor times.

A path that takes less than 1.5 times the time away, on work that people do, goes (docs/architecture.md). Without it,
the next plainer way in the code does the work: pyarrow, numpy, or the kernel for all cases.

    python benchmarks/rent.py                          all of them, two minutes
    python benchmarks/rent.py csv parquet              some of them, by the beginning of their names
"""

from __future__ import annotations

import sys
import tempfile
import time
import warnings
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pyarrow.compute
import pyarrow.csv
import pyarrow.parquet

import credimi

if TYPE_CHECKING:
    from collections.abc import Callable

    Work = Callable[[], object]

REPEATS = 3
FEATURES = 30


def texts(rows: int, distinct: int = 20) -> pa.Table:
    """Columns of text of a few distinct values, 5 % missing, and a target of two classes."""
    generator = np.random.default_rng(0)
    words = pa.array([f"word{code:03d}"[: 4 + code % 5] + f"{code}" for code in range(distinct)])
    columns = {}
    for column in range(FEATURES):
        codes = pa.array(generator.integers(0, distinct, rows, dtype=np.int16), mask=generator.random(rows) < 0.05)
        columns[f"feature {column:02d}"] = pa.DictionaryArray.from_arrays(codes, words).cast(pa.string())
    target = pa.DictionaryArray.from_arrays(generator.integers(0, 2, rows).astype(np.int8), ["no", "yes"])
    return pa.table(columns | {"target": target.cast(pa.string())})


def ranked(data: object, target: object = "target") -> Work:
    """Count the data on one thread."""
    return lambda: credimi.count(data, target, threads=1)


def csv_bytes_to_codes(folder: Path) -> tuple[Work, list[Any]]:
    """Bytes of CSV straight to codes; without it, pyarrow parses, and `text_codes` encodes."""
    path = folder / "texts.csv"
    pa.csv.write_csv(texts(500_000), path, pa.csv.WriteOptions(quoting_style="none"))
    from credimi.sources.csv.csv_coder import FieldCoders

    return ranked(str(path)), [patch.object(FieldCoders, "coded", lambda *_: None)]


def parquet_pages(folder: Path) -> tuple[Work, list[Any]]:
    """Pages of Parquet straight to codes; without it, pyarrow reads dictionaries."""
    path = folder / "texts.parquet"
    pa.parquet.write_table(texts(1_000_000), path)
    from credimi.sources.parquet.parquet_codes import TextColumns

    return ranked(str(path)), [patch.object(TextColumns, "of", lambda *_: None)]


def texts_in_memory(_: Path) -> tuple[Work, list[Any]]:
    """Texts of Arrow to codes by our kernel; without it, by pyarrow."""
    from credimi.columns import encode_arrow

    return ranked(texts(1_000_000)), [patch.object(encode_arrow, "_encode_few_texts", lambda *_: None)]


def few_doubles(_: Path) -> tuple[Work, list[Any]]:
    """Doubles of few distinct values, with fractions, to codes; without it, by pyarrow."""
    from credimi.columns import encode_arrow

    generator = np.random.default_rng(0)
    array = np.asfortranarray(generator.integers(0, 50, (700_000, FEATURES)) / 8.0)
    target = generator.integers(0, 2, len(array))
    return ranked(array, target), [patch.object(encode_arrow, "few_distinct", lambda *_: None)]


def python_objects(_: Path) -> tuple[Work, list[Any]]:
    """Python's objects by their addresses; without it, all are looked up by their values."""
    from credimi.columns import text_codes

    generator = np.random.default_rng(0)
    words = np.array([f"word{code}" for code in range(20)] + [None], dtype=object)
    array = words[generator.integers(0, 21, (700_000, FEATURES))]
    columns = {f"feature {index}": array[:, index] for index in range(FEATURES)}
    target = generator.integers(0, 2, len(array))
    return ranked(columns, target), [patch.object(text_codes, "encode_integers", lambda *_: -1)]


def _whole(order: str, kind: type, rows: int = 700_000) -> tuple[Work, list[Any]]:
    from credimi.counts import batch

    generator = np.random.default_rng(0)
    array = np.asarray(generator.integers(0, 4, (rows, FEATURES)), dtype=kind, order=order)  # type: ignore[call-overload]
    if kind is np.float64:
        array[generator.random(array.shape) < 0.1] = np.nan
    return ranked(array, generator.integers(0, 2, rows)), [patch.object(batch, "encode_small", lambda *_: {})]


def small_integers_row_major(_: Path) -> tuple[Work, list[Any]]:
    """Small whole numbers of a row-major array, all columns at once."""
    return _whole("C", np.int64)


def small_doubles_row_major(_: Path) -> tuple[Work, list[Any]]:
    """The same as doubles with NaN."""
    return _whole("C", np.float64)


def small_integers_column_major(_: Path) -> tuple[Work, list[Any]]:
    """The same column by column."""
    return _whole("F", np.int64)


def small_doubles_column_major(_: Path) -> tuple[Work, list[Any]]:
    """The same as doubles with NaN."""
    return _whole("F", np.float64)


def small_bytes_row_major(_: Path) -> tuple[Work, list[Any]]:
    """The same as bytes."""
    return _whole("C", np.uint8, 1_000_000)


def squares_of_sixteen(_: Path) -> tuple[Work, list[Any]]:
    """Transposed in squares by LLVM's vectors; without it, each column of the array is copied, then coded."""
    from credimi.columns.numbers import small_codes

    work, _ = _whole("C", np.float64)
    tables_of = small_codes.tables_of

    def columnwise(columns: dict[str, np.ndarray]) -> Any:
        return tables_of({name: np.ascontiguousarray(values) for name, values in columns.items()})

    return work, [patch.object(small_codes, "tables_of", columnwise)]


def _normal(rows: int = 200_000, order: str = "F") -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(1)
    target = generator.integers(0, 2, rows)
    array = generator.normal(size=(rows, FEATURES)) + target[:, np.newaxis] * np.linspace(0.0, 0.5, FEATURES)
    return np.asarray(array, order=order), target  # type: ignore[call-overload]


def sorted_numbers(_: Path) -> tuple[Work, list[Any]]:
    """Numbers, all different, sorted with their classes; without it, they get codes, which are counted."""
    from credimi.columns.numbers import sorted_numbers as module

    return ranked(*_normal()), [patch.object(module, "many_numbers", lambda *_: [])]


def sorted_neighbours(_: Path) -> tuple[Work, list[Any]]:
    """Neighbours in a row-major table are copied together before they are sorted."""
    from credimi.columns.numbers import sorted_numbers as module

    return ranked(*_normal(order="C")), [
        patch.object(module, "_column_groups", lambda _, names: [[name] for name in names])
    ]


def cuts_from_counts(_: Path) -> tuple[Work, list[Any]]:
    """All MDL splits of a column from its counts in one compiled call; without it, in numpy."""
    from credimi.counts import counts as module

    array, target = _normal()
    counted = credimi.count(array, target)

    def work() -> object:
        return credimi.rank(counted)

    return work, [patch.object(module, "_CELLS_WORTH_COMPILING", 1 << 60)]


def cuts_from_rows(_: Path) -> tuple[Work, list[Any]]:
    """MDL splits of single instances (`EntropyDiscretizer`); without it, of the counts of distinct values, in numpy."""
    from credimi.estimators import discretizer as module

    array, target = _normal(100_000)

    def work() -> object:
        return credimi.EntropyDiscretizer(n_jobs=1).fit(array, target)

    return work, [patch.object(module, "_CELLS_WORTH_COMPILING", 1 << 60)]


def cuts_from_rows_or_counts(_: Path) -> tuple[Work, list[Any]]:
    """The same beside the compiled splits of the counts."""
    from credimi.columns.numbers import discretize, sorted_numbers as sorting
    from credimi.estimators import discretizer as module

    array, target = _normal(100_000)

    def by_counts(values: Any, codes: Any, classes: int, **_: object) -> Any:
        buffers = sorting.SortBuffers(values.size)
        labels, block = buffers.counted(values, codes.astype(np.uint16), classes + 1, values.size)
        numbers, places, _share = discretize.cut_by_mdl(labels.numbers, block)
        return numbers, places

    def work() -> object:
        return credimi.EntropyDiscretizer(n_jobs=1).fit(array, target)

    return work, [patch.object(module, "mdl_places_of_rows", by_counts)]


def _counting(values: int, patched: list[Any], rows: int = 1_000_000) -> tuple[Work, list[Any]]:
    generator = np.random.default_rng(0)
    array = np.asfortranarray(generator.integers(0, values, (rows, FEATURES)).astype(np.uint8))
    return ranked(array, generator.integers(0, 2, rows).astype(np.uint8)), patched


def counts_by_bits(_: Path) -> tuple[Work, list[Any]]:
    """Few values counted by sets of bits; without it, in joint tables of several columns."""
    from credimi.columns import pair_counts

    return _counting(4, [patch.object(pair_counts, "FEW_VALUES", -1)], 2_000_000)


def counts_jointly(_: Path) -> tuple[Work, list[Any]]:
    """Several columns counted in one joint table; without it, one by one."""
    from credimi.counts import tabulate

    return _counting(8, [patch.object(tabulate, "_MAX_JOINT_CELLS", 0)])


def counts_by_cells(_: Path) -> tuple[Work, list[Any]]:
    """The plain kernel; without it, numpy's bincount."""
    from credimi.counts import tabulate

    original = tabulate.count_codes

    def plainly(*values: Any, compiled: bool = True, **options: Any) -> Any:
        return original(*values, compiled=False, **options)

    return _counting(60, [patch.object(tabulate, "_MAX_JOINT_CELLS", 0), patch.object(tabulate, "count_codes", plainly)])


def same_labels(_: Path) -> tuple[Work, list[Any]]:
    """What labels are is remembered for columns that have the same (`interpret`); a wide table."""
    from credimi.columns import interpret

    generator = np.random.default_rng(0)
    words = np.array(["no", "yes", "a bit"])
    table = pa.table({f"f{column}": words[generator.integers(0, 3, 200)] for column in range(3_000)})
    counted = credimi.count(table.append_column("target", pa.array(words[generator.integers(0, 2, 200)])), "target")

    def work() -> object:
        return counted.interpreted()

    return work, [patch.object(interpret, "_MAX_CACHED_LABELS", -1)]


def same_order(_: Path) -> tuple[Work, list[Any]]:
    """How labels are sorted is remembered for batches that have the same (`counts.batch`)."""
    from credimi.counts import batch

    generator = np.random.default_rng(0)
    words = np.array(["no", "yes", "a bit"])
    table = pa.table({f"f{column}": words[generator.integers(0, 3, 200)] for column in range(3_000)})
    table = table.append_column("target", pa.array(words[generator.integers(0, 2, 200)]))
    return ranked(table), [patch.object(batch, "_MAX_CACHED_LABELS", -1)]


def sparse_columns(_: Path) -> tuple[Work, list[Any]]:
    """Sparse matrices counted by their stored values; without it, with all zeros."""
    from scipy import sparse

    from credimi.columns.column import SparseColumn
    from credimi.sources import sparse_matrices

    generator = np.random.default_rng(0)
    matrix = sparse.random(100_000, 300, 0.01, random_state=0, data_rvs=lambda size: generator.integers(1, 4, size))
    target = generator.integers(0, 2, 100_000)
    columns = sparse_matrices.columns

    def dense(*values: Any) -> Any:
        return [column.dense() if isinstance(column, SparseColumn) else column for column in columns(*values)]

    return ranked(matrix.tocsc(), target), [patch.object(sparse_matrices, "columns", dense)]


def decimals(_: Path) -> tuple[Work, list[Any]]:
    """Decimals divided as whole numbers; without it, through text."""
    from credimi.columns import arrow_buffers

    generator = np.random.default_rng(0)
    numbers = pa.array(generator.integers(0, 1_000_000, 200_000) / 100.0)
    column = pa.compute.round(numbers, 2).cast(pa.decimal128(20, 2), safe=False)
    table = pa.table({f"f{index}": column for index in range(5)} | {"target": generator.integers(0, 2, 200_000)})
    return ranked(table), [patch.object(arrow_buffers, "_quotients", lambda _: None)]


def parquet_dictionaries(folder: Path) -> tuple[Work, list[Any]]:
    """Text of Parquet as dictionaries where pages are not read by ourselves; without it, as text."""
    from credimi.sources.parquet import parquet_files

    path = folder / "dictionaries.parquet"
    pa.parquet.write_table(texts(300_000), path)
    return ranked(str(path)), [patch.object(parquet_files, "_GROUP", 1 << 60)]


def threads_read_ahead(folder: Path) -> tuple[Work, list[Any]]:
    """Nothing is switched off: what two runs of the same differ by."""
    return parquet_dictionaries(folder)[0], []


PATHS = {
    name: path
    for name, path in globals().copy().items()
    if callable(path) and getattr(path, "__annotations__", {}).get("return") == "tuple[Work, list[Any]]" and name[0] != "_"
}


def ratio(work: Work, off: list[Any]) -> tuple[float, float]:
    """The least seconds of the processor with the path, and without it."""
    best = [np.inf, np.inf]
    work()
    for _ in range(REPEATS):
        for without in (False, True):
            with ExitStack() as stack:
                for each in off if without else ():
                    stack.enter_context(each)
                start = time.process_time()
                work()
                best[without] = min(best[without], time.process_time() - start)
    return best[0], best[1]


def main() -> None:
    """Print one line a path."""
    warnings.simplefilter("ignore")
    asked = tuple(sys.argv[1:]) or ("",)
    print("| path | with it, s | without, s | times |\n|---|---:|---:|---:|")
    for name, path in PATHS.items():
        if name.startswith(asked) and name not in {"ranked", "texts"}:
            with tempfile.TemporaryDirectory() as folder:
                ours, plain = ratio(*path(Path(folder)))
            print(f"| {name} | {ours:.3f} | {plain:.3f} | {plain / ours:.2f} |", flush=True)


if __name__ == "__main__":
    main()
