"""Whole weights whose sum is too large for doubles to be exact."""

from __future__ import annotations

import credimi

LARGE = {"y": list("pqpq") * 10, "x": list("abab") * 10, "n": [2**53 + 2, 2**52, 1, 4] * 10}


def test_whole_weights_above_2_to_the_53_are_not_called_fractions() -> None:
    ranking = credimi.rank(LARGE, "y", weights="n")
    (remark,) = (each for each in ranking.remarks if each.kind.startswith("weights"))
    told = " ".join(ranking.remark_lines())
    assert (remark.kind, remark.rows, remark.caution) == ("weights_too_large", ranking.rows, True)
    assert "not whole" not in told
    assert "too large to add exactly (their sum is above 2^53)" in told
    assert "divide all of them by the same number" in told


def test_their_ratios_decide_as_those_of_fractions_do() -> None:
    scaled = credimi.rank(LARGE | {"n": [each / 3.0 for each in LARGE["n"]]}, "y", weights="n")
    ranking = credimi.rank(LARGE, "y", weights="n")
    assert ranking.rows == scaled.rows
    assert abs(ranking["x"]["mi"] - scaled["x"]["mi"]) < 1e-9


def test_parts_are_scaled_as_the_whole() -> None:
    part = {"y": ["p", "q"], "x": ["a", "b"], "n": [2**52, 2**51]}  # for itself, it can be added exactly
    whole = {name: values * 8 for name, values in part.items()}
    added = counted = credimi.count(part, "y", weights="n")
    for _ in range(7):
        added = added + counted
    assert credimi.rank(added).rows == credimi.rank(whole, "y", weights="n").rows < 20
    assert credimi.rank(added)["x"]["mi"] == credimi.rank(whole, "y", weights="n")["x"]["mi"]
