"""rule="relevant": columns that matter alone or with a partner, among many that do not."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import make_classification

import credimi

Columns = dict[str, list[str | None]]


def clusters(seed: int, columns: int, rows: int, missing: float = 0.0) -> tuple[Columns, list[str]]:
    """As Madelon: clusters on the corners of a cube, 20 columns that show them in part, and noise; ten values each."""
    numbers, target = make_classification(
        rows,
        columns,
        n_informative=5,
        n_redundant=10,
        n_repeated=5,
        n_clusters_per_class=16,
        class_sep=2.0,
        flip_y=0.01,
        shuffle=False,
        random_state=seed,
    )
    low, high = numbers.min(axis=0), numbers.max(axis=0)
    codes = np.minimum((10 * (numbers - low) / (high - low)).astype(int), 9)
    gone = np.random.default_rng(seed).random(codes.shape) < missing
    table = {
        f"x{number:03d}": [None if lost else f"v{code}" for code, lost in zip(own, its, strict=True)]
        for number, (own, its) in enumerate(zip(codes.T.tolist(), gone.T.tolist(), strict=True))
    }
    return table, [f"c{each}" for each in target.tolist()]


def found(names: tuple[str, ...]) -> tuple[int, int]:
    """How many of the 20 relevant columns, and how many others."""
    right = sum(int(name[1:]) < 20 for name in names)
    return right, len(names) - right


@pytest.mark.parametrize(("missing", "least"), [(0.0, 19), (0.3, 18)])
def test_relevant_columns_among_noise(missing: float, least: int) -> None:
    table, target = clusters(1, 80, 2_000, missing)
    right, false = found(credimi.select(table, target, rule="relevant").features)
    assert right >= least
    assert false <= 1
    assert len(credimi.rank(table, target).selected("forward")) < 15  # alone many of them tell nothing


@pytest.mark.slow
@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("seed", range(3))
def test_relevant_columns_among_480_of_noise(seed: int, missing: float) -> None:
    table, target = clusters(seed, 500, 2_000, missing)
    right, false = found(credimi.select(table, target, rule="relevant").features)
    assert right >= (18 if missing else 19)
    assert false <= 1


def test_weights_of_one_and_threads_change_nothing() -> None:
    table, target = clusters(0, 24, 600, 0.2)
    plain = credimi.select(table, target, rule="relevant", threads=1)
    assert credimi.select(table, target, rule="relevant", threads=4).to_dict() == plain.to_dict()
    weighted = credimi.select(table, target, rule="relevant", weights=[1.0] * 600)
    assert weighted.features == plain.features
    pairs = [
        (one.p_adds, other.p_adds, one.partner == other.partner)
        for one, other in zip(weighted.steps, plain.steps, strict=True)
    ]
    assert all(one == pytest.approx(other) and same for one, other, same in pairs)


def test_two_columns_and_one_and_one_class() -> None:
    generator = np.random.default_rng(0)
    one, two = generator.integers(0, 2, (2, 400))
    data = {"one": [f"a{v}" for v in one], "two": [f"b{v}" for v in two], "y": [f"c{v}" for v in one ^ two]}
    chosen = credimi.select(data, "y", rule="relevant")
    assert {step.feature: step.partner for step in chosen.steps} == {"one": "two", "two": "one"}
    assert credimi.select(data, "y", rule="relevant", features=["one"]).features == ()


def test_a_column_that_matters_alone_has_no_partner() -> None:
    """It tells more where the sign is "+"; the sign matters by way of the column alone."""
    generator = np.random.default_rng(5)
    y, sign = generator.integers(0, 2, (2, 2_000))
    column = y ^ (generator.random(2_000) < np.where(sign, 0.1, 0.4))
    table = {"sign": [f"{'-+'[v]}" for v in sign], "column": [f"a{v}" for v in column], "y": [f"c{v}" for v in y]}
    chosen = credimi.select(table, "y", rule="relevant")
    assert {step.feature: step.partner for step in chosen.steps} == {"column": None, "sign": "column"}
    assert "`with` names a partner without which that is not credible" in " ".join(str(chosen).split())


def test_noise_is_said_to_tell_nothing_alone_though_a_partner_cannot_be_ruled_out() -> None:
    generator = np.random.default_rng(0)
    target = generator.integers(0, 2, 1_000)
    data = {f"noise{number}": [f"v{value}" for value in generator.integers(0, 3, 1_000)] for number in range(20)}
    data["tells"] = [f"v{value}" for value in np.where(generator.random(1_000) < 0.5, target, 0)]
    chosen = credimi.select(data | {"y": [f"c{value}" for value in target]}, "y", rule="relevant")
    assert chosen.features == ("tells",)
    reasons = [each.reason for each in chosen.rejected]
    assert reasons.count("tells nothing alone") >= 15
    assert "tells nothing alone" in repr(chosen)
