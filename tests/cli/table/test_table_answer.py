"""`credimi table` from outside: what it answers."""

from __future__ import annotations

import json
import math
import os
import re
import subprocess
from typing import TYPE_CHECKING

import pytest
from table_helpers import COMMAND, LITERAL, ROOT, Call, buffered_environment, expected, process, without_settings

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

NATS = -0.005 * (0.4 * math.log(0.4) + 0.6 * math.log(0.6))  # .5 % of the entropy of 12 and 18 of 30
SETTINGS = {"prior": "adaptive", "approximation": "matched", "epsilon": pytest.approx(NATS), "level": 0.95}
SETTINGS |= {"epsilon_share": "0.5%", "units": "nats"}
CELLS = {"prior_of_cells": "jeffreys"}


def test_json_has_the_promised_keys(report: Callable[..., dict[str, object]]) -> None:
    answer = report(LITERAL)
    assert list(answer) == ["mean", "std", "low", "high", "p_above", "p_independent", "mode", "rows", "settings"]
    assert answer["rows"] == 30.0
    assert [len(row) for row in answer["mode"]] == [2, 2]
    assert answer["settings"] == SETTINGS | CELLS


def test_mode_of_complete_counts_by_hand(report: Callable[..., dict[str, object]]) -> None:
    """Counts and half a pseudo-count a cell, over 30 + 2."""
    assert report(LITERAL)["mode"] == [[10.5 / 32, 2.5 / 32], [3.5 / 32, 15.5 / 32]]


@pytest.mark.parametrize(
    ("options", "settings"),
    [
        (["--prior", "0.25"], {"prior": 0.25}),
        (["--prior", "0"], {"prior": 0.0}),
        (["--prior", "uniform"], {"prior": "uniform"}),
        (["--prior", "haldane"], {"prior": "haldane"}),
        (["--level", "0.5"], {"level": 0.5}),
        (["--epsilon", "0.2"], {"epsilon": 0.2}),
        (["--epsilon", "0"], {"epsilon": 0.0}),
        (["--approximation", "leading"], {"approximation": "leading"}),
        (["--approximation", "leading-beta"], {"approximation": "leading-beta"}),
        (["--approximation", "sampled"], {"approximation": "sampled"}),
        (["--approximation", "sampled", "--random-state", "7"], {"approximation": "sampled", "seed": 7}),
        (["--prior", "perks", "--level=0.9", "--epsilon=0.1"], {"prior": "perks", "level": 0.9, "epsilon": 0.1}),
    ],
)
def test_options_reach_the_answer(
    report: Callable[..., dict[str, object]], options: list[str], settings: dict[str, object]
) -> None:
    answer = report(LITERAL, *options)
    assert without_settings(answer) == expected(**settings)
    assert without_settings(answer) != expected()
    shown = {name: value for name, value in settings.items() if name != "seed"}
    cells = {"prior_of_cells": settings["prior"]} if "prior" in settings else CELLS
    share = {"epsilon_share"} if "epsilon" in settings else set()
    assert answer["settings"] == {each: value for each, value in SETTINGS.items() if each not in share} | cells | shown


def test_options_reach_the_answer_for_incomplete_tables(report: Callable[..., dict[str, object]]) -> None:
    margins = {"target_only": [4, 1], "feature_only": [0, 2]}
    options = ["--target-only", "4 1", "--feature-only", "0 2"]
    for approximation in ("leading", "sampled"):
        answer = report(LITERAL, *options, "--approximation", approximation, "--prior", "1")
        assert without_settings(answer) == expected(**margins, approximation=approximation, prior=1)


def test_bits(report: Callable[..., dict[str, object]]) -> None:
    """Information is divided by log 2; probabilities have no unit, and epsilon stays in nats."""
    nats, bits = report(LITERAL), report(LITERAL, "--units", "bits")
    for name in ("mean", "std", "low", "high"):
        assert bits[name] == nats[name] / math.log(2.0)
    for name in ("p_above", "mode", "rows"):
        assert bits[name] == nats[name]
    assert bits["settings"]["units"] == "bits"


def test_one_row_tells_nothing(report: Callable[..., dict[str, object]]) -> None:
    answer = report("10 2 3")
    assert [answer[name] for name in ("mean", "std", "low", "high", "p_above")] == [0.0] * 5


def lines_of(text: str) -> dict[str, str]:
    """The summary's rows, by their names."""
    found = re.findall(r"^│ (.+?) +│ (.+?) +│$", text, re.MULTILINE)
    return dict(found)


def test_text_says_what_json_says(call: Call, report: Callable[..., dict[str, object]]) -> None:
    options = [LITERAL, "--target-only", "4 1", "--feature-only", "0 2", "--level", "0.9", "--epsilon", "0.1"]
    answer = report(*options)
    code, out, _ = call("table", *options)
    assert code == 0
    lines = lines_of(out)
    assert "2 x 2" in out.splitlines()[0]
    assert lines["rows"] == "37 (30 complete, 5 without the feature, 2 without the target)"
    assert lines["mean"] == f"{answer['mean']:.4g} nats"
    assert lines["standard deviation"] == f"{answer['std']:.4g} nats"
    assert lines["90 % interval"] == f"{answer['low']:.4g} to {answer['high']:.4g} nats"
    assert lines["P(I > 0.1 nats)"] == f"{answer['p_above']:.4g}"
    assert lines["possible range"] == "0 to 0.6931 nats"
    assert lines["prior, approximation"] == "adaptive, matched"
    for row in answer["mode"]:
        assert " │ ".join(f"{chance:.4f}" for chance in row) in out


def test_text_in_bits(call: Call, report: Callable[..., dict[str, object]]) -> None:
    answer = report(LITERAL, "--units", "bits")
    lines = lines_of(call("table", LITERAL, "--units", "bits")[1])
    assert lines["mean"] == f"{answer['mean']:.4g} bits"
    assert lines["possible range"] == "0 to 1 bits"
    assert "P(> 0.5 %)" in lines
    lines = lines_of(call("table", LITERAL, "--units", "bits", "--epsilon", "0.003")[1])
    assert "P(I > 0.003 nats)" in lines


def test_gaussian_has_no_possible_range(call: Call) -> None:
    lines = lines_of(call("table", LITERAL, "--approximation", "leading")[1])
    assert "mean" in lines
    assert "possible range" not in lines


def test_large_table_prints_without_its_mode(call: Call) -> None:
    code, out, _ = call("table", "; ".join(["10 2 3"] * 200))
    assert code == 0
    assert "200 x 3" in out
    assert "Mode of the cell probabilities" not in out
    assert "see --format json" in out


@pytest.mark.parametrize(("columns", "width"), [(3, 80), (7, 80), (8, 80), (12, 80), (12, 200)])
def test_text_fits_and_cuts_no_number(call: Call, monkeypatch: pytest.MonkeyPatch, columns: int, width: int) -> None:
    """The mode is shown whole or not at all: 17 characters for the classes and the frame, 9 for each value."""
    literal = "; ".join(" ".join(str(10 + column) for column in range(columns)) for _ in range(3))
    monkeypatch.setenv("COLUMNS", str(width))
    code, out, _ = call("table", literal, "--target-only", "400000 100000 7")
    assert code == 0
    assert max(len(line) for line in out.splitlines()) <= width
    assert "…" not in out
    assert ("Mode of the cell probabilities" in out) == (17 + 9 * columns <= width)


def test_text_without_a_terminal(call: Call) -> None:
    _, out, _ = call("table", ROOT / "examples" / "smoking.txt")
    assert max(len(line) for line in out.splitlines()) <= 100
    assert "\x1b" not in out
    assert "Mode of the cell probabilities" in out


def test_process_answers_as_the_function_does(report: Callable[..., dict[str, object]]) -> None:
    answer = process("table", "-", "--format", "json", stdin=b"10 2\r\n3 15\r\n")
    assert answer.returncode == 0
    assert json.loads(answer.stdout) == report(LITERAL)


def test_terminal_that_knows_ascii_only() -> None:
    answer = process("table", LITERAL, PYTHONIOENCODING="ascii")
    assert answer.returncode == 0
    assert answer.stdout.isascii()
    assert b"| mean " in answer.stdout


def test_colours_stay_on_the_terminal(tmp_path: Path) -> None:
    pty = pytest.importorskip("pty")
    path = tmp_path / "report.txt"
    ours, theirs = pty.openpty()
    terminal = buffered_environment() | {"TERM": "xterm-256color", "COLUMNS": "80"}
    terminal.pop("NO_COLOR", None)
    try:
        for options in ([], ["--output", str(path)]):
            subprocess.run([*COMMAND, "table", LITERAL, *options], stdout=theirs, env=terminal, timeout=60, check=True)
        shown = os.read(ours, 65536)
    finally:
        os.close(ours)
        os.close(theirs)
    assert b"\x1b[" in shown
    assert shown.count(b"Mutual information") == 1
    assert "Mutual information" in path.read_text(encoding="utf-8")
    assert "\x1b" not in path.read_text(encoding="utf-8")


def test_no_spread_in_leading_order_is_a_caution_and_no_certainty(call: Call) -> None:
    code, out, _ = call("table", "10 10; 10 10", "--prior", "jeffreys", "--approximation", "leading")
    assert code == 0
    assert "the variance of leading order is 0 here" in out
    assert "possible range" not in out
    assert "P(independent)" not in out
    answer = json.loads(
        call("table", "10 10; 10 10", "--prior", "jeffreys", "--approximation", "leading", "--format", "json")[1]
    )
    assert (answer["p_independent"], answer["cautions"]) == (0.0, ["no_spread"])
