"""Prequential runs: against plain Python, their laws, what is kept on disk, the tests of significance."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy import stats
from sklearn.feature_selection import mutual_info_classif
from sklearn.impute import SimpleImputer

import credimi
from credimi.core.tables import Tables
from credimi.counts.reading import Reading
from credimi.inference.belief import Belief
from credimi.inference.distributions.distribution import Distribution
from credimi.inference.distributions.scaled_beta import ScaledBeta
from credimi.inference.evidence.fixed_priors import pseudo_count
from credimi.inference.moments.moments import moments
from credimi.inference.tables import many_tables
from credimi.paper import checkpoints, prequential, prequential_loop, significance
from credimi.paper.prequential_options import RULES
from credimi.paper.rows import rows_of
from credimi.sources.csv import csv_files

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    Table = dict[str, list[str]]

HOLES = ("?",)


def made(rows: int, seed: int, classes: int = 3) -> tuple[Table, list[str]]:
    """A small table with holes: one informative column, one weak, one noise, one nearly always missing."""
    generator = np.random.default_rng(seed)
    answer = generator.integers(classes, size=rows)
    weak = np.where(generator.random(rows) < 0.6, answer % 2, generator.integers(2, size=rows))
    columns = {
        "strong": np.where(generator.random(rows) < 0.8, answer, generator.integers(classes, size=rows)),
        "weak": weak,
        "noise": generator.integers(4, size=rows),
        "rare": generator.integers(2, size=rows),
    }
    share = {"strong": 0.2, "weak": 0.1, "noise": 0.3, "rare": 0.85}
    table = {
        name: ["?" if hole else f"v{value}" for value, hole in zip(values, generator.random(rows) < share[name])]  # noqa: B905
        for name, values in columns.items()
    }
    return table, [f"c{value}" for value in answer]


def law_of(table: credimi.Table, prior: str | float, approximation: str) -> Distribution:
    """The posterior of one table; rules that decide after every row do not follow the shape of thin tables."""
    if prior == "adaptive" or approximation != "matched":
        return credimi.mutual_information(table, prior=prior, approximation=approximation)
    found, upper = moments(Tables.of([table.block()]), pseudo_count(prior, table.shape)), math.log(min(table.shape))
    _, weights, means, variances = (each.tolist() for each in found.components())
    betas = [ScaledBeta.from_moments(mean, math.sqrt(each), upper) for mean, each in zip(means, variances, strict=True)]
    return Distribution.mixture(betas, weights)


def plain(  # noqa: C901  (all of it in one place, as one would write it down)
    table: Table,
    answers: list[str],
    order: list[int],
    **setting: Any,  # noqa: ANN401
) -> dict[str, list[tuple[bool, int]]]:
    """The same in dictionaries and loops, a table a call of `credimi.mutual_information`."""
    epsilon, level, prior = setting["epsilon"], setting["level"], setting["prior"]
    domain = {name: sorted(set(values) - {"?"}) for name, values in table.items()}
    table = {name: values for name, values in table.items() if len(domain[name]) > 1}
    classes = sorted(set(answers))
    past: list[int] = []
    found: dict[str, list[tuple[bool, int]]] = {rule: [] for rule in ("plugin", "forward", "backward", "all")}
    for row in order:
        kept_by: dict[str, list[str]] = {rule: [] for rule in found}
        for name, values in table.items():
            joint = [[sum(answers[i] == c and values[i] == v for i in past) for v in domain[name]] for c in classes]
            gone = [sum(answers[i] == c and values[i] == "?" for i in past) for c in classes]
            kept_by["all"].append(name)
            if prior == "haldane" and not any(map(any, joint)):
                continue  # nothing seen and nothing added: I = 0, which no filter keeps
            law = law_of(credimi.Table.of(joint, target_only=gone), prior, setting["approximation"])
            estimate = credimi.mutual_information(
                joint, target_only=gone, prior="jeffreys" if prior == "adaptive" else prior, approximation="leading"
            )
            if estimate.mean() > epsilon:
                kept_by["plugin"].append(name)
            if law.sf(epsilon) >= level:
                kept_by["forward"].append(name)
            if 1.0 - law.sf(epsilon) < level:
                kept_by["backward"].append(name)
        for rule, names in kept_by.items():
            best, said = -math.inf, ""
            for c in classes:
                own = [i for i in past if answers[i] == c]
                score = math.log((len(own) + 1) / (len(past) + len(classes)))
                for name in names:
                    value = table[name][row]
                    if value != "?":
                        seen = [table[name][i] for i in own if table[name][i] != "?"]
                        score += math.log((seen.count(value) + 1) / (len(seen) + len(domain[name])))
                if score > best + 1e-9:
                    best, said = score, c
            found[rule].append((said == answers[row], len(names)))
        past.append(row)
    return found


@pytest.mark.long
@pytest.mark.parametrize(
    ("prior", "approximation", "rows"),
    [
        ("uniform", "leading", 60),
        ("haldane", "leading", 60),
        ("perks", "leading-beta", 50),
        (0.3, "leading-beta", 50),
        ("jeffreys", "matched", 40),
        ("adaptive", "matched", 40),
        ("adaptive", "leading", 30),
    ],
)
@pytest.mark.parametrize("seed", [1, 2])
def test_is_what_plain_python_does(prior: str | float, approximation: str, rows: int, seed: int) -> None:
    table, answers = made(rows, seed)
    setting = {"prior": prior, "approximation": approximation, "epsilon": 0.01, "level": 0.9}
    rules = ("plugin", "forward", "backward", "all")
    result = credimi.prequential(table, answers, rules=rules, orders=2, random_state=seed, **setting)
    for k, order in enumerate(result.orders.tolist()):
        expected = plain(table, answers, order, **setting)
        for place, rule in enumerate(rules):
            assert result.correct[place, k].tolist() == [correct for correct, _ in expected[rule]]
            assert result.used[place, k].tolist() == [used for _, used in expected[rule]]


def test_imputed_is_what_scikit_learn_does() -> None:
    table, answers = made(70, 3)
    result = credimi.prequential(table, answers, rules="imputed", epsilon=0.02, orders=1)
    order = result.orders[0]
    columns = np.array([[value if value != "?" else None for value in column] for column in table.values()]).T
    for step in (20, 45, 69):
        past = columns[order[:step]]
        filled = SimpleImputer(strategy="most_frequent", missing_values=None).fit_transform(past)
        codes = np.column_stack([np.unique(column.astype(str), return_inverse=True)[1] for column in filled.T])
        told = mutual_info_classif(codes, np.array(answers)[order[:step]], discrete_features=True)
        assert result.used[0, 0, step] == np.count_nonzero(told > 0.02)


def test_an_order_does_not_depend_on_its_block_or_on_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    table, answers = made(40, 4)
    together = credimi.prequential(table, answers, rules=RULES, prior="uniform", approximation="leading", orders=5)
    monkeypatch.setattr(prequential, "_ORDERS_AT_ONCE", 2)
    for threads in (1, 3):
        apart = credimi.prequential(
            table, answers, rules=RULES, prior="uniform", approximation="leading", orders=5, threads=threads
        )
        assert np.array_equal(apart.correct, together.correct)
        assert np.array_equal(apart.used, together.used)
    fewer = credimi.prequential(table, answers, rules=RULES, prior="uniform", approximation="leading", orders=2)
    assert np.array_equal(fewer.correct, together.correct[:, :2])


@pytest.mark.long
def test_the_seed_decides() -> None:
    table, answers = made(30, 5)
    orders = [credimi.prequential(table, answers, orders=2, random_state=seed).orders for seed in (0, 0, 1)]
    assert np.array_equal(orders[0], orders[1])
    assert not np.array_equal(orders[0], orders[2])


def test_forward_picks_among_plugin_and_plugin_among_backward() -> None:
    table, answers = made(80, 6)
    for prior in ("haldane", "perks", "jeffreys", "uniform"):
        result = credimi.prequential(table, answers, prior=prior, approximation="leading", orders=3)
        plugin, forward, backward = result.used
        assert np.all(forward <= plugin)
        assert np.all(plugin <= backward)


def test_a_killed_run_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table, answers = made(40, 7)
    settings = {"prior": "uniform", "approximation": "leading", "orders": 6, "threads": 1}
    whole = credimi.prequential(table, answers, **settings)
    monkeypatch.setattr(prequential, "_ORDERS_AT_ONCE", 2)
    calls: list[int] = []

    def dies_at(call: int) -> None:
        def counted(*arguments: Any) -> Any:  # noqa: ANN401
            calls.append(1)
            if len(calls) == call:
                raise KeyboardInterrupt
            return prequential_loop.go_through(*arguments)

        calls.clear()
        monkeypatch.setattr(prequential, "go_through", counted)

    dies_at(3)
    with pytest.raises(KeyboardInterrupt):
        credimi.prequential(table, answers, **settings, keep=tmp_path)
    assert len(list(tmp_path.glob("*.npz"))) == 2
    assert len(list(tmp_path.iterdir())) == 2
    dies_at(0)
    shares: list[float] = []
    resumed = credimi.prequential(
        table, answers, **settings, keep=tmp_path, progress=lambda share, _: shares.append(share)
    )
    assert len(calls) == 1
    assert shares[-1] == 1.0
    assert np.array_equal(resumed.correct, whole.correct)
    assert np.array_equal(resumed.used, whole.used)


def test_an_interruption_ends_all_threads_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    table, answers = made(60, 15)
    told: list[float] = []

    def interrupted(share: float, _: str) -> None:
        told.append(share)
        raise KeyboardInterrupt

    monkeypatch.setattr(prequential_loop, "_STEPS_PER_REPORT", 1)
    with pytest.raises(KeyboardInterrupt):
        credimi.prequential(table, answers, orders=2, threads=2, progress=interrupted)
    assert len(told) <= 2  # each thread at most once


def test_a_spoilt_file_is_made_anew(tmp_path: Path) -> None:
    table, answers = made(30, 8)
    first = credimi.prequential(table, answers, orders=1, keep=tmp_path)
    (file,) = tmp_path.glob("*.npz")
    for content in (b"", b"PK\x03\x04 and no more", file.read_bytes()[:-40]):
        file.write_bytes(content)
        again = credimi.prequential(table, answers, orders=1, keep=tmp_path)
        assert np.array_equal(again.correct, first.correct)
    assert checkpoints.load(file, (3, 1, 30)) is not None
    assert checkpoints.load(file, (3, 2, 30)) is None


def test_any_damaged_byte_of_a_file_is_noticed(tmp_path: Path) -> None:
    """The file is packed: what is damaged may look like other packing, or break what unpacks it."""
    generator = np.random.default_rng(5)
    correct, used = generator.random((2, 300)) < 0.5, generator.integers(0, 9, (2, 300)).astype(np.int16)
    file = tmp_path / "orders.npz"
    checkpoints.save(file, correct, used)
    content = file.read_bytes()
    for place in range(0, len(content), 2):
        damaged = bytearray(content)
        damaged[place] ^= 0xFF
        file.write_bytes(damaged)
        loaded = checkpoints.load(file, correct.shape)
        assert loaded is None or (np.array_equal(loaded[0], correct) and np.array_equal(loaded[1], used))


@pytest.mark.long
def test_other_settings_have_other_files(tmp_path: Path) -> None:
    table, answers = made(30, 9)
    for setting in ({}, {"epsilon": 0.1}, {"level": 0.5}, {"prior": 1}, {"random_state": 1}, {"rules": "all"}):
        credimi.prequential(table, answers, orders=1, keep=tmp_path, **setting)
    assert len(list(tmp_path.glob("*.npz"))) == 6


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"rules": "best"}, "unknown rule 'best'"),
        ({"rules": ()}, "there are no rules"),
        ({"orders": 0}, "orders is 0"),
        ({"orders": [[0, 0, 1]]}, "permutations of the 30 row numbers"),
        ({"random_state": -1}, "random_state is -1"),
        ({"approximation": "sampled"}, "would take days"),
        ({"prior": "flat"}, "unknown prior 'flat'"),
        ({"epsilon": -1.0}, "epsilon is -1"),
        ({"level": 1.0}, "level is 1"),
    ],
)
def test_what_cannot_be_meant_is_refused(setting: dict[str, Any], message: str) -> None:
    table, answers = made(30, 10)
    with pytest.raises(credimi.CredimiError, match=message):
        credimi.prequential(table, answers, **setting)


def test_rows_without_a_target_are_left_out() -> None:
    table, answers = made(30, 11)
    answers[3] = answers[17] = "?"
    result = credimi.prequential(table, answers, orders=1)
    assert len(result.rows) == 28
    assert result.rows.without_target == 2
    with pytest.raises(credimi.CredimiError, match="one class only"):
        credimi.prequential(table, ["yes"] * 30)
    with pytest.raises(credimi.CredimiError, match="missing in all"):
        credimi.prequential(table, ["?"] * 30)


def test_rows_are_coded_as_they_are_ranked(tmp_path: Path) -> None:
    table, answers = made(200, 12)
    numbers = [f"{index % 7 + (answer == 'c1') * 5}.5" for index, answer in enumerate(answers)]
    data = table | {"number": numbers, "constant": ["x"] * 200, "class": answers}
    path = tmp_path / "data.csv"
    lines = [",".join(data), *(",".join(row) for row in zip(*data.values(), strict=True))]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    rows = rows_of(path, "class", Reading(missing_values=HOLES))
    assert {name: facts["kind"] for name, facts in rows.left_out.items()} == {"constant": "constant"}
    counts = credimi.count(path, "class")
    for place, name in enumerate(rows.features):
        feature = counts.feature(name)
        block = np.zeros_like(feature.block)
        column = np.where(rows.codes[:, place] < 0, len(feature.values), rows.codes[:, place])
        np.add.at(block, (rows.target, column), 1)
        assert np.array_equal(block, feature.block), name
        assert rows.values[place] == feature.values


@pytest.mark.parametrize("approximation", ["leading", "leading-beta", "matched"])
@pytest.mark.parametrize("prior", ["adaptive", "perks", "uniform", 0.2])
def test_beliefs_are_those_of_a_summary(prior: str | float, approximation: str) -> None:
    generator = np.random.default_rng(14)
    shapes = [(2, 2), (3, 5), (4, 2), (2, 7)] * 5
    blocks = Tables.of([generator.poisson(6.0, (r + 1, s + 1)).astype(float) for r, s in shapes])
    options = Belief(prior=prior, approximation=approximation, epsilon=0.05, level=0.9)
    short, long = many_tables.beliefs(blocks, options), many_tables.summarize(blocks, options)
    assert np.array_equal(short.at_mode, long.at_mode)
    assert short.p_above == pytest.approx(long.p_above, rel=1e-12)


def correctness(rows: int, orders: int, seed: int) -> NDArray[np.bool_]:
    return np.random.default_rng(seed).random((orders, rows)) < 0.7


def test_significance_on_the_first_rows_is_scipys() -> None:
    one, other = correctness(60, 3, 1), correctness(60, 3, 2)
    p_value, significant = significance.of_first_rows(one, other)
    for order in range(3):
        for k in range(2, 61):
            first, second = one[order, :k].astype(float), other[order, :k].astype(float)
            if np.ptp(first - second) > 0:
                assert p_value[order, k - 1] == pytest.approx(stats.ttest_rel(first, second).pvalue)
            else:
                assert p_value[order, k - 1] == 1.0
    assert np.array_equal(significant, p_value < 0.05)


def test_significance_over_orders_is_scipys() -> None:
    generator = np.random.default_rng(3)
    one, other = generator.normal(0.8, 0.01, 12), generator.normal(0.79, 0.01, 12)
    found = significance.over_orders(one, other)
    assert found.p_value == pytest.approx(stats.ttest_rel(one, other).pvalue)
    assert significance.over_orders(one, one).verdict == "no difference"
    assert significance.over_orders(one + 1.0, other).verdict == "better"
    assert significance.over_orders(other, one + 1.0).verdict == "worse"


def test_stretches_and_claims_are_counted() -> None:
    one = np.ones((2, 50), dtype=bool)
    other = np.ones((2, 50), dtype=bool)
    other[0, ::2] = False
    found = significance.stretches(one, other)
    assert (found["ahead"], found["behind"], found["ahead_at_end"]) == (1, 0, 1)
    assert significance.stretches(other, one)["behind"] == 1
    told = significance.claim(one, other, 20, 40)
    assert (told["at_first"], told["somewhere"], told["throughout"]) == (1, 1, 1)
    assert told["accuracy_one"] == 1.0
    assert told["accuracy_other"] == 0.75


def test_a_result_speaks() -> None:
    table, answers = made(30, 13)
    result = credimi.prequential(table, answers, orders=2)
    assert "30 rows in 2 random orders" in repr(result)
    assert f"plugin      {result['F']['accuracy_mean']:.4f}" in repr(result)
    assert result.running_accuracy("plugin")[:, -1] == pytest.approx(result.accuracy[0])
    with pytest.raises(credimi.CredimiError, match="was not run"):
        result.of("all")


def test_a_run_is_a_table_of_its_rules(tmp_path: Path) -> None:
    table, answers = made(30, 13)
    result = credimi.prequential(table | {"constant": ["x"] * 30}, answers, orders=2)
    rows = result.summary()
    assert isinstance(result, credimi.Result)
    assert (len(result), list(result), result.head(1), result["FF"]) == (3, rows, rows[:1], rows[1])
    assert result.to_csv().splitlines()[0] == ",".join(rows[0])
    assert result.to_polars().to_dicts() == result.to_pandas().to_dict("records") == rows
    assert json.loads(result.to_json())["results"] == rows

    assert list(result.to_dict()["left_out"]) == ["constant"]
    assert "plugin" in result.to_html(tmp_path / "run.html")
    with pytest.raises(credimi.CredimiError, match="has no rule 'forwrad': did you mean 'forward'"):
        result["forwrad"]
    result.save(tmp_path / "run.json")
    assert credimi.load(tmp_path / "run.json") == result


def test_one_order_has_no_deviation() -> None:
    table, answers = made(30, 13)
    result = credimi.prequential(table, answers, orders=1)
    assert np.isnan(result["plugin"]["accuracy_sd"])
    assert result.to_dict()["results"][0]["features_sd"] is None
    assert "30 rows in 1 random order," in repr(result)
    assert "nan" not in repr(result)
    given = credimi.prequential(table, answers, orders=result.orders)
    assert "30 rows in 1 order," in repr(given)
    assert "seed" not in repr(given)
    pytest.importorskip("matplotlib")
    for shown in (result, result.summary(), result.to_dict()):
        credimi.plot_prequential(shown)


def test_threads_hold_for_reading_files_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.csv").write_text("f,class\n" + "a,p\nb,q\n" * 20)
    asked: list[int | None] = []
    monkeypatch.setattr(csv_files, "cores", lambda threads: asked.append(threads) or 1)
    credimi.prequential(tmp_path / "a.csv", "class", orders=1, threads=1)
    assert asked == [1]
