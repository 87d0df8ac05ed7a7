"""Spark in one process, classic and Connect: the counts are those without it.

Run by tools/bootstrap.py spark, which sees to pyspark and Java; asked for without them, these tests fail.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

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
    program.stop()
