"""`Belief` are checked once, when they are made, and are the same for whoever asks."""

from dataclasses import FrozenInstanceError
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import credimi
from credimi import CredimiError
from credimi.inference.belief import Belief
from credimi.paper.prequential_options import PrequentialOptions

WRONG = [
    ({"prior": "jefreys"}, "did you mean 'jeffreys'"),
    ({"prior": -1.0}, "a pseudo-count is a number from 0 up"),
    ({"approximation": "match"}, "did you mean 'matched'"),
    ({"epsilon": -0.1}, "epsilon is -0.1"),
    ({"epsilon": float("nan")}, "epsilon is nan"),
    ({"level": 1.0}, "level is 1.0"),
    ({"level": True}, "level is True"),
]


@pytest.mark.parametrize(("wrong", "message"), WRONG)
@pytest.mark.parametrize("options", [Belief, PrequentialOptions])
def test_they_refuse_what_is_none(options: type[Belief], wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(CredimiError, match=message):
        options(**wrong)


@pytest.mark.parametrize(("wrong", "message"), WRONG)
def test_the_same_is_refused_at_every_door(wrong: dict[str, Any], message: str) -> None:
    table = {"x": list("aabb") * 5, "class": list("pqpq") * 5}
    for call in (credimi.rank, credimi.prequential):
        with pytest.raises(CredimiError, match=message):
            call(table, "class", **wrong)


def test_a_seed_is_checked_where_something_is_drawn() -> None:
    with pytest.raises(CredimiError, match="random_state is 'x'"):
        Belief(approximation="sampled", random_state="x")  # type: ignore[arg-type]
    with pytest.raises(CredimiError, match="random_state is -1"):
        credimi.rank({"class": list("pq")}, "class", approximation="sampled", random_state=-1)


def test_numbers_become_floats() -> None:
    options = Belief(prior=Fraction(1, 2), epsilon=np.float32(0.5), level=np.float64(0.9), fdr=np.float64(0.1))  # type: ignore[arg-type]
    assert [type(value) for value in (options.prior, options.epsilon, options.level, options.fdr)] == [float] * 4
    assert options == Belief(prior=0.5, epsilon=0.5, level=0.9, fdr=0.1)


def test_they_do_not_change() -> None:
    options = Belief()
    with pytest.raises(FrozenInstanceError):
        options.level = 0.5  # type: ignore[misc]


@pytest.mark.parametrize(("prior", "nothing"), [("adaptive", False), ("haldane", True), (0.0, True), ("perks", False)])
def test_which_priors_add_nothing(prior: str | float, nothing: bool) -> None:  # noqa: FBT001  (a parameter of pytest)
    assert Belief(prior=prior).adds_nothing is nothing
