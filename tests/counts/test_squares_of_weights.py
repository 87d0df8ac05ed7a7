"""The squares of weights are counted beside the weights, in each cell, however the rows are read and merged."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import credimi
from credimi.counts.saved import counts_file, counts_header
from credimi.sources.csv import csv_files
from credimi.sources.parquet import parquet_files

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from credimi.counts.counts import Counts

ROWS = 400
GENERATOR = np.random.default_rng(5)
FRAME = pd.DataFrame(
    {
        "y": GENERATOR.choice(["p", "q", None], size=ROWS, p=[0.5, 0.4, 0.1]),
        "x": GENERATOR.choice(["a", "b", "c", None], size=ROWS),
        "few": GENERATOR.choice([1, 2, 3], size=ROWS),
        "number": np.round(GENERATOR.normal(size=ROWS), 2),
        "w": GENERATOR.gamma(2.0, 30.0, size=ROWS),
    }
)


def squares_of(counts: Counts, column: str) -> dict[tuple[str, str], float]:
    """The squares in each cell, by the names of class and value; None stands for missing."""
    of_squares = counts.of_squares()
    assert of_squares is not None
    block = of_squares.blocks()[counts.features.index(column)]
    labels = counts.labels[counts.features.index(column)]
    names = [*(labels.texts or map(str, labels.numbers)), "None"]
    classes = [*counts.classes.texts, "None"]
    cells = ((row, value) for row in range(len(classes)) for value in range(len(names)))
    return {(classes[i], str(names[j])): float(block[i, j]) for i, j in cells if block[i, j]}


def spelled(name: str) -> str:
    """A number in one spelling: engines read 1, CSV 1.0."""
    return str(float(name)) if name.replace(".", "").lstrip("-").isdigit() else name


def expected_squares(frame: pd.DataFrame, column: str) -> dict[tuple[str, str], float]:
    """The same, by going through the rows."""
    found: dict[tuple[str, str], float] = {}
    for y, x, w in zip(frame["y"], frame[column], frame["w"], strict=True):
        value = "None" if pd.isna(x) else x if isinstance(x, str) else str(float(x))
        key = "None" if pd.isna(y) else str(y), value
        found[key] = found.get(key, 0.0) + w * w
    return found


def parts(frame: pd.DataFrame) -> Counts:
    return sum((credimi.count(frame[start : start + 90], "y", weights="w") for start in range(0, ROWS, 90)), start=0)


def read_file(name: str, engine: str | None = None) -> Callable[[pd.DataFrame, Path], Counts]:
    def read(frame: pd.DataFrame, folder: Path) -> Counts:
        if name.endswith("csv"):
            frame.to_csv(folder / name, index=False)
        else:
            pq.write_table(pa.Table.from_pandas(frame), folder / name)
        return credimi.count(folder / name, "y", weights="w", engine=engine)

    return read


def saved(frame: pd.DataFrame, folder: Path) -> Counts:
    credimi.count(frame, "y", weights="w").save(folder / "w.counts")
    return credimi.Counts.load(folder / "w.counts")


def dask(frame: pd.DataFrame, _folder: Path) -> Counts:
    library = pytest.importorskip("dask.dataframe")
    return credimi.count(library.from_pandas(frame, npartitions=3), "y", weights="w")


def polars_lazy(frame: pd.DataFrame, _folder: Path) -> Counts:
    library = pytest.importorskip("polars")
    return credimi.count(library.from_pandas(frame).lazy(), "y", weights="w")


def updated(frame: pd.DataFrame, _folder: Path) -> Counts:
    return credimi.count(frame[:50], "y", weights="w").update(frame[50:])


def subtracted(frame: pd.DataFrame, _folder: Path) -> Counts:
    more = pd.concat([frame, frame[:70].assign(x="never", y="other")])
    return credimi.count(more, "y", weights="w") - credimi.count(more[ROWS:], "y", weights="w")


READERS: dict[str, Callable[[pd.DataFrame, Path], Counts]] = {
    "frame": lambda frame, _: credimi.count(frame, "y", weights="w"),
    "arrays": lambda frame, _: credimi.count(frame.drop(columns="w"), "y", weights=frame["w"].to_numpy()),
    "records": lambda frame, _: credimi.count(
        [{name: None if pd.isna(value) else value for name, value in row.items()} for row in frame.to_dict("records")],
        "y",
        weights="w",
    ),
    "stream": lambda frame, _: credimi.count(pa.Table.from_pandas(frame).to_reader(max_chunksize=64), "y", weights="w"),
    "parts": lambda frame, _: parts(frame),
    "csv": read_file("rows.csv"),
    "parquet": read_file("rows.parquet"),
    "duckdb": read_file("rows.parquet", "duckdb"),
    "polars": polars_lazy,
    "dask": dask,
    "saved": saved,
    "updated": updated,
    "subtracted": subtracted,
}


@pytest.mark.parametrize("reader", READERS)
def test_every_reader_counts_the_same_squares(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reader: str) -> None:
    monkeypatch.setattr(csv_files, "_PART", 1 << 10)
    monkeypatch.setattr(parquet_files, "COLUMNS", 2)
    counts = READERS[reader](FRAME, tmp_path)
    for column in ("x", "few", "number"):
        found, expected = squares_of(counts, column), expected_squares(FRAME, column)
        found = {
            (y, str(float(x)) if x.replace(".", "").lstrip("-").isdigit() else x): v for (y, x), v in found.items()
        }
        assert found == pytest.approx(expected, rel=1e-12 if reader != "subtracted" else 1e-9)
    here = credimi.rank(credimi.count(FRAME, "y", weights="w"))
    there = credimi.rank(counts)
    assert there.columns["feature"] == here.columns["feature"]
    for figure in ("mi", "low", "high", "p_above", "missing_mi", "target_missing_mi"):
        assert there.columns[figure] == pytest.approx(here.columns[figure], rel=1e-9, abs=1e-12)


def test_parts_without_rows_add_nothing(tmp_path: Path) -> None:
    """Two such parts, as of a filtered cluster's frame, called each other without end."""
    whole = credimi.count(FRAME, "y", weights="w")
    empty = credimi.count(FRAME.assign(w=0.0), "y", weights="w")
    paths = [str(tmp_path / f"{part}.parquet") for part in range(3)]
    for path, rows in zip(paths, (0, 0, ROWS), strict=True):
        pq.write_table(pa.table(FRAME[:rows]), path)
    for found in (empty + empty + whole, credimi.count(paths, "y", weights="w")):
        assert found.rows == whole.rows
        assert all(squares_of(found, name) == squares_of(whole, name) for name in ("x", "few"))
    nothing = (empty + empty).of_squares()
    assert nothing is not None
    assert not nothing.flat.any()


def test_sparse_columns_have_squares() -> None:
    sparse = pytest.importorskip("scipy.sparse")
    dense = (GENERATOR.random((ROWS, 3)) < 0.2) * GENERATOR.integers(1, 3, (ROWS, 3))
    target, weights = FRAME["y"].fillna("r").to_numpy(), FRAME["w"].to_numpy()
    found = credimi.rank(sparse.csr_matrix(dense), target, weights=weights)
    expected = credimi.rank(dense, target, weights=weights)
    assert found.columns["mi"] == pytest.approx(expected.columns["mi"], rel=1e-9)
    assert found.columns["high"] == pytest.approx(expected.columns["high"], rel=1e-9)


def test_rows_of_known_class_have_their_own_squares() -> None:
    counts, known = credimi.count(FRAME, "y", weights="w").labelled(), FRAME[FRAME["y"].notna()]
    assert squares_of(counts, "x") == pytest.approx(expected_squares(known, "x"), rel=1e-12)
    assert counts.squares == pytest.approx(float((known["w"] ** 2).sum()), rel=1e-12)
    assert counts.rows == pytest.approx(float(known["w"].sum()), rel=1e-12)


def test_numbers_of_rows_that_are_named_so_need_no_squares() -> None:
    whole = FRAME.assign(w=np.rint(FRAME["w"]))
    counts = credimi.count(whole, "y", weights="w", weights_are="rows")
    assert counts.flat_squares is None
    repeated = FRAME.loc[FRAME.index.repeat(whole["w"].astype(int))].drop(columns="w")
    assert credimi.rank(counts).columns == credimi.rank(repeated, "y").columns


def without_squares(counts: Counts) -> Counts:
    """As an earlier version has written them: with the sum of all squares only."""
    header, arrays = counts_header.written(counts)
    del arrays["squares"]
    return credimi.Counts.from_bytes(counts_file.packed(json.loads(json.dumps(header)), arrays))


def test_counts_without_squares_of_cells_are_worth_one_number_of_rows() -> None:
    counts = credimi.count(FRAME, "y", weights="w")
    old = without_squares(counts)
    assert old == counts
    assert old.flat_squares is None
    ranking, worth = credimi.rank(old), round(FRAME["w"].sum() ** 2 / (FRAME["w"] ** 2).sum())
    (remark,) = (each for each in ranking.remarks if each.kind == "weights_scaled")
    assert (remark.rows, remark.least_rows, remark.most_rows) == (worth, worth, worth)
    share = counts.rows / counts.squares
    table = counts["x"]
    scaled = credimi.Table(share * table.joint, share * table.target_only, share * table.feature_only)
    expected = credimi.mutual_information(scaled)
    assert ranking["x"]["mi"] == pytest.approx(expected.mean(), rel=1e-6)
    for both in (old + counts, counts + old):
        assert both.flat_squares is None, "the squares of some rows are not known"
        assert both.squares == pytest.approx(2 * counts.squares)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda squares: squares[:-1], "squares are not one per count"),
        (lambda squares: -squares, "squares are negative"),
        (lambda squares: squares * np.nan, "squares are negative, or not numbers"),
        (lambda squares: squares + 1.0, "squares in cells without a count"),
        (lambda squares: squares.astype(np.int64), "squares are not one per count"),
    ],
)
def test_squares_of_a_file_are_checked(change: Callable[[np.ndarray], np.ndarray], words: str) -> None:
    counts = credimi.count({"x": ["a", "b", "c"], "y": ["p", "q", "q"], "w": [0.5, 2.0, 1.0]}, "y", weights="w")
    header, arrays = counts_header.written(counts)
    content = counts_file.packed(header, arrays | {"squares": change(arrays["squares"])})
    with pytest.raises(credimi.CredimiError, match=words):
        credimi.Counts.from_bytes(content)


@pytest.mark.parametrize("kind", ["pounds", 3, ""])
def test_an_unknown_kind_in_a_file_is_refused(kind: object) -> None:
    counts = credimi.count({"x": ["a", "b"], "y": ["p", "q"], "w": [0.5, 2.0]}, "y", weights="w")
    header, arrays = counts_header.written(counts)
    with pytest.raises(credimi.CredimiError, match="weights_are"):
        credimi.Counts.from_bytes(counts_file.packed(header | {"weights_are": kind}, arrays))


def test_what_weights_are_is_saved_and_compared() -> None:
    data = {"x": ["a", "b"] * 9, "y": ["p", "q"] * 9, "w": [1.0, 2.0] * 9}
    survey, plain = (credimi.count(data, "y", weights="w", weights_are=kind) for kind in ("survey", None))
    assert credimi.Counts.from_bytes(survey.to_bytes()).settings == survey.settings
    assert replace(survey, settings=plain.settings) == plain
    with pytest.raises(credimi.CredimiError, match=r"do not add.*weights_are"):
        _ = survey + plain


def test_a_cluster_is_told_what_weights_are() -> None:
    library = pytest.importorskip("dask.dataframe")
    whole = FRAME.assign(w=np.rint(FRAME["w"]) + 1.0)
    options = {"weights": "w", "weights_are": "survey"}
    found = credimi.select(library.from_pandas(whole, npartitions=3), "y", **options).to_dict()
    assert [step["feature"] for step in found["steps"]] == [
        step["feature"] for step in credimi.select(whole, "y", **options).to_dict()["steps"]
    ]
    counts = credimi.count(library.from_pandas(whole, npartitions=3), "y", **options)
    assert credimi.rank(counts).columns["high"] == pytest.approx(credimi.rank(whole, "y", **options).columns["high"])
