"""Downloads files of the UCI repository once into the user's cache (by pooch, which is loaded only for that)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from credimi.core.errors import CredimiError

if TYPE_CHECKING:
    from collections.abc import Sequence

REPOSITORY = "https://archive.ics.uci.edu/ml/machine-learning-databases/"
MIRROR = "CREDIMI_DATA_ADDRESS"  # an environment variable: another address with the same folders


def fetched(folder: str, files: Sequence[str], cache: str | Path | None = None) -> list[Path]:
    """The files of one folder of the repository, from the cache if they are there.

    Editions of these files differ in their bytes (blanks for commas, line ends), so no digest is checked: the reader
    compares their content with the papers' figures.
    """
    try:
        import pooch  # noqa: PLC0415  (an extra: loaded only to download)
    except ImportError:
        raise CredimiError(
            "downloading data needs pooch: pip install 'credimi[reproduce]'; or name a folder with the data "
            "(--data, CREDIMI_DATA)"
        ) from None
    pooch.get_logger().setLevel("WARNING")
    address = os.environ.get(MIRROR, REPOSITORY).rstrip("/") + f"/{folder}/"
    cache_folder = Path(cache if cache is not None else pooch.os_cache("credimi")) / folder
    store = pooch.create(path=cache_folder, base_url=address, registry=dict.fromkeys(files))
    try:
        return [Path(store.fetch(file)) for file in files]
    except (OSError, ValueError) as error:  # the errors of requests are OSErrors
        raise CredimiError(
            f"cannot download from {address}: {str(error).splitlines()[0]}; name a folder with the data (--data, "
            "CREDIMI_DATA)"
        ) from None
