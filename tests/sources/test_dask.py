"""Dask: DataFrames by partition, files by file; the counts are those of one process, also when a worker dies."""

from __future__ import annotations

import os
import signal
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest
from test_engines import WRITERS, assert_same, pandas_frame, write_carets, write_drifting
from trap_table import ROWS, digest, expected, table

import credimi
from credimi import Counts, CredimiError, count
from credimi.cli import main

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

dask = pytest.importorskip("dask", reason="dask is not installed: pip install 'credimi[dask]'")
dataframe = pytest.importorskip("dask.dataframe", reason="dask is not installed: pip install 'credimi[dask]'")
distributed = pytest.importorskip("distributed", reason="distributed is not installed: pip install 'credimi[dask]'")
pytestmark = pytest.mark.filterwarnings("ignore")  # of dask's own


@pytest.mark.parametrize("partitions", [1, 3, 40])
def test_frame(partitions: int) -> None:
    assert_same(dataframe.from_pandas(pandas_frame(), npartitions=partitions, sort=False))


def told_of(frame: Any) -> list[float]:  # noqa: ANN401
    told: list[float] = []
    assert digest(count(frame, "class", progress=lambda share, _: told.append(share))) == expected()
    return told


def test_progress_of_a_frame() -> None:
    told = told_of(dataframe.from_pandas(pandas_frame(), npartitions=5, sort=False))
    assert told == sorted(told)
    assert told[-1] == 1.0
    assert len(set(told)) > 5


def test_frame_whose_partitions_drift() -> None:
    """Of its first partition, a column is empty; in the others it is text."""
    frames = [pandas_frame(ROWS[start : start + 60]) for start in range(0, 240, 60)]
    frames[0] = frames[0].assign(late=float("nan"))
    meta = pandas_frame().iloc[:0]
    assert_same(dataframe.from_map(lambda index: frames[index], range(4), meta=meta, enforce_metadata=False))


def test_frame_of_parquet_files(tmp_path: Path) -> None:
    import pyarrow.parquet as pq  # noqa: PLC0415

    for start in (0, 120):
        pq.write_table(table(ROWS[start : start + 120]), tmp_path / f"{start}.parquet")
    assert_same(dataframe.read_parquet(tmp_path))


def test_frame_of_other_columns_is_refused() -> None:
    frame = dataframe.from_pandas(pandas_frame(), npartitions=2)
    with pytest.raises(CredimiError, match="there is no column 'clas'"):
        count(frame, "clas")
    with pytest.raises(CredimiError, match="there is no column 'class': there are 'word'"):
        count(frame["word"], "class")
    with pytest.raises(CredimiError, match="only tables in memory accept the target's values"):
        count(frame, [1] * len(ROWS))


def test_a_refusal_in_a_partition_is_ours() -> None:
    nested = pandas_frame().assign(word=[[1]] * len(ROWS))
    meta = nested.iloc[:0]
    as_it_is = dask.config.set({"dataframe.convert-string": False})  # else dask makes text of lists
    with as_it_is, pytest.raises(CredimiError, match="column 'word', row 0 holds a list"):
        count(dataframe.from_map(lambda _: nested, [0], meta=meta, enforce_metadata=False), "class", features=["word"])


def damaged(index: int) -> Any:  # noqa: ANN401
    if index == 3:
        raise OSError("the file of these rows is damaged")
    return pandas_frame().assign(other="x")


ASKED: list[Callable[..., Any]] = [credimi.rank, credimi.select, credimi.interactions]
if int(dask.__version__.split(".")[0]) >= 2025:  # the oldest version names no partition for `pairs`
    ASKED.append(lambda data, _: credimi.pairs(data))


@pytest.mark.parametrize("ask", ASKED)
@pytest.mark.parametrize("scheduler", ["synchronous", "threads"])
def test_an_error_names_the_partition(ask: Callable[..., Any], scheduler: str) -> None:
    frame = dataframe.from_map(damaged, range(5), meta=pandas_frame().assign(other="x").iloc[:0])
    where = "partition 3" if scheduler == "synchronous" else r"(partition 3|one of the partitions [\d, ]*3[\d, ]*)"
    told = rf"^{where} of the Dask DataFrame cannot be computed: OSError: the file of these rows is damaged; data"
    with dask.config.set(scheduler=scheduler), pytest.raises(CredimiError, match=told) as caught:
        ask(frame, "class")
    assert isinstance(caught.value.__cause__, OSError)


def test_a_client_names_the_partition() -> None:
    frame = dataframe.from_map(damaged, range(5), meta=pandas_frame().assign(other="x").iloc[:0])
    with (
        distributed.Client(processes=False, dashboard_address=None),
        pytest.raises(CredimiError, match=r"^partition 3 of the Dask DataFrame cannot be computed: OSError"),
    ):
        count(frame, "class")


def test_a_column_that_cannot_be_counted_in_one_partition() -> None:
    nested = pandas_frame().assign(word=[[1]] * len(ROWS))
    parts = [pandas_frame(), nested]
    with dask.config.set({"dataframe.convert-string": False}):
        found = count(
            dataframe.from_map(lambda place: parts[place], [0, 1], meta=nested.iloc[:0], enforce_metadata=False),
            "class",
        )
    assert found == count(parts[0], "class") + count(nested, "class")
    assert found.feature("word").facts["fault"] == "values of type list"


@pytest.mark.parametrize("write", WRITERS)
def test_files(tmp_path: Path, write: Callable[[Path], Path]) -> None:
    told: list[float] = []
    assert_same(write(tmp_path / "some"), engine="dask", progress=lambda share, _: told.append(share))
    assert told[-1] == 1.0


def test_files_of_a_delimiter_that_is_named(tmp_path: Path) -> None:
    counts = count(write_carets(tmp_path / "some"), "class", engine="dask", delimiter="^")
    assert counts["a, b, c"].joint.tolist() == [[30, 0], [0, 30]]


def test_delimiter_of_a_frame_is_refused() -> None:
    with pytest.raises(CredimiError, match="delimiter=';' is for CSV files, not for a DataFrame"):
        count(dataframe.from_pandas(pandas_frame(), npartitions=2), "class", delimiter=";")


def test_command(tmp_path: Path) -> None:
    data, into = str(write_drifting(tmp_path / "some")), str(tmp_path / "all.counts")
    assert main(["count", data, "--target", "class", "--engine", "dask", "--into", into]) == 0
    assert digest(Counts.load(into)) == expected()


def test_no_scheduler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    client = distributed.Client
    monkeypatch.setattr(distributed, "Client", lambda address, timeout: client(address, timeout=timeout / 100))
    with pytest.raises(CredimiError, match=r"there is no Dask scheduler at tcp://127.0.0.1:9"):
        count(write_drifting(tmp_path / "some"), "class", engine="dask", scheduler="tcp://127.0.0.1:9")


# Two workers, each a process of its own


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as running:
        yield running


@pytest.mark.parametrize("write", WRITERS)
def test_files_on_a_cluster(tmp_path: Path, cluster: Any, write: Callable[[Path], Path]) -> None:  # noqa: ANN401
    assert_same(write(tmp_path / "some"), engine="dask", scheduler=cluster.scheduler_address)


def test_progress_of_a_frame_on_a_cluster(cluster: Any) -> None:  # noqa: ANN401
    with distributed.Client(cluster):
        told = told_of(dataframe.from_pandas(pandas_frame(), npartitions=5, sort=False))
    assert told[-1] == 1.0
    assert set(told) <= {0.2, 0.4, 0.6, 0.8, 1.0}
    assert told == sorted(told)


def test_files_by_the_client_that_is_active(tmp_path: Path, cluster: Any) -> None:  # noqa: ANN401
    with distributed.Client(cluster) as client:
        assert_same(write_drifting(tmp_path / "some"), engine="dask")
        assert client.status == "running"


@pytest.mark.long
@pytest.mark.parametrize("finished", [0, 2])
def test_a_worker_is_killed(cluster: Any, finished: int) -> None:  # noqa: ANN401
    """With its first task running, or with tasks done whose counts it alone has: all is counted once."""
    frames = [pandas_frame(ROWS[start : start + 20]) for start in range(0, 240, 20)]

    def slowly(index: int) -> Any:  # noqa: ANN401
        time.sleep(0.5)
        return frames[index]

    with distributed.Client(cluster) as client:
        client.wait_for_workers(2, timeout=60)
        process_ids = client.run(os.getpid)
        victim = min(process_ids.values())
        frame = dataframe.from_map(slowly, range(12), meta=pandas_frame().iloc[:0], enforce_metadata=False)
        timer = threading.Timer(0.3 + 0.5 * finished, os.kill, [victim, signal.SIGKILL])
        timer.start()
        counts = count(frame, "class")
        timer.join()
        client.wait_for_workers(2, timeout=60)
    assert digest(counts) == expected()


def test_a_column_without_a_name() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame([("a", 1, "p"), ("b", 2, "q")] * 4, columns=["x", None, "class"])
    counts = count(dataframe.from_pandas(frame, npartitions=2), "class")
    assert counts.features == ("x", "None")
    assert counts == count(frame, "class")


def test_names_that_are_no_text() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({0: list("ab") * 4, 1: list("pq") * 4})
    assert count(dataframe.from_pandas(frame, npartitions=2), 1) == count(frame, 1)
