"""The errors that credimi raises if the input cannot be used: one base class, so that one `except` is enough."""

from credimi.core.public import public, stored


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


class NoRowsError(CredimiError):
    """The data have no rows; who knows where the data come from can say so."""


def cannot_count(where: str, held: str, what: str) -> UncountableError:
    """The error for a column, or a value in it, of a kind that cannot be counted."""
    return UncountableError(
        f"{where} holds {held}: only text, numbers, booleans and categories can be counted; convert it, or leave it "
        "out (exclude, --exclude)",
        what,
    )


def one_line(error: BaseException) -> str:
    """The message of a library's error, on one line, and shortened if it is long."""
    return shortened(str(error))


def shortened(message: str) -> str:
    """The message on one line, and shortened if it is long."""
    return " ".join(message.split())[:300]
