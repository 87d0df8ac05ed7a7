"""What a column tells alone, as evidence that it adds to another one."""

from __future__ import annotations

import numpy as np
import pytest

from credimi.core.tables import Tables
from credimi.inference.evidence.adaptive_prior import independence
from credimi.inference.tables.stratified_tables import StratifiedTables
from credimi.inference.tables.stratified_tables import independence as independence_given
from credimi.questions.select.unrelated_columns import odds_factor


def counted(target: np.ndarray, *columns: np.ndarray) -> np.ndarray:
    """Counts of all, each with a place for what is missing."""
    found = np.zeros([int(each.max()) + 2 for each in (target, *columns)])
    np.add.at(found, (target, *columns), 1.0)
    return found


def factor_of(target: np.ndarray, column: np.ndarray, given: np.ndarray) -> tuple[float, float, float, float]:
    """The factor, and the Bayes factors of X and Y given W, of X and Y, and of X and W."""
    joint = counted(target, column, given)
    blocks = [joint[:, :, stratum] for stratum in range(joint.shape[2] - 1)]
    tables, starts = Tables.of(blocks), np.array([0, len(blocks)])
    p_given = independence_given(StratifiedTables.of(tables, starts))
    p_alone, p_unrelated = (independence(Tables.of([counted(*two)])) for two in ((target, column), (given, column)))
    found = odds_factor(tables, starts, np.array([True]), (p_given, p_alone))
    return found.item(), *((1.0 - each.item()) / each.item() for each in (p_given, p_alone, p_unrelated))


@pytest.mark.parametrize("related", [0.0, 0.3])
def test_the_odds_are_the_mean_of_those_in_the_strata_and_alone(related: float) -> None:
    generator = np.random.default_rng(3)
    target, other = generator.integers(0, 2, (2, 120))
    column = np.where(generator.random(120) < 0.3, target, generator.integers(0, 2, 120))
    given = np.where(generator.random(120) < related, column, other)
    factor, in_strata, alone, with_given = factor_of(target, column, given)
    assert factor * in_strata == pytest.approx((with_given * in_strata + alone) / (with_given + 1.0))


def test_an_unrelated_column_of_many_values_does_not_hide_what_a_column_tells() -> None:
    generator = np.random.default_rng(0)
    target, given = generator.integers(0, 2, 150), generator.integers(0, 12, 150)
    column = np.where(generator.random(150) < 0.5, target, generator.integers(0, 3, 150))
    factor, in_strata, alone, _ = factor_of(target, column, given)
    assert in_strata < 0.1 * alone
    assert factor * in_strata > 0.5 * alone


def test_a_copy_gains_nothing_from_what_it_tells_alone() -> None:
    generator = np.random.default_rng(1)
    target = generator.integers(0, 2, 400)
    column = np.where(generator.random(400) < 0.6, target, generator.integers(0, 2, 400))
    factor, in_strata, alone, _ = factor_of(target, column, column)
    assert alone > 1e6
    assert in_strata < 1.2
    assert factor == 1.0


def test_columns_of_different_sizes_are_summed_right() -> None:
    generator = np.random.default_rng(2)
    target, given = generator.integers(0, 3, 90), generator.integers(0, 2, 90)
    columns = [generator.integers(0, values, 90) for values in (4, 2, 4)]
    single = [factor_of(target, column, given) for column in columns]
    blocks = [counted(target, column, given)[:, :, stratum] for column in columns for stratum in range(2)]
    p_given, p_alone = (np.array([1.0 / (1.0 + each[place]) for each in single]) for place in (1, 2))
    starts = np.array([0, 2, 4, 6])
    found = odds_factor(Tables.of(blocks), starts, np.ones(3, dtype=bool), (p_given, p_alone))
    assert found.tolist() == pytest.approx([each[0] for each in single])
    some = np.array([False, True, True])
    assert odds_factor(Tables.of(blocks), starts, some, (p_given[some], p_alone[some])).tolist() == found[some].tolist()
    assert odds_factor(Tables.of(blocks), starts, ~some & False, (p_given[:0], p_alone[:0])).size == 0
