"""`credimi rank`, `select` and `count` from outside: help."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from command_helpers import ROOT, Call, Refusal, Report, base, columns, write, write_parquet

import credimi
from credimi.cli import main


@pytest.mark.parametrize("command", ["rank", "select", "count", "pairs"])
def test_help_fits_in_80_columns(call: Call, monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    code, out, err = call(command, "--help")
    assert (code, err) == (0, "")
    assert out.startswith(f"usage: credimi {command}")
    assert [line for line in out.splitlines() if len(line) > 80] == []


def test_every_command_is_on_the_page(call: Call) -> None:
    page = (ROOT / "docs" / "reference" / "command-line.md").read_text(encoding="utf-8")
    commands = re.findall(r"^    ([a-z-]+) ", call("--help")[1], re.MULTILINE)
    assert {"rank", "compare", "warm-up"} <= {*commands}
    for command in commands:
        assert f"\n## credimi {command}\n\n```{{command-help}} {command}\n" in page
        assert f"\ncredimi {command} " in page.split("```")[1]


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("tree", "if it is credible that the column tells something"),
        ("tree", "allowing for the number of columns tried"),
        ("tree", "The most splits between the root and a leaf"),
        ("pairs", "is correct if it depends only on these two whether a value is missing"),
        ("pairs", "assuming that the dependences form a forest (no cycles)"),
        ("network", "-- means that the direction cannot be told"),
    ],
)
def test_help_is_said_in_usual_words(call: Call, command: str, words: str) -> None:
    assert words in " ".join(call(command, "--help")[1].split())


@pytest.mark.parametrize("command", ["pairs", "network"])
def test_a_command_without_a_target_has_none_in_its_help(call: Call, command: str) -> None:
    told = " ".join(call(command, "--help")[1].split())
    assert "The columns to use. Default: all. --" in told
    assert "How numbers become categories: equal cuts them" in told
    assert "about the target" not in told


def test_the_level_of_a_selection_is_said(call: Call) -> None:
    told = " ".join(call("select", "--help")[1].split())
    assert 'How probable it has to be that a column is worth having; with "distinct", that one adds nothing' in told
    assert "None" not in told


@pytest.mark.parametrize("command", ["rank", "select", "count"])
def test_examples_of_the_help_run(call: Call, command: str) -> None:
    rows = [(("low", "high")[i % 2], -9 if i % 11 == 0 else 18 + i % 60, "pq"[i % 2]) for i in range(120)]
    text = columns("income", "age", "town", rows=rows)
    write("survey.csv", text)
    for name in ("january.csv", "february.csv"):
        write(name, text.replace("income", "churn"))
    fields = dict(zip(("income", "age", "town"), map(list, zip(*rows, strict=True)), strict=True))
    write_parquet("old.parquet", fields)
    Path("2024").mkdir()
    for name in ("2024/1.parquet", "2024/2.parquet"):
        write_parquet(name, {"churn" if field == "income" else field: values for field, values in fields.items()})
    credimi.count("survey.csv", "income").save("income.counts")
    examples = call(command, "--help")[1].split("examples:\n")[1].strip().splitlines()
    assert len(examples) > 1
    for example in examples:
        words = shlex.split(example, comments=True)
        assert words[0] == "credimi"
        code, out, err = call(*words[1:])
        assert code == 0, err
        assert bool(out) == (words[1] != "count" and "--output" not in words)
    made = {"rank": "ranking.json", "select": "reduced.csv", "count": "churn.counts"}[command]
    assert Path(made).exists()


@pytest.mark.parametrize("command", ["rank", "select", "count"])
def test_help_names_every_option(call: Call, command: str) -> None:
    out = " ".join(call(command, "--help")[1].split())
    options = ["target", "features", "missing", "discretize", "threads"]
    options += ["into"] if command == "count" else ["prior", "approximation", "epsilon", "level", "random-state"]
    for option in options:
        assert f"--{option} " in out


def test_columns_left_out_by_name(report: Report, capsys: pytest.CaptureFixture[str]) -> None:
    write("data.csv", columns("y", "a", "b", "c", rows=[(row % 2, row % 3, "x", "z") for row in range(60)]))
    found = report("data.csv", "--target", "y", "--exclude", "b", "c")
    assert [feature["feature"] for feature in found["features"]] == ["a"]
    assert main(["rank", "data.csv", "--target", "y", "--exclude", "bb"]) == 2
    assert "there is no column 'bb': did you mean 'b'?" in capsys.readouterr().err
    assert main(["count", "data.csv", "--target", "y", "--exclude", "b", "--into", "some.counts"]) == 0
    assert credimi.Counts.load("some.counts").features == ("a", "c")
    assert main(["count", "data.csv", "--exclude", "b", "--into", "some.counts", "--force"]) == 0
    assert main(["count", "data.csv", "--target", "y", "--exclude", "c", "--into", "some.counts", "--force"]) == 2
    assert "some.counts counts the column 'c', which is left out here" in capsys.readouterr().err
    assert main(["rank", "data.csv", "--target", "y", "--exclude", "b", "y"]) == 2
    assert "'y' is the target and cannot be left out: remove it from exclude" in capsys.readouterr().err
    assert main(["prequential", "data.csv", "--target", "y", "--exclude", "b", "c", "--orders", "1"]) == 0
    assert "1 feature\n" in capsys.readouterr().out


def test_a_file_named_twice_is_not_ranked(refusal: Refusal) -> None:
    write("data.csv", base())
    assert "data.csv is named twice" in refusal("rank", "data.csv", "*.csv", "--target", "y")
    assert "is named twice" in refusal("rank", "data.csv", Path("data.csv").absolute(), "--target", "y")
    assert "is named twice" in refusal("prequential", "data.csv", "data.csv", "--target", "y")
    credimi.count("data.csv", "y").save("some.counts")
    assert "some.counts is named twice" in refusal("rank", "some.counts", "some.counts")
