"""The page of pairs in a real browser: it shows what the pairs say, and names stay names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from page_helpers import HOSTILE

import credimi
from credimi.questions.pairs import view

if TYPE_CHECKING:
    from collections.abc import Callable

    from credimi.questions.pairs.result import Pairs


NAME = HOSTILE[0]


@pytest.fixture(scope="module")
def found() -> Pairs:
    generator = np.random.default_rng(1)
    first = generator.integers(0, 2, 600)
    second = np.where(generator.random(600) < 0.1, 1 - first, first)
    return credimi.pairs({"first": first, NAME: second, "noise": generator.integers(0, 3, 600)})


def test_a_click_tells_what_is_known_of_a_pair(show: Callable[..., Any], found: Pairs) -> None:
    page = show(found)
    assert page.locator(".edge").count() == sum(each["p_linked"] >= 0.95 for each in found) == 1
    assert page.inner_text("#says") == "1 link; 1 of 3 columns have none"
    page.click("[data-column='0'] circle")
    page.click("#side .link >> nth=0")
    told = page.inner_text("#side").replace("\n", " ")
    assert NAME in told
    assert f"{found[0]['mi']:.4f} nats" in told
    assert f"{100 * found[0]['share']:.1f} %" in told
    assert "direction" not in told


def test_matrix_and_list_show_links(show: Callable[..., Any], found: Pairs) -> None:
    page = show(found)
    page.click("[data-view=matrix]")
    assert page.locator("#cells").is_visible()
    page.click("[data-view=list]")
    assert "P(linked)" in page.inner_text("#list")
    page.fill("#level", "0.01")
    assert page.locator("#list tbody tr").count() == sum(each["p_linked"] >= 0.01 for each in found)


def test_of_many_columns_those_with_strong_links_are_shown(monkeypatch: pytest.MonkeyPatch, found: Pairs) -> None:
    monkeypatch.setattr(view, "_MAX_COLUMNS", 2)
    text = found.to_html()
    assert "of 3 columns the 2 with the strongest links are shown" in text
    assert '"noise"' not in text


def test_of_many_columns_with_few_links_the_list_is_shown_first(show: Callable[..., Any]) -> None:
    generator = np.random.default_rng(3)
    columns = {f"c{place}": generator.integers(0, 2, 300) for place in range(1_200)}
    columns |= {f"c{900 + place}": columns[f"c{place}"] for place in range(4)}
    page = show(credimi.pairs(columns))
    assert page.locator("#list tbody tr").count() >= 4
    assert page.get_attribute("[data-view=list]", "aria-pressed") == "true"
    assert page.inner_text("#about").startswith("1,200 columns, 300 rows.")
    assert " of 1,000 columns have none" in page.inner_text("#says")
