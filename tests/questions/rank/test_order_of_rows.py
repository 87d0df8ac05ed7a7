"""Selections, interactions and trees are the same in every order of rows and columns, in parts, and from scratch files.

The folds of what columns tell, and the sample of large tables, went by row numbers; ties went to the first column.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import credimi
from credimi.counts.reading import Reading
from credimi.counts.request import CountRequest
from credimi.counts.rows.row_keys import evenly_chosen, row_keys, shuffled
from credimi.sources.codes import encoded_table

if TYPE_CHECKING:
    from pathlib import Path

    from credimi.counts.codes import Codes

ROWS = 900


def table(rows: int = ROWS) -> pa.Table:
    """Columns that overlap, one of them twice and one with a name for each of its values; numbers; missing values."""
    generator = np.random.default_rng(12)
    target = generator.integers(0, 3, rows)
    columns: dict[str, Any] = {}
    for number, told in enumerate((0.5, 0.4, 0.3, 0.2, 0.0, 0.0)):
        value = np.where(generator.random(rows) < told, target, generator.integers(0, 3, rows))
        columns[f"x{number}"] = pa.array([f"v{each}" for each in value], mask=generator.random(rows) < 0.1)
    columns["copy"] = columns["x1"]
    columns["number"] = pa.array(np.round(generator.normal(size=rows) + 0.3 * target, 2))
    columns["y"] = pa.array(np.array(["p", "q", "r"])[target], mask=generator.random(rows) < 0.05)
    return pa.table(columns)


def shuffled_rows(whole: pa.Table, seed: int) -> pa.Table:
    return whole.take(np.random.default_rng(seed).permutation(whole.num_rows))


def shuffled_columns(whole: pa.Table, seed: int) -> pa.Table:
    return whole.select(np.random.default_rng(seed).permutation(whole.column_names).tolist())


def same(one: object, other: object) -> bool:
    """Equal, but for rounding."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(value, other[name]) for name, value in one.items())
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, float) and isinstance(other, float):
        return one == pytest.approx(other, rel=1e-9, abs=1e-9, nan_ok=True)
    return one == other


@pytest.mark.parametrize("goal", ["distinct", "relevant"])
@pytest.mark.parametrize("weights", [None, "w"])
def test_a_selection_is_the_same_in_every_order(goal: str, weights: str | None, tmp_path: Path) -> None:
    whole = table().append_column("w", pa.array(np.random.default_rng(3).choice([0.5, 1.0, 2.0], ROWS)))
    whole = whole if weights else whole.drop_columns(["w"])

    def found(data: object, **options: object) -> dict[str, Any]:
        return credimi.select(data, "y", rule=goal, weights=weights, **options).to_dict()

    expected = found(whole)
    assert len(expected["features"]) >= 3
    other = shuffled_columns(shuffled_rows(whole, 4), 4)
    assert same(found(other), expected)
    paths = [str(tmp_path / f"{part}.parquet") for part in range(3)]
    for part, path in enumerate(paths):
        pq.write_table(other.slice(part * ROWS // 3, ROWS // 3), path)
    assert same(found(paths), expected)
    assert same(found(paths[::-1], scratch=tmp_path), expected)


@pytest.mark.long
def test_a_cluster_selects_the_same_in_every_order() -> None:
    dataframe = pytest.importorskip("dask.dataframe")
    expected = credimi.select(table(), "y").to_dict()
    other = shuffled_columns(shuffled_rows(table(), 1), 1).to_pandas()
    assert same(credimi.select(dataframe.from_pandas(other, npartitions=4), "y").to_dict(), expected)


def test_interactions_and_trees_are_the_same_in_every_order() -> None:
    whole = table()
    other = shuffled_columns(shuffled_rows(whole, 5), 5)
    found = [credimi.interactions(each, "y", top=8).to_dict()["pairs"] for each in (whole, other)]
    pairs = [[(frozenset((pair["a"], pair["b"])), pair["synergy"], pair["verdict"]) for pair in each] for each in found]
    assert same(pairs[0], pairs[1])
    trees = []
    for each in (whole, other):
        labelled = each.filter(each["y"].is_valid())
        tree = credimi.CredibleTreeClassifier().fit(labelled.drop_columns(["y"]).to_pandas(), labelled["y"].to_pylist())
        trees.append([(node["rows"], (node["best"] or {}).get("feature")) for node in tree.tree_.to_dict()["nodes"]])
    assert same(trees[0], trees[1])
    assert any(name == "copy" for _, name in trees[0])  # before x1, which says the same


def interpreted(data: object) -> Codes:
    return encoded_table(data, CountRequest.of("y")).codes()


def contents(codes: Codes, rows: np.ndarray) -> list[tuple[int, ...]]:
    names = [feature.name for feature in codes.features]
    columns = [codes.columns[index] for index in np.argsort(names)]
    return list(zip(codes.groups[rows].tolist(), *(column[rows].tolist() for column in columns), strict=True))


def test_keys_are_of_what_rows_hold() -> None:
    whole = interpreted(table())
    keys = dict(zip(contents(whole, np.arange(ROWS)), row_keys(whole).tolist(), strict=True))
    assert len(set(keys.values())) == len(keys)  # the same for copies only
    other = interpreted(shuffled_columns(shuffled_rows(table(), 9), 9))
    assert dict(zip(contents(other, np.arange(ROWS)), row_keys(other).tolist(), strict=True)) == keys
    assert contents(whole, shuffled(whole)) == contents(other, shuffled(other))


def test_keys_of_rows_with_survey_weights_are_the_same_in_every_order() -> None:
    """The factor that scales weights has sums of all of them, whose last digits depend on the order."""
    weights = np.random.default_rng(3).lognormal(size=ROWS).round(3)
    whole = table().append_column("w", pa.array(weights))
    request = CountRequest.of("y", Reading(weights="w"))
    keys = [
        np.sort(row_keys(encoded_table(data, request).codes()))
        for data in (whole, *(shuffled_rows(whole, seed) for seed in range(4)))
    ]
    assert all(np.array_equal(other, keys[0]) for other in keys[1:])


def test_a_sample_has_its_share_of_copies() -> None:
    generator = np.random.default_rng(0)
    data = {"x": generator.choice(list("aaaaab"), 4_000).tolist(), "y": generator.choice(list("pppq"), 4_000).tolist()}
    codes = interpreted(data)
    counts = Counter(contents(codes, np.arange(4_000)))
    sample = Counter(contents(codes, evenly_chosen(codes, 400)))
    assert sum(sample.values()) == 400
    assert all(abs(sample[content] - count / 10) <= 1 for content, count in counts.items())


def test_ties_in_a_ranking_are_broken_by_name() -> None:
    """They were in the order of the data, so the order of columns changed the ranking."""
    columns = {
        "b": list("uuvv") * 30,
        "c": list("vvuu") * 30,
        "a": list("xxyy") * 30,
        "id": [str(row) for row in range(120)],
    }
    columns |= {"none": [None] * 120, "empty": ["same"] * 120}
    rankings = [
        credimi.rank({name: columns[name] for name in order} | {"y": list("ppqq") * 30}, "y")
        for order in (list(columns), sorted(columns), sorted(columns, reverse=True))
    ]
    assert [ranking.columns["feature"] for ranking in rankings] == [["a", "b", "c", "empty", "id", "none"]] * 3
    assert rankings[0].remarks == rankings[1].remarks == rankings[2].remarks


def test_columns_that_differ_in_rounding_only_are_sorted_by_name() -> None:
    """Copies with other names of their values tell the same up to the last digit, which decided their order."""
    random = np.random.default_rng(3)
    y = random.integers(0, 3, 400)
    values, missing = np.where(random.random(400) < 0.4, y, random.integers(0, 7, 400)), random.random(400) < 0.2
    data: dict[str, object] = {"y": y.tolist()}
    for name in "fcaedb":
        other_names = random.permutation(7)
        data[name] = [None if lacks else f"v{other_names[value]}" for value, lacks in zip(values, missing, strict=True)]
    assert list(credimi.rank(data, "y").columns["feature"]) == list("abcdef")
    trees = []
    for _ in range(6):
        order = random.permutation(400)
        rows = {name: np.array(column, dtype=object)[order].tolist() for name, column in data.items()}
        trees.append([node.best and node.best.column for node in credimi.tree(rows, "y").nodes])
    assert all(tree == trees[0] for tree in trees)
