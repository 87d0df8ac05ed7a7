"""Results on their way out: to standard output, or to a file that is written whole or not at all."""

from __future__ import annotations

import os
import stat
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from credimi.errors import CredimiError

if TYPE_CHECKING:
    from collections.abc import Iterator


def plain(text: str) -> str:
    """Text of the data or of the caller for a terminal: on one line, with nothing in it that steers the terminal.

    Controls, line ends, characters that turn the direction of writing, and bytes that are no text are shown by their
    codes.
    """
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)


def write(text: str, path: str | None, *, laid_out: bool = False) -> None:
    """To standard output, or to a file: whole or not at all.

    On a terminal data are made plain, line by line, unless they were when they were `laid_out`, with colours.
    """
    if path is None or path == "-":
        if not laid_out and sys.stdout is not None and sys.stdout.isatty():
            text = "\n".join(map(plain, text.split("\n")))
        _print(text)
    else:
        write_bytes(text.encode(), path)


def write_bytes(content: bytes, path: str | Path) -> None:
    """To a file, whole or not at all."""
    with replacing(path) as temporary:
        temporary.write_bytes(content)


@contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """A temporary file beside the target, which gets the target's name once all went well; else nothing is left."""
    try:
        if Path(path).exists() and not Path(path).is_file():  # a device or a pipe takes the text, and stays what it is
            yield Path(path)
            return
        target = Path(path).resolve()
        with tempfile.NamedTemporaryFile(dir=target.parent, prefix=f".{target.name}.", delete=False) as file:
            temporary = Path(file.name)
        try:
            yield temporary
            temporary.chmod(_mode(target))  # a temporary file is private; the result should be like any other file
            temporary.replace(target)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
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


def _mode(target: Path) -> int:
    """The permissions that the file has, or would have if it were opened for writing."""
    if target.exists():
        return stat.S_IMODE(target.stat().st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
