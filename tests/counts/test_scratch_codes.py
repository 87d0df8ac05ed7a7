"""Codes in a scratch file: the same selection as in memory, from data read in parts; what cannot be is refused."""

from __future__ import annotations

import errno
import gzip
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import feather

import credimi
from credimi import CredimiError
from credimi.counts.rows import storage

if TYPE_CHECKING:
    from collections.abc import Callable

CLINIC = Path(__file__).resolve().parents[2] / "examples" / "clinic.csv"


def mixed(rows: int = 3_000) -> pa.Table:
    """Texts, numbers and truth values with missing cells, a target with missing cells and one rare class, ids."""
    generator = np.random.default_rng(1)
    target = generator.integers(0, 2, rows)
    gone = lambda: generator.random(rows) < 0.1  # noqa: E731
    names = np.where(np.arange(rows) > rows - 40, "rare", np.array(["no", "yes"])[target])
    told = np.where(generator.random(rows) < 0.5, target, generator.integers(0, 2, rows))
    return pa.table(
        {
            "y": pa.array(names, mask=gone()),
            "number": pa.array(target + generator.normal(size=rows), mask=gone()),
            "text": pa.array(np.array(["a", "b"])[told], mask=gone()),
            "late": pa.array(np.where(np.arange(rows) > rows - 90, "new", "old"), mask=gone()),
            "true": pa.array(generator.random(rows) < 0.5, mask=gone()),
            "small": pa.array(generator.integers(0, 4, rows), mask=gone()),
            "id": pa.array([f"r{row}" for row in range(rows)]),
        }
    )


@pytest.fixture
def parts(tmp_path: Path) -> list[str]:
    """The table in three Parquet files, each of several row groups."""
    found, table = [], mixed()
    for number in range(3):
        found.append(str(tmp_path / f"part{number}.parquet"))
        pq.write_table(table.slice(number * 1_000, 1_000), found[-1], row_group_size=300)
    return found


def test_the_selection_is_that_of_memory(parts: list[str], tmp_path: Path) -> None:
    inside = credimi.select(parts, "y").to_dict()
    assert credimi.select(parts, "y", scratch=tmp_path).to_dict() == inside
    assert inside["features"]
    assert sorted(each.name for each in tmp_path.iterdir()) == [f"part{number}.parquet" for number in range(3)]


def test_a_csv_file_and_a_table_are_read_twice(tmp_path: Path) -> None:
    for data in (str(CLINIC), mixed()):
        target = "diabetes" if isinstance(data, str) else "y"
        inside = credimi.select(data, target).to_dict()
        assert credimi.select(data, target, scratch=tmp_path).to_dict() == inside


def test_relevant_columns_from_a_scratch_file(parts: list[str], tmp_path: Path) -> None:
    inside = credimi.select(parts, "y", rule="relevant")
    assert credimi.select(parts, "y", rule="relevant", scratch=tmp_path).features == inside.features


@pytest.mark.parametrize(
    ("data", "options", "message"),
    [
        (mixed, {"scratch": "nowhere"}, "scratch is 'nowhere', which is no folder"),
        (lambda: mixed().to_reader(), {}, "is read once, and scratch codes need two passes"),
    ],
)
def test_what_cannot_be_is_refused(
    tmp_path: Path, data: Callable[[], object], options: dict[str, object], message: str
) -> None:
    with pytest.raises(CredimiError, match=message):
        credimi.select(data(), "y", **{"scratch": tmp_path} | options)


def test_files_larger_than_memory_are_refused_with_the_remedy(
    parts: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("credimi.counts.rows.storage.memory", lambda: 1_000.0)
    for data in (parts, parts[0], Path(parts[0])):
        with pytest.raises(
            CredimiError, match=r"the rows of the files take about .* and there are 0.0 GB of memory: name a folder"
        ):
            credimi.select(data, "y")


def test_the_memory_of_a_container_is_what_there_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    limits = tmp_path / "limited", tmp_path / "unlimited", tmp_path / "none"
    limits[0].write_text("1000\n")
    limits[1].write_text("max\n")
    monkeypatch.setattr(storage, "_LIMITS", tuple(map(str, limits)))
    assert storage.memory() == 1000.0
    monkeypatch.setattr(storage, "_LIMITS", tuple(map(str, limits[1:])))
    assert storage.memory() > 1000.0


def test_what_others_have_taken_is_not_free(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a container and of the machine; pages of files that the system keeps are free on demand."""
    (tmp_path / "memory.max").write_text("1000\n")
    (tmp_path / "memory.current").write_text("900\n")
    (tmp_path / "memory.stat").write_text("anon 500\ninactive_file 300\n")
    monkeypatch.setattr(storage, "_LIMITS", (str(tmp_path / "memory.max"),))
    assert storage.memory() == 1000.0 - (900.0 - 300.0)
    (tmp_path / "meminfo").write_text("MemTotal:  8 kB\nMemFree:  0 kB\nMemAvailable:     0.125 kB\n")
    monkeypatch.setattr(storage, "_MACHINE", str(tmp_path / "meminfo"))
    assert storage.memory() == 128.0


def written(folder: Path, ending: str, rows: int) -> Path:
    """One column of texts and a target, in a file of this format."""
    folder.mkdir(exist_ok=True)
    path = folder / f"part{ending}"
    table = pa.table({"x": ["a", "b"] * (rows // 2), "z": [0.5, 1.5] * (rows // 2), "y": ["p", "q"] * (rows // 2)})
    if ending == ".parquet":
        pq.write_table(table, path, row_group_size=rows // 2)
    elif ending == ".arrow":
        feather.write_feather(table, path)
    elif ending == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in table.to_pylist()))
    else:
        text = "x,z,y\n" + "a,0.5,p\nb,1.5,q\n" * (rows // 2)
        path.write_bytes(gzip.compress(text.encode()) if ending.endswith(".gz") else text.encode())
    return path


@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".parquet", ".arrow", ".jsonl"])
@pytest.mark.parametrize("named", ["file", "folder", "pattern", "list", "list of folders"])
def test_scratch_is_advised_before_any_row_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str, named: str
) -> None:
    path = written(tmp_path / "data", ending, 2_000)
    data = {"file": path, "folder": path.parent, "pattern": str(path.parent / "p*"), "list": [path]}
    free = path.stat().st_size * (1.1 if ending in (".csv.gz", ".parquet") else 0.9)  # the packed file would fit
    monkeypatch.setattr("credimi.counts.rows.storage.memory", lambda: float(free))
    monkeypatch.setattr("credimi.sources.files.batches", None)
    for search in (credimi.select, credimi.interactions):
        with pytest.raises(CredimiError, match=r"name a folder with scratch \(--scratch\), .* or fewer columns"):
            search(data.get(named, [path.parent]), "y")


def test_what_fits_is_read_and_columns_that_are_left_out_take_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path / "data", ".parquet", 2_000)
    needed = 2_000 * (1.5 * (4 + 8 + 4) + 3)  # two indices and a number; a byte of code for each
    monkeypatch.setattr("credimi.counts.rows.storage.memory", lambda: float(needed) - 1.0)
    with pytest.raises(CredimiError, match="name a folder with scratch"):
        credimi.select(path.parent, "y")
    assert credimi.select(path.parent, "y", features=["x"]).features == ("x",)
    assert credimi.select(path.parent, "y", scratch=tmp_path).features
    monkeypatch.setattr("credimi.counts.rows.storage.memory", lambda: float(needed) + 1.0)
    assert credimi.select(path.parent, "y").features


def test_a_full_disk_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "posix_fallocate", full, raising=False)
    with pytest.raises(CredimiError, match=r"scratch folder .*: No space left on device \(\S+ GB are needed\)"):
        credimi.select(mixed(), "y", scratch=tmp_path)

    def closed(*_: int) -> None:
        raise OSError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(os, "posix_fallocate", closed, raising=False)
    with pytest.raises(CredimiError, match=r"no codes can be written to the scratch folder .*: Permission denied$"):
        credimi.select(mixed(), "y", scratch=tmp_path)


def test_weights_count_rows_more_often() -> None:
    """Also weights that are no numbers of rows: they are worth fewer."""
    generator = np.random.default_rng(0)
    target = generator.integers(0, 2, 900)
    told = np.where(generator.random(900) < 0.3, target, generator.integers(0, 2, 900))
    data = {"x": [f"v{each}" for each in told], "z": [f"v{each}" for each in generator.integers(0, 3, 900)]}
    data["y"] = [f"c{each}" for each in target]
    times = generator.integers(1, 4, 900)
    again = {name: [values[row] for row in np.repeat(np.arange(900), times)] for name, values in data.items()}
    weighted, repeated = credimi.select(data, "y", weights=times), credimi.select(again, "y")
    assert weighted.features == repeated.features == ("x",)
    assert weighted.rows == repeated.rows == times.sum()
    assert weighted.steps[0].mi == pytest.approx(repeated.steps[0].mi, rel=1e-9)
    shares = times / times.mean() * 1.0001
    survey = credimi.select(data, "y", weights=shares)
    assert survey.rows == pytest.approx(times.sum() ** 2 / (times**2).sum(), abs=0.1)


@pytest.mark.parametrize("weights", ["small", "large"])
def test_weights_and_columns_of_many_values_are_those_of_memory(tmp_path: Path, weights: str) -> None:
    """Weights that are numbers of rows, some 0, and others; values of rows of weight 0 alone are none."""
    table = mixed()
    shares = np.random.default_rng(2).uniform(0.5, 1.5, table.num_rows)
    small = np.where(np.arange(table.num_rows) > table.num_rows - 90, 0, table["small"].fill_null(1).to_numpy())
    table = table.drop_columns("small").append_column("small", pa.array(small)).append_column("large", pa.array(shares))
    asked = {"weights": weights, "exclude": ["large" if weights == "small" else "small"]}
    asked |= {"discretize": {"number": "categories"}}
    for number in range(3):
        pq.write_table(table.slice(number * 1_000, 1_000), tmp_path / f"part{number}.parquet", row_group_size=300)
    paths = [str(tmp_path / f"part{number}.parquet") for number in range(3)]
    inside = credimi.select(paths, "y", **asked)
    outside = credimi.select(paths, "y", **asked, scratch=tmp_path)
    assert outside.features == inside.features != ()
    assert outside.rows == inside.rows
    for one, other in zip(outside.steps, inside.steps, strict=True):
        assert (one.mi, one.p_adds) == pytest.approx((other.mi, other.p_adds), rel=1e-9)
