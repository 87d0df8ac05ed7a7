"""The page of a report, and other pages, in Chromium: tabs, links, narrow screens, print; and what axe-core finds."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import credimi
from credimi.results.palette import heat

if TYPE_CHECKING:
    from collections.abc import Callable

    from credimi import Report

CLINIC = str(Path(__file__).parents[3] / "examples" / "clinic.csv")
COLUMNS = ["glucose", "age", "bmi", "smoking", "sex", "patient"]
CHAPTERS = ["overview", "columns", "set", "together", "structure", "tree", "method"]
AXE = Path(os.environ.get("CREDIMI_AXE") or Path(__file__).parents[3] / ".venv" / "axe.min.js")
FOUND = "axe.run().then(found => found.violations.filter(each => ['serious', 'critical'].includes(each.impact))"
FOUND += ".map(each => [each.id, each.nodes[0].html]))"


@pytest.fixture(scope="module")
def clinic() -> Report:
    return credimi.report(CLINIC, "diabetes", features=COLUMNS, seconds=600)


def shown_chapters(page: Any) -> list[str]:  # noqa: ANN401
    return [key for key in CHAPTERS if page.locator(f"#{key}").is_visible()]


def test_tabs_show_one_chapter_each_by_mouse_and_keyboard(clinic: Report, show: Callable[..., Any]) -> None:
    page = show(clinic)
    assert shown_chapters(page) == ["overview"]
    for key in CHAPTERS[1:]:
        page.click(f".tabs a[href='#{key}']")
        assert shown_chapters(page) == [key]
    page.focus(".tabs a[href='#columns']")
    page.keyboard.press("Enter")
    assert shown_chapters(page) == ["columns"]


def test_a_name_leads_to_its_card(clinic: Report, show: Callable[..., Any]) -> None:
    page = show(clinic, "#structure")
    page.click("#structure th a:has-text('glucose') >> nth=0")
    assert shown_chapters(page) == ["columns"]
    card = page.locator(".card:target")
    assert card.locator("h3").inner_text().startswith("glucose")
    assert card.evaluate("card => card.getBoundingClientRect().top") < 900
    assert "selected as number 1" in card.inner_text()


@pytest.mark.parametrize("key", CHAPTERS)
def test_nothing_is_wider_than_a_phone(key: str, clinic: Report, show: Callable[..., Any]) -> None:
    page = show(clinic, f"#{key}", viewport={"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_all_chapters_are_printed(clinic: Report, show: Callable[..., Any]) -> None:
    page = show(clinic)
    page.emulate_media(media="print")
    assert shown_chapters(page) == CHAPTERS


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(scheme: str, clinic: Report, show: Callable[..., Any]) -> None:
    if not AXE.exists():
        pytest.skip("NOT TESTED: axe-core is not here (tools/bootstrap.py browser gets it by npm, or name CREDIMI_AXE)")
    for key in CHAPTERS:
        page = show(clinic, f"#{key}", color_scheme=scheme)
        page.evaluate(AXE.read_text(encoding="utf-8"))
        assert page.evaluate(FOUND) == [], key
    for result in (clinic.ranking, clinic.selection, clinic.interactions, clinic.pairs, clinic.network, clinic.tree):
        page = show(result, color_scheme=scheme)
        page.evaluate(AXE.read_text(encoding="utf-8"))
        assert page.evaluate(FOUND) == [], type(result).__name__


def test_figures_are_read_on_every_colour_of_heat_maps() -> None:
    def luminance(colour: str) -> float:
        full = colour[1:] if len(colour) == 7 else "".join(2 * each for each in colour[1:])
        parts = [int(full[place : place + 2], 16) / 255 for place in (0, 2, 4)]
        linear = [each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    for step in range(101):
        one, other = sorted(map(luminance, heat(step / 100)))
        assert (other + 0.05) / (one + 0.05) >= 4.5
