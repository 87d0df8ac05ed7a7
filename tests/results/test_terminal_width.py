"""The table in windows of all widths: names are cut in the middle, nothing runs over, nothing trails."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from command_helpers import CLINIC
from rich.cells import cell_len

import credimi
from credimi.cli import main
from credimi.results import sentences
from credimi.results.names import shorten_distinctly, shortened
from credimi.results.section import Shown
from credimi.results.text import printed as text_of

if TYPE_CHECKING:
    from pathlib import Path

WIDTHS = (40, 60, 80, 100, 130, 160)


def ranking_text(result: credimi.Result, width: int) -> str:
    return text_of(result.sections(shown := Shown(width=width)), shown)


def ranking(name: str, others: int = 3) -> credimi.Ranking:
    rows = 400
    table = {name: ["a", "b"] * (rows // 2)} | {f"f{place}": list("aabb") * (rows // 4) for place in range(others)}
    return credimi.rank(table | {"y": ["p", "q", "p", "q", "q", None, "p", "q"] * (rows // 8)}, "y", epsilon=0.003)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize(
    "name", ["short", "a_name_of_more_than_forty_letters_and_no_blank_at_all", "測定された血糖値の平均値" * 3, ""]
)
def test_nothing_runs_over_or_trails(width: int, name: str) -> None:
    lines = ranking_text(ranking(name), width=width).splitlines()
    assert max(map(cell_len, lines)) <= width
    assert all(line == line.rstrip() for line in lines)
    rule = next(place for place, line in enumerate(lines) if line.startswith("──"))
    assert (
        len([line for line in lines[rule + 1 : rule + 5] if " keep" in line or " drop" in line or " unsure" in line])
        == 4
    )


def test_a_long_name_is_cut_in_the_middle() -> None:
    name = "systolic_pressure_before_breakfast_second_reading"
    printed = ranking_text(ranking(name), width=80)
    (line,) = (line for line in printed.splitlines() if "systol" in line and "…" in line)
    shown = line.split()[1]
    start, end = shown.split("…")
    assert name.startswith(start)
    assert name.endswith(end)
    assert min(len(start), len(end)) >= 7
    assert name in ranking_text(ranking(name), width=140)


@pytest.mark.parametrize("room", [2, 3, 7, 12])
@pytest.mark.parametrize("name", ["abcdefghijklmnopqrstuvwxyz", "日本語の名前とても長い", "ab語cd語ef語gh語"])
def test_shortened_names_fit(name: str, room: int) -> None:
    shown = shortened(name, room)
    assert cell_len(shown) <= room
    assert cell_len(shown) >= room - 1 - (not name.isascii())
    head, tail = shown.split("…")
    assert name.startswith(head)
    assert name.endswith(tail)
    assert shortened(name, 99) == name


@pytest.mark.parametrize(("width", "shown"), [(80, ("%",)), (100, ("%", "complete"))])
def test_eighty_columns_have_the_share_and_wider_ones_the_complete_rows(width: int, shown: tuple[str, ...]) -> None:
    printed = ranking_text(ranking("a_name_of_more_than_forty_letters_and_no_blank_at_all"), width=width)
    head = next(line for line in printed.splitlines() if "feature" in line)
    assert [word for word in ("nats", "95 % interval", "verdict", *shown) if f" {word}" not in head] == []
    assert ("complete" in head) == ("complete" in shown)
    assert " % " in head.replace("95 % interval", "").replace("0.5 %", "")


def test_the_share_of_the_entropy_stands_beside_the_nats() -> None:
    found = ranking("x")
    assert "nats     %  95 % interval" in str(found)
    for row in found:
        assert row["entropy_share"] == pytest.approx(row["mi"] / found.entropy, abs=1e-15)
    assert f"{100 * found['x']['entropy_share']:.1f}" in str(found)
    assert ">%</th>" in found._repr_html_()


def test_the_title_wraps_at_the_width_of_the_window() -> None:
    y = [f"a_rather_long_class_{row % 6}" for row in range(60)]
    lines = ranking_text(credimi.rank({"x": list("ab") * 30, "y": y}, "y"), width=100).splitlines()
    assert len(lines[0]) > 80  # the table itself is narrower
    assert len(lines[0]) <= 100


def test_what_is_piped_has_no_trailing_blanks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "data.csv"
    path.write_text("x,longer_name,y\n" + "a,b,p\nb,c,q\n" * 40)
    assert main(["rank", str(path), "--target", "y"]) == 0
    assert main(["rank", str(path), "--target", "y", "--output", str(tmp_path / "out.txt")]) == 0
    assert main(["table", "10 2; 3 15"]) == 0
    for text in (capsys.readouterr().out, (tmp_path / "out.txt").read_text(encoding="utf-8")):
        assert all(line == line.rstrip() for line in text.splitlines())


def test_one_is_not_many() -> None:
    assert "\n1 feature: " in str(credimi.rank({"x": list("ab") * 30, "y": list("pq") * 30}, "y"))
    assert sentences.rows_in_words(1, None) == "1 row"
    assert sentences.rows_in_words(3, 1) == "1 of 3 rows has the target"


@pytest.mark.parametrize("width", range(72, 131))
def test_the_heading_of_probabilities_is_one_line(width: int) -> None:
    table = {"pressure_medication": list("aabb") * 100, "id": [f"p{i}" for i in range(400)]}
    lines = ranking_text(credimi.rank(table | {"y": list("pqqq") * 100}, "y"), width=width).splitlines()
    rule = next(place for place, line in enumerate(lines) if line.startswith("──"))
    assert "P(> 0.5 %)" in lines[rule - 1]


def long_names(count: int = 5) -> list[str]:
    middles = ("alpha", "beta", "gamma", "delta", "epsilon")
    return [f"measurement of the utterly long quantity {each} in the north wing" for each in middles[:count]]


@pytest.mark.parametrize("room", [10, 14, 28, 40])
def test_names_that_differ_in_the_middle_stay_different(room: int) -> None:
    names = [*long_names(), "short", *("x" * 60 + each + "x" * 60 for each in "ab")]
    names += ["日本語" * 9 + each + "の" * 30 for each in "赤青"]
    shown = shorten_distinctly(names, room)
    assert max(map(cell_len, shown)) <= room
    assert len(set(shown)) == len(names)
    assert shown[names.index("short")] == "short"
    assert len(set(shorten_distinctly(["a" * 80, "a" * 90], room))) <= 2  # nothing shows how long they are; it ends


def test_tables_keep_names_apart() -> None:
    names = long_names(4)
    columns = {name: ["ab"[(row >> place) % 2] for row in range(320)] for place, name in enumerate(names)}
    same = {name: list(columns[names[0]]) for name in names}
    found = credimi.rank(columns | {"y": ["p", "q"] * 160}, "y")
    printed = ranking_text(found, width=80)
    assert len({line.split("  ")[1] for line in printed.splitlines() if "…" in line}) == len(names)
    pairs = {line.split("0.")[0] for line in str(credimi.pairs(same)).splitlines() if "…" in line}
    assert len(pairs) == len(names) * (len(names) - 1) // 2


@pytest.mark.parametrize("width", [80, 100, 120])
def test_interactions_have_one_line_a_pair(width: int) -> None:
    printed = ranking_text(credimi.interactions(str(CLINIC), "diabetes"), width).splitlines()
    verdicts = [line for line in printed if line.endswith(("redundancy", "unsure")) and " to " in line]
    assert len(verdicts) == 11
    told = next(place for place, line in enumerate(printed) if line.startswith("clinic: one value only"))
    assert told <= 11 + 6  # headings, and no line that goes on; below are remarks
    assert max(map(cell_len, printed)) <= width
    assert any("systolic_pressure" in line if width >= 120 else "…" in line for line in verdicts)
