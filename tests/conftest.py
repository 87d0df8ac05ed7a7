"""What all tests share."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from credimi.cli import main
from credimi.compile.hooks import hooks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


pytest_plugins = ["browser_fixtures"]


def _unlisted(kernel: str, types: str) -> None:
    pytest.fail(f"the kernel {kernel} is called with {types}, which compile/signatures.py does not list")


hooks.unlisted = _unlisted  # the list is what wheels have compiled, so it has to be complete


def pytest_configure(config: pytest.Config) -> None:
    """Compile all kernels once, side by side, before several processes would each compile the same ones."""
    if config.getoption("numprocesses", default=None) and not hasattr(config, "workerinput"):
        from credimi.compile import warm_up  # noqa: PLC0415
        from credimi.core.threads import cores  # noqa: PLC0415  (a single test that needs no kernel loads none)

        warm_up.compile_all(warm_up.tasks(), cores(), lambda _done, _all: None)


@pytest.fixture(autouse=True)
def _no_figure_stays_open() -> Iterator[None]:
    """matplotlib warns from the 21st on, whichever tests have drawn the others."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


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
