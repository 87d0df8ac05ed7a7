"""P(independent) of lopsided tables whose both sides have missing values, against exact sums; and its mark."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from allocation_oracle import exact

import credimi
from credimi import mutual_information
from credimi.core.tables import Tables
from credimi.inference.evidence import adaptive_prior

LOPSIDED = [
    ([[104, 0, 83], [0, 0, 0]], [25_491_281, 166], [11, 8, 6]),
    ([[9_961, 0, 6_872], [0, 0, 0]], [14, 3], [12, 2, 2]),
    ([[10_122, 241, 0], [0, 0, 0]], [2_968, 4], [7, 10, 7]),
    ([[999_523, 0], [81, 0]], [1, 14], [9, 9]),
    ([[1_001_234, 490, 0], [67, 0, 0]], [2, 3_734], [2, 5, 1]),
    ([[1_648, 0], [1_000_000_000, 1]], [64_261, 0], [5, 1]),
    ([[1_000_055_831, 5_047], [4_560, 0]], [1, 7_495_251], [11, 8]),
    ([[19, 0], [10_000_000_000, 1]], [5_336, 20_763], [1, 1]),
    ([[40, 0, 2], [900, 0, 0], [0, 1, 0]], [1, 900, 30], [3, 2, 1]),
]
LONG = [[104, 0], [0, 0]], [30_000, 500], [15_000, 400]


def block(joint: object, row_only: object, column_only: object) -> np.ndarray:
    joint = np.array(joint, dtype=np.float64)
    result = np.zeros((joint.shape[0] + 1, joint.shape[1] + 1))
    result[:-1, :-1], result[:-1, -1], result[-1, :-1] = joint, row_only, column_only
    return result


@pytest.mark.parametrize(("joint", "row_only", "column_only"), LOPSIDED)
def test_lopsided_tables_have_the_exact_probability(
    joint: list[list[int]], row_only: list[int], column_only: list[int]
) -> None:
    with mpmath.workdps(40):
        expected = exact(*(np.array(each, dtype=np.float64) for each in (joint, row_only, column_only)))
    for counts, target_only, feature_only in (
        (np.array(joint), row_only, column_only),
        (np.array(joint).T, column_only, row_only),
        (np.array(joint)[::-1], row_only[::-1], column_only),
    ):
        found = mutual_information(counts, target_only=target_only, feature_only=feature_only).p_zero
        assert found == pytest.approx(expected, abs=5e-4)  # components of little weight are left out


def test_only_tables_without_a_short_sum_are_marked() -> None:
    usual = block([[30, 10], [12, 25]], [6, 8], [5, 9])
    summed = block(*LOPSIDED[3])
    long = block(*LONG)
    complete = block(LONG[0], [0, 0], LONG[2])
    found = adaptive_prior.components(Tables.of([usual, summed, long, complete]))
    assert found.approximate.tolist() == [False, False, True, False]


def test_a_ranking_says_whose_probability_may_be_off() -> None:
    (complete, _), row_only, column_only = LONG
    target = ["p"] * complete[0] + ["p"] * row_only[0] + ["q"] * row_only[1] + [None] * sum(column_only)
    rare = ["a"] * complete[0] + [None] * sum(row_only) + ["a"] * column_only[0] + ["b"] * column_only[1]
    ranking = credimi.rank(
        {"rare": rare, "full": [*"xy" * (len(rare) // 2), *"x" * (len(rare) % 2)], "class": target}, target="class"
    )
    marked = [remark for remark in ranking.remarks if remark.kind == "approximate"]
    assert [remark.feature for remark in marked] == ["rare"]
    assert marked[0].caution
    assert "P(independent) may be off" in str(ranking)
