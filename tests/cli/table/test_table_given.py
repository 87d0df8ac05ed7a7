"""`credimi table --given`: one table a stratum."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

import credimi
from credimi.core.special import entropy

if TYPE_CHECKING:
    from pathlib import Path

    from table_helpers import Call

STRATA = [[[10, 2], [3, 15]], [[4, 1], [2, 9]]]
LITERAL = "10 2; 3 15 | 4 1; 2 9"
TARGET_ONLY = [[4, 1], [0, 2]]
FEATURE_ONLY = [[0, 2], [1, 0]]
IN_FILE = """\
# the first stratum
10 2
3 15
target-only: 4 1
feature-only: 0 2

# the second: the empty line above ends the first
4 1
2 9
target-only: 0 2; feature-only: 1 0

"""

Report = Callable[..., dict[str, object]]
Refusal = Callable[..., str]


def expected(**options: list[list[int]]) -> dict[str, float]:
    law = credimi.conditional_information(STRATA, **options)
    low, high = law.interval(0.95)
    names = {"mean": law.mean(), "std": law.std(), "low": low, "high": high}
    rows = [[sum(row) for row in joint] for joint in STRATA] + options.get("target_only", [])
    epsilon = 0.005 * min(entropy([sum(column) for column in zip(*rows, strict=True)]), math.log(2.0))
    return names | {"p_above": law.sf(epsilon), "p_independent": law.p_zero}


def test_the_answer_is_that_of_python(report: Report) -> None:
    answer = report(LITERAL, "--given")
    assert {name: answer[name] for name in expected()} == expected()
    assert answer["rows"] == 46.0
    assert answer["settings"]["given"] is True
    assert "mode" not in answer
    for each, joint in zip(answer["strata"], STRATA, strict=True):
        assert each["mean"] == credimi.mutual_information(joint).mean()
        assert each["rows"] == sum(map(sum, joint))


def test_margins_come_from_options_or_from_the_text(report: Report, tmp_path: Path) -> None:
    margins = expected(target_only=TARGET_ONLY, feature_only=FEATURE_ONLY)
    path = tmp_path / "strata.txt"
    path.write_text(IN_FILE)
    by_options = report(LITERAL, "--given", "--target-only", "4 1 | 0 2", "--feature-only", "0 2 | 1 0")
    for answer in (by_options, report(path, "--given"), report("-", "--given", stdin=IN_FILE.encode())):
        assert {name: answer[name] for name in margins} == margins
        assert answer["rows"] == 56.0


def test_one_stratum_is_a_table(report: Report) -> None:
    one, given = report("10 2; 3 15"), report("10 2; 3 15", "--given")
    for name in ("mean", "std", "low", "high", "p_above", "p_independent", "rows"):
        assert given[name] == pytest.approx(one[name], rel=1e-10)


def test_one_stratum_is_not_called_strata(call: Call) -> None:
    assert call("table", "10 2; 3 15", "--given")[1].startswith("Conditional mutual information, 1 stratum of 2 x 2")


def test_units_prior_and_a_stratum_without_rows(report: Report) -> None:
    answer = report("10 2; 3 15 | 0 0; 0 0", "--given", "--units", "bits", "--prior", "jeffreys")
    law = credimi.mutual_information([[10, 2], [3, 15]], prior="jeffreys")
    assert answer["mean"] == pytest.approx(law.mean() / 0.6931471805599453)
    assert answer["strata"][1] == {"rows": 0.0}


def test_the_screen_shows_all_strata(call: Call) -> None:
    code, out, err = call("table", LITERAL, "--given")
    assert (code, err) == (0, "")
    assert out.startswith("Conditional mutual information, 2 strata of 2 x 2 tables")
    assert "Each stratum on its own" in out
    assert "46 (46 complete, 0 without the feature, 0 without the target)" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([LITERAL], "it separates the tables of strata, for which say --given"),
        (["1 2; 3 4 | 1 2", "--given"], "the table of stratum 2 is 1 x 2, that of stratum 1 is 2 x 2"),
        (["1 2; 3 x | 1 2; 3 4", "--given"], "stratum 1: 'x' is not a count"),
        ([LITERAL, "--given", "--target-only", "1 2"], "target-only has counts for 1 strata, the table has 2"),
        ([LITERAL, "--given", "--approximation", "sampled"], "leave out --approximation sampled"),
        (["1 2; 3 4; target-only: 1 1 | 1 2; 3 4", "--given", "--target-only", "1 1 | 1 1"], "keep one of them"),
    ],
)
def test_what_cannot_be_used_is_refused(refusal: Refusal, arguments: list[str], message: str) -> None:
    assert message in refusal(*arguments)
