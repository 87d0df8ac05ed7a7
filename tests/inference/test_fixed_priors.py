"""Pseudo-counts by name and by number, and what is said of those that are neither."""

import math
import re
from fractions import Fraction

import numpy as np
import pytest

from credimi import CredimiError
from credimi.inference.evidence.fixed_priors import NAMES, pseudo_count


def refusal(prior: object) -> str:
    with pytest.raises(CredimiError) as caught:
        pseudo_count(prior, (2, 3))
    assert isinstance(caught.value, ValueError)
    return str(caught.value)


@pytest.mark.parametrize(
    ("name", "shape", "value"),
    [
        ("uniform", (2, 3), 1.0),
        ("uniform", (20, 30), 1.0),
        ("jeffreys", (2, 3), 0.5),
        ("jeffreys", (20, 30), 0.5),
        ("perks", (2, 3), 1.0 / 6.0),
        ("perks", (4, 8), 0.03125),
        ("perks", (1, 1), 1.0),
        ("haldane", (2, 3), 0.0),
    ],
)
def test_named_pseudo_count(name: str, shape: tuple[int, int], value: float) -> None:
    assert pseudo_count(name, shape) == value
    assert pseudo_count(np.str_(name), shape) == value


def test_every_name_is_known() -> None:
    assert sorted(NAMES) == ["haldane", "jeffreys", "perks", "raw-counts", "uniform"]
    for name in NAMES:
        assert pseudo_count(name, (3, 4)) >= 0.0


@pytest.mark.parametrize("number", [0, 1, 0.25, 1e-100, 1e15, Fraction(1, 4), np.float32(0.25), np.int64(3)])
def test_number_is_itself_whatever_the_shape(number: float) -> None:
    for shape in ((1, 1), (2, 3), (50, 7)):
        value = pseudo_count(number, shape)
        assert value == float(number)
        assert type(value) is float


@pytest.mark.parametrize(
    ("wrong", "near"),
    [
        ("jeffrey", "jeffreys"),
        ("Jeffreys", "jeffreys"),
        ("jefreys", "jeffreys"),
        ("unifrom", "uniform"),
        ("Perks", "perks"),
        ("perk", "perks"),
        ("haldan", "haldane"),
    ],
)
def test_wrong_name_is_answered_with_the_nearest(wrong: str, near: str) -> None:
    message = refusal(wrong)
    assert message.startswith(f"unknown prior {wrong!r}: did you mean {near!r}?")
    assert all(name in message for name in NAMES)


@pytest.mark.parametrize("wrong", ["zzz", "", "0.5", "1"])
def test_name_that_is_like_none_is_answered_with_all(wrong: str) -> None:
    message = refusal(wrong)
    assert message.startswith(f"unknown prior {wrong!r}: choose one of ")
    assert "did you mean" not in message
    assert all(name in message for name in NAMES)
    assert "or a pseudo-count such as 0.5" in message


@pytest.mark.parametrize(
    ("number", "shown"),
    [
        (-1, "-1"),
        (-1e-300, "-1e-300"),
        (math.nan, "nan"),
        (math.inf, "inf"),
        (-math.inf, "-inf"),
        (1.1e15, "1.1e+15"),
        (10**400, "inf"),
        (np.float64("nan"), "nan"),
    ],
)
def test_number_that_is_no_pseudo_count(number: float, shown: str) -> None:
    assert refusal(number).startswith(f"prior is {shown}: a pseudo-count is a number from 0 up")


@pytest.mark.parametrize(("number", "shown"), [(1e-320, "9.99989e-321"), (5e-324, "4.94066e-324"), (1e-101, "1e-101")])
def test_pseudo_count_as_good_as_none_is_refused(number: float, shown: str) -> None:
    assert refusal(number) == f"prior is {shown}: a pseudo-count is 0 ('haldane') or at least 1e-100"


@pytest.mark.parametrize(
    "thing", [True, False, None, [0.5], (1,), 1j, b"uniform", {"uniform": 1}, np.array([0.5, 0.5])]
)
def test_thing_that_is_neither_name_nor_number(thing: object) -> None:
    message = refusal(thing)
    assert re.match(r"prior is .*: choose one of ", message)
    assert repr(thing) in message
