"""Public classes say that they are `credimi`'s own, so that pickles of them survive a move inside."""

from __future__ import annotations

from typing import TypeVar

Class = TypeVar("Class", bound=type)


def public(cls: Class) -> Class:
    """The class as `credimi.<name>`, which is how pickle, tracebacks and documentation call it."""
    cls.__module__ = "credimi"
    return cls
