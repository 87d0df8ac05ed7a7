"""What credimi raises when the input cannot be used: one base class, so that one `except` is enough."""


class CredimiError(ValueError):
    """The input was refused; the message names the fault and the remedy.

    It is a `ValueError` as well, so code that knows nothing of credimi still catches it.
    """
