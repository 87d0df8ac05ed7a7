"""Missing values drawn from a forest, against sums over all joint states."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from numpy.typing import NDArray

from credimi.questions.pairs import forest_cells

Floats = NDArray[np.float64]
Parents = tuple[int, ...]
SIZES = (2, 3, 2, 4, 2)
FORESTS = {
    "chain": (-1, 0, 1, 2, 3),
    "star": (2, 2, -1, 2, 2),
    "two trees": (1, -1, 4, 1, -1),
    "alone": (-1, -1, -1, -1, -1),
}


def _order(parents: Parents) -> list[int]:
    order: list[int] = []
    while len(order) < len(parents):
        order += [each for each, own in enumerate(parents) if each not in order and (own < 0 or own in order)]
    return order


def _forest(parents: Parents, generator: np.random.Generator) -> tuple[list[Floats], NDArray[np.int64], Floats]:
    tables = [
        generator.dirichlet(np.full(size, 0.6), 1 if parents[column] < 0 else SIZES[parents[column]])
        for column, size in enumerate(SIZES)
    ]
    lengths = np.array([table.size for table in tables])
    starts = np.cumsum(lengths) - lengths
    return tables, starts, np.concatenate([table.ravel() for table in tables])


def _joint(parents: Parents, tables: list[Floats]) -> Floats:
    """The probability of every joint state, as one dense array."""
    joint = np.ones(SIZES)
    for state in itertools.product(*map(range, SIZES)):
        for column, value in enumerate(state):
            joint[state] *= tables[column][0 if parents[column] < 0 else state[parents[column]], value]
    return joint


def _run(
    parents: Parents, starts: NDArray[np.int64], chances: Floats, rows: list[list[int]], seed: int = 1
) -> tuple[NDArray[np.uint16], Floats]:
    codes = np.array(rows, dtype=np.uint16)
    found = np.empty(len(rows))
    forest = np.array(_order(parents)), np.array(parents), starts
    state = np.array([seed], dtype=np.uint64)
    forest_cells.complete_rows(codes, np.array(SIZES), *forest, chances, state, found)
    return codes, found


@pytest.mark.parametrize("name", FORESTS)
def test_the_likelihood_is_the_sum_over_all_joint_states(name: str) -> None:
    parents, generator = FORESTS[name], np.random.default_rng(3)
    tables, starts, chances = _forest(parents, generator)
    joint = _joint(parents, tables)
    patterns = list(itertools.product((False, True), repeat=len(SIZES)))
    rows = [
        [size if lost else int(generator.integers(size)) for size, lost in zip(SIZES, pattern, strict=True)]
        for pattern in patterns
    ]
    expected = [
        joint[tuple(slice(None) if code == size else code for code, size in zip(row, SIZES, strict=True))].sum()
        for row in rows
    ]
    codes, found = _run(parents, starts, chances, rows)
    np.testing.assert_allclose(found, np.log(expected), rtol=1e-12, atol=1e-12)
    for before, after in zip(rows, codes.tolist(), strict=True):
        for old, new, size in zip(before, after, SIZES, strict=True):
            assert new == old if old < size else new < size


@pytest.mark.parametrize("name", FORESTS)
@pytest.mark.parametrize("pattern", [(0, 1, 1, 0, 1), (1, 1, 1, 1, 1), (0, 0, 1, 0, 0), (1, 0, 1, 1, 0)])
def test_draws_have_the_probabilities_of_the_joint_states_given_what_is_seen(
    name: str, pattern: tuple[int, ...]
) -> None:
    parents, generator = FORESTS[name], np.random.default_rng(5)
    tables, starts, chances = _forest(parents, generator)
    row = [size if lost else size - 1 for size, lost in zip(SIZES, pattern, strict=True)]
    seen = tuple(slice(None) if lost else size - 1 for size, lost in zip(SIZES, pattern, strict=True))
    given = _joint(parents, tables)[seen]
    given /= given.sum()
    draws = 40_000
    codes, _ = _run(parents, starts, chances, [row] * draws)
    lost = [column for column, each in enumerate(pattern) if each]
    counted = np.zeros(given.shape)
    np.add.at(counted, tuple(codes[:, column] for column in lost), 1.0)
    spread = np.sqrt(given * (1.0 - given) / draws)
    assert (np.abs(counted / draws - given) <= 4.5 * spread + 1e-4).all()


def test_a_long_row_does_not_underflow() -> None:
    """Two thousand columns, each seen value with a chance of 1e-3: the product is e^-13800."""
    columns = 2_000
    values, parents = np.full(columns, 2), np.full(columns, 0)
    parents[0] = -1
    chances = np.tile([1e-3, 1.0 - 1e-3, 2e-3, 1.0 - 2e-3], columns)
    codes = np.zeros((1, columns), dtype=np.uint16)
    codes[0, 0] = 2
    found = np.empty(1)
    chances[:2] = 0.5
    forest_cells.complete_rows(
        codes, values, np.arange(columns), parents, 4 * np.arange(columns), chances, np.array([1], np.uint64), found
    )
    expected = np.logaddexp((columns - 1) * np.log(1e-3), (columns - 1) * np.log(2e-3)) + np.log(0.5)
    assert found[0] == pytest.approx(expected, rel=1e-12)
    assert codes[0, 0] == 1
