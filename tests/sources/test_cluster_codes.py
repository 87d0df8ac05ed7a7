"""Sets and pairs of DataFrames whose rows are elsewhere: partitions become codes there, and the answer is the same."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest

import credimi
from credimi.core.errors import CredimiError

if TYPE_CHECKING:
    from pathlib import Path

pandas = pytest.importorskip("pandas")
dask = pytest.importorskip("dask")
dataframe = pytest.importorskip("dask.dataframe")

OPTIONS = [
    {},
    {"rule": "relevant"},
    {"weights": "w"},
    {"missing_values": ["b"], "discretize": {"number": "quantile:3"}, "exclude": ["many"]},
    {"target": "number", "target_cuts": [0.0, 1.0]},
]


def frame(rows: int = 900) -> pandas.DataFrame:  # type: ignore[name-defined]
    """Missing values, ids, weights of 0, a column of 300 values, one whose values differ among partitions."""
    generator = np.random.default_rng(4)
    target = generator.integers(0, 2, rows)
    gone = lambda values: np.where(generator.random(rows) < 0.1, None, values)  # noqa: E731
    told = np.where(generator.random(rows) < 0.5, target, generator.integers(0, 2, rows))
    late = np.where(np.arange(rows) > rows - 40, "new", "old")
    return pandas.DataFrame(
        {
            "id": [f"r{row}" for row in range(rows)],
            "text": gone(np.array(["a", "b"])[told]),
            "number": target + generator.normal(size=rows),
            "late": gone(late),
            "x": generator.integers(0, 2, rows).astype(str),
            "many": [f"m{row % 300:03d}" for row in generator.permutation(rows)],
            "w": np.where(late == "new", 0, generator.integers(1, 4, rows)),
            7: target ^ generator.integers(0, 2, rows) ^ 1,
            "y": gone(np.array(["no", "yes"])[target]),
        }
    )


@pytest.mark.parametrize("options", OPTIONS)
def test_a_dask_frame_gives_the_selection_of_the_pandas_frame(options: dict[str, object], tmp_path: Path) -> None:
    asked = {"target": "y"} | options
    whole = credimi.select(frame(), **asked).to_dict()
    parts = dataframe.from_pandas(frame(), npartitions=7)
    assert whole["features"]
    assert credimi.select(parts, **asked).to_dict() == whole
    assert credimi.select(parts, **asked, scratch=tmp_path).to_dict() == whole
    assert credimi.select(frame(), **asked, scratch=tmp_path).to_dict() == whole
    assert not [*tmp_path.iterdir()]


def test_the_interactions_are_those_of_the_pandas_frame(tmp_path: Path) -> None:
    whole = credimi.interactions(frame(), "y", top=3)
    parts = dataframe.from_pandas(frame(), npartitions=3)
    told: list[float] = []
    assert (
        credimi.interactions(parts, "y", top=3, progress=lambda done, _: told.append(done)).to_dict() == whole.to_dict()
    )
    assert credimi.interactions(parts, "y", top=3, scratch=tmp_path).to_dict() == whole.to_dict()
    assert credimi.interactions(frame(), "y", top=3, scratch=tmp_path).to_dict() == whole.to_dict()
    assert told == sorted(told)
    assert told[-1] == pytest.approx(1.0)


@pytest.mark.parametrize("scheduler", ["synchronous", "threads", "processes"])
def test_partitions_come_in_order_whatever_the_scheduler(scheduler: str) -> None:
    """And each is computed once for each of the two passes."""
    seen: list[int] = []

    def noted(part: object) -> object:
        seen.append(len(part))  # type: ignore[arg-type]
        return part

    data = frame()
    parts = dataframe.from_pandas(data, npartitions=5)
    if scheduler != "processes":
        parts = parts.map_partitions(noted, meta=parts._meta)  # noqa: SLF001  (not computed to find its columns)
    with dask.config.set(scheduler=scheduler):
        assert credimi.select(parts, "y").to_dict() == credimi.select(data, "y").to_dict()
    if scheduler != "processes":
        assert len(seen) == 10


def test_the_workers_of_a_client_send_codes() -> None:
    distributed = pytest.importorskip("distributed")
    with distributed.Client(processes=False, dashboard_address=None, n_workers=1, threads_per_worker=2):
        found = credimi.select(dataframe.from_pandas(frame(), npartitions=4), "y", weights="w")
    assert found.to_dict() == credimi.select(frame(), "y", weights="w").to_dict()


def test_codes_that_do_not_fit_are_refused_with_the_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parts = dataframe.from_pandas(frame(), npartitions=2)
    monkeypatch.setattr("credimi.counts.rows.storage.memory", lambda: 1_000.0)
    refused = r"the codes of 900 rows x 6 columns take .* GB of memory: name a folder with scratch"
    for call in (credimi.select, credimi.interactions):
        with pytest.raises(CredimiError, match=refused):
            call(parts, "y", exclude=["many"])
    assert credimi.select(parts, "y", exclude=["many"], scratch=tmp_path).features


def test_refusals_of_partitions_name_the_column() -> None:
    parts = dataframe.from_pandas(frame(), npartitions=2)
    with pytest.raises(CredimiError, match="name one of the columns"):
        credimi.select(parts, np.zeros(900))
    with pytest.raises(CredimiError, match="pass the cuts themselves"):
        credimi.select(parts, "number", target_cuts="quantile:2")
    with pytest.raises(CredimiError, match="no column 'z'"):
        credimi.interactions(parts, "z")


@pytest.mark.spark
@pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas")
def test_a_spark_frame_gives_the_selection_of_the_pandas_frame(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    sql = pytest.importorskip("pyspark.sql")
    plain = frame().rename(columns={7: "a.7"})
    plain.to_parquet(tmp_path / "data.parquet")
    session = sql.SparkSession.builder.master("local[2]").appName("credimi").getOrCreate()
    try:
        data = session.read.parquet(str(tmp_path / "data.parquet"))
        apart = data.repartitionByRange(4, "id")
        rows = apart.toArrow()  # in the order of the partitions
        told: list[float] = []
        for options in OPTIONS:
            asked = {"target": "y"} | options
            found = credimi.select(apart, **asked, progress=lambda done, _: told.append(done))
            assert found.to_dict() == credimi.select(rows, **asked).to_dict()
        pairs = credimi.interactions(apart, "y", top=3, scratch=tmp_path)
        assert pairs.to_dict() == credimi.interactions(rows, "y", top=3).to_dict()
        with pytest.raises(CredimiError, match="no column 'z'"):
            credimi.select(apart, "z")
    finally:
        session.stop()
    assert told
