"""The types of the columns that `EntropyDiscretizer` returns as a frame."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from credimi import EntropyDiscretizer

ROWS = 40
Y = ["p"] * 20 + ["q"] * 20
FRAME = pl.DataFrame(
    {
        "number": [None, *np.arange(1.0, ROWS)],
        "text": [None, *["u", "v", "w"] * 13],
        "group": pl.Series(["g", "h"] * 20, dtype=pl.Categorical),
        "list": [[1], [2, 3]] * 20,
    }
)
SOURCES: dict[str, Any] = {
    "polars": FRAME,
    "pandas": FRAME.to_pandas().set_index(np.arange(ROWS) // 2),
    "arrow": FRAME.to_arrow(),
}


@pytest.mark.parametrize("source", SOURCES)
def test_polars_columns_are_never_objects(source: str) -> None:
    fitted = EntropyDiscretizer().set_output(transform="polars").fit(SOURCES[source], Y)
    out = fitted.transform(SOURCES[source])
    assert dict(out.schema) == {
        "number": pl.Float64(),
        "text": pl.String(),
        "group": pl.Categorical(),
        "list": pl.List(pl.Int64()),
    }
    assert out["text"].to_list() == FRAME["text"].to_list()
    assert out["number"].to_list()[1:] == [0.0] * 19 + [1.0] * 20
    named = fitted.set_params(output="labels").transform(SOURCES[source])
    assert named.schema["number"] == pl.String()
    assert named["number"].to_list() == [None] + ["<= 19.5"] * 19 + ["> 19.5"] * 20


@pytest.mark.parametrize("source", SOURCES)
def test_pandas_columns_keep_their_types_and_rows(source: str) -> None:
    out = EntropyDiscretizer().set_output(transform="pandas").fit_transform(SOURCES[source], Y)
    assert out["number"].dtype == np.float64
    assert isinstance(out["group"].dtype, pd.CategoricalDtype)
    assert out["group"].tolist() == ["g", "h"] * 20
    assert out.index.tolist() == (SOURCES["pandas"].index.tolist() if source == "pandas" else list(range(ROWS)))


def test_a_column_without_any_label_is_text() -> None:
    fitted = EntropyDiscretizer(output="labels").set_output(transform="polars").fit(FRAME.select("number", "text"), Y)
    empty = pl.DataFrame({"number": [None, None], "text": [None, "u"]}, schema_overrides={"number": pl.Float64})
    assert fitted.transform(empty).schema["number"] == pl.String()


def test_objects_of_several_types_pass_as_they_are() -> None:
    mixed = pd.DataFrame({"number": np.arange(ROWS), "mixed": np.array([1, "a"] * 20, dtype=object)})
    out = EntropyDiscretizer().set_output(transform="polars").fit_transform(mixed, Y)
    assert out["mixed"].to_list() == [1, "a"] * 20
    assert out.schema["number"] == pl.Float64()
    assert pa.array(out["number"]).to_pylist() == [0.0] * 20 + [1.0] * 20
