"""`CredibleSelector` with rules that look at columns together."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder

from credimi import CredibleSelector, CredimiError, count, select


def made(rows: int = 1_500) -> tuple[np.ndarray, np.ndarray]:
    """A column that tells, a copy of it, one that tells a little, noise; some cells are missing."""
    generator = np.random.default_rng(0)
    target = generator.integers(0, 2, rows)
    first = np.where(generator.random(rows) < 0.6, target, generator.integers(0, 2, rows))
    third = np.where(generator.random(rows) < 0.4, target, generator.integers(0, 2, rows))
    table = np.column_stack([first, first + 3, third, generator.integers(0, 3, rows)]).astype(object)
    table[generator.random(table.shape) < 0.1] = None
    return table, target


def test_distinct_keeps_what_select_takes() -> None:
    x, y = made()
    selector = CredibleSelector("distinct").fit(x, y)
    data = {f"x{number}": x[:, number].tolist() for number in range(4)}
    assert selector.get_support().tolist() in ([True, False, True, False], [False, True, True, False])
    assert len(selector.selection_.features) == len(select(data, y).features) == 2
    assert selector.transform(x).shape == (1_500, 2)
    assert selector.ranking_.columns["feature"]  # one by one they are ranked still


def test_relevant_keeps_copies() -> None:
    x, y = made()
    assert CredibleSelector("relevant").fit(x, y).get_support().tolist() == [True, True, True, False]


def test_level_and_k() -> None:
    x, y = made()
    assert CredibleSelector("distinct", k=1).fit(x, y).get_support().sum() == 1
    assert CredibleSelector("distinct", level=0.99).fit(x, y).selection_.settings["level"] == 0.99
    assert CredibleSelector("distinct").fit(x, y).selection_.settings["level"] == 0.95
    assert CredibleSelector().fit(x, y).ranking_.settings["level"] == 0.95


@pytest.mark.parametrize("rule", ["distinct", "relevant"])
def test_k_ends_what_the_rule_takes(rule: str) -> None:
    x, y = made()
    every = CredibleSelector(rule).fit(x, y).selection_.features
    for k in range(1, 5):
        assert CredibleSelector(rule, k=k).fit(x, y).selection_.features == every[:k]


def test_weights_are_rows_that_count_more_often() -> None:
    x, y = made(600)
    weights = np.tile([1, 2, 3], 200)
    again = np.repeat(np.arange(600), weights)
    weighted = CredibleSelector("distinct").fit(x, y, sample_weight=weights).selection_
    repeated = CredibleSelector("distinct").fit(x[again], y[again]).selection_
    assert weighted.features == repeated.features
    assert [step.mi for step in weighted.steps] == pytest.approx([step.mi for step in repeated.steps], rel=1e-9)


def test_in_a_pipeline_and_cloned() -> None:
    x, y = made()
    selector = clone(CredibleSelector("distinct"))
    assert make_pipeline(selector, OrdinalEncoder()).fit(x, y).transform(x).shape == (1_500, 2)
    selector.set_params(rule="forward").fit(x, y)
    assert selector.get_support().tolist() == [True, True, True, False]
    assert not hasattr(selector, "selection_")


def test_rows_are_needed() -> None:
    x, y = made(100)
    with pytest.raises(CredimiError, match="needs all rows: use fit, not partial_fit"):
        CredibleSelector("distinct").partial_fit(x, y)
    counts = count({"x": x[:, 0].tolist()}, y)
    with pytest.raises(CredimiError, match="not from_counts"):
        CredibleSelector.from_counts(counts, rule="relevant")
    for option in ({"prior": "jeffreys"}, {"missing_as": "category"}, {"unlabeled": -1}):
        with pytest.raises(CredimiError, match=f"leave out {next(iter(option))}"):
            CredibleSelector("distinct", **option).fit(x, y)


@pytest.mark.parametrize("k", [0, 1.5])
def test_k_is_a_whole_number_from_1_up(k: float) -> None:
    with pytest.raises(CredimiError, match=f"^k is {k}: it must be a whole number from 1 up"):
        CredibleSelector("distinct", k=k).fit(*made(100))
