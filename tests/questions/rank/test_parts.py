"""Columns that together make up the target are pointed out as a group; columns that only predict it are not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import credimi
from credimi.results.remarks import RemarkKind

if TYPE_CHECKING:
    from pathlib import Path

ROWS = 3_000


def group_of(table: dict[str, Any], target: str = "y", **options: Any) -> set[str | None]:  # noqa: ANN401
    remarks = credimi.rank(table, target, **options).remarks
    return {remark.feature for remark in remarks if remark.kind == RemarkKind.PARTS_OF_TARGET}


def parts_of_rating() -> dict[str, Any]:
    """The shares of ten ratings, their mean, and a column that is informative and no part."""
    generator = np.random.default_rng(0)
    shares = generator.dirichlet(np.full(10, 0.6), ROWS).round(3)
    rating = shares @ np.arange(1.0, 11.0)
    table: dict[str, Any] = {f"r{place}": shares[:, place - 1] for place in range(1, 11)}
    return table | {"budget": rating + generator.normal(scale=2.0, size=ROWS), "rating": rating.round(2)}


@pytest.mark.parametrize("cuts", ["quantile:4", "quantile:10", "quantile:20"])
def test_the_parts_of_a_weighted_sum(cuts: str) -> None:
    table = parts_of_rating()
    found = group_of(table, "rating", target_cuts=cuts)
    assert found >= {"r1", "r2", "r9", "r10"}
    assert found <= {f"r{place}" for place in range(1, 11)}
    ranking = credimi.rank(table, "rating", target_cuts=cuts)
    shares = dict(zip(ranking.columns["feature"], ranking.columns["entropy_share"], strict=True))
    assert max(shares[f"r{place}"] for place in range(1, 11)) < 0.5  # none of them is pointed out alone
    line = next(each for each in ranking.remark_lines(cautions=True) if "together they give" in each)
    assert line.endswith(
        "check for leakage (is the target made of them, or are they made from it? exclude=[...] leaves out)"
    )


def test_the_parts_of_a_union_in_a_file(tmp_path: Path) -> None:
    generator = np.random.default_rng(1)
    causes = generator.random((ROWS, 3)) < 0.12
    answer = np.where(causes.any(axis=1), "yes", "no")
    hint = np.where(generator.random(ROWS) < 0.9, answer, "no")
    lines = ["heart,lung,other,hint,died"]
    lines += [
        ",".join([*map(str, row), own, each]) for row, own, each in zip(causes.astype(int), hint, answer, strict=True)
    ]
    (tmp_path / "deaths.csv").write_text("\n".join(lines) + "\n")
    ranking = credimi.rank(tmp_path / "deaths.csv", "died", exclude="hint")
    found = {remark.feature for remark in ranking.remarks if remark.kind == RemarkKind.PARTS_OF_TARGET}
    assert found == {"heart", "lung", "other"}


def test_columns_for_each_class_are_found_in_counts_alone() -> None:
    generator = np.random.default_rng(2)
    colour = generator.choice(["red", "green", "blue"], ROWS, p=[0.5, 0.3, 0.2])
    table = {f"is_{each}": (colour == each).astype(int) for each in ("red", "green", "blue")}
    table["size"] = np.where(generator.random(ROWS) < 0.6, colour, "red")
    counts = credimi.count(table | {"colour": colour}, "colour")
    ranking = credimi.rank(counts)
    found = {remark.feature for remark in ranking.remarks if remark.kind == RemarkKind.PARTS_OF_TARGET}
    assert found == {"is_red", "is_green", "is_blue"}


def test_good_predictors_are_no_parts() -> None:
    """Ten columns that are the class with noise; a noisy sum; a copy, which is pointed out alone."""
    generator = np.random.default_rng(3)
    y = generator.integers(0, 2, ROWS)
    noisy = {f"x{place}": np.where(generator.random(ROWS) < 0.8, y, 1 - y) for place in range(10)}
    assert group_of(noisy | {"y": y}) == set()
    terms = generator.normal(size=(ROWS, 4))
    total = terms.sum(axis=1) + generator.normal(scale=0.7, size=ROWS)
    columns = {f"t{place}": terms[:, place] for place in range(4)}
    assert group_of(columns | {"y": total}, target_cuts="quantile:4") == set()
    copied = noisy | {"copy": y, "y": y}
    assert group_of(copied) == set()
    assert RemarkKind.NEARLY_TARGET in {remark.kind for remark in credimi.rank(copied, "y").remarks}


def test_half_of_the_entropy_is_pointed_out_with_what_to_check() -> None:
    generator = np.random.default_rng(4)
    y = generator.integers(0, 2, ROWS)
    much = np.where(generator.random(ROWS) < 0.07, 1 - y, y)
    less = np.where(generator.random(ROWS) < 0.2, 1 - y, y)
    ranking = credimi.rank({"much": much, "less": less, "y": y}, "y")
    (remark,) = (each for each in ranking.remarks if each.caution)
    assert (remark.kind, remark.feature) == (RemarkKind.MUCH_OF_TARGET, "much")
    assert remark.share == pytest.approx(ranking["much"]["entropy_share"])
    line = f"caution: more than half of the target's entropy: much ({100 * remark.share:.0f} %): check for leakage"
    assert str(ranking).splitlines()[1].startswith(line)  # above the table
    assert str(ranking).splitlines()[0].endswith("3,000 rows; 1 caution")
