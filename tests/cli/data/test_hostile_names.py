r"""Names and values that attack a spreadsheet, a browser, a terminal or matplotlib: in every output they are texts."""

from __future__ import annotations

import csv
import io
import json
import re
import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING

import pytest

import credimi
from credimi.cli import main
from credimi.questions.interactions.view import _short
from credimi.results.export import defused, defused_json

if TYPE_CHECKING:
    from pathlib import Path

HOSTILE = [
    "=cmd|' /C calc'!A0",
    "<script>alert(1)</script>",
    "$x^$",
    "\x1b[31mred",
    "]]>",
    "-2+3",
    "@SUM(1)",
    "a\tb",
    "$",
]
FORMULA = re.compile(r"\s*[=+\-@\t\r]")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Hostile names; the values of the first are hostile, too. Each column tells the target."""
    path = tmp_path / "hostile.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow([*HOSTILE, "number", "y"])
        for row in range(400):
            bit = (row // 2 + (row % 7 == 0)) % 2
            cells = [
                "=1+1" if bit else "+A1",
                *(f"v{(bit + (row % (n + 3) == 0)) % 2}" for n in range(1, len(HOSTILE))),
            ]
            writer.writerow([*cells, f"-{1 + bit}.5", "@yes" if row // 2 % 2 else "no"])
    return path


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main([*arguments]) == 0, capsys.readouterr().err
    return capsys.readouterr().out


def test_cells_are_defused_and_numbers_stay() -> None:
    numbers = ["-1.5", "+3", "-1e-5", "-inf", ".5", "-.5", "", -1.5, None]
    assert defused(numbers) == numbers
    assert defused(["=1", "+A1", "-2+3", "@x", "\tx", "\rx", " =1", "\uff1d1", "a=b", "\x1b[31m", "'=1", "-"]) == [
        *(
            "'=1",
            "'+A1",
            "'-2+3",
            "'@x",
            "'\\tx",
            "'\\rx",
            "' =1",
            "'\\uff1d1"[:1] + "\uff1d1",
            "a=b",
            "\\x1b[31m",
            "'=1",
            "'-",
        )
    ]


def test_remarks_above_the_lines_are_json_in_one_cell_for_each_setting() -> None:
    value = {"names": ["x,=1+1", 'a";=2'], "level": 0.95}
    text = defused_json(value)
    assert json.loads(text) == value
    assert not any(FORMULA.match(cell.strip('"')) for cell in re.split("[,;]", text))


@pytest.mark.parametrize(
    "command",
    [
        ["rank", "--target", "y"],
        ["interactions", "--target", "y", "--top", "3"],
        ["pairs"],
        ["pairs", "--forest"],
        ["network", "--imputations", "1"],
    ],
    ids=" ".join,
)
def test_no_cell_of_safe_csv_is_a_formula(command: list[str], path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name, *options = command
    asked = [name, str(path), *options, "--format", "csv"]
    assert "\x1b" in run(capsys, *asked) or name == "interactions"
    text = run(capsys, *asked, "--csv-safe")
    assert "\x1b" not in text
    cells = [cell for row in csv.reader(io.StringIO(text)) for cell in row]
    is_number = re.compile(r"[+-]?[\d.]+(e[+-]?\d+)?|-inf", re.IGNORECASE)
    assert [cell for cell in cells if FORMULA.match(cell) and not is_number.fullmatch(cell)] == []
    assert any(cell.startswith("'=cmd") for cell in cells) or name == "interactions"


def test_a_reduced_file_is_defused_on_request_only(path: Path, tmp_path: Path) -> None:
    plain, safe = tmp_path / "plain.csv", tmp_path / "safe.csv"
    asked = ["select", str(path), "--target", "y", "--rule", "forward", "--output"]
    assert main([*asked, str(plain)]) == 0
    assert main([*asked, str(safe), "--csv-safe"]) == 0
    with plain.open(newline="", encoding="utf-8") as first, safe.open(newline="", encoding="utf-8") as second:
        before, after = list(csv.reader(first)), list(csv.reader(second))
    assert before[0][0] == HOSTILE[0]
    assert after == [defused(row) for row in before]
    assert {row[-2][0] for row in after[1:]} == {"-"}  # numbers
    assert {row[0] for row in after[1:]} == {"'=1+1", "'+A1"}


@pytest.mark.parametrize("command", ["rank", "select"])
def test_safe_needs_csv(command: str, path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, str(path), "--target", "y", "--csv-safe"]) == 2
    assert "--csv-safe is for CSV" in capsys.readouterr().err


def test_json_and_pages_are_safe(path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = run(capsys, "rank", str(path), "--target", "y", "--format", "json")
    assert "\x1b" not in text
    assert set(HOSTILE) <= {row["feature"] for row in json.loads(text)["features"]}
    for number, result in enumerate((credimi.rank(path, "y"), credimi.select(path, "y"), credimi.pairs(path))):
        page = tmp_path / f"{number}.html"
        result.to_html(page)
        assert "<script>alert" not in page.read_text(encoding="utf-8")
        assert "\x1b" not in page.read_text(encoding="utf-8")


@pytest.mark.parametrize("kind", ["svg", "png"])
def test_figures_draw_names_as_they_are(path: Path, tmp_path: Path, kind: str) -> None:
    """A dollar begins no formula, and a formula that is wrong is no error."""
    pytest.importorskip("matplotlib").rcParams["svg.fonttype"] = "path"
    ranking = credimi.rank(path, "y", robust_factor=2)
    figures = [ranking, credimi.select(path, "y", min_features=5), credimi.network(path, imputations=1)]
    for number, result in enumerate(figures):
        picture = tmp_path / f"{number}.{kind}"
        result.plot(picture)
        if kind == "svg":
            root = ET.parse(picture).getroot()  # noqa: S314  (we wrote it)
            assert not [node for node in root.iter() if node.tag.endswith("script")]
            assert number == 2 or "<!-- $x^$ -->" in picture.read_text(encoding="utf-8")  # drawn as it is


def test_a_tree_draws_classes_as_they_are(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib").rcParams["svg.fonttype"] = "path"
    table = tmp_path / "table.csv"
    table.write_text("$x^{$,y\n" + "$a^$,$p^$\n]]>,<script>\n" * 60)
    picture = tmp_path / "tree.svg"
    assert main(["tree", str(table), "--target", "y", "--plot", str(picture)]) == 0
    assert "$p^$" in picture.read_text(encoding="utf-8")
    ET.parse(picture)  # noqa: S314  (we wrote it)


def test_a_shortened_value_is_cut_before_dollars_are_escaped() -> None:
    assert _short("$" * 80) == r"\$" * (_short("x" * 80).index("…")) + "…"
