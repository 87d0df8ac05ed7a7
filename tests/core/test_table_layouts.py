"""The layouts in which a `Table` may be written: all are the same counts."""

from __future__ import annotations

import copy
import pickle
from operator import attrgetter

import numpy as np
import pandas as pd
import polars as pl
import pytest

import credimi
from credimi import CredimiError, Table

PLAIN = Table([[143, 74, 61], [21, 24, 48]], [19, 11], [14, 9, 12])
CORNER = [[143, 74, 61, 19], [21, 24, 48, 11], [14, 9, 12, "?"]]
HEADS = ["", "never", "formerly", "daily", "?"]
LABELLED = [HEADS, ["no cough", 143, 74, 61, 19], ["cough", 21, 24, 48, 11], ["?", 14, 9, 12]]
FRAME = pd.DataFrame(
    [[143, 74, 61, 19], [21, 24, 48, 11], [14, 9, 12, 7]],
    index=["no cough", "cough", np.nan],
    columns=["never", "formerly", "daily", np.nan],
)
LABELS = (("no cough", "cough"), ("never", "formerly", "daily"))

labels_of = attrgetter("classes", "values")


def people() -> pd.DataFrame:
    """One row for each count of the table, and 7 rows in which both are missing."""
    rows = [
        (cough, habit) for cough, line in FRAME.iterrows() for habit, count in line.items() for _ in range(int(count))
    ]
    return pd.DataFrame(rows, columns=["cough", "habit"])


@pytest.mark.parametrize("joint", [CORNER, np.array(CORNER), np.array(CORNER, dtype=object), tuple(map(tuple, CORNER))])
def test_a_question_mark_in_the_corner_makes_the_last_lines_margins(joint: object) -> None:
    assert Table(joint) == PLAIN  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "joint",
    [
        LABELLED,
        FRAME,
        FRAME.iloc[[2, 0, 1], [3, 0, 1, 2]],
        FRAME.rename(index={np.nan: "?"}, columns={np.nan: "?"}),
        pl.DataFrame([[*line[:4], line[4] if len(line) > 4 else 0] for line in LABELLED[1:]], HEADS, orient="row"),
    ],
)
def test_labels_say_which_lines_are_margins_and_are_kept(joint: object) -> None:
    table = Table.of(joint)  # type: ignore[arg-type]
    assert table == PLAIN
    assert labels_of(table) == LABELS
    again = copy.deepcopy(table)
    assert labels_of(again) == LABELS
    assert labels_of(table.transposed()) == LABELS[::-1]


def test_a_crosstab_and_its_columns_are_the_same_table() -> None:
    data = people()
    counted = pd.crosstab(data["cough"], data["habit"], dropna=False)
    order = [sorted(range(2), key=LABELS[0].__getitem__), sorted(range(3), key=LABELS[1].__getitem__)]
    expected = Table(PLAIN.joint[np.ix_(*order)], PLAIN.target_only[order[0]], PLAIN.feature_only[order[1]])
    for table in (Table(counted), Table(data["cough"], data["habit"]), Table(list(data["cough"]), list(data["habit"]))):
        assert table == expected
        assert table.classes == tuple(sorted(LABELS[0]))
    law = credimi.mutual_information(data["cough"], data["habit"])
    assert law.mean() == pytest.approx(credimi.mutual_information(PLAIN).mean(), rel=1e-12)
    with pytest.raises(CredimiError, match="'All' holds the sums"):
        Table(pd.crosstab(data["cough"], data["habit"], margins=True))


WITH_SUMS = [[143, 74, 61, 278], [21, 24, 48, 93], [164, 98, 109, 371]]


def test_sums_are_refused_whatever_they_are_called() -> None:
    both = "the last row and the last column hold the sums of the others: leave them out"
    data = people()
    named = pd.crosstab(data["cough"], data["habit"], margins=True, margins_name="Summe")
    text = [["", "a", "b", "c", "Summe"], *([label, *row] for label, row in zip("pqs", WITH_SUMS, strict=True))]
    for sums in (WITH_SUMS, np.array(WITH_SUMS) * 0.1, named, text, pd.DataFrame(WITH_SUMS)):
        with pytest.raises(CredimiError, match=both):
            Table(sums)
    with pytest.raises(CredimiError, match=both):
        credimi.mutual_information(WITH_SUMS)


def test_what_only_looks_like_sums_is_a_table() -> None:
    """Sums on one side only, a corner that is not the total, or no more than one row or column of counts."""
    for counts in (
        [[143, 74, 61, 278], [21, 24, 48, 93]],
        [[143, 74, 61], [21, 24, 48], [164, 98, 109]],
        [[143, 74, 61, 278], [21, 24, 48, 93], [164, 98, 109, 370]],
        [[1, 1], [1, 1]],
        [[2, 3, 5], [2, 3, 5]],
        [[0, 0, 0], [0, 0, 0], [0, 0, 0]],
        [[1, 0, 1], [0, 0, 0], [1, 0, 1]],
    ):
        assert np.array_equal(Table(counts).joint, counts)
    sure = Table(WITH_SUMS, classes="abc", values="vwxy")
    for table in (sure, Table.of_block(np.pad(WITH_SUMS, ((0, 1), (0, 1))))):
        assert copy.deepcopy(table) == pickle.loads(pickle.dumps(table)) == table  # noqa: S301
    rows = [
        (i, j) for i, row in enumerate([[1, 1, 2], [1, 1, 2], [2, 2, 4]]) for j, n in enumerate(row) for _ in range(n)
    ]
    assert Table([i for i, _ in rows], [j for _, j in rows]).joint[2, 2] == 4


@pytest.mark.parametrize("empty", [None, float("nan")])
def test_an_empty_last_corner_is_not_to_become_0(empty: float | None) -> None:
    block = [[143, 74, 61, 19], [21, 24, 48, 11], [14, 9, 12, empty]]
    remedy = r'joint\[2\]\[3\] is (None|nan): put "\?" there if .* or pass these as target_only and feature_only'
    for given in (block, np.array(block, dtype=float)):
        with pytest.raises(CredimiError, match=remedy):
            Table(given)
    with pytest.raises(CredimiError, match="leave out what was not counted, or put 0"):
        Table([[1.0, float("nan")], [2.0, 3.0]])


def test_margins_may_be_given_by_position() -> None:
    law = credimi.mutual_information([[143, 74, 61], [21, 24, 48]], [19, 11], [14, 9, 12])
    assert law == credimi.mutual_information(CORNER)
    assert credimi.posterior(CORNER).table == PLAIN


def test_whole_numbers_beside_missing_ones_are_labels_without_a_point() -> None:
    assert Table(pd.Series([0, 1, None, 1]), ["a", "b", "a", None]).classes == ("0", "1")


def test_a_table_prints_as_a_table() -> None:
    assert repr(Table(LABELLED)) == (
        "Table: 2 target classes x 3 feature values, 436 rows\n"
        "          never  formerly  daily   ?\n"
        "no cough    143        74     61  19\n"
        "cough        21        24     48  11\n"
        "?            14         9     12"
    )
    assert repr(PLAIN).splitlines()[1:] == ["143  74  61  19", " 21  24  48  11", " 14   9  12   ?"]
    assert repr(Table([[1, 2.5]])).splitlines() == ["Table: 1 target class x 2 feature values, 3.5 rows", "1  2.5"]
    assert "<td>no cough</td>" in Table(LABELLED)._repr_html_()
    assert "<b>" not in Table([["", "<b>", "c"], ["x", 1, 2]])._repr_html_()
    assert len(repr(Table(np.ones((40, 2)))).splitlines()) == 1


NUMBERED = Table([[30, 4], [1, 20]])


@pytest.mark.parametrize("first", [["", 2019, 2020], ["", "2019", "2020"], [None, 2019, 2020], [2019, 2020]])
@pytest.mark.parametrize("names", [("no", "yes"), (0, 1)])
def test_numbers_are_labels_beside_an_empty_corner(first: list[object], names: tuple[object, object]) -> None:
    rows = [first, [names[0], 30, 4], [names[1], 1, 20]]
    if first[0] != "" and names == (0, 1):  # nothing says what is a label
        with pytest.raises(CredimiError):
            Table(rows)
        return
    table = Table(rows)
    assert table == NUMBERED
    assert labels_of(table) == (tuple(map(str, names)), ("2019", "2020"))


@pytest.mark.parametrize("corner", [[], [""], ["?"], [0]])
def test_numbers_are_labels_beside_margins(corner: list[object]) -> None:
    table = Table([["", 0, 1, "?"], ["no", 30, 4, 5], ["yes", 1, 20, 6], ["?", 7, 8, *corner]])
    assert table == Table([[30, 4], [1, 20]], [5, 6], [7, 8])
    assert labels_of(table) == (("no", "yes"), ("0", "1"))


def test_rows_may_have_labels_alone() -> None:
    assert Table([["no", 30, 4], ["yes", 1, 20]]) == NUMBERED
    assert Table([["no", 1, 2], ["yes", 3, 4]]) == Table([[1, 2], [3, 4]])
    assert Table([["no", 30, 4], ["yes", 1, 20], ["?", 7, 8]]) == Table([[30, 4], [1, 20]], feature_only=[7, 8])


@pytest.mark.parametrize("labels", [(0, 1), ("0", "1"), (2019, 2020), (2018, 2019, 2020)])
def test_a_first_row_of_labels_or_of_counts_is_refused_where_nothing_tells(labels: tuple[object, ...]) -> None:
    rows = [["cough", *labels], ["no", *range(len(labels))], ["yes", *range(3, 3 + len(labels))]]
    with pytest.raises(CredimiError, match=r"may be the labels .* leave its first cell empty"):
        Table(rows)
    assert Table([["", "a", "b", "c"][: len(labels) + 1], *rows]).joint.shape == (3, len(labels))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1, 2, 3], [4, 5]), "one value for each data row"),
        (([0.5 * k + 0.25 for k in range(50)], list(range(50))), "50 different numbers, not categories"),
        (([None, None], ["a", "b"]), "has no value"),
        ((CORNER, [1, 2]), "do not pass it a second time"),
        (([HEADS, ["x", 1, 2, 3, 4], ["?", 1, 2, 3], ["NA", 1, 2, 3]],), "2 rows are labelled as missing"),
        (([HEADS, ["x", 1, 2, 3, 4], ["y", 1, 2]],), "row 2 has 2 counts"),
        (([["a", "b", "c", "d"], ["x", 1, 2], ["y", 3, "z"]],), r"joint\[1\]\[1\] is 'z', not a number"),
    ],
)
def test_what_is_no_table_is_refused_in_words(arguments: tuple[object, ...], message: str) -> None:
    with pytest.raises(CredimiError, match=message):
        Table(*arguments)  # type: ignore[arg-type]


def test_tables_with_other_labels_do_not_add() -> None:
    other = Table([["", "never", "rarely", "daily"], ["no cough", 1, 2, 3], ["cough", 4, 5, 6]])
    with pytest.raises(CredimiError, match="same labels"):
        Table(LABELLED) + other
    assert (Table(LABELLED) + PLAIN).classes == LABELS[0]


def test_two_columns_in_one_frame_are_no_counts() -> None:
    columns = {"cough": ["yes", "no", None, "no"] * 5, "habit": ["daily", None, "never", "never"] * 5}
    for frame in (pd.DataFrame(columns), pd.DataFrame(columns).iloc[::2], pl.DataFrame(columns)):
        with pytest.raises(CredimiError, match=r"pass the two columns, frame\['cough'\], frame\['habit'\]"):
            credimi.mutual_information(frame)
