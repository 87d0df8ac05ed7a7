"""Mean and interval given that a feature tells anything: the posterior without its atom at 0."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from page_helpers import data_of, node, table
from scipy import optimize, stats

from credimi import Counts, Distribution, count, mutual_information, rank
from credimi.cli import main
from credimi.core.tables import Tables
from credimi.inference.belief import Belief
from credimi.inference.tables.many_tables import summarize

NAMES = ("mi_if_dependent", "low_if_dependent", "high_if_dependent")


@pytest.fixture(scope="module")
def counts() -> Counts:
    return count(table(25, seed=3) | {"constant": ["x"] * 300, "id": [f"row {row}" for row in range(300)]}, "class")


def dense(law: Distribution, level: float) -> tuple[float, float, float]:
    """By scipy: the Betas of the mixture one by one, their weights divided by P(I > 0), the quantiles by bisection."""
    weights = np.array(law.weights) / (1.0 - law.p_zero)
    upper = law.components[0].upper
    parts = [stats.beta(part.alpha, part.beta, scale=upper) for part in law.components]

    def quantile(p: float) -> float:
        def excess(x: float) -> float:
            return sum(weight * part.cdf(x) for weight, part in zip(weights, parts, strict=True)) - p

        return float(optimize.brentq(excess, 0.0, upper, xtol=1e-15, rtol=1e-13))

    mean = sum(weight * part.mean() for weight, part in zip(weights, parts, strict=True))
    return mean, quantile(0.5 - level / 2), quantile(0.5 + level / 2)


@pytest.mark.parametrize("level", [0.5, 0.95])
def test_they_are_those_of_the_mixture_without_its_atom(counts: Counts, level: float) -> None:
    atoms = []
    for row in rank(counts, level=level):
        if row["note"] in ("categories", ""):
            law = mutual_information(counts[row["feature"]])
            assert [row[name] for name in NAMES] == pytest.approx(dense(law, level), rel=1e-8, abs=1e-14)
            atoms.append(law.p_zero)
    assert min(atoms) < 1e-3
    assert max(atoms) > 0.5


@pytest.mark.long
@pytest.mark.parametrize("approximation", ["matched", "leading", "leading-beta", "sampled"])
def test_without_an_atom_they_are_the_same(counts: Counts, approximation: str) -> None:
    ranking = rank(counts, prior="jeffreys", approximation=approximation)
    for name in NAMES:
        assert ranking.columns[name] == pytest.approx(
            ranking.columns[name.removesuffix("_if_dependent")], rel=1e-12, nan_ok=True
        )


@pytest.mark.long
def test_draws_and_normal_laws_have_them_too() -> None:
    counts = count(table(8, seed=3), "class")
    for approximation in ("leading", "sampled"):
        for row in rank(counts, approximation=approximation):
            if row["note"] == "categories" and row["p_independent"] > 0.2:
                law = mutual_information(counts[row["feature"]], approximation=approximation, random_state=0)
                rest = Distribution.mixture(law.components, [each / sum(law.weights) for each in law.weights])
                expected = [rest.mean(), *rest.interval(0.95)]
                assert [row[name] for name in NAMES] == pytest.approx(expected, rel=1e-7, abs=1e-12)
                assert row["mi_if_dependent"] > row["mi"]


def test_odds_do_not_change_them() -> None:
    """However small: P(independent) is then 1 to the last digit, and what is left of the weights still says it."""
    block = np.array([[20.0, 12.0, 0.0], [11.0, 18.0, 0.0], [0.0, 0.0, 0.0]])
    even = summarize(Tables.of([block]), Belief())
    for odds in (1e-3, 1e-14):
        other = summarize(Tables.of([block], [odds]), Belief())
        assert other.mean_if_dependent == pytest.approx(even.mean_if_dependent, rel=1e-8)
        assert other.low_if_dependent == pytest.approx(even.low_if_dependent, rel=1e-8)
        assert other.high_if_dependent == pytest.approx(even.high_if_dependent, rel=1e-8)


def test_what_cannot_be_known_is_none() -> None:
    """Of 12,000 values, each as often in both classes, no strength of dependence keeps a weight."""
    values = np.repeat(np.arange(12_000), 4).astype(str)
    ranking = rank({"f": values, "constant": ["x"] * values.size, "y": ["a", "b"] * (values.size // 2)}, "y")
    row = ranking["f"]
    assert row["p_independent"] == 1.0
    assert all(math.isnan(row[name]) for name in NAMES)
    assert all(ranking.to_dict()["features"][0][name] is None for name in NAMES)
    assert [ranking["constant"][name] for name in NAMES] == [0.0, 0.0, 0.0]


def test_they_are_written_wherever_a_ranking_is(counts: Counts, tmp_path: Any, capsys: Any) -> None:  # noqa: ANN401
    ranking = rank(counts)
    assert set(NAMES) <= set(ranking.to_arrow().column_names)
    assert ranking.to_pandas()[list(NAMES)].dtypes.astype(str).tolist() == ["float64"] * 3
    counts.save(tmp_path / "counts.cmi")
    assert main(["rank", str(tmp_path / "counts.cmi"), "--format", "json"]) == 0
    (first, *_) = json.loads(capsys.readouterr().out)["features"]
    assert [first[name] for name in NAMES] == [ranking.columns[name][0] for name in NAMES]
    assert main(["rank", str(tmp_path / "counts.cmi"), "--format", "json", "--units", "bits"]) == 0
    (bits, *_) = json.loads(capsys.readouterr().out)["features"]
    assert [bits[name] * math.log(2.0) for name in NAMES] == pytest.approx([first[name] for name in NAMES], rel=1e-12)
    assert main(["rank", str(tmp_path / "counts.cmi"), "--format", "csv"]) == 0
    (head, *_) = [line for line in capsys.readouterr().out.splitlines() if not line.startswith("#")]
    assert set(NAMES) <= set(head.split(","))


@pytest.mark.parametrize("approximation", ["matched", "leading"])
def test_the_page_has_them_for_any_level(counts: Counts, approximation: str) -> None:
    data = data_of(rank(counts, approximation=approximation))
    program = (
        "const laws = lawsOf(data.laws); return [0.5, 0.95, 0.99].map((level) => "
        "data.features.name.map((_, feature) => intervalIfDependent(data, laws, feature, level)));"
    )
    for level, found in zip((0.5, 0.95, 0.99), node(program, data), strict=True):
        expected = rank(counts, level=level, approximation=approximation)
        for ends, row in zip(found, expected, strict=True):
            if row["values"] > 1 and row["verdict"] != "not ranked":
                assert ends == pytest.approx([row[NAMES[1]], row[NAMES[2]]], rel=1e-5, abs=1e-9)
