"""Helpers of several files of tests."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

import credimi
from credimi.cli import main
from credimi.results import export

if TYPE_CHECKING:
    import pytest

ROOT = Path(__file__).resolve().parents[1]

CLINIC = ROOT / "examples" / "clinic.csv"

COMMAND = [sys.executable, "-m", "credimi.cli"]

AS_ROOT = not hasattr(os, "geteuid") or os.geteuid() == 0

Answer = tuple[int, str, str]

Call = Callable[..., Answer]

Refusal = Callable[..., str]

Report = Callable[..., dict[str, Any]]


def answer(capsys: pytest.CaptureFixture[str], *arguments: object) -> Answer:
    """What the command says inside this process: exit code, standard output, standard error."""
    try:
        code = main([str(argument) for argument in arguments])
    except SystemExit as stop:  # argparse leaves this way
        code = int(stop.code or 0)
    return code, *capsys.readouterr()


def base(rows: int = 60, delimiter: str = ",", end: str = "\n") -> str:
    """A target y, a column a that tells of it and a column b that hardly does."""
    lines = [("y", "a", "b")]
    lines += [("yn"[i % 2], "pq"[i % 2 if i % 3 else i // 2 % 2], str(i % 5)) for i in range(rows)]
    return "".join(delimiter.join(line) + end for line in lines)


def contents() -> dict[str, bytes]:
    """All files here, hidden ones included."""
    return {
        str(path): path.read_bytes() if os.access(path, os.R_OK) else b""
        for path in Path().rglob("*")
        if path.is_file()
    }


def write(name: str, content: str | bytes) -> str:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return name


def write_parquet(name: str, columns: dict[str, Any]) -> str:
    pq.write_table(pa.table(columns), name)
    return name


def columns(*names: str, rows: list[tuple[object, ...]]) -> str:
    """CSV of a header and rows."""
    text = io.StringIO()
    export.csv_writer(text).writerows([names, *rows])
    return text.getvalue()


def by_name(answer: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {feature["feature"]: feature for feature in answer["features"]}


def process(*arguments: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """The command as a process of its own."""
    return subprocess.run(
        [*COMMAND, *arguments], capture_output=True, timeout=120, check=False, env=buffered_environment() | environment
    )


def buffered_environment() -> dict[str, str]:
    """Our own environment, with standard output buffered as users have it, and with this credimi."""
    inherited = {name: value for name, value in os.environ.items() if name not in {"PYTHONUNBUFFERED", "COLUMNS"}}
    return inherited | {"PYTHONPATH": str(Path(credimi.__file__).resolve().parent.parent)}
