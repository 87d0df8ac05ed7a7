"""Results on their way out: to standard output, or to a file that is written whole or not at all."""

from __future__ import annotations

import os
import secrets
import stat
import sys
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from credimi.errors import CredimiError

if TYPE_CHECKING:
    from collections.abc import Iterator


_LONGEST = 50  # characters of a name that its temporary file has, too: 200 bytes, of 255 that names may have


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
    text = text.encode(errors="backslashreplace").decode()  # names of files may hold bytes that are no text
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
        temporary = _created(target)
        try:
            yield temporary
            _sync(temporary)  # or a crash could leave the name with nothing behind it
            if target.exists():
                temporary.chmod(stat.S_IMODE(target.stat().st_mode))
            temporary.replace(target)
            with suppress(OSError):  # not all systems can do that of a directory, and the file is there
                _sync(target.parent)
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


def _created(target: Path) -> Path:
    """A new file beside the target, with the permissions of a new file: the kernel knows the process's mask.

    Where there is a target, which may be private, nobody else may look before its permissions are known.
    """
    mode = 0o600 if target.exists() else 0o666
    while True:
        temporary = target.with_name(f".{target.name[:_LONGEST]}.{secrets.token_hex(4)}")
        try:
            os.close(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode))
        except FileExistsError:
            continue
        return temporary


def _sync(path: Path) -> None:
    """To the disk, before what comes next."""
    handle = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
