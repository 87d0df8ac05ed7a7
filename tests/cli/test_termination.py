"""SIGTERM ends a command as an error does: nothing is left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such signal")
def test_standard_input_is_deleted(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "credimi.cli", "rank", "-", "--target", "y"]
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, env=environment) as process:
        assert process.stdin is not None
        process.stdin.write(b"x,y\n1,2\n")
        process.stdin.flush()
        end = time.monotonic() + 30
        while not list(tmp_path.glob("credimi-*/*")) and time.monotonic() < end:
            time.sleep(0.02)
        assert list(tmp_path.glob("credimi-*/*"))
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 143
    assert not list(tmp_path.iterdir())
