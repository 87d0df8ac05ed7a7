"""Stores the results of finished orders in files, complete or absent, so that a killed run can continue.

A file's name is a digest of everything that the results depend on: data, orders, settings, the constants of the
adaptive prior, the program's version. So a file is either the right one or absent, whoever wrote it and when.
"""

from __future__ import annotations

import hashlib
import json
import zipfile
from typing import TYPE_CHECKING

import numpy as np

from credimi.core.atomic_files import replacing
from credimi.core.version import __version__
from credimi.inference import adaptive_prior

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from credimi.core.types import BooleanArray, IntegerArray
    from credimi.counting.rows.coded_table import Rows
    from credimi.experiments.prequential_options import PrequentialOptions

_FORMAT = 1


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
        settings.to_dict(),
        len(rows.classes),
        [len(values) for values in rows.values],
    ]
    digest.update(json.dumps(settings_and_sizes).encode())
    for array in (rows.codes, rows.target, orders):
        digest.update(str(array.shape).encode() + np.ascontiguousarray(array, dtype="<i8").tobytes())
    return digest.hexdigest()[:32]


def save(path: Path, correct: BooleanArray, used: NDArray[np.int16]) -> None:
    """Write one block of results."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as temporary, temporary.open("wb") as file:
        np.savez_compressed(file, correct=correct, used=used)


def load(path: Path, shape: tuple[int, ...]) -> tuple[BooleanArray, NDArray[np.int16]] | None:
    """What `save` wrote; None if there is no such file, or it is not valid."""
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:  # numpy would leave a bad file open
            correct, used = arrays["correct"], arrays["used"]
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        return None
    if correct.shape != shape or used.shape != shape or correct.dtype != bool or used.dtype != np.int16:
        return None
    return correct, used
