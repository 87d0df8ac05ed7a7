"""Names and values that would steer a terminal: every command shows them by their codes."""

from __future__ import annotations

import io
import json
import sys
import warnings
from typing import TYPE_CHECKING

import pytest

from credimi.cli import main, terminal_io
from credimi.core.atomic_files import plain, write

if TYPE_CHECKING:
    from pathlib import Path

EVIL = "\x1b]0;owned\x07\x1b[31m\x9b2J\u202eevil\u2066\x85\x7f\r\u2028"  # title, colour, clear, order, line ends
STEERS = set(EVIL) - set("]0;owned[31m2Jevil")
CODES = r"\x1b]0;owned\x07\x1b[31m\x9b2J\u202eevil\u2066\x85\x7f\r\u2028"


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A table whose names, values and own name are evil."""
    monkeypatch.chdir(tmp_path)
    name = f"data{EVIL}.csv"
    rows = "".join(f'"{EVIL}\n{row % 2}",{row % 2},"{EVIL}",{row}.5,n{row}\n' for row in range(40))
    header = ",".join(f'"{each}{EVIL}\n"' for each in ("class", "tells", "constant", "number", "id"))
    (tmp_path / name).write_text(f"{header}\n{rows}", encoding="utf-8", newline="")
    return name


def lines_of(captured: pytest.CaptureFixture[str]) -> list[str]:
    """What was printed, of which nothing steers a terminal."""
    out, err = captured.readouterr()
    assert not STEERS & set(out + err)
    return (out + err).splitlines()


TARGET = f"class{EVIL}\n"


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (["rank"], f"What informs about class{CODES}"),
        (["rank", "--prior", "uniform"], f"constant{CODES}"),
        (["prequential", "--orders", "2", "--discretize", "quantile"], f"Naive Bayes on class{CODES}"),
        (["count", "--into", f"into{EVIL}"], f"into{CODES}: 40 rows"),
        (["select", "--output", f"into{EVIL}.csv"], f"into{CODES}.csv: "),
    ],
)
def test_commands_steer_no_terminal(
    data: str, command: list[str], said: str, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")  # enough for the lines that are looked for
    assert main([*command, data, "--target", TARGET]) == 0
    lines = lines_of(capfd)
    assert any(said in line for line in ["".join(lines), *lines])
    assert not any(line.startswith("owned") for line in lines)


@pytest.mark.parametrize(
    "command",
    [
        ["rank", f"gone{EVIL}\n.csv", "--target", "y"],
        ["rank", "DATA", "--target", f"other{EVIL}"],
        ["rank", "DATA", "--target", TARGET, "--output", f"no{EVIL}/file"],
        ["rank", "DATA", "--target", TARGET, "--format", EVIL],
        ["rank", "DATA", "--target", TARGET, f"--odd{EVIL}"],
        ["prequential", "DATA", "--target", TARGET, "--features", f"other{EVIL}"],
        ["select", "DATA", "--target", TARGET, "--output", f"{EVIL}.parquet"],
        ["count", "DATA", "--target", TARGET, "--into", f"no{EVIL}/file"],
        ["table", f"gone{EVIL}"],
        ["table", f"1 2; 3 {EVIL}"],
        ["reproduce", "--dataset", EVIL],
    ],
)
def test_errors_steer_no_terminal(data: str, command: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    arguments = [data if each == "DATA" else each for each in command]
    try:
        code: object = main(arguments)
    except SystemExit as end:  # argparse's own way out
        code = end.code
    assert code == 2
    (line,) = lines_of(capfd)
    assert line.startswith("credimi: ")


@pytest.mark.filterwarnings("default")
def test_warnings_steer_no_terminal(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    from credimi.cli import runner  # noqa: PLC0415

    monkeypatch.setattr(runner, "_run", lambda *_: warnings.warn(EVIL, stacklevel=2) or 0)
    assert runner.run(["table", "1 2; 3 4"]) == 0
    assert lines_of(capfd) == [f"credimi: warning: {CODES}"]


class Terminal(io.StringIO):
    """A terminal in memory."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("form", ["csv", "json", "table"])
@pytest.mark.parametrize("command", ["rank", "prequential --orders 2"])
def test_data_are_plain_on_a_terminal_and_whole_elsewhere(
    data: str, command: str, form: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    arguments = [*command.split(), data, "--target", TARGET, "--discretize", "quantile", "--format", form]
    shown = Terminal()
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("TERM", "dumb")
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", shown)
        assert main(arguments) == 0
    assert not STEERS & set(shown.getvalue())
    assert main([*arguments, "--output", "found"]) == 0
    found = (tmp_path / "found").read_text(encoding="utf-8")
    if form == "json":
        assert json.loads(found)["settings"]["target"] == TARGET
    elif form == "csv":
        assert "\x9b" in found


def test_plain() -> None:
    assert plain("Größe, 年 (a)") == "Größe, 年 (a)"
    assert plain(f"a{EVIL}b\tc\nd") == rf"a{CODES}b\tc\nd"
    assert plain("\udcff") == r"\udcff"


def test_lines_of_data_stay_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = Terminal()
    monkeypatch.setattr(sys, "stdout", shown)
    write("a\n\x1bb\n", None)
    assert shown.getvalue() == "a\n\\x1bb\n"


def test_a_message_is_not_of_any_length(capfd: pytest.CaptureFixture[str]) -> None:
    terminal_io.say("begin" + "x" * 1_000_000 + "end")
    said = capfd.readouterr().err
    assert len(said) < 5_000
    assert said.startswith("credimi: beginx")
    assert said.endswith("xend\n")
