"""Where the smallest set takes nothing, it says whether columns matter in combination, and what to try."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

import credimi
from credimi.questions.select import relevant_features
from credimi.results.remarks import RemarkKind

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def exclusive_or(rows: int = 600, *, noise: bool = False) -> dict[str, list[str]]:
    generator = np.random.default_rng(6)
    first, second = np.tile([0, 0, 1, 1], rows // 4), np.tile([0, 1, 0, 1], rows // 4)
    target = generator.integers(0, 2, rows) if noise else first ^ second
    data = {"one": first, "other": second, "y": target}
    data |= {f"z{number}": generator.integers(0, 3, rows) for number in range(5)}
    return {name: [f"v{value}" for value in values] for name, values in data.items()}


def test_columns_that_matter_only_together_are_named(tmp_path: Path) -> None:
    chosen = credimi.select(exclusive_or(), "y")
    assert chosen.features == ()
    pairs = {(each.feature, each.other) for each in chosen.remarks if each.kind == RemarkKind.ONLY_TOGETHER}
    assert pairs == {("one", "other"), ("other", "one")}
    told = " ".join(str(chosen).split())
    assert "in combination: one (with other), other (with one)" in told
    assert "rule='relevant' takes such columns, and credimi.interactions lists the pairs" in told
    asked = chosen.to_dict(reader="command line")["remarks"][0]["text"]
    assert "--rule relevant takes such columns, and `credimi interactions` lists" in asked
    chosen.to_html(tmp_path / "page.html")
    assert "in combination: one (with other)" in (tmp_path / "page.html").read_text()
    assert set(credimi.select(exclusive_or(), "y", rule="relevant").features) == {"one", "other"}


def test_forced_columns_do_not_hide_it() -> None:
    chosen = credimi.select(exclusive_or(), "y", min_features=1)
    assert any(each.kind == RemarkKind.ONLY_TOGETHER for each in chosen.remarks)


def test_noise_is_said_to_be_noise_in_pairs_as_well() -> None:
    chosen = credimi.select(exclusive_or(noise=True), "y")
    assert [each.kind for each in chosen.remarks] == [RemarkKind.NOTHING_TOGETHER]
    assert "no two columns are credibly so in combination (all pairs, in 600 rows)" in " ".join(str(chosen).split())


def test_too_many_pairs_are_not_looked_at_and_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relevant_features, "_SECONDS", 1e-9)
    told = " ".join(str(credimi.select(exclusive_or(), "y")).split())
    assert "7 columns are too many to look at all pairs here: rule='relevant' looks at them" in told


def test_nothing_is_remarked_where_something_was_taken() -> None:
    data = exclusive_or()
    chosen = credimi.select(data | {"same": data["y"]}, "y")
    together = {RemarkKind.ONLY_TOGETHER, RemarkKind.NOTHING_TOGETHER}
    assert chosen.features == ("same",)
    assert not together & {each.kind for each in chosen.remarks}
