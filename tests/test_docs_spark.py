"""What the page on Spark shows: its script and its command run, and print what the page says."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from test_docs import ROOT, blocks_of, plain, session_of

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [
    pytest.mark.spark,
    pytest.mark.skipif(
        importlib.util.find_spec("pyspark") is None, reason="pyspark is not installed: pip install 'credimi[spark]'"
    ),
    pytest.mark.skipif(
        shutil.which("java") is None and "JAVA_HOME" not in os.environ, reason="Spark needs Java, and there is none"
    ),
]
PAGE = "docs/how-to/spark.md"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    return tmp_path


def printed(command: list[str], folder: Path) -> str:
    """Standard output alone: Spark talks on the other."""
    path = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    settings = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    settings |= {"PYTHONPATH": path, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    answer = subprocess.run(
        command, cwd=folder, env=settings, capture_output=True, encoding="utf-8", check=False, timeout=300
    )
    assert answer.returncode == 0, answer.stderr[-3000:]
    return plain(answer.stdout)


def test_the_script(folder: Path) -> None:
    block = next(block for block in blocks_of(PAGE) if block.kind == "python")
    assert block.output is not None
    (folder / "script.py").write_text(block.text, encoding="utf-8")
    assert printed([sys.executable, "script.py"], folder) == plain(block.output)
    assert (folder / "clinic.counts").is_file()


def test_the_command(folder: Path) -> None:
    (block,) = [block for block in blocks_of(PAGE) if block.kind == "console"]
    ((command, shown),) = session_of(block)
    program, *arguments = command.replace('"', "").split()
    assert program == "credimi"
    assert printed([sys.executable, "-m", "credimi.cli", *arguments], folder) == plain(shown)
