"""What credimi raises when the input cannot be used: one base class, so that one `except` is enough."""

from credimi.core.public import public, stored


@public
class CredimiError(ValueError):
    """The input was refused; the message names the fault and the remedy.

    It is a `ValueError` as well, so code that knows nothing of credimi still catches it.
    """


@stored
class UncountableError(CredimiError):
    """A column holds what cannot be counted; `what` says it in short, where the others are ranked without it."""

    def __init__(self, message: str, what: str = "") -> None:
        super().__init__(message)
        self.what = what


def one_line(error: BaseException) -> str:
    """What a library has to say, on one line, and not more than fits."""
    return " ".join(str(error).split())[:300]
