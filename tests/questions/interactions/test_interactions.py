"""`interactions`: pairs that tell more together than apart are found, and noise, main effects and copies are not."""

from __future__ import annotations

import json
import math
import pickle
from typing import TYPE_CHECKING

import numpy as np
import pytest

import credimi
from credimi import CredimiError
from credimi.questions.interactions import interaction_search

if TYPE_CHECKING:
    from credimi.questions.interactions.result import InteractingPair

Columns = dict[str, list[str | None]]


def mixed(seed: int, rows: int = 1_000, noise: int = 20, missing: float = 0.0, values: int = 2) -> Columns:
    """One pair that tells only together; two columns with main effects, a copy of one; two linked ones; noise."""
    generator = np.random.default_rng(seed)
    one, two = generator.integers(0, values, (2, rows))
    target = np.where(generator.random(rows) < 0.4, (one + two) % 2, generator.integers(0, 2, rows))
    main, other = (
        np.where(generator.random(rows) < 0.35, target, generator.integers(0, values, rows)) for _ in range(2)
    )
    copy = np.where(generator.random(rows) < 0.97, main, generator.integers(0, values, rows))
    linked = generator.integers(0, values, rows)
    near = np.where(generator.random(rows) < 0.9, linked, generator.integers(0, values, rows))
    columns = {"one": one, "two": two, "main": main, "other": other, "copy": copy, "linked": linked, "near": near}
    columns |= {f"noise{number}": generator.integers(0, values, rows) for number in range(noise)}
    order = generator.permutation(len(columns))
    names = [[*columns][place] for place in order]
    found: Columns = {
        name: [None if generator.random() < missing else f"v{value}" for value in columns[name]] for name in names
    }
    return found | {"y": [("no", "yes")[each] for each in target]}


def pair_of(record: InteractingPair) -> frozenset[str]:
    return frozenset((record.a, record.b))


@pytest.mark.parametrize(("values", "missing"), [(2, 0.0), (2, 0.2), (4, 0.0)])
def test_pairs_that_tell_only_together_are_found_and_nothing_else(values: int, missing: float) -> None:
    hit = false = 0
    for seed in range(12):
        found = credimi.interactions(mixed(seed, values=values, missing=missing), "y")
        pairs = {pair_of(pair) for pair in found.synergies}
        hit += frozenset(("one", "two")) in pairs
        false += len(pairs - {frozenset(("one", "two"))})
        assert all(pair.low <= pair.synergy <= pair.high for pair in found.pairs)
        assert frozenset(("main", "copy")) in {pair_of(pair) for pair in found.redundancies}
    assert hit >= 11
    assert false <= 0.05 * hit + 1


@pytest.mark.long
def test_noise_and_permuted_targets_have_no_synergy() -> None:
    false = 0
    for seed in range(20):
        data = mixed(seed, rows=400, noise=25)
        data["y"] = [data["y"][row] for row in np.random.default_rng(seed).permutation(400)]
        false += bool(credimi.interactions(data, "y").synergies)
    assert false <= 1


def test_synergy_is_what_counts_say() -> None:
    data = mixed(3, rows=20_000, noise=0)
    record = credimi.interactions(data, "y", top=30)["two", "one"]
    codes = {name: np.unique(np.array(data[name]), return_inverse=True)[1] for name in ("one", "two", "y")}

    def entropy(*names: str) -> float:
        joined = np.zeros(20_000, dtype=int)
        for name in names:
            joined = joined * 2 + codes[name]
        share = np.bincount(joined) / 20_000
        return -float(share @ np.log(np.maximum(share, 1e-300)))

    one, two = (entropy("y") + entropy(name) - entropy(name, "y") for name in ("one", "two"))
    together = entropy("y") + entropy("one", "two") - entropy("one", "two", "y")
    assert record["synergy"] == pytest.approx(together - one - two, rel=0.02)
    assert record["rows"] == 20_000


def test_the_first_look_loses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    for seed, options in enumerate(({}, {"missing": 0.15}, {"values": 5}, {"rows": 150, "values": 6})):
        data = mixed(seed, noise=15, **options)
        every = credimi.interactions(data, "y")
        monkeypatch.setattr(interaction_search, "_ALL", 0)
        looked = credimi.interactions(data, "y")
        monkeypatch.undo()
        assert every.pairs_tried == looked.pairs_tried == len(data) * (len(data) - 1) // 2 - len(data) + 1
        assert [pair_of(pair) for pair in looked.synergies] == [pair_of(pair) for pair in every.synergies]
        assert {pair_of(pair) for pair in every.redundancies} <= {pair_of(pair) for pair in looked.redundancies}
        for pair in looked.synergies:
            assert pair.synergy == pytest.approx(every[pair.a, pair.b]["synergy"], rel=0.02)


def test_the_first_look_keeps_what_has_evidence(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of pairs with a Bayes factor above the cut, by the full calculation, none is left out."""
    from credimi.counts.local_counter import LocalCounter  # noqa: PLC0415
    from credimi.counts.request import CountRequest  # noqa: PLC0415
    from credimi.sources.codes import encoded_table  # noqa: PLC0415

    monkeypatch.setattr(interaction_search, "_CHANCE", 200.0)
    for seed, options in enumerate(({"rows": 250}, {"rows": 2_000, "values": 3, "missing": 0.1}, {"values": 7})):
        data = mixed(seed, noise=40, **options)
        codes = LocalCounter(encoded_table(data, CountRequest.of("y")).codes()).by_pair_and_class()
        every = np.array(np.triu_indices(len(codes.names), 1)).T.copy()
        laws = interaction_search.weighed(codes, every, (np.ones(60), np.ones(60)), 1, lambda _: None)
        factor = laws.weights[:, 0] / np.maximum(laws.p_none, 1e-300)
        monkeypatch.setattr(interaction_search, "_ALL", 0)
        kept = interaction_search.candidates(codes, 0.003, 2, lambda _: None).pairs
        monkeypatch.setattr(interaction_search, "_ALL", 5_000)
        missed = {tuple(pair) for pair in every[factor > max(codes.pairs / 200.0, 7.0)].tolist()} - {
            *map(tuple, kept.tolist())
        }
        assert missed == set()


def test_threads_order_of_columns_and_weights_of_one_change_nothing() -> None:
    data = mixed(5, missing=0.1)
    plain = credimi.interactions(data, "y", threads=1)
    assert credimi.interactions(data, "y", threads=4).to_dict() == plain.to_dict()
    turned = {name: data[name] for name in reversed(data)}
    other = {pair_of(pair): pair.synergy for pair in credimi.interactions(turned, "y").pairs}
    assert other == {pair_of(pair): pytest.approx(pair.synergy, abs=1e-9) for pair in plain.pairs}
    weighted = credimi.interactions(data, "y", weights=[1.0] * 1_000)
    assert [pair.a for pair in weighted.pairs] == [pair.a for pair in plain.pairs]
    assert [pair.rows for pair in weighted.pairs] == [pair.rows for pair in plain.pairs]


def test_whole_weights_are_numbers_of_rows() -> None:
    data = mixed(7, rows=500)
    weights = np.random.default_rng(7).integers(0, 4, 500)
    repeated = {
        name: [value for value, times in zip(own, weights, strict=True) for _ in range(times)]
        for name, own in data.items()
    }
    once, many = credimi.interactions(data, "y", weights=weights), credimi.interactions(repeated, "y")
    assert [pair_of(pair) for pair in once.pairs] == [pair_of(pair) for pair in many.pairs]
    assert [pair.synergy for pair in once.pairs] == pytest.approx([pair.synergy for pair in many.pairs], rel=1e-6)
    assert once.rows == many.rows == weights.sum()
    assert f", {weights.sum():,} rows;" in repr(once)
    survey = credimi.interactions(data, "y", weights=weights + 0.2)
    assert f", {survey.rows:.0f} rows;" in repr(survey)


def test_weights_are_searched_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interaction_search, "_ALL", 0)
    found = credimi.interactions(mixed(6), "y", weights=[1.0, 2.0] * 500)
    assert frozenset(("one", "two")) in {pair_of(pair) for pair in found.synergies}


def test_an_interrupt_gives_the_pairs_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interaction_search, "_ALL", 0)
    monkeypatch.setattr(interaction_search, "_PART", 100)

    def stop(done: float, _doing: str) -> None:
        if 0.3 < done < 0.9:
            raise KeyboardInterrupt

    found = credimi.interactions(mixed(0, noise=200), "y", threads=1, progress=stop)
    assert 0 < found.pairs_tried < found.all_pairs
    assert "interrupted" in repr(found)


def test_no_pair_that_may_be_more_than_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interaction_search, "_ALL", 0)
    monkeypatch.setattr(interaction_search, "_CHANCE", 1e-9)
    generator = np.random.default_rng(0)
    data = {f"x{number}": generator.choice(["a", "b"], 300).tolist() for number in range(6)}
    found = credimi.interactions(data, generator.choice(["p", "q"], 300), top=3)
    assert found.pairs == ()
    assert found.pairs_tried == 15
    assert "together than apart: 0" in repr(found)
    assert found.to_arrow().num_rows == 0
    assert found.to_dict()["tables"] == []


def test_top_lists_unsure_pairs_of_both_kinds() -> None:
    found = credimi.interactions(mixed(1), "y", top=7)
    signs = [pair.p_above >= pair.p_below for pair in found.pairs]
    assert sum(signs) >= 7
    assert len(found) <= 14
    assert {"synergy", "redundancy", "unsure"} == {pair.verdict for pair in found.pairs}
    chances = [pair.p_above for pair in found.pairs[:7]]
    assert chances == sorted(chances, reverse=True)
    assert len(credimi.interactions(mixed(1), "y", top=1)) == 2


def test_a_pair_is_listed_once() -> None:
    """Of a pair that is unsure the mean may be positive, and redundancy yet the more probable."""
    generator = np.random.default_rng(0)
    codes = generator.integers(0, 26, (4, 3_000))
    target = np.where(generator.random(3_000) < 0.7, (codes[0] + codes[1]) % 26, codes[2])
    columns = {f"c{place}": [f"v{code}" for code in own] for place, own in enumerate(codes)}
    found = credimi.interactions(columns, [f"k{each}" for each in target], top=6)
    assert len({pair_of(each) for each in found.pairs}) == len(found.pairs) <= 6
    assert any(each.synergy > 0.0 and each.p_above < each.p_below for each in found.pairs)
    assert all(each.low < each.high for each in found.pairs)


def test_results_go_to_frames_json_pickle_and_text() -> None:
    pytest.importorskip("pandas")
    found = credimi.interactions(mixed(2), "y", top=5)
    frame = found.to_pandas()
    assert list(frame.columns[:6]) == ["a", "b", "synergy", "low", "high", "p_above"]
    assert frame["a"].tolist() == [pair.a for pair in found.pairs]
    assert found.to_arrow().num_rows == len(found) == len(found.to_polars())
    plain = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    nats = pytest.approx(0.005 * math.log(2.0), rel=1e-3)  # of two classes, about even
    asked = {"epsilon": nats, "epsilon_share": "0.5%", "level": 0.95, "prior": "adaptive", "target": "y"}
    assert plain["settings"] == asked
    assert plain["pairs"][0]["p_above"] == found.pairs[0].p_above
    again = pickle.loads(pickle.dumps(found))  # noqa: S301
    assert again.to_dict() == found.to_dict()
    first = found.tables[0]
    assert np.array(first.counts).shape == (2, 2, 2)
    assert np.sum(first.counts) == 1_000
    assert repr(found).startswith("Pairs that tell more about y together than apart: 1")
    assert found[0] == found["one", "two"] == found["two", "one"]
    assert [each["a"] for each in found[:2]] == [pair.a for pair in found.pairs[:2]]
    assert ("one", "two") in found
    assert ("one", "main2") not in found
    with pytest.raises(CredimiError, match="is not listed"):
        found["one", "nobody"]
    with pytest.raises(CredimiError, match="no pair 99"):
        found[99]


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        ({"y": ["yes"] * 1_000}, {}, "'y' has one class only"),
        ({}, {"top": 0}, "top is 0"),
        ({}, {"level": 1.5}, "level is 1.5"),
        ({}, {"features": ["one"]}, "only one column, 'one',"),
        ({}, {"features": ["nobody"]}, "nobody"),
    ],
)
def test_what_cannot_be_meant_is_refused(change: Columns, options: dict[str, object], message: str) -> None:
    with pytest.raises(CredimiError, match=message):
        credimi.interactions(mixed(0) | change, "y", **options)


def test_columns_of_all_kinds_and_empty_ones() -> None:
    generator = np.random.default_rng(0)
    numbers = generator.normal(size=(3, 1_500))
    target = np.where((numbers[0] * numbers[1] > 0) ^ (generator.random(1_500) < 0.2), "à", "b")
    data = {"länge": numbers[0], "größe": numbers[1], "rest": numbers[2], "id": [f"r{row}" for row in range(1_500)]}
    data |= {"empty": [None] * 1_500, "constant": ["c"] * 1_500, "many": generator.integers(0, 300, 1_500).astype(str)}
    found = credimi.interactions(data, target)
    assert [pair_of(pair) for pair in found.synergies] == [frozenset(("länge", "größe"))]
    assert found.columns_tried == 4


def test_ranges_beside_heat_maps_have_both_ends() -> None:
    pytest.importorskip("matplotlib")
    generator = np.random.default_rng(0)
    first, second = generator.normal(100.0, 20.0, (2, 2_000))
    target = np.where((first > 110.5) ^ (second > 90.25), "yes", "no").tolist()
    cuts = {"a": [80.125, 110.5], "b": [90.25, 120.375]}
    found = credimi.interactions({"a": first.tolist(), "b": second.tolist(), "y": target}, "y", discretize=cuts)
    axes = found.plot(top=1).axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["<= 80.125", "80.125 to 110.5", "> 110.5"]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["<= 90.25", "90.25 to 120.375", "> 120.375"]


def test_the_heat_maps_show_the_first_pairs() -> None:
    pytest.importorskip("matplotlib")
    found = credimi.interactions(mixed(1), "y")
    figure = found.plot(top=1)
    assert next(axes.get_title() for axes in figure.axes).startswith("synergy +0.0")
    nothing = credimi.interactions({"a": list("abab") * 20, "b": list("aabb") * 20, "y": list("abbabaab") * 10}, "y")
    if not nothing.pairs:
        with pytest.raises(CredimiError, match="no pair to plot"):
            nothing.plot()


def tic_tac_toe() -> Columns:
    """All boards at the end of a game, x having begun; whether x has won. Squares are alike, as the board turns."""
    lines = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]
    ends: dict[str, str] = {}

    def play(board: str, player: str) -> None:
        won = next((board[a] for a, b, c in lines if board[a] == board[b] == board[c] != "b"), None)
        if won or "b" not in board:
            ends[board] = "yes" if won == "x" else "no"
            return
        for square in range(9):
            if board[square] == "b":
                play(board[:square] + player + board[square + 1 :], "o" if player == "x" else "x")

    play("b" * 9, "x")
    boards = sorted(ends)
    assert len(boards) == 958
    return {f"s{square}": [board[square] for board in boards] for square in range(9)} | {
        "y": [ends[board] for board in boards]
    }


@pytest.mark.parametrize("level", [0.5, 0.8, 0.9, 0.95, 0.99])
def test_pairs_of_equal_figures_have_one_verdict(level: float) -> None:
    """The bound on the share of wrong ones fell among them, and their order decided."""
    found = credimi.interactions(tic_tac_toe(), "y", level=level)
    verdicts: dict[float, set[str]] = {}
    for pair in found.pairs:
        verdicts.setdefault(round(pair.p_above, 9), set()).add(pair.verdict)
    assert len(found.pairs) > len(verdicts)
    assert all(len(each) == 1 for each in verdicts.values())


def test_the_rows_of_a_pair_are_shown_where_few_rows_have_both_columns() -> None:
    generator = np.random.default_rng(5)
    x, z = generator.integers(0, 2, (2, 2_000))
    columns = {"x": x.astype(object), "z": z.astype(object)}
    columns["x"][150:] = None  # the first 150 rows alone have both
    found = credimi.interactions(columns | {"y": x ^ z}, "y")
    assert found.to_dict()["pairs"][0]["rows"] == 150
    heading, line = (text.split() for text in str(found).splitlines()[1:4:2])
    assert heading[-2:] == ["rows", "verdict"]
    assert line[-2:] == ["150", "synergy"]
    assert "judged by the `rows` that have both columns and the target" in str(found)
    page = found.to_html()
    assert ">rows</th>" in page
    assert ">150</td>" in page
    whole = credimi.interactions({"x": x, "z": z, "y": x ^ z}, "y")
    assert "judged by" not in str(whole)  # every pair has all rows


def test_a_column_of_one_value_where_the_class_is_known_tells_nothing() -> None:
    """It has two values in the data, and its tables with other columns have one."""
    rows = 40
    data = {
        "x": ["a"] * rows + ["b"] * 5,
        "w": [*"uv" * (rows // 2), *"uvuvu"],
        "y": [*"pppq" * (rows // 4), *[None] * 5],
    }
    pairs = credimi.interactions(data, "y", top=1).pairs
    assert [pair.verdict for pair in pairs] == ["unsure"]
    assert pairs[0].synergy == pytest.approx(0.0, abs=1e-3)
