"""Fixtures of several files of tests."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from command_helpers import CLINIC, Call, Refusal, Report, answer, contents

import credimi

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module", autouse=True)
def _compiled() -> None:
    """Compile before the first command, which would otherwise say on standard error that it does."""
    credimi.rank(str(CLINIC), "diabetes")
    credimi.rank({"y": ["a", "b"] * 10, "x": ["c", "d"] * 10}, "y")


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Names in these tests are short, and stand in a directory of their own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Call:
    """The command inside this process: exit code, standard output, standard error."""
    return partial(answer, capsys)


@pytest.fixture
def report(call: Call) -> Report:
    """What `credimi rank ... --format json` answers."""

    def run(*arguments: object) -> dict[str, Any]:
        code, out, err = call("rank", *arguments, "--format", "json")
        assert code == 0, err
        assert err == ""
        return json.loads(out)

    return run


@pytest.fixture
def refusal(call: Call) -> Refusal:
    """The one line that is said when the input is refused; no file has come, gone or changed."""

    def run(*arguments: object) -> str:
        before = contents()
        code, out, err = call(*arguments)
        assert code == 2, err
        assert out == ""
        assert err.startswith("credimi: ")
        assert err.endswith("\n")
        assert err.count("\n") == 1
        assert "Traceback" not in err
        assert contents() == before
        return err.removeprefix("credimi: ").rstrip("\n")

    return run
