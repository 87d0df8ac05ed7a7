"""Colours for a session in a shell: lines that start with "$ " are commands, all others are what they print.

Pygments takes a line that starts with # for a prompt, too, and a ranking's first line does.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from pygments.lexers.shell import BashSessionLexer

if TYPE_CHECKING:
    from sphinx.application import Sphinx


class Session(BashSessionLexer):
    """A shell whose one prompt is the dollar."""

    name = "session"
    _ps1rgx = re.compile(r"^(\$ )(.*\n?)")


def setup(app: Sphinx) -> dict[str, Any]:
    """Use it for blocks of the kind console."""
    app.add_lexer("console", Session)
    return {"parallel_read_safe": True}
