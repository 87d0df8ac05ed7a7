"""Counts do not change under anybody's hands; `update` alone puts others in their place."""

from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError

import numpy as np
import pytest

from credimi import Counts, CredimiError, count, rank

ONE = {"x": ["a", "b", None, "b"] * 9, "z": [1.5, 2.5, 3.5, None] * 9, "y": ["p", "q", "q", None] * 9}
MORE = {"x": ["c", "b"] * 9, "z": [0.5, 4.5] * 9, "y": ["r", "q"] * 9}


@pytest.mark.parametrize("name", ["target", "classes", "features", "labels", "flat", "rows", "settings", "sources"])
def test_nothing_can_be_assigned(name: str) -> None:
    counts = count(ONE, "y")
    with pytest.raises(FrozenInstanceError):
        setattr(counts, name, getattr(counts, name))


def test_no_cell_can_be_written() -> None:
    counts = count(ONE, "y")
    for array in (counts.flat, *counts.blocks()):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


def test_an_array_that_counts_are_made_of_stays_its_owner_s() -> None:
    counts = count(ONE, "y")
    flat = counts.flat.copy()
    own = Counts(counts.target, counts.classes, counts.features, counts.labels, flat, counts.rows)
    assert flat.flags.writeable
    assert not own.flat.flags.writeable


def test_update_puts_the_sum_in_the_place_of_the_counts() -> None:
    counts, before = count(ONE, "y"), count(ONE, "y")
    flat = counts.flat
    assert counts.update(MORE) is counts
    assert counts == before + count(MORE, "y")
    assert counts.rows == 54
    assert np.array_equal(flat, before.flat)  # who has the former cells has them still


def test_an_update_that_fails_leaves_the_counts_as_they_were() -> None:
    counts = count(ONE, "y")
    with pytest.raises(CredimiError):
        counts.update({"x": ["a"], "y": ["p"]})
    assert counts == count(ONE, "y")


def test_rows_with_a_class_alone() -> None:
    counts, known = count(ONE, "y"), count({name: [*values[:3]] * 9 for name, values in ONE.items()}, "y")
    assert counts.labelled() == known
    assert counts == count(ONE, "y")
    assert count({"y": ["p", None]}, "y").labelled().rows == 2  # without a feature nobody knows


def test_counts_are_copied_and_sent_as_before() -> None:
    counts = count(ONE, "y")
    for other in (copy.deepcopy(counts), pickle.loads(pickle.dumps(counts))):  # noqa: S301  (our own bytes)
        assert other == counts
        assert rank(other).to_dict() == rank(counts).to_dict()
