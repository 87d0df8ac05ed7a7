"""The search for the smallest set: its order and its stop, what is told meanwhile, interruptions, bounded memory."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

import numpy as np
import pytest

import credimi
from credimi.counts.counter import BySplits, ByValue
from credimi.counts.local_counter import LocalCounter
from credimi.counts.request import CountRequest
from credimi.inference.belief import Belief
from credimi.questions.select import smallest_set
from credimi.questions.select.smallest_set import Search
from credimi.results.section import Shown
from credimi.results.sentences import COMMAND_LINE
from credimi.results.text import printed
from credimi.sources.codes import encoded_table

if TYPE_CHECKING:
    from credimi.counts.codes import Codes

Columns = dict[str, list[str]]


def votes(rows: int = 2_000, seed: int = 0, noise: int = 3) -> Columns:
    """Columns a to e that each repeat the target in some rows, a copy of a, and noise."""
    generator = np.random.default_rng(seed)
    target = generator.integers(0, 2, rows)
    found: Columns = {}
    for name, chance in zip("abcde", (0.5, 0.45, 0.4, 0.35, 0.3), strict=True):
        found[name] = words(np.where(generator.random(rows) < chance, target, generator.integers(0, 2, rows)))
    found["copy"] = [each.replace("v", "w") for each in found["a"]]
    found |= {f"noise{number}": words(generator.integers(0, 3, rows)) for number in range(noise)}
    return found | {"y": words(target)}


def words(values: np.ndarray) -> list[str]:
    return [f"v{value}" for value in values.tolist()]


def interpreted(data: Columns) -> Codes:
    return encoded_table(data, CountRequest.of("y")).codes()


def test_steps_follow_jmis_order_and_say_what_is_added_to_the_one_that_leaves_least() -> None:
    data = votes()
    chosen = credimi.select(data, "y", rule="smallest")
    assert set("abcde") - {"a"} < set(chosen.features)
    assert len({"a", "copy"} & set(chosen.features)) == 1
    codes = interpreted(data)
    names = [feature.name for feature in codes.features]
    search = Search(LocalCounter(codes), Belief(level=0.5))
    given: list[np.ndarray] = []
    for step in chosen.steps:
        column = names.index(step.feature)
        mean = search.alone.mean if not given else np.mean(given, axis=0)
        others = [names.index(each) for each in "bcde" if search.remaining[names.index(each)]]
        assert all(mean[column] >= mean[other] for other in others)
        assert step.adds == pytest.approx(
            search.alone.mean[column] if not given else min(each[column] for each in given)
        )
        search.take(column)
        given.append(search.gains_given(search.counter, ByValue(column)).mean)


def test_redundancy_is_told_for_steps_and_for_columns_that_tell_something() -> None:
    chosen = credimi.select(votes(), "y", rule="smallest")
    assert [len(step.p_redundant) for step in chosen.steps] == list(range(len(chosen.steps)))
    assert all(chance is not None and chance < 0.5 for step in chosen.steps for chance in step.p_redundant)
    for each in chosen.rejected:
        if each.reason == "tells nothing":
            assert each.p_redundant == ()
        else:
            assert len(each.p_redundant) == len(chosen.steps)
            assert max(chance for chance in each.p_redundant if chance is not None) >= 0.95


def test_what_a_limit_leaves_out_is_not_called_unsure() -> None:
    chosen = credimi.select(votes(), "y", max_features=2, rule="smallest")
    why = {each.feature: each.reason for each in chosen.rejected}
    left = set("abcde") - set(chosen.features)
    assert {why[name] for name in left - {"a"}} == {"not reached"}
    assert why["noise0"] == "tells nothing"
    assert "further step" in repr(chosen)


def test_progress_says_what_is_tried() -> None:
    seen: list[tuple[float, str]] = []
    chosen = credimi.select(votes(), "y", progress=lambda share, doing: seen.append((share, doing)), rule="smallest")
    said = list(dict.fromkeys(doing for _, doing in seen))
    assert any(doing == "looking at 9 columns one by one" for doing in said)
    assert f"step 2: what adds to {chosen.features[0]}" in said
    assert all(0.0 <= share <= 1.0 for share, _ in seen)


@pytest.mark.parametrize("at", [2, 4])
def test_an_interrupt_gives_the_steps_so_far(at: int) -> None:
    whole = credimi.select(votes(), "y", rule="smallest")

    def stop(_: float, doing: str) -> None:
        if doing.startswith(f"step {at + 1}:"):
            raise KeyboardInterrupt

    chosen = credimi.select(votes(), "y", progress=stop, rule="smallest")
    assert not chosen.complete
    assert whole.complete
    assert chosen.features == whole.features[:at]
    assert chosen.to_dict()["steps"][: at - 1] == whole.to_dict()["steps"][: at - 1]
    assert len(chosen.steps) + len(chosen.rejected) == 9
    assert "interrupted: these are the steps so far" in repr(chosen)
    next_one = {each.feature: each.reason for each in chosen.rejected}[whole.features[at]]
    assert next_one == "not reached"


def test_an_interrupt_before_the_first_step_is_one() -> None:
    def stop(_: float, doing: str) -> None:
        raise KeyboardInterrupt(doing)

    with pytest.raises(KeyboardInterrupt):
        credimi.select(votes(), "y", progress=stop, rule="smallest")


def test_chunks_of_columns_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = credimi.select(votes(), "y", rule="smallest").to_dict()
    monkeypatch.setattr("credimi.counts.local_counter._CELLS_AT_ONCE", 40)
    assert credimi.select(votes(), "y", rule="smallest").to_dict() == whole


def test_a_sample_has_rows_of_the_table_and_is_always_the_same() -> None:
    codes = interpreted(votes())
    counter = LocalCounter(codes)
    some = counter.sample(500)
    assert some.groups.size == 500
    assert all(each.size == 500 for each in some.columns)
    assert some.groups.tolist() == counter.sample(500).groups.tolist()
    assert counter.sample(2_000) is codes


def test_a_sample_of_rows_finds_the_same_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = credimi.select(votes(6_000), "y", rule="smallest")
    monkeypatch.setattr(smallest_set, "_SAMPLE", 3_000)
    part = credimi.select(votes(6_000), "y", rule="smallest")
    assert part.features == whole.features
    assert [step.tells for step in part.steps] == pytest.approx([step.tells for step in whole.steps], abs=0.02)


def test_strata_of_all_taken_columns_split_parts_that_have_several_classes_and_rows_enough() -> None:
    codes = interpreted(votes(300))
    strata, count = BySplits((0, 1)).strata(codes)
    joint = codes.columns[0].astype(int) * 10 + codes.columns[1]
    assert count == len(set(joint.tolist())) == strata.max() + 1
    assert len(set(zip(joint.tolist(), strata.tolist(), strict=True))) == count
    assert BySplits((0, 1)).strata(interpreted(votes(14)))[1] == 1  # 4 rows for each class and value would be 16
    certain = interpreted({"a": ["p", "q"] * 100, "b": ["p", "p", "q", "q"] * 50, "y": ["p", "q"] * 100})
    assert BySplits((0, 1)).strata(certain)[1] == 2  # once a is known, nothing is left to tell
    assert BySplits((1, 0)).strata(certain)[1] == 4


def test_it_stops_where_the_taken_columns_together_tell_all() -> None:
    """Views of the target add to each of two columns, but nothing to both: these decide it."""
    generator = np.random.default_rng(0)
    first, second = generator.integers(0, 4, (2, 4_000))
    target = (first + second >= 3).astype(int)
    data = {"first": words(first), "second": words(second)}
    for number in range(6):
        data[f"view{number}"] = words(np.where(generator.random(4_000) < 0.6, target, generator.integers(0, 2, 4_000)))
    chosen = credimi.select(data | {"y": words(target)}, "y", rule="smallest")
    assert set(chosen.features) == {"first", "second"}
    assert {(each.reason, each.like) for each in chosen.rejected} == {("redundant", None)}
    assert "says what the taken columns say together" in repr(chosen)


def test_a_column_that_few_rows_have_comes_after_one_that_all_have() -> None:
    generator = np.random.default_rng(1)
    target = generator.integers(0, 2, 3_000)
    rare = [f"v{value}" if row < 300 else None for row, value in enumerate(target.tolist())]
    often = words(np.where(generator.random(3_000) < 0.7, target, generator.integers(0, 2, 3_000)))
    chosen = credimi.select({"rare": rare, "often": often, "y": words(target)}, "y", rule="smallest")
    assert chosen.features == ("often", "rare")
    assert chosen.steps[0].adds < credimi.select({"rare": rare, "y": words(target)}, "y", rule="smallest").steps[0].adds


def test_cuts_cost_a_factor_of_e_each_once_the_column_surely_tells_something() -> None:
    generator = np.random.default_rng(0)
    target = generator.integers(0, 3, 400)
    columns = {"surely": target + generator.normal(0.0, 0.4, 400), "noise": generator.normal(0.0, 1.0, 400)}
    codes = interpreted(columns | {"y": words(target)})
    alone = {feature.name: feature for feature in codes.features}
    assert alone["surely"].odds < 0.01 * np.exp(-alone["surely"].cuts.size)  # what the choice of the cuts costs alone
    search = Search(LocalCounter(codes), Belief(level=0.5))
    given = dict(zip(codes.names, search.odds.tolist(), strict=True))
    assert given["surely"] == pytest.approx(np.exp(-alone["surely"].cuts.size), rel=1e-3)
    assert alone["noise"].odds <= given["noise"] < 1.2 * alone["noise"].odds  # hardly anything is sure of it


def test_columns_of_numbers_add_to_others_in_few_rows() -> None:
    """Four measurements with errors of their own, each cut where it tells most: all help."""
    taken = []
    for seed in range(5):
        generator = np.random.default_rng(seed)
        target = generator.integers(0, 3, 240)
        data: dict[str, object] = {f"x{place}": target + generator.normal(0.0, 0.8, 240) for place in range(4)}
        taken.append(len(credimi.select(data | {"y": words(target)}, "y", rule="smallest")))
    assert min(taken) >= 3


def test_numbers_that_only_repeat_another_column_are_left_out() -> None:
    taken = 0
    for seed in range(10):
        generator = np.random.default_rng(seed)
        known = generator.integers(0, 4, 600)
        target = (generator.random(600) < np.array([0.1, 0.4, 0.6, 0.9])[known]).astype(int)
        data: dict[str, object] = {f"x{place}": known + generator.normal(0.0, 0.7, 600) for place in range(5)}
        chosen = credimi.select(data | {"known": words(known), "y": words(target)}, "y", rule="smallest")
        assert chosen.features[0] == "known"
        taken += len(chosen.steps) - 1
    assert taken <= 2  # of 50


def test_columns_surely_independent_cost_no_moments(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of many columns of noise, nearly all get the evidence alone."""
    looked: list[int] = []
    summarized = smallest_set.summarize

    def counted(tables: object, options: object) -> object:
        looked.append(tables.starts.size - 1)  # type: ignore[attr-defined]
        return summarized(tables, options)  # type: ignore[arg-type]

    monkeypatch.setattr(smallest_set, "summarize", counted)
    chosen = credimi.select(votes(1_000, noise=300), "y", rule="smallest")
    assert set(chosen.features) <= set("abcde") | {"copy"}
    first, *others = looked
    assert first == 306
    assert max(others) < 100


def test_columns_that_cannot_tell_anything_are_named() -> None:
    data = votes(500) | {"one": ["same"] * 500, "id": [f"r{row}" for row in range(500)], "none": [None] * 500}
    chosen = credimi.select(data, "y", rule="smallest")
    assert {facts["feature"]: facts["kind"] for facts in chosen.left_out} == {
        "one": "constant",
        "id": "identifier",
        "none": "empty",
    }
    assert "id: identifier: 500 different values in 500 rows" in repr(chosen)
    nothing = credimi.select({"one": ["same"] * 60, "y": ["p", "q"] * 30}, "y", rule="smallest")
    assert "no column is credible enough: the first needs a probability of 0.95" in repr(nothing)


def test_the_last_column_taken_leaves_nothing_to_explain() -> None:
    alone = {"a": ["x", "z"] * 100, "y": ["p", "q"] * 100}
    chosen = credimi.select(alone, "y", rule="smallest")
    assert chosen.features == ("a",)
    assert chosen.rejected == ()
    assert "matrix" not in repr(chosen)


@pytest.mark.parametrize("rows", [2_000, 50_000])
def test_what_the_taken_columns_tell_is_their_information_where_nothing_is_missing(rows: int) -> None:
    """Values have slightly different scores in each fold: no part may mix rows with different values."""
    generator = np.random.default_rng(rows)
    target = generator.integers(0, 2, rows)
    columns = {
        "ends": generator.integers(0, 5, rows) + target,  # 0 and 5 say the class, all others nothing
        "half": (generator.random(rows) < 0.3 + 0.4 * target).astype(int),
    }
    chosen = credimi.select(
        {name: words(each) for name, each in columns.items()} | {"y": words(target)}, "y", rule="smallest"
    )
    assert chosen.features == ("ends", "half")
    for count, step in enumerate(chosen.steps, 1):
        together = sum(columns[name] * 6**place for place, name in enumerate(list(columns)[:count]))
        joint = np.array([np.bincount(together[target == label], minlength=12) for label in (0, 1)])
        true = credimi.mutual_information(joint[:, joint.any(axis=0)], prior="haldane").mean()
        assert step.tells == pytest.approx(true, rel=0.05)


def weak_beside_strong(seed: int) -> dict[str, np.ndarray]:
    """A column that tells, several that hardly do, and noise; 400 rows."""
    generator = np.random.default_rng(seed)
    y, other = generator.integers(0, 2, 400), generator.integers(0, 2, (10, 400))
    shares = [0.4, *[0.93] * 4, *[1.0] * 5]
    told = {f"x{at}": np.where(generator.random(400) < share, other[at], y) for at, share in enumerate(shares)}
    return told | {"y": y}


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("goal", ["smallest", "relevant"])
def test_only_what_rank_drops_is_said_to_tell_nothing(goal: str, seed: int) -> None:
    """Columns that rank calls unsure were said to tell nothing, surely, where the others were noise."""
    data = weak_beside_strong(seed)
    ranking, chosen = credimi.rank(data, "y"), credimi.select(data, "y", rule=goal)
    for each in chosen.rejected:
        if each.reason.startswith("tells nothing"):
            assert ranking[each.feature]["verdict"] == "drop"
        elif goal == "smallest":
            assert ranking[each.feature]["verdict"] != "drop"
        if each.reason == "adds nothing":
            assert each.like in chosen.features
            assert max(chance for chance in each.p_redundant if chance is not None) >= 0.95
            assert ranking[each.feature]["verdict"] == "unsure"
            assert f"adds nothing to {each.like}" in repr(chosen)


def test_some_unsure_columns_add_nothing_to_a_taken_one() -> None:
    found = [credimi.select(weak_beside_strong(seed), "y", rule="smallest") for seed in range(6)]
    with_some = [each for each in found if any(other.reason == "adds nothing" for other in each.rejected)]
    assert with_some
    assert '<tr class="adds-nothing">' in with_some[0].to_html()


@pytest.mark.parametrize("rows", [200, 2_000])
def test_where_little_is_taken_combinations_are_pointed_to(rows: int) -> None:
    """Whether nothing is taken, or one column because of `min_features`."""
    u, w, z = np.random.default_rng(0).integers(0, 2, (3, rows))
    data = {"u": u, "w": w, "z": z, "y": u ^ w}
    nothing, little = (
        credimi.select(data, "y", rule="smallest"),
        credimi.select(data, "y", min_features=1, rule="smallest"),
    )
    assert not nothing.features
    assert len(little.features) == 1
    sentence = (
        "in combination: u (with w), w (with u); rule='relevant' takes such columns, and credimi.interactions lists"
    )
    for chosen in (nothing, little):
        assert sentence in " ".join(repr(chosen).split())
        assert sentence in html.unescape(chosen.to_html())
        assert "only in combination" not in repr(chosen)
    in_shell = printed(little.sections(shown := Shown(COMMAND_LINE, width=300)), shown)
    assert "--rule relevant takes such columns, and `credimi interactions` lists the pairs" in in_shell
    assert set(credimi.select(data, "y", rule="relevant").features) == {"u", "w"}
    told = credimi.select(data | {"t": u ^ w}, "y", rule="smallest")
    assert told.features
    assert "only in combination" not in repr(told)


def test_that_a_value_is_missing_is_not_told() -> None:
    """Class 0 often lacks x, and value 0 often the class: both are missing at random, and I = 0.018."""
    cells = [(0, 0, 1366), (0, 1, 1366), (1, 0, 1366), (1, 1, 1366), (0, None, 7267), (None, 0, 7267)]
    rows = [(y, x) for y, x, count in cells for _ in range(count)]
    table = {"x": ["uv"[x] if x is not None else None for _, x in rows]}
    step = credimi.select(
        table | {"y": ["ab"[y] if y is not None else None for y, _ in rows]}, "y", rule="smallest"
    ).steps[0]
    has_x = (4 * 1366 + 7267) / len(rows)
    assert step.tells == pytest.approx(has_x * step.adds, rel=1e-6)
    assert step.adds == pytest.approx(0.018, abs=0.001)


def test_a_further_column_that_is_missing_more_in_one_class_tells_what_its_values_do() -> None:
    generator = np.random.default_rng(2)
    target, known = generator.integers(0, 2, 20_000), generator.random((2, 20_000))
    first, second = (np.where(generator.random(20_000) < 0.4, target, generator.integers(0, 2, 20_000)) for _ in "ab")
    hole = known[0] < np.where(target == 1, 0.1, 0.7)  # of the class alone
    table = {"a": first.tolist(), "b": np.where(hole, None, second.astype(object)).tolist(), "y": target.tolist()}
    whole = credimi.select(table | {"b": second.tolist()}, "y", rule="smallest").steps
    holed = credimi.select(table, "y", rule="smallest").steps
    assert [len(steps) for steps in (whole, holed)] == [2, 2]
    both, one = whole[1].tells, whole[0].tells
    assert None not in (both, one)
    share = 1.0 - hole.mean()
    assert holed[1].tells == pytest.approx(share * both + (1.0 - share) * one, rel=0.1)  # type: ignore[operator]


def test_what_columns_tell_together_never_falls() -> None:
    datasets = pytest.importorskip("sklearn.datasets")
    for load in (datasets.load_breast_cancer, datasets.load_wine, datasets.load_iris):
        steps = credimi.select(load(as_frame=True).frame, "target", rule="smallest").steps
        told = [step.tells for step in steps]
        assert told == sorted(told)
        assert max(step.share for step in steps) <= 1.0
