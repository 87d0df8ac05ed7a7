"""The page of a comparison: names stay text, and nothing is fetched."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from page_helpers import HOSTILE, Seen

import credimi

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def compared(told: int = 2) -> credimi.Comparison:
    rows = range(120)
    table = {name: ["ab"[row % 2] for row in rows] for name in HOSTILE}
    other = {name: ["ab"[row // told % 2] for row in rows] for name in HOSTILE}
    target = {"<b>target": [HOSTILE[row % 2] for row in rows]}
    return credimi.compare(table | target, other | target, "<b>target", names=("<i>one", "two</table>"))


def test_hostile_names_stay_text() -> None:
    html = compared().to_html()
    seen = Seen(html)
    assert not {"script", "img", "i", "b"} & set(seen.tags)
    assert seen.tags.count("tr") == 1 + len(HOSTILE)
    assert "\x00" not in html
    assert "&lt;i&gt;one" in html


def test_nothing_is_fetched() -> None:
    html = compared().to_html()
    assert "default-src 'none'" in html
    assert not re.search(r"(?:src|href|url)\s*[=(]\s*[\"']?(?!data:,)\w*:?//", html)
    assert re.findall(r"(?:src|href)=\"[^\"]*\"", html) == ['href="data:,"']


def test_lines_lie_on_the_scale_and_in_order() -> None:
    html = compared().to_html()
    places = [float(each) for each in re.findall(r"(?:x1|x2|cx)=\"([^\"]*)\"", html)]
    assert min(places) >= 10.0
    assert max(places) <= 310.0
    for low, high, mean in re.findall(r"x1=\"([^\"]*)\" x2=\"([^\"]*)\".*?cx=\"([^\"]*)\"", html):
        assert float(low) <= float(mean) <= float(high)


def test_a_page_of_zeros_has_an_axis(tmp_path: Path) -> None:
    table = {"y": ["p", "q"] * 20, "x": ["a"] * 40}
    credimi.compare(table, table, "y").to_html(tmp_path / "page.html")
    html = (tmp_path / "page.html").read_text()
    assert ">0</text>" in html
    assert "not compared" in html
    assert "nan" not in html


@pytest.mark.parametrize("width", [1200, 390])
def test_in_a_browser_nothing_overflows(show: Callable[..., Any], width: int) -> None:
    tab = show(compared(), viewport={"width": width, "height": 800})  # which also sees that nothing is asked for
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    assert tab.locator("tbody tr").count() == len(HOSTILE)


def test_in_a_browser_usual_names_and_headings_are_whole(show: Callable[..., Any]) -> None:
    table = {name: ["a", "b"] * 60 for name in ("pressure_medication", "visits_last_year", "x")}
    comparison = credimi.compare(table | {"y": list("pq") * 60}, table | {"y": list("ppq") * 40}, "y")
    tab = show(comparison, viewport={"width": 1100, "height": 800})
    lines = "each => each.map(cell => Math.round(cell.getBoundingClientRect().height))"
    assert len(set(tab.locator("tbody th").evaluate_all(lines))) == 1
    heights = "each => each.map(cell => { const all = document.createRange(); all.selectNodeContents(cell);"
    heights += " return all.getBoundingClientRect().height; })"
    change, interval, probability = tab.locator("thead .number").evaluate_all(heights)[2:]
    assert change == interval == probability
    assert tab.locator(".wide").evaluate("each => each.scrollWidth <= each.clientWidth")
