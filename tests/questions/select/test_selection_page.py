"""The page and the figures of a selection: names stay text, nothing is fetched, what is drawn is what was found."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from page_helpers import HOSTILE, Seen

import credimi
from credimi import CredimiError
from credimi.core.atomic_files import plain

if TYPE_CHECKING:
    from collections.abc import Callable

CLINIC = Path(__file__).parents[3] / "examples" / "clinic.csv"


@pytest.fixture(scope="module")
def clinic() -> credimi.Selection:
    return credimi.select(str(CLINIC), "diabetes")


@pytest.fixture(scope="module")
def hostile() -> credimi.Selection:
    """Columns of hostile names that tell something, each a little different, two of them copies."""
    generator = np.random.default_rng(0)
    target = generator.integers(0, 2, 1_500)
    told = {
        name: np.where(generator.random(1_500) < 0.4, target, generator.integers(0, 2, 1_500)).astype(str).tolist()
        for name in HOSTILE
    }
    told["<i>copy"] = told[HOSTILE[0]]
    return credimi.select(told | {"<b>target": [f"<u>{each}" for each in target]}, "<b>target")


def test_hostile_names_stay_text(hostile: credimi.Selection) -> None:
    html = hostile.to_html()
    seen = Seen(html)
    assert not {"script", "img", "i", "b", "u"} & set(seen.tags)
    assert {plain(name).strip() for name in hostile.features} <= {name.strip() for name in seen.names}
    assert "\x00" not in html


def test_columns_that_are_not_credible_are_marked() -> None:
    table = {"a": list("uvuv") * 3, "b": list("uuvv") * 3, "<y>": list("ppqp") * 3}
    assert "the most probable columns" in credimi.select(table, "<y>").to_html()
    html = credimi.select(table, "<y>", min_features=1).to_html()
    assert ">1*<" in html
    assert "it is no claim" in html
    assert "it is no claim" not in credimi.select(str(CLINIC), "diabetes", max_features=1).to_html()


def test_nothing_is_fetched(clinic: credimi.Selection) -> None:
    html = clinic.to_html()
    assert "default-src 'none'" in html
    assert re.findall(r"(?:src|href)=\"[^\"]*\"", html) == ['href="data:,"']


def test_the_page_has_steps_reasons_and_the_matrix(clinic: credimi.Selection) -> None:
    html = clinic.to_html()
    for step in clinic.steps:
        assert f"{step.mi:.4f}" in html
    assert "says what bmi says" in html
    assert "surely adds nothing to a column above it" in html
    assert len(re.findall(r"--shade: \d+%", html)) == sum(
        1 for each in (*clinic.steps, *clinic.rejected) for chance in each.p_redundant if chance is not None
    )
    marks = re.findall(r"x1=\"([^\"]*)\" x2=\"([^\"]*)\" y1=\"9\".*?cx=\"([^\"]*)\"", html)
    assert len(marks) >= len(clinic.steps)
    for low, high, mean in marks:
        assert 0.0 <= float(low) <= float(mean) <= float(high) <= 320.0


def test_pages_of_nothing_taken_of_relevant_columns_and_of_an_interrupt() -> None:
    empty = credimi.select({"x": ["a", "b"] * 30, "y": list("ppqq") * 15}, "y")
    html = empty.to_html()
    assert "no column is credible enough" in html
    assert "Which columns say the same" not in html
    relevant = credimi.select(str(CLINIC), "diabetes", rule="relevant").to_html()
    assert "P(matters)" in relevant
    assert "nan" not in relevant
    assert "Which columns say the same" not in relevant
    assert "steps so far" in replace(empty, complete=False).to_html()


def test_in_a_browser(show: Callable[..., Any], hostile: credimi.Selection, clinic: credimi.Selection) -> None:
    """Nothing fails, nothing is asked for; a phone scrolls tables, never the page."""
    for selection in (hostile, clinic):
        opened = show(selection, viewport={"width": 390, "height": 844})
        assert opened.locator("table.steps tbody tr").count() == len(selection.features)
        assert opened.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert opened.locator(".matrix td.dark").first.inner_text() == "0.98"  # waist, by bmi
    lines = "names => names.filter(name => name.getClientRects().length > 1).map(name => name.textContent)"
    assert opened.locator("tbody th bdi").evaluate_all(lines) == []  # visits_last_year is one word
    wide = "each => each.scrollWidth > each.clientWidth && each.offsetHeight - each.clientHeight"
    assert opened.locator(".wide").first.evaluate(wide) >= 10  # a bar, which shows that there is more
    background = "each => getComputedStyle(each).backgroundImage"
    assert opened.locator(".wide").first.evaluate(background).count("gradient") == 4  # and shadows


def test_the_figure_has_both_panels_or_one(clinic: credimi.Selection, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    axes = clinic.plot(tmp_path / "both.png")
    assert [each.get_text() for each in axes.get_yticklabels()] == list(clinic.features)
    assert len(axes.get_figure().axes) == 2  # type: ignore[union-attr]
    assert (tmp_path / "both.png").stat().st_size > 10_000
    below = clinic.plot(what="redundancy")
    assert [each.get_text() for each in below.get_xticklabels()] == list(clinic.features)
    assert "waist" in [each.get_text() for each in below.get_yticklabels()]
    assert clinic.plot(what="steps", ax=below) is below


def test_a_matrix_of_a_part_says_so(clinic: credimi.Selection) -> None:
    pytest.importorskip("matplotlib")
    assert "shown: the first" not in clinic.to_html()
    assert "first" not in clinic.plot(what="redundancy").get_title(loc="left")
    many = [replace(clinic.steps[0], feature=f"c{number}", p_redundant=(0.5,) * number) for number in range(31)]
    wide = replace(clinic, steps=tuple(many))
    said = "shown: the first 20 of 31 taken columns"
    assert said in wide.to_html()
    assert wide.plot(what="redundancy").get_title(loc="left").endswith(said)


def test_figures_that_cannot_be_are_refused(clinic: credimi.Selection, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    with pytest.raises(CredimiError, match="what is 'gains'"):
        clinic.plot(what="gains")
    with pytest.raises(CredimiError, match="is no picture"):
        clinic.plot(tmp_path / "steps.txt")
    nothing = credimi.select({"x": ["a", "b"] * 30, "y": list("ppqq") * 15}, "y")
    with pytest.raises(CredimiError, match="no matrix of redundancy"):
        nothing.plot(what="redundancy")
    assert nothing.plot() is not None
