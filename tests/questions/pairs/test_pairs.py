"""What every two columns tell about each other: the same as `mutual_information` of each table."""

from __future__ import annotations

import math
import pickle
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest

import credimi
from credimi.core.errors import CredimiError
from credimi.core.table import Table
from credimi.counts.local_counter import LocalCounter
from credimi.inference.belief import Belief
from credimi.inference.tables import pair_figures
from credimi.inference.tables.pair_figures import figures_of
from credimi.sources.codes import codes_without_target

if TYPE_CHECKING:
    from pathlib import Path

    Columns = dict[str, list[object]]


def table_of(rows: int, seed: int = 0, missing: float = 0.2) -> Columns:
    """Columns of many kinds, some of which depend on each other."""
    generator = np.random.default_rng(seed)
    x = generator.integers(0, 3, rows)
    kept = generator.random((4, rows)) >= missing
    columns = {
        "x": np.where(kept[0], x, None),
        "y": np.where(kept[1], np.where(generator.random(rows) < 0.6, x, generator.integers(0, 3, rows)), None),
        "number": np.where(kept[2], x + 2.0 * generator.normal(size=rows), np.nan),
        "yes": np.where(kept[3], generator.random(rows) < 0.3, None),
        "many": generator.integers(0, 15, rows),
        "noise": generator.choice(["a", "b"], rows),
    }
    return {name: values.tolist() for name, values in columns.items()}


def same_as_one_by_one(data: Columns, **options: float | str) -> None:
    found = credimi.pairs(data, **options)  # type: ignore[arg-type]
    table = LocalCounter(codes_without_target(data))
    tables, (one, other) = table.by_pair().tables(), table.by_pair().pairs()
    level, epsilon = float(options.get("level", 0.95)), float(options.get("epsilon", 0.005 * math.log(2.0)))
    laws = {name: options[name] for name in ("prior", "approximation") if name in options}
    assert len(found) == one.size == len(table.book.names) * (len(table.book.names) - 1) // 2
    for pair, (a, b) in enumerate(zip(one, other, strict=True)):
        law = credimi.mutual_information(Table.of_block(tables.block(pair)), **laws)  # type: ignore[arg-type]
        row = found[table.book.names[a], table.book.names[b]]
        assert row["mi"] == pytest.approx(law.mean(), abs=1e-10)
        assert (row["low"], row["high"]) == pytest.approx(law.interval(level), abs=1e-10)
        assert row["p_independent"] == pytest.approx(law.p_zero, abs=1e-10)
        assert row["p_above"] == pytest.approx(law.sf(epsilon), abs=1e-10)
        assert row["complete"] == tables.block(pair)[:-1, :-1].sum()


@pytest.mark.parametrize(("rows", "missing"), [(40, 0.3), (400, 0.0), (400, 0.2), (3_000, 0.1)])
def test_pairs_are_those_of_mutual_information(rows: int, missing: float) -> None:
    same_as_one_by_one(table_of(rows, rows, missing))


def test_pairs_follow_prior_approximation_level_and_epsilon() -> None:
    same_as_one_by_one(table_of(150), prior="jeffreys", approximation="leading", level=0.8, epsilon=0.02)


def test_equal_tables_are_computed_once_and_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.default_rng(0)
    table = LocalCounter(codes_without_target({f"c{number}": generator.integers(0, 2, 8) for number in range(80)}))
    tables, options = table.by_pair().tables(), Belief(threads=1)
    found = figures_of(tables, options)
    sizes = []
    summarize = pair_figures.summarize
    monkeypatch.setattr(
        pair_figures,
        "summarize",
        lambda each, *rest, **more: sizes.append(each.rows.size) or summarize(each, *rest, **more),
    )
    again = figures_of(tables, options)
    assert sizes[0] < 0.5 * tables.rows.size
    monkeypatch.setattr(pair_figures, "_MAX_SHARE_DIFFERENT", -1.0)
    apart = figures_of(tables, options)
    for name in ("mi", "low", "high", "p_above", "p_independent", "log_evidence", "complete"):
        assert np.array_equal(getattr(found, name), getattr(again, name))
        np.testing.assert_allclose(getattr(found, name), getattr(apart, name), rtol=1e-12, atol=1e-14)


def test_parts_and_threads_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    table = LocalCounter(codes_without_target(table_of(200)))
    tables = table.by_pair().tables()
    whole = figures_of(tables, Belief(threads=1))
    monkeypatch.setattr(pair_figures, "_CELLS_PER_PART", 40)
    for threads in (1, 3):
        parts = figures_of(tables, Belief(threads=threads))
        for name in ("mi", "low", "high", "p_above", "p_independent", "log_evidence", "complete"):
            assert np.array_equal(getattr(parts, name), getattr(whole, name))


def test_evidence_goes_beyond_what_probabilities_can_hold() -> None:
    x = np.arange(4_000) % 4
    row = credimi.pairs({"x": x, "y": x % 3 + x})["x", "y"]
    assert row["p_independent"] == 0.0
    assert row["log_evidence"] > 4_000.0
    weak = credimi.pairs(table_of(100, 1))
    chance = weak.figures.p_independent
    np.testing.assert_allclose(weak.figures.log_evidence, np.log((1.0 - chance) / chance), rtol=1e-9, atol=1e-9)


def test_matrix_is_symmetric_and_rows_are_best_first() -> None:
    found = credimi.pairs(table_of(300))
    for name in ("mi", "low", "high", "p_above", "p_independent", "p_linked", "share", "complete"):
        matrix = found.matrix(name)
        assert matrix.shape == (6, 6)
        assert np.isnan(np.diag(matrix)).all()
        assert np.array_equal(matrix, matrix.T, equal_nan=True)
        assert matrix[0, 1] == found["x", "y"][name] == found["y", "x"][name]
    assert found.matrix("linked").dtype == bool
    means = [row["mi"] for row in found]
    assert means == sorted(means, reverse=True)
    assert found[0] == found[:1][0] == next(iter(found))
    assert ("x", "y") in found
    assert ("x", "x") not in found
    for wrong, words in (("x", "no pair"), (("x", "no"), "no column"), (99, "has 15 rows"), (("x", "x"), "itself")):
        with pytest.raises(CredimiError, match=words):
            found[wrong]
    with pytest.raises(CredimiError, match="choose one of mi"):
        found.matrix("nothing")


def test_share_of_independent_pairs_is_learned_from_all() -> None:
    generator = np.random.default_rng(5)
    noise = {f"c{number}": generator.integers(0, 2, 500) for number in range(40)}
    noise["copy"] = noise["c0"]
    found = credimi.pairs(noise)
    assert found.independent > 0.98
    assert [(row["a"], row["b"]) for row in found if row["linked"]] == [("c0", "copy")]
    wrong = [row for row in found if row["p_independent"] < 0.5 and not row["linked"]]
    assert wrong  # even odds would take some of 780 pairs for dependent
    assert all(row["p_linked"] < 0.5 for row in wrong)
    forest = found.forest()
    assert forest.best == [("c0", "copy")]
    assert forest.expected_edges < 1.0 + 0.05 * 41
    alone = credimi.pairs({"c0": noise["c0"], "c1": noise["c1"]})
    row = alone["c0", "c1"]
    chance = 1.0 / (1.0 + row["p_independent"] / (0.01 * (1.0 - row["p_independent"])))
    assert alone.forest(odds=0.01).probabilities[0, 1] == pytest.approx(chance)
    assert forest.probabilities[0, 40] == pytest.approx(1.0)


def test_forest_needs_evidence_and_takes_odds() -> None:
    found = credimi.pairs(table_of(300))
    even = found.forest(odds=1.0, threads=1)
    assert ("x", "y") in even.best
    assert even.edges(0.9)[0][:2] == ("x", "y")
    assert found.forest(odds=1e-6).expected_edges < even.expected_edges
    assert {frozenset(("x", "y"))} <= {frozenset(edge) for edge in even.draw(5, random_state=0)[0]}
    with pytest.raises(CredimiError, match="above 0"):
        found.forest(odds=0.0)
    with pytest.raises(CredimiError, match="adaptive"):
        credimi.pairs(table_of(50), prior="jeffreys").forest()


def test_columns_that_tell_nothing_are_left_out_and_named() -> None:
    data = table_of(300) | {"id": [f"r{row}" for row in range(300)], "one": [1] * 300, "none": [None] * 300}
    found = credimi.pairs(data, max_values=10)
    assert found.names == ("x", "y", "number", "yes", "noise")
    remarks = "\n".join(found.remark_lines())
    assert (
        "left out: id: identifier: 300 different values in 300 rows (discretize={'id': 'categories'} compares"
        in remarks
    )
    assert "left out: one: one value only" in remarks
    assert "left out: none: all values are missing" in remarks
    assert "left out: many (15 values): too many" in remarks
    assert "left out: id" in repr(found)
    days = {"day": [f"2024-{row // 28 + 1:02d}-{row % 28 + 1:02d}" for row in range(300)], "x": data["x"]}
    (line,) = credimi.pairs(days).remark_lines()
    assert line.startswith(
        "left out: day: identifier: 300 different values in 300 rows (discretize={'day': 'quantile'} comp"
    )
    assert credimi.pairs(days, discretize={"day": "quantile"}).names == ("day", "x")


def test_results_can_be_exported_saved_and_pickled(tmp_path: Path) -> None:
    found = credimi.pairs(table_of(300))
    table = found.to_arrow()
    assert table.num_rows == 15
    assert pa.table(found).equals(table)
    assert found.to_pandas()["a"].tolist() == [row["a"] for row in found]
    found.save(tmp_path / "pairs.json")
    copied = pickle.loads(pickle.dumps(found))  # noqa: S301  (our own bytes)
    for again in (credimi.load(tmp_path / "pairs.json"), copied):
        assert again.to_dict() == found.to_dict()
        assert again.forest().best == found.forest().best
    (tmp_path / "other").write_bytes(b"no pairs")
    with pytest.raises(CredimiError, match="no saved result"):
        credimi.load(tmp_path / "other")
    with pytest.raises(CredimiError, match="cannot be read"):
        credimi.load(tmp_path / "absent")


def test_progress_reaches_the_end_and_data_without_pairs_are_refused() -> None:
    told: list[float] = []
    credimi.pairs(table_of(50), progress=lambda share, _: told.append(share))
    assert told == sorted(told)
    assert told[-1] == pytest.approx(1.0)
    with pytest.raises(CredimiError, match="two columns"):
        credimi.pairs({"x": [1, 2, 1]})
    with pytest.raises(CredimiError, match="no rows"):
        credimi.pairs({"x": [], "y": []})
    empty = credimi.pairs({"x": [None, None], "y": [1, 2]})
    assert len(empty) == 0
    assert "all values are missing" in repr(empty)
    assert "are independent" not in repr(empty)
    assert empty.forest().best == []
    assert empty.matrix().shape == (1, 1)


def test_whole_weights_are_numbers_of_rows() -> None:
    generator = np.random.default_rng(7)
    data = table_of(120)
    times = generator.integers(0, 5, 120)
    repeated = {name: np.repeat(np.array(values, dtype=object), times).tolist() for name, values in data.items()}
    whole = credimi.pairs(repeated, discretize="quantile:4")
    for found in (
        credimi.pairs(data, weights=times, discretize="quantile:4"),
        credimi.pairs(data | {"w": times.tolist()}, weights="w", discretize="quantile:4"),
    ):
        assert found.names == whole.names
        assert found.rows == whole.rows == times.sum()
        for row in whole:
            assert found[row["a"], row["b"]] == pytest.approx(row)
    scaled = credimi.pairs(data, weights=times / times.mean() / 2.0)
    assert scaled.rows == pytest.approx(times.sum() ** 2 / (times**2).sum())


def test_rows_are_made_many_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each used to look at all pairs for its share of the entropy, so that all rows took the square of their number."""
    found, looked = credimi.pairs(table_of(60)), []
    values = vars(credimi.Pairs)["_values"]

    def counted(self: credimi.Pairs, name: str, *rest: object) -> object:
        looked.append(name)
        return values(self, name, *rest)

    monkeypatch.setattr(credimi.Pairs, "_values", counted)
    assert len(list(found)) == len(found[:]) == len(found.to_dict()["pairs"]) == 15
    assert looked.count("share") == 3


@pytest.mark.parametrize("prior", ["perks", "haldane", 0.5])
def test_a_fixed_prior_has_no_probability_of_independence(prior: str | float) -> None:
    found = credimi.pairs(table_of(150), prior=prior)
    shown = " ".join(repr(found).split())
    assert "P(indep.)" not in shown
    assert f"prior={prior!r} gives independence no probability" in shown
    assert "`linked` looks at P(I > epsilon) alone" in shown
    assert "gives independence no probability" in found.to_html()
    assert {row["p_independent"] for row in found} == {0.0}
    assert "P(indep.)" in repr(credimi.pairs(table_of(150)))
