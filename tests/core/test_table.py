"""`Table`: what it refuses and how it says so, what it accepts, and that it stays what it was built from."""

import copy
import datetime as dt
import math
import pickle
import re
from collections.abc import Callable
from dataclasses import FrozenInstanceError
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import ArrayLike

from credimi import CredimiError, Table
from credimi.core.table import LARGEST, SMALLEST

JOINT = [[10, 2, 7], [3, 15, 1]]
TARGET_ONLY = [4, 1]
FEATURE_ONLY = [0, 2, 5]


def whole() -> Table:
    return Table.of(JOINT, TARGET_ONLY, FEATURE_ONLY)


def refusal(joint: object, target_only: object = None, feature_only: object = None) -> str:
    """What is said when these counts are refused; the error is of both kinds, so either `except` catches it."""
    with pytest.raises(CredimiError) as caught:
        Table.of(joint, target_only, feature_only)
    assert isinstance(caught.value, ValueError)
    return str(caught.value)


# What is refused


@pytest.mark.parametrize("value", [-1, -1e-300, -math.inf, math.inf, 1.1e15, 2**63, 10**400, 2**4000])
def test_count_out_of_range_is_named_with_its_place(value: float) -> None:
    message = refusal([[1, 2], [value, 3]])
    assert message.startswith("joint[1][0] is ")
    assert "counts are numbers from 0 up" in message


@pytest.mark.parametrize(
    ("value", "shown"), [(-2, "-2"), (-0.5, "-0.5"), (math.inf, "inf"), (-math.inf, "-inf"), (10**400, "inf")]
)
def test_value_out_of_range_is_shown(value: float, shown: str) -> None:
    assert f"joint[0][1] is {shown}:" in refusal([[1, value], [2, 3]])


def test_first_of_several_faults_is_named() -> None:
    assert refusal([[1, 2], [3, -4], [-5, 6]]).startswith("joint[1][1] is -4")


@pytest.mark.parametrize("value", [math.nan, "nan", np.float32("nan")])
def test_nan_is_named_with_its_remedy(value: object) -> None:
    message = refusal([[1, 2], [3, value]])
    assert message.startswith("joint[1][1] is nan")
    assert "put 0" in message


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("many", "'many'"),
        ("", "''"),
        ("1 2", "'1 2'"),
        (None, "None"),
        (dt.date(2020, 1, 31), "datetime.date(2020, 1, 31)"),
        (2j, "2j"),
        ({"n": 1}, "{'n': 1}"),
        ({3}, "{3}"),
        (b"?", "b'?'"),
    ],
)
def test_value_that_is_no_number_is_named_with_its_place(value: object, shown: str) -> None:
    message = refusal(np.array([[1, 2], [3, value]], dtype=object))
    assert message.startswith(f"joint[1][1] is {shown}, not a number")
    assert "counts are numbers from 0 up" in message


def test_lists_that_mix_numbers_and_text_name_the_text() -> None:
    assert refusal([[1, 2], ["three", 4]]).startswith("joint[1][0] is 'three', not a number")


def test_complex_array_is_refused_even_without_imaginary_parts() -> None:
    assert refusal(np.ones((2, 2), dtype=complex)).startswith("joint[0][0] is (1+0j), not a number")


@pytest.mark.parametrize("dtype", ["datetime64[D]", "datetime64[ns]", "timedelta64[ns]", "timedelta64[s]"])
def test_times_are_no_counts(dtype: str) -> None:
    """Nanoseconds above all: numpy hands them out as plain integers, which would pass for counts."""
    message = refusal(np.array([[5, 6], [7, 8]]).astype(dtype))
    assert dtype in message
    assert "counts are numbers" in message


def test_records_are_no_counts() -> None:
    assert "counts are numbers" in refusal(np.zeros((2, 2), dtype=[("n", np.int64)]))


def test_masked_count_is_none() -> None:
    """What lies under a mask must not be counted."""
    masked = np.ma.array([[1, 2], [3, 4]], mask=[[False, True], [False, False]])
    assert refusal(masked).startswith("joint[0][1] is nan")
    assert Table.of(np.ma.array([[1, 2], [3, 4]])) == Table.of([[1, 2], [3, 4]])


def test_long_nonsense_is_shortened() -> None:
    message = refusal([["x" * 10_000]])
    assert message.startswith("joint[0][0] is 'xxx")
    assert len(message) < 200


@pytest.mark.parametrize(
    ("ragged", "said"),
    [
        ([[1, 2], [3]], "joint[1] has length 1, joint[0] has length 2"),
        ([[1, 2], [3, 4], [5, 6, 7]], "joint[2] has length 3, joint[0] has length 2"),
        ([["1", "2"], ["3"]], "joint[1] has length 1, joint[0] has length 2"),
        ([np.array([1, 2]), np.array([3, 4, 5])], "joint[1] has length 3, joint[0] has length 2"),
        ([[1, 2], []], "joint[1] has length 0, joint[0] has length 2"),
    ],
)
def test_ragged_rows_are_named(ragged: ArrayLike, said: str) -> None:
    message = refusal(ragged)
    assert said in message
    assert "rows of equal length" in message


@pytest.mark.parametrize("nested", [[[1, [2]], [3, [4, 5]]], [[1, 2], 3]])
def test_nested_rows_are_refused(nested: ArrayLike) -> None:
    assert "rows of equal length" in refusal(nested)


@pytest.mark.parametrize(
    ("joint", "shape"),
    [
        ([], "(0,)"),
        ([[]], "(1, 0)"),
        ([[], []], "(2, 0)"),
        (np.zeros((0, 3)), "(0, 3)"),
        ([1, 2, 3], "(3,)"),
        (7, "()"),
        ([[[1]]], "(1, 1, 1)"),
        (np.ones((2, 3, 4)), "(2, 3, 4)"),
    ],
)
def test_shape_that_is_no_table_is_named(joint: ArrayLike, shape: str) -> None:
    message = refusal(joint)
    assert f"got shape {shape}" in message
    assert "one row per target class, one column per feature value" in message


@pytest.mark.parametrize("joint", [None, "10 2; 3 15", {"a": [1, 2]}, iter([[1, 2]])])
def test_object_that_is_no_table_is_refused(joint: object) -> None:
    assert refusal(joint).startswith("joint is ")


# Margins


@pytest.mark.parametrize(
    ("margin", "got"), [([1], "1"), ([1, 2, 3], "3"), ([], "0"), (5, "shape ()"), ([[1, 2]], "shape (1, 2)")]
)
def test_margin_of_wrong_length_says_what_is_needed(margin: ArrayLike, got: str) -> None:
    message = refusal([[1, 2], [3, 4]], target_only=margin)
    assert message.startswith("target_only needs one count for each row of joint")
    assert message.endswith(f"2 numbers, got {got}")


def test_margins_are_held_against_their_own_side() -> None:
    assert refusal(JOINT, FEATURE_ONLY, None).startswith("target_only needs one count for each row")
    assert refusal(JOINT, None, TARGET_ONLY).startswith("feature_only needs one count for each column")


@pytest.mark.parametrize(
    ("margin", "said"),
    [
        ([1, -2], "[1] is -2: counts are numbers from 0 up"),
        ([math.nan, 1], "[0] is nan: leave out"),
        ([1, math.inf], "[1] is inf: counts are numbers from 0 up"),
        ([1, "x"], "[1] is 'x', not a number"),
        ([None, 1], "[0] is None, not a number"),
    ],
)
@pytest.mark.parametrize("name", ["target_only", "feature_only"])
def test_fault_in_a_margin_is_named_with_its_place(name: str, margin: list[object], said: str) -> None:
    assert refusal([[1, 2], [3, 4]], **{name: margin}).startswith(name + said)


def test_margin_with_nested_rows_is_refused() -> None:
    assert refusal([[1, 2], [3, 4]], target_only=[[1], [2, 3]]).startswith("target_only is not a table of numbers")


def test_absent_margins_are_zeros() -> None:
    table = Table.of(JOINT)
    np.testing.assert_array_equal(table.target_only, [0, 0])
    np.testing.assert_array_equal(table.feature_only, [0, 0, 0])
    assert not table.misses_feature
    assert not table.misses_target
    assert table == Table.of(JOINT, [0, 0], [0, 0, 0])


def test_which_side_misses() -> None:
    assert Table.of(JOINT, target_only=[0, 1]).misses_feature
    assert not Table.of(JOINT, target_only=[0, 1]).misses_target
    assert Table.of(JOINT, feature_only=[0, 0, 1]).misses_target
    assert not Table.of(JOINT, feature_only=[0, 0, 1]).misses_feature


# A table that is built directly


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((np.array([[1.0, -2.0], [3.0, 4.0]]), np.zeros(2), np.zeros(2)), "joint[0][1] is -2"),
        ((np.array([[1.0, 2.0], [3.0, math.nan]]), np.zeros(2), np.zeros(2)), "joint[1][1] is nan"),
        ((np.ones((2, 2)), np.zeros(3), np.zeros(2)), "target_only needs one count for each row"),
        ((np.ones((2, 2)), np.zeros(2), np.array([1.0, math.inf])), "feature_only[1] is inf"),
        ((np.ones(4), np.zeros(2), np.zeros(2)), "joint must be a table"),
        (("many", None, None), "joint is 'many', not a number"),
    ],
)
def test_it_is_checked_as_well(arguments: tuple[np.ndarray, ...], said: str) -> None:
    with pytest.raises(CredimiError, match=re.escape(said)):
        Table(*arguments)


def test_it_is_frozen_and_leaves_the_callers_arrays_alone() -> None:
    arrays = [np.array(values, dtype=np.float64) for values in (JOINT, TARGET_ONLY, FEATURE_ONLY)]
    table = Table(*arrays)
    for array in arrays:
        array[...] = 99.0
    assert table == whole()
    assert not any(array.flags.writeable for array in (table.joint, table.target_only, table.feature_only))


def test_sum_beyond_the_largest_count_is_refused() -> None:
    table = Table.of([[LARGEST, 1.0]])
    with pytest.raises(CredimiError, match=re.escape("joint[0][0] is")):
        table + table


# What is accepted


@pytest.mark.parametrize(
    "joint",
    [
        ((10, 2, 7), (3, 15, 1)),
        [["10", "2", "7"], ["3", "15", "1"]],
        [[" 10", "2.0", "7e0"], ["3", 15, 1]],
        [[Decimal(10), Decimal(2), Decimal(7)], [Fraction(3), Fraction(15), Fraction(1)]],
        np.array(JOINT, dtype=np.int8),
        np.array(JOINT, dtype=np.uint64),
        np.array(JOINT, dtype=np.float32),
        np.array(JOINT, dtype=np.float16),
        np.array(JOINT, dtype=np.longdouble),
        np.array(JOINT, dtype=object),
        np.array(JOINT, dtype=">i4"),
        np.array(JOINT, order="F"),
        np.array([[7, 2, 10], [1, 15, 3]])[:, ::-1],
        np.array([["10", "2", "7"], ["3", "15", "1"]], dtype=np.dtypes.StringDType()),
    ],
)
def test_same_counts_in_any_dress_make_the_same_table(joint: ArrayLike) -> None:
    table = Table.of(joint)
    assert table == Table.of(JOINT)
    assert table.joint.dtype == np.float64


def test_booleans_count_as_0_and_1() -> None:
    assert Table.of(np.array([[True, False], [False, True]])) == Table.of([[1, 0], [0, 1]])


def test_largest_and_smallest_counts() -> None:
    assert Table.of([[LARGEST, int(LARGEST)], [SMALLEST, 0]]).joint.tolist() == [[1e15, 1e15], [1e-100, 0.0]]


@pytest.mark.parametrize("value", [1e-101, 1e-300, 1e-320, 5e-324])
def test_count_as_good_as_none_is_named_with_its_remedy(value: float) -> None:
    assert re.match(r"joint\[0\]\[1\] is \S*e-\d*: a count is 0 or at least 1e-100, so put 0", refusal([[1, value]]))


def test_weights_need_not_be_whole() -> None:
    assert Table.of([[0.25, 1e-90], [1.5, 0]]).joint.tolist() == [[0.25, 1e-90], [1.5, 0.0]]


def test_one_by_one_table() -> None:
    table = Table.of([[0]], [2], [3])
    assert table.shape == (1, 1)
    assert table.rows == 5.0


def test_pandas_frame() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(JOINT, index=["no", "yes"], columns=["never", "formerly", "daily"])
    assert Table.of(frame, pandas.Series(TARGET_ONLY), pandas.Series(FEATURE_ONLY)) == whole()
    assert refusal(frame.astype(float).where(frame != 15)).startswith("joint[1][1] is nan")


# It stays what it was built from


def test_arrays_cannot_be_written() -> None:
    table = whole()
    for array in (table.joint, table.target_only, table.feature_only, table.transposed().joint, (table + table).joint):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0.0


@pytest.mark.parametrize("dtype", [np.float64, np.int64])
def test_caller_keeps_his_arrays(dtype: type) -> None:
    joint, target_only, feature_only = (np.array(values, dtype=dtype) for values in (JOINT, TARGET_ONLY, FEATURE_ONLY))
    table = Table.of(joint, target_only, feature_only)
    for mine, values in ((joint, JOINT), (target_only, TARGET_ONLY), (feature_only, FEATURE_ONLY)):
        np.testing.assert_array_equal(mine, values)
        assert mine.flags.writeable
        mine[...] = 99
    assert table == whole()


def test_caller_keeps_his_lists() -> None:
    joint = [list(row) for row in JOINT]
    table = Table.of(joint)
    joint[0][0] = 99
    assert table == Table.of(JOINT)


def test_read_only_array_is_accepted() -> None:
    joint = np.array(JOINT, dtype=np.float64)
    joint.setflags(write=False)
    assert Table.of(joint) == Table.of(JOINT)


@pytest.mark.parametrize("name", ["joint", "target_only", "feature_only"])
def test_attributes_cannot_be_set(name: str) -> None:
    table = whole()
    with pytest.raises(FrozenInstanceError):
        setattr(table, name, np.zeros(1))
    assert table == whole()


def test_block_is_a_copy() -> None:
    table = whole()
    table.block()[...] = 99
    assert table == whole()


# What it can do


def test_table_passes_through() -> None:
    table = whole()
    assert Table.of(table) is table


@pytest.mark.parametrize("margins", [{"target_only": TARGET_ONLY}, {"feature_only": FEATURE_ONLY}])
def test_table_with_a_margin_beside_it_is_refused(margins: dict[str, list[int]]) -> None:
    assert "already holds its margins" in refusal(Table.of(JOINT), **margins)


def test_block() -> None:
    assert whole().block().tolist() == [[10, 2, 7, 4], [3, 15, 1, 1], [0, 2, 5, 0]]


def test_rows_and_shape() -> None:
    assert whole().shape == (2, 3)
    assert whole().rows == 38 + 5 + 7


def test_transposed() -> None:
    turned = whole().transposed()
    assert turned == Table.of([[10, 3], [2, 15], [7, 1]], FEATURE_ONLY, TARGET_ONLY)
    assert turned.joint.flags.c_contiguous
    assert turned.transposed() == whole()


def test_sum_adds_every_count() -> None:
    other = Table.of([[1, 0, 2], [0, 3, 0]], [1, 0], [0, 0, 4])
    assert whole() + other == Table.of([[11, 2, 9], [3, 18, 1]], [5, 1], [0, 2, 9])
    assert whole() + other == other + whole()
    assert whole() + Table.of(np.zeros((2, 3))) == whole()


def test_sum_of_different_shapes_is_refused() -> None:
    with pytest.raises(CredimiError, match=re.escape("shapes (2, 3) and (3, 2)")):
        whole() + whole().transposed()


def test_sum_with_something_else_is_a_type_error() -> None:
    with pytest.raises(TypeError):
        whole() + 1
    with pytest.raises(TypeError):
        whole() + np.ones((2, 3))


def test_equality() -> None:
    assert whole() == whole()
    assert whole() != Table.of(JOINT)
    assert whole() != Table.of(JOINT, TARGET_ONLY, [0, 2, 6])
    assert whole() != Table.of(JOINT, [1, 4], FEATURE_ONLY)
    assert whole() != whole().transposed()
    assert Table.of([[0, 0]]) != Table.of([[0], [0]])
    assert (whole() == JOINT) is False


def test_equal_tables_hash_alike() -> None:
    assert hash(whole()) == hash(whole())
    assert len({whole(), whole(), Table.of(JOINT)}) == 2


def test_negative_zero_is_zero() -> None:
    """-0.0 == 0.0, so the two tables are equal, and equal tables must hash alike."""
    negative, zero = Table.of([[-0.0, 1]], [-0.0], [-0.0, 0]), Table.of([[0, 1]])
    assert negative == zero
    assert hash(negative) == hash(zero)


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda table: pickle.loads(pickle.dumps(table))])  # noqa: S301
def test_copy_is_equal_and_frozen(copied: Callable[[Table], Table]) -> None:
    again = copied(whole())
    assert again == whole()
    for array in (again.joint, again.target_only, again.feature_only):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0.0
