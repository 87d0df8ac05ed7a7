"""`credimi select --goal`: columns that tell something together."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import credimi
from credimi.cli import main

DATA = Path(__file__).resolve().parents[3] / "examples" / "clinic.csv"


def answer(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    try:
        code = main([str(argument) for argument in arguments])
    except SystemExit as stop:
        code = int(stop.code or 0)
    return code, *capsys.readouterr()


def test_the_steps_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = answer(capsys, "select", DATA, "--target", "diabetes")
    assert code == 0
    assert "The smallest set that tells about diabetes: 7 of 18 columns, 4,000 rows" in out
    assert "says what bmi says" in out


def test_json_is_that_of_python(capsys: pytest.CaptureFixture[str]) -> None:
    for goal in ("smallest", "relevant"):
        code, out, _ = answer(capsys, "select", DATA, "--target", "diabetes", "--goal", goal, "--format", "json")
        assert code == 0
        expected = credimi.select(str(DATA), "diabetes", rule=goal).to_dict()
        assert json.loads(out) == json.loads(json.dumps(expected))


def test_the_columns_are_written(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    output = tmp_path / "reduced.csv"
    arguments = "--target", "diabetes", "--goal", "smallest", "--max-features", 2, "--output", output
    code, _, err = answer(capsys, "select", DATA, *arguments)
    assert code == 0
    assert "2 of 18 features kept by the goal smallest: " in err
    names = output.read_text().splitlines()[0].split(",")
    assert sorted(names) == ["bmi", "diabetes", "glucose"]


@pytest.mark.parametrize("by", [(), ("--goal", "smallest"), ("--goal", "relevant")])
def test_at_least_so_many_columns_are_written(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, by: tuple[str, ...]
) -> None:
    data, output = tmp_path / "data.csv", tmp_path / "reduced.csv"
    data.write_text("a,b,c,y\n" + "1,1,1,p\n1,2,2,q\n2,1,2,p\n2,2,1,q\n" * 2)
    arguments = ("select", data, "--target", "y", *by, "--output", output)
    assert answer(capsys, *arguments)[0] == 3
    code, _, err = answer(capsys, *arguments, "--min-features", 2)
    assert code == 0
    assert "not credible, kept because of --min-features: 2 of them" in err
    names = output.read_text().splitlines()[0].split(",")
    assert len(names) == 3
    assert {"b", "y"} <= set(names)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--rule", "forward"], "the rule forward selects columns to be written: name a file with --output"),
        (["--goal", "smallest", "--rule", "forward"], "not allowed with argument"),
        (["--goal", "relevant", "--prior", "jeffreys"], "--prior is for rules: a goal has adaptive only"),
        (["--robust-factor", "2"], "a goal has none; leave it out, or use a rule, which needs --output"),
        (["--missing-as", "category"], "--missing-as is for rules"),
        (["--level", "2"], "--level is 2"),
        (["--format", "json", "--output", "s.json"], "--format is of the printed steps, and --output writes rows"),
        (["--goal", "smallest", "--format", "json", "--output", "s.json"], "--format is of the printed steps"),
        (["--goal", "smallest", "--top", "1", "--output", "o.csv"], "--top is for rules, and a rule needs --output"),
        (["--top", "1"], "--top is for rules"),
        (["--sort", "low"], "--sort is for rules"),
        (["--seed", "1"], "--seed is for rules"),
        (["--max-features", "1", "--output", "o.csv"], "--max-features is for goals: name one with --goal"),
        (["--rule", "fdr", "--scratch", ".", "--output", "o.csv"], "--scratch is for goals"),
        (["--html", "p.html", "--output", "o.csv"], "--html is for goals"),
        (["--fdr", "0.1", "--output", "o.csv"], "--fdr is for --rule fdr: the rule forward has none"),
        (["--units", "bits", "--output", "o.csv"], "--units is of what is printed"),
    ],
)
def test_what_cannot_be_meant_is_refused(
    capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    code, out, err = answer(capsys, "select", DATA, "--target", "diabetes", *arguments)
    assert (code, out) == (2, "")
    assert message in err
