"""Networks: what hangs together is found, what does not is separated, and missing values do no harm."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest

import credimi
from credimi import CredimiError, Network, network
from credimi.counts.rows.distinct_rows import DistinctRows
from credimi.questions.network.learn import LearnOptions, learn
from credimi.questions.network.result import Edge

CLINIC = Path(__file__).parents[3] / "examples" / "clinic.csv"


def copied(values: np.ndarray, noise: float, generator: np.random.Generator) -> np.ndarray:
    return np.where(generator.random(values.size) < noise, generator.integers(0, 2, values.size), values)


def chain(rows: int = 800, missing: float = 0.0, seed: int = 0) -> dict[str, list[object]]:
    generator = np.random.default_rng(seed)
    columns = [generator.integers(0, 2, rows)]
    for _ in range(4):
        columns.append(copied(columns[-1], 0.3, generator))
    gone = generator.random((5, rows)) < missing
    return {
        name: [None if out else int(value) for value, out in zip(column, where, strict=True)]
        for name, column, where in zip("abcde", columns, gone, strict=True)
    }


def joined(found: Network) -> set[str]:
    return {"".join(sorted((edge.a, edge.b))) for edge in found.edges}


@pytest.fixture(scope="module")
def found() -> Network:
    return network(chain())


def test_a_chain_is_found_and_what_separates_its_ends(found: Network) -> None:
    assert joined(found) == {"ab", "bc", "cd", "de"}
    assert all(edge.probability > 0.99 and edge.direction == "--" for edge in found.edges)
    apart = found.between("a", "c")
    assert apart is not None
    assert apart.separated_by == ("b",)
    assert found.neighbours("c") in {("b", "d"), ("d", "b")}
    assert {(pair.a, pair.b) for pair in found.separated} == {(a, b) for a, b in ["ac", "ad", "ae", "bd", "be", "ce"]}


def test_columns_of_noise_are_not_said_to_depend() -> None:
    generator = np.random.default_rng(0)
    columns = generator.integers(0, 4, (150, 500))
    found = network({f"n{number}": column.tolist() for number, column in enumerate(columns)})
    assert not found.edges
    assert not found.separated
    assert any(pair.low > 0.0 and pair.separated_by for pair in found.pairs)  # but they look dependent
    assert not any(pair.depends for pair in found.pairs)


def test_a_column_that_is_nearly_always_missing_is_not_passed_over_in_silence() -> None:
    generator = np.random.default_rng(0)
    first = generator.integers(0, 3, 8_000)
    second = np.where(generator.random(8_000) < 0.5, first, generator.integers(0, 3, 8_000))
    rare = [int(value) if seen else None for value, seen in zip(first, generator.random(8_000) < 0.015, strict=True)]
    found = network({"rare": rare, "second": second.tolist(), "noise": generator.integers(0, 3, 8_000).tolist()})
    lost = {remark.column: remark.others for remark in found.remarks if remark.kind == "lost"}
    assert joined(found) or lost == {"rare": ("second",)}
    assert joined(found) or "caution: 'rare' depends on second, but too many" in repr(found)


def test_pairs_of_a_long_chain_are_not_lost_because_of_single_missing_values() -> None:
    """Not all pairs that something separates are reported; more than 5,000 of these columns depend on each other."""
    generator = np.random.default_rng(6)
    columns = [generator.integers(0, 3, 1_000)]
    for _ in range(119):
        columns.append(np.where(generator.random(1_000) < 0.02, generator.integers(0, 3, 1_000), columns[-1]))
    gone = generator.random((120, 1_000)) < 0.003
    texts = np.where(gone, None, np.array(columns).astype(str).astype(object))
    found = network({f"c{number}": column.tolist() for number, column in enumerate(texts)})
    assert len(found.pairs) >= 5_000
    assert not [remark for remark in found.remarks if remark.kind == "lost"]


def test_a_chain_is_found_where_values_are_missing() -> None:
    told: list[float] = []
    found = network(chain(1500, missing=0.3), progress=lambda share, _: told.append(share))
    assert joined(found) == {"ab", "bc", "cd", "de"}
    assert found.settings["imputations"] == 4
    assert found.missing[0] > 400
    assert told == sorted(told)
    assert told[-1] == 1.0
    assert {"ab", "bc", "cd", "de"} <= joined(network(chain(1500, missing=0.3), imputations=0))


def test_two_causes_of_one_effect_point_at_it() -> None:
    generator = np.random.default_rng(2)
    first, second = generator.integers(0, 2, (2, 1500))
    effect = copied(first & second, 0.2, generator)
    after = copied(effect, 0.3, generator)
    found = network({"first": first, "second": second, "effect": effect, "after": after})
    arrows = {(edge.a, edge.direction, edge.b) for edge in found.edges}
    assert arrows == {("first", "->", "effect"), ("second", "->", "effect"), ("effect", "->", "after")}
    apart = found.between("first", "second")
    assert apart is None or apart.probability < 0.4


def test_a_function_of_two_others_keeps_its_neighbours() -> None:
    generator = np.random.default_rng(3)
    rare, common = (generator.random((2, 4000)) < [[0.1], [0.3]]).astype(int)
    either = rare | common
    shown = copied(either, 0.2, generator)
    found = network({"rare": rare, "common": common, "either": either, "shown": shown})
    assert {frozenset((edge.a, edge.b)) for edge in found.edges} == {
        frozenset(("rare", "either")),
        frozenset(("common", "either")),
        frozenset(("either", "shown")),
    }
    assert ("determined", "either") in {(remark.kind, remark.column) for remark in found.remarks}


def test_a_copy_does_not_hide_what_hangs_together() -> None:
    generator = np.random.default_rng(10)
    kind = generator.integers(0, 5, 2000)
    noisy = {f"x{n}": np.where(generator.random(2000) < 0.4, generator.integers(0, 5, 2000), kind) for n in range(3)}
    found = network({"kind": kind, "copy": 4 - kind, "flag": kind > 2} | noisy)
    assert set(found.neighbours("flag")) <= {"kind", "copy"}
    flagged = [found.between("flag", name) for name in ("kind", "copy")]
    assert sum(edge.probability for edge in flagged if edge is not None) > 0.9


def test_independent_columns_have_no_edges() -> None:
    generator = np.random.default_rng(4)
    for rows, values in ((200, 3), (2000, 10)):
        found = network({f"x{column}": generator.integers(0, values, rows) for column in range(12)})
        assert len(found) == 0
        assert sum(pair.probability for pair in found.pairs) < 0.05 * 12


def test_it_is_told_on_what_missing_values_depend() -> None:
    table = chain(1000)
    generator = np.random.default_rng(5)
    table["e"] = [
        None if generator.random() < (0.5 if a else 0.05) else e for a, e in zip(table["a"], table["e"], strict=True)
    ]
    remarks = [remark for remark in network(table, imputations=1).remarks if remark.kind == "missing_depends"]
    assert [(remark.column, remark.others) for remark in remarks] == [("e", ("a",))]


def test_values_that_are_missing_because_of_another_column_make_no_edge() -> None:
    generator = np.random.default_rng(6)
    cause = generator.integers(0, 2, 4000)
    one, other = copied(cause, 0.4, generator), copied(cause, 0.4, generator)
    table = {"cause": cause, "one": one, "other": np.where((generator.random(4000) < 0.6) & (one == 1), -1, other)}
    found = network(table, missing_values=[-1])
    assert {frozenset((edge.a, edge.b)) for edge in found.edges} == {
        frozenset(("cause", "one")),
        frozenset(("cause", "other")),
    }


def test_rows_in_another_order_and_threads_change_nothing() -> None:
    table = chain(400)
    order = np.random.default_rng(7).permutation(400)
    other = {name: [column[row] for row in order] for name, column in table.items()}
    assert network(table, threads=1).pairs == network(other, threads=2).pairs


def test_weights_are_numbers_of_rows() -> None:
    table = chain(300)
    weights = np.random.default_rng(8).integers(1, 3, 300).tolist()
    repeated = {name: np.repeat(np.array(column), weights).tolist() for name, column in table.items()}
    weighted, plain = network(table | {"w": weights}, weights="w"), network(repeated)
    assert weighted.rows == plain.rows
    for one, other in zip(weighted.pairs, plain.pairs, strict=True):
        assert (one.a, one.b) == (other.a, other.b)
        assert one.probability == pytest.approx(other.probability, abs=1e-6)


def test_the_level_moves_edges_only(found: Network) -> None:
    loose, strict = found.at_level(0.001), found.at_level(0.999)
    assert loose.pairs == strict.pairs
    assert joined(strict) <= joined(found) <= joined(loose)
    assert strict.settings["level"] == 0.999


def test_the_forest_of_a_chain_is_the_chain(found: Network) -> None:
    assert {a + b for a, b in found.forest.best} == {"ab", "bc", "cd", "de"}
    same = credimi.pairs(chain()).forest(odds=found.forest.odds).probabilities
    np.testing.assert_allclose(found.forest.probabilities, same, atol=1e-6)


def test_it_is_exported(found: Network, tmp_path: Path) -> None:
    plain = json.loads(json.dumps(found.to_dict()))
    assert plain["columns"] == list("abcde")
    assert plain["edges"][0]["probability"] == found.edges[0].probability
    frame = found.to_pandas()
    assert list(frame["a"]) == [edge.a for edge in found.edges]
    assert len(found.to_pandas(all_pairs=True)) == len(found.pairs)
    assert pickle.loads(pickle.dumps(found)).pairs == found.pairs  # noqa: S301  (made here)
    root = ET.fromstring(found.to_graphml(tmp_path / "network.graphml"))  # noqa: S314  (made here)
    assert len(root.findall(".//{*}edge")) == len(found)
    assert found.to_dot().count(" -> ") == len(found)
    assert (tmp_path / "network.graphml").read_text(encoding="utf-8").startswith("<?xml")
    assert "4 edges among 5 columns of 800 rows" in repr(found)
    assert "<table>" in found._repr_html_()


def test_hostile_names_stay_names_in_files() -> None:
    names = ['a"; b', "<x>&\x00", "back\\slash"]
    generator = np.random.default_rng(9)
    first = generator.integers(0, 2, 300)
    found = network({name: copied(first, 0.1, generator) for name in names})
    root = ET.fromstring(found.to_graphml())  # noqa: S314  (made here)
    assert [node.findtext("{*}data") for node in root.findall(".//{*}node")] == [names[0], "<x>&\ufffd", names[2]]
    assert r'"a\"; b"' in found.to_dot()
    assert r'"back\\slash"' in found.to_dot()


def test_networkx_gets_both_ways_where_no_direction_follows(found: Network) -> None:
    networkx = pytest.importorskip("networkx")
    graph = found.to_networkx()
    assert isinstance(graph, networkx.DiGraph)
    assert graph.has_edge("a", "b")
    assert graph.has_edge("b", "a")


def test_networkx_reads_graphml(tmp_path: Path) -> None:
    networkx = pytest.importorskip("networkx")
    generator = np.random.default_rng(0)
    causes = [generator.integers(0, 2, 2_000) for _ in range(2)]
    data = {"effect": copied(causes[0] | causes[1], 0.05, generator)}  # before its causes: the arrows go back
    data |= {"one": causes[0].tolist(), "other": causes[1].tolist(), "near": copied(causes[0], 0.1, generator)}
    found = network(data)
    assert {edge.direction for edge in found.edges} == {"<-", "--"}
    found.to_graphml(tmp_path / "network.graphml")
    graph = networkx.read_graphml(tmp_path / "network.graphml")
    names = networkx.get_node_attributes(graph, "label")
    assert graph.is_directed()
    assert sorted(names.values()) == sorted(data)
    assert len(graph.edges) == len(found)
    for source, target, told in graph.edges(data=True):
        edge = found.between(names[source], names[target])
        assert edge is not None
        turned = edge.a == names[target]
        assert turned == (edge.direction == "<-")
        assert told["direction"] == ("--" if edge.direction == "--" else "->")
        assert told["probability"] == edge.probability
        assert told["p_forward"] == (edge.p_backward if turned else edge.p_forward)


def test_without_networkx_it_is_said_what_to_install(found: Network, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "networkx", None)
    with pytest.raises(CredimiError, match=r"credimi\[network\]"):
        found.to_networkx()


def test_the_figure_has_a_line_for_each_edge(found: Network, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    axes = found.plot(tmp_path / "network.png")
    assert (tmp_path / "network.png").stat().st_size > 1000
    assert len([each for each in axes.texts if each.get_text() == ""]) == len(found)


@pytest.mark.parametrize(
    ("asked", "fault"),
    [
        ({"level": 1.0}, "level is 1.0"),
        ({"degree": 0}, "degree is 0"),
        ({"max_parents": 0}, "max_parents is 0"),
        ({"imputations": -1}, "imputations is -1"),
        ({"random_state": None}, "random_state is None"),
        ({"features": ["a"]}, "two columns or more"),
        ({"features": ["a", "z"]}, "there is no column 'z'"),
        ({"discretize": "mdl"}, "here is none"),
    ],
)
def test_what_cannot_be_is_refused(asked: dict[str, object], fault: str) -> None:
    with pytest.raises(CredimiError, match=fault):
        network(chain(50), **asked)


def test_a_word_that_is_no_option_is_refused() -> None:
    with pytest.raises(TypeError, match=r"network\(\) got an unexpected keyword argument 'target'"):
        network(chain(50), target="a")


def test_nothing_is_said_in_few_words() -> None:
    generator = np.random.default_rng(1)
    found = network({"": generator.integers(0, 2, 100), "b": generator.integers(0, 2, 100)})
    assert repr(found).splitlines()[:2] == [
        "0 edges among 2 columns of 100 rows: P(edge) >= 0.5",
        "no two columns hang together as far as these rows tell",
    ]


def test_an_unknown_column_is_refused(found: Network) -> None:
    with pytest.raises(CredimiError, match="there is no column 'z' in the network"):
        found.neighbours("z")


def test_the_clinic_hangs_together_as_it_was_made() -> None:
    found = network(CLINIC)
    assert {"glucose", "age", "bmi"} <= set(found.neighbours("diabetes"))
    assert found.neighbours("waist") == ("bmi",)
    assert "bmi" in found.neighbours("systolic_pressure")  # with ten ranges of each number this edge was lost
    assert "diabetes" not in found.neighbours("systolic_pressure")
    assert not {"handedness", "blood_group", "sex", "region"} & {
        name for edge in found.edges for name in (edge.a, edge.b)
    }
    left_out = {remark.column for remark in found.remarks if remark.kind == "left_out"}
    assert left_out == {"patient", "clinic"}
    assert credimi.Network is Network


def test_an_edge_is_not_sure_where_a_set_of_columns_nearly_separates_the_pair() -> None:
    generator = np.random.default_rng(12)
    causes = generator.integers(0, 2, (3, 300))
    effects = [copied(causes[n % 3] | causes[(n + 1) % 3], 0.3, generator) for n in range(6)]
    columns = np.array([*causes, *effects], dtype=np.uint16)
    found = learn(DistinctRows.of(columns), np.full(9, 2), LearnOptions())
    unclear = (found.least_evidence < 1.0) & (found.edges > 0.0)
    assert (found.edges >= 0.5)[unclear].any()
    assert found.edges[unclear].max() == pytest.approx(0.9)
    assert found.edges.max() > 0.95


def test_an_edge_is_not_sure_where_others_determine_one_of_the_two() -> None:
    """Given both causes, nothing of the effect is left: whether they or it are the neighbours cannot be tested."""
    generator = np.random.default_rng(13)
    causes = generator.integers(0, 3, (2, 2000))
    effect = 3 * causes[0] + causes[1]
    shown = np.where(generator.random(2000) < 0.3, generator.integers(0, 9, 2000), effect)
    columns = np.array([*causes, effect, shown], dtype=np.uint16)
    found = learn(DistinctRows.of(columns), np.array([3, 3, 9, 9]), LearnOptions())
    assert 0.5 <= found.edge_matrix[2, 3] <= 0.9 + 1e-9
    apart = learn(DistinctRows.of(columns[2:]), np.array([9, 9]), LearnOptions())
    assert apart.edge_matrix[0, 1] > 0.99


def test_columns_of_rare_values_that_show_nothing_get_no_edges_from_the_prior() -> None:
    generator = np.random.default_rng(0)
    columns = (generator.random((10, 1_000)) < 0.01).astype(np.uint16)
    found = learn(DistinctRows.of(columns), np.full(10, 2), LearnOptions())
    assert found.edges.sum() <= 0.05 * 10


def test_the_page_has_as_many_edges_as_the_text() -> None:
    """Probabilities were rounded for the page, and those just below the level became edges there."""
    figures = {"mi": 0.1, "low": 0.05, "high": 0.2, "p_forward": 0.0, "p_backward": 0.0}
    probabilities = {"b": 0.5, "c": 0.4999999}
    pairs = [Edge("a", b, p, **figures, direction="--", separated_by=None) for b, p in probabilities.items()]
    found = Network(tuple(pairs), ("a", "b", "c"), 0.5, 100.0, (0.0,) * 3, settings={"level": 0.5, "imputations": 0})
    assert str(found).startswith("1 edge among")
    data = found.to_html().partition('type="application/json" id="data">')[2].partition("</script>")[0]
    page = json.loads(data)
    assert sum(pair[2] >= page["level"] for pair in page["pairs"]) == len(found.edges) == 1


def test_a_column_without_a_name_may_have_copies() -> None:
    values = np.random.default_rng(0).integers(0, 3, 300).tolist()
    found = network({"": values, "b": values, "other": [f"v{value}" for value in values]})
    assert {name for edge in found.edges for name in (edge.a, edge.b)} == {"", "b", "other"}
