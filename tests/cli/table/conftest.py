"""Fixtures of several files of tests."""

from __future__ import annotations

import io
import json
import sys
from typing import TYPE_CHECKING

import pytest
from command_helpers import answer
from table_helpers import Answer, Call, expected

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture(scope="module", autouse=True)
def _compiled() -> None:
    """Compile before the first command, which would otherwise say on standard error that it does."""
    expected()
    expected(target_only=[4, 1], feature_only=[0, 2])


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Call:
    """The command inside this process: exit code, standard output, standard error."""
    monkeypatch.delenv("COLUMNS", raising=False)

    def run(*arguments: object, stdin: bytes = b"") -> Answer:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8"))
        return answer(capsys, *arguments)

    return run


@pytest.fixture
def report(call: Call) -> Callable[..., dict[str, object]]:
    """What `credimi table ... --format json` answers."""

    def run(*arguments: object, stdin: bytes = b"") -> dict[str, object]:
        code, out, err = call("table", *arguments, "--format", "json", stdin=stdin)
        assert code == 0, err
        return json.loads(out)

    return run


@pytest.fixture
def refusal(call: Call) -> Callable[..., str]:
    """The one line that is said when the input is refused."""

    def run(*arguments: object, stdin: bytes = b"") -> str:
        code, out, err = call("table", *arguments, stdin=stdin)
        assert code == 2
        assert out == ""
        assert err.startswith("credimi: ")
        assert err.endswith("\n")
        assert err.count("\n") == 1
        assert "Traceback" not in err
        return err.removeprefix("credimi: ").rstrip("\n")

    return run
