"""`credimi tree`: a tree as text, JSON and a page; bad input is refused in one line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from test_select_goal import answer

import credimi

DATA = Path(__file__).resolve().parents[3] / "examples" / "clinic.csv"


def test_the_tree_is_printed_with_reasons(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = answer(capsys, "tree", DATA, "--target", "diabetes", "--max-depth", 2)
    assert code == 0
    assert out.startswith("Tree for diabetes: 4 leaves, depth 2, 4,000 rows\nall (4,000): no 0.72; by glucose: tells")
    assert "|   |-- glucose > 6.51" in out
    assert "as deep as allowed" in out
    code, out, _ = answer(capsys, "tree", DATA, "--target", "diabetes", "--no-reasons", "--max-depth", 1)
    assert "; by" not in out


def test_json_has_all_nodes(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    output = tmp_path / "tree.json"
    code, out, _ = answer(
        capsys, "tree", DATA, "--target", "diabetes", "--format", "json", "--max-depth", 3, "--output", output
    )
    assert (code, out) == (0, "")
    found = json.loads(output.read_text(encoding="utf-8"))
    epsilon = pytest.approx(0.005 * 0.5962, rel=1e-4)  # of the entropy of the target
    assert found["settings"] == {"target": "diabetes", "epsilon": epsilon, "epsilon_share": "0.5%", "level": 0.5}
    assert sum(node["feature"] is None for node in found["nodes"]) == found["leaves"]
    root = found["nodes"][0]
    assert root["best"]["feature"] == root["feature"] == "glucose"
    assert [branch["name"] for branch in root["branches"]] == ["<= 5.715", "> 5.715"]
    assert all(sum(node["probabilities"]) == pytest.approx(1.0) for node in found["nodes"])


def test_columns_that_were_left_out_are_named(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    page = tmp_path / "tree.html"
    asked = "tree", DATA, "--target", "diabetes", "--max-depth", 1
    _, out, _ = answer(capsys, *asked, "--html", page)
    said = ["clinic: one value only: North", "patient: identifier: 4,000 different values in 4,000 rows"]
    assert all(line in out for line in said)
    assert "(--discretize patient=categories ranks it)" in out
    assert all(line in page.read_text(encoding="utf-8") for line in said)
    found = json.loads(answer(capsys, *asked, "--format", "json")[1])
    kinds = {each["feature"]: each["kind"] for each in found["left_out"]}
    assert kinds == {"clinic": "constant", "patient": "identifier"}


def test_the_page_is_written(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    page = tmp_path / "tree.html"
    code, _, _ = answer(capsys, "tree", DATA, "--target", "diabetes", "--max-depth", 2, "--html", page)
    assert code == 0
    html = page.read_text(encoding="utf-8")
    assert html.count("<details") == html.count("</details>") == 7
    assert "807 rows without a value went down all branches, weighted by <bdi>age, bmi and 3 more</bdi>." in html


@pytest.mark.parametrize(
    ("text", "arguments", "message"),
    [
        ("a,b\nx,1\ny,2\n", [], "name the target"),
        ("a,b\nx,1\ny,2\n", ["--target", "c"], "there is no column 'c'"),
        ("a,b\n", ["--target", "a"], "there are no rows"),
        ("", ["--target", "a"], "is empty"),
        ("a,b\nx,1\nx,2\n", ["--target", "a"], "one class only"),
        ("a,b\n,1\n,2\n", ["--target", "a"], "missing in all 2 rows"),
        ("a,b\nx,1\ny,2\n", ["--target", "a", "--level", "95"], "--level is 95"),
        ("a,b\nx,1\ny,2\n", ["--target", "a", "--max-depth", "0"], "--max-depth"),
        ("a,b\nx,1\ny,2\n", ["--target", "a", "--weights", "w"], "there is no column 'w'"),
        ("a,b\nx,1\ny,2\n", ["--target", "a", "--html", "-"], "needs a file of its own"),
        ("a,b\nx,1\ny,2\n", ["--target", "a", "--html", "x", "--output", "x"], "name the same file"),
    ],
)
def test_bad_input_is_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, text: str, arguments: list[str], message: str
) -> None:
    path = tmp_path / "data.csv"
    path.write_text(text, encoding="utf-8")
    code, out, err = answer(capsys, "tree", path, *arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert "Traceback" not in err


def test_counts_and_outputs_that_are_the_input_are_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    counts = tmp_path / "counts"
    credimi.count({"x": ["a", "b"], "y": ["p", "q"]}, "y").save(counts)
    code, _, err = answer(capsys, "tree", counts, "--target", "y")
    assert code == 2
    assert "holds counts, not rows" in err
    code, _, err = answer(capsys, "tree", DATA, "--target", "diabetes", "--html", DATA)
    assert code == 2
    assert "is the input" in err


def test_messy_tables_give_a_tree(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "messy.csv"
    lines = ["id,größe,mixed,empty,one,y"]
    for row in range(200):
        y = "ja" if row % 2 else "nein"
        size = f"{row % 7 + (4 if row % 2 else 0)},5" if row % 11 else ""
        lines.append(f'p{row},"{size}",{"x" if row % 5 else row},,k,{y if row % 13 else ""}')
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    code, out, _ = answer(capsys, "tree", path, "--target", "y")
    assert code == 0
    assert "größe" in out
    assert "by id" not in out


def test_the_tree_is_drawn(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    picture = tmp_path / "tree.svg"
    code, _, err = answer(capsys, "tree", DATA, "--target", "diabetes", "--max-depth", 2, "--plot", picture)
    assert (code, err) == (0, "")
    assert "glucose" in picture.read_text()
    code, _, err = answer(capsys, "tree", DATA, "--target", "diabetes", "--plot", tmp_path / "tree.txt")
    assert code == 2
    assert "is no picture" in err
