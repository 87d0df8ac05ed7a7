"""The interval with an atom is one rule, whether it is asked of one distribution or of many tables at once."""

import math
import re
from pathlib import Path

import mpmath
import numpy as np
import pytest

import credimi
from credimi.core.special import stirling_error
from credimi.core.tables import Tables
from credimi.inference.belief import Belief
from credimi.inference.distributions import distribution
from credimi.inference.distributions.interval import credible_interval
from credimi.inference.tables import many_tables
from credimi.inference.tables.many_tables import summarize

SOURCES = Path(credimi.__file__).parent


def asked(level: float, p_zero: float, low: float, below: float = 0.0) -> tuple[float, float]:
    """The masses below and above that the rule asks quantiles for, the lower one being `low`."""
    masses: list[float] = []

    def quantile(mass: float) -> float:
        masses.append(float(mass))
        return low

    credible_interval(level, p_zero, with_below=quantile, with_above=quantile, below_zero=lambda: below)
    return masses[0], masses[1]


def test_which_masses_are_asked() -> None:
    assert asked(0.9, 0.0, 0.1) == pytest.approx((0.05, 0.05))
    assert asked(0.9, 0.0, 0.0) == pytest.approx((0.05, 0.05))  # no atom
    assert asked(0.9, 0.02, 0.1) == pytest.approx((0.05, 0.05))  # it lies below the interval
    assert asked(0.9, 0.5, 0.0) == pytest.approx((0.05, 0.1))
    assert asked(0.9, 0.5, 0.0, 0.03) == pytest.approx((0.05, 0.07))
    assert asked(0.9, 0.5, 0.0, -1e-17) == pytest.approx((0.05, 0.1))  # rounding


def test_one_distribution_and_many_tables_ask_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    """A rule that leaves nothing outside makes both as wide as they can be."""

    def rule(_level: float, _p_zero: object, **quantile: object) -> object:
        return credible_interval(1.0 - 1e-6, 0.0, **quantile)  # type: ignore[arg-type]

    block = np.array([[20.0, 12.0, 3.0], [11.0, 18.0, 0.0], [0.0, 0.0, 0.0]])
    for module in (distribution, many_tables):
        monkeypatch.setattr(module, "credible_interval", rule)
    law = credimi.mutual_information(block[:-1, :-1], target_only=block[:-1, -1])
    found = summarize(Tables.of([block]), Belief())
    expected = law.ppf(5e-7), law.isf(5e-7)
    assert law.interval(0.5) == pytest.approx(expected, rel=1e-6)
    assert (found.low[0], found.high[0]) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("approximation", ["matched", "leading", "leading-beta"])
@pytest.mark.parametrize("level", [0.3, 0.5, 0.9, 0.99])
def test_with_an_atom_it_holds_what_it_says(approximation: str, level: float) -> None:
    for shift in (0, 3, 6, 12):
        block = np.array([[15.0 + shift, 14.0, 2.0], [13.0, 16.0 + shift, 0.0], [0.0, 0.0, 0.0]])
        law = credimi.mutual_information(block[:-1, :-1], target_only=block[:-1, -1], approximation=approximation)
        low, high = law.interval(level)
        found = summarize(Tables.of([block]), Belief(approximation=approximation, level=level))
        assert (found.low[0], found.high[0]) == pytest.approx((low, high), rel=1e-8, abs=1e-12)
        held = law.cdf(high) - law.cdf(math.nextafter(low, -math.inf))
        assert held >= level - 1e-9
        if law.p_zero < level:  # an atom of more is held alone, and is more than was asked for
            assert held == pytest.approx(level, abs=1e-6)


def test_stirlings_error() -> None:
    x = np.array([1e-3, 0.5, 1.0, 19.999, 20.0, 20.001, 1e3, 1e9])
    with mpmath.workdps(40):
        exact = [
            float(mpmath.loggamma(v) - (mpmath.mpf(v) - 0.5) * mpmath.log(v) + v - mpmath.log(2 * mpmath.pi) / 2)
            for v in x.tolist()
        ]
    np.testing.assert_allclose(stirling_error(x), exact, rtol=1e-9, atol=1e-13)


def test_the_series_is_written_once() -> None:
    """Besides the compiled one, which cannot be called with arrays."""
    series = re.compile(r"1\.0 / 360\.0|_STIRLING = ")
    own = [path for path in SOURCES.rglob("*.py") if series.search(path.read_text())]
    assert sorted(path.relative_to(SOURCES).as_posix() for path in own) == [
        "core/special.py",
        "inference/special_functions.py",
    ]
