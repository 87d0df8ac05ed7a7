"""Stores the results of finished orders in files, complete or absent, so that a killed run can continue.

A file's name is a digest of everything that the results depend on: data, orders, settings, the constants of the
adaptive prior, the program's version. So a file is either the right one or absent, whoever wrote it and when.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import zipfile
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from credimi.core.atomic_files import replacing
from credimi.core.errors import CredimiError
from credimi.core.version import __version__
from credimi.inference.evidence import adaptive_prior

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from credimi.core.types import BooleanArray, IntegerArray
    from credimi.paper.prequential_options import PrequentialOptions
    from credimi.paper.rows import Rows

_FORMAT = 1
_FAULTS = (  # of a file that is absent or damaged; the last two: a damaged entry seems to be packed in another way
    OSError,
    ValueError,
    KeyError,
    EOFError,
    zipfile.BadZipFile,
    zlib.error,
    NotImplementedError,
    RuntimeError,
)


def key(rows: Rows, orders: IntegerArray, settings: PrequentialOptions) -> str:
    """A unique name for a block of results: a digest of all that they depend on, including the program."""
    digest = hashlib.sha256()
    prior = [
        adaptive_prior.GRID,
        adaptive_prior.LOOSEST,
        adaptive_prior.TIGHTEST,
        adaptive_prior.P_ZERO,
        adaptive_prior.NEGLIGIBLE,
    ]
    settings_and_sizes = [
        _FORMAT,
        __version__,
        prior,
        {name: value for name, value in settings.to_dict().items() if name != "method"},
        len(rows.classes),
        [len(values) for values in rows.values],
    ]
    digest.update(json.dumps(settings_and_sizes).encode())
    for array in (rows.codes, rows.target, orders):
        digest.update(str(array.shape).encode() + np.ascontiguousarray(array, dtype="<i8").tobytes())
    return digest.hexdigest()[:32]


def folder(keep: str | Path) -> Path:
    """The folder for results, created if it does not exist; refused before the work if it cannot be written to."""
    path = Path(keep)
    try:
        if not str(keep):
            raise NotADirectoryError(errno.ENOTDIR, "its name is empty")
        path.mkdir(parents=True, exist_ok=True)
        if not os.access(path, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise CredimiError(f"keep is {str(keep)!r}, which is no folder that can be written to: {why}") from None
    return path


def save(path: Path, correct: BooleanArray, used: NDArray[np.int16]) -> None:
    """Write one block of results."""
    with replacing(path) as temporary, temporary.open("wb") as file:
        np.savez_compressed(file, correct=correct, used=used)


def load(path: Path, shape: tuple[int, ...]) -> tuple[BooleanArray, NDArray[np.int16]] | None:
    """What `save` wrote; None if there is no such file, or it is not valid."""
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:  # numpy would leave a bad file open
            correct, used = arrays["correct"], arrays["used"]
    except _FAULTS:
        return None
    if correct.shape != shape or used.shape != shape or correct.dtype != bool or used.dtype != np.int16:
        return None
    return correct, used
