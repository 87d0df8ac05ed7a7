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

_MACHINE = "/proc/meminfo"
_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")  # of a container
_TAKEN = {  # by the name of the limit: the file of what is taken, and what of this is free on demand
    "memory.max": ("memory.current", "inactive_file"),
    "memory.limit_in_bytes": ("memory.usage_in_bytes", "total_inactive_file"),
}


def memory() -> float:
    """The bytes of memory that this process may still take, as far as machine and container tell; else infinite.

    Pages of files that the system keeps in memory are free on demand, and are not counted as taken.
    """
    memory_bytes = math.inf
    with suppress(AttributeError, ValueError, OSError):  # not everywhere
        memory_bytes = float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    with suppress(LookupError, ValueError, OSError):
        memory_bytes = min(memory_bytes, 1024.0 * _entries(_MACHINE)["MemAvailable"])
    for path in map(Path, _LIMITS):
        with suppress(ValueError, OSError):  # "max", or no such file
            memory_bytes = min(memory_bytes, max(float(_text(path)) - _taken(path), 0.0))
    return memory_bytes


def _taken(limit: Path) -> float:
    """The bytes that a container with this limit has taken for good; 0 if this is not known."""
    with suppress(LookupError, ValueError, OSError):
        usage, on_demand = _TAKEN[limit.name]
        freed = _entries(limit.with_name("memory.stat")).get(on_demand, 0.0)
        return max(float(_text(limit.with_name(usage))) - freed, 0.0)
    return 0.0


def _text(path: str | Path) -> str:
    return Path(path).read_text(encoding="ascii")


def _entries(path: str | Path) -> dict[str, float]:
    """The numbers of a file of the system that has a name and a number on each line."""
    lines = (line.replace(":", " ").split() for line in _text(path).splitlines())
    return {words[0]: float(words[1]) for words in lines if len(words) > 1}


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

    def require(self, size: float, what: str) -> None:
        """Raise an error if `size` bytes have to be in memory and are more than it has."""
        free = memory() if self.folder is None else math.inf
        if size > free:
            raise CredimiError(
                f"{what} take about {size / 1e9:,.1f} GB, and there are {free / 1e9:,.1f} GB of memory: name a folder "
                "with scratch (--scratch), where codes of one byte a cell are kept, or fewer columns (features, "
                "--features)"
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
