"""`credimi network`: tables, JSON and files; faults are named."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from command_helpers import CLINIC, write

if TYPE_CHECKING:
    from command_helpers import Call, Refusal


def chain(rows: int = 400) -> str:
    generator = np.random.default_rng(0)
    first = generator.integers(0, 2, rows)
    second = np.where(generator.random(rows) < 0.2, 1 - first, first)
    third = np.where(generator.random(rows) < 0.2, 1 - second, second)
    lines = ["first,second,third", *(f"{a},{b},{c}" for a, b, c in zip(first, second, third, strict=True))]
    return write("chain.csv", "\n".join(lines) + "\n")


def test_the_edges_and_what_separates_others_are_printed(call: Call) -> None:
    code, out, _ = call("network", chain())
    assert code == 0
    assert out.startswith("2 edges among 3 columns of 400 rows: P(edge) >= 0.5")
    assert "depend, but not directly" in out
    assert "no edge has a direction; --: the direction cannot be told\n" in out
    assert "->" not in out


def test_json_has_settings_edges_and_remarks(call: Call) -> None:
    code, out, _ = call(
        "network", chain(), "--format", "json", "--level", "0.9", "--random-state", "5", "--degree", "1.5"
    )
    assert code == 0
    found = json.loads(out)
    assert found["settings"]["level"] == 0.9
    assert found["settings"]["seed"] == 5
    assert {(edge["a"], edge["b"]) for edge in found["edges"]} == {("first", "second"), ("second", "third")}
    assert found["separated"][0]["separated_by"] == ["second"]


def test_files_for_other_programs_are_written(call: Call) -> None:
    data = chain()
    code, _, _ = call("network", data, "--format", "dot", "--output", "n.dot", "--html", "n.html", "--plot", "n.svg")
    assert code == 0
    assert Path("n.dot").read_text(encoding="utf-8").startswith("digraph network {")
    assert "chain.csv" in Path("n.html").read_text(encoding="utf-8")
    assert Path("n.svg").stat().st_size > 1000
    code, out, _ = call("network", data, "--format", "csv")
    lines = out.splitlines()
    settings = dict(line[2:].split(": ", 1) for line in lines if line.startswith("# "))
    assert settings["level"] == "0.5"
    assert settings["rows"] == "400"
    rows = list(csv.DictReader(line for line in lines if not line.startswith("# ")))
    assert sorted(row["a"] for row in rows) == ["first", "second"]
    assert {row["rows"] for row in rows} == {"400"}
    code, out, _ = call("network", data, "--format", "graphml")
    assert "</graphml>" in out


def test_columns_are_chosen_and_left_out(call: Call) -> None:
    _, out, _ = call(
        "network", CLINIC, "--features", "bmi", "waist", "clinic", "--imputations", "0", "--format", "json"
    )
    found = json.loads(out)
    assert found["columns"] == ["bmi", "waist"]
    assert "one value only" in found["remarks"][-1]["text"]
    _, out, _ = call("network", chain(), "--exclude", "third")
    assert "among 2 columns" in out


def test_an_identifier_can_be_compared_as_the_remark_says(call: Call) -> None:
    lines = Path(chain(100)).read_text(encoding="utf-8").splitlines()
    data = write("numbered.csv", "\n".join(f"{n or 'number'},{line}" for n, line in enumerate(lines)) + "\n")
    _, out, _ = call("network", data)
    assert "(--discretize number=quantile compares it)" in " ".join(out.split())
    _, out, _ = call("network", data, "--discretize", "number=quantile")
    assert "among 4 columns" in out
    _, out, _ = call("network", data, "--features", "first", "second")
    assert "no edge has a direction" in out


def test_faults_are_named(refusal: Refusal) -> None:
    data = chain()
    assert "between 0 and 1" in refusal("network", data, "--level", "2")
    assert "--top is for --format table: csv has all" in refusal("network", data, "--top", "1", "--format", "csv")
    assert "--degree is 0" in refusal("network", data, "--degree", "0")
    assert "there is no column 'fourth'" in refusal("network", data, "--features", "first", "fourth")
    for asked in (["--weights", "target"], ["--discretize", "target=quantile"]):
        told = refusal("network", data, *asked)
        assert told == "there is no column 'target': there are 'first', 'second', 'third'"
    assert "two columns or more" in refusal("network", data, "--features", "first")
    assert "same file" in refusal("network", data, "--output", "x", "--html", "x")
    assert "here is none" in refusal("network", data, "--discretize", "mdl")
    assert "ends in" in refusal("network", data, "--plot", "x.gif")
    assert "is the input" in refusal("network", data, "--html", data)
