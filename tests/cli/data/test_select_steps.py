"""`credimi select`: pages and pictures of the steps, and Ctrl-C."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Self

import pytest
from test_select_goal import DATA, answer

from credimi.cli import terminal_io

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def test_a_page_and_a_picture_are_written(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    page, picture = tmp_path / "steps.html", tmp_path / "steps.svg"
    code, out, _ = answer(capsys, "select", DATA, "--target", "diabetes", "--html", page, "--plot", picture)
    assert code == 0
    assert "says what bmi says" in out
    assert "says what bmi says" in page.read_text()
    assert picture.read_text().lstrip().startswith("<?xml")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--html", "-"], "needs a file of its own"),
        (["--plot", "steps.txt"], "is no picture"),
        (["--html", "same.csv", "--rule", "distinct", "--output", "same.csv"], "name the same file"),
        (["--html", "nowhere/page.html"], "there is no directory nowhere"),
    ],
)
def test_what_cannot_be_written_is_refused(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    code, _, err = answer(capsys, "select", DATA, "--target", "diabetes", *arguments)
    assert code == 2
    assert message in err
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def third_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """Press Ctrl-C while the third column is compared."""

    class Bar:
        def __enter__(self) -> Callable[..., None]:
            return self.told

        def __exit__(self, *_: object) -> None:
            pass

        def told(self, share: float, doing: str = "") -> None:
            assert 0.0 <= share <= 1.0
            if doing.startswith("what says the same as age"):
                raise KeyboardInterrupt

    monkeypatch.setattr(terminal_io, "progress", lambda _: Bar())


@pytest.mark.usefixtures("third_step")
def test_ctrl_c_prints_the_steps_so_far(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    output = tmp_path / "reduced.csv"
    arguments = ["--target", "diabetes", "--rule", "distinct"]
    code, out, _ = answer(capsys, "select", DATA, *arguments, "--format", "json")
    assert code == 130
    found = json.loads(out)
    assert found["features"] == ["glucose", "bmi", "age"]
    assert found["complete"] is False
    code, out, err = answer(capsys, "select", DATA, *arguments, "--output", output)
    assert code == 130
    assert "3 of 18 columns" in out
    assert f"interrupted: the steps so far are 3, and {output} is not written" in err
    assert not output.exists()


def test_the_bar_says_what_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Names come from the data: they are no markup."""
    shown: list[str] = []

    class Progress:
        def __init__(self, **_: object) -> None:
            pass

        def __enter__(self) -> Self:
            return self

        def __exit__(self, *_: object) -> None:
            pass

        def add_task(self, what: str, total: float) -> int:
            shown.append(what)
            return int(total)

        def update(self, _: int, completed: float, description: str) -> None:
            assert completed == 0.5
            shown.append(description)

    monkeypatch.setattr("rich.progress.Progress", Progress)
    monkeypatch.setattr(terminal_io, "_SECONDS_BEFORE_BAR", -1.0)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    with terminal_io.progress("reading") as told:
        told(0.5)
        told(0.5, "step 2: what adds to [bold]x\x1b[31m")
    assert shown[:2] == ["reading", "reading"]
    assert shown[2].startswith(r"step 2: what adds to \[bold]x")
    assert "\x1b" not in shown[2]
