"""Inputs that nobody wishes for: clear words, one line each, and no traceback."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_helpers import Call, Refusal, write

import credimi

ROWS = [("pq"[i % 2], "uv"[i % 2 if i % 5 else 0], i % 7, "xyz"[i % 3]) for i in range(120)]


def _table(*names: str) -> str:
    return "".join(",".join(map(str, row)) + "\n" for row in [names, *ROWS])


@pytest.mark.parametrize("command", ["rank", "select", "tree", "interactions", "compare"])
def test_a_target_without_a_name_is_called_so(call: Call, command: str) -> None:
    write("data.csv", _table("", "a", "b", "c"))
    samples = ["data.csv", "data.csv"] if command == "compare" else ["data.csv"]
    goal = ["--rule", "distinct"] if command == "select" else []
    code, told, _ = call(command, *samples, "--target", "", *goal)
    assert code == 0
    assert "(no name)" in told.splitlines()[0]


def test_pages_call_it_so_as_well(call: Call) -> None:
    write("data.csv", _table("", "a", "b", "c"))
    for command in (["interactions", "data.csv", "--top", "1"], ["compare", "data.csv", "data.csv"]):
        assert call(*command, "--target", "", "--html", "page.html")[0] == 0
        assert "<bdi>(no name)</bdi>" in Path("page.html").read_text(encoding="utf-8")


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("command", ["rank", "pairs", "network"])
def test_characters_that_the_font_lacks_are_told_once(call: Call, command: str) -> None:
    pytest.importorskip("matplotlib")
    write("data.csv", _table("y", "名前", "🎯", "c"))
    target = ["--target", "y"] if command == "rank" else []
    code, _, said = call(command, "data.csv", *target, "--plot", "picture.png")
    assert code == 0
    assert said.count("\n") == 1
    assert "picture.png shows boxes for" in said
    assert "'🎯'" in said
    assert "Glyph" not in said


def test_no_pair_is_refused_with_the_reasons(call: Call, refusal: Refusal) -> None:
    write("data.csv", "y,a\np,u\n")
    said = refusal("pairs", "data.csv", "--plot", "picture.png")
    assert (
        said == "a pair has two columns, and 0 can be used here: left out: y: one value only: p; left out: a: one "
        "value only: u"
    )
    write("data.csv", "y,a,b\n" + ",,\n" * 5)
    assert "0 can be used here: left out: y: all values are missing; left out: a: " in refusal("pairs", "data.csv")
    write("data.csv", "y,a\n" + "p,u\nq,u\nq,v\np,v\n" * 9)
    code, _, said = call("pairs", "data.csv", "--p-dependent", "0.9", "--plot", "picture.png")
    assert (code, said) == (0, "credimi: picture.png is not written: there is no pair to draw\n")
    assert not Path("picture.png").exists()


def test_groups_of_nothing_else(refusal: Refusal) -> None:
    write("data.csv", "y,a\n" + "p,u\nq,v\n" * 20)
    said = refusal("rank", "data.csv", "--target", "y", "--by", "a")
    assert said == "there is no column besides the target 'y' and 'a': nothing to rank"


@pytest.mark.parametrize("command", [("select", "--rule", "distinct"), ("select", "--rule", "relevant"), ("tree",)])
def test_nothing_but_the_target(refusal: Refusal, command: tuple[str, ...]) -> None:
    write("data.csv", "y\n" + "p\nq\n" * 20)
    said = refusal(command[0], "data.csv", "--target", "y", *command[1:])
    assert said == "data.csv has no column besides the target 'y': nothing can tell about it"


def test_complex_numbers_are_refused_with_what_to_do() -> None:
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"m": [1j, 2j] * 20})
    with pytest.raises(credimi.CredimiError, match=r"column 'm' holds values of type complex128.*or leave it out"):
        credimi.CredibleSelector().fit(table, ["p", "q"] * 20)
