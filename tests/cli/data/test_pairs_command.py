"""`credimi pairs` from outside."""

from __future__ import annotations

import csv
import json
import math
from pathlib import Path

import numpy as np
import pytest
from command_helpers import CLINIC, Call, Refusal, columns, write

import credimi


def test_pairs_as_a_table_says_what_there_is(call: Call) -> None:
    code, out, err = call("pairs", CLINIC, "--top", "5")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert "pairs of" in lines[0]
    assert "P(indep.)" in out
    assert "... and" in out
    assert "About 73 % of the pairs seem independent. `linked` uses this" in out
    assert max(map(len, lines)) <= 120


def test_pairs_as_json_and_csv_are_those_of_python(call: Call) -> None:
    found = credimi.pairs(str(CLINIC)).to_dict()
    code, out, err = call("pairs", CLINIC, "--format", "json")
    assert (code, err) == (0, "")
    answer = json.loads(out)
    assert answer["pairs"] == found["pairs"]
    assert {"settings", "rows", "columns", "independent", "left_out", "remarks", "cuts"} <= set(answer)
    code, out, _ = call("pairs", CLINIC, "--format", "csv", "--top", "3", "--output", "pairs.csv")
    assert (code, out) == (0, "")
    lines = Path("pairs.csv").read_text(encoding="utf-8").splitlines()
    assert {f"# epsilon: {0.005 * math.log(2.0)}", '# epsilon_share: "0.5%"'} <= {*lines}
    rows = list(csv.DictReader(line for line in lines if not line.startswith("# ")))
    assert [(row["a"], row["b"]) for row in rows] == [(row["a"], row["b"]) for row in found["pairs"][:3]]
    assert float(rows[0]["mi"]) == found["pairs"][0]["mi"]


def test_forests_are_said_for_what_they_are(call: Call) -> None:
    code, out, _ = call("pairs", CLINIC, "--forest")
    assert code == 0
    assert "assuming that the dependences form a forest (no cycles)" in out.splitlines()[0]
    answer = json.loads(call("pairs", CLINIC, "--forest", "--format", "json")[1])
    forest = credimi.pairs(str(CLINIC)).forest()
    assert answer["expected_edges"] == pytest.approx(forest.expected_edges)
    assert {(edge["a"], edge["b"]) for edge in answer["edges"] if edge["in_best"]} == set(forest.best)
    lines = call("pairs", CLINIC, "--forest", "--format", "csv", "--top", "2")[1].splitlines()
    assert '# given: "that a forest holds"' in lines
    assert sum(not line.startswith("#") for line in lines) == 3


def test_the_page_of_forests_has_their_edges(call: Call, refusal: Refusal) -> None:
    asked = ("pairs", CLINIC, "--features", "bmi", "age", "sex", "--forest")
    assert "leave one of them out" in refusal(*asked, "--plot", "forest.png")
    assert call(*asked, "--html", "forest.html")[0] == 0
    page = Path("forest.html").read_text(encoding="utf-8")
    assert "assuming that the dependences form a forest (no cycles)" in page
    assert "in the best forest" in page


def test_missing_values_are_completed_from_forests(call: Call) -> None:
    asked = ("--refine", "forest", "--imputations", "3", "--random-state", "5")
    code, out, err = call("pairs", CLINIC, *asked, "--top", "2")
    assert (code, err) == (0, "")
    told = " ".join(out.split())
    assert "missing values were completed 3 times from forests of the columns" in told
    assert "--refine forest allows for that" not in told
    assert "--refine forest allows for that" in " ".join(call("pairs", CLINIC, "--top", "2")[1].split())
    answer = json.loads(call("pairs", CLINIC, *asked, "--format", "json", "--top", "2")[1])
    found = credimi.pairs(str(CLINIC), refine="forest", imputations=3, random_state=5)
    assert answer["pairs"] == found.to_dict(2)["pairs"]
    known = {name: answer["settings"][name] for name in ("refine", "imputations", "seed", "settled")}
    assert known == {"refine": "forest", "imputations": 3, "seed": 5, "settled": True}
    assert answer["settings"]["rounds"] >= 25
    forest = json.loads(call("pairs", CLINIC, *asked, "--forest", "--format", "json")[1])
    assert forest["expected_edges"] == pytest.approx(found.forest().expected_edges)
    assert any("completed 3 times" in line for line in forest["remarks"])


def test_options_reach_the_pairs(call: Call) -> None:
    code, out, _ = call(
        "pairs",
        CLINIC,
        "--features",
        "age",
        "bmi",
        "diabetes",
        "--discretize",
        "age=40,60",
        "--level",
        "0.8",
        "--format",
        "json",
    )
    answer = json.loads(out)
    assert (code, answer["columns"], answer["settings"]["level"]) == (0, ["age", "bmi", "diabetes"], 0.8)
    assert answer["cuts"]["age"] == ["40", "60"]
    pytest.importorskip("matplotlib")
    assert call("pairs", CLINIC, "--plot", "pairs.png")[0] == 0
    assert Path("pairs.png").stat().st_size > 1_000


def test_what_cannot_be_compared_is_refused(refusal: Refusal) -> None:
    write("data.csv", columns("a", "b", rows=[("x", "y"), ("y", "x")]))
    write("empty.csv", "")
    write("names.csv", "a,b\n")
    write("one.csv", "a\nx\ny\n")
    assert "no column 'c': there are 'a', 'b'\n" in refusal("pairs", "data.csv", "--features", "a", "c") + "\n"
    assert "no column 'target'" in refusal("pairs", "data.csv", "--features", "a", "target")
    assert "empty" in refusal("pairs", "empty.csv")
    assert "no rows" in refusal("pairs", "names.csv")
    assert "a pair has two columns" in refusal("pairs", "one.csv")
    assert "a pair has two columns" in refusal("pairs", "data.csv", "--features", "a")
    assert "here is none" in refusal("pairs", "data.csv", "--discretize", "mdl")
    assert "level" in refusal("pairs", "data.csv", "--level", "2")
    assert "--imputations is for --refine forest" in refusal("pairs", "data.csv", "--imputations", "3")
    assert "is the input" in refusal("pairs", "data.csv", "--output", "data.csv")
    assert "not standard output" in refusal("pairs", "data.csv", "--plot", "-")
    assert "adaptive" in refusal("pairs", "data.csv", "--prior", "uniform", "--forest")
    assert "cannot read absent.csv" in refusal("pairs", "absent.csv")


def test_messy_columns_are_left_out_with_a_word_or_kept(call: Call) -> None:
    generator = np.random.default_rng(0)
    rows = [
        (
            f"id{row}",
            "",
            "same",
            generator.choice(["ä", "ö,", "ß \x1b[31m"]),
            ("1", "two", "3.5", "?")[row % 4],
            row % 2,
        )
        for row in range(200)
    ]
    write("data.csv", columns("ключ", "empty", "one", "größe", "mixed", "b", rows=rows))
    code, out, err = call("pairs", "data.csv")
    assert (code, err) == (0, "")
    assert "\x1b" not in out
    assert "left out: ключ: " in out
    assert "left out: empty: " in out
    assert "left out: one: " in out
    assert "größe" in out
    assert "3 pairs of 3 columns" in out


def test_a_page_is_written_and_inputs_are_not(tmp_path: Path, call: Call, refusal: Refusal) -> None:
    data, page = write(str(tmp_path / "data.csv"), "x,y\n" + "a,b\nc,d\n" * 30), tmp_path / "page.html"
    code, _, err = call("pairs", data, "--html", page)
    assert (code, err) == (0, "")
    assert "What every two columns tell" in page.read_text(encoding="utf-8")
    assert "data.csv" in refusal("pairs", data, "--html", data)
    assert "not standard output" in refusal("pairs", data, "--html", "-")
    assert "give each its own" in refusal("pairs", data, "--html", page, "--output", page)
    assert Path(data).read_text(encoding="utf-8").startswith("x,y\n")
