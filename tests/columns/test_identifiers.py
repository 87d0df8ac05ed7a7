"""Which columns name rows: numbers of rows in small tables too; and which may be codes."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pandas as pd
import pytest

from credimi import count, rank

if TYPE_CHECKING:
    from pathlib import Path


def kind(name: str, values: list[object]) -> str:
    return count({name: values, "class": ["p", "q", "q"] * (len(values) // 3)}, "class").feature(name).kind.value


@pytest.mark.parametrize("rows", [30, 99, 300])
@pytest.mark.parametrize("start", [0, 1])
def test_row_numbers_are_identifiers_in_any_order(rows: int, start: int) -> None:
    numbers: list[object] = list(range(start, start + rows))
    assert kind("x", numbers) == "identifier"
    assert kind("x", numbers[::-1]) == "identifier"
    random.Random(1).shuffle(numbers)  # noqa: S311  (no secret)
    assert kind("x", numbers) == "identifier"
    assert kind("x", [*numbers[:-1], None]) == (
        "identifier" if rows > 99 or numbers[-1] == rows - 1 + start else "ranges"
    )


@pytest.mark.parametrize("name", ["", "__index_level_0__", "Unnamed: 0", "index", "patient_id", "row", "ID"])
def test_the_name_of_a_key_is_enough_in_small_tables(name: str) -> None:
    gaps: list[object] = [place + place // 4 + 70 for place in range(30)]
    assert kind(name, gaps) == "identifier"
    assert kind("age", gaps) == "ranges"
    assert kind("paid", gaps) == "ranges"


def test_the_index_that_pandas_writes_into_files_is_an_identifier(tmp_path: Path) -> None:
    frame = pd.DataFrame({"x": list("ab") * 20, "class": list("ppqq") * 10}).iloc[::-1]
    frame.to_csv(tmp_path / "data.csv")
    frame.rename(index=lambda row: row + 5).to_parquet(tmp_path / "data.parquet")
    for path in tmp_path.iterdir():
        ranking = rank(path, "class")
        assert [row["feature"] for row in ranking if row["verdict"] == "not ranked"] != []


def test_values_that_several_rows_share_are_no_identifier() -> None:
    worlds: list[object] = [f"world {place if place < 40 else place % 8}" for place in range(77)]
    assert count({"x": worlds, "class": (list("pq") * 39)[:77]}, "class").feature("x").kind.value == "categories"
    assert kind("x", [f"person {place}" for place in range(60)]) == "identifier"
    assert kind("x", [f"person {place % 50}" for place in range(60)]) == "identifier"
    assert kind("x", [f"person {place % 48}" for place in range(60)]) == "categories"


@pytest.mark.parametrize(("name", "said"), [("zip", True), ("store_id", True), ("storeCode", True), ("age", False)])
def test_codes_that_look_like_numbers_are_pointed_out(name: str, said: object) -> None:
    table = {name: [10_115 + 317 * (place % 60) for place in range(300)], "class": list("pqq") * 100}
    ranking = rank(table, "class")
    found = [remark.feature for remark in ranking.remarks if remark.kind == "may_be_codes"]
    assert found == ([name] if said else [])
    as_categories = rank(table, "class", discretize={name: "categories"})
    assert as_categories[name]["values"] == 60
    assert not [remark for remark in as_categories.remarks if remark.kind == "may_be_codes"]


def test_a_target_in_the_index_is_found() -> None:
    frame = pd.DataFrame({"class": list("pq") * 20, "group": list("ab") * 20, "x": range(40), "y": list("uuvv") * 10})
    plain = count(frame, "class", features=["y"])
    indexed = frame.set_index("class")
    assert count(indexed, "class", features=["y"]) == plain
    several = frame.set_index(["group", "class"])
    assert count(several, "class", features=["y"]) == plain
    assert count(several, "class", features=["group", "y"]).features == ("group", "y")
    assert count(several, "class").features == ("x", "y")
    assert rank(frame.set_index("x"), "class", weights="x").rows == sum(range(40))
