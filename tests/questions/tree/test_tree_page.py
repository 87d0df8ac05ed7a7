"""The page and the figure of a tree: names stay text, nothing is fetched, all nodes are there."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("sklearn")

import pyarrow as pa
from command_helpers import CLINIC
from page_helpers import HOSTILE
from pyarrow import csv

from credimi import CredibleTreeClassifier
from credimi.counts.nodes import node_rows
from credimi.questions.tree.view import colour_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


class Seen(HTMLParser):
    """The tags; attributes that run something fail."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        assert not any(name.startswith("on") for name, _ in attrs)


def hostile() -> CredibleTreeClassifier:
    """A tree whose columns, values and classes are all hostile."""
    rows = range(240)
    names = HOSTILE[:3]
    table = {names[0]: [HOSTILE[row % 2] for row in rows], names[1]: [HOSTILE[row // 2 % 2] for row in rows]}
    table[names[2]] = [row % 3 for row in rows]
    target = [HOSTILE[2 * (row % 2) + (row // 2 % 2)] for row in rows]
    return CredibleTreeClassifier().fit(pa.table(table), target)


def test_hostile_names_stay_text() -> None:
    model = hostile()
    assert model.get_n_leaves() == 4
    html = model.tree_.to_html()
    seen = Seen(html)
    assert not {"script", "img", "iframe", "a"} & set(seen.tags)
    assert seen.tags.count("details") == len(model.tree_.nodes)
    assert html.count("</details>") == len(model.tree_.nodes)
    assert "\x00" not in html
    assert "\x1b" not in repr(model.tree_)
    model.plot().figure.canvas.draw()


def test_nothing_is_fetched() -> None:
    html = hostile().tree_.to_html()
    assert "default-src 'none'" in html
    assert not re.search(r"(?:src|href|url)\s*[=(]\s*[\"']?(?!data:,)\w*:?//", html)


def test_a_tree_of_one_leaf_has_a_page_and_a_figure(tmp_path: Path) -> None:
    model = CredibleTreeClassifier().fit([[0.0], [1.0]] * 20, [0, 0, 1, 1] * 10)
    assert model.get_n_leaves() == 1
    model.to_html(tmp_path / "tree.html")
    assert "Tree for target: 1 leaf, depth 0, 40 rows" in (tmp_path / "tree.html").read_text(encoding="utf-8")
    model.plot().figure.canvas.draw()


def test_nodes_open_in_a_browser(show: Callable[..., Any]) -> None:
    opened = show(hostile(), viewport={"width": 380, "height": 800})
    assert opened.locator("details").count() == 7
    assert opened.evaluate("document.documentElement.scrollWidth") <= 380


def test_rare_classes_share_a_colour_and_the_key_says_so() -> None:
    """No two classes of the key look the same."""
    place = [row % 26 if row % 3 else row % 5 for row in range(2_600)]
    found = CredibleTreeClassifier().fit([[float(each)] for each in place], [f"class {each}" for each in place])
    tree = found.tree_.to_dict()
    key = re.search(r'<p class="key">(.*?)</p>', found.tree_.to_html(), re.DOTALL)[1]  # type: ignore[index]
    assert re.findall(r'class="(c\d)"', key) == [f"c{number}" for number in range(8)]
    assert "19 other classes" in key
    assert [key.count(f"class {each}<") for each in range(5)] == [1] * 5  # the most frequent
    assert colour_of(tree, 30) == list(range(26))


def test_it_is_said_why_branches_have_fewer_rows(clinic: CredibleTreeClassifier) -> None:
    assert node_rows._MIN_PART == 0.2  # noqa: SLF001  (the page calls it a fifth)
    html = clinic.tree_.to_html()
    root = html.split("</p></div>")[0]
    assert "807 rows without a value went down all branches" in root
    assert "Parts below a fifth of a row are left out: together the branches have fewer rows." in root
    assert "218 rows without a class are not in the table." in root


@pytest.fixture(scope="module")
def clinic() -> CredibleTreeClassifier:
    table = csv.read_csv(CLINIC, convert_options=csv.ConvertOptions(null_values=["", "?"], strings_can_be_null=True))
    target = table["diabetes"].to_numpy(zero_copy_only=False)
    return CredibleTreeClassifier(max_depth=1).fit(table.drop(["diabetes", "patient"]), target)
