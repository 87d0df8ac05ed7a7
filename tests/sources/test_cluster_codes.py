"""Sets and pairs of DataFrames whose rows are elsewhere: partitions become codes there, and the answer is the same."""

from __future__ import annotations

import sys
import time
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import credimi
from credimi.core.errors import CredimiError
from credimi.counts.reading import Reading
from credimi.counts.request import CountRequest
from credimi.counts.rows import class_pairs
from credimi.questions.interactions import interaction_search
from credimi.sources.clusters import asked, cluster_counter, cluster_nodes, cluster_pairs, cluster_sample
from credimi.sources.clusters.cluster_counter import ClusterCounter
from credimi.sources.codes import counter_of

if TYPE_CHECKING:
    from pathlib import Path

    from credimi.counts.codes import Codes

pandas = pytest.importorskip("pandas")
dask = pytest.importorskip("dask")
dataframe = pytest.importorskip("dask.dataframe")

OPTIONS = [
    {},
    {"rule": "relevant"},
    {"rule": "distinct"},
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


def test_the_network_is_that_of_the_pandas_frame() -> None:
    """With missing values, which are drawn; and with weights."""
    names = ["text", "late", "x", "7", "y"]
    parts = dataframe.from_pandas(frame(), npartitions=4)
    for options in ({}, {"weights": "w"}):
        keywords = {"features": names, "imputations": 1} | options
        assert credimi.network(parts, **keywords).to_dict() == credimi.network(frame(), **keywords).to_dict()


TREES: list[dict[str, Any]] = [
    {},
    {"weights": "w", "exclude": ["id"]},
    {"features": ["text", "late", "x", "number"], "level": 0.05, "max_depth": 3},
    {"discretize": {"number": [0.0, 1.0]}, "max_depth": 2, "features": ["many", "number", "x"], "level": 0.01},
    {"target": "many", "features": ["number", "y"], "level": 0.01},
]


@pytest.mark.parametrize("options", TREES)
@pytest.mark.parametrize("cells", [1 << 22, 1])
def test_the_tree_is_that_of_the_pandas_frame(
    options: dict[str, Any], cells: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether the nodes of a level are counted together or one by one; with stand-ins, as values are missing."""
    monkeypatch.setattr(cluster_nodes, "_CELLS_AT_ONCE", cells)
    monkeypatch.setattr(cluster_nodes, "_CELLS_KEPT", cells)
    asked = {"target": "y"} | options
    whole = credimi.tree(frame(), **asked)
    found = credimi.tree(dataframe.from_pandas(frame(), npartitions=4), **asked)
    assert_alike(found.to_dict(), whole.to_dict())
    if "features" not in options:
        assert len(whole) > 3
        assert any(node.split is not None and node.split.stand_ins for node in whole.nodes)


@pytest.mark.parametrize("options", [{}, {"weights": "w"}, {"weights": "w", "weights_are": "survey"}])
def test_trees_and_pairs_of_scratch_files_are_those_of_memory(options: dict[str, str], tmp_path: Path) -> None:
    data = frame().rename(columns={7: "seven"})
    data.to_parquet(tmp_path / "data.parquet", row_group_size=200)
    for given in (data, tmp_path / "data.parquet"):
        whole = credimi.tree(given, "y", exclude=["id"], **options)
        found = credimi.tree(given, "y", exclude=["id"], scratch=tmp_path, **options)
        assert_alike(found.to_dict(), whole.to_dict())
        assert len(whole) > 3
        pairs = credimi.pairs(given, **options).to_dict()
        assert_alike(credimi.pairs(given, scratch=tmp_path, **options).to_dict(), pairs)
    assert [path.name for path in tmp_path.iterdir()] == ["data.parquet"]


def test_pairs_elsewhere_need_no_scratch_folder(tmp_path: Path) -> None:
    with pytest.raises(CredimiError, match="stay where its rows are: leave scratch out"):
        credimi.pairs(dataframe.from_pandas(frame(), npartitions=2), scratch=tmp_path)


def test_a_level_of_a_tree_takes_two_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    asks = list[object]()
    ask = asked.RowsElsewhere.ask
    monkeypatch.setattr(asked.RowsElsewhere, "ask", lambda rows, each: asks.append(each) or ask(rows, each))
    tree = credimi.tree(dataframe.from_pandas(frame(), npartitions=2), "y")
    depth = max(node.depth for node in tree.nodes)
    assert 1 <= len(asks) <= 2 * (depth + 1)


def assert_alike(found: Any, expected: Any) -> None:  # noqa: ANN401  (JSON)
    """The same, but for the last digits of numbers: sums of weights that are no whole numbers have another order."""
    if isinstance(expected, dict):
        assert list(found) == list(expected)
        found, expected = [*found.values()], [*expected.values()]
    if isinstance(expected, list):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            assert_alike(one, other)
    elif isinstance(expected, float):
        assert found == pytest.approx(expected, rel=1e-12, abs=1e-12)
    else:
        assert found == expected


def test_more_different_rows_than_are_fetched_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_counter, "ByRow", partial(asked.ByRow, most_bytes=30 * 100))
    with pytest.raises(CredimiError, match=r"more than 100 different rows, .* name fewer columns"):
        credimi.network(dataframe.from_pandas(frame(), npartitions=4), exclude=["many"])


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


def test_the_workers_of_a_client_keep_codes_until_the_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether there is an answer, a fault, or an interrupt; elsewhere nothing is left, and here nothing but counts."""
    distributed = pytest.importorskip("distributed")
    parts, held = dataframe.from_pandas(frame(), npartitions=4), list[int]()
    by_stratum = ClusterCounter.by_stratum

    def fails(_counter: ClusterCounter, _rule: object, _columns: object) -> object:
        held.append(sum(map(len, client.has_what().values())))
        raise faults[-1]

    monkeypatch.setattr(ClusterCounter, "by_stratum", fails)
    with distributed.Client(processes=False, dashboard_address=None, n_workers=1, threads_per_worker=2) as client:
        for faults in ([CredimiError("a fault")], [KeyboardInterrupt()]):
            held.clear()
            if isinstance(faults[0], KeyboardInterrupt):  # leaves what was found so far
                assert credimi.select(parts, "y").steps
            else:
                with pytest.raises(CredimiError, match="a fault"):
                    credimi.select(parts, "y")
            assert held[0] >= 4
            assert nothing_is_left(client)
        monkeypatch.setattr(ClusterCounter, "by_stratum", by_stratum)
        found = credimi.select(parts, "y", weights="w")
        assert nothing_is_left(client)
    assert found.to_dict() == credimi.select(frame(), "y", weights="w").to_dict()


def nothing_is_left(client: Any) -> bool:  # noqa: ANN401  (of distributed)
    for _ in range(100):
        if not any(client.has_what().values()):
            return True
        time.sleep(0.05)
    return False


def test_interactions_among_many_pairs_are_those_of_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Then a first look leaves most of them out; here all pairs are many."""
    monkeypatch.setattr(interaction_search, "_ALL", 0)
    monkeypatch.setattr(interaction_search, "_CHANCE", 1.0)
    monkeypatch.setattr(interaction_search, "_LOOKED_UP", 7)
    monkeypatch.setattr(class_pairs, "_CELLS_AT_ONCE", 300)
    monkeypatch.setattr(cluster_pairs, "_BLOCK_CELLS", 1000)
    parts = dataframe.from_pandas(frame(), npartitions=3)
    for options in ({}, {"weights": "w"}):
        whole = credimi.interactions(frame(), "y", top=5, **options)
        assert len(whole)
        assert credimi.interactions(parts, "y", top=5, **options).to_dict() == whole.to_dict()


@pytest.mark.parametrize(("wanted", "few"), [(50, 0), (300, 0), (100, 4), (899, 4), (900, 0), (2000, 0)])
def test_a_sample_has_the_rows_that_memory_has(wanted: int, few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Among copies of rows, too; whatever is asked for at once."""
    monkeypatch.setattr(cluster_sample, "_KEYS_PER_ROW", few)
    monkeypatch.setattr(cluster_sample, "_INTERVALS_PER_ROW", 1 + few)
    data = frame().drop(columns=["many", "number"])
    data.loc[300:500] = data.loc[300].to_numpy()  # copies
    request = CountRequest.of("y", Reading(exclude=["id"]))
    with counter_of(data, request) as here, counter_of(dataframe.from_pandas(data, npartitions=5), request) as there:
        assert isinstance(there, ClusterCounter)
        assert rows_of(there.sample(wanted)) == rows_of(here.sample(wanted))


def rows_of(codes: Codes) -> list[tuple[int, ...]]:
    return sorted(zip(codes.groups.tolist(), *(column.tolist() for column in codes.columns), strict=True))


def test_rows_that_change_meanwhile_are_noticed() -> None:
    calls = list[int]()

    def changing(part: Any) -> Any:  # noqa: ANN401  (a DataFrame of pandas)
        calls.append(len(part))
        return part if len(calls) <= 3 else part.iloc[1:]

    parts = dataframe.from_pandas(frame(), npartitions=3)
    parts = parts.map_partitions(changing, meta=parts._meta)  # noqa: SLF001  (not computed to find its columns)
    with dask.config.set(scheduler="synchronous"), pytest.raises(CredimiError, match="from 900 to 897"):
        credimi.select(parts, "y")


def test_codes_that_do_not_fit_are_refused_with_the_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that are fetched because of survey weights; others stay where they are."""
    survey = frame().assign(w=frame()["w"] + 0.5)
    parts = dataframe.from_pandas(survey, npartitions=2)
    monkeypatch.setattr("credimi.counts.rows.storage.memory", lambda: 1_000.0)
    refused = r"the codes of 900 rows x 5 columns take .* GB of memory: name a folder with scratch"
    for call in (credimi.select, credimi.interactions):
        with pytest.raises(CredimiError, match=refused):
            call(parts, "y", exclude=["many"], weights="w")
    assert credimi.select(parts, "y", exclude=["many"], weights="w", scratch=tmp_path).features
    assert credimi.select(parts, "y", exclude=["many"]).features


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
        for options in ({"weights": "w"}, {"rule": "relevant", "exclude": ["id", "number"]}):  # each step takes a while
            keywords = {"target": "y"} | options
            found = credimi.select(apart, **keywords, progress=lambda done, _: told.append(done))
            assert found.to_dict() == credimi.select(rows, **keywords).to_dict()
        keywords = {"exclude": ["id"], "max_depth": 1}
        assert_alike(credimi.tree(apart, "y", **keywords).to_dict(), credimi.tree(rows, "y", **keywords).to_dict())
        keywords = {"exclude": ["number"], "imputations": 0}
        assert credimi.network(apart, **keywords).to_dict() == credimi.network(rows, **keywords).to_dict()
        pairs = credimi.interactions(apart, "y", top=3, scratch=tmp_path)
        assert pairs.to_dict() == credimi.interactions(rows, "y", top=3).to_dict()
        with pytest.raises(CredimiError, match="no column 'z'"):
            credimi.select(apart, "z")
    finally:
        session.stop()
    assert told
