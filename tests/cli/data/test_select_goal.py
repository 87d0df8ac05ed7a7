"""`credimi select --rule`: which columns each rule takes, printed and written."""

from __future__ import annotations

import json
import re
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
    code, out, _ = answer(capsys, "select", DATA, "--target", "diabetes", "--rule", "distinct")
    assert code == 0
    assert "Columns that tell something of their own about diabetes: 9 of 18 columns, 4,000 rows" in out
    assert "says what bmi says" in out


def test_json_is_that_of_python(capsys: pytest.CaptureFixture[str]) -> None:
    for rule in ("distinct", "relevant", "forward", "backward", "plugin", "fdr", "informative"):
        code, out, _ = answer(capsys, "select", DATA, "--target", "diabetes", "--rule", rule, "--format", "json")
        assert code == 0
        expected = credimi.select(str(DATA), "diabetes", rule=rule).to_dict(reader="command line")
        assert json.loads(out) == json.loads(json.dumps(expected))


def test_the_columns_are_written(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    output = tmp_path / "reduced.csv"
    arguments = "--target", "diabetes", "--rule", "distinct", "--max-features", 2, "--output", output
    code, _, err = answer(capsys, "select", DATA, *arguments)
    assert code == 0
    assert "2 of 20 features kept by the rule distinct: " in err
    names = output.read_text().splitlines()[0].split(",")
    assert sorted(names) == ["bmi", "diabetes", "glucose"]


def test_a_file_is_written_by_the_rule_that_is_printed(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """No rule, or one of each kind: with --output the same columns are kept, whatever else is asked for."""
    for rule in ([], ["--rule", "relevant"], ["--rule", "FF"]):
        asked = ["select", DATA, "--target", "diabetes", *rule]
        printed = json.loads(answer(capsys, *asked, "--format", "json")[1])["features"]
        page, output = tmp_path / "page.html", tmp_path / "reduced.csv"
        assert answer(capsys, *asked, "--html", page, "--output", output)[:2] == (0, "")
        names = output.read_text().splitlines()[0].split(",")
        assert sorted(names) == sorted([*printed, "diabetes"])
        assert printed[0] in page.read_text()


def test_steps_and_nodes_are_lines_of_csv(capsys: pytest.CaptureFixture[str]) -> None:
    for command, columns in (("select", "feature,taken,step,mi,"), ("tree", "node,parent,depth,branch,")):
        code, out, _ = answer(capsys, command, DATA, "--target", "diabetes", "--format", "csv")
        lines = [line for line in out.splitlines() if not line.startswith("# ")]
        assert code == 0
        assert lines[0].startswith(columns)
        assert len(lines) > 10
        assert re.search(r"^# epsilon: 0\.00298\d+\n# epsilon_share: \"0.5%\"$", out, re.MULTILINE)


def test_a_method_has_its_rule(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["select", DATA, "--target", "diabetes", "--method", "paper", "--format", "json"]
    assert json.loads(answer(capsys, *asked)[1])["settings"]["goal"] == "forward"
    with pytest.raises(credimi.CredimiError, match=r"method is for the rules plugin, .* not for distinct"):
        credimi.select(str(DATA), "diabetes", rule="distinct", method="paper")


def test_what_does_not_stand_at_the_factor_is_not_called_kept(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["select", DATA, "--target", "diabetes", "--rule", "forward", "--robust-factor", "2"]
    out = " ".join(answer(capsys, *asked)[1].split())
    assert "kept, but only if" not in out
    assert "not robust: would be taken without the robust factor" in out
    assert "Robust factor 2: what is taken stands" in out
    found = json.loads(answer(capsys, *asked, "--max-features", "3", "--format", "json")[1])
    reasons = {each["feature"]: each["reason"] for each in found["rejected"]}
    assert {reasons[name] for name in ("diet", "smoking")} == {"not robust"}
    assert reasons["pressure_medication"] == "unsure"
    assert {name for name, why in reasons.items() if why == "not reached"} >= {"visits_last_year", "exercise", "waist"}


def test_the_probability_of_a_rule_of_rankings_has_its_name(capsys: pytest.CaptureFixture[str]) -> None:
    heading = "not taken +tells alone +{} +why"
    for rule, named in (("distinct", r"P\(adds\)"), ("relevant", r"P\(matters\)"), ("fdr", r"P\(> 0.5 %\)")):
        assert re.search(
            heading.format(named), answer(capsys, "select", DATA, "--target", "diabetes", "--rule", rule)[1]
        )


@pytest.mark.parametrize("by", [("--rule", "distinct"), ("--rule", "relevant")])
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
        (
            ["--rule", "relevant", "--prior", "jeffreys"],
            "--prior is for the rules plugin, forward, backward, fdr, informative, not for",
        ),
        (["--robust-factor", "2"], "--robust-factor is for the rules plugin, forward, backward, fdr, informative, not"),
        (["--missing-as", "category"], "leave it out (missing_as, --missing-as)"),
        (["--level", "2"], "--level is 2"),
        (["--units", "bits", "--output", "s.csv"], "--units is of what is printed, and --output writes rows"),
        (["--format", "json", "--output", "s.json"], "--format is of what is printed, and --output writes rows"),
        (["--top", "1", "--output", "o.csv"], "to keep at most 1, write --max-features 1"),
        (["--rule", "fdr", "--scratch", ".", "--output", "o.csv"], "leave scratch out (scratch, --scratch)"),
        (
            ["--method", "paper", "--rule", "distinct"],
            "--method is for the rules plugin, forward, backward, fdr, informative, not for",
        ),
        (["--fdr", ".1", "--rule", "FF"], "--fdr is for the rule fdr, not for forward: leave it out"),
        (["--fdr", ".1", "--method", "paper"], "--fdr is for the rule fdr, not for forward: leave it out"),
        (["--rule", "best"], "invalid choice: 'best'"),
        (["--rule", "foward"], "did you mean 'forward'?"),
        (["--goal", "distinct"], "unrecognized arguments: --goal distinct: did you mean --rule?"),
    ],
)
def test_what_cannot_be_meant_is_refused(
    capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    code, out, err = answer(capsys, "select", DATA, "--target", "diabetes", *arguments)
    assert (code, out) == (2, "")
    assert message in err
