"""The example table is what its generator makes, and has what the generator promises."""

from __future__ import annotations

import csv
import json
import math
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SCRIPT = ROOT / "tools" / "make_example.py"
FILE = ROOT / "examples" / "clinic.csv"
MAKER = runpy.run_path(str(SCRIPT))
GROUPS = {
    "young": lambda row: int(row["age"]) < 40,
    "women": lambda row: row["sex"] == "female",
    "men": lambda row: row["sex"] == "male",
    "unseen": lambda row: row["visits_last_year"] == "0",
}


def make(*arguments: str) -> str:
    command = [sys.executable, "-W", "error", str(SCRIPT), *arguments]
    return subprocess.run(command, capture_output=True, encoding="utf-8", check=True).stdout


@pytest.fixture(scope="module")
def rows() -> list[dict[str, str]]:
    with FILE.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, strict=True))


def test_the_file_is_what_the_generator_makes(tmp_path: Path) -> None:
    made = tmp_path / "made.csv"
    make("--output", str(made))
    assert made.read_bytes() == FILE.read_bytes()
    assert len(made.read_bytes()) < 500_000


def test_a_longer_file_starts_with_the_shorter_one(tmp_path: Path) -> None:
    made = tmp_path / "made.csv"
    make("--output", str(made), "--rows", "30")
    assert len(made.read_bytes().splitlines()) == 1 + 30
    assert FILE.read_bytes().startswith(made.read_bytes())


def test_the_truth_names_every_column_but_the_target(rows: list[dict[str, str]]) -> None:
    before = FILE.stat().st_mtime_ns
    truth = json.loads(make("--truth"))
    assert FILE.stat().st_mtime_ns == before
    assert truth == MAKER["TRUTH"]
    assert [*truth, "diabetes"] == list(rows[0])
    assert set(truth.values()) == {"strong", "moderate", "weak", "none"}


@pytest.mark.parametrize("column", MAKER["COLUMNS"])
def test_holes_are_as_frequent_as_promised(column: str, rows: list[dict[str, str]]) -> None:
    assert len(rows) == 4000
    hole = MAKER["HOLES"].get(column)
    if hole is None:
        assert not any(row[column] in {"", "NA", "?"} for row in rows)
        return
    marks = {row[column] for row in rows} & {"", "NA", "?"}
    assert marks == {hole.mark}
    raised = [row[column] == hole.mark for row in rows if GROUPS[hole.group](row)]
    usual = [row[column] == hole.mark for row in rows if not GROUPS[hole.group](row)]
    for holes, rate in [(raised, hole.raised), (usual, hole.usual)]:
        assert sum(holes) / len(holes) == pytest.approx(rate, abs=3.5 * math.sqrt(rate * (1 - rate) / len(holes)))
    assert 0.003 < sum(raised + usual) / len(rows) < 0.4


def test_the_target_is_missing_in_about_six_of_a_hundred(rows: list[dict[str, str]]) -> None:
    assert sum(row["diabetes"] == "" for row in rows) / len(rows) == pytest.approx(0.06, abs=0.01)
    assert {row["diabetes"] for row in rows} == {"no", "yes", ""}


def test_the_odd_columns_are_there(rows: list[dict[str, str]]) -> None:
    assert len({row["patient"] for row in rows}) == len(rows)
    assert rows[16]["patient"] == "P-00017"
    assert len({row["clinic"] for row in rows}) == 1
    assert {"Zürich", "Genève"} < {row["region"] for row in rows}
