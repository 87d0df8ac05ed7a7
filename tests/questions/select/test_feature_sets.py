"""`select`: columns that tell something together, what each adds, and why others are left out."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest

import credimi
from credimi import CredimiError

SEGMENTS = "1110111 0010010 1011101 1011011 0111010 1101011 1101111 1010010 1111111 1111011"
Columns = dict[str, list[str | None]]


def text(values: np.ndarray, missing: np.ndarray | None = None) -> list[str | None]:
    gone = np.zeros(values.size, dtype=bool) if missing is None else missing
    return [None if lost else f"v{value}" for value, lost in zip(values.tolist(), gone.tolist(), strict=True)]


def led24(rows: int, seed: int) -> Columns:
    """Seven segments of a display, each wrong in a tenth of the rows, and seventeen columns of noise."""
    generator = np.random.default_rng(seed)
    segments = np.array([[int(each) for each in digit] for digit in SEGMENTS.split()])
    digits = generator.integers(0, 10, rows)
    shown = segments[digits] ^ (generator.random((rows, 7)) < 0.1)
    table = np.hstack([shown, generator.integers(0, 2, (rows, 17))])
    return {f"x{number}": text(column) for number, column in enumerate(table.T)} | {"y": text(digits)}


def weak(rows: int, seed: int, missing: float = 0.0) -> Columns:
    """Three columns that tell something, a copy of the first, a nearly equal one, and noise; with missing values."""
    generator = np.random.default_rng(seed)
    target = generator.integers(0, 2, rows)
    lost = lambda: generator.random(rows) < missing  # noqa: E731
    tells = [
        np.where(generator.random(rows) < chance, target, generator.integers(0, 2, rows)) for chance in (0.6, 0.5, 0.4)
    ]
    near = np.where(generator.random(rows) < 0.03, 1 - tells[0], tells[0])
    noise = {f"noise{number}": text(generator.integers(0, 3, rows), lost()) for number in range(6)}
    found = {name: text(values, lost()) for name, values in zip(("a", "b", "c"), tells, strict=True)}
    return found | {"copy": text(5 - tells[0], lost()), "near": text(near, lost())} | noise | {"y": text(target)}


@pytest.mark.parametrize("seed", range(4))
def test_led24_has_exactly_its_seven(seed: int) -> None:
    chosen = credimi.select(led24(3_200, seed), "y", level=0.5)
    assert set(chosen.features) == {f"x{number}" for number in range(7)}
    assert {each.reason for each in chosen.rejected} <= {"tells nothing", "redundant", "unsure"}


@pytest.mark.parametrize("missing", [0.0, 0.25])
@pytest.mark.parametrize("seed", range(4))
def test_of_copies_one_is_taken_and_noise_is_not(seed: int, missing: float) -> None:
    chosen = credimi.select(weak(3_000, seed, missing), "y")
    same = {"a", "copy", "near"}
    assert len(same & set(chosen.features)) == 1
    assert {"b", "c"} <= set(chosen.features)
    assert not any(name.startswith("noise") for name in chosen.features)
    first = chosen.steps[0]
    assert first.feature in same
    why = {each.feature: each for each in chosen.rejected}
    for name in same - {first.feature}:
        assert (why[name].reason, why[name].like) == ("redundant", first.feature)
        assert why[name].mi > 0.05
    assert why["noise0"].reason == "tells nothing"


def test_permuted_targets_leave_nothing() -> None:
    """Of 40 runs; the first column has to be sure."""
    kept = 0
    for seed in range(40):
        data = weak(300, seed)
        shuffled = [data["y"][row] for row in np.random.default_rng(seed).permutation(300)]
        kept += bool(credimi.select(data | {"y": shuffled}, "y").features)
    assert kept <= 2


def exclusive_or(rows: int, seed: int) -> Columns:
    generator = np.random.default_rng(seed)
    one, two, other = generator.integers(0, 2, (3, rows))
    right = generator.random(rows) < 0.95
    target = np.where(right, (one ^ two) + 2 * other, generator.integers(0, 4, rows))
    noise = {f"noise{number}": text(generator.integers(0, 2, rows)) for number in range(8)}
    return {"one": text(one), "two": text(two), "other": text(other)} | noise | {"y": text(target)}


def test_relevant_finds_what_tells_only_with_a_partner() -> None:
    data = exclusive_or(1_000, 0)
    assert credimi.rank(data, "y").selected("forward") == ["other"]
    chosen = credimi.select(data, "y", rule="relevant")
    assert set(chosen.features) == {"one", "two", "other"}
    partners = {step.feature: step.partner for step in chosen.steps}
    assert (partners["one"], partners["two"]) == ("two", "one")
    assert all(step.p_adds >= 0.95 for step in chosen.steps)


def test_relevant_takes_copies_and_leaves_noise() -> None:
    chosen = credimi.select(weak(2_000, 3, 0.2), "y", rule="relevant")
    assert {"a", "copy", "near", "b", "c"} <= set(chosen.features)
    assert not any(name.startswith("noise") for name in chosen.features)


def test_relevant_of_noise_is_nothing() -> None:
    kept = 0
    for seed in range(15):
        data = weak(300, seed)
        data["y"] = [data["y"][row] for row in np.random.default_rng(seed).permutation(300)]
        kept += bool(credimi.select(data, "y", rule="relevant").features)
    assert kept <= 1


def test_the_result_goes_to_pandas_json_pickle_and_text() -> None:
    pytest.importorskip("pandas")
    chosen = credimi.select(weak(800, 1), "y")
    frame = chosen.to_pandas()
    assert frame["feature"].tolist()[: len(chosen.steps)] == list(chosen.features)
    assert frame["taken"].sum() == len(chosen.steps)
    assert len(frame) == len(chosen) == len(chosen.steps) + len(chosen.rejected) == 11
    plain = json.loads(json.dumps(chosen.to_dict()))
    assert plain["features"] == list(chosen.features)
    nats = pytest.approx(0.005 * chosen.entropy, rel=1e-12)
    belief = {"epsilon": nats, "epsilon_share": "0.5%", "level": 0.95, "prior": "adaptive"}
    assert plain["settings"] == {"goal": "distinct", "target": "y"} | belief
    again = pickle.loads(pickle.dumps(chosen))  # noqa: S301
    assert again.to_dict() == chosen.to_dict()
    assert repr(chosen).startswith("Columns that tell something of their own about y")
    assert f"says what {chosen.features[0]} says" in repr(chosen)


def test_the_plot_has_a_line_for_each_step() -> None:
    pytest.importorskip("matplotlib")
    chosen = credimi.select(weak(800, 1), "y")
    assert [each.get_text() for each in chosen.plot().get_yticklabels()] == list(chosen.features)


def test_numbers_weights_of_columns_and_limits() -> None:
    generator = np.random.default_rng(0)
    target = generator.integers(0, 2, 1_000)
    data = {"x": (target + generator.normal(size=1_000)).tolist(), "z": generator.normal(size=1_000).tolist()}
    data |= {"w": (target + generator.normal(size=1_000)).tolist(), "id": [f"r{row}" for row in range(1_000)]}
    both = credimi.select(data, [("no", "yes")[each] for each in target])
    assert set(both.features) == {"x", "w"}
    assert len(credimi.select(data, target, max_features=1).features) == 1
    assert credimi.select({"only": ["a"] * 50}, ["p", "q"] * 25).features == ()


@pytest.mark.parametrize("goal", ["distinct", "relevant"])
def test_where_few_are_credible_the_most_probable_others_are_taken_and_marked(goal: str) -> None:
    data = weak(120, 0) | {"row": [f"r{row}" for row in range(120)]}
    credible = credimi.select(data, "y", rule=goal).features
    assert 0 < len(credible) < 8
    for fewest in range(12):
        chosen = credimi.select(data, "y", rule=goal, min_features=fewest)
        assert chosen.features[: len(credible)] == credible
        assert len(chosen.steps) == max(len(credible), fewest)
        assert [step.forced for step in chosen.steps] == [name not in credible for name in chosen.features]
        assert [step["forced"] for step in chosen.to_dict()["steps"]] == [step.forced for step in chosen.steps]
        assert {*chosen.features, *(each.feature for each in chosen.rejected)} == {*data} - {"y", "row"}
        assert ("* not credible" in repr(chosen)) == (len(chosen.steps) > len(credible))
    assert (
        credimi.select(data, "y", rule=goal, min_features=12).features
        == credimi.select(data, "y", rule=goal, min_features=11).features
    )  # names of rows tell nothing
    nearest = max(credimi.select(data, "y", rule=goal).rejected, key=lambda each: each.p_adds)
    assert credimi.select(data, "y", rule=goal, min_features=len(credible) + 1).features[-1] == nearest.feature


def test_where_nothing_is_taken_the_most_probable_columns_and_remedies_are_named() -> None:
    data = weak(20, 1)
    chosen = credimi.select(data, "y")
    assert not chosen.features
    nearest = max(chosen.rejected, key=lambda each: each.p_adds)
    said = " ".join(repr(chosen).split())
    assert f"{nearest.feature} ({nearest.p_adds:.2f})" in said
    assert "min_features=1" in said
    assert "no two columns are credibly so in combination (all pairs, in 20 rows)" in said
    assert credimi.select(data, "y", min_features=1).features == (nearest.feature,)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rule": "best"}, "unknown rule 'best': choose one of distinct, relevant"),
        ({"max_features": 0}, "max_features is 0"),
        ({"min_features": -1}, "min_features is -1: it must be a whole number from 0 up"),
        ({"min_features": 12}, "min_features is 12, but there are 11 features: ask for fewer"),
        ({"min_features": 3, "max_features": 2}, "min_features is 3, more than max_features, 2"),
        ({"level": 1.5}, "level is 1.5"),
    ],
)
def test_what_cannot_be_meant_is_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(CredimiError, match=message):
        credimi.select(weak(50, 0), "y", **options)


@pytest.mark.parametrize("missing", [0.0, 0.25])
@pytest.mark.parametrize("seed", range(4))
def test_distinct_takes_one_of_copies_and_all_that_tell_something_of_their_own(seed: int, missing: float) -> None:
    chosen = credimi.select(weak(3_000, seed, missing), "y")
    same = {"a", "copy", "near"}
    assert chosen.settings["goal"] == "distinct"
    assert len(same & set(chosen.features)) == 1
    assert {"b", "c"} <= set(chosen.features)
    assert len([name for name in chosen.features if name.startswith("noise")]) <= 1
    why = {each.feature: each for each in chosen.rejected}
    for name in same - {*chosen.features}:
        assert (why[name].reason, why[name].like) == ("redundant", chosen.features[0])
    tells = [step.mi for step in chosen.steps]
    assert tells == sorted(tells, reverse=True)


def test_distinct_does_not_depend_on_the_order_of_rows_or_columns() -> None:
    data = weak(1_000, 5, 0.1)
    order = np.random.default_rng(0).permutation(1_000)
    mixed = {name: [data[name][row] for row in order] for name in reversed(data)}
    found, again = credimi.select(data, "y"), credimi.select(mixed, "y")
    assert found.features == again.features
    assert [step.p_adds for step in found.steps] == pytest.approx([step.p_adds for step in again.steps], rel=1e-9)


def test_what_surely_tells_less_than_epsilon_is_not_taken() -> None:
    """Surely dependent, and not worth having."""
    generator = np.random.default_rng(8)
    target = np.tile([0, 1], 30_000)
    tells = np.where(generator.random(60_000) < 0.03, target, generator.integers(0, 2, 60_000))
    data = {"tells": text(tells), "copy": text(1 - tells), "y": text(target)}
    chosen = credimi.select(data, "y", epsilon=0.01)
    assert {each.reason for each in chosen.rejected} == {"tells nothing"}
    assert len(credimi.select(data, "y", epsilon=0.0001).features) == 1
    assert len(credimi.select(data, "y", rule="informative").features) == 2
