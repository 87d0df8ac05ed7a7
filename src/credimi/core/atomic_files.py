"""Writes results: to standard output, or to a file that is complete or absent, with a lock against other writers."""

from __future__ import annotations

import os
import platform
import stat
import sys
import zlib
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from credimi.core.errors import CredimiError
from credimi.core.temporary_files import close_and_delete, delete_leftovers, is_still_at, owned, try_lock

if TYPE_CHECKING:
    from collections.abc import Iterator

# Files beside the target have so many characters of its name: at most 200 of the 255 bytes that are allowed.
_MAX_NAME_CHARACTERS = 50


def plain(text: str) -> str:
    """Text of the data or of the caller for a terminal: on one line, with nothing in it that controls the terminal.

    Control characters, line ends, characters that change the writing direction, and bytes that are no text are shown by
    their codes.
    """
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode() for character in text
    )


def write(text: str, path: str | None, *, laid_out: bool = False) -> None:
    """Write to standard output, or to a file that is complete or absent.

    On a terminal, text is made plain, line by line. Text that is already `laid_out`, with colours, is not changed.
    """
    text = text.encode(errors="backslashreplace").decode()  # file names may hold bytes that are no text
    if path is None or path == "-":
        if not laid_out and sys.stdout is not None and sys.stdout.isatty():
            text = "\n".join(map(plain, text.split("\n")))
        _write_to_stdout(text)
    else:
        write_bytes(text.encode(), path)


def write_bytes(content: bytes, path: str | Path) -> None:
    """Write to a file that is complete or absent."""
    with replacing(path) as temporary:
        temporary.write_bytes(content)


@contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """A temporary file beside the target. It gets the target's name if all went well; otherwise it is deleted.

    If this process is killed, the next one that writes into the folder deletes it (see `temporary_files`).
    """
    try:
        if Path(path).exists() and not Path(path).is_file():  # a device or a pipe is written to directly
            yield Path(path)
            return
        target = Path(path).resolve()
        with owned(target.parent, f".{target.name[:_MAX_NAME_CHARACTERS]}.") as temporary:
            _create(temporary, target)
            yield temporary
            _sync(temporary)  # or a crash could leave an empty file under the name
            if target.exists():
                temporary.chmod(stat.S_IMODE(target.stat().st_mode))
            temporary.replace(target)
            with suppress(OSError):  # not all systems can sync a directory, and the file exists
                _sync(target.parent)
    except OSError as error:
        raise CredimiError(f"{path or '--output'} cannot be written: {error.strerror or error}") from None


def reserve(descriptor: int, size: int) -> bool:
    """Take disk space for a file that will be written through memory: there, a full disk would crash the process.

    Returns whether this system can do so, and the file is now so long.
    """
    allocate = getattr(os, "posix_fallocate", None)
    if allocate is None:
        return False
    allocate(descriptor, 0, size)
    return True


@contextmanager
def locked(path: str | Path) -> Iterator[None]:
    """Refuse other processes while a file is read, added to and written again: otherwise one sum would be lost.

    It is a lock of the operating system, on a file beside the target, and ends with its process, however that ends. The
    file names its owner: a shared disk may not report the locks of other machines, and then this name is all that is
    known.
    """
    target = Path(path).resolve()
    if target.exists() and not target.is_file():  # a device
        yield
        return
    encoded = os.fsencode(target.name)
    short_name = (
        target.name if len(encoded) < 250 else f"{target.name[:_MAX_NAME_CHARACTERS]}.{zlib.crc32(encoded):08x}"
    )
    lock_path = target.with_name(f".{short_name}.lock")
    delete_leftovers(target.parent)  # also if nothing is written in the end
    try:
        descriptor = _take_lock(lock_path, path)
    except OSError as error:
        where = lock_path if lock_path.exists() else f"the folder {lock_path.parent}"
        raise CredimiError(f"{path} cannot be written: {error.strerror or error} ({where})") from None
    try:
        yield
    finally:
        with suppress(OSError):
            os.ftruncate(descriptor, 0)  # Windows may not delete it while others look at it: then it has no owner
        close_and_delete(descriptor, lock_path)


def _take_lock(lock_path: Path, path: str | Path) -> int:
    """Open and lock the lock file; return its descriptor."""
    while True:
        descriptor = os.open(lock_path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            free = try_lock(descriptor)
            _check_owner(os.read(descriptor, 1_000).decode(errors="replace"), lock_path, path, free=free)
            if is_still_at(descriptor, lock_path):
                os.ftruncate(descriptor, 0)
                os.lseek(descriptor, 0, os.SEEK_SET)
                os.write(descriptor, f"{platform.node()} {os.getpid()}\n".encode())
                return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)  # its owner has just ended, and deleted it


def _check_owner(text: str, lock_path: Path, path: str | Path, *, free: bool | None) -> None:
    """Refuse a lock that another process holds; a lock of this machine whose owner was killed is free."""
    host, process = text.split() if len(text.split()) == 2 else ("", "")
    on_this_host = host in ("", platform.node())
    if free is False or (free is None and on_this_host and _is_alive(process)):
        owner = f"process {process} on {host}" if host else "another process"
        raise CredimiError(f"{path} is being changed by {owner}: wait until it has ended, and try again")
    if not on_this_host:
        raise CredimiError(
            f"{path} is being changed by process {process} on {host}, or was when that process was killed: "
            f"wait until it has ended, or delete {lock_path} if it no longer runs"
        )


def _is_alive(process: str) -> bool:
    if not process.isdecimal():
        return False
    try:
        os.kill(int(process), 0)  # sends no signal; not used on Windows, which has locks
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _write_to_stdout(text: str) -> None:
    if sys.stdout is None:
        raise CredimiError("standard output is closed: name a file with --output")
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or Python would try again at exit
        if not isinstance(error, BrokenPipeError):  # a reader that has left (`| head`) is no error
            raise CredimiError(f"standard output cannot be written: {error.strerror or error}") from None


def _create(temporary: Path, target: Path) -> None:
    """Create the file beside the target, with the permissions of a new file, which the kernel takes from the umask.

    If the target exists, it may be private: then nobody else may read the new file before it has the target's
    permissions.
    """
    mode = 0o600 if target.exists() else 0o666
    os.close(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode))


def _sync(path: Path) -> None:
    """Write the file to the disk before going on."""
    handle = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
