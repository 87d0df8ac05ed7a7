"""`credimi compare` and `credimi rank --by`."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from command_helpers import CLINIC, columns, write

if TYPE_CHECKING:
    from command_helpers import Call


def sample(name: str, told: int, rows: int = 600) -> str:
    """x tells y in all rows but each `told`-th; z tells nothing."""
    own = [("yn"[i % 2], "ab"[i % 2 if i % told else 1 - i % 2], "cd"[i // 2 % 2], f"{i % 97}.5") for i in range(rows)]
    return write(name, columns("y", "x", "z", "number", rows=own))


@pytest.fixture
def pair() -> tuple[str, str]:
    return sample("before.csv", 50), sample("after.csv", 4)


def test_the_table_says_what_changed(call: Call, pair: tuple[str, str]) -> None:
    code, out, err = call("compare", *pair, "--target", "y")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0].strip() == "What informs about y in after.csv (600 rows), against before.csv (600 rows)"
    assert lines[1].startswith(
        "1 column surely changed (1 less informative); by the 95 % intervals, none of the others"
    )
    below = next(place for place, line in enumerate(lines) if line.startswith("──"))
    assert lines[below + 1].split()[0] == "x"
    assert lines[below + 1].split()[-1] == "less"
    assert "3 features: 1 less" in out
    assert "more, less: P(change that way > 0.5 %) >= 0.95; same: P(|change| <= 0.5 %) >= 0.95" in out.replace(
        "\n", " "
    )
    verbose = call("compare", *pair, "--target", "y", "--verbose")[1]
    assert "more, less (where no change has probability 0.95 beforehand)" in verbose.replace("\n", " ")


def test_json_csv_and_bits(call: Call, pair: tuple[str, str]) -> None:
    answer = json.loads(call("compare", *pair, "--target", "y", "--format", "json")[1])
    assert answer["settings"]["p_same"] == 0.95
    assert [each["name"] for each in answer["samples"]] == ["before.csv", "after.csv"]
    text = call("compare", *pair, "--target", "y", "--format", "csv")[1]
    rows = list(csv.DictReader(line for line in text.splitlines() if not line.startswith("#")))
    assert [row["feature"] for row in rows] == [row["feature"] for row in answer["features"]]
    bits = json.loads(call("compare", *pair, "--target", "y", "--format", "json", "--units", "bits")[1])
    assert bits["settings"]["units"] == "bits"
    assert bits["features"][0]["change"] == pytest.approx(answer["features"][0]["change"] / 0.6931471805599453)
    assert bits["features"][0]["p_change"] == answer["features"][0]["p_change"]


def test_counts_files_and_rankings(call: Call, pair: tuple[str, str]) -> None:
    direct = json.loads(call("compare", *pair, "--target", "y", "--format", "json")[1])
    for path in pair:
        assert call("count", path, "--target", "y", "--into", f"{path}.counts")[0] == 0
        assert call("rank", path, "--target", "y", "--format", "json", "--output", f"{path}.json")[0] == 0
    counted = json.loads(call("compare", *(f"{path}.counts" for path in pair), "--format", "json")[1])
    assert counted["features"] == direct["features"]
    ranked = json.loads(call("compare", *(f"{path}.json" for path in pair), "--format", "json")[1])
    assert ranked["settings"]["counts"] is False
    assert ranked["features"][0]["verdict"] == "less"


def test_the_page_is_written(call: Call, pair: tuple[str, str]) -> None:
    assert call("compare", *pair, "--target", "y", "--html", "page.html", "--top", "1")[0] == 0
    assert Path("page.html").read_text().count("<svg") == 4  # an axis and three features


def test_groups(call: Call) -> None:
    code, out, err = call("rank", CLINIC, "--target", "diabetes", "--by", "sex", "--top", "3", "--html", "page.html")
    assert (code, err) == (0, "")
    assert out.index("== sex f") < out.index("== sex m") < out.index("What informs about diabetes in m")
    assert "against" in Path("page.html").read_text()
    answer = json.loads(call("rank", CLINIC, "--target", "diabetes", "--by", "sex", "--format", "json")[1])
    assert [each["name"] for each in answer["groups"]] == [each["name"] for each in answer["comparisons"][0]["samples"]]
    assert answer["ungrouped"] >= 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["compare", "before.csv", "--target", "y"], "required: B"),
        (["compare", "--target", "y", "--features", "x", "before.csv", "after.csv"], "put A and B before it"),
        (["compare", "before.csv", "after.csv"], "--target COLUMN"),
        (["compare", "before.csv", "none.csv", "--target", "y"], "none.csv"),
        (["compare", "before.csv", "none.json", "--target", "y"], "none.json cannot be read"),
        (["compare", "before.csv", "after.csv", "--target", "w"], "no column 'w'"),
        (["compare", "before.csv", "after.csv", "--target", "y", "--p-same", "1"], "--p-same is 1"),
        (["compare", "before.csv", "after.csv", "--target", "y", "--level", "95"], "--level is 95"),
        (["compare", "before.csv", "after.csv", "--target", "y", "--html", "-"], "a file of its own"),
        (["compare", "before.csv", "after.csv", "--target", "y", "--html", "after.csv"], "is the input"),
        (["compare", "before.csv", "after.csv", "--target", "y", "--html", "p", "--output", "p"], "the same file"),
        (["rank", "before.csv", "--target", "y", "--by", "w"], "no column 'w'"),
        (["rank", "before.csv", "--target", "y", "--by", "x", "--format", "csv"], "leave out --format csv"),
        (["rank", "before.csv", "--target", "y", "--by", "x", "--prior", "jeffreys"], "--prior does not go with --by"),
        (
            ["rank", "before.csv", "--target", "y", "--by", "x", "--method", "paper"],
            "--method does not go with --by: groups are compared with the adaptive prior",
        ),
        (["rank", "before.csv", "--by", "x"], "--target COLUMN"),
    ],
)
@pytest.mark.usefixtures("pair")
def test_what_cannot_be_meant_is_refused(call: Call, arguments: list[str], message: str) -> None:
    code, out, err = call(*arguments)
    assert code == 2
    assert out == ""
    assert message in err
    assert len(err.splitlines()) == 1


def test_groups_are_sorted_as_asked(call: Call) -> None:
    asked = ("rank", CLINIC, "--target", "diabetes", "--by", "sex", "--sort", "name", "--format", "json")
    for group in json.loads(call(*asked)[1])["groups"]:
        named = [each["feature"] for each in group["features"] if each["verdict"] != "not ranked"]
        assert named == sorted(named)
