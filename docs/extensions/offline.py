"""A page that would load something from elsewhere is a warning, and so fails the build."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sphinx.util import logging

if TYPE_CHECKING:
    from sphinx.application import Sphinx

LOADED = re.compile(r"<(?:script|img|iframe|source|link)\b[^>]*?\b(?:src|href)=\"((?:https?:)?//[^\"]+)\"")
IMPORTED = re.compile(r"(?:@import\s+|url\()[\"']?((?:https?:)?//[^\"')\s]+)")


def check(app: Sphinx, failed: Exception | None) -> None:
    """Look at every page and style sheet."""
    if failed is not None:
        return
    for pattern, ending in ((LOADED, "html"), (IMPORTED, "css")):
        for path in Path(app.outdir).rglob(f"*.{ending}"):
            for address in pattern.findall(path.read_text(encoding="utf-8")):
                logging.getLogger(__name__).warning("%s loads %s", path.name, address)


def setup(app: Sphinx) -> dict[str, Any]:
    """Look once all is written."""
    app.connect("build-finished", check)
    return {"parallel_read_safe": True}
