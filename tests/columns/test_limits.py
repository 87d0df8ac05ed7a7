"""At the limits of what is kept as it is written, and of what can be counted at all."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from credimi import Counts, CredimiError, IncrementalNaiveBayes, count, rank
from credimi.columns.encode import encode
from credimi.columns.labels import FEW_TEXTS, NUMBER, RAW, typed
from credimi.columns.missing import MissingValues

if TYPE_CHECKING:
    from pathlib import Path


def numerals(size: int) -> list[str]:
    """Texts that are numbers, two of them the same number in two spellings."""
    return ["1.1", "1.10", *(str(number) for number in range(2, size))]


def parts_of(folder: Path, *parts: list[str]) -> tuple[Counts, Counts]:
    """The counts of files, added up, and those of one file with all their rows."""
    paths = []
    for number, texts in enumerate((*parts, list(chain.from_iterable(parts)))):
        path = folder / f"{number}.csv"
        path.write_text("y,x\n" + "".join(f"{'pq'[len(text) % 2]},{text}\n" for text in texts))
        paths.append(path)
    missing: Any = {"missing_values": ["?", "NA", 999]}
    counts = [count(path, "y", **missing) for path in paths]
    return sum(counts[1:-1], counts[0]), counts[-1]


@pytest.mark.parametrize("size", [FEW_TEXTS - 2, FEW_TEXTS - 1, FEW_TEXTS, FEW_TEXTS + 1])
@pytest.mark.parametrize("tokens", [["?"], ["?", "NA", "nan"], ["999", "999.0", " 999", "9.99e2"]])
def test_what_means_missing_is_none_of_the_few_texts(tmp_path: Path, size: int, tokens: list[str]) -> None:
    parts, whole = parts_of(tmp_path, numerals(size) + tokens, ["text"])
    assert parts == whole
    shown = typed(whole.labels[0])[0].shown()
    by_the_letter = size + 1 <= FEW_TEXTS
    assert ("1.10" in shown) == by_the_letter
    assert len(shown) == size + by_the_letter


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize(("size", "kind"), [(FEW_TEXTS, RAW), (FEW_TEXTS + 1, NUMBER)])
def test_the_limit_is_that_of_the_labels(size: int, kind: str, *, compiled: bool) -> None:
    array = pa.array([*numerals(size), "?", None, "-9", "-9.0", "NaN"])
    column = encode(array, "x", raw=True, missing=MissingValues(["?", -9]), compiled=compiled)
    assert column.kind == kind


@pytest.mark.parametrize("stray", ["nan(1)", "NaN(ind)", "-nan(ind)", "nan()"])
def test_a_text_that_starts_as_nan_is_text_however_many_there_are(tmp_path: Path, stray: str) -> None:
    for size in (50, 2 * FEW_TEXTS):
        parts, whole = parts_of(tmp_path, numerals(size), [stray])
        assert parts == whole
        assert whole.labels[0].kind == RAW
        assert stray in whole.labels[0].texts
        assert whole.blocks()[0][:, -1].sum() == 0


@pytest.mark.parametrize(
    "data",
    [
        [{1: "a", "1": "b", "y": "p"}, {1: "b", "1": "a", "y": "q"}],
        [{1: "a", "y": "p"}, {"1": "b", "y": "q"}],
        {1: ["a", "b"], "1": ["b", "a"], "y": ["p", "q"]},
        pd.DataFrame([["a", "b", "p"], ["b", "a", "q"]], columns=[1, "1", "y"]),
    ],
    ids=["rows", "rows apart", "columns", "pandas"],
)
def test_two_keys_that_are_one_name_are_refused(data: Any) -> None:  # noqa: ANN401
    with pytest.raises(CredimiError, match=r"two columns are called '1': give each column a name of its own$"):
        count(data, "y")


def test_two_keys_that_are_one_name_are_refused_row_by_row() -> None:
    learner = IncrementalNaiveBayes()
    learner.learn_one({1: "a", "2": "b"}, "p")
    for act in (lambda row: learner.learn_one(row, "q"), learner.predict_one):
        with pytest.raises(CredimiError, match="two features have the same name as text"):
            act({1: "a", "1": "b"})


def test_categories_that_look_alike_are_two_types() -> None:
    frame = pd.DataFrame({"x": pd.Categorical([1, "1"]), "y": ["p", "q"]})
    with pytest.raises(CredimiError, match="column 'x' mixes types"):
        count(frame, "y", features=["x"])


MIXED = [1, "a", 2.5, None, True]


@pytest.mark.parametrize("as_frame", [False, True])
def test_a_column_of_several_types_is_not_ranked_and_stops_nothing(as_frame: bool) -> None:  # noqa: FBT001
    """As lists are; it stopped the whole call."""
    data: Any = {"x": list("ab") * 50, "mixed": MIXED * 20, "y": list("ppqq") * 25}
    data = pd.DataFrame(data) if as_frame else data
    ranking = rank(data, "y")
    row = ranking["mixed"]
    assert (row["verdict"], row["complete"], row["missing"]) == ("not ranked", 80, 20)
    assert row["note"].startswith("cannot be counted: values of several types (convert them")
    assert ranking["x"]["verdict"] == rank(data, "y", exclude=["mixed"])["x"]["verdict"]
    with pytest.raises(CredimiError, match="column 'mixed' mixes types: row 0 holds 1, row 1 'a'"):
        rank(data, "y", features=["x", "mixed"])
    with pytest.raises(CredimiError, match="column 'mixed' mixes types"):
        rank(data, "mixed")


STRUCT = pa.struct([("a", pa.int64())])


@pytest.mark.parametrize("kind", [STRUCT, pa.list_(pa.int64()), pa.map_(pa.string(), pa.int64())])
@pytest.mark.parametrize("engine", ["files", "duckdb", "memory"])
@pytest.mark.parametrize("rows", [0, 2])
def test_a_part_without_a_value_says_nothing_of_its_column(tmp_path: Path, kind: Any, engine: str, rows: int) -> None:  # noqa: ANN401
    if engine == "duckdb":
        pytest.importorskip(engine)
    full = pa.table({"y": ["p", "q"], "x": ["a", "b"]})
    empty = pa.table({"y": pa.array(["p", "q"][:rows], pa.string()), "x": pa.nulls(rows, kind)})
    options: dict[str, Any] = {}
    data: list[Any] = [full, empty]
    if engine != "memory":
        options["engine"] = engine
        data = [tmp_path / "full.parquet", tmp_path / "empty.parquet"]
        pq.write_table(full, data[0])
        pq.write_table(empty, data[1])
    for features in (None, ["x"])[: 1 if rows else 2]:  # one that is named is refused by its type, if it has rows
        one, other = (count(each, "y", features=features, **options) for each in data)
        for both in (one + other, other + one):
            assert both.labels[0].shown() == ("a", "b")
            assert both.rows == 2 + rows
    if engine != "memory":
        assert count(data, "y", **options) == one + other


def test_a_target_of_no_rows_may_be_of_any_type() -> None:
    empty = pa.table({"y": pa.nulls(0, STRUCT), "x": pa.nulls(0, pa.string())})
    full = pa.table({"y": ["p", "q"], "x": ["a", "b"]})
    assert count(empty, "y") + count(full, "y") == count(full, "y")


def test_values_that_cannot_be_counted_are_still_refused_where_there_are_any() -> None:
    table = pa.table({"y": ["p", "q"], "x": pa.array([None, {"a": 1}], STRUCT)})
    assert count(table, "y").labels[0].texts == ("values of type struct",)
    with pytest.raises(CredimiError, match="column 'x' holds values of type struct"):
        count(table, "y", features=["x"])
    with pytest.raises(CredimiError, match="column 'x' holds values of type struct"):
        count(table, "x")
