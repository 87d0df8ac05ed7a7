"""Marks classes as `credimi`'s own for pickle, so that pickles survive when a class moves to another module."""

from __future__ import annotations

from typing import TypeVar

Class = TypeVar("Class", bound=type)


def public(cls: Class) -> Class:
    """Name the class `credimi.<name>`, as pickle, tracebacks and documentation show it."""
    cls.__module__ = "credimi"
    return cls


def stored(cls: Class) -> Class:
    """The same for a class that public objects contain: pickle finds it as `credimi.<name>`, but it is not listed."""
    return public(cls)
