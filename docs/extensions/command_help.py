"""A directive that shows what a command says of itself: ```` ```{command-help} rank ````.

The real command is asked while the pages are built, so that they cannot say anything else.
"""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

if TYPE_CHECKING:
    from sphinx.application import Sphinx

WIDTH = "100"


class CommandHelp(SphinxDirective):
    """The output of `credimi [COMMAND] --help` as a block of text."""

    optional_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Ask the command."""
        call = [sys.executable, "-m", "credimi.cli", *self.arguments, "--help"]
        settings = os.environ | {"COLUMNS": WIDTH, "NO_COLOR": "1", "PYTHONIOENCODING": "utf-8"}
        answer = subprocess.run(call, env=settings, capture_output=True, encoding="utf-8", check=True)
        return [nodes.literal_block(answer.stdout, answer.stdout, language="text")]


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive."""
    app.add_directive("command-help", CommandHelp)
    return {"parallel_read_safe": True}
