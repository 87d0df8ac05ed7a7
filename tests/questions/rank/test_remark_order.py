"""Remarks: those come first that matter most, many of one kind take one line, and all of them are in the JSON."""

from __future__ import annotations

import json
import math
import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import numpy as np
import pytest

import credimi
from credimi.cli import main
from credimi.results import sentences
from credimi.results.remarks import RemarkKind

if TYPE_CHECKING:
    from pathlib import Path

ROWS = 2000


def with_holes(shares: list[float]) -> dict[str, list[object]]:
    """Columns in which more values are missing in one class; the first of the ranking have the least of it."""
    random = np.random.default_rng(1)
    y = random.integers(0, 2, ROWS)
    table: dict[str, list[object]] = {"y": y.tolist()}
    for place, share in enumerate(shares):
        values = y ^ (random.random(ROWS) < 0.1 + 0.05 * place)
        gone = (y == 1) & (random.random(ROWS) < share)
        table[f"x{place}"] = [None if hole else int(value) for value, hole in zip(values, gone, strict=True)]
    return table


def test_the_largest_stake_comes_first() -> None:
    ranking = credimi.rank(with_holes([0.1, 0.2, 0.3, 0.4, 0.9]), "y")
    assert ranking.columns["feature"][0] == "x0"
    told = [each for each in ranking.remarks if each.kind == RemarkKind.MISSING_TELLS]
    assert [each.feature for each in told] == ["x4", "x3", "x2", "x1", "x0"]
    assert [each.stake for each in told] == sorted((each.stake for each in told), reverse=True)
    (line,) = (each for each in ranking.remark_lines() if "column is missing" in each)
    assert re.search(r"target: x4 \(\S+ nats\), x3 \(\S+ nats\), x2 \(\S+ nats\) and 2 others; missing values", line)


def test_kinds_are_ordered_by_their_largest_stake_and_cautions_come_before_what_else_is_said() -> None:
    table = with_holes([0.9])
    group = np.random.default_rng(2).integers(0, 60, ROWS) * 2 + np.array(table["y"], dtype=int)
    number = np.random.default_rng(3).normal(size=ROWS)
    ranking = credimi.rank(table | {"group": [f"g{each}" for each in group], "number": number.tolist()}, "y")
    kinds = list(dict.fromkeys(each.kind.value for each in ranking.remarks))
    assert kinds[:3] == ["nearly_target", "possible_identifier", "missing_tells"]
    assert kinds[-1] == "averaged_over_cuts"
    cautions = [each.caution for each in ranking.remarks]
    assert cautions == sorted(cautions, reverse=True)


def constants(count: int) -> dict[str, list[str]]:
    return {"x": ["a", "b"] * 30, "y": ["p", "q"] * 30} | {f"c{place}": [f"v{place}"] * 60 for place in range(count)}


def test_twenty_columns_of_one_value_take_one_line() -> None:
    ranking = credimi.rank(constants(20), "y")
    below = [line for line in str(ranking).splitlines() if "one value only" in line]
    assert below == ["one value only: c0 (v0), c1 (v1), c10 (v10) and 17 others"]
    assert sum(each["note"].startswith("one value only: v") for each in ranking.to_dict()["features"]) == 20
    assert "c0: one value only: v0" in str(credimi.rank(constants(1), "y"))


def test_several_identifiers_take_one_line() -> None:
    table = constants(0) | {f"id{place}": [f"{place}-{row}" for row in range(60)] for place in range(6)}
    (line,) = (line for line in sentences.unranked_lines(list(credimi.rank(table, "y").facts.values())[1:]))
    assert line[:100] in str(credimi.rank(table, "y"))
    told = [f"id{place} (60 different values in 60 rows)" for place in range(3)]
    assert line.startswith(f"identifiers, not ranked: {', '.join(told)} and 3 others; discretize=")


def test_bits_reach_the_remarks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = with_holes([0.9])
    path = tmp_path / "holes.csv"
    rows = zip(
        *([name, *("" if each is None else str(each) for each in own)] for name, own in table.items()), strict=True
    )
    path.write_text("".join(",".join(row) + "\n" for row in rows))
    found = {}
    for units in ("nats", "bits"):
        assert main(["rank", str(path), "--target", "y", "--units", units, "--format", "json"]) == 0
        report = json.loads(capsys.readouterr().out)
        (found[units],) = (each for each in report["remarks"] if each["kind"] == "missing_tells")
    nats, bits = found["nats"]["nats"], found["bits"]["bits"]
    assert bits == pytest.approx(nats / math.log(2.0), rel=1e-12)
    assert found["bits"]["stake"] == pytest.approx(found["nats"]["stake"] / math.log(2.0), rel=1e-12)
    assert f"x0 ({bits:.4f} bits)" in found["bits"]["text"]
    assert main(["rank", str(path), "--target", "y", "--units", "bits"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert f"x0 ({bits:.4f} bits)" in printed
    assert f"{nats:.4f} nats" not in printed


def test_times_are_pointed_out_as_ranges_and_as_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    start = datetime(2024, 1, 1, tzinfo=UTC)
    times = [start + timedelta(hours=row) for row in range(ROWS)]
    y = [row // 500 % 2 for row in range(ROWS)]
    remarks = {(each.kind.value, each.feature) for each in credimi.rank({"time": times, "y": y}, "y").remarks}
    assert ("time", "time") in remarks
    path = tmp_path / "times.csv"
    path.write_text("day,y\n" + "".join(f"{time:%Y-%m-%d},{each}\n" for time, each in zip(times, y, strict=True)))
    assert main(["rank", str(path), "--target", "y"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    said = "day: dates or times: what held in the past may not hold for new rows, and random folds mislead: test on the"
    assert f"{said} latest rows (--by day --by-cuts quantile:2 compares the halves; --exclude day)" in told


def test_a_time_that_tells_nothing_is_no_caution() -> None:
    start, random = datetime(2024, 1, 1, tzinfo=UTC), np.random.default_rng(1)
    times = [start + timedelta(hours=row) for row in range(ROWS)]
    ranking = credimi.rank({"time": times, "y": random.integers(0, 2, ROWS)}, "y")
    assert RemarkKind.TIME not in {each.kind for each in ranking.remarks}


def test_numbers_of_hundreds_of_cuts_are_pointed_out() -> None:
    number = np.arange(30_000) + 0.5
    few, many = number // 10_000 % 2, number // 200 % 2
    ranking = credimi.rank({"x": number, "y": many}, "y", discretize="mdl")
    (remark,) = (each for each in ranking.remarks if each.kind == RemarkKind.MANY_CUTS)
    assert (remark.feature, remark.caution, remark.values) == ("x", True, 149)
    assert "cut into very many ranges: x (149 cuts)" in " ".join(ranking.remark_lines())
    assert "discretize={'x': 'quantile'} makes ten" in " ".join(ranking.remark_lines())
    assert RemarkKind.MANY_CUTS not in {each.kind for each in credimi.rank({"x": number, "y": few}, "y").remarks}


@pytest.mark.parametrize(
    ("times", "scale", "others", "at_epsilon"),
    [
        (1.04, 10.0, 76_000, True),  # 40,000 complete rows: I is surely within half of epsilon
        (1.04, 1.0, 76_000, False),  # 4,000: it may be far from it
        (1.04, 1.0, 0, False),
        (1.4, 1.0, 76_000, False),
        (1.6, 0.1, 400_000, False),
    ],
)
def test_rows_that_are_seldom_complete_are_counted_with_the_others(
    times: float, scale: float, others: int, at_epsilon: object
) -> None:
    cells = (np.array([1080, 920, 920, 1080]) * scale).astype(int)
    shares = cells / cells.sum()
    epsilon = float((shares * np.log(4.0 * shares)).sum()) / times
    y = [*np.repeat([0, 0, 1, 1], cells).tolist(), *[0, 1] * (others // 2)]
    x = [*np.repeat([0, 1, 0, 1], cells).tolist(), *[None] * others]
    row = credimi.rank({"x": x, "y": y}, "y", epsilon=epsilon)["x"]
    assert (row["verdict"], row["at_epsilon"]) == ("unsure", at_epsilon)
    if at_epsilon:
        assert row["rows_to_decide"] is None
    else:
        assert len(y) < row["rows_to_decide"] < 10 * len(y)


def test_an_epsilon_that_nothing_can_exceed_is_announced() -> None:
    data = {"x": list("ab") * 50, "y": list("pq") * 50}
    (remark,) = (each for each in credimi.rank(data, "y", epsilon=0.7).remarks if "epsilon" in each.kind.value)
    assert remark.nats == pytest.approx(math.log(2.0))
    assert not [each for each in credimi.rank(data, "y", epsilon=0.69).remarks if "epsilon" in each.kind.value]


def leaks(rows: int, positives: int) -> tuple[dict[str, list[object]], set[str]]:
    """A target with few rows, what leaks it, a column that is wrong in one row, and noise."""
    y = ["no"] * (rows - positives) + ["yes"] * positives
    random = np.random.default_rng(rows + positives)
    wrong = ["b", *("ab"[each == "yes"] for each in y[1:])]
    numbers = random.normal(size=rows) + 100.0 * np.array([each == "yes" for each in y])
    told = {"copy": [each.upper() for each in y], "number": numbers.tolist()}
    others = {"wrong": wrong, "noise": random.integers(0, 2, rows).tolist()}
    return told | others | {"y": y}, set(told)


@pytest.mark.parametrize(
    ("rows", "positives"), [(50, 25), (200, 100), (400, 200), (1000, 100), (1000, 50), (1000, 20), (10_000, 200)]
)
def test_a_copy_of_the_target_is_pointed_out_when_rows_are_few(rows: int, positives: int) -> None:
    table, told = leaks(rows, positives)
    found = {each.feature for each in credimi.rank(table, "y").remarks if each.kind == RemarkKind.NEARLY_TARGET}
    assert found - {"wrong"} == told  # of 10,000 rows, one that is wrong may leave nearly all


def test_a_few_rows_of_a_class_or_a_value_prove_no_copy() -> None:
    table = {"x": ["a"] * 4 + ["b"] * 46, "y": ["p"] * 4 + ["q"] * 46}
    assert RemarkKind.NEARLY_TARGET not in {each.kind for each in credimi.rank(table, "y").remarks}
    seen_rarely = {"x": ["a"] * 10 + ["b"] * 10 + [None] * 80, "y": ["p"] * 10 + ["q"] * 10 + ["r", "s"] * 40}
    assert RemarkKind.NEARLY_TARGET not in {each.kind for each in credimi.rank(seen_rarely, "y").remarks}
