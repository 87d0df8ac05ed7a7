"""The rule distinct: its probabilities and its greedy walk against dense arithmetic, and the laws that it keeps."""

from __future__ import annotations

import itertools
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import oracle
import pytest

import credimi
from credimi.core.tables import Tables
from credimi.counts.counter import Strata
from credimi.counts.local_counter import LocalCounter
from credimi.counts.request import CountRequest
from credimi.inference.belief import Belief
from credimi.inference.tables.many_tables import summarize
from credimi.questions.select.distinct_columns import distinct
from credimi.results.remarks import RemarkKind
from credimi.sources.codes import encoded_table

sys.path.append(str(Path(__file__).resolve().parents[2] / "inference"))
from test_conditional_information import log_evidence, log_excess

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from credimi.core.types import FloatArray, IntegerArray
    from credimi.counts.codes import Codes

Columns = dict[str, list[str | None]]


def words(values: np.ndarray, *, missing: np.ndarray | None = None) -> list[str | None]:
    lacks = np.zeros(values.size, dtype=bool) if missing is None else missing
    return [None if gone else f"v{value}" for value, gone in zip(values.tolist(), lacks.tolist(), strict=True)]


def follows(generator: np.random.Generator, target: np.ndarray, chance: float, values: int = 2) -> np.ndarray:
    """The target in some rows, and chance in the others."""
    return np.where(generator.random(target.size) < chance, target, generator.integers(0, values, target.size))


def votes(rows: int = 2_000, seed: int = 0, noise: int = 3) -> Columns:
    """Columns a to e that each repeat the target in some rows, a copy of a, a coarser a, and noise."""
    generator = np.random.default_rng(seed)
    target = generator.integers(0, 3, rows)
    found = {
        name: words(follows(generator, target, chance, 3))
        for name, chance in zip("abcde", (0.5, 0.45, 0.4, 0.35, 0.3), strict=True)
    }
    found["copy"] = [f"{each}'" for each in found["a"]]
    found["coarse"] = ["v0" if each == "v0" else "other" for each in found["a"]]
    found |= {f"noise{number}": words(generator.integers(0, 3, rows)) for number in range(noise)}
    return found | {"y": words(target)}


def reasons(chosen: credimi.Selection) -> dict[str, str]:
    return {each.feature: each.reason for each in chosen.rejected}


def encoded(data: Columns) -> Codes:
    return encoded_table(data, CountRequest.of("y")).codes()


# The oracle: dense tables, sums over the grid of K by ordinary logarithms, and the walk in its plain form


def dense(data: Columns, x: str, y: str, w: str | None = None) -> list[FloatArray]:
    """The tables of x and y, one for each value of w, without what does not occur; missing values last."""
    strata = []
    for value in [None] if w is None else sorted({each for each in data[w] if each is not None}):
        rows = [place for place in range(len(data[y])) if w is None or data[w][place] == value]
        cells = [(data[y][row], data[x][row]) for row in rows]
        classes = sorted({one for one, _ in cells if one is not None})
        values = sorted({other for _, other in cells if other is not None})
        block = np.zeros((len(classes) + 1, len(values) + 1))
        for one, other in cells:
            block[
                len(classes) if one is None else classes.index(one),
                len(values) if other is None else values.index(other),
            ] += 1.0
        strata.append(block)
    return strata


def strengths(blocks: list[FloatArray]) -> tuple[FloatArray, FloatArray]:
    """The grid of K, and the product of B_K over strata; of several, each without what it exceeds 1 by chance."""
    heights, widths = ([block.shape[axis] - 1 for block in blocks] for axis in (0, 1))
    freedom = sum((r - 1) * (s - 1) for r, s in zip(heights, widths, strict=True))
    if freedom == 0:
        return np.ones(1), np.zeros(1)
    rows = sum(block[:-1, :-1].sum() for block in blocks)
    most = 50.0 * min(max(heights), max(widths)) * max(rows, max(heights) * max(widths))
    grid = np.geomspace(4.0, most, 18 if freedom >= 16 else 12)
    logs = [
        sum(log_evidence(block, k) - (log_excess(block, k) if len(blocks) > 1 else 0.0) for block in blocks)
        for k in grid
    ]
    return grid, np.exp(logs)


def bayes_factor(blocks: list[FloatArray]) -> float:
    return float(strengths(blocks)[1].mean())


def share_above(blocks: list[FloatArray], epsilon: float, draws: int = 8_000) -> float:
    """P(I > epsilon), given dependence in the strata: draws of K, of the cells of each stratum, and of their shares."""
    generator = np.random.default_rng(0)
    grid, factors = strengths(blocks)
    rows = [block[:-1].sum() for block in blocks]
    information = []
    for k, count in zip(grid, generator.multinomial(draws, factors / factors.sum()), strict=True):
        shares = generator.dirichlet(rows, count)
        total = np.zeros(count)
        for place, block in enumerate(blocks):
            classes, values = block[:-1].sum(axis=1) + 0.5, block[:, :-1].sum(axis=0) + 0.5
            pseudo = k * np.outer(classes / classes.sum(), values / values.sum())
            cells = oracle.one_sided_draws(block[:-1, :-1] + pseudo, block[:-1, -1], count, generator)
            total += shares[:, place] * oracle.informations(cells)
        information.append(total)
    return float(np.mean(np.concatenate(information) > epsilon))


def p_dependent(data: Columns, x: str, w: str) -> float:
    """P(x is dependent on y, given w): what the strata say where x and w are related, and what x says alone if not."""
    known = [place for place, value in enumerate(data[w]) if value is not None]
    seen = {name: [data[name][place] for place in known] for name in (x, w)}
    strata, alone, related = (
        bayes_factor(dense(*asked)) for asked in ((data, x, "y", w), (data, x, "y"), (seen, x, w))
    )
    p_related = related / (1.0 + related)
    odds = p_related * strata + (1.0 - p_related) * alone
    return odds / (1.0 + odds)


def p_informative(data: Columns, names: list[str]) -> dict[str, float]:
    """P(dependent), from the share of independent columns that is most probable, at least one half."""
    independent = 1.0 / (1.0 + np.array([bayes_factor(dense(data, name, "y")) for name in names]))
    shares = np.linspace(0.5, 1.0, 200_001)[:-1, np.newaxis]
    score = np.log(shares * independent + (1.0 - shares) * (1.0 - independent)).sum(axis=1) + np.log(
        shares[:, 0] * (1.0 - shares[:, 0])
    )
    share = float(shares[score.argmax(), 0])
    dependent = (1.0 - share) * (1.0 - independent)
    return dict(zip(names, dependent / (dependent + share * independent), strict=True))


def small(seed: int) -> Columns:
    """A few columns of 90 to 300 rows, with cells missing in some: small enough for the oracle."""
    generator = np.random.default_rng(seed)
    rows = (90, 150, 300)[seed % 3]
    target = generator.integers(0, 2, rows)
    a, b = follows(generator, target, 0.5, 3), follows(generator, target, 0.4)
    near = np.where(generator.random(rows) < 0.15, generator.integers(0, 3, rows), a)
    missing = generator.random((2, rows)) < 0.15 * (seed % 2)
    return {
        "a": words(a, missing=missing[0]),
        "b": words(b),
        "c": words(follows(generator, target, 0.3)),
        "near": words(near, missing=missing[1]),
        "noise": words(generator.integers(0, 3, rows)),
        "other": words(generator.integers(0, 2, rows)),
        "y": words(target),
    }


@pytest.mark.parametrize("level", [0.5, 0.95])
@pytest.mark.parametrize("seed", range(5))
def test_the_walk_and_its_probabilities_are_those_of_dense_arithmetic(seed: int, level: float) -> None:
    """P(dependent) to the 1e-4 of the strengths that are left out, P(I > epsilon) to what a Beta is near draws."""
    data, epsilon, near = small(seed), 0.01, 0.03
    chosen, names = credimi.select(data, "y", level=level, epsilon=epsilon), list(data)[:-1]
    informative = p_informative(data, names)
    order = sorted(names, key=lambda name: -chosen[name]["mi"])
    taken: list[str] = []
    for name in order:
        row = chosen[name]
        given = dict(zip(taken, row["p_redundant"], strict=False))
        for w, p_redundant in given.items():
            if p_redundant is None:
                continue
            dependent = p_dependent(data, name, w)
            if dependent <= 1.0 - level:
                assert 1.0 - p_redundant == pytest.approx(dependent, abs=2e-3)
            else:
                adds = dependent * share_above(dense(data, name, "y", w), epsilon)
                assert 1.0 - p_redundant == pytest.approx(adds, abs=near)
        smallest = min((1.0 - p for p in given.values() if p is not None), default=1.0)
        assert row["p_adds"] <= smallest + 1e-12
        expected = informative[name] >= 0.5 and row["p_adds"] > 1.0 - level
        assert row["taken"] == expected
        assert (row["reason"] == "redundant") == (not row["taken"] and smallest <= 1.0 - level)
        if row["taken"]:
            assert len(given) == len(taken)
            assert None not in given.values()
            taken.append(name)
    assert chosen.features == tuple(taken)


# What is taken


@pytest.mark.parametrize("rows", [200, 2_000, 20_000])
def test_copies_and_coarser_columns_are_redundant_at_every_size(rows: int) -> None:
    chosen = credimi.select(votes(rows), "y")
    assert len({"a", "copy"} & set(chosen.features)) == 1
    why = {each.feature: (each.reason, each.like) for each in chosen.rejected}
    assert why["coarse"][0] == "redundant"
    assert why["coarse"][1] in {"a", "copy"}
    if rows >= 2_000:
        assert set("bcde") < set(chosen.features)
        assert {reason for name, (reason, _) in why.items() if name.startswith("noise")} == {"tells nothing"}


def test_a_near_copy_goes_where_many_rows_make_sure_that_it_adds_nothing() -> None:
    """A few cells of the near copy are chance. A second look at the truth, in which other cells are wrong, stays."""

    def data_of(rows: int) -> Columns:
        generator = np.random.default_rng(5)
        target = generator.integers(0, 2, rows)
        truth = follows(generator, target, 0.5)
        first, second = (np.where(generator.random(rows) < 0.1, 1 - truth, truth) for _ in range(2))
        near = np.where(generator.random(rows) < 0.1, generator.integers(0, 2, rows), first)
        return {"first": words(first), "near": words(near), "second": words(second), "y": words(target)}

    many, few = (credimi.select(data_of(rows), "y") for rows in (20_000, 100))
    assert set(many.features) == {"first", "second"}
    assert reasons(many) == {"near": "redundant"}
    assert set(few.features) == {"first", "near", "second"}  # it is not sure
    assert "near" not in credimi.select(data_of(3_000), "y", level=0.5).features


def test_noise_is_left_out() -> None:
    """Of 20 tables of 40 columns of noise, hardly a column is taken, and none that is far from even odds."""
    taken = []
    for seed in range(20):
        generator = np.random.default_rng(seed)
        data = {f"x{number}": words(generator.integers(0, 3, 200)) for number in range(40)}
        data["y"] = words(generator.integers(0, 2, 200))
        taken += [step.p_adds for step in credimi.select(data, "y").steps]
    assert len(taken) <= 0.01 * 20 * 40
    assert all(p < 0.99 for p in taken)


def test_columns_that_matter_only_together_are_named_and_not_taken() -> None:
    first, second = np.tile([0, 0, 1, 1], 150), np.tile([0, 1, 0, 1], 150)
    data = {"one": words(first), "other": words(second), "y": words(first ^ second)}
    data |= {f"z{number}": words(np.random.default_rng(number).integers(0, 3, 600)) for number in range(5)}
    chosen = credimi.select(data, "y")
    assert not chosen.features
    assert any(each.kind == RemarkKind.ONLY_TOGETHER for each in chosen.remarks)
    assert set(credimi.select(data | {"y": words(first | second)}, "y").features) >= {"one", "other"}


def test_the_seven_segments_of_a_display_are_found() -> None:
    """In enough rows exactly these; where it is not sure that noise adds nothing, a lower level leaves it out."""
    segments = "1110111 0010010 1011101 1011011 0111010 1101011 1101111 1010010 1111111 1111011"
    lit = np.array([[int(digit) for digit in segment] for segment in segments.split()])
    for seed in range(3):
        generator = np.random.default_rng(seed)
        digits = generator.integers(0, 10, 6_000)
        cells = np.hstack([lit[digits] ^ (generator.random((6_000, 7)) < 0.1), generator.integers(0, 2, (6_000, 17))])
        data = {f"x{number}": words(column) for number, column in enumerate(cells.T)}
        data["y"], lit_ones = words(digits), {f"x{number}" for number in range(7)}
        assert set(credimi.select(data, "y").features) == lit_ones
        fewer = {name: column[:2_000] for name, column in data.items()}
        assert set(credimi.select(fewer, "y", level=0.5).features) == lit_ones
        assert lit_ones <= set(credimi.select(fewer, "y").features)


# Laws


@pytest.mark.parametrize("seed", range(3))
def test_neither_the_order_of_rows_nor_that_of_columns_matters(seed: int) -> None:
    data = votes(500, seed)
    chosen = credimi.select(data, "y")
    generator = np.random.default_rng(seed)
    places = generator.permutation(500).tolist()
    names = generator.permutation(sorted(data)).tolist()
    again = credimi.select({name: [data[name][place] for place in places] for name in names}, "y")
    assert again.features == chosen.features
    assert reasons(again) == reasons(chosen)
    for step in chosen.steps:
        assert again[step.feature]["p_adds"] == pytest.approx(step.p_adds, rel=1e-9)


def test_counts_of_parts_add_up() -> None:
    """The rule asks for tables that are sums over rows: a counter of two parts gives the same columns and figures."""

    class OfParts:
        def __init__(self, codes: Codes) -> None:
            first = np.arange(codes.groups.size) < codes.groups.size // 3
            self.parts = [LocalCounter(codes.chosen(np.flatnonzero(which))) for which in (first, ~first)]
            self.book, self.rows = codes.book, codes.rows

        def by_target(self, columns: Iterable[int] | None = None) -> Tables:
            return self._sum([part.by_target(columns) for part in self.parts])

        def by_stratum(self, rule: Any, columns: IntegerArray) -> Iterator[Strata]:  # noqa: ANN401
            for one, other in zip(*(part.by_stratum(rule, columns) for part in self.parts), strict=True):
                yield Strata(one.columns, self._sum([one.tables, other.tables]), one.starts)

        @staticmethod
        def _sum(tables: list[Tables]) -> Tables:
            return Tables(sum(each.flat for each in tables), tables[0].rows, tables[0].columns, tables[0].odds)

    codes, belief = encoded(votes(900)), Belief(level=0.5, epsilon=0.003)
    whole, parts = (
        distinct(counter, summarize(counter.by_target(), belief), belief, 99)  # type: ignore[arg-type]
        for counter in (LocalCounter(codes), OfParts(codes))
    )
    assert parts.taken == whole.taken
    assert np.array_equal(parts.given, whole.given, equal_nan=True)


def test_codes_in_scratch_files_and_files_of_rows_give_the_same(tmp_path: Path) -> None:
    data = votes(700)
    lines = [",".join(data), *(",".join(map(str, row)) for row in zip(*data.values(), strict=True))]
    (tmp_path / "votes.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    expected = credimi.select(data, "y").to_dict()
    for options in ({}, {"scratch": tmp_path}):
        assert credimi.select(tmp_path / "votes.csv", "y", **options).to_dict()["steps"] == expected["steps"]


def test_weights_are_rows_that_count_more_often() -> None:
    data, weights = votes(600), np.tile([1, 2, 3], 200)
    again = np.repeat(np.arange(600), weights).tolist()
    weighted = credimi.select(data | {"w": weights.tolist()}, "y", weights="w")
    repeated = credimi.select({name: [column[row] for row in again] for name, column in data.items()}, "y")
    assert weighted.features == repeated.features
    assert [step.p_adds for step in weighted.steps] == pytest.approx([step.p_adds for step in repeated.steps], rel=1e-9)


def test_survey_weights_are_worth_fewer_rows() -> None:
    data = votes(600)
    weights = np.where(np.random.default_rng(2).random(600) < 0.1, 10.0, 0.5)
    plain = credimi.select(data, "y")
    survey = credimi.select(data | {"w": weights.tolist()}, "y", weights="w", weights_are="survey")
    assert survey.rows < 0.3 * plain.rows
    for name in "cde":
        assert survey[name]["p_adds"] < plain[name]["p_adds"]


# Limits and interrupts


def test_the_surer_a_column_has_to_be_redundant_the_more_are_taken() -> None:
    data, generator = votes(400), np.random.default_rng(1)
    for name in "abc":
        other = generator.random(400) < 0.1
        data[f"near {name}"] = np.where(other, generator.choice(["v0", "v1", "v2"], 400), data[name]).tolist()
    sets = [credimi.select(data, "y", level=level).features for level in (0.3, 0.5, 0.95, 0.999)]
    assert [len(each) for each in sets] == sorted(len(each) for each in sets)
    assert len(sets[0]) < len(sets[3])
    informative = set(credimi.rank(data, "y").selected("informative"))
    assert all(informative.issuperset(each) for each in sets)


def test_limits_cut_the_walk_short_or_fill_it() -> None:
    data = votes()
    every = credimi.select(data, "y").features
    for most in range(1, len(every)):
        chosen = credimi.select(data, "y", max_features=most)
        assert chosen.features == every[:most]
        assert reasons(chosen)[every[most]] == "not reached"
    filled = credimi.select(data, "y", min_features=len(every) + 1)
    assert filled.features[:-1] == every
    assert [step.forced for step in filled.steps] == [False] * len(every) + [True]
    assert len(filled.steps) + len(filled.rejected) == len(data) - 1


@pytest.mark.parametrize("at", [1, 3])
def test_an_interrupt_gives_the_columns_so_far(at: int) -> None:
    data, seen = votes(), []
    whole = credimi.select(data, "y")

    def stop(_: float, doing: str) -> None:
        seen.append(doing)
        if sum(each.startswith("what says the same") for each in seen) == at:
            raise KeyboardInterrupt

    chosen = credimi.select(data, "y", progress=stop)
    assert whole.complete
    assert not chosen.complete
    assert chosen.features == whole.features[:at]
    assert len(chosen.steps) + len(chosen.rejected) == len(data) - 1
    assert reasons(chosen)[whole.features[at]] == "not reached"
    assert "interrupted" in repr(chosen)


def test_an_interrupt_before_the_first_column_is_one() -> None:
    def stop(_share: float, _doing: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        credimi.select(votes(100), "y", progress=stop)


def test_progress_grows_and_names_columns() -> None:
    seen: list[tuple[float, str]] = []
    chosen = credimi.select(votes(), "y", progress=lambda share, doing: seen.append((share, doing)))
    shares = [share for share, doing in seen if doing.startswith("what says the same")]
    assert shares == sorted(shares)
    assert len(shares) == len(chosen.features)
    assert f"what says the same as {chosen.features[1]}" in {doing for _, doing in seen}


def test_every_pair_is_looked_at_once_at_most() -> None:
    chosen = credimi.select(votes(), "y")
    place = {name: index for index, name in enumerate(chosen.features)}
    for one, other in itertools.combinations(chosen.features, 2):
        first, second = sorted((one, other), key=place.__getitem__)
        assert len(chosen[first]["p_redundant"]) == place[first]
        assert chosen[second]["p_redundant"][place[first]] is not None
