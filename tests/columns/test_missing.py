"""What means missing is decided in one place: cells, objects, labels and files agree."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from credimi import IncrementalNaiveBayes, count
from credimi.columns.missing import MissingValues
from credimi.columns.reading_options import ReadingOptions

if TYPE_CHECKING:
    from pathlib import Path

ASKED = ["?", 999, "nothing", "true", "9999-12-31", str(2**60 + 1)]
CELLS = [
    None,
    float("nan"),
    np.datetime64("NaT"),
    Decimal("sNaN"),
    "?",
    "nothing",
    "999",
    "",
    b"?",
    b"x",
    999,
    999.0,
    np.float32(999),
    np.int8(99),
    Decimal(999),
    Decimal(998),
    998,
    True,
    False,
    np.bool_(True),  # noqa: FBT003
    2**60 + 1,
    2**60,
    np.timedelta64(999, "s"),
    dt.timedelta(seconds=999),
    dt.date(9999, 12, 31),
    dt.datetime(9999, 12, 31),  # noqa: DTZ001
    dt.date(2024, 12, 31),
    dt.time(12),
]


@pytest.mark.parametrize("cell", CELLS, ids=repr)
def test_a_cell_means_missing_as_the_same_cell_of_a_table_does(cell: Any) -> None:  # noqa: ANN401
    values = np.empty(1, dtype=object)
    values[0] = cell
    settings = ReadingOptions.of(ASKED, "mdl")
    counts = count({"x": values, "y": ["p"]}, "y", missing_values=ASKED)
    assert MissingValues(settings.missing_values).means(cell) == (counts.blocks()[0][:, -1].sum() == 1)


@pytest.mark.parametrize("text", ["?", "999", "999.0", " 999", "0999", "NaN", "-nan", "", "x", "true"])
def test_a_field_of_a_file_means_missing_as_its_label_does(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.csv"
    path.write_text(f'x,y\n"{text}",p\n')
    counts = count(path, "y", missing_values=ASKED)
    missing = text.strip() in ("?", "999", "999.0", "NaN", "-nan", "", "true")
    assert (counts.blocks()[0][:, -1].sum() == 1) == missing


def test_what_means_missing_beside_another_type_means_it_in_new_rows_too() -> None:
    """It did where the rows were counted, and was refused as a second type where they were predicted."""
    rows = [[1], [2], ["?"], [2], [1]] * 4
    table = np.array(rows, dtype=object)
    learner = IncrementalNaiveBayes(missing_values=["?"], discretize="categories").fit(table, list("ababb") * 4)
    assert list(learner.predict(table)) == [learner.predict(table[[row]])[0] for row in range(20)]


def test_a_class_written_in_bytes_means_missing() -> None:
    learner = IncrementalNaiveBayes(missing_values=["?"], learn_unlabeled=False)
    learner.learn_one({"x": "a"}, "p")
    learner.learn_one({"x": "b"}, b"?")
    assert learner.counts_.rows == 1
