"""Loads libraries that only a part of credimi needs."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from credimi.core.errors import CredimiError

if TYPE_CHECKING:
    from credimi.core.types import Foreign


def library(name: str, extra: str) -> Foreign:
    """Import a library that an engine needs, or say what to install."""
    try:
        return import_module(name)
    except ImportError as error:
        raise CredimiError(f"{extra} cannot be used here ({error}): pip install 'credimi[{extra}]'") from error


def frame_library(name: str) -> Foreign:
    """Import pandas or polars, to which results are exported, or say that it is not installed."""
    try:
        return import_module(name)
    except ImportError:
        raise CredimiError(f"{name} is not installed: pip install {name}") from None
