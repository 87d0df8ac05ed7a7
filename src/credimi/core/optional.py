"""Libraries that are needed for a part of credimi only."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from credimi.core.errors import CredimiError

if TYPE_CHECKING:
    from credimi.core.types import Foreign


def library(name: str, extra: str) -> Foreign:
    """A library that an engine needs, or what to install."""
    try:
        return import_module(name)
    except ImportError as error:
        raise CredimiError(f"{extra} cannot be used here ({error}): pip install 'credimi[{extra}]'") from error
