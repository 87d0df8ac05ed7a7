"""The README is one screen: short, with what a new reader needs, and its links lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from test_docs import blocks_of

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
LINKS = re.findall(r"\]\(([^)\s]+)\)", README)


def anchors(page: Path) -> set[str]:
    """The headings of a page as links name them."""
    titles = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def test_the_readme_is_short() -> None:
    assert len(README.splitlines()) <= 90
    (python,) = [block for block in blocks_of("README.md") if block.kind == "python"]
    assert len([line for line in python.text.splitlines() if line]) == 8
    assert 'pip install ".[plot,sklearn]" pandas' in python.text  # the demo installs no pandas
    (console,) = [block for block in blocks_of("README.md") if block.kind == "console"]
    assert "verdict" in console.text
    table = README.partition("| | evidence |")[2].partition("\n\n")[0].strip().splitlines()[1:]
    assert len(table) == 5
    assert all("](docs/" in line for line in table)


def test_the_picture_is_small() -> None:
    (picture,) = re.findall(r"!\[.*?\]\((.*?)\)", README)
    assert (ROOT / picture).stat().st_size < 150_000
    assert Path(picture).stem in (ROOT / "tools" / "screenshots.py").read_text(encoding="utf-8")


@pytest.mark.parametrize("link", LINKS)
def test_links_lead_somewhere(link: str) -> None:
    path, _, heading = link.partition("#")
    assert (ROOT / path).is_file()
    assert not heading or heading in anchors(ROOT / path)
