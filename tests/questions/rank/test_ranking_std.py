"""The deviation that `rank` tells is that of the law whose interval it tells."""

from __future__ import annotations

import math

import numpy as np
import pytest

import credimi
from credimi.core.tables import Tables
from credimi.inference.belief import Belief
from credimi.inference.tables.many_tables import summarize

# Cells with next to no count, for which the leading order of the variance is far beyond that of any law on [0, log 2].
TABLES = [
    credimi.Table.of([[0, 6, 8], [0, 7, 0]], feature_only=[8, 7, 7]),
    credimi.Table.of([[3, 0], [0, 3], [1, 3], [0, 0]], target_only=[1, 0, 3, 3]),
    credimi.Table.of([[0, 0, 3], [0, 0, 0]]),
    credimi.Table.of([[10, 2], [3, 15]]),
]


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("approximation", ["matched", "leading", "leading-beta"])
@pytest.mark.parametrize("prior", [1e-9, 1e-3, 0.5, "adaptive"])
def test_std_is_that_of_the_law(table: credimi.Table, approximation: str, prior: str | float) -> None:
    law = credimi.mutual_information(table, prior=prior, approximation=approximation)
    found = summarize(Tables.of([table.block()]), Belief(prior=prior, approximation=approximation))
    np.testing.assert_allclose(found.std[0], law.std(), rtol=1e-9)
    if approximation == "leading-beta":
        assert found.std[0] <= math.log(2.0) / 2.0
