"""Options of the command line as notes and errors show them: ready to paste into a shell."""

from __future__ import annotations

import re
import shlex

_NUMBER = re.compile(r"-(\d+|\d*\.\d+)")  # what argparse does not read as an option


def option(name: str, value: str) -> str:
    """An option and its value: quoted, and not mistaken for another option."""
    apart = "=" if value.startswith("-") and not _NUMBER.fullmatch(value) else " "
    return f"{name}{apart}{shlex.quote(value)}"
