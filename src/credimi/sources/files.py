"""Files of all formats, local or remote: one, several, a directory or a pattern. One module reads each format."""

from __future__ import annotations

import os
import re
import stat
from collections import Counter
from contextlib import closing
from glob import glob, has_magic
from itertools import chain, groupby
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from credimi.columns.encode_arrow import load_kernels
from credimi.core.errors import CredimiError, memory_named
from credimi.core.remote_files import is_remote, reason, remote_files
from credimi.core.threads import ahead
from credimi.counts.batch import counted
from credimi.counts.counts import merged
from credimi.counts.merge import beside
from credimi.counts.saved.counted_files import check_named_once
from credimi.counts.tabulate import CELLS_WORTH_COMPILING
from credimi.sources.csv import csv_files
from credimi.sources.data_file import FORMATS, DataFile
from credimi.sources.formats import PACKED, Wanted, ending
from credimi.sources.parquet import parquet_files

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from credimi.core.remote_files import Place, Status
    from credimi.core.types import Data, Foreign, Record
    from credimi.counts.batch import Batch
    from credimi.counts.counts import Counts
    from credimi.counts.request import Plan

    Progress = Callable[[float], None]

_TABLE_ENDINGS = tuple(
    chain.from_iterable(each.endings for each in FORMATS if not each.alone)
)  # of what is read from a directory
_UNWRITTEN_ENDINGS = re.compile(  # of formats that are not written
    r"\.(xls[xmb]?|ods|(geo)?json|xml|html?|md|tex|pdf|docx|png|svg|jpg|sav|dta|sas7bdat|xpt|rds|rda|rdata|pkl|pickle|np[yz]"
    r"|mat|h5|hdf5?|nc|orc|avro|arff|db|sqlite3?|duckdb|sql|zip|tar|tgz|7z|rar|xz|lz4|br|counts)"
)
_BYTES_WORTH_LOADING = 2 * CELLS_WORTH_COMPILING  # a cell of CSV has at least two bytes
_BATCHES_AHEAD = 2  # so many are read while one is counted, or while compiled code is loaded


def reads(data: object) -> bool:
    """Whether this engine reads such data: a path, or a list of paths."""
    if isinstance(data, str | Path):
        return True
    are_paths = isinstance(data, list | tuple) and all(isinstance(path, str | Path | DataFile) for path in data)
    return are_paths and bool(data)


def data_files(data: Data, delimiter: str | None = None, *, twice: bool = False) -> list[DataFile]:
    """All files of a path, a directory, a pattern, a URL or a list of these; with `twice`, files may be named twice.

    Each file is opened once, here, and its size is read once. The delimiter is that of CSV files.
    """
    if isinstance(data, list) and data and isinstance(data[0], DataFile):  # the result of an earlier call
        return data
    csv_files.check_delimiter(delimiter)
    shared_layouts: dict[object, Foreign] = {}
    described = [
        DataFile.of(*file_and_status, delimiter=delimiter).sharing(shared_layouts) for file_and_status in find(data)
    ]
    if not twice:
        remedy = "its rows would count twice; name it once, or add up counts made apart"
        check_named_once([str(file) for file in described], [(file.identity,) for file in described], remedy)
    return described


class FoundFile(NamedTuple):
    """A file, and its status from when it was found."""

    place: Place
    status: os.stat_result | Status
    table: str | None = None  # of a workbook, or a database


def find(data: object) -> list[FoundFile]:
    """All files of a path, a directory, a pattern, a URL or a list of these; none is opened."""
    if isinstance(data, list | tuple):
        return list(chain.from_iterable(map(find, data)))
    if not str(data):
        raise CredimiError("a path is empty: name a file, a directory or a pattern")
    if is_remote(str(data)):
        return _remote(str(data))
    path = Path(str(data))
    try:
        status = path.stat()
    except (OSError, ValueError):
        file, colons, table = str(data).rpartition("::")
        if colons and Path(file).is_file():
            return [FoundFile(Path(file), _status(Path(file)), table)]
        if has_magic(str(data)):
            return _matching_files(str(data))
        if str(data) == "-":
            raise CredimiError("only the command reads standard input: name a file, or pass a table") from None
        status = _status(path)  # raises an error that says what is wrong
    return _inside(path) if stat.S_ISDIR(status.st_mode) else [_readable_file(path, status)]


def _status(path: Path) -> os.stat_result:
    """The status of the file at this path."""
    try:
        return path.stat()
    except (OSError, ValueError) as error:
        broken = (
            " (it is a link that leads nowhere)" if isinstance(error, FileNotFoundError) and path.is_symlink() else ""
        )
        raise CredimiError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}{broken}") from None


def _inside(directory: Path) -> list[FoundFile]:
    """The tables below a directory. A folder that cannot be read is an error: its rows would be missing silently."""

    def refuse(error: OSError) -> None:
        raise CredimiError(f"cannot read the directory {error.filename}: {error.strerror or error}") from None

    paths = (Path(folder, name) for folder, _, names in os.walk(directory, onerror=refuse) for name in names)
    tables = [FoundFile(path, _status(path)) for path in paths if _is_table(path)]
    return _tables_of_directory([table for table in tables if stat.S_ISREG(table.status.st_mode)], directory)  # type: ignore[union-attr]


def _readable_file(path: Path, status: os.stat_result) -> FoundFile:
    """The file; an error if it is a pipe, whose bytes can be read only once."""
    if stat.S_ISFIFO(status.st_mode) or stat.S_ISSOCK(status.st_mode):
        raise CredimiError(
            f"{path} is a pipe, and data are read more than once: pipe them into `credimi rank -`, or save them"
        )
    return FoundFile(path, status)


def _matching_files(pattern: str) -> list[FoundFile]:
    status_of = {path: _status(path) for path in map(Path, sorted(glob(pattern, recursive=True)))}  # noqa: PTH207  (absolute patterns too)
    matches = [
        _readable_file(path, status) for path, status in sorted(status_of.items()) if not stat.S_ISDIR(status.st_mode)
    ]
    if not matches:
        raise CredimiError(f"no file matches {pattern}: check the path, and put a pattern in quotes")
    return _without_copies(matches)


def _remote(url: str) -> list[FoundFile]:
    places, named = remote_files(url)
    remote = [FoundFile(place, place.status) for place in places]
    if named:
        return remote
    return _without_copies(remote) if has_magic(url) else _tables_of_directory(remote, url)


def _tables_of_directory(candidates: list[FoundFile], directory: object) -> list[FoundFile]:
    """The files of a directory that hold tables, by the endings of their names; an error if there are none."""
    tables = sorted((file for file in candidates if _is_table(file.place)), key=lambda file: file.place)
    if not tables:
        endings = ", ".join(_TABLE_ENDINGS[:-1])
        raise CredimiError(
            f"the directory {directory} holds no file that ends in {endings} or {_TABLE_ENDINGS[-1]}, packed or not: "
            "name the files one by one, or by a pattern"
        )
    return _without_copies(tables)


def _without_copies(files: list[FoundFile]) -> list[FoundFile]:
    """The same files, which were not named one by one; an error if one of them looks like another one, packed."""
    place_of: dict[str, Place] = {}
    for place, *_ in files:
        name = str(place)
        unpacked = name[: -len(place.suffix)] if place.suffix.lower() in PACKED else name
        other = place_of.setdefault(unpacked, place)
        if other is not place:
            raise CredimiError(
                f"{other} and {place} look like the same rows, packed and not, which would count twice: move one of "
                "them away, or name each file"
            )
    return files


def _is_table(path: Place) -> bool:
    return ending(path) in _TABLE_ENDINGS and not path.name.startswith(".")


def names(files: Sequence[DataFile], delimiter: str | None = None) -> list[str]:
    """The names of the columns, in the order of the first file; the others must have the same names.

    The delimiter is refused if there is no CSV file.
    """
    if delimiter is not None and all(file.kind not in ("CSV", "counts") for file in files):
        raise CredimiError(
            f"{files[0]} is {files[0].kind}, and has no delimiter: leave it out (delimiter, --delimiter), it is for "
            "CSV files"
        )
    first = files[0].names
    if not first and not files[0].is_counts:
        raise CredimiError(f"{files[0]} has no columns: name a file that has some")
    repeated = next((name for name, count in Counter(first).items() if count > 1), None)
    if repeated is not None:
        raise CredimiError(
            f"two columns are called {repeated!r}: give each column a name of its own; if the file has no line of "
            "names, write one above the data"
        )
    for file in files:
        if file.is_counts:
            raise CredimiError(f"{file} holds counts, not data: load it (Counts.load), or rank it")
        if file.layout is not files[0].layout and set(file.names) != set(first):
            unshared = min(set(first) ^ set(file.names))
            separated = "" if delimiter is None else f", with {delimiter!r} between the fields of both"
            raise CredimiError(f"{files[0]} and {file} differ: only one of them has the column {unshared!r}{separated}")
    return first


def batches(
    files: Sequence[DataFile],
    wanted: Sequence[str],
    progress: Progress,
    blocks: Sequence[Sequence[str]] = (),
    *,
    threads: int | None = None,
    coded: bool = False,
) -> Iterator[Batch]:
    """The wanted columns, part by part; if the format stores columns apart, one block of columns after the other.

    With `coded`, columns may come as codes.
    """
    total = max(sum(file.size for file in files), 1)
    bytes_before = 0
    for file in files:

        def report(done: float, bytes_before: int = bytes_before, size: int = file.size) -> None:
            progress((bytes_before + done * size) / total)

        if file.layout is not None:
            with memory_named(f"to read {file}"):
                asked = Wanted(wanted, report, file.size, total, threads, blocks, coded)
                yield from file.layout.batches(file.place, asked)
        bytes_before += file.size


def tallies(
    files: Sequence[DataFile], plan: Plan, progress: Progress, threads: int | None = None
) -> Iterator[tuple[Sequence[DataFile], Counts]]:
    """Each file and its counts: a batch is read while the one before is counted."""
    remaining = list(files)
    blocks = plan.blocks(parquet_files.COLUMNS)
    options: Record = {"blocks": [block.wanted for block in blocks], "threads": threads, "coded": True}
    read = ahead(batches(files, plan.wanted, progress, **options), _BATCHES_AHEAD)
    with closing(read):  # also if somebody keeps an error that keeps this frame alive
        if sum(file.size for file in files) >= _BYTES_WORTH_LOADING:
            load_kernels()  # while the first batches are read
        for place, file_batches in groupby(read, key=lambda batch: batch.path):
            counts = _count_blocks(file_batches, plan, blocks, threads)
            while remaining and remaining[0].place != place:  # files of no rows have no batches
                yield [remaining[0]], counted([], plan)
                del remaining[0]
            yield remaining[:1], counts
            del remaining[:1]
    if remaining:
        yield remaining, counted([], plan)


def _count_blocks(read: Iterator[Batch], plan: Plan, blocks: Sequence[Plan], threads: int | None) -> Counts:
    """The counts of one file, whose blocks of columns come one after the other; CSV has one block of all columns."""
    plan_of = {tuple(block_plan.wanted): block_plan for block_plan in (plan, *blocks)}
    counts = [
        counted(block_batches, plan_of[names], threads=threads)
        for names, block_batches in groupby(read, key=lambda batch: tuple(batch.columns))
    ]
    return counts[0] if len(counts) == 1 else beside(counts, plan)


def count_file(path: str, plan: Plan) -> bytes:
    """The counts of one file, on one thread, to be sent: what a worker of a cluster does."""
    file = DataFile.of(*_exact_file(path), delimiter=plan.delimiter)
    whole = merged(counts for _, counts in tallies([file], plan, lambda _: None, threads=1))
    return (counted([], plan) if whole is None else whole).to_bytes()


def _exact_file(path: str) -> FoundFile:
    """The file of exactly this name. It is no pattern, which might match others if a worker does not see this file."""
    places, named = remote_files(path) if is_remote(path) else ([Path(path)], Path(path).exists())
    if not named:
        raise CredimiError(f"cannot read {path}: there is no such file where it is counted")
    return FoundFile(places[0], places[0].stat())


def check_format(file: DataFile, output: Path) -> None:
    """Refuse a name for a copy of a file whose ending means another format than the copy will have."""
    if file.layout is None:
        return
    suffix = next((part for part in map(str.lower, output.suffixes[::-1]) if part not in PACKED), "")
    endings, packed = file.layout.endings, output.suffix.lower() in PACKED
    # names may be wrong, and a copy may have the wrong ending of its source
    if _UNWRITTEN_ENDINGS.fullmatch(suffix) and suffix != ending(file.place):
        written = "; ".join(f"{', '.join(each.endings)} for {each.kind}" for each in FORMATS if not each.alone)
        raise CredimiError(
            f"{output} ends in {suffix}, which is not written: {file} is {file.kind}, and so is its copy; give it a "
            f"name that ends in {endings[0]} (copies end in {written})"
        )
    if (suffix in _TABLE_ENDINGS and suffix not in endings) or (packed and file.layout.marks):
        raise CredimiError(
            f"{file} is {file.kind}, and so is what is written: give {output} a name that ends in {endings[0]}"
        )


def copy_columns(file: DataFile, wanted: Sequence[str], output: Path, suffix: str = "", *, safe: bool = False) -> None:
    """The same rows with some of the columns, in the same format (see `Layout`); texts stay as they are written."""
    if file.layout is None:
        raise CredimiError(f"{file} holds counts, not data: it has no rows to copy")
    with memory_named(f"to copy columns of {file}"):
        try:
            file.layout.copy_columns(file.place, wanted, output, suffix, safe=safe)
        except OSError as error:
            raise OSError(error.errno, reason(error)) from error
