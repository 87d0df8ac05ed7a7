"""How many rows a table of survey weights is worth, against derivatives that are taken numerically, row by row."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from credimi.core.tables import Tables
from credimi.counts.survey import one_sided
from credimi.counts.survey.survey_rows import _sums, own_rows, scaled, scaled_blocks

if TYPE_CHECKING:
    from credimi.core.types import FloatArray

PATTERNS = ["complete", "no feature", "no target", "both"]
SHAPES = [(2, 2), (3, 4), (4, 2)]


def fitted(block: FloatArray) -> FloatArray:
    """The cell probabilities by the paper's fixed point, iterated until nothing changes."""
    joint, target_only, feature_only = block[:-1, :-1], block[:-1, -1], block[-1, :-1]
    total = joint.sum() + target_only.sum() + feature_only.sum()
    p = np.full(joint.shape, 1.0 / joint.size)
    for _ in range(20_000):
        new = joint + target_only[:, None] * p / p.sum(axis=1, keepdims=True) + feature_only * p / p.sum(axis=0)
        new /= total
        if np.abs(new - p).max() < 1e-16:
            break
        p = new
    return p


def information(p: FloatArray) -> float:
    return float((p * np.log(p / np.outer(p.sum(axis=1), p.sum(axis=0)))).sum())


def derivatives(block: FloatArray, of: object) -> FloatArray:
    """The derivative of a function of the fitted probabilities by the weight of each cell and margin, times T."""
    total, found = block.sum(), {}
    for cell in np.argwhere(block > 0.0):
        step = np.zeros_like(block)
        step[tuple(cell)] = 1e-4 * total
        above, below = (of(fitted(block + sign * step)) for sign in (1.0, -1.0))  # type: ignore[operator]
        found[tuple(cell)] = (above - below) / 2e-4
    return found  # type: ignore[return-value]


def weighted_table(pattern: str, shape: tuple[int, int], seed: int) -> tuple[FloatArray, FloatArray]:
    """Sums of weights and of their squares, as blocks."""
    generator = np.random.default_rng(seed)
    block = np.zeros((shape[0] + 1, shape[1] + 1))
    block[:-1, :-1] = generator.gamma(2.0, 50.0, shape)
    if pattern in ("no feature", "both"):
        block[:-1, -1] = generator.gamma(2.0, 20.0, shape[0])
    if pattern in ("no target", "both"):
        block[-1, :-1] = generator.gamma(2.0, 20.0, shape[1])
    return block, block * generator.gamma(2.0, 1.0, block.shape)


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("shape", SHAPES)
def test_the_variance_of_i_is_the_sandwich_of_numerical_derivatives(pattern: str, shape: tuple[int, int]) -> None:
    block, squares = weighted_table(pattern, shape, 1)
    psi = derivatives(block, information)
    figures = _sums(Tables.of([block]), squares.ravel())[0]
    for name, cells in ((one_sided.WEIGHTS, block), (one_sided.SQUARES, squares)):
        expected = sum(cells[cell] * each**2 for cell, each in psi.items())
        assert figures[name] == pytest.approx(expected, rel=2e-4)
    assert figures[one_sided.SQUARES_ONCE] == pytest.approx(
        sum(squares[cell] * each for cell, each in psi.items()), rel=1e-3, abs=1e-6 * squares.sum()
    )
    assert figures[one_sided.INFORMATION] == pytest.approx(information(fitted(block)), rel=1e-3)


def independent_table(pattern: str, shape: tuple[int, int]) -> FloatArray:
    """A table whose fitted probabilities are independent; where values are missing by the other column."""
    generator = np.random.default_rng(7)
    p = np.outer(*(generator.dirichlet(np.full(size, 5.0)) for size in shape))
    no_feature = generator.uniform(0.1, 0.5, shape[0]) * (pattern in ("no feature", "both"))
    no_target = generator.uniform(0.1, 0.4, shape[1]) * (pattern in ("no target", "both"))
    block = np.zeros((shape[0] + 1, shape[1] + 1))
    block[:-1, :-1] = 1e3 * p * (1.0 - no_feature[:, None] - no_target)
    block[:-1, -1], block[-1, :-1] = 1e3 * p.sum(axis=1) * no_feature, 1e3 * p.sum(axis=0) * no_target
    return block


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("shape", SHAPES)
def test_the_mean_of_i_near_independence_is_that_of_its_second_derivatives(
    pattern: str, shape: tuple[int, int]
) -> None:
    block = independent_table(pattern, shape)
    squares = block * np.random.default_rng(8).gamma(2.0, 1.0, block.shape)
    p = fitted(block)
    by_class, by_value = p.sum(axis=1), p.sum(axis=0)

    def quadratic(direction: FloatArray) -> float:
        """Twice the second-order term of I at independence."""
        rows, columns = direction.sum(axis=1), direction.sum(axis=0)
        return float((direction**2 / p).sum() - (rows**2 / by_class).sum() - (columns**2 / by_value).sum())

    moved = derivatives(block, lambda fit: fit)
    figures = _sums(Tables.of([block]), squares.ravel())[0]
    total = figures[one_sided.TOTAL]
    expected = sum(squares[cell] * quadratic(each) for cell, each in moved.items()) / total
    # with both missing, the formula leaves out what is of the order of the product of the two shares, here up to .2
    assert figures[one_sided.NULL_SQUARES] == pytest.approx(expected, rel=0.1 if pattern == "both" else 1e-4)
    plain = sum(block[cell] * quadratic(each) for cell, each in moved.items()) / total
    assert figures[one_sided.INFLATED] == pytest.approx(plain, rel=0.1 if pattern == "both" else 1e-4)
    assert figures[one_sided.FREEDOM] == (shape[0] - 1) * (shape[1] - 1)


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("shape", SHAPES)
def test_repeated_rows_are_so_many_rows_and_units_do_not_matter(pattern: str, shape: tuple[int, int]) -> None:
    block, squares = weighted_table(pattern, shape, 2)
    tables = Tables.of([block])
    rows, weights = own_rows(tables, block.ravel())
    assert rows == pytest.approx(weights, rel=1e-12)
    assert scaled(tables, block.ravel()).flat == pytest.approx(tables.flat, rel=1e-12)
    rows = own_rows(tables, squares.ravel())[0]
    in_other_units = own_rows(Tables.of([block * 37.0]), squares.ravel() * 37.0**2)[0]
    assert in_other_units == pytest.approx(rows, rel=1e-9)
    transposed = own_rows(Tables.of([block.T.copy()]), squares.T.ravel())[0]
    assert transposed == pytest.approx(rows, rel=1e-6)


def test_equal_weights_are_worth_their_rows() -> None:
    block, _ = weighted_table("both", (3, 3), 3)
    counted = np.rint(block)
    rows, _ = own_rows(Tables.of([0.3 * counted]), (0.09 * counted).ravel())
    assert rows == pytest.approx(counted.sum(), rel=1e-12)


def test_many_tables_are_scaled_as_each_alone() -> None:
    cases = [weighted_table(pattern, shape, number) for number, pattern in enumerate(PATTERNS) for shape in SHAPES]
    blocks, squares = [block for block, _ in cases], [each for _, each in cases]
    for index, block in enumerate(scaled_blocks(blocks, squares)):
        alone = scaled(Tables.of([blocks[index]]), squares[index].ravel()).block(0)
        assert block == pytest.approx(alone, rel=1e-12)
    kept = scaled_blocks(blocks, [None, *squares[1:]])
    assert kept[0] is blocks[0]


def test_strata_have_one_number_that_leaves_their_shares() -> None:
    first, second = weighted_table("no feature", (3, 4), 4), weighted_table("no feature", (3, 4), 5)
    tables, starts = Tables.of([first[0], second[0]]), np.array([0, 2])
    squares = np.concatenate([first[1].ravel(), second[1].ravel()])
    found = scaled(tables, squares, starts)
    factors = found.flat[tables.flat > 0.0] / tables.flat[tables.flat > 0.0]
    assert factors == pytest.approx(factors[0], rel=1e-12)
    assert own_rows(tables, tables.flat, starts)[0] == pytest.approx(tables.flat.sum(), rel=1e-12)
    single = own_rows(Tables.of([first[0]]), first[1].ravel(), np.array([0, 1]))[0]
    assert single == pytest.approx(own_rows(Tables.of([first[0]]), first[1].ravel())[0], rel=1e-12)


def test_i_given_strata_has_the_sandwich_variance_of_numerical_derivatives() -> None:
    cases = [weighted_table("complete", (3, 4), seed) for seed in (4, 5, 6)]
    joint = np.array([block[:-1, :-1] for block, _ in cases])
    squares = np.array([each[:-1, :-1] for _, each in cases])

    def given(cells: FloatArray) -> float:
        shares = cells.sum(axis=(1, 2)) / cells.sum()
        return float(sum(share * information(each / each.sum()) for share, each in zip(shares, cells, strict=True)))

    expected = dict.fromkeys(("W", "Q"), 0.0)
    for cell in np.ndindex(joint.shape):
        step = np.zeros_like(joint)
        step[cell] = 1e-5 * joint.sum()
        psi = (given(joint + step) - given(joint - step)) / 2e-5
        expected["W"] += joint[cell] * psi**2
        expected["Q"] += squares[cell] * psi**2
    # a table of strong dependence and very many rows: only the sandwich matters then
    factor = 1e7
    tables = Tables.of([block * factor for block, _ in cases])
    flat = np.concatenate([each.ravel() for _, each in cases]) * factor
    rows, weights = own_rows(tables, flat, np.array([0, 3]))
    assert rows / weights == pytest.approx(expected["W"] / expected["Q"], rel=1e-4)


@pytest.mark.parametrize("empty", ["cell", "row", "table", "class without a complete row"])
def test_empty_cells_and_tables_have_a_number_of_rows(empty: str) -> None:
    for pattern in PATTERNS:
        block, squares = weighted_table(pattern, (3, 3), 9)
        where = {"cell": np.s_[0, 0], "row": np.s_[0], "table": np.s_[:], "class without a complete row": np.s_[0, :-1]}
        block[where[empty]] = squares[where[empty]] = 0.0
        rows, weights = own_rows(Tables.of([block]), squares.ravel())
        assert np.isfinite(rows).all()
        assert np.isfinite(rows / weights).all()
        same, _ = own_rows(Tables.of([block]), block.ravel())
        assert same == pytest.approx(block.sum() if empty != "table" else same, rel=1e-9)
