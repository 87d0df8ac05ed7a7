"""The page as a reader meets it: what is seen before any click, what stays in sight, what survives a reload."""

from __future__ import annotations

import itertools
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from credimi import Ranking, rank

if TYPE_CHECKING:
    from collections.abc import Callable

CLINIC = Path(__file__).parents[2] / "examples" / "clinic.csv"
PHONE = {"width": 390, "height": 844}
ROWS = 260
LONG = "survey_2019_household_member_employment_status_recoded_into_three_groups_item_{:03}"


def ranking_of(
    columns: dict[str, list[Any]], classes: int = 2, missing: float = 0.0, epsilon: float | str = "0.5%"
) -> Ranking:
    """Rank columns of ROWS values by a target of so many classes that come in turn, some of them missing."""
    gone = np.random.default_rng(7).random(ROWS) < missing
    target = [None if gone[row] else chr(65 + row % classes) for row in range(ROWS)]
    return rank(columns | {"y": target}, "y", epsilon=epsilon)


def long_ranking(features: int = 60) -> Ranking:
    """Features that differ in the last letters of their long names; all tell something, and all are missing for A."""
    columns: dict[str, list[Any]] = {}
    for feature in range(features):
        told = [f"v{row % 2 if row % (2 + feature % 7) else 2}" for row in range(ROWS)]
        columns[LONG.format(feature)] = [None if row % 4 == 0 else value for row, value in enumerate(told)]
    return ranking_of(columns)


def box(page: Any, selector: str) -> dict[str, float]:  # noqa: ANN401
    found: dict[str, float] = page.locator(selector).first.bounding_box()
    return found


def texts(page: Any, selector: str) -> list[str]:  # noqa: ANN401
    found: list[str] = page.locator(selector).all_inner_texts()
    return found


# Before any click


def test_the_first_feature_is_open(show: Callable[..., Any]) -> None:
    page = show(rank(CLINIC, "diabetes"), viewport={"width": 1280, "height": 860})
    assert page.inner_text(".detail h2") == "glucose"
    page.keyboard.press("Escape")
    assert page.locator(".detail").count() == 0
    assert box(page, "#ranking")["width"] == box(page, "main")["width"]  # no empty third
    phone = show(rank(CLINIC, "diabetes"), viewport=PHONE)
    assert phone.locator(".detail").count() == 0  # there it would push the list away


def test_all_cautions_are_shown_before_any_click(show: Callable[..., Any]) -> None:
    ranking = long_ranking(12)
    cautious = [remark.feature for remark in ranking.remarks if remark.caution]
    assert len(set(cautious)) == 12
    page = show(ranking)
    assert page.locator("#cautions").is_visible()
    assert "whether the column is missing is itself informative about the target" in page.inner_text("#cautions")
    assert "makes them a category)" in page.inner_text("#cautions")  # the sentence to its end
    assert page.inner_text("#cautions h2") == f"{len(ranking.remark_lines(cautions=True))} cautions"
    named = page.eval_on_selector_all("#cautions .link", "links => links.map(link => link.dataset.name)")
    assert sorted(named) == sorted(cautious)
    assert page.locator(".row .mark").count() == 12
    page.fill("#search", "nothing like this")
    page.click(f"#cautions [data-name='{LONG.format(7)}']")
    assert page.inner_text(".detail h2") == LONG.format(7)
    assert page.locator(".row[aria-expanded=true]").is_visible()
    assert show(rank(CLINIC, "diabetes")).locator("#cautions").is_hidden()


def test_the_headline_says_how_many_rows_have_the_target(show: Callable[..., Any]) -> None:
    columns: dict[str, list[Any]] = {"x": [f"v{row % 3}" for row in range(ROWS)]}
    page = show(ranking_of(columns, missing=0.4))
    known = ROWS - int((np.random.default_rng(7).random(ROWS) < 0.4).sum())
    assert page.inner_text("#about").startswith(f"{known} of {ROWS} rows have the target; 1 feature; classes A, B")
    assert show(ranking_of(columns)).inner_text("#about").startswith(f"{ROWS} rows; 1 feature;")


# Names


def test_names_have_the_room_there_is(show: Callable[..., Any]) -> None:
    medium = "pressure_medication_since_last_visit"
    columns: dict[str, list[Any]] = {medium: [f"v{row % 2}" for row in range(ROWS)]}
    page = show(ranking_of(columns), viewport={"width": 1280, "height": 860})
    name = page.locator(".row .name bdi")
    assert name.inner_text() == medium
    assert name.evaluate("name => name.getClientRects().length") == 1
    assert name.evaluate("name => name.scrollWidth <= name.clientWidth && name.clientHeight < 30")
    page.hover(".row")
    assert page.locator("#whole").is_hidden()


@pytest.mark.parametrize("width", [1280, 390])
def test_long_names_are_told_apart_and_shown_whole_when_pointed_at(show: Callable[..., Any], width: int) -> None:
    page = show(long_ranking(), viewport={"width": width, "height": 860})
    names = texts(page, ".row .name")
    assert len(set(names)) == 50
    whole = page.eval_on_selector_all(".row", "rows => rows.map(row => Number(row.dataset.feature))")
    ranked = long_ranking().columns["feature"]
    assert all(name[-3:] == ranked[feature][-3:] for name, feature in zip(names, whole, strict=True))
    assert page.eval_on_selector_all(
        ".row .name bdi", "names => names.every(name => name.scrollHeight <= name.clientHeight + 1)"
    )
    page.hover(".row >> nth=1")
    assert page.inner_text("#whole") == ranked[whole[1]]
    page.mouse.move(0, 0)
    assert page.locator("#whole").is_hidden()
    page.focus("#search")
    for _ in range(3):
        page.keyboard.press("ArrowDown")
    assert page.inner_text("#whole") == ranked[whole[2]]
    inside = box(page, "#whole")
    assert inside["x"] >= 0
    assert inside["x"] + inside["width"] <= width
    assert page.evaluate("document.documentElement.scrollWidth") <= width


# The axis


def ticks(page: Any) -> list[tuple[float, float]]:  # noqa: ANN401
    """Value and place, in percent of the width."""
    found = page.eval_on_selector_all(
        "#axis .tick", "ticks => ticks.map(tick => [Number(tick.textContent), parseFloat(tick.style.left)])"
    )
    return [(value, place) for value, place in found]


def test_the_scale_is_of_square_roots_unless_asked(show: Callable[..., Any]) -> None:
    ranking = rank(CLINIC, "diabetes")
    page = show(ranking)
    assert page.input_value("#scale") == "root"
    places = page.eval_on_selector_all(".row .dot", "dots => dots.map(dot => parseFloat(dot.style.left))")
    means = ranking.columns["mi"]
    assert places[3] / places[0] == pytest.approx(math.sqrt(means[3] / means[0]), rel=1e-3)
    (value, place) = ticks(page)[-1]
    assert place / places[0] == pytest.approx(math.sqrt(value / means[0]), rel=1e-3)
    page.select_option("#scale", "linear")
    (value, place) = ticks(page)[-1]
    places = page.eval_on_selector_all(".row .dot", "dots => dots.map(dot => parseFloat(dot.style.left))")
    assert place / places[0] == pytest.approx(value / means[0], rel=1e-3)


def test_the_axis_is_right_where_all_is_zero_or_nothing_matches(show: Callable[..., Any]) -> None:
    page = show(ranking_of({"one": ["x"] * ROWS, "other": ["x"] * ROWS}, epsilon=0.003))
    values = [value for value, _ in ticks(page)]
    assert values[0] == 0.0
    assert 0.0005 < values[-1] <= 0.003
    threshold = float(page.eval_on_selector("#axis .epsilon", "line => parseFloat(line.style.left)"))
    (value, place) = ticks(page)[-1]
    assert place / threshold == pytest.approx(math.sqrt(value / 0.003), rel=1e-3)
    page.fill("#epsilon", "0")
    assert 0.1 <= ticks(page)[-1][0] <= math.log(2)
    page = show(rank(CLINIC, "diabetes"))
    before = ticks(page)
    page.fill("#search", "no such feature")
    assert ticks(page) == before
    assert "No feature matches." in page.inner_text("#rows")
    page.fill("#search", "")
    page.fill("#level", "0.999999")  # wide intervals have room, too
    ends = page.eval_on_selector_all(
        ".row .whisker", "all => all.map(each => parseFloat(each.style.left) + parseFloat(each.style.width))"
    )
    assert max(ends) < 99.9


def test_headings_stay_in_sight(show: Callable[..., Any]) -> None:
    for size in ({"width": 1280, "height": 700}, PHONE):
        page = show(long_ranking(), viewport=size)
        page.evaluate("document.querySelectorAll('.row')[30].scrollIntoView({block: 'center'})")
        page.wait_for_timeout(50)
        heading = box(page, "#axis")
        assert 0 <= heading["y"] <= 200
        top = page.evaluate(
            "box => document.elementFromPoint(box.x + 60, box.y + box.height / 2).closest('#axis') !== null", heading
        )
        assert top, "covered by the controls or the rows"


def test_a_phone_has_an_axis(show: Callable[..., Any]) -> None:
    page = show(rank(CLINIC, "diabetes"), viewport=PHONE)
    assert page.locator("#axis .tick").count() >= 3
    assert page.locator("#axis .tick").first.is_visible()
    axis, row = box(page, "#axis .forest"), box(page, ".row .forest")
    assert (axis["x"], axis["width"]) == (row["x"], row["width"])


def test_epsilon_has_a_label_in_the_list(show: Callable[..., Any]) -> None:
    page = show(rank(CLINIC, "diabetes"))
    for value in ("0.003", "0.05", "0.2"):
        page.fill("#epsilon", value)
        assert page.inner_text("#axis .threshold") == f"ε = {value}"
        label, line, row = box(page, "#axis .threshold"), box(page, "#axis .epsilon"), box(page, ".row .epsilon")
        assert line["x"] == row["x"]
        assert label["x"] - 1 <= line["x"] <= label["x"] + label["width"] + 1


@pytest.mark.parametrize("width", [1600, 1280, 900, 390])
def test_headings_do_not_overlap(show: Callable[..., Any], width: int) -> None:
    page = show(rank(CLINIC, "diabetes"), viewport={"width": width, "height": 860})
    for value in ("0.003", "0.0000123", "0.04321", "0.9"):
        page.fill("#epsilon", value)
        boxes = page.eval_on_selector_all(
            "#axis > :not(.forest), #axis .tick, #axis .threshold",
            """all => all.map((each) => {
                 const text = document.createRange(); text.selectNodeContents(each);
                 const box = text.getBoundingClientRect();
                 return [each.textContent, box.left, box.right, box.top, box.bottom];
               }).filter((each) => each[2] > each[1])""",
        )
        assert len(boxes) >= 6
        for one, other in itertools.combinations(boxes, 2):
            beside = one[2] <= other[1] or other[2] <= one[1]
            assert beside or one[4] <= other[3] + 1 or other[4] <= one[3] + 1, (width, value, one, other)


# Choosing


def test_a_click_on_a_verdict_shows_only_it(show: Callable[..., Any]) -> None:
    page = show(rank(CLINIC, "diabetes"))
    page.click("[data-verdict=keep]")
    assert {text.split(" ", 1)[1] for text in texts(page, ".row .badge")} == {"keep"}
    assert page.get_attribute("[data-verdict=keep]", "aria-pressed") == "true"
    page.click("[data-verdict=unsure]")
    assert texts(page, ".row .name") == ["pressure_medication"]
    page.click("[data-verdict=unsure]")
    assert page.locator(".row").count() == 20


def test_cuts_are_shown_once(show: Callable[..., Any]) -> None:
    page = show(rank(CLINIC, "diabetes"))
    assert page.inner_text(".detail dl").count("5.695") == 1
    assert "5 ranges: all cuts, 4 cuts" in page.inner_text(".detail dl")


@pytest.mark.parametrize("size", [{"width": 1280, "height": 860}, PHONE])
def test_many_classes_scroll_visibly(show: Callable[..., Any], size: dict[str, int]) -> None:
    columns: dict[str, list[Any]] = {"x": [f"v{row % 26 // 3}" for row in range(ROWS)]}
    page = show(ranking_of(columns, classes=26), "#feature=x", viewport=size)
    assert page.inner_text(".detail .scroll") == "26 classes, 9 values: scroll the table to see more."
    assert texts(page, ".heat thead th")[1:27] == [chr(65 + each) for each in range(26)]
    bar = page.eval_on_selector(".detail .wide:has(.heat)", "wide => wide.offsetHeight - wide.clientHeight")
    assert bar >= 8  # a scroll bar that is there without being touched
    value, before = ".heat tbody th >> nth=0", box(page, ".heat tbody th >> nth=0")["x"]
    page.eval_on_selector(".detail .wide:has(.heat)", "wide => { wide.scrollLeft = 400; wide.scrollTop = 60; }")
    assert box(page, value)["x"] == pytest.approx(before, abs=1.5)
    head, wide = box(page, ".heat thead th >> nth=3"), box(page, ".detail .wide:has(.heat)")
    assert head["y"] == pytest.approx(wide["y"], abs=2)
    few = show(ranking_of({"x": [f"v{row % 2}" for row in range(ROWS)]}), "#feature=x")
    assert few.locator(".detail .scroll").is_hidden()


# The address


def state(page: Any) -> dict[str, Any]:  # noqa: ANN401
    fields = {name: page.input_value(f"#{name}") for name in ("epsilon", "level", "scale", "search", "sort")}
    sliders = [page.input_value(f"#{name}-slider") for name in ("epsilon", "level")]
    return fields | {"sliders": sliders, "detail": texts(page, ".detail h2"), "rows": texts(page, ".row")}


def test_what_is_set_survives_a_reload(show: Callable[..., Any]) -> None:
    page = show(rank(CLINIC, "diabetes"))
    page.fill("#epsilon", "0.0123")
    page.fill("#level", "0.8")
    page.select_option("#scale", "linear")
    page.select_option("#sort", "name")
    page.fill("#search", "e")
    page.click("[data-verdict=drop]")
    page.click(".row >> nth=1")
    before = state(page)
    page.wait_for_url("**#*feature=*")
    page.reload()
    assert state(page) == before
    other = show(rank(CLINIC, "diabetes"), "#" + page.url.partition("#")[2])
    assert state(other) == before
    other.fill("#search", "")
    other.evaluate("location.hash = ''")
    other.wait_for_timeout(100)
    assert other.locator(".row").count() == 20
    assert other.inner_text(".detail h2") == "glucose"


def test_a_closed_feature_stays_closed(show: Callable[..., Any]) -> None:
    page = show(rank(CLINIC, "diabetes"))
    page.keyboard.press("Escape")
    page.wait_for_url("**#closed=")
    page.reload()
    assert page.locator(".detail").count() == 0


@pytest.mark.parametrize(
    "address",
    ["#epsilon=-1&level=2", "#epsilon=abc&scale=log&sort=x&only=all", "#feature=<img%20src=x>&page=-3", "#%%%=&&="],
)
def test_an_address_that_makes_no_sense_changes_nothing(show: Callable[..., Any], address: str) -> None:
    usual = state(show(rank(CLINIC, "diabetes")))
    assert state(show(rank(CLINIC, "diabetes"), address)) == usual


def test_pages_are_remembered(show: Callable[..., Any]) -> None:
    page = show(long_ranking())
    page.click("#next")
    page.wait_for_url("**#page=2")
    page.reload()
    assert page.inner_text("#place") == "51 to 60 of 60"


# Paper


def test_paper_has_what_is_read_and_not_what_is_pressed(show: Callable[..., Any]) -> None:
    page = show(long_ranking(), viewport={"width": 718, "height": 1000}, color_scheme="dark")
    page.click(".row >> nth=0")
    page.emulate_media(media="print", color_scheme="dark")
    for pressed in ("#tools", "#export", "#epsilon", "#next", "footer", "#cautions .link"):
        assert page.locator(pressed).first.is_hidden(), pressed
    for read in ("#cautions", "#axis", ".row", ".detail", "#says", "#place"):
        assert page.locator(read).first.is_visible(), read
    assert box(page, ".detail")["y"] > box(page, ".row >> nth=49")["y"]
    assert all(len(name) == len(LONG.format(0)) for name in texts(page, ".row .name"))
    ground = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    assert ground == "rgb(255, 255, 255)"
    assert page.evaluate("document.documentElement.scrollWidth") <= 718
    assert page.evaluate("getComputedStyle(document.querySelector('#cautions')).maxHeight") == "none"


@pytest.mark.parametrize("width", [390, 1280])
def test_names_that_differ_in_the_middle_are_told_apart(show: Callable[..., Any], width: int) -> None:
    middles = ("alpha", "beta", "gamma", "delta", "omega")
    start, end = (
        "measurement of an utterly long and wordy quantity that goes on",
        "taken in the old north wing of the house",
    )
    names = [f"{start} {start} {each} {end} {end} {end}" for each in middles]
    columns: dict[str, list[Any]] = {name: [f"v{row % 2}" for row in range(ROWS)] for name in names}
    shown = texts(show(ranking_of(columns), viewport={"width": width, "height": 844}), ".row .name")
    assert len(set(shown)) == len(names)
    assert all("…" in text for text in shown)
    assert sorted(each for each in middles if any(f"…{each} " in text for text in shown)) == sorted(middles)


def test_many_classes_with_long_names_are_not_cut_through_a_line(show: Callable[..., Any]) -> None:
    names = [f"a class of an unusually long name, which is number {place}" for place in range(26)]
    table = {"x": [f"v{row % 2}" for row in range(ROWS)], "y": [names[row % 26] for row in range(ROWS)]}
    page = show(rank(table, "y"), viewport=PHONE)
    about = page.locator("#about").evaluate(
        "e => [e.scrollHeight, e.clientHeight, parseFloat(getComputedStyle(e).lineHeight)]"
    )
    assert about[0] <= about[1]
    assert "(26)" in page.inner_text("#about")
    page.locator("#about").evaluate("e => { e.textContent = 'word '.repeat(500); }")  # whatever comes: whole lines
    height, line = page.locator("#about").evaluate("e => [e.clientHeight, parseFloat(getComputedStyle(e).lineHeight)]")
    assert height / line == pytest.approx(8.0, abs=0.06)


def test_what_is_known_if_a_feature_is_not_independent(show: Callable[..., Any]) -> None:
    ranking = rank(CLINIC, "diabetes")
    page = show(ranking, viewport={"width": 1280, "height": 860})
    page.fill("#search", "cholesterol")
    page.locator(".row").first.click()
    told = " ".join(page.inner_text(".detail").split())
    assert f"Mean if not independent {ranking['cholesterol']['mi_if_dependent']:.4f} nats" in told
