"""The page in a real browser: nothing is fetched, nothing fails, and what is decided there is what `rank` says."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from page_helpers import EPSILONS, HOSTILE, hostile_ranking, table

from credimi import count, rank

if TYPE_CHECKING:
    from collections.abc import Callable

CLINIC = Path(__file__).parents[2] / "examples" / "clinic.csv"


def verdicts(page: Any) -> dict[str, str]:  # noqa: ANN401
    rows = page.eval_on_selector_all(
        ".row", "rows => rows.map(row => [row.querySelector('.name').textContent, row.lastChild.textContent])"
    )
    return {name: verdict.split(" ", 1)[1] for name, verdict in rows}


def test_moving_epsilon_decides_as_rank_says(show: Callable[..., Any]) -> None:
    counts = count(CLINIC, "diabetes")
    page = show(rank(counts))
    for level in ("0.95", "0.8"):
        page.fill("#level", level)
        for epsilon in EPSILONS:
            page.fill("#epsilon", repr(epsilon))
            expected = rank(counts, epsilon=epsilon, level=float(level))
            assert verdicts(page) == dict(zip(expected.columns["feature"], expected.columns["verdict"], strict=True))
            for rule in ("plugin", "forward", "backward", "fdr"):
                page.select_option("#rule", rule)
                assert page.input_value("#names").split("\n") == (expected.selected(rule) or [""])


def test_the_sliders_decide_too(show: Callable[..., Any]) -> None:
    counts = count(CLINIC, "diabetes")
    page = show(rank(counts))
    for place in ("200", "650"):
        page.locator("#epsilon-slider").fill(place)
        page.locator("#level-slider").fill(place)
        epsilon, level = float(page.input_value("#epsilon")), float(page.input_value("#level"))
        expected = rank(counts, epsilon=epsilon, level=level)
        assert verdicts(page) == dict(zip(expected.columns["feature"], expected.columns["verdict"], strict=True))


def test_what_is_no_number_changes_nothing(show: Callable[..., Any]) -> None:
    page = show(rank(CLINIC, "diabetes"))
    before = verdicts(page)
    for text in ("", "-1", "abc", "Infinity"):
        page.fill("#epsilon", text)
        assert page.get_attribute("#epsilon", "aria-invalid") == "true"
        assert verdicts(page) == before


def test_search_sort_and_show_one_verdict(show: Callable[..., Any]) -> None:
    page = show(rank(CLINIC, "diabetes"))
    page.fill("#search", "GLU")
    assert list(verdicts(page)) == ["glucose"]
    page.fill("#search", "no such feature")
    assert verdicts(page) == {}
    page.fill("#search", "")
    page.select_option("#sort", "name")
    assert list(verdicts(page)) == sorted(verdicts(page))
    page.click("[data-verdict=drop]")
    assert set(verdicts(page).values()) == {"drop"}
    page.select_option("#scale", "linear")
    page.click("[data-verdict=drop]")
    assert len(verdicts(page)) == 20


def test_a_click_shows_the_feature(show: Callable[..., Any]) -> None:
    page = show(rank(CLINIC, "diabetes"))
    page.click(".row:has-text('glucose')")
    detail = page.inner_text(".detail")
    assert "4.895, 5.295, 5.695, 6.535" in detail
    assert "3,012 of 4,000" in detail
    assert page.locator(".detail svg .curve").count() == 1
    assert page.locator(".detail .heat td").count() == 6 * 3
    page.click(".row:has-text('handedness')")
    assert page.locator(".detail").count() == 1
    assert page.locator(".detail .stem").count() == 1
    page.click(".row:has-text('patient')")
    assert "identifier" in page.inner_text(".detail")


def test_export(show: Callable[..., Any]) -> None:
    ranking = rank(CLINIC, "diabetes")
    page = show(ranking)
    with page.expect_download() as text:
        page.click("#save-text")
    assert text.value.path().read_text(encoding="utf-8").splitlines() == ranking.selected("forward")
    with page.expect_download() as exported:
        page.click("#save-json")
    found = json.loads(exported.value.path().read_text(encoding="utf-8"))
    assert found["features"] == ranking.selected("forward")
    assert (found["epsilon"], found["level"], found["rule"]) == (ranking.settings["epsilon"], 0.95, "forward")


def test_the_keyboard_alone_suffices(show: Callable[..., Any]) -> None:
    page = show(rank(table(120), "class"))
    page.keyboard.press("/")
    page.keyboard.type("feature 1")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    second = list(verdicts(page))[1]
    assert page.inner_text(".detail h2") == second
    page.keyboard.press("Escape")
    assert page.locator(".detail").count() == 0
    assert page.evaluate("document.activeElement.querySelector('.name').textContent") == second
    page.keyboard.press("/")
    page.keyboard.press("Escape")
    assert len(verdicts(page)) == 50
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    assert page.inner_text("#place") == "51 to 100 of 120"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_has_room_for_it(show: Callable[..., Any], scheme: str) -> None:
    page = show(rank(CLINIC, "diabetes"), viewport={"width": 360, "height": 740}, color_scheme=scheme, has_touch=True)
    page.tap(".row:has-text('smoking')")
    assert page.locator("li .detail").is_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_hostile_text_is_shown_as_text(show: Callable[..., Any]) -> None:
    page = show(hostile_ranking(), viewport={"width": 360, "height": 740})
    assert page.locator("#rows img, #rows script, #rows b").count() == 0
    names = page.eval_on_selector_all(".row .name", "names => names.map(name => name.textContent)")
    assert sorted(name for name in names if "…" not in name) == sorted(name for name in HOSTILE if len(name) < 300)
    for row in range(len(HOSTILE)):
        page.locator(".row").nth(row).click()
        assert page.locator(".detail").count() == 1
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.select_option("#rule", "backward")


def test_ten_thousand_features_are_interactive(show: Callable[..., Any]) -> None:
    generator = np.random.default_rng(0)
    classes = generator.integers(0, 2, 200)
    codes = np.where(generator.random((10_000, 200)) < 0.1, classes, generator.integers(0, 3, (10_000, 200)))
    columns = {f"feature {place}": values.tolist() for place, values in enumerate(codes)}
    began = time.monotonic()
    ranking = rank(columns | {"class": classes.tolist()}, "class")
    page = show(ranking)
    assert page.inner_text("#place") == "1 to 50 of 10,000"
    timing = page.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd")
    assert 0.0 < timing < 3000.0, f"loaded in {timing} ms, {time.monotonic() - began:.1f} s with the ranking"
    began = time.monotonic()
    page.fill("#epsilon", "0.02")
    page.fill("#search", "feature 99")
    assert re.match("1 to 50 of 111", page.inner_text("#place"))
    assert time.monotonic() - began < 3.0


def test_the_bars_show_what_values_mean(show: Callable[..., Any]) -> None:
    page = show(rank(CLINIC, "diabetes"))
    assert page.locator(".row:has-text('glucose') .effect rect").count() == 5
    assert page.locator(".row:has-text('patient') .effect rect").count() == 0
    heights = page.eval_on_selector_all(
        ".row:has-text('glucose') .effect rect", "all => all.map(one => +one.getAttribute('height'))"
    )
    assert heights == sorted(heights)
    assert page.inner_text("#axis .effect") == "% yes"
    page.click(".row:has-text('glucose')")
    assert page.inner_text(".detail h3 >> nth=0") == "Share of yes by value: rises"
    assert page.inner_text(".effects tbody tr >> nth=0").split() == [
        "<=",
        "4.895",
        "5.3",
        "%",
        "3.8",
        "to",
        "7.0",
        "752",
    ]
