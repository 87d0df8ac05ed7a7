"""Facts are data, sentences are made last: other words change nothing else; every fact has words for each reader."""

from __future__ import annotations

import json
import re
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from page_helpers import DECIDE, node, shown

import credimi
from credimi.cli import main
from credimi.columns.feature import CutBy, FeatureKind, SuspicionKind
from credimi.counts.reading import Reading
from credimi.paper.paper_datasets import PaperDataset, read
from credimi.paper.rows import rows_of
from credimi.questions.network.view import direction_line
from credimi.results import remark_sentences, sentences
from credimi.results.remarks import Remark, RemarkKind
from credimi.results.section import Shown
from credimi.results.text import printed as text_of

READERS = (sentences.PYTHON, sentences.COMMAND_LINE)
ROWS = 600
CLASSES = ["pq"[row * row % 7 % 2] for row in range(ROWS)]
TABLE: dict[str, list[Any]] = {
    "id": [f"k{row}" for row in range(ROWS)],
    "number": list(range(1000, 1000 + ROWS)),
    "code": [(0, 1, 99)[row % 3] for row in range(ROWS)],
    "copy": ["a" if own == "p" else "b" for own in CLASSES],
    "price": [f"${row % 50}.50" for row in range(ROWS)],
    "day": [f"2024-01-{row % 25 + 1:02}" for row in range(ROWS)],
    "text": [("a", "b", "N/A")[row % 3] for row in range(ROWS)],
    "cut": [row * 0.37 + 90 * (own == "p") for row, own in enumerate(CLASSES)],
    "quarters": [row * 0.37 for row in range(ROWS)],
    "constant": ["x"] * ROWS,
    "empty": [None] * ROWS,
    "group": [f"g{row % 30 * 2 + (own == 'p')}" for row, own in enumerate(CLASSES)],
    "gone": [None if own == "p" and row % 2 else "ab"[row % 2] for row, own in enumerate(CLASSES)],
    "lists": [[1]] * ROWS,
    "class": CLASSES,
}
WORDED = ("note", "doubts", "text", "cautions", "left_out")
OTHER_WORDS = ("", "identifier: cannot be counted; mdl, 2 cuts: categories, not numbers: dates; 9 may mean missing")


def without_words(data: Any) -> Any:  # noqa: ANN401
    if isinstance(data, dict):
        return {name: without_words(each) for name, each in data.items() if name not in WORDED}
    return [without_words(each) for each in data] if isinstance(data, list) else data


def everything(folder: Path) -> Any:  # noqa: ANN401
    """Rankings, their pages, what learners and the paper's experiments leave out: as data, words and all."""
    ranking = credimi.rank(TABLE, "class", discretize={"cut": "mdl"})
    found: dict[str, Any] = {"ranking": ranking.to_dict(), "length": len(str(ranking)) > 0, "columns": ranking.columns}
    found["category"] = credimi.rank(TABLE, "class", missing_as="category").to_dict()
    found["jeffreys"] = credimi.rank(TABLE, "class", prior="jeffreys").to_dict()
    ranking.to_html(folder / "page.html")
    found["page"] = shown((folder / "page.html").read_text(encoding="utf-8"))
    rows = rows_of(TABLE, "class", Reading(missing_values=("?",)))
    found["rows"] = [rows.features, rows.left_out, rows.codes.tolist()]
    (folder / "paper.data").write_text("x,1,p\nx,2,q\nx,1,p\n" * 20, encoding="utf-8")
    paper = PaperDataset(folder="", files=("paper.data",), target=3, columns=3, instances=60, features=2, missing=0)
    found["paper"] = list(read("paper", paper, [folder / "paper.data"]).differences)
    learner = credimi.IncrementalNaiveBayes().fit([[1, "a"], [1, "b"]] * 20, ["p", "q"] * 20)
    found["learner"] = learner.support_.tolist()
    return json.loads(json.dumps(found))


@pytest.mark.parametrize("words", OTHER_WORDS)
def test_other_words_change_nothing_but_words(words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = everything(tmp_path)
    for name in ("note", "short_note", "why_left_out"):
        monkeypatch.setattr(sentences, name, lambda *_, **__: words)
    monkeypatch.setattr(remark_sentences, "remark", lambda *_, **__: words)
    after = everything(tmp_path)
    assert set(after["columns"]["note"]) == {words}
    assert {each["text"] for each in after["ranking"]["remarks"]} == {words}
    assert without_words(after) == without_words(before)
    assert after != before


def test_other_words_change_no_decision_of_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = [(0.003, 0.95), (0.05, 0.9), (0.2, 0.5)]
    before = node(DECIDE, {"report": everything(tmp_path)["page"], "asked": asked})
    for name in ("note", "short_note"):
        monkeypatch.setattr(sentences, name, lambda *_, **__: OTHER_WORDS[1])
    monkeypatch.setattr(remark_sentences, "remark", lambda *_, **__: OTHER_WORDS[1])
    assert node(DECIDE, {"report": everything(tmp_path)["page"], "asked": asked}) == before
    assert {each for found in before for each in found["verdict"]} >= {"keep", "drop", "not ranked"}


def test_the_page_only_shows_words() -> None:
    """In its scripts, sentences stand inside of `isolated(...)`, which makes an element of them."""
    found = 0
    for path in (Path(sentences.__file__).parent / "assets").glob("*.js"):
        for line in path.read_text(encoding="utf-8").splitlines():
            if re.search(r"of\(\"note\"\)|\.note\b|(remark|caution)\.text", line):
                shown = line.replace('if (of("note"))', "")
                assert re.search(r"isolated\((of\(\"note\"\)|(remark|caution)\.text)\)", shown), line
                found += 1
    assert found == 3


def test_all_faces_have_the_same_remarks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ranking = credimi.rank(TABLE, "class", discretize={"cut": "mdl"})
    assert {(remark.kind.value, remark.feature) for remark in ranking.remarks if remark.caution} == {
        ("nearly_target", "copy"),
        ("nearly_target", "group"),
        ("possible_identifier", "group"),
        ("missing_tells", "gone"),
        ("taken_as_missing", "code"),
    }
    told = ranking.to_dict()["remarks"]
    assert [(each["kind"], each["feature"]) for each in told] == [(each.kind, each.feature) for each in ranking.remarks]
    code = next(each for each in told if each["feature"] == "code")
    assert (code["codes"], code["notation"], code["caution"]) == (["99"], "taken_as_missing", True)
    assert (
        code["text"] == "taken as missing: code: '99' (discretize={'code': 'categories'} takes the values as they are)"
    )
    verbose = Shown(verbose=True)
    printed, notebook = " ".join(text_of(ranking.sections(verbose), verbose).split()), ranking._repr_html_()
    lines = ranking.remark_lines()
    assert len(lines) == len({each.kind for each in ranking.remarks})  # each kind in one place
    for line in lines:
        assert line in printed
        assert line.replace("'", "&#x27;") in notebook or line.startswith("numbers were ")
    rows = zip(
        *([name, *map(str, values)] for name, values in TABLE.items() if name not in {"lists", "empty"}), strict=True
    )
    (tmp_path / "data.csv").write_text("".join(",".join(row) + "\n" for row in rows).replace("None", ""))
    options = ["rank", str(tmp_path / "data.csv"), "--target", "class", "--discretize", "cut=mdl"]
    assert main([*options, "--format", "json"]) == 0
    assert {(each["kind"], each["feature"]) for each in json.loads(capsys.readouterr().out)["remarks"]} == {
        (each["kind"], each["feature"]) for each in told
    }


def test_each_reader_is_told_in_words_of_their_own() -> None:
    ranking = credimi.rank(TABLE, "class", discretize={"cut": "mdl"})
    for reader, strange in zip(READERS, ("--", "=["), strict=True):
        worded, shown = ranking.to_dict(reader=reader), Shown(reader)
        notes, texts = [each["note"] for each in worded["features"]], [each["text"] for each in worded["remarks"]]
        assert not [text for text in (*notes, *texts, *ranking.remark_lines(reader=reader)) if strange in text]
        assert strange not in text_of(ranking.sections(shown), shown)
    assert ranking["id"]["note"].endswith("(discretize={'id': 'categories'} ranks it)")
    assert "(--discretize id=categories ranks it)" in str(ranking.notes(sentences.COMMAND_LINE))


def test_what_may_mean_missing_is_remarked_also_where_missing_is_a_value() -> None:
    table = {"x": [("a", "b", "n.a.", None)[row % 4] for row in range(200)], "y": list("pq") * 100}
    for missing in ("ignore", "category"):
        (remark,) = (
            each for each in credimi.rank(table, "y", missing_as=missing).remarks if each.caution and each.codes
        )
        told = {"notation": SuspicionKind.MISSING_TEXTS, "codes": ("n.a.",), "stake": remark.stake}
        assert remark == Remark(RemarkKind.MAY_MEAN_MISSING, "x", **told)


@pytest.mark.parametrize("reader", READERS)
def test_every_fact_has_words(reader: str) -> None:
    facts = {
        "feature": "x",
        "distinct": 5,
        "at_least": False,
        "rows": 9,
        "numbers": False,
        "value": "v",
        "fault": "values of type list",
        "cuts": ["1", "2"],
        "missing_is_value": False,
    }
    of_columns = [kind for kind in SuspicionKind if kind not in {SuspicionKind.MEASUREMENT, SuspicionKind.ROW_NAMES}]
    for kind, cut_by, suspicion in product(FeatureKind, CutBy, of_columns):
        each = facts | {"kind": kind.value, "cut_by": cut_by.value}
        read_as = ["money", "$9", "9"] if suspicion == SuspicionKind.READ_AS else ["9"]
        each["suspicions"] = [{"kind": suspicion.value, "values": read_as}]
        for words in (sentences.note, sentences.why_left_out):
            assert words(each, reader)
        assert sentences.short_note(each, 3, reader)
    notation = {"readable_text": "dates", "other_notation": "percent_signs"}
    worded = set()
    for kind in RemarkKind:
        numbers = {"values": 5, "rows": 60, "rows_each": 2.5, "nats": 0.1, "mi": 0.2, "mi_with_target": 0.3}
        numbers |= {"least_rows": 20, "most_rows": 90, "share": 0.6}
        fields = Remark(kind, "x", "y", codes=("date", "9", "9"), other="z", factor=1.2, **numbers).to_dict()
        fields["notation"] = notation.get(kind, "missing_numbers")
        worded |= {remark_sentences.remark([fields] * count, reader) for count in (1, 2, 5)}
    assert len(worded) > 2 * len(RemarkKind)


def test_words_are_plain_data_in_text_out() -> None:
    """The modules that word know no mathematics, and nothing of columns."""
    source = Path(sentences.__file__).read_text("utf-8") + Path(remark_sentences.__file__).read_text("utf-8")
    imported = re.findall(r"^\s*from (credimi\S*) import|^\s*import (credimi\S*)", source, re.MULTILINE)
    assert set(imported) == {("credimi.core.command", ""), ("credimi.results.sentences", "")}


@pytest.mark.parametrize(
    ("directions", "said"),
    [
        ((), "no two columns hang together as far as these rows tell"),
        (("--", "--"), "no edge has a direction; --: the direction cannot be told"),
        (("->", "--"), "1 of 2 edges has no direction; ->: a direction that follows from what is independent "),
        (("->", "<-"), "all edges have a direction; ->: a direction that follows from what is independent of what, "),
    ],
)
def test_arrows_are_explained_where_there_are_any(directions: tuple[str, ...], said: str) -> None:
    line = direction_line(directions)
    assert line.startswith(said)
    assert ("cannot be told" in line) == ("--" in directions)
