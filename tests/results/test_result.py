"""What every result can do: rows by name, tables, files that give the same result again."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import credimi
from credimi import CredimiError, Result
from credimi.results.saved import encoded

if TYPE_CHECKING:
    from collections.abc import Callable

CLINIC = str(Path(__file__).parents[2] / "examples" / "clinic.csv")
SUSPICIOUS = {
    "y": ["no", "yes"] * 120,
    "group": ["a", "a", "b"] * 80,
    **{
        name: [value if row % 4 == 0 else other[row % 2] for row in range(240)]
        for name, value, other in (
            ("texts", "N/A", ("u", "v")),
            ("numbers", -999, (3, 4)),
            ("dates", "2024-01-01", ("2023-05-06", "2022-07-08")),
            ("commas", "1,5", ("2,5", "3,25")),
            ("case", "Yes", ("yes", "no")),
            ("blanks", " left", ("left", "right")),
            ("zeros", "007", ("012", "100")),
            ("percent", "5 %", ("7 %", "9 %")),
            ("currency", "$5", ("$7", "$9")),
            ("thousands", "1,000", ("2,000", "3,000")),
        )
    },
}
ASKED: dict[str, Callable[[], Result]] = {
    "rank": lambda: credimi.rank(CLINIC, "diabetes", robust_factor=2.0),
    "rank_by": lambda: credimi.rank_by(CLINIC, "diabetes", by="sex"),
    "compare": lambda: credimi.compare(CLINIC, CLINIC, "diabetes"),
    "interactions": lambda: credimi.interactions(CLINIC, "diabetes", top=3),
    "pairs": lambda: credimi.pairs(CLINIC),
    "some pairs": lambda: credimi.pairs(CLINIC, top=9),
    "forest": lambda: credimi.pairs(CLINIC).forest(),
    "forest of a network": lambda: credimi.network(CLINIC, imputations=0).forest,
    "network": lambda: credimi.network(CLINIC, imputations=0),
    "tree": lambda: credimi.tree(CLINIC, "diabetes", max_depth=2),
    "select": lambda: credimi.select(CLINIC, "diabetes", max_features=3),
    "rank of suspicious values": lambda: credimi.rank(SUSPICIOUS, "y"),
    "select of suspicious values": lambda: credimi.select(SUSPICIOUS, "y", rule="fdr"),
    "rank_by of suspicious values": lambda: credimi.rank_by(SUSPICIOUS, "y", by="group"),
}


@pytest.fixture(scope="module", params=list(ASKED))
def result(request: pytest.FixtureRequest) -> Result:
    return ASKED[request.param]()


def test_a_saved_result_is_equal_when_it_is_loaded(result: Result, tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    result.save(path)
    again = credimi.load(path)
    assert again == result
    assert type(again) is type(result)
    assert repr(again) == repr(result)
    assert again.to_dict() == result.to_dict()
    assert json.loads(path.read_text(encoding="utf-8"))  # JSON, whatever reads it


def test_rows_are_the_same_everywhere(result: Result) -> None:
    rows = list(result)
    assert len(rows) == len(result) > 2
    assert result.head(2) == rows[:2]
    assert result[-1] == rows[-1]
    assert list(rows[0]) == list(result.columns) == result.to_arrow().column_names
    assert len(result.to_pandas()) == result.to_polars().height == len(result)
    lines = list(csv.reader(io.StringIO(result.to_csv())))
    assert lines[0] == list(result.columns)
    assert len(lines) == 1 + len(result)
    with pytest.raises(CredimiError, match="counted from 0"):
        result[len(result)]
    with pytest.raises(CredimiError, match="no "):
        result["nothing of that name"]


def test_every_medium_shows_it(result: Result, tmp_path: Path) -> None:
    assert "<script>alert" not in result._repr_html_()
    assert result._repr_html_().startswith("<div>")
    assert repr(result)
    result.to_html(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert "of this name" in result.to_html(source="data of this name")
    assert json.loads(result.to_json(tmp_path / "result.json")) == json.loads((tmp_path / "result.json").read_bytes())


def test_what_is_no_saved_result_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "file.json"
    for content in (
        "",
        "[]",
        '{"credimi": "Nothing"}',
        '{"credimi": "CredibleSelector"}',
        '{"credimi": "Selection"}',
        "{",
    ):
        path.write_text(content)
        with pytest.raises(CredimiError, match="is no saved result"):
            credimi.load(path)
    with pytest.raises(CredimiError, match="cannot be read"):
        credimi.load(tmp_path / "nowhere.json")


def test_counts_are_no_result_but_are_loaded_elsewhere(tmp_path: Path) -> None:
    credimi.count({"x": list("ab"), "y": list("pq")}, "y").save(tmp_path / "x.counts")
    with pytest.raises(CredimiError, match=r"holds counts: read them with credimi\.Counts\.load"):
        credimi.load(tmp_path / "x.counts")


@pytest.mark.parametrize(
    ("asked", "name", "message"),
    [
        ("rank", "agee", "the ranking has no feature 'agee': did you mean 'age'"),
        ("select", "agee", "the selection has no feature 'agee': did you mean 'age'"),
        ("compare", "agee", "the comparison has no feature 'agee': did you mean 'age'"),
        ("tree", "agee", "there is no column 'agee': did you mean 'age'"),
        ("tree", "glucose", r"pass a number; 'glucose' splits node 0"),
        ("pairs", ("agee", "sex"), "there is no column 'agee': did you mean 'age'"),
        ("forest", ("agee", "sex"), "did you mean 'age'"),
    ],
)
def test_an_unknown_row_is_refused_with_the_nearest_name(asked: str, name: object, message: str) -> None:
    with pytest.raises(CredimiError, match=message):
        ASKED[asked]()[name]


@pytest.mark.parametrize("count", [1.5, -1, "2"])
def test_head_takes_a_number_of_rows(result: Result, count: object) -> None:
    with pytest.raises(CredimiError, match="it must be a whole number from 0 up"):
        result.head(count)


@pytest.mark.parametrize(
    "made",
    [
        lambda: credimi.mutual_information([[10, 2], [3, 15]]),
        lambda: credimi.mutual_information([[10, 2], [3, 15]], approximation="sampled", draws=50),
        lambda: credimi.mutual_information([[10, 0], [3, 0]], approximation="leading"),
        lambda: credimi.posterior([[10, 2], [3, 15]], target_only=[1, 2]),
        lambda: credimi.prequential({"x": list("aabb") * 9, "y": list("ppqq") * 9}, "y", orders=2),
    ],
)
def test_distributions_and_runs_are_saved_too(made: Callable[[], credimi.Distribution], tmp_path: Path) -> None:
    answer = made()
    answer.save(tmp_path / "answer.json")
    again = credimi.load(tmp_path / "answer.json")
    assert type(again) is type(answer)
    assert encoded(again) == encoded(answer)
    assert repr(again) == repr(answer)
