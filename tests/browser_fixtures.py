"""A browser for the tests of the page: nothing may fail in it, and nothing may be asked for.

Needs Playwright for Python (the extra `browser`) and a Chromium of the system, or the one that CREDIMI_CHROMIUM names.
"""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

CHROMIUM = os.environ.get("CREDIMI_CHROMIUM") or next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
LOUD = "NOT TESTED: the page was not opened in a browser, because {}"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium with scroll bars, as readers have them; where there is none, the tests say so and are skipped."""
    try:
        from playwright.sync_api import sync_playwright  # noqa: PLC0415
    except ImportError:
        pytest.skip(LOUD.format("playwright is not installed (pip install 'credimi[browser]')"))
    if CHROMIUM is None:
        pytest.skip(LOUD.format("there is no Chromium (apt-get install chromium)"))
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox"], ignore_default_args=["--hide-scrollbars"]
        )
        yield chromium
        chromium.close()


@pytest.fixture
def show(browser: Any, tmp_path: Path) -> Iterator[Callable[..., Any]]:  # noqa: ANN401
    """Open the page of a ranking; at the end nothing may have failed, and nothing may have been asked for."""
    contexts, faults = [], []

    def opened(ranking: Any, address: str = "", **options: Any) -> Any:  # noqa: ANN401
        path = tmp_path / f"page-{len(contexts)}.html"
        ranking.to_html(path)
        contexts.append(browser.new_context(accept_downloads=True, **options))
        page = contexts[-1].new_page()
        page.on("console", lambda message: faults.append(message.text))
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("dialog", lambda dialog: (faults.append(dialog.message), dialog.dismiss()))
        own = path.as_uri()

        def asked(request: Any) -> None:  # noqa: ANN401
            if request.url.partition("#")[0] != own and request.url[:5] != "blob:":
                faults.append(request.url)

        page.on("request", asked)
        page.goto(own + address)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert faults == []
