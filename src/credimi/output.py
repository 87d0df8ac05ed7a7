"""Results on their way out: to standard output, or to a file that is written whole or not at all."""

from __future__ import annotations

import os
import stat
import sys
import tempfile
from pathlib import Path

from credimi.errors import CredimiError


def write(text: str, path: str | None) -> None:
    """To standard output, or to a file: whole or not at all."""
    if path is None or path == "-":
        _print(text)
        return
    try:
        if Path(path).exists() and not Path(path).is_file():  # a device or a pipe takes the text, and stays what it is
            Path(path).write_text(text, encoding="utf-8")
        else:
            _replace(Path(path).resolve(), text)
    except OSError as error:
        raise CredimiError(f"{path or '--output'} cannot be written: {error.strerror or error}") from None


def _print(text: str) -> None:
    if sys.stdout is None:
        raise CredimiError("standard output is closed: name a file with --output")
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or Python would try again at exit
        if not isinstance(error, BrokenPipeError):  # a reader that left (`| head`) is no fault
            raise CredimiError(f"standard output cannot be written: {error.strerror or error}") from None


def _replace(target: Path, text: str) -> None:
    """Write a temporary file beside the target and give it the target's name."""
    with tempfile.NamedTemporaryFile(
        "w", encoding="utf-8", dir=target.parent, prefix=f".{target.name}.", delete=False
    ) as file:
        temporary = Path(file.name)
        try:
            file.write(text)
            file.close()
            temporary.chmod(_mode(target))  # a temporary file is private; the result should be like any other file
            temporary.replace(target)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise


def _mode(target: Path) -> int:
    """The permissions that the file has, or would have if it were opened for writing."""
    if target.exists():
        return stat.S_IMODE(target.stat().st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
