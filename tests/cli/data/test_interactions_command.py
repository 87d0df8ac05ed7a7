"""`credimi interactions`: pairs of columns that tell more together than apart."""

from __future__ import annotations

import csv
import json
from typing import TYPE_CHECKING

import numpy as np
import pytest

import credimi
from credimi.cli import main

if TYPE_CHECKING:
    from pathlib import Path

HOSTILE = "<b>x</b> & \x1b[31m"


def answer(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    try:
        code = main([str(argument) for argument in arguments])
    except SystemExit as stop:
        code = int(stop.code or 0)
    return code, *capsys.readouterr()


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Smoking and a gene tell something together; size has a main effect, and its copy says the same."""
    generator = np.random.default_rng(1)
    rows = 1_200
    smoking, gene, size = generator.integers(0, 3, (3, rows))
    ill = np.where(generator.random(rows) < 0.5, (smoking == 0) ^ (gene == 0), generator.random(rows) < 0.5)
    size = np.where(generator.random(rows) < 0.3, 2 * ill, size)
    copy = np.where(generator.random(rows) < 0.95, size, 1)
    path = tmp_path_factory.mktemp("interactions") / "data.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "smoking", HOSTILE, "größe", "copy", "empty", "noise", "ill"])
        for row in range(rows):
            values = [f"r{row}", "abc"[smoking[row]], "xyz"[gene[row]], "klm"[size[row]], "klm"[copy[row]], ""]
            writer.writerow([*values, "uv"[generator.integers(0, 2)], ("no", "yes")[int(ill[row])]])
    return path


def test_codes_may_be_kept_in_a_folder(capsys: pytest.CaptureFixture[str], data: Path, tmp_path: Path) -> None:
    inside = answer(capsys, "interactions", data, "--target", "ill", "--format", "json")
    assert answer(capsys, "interactions", data, "--target", "ill", "--format", "json", "--scratch", tmp_path) == inside
    code, _, err = answer(capsys, "interactions", data, "--target", "ill", "--scratch", tmp_path / "none")
    assert code == 2
    assert "is no folder: name one that exists" in err


def test_pairs_are_printed(capsys: pytest.CaptureFixture[str], data: Path) -> None:
    code, out, err = answer(capsys, "interactions", data, "--target", "ill")
    assert (code, err) == (0, "")
    assert "Pairs that tell more about ill together than apart: 1" in out
    assert "Pairs that overlap in what they tell about ill: 1" in out
    assert "5 columns, 10 pairs, 1,200 rows" in out
    assert "\x1b" not in out
    assert max(map(len, out.splitlines())) <= 100


def test_json_and_csv_are_those_of_python(capsys: pytest.CaptureFixture[str], data: Path) -> None:
    expected = credimi.interactions(str(data), "ill", top=4)
    code, out, _ = answer(capsys, "interactions", data, "--target", "ill", "--top", 4, "--format", "json")
    assert code == 0
    assert json.loads(out) == json.loads(json.dumps(expected.to_dict()))
    code, out, _ = answer(capsys, "interactions", data, "--target", "ill", "--top", 4, "--format", "csv")
    settings = dict(line[2:].split(": ", 1) for line in out.splitlines() if line.startswith("# "))
    asked = {"epsilon": str(expected.settings["epsilon"]), "epsilon_share": '"0.5%"'}
    assert settings | {"target": '"ill"', "rows": "1200", "pairs_tried": "10"} | asked == settings
    lines = list(csv.DictReader(line for line in out.splitlines() if not line.startswith("# ")))
    assert [float(line["p_above"]) for line in lines] == [pair.p_above for pair in expected.pairs]


def test_columns_that_were_left_out_are_named(capsys: pytest.CaptureFixture[str], data: Path, tmp_path: Path) -> None:
    page = tmp_path / "pairs.html"
    _, out, _ = answer(capsys, "interactions", data, "--target", "ill", "--html", page)
    said = ["id: identifier: 1,200 different values in 1,200 rows", "empty: all values are missing"]
    assert all(line in out for line in said)
    assert "(--discretize id=categories ranks it)" in out
    assert all(line in page.read_text(encoding="utf-8") for line in said)
    found = json.loads(answer(capsys, "interactions", data, "--target", "ill", "--format", "json")[1])
    assert {each["feature"]: each["kind"] for each in found["left_out"]} == {"id": "identifier", "empty": "empty"}
    assert "discretize={'id': 'categories'}" in repr(credimi.interactions(str(data), "ill"))


def test_page_and_picture_are_written(capsys: pytest.CaptureFixture[str], data: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    page, picture, output = (tmp_path / name for name in ("pairs.html", "pairs.svg", "pairs.txt"))
    asked = "--html", page, "--plot", picture, "--output", output
    code, out, err = answer(capsys, "interactions", data, "--target", "ill", *asked)
    assert (code, out, err) == (0, "", "")
    html = page.read_text(encoding="utf-8")
    assert "&lt;b&gt;x&lt;/b&gt; &amp;" in html
    assert "<b>" not in html
    assert "<script" not in html
    assert html.count("<figure>") == 2
    assert picture.read_bytes().startswith(b"<?xml")
    assert "synergy" in output.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "name the target: --target COLUMN"),
        (("--target", "nobody"), "there is no column 'nobody'"),
        (("--target", "ill", "--features", "smoking"), "only one column, 'smoking',"),
        (("--target", "ill", "--features", "empty", "smoking"), "only one column, 'smoking',"),
        (("--target", "ill", "--plot", "x.gif"), "x.gif is no picture"),
        (("--target", "ill", "--level", "7"), "--level is 7"),
        (("--target", "ill", "--epsilon", "-1"), "--epsilon is -1"),
        (("--target", "id"), "target 'id' has at least 1,200 different values"),
    ],
)
def test_what_cannot_be_meant_is_refused(
    capsys: pytest.CaptureFixture[str], data: Path, arguments: tuple[str, ...], message: str
) -> None:
    code, out, err = answer(capsys, "interactions", data, *arguments)
    assert (code, out) == (2, "")
    assert message in err


def test_counts_and_tables_without_pairs_are_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    table = tmp_path / "two.csv"
    table.write_text("x,y\n" + "a,p\nb,q\n" * 30, encoding="utf-8")
    code, _, err = answer(capsys, "interactions", table, "--target", "y")
    assert code == 2
    assert "a pair needs two that have several values each" in err
    counts = tmp_path / "two.counts"
    assert answer(capsys, "count", table, "--target", "y", "--into", counts)[0] == 0
    code, _, err = answer(capsys, "interactions", counts, "--target", "y")
    assert code == 2
    assert "holds counts, not rows: name the data" in err


def test_nothing_found_is_an_answer(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    generator = np.random.default_rng(0)
    rows = "\n".join(",".join(generator.choice(["a", "b"], 3)) for _ in range(300))
    table, picture = tmp_path / "noise.csv", tmp_path / "noise.png"
    table.write_text("x,z,y\n" + rows + "\n", encoding="utf-8")
    code, out, err = answer(capsys, "interactions", table, "--target", "y", "--plot", picture)
    assert code == 0
    assert out.startswith("Pairs that tell more about y together than apart: 0\n2 columns, 1 pair, 300 rows")
    assert "there is no pair to draw" in err
    assert not picture.exists()
