"""Helpers of several files of tests."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import math
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import strategies as st

from credimi import Counts, CredimiError, count
from credimi.columns.labels import NUMBER, typed

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from credimi.columns import labels


Row = dict[str, Any]

Cells = dict[tuple[str, Any, Any], int]

ROWS: list[Row] = [
    {
        "word": (None, "red", "green", "blue")[row % 4],
        "whole": None if row % 7 == 0 else row % 5 - 2,
        "real": math.nan if row % 11 == 0 else row / 8,
        "truth": (True, False, None)[row % 3],
        "class": None if row % 13 == 0 else ("no", "yes")[row * row % 3 % 2],
    }
    for row in range(200)
]

COLUMNS = ("word", "whole", "real", "truth")

ARROW = {"word": pa.string(), "whole": pa.int64(), "real": pa.float64(), "truth": pa.bool_(), "class": pa.string()}


def key(value: object) -> object:
    """A value as the oracle names it: numbers are numbers, truth values their names, holes None."""
    if value is None or value != value:  # noqa: PLR0124  (NaN)
        return None
    if isinstance(value, bool):
        return str(value).lower()
    return float(value) if isinstance(value, int | float) else value


def oracle(rows: Iterable[Row], target: str = "class") -> Cells:
    """Counts by plain dictionaries: (column, class, value) -> number of rows."""
    return dict(
        Counter((name, key(row[target]), key(value)) for row in rows for name, value in row.items() if name != target)
    )


def cells(counts: Counts) -> Cells:
    """The same from `Counts`, before any number is cut."""

    def keys(own: labels.Labels) -> list[Any]:
        kept = typed(own)[0]
        return [*(kept.numbers.tolist() if kept.kind == NUMBER else kept.texts), None]

    found: Cells = {}
    classes, to_class = keys(counts.classes), [*typed(counts.classes)[1], -1]
    start = 0
    for name, own in zip(counts.features, counts.labels, strict=True):
        values, to_value = keys(own), [*typed(own)[1], -1]
        width = len(own) + 1
        block = counts.flat[start : start + len(to_class) * width].reshape(-1, width)
        start += block.size
        for i, j in np.argwhere(block):
            at = (name, classes[to_class[i]], values[to_value[j]])
            found[at] = found.get(at, 0) + int(block[i, j])
    assert start == counts.flat.size
    return found


def column(name: str, rows: Sequence[Row] = ROWS) -> list[Any]:
    return [row[name] for row in rows]


def table(rows: Sequence[Row] = ROWS) -> pa.Table:
    return pa.table({name: pa.array(column(name, rows), kind) for name, kind in ARROW.items()})


def csv_text(rows: Iterable[Row], names: Sequence[str] = tuple(ARROW), delimiter: str = ",") -> str:
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter)
    writer.writerow(names)
    for row in rows:
        writer.writerow(["" if key(row[name]) is None else row[name] for name in names])
    return out.getvalue()


def assert_all_rows(counts: Counts, rows: Sequence[Row] = ROWS) -> None:
    assert counts.target == "class"
    assert counts.rows == len(rows)
    assert cells(counts) == oracle(rows)
    assert counts == count(list(rows), "class")


def refusal(data: Any, target: Any = "class", **options: Any) -> str:  # noqa: ANN401
    with pytest.raises(CredimiError) as caught:
        count(data, target, **options).interpreted()
    return str(caught.value)


def write_csv(path: Path, rows: Sequence[Row] = ROWS, **options: Any) -> Path:  # noqa: ANN401
    content = csv_text(rows, **options).encode()
    if path.suffix == ".gz":
        content = gzip.compress(content)
    elif path.suffix == ".bz2":
        content = bz2.compress(content)
    elif path.suffix == ".zst":
        with pa.CompressedOutputStream(str(path), "zstd") as stream:
            stream.write(content)
        return path
    path.write_bytes(content)
    return path


text = st.sampled_from(["", "a", "b", "?", "c d", "é", "true", "1", "1.0", "007"])
