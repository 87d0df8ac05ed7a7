"""`report`: the parts are those of the questions, the time is kept, and what fails or is cut is said."""

from __future__ import annotations

import json
import re
import time
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import credimi
from credimi import CredimiError, Report
from credimi.cli import main
from credimi.results import graph_layout

CLINIC = str(Path(__file__).parents[3] / "examples" / "clinic.csv")
COLUMNS = ["glucose", "age", "bmi", "smoking", "patient", "clinic", "waist"]
CHAPTERS = ["overview", "columns", "set", "together", "structure", "tree", "method"]


@pytest.fixture(scope="module")
def clinic() -> Report:
    return credimi.report(CLINIC, "diabetes", features=COLUMNS, seconds=600)


def table(rows: int = 200, columns: int = 6) -> dict[str, Any]:
    generator = np.random.default_rng(0)
    values = {f"x{place}": generator.normal(size=rows) for place in range(columns)}
    return values | {"y": values["x0"] + generator.normal(size=rows) > 0.0}


class Page(HTMLParser):
    """The ids, the links, and the tags of a page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.tags: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known = dict(attrs)
        self.tags.append(tag)
        self.ids += [str(known["id"])] if "id" in known else []
        self.links += [str(known["href"])] if tag == "a" else []


def test_the_parts_are_those_of_the_questions(clinic: Report) -> None:
    assert clinic.cuts == ()
    assert clinic.ranking == credimi.rank(CLINIC, "diabetes", features=COLUMNS)
    assert clinic.selection == credimi.select(CLINIC, "diabetes", features=COLUMNS)
    assert clinic.tree == credimi.tree(CLINIC, "diabetes", features=COLUMNS)
    assert clinic.interactions == credimi.interactions(CLINIC, "diabetes", features=COLUMNS)
    assert set(clinic.pairs.names) == {"glucose", "age", "bmi", "smoking", "waist", "diabetes"}
    assert clinic.features == clinic.selection.features


def test_a_row_says_what_each_part_says_of_a_column(clinic: Report) -> None:
    row = clinic["glucose"]
    assert (row["verdict"], row["direction"], row["taken"], row["kind"]) == ("keep", "rises", 1, "ranges")
    assert row["splits"] == sum(node["feature"] == "glucose" for node in clinic.tree)
    assert set(row["linked_to"]) == {
        edge["b"] if edge["a"] == "glucose" else edge["a"]
        for edge in clinic.network
        if "glucose" in {edge["a"], edge["b"]}
    }
    assert clinic["patient"]["kind"] == "identifier"


def test_every_link_of_the_page_leads_somewhere(clinic: Report) -> None:
    html = clinic.to_html()
    page = Page(html)
    assert [each for each in page.ids if each in CHAPTERS] == CHAPTERS
    assert len(page.ids) == len(set(page.ids))
    assert {link for link in page.links if link[1:] not in page.ids} == set()
    assert {f"#column-{place}" for place in range(len(clinic))} <= set(page.links)
    assert page.tags.count("h1") == page.tags.count("main") == 1
    assert "script" not in page.tags
    assert not re.search(r"(src|href)=\"(http|//)", html)
    assert len(html) < 3_000_000


def test_time_is_kept_and_what_was_cut_is_said() -> None:
    began = time.monotonic()
    report = credimi.report(table(3_000, 60), "y", seconds=0.3)
    assert time.monotonic() - began < 40.0  # compiling is not interrupted
    assert len(report.ranking) == 60
    assert report.cuts
    html = report.to_html()
    for cut in report.cuts:
        assert cut.why in html


def test_a_part_that_fails_leaves_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: object, **__: object) -> None:
        raise CredimiError("no tree today")

    failing.keywords = {}  # type: ignore[attr-defined]  # it has none
    monkeypatch.setattr(credimi, "tree", failing)
    report = credimi.report(table(), "y", seconds=600)
    assert report.tree is None
    assert [(each.part, each.why) for each in report.cuts] == [("tree", "no tree today")]
    assert "no tree today" in report.to_html()
    assert report.selection is not None


def test_an_interrupt_ends_with_the_parts_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    interrupted.keywords = {}  # type: ignore[attr-defined]  # it has none
    monkeypatch.setattr(credimi, "interactions", interrupted)
    report = credimi.report(table(), "y", seconds=600)
    assert report.tree is not None
    assert {each.part: each.why for each in report.cuts} == dict.fromkeys(
        ("interactions", "pairs", "network"), "interrupted"
    )


def test_columns_that_lack_values_together_are_named() -> None:
    generator = np.random.default_rng(3)
    columns = table(400)
    lost = generator.random(400) < 0.2
    for name in ("x1", "x2"):
        columns[name] = np.where(lost, np.nan, columns[name])
    columns["x3"] = np.where(generator.random(400) < 0.2, np.nan, columns["x3"])
    (together,) = credimi.report(columns, "y", seconds=0.5).together
    assert (together.a, together.b, together.rows, together.share) == ("x1", "x2", int(lost.sum()), 1.0)


def test_names_of_data_are_no_markup(tmp_path: Path) -> None:
    name = "<script>alert(1)</script>"
    columns = table()
    columns[name] = columns.pop("x0")
    html = credimi.report(columns, "y", seconds=600).to_html(tmp_path / "report.html")
    assert "<script" not in html
    assert "&lt;script&gt;" in html


def test_a_report_is_saved_and_read(clinic: Report, tmp_path: Path) -> None:
    clinic.save(tmp_path / "report.json")
    again = credimi.load(tmp_path / "report.json")
    assert again == clinic
    assert again.to_html() == clinic.to_html()
    assert clinic.to_pandas()["feature"].tolist()[0] == "glucose"


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), "soon"])
def test_times_that_are_none_are_refused(seconds: object) -> None:
    with pytest.raises(CredimiError, match="seconds"):
        credimi.report(table(), "y", seconds=seconds)


def test_clusters_stand_together() -> None:
    matrix = np.full((6, 6), 0.01)
    for group in ((0, 3, 5), (1, 2, 4)):
        matrix[np.ix_(group, group)] = 0.8
    order = graph_layout.clustered(matrix)
    assert {frozenset(order[:3]), frozenset(order[3:])} == {frozenset({0, 3, 5}), frozenset({1, 2, 4})}


def test_the_command_writes_a_page_and_json(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    asked = ["report", CLINIC, "--target", "diabetes", "--features", "glucose", "age", "--seconds", "300"]
    assert main(asked) == 0
    out, err = capsys.readouterr()
    assert "Report on diabetes" in out
    assert "report.html: open it in a browser" in err
    html = Path("report.html").read_text(encoding="utf-8")
    assert "credimi report" in html
    assert "--features glucose age --seconds 300" in html
    Path("report.html").unlink()
    assert main([*asked, "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [row["feature"] for row in found["features"]] == ["glucose", "age"]
    assert not Path("report.html").exists()


def test_bad_input_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", CLINIC, "--target", "diabetis"]) == 2
    assert "did you mean 'diabetes'" in capsys.readouterr().err
