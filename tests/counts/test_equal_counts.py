"""Counts are equal if what was seen is: a column that is missing in all rows has no kind to differ in."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from credimi import count

CLASSES = ["p", "q", "p"]


@pytest.mark.parametrize("kind", [pa.null(), pa.string(), pa.float64(), pa.bool_(), pa.timestamp("s")])
def test_a_column_of_nothing_is_the_same_of_every_type(kind: pa.DataType) -> None:
    nothing = count({"x": [None, None, None], "class": CLASSES}, "class")
    assert count(pa.table({"x": pa.nulls(3, kind), "class": CLASSES}), "class") == nothing
    assert count({"x": pa.nulls(3, kind), "class": pa.array(CLASSES)}, "class") == nothing
    assert count({"x": ["a", None, None], "class": CLASSES}, "class") != nothing


@pytest.mark.parametrize("values", [[1.5, 2.5, np.nan], ["a", "b", None], [True, None, False]])
def test_what_is_left_when_all_is_taken_away_are_the_counts_of_no_rows(values: list[object]) -> None:
    empty = count({"x": [], "class": []}, "class")
    some = count({"x": values, "class": CLASSES}, "class")
    assert some - some == empty
    assert some + empty - some == empty
