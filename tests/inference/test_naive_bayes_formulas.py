"""Naive Bayes has its formulas in one place: learners, single rows and streams say the same."""

import math

import numpy as np
import pytest

import credimi
from credimi.inference import naive_bayes
from credimi.inference.naive_bayes import log_shares, log_value_shares
from credimi.paper import prequential_loop

ROWS, PSEUDO = 60, 0.7


def data() -> tuple[list[list[str | None]], list[str]]:
    generator = np.random.default_rng(8)
    target = generator.integers(0, 3, ROWS)
    columns = [(target + generator.integers(0, 2, ROWS)) % 3, generator.integers(0, 4, ROWS)]
    lost = generator.random((ROWS, 2)) < 0.2
    rows = [
        [None if lost[row, place] else f"v{column[row]}" for place, column in enumerate(columns)] for row in range(ROWS)
    ]
    return rows, [f"c{value}" for value in target]


def written_out(rows: list[list[str | None]], answers: list[str], row: list[str | None]) -> list[float]:
    """log P(class) + sum of log P(value | class), in loops."""
    found = []
    for label in sorted(set(answers)):
        own = [each for each, answer in zip(rows, answers, strict=True) if answer == label]
        score = math.log(len(own) / len(rows))
        for place, value in enumerate(row):
            if value is not None:
                values = {each[place] for each in rows} - {None}
                seen = sum(each[place] is not None for each in own)
                hits = sum(each[place] == value for each in own)
                score += math.log((hits + PSEUDO) / (seen + len(values) * PSEUDO))
        found.append(score)
    return found


def test_a_learner_says_what_the_formula_says() -> None:
    pytest.importorskip("sklearn")
    rows, answers = data()
    model = credimi.IncrementalNaiveBayes(prior=PSEUDO).fit(np.array(rows, dtype=object), answers)
    expected = np.array([written_out(rows, answers, row) for row in rows])
    expected -= np.log(np.exp(expected).sum(axis=1, keepdims=True))
    many = model.predict_log_proba(np.array(rows, dtype=object))
    single = [model.predict_log_proba(np.array([row], dtype=object))[0] for row in rows]
    np.testing.assert_allclose(many, expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(single, expected, rtol=1e-12, atol=1e-12)


def test_all_go_by_the_same_formula(monkeypatch: pytest.MonkeyPatch) -> None:
    """Turned round, it turns round what the learner says of many rows and of one, and what is said in a stream."""
    scorer = pytest.importorskip("credimi.estimators.scorer")
    rows, answers = data()
    table = {"a": [row[0] for row in rows], "b": [row[1] for row in rows], "class": answers}

    def says() -> list[list[str]]:
        array = np.array(rows, dtype=object)
        model = credimi.IncrementalNaiveBayes(prior=PSEUDO).fit(array, answers)
        single = [model.predict(np.array([row], dtype=object))[0] for row in rows]
        stream = credimi.prequential(table, "class", rules=["all"], orders=1)
        return [model.predict(array).tolist(), single, stream.correct[0, 0].tolist()]

    before = says()
    for module in (scorer, prequential_loop):
        monkeypatch.setattr(module, "log_value_shares", lambda *given: -naive_bayes.log_value_shares(*given))
    for plain, turned in zip(before, says(), strict=True):
        assert plain != turned


def test_where_nothing_was_seen_all_values_are_alike() -> None:
    found = log_value_shares(np.zeros((2, 4)), np.array([[0.0], [3.0]]), 4, 0.0)
    assert np.exp(found).tolist() == [[0.25] * 4, [0.0] * 4]


def test_shares_of_classes() -> None:
    totals = np.array([[3.0, 1.0], [0.0, 2.0]])
    np.testing.assert_allclose(np.exp(log_shares(totals)), [[0.75, 0.25], [0.0, 1.0]], rtol=1e-15)
    np.testing.assert_allclose(np.exp(log_shares(totals, 1.0)), [[4 / 6, 2 / 6], [0.25, 0.75]], rtol=1e-15)
