"""The files that a command reads and writes, checked before the work."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import TYPE_CHECKING

from credimi.cli import standard_input
from credimi.core.errors import CredimiError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from credimi.core.command import Command
    from credimi.sources.data_file import DataFile


def files_with_rows(options: argparse.Namespace, *, twice: bool = False) -> list[DataFile]:
    """The files that DATA names; a file of counts is refused, since it has no rows."""
    data = files(options, twice=twice)
    for file in data:
        if file.is_counts:
            raise CredimiError(f"{file} holds counts, not rows: name the data")
    return data


def files(options: argparse.Namespace, *, twice: bool = False) -> list[DataFile]:
    """The files that DATA names; with `twice`, a file that is named twice is returned twice.

    An output that is one of them, or cannot be written, is refused.
    """
    data = files_of(options.data, options, twice=twice)
    options.data = [standard_input.NAME if name == "-" else name for name in options.data]  # as messages name it
    return data


def files_of(data: Sequence[str], options: argparse.Namespace, *, twice: bool = False) -> list[DataFile]:
    """The files that these words of DATA name."""
    from credimi.sources.files import data_files

    format_ = getattr(options, "input_format", None)  # not an option of `compare`
    delimiter = getattr(options, "delimiter", None)
    if "-" not in data:
        if format_ is not None:
            raise CredimiError(f"--input-format is for standard input (-): that of {data[0]} is found from its bytes")
        return _checked_against_outputs(data_files(list(data), delimiter, twice=twice), options)
    paths = [standard_input.saved(options) if name == "-" else name for name in data]
    files = _checked_against_outputs(data_files(paths, delimiter, twice=twice), options)
    for file in files:
        if format_ and file.place == options.saved and file.kind != standard_input.FORMATS[format_]:
            raise CredimiError(
                f"standard input is {file.kind}, and no {standard_input.FORMATS[format_]}: leave --input-format out, "
                "or correct it"
            )
    return files


def _checked_against_outputs(files: list[DataFile], options: argparse.Namespace) -> list[DataFile]:
    """The same files; an error if one of them is also an output, or an output cannot be written."""
    for output in _outputs(options).values():
        check_output(output, [file.identity for file in files])
    return files


def _outputs(options: argparse.Namespace) -> dict[str, str]:
    """The files that are written, by their options."""
    given = {f"--{name}": getattr(options, name, None) for name in ("output", "html", "plot", "into")}
    return {name: path for name, path in given.items() if path is not None and path != "-"}


def check_outputs(options: argparse.Namespace, command: Command) -> None:
    """Before the work is done, refuse files that could not be written."""
    if getattr(options, "csv_safe", False) and options.format != "csv" and not command.csv_safe:
        raise CredimiError("--csv-safe is for CSV: add --format csv, or leave it out")
    if "-" in {getattr(options, name, None) for name in ("html", "plot")}:
        raise CredimiError("a page or a picture needs a file of its own, not standard output")
    outputs = _outputs(options)
    for output in outputs.values():
        check_output(output, [])
    if len({Path(path).resolve() for path in outputs.values()}) < len(outputs):
        raise CredimiError(f"{' and '.join(outputs)} name the same file: give each its own")
    if "--plot" in outputs:
        from credimi.results import figures

        figures.picture_kind(options.plot)
        figures.require_matplotlib()


def check_output(output: str | None, inputs: Sequence[object]) -> None:
    """Before the work, refuse an output whose directory does not exist, or that is one of the inputs (identities)."""
    if output is None or output == "-":
        return
    from credimi.core.remote_files import identity

    path = Path(output)
    try:
        path.exists()
    except (OSError, ValueError) as error:  # a name that is too long, or no name at all
        raise CredimiError(f"{output} cannot be written: {getattr(error, 'strerror', None) or error}") from None
    if not output or path.is_dir():
        raise CredimiError(f"{output!r} is {'a directory' if output else 'empty'}: name a file to write")
    if not path.parent.is_dir():
        raise CredimiError(f"{output} cannot be written: there is no directory {path.parent}")
    writes_beside = path.is_file() or not path.exists()  # a device or a pipe is written to directly
    if writes_beside and not os.access(path.parent, os.W_OK):
        raise CredimiError(f"{output} cannot be written: {os.strerror(errno.EACCES)}")
    if path.exists() and identity(path) in inputs:  # under any name, including links and URLs
        raise CredimiError(f"{output} is the input: name another file")
