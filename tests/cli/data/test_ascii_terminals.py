"""Names that the terminal cannot show are escaped, in all formats of all commands."""

from __future__ import annotations

import io
import sys

import pytest
from command_helpers import write

from credimi.cli import main

TABLE = "größe,länge,weiß\n" + "".join(f"{'pq'[i % 2]},{'uv'[i % 2 if i % 7 else 0]},{i // 2 % 3}\n" for i in range(60))
FORMATS = {
    "rank": ("csv", "json", "table"),
    "interactions": ("csv", "json", "table"),
    "pairs": ("csv", "json", "table"),
    "network": ("csv", "json", "table", "dot"),
    "tree": ("json", "text"),
}


@pytest.mark.parametrize(("command", "form"), [(name, form) for name, forms in FORMATS.items() for form in forms])
def test_an_ascii_terminal_gets_ascii(command: str, form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    write("data.csv", TABLE)
    target = [] if command in ("pairs", "network") else ["--target", "größe"]
    asked = ["--top", "1"] if command == "interactions" else []
    screen = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", screen)
    assert main([command, "data.csv", *target, *asked, "--format", form]) == 0
    screen.flush()
    assert screen.buffer.getvalue()
