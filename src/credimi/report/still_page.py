"""Pages without scripts, and with nothing from elsewhere: what all of them have around their content."""

from __future__ import annotations

from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING

from credimi.core.atomic_files import plain
from credimi.core.version import __version__

if TYPE_CHECKING:
    from collections.abc import Sequence

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"


def document(title: str, heading: str, styles: Sequence[str], body: str) -> str:
    """The HTML of a page; `styles` are names of assets, and all the rest is HTML already."""
    style = "".join(files("credimi.report.assets").joinpath(name).read_text(encoding="utf-8") for name in styles)
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="{_POLICY}">
<title>{title}</title>
<link rel="icon" href="data:,">
<style>
{style}</style>
</head>
<body>
<h1>{heading}</h1>
{body}
<footer>Made by credimi {__version__}; nothing on this page is sent or fetched.</footer>
</body>
</html>
"""


def text(words: object) -> str:
    """Text of the data for HTML: it holds no markup, and no control characters."""
    return escape(plain(str(words)), quote=True)
