"""The page of a network in a real browser: nothing is fetched, nothing fails, and it shows what the network says."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from page_helpers import HOSTILE

from credimi import network
from credimi.questions.network.result import Edge, Network, shown_direction

if TYPE_CHECKING:
    from collections.abc import Callable

CLINIC = Path(__file__).parents[2] / "examples" / "clinic.csv"


@pytest.fixture(scope="module")
def chain() -> Network:
    generator = np.random.default_rng(1)
    first = generator.integers(0, 2, 600)
    second = np.where(generator.random(600) < 0.1, 1 - first, first)
    third = np.where(generator.random(600) < 0.1, 1 - second, second)
    return network({"first": first, "second": second, "third": third, "noise": generator.integers(0, 3, 600)})


def large(columns: int) -> Network:
    """A network of many columns, made up: each is joined with two others."""
    generator = np.random.default_rng(0)
    ends = [(column, int(generator.integers(0, column))) for column in range(1, columns) for _ in range(2)]
    figures = {"mi": 0.1, "low": 0.05, "high": 0.2, "p_forward": 0.9, "p_backward": 0.0}
    pairs = tuple(
        Edge(f"column {b}", f"column {a}", float(generator.random()), **figures, direction="->", separated_by=None)
        for a, b in sorted({(a, b) for a, b in ends if a != b})
    )
    names = tuple(f"column {column}" for column in range(columns))
    settings = {"level": 0.5, "imputations": 0}
    return Network(pairs, names, 0.5, 1000.0, (0.0,) * columns, settings=settings)


def test_a_click_tells_what_is_known_of_a_column_and_of_a_pair(show: Callable[..., Any], chain: Network) -> None:
    page = show(chain)
    assert page.locator(".edge").count() == len(chain.edges) == 2
    page.click("[data-column='0'] circle")
    told = page.inner_text("#side")
    assert "second P > 0.99" in told.replace("\n", " ")
    assert "third through second" in told.replace("\n", " ")
    page.click("#side .link >> nth=0")
    told = page.inner_text("#side")
    assert "P(edge)" in told
    assert page.locator("#side .heat td").count() == 4
    page.keyboard.press("Escape")
    assert page.locator("#side").is_hidden()


def test_heads_of_arrows_are_wider_than_their_lines(show: Callable[..., Any]) -> None:
    figures = {"low": 0.05, "high": 0.9, "p_forward": 0.9, "p_backward": 0.0, "direction": "->", "separated_by": None}
    pairs = (Edge("a", "b", 0.99, mi=0.8, **figures), Edge("c", "b", 0.99, mi=0.01, **figures))
    page = show(Network(pairs, ("a", "b", "c"), 0.5, 1000.0, (0.0,) * 3, settings={"level": 0.5, "imputations": 0}))
    assert page.locator(".edge path").count() == 2
    for edge in page.locator(".edge").all():
        width = float(edge.locator(".drawn >> nth=0").get_attribute("stroke-width"))
        box = edge.locator("path").evaluate(
            "head => { const { width, height } = head.getBBox(); return [width, height]; }"
        )
        assert np.hypot(*box) > 1.5 * width


def test_the_slider_shows_fewer_or_more_edges(show: Callable[..., Any]) -> None:
    made = large(30)
    page = show(made)
    for level in ("0.1", "0.5", "0.9"):
        page.fill("#level", level)
        assert page.locator(".edge").count() == len(made.at_level(float(level)).edges)
    page.locator("#level-slider").fill("25")
    assert page.locator(".edge").count() == len(made.at_level(0.25).edges)
    page.fill("#level", "seven")
    assert page.get_attribute("#level", "aria-invalid") == "true"
    assert page.locator(".edge").count() == len(made.at_level(0.25).edges)


def test_edges_are_counted_once_and_by_one_rule(show: Callable[..., Any]) -> None:
    """Probabilities just below the level are no edges, in the browser as in Python; the heading counts nothing."""
    figures = {"mi": 0.1, "low": 0.05, "high": 0.2, "separated_by": None}
    levels = [0.5, 0.5 - 1e-9, 0.4999964, np.nextafter(0.5, 0.0), 0.95, 0.94999999, 0.25, 0.2499999999]
    names = tuple(f"column {number}" for number in range(len(levels) + 1))
    pairs = tuple(
        Edge("column 0", names[number + 1], float(level), **figures, **arrow(float(level), number % 2))
        for number, level in enumerate(levels)
    )
    made = Network(pairs, names, 0.5, 1000.0, (0.0,) * len(names), settings={"level": 0.5, "imputations": 0})
    page = show(made)
    for level in (0.5, 0.95, 0.25, 0.4):
        page.fill("#level", str(level))
        expected = made.at_level(level).edges
        assert page.locator(".edge").count() == len(expected)
        pointed = sum(edge.direction != "--" for edge in expected)
        counted = f"{len(expected)} edge{'s' * (len(expected) != 1)}, {pointed} of them with a direction"
        assert page.inner_text("#says").startswith(counted)
    assert "edge" not in page.inner_text("#about")


def arrow(probability: float, forward: int) -> dict[str, Any]:
    """The figures of an arrow that is as probable as its edge, or of none."""
    p_forward = probability if forward else 0.0
    return {"p_forward": p_forward, "p_backward": 0.0, "direction": shown_direction(p_forward, 0.0)}


def test_the_keyboard_alone_suffices(show: Callable[..., Any], chain: Network) -> None:
    page = show(chain)
    page.focus("#graph")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    assert page.inner_text("#side h2") == "first"
    page.keyboard.press("/")
    page.keyboard.type("thi")
    page.keyboard.press("Enter")
    assert page.inner_text("#side h2") == "third"
    page.keyboard.press("Escape")
    page.click("[data-view=matrix]")
    page.focus("#cells")
    page.keyboard.press("Enter")
    assert page.locator("#side").is_visible()


def test_names_of_columns_without_edges_do_not_overlap(show: Callable[..., Any]) -> None:
    """Of 40 columns, those of even numbers have no edge: they lie side by side."""
    figures = {"mi": 0.1, "low": 0.05, "high": 0.2, "p_forward": 0.0, "p_backward": 0.0}
    pairs = tuple(
        Edge(f"column {n}", f"column {n + 2}", 0.9, **figures, direction="--", separated_by=None)
        for n in range(1, 38, 2)
    )
    names = tuple(f"column {column}" for column in range(40))
    settings = {"level": 0.5, "imputations": 0}
    page = show(Network(pairs, names, 0.5, 1000.0, (0.0,) * 40, settings=settings))
    boxes = [each.bounding_box() for each in page.locator(".node.alone text").all()]
    assert len(boxes) == 20
    for number, one in enumerate(boxes):
        for other in boxes[:number]:
            across = one["x"] < other["x"] + other["width"] and other["x"] < one["x"] + one["width"]
            assert not (across and abs(one["y"] - other["y"]) < 3.0)  # on one line


def test_the_list_has_all_edges(show: Callable[..., Any], chain: Network) -> None:
    page = show(chain)
    page.click("[data-view=list]")
    rows = page.eval_on_selector_all("#list tbody tr", "rows => rows.map(row => row.innerText)")
    assert len(rows) == 2
    assert "first" in rows[0] + rows[1]


def test_names_are_text_and_nothing_else(show: Callable[..., Any]) -> None:
    generator = np.random.default_rng(2)
    first = generator.integers(0, 2, 300)
    hostile = {name: np.where(generator.random(300) < 0.1, 1 - first, first) for name in HOSTILE}
    found = network({name: [f"{name}{each}" for each in codes] for name, codes in hostile.items()})
    page = show(found)
    for column in range(len(found.names)):
        page.click(f"[data-column='{column}'] circle", force=True)
        page.locator("#side .link").first.click()
        page.keyboard.press("Escape")
    assert page.evaluate("document.querySelectorAll('b, img, iframe, script:not([type]) ~ script').length") == 0


@pytest.mark.parametrize("columns", [50, 500])
def test_large_networks_are_ready_at_once(show: Callable[..., Any], columns: int) -> None:
    page = show(large(columns), viewport={"width": 1200, "height": 900})
    timing = page.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd")
    assert 0.0 < timing < 3000.0
    began = time.monotonic()
    page.click("[data-view=graph]")
    page.locator("#level-slider").fill("20")
    page.fill("#search", "column 7")
    page.keyboard.press("Enter")
    assert page.inner_text("#side h2") == "column 7"
    assert time.monotonic() - began < 3.0


def test_a_phone_has_no_sideways_scrolling(show: Callable[..., Any]) -> None:
    page = show(
        network(CLINIC, features=["bmi", "waist", "glucose", "age"], imputations=0),
        viewport={"width": 360, "height": 700},
    )
    page.click("[data-view=list]")
    page.click("#list .link >> nth=0")
    assert page.locator("#side .heat").count() == 1
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
