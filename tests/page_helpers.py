"""What tests of the page share: a table to rank, the page's data, and its JavaScript under node."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from credimi import rank
from credimi.questions.rank.page_data import collect

if TYPE_CHECKING:
    from credimi import Ranking

SOURCES = Path(__file__).parents[1] / "src" / "credimi" / "results" / "assets"
EPSILONS = [0.0, *np.geomspace(1e-5, 0.9, 19).tolist()]
HOSTILE = [
    "</script><script>alert(1)</script>",
    "<!--",
    "<img src=x onerror=alert(1)>",
    "\"quotes\" and 'others'",
    "emoji 🧪👩‍🔬",
    "عمود من اليمين",
    "&lt;b&gt;",
    "$x$ ${y} `z`",
    "line\nbreak\u2028\u2029\x00",
    "long " * 2000,
]
DECIDE = """
const laws = lawsOf(data.report.laws);
return data.asked.map(([epsilon, level]) => {
  const found = decide(data.report, tailsAbove(data.report, laws, epsilon), epsilon, level);
  return { ...found, p_above: Array.from(found.p_above, (p) => (Number.isNaN(p) ? null : p)) };
});
"""


@pytest.mark.long
def table(features: int, rows: int = 300, seed: int = 0) -> dict[str, list[Any]]:
    """Columns from useless to telling, of two to six values, with holes, beside a target with holes."""
    generator = np.random.default_rng(seed)
    classes = generator.integers(0, 3, rows)
    columns: dict[str, list[Any]] = {}
    for feature in range(features):
        values = generator.integers(2, 7)
        noise = generator.integers(0, values, rows)
        told = np.where(generator.random(rows) < generator.beta(0.3, 1.0), classes % values, noise)
        holes = generator.random(rows) < generator.choice([0.0, 0.1, 0.4])
        columns[f"feature {feature}"] = [None if hole else f"v{value}" for value, hole in zip(told, holes, strict=True)]
    columns["class"] = [
        None if hole else "abc"[each] for each, hole in zip(classes, generator.random(rows) < 0.05, strict=True)
    ]
    return columns


def data_of(ranking: Ranking) -> dict[str, Any]:
    return collect(ranking, ranking._kept)  # noqa: SLF001


def node(program: str, data: object, *more: str) -> Any:  # noqa: ANN401
    """What the page's functions answer, of `more` files as well; `data` is what the program finds under that name."""
    runner = shutil.which("node")
    if runner is None:
        pytest.skip("NOT TESTED: node is not installed, so the page's decisions were not compared with Python's")
    sources = "\n".join((SOURCES / name).read_text(encoding="utf-8") for name in ("tails.js", "decisions.js", *more))
    read = "const data = JSON.parse(require('fs').readFileSync(0, 'utf8'));\n"
    script = f"{sources}\n{read}process.stdout.write(JSON.stringify((() => {{ {program} }})()));"
    answer = subprocess.run([runner, "-e", script], input=json.dumps(data), capture_output=True, text=True, check=False)
    assert answer.returncode == 0, answer.stderr
    return json.loads(answer.stdout)


def shown(html: str) -> dict[str, Any]:
    """The data of a page, read as a browser does: up to the first end of the block."""
    block = re.search(r'<script type="application/json" id="data">(.*?)</script', html, re.DOTALL)
    assert block is not None
    found: dict[str, Any] = json.loads(block[1])
    return found


# The JavaScript, under node


def hostile_ranking() -> Ranking:
    generator = np.random.default_rng(1)
    columns: dict[str, list[Any]] = {
        name: [HOSTILE[place] for place in generator.integers(0, len(HOSTILE), 200)] for name in HOSTILE
    }
    columns["target </script>"] = [HOSTILE[place] for place in generator.integers(0, 3, 200)]
    return rank(columns, "target </script>")


class Seen(HTMLParser):
    """The tags, and the text of the names in the first column."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.names: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag == "th" and ("scope", "row") in attrs:
            self.names.append("")
        assert not any(name.startswith("on") for name, _ in attrs)

    def handle_data(self, data: str) -> None:
        if self.tags[-2:] == ["th", "bdi"]:
            self.names[-1:] = [self.names[-1] + data] if self.names else []
