"""What comes beside the data, or instead of a plain array, and is no column: refused by its name, or read as meant."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

import credimi

CLASSES = list("ppqq") * 25
DATA = np.array([[0, 1], [0, 2], [1, 1], [1, 2]] * 25)
TABLES = {
    "pandas": pd.DataFrame({"y": CLASSES}),
    "polars": pl.DataFrame({"y": CLASSES}),
    "pyarrow": pa.table({"y": CLASSES}),
    "scipy": sparse.csr_matrix(DATA[:, :1]),
}


@pytest.mark.parametrize("kind", TABLES)
def test_a_table_is_no_target(kind: str) -> None:
    with pytest.raises(credimi.CredimiError, match="which is a table: pass one column of it"):
        credimi.rank(DATA, TABLES[kind])


@pytest.mark.parametrize("kind", TABLES)
def test_a_table_is_no_weight(kind: str) -> None:
    with pytest.raises(credimi.CredimiError, match=r"column 'weights' is a .* table: pass one column of it"):
        credimi.rank(DATA, CLASSES, weights=TABLES[kind])


@pytest.mark.parametrize("values", [set(range(100)), frozenset(range(100)), dict(enumerate(CLASSES))])
def test_what_has_no_order_is_no_column(values: object) -> None:
    with pytest.raises(credimi.CredimiError, match="pass one value a row, such as a list") as caught:
        credimi.rank(DATA, values)
    assert len(str(caught.value)) < 200
    with pytest.raises(credimi.CredimiError, match="column 'x' is the"):
        credimi.rank({"x": values, "y": CLASSES}, "y")


def test_a_matrix_is_an_array() -> None:
    with pytest.warns(PendingDeprecationWarning):
        matrix = np.matrix(DATA)
    assert credimi.count(matrix, CLASSES) == credimi.count(DATA, CLASSES)


def test_labels_of_an_index_make_no_table() -> None:
    target = pd.Series(CLASSES, index=["columns", *range(99)])
    assert credimi.rank(DATA, target)[0]["feature"] == "column 0"
