"""`credimi rank --robust`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from credimi.cli import main

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "data.csv"
    lines = ["x,full,y"]
    for place in range(600):
        y = place % 2
        x = "" if place % 5 == 0 else "ab"[y if place % 3 else 1 - y]
        lines.append(f"{x},{'pq'[y if place % 7 else 1 - y]},{y}")
    path.write_text("\n".join(lines) + "\n")
    return path


def test_the_table_says_up_to_which_factor(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rank", str(file), "--target", "y", "--robust-factor", "2"]) == 0
    text = capsys.readouterr().out
    assert "at factor 2" in text
    assert "keep, up to " in text
    assert "keep, at any factor" in text


def test_json_has_the_columns(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rank", str(file), "--target", "y", "--robust-factor", "inf", "--format", "json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["settings"]["factor"] == "inf"
    rows = {row["feature"]: row for row in report["features"]}
    assert rows["full"]["tipping_factor"] == "inf"
    assert rows["x"]["robust_low"] < rows["x"]["low"]


def test_bits_convert_the_bounds(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = []
    for units in ("nats", "bits"):
        main(["rank", str(file), "--target", "y", "--robust-factor", "2", "--units", units, "--format", "json"])
        found.append({row["feature"]: row for row in json.loads(capsys.readouterr().out)["features"]}["x"])
    assert found[1]["robust_low"] == pytest.approx(found[0]["robust_low"] / 0.6931471805599453)
    assert found[1]["tipping_factor"] == found[0]["tipping_factor"]


@pytest.mark.parametrize("factor", ["0.9", "nan", "-3", "two", ""])
def test_bad_factors_are_refused(file: Path, factor: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        raise SystemExit(main(["rank", str(file), "--target", "y", f"--robust-factor={factor}"]))
    assert end.value.code == 2
    assert "factor" in capsys.readouterr().err


def test_each_group_is_as_robust_as_its_rows_alone(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["--target", "y", "--robust-factor", "inf", "--format", "json"]
    assert main(["rank", str(file), "--by", "full", *asked]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["settings"]["factor"] == "inf"
    alone = file.with_name("alone.csv")
    kept = [line for line in file.read_text().splitlines() if line.split(",")[1] in ("full", "p")]
    alone.write_text("\n".join(kept) + "\n")
    assert main(["rank", str(alone), "--features", "x", *asked]) == 0
    (expected,) = json.loads(capsys.readouterr().out)["features"]
    (found,) = next(group for group in report["groups"] if group["name"] == "p")["features"]
    for name in ("robust_low", "robust_high", "tipping_factor"):
        assert found[name] == expected[name]
    assert main(["rank", str(file), "--by", "full", "--target", "y", "--robust-factor", "2"]) == 0
    assert capsys.readouterr().out.count("at factor 2") == 2
