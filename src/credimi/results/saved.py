"""Results in files of JSON, every double exactly: `Result.save` writes what `credimi.load` reads.

A record becomes an object with its class under "credimi" and its fields; what JSON lacks (tuples, arrays, numbers that
are not finite, members of enumerations, keys that are no text) becomes an object with one key, the name of its kind.
Only frozen records and enumerations of credimi are made again: no file can name another class. A class that could not
be found again is refused when it is saved.
"""

from __future__ import annotations

import base64
import json
import math
from dataclasses import fields, is_dataclass
from enum import StrEnum
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from credimi.core.atomic_files import write_bytes
from credimi.core.errors import CredimiError

if TYPE_CHECKING:
    from credimi.core.types import Foreign, Value

_CLASS = "credimi"
_COUNTS = b"credimi counts "  # how files of `Counts.save` begin
_KINDS = ("tuple", "array", "number", "items")


def encoded(value: Value) -> Value:
    """A value as JSON has it."""
    match value:
        case StrEnum():
            plain: Value = {_CLASS: _name_of(value), "value": value.value}
        case tuple() | list():
            items = [encoded(each) for each in value]
            plain = items if isinstance(value, list) else {"tuple": items}
        case dict():
            plain = _encoded_items(value)
        case np.ndarray():
            flat = np.ascontiguousarray(value)
            data = base64.b64encode(flat.tobytes()).decode()
            plain = {"array": data, "type": flat.dtype.str, "shape": list(value.shape)}
        case np.generic():
            plain = encoded(value.item())
        case float() if not math.isfinite(value):
            plain = {"number": str(value)}
        case None | bool() | int() | float() | str():
            plain = value
        case _ if is_dataclass(value) and not isinstance(value, type):
            plain = {_CLASS: _name_of(value)}
            plain |= {each.name: encoded(getattr(value, each.name)) for each in fields(value) if each.init}
        case _:
            plain = str(value)
    return plain


def _name_of(value: Value) -> str:
    """The name of a class that `credimi` has, by which `decoded` finds it."""
    name = type(value).__name__
    if getattr(import_module("credimi"), name, None) is not type(value):
        raise TypeError(f"{name} is not among the stored classes of credimi")
    return name


def _encoded_items(items: dict[Value, Value]) -> Value:
    if all(isinstance(key, str) for key in items) and not items.keys() & {_CLASS, *_KINDS}:
        return {key: encoded(each) for key, each in items.items()}
    return {"items": [[encoded(key), encoded(each)] for key, each in items.items()]}


def decoded(value: Value) -> Value:
    """What `encoded` had."""
    match value:
        case list():
            made: Value = [decoded(each) for each in value]
        case {"credimi": name, **parts}:
            made = _made(name, {str(field): decoded(each) for field, each in parts.items()})
        case {"tuple": items}:
            made = tuple(map(decoded, items))
        case {"items": items}:
            made = {decoded(key): decoded(each) for key, each in items}
        case {"array": data, "type": kind, "shape": shape}:
            made = np.frombuffer(base64.b64decode(data), np.dtype(kind)).reshape(shape).copy()
        case {"number": text}:
            made = float(text)
        case dict():
            made = {field: decoded(each) for field, each in value.items()}
        case _:
            made = value
    return made


def _made(name: str, content: dict[str, Value]) -> Value:
    """A record, or a member of an enumeration, of a class that credimi stores."""
    cls: Any = getattr(import_module("credimi"), name, None)
    if isinstance(cls, type) and issubclass(cls, StrEnum):
        return cls(content["value"])
    if not (isinstance(cls, type) and is_dataclass(cls) and cls.__dataclass_params__.frozen):  # type: ignore[attr-defined]
        raise CredimiError(f"{name!r} is no record of a result")
    return cls(**content)


class Saved:
    """What can be saved, and is the same again when it is loaded."""

    __slots__ = ()

    def save(self, path: str | Path) -> None:
        """Write everything to one file of JSON, every number exactly; `credimi.load` reads it."""
        text = json.dumps(encoded(self), ensure_ascii=False, allow_nan=False)
        write_bytes(text.encode(errors="surrogatepass"), path)


def load(path: str | Path) -> Foreign:
    """Read a result that its `save` wrote.

    Parameters
    ----------
    path : path
        The file: JSON, in which every number is exact. Reading it runs no code of the file.

    Returns
    -------
    Result
        Equal to the one that was saved: a result of a question, a `Distribution`, a `Posterior`, a prequential run.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> ranking = credimi.rank({"x": list("aabb") * 25, "y": list("ppqq") * 25}, "y")
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "ranking.json"
    >>> ranking.save(path)
    >>> credimi.load(path) == ranking
    True
    """
    try:
        content = Path(path).read_bytes()
        result = None if content.startswith(_COUNTS) else decoded(json.loads(content.decode(errors="surrogatepass")))
    except OSError as error:
        raise CredimiError(f"{path} cannot be read: {error.strerror or error}") from None
    except (CredimiError, ValueError, TypeError, KeyError, RecursionError) as error:
        raise CredimiError(f"{path} is no saved result ({error}): write one with `save`") from None
    if result is None and content.startswith(_COUNTS):
        raise CredimiError(f"{path} holds counts: read them with credimi.Counts.load")
    if not isinstance(result, Saved):
        raise CredimiError(f"{path} is no saved result: write one with `save`")
    return result
