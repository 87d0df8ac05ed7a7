"""No command writes over what it reads: refused before any work, whatever names the file was given."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from credimi.cli import main

ROWS = "y,x,z\n" + "p,1,a\nq,2,b\np,1,b\nq,2,a\n" * 10


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("data").mkdir()
    for name in ("p1.csv", "p5.csv", "data/in1.csv", "data/in2.csv", "p[7].csv"):
        Path(name).write_text(ROWS)
    os.link("p1.csv", "linked.csv")
    Path("soft.csv").symlink_to("p1.csv")


HERE = "file://{here}"
CASES = [  # what is read, and what would be written over
    (["p1.csv"], "p1.csv"),
    (["p1.csv"], "{here}/data/../p1.csv"),
    (["p1.csv"], "linked.csv"),
    (["p1.csv"], "soft.csv"),
    (["soft.csv"], "p1.csv"),
    (["p?.csv"], "p5.csv"),
    (["{here}/p*.csv"], "p[7].csv"),
    (["data"], "data/in1.csv"),
    (["p1.csv", "data"], "data/in2.csv"),
    ([f"{HERE}/p1.csv"], "p1.csv"),
    ([f"{HERE}/p*.csv"], "p5.csv"),
    ([f"{HERE}/data"], "{here}/data/in1.csv"),
    ([f"{HERE}/p1.csv"], "linked.csv"),
]
OUTPUTS = [
    ("rank", "--output"),
    ("rank", "--html"),
    ("select", "--output"),
    ("count", "--into"),
    ("prequential", "--output"),
    ("interactions", "--output"),
    ("interactions", "--html"),
    ("pairs", "--output"),
    ("pairs", "--html"),
    ("pairs", "--into"),
    ("network", "--output"),
    ("network", "--html"),
    ("tree", "--output"),
    ("tree", "--html"),
]


@pytest.mark.parametrize(("command", "option"), OUTPUTS, ids=" ".join)
def test_an_input_is_never_written(command: str, option: str, capsys: pytest.CaptureFixture[str]) -> None:
    before = {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}
    for data, output in CASES:
        named = [each.format(here=Path.cwd()) for each in data]
        if command == "select" and (len(named) > 1 or "*" in named[0] or "?" in named[0] or named[0].endswith("data")):
            continue  # it takes one file
        written = output.format(here=Path.cwd())
        target = [] if command in ("pairs", "network") else ["--target", "y"]
        assert main([command, *named, *target, option, written]) == 2, (data, output)
        said = capsys.readouterr()
        assert said.out == ""
        assert f"{written} is the input: name another file" in said.err, (data, output)
        assert {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()} == before
    assert not list(Path().rglob(".*"))


def test_a_picture_is_not_drawn_over_an_input(capsys: pytest.CaptureFixture[str]) -> None:
    """A table may have any name, if it is named."""
    Path("table.svg").write_text(ROWS)
    for data in (["table.svg"], ["t*.svg"], [f"file://{Path.cwd()}/table.svg"]):
        assert main(["rank", *data, "--target", "y", "--plot", "table.svg"]) == 2
        assert "table.svg is the input: name another file" in capsys.readouterr().err
        assert Path("table.svg").read_text() == ROWS


def test_counts_are_not_written_over(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["count", "p1.csv", "--target", "y", "--into", "a.counts"]) == 0
    before = Path("a.counts").read_bytes()
    for option in ("--output", "--html"):
        assert main(["rank", "*.counts", option, "a.counts"]) == 2
        assert "a.counts is the input: name another file" in capsys.readouterr().err
    assert Path("a.counts").read_bytes() == before


def test_no_sample_of_a_comparison_is_written_over(capsys: pytest.CaptureFixture[str]) -> None:
    """Rankings as JSON are inputs as well, and a hard link to one of them is the same file."""
    assert main(["rank", "p1.csv", "--target", "y", "--format", "json", "--output", "a.json"]) == 0
    os.link("a.json", "linked.json")
    before = Path("a.json").read_bytes()
    for option in ("--output", "--html"):
        for samples, output in (
            (["a.json", "p5.csv"], "a.json"),
            (["p5.csv", "a.json"], "linked.json"),
            (["./a.json", "p5.csv"], f"{Path.cwd()}/a.json"),
            (["p5.csv", "p1.csv"], "linked.csv"),
            (["p5.csv", "data"], "data/in1.csv"),
        ):
            assert main(["compare", *samples, "--target", "y", option, output]) == 2
            assert f"{output} is the input: name another file" in capsys.readouterr().err
    assert Path("a.json").read_bytes() == Path("linked.json").read_bytes() == before
    assert Path("a.json").samefile("linked.json")


def test_a_table_is_not_written_over(capsys: pytest.CaptureFixture[str]) -> None:
    Path("table.txt").write_text("10 2; 3 15\n")
    os.link("table.txt", "linked.txt")
    for output in ("table.txt", "linked.txt"):
        assert main(["table", "table.txt", "--output", output]) == 2
        assert f"{output} is the input: name another file" in capsys.readouterr().err
    assert Path("table.txt").read_text() == "10 2; 3 15\n"
    assert main(["table", "10 2; 3 15", "--output", "table.txt"]) == 0  # which is not read


def test_other_files_are_written() -> None:
    assert main(["rank", "p?.csv", "--target", "y", "--html", "page.html", "--output", "ranking.txt"]) == 0
    assert main(["rank", "p?.csv", "--target", "y", "--html", "page.html", "--output", "ranking.txt"]) == 0
    assert Path("page.html").exists()
