"""Cautions come first: their number in the headline, three above the table; what is usual is not said."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
from command_helpers import CLINIC, answer

import credimi
from credimi.results.section import Shown
from credimi.results.text import printed

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

ROWS = 2_000


def cautioned() -> dict[str, list[object]]:
    """A table with four lines of cautions: a leak, a column that is missing by class, spellings, a duplicate."""
    generator = np.random.default_rng(1)
    y = generator.integers(0, 2, ROWS)
    x = y ^ (generator.random(ROWS) < 0.2)
    gone = (y == 1) & (generator.random(ROWS) < 0.5)
    return {
        "y": y.tolist(),
        "x": [("no", "yes", "NO ")[each + 2 * (row % 50 == 0 and not each)] for row, each in enumerate(x)],
        "z": [None if lost else int(each) for lost, each in zip(gone, x, strict=True)],
        "leak": ["ab"[each] for each in y],
        "same": [1.5 - each for each in x.tolist()],
        "twin": ["pq"[each] for each in x],
    }


def test_their_number_is_in_the_headline_and_three_are_above_the_table() -> None:
    ranking = credimi.rank(cautioned(), "y")
    cautions = ranking.remark_lines(cautions=True)
    assert len(cautions) > 3
    headline, *lines = str(ranking).splitlines()
    assert headline.endswith(f"{ROWS:,} rows; {len(cautions)} cautions")
    head = next(place for place, line in enumerate(lines) if line.startswith("#"))
    above, below = (" ".join(" ".join(part).split()) for part in (lines[:head], lines[head:]))
    assert [line in above for line in cautions] == [True] * 3 + [False] * (len(cautions) - 3)
    assert [line in below for line in cautions] == [False] * 3 + [True] * (len(cautions) - 3)
    notebook = ranking._repr_html_()
    assert notebook.index("leak: predicts the target almost perfectly") < notebook.index("<table>")
    chosen = credimi.select(cautioned(), "y", rule="relevant")
    page = chosen.to_html()
    assert page.index("predicts the target almost perfectly") < page.index("<table")
    assert f"; {len(chosen.remark_lines(cautions=True))} cautions" in str(chosen).splitlines()[0]


def test_one_caution_and_none() -> None:
    table = cautioned()
    one = credimi.rank({name: table[name] for name in ("leak", "y")}, "y")
    assert str(one).splitlines()[0].endswith("; 1 caution")
    y = np.random.default_rng(2).integers(0, 2, ROWS)
    assert "caution" not in str(credimi.rank({"noise": y[::-1], "y": y}, "y"))


def test_what_is_usual_is_said_only_if_asked(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ("rank", CLINIC, "--target", "diabetes", "--top", 3)
    usual = ("prior adaptive, approximation matched", "numbers were averaged over all ways to bin them")
    brief, verbose = (answer(capsys, *asked, *more)[1] for more in ((), ("--verbose",)))
    assert not any(each in brief for each in usual)
    assert all(each in verbose for each in usual)
    assert "prior jeffreys, approximation matched" in answer(capsys, *asked, "--prior", "jeffreys")[1]
    ranking = credimi.rank(CLINIC, "diabetes")
    assert (ranking.settings["prior"], ranking.settings["approximation"]) == ("adaptive", "matched")
    assert "prior adaptive" not in str(ranking)
    assert "prior adaptive, approximation matched" in printed(ranking.sections(shown := Shown(verbose=True)), shown)


def test_more_than_sixty_rows_are_counted_and_top_0_shows_all(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    generator = np.random.default_rng(3)
    names = [f"c{place:02}" for place in range(70)]
    rows = [[*each, answer] for *each, answer in generator.integers(0, 2, (200, 71)).tolist()]
    text = "".join(",".join(map(str, row)) + "\n" for row in [[*names, "y"], *rows])
    (tmp_path / "wide.csv").write_text(text)
    asked = ("rank", tmp_path / "wide.csv", "--target", "y")

    def shown(*more: object) -> tuple[int, str]:
        code, out, _ = answer(capsys, *asked, *more)
        assert code == 0
        return len(re.findall(r"^ *\d+ +c\d\d ", out, re.MULTILINE)), out

    number, out = shown()
    assert number == 60
    assert "70 features: " in out
    assert "; the first 60 shown (--top 0 shows all)" in " ".join(out.split())
    number, out = shown("--top", 0)
    assert number == 70
    assert "shown" not in out
    number, out = shown("--top", 5)
    assert number == 5
    assert "; the first 5 shown" in out
    assert "--top 0" not in out


def test_the_share_of_the_entropy_stays_longer_than_the_complete_rows() -> None:
    ranking = credimi.rank(CLINIC, "diabetes")

    def heads(width: int) -> str:
        shown = Shown(width=width)
        return next(
            line for line in printed(ranking.sections(shown), shown).splitlines() if line.lstrip().startswith("#")
        )

    for width in range(76, 130):
        assert "complete" not in heads(width) or " % " in heads(width)
    assert " % " in heads(80)
    assert "complete" not in heads(80)
