"""Files that store a column in different types are read by every question as one table of text is."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, feather, parquet

import credimi
from credimi.counts.reading import Reading
from credimi.counts.request import CountRequest
from credimi.paper.rows import rows_of
from credimi.sources.codes import encoded_table

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

ROWS = 300
WORDS = pa.array(["no", "yes"])


def _columns(seed: int) -> dict[str, list[int | None]]:
    random = np.random.default_rng(seed)
    target = random.integers(0, 2, ROWS)
    other = random.integers(0, 3, ROWS)
    mixed = [
        None if missing else int(value)
        for value, missing in zip(target + other, random.random(ROWS) < 0.1, strict=True)
    ]
    return {"target": target.tolist(), "mixed": mixed, "other": other.tolist()}


def _as(values: list[int | None], kind: str) -> pa.Array:
    numbers = pa.array(values, pa.int64())
    match kind:
        case "text":
            return numbers.cast(pa.string())
        case "dictionary":
            return numbers.cast(pa.string()).dictionary_encode()
        case "double":
            return numbers.cast(pa.float64())
        case "null":
            return pa.nulls(len(values))
        case _:
            return numbers.cast(kind)


def _table(columns: dict[str, list[int | None]], kind: str) -> pa.Table:
    target = WORDS.take(pa.array(columns["target"]))
    return pa.table({"target": target, "mixed": _as(columns["mixed"], kind), "other": pa.array(columns["other"])})


def _write_json(table: pa.Table, path: Path) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in table.to_pylist()), encoding="utf-8")


WRITERS: dict[str, Callable[[pa.Table, Path], None]] = {
    "parquet": parquet.write_table,
    "arrow": feather.write_feather,
    "jsonl": _write_json,
    "csv": csv.write_csv,
}
# The kinds of the two files, and the kind of one table with the same values.
KINDS = [
    ("int64", "text", "text"),
    ("dictionary", "double", "text"),
    ("int32", "double", "int64"),
    ("text", "dictionary", "text"),
    ("null", "text", "text"),
    ("int64", "null", "int64"),
]


def _folder(path: Path, ending: str, kinds: tuple[str, ...]) -> Path:
    for number, kind in enumerate(kinds):
        WRITERS[ending](_table(_columns(number), kind), path / f"{number}.{ending}")
    return path


def _whole(kinds: tuple[str, ...], kind: str) -> pa.Table:
    """One table with the rows of all files; a null-typed part has missing values."""
    parts = [_columns(number) for number in range(len(kinds))]
    for part, part_kind in zip(parts, kinds, strict=True):
        if part_kind == "null":
            part["mixed"] = [None] * ROWS
    return pa.concat_tables([_table(part, kind) for part in parts])


@pytest.mark.parametrize("kinds", KINDS, ids="-".join)
@pytest.mark.parametrize("ending", ["parquet", "arrow", "jsonl"])
def test_rows_are_those_of_one_table(tmp_path: Path, ending: str, kinds: tuple[str, str, str]) -> None:
    folder, whole = _folder(tmp_path, ending, kinds[:2]), _whole(kinds[:2], kinds[2])
    reading = Reading(missing_values=("1",))

    found, expected = rows_of(str(folder), "target", reading), rows_of(whole, "target", reading)
    assert (found.features, found.values, found.classes) == (expected.features, expected.values, expected.classes)
    np.testing.assert_array_equal(found.codes, expected.codes)
    np.testing.assert_array_equal(found.target, expected.target)
    counts, of_rank = encoded_table(str(folder), CountRequest.of("target")).counts, credimi.count(folder, "target")
    assert (counts.classes, counts.labels, counts.features) == (of_rank.classes, of_rank.labels, of_rank.features)
    np.testing.assert_array_equal(counts.flat, of_rank.flat)


@pytest.mark.parametrize("ending", [*WRITERS])
def test_every_question_reads_files_of_two_types(tmp_path: Path, ending: str) -> None:
    kinds = ("int64", "text")
    folder, whole = _folder(tmp_path, ending, kinds), _whole(kinds, "text" if ending != "csv" else "int64")
    scratch = tmp_path / "scratch"
    scratch.mkdir()

    assert credimi.rank(folder, "target").to_dict() == credimi.rank(whole, "target").to_dict()
    expected = credimi.select(whole, "target").to_dict()
    assert credimi.select(folder, "target").to_dict() == expected
    assert credimi.select(folder, "target", scratch=scratch).to_dict()["steps"] == expected["steps"]
    for options in ({}, {"scratch": scratch}):
        found = credimi.interactions(folder, "target", **options).to_dict()
        assert found == credimi.interactions(whole, "target", **options).to_dict()
    assert credimi.pairs(folder).to_dict() == credimi.pairs(whole).to_dict()
    assert credimi.network(folder).to_dict() == credimi.network(whole).to_dict()
    by = {"target": "target", "by": "other"}
    assert credimi.rank_by(folder, **by).to_dict() == credimi.rank_by(whole, **by).to_dict()


def test_a_target_of_two_types_with_weights(tmp_path: Path) -> None:
    parts = [_columns(number) for number in range(2)]
    tables = []
    for part, kind in zip(parts, ("int64", "text"), strict=True):
        table = pa.table({"mixed": _as(part["mixed"], kind), "target": _as(part["target"], kind)})
        tables.append(table.append_column("weight", _as([value + 1 for value in part["other"]], "int64")))
        parquet.write_table(tables[-1], tmp_path / f"{kind}.parquet")
    text = tables[1].schema
    whole = pa.concat_tables([table.cast(text) for table in tables])
    options = {"target": "target", "weights": "weight"}
    assert credimi.select(tmp_path, **options).to_dict() == credimi.select(whole, **options).to_dict()


def test_csv_beside_parquet(tmp_path: Path) -> None:
    csv.write_csv(_table(_columns(0), "int64"), tmp_path / "0.csv")
    parquet.write_table(_table(_columns(1), "int64"), tmp_path / "1.parquet")
    whole = _whole(("int64", "int64"), "int64")
    assert credimi.select(tmp_path, "target").to_dict() == credimi.select(whole, "target").to_dict()
    assert credimi.pairs(tmp_path).to_dict() == credimi.pairs(whole).to_dict()
