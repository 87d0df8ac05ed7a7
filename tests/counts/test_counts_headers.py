"""Files of counts whose digest is right and whose header is not: each is refused, with its name and the fault."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from credimi import CredimiError, count
from credimi.cli import main
from credimi.counts.counts import Counts

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

NAME = b"credimi counts 1\n"
COLUMNS = {"text": list("abca"), "number": [1.5, 2.5, 1.5, 3.5], "truth": [True, False, True, True], "y": list("pqpq")}


def written(text: bytes, arrays: bytes) -> bytes:
    body = NAME + len(text).to_bytes(8, "little") + text + arrays
    return body + hashlib.sha256(body).digest()


def parts() -> tuple[dict[str, Any], bytes]:
    """The header and the arrays of good counts."""
    content = count(COLUMNS, "y").to_bytes()
    start = len(NAME) + 8
    after = start + int.from_bytes(content[start - 8 : start], "little")
    return json.loads(content[start:after]), content[after:-32]


def feature(header: dict[str, Any], name: str) -> dict[str, Any]:
    return next(each for each in header["features"] if each["name"] == name)


FAULTS: dict[str, Callable[[dict[str, Any]], object]] = {
    "rows is -1": lambda header: header.update(rows=-1),
    "rows is True": lambda header: header.update(rows=True),
    "rows is nan": lambda header: header.update(rows=float("nan")),
    "rows is 'many'": lambda header: header.update(rows="many"),
    "rows is a number that is far too large": lambda header: header.update(rows=10**4000),
    "those of 4 rows, not 5": lambda header: header.update(rows=5),
    "counts are whole": lambda header: header.update(rows=4.0),
    "target is 7, not text": lambda header: header.update(target=7),
    "'text' is a feature as well": lambda header: header.update(target="text"),
    "half a character": lambda header: header.update(target="\ud800"),
    "two features have the same name": lambda header: feature(header, "text").update(name="truth"),
    "labels of 'text' are repeated": lambda header: feature(header, "text").update(texts=["a", "a", "b"]),
    "labels of 'y' are repeated": lambda header: header["classes"].update(texts=["p", "p"]),
    "a label of 'text' is 1": lambda header: feature(header, "text").update(texts=[1, 2, 3]),
    "a label of 'text' is a list": lambda header: feature(header, "text").update(texts=[["a"], ["b"], ["c"]]),
    "texts is no list": lambda header: feature(header, "text").update(texts="abc"),
    "have the kind 'odd'": lambda header: feature(header, "text").update(kind="odd"),
    "have the kind \\['raw'\\]": lambda header: feature(header, "text").update(kind=["raw"]),
    "are not booleans": lambda header: feature(header, "truth").update(texts=["no", "yes"]),
    "were given up, but have 3": lambda header: feature(header, "text").update(kind="many"),
    "numbers of 'number' is -3": lambda header: feature(header, "number").update(numbers=-3),
    "numbers of 'number' is True": lambda header: feature(header, "number").update(numbers=True),
    "there are not 1000000000000000000000 numbers": lambda header: feature(header, "number").update(numbers=10**21),
    "labels use 2 of 3 numbers": lambda header: feature(header, "number").update(numbers=2),
    "dropped_bits": lambda header: feature(header, "number").update(dropped_bits=64),
    "instants": lambda header: feature(header, "number").update(instants="yes"),
    "are not numbers, but have some": lambda header: feature(header, "text").update(instants=True),
    "do not fill": lambda header: header["features"].pop(0),
    "features is no list": lambda header: header.update(features={}),
    "features is, or holds, 3": lambda header: header.update(features=[3]),
    "classes is, or holds, a list": lambda header: header.update(classes=[]),
    "classes is absent": lambda header: header.pop("classes"),
    "missing_values holds None": lambda header: header.update(missing_values=[None]),
    "missing_values is no list": lambda header: header.update(missing_values="ab"),
    "unknown discretization 'odd'": lambda header: header.update(discretize="odd"),
    "no list of cuts": lambda header: header.update(discretize={"number": [["a"]]}),
    "1000000": lambda header: header.update(discretize={"number": [10**400]}),
    "sources is no list": lambda header: header.update(sources=1),
    "sources is, or holds, 'a'": lambda header: header.update(sources=["a"]),
    "missing 3 required": lambda header: header.update(sources=[{"path": "a.csv"}]),
    "size of a source is -1": lambda header: header.update(
        sources=[{"path": "a.csv", "size": -1, "modified": 0, "digest": ""}]
    ),
    "path or digest of a source is 1": lambda header: header.update(
        sources=[{"path": 1, "size": 1, "modified": 0, "digest": ""}]
    ),
    "unfinished of a source": lambda header: header.update(
        sources=[{"path": "a", "size": 1, "modified": 0, "digest": "", "unfinished": 1}]
    ),
    "has no size": lambda header: header.update(arrays=[["numbers", "float64", -1], ["counts", "int64", 3]]),
    "larger than|maximum|count|too large": lambda header: header.update(arrays=[["numbers", "float64", 10**30]]),
    "counts is absent": lambda header: header["arrays"][1].__setitem__(0, "other"),
    "does not hold doubles": lambda header: header["arrays"][0].__setitem__(1, "int64"),
    "do not end at the end of the file": lambda header: header.update(arrays=[["numbers", "float64", 3]]),
    "has the type 'odd'": lambda header: header.update(arrays=[["numbers", "odd", 3]]),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_header_with_a_fault_is_refused(fault: str, tmp_path: Path) -> None:
    header, arrays = parts()
    FAULTS[fault](header)
    path = tmp_path / "a.counts"
    path.write_bytes(written(json.dumps(header).encode(), arrays))
    with pytest.raises(CredimiError, match=rf"a\.counts was not written by credimi's save\(\) \(.*(?:{fault})"):
        Counts.load(path)


@pytest.mark.parametrize("text", [b"[" * 100_000, b'{"a":' * 100_000, b"[]", b"3", b'{"arrays": [], "arrays": []}'])
def test_a_header_that_is_none(text: bytes, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.counts"
    path.write_bytes(written(text, b""))
    assert main(["rank", str(path)]) == 2
    assert capfd.readouterr().err.startswith(f"credimi: {path} was not written by credimi's save() (")


def test_a_header_longer_than_the_file() -> None:
    body = NAME + b"\xff" * 8 + b"{}"
    with pytest.raises(CredimiError, match="the header is longer than the file"):
        Counts.from_bytes(body + hashlib.sha256(body).digest())


@pytest.mark.parametrize("odd", [np.nan, np.inf, -1.0])
def test_weights_that_are_none_are_refused(odd: float) -> None:
    header, arrays = parts()
    counts = np.frombuffer(arrays[24:], dtype="<i8").astype("<f8")
    counts[0] = odd
    header["arrays"][1][1] = "float64"
    with pytest.raises(CredimiError, match="counts are negative, or not numbers"):
        Counts.from_bytes(written(json.dumps(header).encode(), arrays[:24] + counts.tobytes()))


@pytest.mark.parametrize("numbers", [[1.5, 1.5, 3.5], [3.5, 2.5, 1.5], [1.5, np.nan, 3.5]])
def test_numbers_that_are_no_labels_are_refused(numbers: list[float]) -> None:
    header, arrays = parts()
    with pytest.raises(CredimiError, match="labels of 'number' are repeated, or not in order"):
        Counts.from_bytes(written(json.dumps(header).encode(), np.array(numbers).tobytes() + arrays[24:]))


def test_keys_that_are_not_known_are_passed_over() -> None:
    header, arrays = parts()
    source = {"path": "a.csv", "size": 1, "modified": 0, "digest": "", "later": 1}
    found = Counts.from_bytes(written(json.dumps(header | {"later": 1, "sources": [source]}).encode(), arrays))
    assert found == count(COLUMNS, "y")
    assert found.sources[0].path == "a.csv"


def test_settings_and_labels_of_all_kinds_come_back() -> None:
    many = [f"{row} {row:x}" for row in range(40_000)]
    columns = {
        "many": many,
        "infinite": [float("inf"), -float("inf")] * 20_000,
        "day": np.array(["2024-01-01", "2024-02-29"] * 20_000, dtype="datetime64[D]"),
        "lists": [[1], [2]] * 20_000,
        "missing": [None] * 40_000,
        "y": ["p", None] * 20_000,
    }
    for discretize in ("mdl", None, {"day": ["2024-02-01"], "*": "quantile"}):
        counts = count(columns, "y", missing_values=["", -9, 1e300, float("inf")], discretize=discretize)
        found = Counts.from_bytes(counts.to_bytes())
        assert found == counts
        assert found.settings == counts.settings
        assert found.labels == counts.labels
