"""`-`: data from standard input, of all formats; nothing of it is left behind."""

from __future__ import annotations

import gzip
import io
import json
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.feather
import pyarrow.json
import pyarrow.parquet as pq
import pytest
from command_helpers import Call, Refusal, Report, base, write

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@pytest.fixture
def pipe(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Callable[[bytes], None]]:
    """What standard input gives; afterwards no file of it is left."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield lambda content: monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    assert list(folder.iterdir()) == []


def formats() -> dict[str, bytes]:
    header, *rows = [line.split(",") for line in base().splitlines()]
    lines = "".join(json.dumps(dict(zip(header, row, strict=True))) + "\n" for row in rows).encode()
    table = pa.table({name: [row[place] for row in rows] for place, name in enumerate(header)})
    parquet, feather, stream = io.BytesIO(), io.BytesIO(), io.BytesIO()
    pq.write_table(table, parquet)
    pyarrow.feather.write_feather(table, feather)
    with pa.ipc.new_stream(stream, table.schema) as writer:
        writer.write_table(table)
    arrow = {"feather": feather.getvalue(), "feather stream": stream.getvalue()}
    return {"csv": base().encode(), "jsonl": lines, "parquet": parquet.getvalue(), **arrow}


@pytest.mark.parametrize("name", formats())
def test_all_formats(pipe: Callable[[bytes], None], report: Report, name: str) -> None:
    content = formats()[name]
    write("data", content)
    expected = report("data", "--target", "y")
    pipe(content)
    assert report("-", "--target", "y") == expected
    pipe(content)
    assert report("-", "--target", "y", "--input-format", name.split(maxsplit=1)[0]) == expected


def test_packed(pipe: Callable[[bytes], None], report: Report) -> None:
    write("data.csv", base())
    for name in ("csv", "jsonl"):
        pipe(gzip.compress(formats()[name]))
        assert report("-", "--target", "y", "--input-format", name)["rows"] == 60
    pipe(gzip.compress(base().encode()))
    assert report("-", "--target", "y") == report("data.csv", "--target", "y")


def test_beside_files_and_into_counts(pipe: Callable[[bytes], None], call: Call, report: Report) -> None:
    write("data.csv", base())
    pipe(base().encode())
    assert report("data.csv", "-", "--target", "y")["rows"] == 120
    for _ in range(2):
        pipe(base().encode())
        assert call("count", "-", "--target", "y", "--into", "c.counts")[0] == 0
    assert report("c.counts")["rows"] == 120
    pipe(base().encode())
    assert call("select", "-", "--target", "y", "--output", "less.csv")[0] == 0
    assert Path("less.csv").read_text(encoding="utf-8").startswith("y,")
    pipe(base().encode())
    assert report("-", "--target", "b", "--target-cuts", "quantile:2")["rows"] == 60


def test_the_page_names_it(pipe: Callable[[bytes], None], call: Call) -> None:
    pipe(base().encode())
    assert call("rank", "-", "--target", "y", "--html", "page.html")[0] == 0
    page = Path("page.html").read_text(encoding="utf-8")
    assert "standard input" in page
    assert "credimi-" not in page


@pytest.mark.parametrize(
    ("content", "options", "said"),
    [
        (b"", [], "standard input is empty"),
        (b"y,a\n1,2,3\n", [], "standard input, line 2: 3 fields, the header has 2"),
        (b"y,a\n", [], "standard input has no rows"),
        (b"y,a\np,q\n", ["--input-format", "parquet"], "standard input is CSV, and no Parquet"),
        (b'{"y": "p"}\n{"y": "q"}\n', ["--input-format", "csv"], "there is no column 'y'"),
        (b"@relation x\n", [], "standard input is ARFF"),
        (b'{"rows": [{"y": 1}]}', [], "standard input is a JSON document"),
    ],
)
def test_refusals(
    pipe: Callable[[bytes], None], refusal: Refusal, content: bytes, options: list[str], said: str
) -> None:
    pipe(content)
    found = refusal("rank", "-", "--target", "y", *options)
    assert said in found
    assert "credimi-" not in found


@pytest.mark.filterwarnings("default")
def test_it_is_named_where_it_is_not_utf_8(pipe: Callable[[bytes], None], call: Call) -> None:
    pipe(base().encode() + b"y,\xe9,1\n")
    code, _, err = call("rank", "-", "--target", "y")
    said = [line for line in err.splitlines() if "warning" in line]
    assert (code, said) == (
        0,
        ["credimi: warning: standard input is not UTF-8: it is read as Windows-1252 (cp1252)"],
    )


@pytest.mark.parametrize("command", ["rank", "select", "tree", "prequential", "pairs", "network"])
def test_it_is_named_where_it_has_no_rows(pipe: Callable[[bytes], None], refusal: Refusal, command: str) -> None:
    pipe(b"a,y\n")
    target = [] if command in {"pairs", "network"} else ["--target", "y"]
    assert "standard input" in refusal(command, "-", *target)


def test_named_twice_or_not_there(
    pipe: Callable[[bytes], None], refusal: Refusal, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipe(base().encode())
    assert "- is named twice" in refusal("rank", "-", "-", "--target", "y")
    monkeypatch.setattr(sys, "stdin", None)
    assert "standard input is closed" in refusal("rank", "-", "--target", "y")
    write("data.csv", base())
    assert "--input-format is for standard input" in refusal(
        "rank", "data.csv", "--target", "y", "--input-format", "csv"
    )


@pytest.mark.parametrize("name", ["jsonl", "feather"])
def test_select_writes_the_same_format(call: Call, refusal: Refusal, report: Report, name: str) -> None:
    write(f"data.{name}", formats()[name])
    assert call("select", f"data.{name}", "--target", "y", "--rule", "backward", "--output", f"less.{name}")[0] == 0
    expected = report(f"data.{name}", "--target", "y", "--features", "a")
    assert report(f"less.{name}", "--target", "y", "--features", "a") == expected
    kind = "JSON lines" if name == "jsonl" else "Arrow"
    said = refusal("select", f"data.{name}", "--target", "y", "--output", "less.csv")
    assert said.startswith(f"data.{name} is {kind}, and so is what is written: give less.csv a name that ends in .")


def test_a_comparison_names_it(pipe: Callable[[bytes], None], call: Call, refusal: Refusal) -> None:
    write("data.csv", base())
    pipe(base().encode())
    code, told, _ = call("compare", "data.csv", "-", "--target", "y")
    assert code == 0
    assert told.startswith("What informs about y in standard input (60 rows), against data.csv (60 rows)")
    pipe(b"y,a\n")
    assert refusal("compare", "data.csv", "-", "--target", "y").startswith("standard input has no rows")
    pipe(b"y,a,a\n")
    assert refusal("compare", "data.csv", "-", "--target", "y").startswith("standard input: two columns are called 'a'")
