"""The target's classes are interpreted once: whoever needs their names, totals or places takes what was found."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import credimi
from credimi.columns import labels

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

CLASSES = ("maybe", "no", "yes")
COLUMNS = {"size": ["large", "small", "small"] * 40, "age": list(range(120)), "answer": ["yes", "no", "maybe"] * 40}


def features() -> pd.DataFrame:
    return pd.DataFrame({name: COLUMNS[name] for name in ("size", "age")})


def rank_a_file(folder: Path) -> object:
    path = folder / "rows.csv"
    pd.DataFrame(COLUMNS).to_csv(path, index=False)
    return credimi.rank(path, "answer")


def rank_counts_of_a_file(folder: Path) -> object:
    credimi.count(COLUMNS, "answer").save(folder / "rows.credimi")
    return credimi.rank(folder / "rows.credimi")


WAYS: dict[str, Callable[[Path], object]] = {
    "rank a file": rank_a_file,
    "rank a file of counts": rank_counts_of_a_file,
    "rank a frame": lambda _: credimi.rank(pd.DataFrame(COLUMNS), "answer"),
    "rank a table": lambda _: credimi.rank(pa.table(COLUMNS), "answer", missing_as="category"),
    "rank an array": lambda _: credimi.rank(features(), np.array(COLUMNS["answer"], dtype=object)),
    "select": lambda _: credimi.CredibleSelector().fit(features(), COLUMNS["answer"]).get_support(),
    "select a part": lambda _: credimi.CredibleSelector().partial_fit(features(), COLUMNS["answer"]).get_support(),
    "prequential": lambda _: credimi.prequential(COLUMNS, "answer", orders=1),
}


@pytest.mark.parametrize("way", WAYS)
def test_classes_are_interpreted_once(way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    typed, asked = labels.typed, []

    def counting(own: labels.Labels, *limits: int) -> object:
        if own.texts == CLASSES:
            asked.append(own)
        return typed(own, *limits)

    monkeypatch.setattr(labels, "typed", counting)
    WAYS[way](tmp_path)
    assert len(asked) == 1
