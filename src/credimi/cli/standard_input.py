"""Data from standard input: saved to a file while the command works, because data are read more than once."""

from __future__ import annotations

import shutil
import sys
import tempfile
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from credimi.core.errors import CredimiError, NoRowsError
from credimi.core.temporary_files import owned

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

NAME = "standard input"
FORMATS = {"csv": "CSV", "jsonl": "JSON lines", "parquet": "Parquet", "feather": "Arrow"}
_COMPRESSION_SUFFIXES = {b"\x1f\x8b": ".gz", b"\x28\xb5\x2f\xfd": ".zst", b"BZh": ".bz2"}
_MAX_MAGIC_BYTES = 4


@contextmanager
def temporary_copy(options: argparse.Namespace) -> Iterator[None]:
    """Delete the file with the content of standard input (`options.saved`) after the command; errors do not name it."""
    options.saved = None
    with ExitStack() as options.until_the_end:
        try:
            yield
        except CredimiError as error:
            if options.saved is None:
                raise
            if isinstance(error, NoRowsError):  # its message names no file
                raise CredimiError(f"{NAME}: {error}") from error
            raise CredimiError(str(error).replace(str(options.saved), NAME)) from error


def saved(options: argparse.Namespace) -> Path:
    """The file with the content of standard input: written once, when it is needed. Its name shows the format."""
    if options.saved is not None:
        raise CredimiError("- is named twice, but standard input can be read only once: name it once")
    if sys.stdin is None or sys.stdin.closed:
        raise CredimiError("standard input is closed: pipe the data into credimi, or name a file")
    if sys.stdin.isatty():
        raise CredimiError("standard input is a terminal: pipe the data into credimi, or name a file")
    stream = sys.stdin.buffer
    format_suffix = f".{options.input_format}" if getattr(options, "input_format", None) else ""
    try:
        first_bytes = stream.read(_MAX_MAGIC_BYTES)
        compression_suffix = next(
            (suffix for magic, suffix in _COMPRESSION_SUFFIXES.items() if first_bytes.startswith(magic)), ""
        )
        folder: Path = options.until_the_end.enter_context(owned(Path(tempfile.gettempdir())))
        folder.mkdir(0o700)
        path = folder / f"{NAME}{format_suffix}{compression_suffix}"
        options.saved = path
        with path.open("wb") as file:
            file.write(first_bytes)
            shutil.copyfileobj(stream, file, 1 << 20)
    except OSError as error:
        raise CredimiError(f"standard input cannot be read and stored: {error.strerror or error}") from error
    return path
