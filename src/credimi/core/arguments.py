"""What a caller may pass besides counts: refused here in words, rather than further in by numpy."""

from __future__ import annotations

import math
import reprlib
from numbers import Number
from typing import TYPE_CHECKING

import numpy as np

from credimi.core.errors import CredimiError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from credimi.core.types import FloatArray

_COMPARED = 5_000  # names with which a mistaken one is compared: of each thousand it takes a tenth of a second
_DELIMITERS = ",;\t|^~:\x01\x1f"  # that files may have between their columns


def require_numbers(name: str, values: object) -> FloatArray:
    """Return `values` as an array of doubles, or refuse text, holes and whatever else is no real number, by `name`."""
    try:
        array = np.asarray(values)
        if array.dtype.kind == "O" and all(isinstance(value, Number) for value in array.flat):
            array = array.astype(np.float64)  # fractions, decimals, long integers; a complex number fails here
    except (TypeError, ValueError, OverflowError) as error:
        raise _no_numbers(name, values) from error
    if array.dtype.kind not in "biuf":
        raise _no_numbers(name, values)
    return array.astype(np.float64, copy=False)


def _no_numbers(name: str, values: object) -> CredimiError:
    return CredimiError(f"{name} is {reprlib.repr(values)}, not a number or an array of numbers: pass real numbers")


def require_number(name: str, value: object) -> float:
    """Return `value` as a float (which may be NaN), or refuse it by `name`."""
    if isinstance(value, float):  # nearly always
        return float(value)
    array = require_numbers(name, value)
    if array.ndim:
        raise CredimiError(f"{name} is {reprlib.repr(value)}: pass one number")
    return float(array)


def require_finite(name: str, value: object) -> float:
    """Return `value` as a float, or refuse it by `name`."""
    number = require_number(name, value)
    if not math.isfinite(number):
        raise CredimiError(f"{name} is {number}, but a distribution needs a finite number; check where it came from")
    return number


def require_whole(name: str, value: object, least: int) -> None:
    """Refuse what is not a whole number from `least` up."""
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < least:
        raise CredimiError(f"{name} is {value!r}: it must be a whole number from {least} up")


def require_information(name: str, value: object) -> None:
    """Refuse what is no threshold of information."""
    if not isinstance(value, int | float | np.number) or not 0.0 <= value < math.inf:
        raise CredimiError(f"{name} is {value!r}: it must be a finite number of nats from 0 up")


def require_share(name: str, value: object) -> None:
    """Refuse what is no probability, or a certain one."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not 0.0 < value < 1.0:
        raise CredimiError(f"{name} is {value!r}: it must lie between 0 and 1, such as 0.95 or 0.05")


def make_generator(random_state: int | np.random.Generator | None) -> np.random.Generator:
    """A generator from what the user gave."""
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError) as error:
        raise CredimiError(
            f"random_state is {random_state!r}: pass a whole number from 0 up, or a numpy Generator"
        ) from error


def unknown(name: str, offered: Sequence[str], place: object = "") -> str:
    """A message on a name that is not there, with the nearest ones that are; `place` is where, if it could be two."""
    from difflib import get_close_matches  # noqa: PLC0415  (only a mistake needs it)

    near = get_close_matches(name, offered[:_COMPARED], n=3, cutoff=0.5) or [
        each for each in offered if each.lower() == name.lower()
    ]
    fault = f"there is no column {name!r}{f' in {place}' if place else ''}"
    several = next((each for each in offered if _among(name, each, alone=len(offered) == 1)), None)
    if several is not None:
        return (
            f"{fault}, but {several!r}: if these are several columns, name the character between them "
            "(delimiter, --delimiter)"
        )
    if near:
        return f"{fault}: did you mean {' or '.join(repr(each) for each in near)}?"
    listed = ", ".join(repr(each) for each in offered[:10]) + (", ..." if len(offered) > 10 else "")
    return f"{fault}: there are {listed or 'none'}"


def _among(name: str, others: str, *, alone: bool) -> bool:
    """Whether a name is one of several that were taken for one column; blanks are common in names, unless it is all."""
    return any(name in (fields := others.split(mark)) and len(fields) > 1 for mark in _DELIMITERS + " " * alone)
