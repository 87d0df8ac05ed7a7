"""Classes that pickles name say that they are `credimi`'s own, so that pickles survive a move inside."""

from __future__ import annotations

from typing import TypeVar

Class = TypeVar("Class", bound=type)


def public(cls: Class) -> Class:
    """The class as `credimi.<name>`, which is how pickle, tracebacks and documentation call it."""
    cls.__module__ = "credimi"
    return cls


def stored(cls: Class) -> Class:
    """The same of a class that public objects hold: pickle finds it as `credimi.<name>`, and nobody lists it."""
    return public(cls)
