"""How many rows would decide: two digits, and said to be none where I lies at epsilon."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from test_page import data_of, node

from credimi import Ranking, mutual_information, rank
from credimi.report.notebook import ranking_html

EPSILON = 0.003


def table(information: float, rows: int) -> dict[str, list[str]]:
    """Two classes and two values, as often as chances of this information have them."""
    low, high = 0.0, 0.5
    for _ in range(60):
        lean = (low + high) / 2
        chances = np.array([0.5 + lean, 0.5 - lean])
        low, high = (lean, high) if float((chances * np.log(2 * chances)).sum()) < information else (low, lean)
    same, other = round(rows / 2 * (0.5 + lean)), round(rows / 2 * (0.5 - lean))
    return {
        "f": ["x"] * same + ["y"] * other + ["x"] * other + ["y"] * same,
        "class": ["a"] * (same + other) + ["b"] * (same + other),
    }


def unsure(information: float, rows: int, **options: Any) -> Ranking:  # noqa: ANN401
    ranking = rank(table(information, rows), "class", epsilon=EPSILON, **options)
    assert ranking["f"]["verdict"] == "unsure"
    return ranking


@pytest.mark.parametrize("prior", ["adaptive", "jeffreys"])
@pytest.mark.parametrize(("information", "rows"), [(0.006, 500), (0.0045, 2_000), (0.008, 120), (0.005, 40)])
def test_the_rows_have_two_digits_and_decide(information: float, rows: int, prior: str) -> None:
    ranking = unsure(information, rows, prior=prior)
    row = ranking["f"]
    assert row["rows_to_decide"] > ranking.rows
    assert len(str(row["rows_to_decide"]).rstrip("0")) <= 2
    assert row["at_epsilon"] is False
    counts = np.array([[ranking._kept.blocks[0][i, j] for j in range(2)] for i in range(2)], dtype=float)  # noqa: SLF001
    for share, sure in ((1.0, True), (0.85, False)):
        law = mutual_information(counts * share * row["rows_to_decide"] / counts.sum(), prior=prior)
        assert (not 0.05 < law.sf(EPSILON) < 0.95) is sure
    text = f"rows needed to decide, roughly: f {row['rows_to_decide']:,}"
    assert text in " ".join(repr(ranking).split())
    assert f"until about {row['rows_to_decide']:,} rows" in ranking_html(ranking)


@pytest.mark.parametrize("prior", ["adaptive", "jeffreys"])
@pytest.mark.parametrize("rows", [1_000, 30_000])
def test_what_lies_at_epsilon_has_no_such_number(rows: int, prior: str) -> None:
    """For 30,000 rows it was said to be decided at millions."""
    ranking = unsure(1.01 * EPSILON, rows, prior=prior)
    row = ranking["f"]
    assert row["rows_to_decide"] is None
    assert row["at_epsilon"] is True
    assert "no sample of a usual size would decide, since I lies at epsilon: f" in " ".join(repr(ranking).split())
    assert "lies at epsilon" in ranking_html(ranking)
    told = ranking.to_dict()["features"][0]
    assert (told["rows_to_decide"], told["at_epsilon"]) == (None, True)
    assert ranking.to_pandas()["at_epsilon"].tolist() == [True]
    data = data_of(ranking)
    assert data["features"]["at_epsilon"] == [True]


def test_what_is_decided_does_not_lie_at_epsilon() -> None:
    """Nor does what is not ranked, nor anything where epsilon is 0."""
    columns = table(0.2, 300)
    ranking = rank(columns | {"constant": ["x"] * 300, "id": [f"row {row}" for row in range(300)]}, "class")
    assert ranking.columns["at_epsilon"] == [False] * 3
    assert rank(table(0.0, 400), "class", epsilon=0.0).columns["at_epsilon"] == [False]


def test_the_page_says_so_at_the_epsilon_of_the_ranking_only() -> None:
    data = data_of(unsure(1.01 * EPSILON, 1_000))
    detail = """
      globalThis.short = String;
      const state = { epsilon: data.asked, level: data.report.settings.level, found: { verdict: ["unsure"] } };
      return verdictText(data.report, state, 0);
    """
    for asked, said in ((EPSILON, "no sample would decide"), (2 * EPSILON, "collect more rows")):
        assert said in node(detail, {"report": data, "asked": asked}, "detail.js")
