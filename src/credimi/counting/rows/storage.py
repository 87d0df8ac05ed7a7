"""`Storage`: where the codes of all rows are: in memory, or in files of a folder, which the system reads as needed.

A file has no name and vanishes with the process. The operating system keeps its pages in memory, or writes and drops
them if memory is short: they do not count as memory of the process. Disk space is reserved at once. So a full disk is
an error that can be reported; a later write through a mapped page would crash.
"""

from __future__ import annotations

import errno
import math
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING

import numpy as np

from credimi.core.atomic_files import reserve
from credimi.core.errors import CredimiError

if TYPE_CHECKING:
    from credimi.core.types import AnyArray

_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")  # of a container


def memory() -> float:
    """The bytes of memory of this machine, or of the container of this process; infinite if this is not known."""
    memory_bytes = math.inf
    with suppress(AttributeError, ValueError, OSError):  # not everywhere
        memory_bytes = float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    for path in _LIMITS:
        with suppress(ValueError, OSError):  # "max", or no such file
            memory_bytes = min(memory_bytes, float(Path(path).read_text(encoding="ascii")))
    return memory_bytes


@dataclass(frozen=True, slots=True)
class Storage:
    """Memory, or a folder for files."""

    folder: str | None = None

    @classmethod
    def of(cls, scratch: str | Path | None) -> Storage:
        """The storage in a folder, which has to exist, or in memory if it is None."""
        if scratch is None:
            return cls()
        if not str(scratch) or not Path(scratch).is_dir():
            raise CredimiError(f"scratch is {str(scratch)!r}, which is no folder: name one that exists")
        return cls(str(scratch))

    def require(self, size: int, what: str) -> None:
        """Raise an error if `size` bytes have to be in memory and are more than it has."""
        if self.folder is None and size > memory():
            raise CredimiError(
                f"{what} take {size / 1e9:,.1f} GB, and there are {memory() / 1e9:,.1f} GB of memory: name a folder "
                "with scratch (--scratch), where codes of one byte a cell are kept"
            )

    def zeros(self, shape: tuple[int, ...], kind: type[np.unsignedinteger]) -> AnyArray:
        """An array of zeros."""
        size = math.prod(shape) * np.dtype(kind).itemsize
        if self.folder is None or not size:
            return np.zeros(shape, dtype=kind)
        try:
            with TemporaryFile(dir=self.folder) as file:
                reserved = reserve(file.fileno(), size)
                mapped = np.memmap(file, dtype=kind, mode="r+" if reserved else "w+", shape=shape)
        except OSError as error:
            why = error.strerror or str(error)
            needs = f" ({size / 1e9:,.3g} GB are needed)" if error.errno == errno.ENOSPC else ""
            raise CredimiError(f"no codes can be written to the scratch folder {self.folder!r}: {why}{needs}") from None
        return mapped.view(np.ndarray)
