"""Pairs whose values are missing because of a third column: refined by forests, against EM over all joint states."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
import scipy.stats

import credimi
from credimi.core.errors import CredimiError
from credimi.core.tables import Tables
from credimi.inference.belief import Belief
from credimi.inference.tables.pair_figures import figures_of, mixed_figures
from credimi.questions.pairs import missing_by_others
from credimi.questions.pairs.missing_by_others import MissingByOthers
from credimi.questions.pairs.refined_pairs import Refinement

if TYPE_CHECKING:
    from credimi.core.types import FloatArray, IntegerArray

NAMES = ("z", "a", "b", "c")
Columns = dict[str, list[str | None]]


def _rows(rows: int, seed: int) -> tuple[IntegerArray, IntegerArray]:
    """z tells a and b, c is alone; a, b and c are mostly missing where z is 1: all rows, and with -1 where missing."""
    generator = np.random.default_rng(seed)
    z = generator.integers(2, size=rows)
    a, b = (np.where(generator.random(rows) < 0.85, z, 1 - z) for _ in range(2))
    whole = np.stack([z, a, b, generator.integers(3, size=rows)])
    lost = generator.random((4, rows)) < np.where(z == 1, 0.7, 0.1)
    lost[0] = False
    return whole, np.where(lost, -1, whole)


def _columns(rows: IntegerArray) -> Columns:
    return {
        name: [None if value < 0 else f"v{value}" for value in row]
        for name, row in zip(NAMES, rows.tolist(), strict=True)
    }


def _by_em(rows: IntegerArray) -> FloatArray:
    """The most likely probabilities of all joint states, if a and b depend on z alone and c on nothing."""
    patterns, counts = np.unique(rows, axis=1, return_counts=True)
    joint = np.full(rows.max(axis=1) + 1, 1.0)
    joint /= joint.sum()
    for _ in range(60):
        expected = np.zeros(joint.shape)
        for pattern, count in zip(patterns.T.tolist(), counts.tolist(), strict=True):
            where = tuple(slice(None) if value < 0 else slice(value, value + 1) for value in pattern)
            expected[where] += count * joint[where] / joint[where].sum()
        shares = expected / expected.sum()
        z, c = shares.sum(axis=(1, 2, 3)), shares.sum(axis=(0, 1, 2))
        a, b = (shares.sum(axis=others) / z[:, np.newaxis] for others in ((2, 3), (1, 3)))
        joint = np.einsum("z,za,zb,c->zabc", z, a, b, c)
    return joint


def _information(joint: FloatArray, one: int, other: int) -> float:
    table = joint.sum(axis=tuple(each for each in range(joint.ndim) if each not in (one, other)))
    return float((table * np.log(table / np.outer(table.sum(axis=1), table.sum(axis=0)))).sum())


def test_pairs_agree_with_em_over_all_joint_states_where_a_third_column_decides() -> None:
    _, seen = _rows(4_000, 1)
    joint = _by_em(seen)
    found, plain = credimi.pairs(_columns(seen), refine="forest"), credimi.pairs(_columns(seen))
    for one, other in itertools.combinations(range(4), 2):
        pair, expected = found[NAMES[one], NAMES[other]], _information(joint, one, other)
        assert pair["low"] - 1e-12 <= expected <= pair["high"] + 1e-12
    assert found["a", "b"]["mi"] == pytest.approx(_information(joint, 1, 2), rel=0.1)
    assert plain["a", "b"]["high"] < found["a", "b"]["low"]  # the rows that have both are mostly those where z is 0


def test_completed_rows_are_not_taken_for_seen_ones() -> None:
    whole, seen = _rows(3_000, 2)
    found, complete = credimi.pairs(_columns(seen), refine="forest"), credimi.pairs(_columns(whole))
    for pair in (("z", "a"), ("a", "b")):
        assert found[pair]["high"] - found[pair]["low"] > 1.1 * (complete[pair]["high"] - complete[pair]["low"])
        assert found[pair]["complete"] == np.count_nonzero(
            (seen[[NAMES.index(name) for name in pair]] >= 0).all(axis=0)
        )
    assert found["a", "c"]["p_independent"] > 0.5
    assert [set(edge) for edge in found.forest().best] == [{"z", "a"}, {"z", "b"}]


def test_the_seed_decides_and_threads_do_not() -> None:
    data = _columns(_rows(5_000, 3)[1])
    one, other, third = (
        credimi.pairs(data, refine="forest", imputations=2, random_state=seed, threads=threads).figures
        for seed, threads in ((0, 1), (0, 2), (1, 2))
    )
    assert np.array_equal(one.mi, other.mi)
    assert np.array_equal(one.log_evidence, other.log_evidence)
    assert not np.array_equal(one.mi, third.mi)


def test_without_missing_values_nothing_changes() -> None:
    data = _columns(_rows(500, 4)[0])
    found, plain = credimi.pairs(data, refine="forest"), credimi.pairs(data)
    for name in ("mi", "low", "high", "p_above", "p_independent", "log_evidence", "complete"):
        np.testing.assert_allclose(getattr(found.figures, name), getattr(plain.figures, name), rtol=1e-9, atol=1e-12)
    assert (found.settings["imputations"], found.settings["rounds"]) == (0, 0)
    assert "nothing to refine" in str(found)


def test_mixed_figures_are_those_of_the_mixture() -> None:
    generator = np.random.default_rng(5)
    blocks = np.zeros((3, 40, 3, 4))
    blocks[:, :, :2, :3] = generator.poisson(generator.uniform(5.0, 60.0, (40, 2, 3)), (3, 40, 2, 3))
    draws = [Tables(each.ravel(), np.full(40, 2), np.full(40, 3)) for each in blocks]
    options = Belief()
    each, mixed = [figures_of(draw, options) for draw in draws], mixed_figures(draws, options)
    for name in ("mi", "p_above", "p_independent"):
        np.testing.assert_allclose(
            getattr(mixed, name), np.mean([getattr(own, name) for own in each], axis=0), rtol=1e-9
        )
    assert (mixed.low >= np.min([own.low for own in each], axis=0) - 1e-9).all()
    assert (mixed.high <= np.max([own.high for own in each], axis=0) + 1e-9).all()
    odds = (1.0 - mixed.p_independent) / mixed.p_independent
    np.testing.assert_allclose(mixed.log_evidence, np.log(odds), rtol=1e-6, atol=1e-9)
    alone = mixed_figures(draws[:1] * 3, options)
    np.testing.assert_allclose(alone.low, each[0].low, rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(alone.high, each[0].high, rtol=1e-8)


def test_evidence_beyond_doubles_is_averaged_too() -> None:
    block = np.zeros((3, 3))
    block[0, 0] = block[1, 1] = 4_000.0
    draws = [Tables(block.ravel() * share, np.array([2]), np.array([2])) for share in (1.0, 0.5)]
    each = [figures_of(draw, Belief()).log_evidence[0] for draw in draws]
    mixed = mixed_figures(draws, Belief()).log_evidence[0]
    assert min(each) > 800.0
    assert mixed == pytest.approx(min(each) + np.log(2.0), abs=1e-6)


def test_a_remark_names_the_column_that_decides_and_the_remedy() -> None:
    seen = _rows(2_000, 6)[1]
    found = credimi.pairs(_columns(seen))
    assert {each["feature"]: each.get("missing_depends") for each in found.facts} == {
        "z": None,
        "a": "z",
        "b": "z",
        "c": "z",
    }
    assert "refine='forest' allows for that" in found.remark_lines()[0]
    assert "--refine forest allows for that" in found.remark_lines(reader="command line")[0]
    lines = credimi.pairs(_columns(seen), refine="forest", imputations=2).remark_lines()
    assert "completed 2 times from forests" in lines[0]
    assert "as far as a forest tells" in lines[1]
    by_chance = np.where(np.random.default_rng(7).random(seen.shape) < 0.3, -1, _rows(2_000, 6)[0])
    assert not credimi.pairs(_columns(by_chance)).remark_lines()


def test_missing_margins_are_those_of_tables_of_missing_or_not() -> None:
    generator = np.random.default_rng(8)
    block = generator.integers(1, 30, (4, 3)).astype(np.float64)
    block[-1, -1] = 0.0
    scores = np.empty((1, 2))
    missing_by_others.score(block.ravel(), np.array([0]), np.array([3]), np.array([2]), scores)
    for side, own in enumerate((block, block.T)):
        table = np.stack([own[:-1, :-1].sum(axis=0), own[-1, :-1]])
        statistic, _, freedom, _ = scipy.stats.chi2_contingency(table, correction=False, lambda_="log-likelihood")
        normal = scipy.stats.norm.isf(scipy.stats.chi2.sf(statistic, freedom))  # which the score comes close to
        assert scores[0, side] == pytest.approx(max(normal, 0.0), abs=0.05)


def test_two_columns_have_no_third() -> None:
    generator = np.random.default_rng(14)
    x = generator.integers(2, size=500)
    y = [
        None if one and draw < 0.9 else "b" if draw < 0.5 else "c"
        for one, draw in zip(x, generator.random(500), strict=True)
    ]
    data = {"x": [f"v{value}" for value in x], "y": y}
    assert not credimi.pairs(data).remark_lines()
    assert credimi.pairs(data | {"w": list("ab") * 250}).facts[1]["missing_depends"] == "x"


def test_which_column_decides_is_the_one_that_tells_most() -> None:
    blocks = np.zeros((3, 3, 3))  # 0 with 1, 0 with 2, 1 with 2: column 2 tells where 0 is missing, 1 somewhat
    blocks[0] = [[90.0, 80.0, 0.0], [90.0, 80.0, 0.0], [50.0, 80.0, 0.0]]
    blocks[1] = [[90.0, 80.0, 0.0], [90.0, 80.0, 0.0], [5.0, 125.0, 0.0]]
    blocks[2] = [[110.0, 130.0, 0.0], [120.0, 110.0, 0.0], [0.0, 0.0, 0.0]]
    looked = MissingByOthers(3)
    for block, one, other in zip(blocks, (0, 0, 1), (1, 2, 2), strict=True):
        looked.add(Tables(block.ravel(), np.array([2]), np.array([2])), np.array([one]), np.array([other]))
    ((column, (other, probability)),) = looked.credible().items()
    assert (column, other) == (0, 2)
    assert 0.95 < probability <= 1.0


def test_rows_with_weights_count_as_often() -> None:
    seen = _rows(2_000, 9)[1]
    weights = np.where(seen[0] == 1, 3.0, 1.0)
    repeated = np.repeat(seen, weights.astype(int), axis=1)
    found = credimi.pairs(_columns(seen), weights=weights, refine="forest")
    other = credimi.pairs(_columns(repeated), refine="forest")
    assert found["a", "b"]["mi"] == pytest.approx(other["a", "b"]["mi"], abs=0.02)
    assert found["a", "b"]["complete"] == other["a", "b"]["complete"]


def test_it_is_saved_and_can_be_asked_of_some_pairs(tmp_path: Path) -> None:
    data = _columns(_rows(600, 10)[1])
    found = credimi.pairs(data, refine="forest", imputations=3, random_state=4, top=2)
    found.save(tmp_path / "pairs.json")
    again = credimi.load(tmp_path / "pairs.json")
    assert again.settings == found.settings
    assert again.settings["rounds"] >= 15
    assert [row["mi"] for row in again] == [row["mi"] for row in found]
    assert again.remark_lines() == found.remark_lines()
    whole = credimi.pairs(data, refine="forest", imputations=3, random_state=4, into=tmp_path / "all.npy")
    assert len(whole) == 6
    assert whole[0]["mi"] == found[0]["mi"]


def test_progress_rises_to_one() -> None:
    told: list[float] = []
    credimi.pairs(
        _columns(_rows(600, 11)[1]), refine="forest", imputations=2, progress=lambda share, _: told.append(share)
    )
    assert told == sorted(told)
    assert told[-1] == 1.0
    assert len(told) > 20


def test_columns_of_many_values_are_no_edges_of_thin_tables() -> None:
    """A forest edge of two columns of 60 values and 200 rows would have 3,600 cells."""
    generator = np.random.default_rng(12)
    data = {name: [f"v{v}" for v in generator.integers(60, size=200)] for name in "xy"}
    data |= {"u": [None if v == 2 else f"v{v}" for v in generator.integers(3, size=200)]}
    found = credimi.pairs(data, refine="forest", imputations=2)
    assert len(found) == 3
    assert np.isfinite(found.figures.mi).all()


@pytest.mark.parametrize(
    ("asked", "word"),
    [
        ({"refine": "tree"}, "choose 'forest'"),
        ({"refine": "forest", "device": "gpu"}, "leave the device out"),
        ({"refine": "forest", "approximation": "sampled"}, "leave out approximation"),
        ({"refine": "forest", "imputations": 0}, "imputations"),
        ({"refine": "forest", "random_state": -1}, "random_state"),
    ],
)
def test_what_cannot_be_refined_is_refused_before_data_are_read(asked: dict[str, object], word: str) -> None:
    with pytest.raises(CredimiError, match=word):
        credimi.pairs("no such file.csv", **asked)


def test_an_interrupt_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    rounds = iter(range(3))

    def interrupted(self: Refinement) -> float:
        self.rounds += 1
        if next(rounds) == 2:
            raise KeyboardInterrupt
        return 0.0

    monkeypatch.setattr(Refinement, "round", interrupted)
    with pytest.raises(KeyboardInterrupt):
        credimi.pairs(_columns(_rows(100, 13)[1]), refine="forest")


def test_columns_of_many_values_may_decide_as_well() -> None:
    """Cholesterol is missing by age, of ten ranges: the generator of the example says so."""
    facts = credimi.pairs(Path(__file__).parents[3] / "examples" / "clinic.csv").facts
    decided = {each["feature"]: each["missing_depends"] for each in facts if "missing_depends" in each}
    assert decided["cholesterol"] == "age"
    assert decided["waist"] == "sex"
    assert decided["glucose"] == "visits_last_year"
    assert not {"region", "smoking", "handedness", "diabetes"} & set(decided)
