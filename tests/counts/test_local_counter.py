"""Counts of all columns against target and stratum, in one pass, against counting row by row."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from credimi import CredimiError
from credimi.core.defaults import MISSING_VALUES
from credimi.counts import local_counter
from credimi.counts.local_counter import LocalCounter
from credimi.counts.reading import Reading
from credimi.counts.request import CountRequest
from credimi.sources.codes import encoded_table

if TYPE_CHECKING:
    from credimi.core.tables import Tables
    from credimi.counts.codes import Codes

ROWS = 3_000
STRATA = 5


def columns(seed: int, classes: int = 3) -> dict[str, list[str | float | None]]:
    """A target and columns of all kinds, with missing values everywhere."""
    generator = np.random.default_rng(seed)

    def holed(values: list[str | float]) -> list[str | float | None]:
        return [None if gone else value for value, gone in zip(values, generator.random(ROWS) < 0.2, strict=True)]

    target = generator.integers(0, classes, ROWS)
    number = target + generator.normal(size=ROWS)
    return {
        "class": holed([f"c{each:03d}" for each in target]),
        "letter": holed([chr(97 + each) for each in generator.integers(0, 4, ROWS)]),
        "number": holed(number.round(3).tolist()),
        "many": holed([f"v{each:03d}" for each in generator.integers(0, 40, ROWS)]),
        "noise": holed(generator.normal(size=ROWS).round(3).tolist()),
    }


def coded(data: dict[str, list[str | float | None]]) -> Codes:
    return encoded_table(data, CountRequest.of("class", Reading(missing_values=MISSING_VALUES))).codes()


@dataclass(frozen=True)
class Given:
    """A rule that says the stratum of each row outright."""

    of_rows: np.ndarray

    def strata(self, _codes: Codes) -> tuple[np.ndarray, int]:
        return self.of_rows, STRATA


def counted(codes: Codes, strata: np.ndarray, chosen: list[int] | None = None) -> tuple[Tables, np.ndarray]:
    asked = np.array(range(len(codes.features)) if chosen is None else chosen)
    ((found, tables, starts),) = LocalCounter(codes, threads=2).by_stratum(Given(strata), asked)
    assert found.tolist() == asked.tolist()
    return tables, starts


def naive(codes: Codes, strata: np.ndarray, feature: int, weights: np.ndarray | None = None) -> np.ndarray:
    """Row by row: strata x (r + 1) x (s + 1); rows without a stratum are left out."""
    cells: Counter[tuple[int, int, int]] = Counter()
    for row, stratum in enumerate(strata.tolist()):
        if 0 <= stratum < STRATA:
            cell = stratum, int(codes.groups[row]), int(codes.columns[feature][row])
            cells[cell] += 1 if weights is None else weights[row]
    found = np.zeros((STRATA, len(codes.classes) + 1, len(codes.features[feature].values) + 1))
    for place, count in cells.items():
        found[place] = count
    return found


def blocks_of(tables: Tables, feature: int) -> np.ndarray:
    return np.array([tables.block(feature * STRATA + stratum) for stratum in range(STRATA)])


def some_strata() -> np.ndarray:
    strata = np.random.default_rng(8).integers(-1, STRATA, ROWS)
    strata[::50] = STRATA + 3  # as good as missing
    return strata


def test_codes_are_the_interpreted_values_of_the_rows() -> None:
    data = columns(0)
    codes = coded(data)
    assert [feature.name for feature in codes.features] == ["letter", "number", "many", "noise"]
    letters = [*codes.features[0].values, None]
    assert [letters[code] for code in codes.columns[0]] == data["letter"]
    classes = [*codes.classes, None]
    assert [classes[code] for code in codes.groups] == data["class"]
    for feature, values in zip(codes.features, codes.columns, strict=True):
        assert np.array_equal(np.bincount(values, minlength=len(feature.values) + 1), feature.block.sum(axis=0))


@pytest.mark.parametrize("classes", [2, 3, 120])  # the last: more composite classes than a byte has numbers
@pytest.mark.parametrize("compiled", [False, True])
def test_one_pass_counts_all_columns(classes: int, *, compiled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_counter, "_CELLS_WORTH_COMPILING", 0 if compiled else 1 << 60)
    codes, strata = coded(columns(1, classes)), some_strata()
    tables, starts = counted(codes, strata)
    assert starts.tolist() == [STRATA * number for number in range(len(codes.features) + 1)]
    for feature in range(len(codes.features)):
        assert np.array_equal(blocks_of(tables, feature), naive(codes, strata, feature))


def test_one_stratum_of_all_rows_is_the_table_of_the_feature() -> None:
    codes = coded(columns(2))
    tables = LocalCounter(codes).by_target()
    for number, feature in enumerate(codes.features):
        assert np.array_equal(tables.block(number), feature.block)
    assert tables.odds.tolist() == [feature.odds for feature in codes.features]
    assert min(tables.odds) < 1.0  # cuts were chosen for what they tell


def test_some_features_and_weights() -> None:
    codes, strata = coded(columns(3)), some_strata()
    weights = np.random.default_rng(1).integers(1, 4, ROWS) / 2.0
    tables, starts = counted(replace(codes, weights=weights), strata, [2, 0])
    assert starts.tolist() == [0, STRATA, 2 * STRATA]
    assert np.array_equal(blocks_of(tables, 0), naive(codes, strata, 2, weights))
    assert np.array_equal(blocks_of(tables, 1), naive(codes, strata, 0, weights))


def test_strata_of_other_rows_are_refused() -> None:
    with pytest.raises(CredimiError, match="10 strata for 3000 rows: give one a row"):
        counted(coded(columns(4)), np.zeros(10, dtype=np.int64))
