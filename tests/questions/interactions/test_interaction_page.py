"""The page of interactions in a browser: nothing fails, nothing is fetched, names stay text, and it fits a phone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from page_helpers import HOSTILE

import credimi
from credimi.questions.interactions.view import _class_shares

if TYPE_CHECKING:
    from collections.abc import Callable


def found() -> credimi.Interactions:
    """Pairs among columns with hostile names and values."""
    generator = np.random.default_rng(0)
    names = [*HOSTILE[:4], "plain"]
    codes = generator.integers(0, 3, (5, 900))
    target = np.where(generator.random(900) < 0.6, (codes[0] + codes[1]) % 2, generator.integers(0, 2, 900))
    values = HOSTILE[4:7]
    columns = {name: [values[code % len(values)] for code in own] for name, own in zip(names, codes, strict=True)}
    return credimi.interactions(columns, [("no", "yes")[each] for each in target], top=4)


def test_names_and_values_stay_text(show: Callable[..., Any]) -> None:
    result = found()
    page = show(result)
    cells = "rows => rows.filter(row => !row.closest('figure')).map(row => row.cells.length)"
    assert page.eval_on_selector_all("section tbody tr", cells) == [9] * len(result)
    assert page.locator("figure").count() == len(result.tables)
    assert page.locator("figure td[style]").count() > 0


@pytest.mark.parametrize("width", [360, 1200])
def test_the_page_is_not_wider_than_the_screen(show: Callable[..., Any], width: int) -> None:
    page = show(found(), viewport={"width": width, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_shares_are_those_of_the_shown_class() -> None:
    two = [[[3, 0], [1, 0]], [[1, 5], [3, 0]]]
    assert _class_shares(two) == ([[0.25, 1.0], [0.75, None]], [[4.0, 5.0], [4.0, 0.0]], 1)
    three = [[[5, 5], [5, 5]], [[9, 1], [1, 9]], [[5, 5], [5, 5]]]
    shares, _, shown = _class_shares(three)
    assert shown == 1
    assert shares[0][0] == pytest.approx(9 / 19)


@pytest.mark.parametrize("width", [390, 1200])
def test_many_classes_and_long_names_can_be_read(show: Callable[..., Any], width: int) -> None:
    """Words stay whole wherever they have room, and so do numbers."""
    generator = np.random.default_rng(1)
    codes = generator.integers(0, 26, (3, 2_000))
    target = np.where(generator.random(2_000) < 0.7, (codes[0] + codes[1]) % 26, codes[2])
    columns = {
        f"a column with a rather long name {place}": [f"{code}.25 is a long value" for code in own]
        for place, own in enumerate(codes)
    }
    found = credimi.interactions(columns, [f"class of a long name {each}" for each in target], top=2)
    page = show(found, viewport={"width": width, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    broken = """cells => cells.flatMap(cell => {
      const text = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT), found = [];
      while (text.nextNode()) for (const word of text.currentNode.data.matchAll(/\\S+/g)) {
        const range = document.createRange();
        range.setStart(text.currentNode, word.index);
        range.setEnd(text.currentNode, word.index + word[0].length);
        if (range.getClientRects().length > 1) found.push(word[0]);
      }
      return found;
    })"""
    assert page.locator("th, td").evaluate_all(broken) == []
    heads = page.locator(".heat tbody th").evaluate_all("cells => cells.map(cell => cell.offsetWidth)")
    assert min(heads) > 90
