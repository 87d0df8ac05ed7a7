"""The page of a robust ranking: its third slider decides as Python does."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pytest
from page_helpers import data_of, node, table

from credimi import information_bounds, rank

if TYPE_CHECKING:
    from collections.abc import Callable

    from credimi import Ranking

FACTORS = (1.3, 2.2, 7.0, math.inf)


@pytest.fixture(scope="module")
def ranking() -> Ranking:
    return rank(table(4, rows=600), "class", epsilon=0.003, robust_factor=2.2)


def test_probabilities_and_bands_are_pythons(ranking: Ranking) -> None:
    data = data_of(ranking)
    program = """
      const bounds = boundsOf(data), laws = lawsOf(data.laws), plain = tailsAbove(data, laws, 0.01);
      return data.asked.map((told) => {
        const factor = told === "inf" ? Infinity : told, ends = (at) => [data.features.low[at], data.features.high[at]];
        return { tails: tailsWithin(bounds, plain, 0.01, factor).map((each) => Array.from(each)),
          bands: data.features.name.map((_, at) => bandOf(bounds, at, 0.95, factor, ends(at))) };
      });
    """
    asked = ["inf" if factor == math.inf else factor for factor in FACTORS]
    found = node(program, data | {"asked": asked}, "robust.js")
    for factor, answer in zip(FACTORS, found, strict=True):
        again = rank(table(4, rows=600), "class", epsilon=0.003, robust_factor=factor)
        for place, row in enumerate(ranking):
            block = ranking._kept.blocks[place]  # noqa: SLF001
            laws = information_bounds(
                block[:-1, :-1],
                target_only=block[:-1, -1],
                feature_only=block[-1, :-1],
                neither=block[-1, -1],
                robust_factor=factor,
            )
            for side, law in enumerate(laws):
                assert answer["tails"][side][place] == pytest.approx(law.sf(0.01), abs=0.02)
            band = [again[row["feature"]][name] for name in ("robust_low", "robust_high")]
            assert answer["bands"][place] == pytest.approx(band, rel=0.05, abs=2e-4)
            if factor == 2.2:  # what the ranking was asked
                assert answer["bands"][place] == pytest.approx(band, abs=1e-12)


def test_plain_pages_have_no_third_slider(show: Callable[..., Any]) -> None:
    page = show(rank(table(4), "class"))
    assert page.locator("#factor").is_hidden()
    assert page.locator(".row .band").count() == 0
    assert data_of(rank(table(4), "class"))["robust"] is None


@pytest.mark.long
def test_the_slider_decides_again_and_shows_bands(show: Callable[..., Any], ranking: Ranking) -> None:
    page = show(ranking, viewport={"width": 1400, "height": 900})

    def verdicts() -> list[str]:
        return [text.split()[-1] for text in page.locator(".row .badge").all_inner_texts()]

    assert verdicts() == [row["verdict"] for row in ranking]
    assert page.locator(".row .band").count() == 0
    for factor in (1.3, 2.2, 8.0):
        page.fill("#factor", str(factor))
        expected = [
            row["verdict"] if row["tipping_factor"] >= factor or row["verdict"] == "unsure" else "unsure"
            for row in ranking
        ]
        assert verdicts() == expected
        assert page.locator(".row .band").count() == len(ranking)
    first = ranking[0]
    page.fill("#factor", "2.2")
    shown = f"{first['robust_low']:.4f} to {first['robust_high']:.4f}"
    assert page.locator(".row > .ends").first.inner_text() == shown
    assert f"At factor 2.2\n{shown}" in page.inner_text(".detail dl")
    page.evaluate("document.getElementById('factor-slider').value = 1000")
    page.dispatch_event("#factor-slider", "input")
    assert page.input_value("#factor") == "any"
    assert "whatever is missing" in page.inner_text("#says")
    page.wait_for_timeout(300)  # until the address has it
    assert "factor=Infinity" in page.url
    page.reload()
    assert page.input_value("#factor") == "any"
    for wrong in ("0.5", "x", ""):
        page.fill("#factor", wrong)
        assert page.get_attribute("#factor", "aria-invalid") == "true"
    page.fill("#factor", "∞")
    assert page.get_attribute("#factor", "aria-invalid") == "false"


def test_a_wrong_factor_in_the_address_is_ignored(show: Callable[..., Any]) -> None:
    assert show(rank(table(2, rows=100), "class", robust_factor=2), "#factor=0.2").input_value("#factor") == "1"
    assert show(rank(table(4), "class"), "#factor=3").locator(".row .band").count() == 0
