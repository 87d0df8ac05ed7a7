"""Rows that come one at a time meet the limits that tables meet."""

from __future__ import annotations

from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from credimi import CredimiError, count
from credimi.columns.labels import MANY
from credimi.columns.reading_options import ReadingOptions
from credimi.counts.incremental_counts import IncrementalCounts

if TYPE_CHECKING:
    from credimi import Counts

LONG = 1 << 20


def entered(cells: list[Any], classes: list[Any] | None = None) -> Counts:
    ledger = IncrementalCounts.empty("y", ["x"], ReadingOptions.of([], "mdl"))
    for cell, label in zip(cells, classes or ["p", "q"] * len(cells), strict=False):
        ledger.enter([cell], label)
    return ledger.counts


@pytest.mark.parametrize(
    "cells",
    [
        [2**53 - 1, 2**53, 2**53 + 1, 2**53],
        [2.0**60, 2**60, 2**60 + 1],
        [2**60, 2**60 + 1, 2.0**60],
        [5, np.timedelta64(5, "s"), np.timedelta64(5, "ms"), 5.0],
        ["a", 2**53 + 2, 7, True],
    ],
)
def test_numbers_that_are_no_doubles_and_spans(cells: list[Any]) -> None:
    single = [
        count({"x": np.array([cell], dtype=object), "y": ["pq"[row % 2]]}, "y", missing_values=[])
        for row, cell in enumerate(cells)
    ]
    assert entered(cells) == reduce(add, single)


def test_long_texts_are_given_up() -> None:
    found = entered([f"{row:02}" + "x" * LONG for row in range(40)])
    assert found.labels[0].kind == MANY
    assert found.rows == 40


def test_long_classes_are_refused() -> None:
    with pytest.raises(CredimiError, match="target 'y' has classes of more than 32 MiB of text"):
        entered([1] * 40, [f"{row:02}" + "x" * LONG for row in range(40)])


def test_texts_that_are_taken_away_make_room() -> None:
    ledger = IncrementalCounts.empty("y", ["x"], ReadingOptions.of([], "mdl"))
    ledger.enter(["a"], "p")
    for row in range(40):
        text = f"{row:02}" + "x" * LONG
        ledger.enter([text], "p")
        ledger.enter([text], "p", -1.0)
    assert ledger.counts.labels[0].texts == ("a",)
