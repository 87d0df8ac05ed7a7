"""Fixtures of several files of tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from credimi.cli import main

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Run `credimi count` into all.counts; what it says, and a refusal with its exit code."""

    def run(*arguments: str, code: int = 0) -> str:
        capsys.readouterr()
        assert main(["count", *arguments, "--target", "y", "--into", "all.counts"]) == code
        return capsys.readouterr().err

    return run
