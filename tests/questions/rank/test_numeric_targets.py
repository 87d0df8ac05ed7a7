"""A target that is a number: one answer however the data come, and never a class for each value."""

import math

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline

from credimi import (
    CredibleSelector,
    CredimiError,
    compare,
    count,
    interactions,
    mutual_information,
    rank,
    rank_by,
    select,
    tree,
)


@pytest.fixture(scope="module")
def houses() -> pd.DataFrame:
    """A price, and what it depends on or not, with values missing."""
    generator = np.random.default_rng(0)
    rows = 900
    size, town = generator.gamma(4.0, 20.0, rows), generator.choice(list("abc"), rows)
    price = 2.0 * size * (1.0 + 0.5 * (town == "a")) + 30.0 * generator.standard_normal(rows)
    frame = pd.DataFrame(
        {"size": size, "town": town, "noise": generator.standard_normal(rows), "price": price.round(2)}
    )
    frame.loc[generator.random(rows) < 0.2, "size"] = np.nan
    frame.loc[generator.random(rows) < 0.1, "price"] = np.nan
    frame["letter"] = generator.choice(list("pqrstuvw"), rows)
    return frame


def test_numbers_and_categories_are_in_one_ranking(houses: pd.DataFrame) -> None:
    ranking = rank(houses, "price")
    verdicts = dict(zip(ranking.columns["feature"], ranking.columns["verdict"], strict=True))
    assert verdicts["size"] == verdicts["town"] == "keep"
    assert "keep" not in {verdicts["noise"], verdicts["letter"]}
    assert ranking[0]["feature"] == "size"
    assert ranking[0]["r2_equivalent"] == pytest.approx(1.0 - math.exp(-2.0 * ranking[0]["mi"]))
    assert math.isnan(ranking.entropy)
    assert math.isnan(ranking[0]["entropy_share"])
    text = str(ranking)
    assert text.startswith("What informs about price (price is numeric; its quarters: <= ")
    assert "R2 equivalent, %" in text
    assert "0.5 % of log 2: 0.00347 nats" in text
    assert (ranking.settings["target_as"], len(ranking.classes)) == ("number", 4)
    low, middle, high = ranking.facts["size"]["target_quartiles"][0]
    assert low < middle < high < ranking.facts["size"]["target_quartiles"][-1][0]
    assert ranking.to_html().count('"target_as":"number"') == 1


def test_a_ranking_agrees_with_the_two_columns(houses: pd.DataFrame) -> None:
    ranking = rank(houses, "price")
    for name in ("size", "town"):
        alone = mutual_information(houses[name], houses["price"])
        assert ranking[name]["mi"] == pytest.approx(alone.mean(), rel=0.1)


def test_all_sources_agree(houses: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("houses")
    houses.to_csv(folder / "all.csv", index=False)
    houses.to_parquet(folder / "all.parquet")
    (folder / "parts").mkdir()
    for number, start in enumerate(range(0, len(houses), 250)):
        houses[start : start + 250].to_parquet(folder / "parts" / f"{number}.parquet")
    counted = count(houses, "price")
    counted.save(folder / "houses.counts")
    first = count(houses[:400], "price", target_as="number", target_cuts=list(counted.settings.target_cuts))
    dask = pytest.importorskip("dask.dataframe")
    sources = [
        folder / "all.csv",
        folder / "all.parquet",
        folder / "parts",
        pa.Table.from_pandas(houses, preserve_index=False),
        houses.sample(frac=1.0, random_state=1),
        dask.from_pandas(houses, npartitions=3),
    ]
    expected = rank(houses, "price").columns
    for source in sources:
        columns = rank(source, "price").columns
        assert columns["feature"] == expected["feature"]
        for name in ("mi", "low", "high", "p_above"):
            assert columns[name] == pytest.approx(expected[name], rel=1e-12)
    for counts in (folder / "houses.counts", first.update(houses[400:])):
        assert rank(counts, None).columns["mi"] == pytest.approx(expected["mi"], rel=1e-12)


def test_the_order_of_rows_does_not_decide_what_the_target_is(tmp_path: object) -> None:
    """The first rows of a sorted file have few values, the last ones many."""
    values = np.concatenate([np.zeros(40_000, dtype=int), np.arange(400)])
    frame = pd.DataFrame({"x": values % 2, "y": values})
    frame.to_csv(f"{tmp_path}/sorted.csv", index=False)
    assert rank(f"{tmp_path}/sorted.csv", "y").settings["target_as"] == "number"
    assert rank(frame[::-1], "y").settings["target_as"] == "number"
    batches = pa.Table.from_pandas(frame, preserve_index=False).to_reader(max_chunksize=10_000)
    with pytest.raises(CredimiError, match="is read once: pass cuts"):
        rank(batches, "y")


def test_what_is_a_number_and_what_is_not() -> None:
    rows = 210
    feature = {"x": list("ab") * (rows // 2)}

    def kind(values: list[object], **options: object) -> object:
        return rank(feature, values, **options).settings.get("target_as")

    assert kind([row % 21 for row in range(rows)]) == "number"
    assert kind([row % 20 for row in range(rows)]) is None
    assert kind([f"c{row % 21}" for row in range(rows)]) is None
    assert kind([row % 21 for row in range(rows)], target_as="categories") is None
    assert kind([row % 5 / 2 for row in range(rows)], target_as="number") == "number"
    with pytest.raises(CredimiError, match="neither a number nor a date"):
        kind([f"c{row % 21}" for row in range(rows)], target_as="number")
    with pytest.raises(CredimiError, match="robust_factor is for classes"):
        kind([row % 21 for row in range(rows)], robust_factor=2)


def test_other_questions_say_that_they_use_ranges(houses: pd.DataFrame) -> None:
    for question in (select, interactions, tree):
        assert "price (numeric, in 4 ranges)" in str(question(houses, "price")).splitlines()[0]
    fixed = rank(houses, "price", prior="jeffreys")
    assert fixed.settings["target_as"] == "ranges"
    assert fixed.columns["mi"][0] < math.log(4)


def test_two_samples_have_the_same_cells(houses: pd.DataFrame) -> None:
    other = houses[houses["size"] > 60.0]
    found = compare(houses, other, "price")
    assert found.settings["target_as"] == "ranges"
    assert "price (numeric, in 4 ranges)" in str(found).splitlines()[0]
    assert compare(count(houses, "price"), other, "price").figures == found.figures
    few = houses[:40].assign(price=houses["price"][:40].round(-2))
    assert compare(few, houses, "price").settings["target_as"] == "ranges"
    grouped = rank_by(houses, "price", "town")
    assert all("price (numeric, in 4 ranges)" in str(each) for each in grouped.rankings.values())


def test_missing_is_a_value_if_asked_for(houses: pd.DataFrame) -> None:
    expensive = houses.dropna(subset=["price"]).copy()
    expensive["size"] = np.where(expensive["price"] > expensive["price"].median(), np.nan, 1.0)
    ranking = rank(expensive, "price", missing_as="category", features=["size", "noise"])
    assert ranking["size"]["mi"] == pytest.approx(math.log(2), abs=0.05)


def test_selectors_work_before_a_regressor() -> None:
    generator = np.random.default_rng(2)
    data = generator.standard_normal((400, 12))
    y = data[:, 0] + data[:, 3] ** 2 + 0.3 * generator.standard_normal(400)
    for rule in ("informative", "forward", "fdr", "distinct"):
        kept = CredibleSelector(rule).fit(data, y).get_support()
        assert kept[[0, 3]].all()
        assert kept.sum() <= 3
    assert make_pipeline(CredibleSelector(), LinearRegression()).fit(data, y).score(data, y) > 0.1
    with pytest.raises(CredimiError, match="different numbers, not classes"):
        CredibleSelector().partial_fit(data, y).get_support()
