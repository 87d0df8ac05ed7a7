"""Tables and columns for the tests of the GPU, and what its figures are compared with."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from credimi.core.tables import Tables

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from credimi.inference.tables.pair_figures import PairFigures

# How far the GPU may be from the CPU: in P and in nats, and in the log Bayes factor relative to its size.
TOLERANCE = {"p_independent": 1e-8, "mi": 1e-11, "low": 1e-10, "high": 1e-10, "p_above": 1e-8, "complete": 0.0}
ORDER = ("p_independent", "mi", "low", "high", "p_above", "log_evidence", "complete")


def assert_near(found: dict[str, NDArray[np.float64]], expected: PairFigures) -> None:
    for name, most in TOLERANCE.items():
        np.testing.assert_allclose(found[name], getattr(expected, name), rtol=0.0, atol=most, err_msg=name)
    np.testing.assert_allclose(found["log_evidence"], expected.log_evidence, rtol=1e-7, atol=1e-7)


def random_tables(missing: str, count: int, seed: int = 0) -> Tables:
    """Tables of all shapes from 2 x 2 to 12 x 12, of 30 to 300,000 rows, with values missing on some sides."""
    rng = np.random.default_rng(seed)
    blocks = []
    for number in range(count):
        r, s = rng.integers(2, 13, 2) if number % 2 else rng.integers(2, 4, 2)
        chances = np.outer(rng.dirichlet(np.full(r, 3.0)), rng.dirichlet(np.full(s, 3.0)))
        if number % 3:
            chances = rng.dirichlet(rng.choice([3.0, 300.0]) * chances.ravel() + 1e-3).reshape(r, s)
        share = rng.choice([0.02, 0.1, 0.3])
        rows_lost = share if "target" in missing else 0.0
        columns_lost = share if "feature" in missing else 0.0
        counted = rng.multinomial(int(10 ** rng.uniform(1.5, 5.5)), chances.ravel() / chances.sum()).reshape(r, s)
        fates = [(1 - rows_lost) * (1 - columns_lost), (1 - rows_lost) * columns_lost, rows_lost * (1 - columns_lost)]
        parts = np.moveaxis(rng.multinomial(counted, [*fates, rows_lost * columns_lost]), -1, 0)
        block = np.zeros((r + 1, s + 1))
        block[:-1, :-1], block[:-1, -1], block[-1, :-1] = parts[0], parts[1].sum(axis=1), parts[2].sum(axis=0)
        blocks.append(block)
    sizes = np.array([block.shape for block in blocks])
    return Tables(np.concatenate([block.ravel() for block in blocks]), sizes[:, 0] - 1, sizes[:, 1] - 1)


def random_columns(rows: int, values: list[int], missing: list[float], seed: int = 0) -> list[NDArray[np.uint8]]:
    """Columns that have a hidden one in common, as codes."""
    rng = np.random.default_rng(seed)
    hidden = rng.integers(0, 60, rows)
    columns = []
    for size, share in zip(values, missing, strict=True):
        own = np.searchsorted(np.cumsum(rng.dirichlet(np.full(size, 3.0)))[:-1], rng.random(rows))
        own = np.where(rng.random(rows) < rng.choice([0.0, 0.02, 0.1, 0.5, 0.9]), hidden % size, own)
        own[rng.random(rows) < share] = size
        columns.append(own.astype(np.uint8))
    return columns
