"""`count` and `Counts`: compiled or not: what is worth compiling is a matter of size alone; parts add up."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from counting_helpers import COLUMNS, ROWS, Row, assert_all_rows, cells, column, oracle, table, text, write_csv
from hypothesis import given, settings
from hypothesis import strategies as st

from credimi import Counts, CredimiError, count
from credimi.columns import labels
from credimi.columns.reading_options import ReadingOptions
from credimi.counts import tabulate
from credimi.counts.batch import Batch, tally
from credimi.counts.request import Plan

if TYPE_CHECKING:
    from pathlib import Path


def test_compiled_code_gives_the_same(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pandas = pytest.importorskip("pandas")
    monkeypatch.setattr(tabulate, "CELLS_WORTH_COMPILING", 0)
    for threads in (1, 2):
        found = count(ROWS, "class", threads=threads)
        assert cells(found) == oracle(ROWS)
        assert cells(count(table(), "class", threads=threads)) == oracle(ROWS)
        assert cells(count(pandas.DataFrame(ROWS), "class", threads=threads)) == oracle(ROWS)
        assert cells(count(write_csv(folder / "a.csv"), "class", threads=threads)) == oracle(ROWS)


random_rows = st.lists(
    st.fixed_dictionaries(
        {
            "text": st.none() | text,
            "number": st.none() | st.integers(-3, 3) | st.floats(allow_nan=True),
            "truth": st.none() | st.booleans(),
            "class": st.none() | st.sampled_from(["x", "y", "z"]),
        }
    ),
    max_size=30,
)

NAMES = ("text", "number", "truth")


@given(rows=random_rows, cuts=st.lists(st.integers(0, 30), max_size=4), shuffle=st.randoms(use_true_random=False))
@settings(deadline=None)
def test_any_split_in_any_order_adds_up(rows: list[Row], cuts: list[int], shuffle: Any) -> None:  # noqa: ANN401
    def counted(part: list[Row]) -> Counts:
        return count({name: column(name, part) for name in (*NAMES, "class")}, "class", missing_values=())

    expected = oracle(rows)
    whole = counted(rows)
    assert cells(whole) == expected
    shuffled = list(rows)
    shuffle.shuffle(shuffled)
    bounds = [0, *sorted(cuts), len(rows)]
    parts = [counted(shuffled[low:high]) for low, high in itertools.pairwise(bounds)]
    shuffle.shuffle(parts)
    total = parts[0]
    for part in parts[1:]:
        total += part
    assert total.rows == len(rows)
    assert cells(total) == expected
    assert total.labels == whole.labels
    assert total.classes == whole.classes
    np.testing.assert_array_equal(total.flat, whole.flat)


@given(
    rows=st.lists(st.tuples(text | st.integers(0, 40).map(str), st.sampled_from("xyz")), max_size=60),
    part=st.integers(1, 60),
    most=st.tuples(st.integers(4, 12), st.integers(8, 25)),
    shuffle=st.randoms(use_true_random=False),
)
@settings(deadline=None)
def test_raw_text_in_any_parts_is_kept_cut_short_or_given_up_alike(
    rows: list[tuple[str, str]],
    part: int,
    most: tuple[int, int],
    shuffle: Any,  # noqa: ANN401
) -> None:
    """With few numbers and few texts kept, so that the limits are reached."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(labels, "MAX_LABELS", most[0])
        patch.setattr(labels, "MAX_LABELS", most[1])

        def counted(some: list[tuple[str, str]]) -> Counts:
            columns = {
                name: pa.array(list(values), pa.string())
                for name, values in zip("fc", zip(*some, strict=True), strict=True)
            }
            return tally(Batch(columns, len(some), raw=True), Plan("c", ("f",), ReadingOptions(())))

        if not rows:
            return
        whole = counted(rows)
        shuffled = list(rows)
        shuffle.shuffle(shuffled)
        total = counted(shuffled[:part])
        for start in range(part, len(rows), part):
            total += counted(shuffled[start : start + part])
        assert cells(total) == cells(whole)


def test_limits_are_kept_while_parts_are_added(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(labels, "MAX_LABELS", 50)
    monkeypatch.setattr(labels, "MAX_LABELS", 20)
    total: Counts | None = None
    for start in range(0, 400, 20):
        rows = [{"id": f"name {row}", "n": row + 0.5, "class": "ab"[row % 2]} for row in range(start, start + 20)]
        part = count(rows, "class")
        total = part if total is None else total + part
        assert len(total.labels[0]) <= 50
        assert len(total.labels[1]) <= 20
    assert total is not None
    assert total.feature("id").kind == "identifier"
    assert total.feature("id").complete == 400
    assert total.flat.sum() == 800


def test_columns_in_another_order_add_up() -> None:
    other = [dict(reversed(row.items())) for row in ROWS]
    assert cells(count(ROWS[:50], "class") + count(other[50:], "class")) == oracle(ROWS)


def test_adding_changes_neither() -> None:
    one, other = count(ROWS[:50], "class"), count(ROWS[50:], "class")
    before = cells(one), cells(other)
    assert_all_rows(one + other)
    assert (cells(one), cells(other)) == before
    assert one + other == other + one


def test_update_adds_and_returns_the_counts() -> None:
    counts = count(ROWS[:50], "class")
    assert counts.update(table(ROWS[50:120])) is counts
    counts.update(ROWS[120:])
    assert_all_rows(counts)


def test_update_wants_the_same_columns_and_keeps_the_counts_if_it_fails() -> None:
    counts = count(ROWS, "class", features=["word", "whole"])
    before = cells(counts)
    with pytest.raises(CredimiError, match="no column 'word'"):
        counts.update([{"whole": 1, "class": "yes"}])
    assert cells(counts) == before
    counts.update(ROWS)  # columns that are not counted are no matter
    assert cells(counts) == {at: 2 * number for at, number in before.items()}


def test_counts_that_do_not_add_are_refused() -> None:
    counts = count(ROWS, "class")
    for other, said in (
        (count(ROWS, "truth"), "do not add: count the same target"),
        (count(ROWS, "class", features=["word"]), "only one of the two counts has the column 'real'"),
        (count(ROWS, "class", missing_values=["red"]), "different settings"),
        (count(ROWS, "class", discretize="quantile"), "different settings"),
    ):
        with pytest.raises(CredimiError, match=said):
            counts + other
    with pytest.raises(TypeError):
        counts + 1


def test_nan_among_missing_values_keeps_settings_equal() -> None:
    one = count(ROWS, "class", missing_values=[math.nan, -1])
    other = count(ROWS, "class", missing_values=[np.float64("nan"), -1])
    assert cells(one + other)["word", "yes", "red"] == 2 * cells(one)["word", "yes", "red"]


def test_counts_speak_of_themselves() -> None:
    counts = count(ROWS, "class")
    assert len(counts) == 4
    assert list(counts) == list(COLUMNS)
    assert "word" in counts
    assert "class" not in counts
    assert repr(counts) == "Counts(target='class', rows=200, features=4, classes=2)"
    assert counts.class_names() == ("no", "yes")
    assert counts != count(ROWS[1:], "class")
    assert counts != "counts"
    with pytest.raises(TypeError):
        hash(counts)


def test_table_of_a_column_is_the_oracle_s() -> None:
    found = count(ROWS, "class")["word"]
    expected = oracle(ROWS)
    words, classes = ["blue", "green", "red"], ["no", "yes"]
    joint = [[expected.get(("word", own, word), 0) for word in words] for own in classes]
    np.testing.assert_array_equal(found.joint, joint)
    np.testing.assert_array_equal(found.target_only, [expected.get(("word", own, None), 0) for own in classes])
    np.testing.assert_array_equal(found.feature_only, [expected.get(("word", None, word), 0) for word in words])
    feature = count(ROWS, "class").feature("word")
    assert feature.values == tuple(words)
    assert feature.complete == np.sum(joint)
    assert feature.missing == sum(row["word"] is None for row in ROWS)
    with pytest.raises(CredimiError, match="no column 'wrd': did you mean 'word'"):
        count(ROWS, "class")["wrd"]
