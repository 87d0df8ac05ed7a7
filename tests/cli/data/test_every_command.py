"""The same faulty inputs and outputs in every command: one line that names them, and no traceback."""

from __future__ import annotations

import os
from pathlib import Path

import pyarrow as pa
import pyarrow.feather
import pytest
from command_helpers import Refusal, write, write_parquet

import credimi

ROWS = "y,a,b\n" + "p,u,1\nq,v,2\np,v,2\nq,u,1\n" * 10
COMMANDS = {
    "rank": ["rank", "{}", "--target", "y"],
    "groups": ["rank", "{}", "--target", "y", "--by", "a"],
    "compare": ["compare", "good.csv", "{}", "--target", "y"],
    "select": ["select", "{}", "--target", "y"],
    "relevant": ["select", "{}", "--target", "y", "--rule", "relevant"],
    "scratch": ["select", "{}", "--target", "y", "--scratch", "."],
    "rule": ["select", "{}", "--target", "y", "--output", "reduced.csv"],
    "interactions": ["interactions", "{}", "--target", "y"],
    "pairs": ["pairs", "{}"],
    "refine": ["pairs", "{}", "--refine", "forest"],
    "network": ["network", "{}"],
    "tree": ["tree", "{}", "--target", "y"],
    "count": ["count", "{}", "--target", "y", "--into", "new.counts"],
    "prequential": ["prequential", "{}", "--target", "y"],
}
every_command = pytest.mark.parametrize("command", COMMANDS)


def _command(name: str, path: str) -> list[str]:
    return [word.format(path) for word in COMMANDS[name]]


@pytest.fixture(autouse=True)
def _good() -> None:
    write("good.csv", ROWS)


@every_command
def test_a_table_without_rows_is_named(refusal: Refusal, command: str) -> None:
    write("header.csv", "y,a,b\n")
    said = refusal(*_command(command, "header.csv"))
    assert "header.csv" in said
    assert "no rows" in said


@every_command
@pytest.mark.parametrize("ending", ["parquet", "feather"])
def test_a_table_without_columns_is_named(refusal: Refusal, command: str, ending: str) -> None:
    if ending == "parquet":
        write_parquet("none.parquet", {})
    else:
        pyarrow.feather.write_feather(pa.table({}), "none.feather")
    words = [word.replace("reduced.csv", f"reduced.{ending}") for word in _command(command, f"none.{ending}")]
    assert f"none.{ending} has no columns: name a file that has some" in refusal(*words)


@every_command
def test_bytes_that_are_no_text_are_named_with_their_line(refusal: Refusal, command: str) -> None:
    Path("bytes.csv").write_bytes(ROWS.encode() + b"p,v\x81,1\n")
    assert refusal(*_command(command, "bytes.csv")) == (
        "bytes.csv, line 42: byte 0x81 is not UTF-8: convert the file, for example with iconv -f cp1252 -t utf-8"
    )


@pytest.mark.parametrize("command", ["pairs", "network", "tree", "interactions"])
def test_bytes_that_are_no_text_are_named_with_their_file(refusal: Refusal, command: str) -> None:
    """All files become one table, and the first of them is good."""
    Path("bytes.csv").write_bytes(ROWS.encode() + b"p,v\x81,1\n")
    first, _, *rest = _command(command, "")
    assert refusal(first, "good.csv", "bytes.csv", *rest).startswith("bytes.csv, line 42: byte 0x81 is not UTF-8")


def test_nothing_to_refine_is_refused_with_the_reasons(refusal: Refusal) -> None:
    write("one.csv", "y,a\np,u\n")
    assert refusal("pairs", "one.csv", "--refine", "forest") == refusal("pairs", "one.csv")


def test_a_network_of_too_few_columns_is_refused_with_the_reasons(refusal: Refusal) -> None:
    write("one.csv", "y,a\np,u\nq,u\n")
    said = refusal("network", "one.csv")
    assert said.startswith("a network needs two columns or more, and 1 can be used here: ")
    assert "left out: a: one value only: u" in said


def test_counts_go_to_a_file(refusal: Refusal) -> None:
    assert refusal("count", "good.csv", "--target", "y", "--into", "-") == (
        "--into - is standard output: name a file, since later calls read it and add to it"
    )


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="there is no such device")
def test_counts_are_not_read_from_a_device_without_an_end(refusal: Refusal) -> None:
    said = refusal("count", "good.csv", "--target", "y", "--into", "/dev/zero")
    assert said.startswith("--into /dev/zero is no file but a device or a pipe: name a file")
    with pytest.raises(credimi.CredimiError, match="/dev/zero does not hold counts of credimi"):
        credimi.Counts.load("/dev/zero")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_counts_are_not_awaited_from_a_pipe(refusal: Refusal) -> None:
    os.mkfifo("pipe")
    assert "pipe is no file but a device or a pipe" in refusal("count", "good.csv", "--target", "y", "--into", "pipe")


@pytest.mark.parametrize("folder", ["good.csv", "good.csv/inside", "", "nul\0"])
def test_a_folder_for_orders_is_checked_before_the_work(refusal: Refusal, folder: str) -> None:
    said = refusal("prequential", "good.csv", "--target", "y", "--keep", folder)
    assert said.startswith(f"--keep is {folder!r}, which is no folder that can be written to: ")


@pytest.mark.parametrize("command", ["select", "interactions"])
def test_a_scratch_folder_has_a_name(refusal: Refusal, command: str) -> None:
    said = refusal(command, "good.csv", "--target", "y", "--scratch", "")
    assert said == "--scratch is '', which is no folder: name one that exists"


def test_a_folder_without_permission_is_refused_before_the_work(
    refusal: Refusal, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("closed").mkdir()
    monkeypatch.setattr(os, "access", lambda path, _mode: Path(path).name != "closed")
    for command in ("rank", "select", "interactions", "pairs", "network", "tree"):
        said = refusal(*_command(command, "good.csv"), "--html", "closed/page.html")
        assert said == "closed/page.html cannot be written: Permission denied"
    said = refusal("prequential", "good.csv", "--target", "y", "--keep", "closed")
    assert said == "--keep is 'closed', which is no folder that can be written to: Permission denied"
