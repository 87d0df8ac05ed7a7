"""Estimators take tables in memory; frames whose rows are elsewhere are refused with what to do instead."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import credimi

if TYPE_CHECKING:
    from collections.abc import Callable

ESTIMATORS = ["CredibleSelector", "EntropyDiscretizer", "IncrementalNaiveBayes", "CredibleTreeClassifier"]
FRAME = pd.DataFrame({"a": [1.5, 2.5, 3.5, 4.5] * 25, "b": [0, 1, 1, 0] * 25})
Y = np.array(["no", "yes", "yes", "no"] * 25)


def _dask(frame: pd.DataFrame) -> object:
    return pytest.importorskip("dask.dataframe").from_pandas(frame, npartitions=2)


def _duckdb(frame: pd.DataFrame) -> object:
    return pytest.importorskip("duckdb").from_df(frame)


FRAMES = {"dask": (_dask, "compute"), "duckdb": (_duckdb, "df"), "polars": (pl.LazyFrame, "collect")}


@pytest.mark.parametrize("library", [*FRAMES])
@pytest.mark.parametrize("name", ESTIMATORS)
def test_methods_name_the_remedy(name: str, library: str) -> None:
    make, method = FRAMES[library]
    elsewhere, fitted = make(FRAME), getattr(credimi, name)().fit(FRAME, Y)
    calls: list[Callable[[], Any]] = [lambda: getattr(credimi, name)().fit(elsewhere, Y)]
    if hasattr(fitted, "partial_fit"):
        calls.append(lambda: getattr(credimi, name)().partial_fit(elsewhere, Y))
    methods = [getattr(fitted, each, None) for each in ("transform", "predict", "predict_proba")]
    calls += [partial(each, elsewhere) for each in methods if each is not None]
    for call in calls:
        with pytest.raises(credimi.CredimiError, match=rf"X is a .*{method}\(\)"):
            call()


def test_a_target_elsewhere() -> None:
    with pytest.raises(credimi.CredimiError, match=r"y is a dask .*y\.compute\(\)"):
        credimi.CredibleSelector().fit(FRAME, _dask(FRAME)["b"])
