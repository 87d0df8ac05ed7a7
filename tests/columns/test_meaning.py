"""What text is read as: missing values, numbers and dates as people write them, against pandas and plain arithmetic."""

from __future__ import annotations

import csv
import datetime as dt
import io
import random
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import polars as pl
import pytest

from credimi import CredibleSelector, CredibleTreeClassifier, CredimiError, count, rank
from credimi.columns.meaning.amounts import amounts, style_of
from credimi.columns.meaning.dates import order_of, seconds_of
from credimi.columns.meaning.notations import notation_of
from credimi.core.defaults import MISSING_VALUES

if TYPE_CHECKING:
    from pathlib import Path

    from credimi import Counts

EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
MOMENTS = [EPOCH + dt.timedelta(days=10_957 + 97 * row, minutes=431 * row) for row in range(60)]
NUMBERS = [(row * 7919) % 100_000 / 8 - 3_000 for row in range(60)]


def german(number: float, decimals: str = ",.2f") -> str:
    return f"{number:{decimals}}".translate(str.maketrans(",.", ".,"))


WRITTEN = {
    "dollars": ("money", [f"${number:,.3f}" for number in NUMBERS]),
    "dollars, minus first": ("money", [f"{'-' * (number < 0)}${abs(number):,.3f}" for number in NUMBERS]),
    "brackets": ("money", [f"({-number:,.3f}) USD" if number < 0 else f"{number:,.3f} USD" for number in NUMBERS]),
    "euros": ("money", [f"{german(number, ',.3f')} €" for number in NUMBERS]),
    "a code": ("money", [f"EUR {number:.3f}" for number in NUMBERS]),
    "percent": ("percent", [f"{number:.3f} %" for number in NUMBERS]),
    "percent, comma": ("percent", [f"{number:.3f}%".replace(".", ",") for number in NUMBERS]),
    "kilograms": ("unit", [f"{number:.3f} kg" for number in NUMBERS]),
    "degrees": ("unit", [f"{number:.3f}°C" for number in NUMBERS]),
    "mg/dl": ("unit", [f"{number:.3f} mg/dl" for number in NUMBERS]),
    "thousands": ("separators", [f"{number:,.3f}" for number in NUMBERS]),
    "German": ("separators", [german(number, ",.3f") for number in NUMBERS]),
    "Swiss": ("separators", [f"{number:,.3f}".replace(",", "'") for number in NUMBERS]),
    "French": ("separators", [f"{number:,.3f}".replace(",", "\u202f").replace(".", ",") for number in NUMBERS]),
    "decimal commas": ("separators", [f"{number:.3f}".replace(".", ",") for number in NUMBERS]),
    "a long minus": ("separators", [f"{number:,.3f}".replace("-", "\u2212") for number in NUMBERS]),
}
DATES = {
    "ISO": "%Y-%m-%d %H:%M",
    "year first": "%Y/%m/%d %H:%M",
    "day first": "%d.%m.%Y %H:%M",
    "day first, slashes": "%d/%m/%Y %H:%M",
    "month first": "%m/%d/%Y %I:%M %p",
    "two digits": "%d.%m.%y %H:%M",
    "month in letters": "%d %b %Y %H:%M",
    "month in words": "%B %d, %Y %H:%M",
}


@pytest.mark.parametrize("name", WRITTEN)
def test_numbers_as_people_write_them(name: str) -> None:
    kind, texts = WRITTEN[name]
    notation = notation_of([f" {text}" for text in texts])
    assert notation is not None
    assert notation.kind == kind
    assert notation.numbers(texts).tolist() == NUMBERS
    for place in (0, 30, 59):  # the whole column must agree
        assert notation_of([*texts[:place], "about 3", *texts[place + 1 :]]) is None


@pytest.mark.parametrize("name", DATES)
def test_dates_as_people_write_them(name: str) -> None:
    texts = [moment.strftime(DATES[name]) for moment in MOMENTS]
    notation = notation_of(texts)
    assert notation is not None
    assert notation.instants
    expected = [(moment - EPOCH) / dt.timedelta(days=1) for moment in MOMENTS]
    np.testing.assert_allclose(notation.numbers(texts), expected, rtol=1e-15)
    assert notation_of([*texts, "31.02.2024"]) is None


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        *(("14:30", 52_200), ("2:30 PM", 52_200), ("12:05 am", 300), ("01:00:01.5", 3601.5), ("-0:30", -1800)),
        *(("1h 30m", 5400), ("2 days 3 h", 183_600), ("90 min", 5400), ("13:00 PM", None), ("1:75", None), ("", None)),
    ],
)
def test_times(text: str, seconds: float | None) -> None:
    assert seconds_of(text) == seconds


@pytest.mark.parametrize(
    "texts",
    [
        ["01/02/2024", "03/04/2024"],  # either of two days
        ["13/01/2024", "01/13/2024"],  # no day is both
        ["1,3", "2,4", "5"],  # choices
        ["$5", "5 €"],
        ["5 kg", "7 lb"],
        ["192.168.0.1", "192.168.0.2"],
        ["555-1234", "555-4321"],
        ["1.10.2", "1.9.0"],
        ["007", "12,5"],  # names
        ["A1", "A2"],
        ["1-5", "6-10"],
        ["<5", "7"],
        ["1,2,3", "4"],
        ["1.5", "2,5"],  # two decimal marks
        ["1,234", "12345"],  # with separators and without
        ["", "5 kg"],
    ],
    ids=str,
)
def test_texts_that_are_no_numbers(texts: list[str]) -> None:
    assert notation_of(texts) is None


@pytest.mark.parametrize(
    ("texts", "numbers"),
    [
        *((["1,234", "950"], [1234, 950]), (["0,123", "1,234"], [0.123, 1.234]), (["12,5", "3"], [12.5, 3.0])),
        *((["1.234.567", "12"], [1_234_567, 12]), (["1'234.5", "3"], [1234.5, 3.0]), (["(1,200)", "5"], [-1200, 5])),
    ],
    ids=str,
)
def test_which_mark_is_decimal(texts: list[str], numbers: list[float]) -> None:
    style = style_of(texts)
    assert style is not None
    assert amounts(texts, style).tolist() == numbers


def test_the_day_comes_first_where_points_are() -> None:
    assert order_of(["01.02.2024", "03.04.2024"]) == "DD.MM.YYYY"
    assert order_of(["01/02/2024", "13/04/2024"]) == "DD.MM.YYYY"
    assert order_of(["01/02/2024", "04/13/2024"]) == "MM/DD/YYYY"


def survey(rows: int = 300) -> list[dict[str, object]]:
    """Rows with all that people write, from a fixed seed."""
    draw = random.Random(5)  # noqa: S311  (no secret)
    spellings = [*MISSING_VALUES, " NA ", "   ", "\t"]
    return [
        {
            "class": draw.choice("ab"),
            "age": draw.choice(spellings) if draw.random() < 0.3 else draw.randint(1, 90),
            "weight": draw.choice(spellings) if draw.random() < 0.3 else f"{draw.randint(400, 1200) / 10} kg",
            "income": draw.choice(["refused", "-"]) if draw.random() < 0.2 else draw.randint(1, 90) * 100,
            "price": f"${draw.random() * 5000:,.2f}",
            "visit": (MOMENTS[0] + dt.timedelta(days=draw.randint(0, 900))).strftime("%d/%m/%Y"),
            "likert": draw.choice([1, 2, 3, 4, 5, 99]),
            "region": draw.choice(["north", "south", "-", "NULL", "N/A"]),
            "ratio": f"{draw.random():.3f}".replace(".", ","),
        }
        for _ in range(rows)
    ]


def written(rows: list[dict[str, object]], path: Path) -> Path:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def figures(counts: Counts) -> dict[str, object]:
    features = [counts.feature(name) for name in counts.features]
    return {each.name: (each.values, each.block.tolist(), each.kind.value) for each in features}  # noqa: PD011


def test_a_file_gives_the_same_counts_by_path_pandas_and_polars(tmp_path: Path) -> None:
    path = written(survey(), tmp_path / "survey.csv")
    by_path = figures(count(path, "class"))
    assert figures(count(pd.read_csv(path), "class")) == by_path
    assert figures(count(pd.read_csv(path, keep_default_na=False), "class")) == by_path
    assert figures(count(pl.read_csv(path, infer_schema_length=None), "class")) == by_path
    halves = [written(part, tmp_path / f"{start}.csv") for start, part in ((0, survey()[:150]), (1, survey()[150:]))]
    assert figures(count(halves[0], "class") + count(halves[1], "class")) == by_path
    frames = [pl.read_csv(half, infer_schema_length=None) for half in halves]
    assert figures(count(frames[0], "class") + count(frames[1], "class")) == by_path


@pytest.mark.parametrize("spelling", MISSING_VALUES)
def test_what_pandas_reads_as_missing_is_missing(spelling: str) -> None:
    text = f"x,class\n{spelling},a\n5,b\n"
    known_to_pandas = bool(pd.read_csv(io.StringIO(text))["x"].isna().any())
    assert known_to_pandas or spelling == "?" or spelling.startswith("#")
    for kept in (spelling, f" {spelling} "):
        assert count({"x": [kept, "word"], "class": ["a", "b"]}, "class").feature("x").missing == 1


def test_pandas_knows_no_other_spelling() -> None:
    from pandas._libs.parsers import STR_NA_VALUES  # noqa: PLC0415  (the documented default of na_values)

    assert set(STR_NA_VALUES) <= set(MISSING_VALUES)


def test_the_list_can_be_replaced_and_extended() -> None:
    table = {"x": ["NULL", "nix", "a", "b"], "class": list("abab")}
    for values, missing in ((..., 1), ([..., "nix"], 2), (["nix"], 1), ([], 0)):
        assert count(table, "class", missing_values=values).feature("x").missing == missing
    with pytest.raises(CredimiError, match="missing_values holds None"):
        count(table, "class", missing_values=[..., None])


def test_what_was_read_and_taken_as_missing_is_said(tmp_path: Path) -> None:
    ranking = rank(written(survey(), tmp_path / "survey.csv"), "class")
    said = {(each.kind.value, each.feature) for each in ranking.remarks if each.feature and each.codes}
    assert said == {
        *(("read_as", name) for name in ("weight", "price", "visit", "ratio")),
        *(("taken_as_missing", name) for name in ("income", "likert", "region")),
    }
    assert ranking["weight"]["note"].endswith("; numbers with a unit, '100.7 kg' as 100.7")
    assert ranking["region"]["note"] == "categories; taken as missing: '-'"
    assert ranking["region"]["missing"] == sum(row["region"] in {"-", "NULL", "N/A"} for row in survey())
    assert ranking["likert"]["missing"] == sum(row["likert"] == 99 for row in survey())
    left = rank(survey_columns(), "class", discretize={"likert": "categories", "weight": "categories"})
    assert left["likert"]["missing"] == 0
    assert left["weight"]["values"] > 100


def survey_columns() -> dict[str, list[object]]:
    rows = survey()
    return {name: [row[name] if name in ("class", "likert") else str(row[name]) for row in rows] for name in rows[0]}


def test_few_whole_numbers_keep_their_names() -> None:
    table = {"doors": ["2 doors", "4 doors", "5 doors"] * 30, "class": list("abcbca") * 15}
    feature = count(table, "class").feature("doors")
    assert feature.values == ("2 doors", "4 doors", "5 doors")  # noqa: PD011
    assert feature.suspicions == ()


def test_new_rows_are_read_in_the_same_notation() -> None:
    draw = random.Random(3)  # noqa: S311  (no secret)
    amounts_of_money = [draw.random() * 4000 for _ in range(400)]
    classes = ["high" if amount > 2000 else "low" for amount in amounts_of_money]
    codes = [draw.choice([1, 2, 3, 99]) for _ in range(400)]
    as_text = pd.DataFrame({"money": [f"${amount:,.2f}" for amount in amounts_of_money], "code": codes})
    as_numbers = pd.DataFrame({"money": [round(amount, 2) for amount in amounts_of_money], "code": codes})
    trees = [CredibleTreeClassifier().fit(frame, classes) for frame in (as_text, as_numbers)]
    assert trees[0].predict(as_text).tolist() == trees[1].predict(as_numbers).tolist() == classes
    assert CredibleSelector().fit(as_text, classes).get_support().tolist() == [True, False]
