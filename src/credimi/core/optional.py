"""Libraries that are needed for a part of credimi only."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from credimi.core.errors import CredimiError


def library(name: str, extra: str) -> Any:  # noqa: ANN401
    """A library that an engine needs, or what to install."""
    try:
        return import_module(name)
    except ImportError as error:
        raise CredimiError(f"{extra} cannot be used here ({error}): pip install 'credimi[{extra}]'") from error
