"""Spark in one process, classic and Connect: the counts are those without it.

Run by tools/bootstrap.py spark, which sees to pyspark and Java; asked for without them, these tests fail.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from spark_process import Program, assert_all_the_same, assert_told, written
from trap_table import expected

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.spark


@pytest.mark.parametrize("master", ["local[2,4]", "connect local[2]"])
def test_one_process(tmp_path: Path, master: str) -> None:
    program = Program(master, tmp_path)
    program.ask("whole", written(tmp_path))
    assert_all_the_same(program.answer())
    marks = tmp_path / "marks"
    marks.mkdir()
    program.ask("slow", marks)
    found = program.answer()
    assert found["slow"] == expected()
    assert_told(found["told"])
    program.ask("received", tmp_path)
    assert program.answer() == {"digest": expected(), "rows": [1]}
    program.ask("damaged", damaged(tmp_path / "with blanks"))
    assert_named(program.answer(), tmp_path / "with blanks")
    program.stop()


def damaged(folder: Path) -> Path:
    """Folders of two files; one file in each is not like the other."""
    good = pa.table({"x": [1, 2, 3, None] * 30, "y": ["p", "q"] * 60})
    for name in ("good", "typed", "text", "short", "listed"):
        (folder / name).mkdir(parents=True)
        pq.write_table(good, folder / name / "a.parquet")
    pq.write_table(good.set_column(0, "x", good["x"].cast(pa.string())), folder / "typed" / "b.parquet")
    (folder / "text" / "b.parquet").write_text("x,y\n1,p\n" * 50)
    content = (folder / "good" / "a.parquet").read_bytes()
    (folder / "short" / "b.parquet").write_bytes(content[: len(content) // 2])
    (folder / "listed" / "b.parquet").write_bytes(content[:8] + bytes(100) + content[108:])
    return folder


def assert_named(found: dict[str, list[str]], folder: Path) -> None:
    """One line each: the file, the column, the remedy."""
    assert all("\n" not in message and len(message) < 500 for message, _ in found.values())
    for question in ("typed", "pairs", "select", "interactions"):
        message, cause = found[question]
        assert message.startswith(f"Spark cannot read {folder}/typed/b.parquet: its column 'x' is stored as BINARY")
        assert "write this file again with the type of the others" in message
        assert cause in ("py4j", "pyspark")
    for question in ("text", "short"):
        message, _ = found[question]
        assert message.startswith(f"Spark cannot read {folder}/{question}/b.parquet: it is not a Parquet file")
        assert message.endswith("write the file again, or leave it out")
    assert "The value 'ap' of the type" in found["cast"][0] or "The value 'aq' of the type" in found["cast"][0]
    assert "ZeroDivisionError: a fault of the user's own function" in found["worker"][0]
    assert "b.parquet" in found["files"][0]
