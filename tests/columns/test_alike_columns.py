"""The labels of a column are found by its place: a search among p names takes p^2 comparisons."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

import credimi
from credimi.counts.nodes.node_counter import node_counter
from credimi.counts.request import CountRequest
from credimi.sources import codes as door
from credimi.sources.codes import encoded_table

if TYPE_CHECKING:
    import pytest

    from credimi.counts import codes


ROWS = 60


def table() -> dict[str, list[object]]:
    """Columns of the same labels and other counts: with and without a value, missing ones, names of rows, codes."""
    generator = np.random.default_rng(0)
    few = [f"v{number}" for number in range(40)]
    columns: dict[str, list[object]] = {"y": generator.integers(0, 2, ROWS).tolist()}
    for number in range(3):
        columns[f"digits {number}"] = generator.integers(0, 3, ROWS).tolist()
        columns[f"texts {number}"] = [few[each] for each in generator.integers(0, 40, ROWS)]
        columns[f"names {number}"] = [*few, *few[: number * 10], *([None] * (ROWS - 40 - number * 10))]
        columns[f"codes {number}"] = np.where(generator.random(ROWS) < 0.05 * number, -9, 1 + number % 2).tolist()
        columns[f"grades {number}"] = [[1, 2, 3, 99][each] for each in generator.permutation(ROWS) * 3 // ROWS]
        columns[f"grades {number}"][: 2 * number] = [99] * (2 * number)
        columns[f"zeros {number}"] = [f"0{each}" for each in generator.integers(0, 30, ROWS)]
        columns[f"truth {number}"] = (generator.random(ROWS) < 0.5).tolist()
        columns[f"none {number}"] = ["?" if each else "a" for each in generator.integers(0, 2, ROWS)]
        columns[f"numbers {number}"] = generator.normal(size=ROWS).round(1).tolist()
    return columns


class Unsearched(tuple[str, ...]):
    """Names that are not looked for one by one: of p columns that takes p^2 comparisons."""

    __slots__ = ()

    def index(self, *_: object) -> int:
        raise AssertionError


def test_labels_of_a_column_are_found_without_a_search(monkeypatch: pytest.MonkeyPatch) -> None:
    parts = door.coded_parts

    def unsearched(*given: Any) -> codes.EncodedTable:  # noqa: ANN401  (what coded_parts takes)
        encoded = parts(*given)
        return replace(encoded, counts=replace(encoded.counts, features=Unsearched(encoded.counts.features)))

    monkeypatch.setattr(door, "coded_parts", unsearched)
    data = table()
    assert credimi.pairs(data).names
    assert node_counter(encoded_table(data, CountRequest.of("y"))).columns
    assert credimi.select(data, "y").features is not None
