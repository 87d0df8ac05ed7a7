"""Pairs of DataFrames whose rows are elsewhere: the partitions count, and their counts add up to those of the whole."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest

import credimi
from credimi.core.errors import CredimiError
from credimi.sources.clusters import cluster_counter

if TYPE_CHECKING:
    from pathlib import Path

pandas = pytest.importorskip("pandas")
dask = pytest.importorskip("dask.dataframe")


def frame() -> pandas.DataFrame:  # type: ignore[name-defined]
    generator = np.random.default_rng(0)
    x = generator.integers(0, 3, 500)
    return pandas.DataFrame(
        {
            "id": [f"r{row}" for row in range(500)],
            "x": np.where(generator.random(500) < 0.2, None, x),
            "target": np.where(generator.random(500) < 0.6, x, generator.integers(0, 3, 500)).astype(str),
            "number": x + generator.normal(size=500),
            7: np.sort(generator.integers(0, 6, 500)),  # the partitions have different values
        }
    )


def test_partitions_of_dask_count_and_add_up() -> None:
    whole = credimi.pairs(frame())
    parts = credimi.pairs(dask.from_pandas(frame(), npartitions=11))
    assert parts.names == whole.names == ("x", "target", "number", "7")
    assert parts.to_dict() == whole.to_dict()
    few = credimi.pairs(dask.from_pandas(frame(), npartitions=3), features=["x", "7"], discretize="quantile:4")
    assert few["x", "7"] == credimi.pairs(frame(), features=["x", "7"], discretize="quantile:4")["x", "7"]


def test_refusals_name_the_remedy() -> None:
    data = dask.from_pandas(frame(), npartitions=2)
    with pytest.raises(CredimiError, match="no column 'z'"):
        credimi.pairs(data, features=["x", "z"])
    with pytest.raises(CredimiError, match="survey weights of a DataFrame need all its rows here"):
        credimi.pairs(data, weights="7", weights_are="survey")


def test_weights_and_many_pairs_are_those_of_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_counter, "_PAIR_CELLS", 10)  # a column at a time
    data = dask.from_pandas(frame(), npartitions=2)
    assert credimi.pairs(data, weights="7").to_dict() == credimi.pairs(frame(), weights="7").to_dict()


def groups() -> pandas.DataFrame:  # type: ignore[name-defined]
    """A group that is in one partition only, one whose name is a number, and rows without a group."""
    data, row = frame().drop(columns=[7]), np.arange(500)
    number = data["x"].map(str, na_action="ignore")
    return data.assign(site=np.where(row < 60, None, np.where(row < 120, "first", number)))


@pytest.mark.parametrize("options", [{}, {"weights": "n"}, {"weights": "n", "weights_are": "survey"}])
def test_the_groups_of_partitions_are_those_of_the_whole(options: dict[str, str]) -> None:
    data = groups().assign(n=np.arange(500) % 3)
    whole = credimi.rank_by(data, "target", "site", **options).to_dict()
    parts = dask.from_pandas(data, npartitions=7)
    assert len(whole["groups"]) == 4
    assert whole["ungrouped"] > 60
    assert credimi.rank_by(parts, "target", "site", **options).to_dict() == whole


def test_refusals_of_groups_are_those_of_the_whole() -> None:
    parts = dask.from_pandas(groups(), npartitions=7)
    with pytest.raises(CredimiError, match="more than 50 different values"):
        credimi.rank_by(parts, "target", "id")
    with pytest.raises(CredimiError, match="one value only, 'first'"):
        credimi.rank_by(parts[parts["site"] == "first"], "target", "site")
    with pytest.raises(CredimiError, match="no rows"):
        credimi.rank_by(parts[parts["site"] == "none"], "target", "site")


@pytest.mark.spark
@pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas")
def test_partitions_of_spark_count_and_add_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    sql = pytest.importorskip("pyspark.sql")
    plain = frame().rename(columns={7: "7"})
    plain["x"] = plain["x"].astype("float64")
    plain.to_parquet(tmp_path / "data.parquet")
    session = sql.SparkSession.builder.master("local[2]").appName("credimi").getOrCreate()
    try:
        data = session.read.parquet(str(tmp_path / "data.parquet")).repartition(5)
        parts = credimi.pairs(data)
        grouped = credimi.rank_by(data, "target", "x").to_dict()
    finally:
        session.stop()
    assert grouped == credimi.rank_by(plain, "target", "x").to_dict()
    whole = credimi.pairs(plain)
    assert parts.names == whole.names
    assert parts.to_dict() == whole.to_dict()
