"""Checks of arguments other than counts, so that the caller gets a clear error instead of one from inside numpy."""

from __future__ import annotations

import math
import reprlib
from numbers import Number
from typing import TYPE_CHECKING

import numpy as np

from credimi.core.command import option
from credimi.core.errors import CredimiError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from credimi.core.types import FloatArray

_MAX_NAMES_COMPARED = 5_000  # a wrong name is compared with so many; a thousand take a tenth of a second
_DELIMITERS = ",;\t|^~:\x01\x1f"  # possible delimiters of files
_SHOWN_DELIMITERS = ",;\t|^~: "  # those that an error message may suggest
_DELIMITER_WORDS = {"\t": "tab", " ": "space"}  # as the command line names them
_MAX_CHARACTERS_SHOWN = 40


def require_numbers(name: str, values: object) -> FloatArray:
    """Return `values` as an array of doubles; refuse text, missing values and other things that are no real numbers."""
    try:
        array = np.asarray(values)
        if array.dtype.kind == "O" and all(isinstance(value, Number) for value in array.flat):
            array = array.astype(np.float64)  # fractions, decimals, long integers; a complex number fails here
    except (TypeError, ValueError, OverflowError) as error:
        raise _not_numbers_error(name, values) from error
    if array.dtype.kind not in "biuf":
        raise _not_numbers_error(name, values)
    return array.astype(np.float64, copy=False)


def _not_numbers_error(name: str, values: object) -> CredimiError:
    return CredimiError(f"{name} is {reprlib.repr(values)}, not a number or an array of numbers: pass real numbers")


def require_number(name: str, value: object) -> float:
    """Return `value` as a float (which may be NaN), or refuse it; `name` is for the message."""
    if isinstance(value, float):  # the usual case
        return float(value)
    array = require_numbers(name, value)
    if array.ndim:
        raise CredimiError(f"{name} is {reprlib.repr(value)}: pass one number")
    return float(array)


def require_finite(name: str, value: object) -> float:
    """Return `value` as a finite float, or refuse it; `name` is for the message."""
    number = require_number(name, value)
    if not math.isfinite(number):
        raise CredimiError(f"{name} is {number}, but a distribution needs a finite number; check where it came from")
    return number


def require_whole(name: str, value: object, minimum: int) -> None:
    """Refuse a value that is not a whole number from `minimum` up."""
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < minimum:
        raise CredimiError(f"{name} is {value!r}: it must be a whole number from {minimum} up")


def require_information(name: str, value: object) -> None:
    """Refuse a value that cannot be a threshold of information."""
    if not isinstance(value, int | float | np.number) or not 0.0 <= value < math.inf:
        raise CredimiError(f"{name} is {value!r}: it must be a finite number of nats from 0 up")


def require_share(name: str, value: object) -> None:
    """Refuse a value that is not strictly between 0 and 1."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not 0.0 < value < 1.0:
        raise CredimiError(f"{name} is {value!r}: it must lie between 0 and 1, such as 0.95 or 0.05")


def make_generator(random_state: int | np.random.Generator | None) -> np.random.Generator:
    """A random generator from the user's argument."""
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError) as error:
        raise CredimiError(
            f"random_state is {random_state!r}: pass a whole number from 0 up, or a numpy Generator"
        ) from error


def similar(name: str, offered: Sequence[str]) -> list[str]:
    """The names that are most similar to an unknown one."""
    from difflib import get_close_matches  # noqa: PLC0415  (only a mistake needs it)

    return get_close_matches(name, offered[:_MAX_NAMES_COMPARED], n=3, cutoff=0.5) or [
        column for column in offered if column.lower() == name.lower()
    ]


def unknown(name: str, offered: Sequence[str], source: object = "") -> str:
    """The message for an unknown column name, with the most similar names; `source` says where, if needed."""
    near = similar(name, offered)
    fault = f"there is no column {name!r}{f' in {source}' if source else ''}"
    joined_names = next((column for column in offered if _is_one_of(name, column, offered)), None)
    if joined_names is not None:
        return (
            f"{fault}, but {joined_names!r}: if these are several columns, name the character between them "
            "(delimiter, --delimiter)"
        )
    if "," in name and {*name.split(",")} <= {*offered}:
        return f"{fault}: name each column by itself, without commas ({', '.join(map(repr, name.split(',')))})"
    if len(offered) == 1 and not near and (delimiter := _likely_delimiter(offered[0])):
        return (
            f"{fault}, but only {_beginning(offered[0])}: if these are several columns, name the character between "
            f"them (delimiter={delimiter!r}, {option('--delimiter', _DELIMITER_WORDS.get(delimiter, delimiter))})"
        )
    if near:
        return f"{fault}: did you mean {' or '.join(repr(column) for column in near)}?"
    listed_names = ", ".join(map(_beginning, offered[:10])) + (", ..." if len(offered) > 10 else "")
    return f"{fault}: there are {listed_names or 'none'}"


def _likely_delimiter(name: str) -> str:
    """The most frequent possible delimiter in a header line that was read as one name; empty if there is none."""
    stripped = name.strip()
    return max((delimiter for delimiter in _SHOWN_DELIMITERS if delimiter in stripped), key=stripped.count, default="")


def _beginning(name: str) -> str:
    return repr(name) if len(name) <= _MAX_CHARACTERS_SHOWN else f"{name[:_MAX_CHARACTERS_SHOWN]!r}..."


def _is_one_of(name: str, joined_names: str, offered: Sequence[str]) -> bool:
    """Whether a name is one of several that were read as one column.

    At least half of all names have a comma then, because a single one may have been quoted. A blank is a delimiter only
    in a name that stands alone.
    """
    return any(
        name in (fields := joined_names.split(delimiter))
        and len(fields) > 1
        and (delimiter != "," or 2 * sum("," in column for column in offered) >= len(offered))
        for delimiter in _DELIMITERS + " " * (len(offered) == 1)
    )
