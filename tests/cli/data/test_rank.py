"""`credimi rank`, `select` and `count` from outside: the answer."""

from __future__ import annotations

import csv
import io
import json
import math
import stat
from pathlib import Path

import pytest
from command_helpers import CLINIC, Call, Report, base, columns, process, write

import credimi


def test_json_is_the_answer_from_python(report: Report) -> None:
    answer = report(CLINIC, "--target", "diabetes")
    ranking = credimi.rank(str(CLINIC), "diabetes")
    assert answer == json.loads(json.dumps(ranking.to_dict(reader="command line")))
    for feature in answer["features"]:
        if feature["mi"] is not None:
            assert {name: ranking[feature["feature"]][name] for name in feature} | {"note": feature["note"]} == feature


def test_json_follows_the_options(report: Report) -> None:
    options = ["--prior", "0.25", "--approximation", "leading-beta", "--epsilon", "0.02", "--level", "0.9"]
    answer = report(CLINIC, "--target", "diabetes", "--features", "age", "sex", "--discretize", "quantile", *options)
    ranking = credimi.rank(
        str(CLINIC),
        "diabetes",
        features=["age", "sex"],
        discretize="quantile",
        prior=0.25,
        approximation="leading-beta",
        epsilon=0.02,
        level=0.9,
    )
    assert answer == json.loads(json.dumps(ranking.to_dict(reader="command line")))
    settings = {"prior": 0.25, "approximation": "leading-beta", "epsilon": 0.02, "level": 0.9, "discretize": "quantile"}
    assert settings.items() <= answer["settings"].items()


def test_holes_that_tell_of_the_target_are_reported_and_can_be_a_value(call: Call, report: Report) -> None:
    rows = [(label, "" if label == "a" and row % 3 else "pq"[row // 2 % 2]) for row in range(90) for label in "ab"]
    write("data.csv", "y,tested\n" + "".join(f"{label},{value}\n" for label, value in rows))
    code, out, _ = call("rank", "data.csv", "--target", "y")
    assert code == 0
    assert "caution: whether the column is missing is itself informative about the target: tested (" in out
    ignored = report("data.csv", "--target", "y")
    taken = report("data.csv", "--target", "y", "--missing-as", "category")
    assert (ignored["settings"]["missing"], taken["settings"]["missing"]) == ("ignore", "category")
    assert ignored["features"][0]["missing_p_above"] > 0.99
    assert ignored["features"][0]["keep_forward"] is False
    assert taken["features"][0]["keep_forward"] is True
    assert taken["features"][0]["values"] == 3
    assert "caution" not in call("rank", "data.csv", "--target", "y", "--missing-as", "category")[1]
    assert call("rank", "data.csv", "--target", "y", "--missing-as", "value")[0] == 2


def test_json_names_the_seed(report: Report) -> None:
    write("data.csv", base())
    answer = report("data.csv", "--target", "y", "--approximation", "sampled", "--random-state", "5")
    assert 5 in answer["settings"].values()


def test_bits(call: Call, report: Report) -> None:
    nats, bits = report(CLINIC, "--target", "diabetes"), report(CLINIC, "--target", "diabetes", "--units", "bits")
    assert bits["settings"] == nats["settings"] | {"units": "bits", "epsilon_units": "nats"}
    for one, other in zip(nats["features"], bits["features"], strict=True):
        ends = ("mi", "low", "high")
        named = (
            "std",
            *ends,
            *(f"{each}_if_dependent" for each in ends),
            *(f"{of}missing_{each}" for of in ("", "target_") for each in ends),
        )
        converted = {name: one[name] and one[name] / math.log(2.0) for name in named}
        assert other == one | converted
    out = call("rank", CLINIC, "--target", "diabetes", "--units", "bits")[1]
    assert " bits " in out
    assert f"{bits['features'][0]['mi']:.4f}" in out


def test_csv_reads_back(call: Call, report: Report) -> None:
    write("data.csv", columns("y", 'a,"b"', "c\rd", rows=[(i % 2, i % 3, i % 2) for i in range(30)]))
    for path, target in ((CLINIC, "diabetes"), ("data.csv", "y")):
        code, out, err = call("rank", path, "--target", target, "--format", "csv")
        assert (code, err) == (0, "")
        answer = report(path, "--target", target)
        remarks = [line for line in out.splitlines() if line.startswith("# ")]
        told = {name: json.loads(value) for name, value in (line[2:].split(": ", 1) for line in remarks)}
        assert told == answer["settings"] | {
            name: answer[name] for name in ("rows", "rows_with_target", "classes", "entropy")
        }
        table = "".join(line for line in out.splitlines(keepends=True) if not line.startswith("# "))
        rows = list(csv.DictReader(io.StringIO(table, newline="")))
        assert len(rows) == len(answer["features"])
        for row, feature in zip(rows, answer["features"], strict=True):
            assert row == {name: "" if value is None else str(value) for name, value in feature.items()}
            assert [float(row["mi"] or "nan")] == pytest.approx(
                [math.nan if feature["mi"] is None else feature["mi"]], rel=0, abs=0, nan_ok=True
            )


@pytest.mark.parametrize("form", ["table", "json", "csv"])
def test_output_is_what_would_be_printed(call: Call, form: str) -> None:
    write("data.csv", base())
    printed = call("rank", "data.csv", "--target", "y", "--format", form)[1]
    assert call("rank", "data.csv", "--target", "y", "--format", form, "--output", "-") == (0, printed, "")
    assert call("rank", "data.csv", "--target", "y", "--format", form, "--output", "new") == (0, "", "")
    assert Path("new").read_text(encoding="utf-8") == printed
    assert stat.S_IMODE(Path("new").stat().st_mode) == stat.S_IMODE(Path("data.csv").stat().st_mode)


@pytest.mark.long
@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_terminals_without_unicode(encoding: str) -> None:
    write("data.csv", columns("größe", "年齢", rows=[(i % 2, i % 2) for i in range(20)]))
    for form in ("table", "json", "csv"):
        answer = process("rank", "data.csv", "--target", "größe", "--format", form, PYTHONIOENCODING=encoding)
        assert answer.returncode == 0
        assert b"Traceback" not in answer.stderr
        if form == "json":
            assert json.loads(answer.stdout.decode(encoding))["features"][0]["feature"] == "年齢"
        else:
            assert rb"\u5e74\u9f62" in answer.stdout
