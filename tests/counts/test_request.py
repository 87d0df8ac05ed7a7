"""What a caller asks for is checked once, at the door, whatever the data are."""

from __future__ import annotations

from collections import Counter
from dataclasses import FrozenInstanceError
from typing import TYPE_CHECKING, Any

import pytest

from credimi import CredimiError, count, prequential, rank
from credimi.cli import main
from credimi.columns.reading_options import ReadingOptions
from credimi.counts import request as request_module
from credimi.counts.request import CountRequest
from credimi.sources import count as count_module

if TYPE_CHECKING:
    from pathlib import Path

TABLE = {"x": ["a", "b", "b", "a"] * 9, "y": ["p", "q"] * 18}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "a.csv"
    path.write_text("x,y\n" + "a,p\nb,q\nb,p\na,q\n" * 9)
    return path


@pytest.fixture
def checks(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often requests were made, and names of columns checked."""
    found: Counter[str] = Counter()
    made, named, read = CountRequest.of.__func__, request_module.columns_of, ReadingOptions.of.__func__  # type: ignore[attr-defined]

    def of(cls: type[CountRequest], *arguments: Any, **options: Any) -> CountRequest:  # noqa: ANN401
        found["request"] += 1
        result: CountRequest = made(cls, *arguments, **options)
        return result

    def columns_of(*arguments: Any) -> list[str]:  # noqa: ANN401
        found["columns"] += 1
        return named(*arguments)

    def settings(cls: type[ReadingOptions], *arguments: Any, **named_ones: Any) -> ReadingOptions:  # noqa: ANN401
        found["settings"] += 1
        result: ReadingOptions = read(cls, *arguments, **named_ones)
        return result

    monkeypatch.setattr(CountRequest, "of", classmethod(of))
    monkeypatch.setattr(ReadingOptions, "of", classmethod(settings))
    monkeypatch.setattr(request_module, "columns_of", columns_of)
    return found


def test_all_is_checked_once(path: Path, checks: Counter[str]) -> None:
    for way in (count, rank, prequential):
        for data in (path, TABLE):
            checks.clear()
            way(data, "y")
            looks_first = data is TABLE and way is not prequential  # at the target, with a plan of its own
            assert checks == {"request": 1, "columns": 1 + looks_first, "settings": 1}, (way, data)


@pytest.mark.parametrize("command", ["rank", "count", "prequential"])
def test_the_same_of_the_command_line(path: Path, checks: Counter[str], command: str) -> None:
    into = ["--into", str(path.with_name("some.counts"))] if command == "count" else []
    assert main([command, str(path), "--target", "y", *into]) == 0
    assert checks == {"request": 1, "columns": 1, "settings": 1}


def test_a_request_is_frozen() -> None:
    with pytest.raises(FrozenInstanceError):
        CountRequest("y").target = "x"  # type: ignore[misc]


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"engine": "abacus"}, "engine is 'abacus': choose one of files, duckdb, dask, spark"),
        ({"master": "local"}, "master is for Spark only"),
        ({"scheduler": "tcp://here:1"}, "scheduler is for Dask only"),
        ({"max_values": 0}, "max_values is 0: pass a whole number from 1 up"),
        ({"max_values": True}, "max_values is True: pass a whole number from 1 up"),
        ({"discretize": "finely"}, "unknown discretization 'finely'"),
        ({"missing_values": None}, "missing_values is None"),
    ],
)
def test_what_cannot_be_meant_is_refused_before_the_data_are_looked_at(asked: dict[str, Any], message: str) -> None:
    with pytest.raises(CredimiError, match=message):
        count("gone.csv", "y", **asked)


def test_counts_that_go_on_were_not_named_by_the_user(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[CountRequest] = []
    own = count_module.count_requested
    monkeypatch.setattr(
        count_module, "count_requested", lambda data, request: seen.append(request) or own(data, request)
    )
    count(path, "y", features=["x"]).update(TABLE)
    assert [request.named for request in seen] == [True, False]
