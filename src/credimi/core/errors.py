"""The errors that credimi raises if the input cannot be used: one base class, so that one `except` is enough."""

from __future__ import annotations

import errno
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING

from credimi.core.public import public, stored

if TYPE_CHECKING:
    from collections.abc import Iterator

_NO_MEMORY = re.compile(r"(m|re)alloc of size \d+ failed|std::bad_alloc")  # as pyarrow begins such a message
_NO_MEMORY_WITHIN = re.compile("cannot allocate memory|not enough memory|out of memory", re.IGNORECASE)


@public
class CredimiError(ValueError):
    """The input was refused; the message names the fault and the remedy.

    It is a `ValueError` as well, so code that does not know credimi still catches it.
    """


@stored
class UncountableError(CredimiError):
    """A column holds values that cannot be counted; `what` describes them briefly, for a ranking without it."""

    def __init__(self, message: str, what: str = "") -> None:
        super().__init__(message)
        self.what = what


class TooManyClassesError(CredimiError):
    """The target has too many values to be classes; if these are numbers, it may be a number."""


class NoRowsError(CredimiError):
    """The data have no rows; who knows where the data come from can say so."""


class NoMemoryError(CredimiError):
    """There is too little memory: the data are not at fault."""

    def __init__(self, what: str, error: BaseException) -> None:
        why = one_line(error)
        super().__init__(
            f"there is too little memory {what}{f' ({why})' if why else ''}: select and interactions keep codes in a "
            "folder (scratch, --scratch); elsewhere name fewer columns (features, --features), or count the data in "
            "parts and add the counts up"
        )


def lacks_memory(error: BaseException) -> bool:
    """Whether this error of Python or of a library means that there is too little memory.

    Only the messages of the system are searched as a whole: those of a parser may quote the data.
    """
    if isinstance(error, MemoryError):  # that of pyarrow, too
        return True
    if isinstance(error, OSError):
        return error.errno == errno.ENOMEM or bool(_NO_MEMORY_WITHIN.search(str(error)) or _NO_MEMORY.match(str(error)))
    return not isinstance(error, CredimiError) and bool(_NO_MEMORY.match(str(error)))


@contextmanager
def memory_named(what: str) -> Iterator[None]:
    """Raise an error of ours if there is too little memory for `what`, such as "to read a file"."""
    try:
        yield
    except Exception as error:
        if not lacks_memory(error):
            raise
        raise NoMemoryError(what, error) from error


def cannot_count(where: str, held: str, what: str) -> UncountableError:
    """The error for a column, or a value in it, of a kind that cannot be counted."""
    return UncountableError(
        f"{where} holds {held}: only text, numbers, booleans and categories can be counted; convert it, or leave it "
        "out (exclude, --exclude; for scikit-learn, of X)",
        what,
    )


def one_line(error: BaseException) -> str:
    """The message of a library's error, on one line, and shortened if it is long."""
    return shortened(str(error))


def shortened(message: str) -> str:
    """The message on one line, and shortened if it is long."""
    return " ".join(message.split())[:300]
