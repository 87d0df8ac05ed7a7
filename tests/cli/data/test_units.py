"""Information in bits: epsilon stays in nats, and says so wherever it is shown beside bits."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from command_helpers import Call

TABLE = "y,a,group\n" + "".join(f"{'pq'[i % 2]},{'uv'[i % 2 if i % 7 else 0]},{'gh'[i // 2 % 2]}\n" for i in range(200))


@pytest.fixture
def table(tmp_path: Path) -> str:
    path = tmp_path / "table.csv"
    path.write_text(TABLE, encoding="utf-8")
    return str(path)


def test_every_threshold_beside_bits_says_that_it_is_in_nats(call: Call, table: str) -> None:
    for asked in (("rank", table), ("rank", table, "--by", "group"), ("compare", table, table)):
        code, told, _ = call(*asked, "--target", "y", "--units", "bits", "--epsilon", "0.003")
        assert code == 0
        assert told.count("> 0.003 nats)") == told.count("> 0.003") > 0
        assert told.count("P(I <= 0.003 nats)") == told.count("P(I <= 0.003")
        code, told, _ = call(*asked, "--target", "y", "--units", "bits")
        assert code == 0
        assert told.count("0.00347 nats") == told.count("0.00347") > 0
    _, in_nats, _ = call("rank", table, "--target", "y", "--epsilon", "0.003")
    assert "  P(I > 0.003)  " in in_nats


def test_json_says_the_units_of_both(call: Call, table: str) -> None:
    for asked in (("rank", table, "--target", "y"), ("compare", table, table, "--target", "y"), ("table", "9 1; 2 8")):
        code, told, _ = call(*asked, "--units", "bits", "--format", "json")
        settings = json.loads(told)["settings"]
        assert code == 0
        assert (settings["units"], settings["epsilon"], settings["epsilon_units"]) == (
            "bits",
            pytest.approx(0.003466, abs=5e-7),
            "nats",
        )


@pytest.mark.parametrize(
    ("asked", "rows", "figure"),
    [
        (["pairs"], "pairs", "mi"),
        (["interactions", "--target", "y", "--top", "1"], "pairs", "synergy"),
        (["network"], "edges", "mi"),
        (["select", "--target", "y"], "steps", "mi"),
        (["select", "--target", "y", "--rule", "forward"], "steps", "mi"),
    ],
)
def test_questions_about_several_columns_are_answered_in_bits(
    call: Call, table: str, asked: list[str], rows: str, figure: str
) -> None:
    command, *more = asked
    told = {units: call(command, table, *more, "--units", units, "--format", "json")[1] for units in ("nats", "bits")}
    in_nats, in_bits = (json.loads(told[units]) for units in ("nats", "bits"))
    assert in_bits["settings"]["units"] == "bits"
    for one, other in zip(in_nats[rows], in_bits[rows], strict=True):
        for name in (figure, "low", "high"):
            assert other[name] == pytest.approx(one[name] / math.log(2.0))
    shown = call(command, table, *more, "--units", "bits")[1]
    assert shown.count("0.00347") == shown.count("0.00347 nats")
    if command != "network":
        shown = call(command, table, *more, "--units", "bits", "--epsilon", "0.003")[1]
        assert shown.count("0.003") == shown.count("0.003 nats")


def test_bits_change_what_is_shown_and_nothing_that_is_decided(call: Call, table: str) -> None:
    asked = ("rank", table, "--target", "y", "--epsilon", "0.3", "--format", "json")
    (row, *_), (same, *_) = (json.loads(call(*asked, "--units", units)[1])["features"] for units in ("nats", "bits"))
    assert same["mi"] == pytest.approx(row["mi"] / math.log(2.0))
    assert (same["p_above"], same["verdict"]) == (row["p_above"], row["verdict"])


def test_a_threshold_above_the_entropy_is_compared_in_words_that_fit(call: Call, table: str) -> None:
    _, told, _ = call("rank", table, "--target", "y", "--units", "bits", "--epsilon", "2")
    assert "1 bits, and --epsilon, in nats, is not below it" in " ".join(told.split())


def test_the_help_says_it(call: Call) -> None:
    for command in ("rank", "table", "compare"):
        assert "--epsilon and" in " ".join(call(command, "--help")[1].split())
