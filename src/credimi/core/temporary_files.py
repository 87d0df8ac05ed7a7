"""Temporary files and folders with an owner: what a killed process left is deleted by the next one that writes there.

Beside each stands a small file, `*.owner`, which names the process, and which that process locks. The kernel ends the
lock with the process, however that ends. A lock that is free is no proof: a shared disk may not report the locks of
other machines, or have none. So the owner has ended only if

* nobody holds the lock, and the owner was a process of this machine (same boot, same process namespace) that does not
  run any more, or another one has its number: it started at another time;
* or we got the lock, and the owner took it from the same kernel on the same device, or on the same machine before it
  was started again.

In all other cases, and if anything cannot be read, nothing is deleted.
"""

from __future__ import annotations

import errno
import os
import platform
import re
import secrets
import shutil
import stat
import sys
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

_OWNED = re.compile(r"(\..+\.)?credimi-[0-9a-f]{16}\.owner", re.DOTALL)
_SUFFIX = ".owner"
_FIRST_LINE = "credimi owner 1"
_MAX_BYTES = 2_000
_MAX_ATTEMPTS = 10


class _Owner(NamedTuple):
    """A process; texts are empty where the system does not tell them."""

    boot: str
    machine: str
    device: str
    namespace: str
    process: str
    start: str

    @classmethod
    def us(cls, descriptor: int) -> _Owner:
        """Our process, with the device of an open file."""
        # Only Linux numbers its boots. Elsewhere the machine's name has to do, together with the lock and the device.
        boot = _text_of("/proc/sys/kernel/random/boot_id") if sys.platform == "linux" else platform.node()
        machine_id, namespace = _text_of("/etc/machine-id"), ""
        with suppress(OSError):
            namespace = str(Path("/proc/self/ns/pid").readlink())
        return cls(
            boot=boot,
            machine=f"{platform.node()} {machine_id}" if machine_id else "",
            device=str(os.fstat(descriptor).st_dev),
            namespace=namespace,
            process=str(os.getpid()),
            start=_state_and_start(str(os.getpid()))[1],
        )

    @classmethod
    def named_in(cls, text: str) -> _Owner | None:
        """The owner that the file names; None if it names none."""
        first, *lines = text.split("\n")
        if first != _FIRST_LINE or len(lines) != len(cls._fields) + 1 or lines[-1]:
            return None
        return cls(*lines[:-1])

    def has_ended(self, here: _Owner, *, free: bool | None) -> bool:
        """Whether this owner has ended for sure, as seen from our process; `free`: what `try_lock` said."""
        if free is False:
            return False
        if not self.boot or self.boot != here.boot:
            return free is True and self.machine == here.machine != ""
        if self.namespace and self.start and self.namespace == here.namespace:
            state, start = _state_and_start(self.process)
            if state != "?" and start != self.start:
                return True
            if state not in "?Z":  # it runs; a zombie has ended once its lock is free
                return False
        return free is True and self.device == here.device


@contextmanager
def owned(folder: Path, prefix: str = "") -> Iterator[Path]:
    """A path in this folder for a new file or folder. What is there is deleted in the end, or by a later process.

    A prefix begins and ends with a dot.
    """
    delete_leftovers(folder)
    owner_path, descriptor = _new_owner_file(folder, prefix)
    temporary = owner_path.with_name(owner_path.name.removesuffix(_SUFFIX))
    try:
        yield temporary
    finally:
        if _delete(temporary):
            close_and_delete(descriptor, owner_path)
        else:  # Windows keeps what is still open: a later process deletes it
            os.close(descriptor)


def delete_leftovers(folder: Path) -> None:
    """Delete what processes that have ended left in this folder. It lists the folder once, and never fails."""
    names: list[str] = []
    with suppress(OSError), os.scandir(folder) as entries:
        names += [entry.name for entry in entries if entry.name.endswith(_SUFFIX) and _OWNED.fullmatch(entry.name)]
    for name in names:
        with suppress(OSError, ValueError):
            _delete_if_ended(folder / name)


def try_lock(descriptor: int) -> bool | None:
    """Whether we hold the lock now; None if the disk has no locks."""
    if sys.platform == "win32":
        import msvcrt  # noqa: PLC0415  (one of the two exists on each system)

        try:
            os.lseek(descriptor, 1 << 20, os.SEEK_SET)  # beyond the owner's name, which others may read
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
            os.lseek(descriptor, 0, os.SEEK_SET)
        except OSError:
            os.lseek(descriptor, 0, os.SEEK_SET)
            return False
        return True
    import fcntl  # noqa: PLC0415  (one of the two exists on each system)

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def is_still_at(descriptor: int, path: Path) -> bool:
    """Whether the open file is still the one at this path."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


def close_and_delete(descriptor: int, path: Path) -> None:
    """Delete a file that we have locked."""
    with suppress(OSError):
        path.unlink()  # before it is closed, so that nobody takes a lock that is about to disappear
    os.close(descriptor)
    if os.name == "nt":
        with suppress(OSError):
            path.unlink()


def _new_owner_file(folder: Path, prefix: str) -> tuple[Path, int]:
    """A new file that names us, locked.

    Before we have locked it, another process may take it for one that was left. Then we make another one. If this
    happens time after time, the disk refuses locks, and the name of our process has to do.
    """
    for attempts_left in reversed(range(_MAX_ATTEMPTS)):
        path = folder / f"{prefix}credimi-{secrets.token_hex(8)}{_SUFFIX}"
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            continue
        try:
            if try_lock(descriptor) is not False or not attempts_left:
                os.write(descriptor, "\n".join([_FIRST_LINE, *_Owner.us(descriptor), ""]).encode())
                if is_still_at(descriptor, path):
                    return path, descriptor
        except BaseException:
            close_and_delete(descriptor, path)
            raise
        close_and_delete(descriptor, path)
    raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))


def _delete_if_ended(owner_path: Path) -> None:
    """Delete a file that names an owner, and what it owned, if that has ended. Links and files of others stay."""
    before = owner_path.lstat()
    if not stat.S_ISREG(before.st_mode) or not _is_ours(before):
        return
    descriptor = os.open(owner_path, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    done = False
    try:
        free = try_lock(descriptor)
        text = os.read(descriptor, _MAX_BYTES).decode()
        if os.path.samestat(before, os.fstat(descriptor)) and is_still_at(descriptor, owner_path):
            owner = _Owner.named_in(text)
            if owner is not None and owner.has_ended(_Owner.us(descriptor), free=free):
                done = _delete(owner_path.with_name(owner_path.name.removesuffix(_SUFFIX)))
            elif not text:  # killed before it wrote its name, and had no temporary file yet
                done = free is True
    finally:
        if done:
            close_and_delete(descriptor, owner_path)
        else:
            os.close(descriptor)


def _delete(temporary: Path) -> bool:
    """Delete a file or a folder of ours; whether none is left."""
    with suppress(OSError):
        found = temporary.lstat()
        if not _is_ours(found):
            return False
        if stat.S_ISDIR(found.st_mode):
            shutil.rmtree(temporary, ignore_errors=True)
        else:
            temporary.unlink()
    return not os.path.lexists(temporary)


def _is_ours(found: os.stat_result) -> bool:
    """Whether a file is of the same user."""
    return not hasattr(os, "geteuid") or found.st_uid == os.geteuid()


def _state_and_start(process: str) -> tuple[str, str]:
    """What Linux tells of a process: a letter, and its start. Empty if it does not run, "?" if this is not known."""
    if not process.isdecimal():
        return "?", ""
    try:
        found = Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return "", ""
    except OSError:
        return "?", ""
    fields = found.rpartition(")")[2].split()  # the name before may have blanks and brackets
    return fields[0], fields[19]


def _text_of(path: str) -> str:
    """The text of a small file, "" if there is none."""
    with suppress(OSError, ValueError):
        return Path(path).read_text(encoding="ascii").strip()
    return ""
