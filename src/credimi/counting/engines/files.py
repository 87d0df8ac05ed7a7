"""Files: CSV (`delimited`) and Parquet (`parquet`); one, several, a directory or a pattern, here or elsewhere."""

from __future__ import annotations

import os
import stat
from contextlib import closing
from glob import glob, has_magic
from itertools import chain, groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from credimi.columns.encode import load_kernels
from credimi.core.errors import CredimiError, one_line
from credimi.core.remote_files import Remote, identity, is_remote, remote_files
from credimi.core.threads import ahead
from credimi.counting.batch import counted
from credimi.counting.engines import csv_files, parquet_files
from credimi.counting.engines.csv_files import COMPRESSED
from credimi.counting.merge import beside, merged
from credimi.counting.tabulate import CELLS_WORTH_COMPILING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from credimi.core.remote_files import Place
    from credimi.counting.batch import Batch
    from credimi.counting.counts import Counts
    from credimi.counting.request import Plan

    Progress = Callable[[float], None]

_CSV = (".csv", ".tsv")  # what is taken from a directory; a file that is named may have any name
_PARQUET = (".parquet", ".pq")
_WORTH_LOADING = 2 * CELLS_WORTH_COMPILING  # bytes, of which CSV has two a cell at least
_AHEAD = 2  # batches read while the one before is counted, or compiled code loaded for the first


def reads(data: Any) -> bool:  # noqa: ANN401
    """Whether this engine is the one for such data: a path, or a list of them."""
    if isinstance(data, str | Path):
        return True
    return isinstance(data, list | tuple) and bool(data) and all(isinstance(each, str | Path | Remote) for each in data)


def paths_of(data: Any) -> list[Place]:  # noqa: ANN401
    """All files meant by a path, a directory, a pattern, a URL or a list of these."""
    if isinstance(data, list | tuple):
        return list(chain.from_iterable(paths_of(each) for each in data))
    if isinstance(data, Remote):
        return [data]
    if not str(data):
        raise CredimiError("a path is empty: name a file, a directory or a pattern")
    if is_remote(str(data)):
        return _remote(str(data))
    path = Path(data)
    try:
        kind = path.stat().st_mode
    except (OSError, ValueError):
        if has_magic(str(data)):
            return _matching(str(data))
        if str(data) == "-":
            raise CredimiError("data are not read from standard input: save them to a file, and name that") from None
        kind = _kind(path)  # which says what is wrong
    return _inside(path) if stat.S_ISDIR(kind) else [_file(path, kind)]


def _kind(path: Path) -> int:
    """What a path leads to, as `stat` tells it."""
    try:
        return path.stat().st_mode
    except (OSError, ValueError) as error:
        broken = (
            " (it is a link that leads nowhere)" if isinstance(error, FileNotFoundError) and path.is_symlink() else ""
        )
        raise CredimiError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}{broken}") from None


def _inside(directory: Path) -> list[Place]:
    """The tables below a directory. One that cannot be looked at is an error: its rows would be missing unsaid."""

    def refuse(error: OSError) -> None:
        raise CredimiError(f"cannot read the directory {error.filename}: {error.strerror or error}") from None

    below = (Path(folder, name) for folder, _, names in os.walk(directory, onerror=refuse) for name in names)
    return _known([each for each in below if _is_table(each) and stat.S_ISREG(_kind(each))], directory)


def _file(path: Path, kind: int) -> Path:
    """The same, unless it gives its bytes once."""
    if stat.S_ISFIFO(kind) or stat.S_ISSOCK(kind):
        raise CredimiError(f"{path} is a pipe, and data are read more than once: save them to a file, and name that")
    return path


def each_once(paths: list[Place]) -> list[Place]:
    """The same, unless a file is among them twice, by whatever names."""
    seen: dict[object, Place] = {}
    for path in paths:
        other = seen.setdefault(identity(path), path)
        if other is not path:
            also = "" if str(other) == str(path) else f", as {other}, too"
            raise CredimiError(
                f"{path} is named twice{also}: its rows would count twice; name it once, or add up counts made apart"
            )
    return paths


def _matching(pattern: str) -> list[Place]:
    kinds = {path: _kind(path) for path in map(Path, sorted(glob(pattern, recursive=True)))}  # noqa: PTH207  (absolute patterns too)
    found = sorted(_file(path, kind) for path, kind in kinds.items() if not stat.S_ISDIR(kind))
    if not found:
        raise CredimiError(f"no file matches {pattern}: check the path, and put a pattern in quotes")
    return _without_copies(found)


def _remote(url: str) -> list[Place]:
    found, named = remote_files(url)
    if named:
        return list(found)
    return _without_copies(found) if has_magic(url) else _known(found, url)


def _known(found: Sequence[Any], directory: object) -> list[Place]:
    """Those of a directory's files that hold tables, by their names."""
    known = sorted(each for each in found if _is_table(each))
    if not known:
        raise CredimiError(f"the directory {directory} holds no CSV or Parquet file")
    return _without_copies(known)


def _without_copies(found: Sequence[Any]) -> list[Place]:
    """The same files, unless one of those that were not named one by one is another, packed."""
    seen: dict[str, Place] = {}
    for each in found:
        name = str(each)
        unpacked = name[: -len(each.suffix)] if each.suffix.lower() in COMPRESSED else name
        other = seen.setdefault(unpacked, each)
        if other is not each:
            raise CredimiError(
                f"{other} and {each} look like the same rows, packed and not, which would count twice: move one of "
                "them away, or name each file"
            )
    return list(found)


def _is_table(path: Place) -> bool:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in COMPRESSED:
        suffixes.pop()
    return bool(suffixes) and suffixes[-1] in _CSV + _PARQUET and not path.name.startswith(".")


def is_parquet(path: Place) -> bool:
    """By its first bytes: names lie. Only where there are none is the name all that is known."""
    try:
        with path.open("rb") as file:
            first = file.read(4)
    except OSError as error:
        raise CredimiError(f"cannot read {path}: {error.strerror or error}") from error
    if not first and path.suffix.lower() in _PARQUET:
        raise CredimiError(f"{path} is empty, which no Parquet file is: write it again, or leave it out")
    return bool(first == b"PAR1")


def names(paths: Sequence[Place], delimiter: str | None = None) -> list[str]:
    """The columns' names, those of the first file; the others must have the same.

    The delimiter is that of CSV files, and refused where it is none or there are no such files.
    """
    csv_files.check_delimiter(delimiter)
    if delimiter is not None and all(map(is_parquet, paths)):
        raise CredimiError(
            f"{paths[0]} is Parquet, and has no delimiter: leave it out (delimiter, --delimiter), it is for CSV files"
        )
    first = _names(paths[0], delimiter)
    for path in paths[1:]:
        other = _names(path, delimiter)
        if set(other) != set(first):
            apart = min(set(first) ^ set(other))
            between = "" if delimiter is None else f", with {delimiter!r} between the fields of both"
            raise CredimiError(f"{paths[0]} and {path} differ: only one of them has the column {apart!r}{between}")
    return first


def _names(path: Place, delimiter: str | None) -> list[str]:
    return parquet_files.names(path) if is_parquet(path) else csv_files.names(path, delimiter)


def sizes_of(paths: Sequence[Place]) -> list[int]:
    """How many bytes each file has; of those elsewhere each answer is a request."""
    return [path.stat().st_size for path in paths]


def batches(
    paths: Sequence[Place],
    sizes: Sequence[int],
    wanted: Sequence[str],
    progress: Progress,
    blocks: Sequence[Sequence[str]] = (),
    *,
    threads: int | None = None,
    delimiter: str | None = None,
) -> Iterator[Batch]:
    """The wanted columns, part by part; where the format has columns apart, one block after the other."""
    total = max(sum(sizes), 1)
    before = 0
    for path, size in zip(paths, sizes, strict=True):

        def told(done: float, before: int = before, size: int = size) -> None:
            progress((before + done * size) / total)

        if is_parquet(path):
            yield from parquet_files.batches(path, blocks or [wanted], total / max(size, 1), told)
        else:
            yield from csv_files.batches(path, wanted, total, told, threads, delimiter=delimiter)
        before += size


def tallies(
    paths: Sequence[Place], plan: Plan, progress: Progress, threads: int | None = None
) -> Iterator[tuple[Sequence[Place], Counts]]:
    """Each file and its counts: a batch is read while the one before is counted."""
    left = list(paths)
    blocks = plan.blocks(parquet_files.COLUMNS)
    columns, sizes = [block.wanted for block in blocks], sizes_of(paths)
    made = batches(paths, sizes, plan.wanted, progress, columns, threads=threads, delimiter=plan.delimiter)
    read = ahead(made, _AHEAD)
    with closing(read):  # also where an error is held that holds this frame
        if sum(sizes) >= _WORTH_LOADING:
            load_kernels()  # while the first batches are read
        for path, own in groupby(read, key=lambda batch: batch.path):
            counts = _count_blocks(own, plan, blocks, threads)
            while left and left[0] != path:  # files of no rows have no batches
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
    whole = merged(counts for _, counts in tallies([_named(path)], plan, lambda _: None, threads=1))
    return (counted([], plan) if whole is None else whole).to_bytes()


def _named(path: str) -> Place:
    """The file of this very name: a pattern that it looks like may match others, where a worker does not see it."""
    found, named = remote_files(path) if is_remote(path) else ([Path(path)], Path(path).exists())
    if not named:
        raise CredimiError(f"cannot read {path}: there is no such file where it is counted")
    return found[0]


def check_format(path: Place, output: Path) -> None:
    """Refuse a name for a copy of `path` that says another format than the copy will have."""
    suffix = next((each for each in map(str.lower, output.suffixes[::-1]) if each not in COMPRESSED), "")
    if is_parquet(path) and (suffix in _CSV or output.suffix.lower() in COMPRESSED):
        raise CredimiError(f"{path} is Parquet, and so is what is written: give {output} a name that ends in .parquet")
    if not is_parquet(path) and suffix in _PARQUET:
        raise CredimiError(f"{path} is CSV, and so is what is written: give {output} a name that ends in .csv")


def copy_columns(
    path: Place, wanted: Sequence[str], output: Path, suffix: str = "", delimiter: str | None = None
) -> None:
    """The same rows with some of the columns, in the same format; texts stay as they are written.

    CSV is compressed if `suffix`, the end of the name that the output will have, says so.
    """
    try:
        if is_parquet(path):
            parquet_files.copy_columns(path, wanted, output)
        else:
            csv_files.copy_columns(path, wanted, output, suffix, delimiter)
    except OSError as error:  # pyarrow words them in its own way
        raise OSError(error.errno, os.strerror(error.errno) if error.errno else one_line(error)) from error
