"""What a new user mistypes: the message names the file, the value and the remedy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from command_helpers import CLINIC, base, columns, write

if TYPE_CHECKING:
    from command_helpers import Call, Refusal


def test_of_two_files_the_wrong_one_is_named(refusal: Refusal) -> None:
    write("one.csv", base())
    write("other.csv", base().replace("y,a,b", "z,a,b"))
    assert "other.csv: there is no column 'y'" in refusal("compare", "one.csv", "other.csv", "--target", "y")
    write("twice.csv", base().replace("y,a,b", "y,a,a"))
    assert "twice.csv: two columns are called 'a'" in refusal("compare", "one.csv", "twice.csv", "--target", "y")
    assert refusal("compare", "one.csv", "other.csv").startswith("name the target")


def test_a_ranking_and_data_are_not_compared_with_or_without_a_target(call: Call, refusal: Refusal) -> None:
    write("one.csv", base())
    assert call("rank", "one.csv", "--target", "y", "--format", "json", "--output", "one.json")[0] == 0
    for arguments in (("one.json", "one.csv"), ("one.csv", "one.json"), ("one.json", "one.csv", "--target", "y")):
        assert refusal("compare", *arguments).startswith("a ranking has no counts: pass two rankings")


def test_targets_without_a_class_in_common_are_not_compared(call: Call, refusal: Refusal) -> None:
    paths = write("letters.csv", base()), write("numbers.csv", base().replace("\ny,", "\n1,").replace("\nn,", "\n0,"))
    said = refusal("compare", *paths, "--target", "y")
    assert (
        "target 'y' has no class in common in the two, but 'n', 'y' and '0', '1': write its classes in the same way"
        in said
    )
    for path in paths:
        assert call("rank", path, "--target", "y", "--format", "json", "--output", f"{path}.json")[0] == 0
    assert "no class in common" in refusal("compare", *(f"{path}.json" for path in paths))
    write("half.csv", base().replace("\nn,", "\nN,"))
    assert call("compare", paths[0], "half.csv", "--target", "y")[0] == 0  # one is enough


def test_a_file_compared_with_itself_is_pointed_out(call: Call) -> None:
    write("one.csv", base())
    code, _, err = call("compare", "one.csv", "one.csv", "--target", "y")
    assert code == 0
    assert err == "credimi: one.csv is compared with itself: A and B should have different rows\n"


def test_a_value_that_starts_with_a_minus(refusal: Refusal) -> None:
    said = refusal("rank", CLINIC, "--target", "glucose", "--target-cuts", "-5,5")
    assert "if it starts with a minus, write --target-cuts=-..." in said


@pytest.mark.parametrize("cuts", ["quantile:1", "quantile:100000"])
def test_how_many_quantiles_there_may_be(refusal: Refusal, cuts: str) -> None:
    assert "of 2 to 1,000" in refusal("rank", CLINIC, "--target", "glucose", "--target-cuts", cuts)


def test_weights_of_nothing_and_of_a_column_left_out(refusal: Refusal) -> None:
    write("data.csv", columns("y", "x", "w", rows=[("p", "a", 0), ("q", "b", 0)]))
    said = refusal("rank", "data.csv", "--target", "y", "--weights", "w")
    assert "data.csv has no rows whose weight 'w' is above 0" in said
    said = refusal("rank", "data.csv", "--target", "y", "--weights", "w", "--exclude", "w")
    assert "column 'w' has the weights, and is named in features or exclude: take it out there" in said


def test_a_target_of_many_values_is_said_to_have_at_least_so_many(refusal: Refusal) -> None:
    write("ids.csv", columns("y", "x", rows=[(f"p{place}", place % 3) for place in range(2_000)]))
    assert "has at least 2,000 different values, at most 1,000 are classes" in refusal(
        "rank", "ids.csv", "--target", "y"
    )


def test_counts_know_the_target(call: Call, refusal: Refusal) -> None:
    write("one.csv", base())
    write("other.csv", base(90))
    assert call("count", "one.csv", "--target", "y", "--into", "one.counts")[0] == 0
    named = call("compare", "one.counts", "other.csv", "--target", "y", "--format", "csv")
    assert named[0] == 0
    assert call("compare", "one.counts", "other.csv", "--format", "csv") == named
    assert call("compare", "other.csv", "one.counts")[0] == 0
    for command in ("tree", "interactions", "select"):
        assert refusal(command, "one.counts") == "one.counts holds counts, not rows: name the data"


def test_results_of_credimi_are_no_data(call: Call, refusal: Refusal) -> None:
    write("data.csv", base())
    for command, target in (("rank", ["--target", "y"]), ("network", [])):
        assert call(command, "data.csv", *target, "--format", "json", "--output", f"{command}.json")[0] == 0
    said = "rank.json is a ranking that credimi wrote, and has no rows: only `credimi compare` reads it"
    assert refusal("rank", "rank.json", "--target", "y") == said
    said = "network.json is a result that credimi wrote, and has no rows: name data"
    assert refusal("rank", "network.json", "--target", "y") == said


def test_one_column_is_no_pair(refusal: Refusal) -> None:
    write("one.csv", "a\nx\ny\n")
    said = (
        "there is only the column 'a', and a pair has two columns: pass data that have more, or name more (features, "
    )
    assert refusal("pairs", "one.csv") == said + "--features)"
