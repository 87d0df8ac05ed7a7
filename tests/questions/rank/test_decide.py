"""Which rule keeps is decided in one place: `rank`, the selector and prequential runs keep what `decide` says."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import credimi
from credimi import CredimiError
from credimi.core.tables import Tables
from credimi.inference import rules
from credimi.inference.belief import Belief
from credimi.inference.rules import RULES, best, check_k, decide, unsure
from credimi.inference.tables.many_tables import Beliefs
from credimi.paper import prequential_loop, prequential_options
from credimi.questions.rank import answer as ranking_module


def believed(p_above: list[float], mean: list[float] | None = None) -> Beliefs:
    above = np.array(p_above)
    figures = above if mean is None else np.array(mean)
    return Beliefs(figures, figures, above, 1.0 - above)


def data(rows: int = 400) -> dict[str, list[str | None]]:
    generator = np.random.default_rng(3)
    target = generator.integers(0, 2, rows)
    columns: dict[str, list[str | None]] = {}
    for number, noise in enumerate((0.05, 0.35, 0.42, 0.46, 0.5, 0.5)):
        other, lost = np.where(generator.random(rows) < noise, 1 - target, target), generator.random(rows) < 0.1
        columns[f"x{number}"] = [None if gone else "ab"[value] for value, gone in zip(other, lost, strict=True)]
    return columns | {"class": ["pq"[value] for value in target]}


def test_the_rules_at_their_limits() -> None:
    options = Belief(epsilon=0.1, level=0.95, fdr=0.1)
    beliefs = believed([0.0, 0.05, 0.5, 0.95, 1.0, math.nan], [0.0, 0.1, 0.2, 0.3, 0.4, math.nan])
    assert decide("plugin", beliefs, options).tolist() == [False, False, True, True, True, False]
    assert decide("forward", beliefs, options).tolist() == [False, False, False, True, True, False]
    assert decide("backward", beliefs, options).tolist() == [False, False, True, True, True, False]
    assert decide("fdr", beliefs, options).tolist() == [False, False, False, True, True, False]


def test_an_unknown_rule_is_refused() -> None:
    with pytest.raises(CredimiError, match="unknown rule 'best': choose one of plugin, forward, backward, fdr"):
        decide("best", believed([0.5]), Belief())


@pytest.mark.parametrize("rule", RULES)
def test_nothing_is_kept_of_which_nothing_is_known(rule: str) -> None:
    beliefs = believed([1.0, 1.0]).of(np.array([True, False]))
    assert decide(rule, beliefs, Belief()).tolist() == [True, False]


@given(p_above=st.lists(st.floats(0.0, 1.0), max_size=20), level=st.floats(0.01, 0.99))
def test_unsure_is_what_backward_keeps_and_forward_does_not(p_above: list[float], level: float) -> None:
    options, beliefs = Belief(level=level), believed(p_above)
    kept = {rule: decide(rule, beliefs, options) for rule in ("forward", "backward")}
    assert (unsure(beliefs.p_above, level) == (kept["backward"] & ~kept["forward"])).all()


def test_the_k_best() -> None:
    mean, p_above = np.array([0.1, 0.3, 0.2, math.nan, 0.3]), np.array([0.9, 0.5, 0.9, math.nan, 0.5])
    kept = [np.flatnonzero(best(k, mean, p_above)).tolist() for k in range(1, 6)]
    assert kept == [[2], [0, 2], [0, 1, 2], [0, 1, 2, 4], [0, 1, 2, 3, 4]]
    for k in (0, 6, True, 1.5, "2"):
        with pytest.raises(CredimiError, match="it must be a whole number from 1 to 5, the number of features"):
            check_k(k, 5)


@pytest.mark.parametrize("rule", RULES)
def test_all_callers_go_by_decide(rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A rule turned round keeps the others, in the ranking, in the selector that a learner asks, and in a stream."""
    selector = pytest.importorskip("credimi.estimators.selector")
    table, plain = data(), decide
    blocks = Tables.of([np.full((3, 3), 10.0), np.array([[40.0, 2.0, 0.0], [3.0, 30.0, 0.0], [0.0, 0.0, 0.0]])])
    options = prequential_loop.PrequentialOptions(rules=(rule,) if rule in prequential_options.RULES else ("forward",))

    def answers() -> list[Any]:
        ranking = credimi.rank(table, "class")
        asked = selector.CredibleSelector(rule, min_features=0).decide(blocks, np.array([True, True]))
        stream = prequential_loop._chosen_features(blocks, options, (2, 1))  # noqa: SLF001  (what one row is decided by)
        return [np.array(ranking.columns[f"keep_{rule}"]), asked, stream[0, 0]]

    before = answers()
    for module in (ranking_module, selector, prequential_loop):
        monkeypatch.setattr(module, "decide", lambda *given: ~plain(*given))
    for kept, turned in zip(before, answers(), strict=True):
        assert (kept == ~turned).all()


def test_the_ranking_and_the_selector_agree() -> None:
    """From blocks or from a ranking: the same rules by the same figures."""
    selector_class = pytest.importorskip("credimi.estimators.selector").CredibleSelector
    counts = credimi.count(data(), "class")
    blocks = Tables.of([feature.block.astype(np.float64) for feature in counts.interpreted()])
    everyone = np.ones(len(counts), dtype=bool)
    for parameters in [{"rule": rule} for rule in RULES] + [{"k": k} for k in (1, 3, 6)]:
        selector = selector_class.from_counts(counts, **parameters)
        assert selector.decide(blocks, everyone).tolist() == selector.get_support().tolist(), parameters


def test_rules_are_those_that_decide_knows() -> None:
    assert [rule for rule in RULES if decide(rule, believed([1.0]), Belief()).all()] == list(rules.RULES)
