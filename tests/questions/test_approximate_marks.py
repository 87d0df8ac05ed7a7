"""Every question marks a P(independent) that may be off: `tests/inference/test_lopsided_tables.py` has the tables."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest

import credimi
from credimi.counts.nodes.node_counter import node_counter
from credimi.counts.request import CountRequest
from credimi.questions.tree.growth import grow
from credimi.sources.codes import encoded_table

if TYPE_CHECKING:
    from pathlib import Path

COMPLETE, FEATURE_MISSING, TARGET_MISSING = [[104, 1], [0, 0]], [30_000, 500], [15_000, 400]
SENTENCE = "P(independent) may be off by more than 0.02"


def table() -> dict[str, list[str | None]]:
    """`rare` and the class are both missing often where few rows have both; `full` is never missing."""
    target = ["p"] * 105 + ["p"] * 30_000 + ["q"] * 500 + [None] * 15_400
    rare = ["a"] * 104 + ["b"] + [None] * 30_500 + ["a"] * 15_000 + ["b"] * 400
    full = ["xy"[row % 2] for row in range(len(target))]
    return {"rare": rare, "full": full, "class": target}


def telling(data: dict[str, list[str | None]]) -> list[str | None]:
    """A column that has the class, where it is known."""
    return [{"p": "u", "q": "v", None: "uv"[row % 2]}[each] for row, each in enumerate(data["class"])]


def marked(remarks: object) -> list[tuple[str, str | None]]:
    """Feature, and other column, of the remarks of this kind."""
    return [(each.feature, each.other) for each in remarks if each.kind == "approximate"]  # type: ignore[attr-defined]


def test_mutual_information_marks_it() -> None:
    margins = {"target_only": FEATURE_MISSING, "feature_only": TARGET_MISSING}
    found = credimi.mutual_information(COMPLETE, **margins)
    assert found.approximate
    assert SENTENCE in repr(found)
    assert SENTENCE in found._repr_html_()
    assert credimi.mutual_information(
        COMPLETE, **margins, approximation="sampled", draws=50, random_state=0
    ).approximate
    assert not credimi.mutual_information(COMPLETE, **margins, prior="jeffreys").approximate
    usual = credimi.mutual_information([[30, 10], [12, 25]], target_only=[6, 8], feature_only=[5, 9])
    assert not usual.approximate
    assert SENTENCE not in repr(usual)
    assert SENTENCE not in usual._repr_html_()


def test_a_mixture_of_marked_distributions_is_marked() -> None:
    margins = {"target_only": FEATURE_MISSING, "feature_only": TARGET_MISSING}
    one, other = credimi.mutual_information(COMPLETE, **margins), credimi.Distribution.point(0.1)
    assert credimi.Distribution.mixture([one, other], [0.5, 0.5]).approximate
    assert not credimi.Distribution.mixture([other, other], [0.5, 0.5]).approximate


def test_conditional_information_marks_it() -> None:
    strata = np.array([COMPLETE, [[30, 10], [12, 25]]])
    margins = {"target_only": [FEATURE_MISSING, [6, 8]], "feature_only": [TARGET_MISSING, [5, 9]]}
    assert credimi.conditional_information(strata, **margins).approximate
    assert not credimi.conditional_information(strata).approximate


@pytest.mark.parametrize("rule", ["distinct", "relevant"])
def test_a_selection_marks_it(rule: str) -> None:
    selection = credimi.select(table(), "class", rule=rule)
    assert marked(selection.remarks) == [("rare", None)]
    assert SENTENCE in str(selection)


def test_a_selection_marks_what_is_found_given_a_taken_column() -> None:
    data = table()
    chosen = credimi.select(data | {"full": telling(data)}, "class")
    assert chosen.features == ("full",)
    assert ("rare", None) in marked(chosen.remarks)


def test_pairs_mark_it(tmp_path: Path) -> None:
    pairs = credimi.pairs(table())
    assert pairs.figures.approximate.tolist() == [0.0, 1.0, 0.0]
    line = next(line for line in pairs.remark_lines() if SENTENCE in line)
    assert line.startswith("caution: rare and class")
    assert SENTENCE in str(pairs)
    assert any(SENTENCE in each for each in pairs.to_dict()["remarks"])
    pairs.save(tmp_path / "saved.json")
    assert any(SENTENCE in each for each in credimi.load(tmp_path / "saved.json").remark_lines())
    in_file = credimi.pairs(table(), into=tmp_path / "figures.npy")
    assert any(SENTENCE in each for each in in_file.remark_lines())
    best = credimi.pairs(table(), top=1)
    assert best.figures.approximate.size == 1


def test_a_network_marks_it() -> None:
    data = table()
    network = credimi.network(data | {"full": telling(data)}, imputations=1)
    assert frozenset(("rare", "class")) in {frozenset((pair.a, pair.b)) for pair in network.pairs}
    kinds = [remark for remark in network.remarks if remark.kind == "approximate"]
    assert [(each.facts["feature"], each.facts["other"]) for each in kinds if each.facts] == [("rare", "class")]
    assert SENTENCE in str(network)
    assert SENTENCE in json.dumps(network.to_dict())


def test_a_tree_marks_it() -> None:
    tree = grow(node_counter(encoded_table(table(), CountRequest.of("class"))))
    assert marked(tree.remarks) == [("rare", None)]
    assert SENTENCE in json.dumps(tree.to_dict())


def test_a_comparison_marks_it(tmp_path: Path) -> None:
    one, other = table(), table() | {"rare": table()["full"]}
    comparison = credimi.compare(other, one, "class")
    assert marked(comparison.remarks) == [("rare", None)]
    assert SENTENCE in str(comparison)
    rankings = [credimi.rank(each, "class") for each in (other, one)]
    assert marked(credimi.compare(*rankings).remarks) == [("rare", None)]
    paths = [tmp_path / "one.json", tmp_path / "other.json"]
    for path, ranking in zip(paths, rankings, strict=True):
        path.write_text(json.dumps(ranking.to_dict()))
    assert marked(credimi.compare(*paths).remarks) == [("rare", None)]


def test_rankings_of_groups_mark_it() -> None:
    data = table()
    rows = len(data["class"])
    both = {name: values * 2 for name, values in data.items()}
    both["rare"] = [*data["rare"], *data["full"]]
    grouped = credimi.rank_by(both | {"group": ["g"] * rows + ["h"] * rows}, "class", by="group")
    assert marked(grouped.rankings["g"].remarks) == [("rare", None)]
    assert not marked(grouped.rankings["h"].remarks)
    assert [marked(each.remarks) for each in grouped.comparisons] == [[("rare", None)]]


def test_interactions_use_rows_that_have_all_three() -> None:
    """They have no such table: nothing to mark, and rows without a class change nothing."""
    data = table()
    with_class = [row for row, each in enumerate(data["class"]) if each is not None]
    fewer = {name: [values[row] for row in with_class] for name, values in data.items()}
    data["other"] = ["uv"[row % 3 == 0] for row in range(len(data["class"]))]
    fewer["other"] = [data["other"][row] for row in with_class]
    results = [credimi.interactions(each, "class", top=3) for each in (data, fewer)]
    assert not any(marked(each.remarks) for each in results)
    assert [pair.synergy for pair in results[0].pairs] == [pair.synergy for pair in results[1].pairs]
