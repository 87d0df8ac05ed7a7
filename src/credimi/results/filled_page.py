"""The page: one HTML file that asks nothing of the network, filled with a ranking's plain data.

Whatever comes from the user's data travels inside one block of JSON, in which <, > and & are written as escapes, so
that no name can end the block; the page's script puts it on the screen as text, never as markup.
"""

from __future__ import annotations

import json
from importlib.resources import files
from typing import TYPE_CHECKING

from credimi.core.atomic_files import write_bytes

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from credimi.core.types import Record

_SCRIPTS = ("tails.js", "decisions.js", "robust.js", "drawing.js", "detail.js", "list.js", "address.js", "page.js")
_ESCAPES = {ord(each): f"\\u{ord(each):04x}" for each in "<>&"}


def page(data: Record) -> str:
    """The HTML of a ranking's plain data."""
    return filled("page.html", ("page.css",), _SCRIPTS, data)


def filled(template: str, styles: Sequence[str], scripts: Sequence[str], data: Record) -> str:
    """A template (one of the assets), filled with styles, scripts and plain data."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False).translate(_ESCAPES)
    parts = {
        "/* style */": "".join(map(_asset, styles)),
        "/* script */": "(() => {\n" + "".join(map(_asset, scripts)) + "})();\n",
        "null/* data */": text,
    }
    html = _asset(template)
    for placeholder, content in parts.items():
        before, _, after = html.partition(placeholder)
        html = before + content + after
    return html


def write_page(data: Record, path: str | Path) -> None:
    """Write the page to a file, which is complete or absent."""
    write_bytes(page(data).encode(errors="backslashreplace"), path)


def _asset(name: str) -> str:
    return files("credimi.results.assets").joinpath(name).read_text(encoding="utf-8")
