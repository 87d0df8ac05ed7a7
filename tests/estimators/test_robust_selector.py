"""`CredibleSelector(robust_factor=...)`, `credimi select --robust-factor`: only what stands at the factor is kept."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

pytest.importorskip("sklearn")

from sklearn.base import clone

from credimi import CredibleSelector, CredimiError, IncrementalNaiveBayes, count, rank
from credimi.cli import main

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def data() -> tuple[Any, Any]:
    """Columns that tell ever less, some of them with missing values."""
    generator, rows = np.random.default_rng(0), 2_000
    y = generator.integers(0, 2, rows)
    x = np.empty((rows, 6), dtype=object)
    for column, (share, missing) in enumerate(
        [(0.8, 0.1), (0.3, 0.3), (0.15, 0.3), (0.3, 0.0), (0.0, 0.2), (0.2, 0.02)]
    ):
        values = np.where(generator.random(rows) < share, y, generator.integers(0, 3, rows)).astype(object)
        values[generator.random(rows) < missing] = None
        x[:, column] = values
    return x, y


@pytest.mark.parametrize("factor", [1.0, 1.5, 3.0, math.inf])
def test_keeps_what_stands(data: tuple[Any, Any], factor: float) -> None:
    x, y = data
    ranking = rank(x, y, robust_factor=2)
    stands = {row["feature"] for row in ranking if row["verdict"] == "keep" and row["tipping_factor"] >= factor}
    selector = CredibleSelector(robust_factor=factor).fit(x, y)
    assert set(np.flatnonzero(selector.get_support())) == {int(name.split()[-1]) for name in stands}
    assert "tipping_factor" in selector.ranking_.columns
    again = clone(selector).partial_fit(x[:1000], y[:1000]).partial_fit(x[1000:], y[1000:])
    assert again.get_support().tolist() == selector.get_support().tolist()
    assert CredibleSelector.from_counts(count(x, y), robust_factor=factor).get_support().tolist() == (
        selector.get_support().tolist()
    )


def test_less_is_kept_at_a_larger_factor(data: tuple[Any, Any]) -> None:
    kept = [CredibleSelector(robust_factor=factor).fit(*data).get_support() for factor in (None, 1, 1.5, 3, math.inf)]
    assert kept[0].tolist() == kept[1].tolist()
    for before, after in itertools.pairwise(kept):
        assert not (after & ~before).any()
    assert 0 < kept[-1].sum() < kept[0].sum()


def test_naive_bayes_uses_what_stands(data: tuple[Any, Any]) -> None:
    x, y = data
    model = IncrementalNaiveBayes(selector=CredibleSelector(robust_factor=3.0)).fit(x, y)
    assert model.predict(x[:5]).shape == (5,)


@pytest.mark.parametrize("factor", [0.5, math.nan, "x"])
def test_bad_factors_are_refused(data: tuple[Any, Any], factor: float) -> None:
    with pytest.raises(CredimiError, match="robust_factor is"):
        CredibleSelector(robust_factor=factor).fit(*data)
    with pytest.raises(CredimiError, match="robust_factor"):
        CredibleSelector("distinct", robust_factor=2.0).fit(*data)


def test_the_command_keeps_what_stands(
    data: tuple[Any, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    x, y = data
    path, out = tmp_path / "data.csv", tmp_path / "out.csv"
    lines = [",".join("" if value is None else f"v{value}" for value in row) for row in x]
    text = "\n".join(f"{line},c{own}" for line, own in zip(lines, y, strict=True))
    path.write_text("a,b,c,d,e,f,y\n" + text + "\n")
    command = ["select", str(path), "--target", "y", "--output", str(out), "--rule", "forward"]
    assert main([*command, "--robust-factor", "3"]) == 0
    names = out.read_text().split("\n", 1)[0].split(",")
    kept = CredibleSelector(robust_factor=3.0).fit(x, y).get_support()
    assert names == [*("abcdef"[place] for place in np.flatnonzero(kept)), "y"]
    assert main([*command, "--robust-factor", "0.3"]) == 2
    assert "--robust-factor is 0.3" in capsys.readouterr().err
    assert main([*command[:-1], "distinct", "--robust-factor", "2"]) == 2
    assert "is for the rules" in capsys.readouterr().err
