"""How many rows would decide: half of all samples do, as drawn; two digits; and none where I lies at epsilon."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from page_helpers import data_of, node

from credimi import Ranking, rank
from credimi.core.tables import Tables
from credimi.inference.belief import Belief
from credimi.inference.evidence import adaptive_prior
from credimi.inference.rows_to_decide import growth_to_decide, quartiles_of_growth
from credimi.inference.rules import unsure as are_unsure
from credimi.inference.tables.many_tables import beliefs
from credimi.inference.tables.stratified_tables import StratifiedTables, components, summarize
from credimi.results.sentences import rows_needed

if TYPE_CHECKING:
    from credimi.core.types import BooleanArray, FloatArray, IntegerArray

EPSILON = 0.003


def table(information: float, rows: int) -> dict[str, list[str]]:
    """Two classes and two values, as often as chances of this information have them."""
    low, high = 0.0, 0.5
    for _ in range(60):
        lean = (low + high) / 2
        chances = np.array([0.5 + lean, 0.5 - lean])
        low, high = (lean, high) if float((chances * np.log(2 * chances)).sum()) < information else (low, lean)
    same, other = round(rows / 2 * (0.5 + lean)), round(rows / 2 * (0.5 - lean))
    return {
        "f": ["x"] * same + ["y"] * other + ["x"] * other + ["y"] * same,
        "class": ["a"] * (same + other) + ["b"] * (same + other),
    }


def unsure(information: float, rows: int, **options: Any) -> Ranking:  # noqa: ANN401
    ranking = rank(table(information, rows), "class", epsilon=EPSILON, **options)
    assert ranking["f"]["verdict"] == "unsure"
    return ranking


@pytest.mark.parametrize(
    ("information", "rows", "prior"),
    [
        *((*each, "adaptive") for each in [(0.006, 500), (0.0045, 2_000), (0.008, 120), (0.005, 40)]),
        *((*each, "jeffreys") for each in [(0.006, 500), (0.0045, 2_000)]),
    ],
)
def test_the_rows_have_two_digits_and_are_told(information: float, rows: int, prior: str) -> None:
    ranking = unsure(information, rows, prior=prior)
    row = ranking["f"]
    assert row["rows_to_decide"] > ranking.rows
    assert len(str(row["rows_to_decide"]).rstrip("0")) <= 2
    assert row["at_epsilon"] is False
    needed = rows_needed(row["rows_to_decide"], row["rows_to_decide_low"], row["rows_to_decide_high"])
    text = f"rows needed for a clear verdict (rough estimate): f {needed}"
    assert text in " ".join(repr(ranking).split())
    assert f"until about {needed} rows" in ranking._repr_html_()


@pytest.mark.parametrize(("information", "rows"), [(0.008, 120), (0.005, 40)])
def test_what_is_not_known_to_an_order_of_magnitude_is_not_said(information: float, rows: int) -> None:
    """With Jeffreys' prior the quartiles are 11 and 12 times each other."""
    ranking = unsure(information, rows, prior="jeffreys")
    assert [ranking["f"][f"rows_to_decide{end}"] for end in ("", "_low", "_high")] == [None] * 3
    assert "rows needed" not in repr(ranking)


def tables_of(cells: FloatArray) -> Tables:
    """Tables of one shape, without missing values."""
    count, rows, columns = cells.shape
    blocks = np.zeros((count, rows + 1, columns + 1))
    blocks[:, :rows, :columns] = cells
    return Tables(blocks.ravel(), np.full(count, rows), np.full(count, columns))


def undecided(cells: FloatArray, options: Belief) -> BooleanArray:
    return are_unsure(beliefs(tables_of(cells), options).p_above, options.level)


def drawn(generator: np.random.Generator, chances: FloatArray, rows: IntegerArray) -> FloatArray:
    """A table of so many rows from each of the chances."""
    found = [
        generator.multinomial(int(number), each.ravel() / each.sum()).reshape(each.shape)
        for number, each in zip(rows, chances, strict=True)
    ]
    return np.array(found, dtype=float)


def from_the_prior(generator: np.random.Generator, count: int, shape: tuple[int, int], rows: int) -> FloatArray:
    """Chances as the adaptive prior has them: half of them independent, the others of all strengths."""
    classes, values = (generator.dirichlet(np.full(size, 5.0), count) for size in shape)
    independent = classes[:, :, np.newaxis] * values[:, np.newaxis, :]
    tightest = adaptive_prior.TIGHTEST * rows * min(shape)
    strength = np.exp(generator.uniform(np.log(adaptive_prior.LOOSEST), np.log(tightest), (count, 1, 1)))
    found = generator.standard_gamma(np.maximum(strength * independent, 1e-8))
    found /= found.sum(axis=(1, 2), keepdims=True)
    chosen = generator.random(count) < adaptive_prior.P_ZERO
    found[chosen] = independent[chosen]
    return found


def of_information(
    generator: np.random.Generator, count: int, shape: tuple[int, int], information: float
) -> FloatArray:
    """Chances around even ones, in directions by chance, with this information."""
    even = 1.0 / (shape[0] * shape[1])
    away = generator.normal(size=(count, *shape))
    away -= away.mean(axis=1, keepdims=True)
    away -= away.mean(axis=2, keepdims=True)
    low, high = np.zeros(count), even / np.abs(away).max(axis=(1, 2))
    for _ in range(50):
        middle = (low + high) / 2
        chances = even + middle[:, np.newaxis, np.newaxis] * away
        less = (chances * np.log(np.maximum(chances, 1e-300) / even)).sum(axis=(1, 2)) < information
        low, high = np.where(less, middle, low), np.where(less, high, middle)
    return even + low[:, np.newaxis, np.newaxis] * away


def shares_decided(
    chances: FloatArray, rows: int, generator: np.random.Generator, options: Belief
) -> tuple[float, float, FloatArray]:
    """Of tables that are unsure: the share decided at the forecast, and at twice as many rows; the growths."""
    cells = drawn(generator, chances, np.full(len(chances), rows))
    chosen = undecided(cells, options)
    cells, chances = cells[chosen], chances[chosen]
    growth, at_epsilon = growth_to_decide(tables_of(cells), options)
    cells, chances, growth = cells[~at_epsilon], chances[~at_epsilon], growth[~at_epsilon]
    assert len(cells) >= 100
    found = []
    for times in (1.0, 2.0):
        later = cells + drawn(generator, chances, np.ceil(times * growth * rows) - rows)
        found.append(1.0 - float(undecided(later, options).mean()))
    return found[0], found[1], growth


@pytest.mark.parametrize(
    ("shape", "rows", "count"),
    [((2, 2), 100, 700), ((2, 2), 400, 2_500), ((2, 2), 2_000, 7_000), ((2, 5), 400, 1_500), ((4, 6), 400, 1_000)],
)
def test_half_of_all_samples_decide_if_truths_are_as_the_prior_has_them(
    shape: tuple[int, int], rows: int, count: int
) -> None:
    """Some 600 tables each: a standard error of 0.02; the forecast itself may be off by a tenth."""
    generator = np.random.default_rng(rows)
    decided, twice, _ = shares_decided(
        from_the_prior(generator, count, shape, rows), rows, generator, Belief(epsilon=EPSILON)
    )
    assert 0.4 < decided < 0.6
    assert 0.58 < twice < 0.85


@pytest.mark.parametrize(
    ("information", "rows", "least", "most"),
    [
        (0.0, 400, 0.5, 0.75),  # noise cannot be told from a little information: decided early
        (0.0015, 2_000, 0.3, 0.6),
        (0.003, 2_000, 0.0, 0.25),  # epsilon itself: wrongly decided, if at all
        (0.006, 2_000, 0.5, 0.85),
        (0.02, 400, 0.6, 0.9),
    ],
)
def test_the_forecast_at_known_truths(information: float, rows: int, least: float, most: float) -> None:
    """Half decide on average over what may be true, not at each truth; but the order of size is right at each."""
    generator = np.random.default_rng(5)
    chances = of_information(generator, 1_500, (2, 2), information)
    decided, _, growth = shares_decided(chances, rows, generator, Belief(epsilon=EPSILON))
    assert least < decided < most
    assert growth.max() < 10.0


def test_columns_that_tell_nothing_are_not_said_to_need_a_hundred_times_the_rows() -> None:
    """The enlarged table of 400 rows of noise was decided at 44,000 rows in the median, and noise is at 800."""
    generator = np.random.default_rng(3)
    columns = {f"c{place}": generator.integers(0, 2, 400) for place in range(600)}
    ranking = rank(columns | {"y": generator.integers(0, 2, 400)}, "y")
    rows = [row["rows_to_decide"] for row in ranking if row["verdict"] == "unsure"]
    assert len(rows) > 60
    assert None not in rows
    assert 400 < np.median(rows) < 900
    assert max(rows) < 2_000


@pytest.mark.parametrize(
    ("cells", "prior"),
    [
        ([[30, 20], [22, 28]], "adaptive"),
        ([[260, 240], [225, 275]], "adaptive"),
        ([[60, 55, 70], [50, 75, 58]], "adaptive"),
        ([[12, 8, 5, 15], [9, 11, 10, 9], [14, 6, 8, 12]], "adaptive"),
        ([[20, 20], [20, 20]], "adaptive"),
        ([[30, 20], [22, 28]], "jeffreys"),
        ([[260, 240], [225, 275]], "jeffreys"),
        ([[60, 55, 70], [50, 65, 58]], "jeffreys"),
    ],
)
def test_half_of_all_samples_that_one_posterior_predicts_decide(cells: list[list[int]], prior: str) -> None:
    """The cell probabilities are drawn from the posterior itself, and more rows from them."""
    generator, joint = np.random.default_rng(1), np.array([cells], dtype=float)
    options = Belief(epsilon=EPSILON, prior=prior)
    growth = float(growth_to_decide(tables_of(joint), options)[0][0])
    assert undecided(joint, options)[0]
    if prior == "adaptive":
        mixed = adaptive_prior.mixtures(tables_of(joint))
        parameters = [mixed.blocks.block(part)[:-1, :-1] for part in range(mixed.weight.size)]
        margins = joint[0].sum(axis=1), joint[0].sum(axis=0)
        weights = np.append(mixed.weight, mixed.p_zero)
    else:
        parameters, weights, margins = [joint[0] + 0.5], np.array([1.0, 0.0]), (np.ones(1), np.ones(1))
    chances = []
    for part in generator.choice(weights.size, 600, p=weights / weights.sum()).tolist():
        if part == len(parameters):
            chances.append(np.outer(*(generator.dirichlet(each + 0.5) for each in margins)))
        else:
            chances.append(generator.dirichlet(parameters[part].ravel()).reshape(joint[0].shape))
    rows = joint.sum()
    later = joint + drawn(generator, np.array(chances), np.full(600, np.ceil(growth * rows) - rows))
    assert 0.38 < 1.0 - undecided(later, options).mean() < 0.62


def test_strata_have_one_forecast() -> None:
    """Truths and tables as above, of three strata each; the candidates are either independent in all or in none."""
    generator, options = np.random.default_rng(2), Belief(epsilon=EPSILON)
    count, shares = 600, np.array([300, 200, 100])
    independent = np.full((2, 3), 1.0 / 6.0)
    strength = np.exp(generator.uniform(np.log(4.0), np.log(60_000.0), count))
    noise = generator.random(count) < 0.5
    chances = np.array(
        [
            [independent if alone else generator.dirichlet(each * independent.ravel()).reshape(2, 3) for _ in shares]
            for each, alone in zip(strength, noise, strict=True)
        ]
    ).reshape(-1, 2, 3)

    def stratified(cells: FloatArray) -> tuple[StratifiedTables, BooleanArray]:
        tables = StratifiedTables.of(tables_of(cells), np.arange(0, len(cells) + 1, 3))
        return tables, are_unsure(summarize(tables, options).p_above, options.level)

    rows = np.tile(shares, count)
    cells = drawn(generator, chances, rows)
    chosen = stratified(cells)[1]
    some = np.repeat(chosen, 3)
    growth, _ = growth_to_decide(tables_of(cells[some]), options, np.arange(0, some.sum() + 1, 3))
    more = np.ceil(np.repeat(growth - 1.0, 3) * rows[some])
    later = cells[some] + drawn(generator, chances[some], more)
    assert chosen.sum() > 100
    assert 0.38 < 1.0 - stratified(later)[1].mean() < 0.62
    whole = tables_of(cells[:50])
    together, one_by_one = (growth_to_decide(whole, options, starts)[0] for starts in (np.arange(51), None))
    np.testing.assert_array_equal(together, one_by_one)
    assert components(stratified(cells)[0], options).p_zero.size == count


def test_rows_that_are_never_complete_have_no_forecast() -> None:
    data = {"x": [*"ab" * 20, *[None] * 40], "y": [*[None] * 40, *"pq" * 20]}
    row = rank(data, "y")["x"]
    assert (row["verdict"], row["rows_to_decide"], row["at_epsilon"]) == ("unsure", None, False)


@pytest.mark.parametrize("prior", ["adaptive", "jeffreys"])
@pytest.mark.parametrize("rows", [30_000, 300_000])
def test_what_lies_at_epsilon_has_no_such_number(rows: int, prior: str) -> None:
    """For 30,000 rows it was said to be decided at millions."""
    ranking = unsure(1.01 * EPSILON, rows, prior=prior)
    row = ranking["f"]
    assert row["rows_to_decide"] is None
    assert row["at_epsilon"] is True
    assert "the score is too close to epsilon for more rows to decide: f" in " ".join(repr(ranking).split())
    assert "lies at epsilon" in ranking._repr_html_()
    told = ranking.to_dict()["features"][0]
    assert (told["rows_to_decide"], told["at_epsilon"]) == (None, True)
    assert ranking.to_pandas()["at_epsilon"].tolist() == [True]
    data = data_of(ranking)
    assert data["features"]["at_epsilon"] == [True]


@pytest.mark.parametrize("prior", ["adaptive", "jeffreys"])
@pytest.mark.parametrize("times", [0.7, 1.01, 1.6])
def test_what_may_be_far_from_epsilon_does_not_lie_at_it(times: float, prior: str) -> None:
    """In 1,000 rows I may be 0, or several times epsilon."""
    row = unsure(times * EPSILON, 1_000, prior=prior)["f"]
    assert row["at_epsilon"] is False
    assert 1_000 < row["rows_to_decide"] < 10_000


def test_what_is_decided_does_not_lie_at_epsilon() -> None:
    """Nor does what is not ranked, nor anything where epsilon is 0."""
    columns = table(0.2, 300)
    ranking = rank(columns | {"constant": ["x"] * 300, "id": [f"row {row}" for row in range(300)]}, "class")
    assert ranking.columns["at_epsilon"] == [False] * 3
    assert rank(table(0.0, 400), "class", epsilon=0.0).columns["at_epsilon"] == [False]


def test_the_page_says_so_at_the_epsilon_of_the_ranking_only() -> None:
    data = data_of(unsure(1.01 * EPSILON, 30_000))
    detail = """
      globalThis.short = String;
      const state = { epsilon: data.asked, level: data.report.settings.level, found: { verdict: ["unsure"] } };
      return verdictText(data.report, state, 0);
    """
    for asked, said in ((EPSILON, "more rows would hardly tell"), (2 * EPSILON, "collect more rows")):
        assert said in node(detail, {"report": data, "asked": asked}, "detail.js")


@pytest.mark.parametrize(("shape", "rows", "count"), [((2, 2), 30, 700), ((2, 2), 400, 2_500), ((4, 6), 400, 1_000)])
def test_the_quartiles_are_quartiles_if_truths_are_as_the_prior_has_them(
    shape: tuple[int, int], rows: int, count: int
) -> None:
    """A quarter of all samples decide at the lower one, three quarters at the upper one; standard error 0.02."""
    generator, options = np.random.default_rng(rows + 1), Belief(epsilon=EPSILON)
    chances = from_the_prior(generator, count, shape, rows)
    cells = drawn(generator, chances, np.full(count, rows))
    chosen = undecided(cells, options)
    growth, _ = quartiles_of_growth(tables_of(cells[chosen]), options)
    known = ~np.isnan(growth[1])
    assert known.mean() > 0.9
    cells, chances, growth = cells[chosen][known], chances[chosen][known], growth[:, known]
    for times, share in zip(growth, (0.25, 0.5, 0.75), strict=True):
        later = cells + drawn(generator, chances, np.maximum(np.ceil(times * rows) - rows, 0))
        assert 1.0 - undecided(later, options).mean() == pytest.approx(share, abs=0.12)


def test_few_complete_rows_say_a_range_or_nothing() -> None:
    """28 of 4,000 rows were said to be decided at 33,000 rows."""
    seen = list(zip("aabb", "pqpq", (9, 5, 5, 9), strict=True))
    data = {
        "x": [value for value, _, times in seen for _ in range(times)] + [None] * 3_972,
        "y": [label for _, label, times in seen for _ in range(times)] + list("pq") * 1_986,
    }
    ranking = rank(data, "y", epsilon=EPSILON)
    row = ranking["x"]
    low, high = row["rows_to_decide_low"], row["rows_to_decide_high"]
    assert row["complete"] == 28
    assert high > 3 * low
    assert f"rows needed for a clear verdict (rough estimate): x {low:,} to {high:,}" in " ".join(repr(ranking).split())
    assert f"until about {low:,} to {high:,} rows" in ranking._repr_html_()
    few = quartiles_of_growth(tables_of(np.array([[[3.0, 1.0], [1.0, 3.0]]])), Belief(epsilon=EPSILON))[0][:, 0]
    assert np.isnan(few).all() or few[2] <= 10 * few[0]
