"""How many times as many rows decide about a change: at least half of all samples do, and not far more."""

from __future__ import annotations

import math

import numpy as np
import pytest

import credimi
from credimi.core.tables import Tables
from credimi.inference.evidence import adaptive_prior
from credimi.inference.tables.many_tables import summary_of
from credimi.questions.compare.answer import samples_of
from credimi.questions.compare.change_forecast import growth_to_decide
from credimi.questions.compare.change_records import CompareOptions, record

OPTIONS = CompareOptions(epsilon=0.003, p_same=0.95)
ROWS, PAIRS = 1_000, 400


def tables(cells: np.ndarray) -> Tables:
    blocks = np.zeros((len(cells), 3, 3))
    blocks[:, :2, :2] = cells
    return Tables(blocks.ravel(), np.full(len(cells), 2), np.full(len(cells), 2))


def rows_of(first: np.ndarray, second: np.ndarray) -> list[dict[str, object]]:
    samples = samples_of([tables(first), tables(second)], OPTIONS)
    summaries = [
        summary_of(posteriors, upper, np.full(upper.size, np.nan), OPTIONS, if_dependent=False)
        for posteriors, upper in zip(samples.posteriors, samples.upper, strict=True)
    ]
    figures = [
        [{name: getattr(each, name)[pair].item() for name in ("mean", "low", "high")} for each in summaries]
        for pair in range(len(first))
    ]
    return [record({}, *own, change, OPTIONS) for own, change in zip(figures, OPTIONS.changes(samples), strict=True)]


def chances(generator: np.random.Generator) -> np.ndarray:
    """As the adaptive prior has them: half of them independent, the others of all strengths."""
    classes, values = (generator.dirichlet(np.full(2, 5.0), PAIRS) for _ in range(2))
    independent = classes[:, :, np.newaxis] * values[:, np.newaxis, :]
    tightest = adaptive_prior.TIGHTEST * ROWS * 2
    strength = np.exp(generator.uniform(np.log(adaptive_prior.LOOSEST), np.log(tightest), (PAIRS, 1, 1)))
    found = generator.standard_gamma(np.maximum(strength * independent, 1e-8))
    chosen = generator.random(PAIRS) < adaptive_prior.P_ZERO
    found[chosen] = independent[chosen]
    return np.asarray(found / found.sum(axis=(1, 2), keepdims=True))


def drawn(generator: np.random.Generator, p: np.ndarray, rows: np.ndarray) -> np.ndarray:
    return np.array(
        [generator.multinomial(int(n), each.ravel()).reshape(2, 2) for n, each in zip(rows, p, strict=True)]
    )


def test_as_many_samples_decide_as_is_said() -> None:
    """On the safe side: .51, .68 and .76 of some 150 pairs in place of .25, .5 and .75 (standard error .04)."""
    generator = np.random.default_rng(ROWS)
    first = chances(generator)
    second = np.where(generator.random((PAIRS, 1, 1)) < OPTIONS.p_same, first, chances(generator))
    a, b = (drawn(generator, each, np.full(PAIRS, ROWS)) for each in (first, second))
    rows = rows_of(a, b)
    unsure = np.array([row["verdict"] == "unsure" for row in rows])
    growth = np.array([[row[f"growth_to_decide{end}"] for end in ("_low", "", "_high")] for row in rows], dtype=float)
    assert np.isnan(growth[~unsure]).all()
    known = unsure & ~np.isnan(growth[:, 1])
    assert known.sum() > 0.9 * unsure.sum() > 80
    decided = []
    for times in growth[known].T:
        more = np.maximum(np.ceil((times - 1.0) * ROWS), 0)
        later = [each[known] + drawn(generator, p[known], more) for each, p in ((a, first), (b, second))]
        decided.append(np.mean([row["verdict"] != "unsure" for row in rows_of(*later)]))
    assert 0.25 < decided[0] < decided[1] < decided[2] < 0.9
    assert 0.5 < decided[1] < 0.8
    assert decided[2] > 0.65


def test_a_change_twice_as_wide_needs_four_times_the_rows() -> None:
    """Of a change around 0 with the same odds of the two hypotheses, all lengths in units of epsilon."""
    asked = {"p_same": 0.95, "epsilon": 0.003, "level": 0.95}
    one, two = (growth_to_decide(0.0, (-end, end), 0.99, **asked)[1] for end in (0.02, 0.04))
    assert two / one == pytest.approx(4.0, rel=0.05)


def test_without_a_spread_nothing_is_said() -> None:
    assert all(map(math.isnan, growth_to_decide(0.0, (0.0, 0.0), 0.9, p_same=0.95, epsilon=0.003, level=0.95)))


def test_unsure_columns_come_last_and_have_a_number() -> None:
    generator = np.random.default_rng(5)
    y = generator.integers(0, 2, (2, 800))
    weak = [np.where(generator.random(800) < 0.7, each, 1 - each) for each in y]
    gone = [np.where(generator.random(800) < share, y[side], 1 - y[side]) for side, share in enumerate((0.9, 0.5))]
    samples = [{"weak": weak[side], "gone": gone[side], "y": y[side]} for side in range(2)]
    found = credimi.compare(*samples, "y")
    assert found.columns["verdict"] == ["less", "unsure"]
    needed = found["weak"]["growth_to_decide"]
    assert needed > 1.0
    assert math.isnan(found["gone"]["growth_to_decide"])
    lines = str(found).splitlines()
    assert lines[1].startswith(
        "1 column surely changed (1 less informative); by the 95 % intervals, none of the others"
    )
    largest = max(abs(found["weak"]["low"]), abs(found["weak"]["high"]))
    assert f"changed by more than {largest:.2g} nats (weak)" in " ".join(lines)
    assert "rows needed for a clear verdict (rough estimate), times those of both: weak" in " ".join(lines)
    twice = credimi.compare(samples[0], samples[0], "y")
    assert (
        str(twice).splitlines()[1].startswith("no column surely changed; by the 95 % intervals, none changed by more")
    )
