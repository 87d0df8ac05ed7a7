"""The table of a comparison in windows of all widths: names, changes and verdicts stay, samples can be told apart."""

from __future__ import annotations

import pytest
from rich.cells import cell_len

import credimi
from credimi.results.section import Shown
from credimi.results.text import parts, printed


def comparison(names: tuple[str, str], feature: str = "f") -> credimi.Comparison:
    first = {feature: list("aabb") * 100, "one": ["v"] * 400, "y": list("pqqq") * 100}
    second = {feature: list("abab") * 100, "one": ["v"] * 400, "y": list("ppqq") * 100}
    return credimi.compare(first, second, "y", names=names)


@pytest.mark.parametrize("width", [40, 60, 80, 100, 140])
@pytest.mark.parametrize("feature", ["f", "visits_last_year", "測定された血糖値の平均値" * 3])
@pytest.mark.parametrize(
    "names", [("2023", "2024"), ("a/long/path/of/2023.csv", "a/long/path/of/2024.csv"), ("男性" * 9, "女性" * 9)]
)
def test_names_changes_and_verdicts_stay(width: int, feature: str, names: tuple[str, str]) -> None:
    found = comparison(names, feature)
    lines = printed(found.sections(shown := Shown(width=width)), shown).splitlines()
    assert max(map(cell_len, lines)) <= width
    rule = next(place for place, line in enumerate(lines) if line.startswith("──"))
    head, cells = lines[rule - 1].split(), lines[rule + 1].split()
    assert (head[0], head[-1]) == ("feature", "verdict")
    assert "change" in head
    assert cells[0][:3] == feature[:3]
    assert cells[-1] == found[feature]["verdict"]
    assert f"{found[feature]['change']:+.4f}" in cells
    assert (f"{found[feature]['mi_b']:.4f}" in cells) == (
        width > 40
    )  # what each of the samples tells, where there is room


def test_samples_whose_names_end_alike_are_called_a_and_b() -> None:
    found = comparison(("2023/the_clinic_of_the_north.csv", "2024/the_clinic_of_the_north.csv"))
    lines = printed(found.sections(shown := Shown(width=100)), shown)
    assert "in B, 2024/the_clinic_of_the_north.csv (400 rows), against A, 2023/the" in lines.replace("\n", " ")
    assert lines.split("feature")[1].split()[:2] == ["A", "B"]


def test_samples_without_names_are_called_a_and_b_once() -> None:
    table = {"f": list("aabb") * 100, "y": list("pqqq") * 100}
    title = str(credimi.compare(table, table, "y")).splitlines()[0]
    assert title == "What informs about y in B (400 rows), against A (400 rows)"


def test_what_is_the_same_is_said_as_a_probability() -> None:
    told = " ".join(str(comparison(("2023", "2024"))).split())
    assert "same: P(|change| <= 0.5 %) >= 0.95; 0.5 % of the target's entropy" in told


def test_bits_are_named() -> None:
    title = next(comparison(("2023", "2024")).sections(Shown(units="bits"))).lead
    assert title == "What informs about y in 2024 (400 rows), against 2023 (400 rows), in bits"


def test_very_long_names_of_samples_are_not_measured_letter_by_letter(monkeypatch: pytest.MonkeyPatch) -> None:
    """Groups may be called by texts of any length: their headings took seconds for ten thousand letters."""
    found = comparison(("z" * 20_000 + "1", "z" * 20_000 + "2"))
    measured: list[int] = []

    def counted(text: str) -> int:
        measured.append(len(text))
        return len(text)

    monkeypatch.setattr("rich.cells.cell_len", counted)
    assert list(parts(found.sections(shown := Shown(width=100)), shown))
    assert sum(measured) < 500_000
