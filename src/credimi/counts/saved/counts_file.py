r"""The counts file: a line that names the format, a header in JSON, arrays, a digest (docs/counts-format.md).

    b"credimi counts 1\n"
    8 bytes, the header's length, little endian
    the header, JSON in UTF-8; its "arrays" lists [name, type, length] of what follows
    the arrays, little endian, one after the other
    32 bytes, SHA-256 of everything before

The file holds no code, so reading it cannot run anything. A file that was cut short or altered fails its digest.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from credimi.core.atomic_files import write_bytes
from credimi.core.errors import CredimiError, one_line

if TYPE_CHECKING:
    from credimi.core.remote_files import Place
    from credimi.core.types import AnyArray, Record, Value

NAME = b"credimi counts "  # the beginning of such a file
_VERSION = b"1\n"
_TYPES = {"int64": "<i8", "float64": "<f8"}
_DIGEST_BYTES = 32


def save(header: Record, arrays: dict[str, AnyArray], path: str | Path) -> None:
    """Write header and arrays; the file is complete or absent."""
    write_bytes(packed(header, arrays), path)


def packed(header: Record, arrays: dict[str, AnyArray]) -> bytes:
    """The content of a file; counts are also sent between processes in this form."""
    array_records = [[name, array.dtype.name, array.size] for name, array in arrays.items()]
    text = json.dumps(header | {"arrays": array_records}, ensure_ascii=False).encode()
    parts = [NAME + _VERSION, len(text).to_bytes(8, "little"), text]
    parts += [array.astype(_TYPES[array.dtype.name], copy=False).tobytes() for array in arrays.values()]
    body = b"".join(parts)
    return body + hashlib.sha256(body).digest()


def load(path: str | Place) -> tuple[Record, dict[str, AnyArray]]:
    """Read header and arrays."""
    try:
        with (Path(path) if isinstance(path, str) else path).open("rb") as file:
            content = file.read(len(NAME))
            if content == NAME:  # a device without an end is no counts file
                content += file.read()
    except OSError as error:
        raise CredimiError(f"cannot read {path}: {error.strerror or error}") from error
    return unpacked(content, path)


def unpacked(content: bytes, path: str | Place) -> tuple[Record, dict[str, AnyArray]]:
    """Header and arrays from what `packed` made; `path` is its origin, for messages."""
    if not content.startswith(NAME):
        raise CredimiError(f"{path} does not hold counts of credimi: pass a file that `credimi count` or save() wrote")
    start = len(NAME) + len(_VERSION)
    if content[len(NAME) : start] != _VERSION:
        version = content[len(NAME) :].split(b"\n", 1)[0][:20].decode(errors="replace")
        raise CredimiError(
            f"{path} has format version {version}, which this credimi does not know: install a newer one"
        )
    body = content[:-_DIGEST_BYTES]
    if len(content) < start + 8 + _DIGEST_BYTES or hashlib.sha256(body).digest() != content[-_DIGEST_BYTES:]:
        raise CredimiError(f"{path} is damaged or was cut short: count the data again")
    try:
        return _parsed(body, start + 8)
    except (AttributeError, KeyError, OverflowError, RecursionError, TypeError, ValueError) as error:
        raise CredimiError(no_counts(path, error)) from error


def no_counts(path: str | Place, fault: Exception) -> str:
    """The error for a file whose bytes are intact, but whose content is wrong."""
    return (
        f"{path} was not written by credimi's save() ({one_line(fault) or type(fault).__name__}): count the data again"
    )


def _parsed(body: bytes, start: int) -> tuple[Record, dict[str, AnyArray]]:
    """Header and arrays; the header starts here, after its length."""
    end = start + int.from_bytes(body[start - 8 : start], "little")
    if end > len(body):
        raise ValueError("the header is longer than the file")
    header = json.loads(body[start:end], object_pairs_hook=_without_repeated_keys)
    arrays: dict[str, AnyArray] = {}
    for name, kind, size in header.pop("arrays"):
        if name in arrays or not isinstance(size, int) or isinstance(size, bool) or size < 0:
            raise ValueError(f"the array {name!r} is repeated, or has no size")
        if kind not in _TYPES:
            raise ValueError(f"the array {name!r} has the type {kind!r}")
        array = np.frombuffer(body, dtype=_TYPES[kind], count=size, offset=end).astype(kind)
        end += array.nbytes
        arrays[name] = array
    if end != len(body):
        raise ValueError("the arrays do not end at the end of the file")
    return header, arrays


def _without_repeated_keys(pairs: list[tuple[str, Value]]) -> Record:
    record = dict(pairs)
    if len(record) < len(pairs):
        raise ValueError("a key of the header is repeated")
    return record
