"""`scratch_codes`: the settled codes of data larger than memory, kept in a file of a folder, one byte a cell.

The data are read twice: once to count, which says what the values of each column are, where numbers are cut and what is
an identifier; once more to write each row's codes. Then a pass over all columns is a pass over the file of codes, which
has rows x columns bytes, and which the system keeps in memory as far as there is room. Columns of more than 255 values
are refused: they would be worth little in strata. Beside the file there are a few bytes a row in memory: class and
weight.
"""

from __future__ import annotations

import math
import os
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING

import numpy as np

from credimi.columns import labels
from credimi.core.errors import CredimiError
from credimi.core.threads import share
from credimi.counting.batch import encode_batch
from credimi.counting.count import count_requested, require_rows_here, source, with_target_cuts
from credimi.counting.engines import frames
from credimi.counting.engines.data_file import DataFile
from credimi.counting.rows.coded_table import MISSING, settled_places
from credimi.counting.rows.stratified_counts import SettledCodes, told_apart

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from credimi.columns.feature import Feature
    from credimi.columns.interpret import SettledClasses
    from credimi.core.types import Data
    from credimi.counting.batch import CodedBatch
    from credimi.counting.counts import Counts
    from credimi.counting.request import CountRequest

_MOST_VALUES = 255


def memory() -> float:
    """The bytes of memory that this machine has; infinite where that is not known."""
    try:
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, ValueError, OSError):  # not everywhere
        return math.inf


def require_memory(data: Data) -> None:
    """Refuse local files that are larger than memory, before they are read."""
    size = sum(map(_size, data if isinstance(data, list | tuple) else [data]))
    if size > memory():
        raise CredimiError(
            f"files of {size / 1e9:,.1f} GB do not fit into {memory() / 1e9:,.1f} GB of memory: name a folder with "
            "scratch (--scratch), where codes of one byte a cell are kept"
        )


def _size(path: object) -> int:
    """The bytes of a local file, 0 of anything else."""
    if isinstance(path, DataFile):
        return path.size
    try:
        return Path(path).stat().st_size if isinstance(path, str | Path) else 0
    except (OSError, ValueError):  # it is said where files are opened
        return 0


def scratch_codes(data: Data, request: CountRequest, folder: str | Path) -> tuple[SettledCodes, Counts]:
    """The codes, in a file that vanishes with them, and the counts."""
    if not Path(folder).is_dir():
        raise CredimiError(f"scratch is {str(folder)!r}, which is no folder: name one that exists")
    require_rows_here(data)
    if frames.is_stream(data):
        raise CredimiError(
            f"a {type(data).__name__} is read once, and scratch codes need two passes: write it to a file"
        )
    request = with_target_cuts(data, request)
    if request.weights is not None or request.settings.weights is not None:
        raise CredimiError("scratch codes know no weights: leave out weights, or scratch")
    counts = count_requested(data, request)
    settled = counts.settled_classes()
    features, left_out = told_apart(counts.settled(classes=settled))
    for feature in features:
        if len(feature.values) > _MOST_VALUES:
            raise CredimiError(
                f"column {feature.name!r} has {len(feature.values):,} values, and scratch codes have {_MOST_VALUES}: "
                "cut it into ranges with discretize, or exclude it"
            )
    matrix = _reserved(folder, (len(features), round(counts.rows)))
    groups: NDArray[np.unsignedinteger] = np.empty(
        matrix.shape[1], dtype=np.uint8 if len(settled.labels) <= _MOST_VALUES else np.uint16
    )
    plan, batches = source(data, request)
    start = 0
    for batch in batches:
        rows = slice(start, start + batch.rows)
        start += batch.rows
        if start > groups.size:
            break
        coded = encode_batch(
            batch, plan.target, plan.features, plan.settings, threads=request.threads, required=plan.required
        )
        groups[rows] = _classes(coded, counts, settled)
        _write(matrix[:, rows], coded, counts, features, request.threads)
    if start != groups.size:
        raise CredimiError("the data changed between the two passes over them: run it again")
    classes = settled.labels.shown()
    return SettledCodes(counts.target, classes, groups, features, tuple(matrix), None, left_out, matrix), counts


def _reserved(folder: str | Path, shape: tuple[int, int]) -> NDArray[np.uint8]:
    """A matrix in a file without a name: nothing is left behind whatever happens."""
    size = shape[0] * shape[1]
    if not size:
        return np.zeros(shape, dtype=np.uint8)
    try:
        with TemporaryFile(dir=folder) as file:
            if hasattr(
                os, "posix_fallocate"
            ):  # a full disk is an error here; in a mapped file it would end the process
                os.posix_fallocate(file.fileno(), 0, size)
            return np.memmap(file, dtype=np.uint8, mode="r+" if hasattr(os, "posix_fallocate") else "w+", shape=shape)
    except OSError as error:
        raise CredimiError(
            f"scratch codes need {size / 1e9:,.1f} GB in {str(folder)!r}: {error.strerror or error}"
        ) from None


def _classes(coded: CodedBatch, counts: Counts, settled: SettledClasses) -> NDArray[np.integer]:
    """The class of each row, one more than the last if it is missing."""
    _, onward, own = labels.union(coded.classes, counts.classes)
    places = np.full(int(own.max(initial=-1)) + 1, len(settled.labels))
    places[own] = settled.positions
    found: NDArray[np.integer] = np.append(places[onward], len(settled.labels))[coded.groups]
    return np.where(found < 0, len(settled.labels), found)


def _write(
    matrix: NDArray[np.uint8],
    coded: CodedBatch,
    counts: Counts,
    features: tuple[Feature, ...],
    threads: int | None,
) -> None:
    """The codes of some rows of all columns."""
    places = {name: place for place, name in enumerate(counts.features)}

    def work(number: int) -> None:
        feature = features[number]
        column = coded.columns[feature.name]
        own = counts.labels[places[feature.name]]
        try:
            settled = settled_places(column, coded.missing, own, feature)
        except LookupError:
            raise CredimiError(
                f"column {feature.name!r} is read differently in parts than as a whole: exclude it, or give it one "
                "kind of values"
            ) from None
        codes = np.where(settled == MISSING, len(feature.values), settled).astype(np.uint8)
        matrix[number] = np.take(codes, column.codes, mode="clip")

    share(work, range(len(features)), threads)
