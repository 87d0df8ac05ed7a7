"""The source keeps its own rules: few exceptions, each with its reason, and types that say something."""

from __future__ import annotations

import re
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1] / "src"
LINES = [
    (path.relative_to(SOURCE), line)
    for path in sorted(SOURCE.rglob("*.py"))
    for line in path.read_text(encoding="utf-8").splitlines()
]


def test_exceptions_to_the_linter_are_few_and_say_why() -> None:
    exceptions = [(path, line) for path, line in LINES if "# noqa" in line]
    assert len(exceptions) <= 150
    unexplained = [
        (path, line) for path, line in exceptions if not re.search(r"# noqa: [A-Z]+\d+(, [A-Z]+\d+)*  \(\w.*\)$", line)
    ]
    assert unexplained == []


def test_most_types_say_something() -> None:
    assert sum(bool(re.search(r"\bAny\b", line)) for _, line in LINES) <= 120
