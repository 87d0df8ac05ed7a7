"""Local and remote files: a `Path` of this machine, or a `Remote` file that offers the same few methods.

pyarrow knows what a URL means for s3, gs, hdfs, abfss and others. If fsspec is installed, it is used for all other
schemes (https, sftp, memory ...). Both find keys and endpoints in their usual places: in the environment, in their
configuration, in the URL.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, NamedTuple, TypeAlias
from urllib.parse import unquote

from credimi.core.errors import CredimiError, lacks_memory, one_line

if TYPE_CHECKING:
    from credimi.core.types import Foreign

_URL = re.compile(r"[a-z][a-z0-9+.-]+://", re.IGNORECASE)  # at least two letters: C:// is a drive


class Status(NamedTuple):
    """What `Path.stat` would say; 0 if unknown."""

    st_size: int
    st_mtime_ns: int


@dataclass(frozen=True, order=True)
class Remote:
    """A remote file, by its URL."""

    url: str
    filesystem: Foreign = field(compare=False, repr=False)
    inside: str = field(compare=False, repr=False)  # the path inside the filesystem
    status: Status = field(compare=False, repr=False)  # from when the file was found: asking again is a request

    def __str__(self) -> str:
        return self.url

    @property
    def name(self) -> str:
        """The last part."""
        return PurePosixPath(self.inside).name

    @property
    def suffix(self) -> str:
        """The ending of the name, with its dot."""
        return PurePosixPath(self.inside).suffix

    @property
    def suffixes(self) -> list[str]:
        """All endings of the name."""
        return PurePosixPath(self.inside).suffixes

    def absolute(self) -> Remote:
        """The file itself: a URL is always absolute."""
        return self

    def stat(self) -> Status:
        """Size and time of change."""
        return self.status

    def open(self, mode: str = "rb") -> Foreign:
        """Open the file to read bytes at any position; it cannot be written."""
        if mode != "rb":
            raise ValueError(f"mode {mode!r} of a remote file")
        return self.filesystem.open_input_file(self.inside)


Place: TypeAlias = Path | Remote


def opened(file: Place, *, stream: bool = False) -> Foreign:
    """The bytes of a file; as a `stream` from first to last. All data are opened here: for a URL this is a request."""
    import pyarrow as pa  # noqa: PLC0415  (it takes a while to load)

    try:
        if isinstance(file, Remote):
            return file.filesystem.open_input_stream(file.inside, compression=None) if stream else file.open()
        return pa.OSFile(os.fsencode(file))  # bytes, as a name need not be text
    except (OSError, pa.ArrowException) as error:
        if lacks_memory(error):
            raise
        raise CredimiError(f"cannot read {file}: {reason(error)}") from error


def reason(error: Exception) -> str:
    """Why a file could not be opened or read; pyarrow has its own wording."""
    number = getattr(error, "errno", None)
    return os.strerror(number) if number else one_line(error)


def is_remote(data: str) -> bool:
    """Whether this is a URL."""
    return bool(_URL.match(data))


def local_path(file: Place | str) -> Path | None:
    """The path of a local file; None if the file is remote. A URL may name a local file, too."""
    if isinstance(file, Path) or not is_remote(str(file)):
        return Path(str(file))
    scheme, _, rest = str(file).partition("://")
    if scheme.lower() not in ("file", "local"):
        return None
    # file:///C:/a.csv is C:/a.csv
    return Path(file.inside) if isinstance(file, Remote) else Path(re.sub(r"^/(?=[A-Za-z]:)", "", unquote(rest)))


def identity(file: Place | str, status: os.stat_result | None = None) -> object:
    """A key that all names of a file share, hard links and URLs included; `status` is its `stat`, if known."""
    path = local_path(file)
    if path is None:
        return str(file)
    try:
        status = status or path.stat()
    except (OSError, ValueError):
        return str(path)
    return (status.st_dev, status.st_ino) if status.st_ino else str(path.resolve())


def remote_files(url: str) -> tuple[list[Remote], bool]:
    """The files that a URL means, and whether it names one file; otherwise it names a directory or a pattern."""
    from pyarrow import fs  # noqa: PLC0415  (who has local files need not load it)

    literal = re.split(r"[*?\[]", url, maxsplit=1)[0]
    is_pattern = len(literal) < len(url) and "?" not in literal and not _has_query(url)
    root = literal.rpartition("/")[0] if is_pattern else url
    try:
        filesystem, inside = _filesystem_of(root, fs)
        info = filesystem.get_file_info(inside)
        kind = info.type
        selector = fs.FileSelector(inside, recursive=True)
        below = filesystem.get_file_info(selector) if kind == fs.FileType.Directory else []
    except CredimiError:
        raise
    except (OSError, ImportError, ValueError) as error:  # ValueError: of pyarrow, for a URL that it cannot read
        raise CredimiError(
            f"cannot read {url}: {one_line(error)}; check the address, and install what fsspec needs for it"
        ) from error
    if kind == fs.FileType.NotFound:
        raise CredimiError(f"cannot read {url}: there is no such file or directory")
    if kind != fs.FileType.Directory and not is_pattern:
        return [Remote(url, filesystem, inside, _status(info))], True
    start = len(inside.rstrip("/"))
    files = [
        Remote(root.rstrip("/") + file.path[start:], filesystem, file.path, _status(file))
        for file in below
        if file.type == fs.FileType.File
    ]
    exact = [file for file in files if file.url == url]  # a name may look like a pattern
    if exact:
        return exact, True
    if is_pattern:
        expression = _regular_expression(url[len(root) :])
        may_be_hidden = url.rpartition("/")[2].startswith(".")  # hidden files must be named
        files = [
            file
            for file in files
            if expression.fullmatch(file.url[len(root) :]) and file.name.startswith(".") <= may_be_hidden
        ]
        if not files:
            raise CredimiError(f"no file matches {url}: check the address, and put a pattern in quotes")
    return sorted(files), False


def _status(info: Foreign) -> Status:
    return Status(info.size or 0, info.mtime_ns or 0)


def _has_query(url: str) -> bool:
    """Whether a question mark begins parameters: s3://bucket/file?region=..."""
    return bool(re.search(r"\?[A-Za-z_]+=", url))


def _filesystem_of(url: str, fs: Foreign) -> tuple[Foreign, str]:
    """The filesystem of a URL, and the path inside it."""
    try:
        filesystem_and_path: tuple[Foreign, str] = fs.FileSystem.from_uri(url)
    except ValueError as error:  # pyarrow has none for this scheme
        try:
            from fsspec.core import url_to_fs  # noqa: PLC0415  (an extra, for places that pyarrow does not know)
        except ImportError:
            raise CredimiError(
                f"cannot read {url}: {one_line(error)}; for other kinds of addresses: "
                "pip install fsspec, and the package that it needs for this one"
            ) from None
        filesystem, inside = url_to_fs(url)
        return fs.PyFileSystem(fs.FSSpecHandler(filesystem)), inside
    return filesystem_and_path


def _regular_expression(pattern: str) -> re.Pattern[str]:
    """A pattern as a regular expression: * within a directory, ** across directories."""
    translated = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    pieces = re.split(r"(\*\*/|\*\*|\*|\?|\[!?[^\]]+\])", pattern)
    return re.compile(
        "".join(
            translated.get(piece) or (piece.replace("[!", "[^", 1) if piece.startswith("[") else re.escape(piece))
            for piece in pieces
        )
    )


def source_of(data: object) -> str:
    """The paths of the data, if they came from files."""
    if isinstance(data, str | Path):
        return str(data)
    if isinstance(data, list | tuple) and data and all(isinstance(each, str | Path) for each in data):
        return ", ".join(map(str, data[:5])) + (f" and {len(data) - 5:,} more" if len(data) > 5 else "")
    return ""
