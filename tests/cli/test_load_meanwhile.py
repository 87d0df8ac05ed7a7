"""What is loaded while data are counted."""

from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING

from credimi.cli import startup

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def loaded(module: str) -> None:
    before = set(threading.enumerate())
    startup.load_meanwhile(module)
    for thread in set(threading.enumerate()) - before:
        thread.join()


def test_a_module_is_loaded_on_another_thread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    tmp_path.joinpath("loaded_meanwhile.py").write_text("import threading\nthread = threading.current_thread()\n")
    loaded("loaded_meanwhile")
    assert sys.modules.pop("loaded_meanwhile").thread is not threading.current_thread()


def test_what_cannot_be_loaded_is_not_told_before_it_is_needed(capfd: pytest.CaptureFixture[str]) -> None:
    loaded("there_is_no_such_module")
    assert capfd.readouterr().err == ""
