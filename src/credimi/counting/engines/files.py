"""Files of all formats, each read by a module of its own; one, several, a directory or a pattern, here or elsewhere."""

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

from credimi.columns.encode import load_kernels
from credimi.core.errors import CredimiError
from credimi.core.remote_files import is_remote, reason, remote_files
from credimi.core.threads import ahead
from credimi.counting.batch import counted
from credimi.counting.engines import arrow_files, json_lines
from credimi.counting.engines.arrow_files import ArrowSchema
from credimi.counting.engines.csv import csv_files
from credimi.counting.engines.csv.csv_files import COMPRESSED, Header
from credimi.counting.engines.data_file import ENDINGS, DataFile, named_format
from credimi.counting.engines.json_lines import JsonFields
from credimi.counting.engines.parquet import parquet_files
from credimi.counting.engines.parquet.parquet_files import Footer
from credimi.counting.merge import beside, merged
from credimi.counting.saved.counted_files import check_named_once
from credimi.counting.tabulate import CELLS_WORTH_COMPILING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from credimi.core.remote_files import Place, Status
    from credimi.core.types import Data, Foreign, Record
    from credimi.counting.batch import Batch
    from credimi.counting.counts import Counts
    from credimi.counting.request import Plan

    Progress = Callable[[float], None]

_TABLES = tuple(chain.from_iterable(ENDINGS.values()))  # taken from a directory; a file that is named may have any name
_FOREIGN = re.compile(  # endings of formats that are not written
    r"\.(xls[xmb]?|ods|(geo)?json|xml|html?|md|tex|pdf|docx|png|svg|jpg|sav|dta|sas7bdat|xpt|rds|rda|rdata|pkl|pickle|np[yz]"
    r"|mat|h5|hdf5?|nc|orc|avro|arff|db|sqlite3?|duckdb|sql|zip|tar|tgz|7z|rar|xz|lz4|br|counts)"
)
_CELLS_OF_FIELDS = 8  # bytes, or more, of a field of JSON lines, and of a cell of Arrow
_WORTH_LOADING = 2 * CELLS_WORTH_COMPILING  # bytes, of which CSV has two a cell at least
_AHEAD = 2  # batches read while the one before is counted, or compiled code loaded for the first


def reads(data: object) -> bool:
    """Whether this engine is the one for such data: a path, or a list of them."""
    if isinstance(data, str | Path):
        return True
    files = isinstance(data, list | tuple) and all(isinstance(each, str | Path | DataFile) for each in data)
    return files and bool(data)


def data_files(data: Data, delimiter: str | None = None, *, twice: bool = False) -> list[DataFile]:
    """All files meant by a path, a directory, a pattern, a URL or a list of these; `twice`: also one named so often.

    Each is opened once, here, and asked for its size once. The delimiter is that of CSV files.
    """
    if isinstance(data, list) and data and isinstance(data[0], DataFile):  # made before
        return data
    csv_files.check_delimiter(delimiter)
    known: dict[object, Foreign] = {}
    made = [DataFile.of(*each, delimiter).sharing(known) for each in find(data)]
    if not twice:
        remedy = "its rows would count twice; name it once, or add up counts made apart"
        check_named_once([str(file) for file in made], [(file.identity,) for file in made], remedy)
    return made


class Found(NamedTuple):
    """A file, and what is known of it from looking for it."""

    place: Place
    status: os.stat_result | Status


def find(data: object) -> list[Found]:
    """All files meant by a path, a directory, a pattern, a URL or a list of these; none is opened."""
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
        if has_magic(str(data)):
            return _matching(str(data))
        if str(data) == "-":
            raise CredimiError("only the command reads standard input: name a file, or pass a table") from None
        status = _status(path)  # which says what is wrong
    return _inside(path) if stat.S_ISDIR(status.st_mode) else [_file(path, status)]


def _status(path: Path) -> os.stat_result:
    """What a path leads to."""
    try:
        return path.stat()
    except (OSError, ValueError) as error:
        broken = (
            " (it is a link that leads nowhere)" if isinstance(error, FileNotFoundError) and path.is_symlink() else ""
        )
        raise CredimiError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}{broken}") from None


def _inside(directory: Path) -> list[Found]:
    """The tables below a directory. One that cannot be looked at is an error: its rows would be missing unsaid."""

    def refuse(error: OSError) -> None:
        raise CredimiError(f"cannot read the directory {error.filename}: {error.strerror or error}") from None

    below = (Path(folder, name) for folder, _, names in os.walk(directory, onerror=refuse) for name in names)
    found = [Found(each, _status(each)) for each in below if _is_table(each)]
    return _known([each for each in found if stat.S_ISREG(each.status.st_mode)], directory)  # type: ignore[union-attr]


def _file(path: Path, status: os.stat_result) -> Found:
    """The same, unless it gives its bytes once."""
    if stat.S_ISFIFO(status.st_mode) or stat.S_ISSOCK(status.st_mode):
        raise CredimiError(
            f"{path} is a pipe, and data are read more than once: pipe them into `credimi rank -`, or save them"
        )
    return Found(path, status)


def _matching(pattern: str) -> list[Found]:
    every = {path: _status(path) for path in map(Path, sorted(glob(pattern, recursive=True)))}  # noqa: PTH207  (absolute patterns too)
    found = [_file(path, status) for path, status in sorted(every.items()) if not stat.S_ISDIR(status.st_mode)]
    if not found:
        raise CredimiError(f"no file matches {pattern}: check the path, and put a pattern in quotes")
    return _without_copies(found)


def _remote(url: str) -> list[Found]:
    places, named = remote_files(url)
    found = [Found(each, each.status) for each in places]
    if named:
        return found
    return _without_copies(found) if has_magic(url) else _known(found, url)


def _known(found: list[Found], directory: object) -> list[Found]:
    """Those of a directory's files that hold tables, by their names."""
    known = sorted((each for each in found if _is_table(each.place)), key=lambda each: each.place)
    if not known:
        endings = ", ".join(_TABLES[:-1])
        raise CredimiError(
            f"the directory {directory} holds no file that ends in {endings} or {_TABLES[-1]}, packed or not: name the "
            "files one by one, or by a pattern"
        )
    return _without_copies(known)


def _without_copies(found: list[Found]) -> list[Found]:
    """The same files, unless one of those that were not named one by one is another, packed."""
    seen: dict[str, Place] = {}
    for each, _ in found:
        name = str(each)
        unpacked = name[: -len(each.suffix)] if each.suffix.lower() in COMPRESSED else name
        other = seen.setdefault(unpacked, each)
        if other is not each:
            raise CredimiError(
                f"{other} and {each} look like the same rows, packed and not, which would count twice: move one of "
                "them away, or name each file"
            )
    return found


def _is_table(path: Place) -> bool:
    return named_format(path) in _TABLES and not path.name.startswith(".")


def names(files: Sequence[DataFile], delimiter: str | None = None) -> list[str]:
    """The columns' names, those of the first file; the others must have the same.

    The delimiter is refused where there is no CSV file.
    """
    if delimiter is not None and all(file.kind not in ("CSV", "counts") for file in files):
        raise CredimiError(
            f"{files[0]} is {files[0].kind}, and has no delimiter: leave it out (delimiter, --delimiter), it is for "
            "CSV files"
        )
    first = files[0].names
    doubled = next((name for name, many in Counter(first).items() if many > 1), None)
    if doubled is not None:
        raise CredimiError(
            f"two columns are called {doubled!r}: give each column a name of its own; if the file has no line of "
            "names, write one above the data"
        )
    for file in files:
        if file.is_counts:
            raise CredimiError(f"{file} holds counts, not data: load it (Counts.load), or rank it")
        if file.layout is not files[0].layout and set(file.names) != set(first):
            apart = min(set(first) ^ set(file.names))
            between = "" if delimiter is None else f", with {delimiter!r} between the fields of both"
            raise CredimiError(f"{files[0]} and {file} differ: only one of them has the column {apart!r}{between}")
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
    """The wanted columns, part by part; where the format has columns apart, one block after the other.

    With `coded`, columns may come as codes.
    """
    total = max(sum(file.size for file in files), 1)
    before = 0
    for file in files:

        def report(done: float, before: int = before, size: int = file.size) -> None:
            progress((before + done * size) / total)

        if isinstance(file.layout, Footer):
            many = total / max(file.size, 1)
            how: Record = {"threads": threads, "coded": coded}
            yield from parquet_files.batches(file.place, file.layout, blocks or [wanted], many, report, **how)
        elif isinstance(file.layout, ArrowSchema):
            yield from arrow_files.batches(file.place, file.layout, wanted, report, total // _CELLS_OF_FIELDS)
        elif isinstance(file.layout, JsonFields):
            cells = total // _CELLS_OF_FIELDS
            yield from json_lines.batches(file.place, file.layout, wanted, report, threads, size=file.size, cells=cells)
        elif file.layout is not None:
            how = {"size": file.size, "total": total, "coded": coded}
            yield from csv_files.batches(file.place, file.layout, wanted, report, threads, **how)
        before += file.size


def tallies(
    files: Sequence[DataFile], plan: Plan, progress: Progress, threads: int | None = None
) -> Iterator[tuple[Sequence[DataFile], Counts]]:
    """Each file and its counts: a batch is read while the one before is counted."""
    left = list(files)
    blocks = plan.blocks(parquet_files.COLUMNS)
    asked: Record = {"blocks": [block.wanted for block in blocks], "threads": threads, "coded": True}
    read = ahead(batches(files, plan.wanted, progress, **asked), _AHEAD)
    with closing(read):  # also where an error is held that holds this frame
        if sum(file.size for file in files) >= _WORTH_LOADING:
            load_kernels()  # while the first batches are read
        for place, own in groupby(read, key=lambda batch: batch.path):
            counts = _count_blocks(own, plan, blocks, threads)
            while left and left[0].place != place:  # files of no rows have no batches
                yield [left[0]], counted([], plan)
                del left[0]
            yield left[:1], counts
            del left[:1]
    if left:
        yield left, counted([], plan)


def _count_blocks(read: Iterator[Batch], plan: Plan, blocks: Sequence[Plan], threads: int | None) -> Counts:
    """The counts of one file, whose blocks of columns come one after the other; those of CSV have all columns."""
    plan_of = {tuple(each.wanted): each for each in (plan, *blocks)}
    found = [
        counted(own, plan_of[names], threads=threads)
        for names, own in groupby(read, key=lambda batch: tuple(batch.columns))
    ]
    return found[0] if len(found) == 1 else beside(found, plan)


def count_file(path: str, plan: Plan) -> bytes:
    """The counts of one file, on one thread, to be sent: what a worker of a cluster does."""
    file = DataFile.of(*_named(path), plan.delimiter)
    whole = merged(counts for _, counts in tallies([file], plan, lambda _: None, threads=1))
    return (counted([], plan) if whole is None else whole).to_bytes()


def _named(path: str) -> Found:
    """The file of this very name: a pattern that it looks like may match others, where a worker does not see it."""
    places, named = remote_files(path) if is_remote(path) else ([Path(path)], Path(path).exists())
    if not named:
        raise CredimiError(f"cannot read {path}: there is no such file where it is counted")
    return Found(places[0], places[0].stat())


def check_format(file: DataFile, output: Path) -> None:
    """Refuse a name for a copy of a file that says another format than the copy will have."""
    suffix = next((each for each in map(str.lower, output.suffixes[::-1]) if each not in COMPRESSED), "")
    own, packed = ENDINGS[file.kind], output.suffix.lower() in COMPRESSED
    if _FOREIGN.fullmatch(suffix) and suffix != named_format(
        file.place
    ):  # names lie, and a copy may lie as its source does
        written = "; ".join(f"{', '.join(endings)} for {kind}" for kind, endings in ENDINGS.items())
        raise CredimiError(
            f"{output} ends in {suffix}, which is not written: {file} is {file.kind}, and so is its copy; give it a "
            f"name that ends in {own[0]} (copies end in {written})"
        )
    if (suffix in _TABLES and suffix not in own) or (packed and file.kind in ("Parquet", "Arrow")):
        raise CredimiError(
            f"{file} is {file.kind}, and so is what is written: give {output} a name that ends in {own[0]}"
        )


def copy_columns(file: DataFile, wanted: Sequence[str], output: Path, suffix: str = "") -> None:
    """The same rows with some of the columns, in the same format; texts stay as they are written.

    CSV is compressed if `suffix`, the end of the name that the output will have, says so.
    """
    try:
        if isinstance(file.layout, Header):
            csv_files.copy_columns(file.place, file.layout, wanted, output, suffix)
        elif isinstance(file.layout, ArrowSchema):
            arrow_files.copy_columns(file.place, file.layout, wanted, output)
        elif isinstance(file.layout, JsonFields):
            json_lines.copy_columns(file.place, file.layout, wanted, output, suffix)
        else:
            parquet_files.copy_columns(file.place, wanted, output)
    except OSError as error:
        raise OSError(error.errno, reason(error)) from error
